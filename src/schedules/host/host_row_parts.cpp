// Parts of the host's row programs: emit_host_row.c. An array's contiguous range, or its element j.
#inline dense kn_${name}_run[kn_j]
#inline stepped *(${const}${type} *)((${const}char *)kn_${name}_run + kn_j * kn_${name}_step)
#inline now kn_${name}_now
#inline one kn_${name}_one

#part result_here
${type} &kn_${name}_now = ${element};

#part result_variable
${type} kn_${name}_now = ${element};

#part broadcast_element
    const ${type} kn_${name}_one = *(const ${type} *)((const char *)kn.${name}_ + kn_from.at[${array}]);

#part run_pointer
    ${const}${type} *const kn_${name}_run = (${const}${type} *)((${const}char *)kn.${name}_ + kn_from.at[${array}]);

#part run_step
    const long long kn_${name}_step = kn.axis[0].stride[${array}];

// The passes over a row.
#part reduce_row
kn_reduce_runs(${value}, [&](const kn_place &kn_from, const long long kn_base, const auto &kn_reduce_elements) __attribute__((always_inline)) {
    (void)kn_from, (void)kn_base;
${pointers}
    kn_reduce_elements([&](const long long kn_j) __attribute__((always_inline)) -> ${value_type} {
${element}
return ${reduced};
    });
}, ${function});

#part last_pass
kn_each_run([&](const kn_place &kn_from, const long long kn_base) __attribute__((always_inline)) {
    (void)kn_base;
${pointers}
KN_INDEPENDENT
    for (long long kn_j = 0; kn_j < kn_length; ++kn_j) {
${element}
    }
});

#part held_value
${value_type} *const ${value}_held = (${value_type} *)__builtin_alloca_with_align(kn.capacity * sizeof(${value_type}), 512);
