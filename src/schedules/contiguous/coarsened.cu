${head}
${axes}

${begin}

    const unsigned kn_first = (blockIdx.x * ${block}u + threadIdx.x) * ${vector}u;
    if (kn_first < kn.size) {
        const kn_place kn_here = kn_locate(kn, kn_first);
        const kn_axis &kn_w = kn.axis[kn.rank];
        const unsigned kn_left = kn_w.extent - kn_here.outer * ${coarsening};
        ${invariant}
        ${step_packs}
#pragma unroll
        for (int kn_m = 0; kn_m < ${coarsening}; ++kn_m) {
            if (kn_m < kn_left) {
                ${step_loads}
            }
        }
#pragma unroll
        for (int kn_m = 0; kn_m < ${coarsening}; ++kn_m) {
            if (kn_m < kn_left) {
                ${elements}
            }
        }
    }
    ${after_loop}
}
