${head}
struct kn_args {
    ${fields}
};

${begin}

    const long long kn_at = blockIdx.x * ${block}ll + threadIdx.x;
    if (kn_at < kn.size) {
        long long kn_j = 0;
        ${loads}
        for (; kn_j < kn.toy_length; ++kn_j) {
            ${single}
        }
        kn_j = 0;
        ${stores}
    }
    ${after_loop}
}
