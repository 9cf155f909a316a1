${head}
${axes}

${begin}

    /* A thread has ${turns} vectors, a block apart, so that a warp stores whole lines. */
    const unsigned kn_begun = (blockIdx.x * (${block}u * ${turns}) + threadIdx.x) * ${vector}, kn_on = ${block}u * ${vector};
    if (kn_begun < kn.size) {
        kn_place kn_here = kn_locate(kn, kn_begun);
#pragma unroll
        for (unsigned kn_turn = 0; kn_turn < ${turns}; ++kn_turn) {
            const unsigned kn_first = kn_begun + kn_turn * kn_on;
            if (kn_turn > 0) {
                if (kn_first >= kn.size)
                    break;
                if (kn_here.inner + kn_on < kn.axis[0].extent) {
                    kn_here.inner += kn_on;
                    kn_move(kn_here, kn.axis[0], kn_on);
                } else {
                    kn_here = kn_locate(kn, kn_first);
                }
            }
            ${elements}
        }
    }
    ${after_loop}
}
