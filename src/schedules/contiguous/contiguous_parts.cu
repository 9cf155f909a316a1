// Parts of the templates of this family. output_bound.cu (emit_output_bound.c): vector kn_u, which is in one row with a thread's others, or is
// located by itself.
#inline place_in_row kn_here.at[${array}] + kn_u * ${distance}
#inline place_of_vector kn_here[kn_u].at[${array}]
#inline pointer (${const}${type} *)((${const}char *)kn.${name}_ + ${place})
#inline divisor kn_divisor(kn_${name}_${subscript}, kn_seen)
#inline hoisted kn_${name}_
#inline lane_broadcast kn_${name}_[kn_u]
#inline lane_of_vector kn_${name}_[kn_u].at[kn_k]
#inline single *(${const}${type} *)((${const}char *)kn.${name}_ + kn_here.at[${array}] + kn_k * ${size})
#inline single_in_row *(${const}${type} *)((${const}char *)kn.${name}_ + kn_here.at[${array}] + kn_u * ${distance} + kn_k * ${size})
#inline index_in_row kn.start + kn_here.at[${arrays}] + (kn_u * ${elements} + kn_k) * kn.axis[0].stride[${arrays}]
#inline index_of_vector kn.start + kn_here[kn_u].at[${arrays}] + kn_k * kn.axis[0].stride[${arrays}]

#part load_hoisted
const ${type} kn_${name}_ = *(const ${type} *)((const char *)kn.${name}_ + kn_here.at[${array}]);

#part load_broadcast
${type} kn_${name}_[${vectors}];
#pragma unroll
for (int kn_u = 0; kn_u < ${vectors}; ++kn_u)
    kn_${name}_[kn_u] = *${pointer};

#part load_each
kn_pack<${type}, ${vector}> kn_${name}_[${vectors}];
#pragma unroll
for (int kn_u = 0; kn_u < ${vectors}; ++kn_u)
    kn_${name}_[kn_u] = kn_load<${type}, ${vector}>(${pointer});

#part gather_each
kn_pack<${type}, ${vector}> kn_${name}_[${vectors}];
#pragma unroll
for (int kn_u = 0; kn_u < ${vectors}; ++kn_u)
    kn_${name}_[kn_u] = kn_load_unaligned<${type}, ${vector}>((const char *)${pointer});

#part store_each
#pragma unroll
for (int kn_u = 0; kn_u < ${vectors}; ++kn_u)
${condition}
    ${function}(${pointer}, kn_${name}_[kn_u]);

#part within
    if (kn_first + kn_u * ${elements} < kn.size)

#part one_place
const kn_place kn_here = kn_locate(kn, kn_first);

#part places
kn_place kn_here[${vectors}];

#part place_of_each
kn_here[${number}] = kn_locate(kn, kn_first + ${elements} < kn.size ? kn_first + ${elements} : kn_first);

#part prefetch
if (kn_thread < kn.lines)
    kn_make_resident((const char *)kn.${name}_ + kn_thread * 128ll);

#part dividends
kn_dividends kn_seen;

#part are_near
if (kn_seen.are_near())

#part again
else
#pragma unroll 1
for (int kn_j = 0; kn_j < ${all}; ++kn_j) {
    const int kn_u = kn_j / ${vector}, kn_k = kn_j % ${vector};
${located}
${call}
}

#part locate_again
    const unsigned kn_at = kn_first + kn_u * ${elements};
    if (kn_at >= kn.size)
        break;
    const kn_place kn_here = kn_locate(kn, kn_at);

// flat.cu (emit_flat.c).
#part gather_flat
kn_${name}_ = kn_gather<${type}, ${vector}>((const char *)(kn.${name}_ + kn_first));

// coarsened.cu (emit_coarsened.c).
#part steps_of
kn_pack<${type}, ${vector}> kn_${name}_steps[${coarsening}];

#part load_step
kn_${name}_steps[kn_m] = ${load};

#part step_of
const auto kn_${name}_ = kn_${name}_steps[kn_m];

// coarsened_unaligned.cu (emit_coarsened.c).
#inline in_word kn_${name}_.at[kn_k]
#inline in_word_of_step kn_${name}_steps[kn_m].at[kn_k]

#part row_from
const char *const kn_${name}_from = (const char *)kn.${name}_ + kn_here.at[${array}];

#part row_to
char *const kn_${name}_to = (char *)kn.${name}_ + kn_here.at[${array}] + (kn_column - kn_first);

#part columns_of_all
const auto kn_${name}_ = kn_load_columns<${type}, ${vector}>((const char *)kn.${name}_ + kn_here.at[${array}], kn.axis[0].stride[${array}] / ${vector}, kn_first, kn_column - kn_first, kn.columns);

#part columns_of_steps
kn_columns<${type}, ${vector}> kn_${name}_steps[kn_turns];

#part load_columns
kn_${name}_steps[kn_m] = kn_load_columns<${type}, ${vector}>(kn_${name}_from + (long long)kn_row * kn_w.stride[${array}], kn.axis[0].stride[${array}] / ${vector}, kn_first, kn_column - kn_first, kn.columns);

#part repeat_columns
kn_${name}_steps[kn_m] = kn_repeat_columns<${type}, ${vector}>(kn_${name}_from + (long long)kn_row * kn_w.stride[${array}]);

#part word
kn_pack<${type}, ${vector}> kn_${name}_;

