${head}
${axes}

${begin}
    typedef ${type} kn_word;
    unsigned char *const kn_digit = (unsigned char *)__builtin_alloca_with_align((size_t)kn.chunk, 512);
    for (long long kn_u = kn_begin; kn_u < kn_end; ++kn_u) {
        /* A task that waits for another one has a higher number: that one runs, or has run. */
        const long long kn_task = kn.is_parallel ? (long long)__atomic_fetch_add(&kn.counters[0], 1u, __ATOMIC_RELAXED) : kn_u;
        const long long kn_row = kn.is_parallel ? kn_task / kn.chunks : kn_task, kn_chunk = kn.is_parallel ? kn_task - kn_row * kn.chunks : 0;
        kn_word *const kn_words = kn.${result}_.first + kn_row * kn.chunks * 256;
        for (long long kn_c = kn_chunk; kn_c < (kn.is_parallel ? kn_chunk + 1 : kn.chunks); ++kn_c) {
            const long long kn_first = kn_c * kn.chunk, kn_count = kn.length - kn_first < kn.chunk ? kn.length - kn_first : kn.chunk;
            kn_word kn_next[256] = {};
            kn_place kn_here = {};
            kn_move(kn_here, kn, kn.reduction_rank, kn.rank, kn_row);
            ${locate}
            ${pointers}
            for (long long kn_k = 0; kn_k < kn_count; ++kn_k) {
                ${from}
                ${loads}
                ${single}
                kn_digit[kn_k] = (unsigned char)${mapped};
            }
            for (long long kn_k = 0; kn_k < kn_count; ++kn_k)
                ++kn_next[kn_digit[kn_k]];
            /* The next place of each digit: behind all lesser ones, and those of the chunks before. They are put down for the next chunk. */
            if (kn.is_parallel && kn_c > 0)
                kn_await(&kn.counters[1 + kn_row], (unsigned)kn_c);
            kn_word kn_lesser = 0;
            for (int kn_d = 0; kn_d < 256; ++kn_d) {
                const kn_word kn_before = kn_c > 0 ? kn_words[(kn_c - 1) * 256 + kn_d] : 0;
                kn_words[kn_c * 256 + kn_d] = kn_before + kn_next[kn_d];
                kn_next[kn_d] = kn_lesser + kn_before;
                kn_lesser += kn.${first}_.first[kn_row * 256 + kn_d];
            }
            if (kn.is_parallel)
                __atomic_store_n(&kn.counters[1 + kn_row], (unsigned)kn_c + 1, __ATOMIC_RELEASE);
            for (long long kn_k = 0; kn_k < kn_count; ++kn_k) {
                ${from}
                const ${order} ${row} = kn_row * kn.length + (${order})kn_next[kn_digit[kn_k]]++;
                ${stores}
            }
        }
    }
    ${after_loop}
}
