${head}
${axes}
enum { kn_digits = ${depth} };

${begin}
    typedef ${type} kn_word;
    kn_word kn_counts[kn_digits * 256];
    for (long long kn_u = kn_begin; kn_u < kn_end; ++kn_u) {
        const long long kn_row = kn_u / kn.chunks, kn_first = (kn_u - kn_row * kn.chunks) * kn.chunk;
        const long long kn_count = kn.length - kn_first < kn.chunk ? kn.length - kn_first : kn.chunk;
        kn_place kn_here = {};
        kn_move(kn_here, kn, kn.reduction_rank, kn.rank, kn_row);
        ${locate}
        ${pointers}
        __builtin_memset(kn_counts, 0, sizeof kn_counts);
        for (long long kn_k = 0; kn_k < kn_count; ++kn_k) {
            ${from}
            ${loads}
            ${single}
            ${counted}
            for (int kn_d = 0; kn_d < kn_digits; ++kn_d)
                ++kn_counts[kn_d * 256 + ((unsigned)(${mapped} >> 8 * kn_d) & 255)];
            ${stores}
        }
        for (int kn_k = 0; kn_k < kn_digits * 256; ++kn_k)
            if (kn_counts[kn_k] != 0)
                __atomic_fetch_add(&kn.${result}_.first[(kn_k / 256 * kn.rows + kn_row) * 256 + kn_k % 256], kn_counts[kn_k], __ATOMIC_RELAXED);
    }
    ${after_loop}
}
