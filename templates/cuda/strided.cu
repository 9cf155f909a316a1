${head}
${axes}

extern "C" __global__ void __launch_bounds__(${block}) ${entry}(const __grid_constant__ kn_args kn)
{
    ${values}
    ${loop_prep}
    ${element}

    const unsigned kn_first = (blockIdx.x * ${block}u + threadIdx.x) * ${vector}u;
    if (kn_first + ${vector}u <= kn.size) {
        ${packs}
        kn_place kn_here = kn_locate(kn, kn_first);
#pragma unroll
        for (int kn_k = 0; kn_k < ${vector}; ++kn_k) {
            ${gather}
            kn_advance(kn, kn_here, kn_first + kn_k + 1);
        }
#pragma unroll
        for (int kn_k = 0; kn_k < ${vector}; ++kn_k) {
            ${lane}
        }
        ${stores}
    } else {
#pragma unroll 1
        for (unsigned kn_at = kn_first; kn_at < kn.size; ++kn_at) {
            const kn_place kn_here = kn_locate(kn, kn_at);
            ${single}
        }
    }
    ${after_loop}
}
