// Parts of the templates of reductions: emit_reduce.c. Items, and elements of them; offsets of operands are in bytes.
#inline loaded kn_${name}_[kn_u]
#inline shared kn_${name}_[kn_m]
#inline shared_lane kn_loaded_element(kn_${name}_[kn_m], kn_k, true)
#inline loaded_lane kn_loaded_element(kn_${name}_[kn_u], kn_k, ${is_along})
#inline gathered_lane kn_${name}_[kn_u].at[kn_k]
#inline run_lane kn_${name}_run.at[kn_k]
#inline is_along ${along}.stride[${array}] != 0
#inline item_along kn_from.at[${array}]
#inline lane_along kn_from.at[${array}] + kn_k * kn.axis[0].stride[${array}]
#inline item_beside kn_from.at[${array}]
#inline lane_beside kn_from.at[${array}] + kn_k * kn.axis[kn.reduction_rank].stride[${array}]
#inline lane_with_base kn_first.at[${array}] + ((long long)kn_q + kn_u * ${block}) * (${vector} * kn.axis[0].stride[${array}]) + kn_k * kn.axis[0].stride[${array}]
#inline lane_in_rows kn_here.at[${array}] + kn_k * kn.axis[kn.reduction_rank].stride[${array}] + kn_u * kn.axis[0].stride[${array}]
#inline end kn_here.at[${array}] + kn_j * kn.axis[0].stride[${array}]
#inline place kn_from.at[${array}]

#inline read *(const ${type} *)((const char *)kn.${name}_ + ${offset})
#inline read_end *(const ${type} *)((const char *)kn.${name}_ + kn_here.at[${array}] + kn_j * ${size})
#inline staged kn_staged<${type}, kn_is_padded>(kn_${name}_buffer, kn_${name}_off, kn_e)
#inline result_lane kn_${name}_.at[kn_k]
#inline result *(${const}${type} *)((${const}char *)kn.${name}_ + kn_here.at[${array}] + kn_k * kn.axis[kn.reduction_rank].stride[${array}])
#inline row_lane kn_${name}_[(kn_k * ${narrow_row} + kn_u) / ${vector}].at[(kn_k * ${narrow_row} + kn_u) % ${vector}]

// Elements in front of the first aligned vector, and the misalignment.
#inline until (long long)(-(((unsigned long long)kn.${name}_ + kn_here.at[${array}]) / ${size}) & ${mask})
#inline off (int)(((unsigned long long)kn.${name}_ + kn_from.at[${array}]) / ${size} & ${mask})

#part vectors
kn_loaded<${type}, ${vector}> kn_${name}_[kn_steps];

#part gathered_vectors
kn_pack<${type}, ${vector}> kn_${name}_[kn_steps];

#part runs
kn_run<${type}, ${vector}> kn_${name}_[kn_steps];

#part elements
${type} kn_${name}_[kn_steps];

#part base
const auto *const kn_${name}_at = (const kn_pack<${type}, ${vector}> *)((const char *)kn.${name}_ + kn_first.at[${array}]);

#part load_from_base
kn_${name}_[kn_u] = kn_load_words<${type}, ${vector}>((const ${type} *)(kn_${name}_at + kn_q + kn_u * ${block}), true);

// Pointers that go from item to item along one axis.
#part pointer_along
const char *kn_${name}_at = (const char *)kn.${name}_ + (kn_first.at[${array}] + threadIdx.x * (${vector} * kn.axis[0].stride[${array}]));

#part next_item
kn_${name}_at += ${block} * ${vector} * kn.axis[0].stride[${array}];

#part pointer_down
const char *kn_${name}_at = (const char *)kn.${name}_ + (kn_first.at[${array}] + kn_y * kn.axis[0].stride[${array}]);

#part next_row_down
kn_${name}_at += kn.down * kn.axis[0].stride[${array}];

#part pointer_beside
const char *kn_${name}_at = (const char *)kn.${name}_ + kn_here.at[${array}];

#part next_row
kn_${name}_at += kn.axis[0].stride[${array}];

#part load_vector_at
kn_${name}_[kn_u] = kn_load_words<${type}, ${vector}>((const ${type} *)kn_${name}_at, ${is_along});

#part load_vector
kn_${name}_[kn_u] = kn_load_words<${type}, ${vector}>((const ${type} *)((const char *)kn.${name}_ + ${offset}), ${is_along});

#part load_element
kn_${name}_[kn_u] = *(const ${type} *)((const char *)kn.${name}_ + ${offset});

