${head}
struct kn_args {
    ${fields}
};

/* A thread takes every kn.toy_stride'th element, from the last one on. */
extern "C" __global__ void __launch_bounds__(${block}) ${entry}(const __grid_constant__ kn_args kn)
{
    ${wait}
    ${values}
    ${loop_prep}
    ${element}

    for (long long kn_at = kn.size - 1 - (long long)(blockIdx.x * ${block}u + threadIdx.x); kn_at >= 0; kn_at -= kn.toy_stride) {
        ${single}
    }
    ${after_loop}
}
