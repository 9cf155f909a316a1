// needs: kn_load_window kn_load_vectors
// with: gather
// Windows: elements of a row that begins anywhere, out of the aligned vectors in which they lie.

template <class T, int N> struct kn_window {
    T at[N];
};

// The vectors as they come, and by how many bytes the elements are off their beginning: what is done with them can wait.
template <class T, int N> struct kn_vectors {
    enum { bytes = N * sizeof(T), vectors = (31 - sizeof(T) + bytes) / 16 };
    unsigned word[4 * vectors];
    int off;
};

// Of vectors that hold none of the window no one is read.
template <class T, int N>
static __device__ __forceinline__ kn_vectors<T, N> kn_load_vectors(const char *from) {
    kn_vectors<T, N> raw = {};
    raw.off = (int)((unsigned)(unsigned long long)from & 15);
    const kn_words<4> *aligned = reinterpret_cast<const kn_words<4> *>(from - raw.off);
#pragma unroll
    for (int v = 0; v < raw.vectors; ++v)
        if (16 * v < raw.bytes || 16 * v < raw.off + raw.bytes) {
            const kn_words<4> some = aligned[v];
#pragma unroll
            for (int k = 0; k < 4; ++k)
                raw.word[4 * v + k] = some.at[k];
        }
    return raw;
}

template <int By, int N>
static __device__ __forceinline__ void kn_move_words(unsigned (&word)[N], bool do_move) {
#pragma unroll
    for (int k = 0; k < N - By; ++k)
        word[k] = do_move ? word[k + By] : word[k];
}

// Moved by words, then by bytes.
template <class T, int N>
static __device__ __forceinline__ kn_window<T, N> kn_window_of(kn_vectors<T, N> raw) {
    constexpr int size = sizeof(T);
    if (size <= 8)
        kn_move_words<2>(raw.word, raw.off & 8);
    if (size <= 4)
        kn_move_words<1>(raw.word, raw.off & 4);
    if (size < 4)
#pragma unroll
        for (int k = 0; k < 4 * raw.vectors - 1; ++k)
            raw.word[k] = __funnelshift_r(raw.word[k], raw.word[k + 1], 8 * (raw.off & 3));
    kn_window<T, N> window;
    memcpy(&window, raw.word, sizeof window);
    return window;
}

template <class T, int N>
static __device__ __forceinline__ kn_window<T, N> kn_load_window(const char *from) {
    return kn_window_of(kn_load_vectors<T, N>(from));
}
