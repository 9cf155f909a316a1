${head}
${axes}

${begin}

    const unsigned kn_at = blockIdx.x * ${block}u + threadIdx.x;
    if (kn_at < kn.size) {
        const kn_place kn_here = kn_locate(kn, kn_at);
        ${single}
    }
    ${after_loop}
}
