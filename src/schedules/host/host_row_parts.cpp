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

// The baseline tier's.
#part reduce_row_quick
{
    const auto kn_loop = [&](const kn_call &kn_c) __attribute__((always_inline)) {
        ${value_type} *const kn_to = (${value_type} *)kn_c.to;
        if (kn_c.loop == ${both}) {
            const ${value_type} *const kn_a = (const ${value_type} *)kn_c.a, *const kn_b = (const ${value_type} *)kn_c.b;
            for (long long kn_k = 0; kn_k < kn_c.count; ++kn_k)
                kn_to[kn_k] = kn_a ? ${function}(kn_a[kn_k], kn_b[kn_k]) : kn_b[kn_k];
            return;
        }
        [[maybe_unused]] const kn_place &kn_from = *(const kn_place *)kn_c.place;
        [[maybe_unused]] const long long kn_base = kn_c.step;
${pointers}
        for (long long kn_k = 0; kn_k < kn_c.count; ++kn_k) {
            [[maybe_unused]] const long long kn_j = kn_c.first + kn_k;
${element}
            const ${value_type} kn_new = ${reduced};
            kn_to[kn_k] = kn_k < kn_c.steps ? ${function}(kn_to[kn_k], kn_new) : kn_new;
        }
    };
    alignas(64) unsigned char kn_side[${sides} * sizeof(${value_type})];
    const kn_loops kn_all = {&kn_loop, [](const void *kn_of, const kn_call *kn_c) { (*(decltype(&kn_loop))kn_of)(*kn_c); },
                             (int)sizeof(${value_type}), ${operands}, (int)kn.rank, &kn.reduction_rank, kn.axis, kn_here.at, kn_side, &${value}};
    kn.in_order(&kn_all);
}

#part last_pass_quick
for (long long kn_r = 0; kn_r < kn.rows; ++kn_r) {
    [[maybe_unused]] const long long kn_base = kn_r * kn_length;
    kn_place kn_from = kn_here;
    kn_move(kn_from, kn, 1, kn.reduction_rank, kn_r);
${pointers}
    for (long long kn_j = 0; kn_j < kn_length; ++kn_j) {
${element}
    }
}

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
