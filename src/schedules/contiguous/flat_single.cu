${head}
struct kn_args {
    ${fields}
};

${begin}

    const long long kn_at = blockIdx.x * ${block}ll + threadIdx.x;
    if (kn_at < kn.size) {
        ${single}
    }
    ${after_loop}
}
