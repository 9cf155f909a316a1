${head}
${axes}

${begin}

    const unsigned kn_first = (blockIdx.x * ${block}u + threadIdx.x) * ${vector};
    if (kn_first < kn.size) {
        const kn_place kn_here = kn_locate(kn, kn_first);
        ${elements}
    }
    ${after_loop}
}
