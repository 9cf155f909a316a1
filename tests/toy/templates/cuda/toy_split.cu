${head}
struct kn_args {
    ${fields}
};

${begin}

    ${type} *const kn_partials = (${type} *)kn.partials;
    const long long kn_at = blockIdx.x * ${block}ll + threadIdx.x;
    if (kn_at < kn.size) {
        ${type} ${result};
        for (long long kn_j = kn_at * 1000; kn_j < kn.toy_length && kn_j < kn_at * 1000 + 1000; ++kn_j) {
            ${loads}
            ${single}
            ${result} = kn_j > kn_at * 1000 ? ${reduce}(${result}, ${mapped}) : ${mapped};
        }
        kn_partials[kn_at] = ${result};
        __threadfence();
        if (atomicInc(kn.counters, (unsigned)kn.size - 1) == kn.size - 1) {
            __threadfence();
            ${result} = kn_partials[0];
            for (long long kn_k = 1; kn_k < kn.size; ++kn_k)
                ${result} = ${reduce}(${result}, kn_partials[kn_k]);
            const long long kn_j = 0;
            ${stores}
        }
    }
    ${after_loop}
}
