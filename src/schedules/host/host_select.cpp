${head}
${axes}

${begin}
    unsigned short *const kn_selected = (unsigned short *)__builtin_alloca_with_align((size_t)kn.chunk * sizeof(unsigned short), 512);
    long long kn_before = 0; /* selected elements of the chunks before */
    for (long long kn_u = kn_begin; kn_u < kn_end; ++kn_u) {
        /* A task that waits for another one has a higher number: that one runs, or has run. */
        const long long kn_c = kn.chunks > 1 ? (long long)__atomic_fetch_add(&kn.counters[0], 1u, __ATOMIC_RELAXED) : 0;
        const long long kn_first = kn_c * kn.chunk, kn_count = kn.length - kn_first < kn.chunk ? kn.length - kn_first : kn.chunk;
        kn_place kn_here = {};
        ${locate}
        ${pointers}
        /* The elements that are selected, in their order. All are put down, selected or not: no branch guesses wrong. */
        unsigned kn_sum = 0;
        for (long long kn_k = 0; kn_k < kn_count; ++kn_k) {
            ${loads}
            ${single}
            kn_selected[kn_sum] = (unsigned short)kn_k;
            kn_sum += ${mapped} != 0;
        }
        if (kn.chunks > 1) {
            if (kn_c > 0) {
                kn_await(&kn.counters[1], (unsigned)kn_c);
                kn_before = ((const long long *)kn.partials)[kn_c - 1];
            }
            ((long long *)kn.partials)[kn_c] = kn_before + kn_sum;
            __atomic_store_n(&kn.counters[1], (unsigned)kn_c + 1, __ATOMIC_RELEASE);
        }
        /* Each is stored by its number, which is one more than that of selected ones before. The last element of all stores the count, whether it is one or not. */
        const auto kn_put = [&](const long long kn_k, const long long ${result}) {
            ${stores}
        };
        for (unsigned kn_s = 0; kn_s < kn_sum; ++kn_s)
            kn_put(kn_selected[kn_s], kn_before + kn_s + 1);
        if (kn_first + kn_count == kn.length && (kn_sum == 0 || kn_selected[kn_sum - 1] != kn_count - 1))
            kn_put(kn_count - 1, kn_before + kn_sum);
        /* The last task leaves the counters zero. */
        if (kn.chunks > 1 && (long long)__atomic_add_fetch(&kn.counters[2], 1u, __ATOMIC_ACQ_REL) == kn.chunks)
            kn.counters[0] = kn.counters[1] = kn.counters[2] = 0;
    }
    ${after_loop}
}
