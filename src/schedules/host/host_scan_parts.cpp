// Parts of the host's scans: emit_host_scan.c. Neighbour k of an array from a place on.
#inline one kn_${name}_one
#inline dense kn_${name}_run[kn_k]
#inline stepped *(${const}${type} *)((${const}char *)kn_${name}_run + kn_k * kn_${name}_step)
#inline neighbour kn_from.at[${array}] + kn_k * kn.axis[kn_inner].stride[${array}]

#part broadcast_element
const ${type} kn_${name}_one = *(const ${type} *)((const char *)kn.${name}_ + kn_from.at[${array}]);

#part run_pointer
${const}${type} *const kn_${name}_run = (${const}${type} *)((${const}char *)kn.${name}_ + kn_from.at[${array}]);

#part run_step
const long long kn_${name}_step = kn.axis[kn_inner].stride[${array}];

#part no_lanes
enum { kn_way = 0 };
template <class kn_t> struct kn_lanes {
    enum { kn_count = 1 };
    kn_t kn_sum;
    kn_lanes(const kn_t &kn_first) : kn_sum(kn_first) {}
    static kn_t neutral(const kn_t &kn_first) { return kn_first; }
    void next(kn_t *, const kn_t *) {}
    void add(const kn_t *) {}
    kn_t last() { return kn_sum; }
    kn_t added() { return kn_sum; }
};

#part lanes
/* Copies of a few vectors stay loops: a call for each of them would take longer. */
#if !defined(__clang__)
#pragma GCC optimize("no-tree-loop-distribute-patterns")
#endif
enum { kn_way = ${way} };
/* Scans of integers by vectors, whose lanes are combined with those 1, 2 and 4 before. A lane without one is combined with itself, or, of sums, with 0. */
template <class kn_t> struct kn_lanes {
    enum { kn_is_sum = kn_way == ${sum} };
    template <class kn_v> static __forceinline__ kn_v both(const kn_v kn_a, const kn_v kn_b) {
        if constexpr (kn_is_sum)
            return kn_a + kn_b;
        else
            return kn_way == ${greatest} ? kn_a >= kn_b ? kn_a : kn_b : kn_a <= kn_b ? kn_a : kn_b;
    }
    static kn_t neutral(const kn_t kn_first) { return kn_is_sum ? 0 : kn_first; }
#if defined(__clang__) || __GNUC__ >= 12
    enum { kn_count = 32 / sizeof(kn_t) };
    typedef kn_t kn_vector __attribute__((vector_size(32)));
    static __forceinline__ kn_vector along(kn_vector kn_v) {
        if constexpr (kn_count == 4) {
            kn_v = both<kn_vector>(__builtin_shufflevector(kn_v, kn_is_sum ? kn_vector() : kn_v, 4, 0, 1, 2), kn_v);
            return both<kn_vector>(__builtin_shufflevector(kn_v, kn_is_sum ? kn_vector() : kn_v, 4, 5, 0, 1), kn_v);
        } else {
            kn_v = both<kn_vector>(__builtin_shufflevector(kn_v, kn_is_sum ? kn_vector() : kn_v, 8, 0, 1, 2, 3, 4, 5, 6), kn_v);
            kn_v = both<kn_vector>(__builtin_shufflevector(kn_v, kn_is_sum ? kn_vector() : kn_v, 8, 9, 0, 1, 2, 3, 4, 5), kn_v);
            return both<kn_vector>(__builtin_shufflevector(kn_v, kn_is_sum ? kn_vector() : kn_v, 8, 9, 10, 11, 0, 1, 2, 3), kn_v);
        }
    }
    static __forceinline__ kn_vector last_of(const kn_vector kn_v) {
        if constexpr (kn_count == 4)
            return __builtin_shufflevector(kn_v, kn_v, 3, 3, 3, 3);
        else
            return __builtin_shufflevector(kn_v, kn_v, 7, 7, 7, 7, 7, 7, 7, 7);
    }
    kn_vector kn_sum;
    kn_lanes(const kn_t kn_first) : kn_sum(kn_first - kn_vector()) {}
    __forceinline__ void next(kn_t *const kn_to, const kn_t *const kn_from) {
        const kn_vector kn_v = along(*(const kn_vector *)kn_from);
        *(kn_vector *)kn_to = both<kn_vector>(kn_sum, kn_v);
        kn_sum = both<kn_vector>(kn_sum, last_of(kn_v));
    }
    __forceinline__ void add(const kn_t *const kn_from) { kn_sum = both<kn_vector>(kn_sum, *(const kn_vector *)kn_from); }
    kn_t last() { return kn_sum[0]; }
    kn_t added() { return last_of(along(kn_sum))[0]; }
#else
    enum { kn_count = 1 };
    kn_t kn_sum;
    kn_lanes(const kn_t kn_first) : kn_sum(kn_first) {}
    void next(kn_t *const kn_to, const kn_t *const kn_from) { *kn_to = kn_sum = both<kn_t>(kn_sum, *kn_from); }
    void add(const kn_t *const kn_from) { kn_sum = both<kn_t>(kn_sum, *kn_from); }
    kn_t last() { return kn_sum; }
    kn_t added() { return kn_sum; }
#endif
};