#part from
kn_place kn_from = kn_first;
kn_go<${reduction_axes}, ${operands}>(kn_from, kn, kn_column + kn_item, ${vector}, kn_row);

#part from_row
kn_place kn_from = kn_first;
kn_go<${reduction_axes}, ${operands}>(kn_from, kn, kn_row_column + kn_q + kn_u * kn.down, 1, kn_row);

// Vectors that are gathered: the places of items first, then their loads.
#part gather_vector
kn_${name}_[kn_u] = kn_gather<${type}, ${vector}>((const char *)kn.${name}_ + (${offset}));

#part load_run
kn_${name}_[kn_u] = kn_load_run<${type}, ${vector}>((const char *)kn.${name}_ + (${offset}));

#part gather_backward
kn_${name}_[kn_u] = kn_load_run<${type}, ${vector}>((const char *)kn.${name}_ + (${offset}) - (${vector} - 1) * ${size});

#part join_backward
const auto kn_${name}_run = kn_reversed(kn_join_run(kn_${name}_[kn_u]));

#part join_vector
const auto kn_${name}_run = kn_join_run(kn_${name}_[kn_u]);

#part load_vector_now
kn_${name}_[kn_u] = kn_load_vector_now<${type}, ${vector}>((const ${type} *)((const char *)kn.${name}_ + ${offset}));

#part gathered
kn_place kn_from_of[kn_steps];
#pragma unroll
for (int kn_u = 0; kn_u < kn_steps; ++kn_u) {
    kn_place &kn_from = kn_from_of[kn_u] = ${first};
    ${go}
}
#pragma unroll
for (int kn_u = 0; kn_u < kn_steps; ++kn_u) {
    const kn_place &kn_from = kn_from_of[kn_u];
    ${loads}
}

#part from_of
const kn_place &kn_from = kn_from_of[kn_u];

#part go_item
kn_go<${reduction_axes}, ${operands}>(kn_from, kn, kn_column + min(kn_q + kn_u * ${block}, kn_count - 1), ${vector}, kn_row);

#part go_near_item
kn_go_near<${operands}>(kn_from, kn, kn_column + min(kn_q + kn_u * ${block}, kn_count - 1), ${vector}, (unsigned)kn_row);

#part go_lane
kn_go<${reduction_axes}, ${operands}>(kn_from, kn, min(kn_q + kn_u % kn_items * kn.lanes, kn_count - 1), ${vector}, 0);

#part go_row
kn_go<${reduction_axes}, ${operands}>(kn_from, kn, kn_row_column + min(kn_q + kn_u * kn.down, kn_count - 1), 1, kn_row);

#part go_near_row
kn_go_near<${operands}>(kn_from, kn, kn_row_column + min(kn_q + kn_u * kn.down, kn_count - 1), 1, (unsigned)kn_row);

// Slices of rows: where these begin in memory, for all threads that copy them, and in shared memory.
#inline in_slice kn_here.at[${array}] + kn_step.at[${array}] + kn_j * kn.axis[0].stride[${array}]

#part slices
__shared__ unsigned long long kn_${name}_rows[${block}];
const unsigned kn_${name}_pitch = kn_slice_pitch(kn.slice, ${size});
unsigned char *const kn_${name}_buffer = kn_next_buffer;
kn_next_buffer += kn.tile_results * kn_${name}_pitch;
if (kn_is_here && kn_lane == 0)
    kn_${name}_rows[kn_own] = (unsigned long long)((const char *)kn.${name}_ + kn_here.at[${array}]);

#part stage_slices
kn_stage_rows(kn_${name}_buffer, kn_${name}_rows, kn_step.at[${array}], kn_count, kn_elements * ${size}, kn_${name}_pitch);

#part slice_pointer
const unsigned char *kn_${name}_at = kn_${name}_buffer + kn_own * kn_${name}_pitch + ((unsigned)(kn_${name}_rows[kn_own] + kn_step.at[${array}]) & 15) + kn_lane * ${size};

#part next_in_slice
kn_${name}_at += kn.lanes * ${size};

#part across_pointer
const char *kn_${name}_at = (const char *)kn.${name}_ + (kn_here.at[${array}] + kn_step.at[${array}] + kn_lane * kn.axis[0].stride[${array}]);
const long long kn_${name}_on = kn.lanes * kn.axis[0].stride[${array}];

#part next_across
kn_${name}_at += kn_${name}_on;

#part load_at
kn_${name}_[kn_u] = *(const ${type} *)kn_${name}_at;

