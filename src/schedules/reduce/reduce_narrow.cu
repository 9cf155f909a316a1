${head}
${axes}
${begin}

    /* A thread has ${vector} neighbouring results, whose rows are ${narrow_row} contiguous vectors; a row of results has kn.across times as many. */
    const unsigned kn_at = blockIdx.x * ${block} + threadIdx.x;
    if (kn_at * ${vector} < (unsigned)kn.size) {
        ${from}
        ${packs}
#pragma unroll
        for (int kn_u = 0; kn_u < ${narrow_row}; ++kn_u) {
            ${loads}
        }
        ${results}
#pragma unroll
        for (int kn_k = 0; kn_k < ${vector}; ++kn_k) {
            ${type} ${result};
#pragma unroll
            for (int kn_u = 0; kn_u < ${narrow_row}; ++kn_u) {
                ${lane}
                ${result} = kn_u == 0 ? ${mapped} : ${next}(${result}, ${mapped});
            }
            ${post}
        }
        ${stores}
    }
    ${after_loop}
}
