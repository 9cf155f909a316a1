${head}
${axes}

extern "C" __global__ void __launch_bounds__(${block}) ${entry}(const __grid_constant__ kn_args kn)
{
    ${wait}
    ${values}
    ${loop_prep}
    ${element}

    const unsigned kn_at = blockIdx.x * ${block}u + threadIdx.x;
    if (kn_at < kn.size) {
        const kn_place kn_here = kn_locate(kn, kn_at);
        ${single}
    }
    ${after_loop}
}
