${head}
struct kn_args {
    ${fields}
};

${begin}

    const long long kn_t = blockIdx.x * ${block}ll + threadIdx.x, kn_first = kn_t * ${vector} - kn.misalignment;
    const bool kn_has_vector = (unsigned long long)kn_first < kn.until;
    if (kn_has_vector && (kn.start - kn.misalignment) % ${vector} == 0) {
        const long long kn_from = (kn.start + kn_first) & -${vector}ll;
        ${elements}
    } else {
        const long long kn_edge = kn_t - kn.groups;
        long long kn_at = kn_has_vector ? kn_first : kn_edge + (kn_edge < kn.head ? 0 : kn.size - kn.edges);
        const long long kn_end = kn_at + (kn_has_vector ? ${vector} : (unsigned long long)kn_edge < kn.edges);
#pragma unroll 1
        for (; kn_at < kn_end; ++kn_at) {
            ${single}
        }
    }
    ${after_loop}
}
