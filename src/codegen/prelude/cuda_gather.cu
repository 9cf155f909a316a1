// needs: kn_gather kn_load_along
// Vectors that are not simply there: repeated elements, elements a step apart, vectors off their boundary.

// One vector, or, if the operand is broadcast, one element repeated.
template <class T, int N>
__device__ __forceinline__ kn_pack<T, N> kn_load_along(const T *from, int step) {
    if (step != 0)
        return kn_load<T, N>(from);
    kn_pack<T, N> same;
    const T one = *from;
#pragma unroll
    for (int k = 0; k < N; ++k)
        same.at[k] = one;
    return same;
}

template <int N> struct alignas(4 * N) kn_words {
    unsigned at[N];
};

template <class T, int N>
__device__ __forceinline__ kn_words<sizeof(T) * N / 4> kn_words_of(const kn_pack<T, N> &elements) {
    kn_words<sizeof(T) * N / 4> words;
    memcpy(&words, &elements, sizeof words);
    return words;
}

template <class T, int N>
__device__ __forceinline__ kn_pack<T, N> kn_elements_of(const kn_words<sizeof(T) * N / 4> &words) {
    kn_pack<T, N> elements;
    memcpy(&elements, &words, sizeof words);
    return elements;
}

// The bytes from `off` on of two vectors, as many as one has: moved by words, then, if HasParts, by bytes.
template <bool HasParts, int N>
__device__ __forceinline__ kn_words<N> kn_join_words(const kn_words<N> &low, const kn_words<N> &high, int off) {
    unsigned run[2 * N];
#pragma unroll
    for (int k = 0; k < N; ++k) {
        run[k] = low.at[k];
        run[N + k] = high.at[k];
    }
#pragma unroll
    for (int by = N / 2; by > 0; by /= 2)
        if (off & (4 * by))
#pragma unroll
            for (int k = 0; k < 2 * N - by; ++k)
                run[k] = run[k + by];
    kn_words<N> result;
#pragma unroll
    for (int k = 0; k < N; ++k)
        result.at[k] = HasParts ? __funnelshift_r(run[k], run[k + 1], 8 * (off & 3)) : run[k];
    return result;
}

// A run that begins anywhere, of which the bytes from `begin` to `end` are wanted: the one or two aligned vectors in which they lie, moved by words, then by bytes. What is
// read beside them is in the same 16 bytes as some of them.
template <class T, int N>
__device__ __forceinline__ kn_pack<T, N> kn_load_part(const char *from, int begin, int end) {
    constexpr int words = sizeof(T) * N / 4;
    const int off = (int)((unsigned)(unsigned long long)from & (4 * words - 1));
    const kn_words<words> *aligned = reinterpret_cast<const kn_words<words> *>(from - off);
    const kn_words<words> low = aligned[begin + off >= 4 * words], high = aligned[end + off > 4 * words];
    return kn_elements_of<T, N>(kn_join_words<(sizeof(T) < 4)>(low, high, off));
}

template <class T, int N>
__device__ __forceinline__ kn_pack<T, N> kn_load_unaligned(const char *from) {
    return kn_load_part<T, N>(from, 0, sizeof(T) * N);
}

// The last `left` elements of one row, then the first of the next: of the word in which they meet the bytes are chosen. N of them, or more: one row alone.
template <class T, int N>
__device__ __forceinline__ kn_pack<T, N> kn_load_crossing(const char *row, const char *next, int left) {
    constexpr int words = sizeof(T) * N / 4;
    const int bytes = left * (int)sizeof(T);
    kn_words<words> low = kn_words_of(kn_load_part<T, N>(row, 0, left < N ? bytes : (int)sizeof(T) * N));
    if (left < N) {
        const kn_words<words> high = kn_words_of(kn_load_part<T, N>(next - bytes, bytes, sizeof(T) * N));
        const unsigned met = 0x7654u - (0x4444u & ((1u << 4 * (bytes & 3)) - 1));
#pragma unroll
        for (int k = 0; k < words; ++k)
            low.at[k] = __byte_perm(low.at[k], high.at[k], 4 * k + 4 <= bytes ? 0x3210u : 4 * k >= bytes ? 0x7654u : met);
    }
    return kn_elements_of<T, N>(low);
}

// N elements, each `step` bytes behind the one before.
template <class T, int N>
__device__ __forceinline__ kn_pack<T, N> kn_gather_apart(const char *from, int step) {
    kn_pack<T, N> apart;
#pragma unroll
    for (int k = 0; k < N; ++k)
        apart.at[k] = *reinterpret_cast<const T *>(from + k * step);
    return apart;
}

// The same over the end of a row: `left` of them, then the first of the next row.
template <class T, int N>
__device__ __forceinline__ kn_pack<T, N> kn_gather_crossing(const char *row, const char *next, int left, int step) {
    kn_pack<T, N> both;
#pragma unroll
    for (int k = 0; k < N; ++k)
        both.at[k] = *reinterpret_cast<const T *>(k < left ? row + k * step : next + (k - left) * step);
    return both;
}

// One element for the last `left` of a row, and one for the first of the next.
template <class T, int N>
__device__ __forceinline__ kn_pack<T, N> kn_repeat_crossing(const char *row, const char *next, int left) {
    const T one = *reinterpret_cast<const T *>(row);
    const T other = left < N ? *reinterpret_cast<const T *>(next) : one;
    kn_pack<T, N> both;
#pragma unroll
    for (int k = 0; k < N; ++k)
        both.at[k] = k < left ? one : other;
    return both;
}

// N elements side by side, wherever they begin. Four bytes are taken from two words, two elements one by one.
template <class T, int N>
__device__ __forceinline__ kn_pack<T, N> kn_gather(const char *from) {
    if constexpr (sizeof(T) * N == 8 || sizeof(T) * N == 16 || (sizeof(T) == 1 && N == 4))
        return kn_load_unaligned<T, N>(from);
    else
        return kn_gather_apart<T, N>(from, sizeof(T));
}
