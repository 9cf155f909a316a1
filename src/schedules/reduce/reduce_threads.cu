${head}
${axes}
enum { kn_steps = ${vector} > 1 ? 4 : 8 }; /* rows that a thread loads before it reduces any */

extern "C" __global__ void __launch_bounds__(${block}) ${entry}(const __grid_constant__ kn_args kn)
{
    ${wait}
    ${values}
    ${loop_prep}
    ${element}

    /* A thread has ${vector} neighbouring results; a row of results has kn.across times as many. */
    const unsigned kn_at = blockIdx.x * ${block} + threadIdx.x;
    if (kn_at < kn.vectors) {
        const unsigned kn_outer = kn_divide(kn_at, kn.across);
        kn_place kn_here = {};
        for (int o = 0; o < ${operands}; ++o)
            kn_here.at[o] = (long long)((kn_at - kn_outer * kn.across.extent) * ${vector}) * kn.axis[kn.reduction_rank].stride[o];
        kn_go_to_result<${operands}>(kn_here, kn, kn.reduction_rank + 1, kn_outer);
        ${type} kn_reduced[${vector}];
#pragma unroll 1
        for (unsigned kn_q = 0; kn_q < kn.rows; kn_q += kn_steps) {
            ${packs}
#pragma unroll
            for (int kn_u = 0; kn_u < kn_steps; ++kn_u) {
                if (kn_q + kn_u < kn.rows) {
                    kn_place kn_from = kn_here;
                    kn_go<${variant}, ${operands}>(kn_from, kn, kn_q + kn_u, 1, 0);
                    ${loads}
                }
            }
            ${type} kn_sum[${vector}];
#pragma unroll
            for (int kn_u = 0; kn_u < kn_steps; ++kn_u) {
                if (kn_q + kn_u < kn.rows) {
                    kn_place kn_from = kn_here;
                    kn_go<${variant}, ${operands}>(kn_from, kn, kn_q + kn_u, 1, 0);
#pragma unroll
                    for (int kn_k = 0; kn_k < ${vector}; ++kn_k) {
                        ${lane}
                        kn_sum[kn_k] = kn_u == 0 ? ${mapped} : ${next}(kn_sum[kn_k], ${mapped});
                    }
                }
            }
#pragma unroll
            for (int kn_k = 0; kn_k < ${vector}; ++kn_k)
                kn_reduced[kn_k] = kn_q == 0 ? kn_sum[kn_k] : ${next}(kn_reduced[kn_k], kn_sum[kn_k]);
        }
        ${results}
#pragma unroll
        for (int kn_k = 0; kn_k < ${vector}; ++kn_k) {
            ${type} ${result} = kn_reduced[kn_k];
            ${post}
        }
        ${stores}
    }
    ${after_loop}
}
