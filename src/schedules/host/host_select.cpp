${head}
${axes}

/* The numbers of the flags that are set, of each eight as bits. */
enum { kn_eight = 8, kn_at_a_time = 512 /* elements whose flags are found by vectors */ };
typedef unsigned char kn_bytes __attribute__((vector_size(kn_eight)));
typedef unsigned short kn_shorts __attribute__((vector_size(2 * kn_eight)));
struct kn_set_bits {
    unsigned char of[256][kn_eight];
    constexpr kn_set_bits() : of() {
        for (int kn_k = 0; kn_k < 256; ++kn_k)
            for (int kn_b = 0, kn_n = 0; kn_b < kn_eight; ++kn_b)
                if (kn_k >> kn_b & 1)
                    of[kn_k][kn_n++] = (unsigned char)kn_b;
    }
};
static constexpr kn_set_bits kn_set;

${begin}
    /* Eight are stored at a time, of which not all may be selected. */
    unsigned short *const kn_selected = (unsigned short *)__builtin_alloca_with_align((size_t)(kn.chunk + kn_eight) * sizeof(unsigned short), 512);
    alignas(64) unsigned char kn_flag[kn_at_a_time];
    long long kn_before = 0; /* selected elements of the chunks before */
    for (long long kn_u = kn_begin; kn_u < kn_end; ++kn_u) {
        /* A task that waits for another one has a higher number: that one runs, or has run. */
        const long long kn_c = kn.chunks > 1 ? (long long)__atomic_fetch_add(&kn.counters[0], 1u, __ATOMIC_RELAXED) : 0;
        const long long kn_first = kn_c * kn.chunk, kn_count = kn.length - kn_first < kn.chunk ? kn.length - kn_first : kn.chunk;
        kn_place kn_here = {};
        ${locate}
        ${pointers}
        /* The elements that are selected, in their order. No branch asks for one of them. */
        unsigned kn_sum = 0;
        for (long long kn_b = 0; kn_b < kn_count; kn_b += kn_at_a_time) {
            const long long kn_end_of = kn_count - kn_b < kn_at_a_time ? kn_count : kn_b + kn_at_a_time;
KN_INDEPENDENT
            for (long long kn_k = kn_b; kn_k < kn_end_of; ++kn_k) {
                ${loads}
                ${single}
                kn_flag[kn_k - kn_b] = ${mapped} != 0;
            }
            for (long long kn_k = kn_end_of; kn_k % kn_eight != 0; ++kn_k)
                kn_flag[kn_k - kn_b] = 0;
            for (long long kn_k = kn_b; kn_k < kn_end_of; kn_k += kn_eight) {
                unsigned long long kn_flags;
                kn_bytes kn_numbers;
                __builtin_memcpy(&kn_flags, kn_flag + (kn_k - kn_b), sizeof kn_flags);
                const unsigned kn_bits = (unsigned)(kn_flags * 0x0102040810204080ull >> 56); /* the first flag becomes the lowest bit */
                __builtin_memcpy(&kn_numbers, kn_set.of[kn_bits], sizeof kn_numbers);
                const kn_shorts kn_places = __builtin_convertvector(kn_numbers, kn_shorts) + (unsigned short)kn_k;
                __builtin_memcpy(kn_selected + kn_sum, &kn_places, sizeof kn_places);
                kn_sum += (unsigned)__builtin_popcount(kn_bits);
            }
        }
        if (kn.chunks > 1) {
            if (kn_c > 0) {
                kn_await(&kn.counters[1], (unsigned)kn_c);
                kn_before = ((const long long *)kn.partials)[kn_c - 1];
            }
            ((long long *)kn.partials)[kn_c] = kn_before + kn_sum;
            __atomic_store_n(&kn.counters[1], (unsigned)kn_c + 1, __ATOMIC_RELEASE);
        }
        /* Each is stored by its number, which is one more than that of selected ones before. The last element of all stores the count, whether it is selected or not. */
        const auto kn_put = [&](const long long kn_k, const long long ${result}) {
            ${stores}
        };
        /* Most are stored without the questions that stores ask: the element is selected, all results have a place for it, and it is not the last one. */
        const bool kn_ends = kn_first + kn_count == kn.length;
        const long long kn_others = kn_ends && kn_sum > 0 && kn_selected[kn_sum - 1] == kn_count - 1 ? (long long)kn_sum - 1 : (long long)kn_sum;
        long long kn_fit = kn_others;
        ${until}
KN_INDEPENDENT
        for (long long kn_s = 0; kn_s < kn_fit; ++kn_s) {
            const long long kn_k = kn_selected[kn_s];
            ${loads}
            ${single}
            if (${mapped} == 0)
                __builtin_unreachable();
            ${together}
            kn_put(kn_k, kn_before + kn_s + 1);
        }
        for (long long kn_s = kn_fit > 0 ? kn_fit : 0; kn_s < kn_others + kn_ends; ++kn_s)
            kn_put(kn_s < kn_others ? (long long)kn_selected[kn_s] : kn_count - 1, kn_before + (kn_s < kn_others ? kn_s + 1 : (long long)kn_sum));
        /* The last task leaves the counters zero. */
        if (kn.chunks > 1 && (long long)__atomic_add_fetch(&kn.counters[2], 1u, __ATOMIC_ACQ_REL) == kn.chunks)
            kn.counters[0] = kn.counters[1] = kn.counters[2] = 0;
    }
    ${after_loop}
}
