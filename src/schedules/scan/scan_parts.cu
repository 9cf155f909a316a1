// Parts of scans and selections. An element by its number in the tile's part of a row, or by its bytes from the start of the operand.
#inline dense kn_${name}_row[kn_j]
#inline stepped *(${const}${type} *)((${const}char *)kn.${name}_ + ${offset})
#inline in_row kn_here.at[${array}] + (kn_first + kn_j) * kn.axis[0].stride[${array}]
#inline from_row kn_from.at[${array}]

#part row_pointer
${const}${type} *const kn_${name}_row = (${const}${type} *)((${const}char *)kn.${name}_ + kn_here.at[${array}]) + kn_first;

#part from
kn_place kn_from = {};
kn_go_to_result<${operands}>(kn_from, kn, kn.reduction_rank, (unsigned)(kn_first_row + kn_row));
kn_go_along<${operands}>(kn_from, kn, kn_first + kn_j);

// Vectors along rows (emit_scan_rows.c): vector kn_q of a row.
#inline row_misalignment (unsigned)((unsigned long long)((${const}char *)kn.${name}_ + kn_here.at[${array}]) / ${size} % ${vector})

#part round_packs
kn_pack<${type}, ${vector}> kn_${name}_all[kn_rounds];

#part round_load
kn_${name}_all[kn_u] = kn_load<${type}, ${vector}>(kn_${name}_row + kn_q * ${vector});

#part round_load_unaligned
kn_${name}_all[kn_u] = kn_load_unaligned<${type}, ${vector}>((const char *)(kn_${name}_row + kn_q * ${vector}));

#part of_round
const auto &kn_${name}_ = kn_${name}_all[kn_u];

#part row_vector
${const}auto kn_${name}_ = kn_load<${type}, ${vector}>(kn_${name}_row + kn_q * ${vector});

#part row_vector_unaligned
const auto kn_${name}_ = kn_load_unaligned<${type}, ${vector}>((const char *)(kn_${name}_row + kn_q * ${vector}));

#part row_store
kn_store(kn_${name}_row + kn_q * ${vector}, kn_${name}_);

// Selections (emit_select.c): the selected elements of the tiles before this one, which has kn_all.
#part tiles_before
int64 kn_before = 0;
[[maybe_unused]] unsigned kn_left = 0;
if constexpr (kn_has_tiles) {
    if (threadIdx.x == 0)
        kn_of_tile = kn_all;
    __syncthreads();
    const unsigned kn_set = kn_look_back<${block}>(&kn_of_tile, kn_sums_of<int64>(kn.counters + 2, kn.partials, kn.tiles, 0, 1), kn_tile, [](int64 a, int64 b) { return a + b; });
    __syncthreads();
    kn_left = kn_leave(kn.counters + 1, gridDim.x, kn_set);
    kn_before = kn_tile > 0 ? kn_of_tile : 0;
}

// The same where each tile has a word: warps look at the tiles of this group, those of the group before, and the groups before that.
#part tiles_before_by_words
int64 kn_before = 0;
[[maybe_unused]] unsigned kn_left = 0;
if constexpr (kn_has_tiles) {
    __shared__ unsigned kn_of_words[3];
    unsigned *const kn_words = kn.counters + 2;
    const int kn_groups = kn_tile / kn_group, kn_in_group = kn_tile % kn_group;
    unsigned kn_set = 0;
    if (threadIdx.x == 0)
        kn_set = kn_put_word(kn_words + kn_tile, kn_all);
#pragma unroll 1
    for (int kn_role = threadIdx.x / 32; kn_role < 3; kn_role += kn_warps) {
        const int kn_from = kn_role == 2 ? kn.tiles : (kn_groups - kn_role) * kn_group;
        const unsigned kn_sum_of_role = kn_sum_of_words(kn_words + kn_from, kn_role == 0 ? kn_in_group : kn_role == 1 ? (kn_groups > 0) * kn_group : kn_groups - 1);
        if (threadIdx.x % 32 == 0) {
            kn_of_words[kn_role] = kn_sum_of_role;
            if (kn_role == 0 && kn_in_group == kn_group - 1)
                kn_set |= kn_put_word(kn_words + kn.tiles + kn_groups, kn_sum_of_role + kn_all);
        }
    }
    __syncthreads();
    kn_left = kn_leave(kn.counters + 1, gridDim.x, kn_set);
    kn_before = kn_of_words[0] + kn_of_words[1] + kn_of_words[2];
}

#part leave_flags
kn_leave_zeros(kn_left, gridDim.x, kn.counters + 2, kn.flags);

#part leave_words
kn_leave_words_zero(kn_left, gridDim.x, kn.counters + 2, kn.flags, ${block});

// Selected elements of a warp side by side, with their numbers in the tile.
#inline packed kn_${name}_packed[kn_s]

#part packed_tile
__shared__ __align__(16) unsigned char kn_${name}_bytes[kn_most * ${size}];
${type} *const kn_${name}_packed = (${type} *)kn_${name}_bytes;

#part pack_item
kn_${name}_packed[kn_s] = ${place};

// Elements one by one.
#part item_packs
${type} kn_${name}_all[kn_in_flight];

// The texts of a selection ask which element is the last one.
#part not_last
__builtin_assume(${index} + 1 != _in_ind.size());

#part item_load
kn_${name}_all[kn_u] = ${place};

#inline item kn_${name}_all[kn_u]
#part go_along
[[maybe_unused]] kn_place kn_from = {};
kn_go_along<${operands}>(kn_from, kn, kn_first + kn_j);

// Vectors of columns (emit_scan_columns.c): element kn_d of a tile, column kn_k of a vector.
#inline vector_offset kn_here.at[${array}] + (long long)kn_d * kn.axis[0].stride[${array}]
#inline column_offset kn_here.at[${array}] + (long long)kn_d * kn.axis[0].stride[${array}] + kn.axis[1].stride[${array}] * kn_k

#part column_load
kn_${name}_all[kn_u] = kn_load<${type}, ${vector}>((${const}${type} *)((${const}char *)kn.${name}_ + ${place}));

#part column_vector
${const}auto kn_${name}_ = kn_load<${type}, ${vector}>((${const}${type} *)((${const}char *)kn.${name}_ + ${place}));

#part column_store
kn_store((${type} *)((char *)kn.${name}_ + ${place}), kn_${name}_);
