// Parts of scans: emit_scan.c. An element by its number in the tile's part of a row, or by its bytes from the start of the operand.
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
