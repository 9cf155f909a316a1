// needs: kn_load_window kn_load_vectors
// with: gather
// Windows: elements of an unaligned row, taken from the aligned vectors that contain them. Vectors of small elements are shorter: that takes more loads, which cost little, and fewer
// instructions to move elements, which bind.

template <class T, int N> struct kn_window {
    T at[N];
};

// Small unsigned integers from a word, by products with 1 and 0: the unit that multiplies is idle while the one that shifts and masks binds. The compiler is told the range of such
// sums, else it would truncate them again.
template <class T> constexpr bool kn_is_picked = false;
template <> constexpr bool kn_is_picked<unsigned char> = true;
template <> constexpr bool kn_is_picked<unsigned short> = true;

template <class T>
static __device__ __forceinline__ T kn_pick(unsigned word, int which) {
    const unsigned one = 1u << 8 * which, whole = sizeof(T) == 1 ? __dp4a(word, one, 0u) : __dp2a_lo(word, one, 0u);
    __builtin_assume(whole <= (T)~0u);
    return (T)whole;
}

// The vectors as they were loaded, and the misalignment of the elements in bytes.
template <class T, int N> struct kn_vectors {
    enum { bytes = N * sizeof(T), size = sizeof(T) < 4 ? 4 * sizeof(T) : 16, vectors = (2 * size - 1 - (int)sizeof(T) + bytes) / size, words = size / 4 };
    unsigned word[words * vectors];
    int off;
};

// Vectors that hold no byte of the window are not loaded. It has `bytes` bytes, at least `least`.
template <class T, int N>
static __device__ __forceinline__ kn_vectors<T, N> kn_load_vectors(const char *from, int least, int bytes) {
    kn_vectors<T, N> raw = {};
    constexpr int size = kn_vectors<T, N>::size, words = kn_vectors<T, N>::words;
    raw.off = (int)((unsigned)(unsigned long long)from & (size - 1));
    const kn_words<words> *aligned = reinterpret_cast<const kn_words<words> *>(from - raw.off);
#pragma unroll
    for (int v = 0; v < raw.vectors; ++v)
        if (size * v < least || size * v < raw.off + bytes) {
            const kn_words<words> some = aligned[v];
#pragma unroll
            for (int k = 0; k < words; ++k)
                raw.word[words * v + k] = some.at[k];
        }
    return raw;
}

template <int By, int N>
static __device__ __forceinline__ void kn_move_words(unsigned (&word)[N], bool do_move) {
#pragma unroll
    for (int k = 0; k < N - By; ++k)
        word[k] = do_move ? word[k + By] : word[k];
}

template <class T, int N>
static __device__ __forceinline__ kn_vectors<T, N> kn_load_vectors(const char *from) {
    return kn_load_vectors<T, N>(from, N * sizeof(T), N * sizeof(T));
}

// Moved by words, then by bytes.
template <class T, int N>
static __device__ __forceinline__ kn_window<T, N> kn_window_of(kn_vectors<T, N> raw) {
    constexpr int size = sizeof(T), count = kn_vectors<T, N>::words * kn_vectors<T, N>::vectors;
    if (size <= 8 && raw.words > 2)
        kn_move_words<2>(raw.word, raw.off & 8);
    if (size <= 4 && raw.words > 1)
        kn_move_words<1>(raw.word, raw.off & 4);
    if (size < 4)
#pragma unroll
        for (int k = 0; k < count; ++k)
            raw.word[k] = __funnelshift_r(raw.word[k], k + 1 < count ? raw.word[k + 1] : 0, 8 * (raw.off & 3));
    kn_window<T, N> window;
    if constexpr (kn_is_picked<T>)
#pragma unroll
        for (int k = 0; k < N; ++k)
            window.at[k] = kn_pick<T>(raw.word[k * size / 4], k * size % 4 / size);
    else
        memcpy(&window, raw.word, sizeof window);
    return window;
}

template <class T, int N>
static __device__ __forceinline__ kn_window<T, N> kn_load_window(const char *from) {
    return kn_window_of(kn_load_vectors<T, N>(from));
}