#part store_word
const unsigned kn_own = kn_word_of(kn_${name}_), kn_before = __shfl_up_sync(~0u, kn_own, 1);
char *const kn_to = kn_${name}_to + (long long)kn_row * kn_w.stride[${array}];
const unsigned kn_joined = __funnelshift_l(kn_before, kn_own, 8 * (unsigned)(unsigned long long)kn_to);
if (kn_row < kn_whole)
    kn_store_word(kn_to, kn_joined);
else if (kn_row < kn_ended)
    kn_store_ends(kn_to, kn_joined, kn_column, kn.columns);

// rows.cu (emit_rows.c).
#inline lane_interleaved kn_${name}_.at[kn_k * ${step} + ${number}]

#part load_interleaved
const auto kn_${name}_ = kn_load_series<${type}, ${elements}, ${word}>((const char *)kn.${name}_ + kn_here.at[${array}] - ${before});

#part repeat_in_row
    kn_${name}_ = kn_load_along<${type}, ${vector}>((const ${type} *)((const char *)kn.${name}_ + kn_here.at[${array}]), 0);

#part repeat_crossing
    kn_${name}_ = kn_repeat_crossing<${type}, ${vector}>((const char *)kn.${name}_ + kn_here.at[${array}], (const char *)kn.${name}_ + kn_next.at[${array}], kn_left);

#part repeat_lane
        kn_${name}_.at[kn_k] = *(const ${type} *)((const char *)kn.${name}_ + kn_here.at[${array}]);

#part indices_of_two_rows
#pragma unroll
    for (int kn_k = 0; kn_k < ${vector}; ++kn_k)
        kn_i[kn_k] = kn.start + (kn_k < kn_left ? kn_here.at[${arrays}] + kn_k * kn.axis[0].stride[${arrays}] : kn_next.at[${arrays}] + (kn_k - kn_left) * kn.axis[0].stride[${arrays}]);

#part gather_across
#pragma unroll
    for (int kn_k = 0; kn_k < ${vector}; ++kn_k) {
        const kn_place kn_here = kn_locate(kn, kn_first + kn_k);
${lane}
    }

#part gather_passing
kn_place kn_reached = kn_here;
#pragma unroll
    for (int kn_k = 0; kn_k < ${vector}; ++kn_k) {
        const kn_place kn_here = kn_reached;
${lane}
        if (kn_k + 1 < ${vector})
            kn_reached = kn_next_element(kn, kn_here, kn_first + kn_k + 1);
    }

#part gather_pieces
#pragma unroll
    for (int kn_k = 0; kn_k < ${vector}; kn_k += ${length}) {
        const kn_place kn_here = kn_locate(kn, kn_first + kn_k);
${loads}
    }

#part load_piece
        const auto kn_${name}_piece = kn_load_along<${type}, ${length}>((const ${type} *)((const char *)kn.${name}_ + kn_here.at[${array}]), kn.axis[0].stride[${array}]);
#pragma unroll
        for (int kn_j = 0; kn_j < ${length}; ++kn_j)
            kn_${name}_.at[kn_k + kn_j] = kn_${name}_piece.at[kn_j];

#part in_row_or_crossing
if (${vector} <= kn_left) {
${in_row}
} else {
    const kn_place kn_next = kn_next_row(kn, kn_here, kn_first);
${crossing}
}

#part left_of_row
const int kn_left = (int)(kn.axis[0].extent - kn_here.inner);

#part next_row
const kn_place kn_next = kn_left < ${vector} ? kn_next_row(kn, kn_here, kn_first) : kn_here;

// rows_spread.cu (emit_rows.c).
#inline lane_of_neighbours kn_${name}_[kn_k].at[${number}]
#inline spread_element_of_run ((const ${type} *)((const char *)kn.${name}_ + kn_here.at[${from}]))[kn_j]
#inline spread_element *(const ${type} *)((const char *)kn.${name}_ + kn_here.at[${from}] + kn_j * kn.axis[0].stride[${from}])

#part vectors_of_neighbours
kn_pack<${type}, ${count}> kn_${name}_[${vector}];

#part load_vector_of_neighbours
kn_${name}_[kn_k] = kn_load<${type}, ${count}>((const ${type} *)((const char *)kn.${name}_ + kn_here.at[${array}]));

#part neighbours
kn_series<${type}, ${count}> kn_${name}_[${vector}];

#part load_neighbours
kn_${name}_[kn_k] = kn_load_series<${type}, ${count}, sizeof(${type})>((const char *)kn.${name}_ + kn_here.at[${from}]);

#part places_of_results
${type} *kn_${name}_to[${vector}];

#part place_of_result
kn_${name}_to[kn_k] = (${type} *)((char *)kn.${name}_ + kn_here.at[${array}]);

#part load_dense_result
kn_${name}_.at[kn_k] = kn.${name}_[kn_first + 32 * kn_together * kn_t + kn_j];

#part store_dense_result
kn_pack<${type}, kn_together> kn_${name}_turn;
#pragma unroll
for (int kn_j = 0; kn_j < kn_together; ++kn_j)
    kn_${name}_turn.at[kn_j] = kn_${name}_.at[kn_t * kn_together + kn_j];
*(kn_pack<${type}, kn_together> *)(kn.${name}_ + kn_first + 32 * kn_together * kn_t) = kn_${name}_turn;

#part load_located_result
kn_${name}_.at[kn_k] = *kn_${name}_to[kn_k];

#part store_located_result
*kn_${name}_to[kn_t] = kn_${name}_.at[kn_t];

#part load_spread
kn_${name}_.at[kn_k] = ${element};
