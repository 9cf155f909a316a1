// Parts of scans along contiguous rows (emit_scan_rows.c). Element kn_j of a row, vector kn_q of it.
#part row_pointer
${const}${type} *const kn_${name}_row = (${const}${type} *)((${const}char *)kn.${name}_ + kn_here.at[${array}]) + kn_first;

#inline row_skew (unsigned)((unsigned long long)((${const}char *)kn.${name}_ + kn_here.at[${array}]) / ${size} % ${vector})
#inline in_row kn_${name}_row[kn_j]
#inline along_row *(${const}${type} *)((${const}char *)kn.${name}_ + kn_here.at[${array}] + (kn_first + kn_j) * kn.axis[0].stride[${array}])
#inline row_index kn.${start} + kn_here.at[${array}] + (kn_first + kn_j) * kn.axis[0].stride[${array}]

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

// Elements one by one (emit_select.c).
#part item_packs
${type} kn_${name}_all[kn_in_flight];

#part item_load
kn_${name}_all[kn_u] = ${place};

#inline item kn_${name}_all[kn_u]
#inline at_place *(${const}${type} *)((${const}char *)kn.${name}_ + kn_from.at[${array}])
#inline place_index kn.${start} + kn_from.at[${array}]
#part go_along
[[maybe_unused]] kn_place kn_from = {};
kn_go_along<${operands}>(kn_from, kn, kn_first + kn_j);

// Vectors of columns (emit_scan_columns.c): element kn_d of a tile, column kn_k of a vector.
#inline column_address kn_here.at[${array}] + (long long)kn_d * kn.axis[0].stride[${array}]
#inline in_column *(${const}${type} *)((${const}char *)kn.${name}_ + ${place} + ${across} * kn_k)
#inline column_index kn.${start} + ${place} + ${across} * kn_k
#inline across kn.axis[1].stride[${array}]

#part deep_packs
kn_pack<${type}, ${vector}> kn_${name}_all[kn_rounds];

#part deep_load
kn_${name}_all[kn_u] = kn_load<${type}, ${vector}>((${const}${type} *)((${const}char *)kn.${name}_ + ${place}));

#part of_deep
const auto &kn_${name}_ = kn_${name}_all[kn_u];

#part column_vector
${const}auto kn_${name}_ = kn_load<${type}, ${vector}>((${const}${type} *)((${const}char *)kn.${name}_ + ${place}));

#part column_store
kn_store((${type} *)((char *)kn.${name}_ + ${place}), kn_${name}_);
