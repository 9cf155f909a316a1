// Parts of the loop over a contiguous range: emit_host.c. An element of an operand.
#inline one kn_${first}_[0]
#inline hoisted kn_one_${name}
#inline dense kn_${name}_[kn_at]
#inline stepped kn_${first}_[${step} * kn_at]
#inline stepped_lane kn_${first}_[${step} * kn_at + ${lane}]
#inline lane_of_word kn_lane<${type}, ${lane}>(kn_${first}_[kn_at])
#inline lane_variable kn_lane_${name}
#inline wide kn_wide_${name}[kn_at - kn_first]
#inline held kn_out_${name}[kn_at]
#inline picked kn_picked_${name}[kn_at - kn_first]
#inline by_bits kn_by_bits(${element})

// Interleaved results, in front of an element and behind it.
#part declare_lane
${type} kn_lane_${name};

#part load_lane
${type} kn_lane_${name} = kn_lane<${type}, ${lane}>(kn_${first}_[kn_at]);

#part join
kn_${name}_[kn_at] = kn_word_of<kn_word_${bytes}>(${lanes});

#part join_held
kn_out_${name}[kn_at] = kn_word_of<kn_word_${bytes}>(${lanes});

// Pointers, and the index, which counts up along the range or is an array of indices; from row to row.
#part pointer
${const}${type} *kn_${name}_ = kn.${name}_ + kn_begin;

#part pointer_stepped
${const}${type} *kn_${name}_ = kn.${name}_ + ${step} * kn_begin;

#part pointer_to_one
${const}${type} *kn_${name}_ = kn.${name}_;

#part pointer_to_words
${const}${place} *kn_${name}_ = (${const}${place} *)kn.${name}_ + kn_begin;

#part start
long long kn_start = kn.start + kn_begin;

#part indices
const long long *kn_indices = (const long long *)kn.start + kn_begin;

// An input that is the same along the range is hoisted: compilers would read it again behind each store.
#part hoist
const ${place} kn_one_${name} = kn_${first}_[0];

#part next_row
const long long *kn_step = kn.row_step;
if (--kn_in_group == 0) {
    kn_left -= kn_group;
    if (kn_left <= 0)
        break;
    kn_in_group = kn_group;
    kn_step += ${operands};
}

#part next_pointer
kn_${name}_ = kn_next(kn_${name}_, kn_step[${number}]);

#part next_start
kn_start += kn_step[${number}];

#part next_indices
kn_indices = kn_next(kn_indices, kn_step[${number}]);

// Rows of a few vectors: the last one ends with the row, so that no element is computed by itself. What it computes again has to be as it was.
#part are_apart
kn_apart = kn_apart && kn_are_apart(kn_${first}_, kn_${name}_, kn_count * ${bytes});

#part whole_vectors
const auto kn_vector_at = [&](auto kn_n, const long long kn_from) __attribute__((always_inline)) {
KN_INDEPENDENT
KN_ROLLED
    for (int kn_k = 0; kn_k < kn_n.value; ++kn_k) {
        const long long kn_at = kn_from + kn_k;
        ${element}
    }
};
bool kn_apart = kn_count >= ${fewest} && kn_count <= ${most};
${apart}
if (kn_apart)
    kn_by_vectors<KN_VECTOR_BYTES / ${item}, ${fewest}>(kn_count, 0, kn_vector_at);
else

#part independent
KN_INDEPENDENT

#part lanes
signed char kn_lanes = 0; /* makes vectors of bytes, that is several of the others */

#part count_lanes
kn_lanes |= (signed char)kn_at;

#part keep_lanes
__asm__ volatile("" : : "r"(kn_lanes));

// Prefetches of an input, 2 KiB ahead in the range or rows ahead.
#part ask
kn_ask(kn_${name}_ + kn_first, kn_${name}_ + kn_stop, kn.early >> ${number} & 1 ? 2048 : kn_rows_early >> ${number} & 1 ? kn.how_early * kn.row_step[${number}] : 0);

#part ask_stepped
kn_ask(kn_${name}_ + ${step} * kn_first, kn_${name}_ + ${step} * kn_stop, kn.early >> ${number} & 1 ? 2048 : 0);

// Results that are stored past the caches, if all of them are large and aligned.
#part streams
bool kn_streams = ${streams};
long long kn_run = kn.rows * kn_count;

#part streams_result
kn_run = kn.rows == 1 || kn.row_step[${number}] != kn_count * ${bytes} ? kn_count : kn_run;
kn_streams = kn_streams && kn.size >= ${fewest} && kn_run >= ${fewest_in_run} && (size_t)kn_${name}_ % ${bytes} == 0;

#part held_lines
kn_lines<${bytes}> kn_held_${name};

#part go_on
kn_held_${name}.go_on(kn_${name}_);

#part held_result
${place} *kn_out_${name} = kn_${name}_;

#part take
kn_out_${name} = (${place} *)kn_held_${name}.take(kn_stop - kn_first, kn_count - kn_first) - kn_first;

#part load_held
__builtin_memcpy(kn_out_${name} + kn_first, kn_${name}_ + kn_first, (kn_stop - kn_first) * ${bytes});

#part end_held
kn_held_${name}.end();

// Float16 that the program sees as float32, a piece of the range at a time.
#part wide_piece
alignas(64) float kn_wide_${name}[${capacity}];

#part narrow
kn_narrow(kn_out_${name} + kn_first, kn_wide_${name}, kn_stop - kn_first);

#part widen
kn_widen(kn_wide_${name}, kn_${name}_ + kn_first, kn_stop - kn_first);

// Complex numbers of which compilers load no vectors, since they are three or five apart: they are put together, a piece of the range at a time.
#part picked_piece
typedef long long kn_pick_${name} __attribute__((${word}may_alias, aligned(${align})));
alignas(64) ${type} kn_picked_${name}[${capacity}];

#part pick
for (long long kn_at = kn_first; kn_at < kn_stop; ++kn_at)
    ((kn_pick_${name} *)kn_picked_${name})[kn_at - kn_first] = *(const kn_pick_${name} *)(kn_${first}_ + ${step} * kn_at + ${lane});
