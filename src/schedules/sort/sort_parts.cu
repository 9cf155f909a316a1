// Parts of the passes of sorts on CUDA. An element by its number in the tile, or by its bytes from the start of the operand.
#inline dense kn_${name}_row[kn_j]
#inline stepped *(${const}${type} *)((${const}char *)kn.${name}_ + ${offset})
#inline in_row kn_here.at[${array}] + (kn_first + kn_j) * kn.axis[0].stride[${array}]
#inline from_row kn_from.at[${array}]

#part row_pointer
${const}${type} *const kn_${name}_row = (${const}${type} *)((${const}char *)kn.${name}_ + kn_here.at[${array}]) + kn_first;

#part go_along
[[maybe_unused]] kn_place kn_from = kn_here;
kn_go_along<${operands}>(kn_from, kn, kn_first + kn_j);

#part go_to_row
kn_go_to_result<${operands}>(kn_here, kn, kn.reduction_rank, kn_row);

// Elements of a tile in shared memory, and those at their sorted places (emit_sort_place.c).
#part held_tile
${type} *const kn_${name}_held = (${type} *)(kn_buffer + kn_of_tile * ${before});

#part hold
kn_${name}_held[kn_e] = ${place};

#inline held kn_${name}_held[kn_e]
#inline held_sorted kn_${name}_held[kn_j]