// A thread's vector of results.
#part results_of_thread
const unsigned kn_outer = kn_divide(kn_at, kn.across);
kn_place kn_here = {};
for (int o = 0; o < ${operands}; ++o)
    kn_here.at[o] = (long long)((kn_at - kn_outer * kn.across.extent) * ${vector}) * kn.axis[kn.reduction_rank].stride[o];
kn_go_to_result<${operands}>(kn_here, kn, kn.reduction_rank + 1, kn_outer);

#part stage
__shared__ __align__(16) unsigned char kn_${name}_buffer[kn_tile_elements * ${size} / 8 * 9 + 48];
const unsigned kn_${name}_off = kn_stage<kn_is_padded>(kn_${name}_buffer, (const char *)(kn.${name}_ + kn_begun * kn_chunk), kn_chunks * kn_chunk * ${size});

#part next
const auto kn_next = [&](const ${value_type} a, const ${value_type} b) { return ${function}(a, b, true); };

#part empty
if (!kn_some)
    ${result} = kn_${label}_identity;

// The lanes of an item: each added to the sum of its column, or combined to one value, neighbours first.
#part add_lanes
#pragma unroll
for (int kn_k = 0; kn_k < ${vector}; ++kn_k) {
    ${lane}
    kn_sum[kn_k] = kn_u == 0 ? ${mapped} : ${next}(kn_sum[kn_k], ${mapped});
}

#part combine_lanes
${value_type} kn_side[${vector}];
#pragma unroll
for (int kn_k = 0; kn_k < ${vector}; ++kn_k) {
    ${lane}
    kn_side[kn_k] = ${mapped};
}
const ${value_type} kn_one = kn_reduce_tree(kn_side, ${next});
kn_sum = ${item} == 0 ? kn_one : ${next}(kn_sum, kn_one);

// Rows of a few elements: as many vectors as a row has elements.
#part row_vectors
kn_pack<${type}, ${vector}> kn_${name}_[${narrow_row}];

#part row_elements
${type} kn_${name}_[${narrow_row}];

#part load_row_vector
kn_${name}_[kn_u] = kn_load<${type}, ${vector}>((const ${type} *)((const char *)kn.${name}_ + kn_here.at[${array}]) + kn_u * ${vector});

#part load_row_element
kn_${name}_[kn_u] = *(const ${type} *)((const char *)kn.${name}_ + kn_here.at[${array}] + kn_u * kn.axis[0].stride[${array}]);

#part result_vector
${type} *const kn_${name}_to = (${type} *)((char *)kn.${name}_ + kn_here.at[${array}]);
auto kn_${name}_ = kn_load<${type}, ${vector}>(kn_${name}_to);

// Pairs of points: coordinates that a thread keeps for each result kn_k, and those that it loads for each element.
#inline held kn_${name}_[kn_k]
#inline held_coordinate kn_${name}_[kn_k].at[${number}]
#inline loaded_point kn_${name}_
#inline loaded_coordinate kn_${name}_.at[${number}]
#inline lane_of_points kn_row.at[${array}] + kn_result(kn_k) * kn.axis[kn.reduction_rank].stride[${array}] + kn_j * kn.axis[0].stride[${array}]
#inline result_of_points *(${const}${type} *)((${const}char *)kn.${name}_ + kn_row.at[${array}] + kn_e * kn.axis[kn.reduction_rank].stride[${array}])

#part held_vectors
kn_pack<${type}, ${vector}> kn_${name}_[kn_results];

#part held_elements
${type} kn_${name}_[kn_results];

#part hold_vector
kn_${name}_[kn_k] = kn_load<${type}, ${vector}>((const ${type} *)((const char *)kn.${name}_ + kn_row.at[${array}] + kn_e * kn.axis[kn.reduction_rank].stride[${array}]));

#part hold_element
kn_${name}_[kn_k] = *(const ${type} *)((const char *)kn.${name}_ + kn_row.at[${array}] + kn_e * kn.axis[kn.reduction_rank].stride[${array}]);

#part next_point
const char *kn_${name}_at = (const char *)kn.${name}_ + kn_row.at[${array}];

#part load_point_vector
const auto kn_${name}_ = kn_load<${type}, ${vector}>((const ${type} *)kn_${name}_at);
kn_${name}_at += kn.axis[0].stride[${array}];

#part load_point
const ${type} kn_${name}_ = *(const ${type} *)kn_${name}_at;
kn_${name}_at += kn.axis[0].stride[${array}];

