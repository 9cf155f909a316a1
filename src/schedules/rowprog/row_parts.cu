// Parts of the templates of row programs: emit_row.c. An item, and arrays in its row.
#inline broadcast kn_${name}_broadcast
#inline lane kn_in.kn_${name}_.at[kn_k]
#inline lane_unpacked kn_${name}_now.at[kn_k]
#inline place (${const}${type} *)((${const}char *)kn.${name}_ + kn_from.at[${array}])
#inline bytes_of_row (${const}${type} *)(kn_${name}_row + kn_j * kn.axis[0].stride[${array}])
#inline bytes_of_pieces (${const}${type} *)(kn_${name}_row + kn_in_pieces(kn, kn_j, ${array}))
#inline elements_of_row kn_${name}_row + kn_j
#inline rows_from (${const}${type} *)((${const}char *)kn.${name}_ + (long long)kn_warp_first * kn.length * ${size})
#inline off (int)((unsigned long long)kn_${name}_row / ${size} & ${mask})

#part load
    kn_in.kn_${name}_ = kn_load<${type}, ${vector}>(${from});

#part load_repeated
    kn_in.kn_${name}_ = kn_repeat<${type}, ${vector}>(${from});

#part load_single
    kn_in.kn_${name}_.at[0] = *(${from});

#part unpack
    const kn_pack<${type}, ${vector}> kn_${name}_now = kn_unpack(kn_in.kn_${name}_);

#part load_staged
    kn_in.kn_${name}_ = kn_${name}_staged[kn_slot];

#part mend
    kn_mend<kn_is_unaligned>(kn_in.kn_${name}_, kn_j, kn.length);

#inline store_single *(${to}) = kn_in.kn_${name}_.at[0];
#inline store_vector kn_store(${to}, kn_in.kn_${name}_);
#inline store_item kn_store_item<kn_is_unaligned>(${to}, kn_in.kn_${name}_, kn_j, kn.length);
#part store
    ${statement}

#part store_here
    if (kn_is_here)
        ${statement}

// The computation of a level with an item.
#inline item_of_places kn_item &kn_in, const kn_place &kn_from
#inline item_of_row kn_item &kn_in, const int kn_j
#inline side , ${value_type} (&kn_side)[${vector}]
#inline lambda
[&](${item}${more}) {
${lines}
}

#part item
${before}
#pragma unroll
    for (int kn_k = 0; kn_k < ${vector}; ++kn_k) {
${lines}
    }
${stores}

#part element_of_columns
const int kn_e = kn_j;

#part element
const int kn_e = kn_row_element<kn_is_unaligned, ${vector}>(kn_j, kn_k, kn.length);

#part reduced_element
kn_side[kn_k] = ${value};

#part load_items
kn_load_items([&](${item}) {
${lines}
});

#part reduce_items
kn_reduce_items(${to}, kn_number<${stage}>(), ${items}, ${function});

#part each_item
kn_each_item(${items});

// Members of an item, pointers to the rows of arrays, and staged inputs.
#part member
kn_pack<${type}, ${vector}> kn_${name}_;

#part held_value
${value_type} ${value}[${vector}];

#part row
${const}${row_type} *const kn_${name}_row = (${const}${row_type} *)((${const}char *)kn.${name}_ + kn_here.at[${array}]);

#part broadcast_input
const ${type} kn_${name}_broadcast = *kn_${name}_row;

#part staged_input
kn_pack<${type}, ${vector}> *const kn_${name}_staged = (kn_pack<${type}, ${vector}> *)(kn_buffer + (size_t)kn.staged * blockDim.x * ${bytes});

#part stage_item
kn_stage_item(kn_${name}_staged[kn_slot], ${from});

#part stage_repeated
kn_${name}_staged[kn_slot] = kn_repeat<${type}, ${vector}>(${from});

// Rows of a block, one after the other, whose columns are combined (row_strips.cu).
#inline asked_elements (const ${type} *)((const char *)kn.${name}_ + kn_then.at[${array}]) + kn_j
#inline asked_for_all (const ${type} *)kn.${name}_ + kn_j

#part take
kn_in.kn_${name}_ = kn_from.kn_${name}_;

#part asked_broadcast
${type} kn_${name}_then;

#part ask_broadcast
kn_${name}_then = *(const ${type} *)((const char *)kn.${name}_ + kn_then.at[${array}]);

#part broadcast_asked
const ${type} kn_${name}_broadcast = kn_${name}_then;

#part columns_member
kn_pack<${value_type}, ${vector}> kn_${name}_columns;

#part columns_element
kn_in.kn_${name}_columns.at[kn_k] = kn_is_first_row ? ${value} : ${function}(kn_in.kn_${name}_columns.at[kn_k], ${value});

#part store_columns
kn_store((${value_type} *)kn.${name}_.first + (long long)blockIdx.x * kn_length + kn_j, kn_in.kn_${name}_columns);

// Rows of a warp in shared memory (row_lanes.cu).
#part rows_of_warp
/* Those that there are, at least the last one. */
const int kn_last = (int)kn.size - 1, kn_warp_at = (int)(blockIdx.x * ${block} + (threadIdx.x & ~31u)) * kn_turns, kn_warp_first = kn_warp_at < kn_last ? kn_warp_at : kn_last;
const int kn_rows = kn_last - kn_warp_first < 32 * kn_turns ? kn_last - kn_warp_first + 1 : 32 * kn_turns;

#part rows_staged
__shared__ __align__(16) ${type} kn_${name}_rows[${block} * ${turns} * ${items}];
${type} *const kn_${name}_warp = kn_${name}_rows + (threadIdx.x & ~31u) * (${turns} * ${items});

#part own_row
const int kn_own = kn_turn * 32 + (int)(threadIdx.x % 32) < kn_rows ? kn_turn * 32 + (int)(threadIdx.x % 32) : kn_rows - 1;

#part row_staged
${const}${type} *const kn_${name}_row = kn_${name}_warp + kn_own * kn.length;

#part stage_rows
kn_copy_rows<${turns} * ${items}>(kn_${name}_warp, ${rows}, kn_rows, 32 * ${turns}, kn.length);

#part unstage_rows
if (kn_warp_at <= kn_last)
    kn_copy_rows<${turns} * ${items}>(${rows}, kn_${name}_warp, kn_rows, 32 * ${turns}, kn.length);

#part warp_waits
__syncwarp();
