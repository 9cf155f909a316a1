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

    const long long kn_at = blockIdx.x * ${block}ll + threadIdx.x;
    if (kn_at < kn.size) {
        ${single}
    }
    ${after_loop}
}
