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

    const long long kn_first = (blockIdx.x * ${block}ll + threadIdx.x) * ${vector} - kn.skew;
    if (kn_first >= 0 && kn_first + ${vector} <= kn.size) {
        ${loads}
        ${packs}
        ${gather}
#pragma unroll
        for (int kn_k = 0; kn_k < ${vector}; ++kn_k) {
            ${lane}
        }
        ${stores}
    } else {
#pragma unroll 1
        for (long long kn_at = kn_first < 0 ? 0 : kn_first; kn_at < kn_first + ${vector} && kn_at < kn.size; ++kn_at) {
            ${single}
        }
    }
    ${after_loop}
}
