// Parts of row programs on both targets: row_stages.c. Values that all elements of a row share are arrays, ${value}_of, if a thread has several rows.
#part declaration_of_rows
${value_type} ${value}_of[${vector}];

#part value_of_row
auto &${value} = ${value}_of[kn_k];

#part value_of_row_beside
auto &&${value} = ${value}_of[kn_k];

#part stored_value
auto &${value} = ${in_front}${value}${behind};

#part rows
#pragma unroll
for (int kn_k = 0; kn_k < ${vector}; ++kn_k) {
${lines}
}

#part rows_beside
KN_INDEPENDENT
for (int kn_k = 0; kn_k < kn_count; ++kn_k) {
${lines}
}

#part empty
if (kn_is_empty)
    ${value} = kn_${label}_identity;

#inline of_row *(${const}${type} *)((${const}char *)kn.${name}_ + kn_here.at[${array}]${column})
#inline dense_of_row ((${const}${type} *)((${const}char *)kn.${name}_ + kn_here.at[${array}]))[kn_k]
#inline result kn_${name}_
#inline result_of_row kn_${name}_of[kn_k]
#inline column  + kn_k * kn.axis[kn.reduction_rank].stride[${array}]

#part result_of_rows
${type} kn_${name}_of[${vector}];

#part load_result
${type} kn_${name}_ = ${place};

#part load_result_of_row
kn_${name}_of[kn_k] = ${place};

#part store_result
${place} = ${value};

#part store_result_if
if (${condition})
    ${place} = ${value};
