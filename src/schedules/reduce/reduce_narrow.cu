${head}
${axes}
extern "C" __global__ void __launch_bounds__(${block}) ${entry}(const __grid_constant__ kn_args kn)
{
    ${wait}
    ${values}
    ${loop_prep}
    ${element}

    /* A thread has ${vector} neighbouring results, whose rows are ${per_thread} contiguous vectors; a row of results has kn.across times as many. */
    const unsigned kn_at = blockIdx.x * ${block} + threadIdx.x;
    if (kn_at < kn.vectors) {
        const unsigned kn_outer = kn_divide(kn_at, kn.across);
        kn_place kn_here = {};
        for (int o = 0; o < ${operands}; ++o)
            kn_here.at[o] = (long long)((kn_at - kn_outer * kn.across.extent) * ${vector}) * kn.axis[kn.reduction_rank].stride[o];
        kn_go_to_result<${operands}>(kn_here, kn, kn.reduction_rank + 1, kn_outer);
        ${packs}
#pragma unroll
        for (int kn_u = 0; kn_u < ${per_thread}; ++kn_u) {
            ${loads}
        }
        ${results}
#pragma unroll
        for (int kn_k = 0; kn_k < ${vector}; ++kn_k) {
            ${type} ${result};
#pragma unroll
            for (int kn_u = 0; kn_u < ${per_thread}; ++kn_u) {
                ${lane}
                ${result} = kn_u == 0 ? ${mapped} : ${next}(${result}, ${mapped});
            }
            ${post}
        }
        ${stores}
    }
    ${after_loop}
}
