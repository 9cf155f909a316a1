${head}
struct kn_axis {
    unsigned extent, magic, shift, unused;
    int stride[${operands}];
};

struct kn_args {
    ${fields}
};

// Bytes from the start of each operand. Launches are cut so that 32 bits are enough.
struct kn_place {
    int at[${operands}];
};

extern "C" __global__ void __launch_bounds__(${block}) ${entry}(const __grid_constant__ kn_args kn)
{
    ${wait}
    ${values}
    ${loop_prep}
    ${element}

    const unsigned kn_at = blockIdx.x * ${block}u + threadIdx.x;
    if (kn_at < kn.size) {
        kn_place kn_here;
        ${locate}
        ${single}
    }
    ${after_loop}
}
