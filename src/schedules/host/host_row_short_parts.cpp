// Parts of the host's programs over short rows: emit_host_row_short.c. Element kn_j of row kn_k.
#inline dense ((${const}${type} *)kn_${name}_at)[kn_k]
#inline one *(${const}${type} *)kn_${name}_at
#inline packed kn_${name}_tile[kn_j * kn_across + kn_k]
#inline now kn_${name}_now

#part result_here
${type} &kn_${name}_now = ${element};

#part result_variable
${type} kn_${name}_now = ${element};

#part pointer
    ${const}char *const kn_${name}_at = (${const}char *)kn.${name}_ + kn_here.at[${array}] + kn_j * kn.axis[0].stride[${array}];

// The passes over elements of all rows.
#part reduce_rows
const auto kn_level_${level} = [&](const long long kn_j, const auto kn_is_first) __attribute__((always_inline)) {
${pointers}
KN_INDEPENDENT
    for (int kn_k = 0; kn_k < kn_count; ++kn_k) {
${element}
        if constexpr (kn_is_first.is)
            ${value}_of[kn_k] = ${reduced};
        else
            ${value}_of[kn_k] = ${function}(${value}_of[kn_k], ${reduced});
    }
};
kn_level_${level}(0, kn_bool<true>());
for (long long kn_j = 1; kn_j < kn_length; ++kn_j)
    kn_level_${level}(kn_j, kn_bool<false>());

// The baseline tier's.
#part reduce_rows_quick
for (long long kn_j = 0; kn_j < kn_length; ++kn_j) {
${pointers}
    for (int kn_k = 0; kn_k < kn_count; ++kn_k) {
${element}
        const ${value_type} kn_new = ${reduced};
        ${value}_of[kn_k] = kn_j == 0 ? kn_new : ${function}(${value}_of[kn_k], kn_new);
    }
}

#part last_pass
for (long long kn_j = 0; kn_j < kn_length; ++kn_j) {
${pointers}
KN_INDEPENDENT
    for (int kn_k = 0; kn_k < kn_count; ++kn_k) {
${element}
    }
}

// Memory of the thread, and tiles.
#part held_value
${value_type} *const ${value}_held = (${value_type} *)__builtin_alloca_with_align(kn_length * kn_across * sizeof(${value_type}), 512);

#part tile
${type} *const kn_${name}_tile = (${type} *)__builtin_alloca_with_align(kn_length * kn_across * sizeof(${type}), 512);

#part pack
kn_pack(kn_${name}_tile, (const char *)kn.${name}_ + kn_here.at[${array}], kn.axis[0].stride[${array}], kn.axis[kn.reduction_rank].stride[${array}],
        kn_length, kn_count);

#part unpack
kn_unpack((char *)kn.${name}_ + kn_here.at[${array}], kn.axis[0].stride[${array}], kn.axis[kn.reduction_rank].stride[${array}], kn_${name}_tile,
          kn_length, kn_count);
