${head}
${axes}

extern "C" __global__ void __launch_bounds__(${block}) ${entry}(const __grid_constant__ kn_args kn)
{
    ${wait}
    ${values}
    ${loop_prep}
    ${element}

    const int kn_first = (int)((blockIdx.x * ${block}u + threadIdx.x) * ${vector}u) - kn.skew;
    if (kn_first >= 0 && kn_first + ${vector} <= kn.size) {
        const kn_place kn_here = kn_locate<${unroll}>(kn, kn_first);
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
        for (int kn_at = kn_first < 0 ? 0 : kn_first; kn_at < kn_first + ${vector} && kn_at < kn.size; ++kn_at) {
            const kn_place kn_here = kn_locate<1>(kn, kn_at);
            ${single}
        }
    }
    ${after_loop}
}
