${head}
struct kn_args {
    ${fields}
};

extern "C" __attribute__((visibility("default"))) void ${entry}(const kn_args *kn_given, long long kn_begin, long long kn_end)
{
    const kn_args &kn = *kn_given;
    ${values}
    ${loop_prep}
    ${element}

    ${type} *const kn_partials = (${type} *)kn.partials;
    for (long long kn_at = kn_begin; kn_at < kn_end; ++kn_at) {
        ${type} ${result};
        for (long long kn_j = kn_at * 1000; kn_j < kn.toy_length && kn_j < kn_at * 1000 + 1000; ++kn_j) {
            ${loads}
            ${single}
            ${result} = kn_j > kn_at * 1000 ? ${reduce}(${result}, ${mapped}) : ${mapped};
        }
        kn_partials[kn_at] = ${result};
        if (__atomic_add_fetch(kn.counters, 1u, __ATOMIC_ACQ_REL) == kn.size) {
            *kn.counters = 0;
            ${result} = kn_partials[0];
            for (long long kn_k = 1; kn_k < kn.size; ++kn_k)
                ${result} = ${reduce}(${result}, kn_partials[kn_k]);
            const long long kn_j = 0;
            ${stores}
        }
    }
    ${after_loop}
}
