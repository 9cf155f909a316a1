// Rows of whole vectors, the last of which ends with the row.
// needs: kn_by_vectors

#if defined(__AVX512F__)
#define KN_VECTOR_BYTES 64
#elif defined(__AVX__)
#define KN_VECTOR_BYTES 32
#else
#define KN_VECTOR_BYTES 16
#endif

template <int n> struct kn_elements {
    enum { value = n };
};

// Ranges of so many bytes have no byte in common.
inline bool kn_are_apart(const void *x, const void *y, long long bytes) {
    return (size_t)x - (size_t)y + (size_t)bytes >= 2 * (size_t)bytes;
}

// Vectors of as many of the narrowest elements as the row has. The rest, from `at` on, is the end of one that ends with the row, or of half a one; a few
// elements are single ones.
template <int most, int fewest, class F> __forceinline__ void kn_by_vectors(long long count, long long at, const F &vector_at) {
    enum { n = most > fewest ? most : fewest };
    for (const long long last = count - n; at <= last;) {
        vector_at(kn_elements<n>(), at);
        if (at == last)
            return;
        at += n;
        if (at > last && count - at > (n == fewest ? n / 4 : n / 2))
            at = last;
    }
    if constexpr (n > fewest)
        kn_by_vectors<n / 2, fewest>(count, at == 0 || count - at <= fewest / 4 ? at : count - n / 2, vector_at);
    else
        for (; at < count; ++at)
            vector_at(kn_elements<1>(), at);
}
