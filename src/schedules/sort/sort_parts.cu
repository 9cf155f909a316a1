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

// Elements that a thread holds, and those of the tile in the order of their digits (emit_sort_place.c).
#part item_packs
${type} kn_${name}_all[kn_items];

#part item_load
kn_${name}_all[kn_r] = ${place};

#inline item kn_${name}_all[kn_r]
#inline sorted kn_${name}_sorted[kn_s]

// The tile's elements, in the order of digits.
#part dynamic_buffer
extern __shared__ __align__(16) unsigned char kn_buffer[];

#part static_buffer
__shared__ __align__(16) unsigned char kn_buffer[kn_of_tile * ${size}];

#part sorted_tile
${type} *const kn_${name}_sorted = (${type} *)(kn_buffer + kn_of_tile * ${first});

#part sort_item
kn_${name}_sorted[kn_at] = ${place};

#part number_tile
unsigned short *const kn_number_of = (unsigned short *)(kn_buffer + kn_of_tile * ${first});

#part sort_number
kn_number_of[kn_at] = (unsigned short)(kn_begin + kn_r * 32);
