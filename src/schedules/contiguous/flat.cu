${head}
struct kn_args {
    ${fields}
};

${begin}

    const long long kn_t = blockIdx.x * ${block}ll + threadIdx.x, kn_first = kn_t * ${vector} - kn.misalignment;
    if ((unsigned long long)kn_first < kn.until) {
        ${elements}
    } else if ((unsigned long long)(kn_t - kn.groups) < kn.edges) {
        const int kn_edge = (int)(kn_t - kn.groups);
        const long long kn_at = kn_edge + (kn_edge < kn.head ? 0 : kn.size - kn.edges);
        ${single}
    }
    ${after_loop}
}
