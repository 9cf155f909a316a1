${head}
${axes}

extern "C" __global__ void __launch_bounds__(${block}) ${entry}(const __grid_constant__ kn_args kn)
{
    ${wait}
    ${values}
    ${loop_prep}
    ${element}

    const unsigned kn_first = (blockIdx.x * ${block}u + threadIdx.x) * ${vector};
    if (kn_first < kn.size) {
        const kn_place kn_here = kn_locate(kn, kn_first);
        ${loads}
#pragma unroll
        for (int kn_k = 0; kn_k < ${vector}; ++kn_k) {
            ${lane}
        }
        ${stores}
    }
    ${after_loop}
}
