${loads}
${packs}
${gather}
#pragma unroll
for (int kn_k = 0; kn_k < ${vector}; ++kn_k) {
    ${lane}
}
${stores}