// Products: the part of an operand that a block copies in a step, what a thread loads ahead of it, and its rows (m) and columns (n), in fours.
#inline in_rows kn_${name}_[kn_r / 4].at[kn_r % 4]
#inline in_columns kn_${name}_[kn_c / 4].at[kn_c % 4]
#inline lane_of_product kn_step.at[${array}] + kn_j * kn.axis[0].stride[${array}] + kn_m_of(kn_r, kn_y) * kn_axis_m.stride[${array}] + kn_n_of(kn_c, kn_x) * kn_axis_n.stride[${array}]
#inline of_each_result *(const ${type} *)((const char *)kn.${name}_ + kn_row.at[${array}] + min(kn_m_of(kn_r, kn_y), (unsigned)kn_axis_m.extent - 1) * kn_axis_m.stride[${array}] + min(kn_n_of(kn_c, kn_x), (unsigned)kn_axis_n.extent - 1) * kn_axis_n.stride[${array}])
#inline result_of_product kn_${name}_.at[kn_c]
#inline input_of_result *(const ${type} *)((const char *)kn.${name}_ + kn_row.at[${array}] + kn_m * kn_axis_m.stride[${array}] + (kn_n + kn_c) * kn_axis_n.stride[${array}])

#part operand_tile
const kn_operand_tile kn_${name}_tile((const char *)kn.${name}_ + (kn_row.at[${array}] + kn_first_${side} * kn_axis_${side}.stride[${array}]), kn_axis_${side}.stride[${array}], kn.axis[0].stride[${array}], (unsigned)kn_axis_${side}.extent - kn_first_${side}, kn.${side}_bits + kn_side_bits, kn.k_bits, ${size});
unsigned char *const kn_${name}_buffer = kn_next_buffer;
kn_next_buffer += kn_${name}_tile.pitch * kn_step_rows * ${size};

#part stage_operand
const long long kn_${name}_step = kn_axis_${side}.stride[${array}], kn_${name}_step_k = kn.axis[0].stride[${array}];
const char *const kn_${name}_at = (const char *)kn.${name}_ + (kn_ahead.at[${array}] + kn_first_${side} * kn_${name}_step);
${type} *const kn_${name}_to = (${type} *)(kn_${name}_buffer + kn_there);
const auto kn_stage_${name} = [&](auto kn_pointer) {
#pragma unroll 1
    for (unsigned kn_e = kn_${name}_tile.e; kn_e <= kn_${name}_tile.last; kn_e += kn_${name}_tile.e_on) {
        const char *kn_from = kn_${name}_at + kn_e * kn_${name}_step + kn_${name}_tile.k * kn_${name}_step_k;
#pragma unroll ${unroll}
        for (unsigned kn_k = kn_${name}_tile.k; kn_k < kn_elements; kn_k += kn_${name}_tile.k_on) {
            kn_copy_elements((decltype(kn_pointer))(kn_${name}_to + kn_k * kn_${name}_tile.pitch + kn_e), kn_from);
            kn_from += kn_${name}_tile.k_on * kn_${name}_step_k;
        }
    }
};
if (kn_${name}_tile.are_vectors)
    kn_stage_${name}((uint4 *)nullptr);
else
    kn_stage_${name}((${type} *)nullptr);

// Four results of a row; those that the text does not assign keep their values.
#part four_results
${type} *const kn_${name}_to = (${type} *)((char *)kn.${name}_ + kn_row.at[${array}] + kn_m * kn_axis_m.stride[${array}] + kn_n * kn_axis_n.stride[${array}]);
const bool kn_${name}_are_whole = kn_left == 4 && kn_axis_n.stride[${array}] == ${size} && (unsigned long long)kn_${name}_to % alignof(kn_pack<${type}, 4>) == 0;
kn_pack<${type}, 4> kn_${name}_;

#part keep_result
kn_${name}_.at[kn_c] = *(const ${type} *)((const char *)kn_${name}_to + kn_c * kn_axis_n.stride[${array}]);

#part store_four
if (kn_${name}_are_whole)
    kn_store(kn_${name}_to, kn_${name}_);
else
#pragma unroll
    for (int kn_c = 0; kn_c < kn_width; ++kn_c)
        if (kn_c < kn_left)
            *(${type} *)((char *)kn_${name}_to + kn_c * kn_axis_n.stride[${array}]) = kn_${name}_.at[kn_c];

#part fours
kn_pack<${type}, 4> kn_${name}_[kn_fours];

#part load_four
kn_${name}_[kn_f] = *(const kn_pack<${type}, 4> *)(kn_${name}_buffer + kn_now + (kn_j * kn_${name}_tile.pitch + 4 * (kn_${place} + (kn_f << kn.${side}_bits))) * ${size});
