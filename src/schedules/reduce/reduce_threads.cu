${head}
${axes}
/* Iterations of structs are whole, but for the last one: a number of elements in a struct is then a constant, and the compiler removes divisions by it. */
constexpr bool kn_are_whole = __is_class(${type});
enum { kn_steps = ${vector} > 1 && !${structs} ? 4 : 8 }; /* rows that a thread loads before it reduces any */

${begin}

    /* A thread has ${vector} neighbouring results; a row of results has kn.across times as many. */
    const unsigned kn_at = blockIdx.x * ${block} + threadIdx.x;
    if (kn_at * ${vector} < (unsigned)kn.size) {
        ${from}
        ${type} kn_reduced[${vector}];
        const auto kn_put_sums = [&](const unsigned kn_q, const ${type} (&kn_sum)[${vector}]) {
#pragma unroll
            for (int kn_k = 0; kn_k < ${vector}; ++kn_k)
                kn_reduced[kn_k] = kn_q == 0 ? kn_sum[kn_k] : ${next}(kn_reduced[kn_k], kn_sum[kn_k]);
        };
        unsigned kn_q = 0;
        ${pointers}
        if constexpr (kn_are_whole) {
#pragma unroll 1
            for (; kn_q + kn_steps <= kn.rows; kn_q += kn_steps) {
                ${packs}
#pragma unroll
                for (int kn_u = 0; kn_u < kn_steps; ++kn_u) {
                    kn_place kn_from = kn_here;
                    kn_go<${reduction_axes}, ${operands}>(kn_from, kn, kn_q + kn_u, 1, 0);
                    ${loads}
                    ${step_loads}
                }
                ${type} kn_sum[${vector}];
#pragma unroll
                for (int kn_u = 0; kn_u < kn_steps; ++kn_u) {
                    kn_place kn_from = kn_here;
                    kn_go<${reduction_axes}, ${operands}>(kn_from, kn, kn_q + kn_u, 1, 0);
                    ${lanes}
                }
                kn_put_sums(kn_q, kn_sum);
            }
        }
#pragma unroll 1
        for (; kn_q < kn.rows; kn_q += kn_steps) {
            ${packs}
#pragma unroll
            for (int kn_u = 0; kn_u < kn_steps; ++kn_u) {
                if (kn_u == 0 || kn_q + kn_u < kn.rows) {
                    kn_place kn_from = kn_here;
                    kn_go<${reduction_axes}, ${operands}>(kn_from, kn, kn_q + kn_u, 1, 0);
                    ${loads}
                }
                ${step_loads}
            }
            ${type} kn_sum[${vector}];
#pragma unroll
            for (int kn_u = 0; kn_u < kn_steps; ++kn_u) {
                if (kn_are_whole && kn_u > 0 && kn_q + kn_u >= kn.rows)
                    break;
                if (kn_u == 0 || kn_q + kn_u < kn.rows) {
                    kn_place kn_from = kn_here;
                    kn_go<${reduction_axes}, ${operands}>(kn_from, kn, kn_q + kn_u, 1, 0);
                    ${lanes}
                }
            }
            kn_put_sums(kn_q, kn_sum);
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
