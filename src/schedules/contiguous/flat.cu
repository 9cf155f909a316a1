${head}
struct kn_args {
    ${fields}
};

extern "C" __global__ void __launch_bounds__(${block}) ${entry}(const __grid_constant__ kn_args kn)
{
    ${wait}
    ${values}
    ${loop_prep}
    ${element}

    const long long kn_t = blockIdx.x * ${block}ll + threadIdx.x, kn_first = kn_t * ${vector} - kn.misalignment;
    if ((unsigned long long)kn_first < kn.until) {
        ${loads}
        ${packs}
        ${gather}
#pragma unroll
        for (int kn_k = 0; kn_k < ${vector}; ++kn_k) {
            ${lane}
        }
        ${stores}
    } else if ((unsigned long long)(kn_t - kn.groups) < kn.edges) {
        const int kn_edge = (int)(kn_t - kn.groups);
        const long long kn_at = kn_edge + (kn_edge < kn.head ? 0 : kn.size - kn.edges);
        ${single}
    }
    ${after_loop}
}
