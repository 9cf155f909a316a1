${head}
${axes}

/* Elements of a row that begins anywhere. */
template <class T, int N> struct kn_window {
    T at[N];
};

template <int By, int N>
static __device__ __forceinline__ void kn_move_words(unsigned (&word)[N], bool do_move)
{
#pragma unroll
    for (int k = 0; k < N - By; ++k)
        word[k] = do_move ? word[k + By] : word[k];
}

/* Out of the aligned vectors in which it lies, moved by words, then by bytes: of those that hold none of it no one is read. */
template <class T, int N>
static __device__ __forceinline__ kn_window<T, N> kn_load_window(const char *from)
{
    constexpr int size = sizeof(T), bytes = N * size, vectors = (31 - size + bytes) / 16;
    const int off = (int)((unsigned)(unsigned long long)from & 15);
    const kn_words<4> *aligned = reinterpret_cast<const kn_words<4> *>(from - off);
    unsigned word[4 * vectors] = {};
#pragma unroll
    for (int v = 0; v < vectors; ++v)
        if (16 * v < bytes || 16 * v < off + bytes) {
            const kn_words<4> some = aligned[v];
#pragma unroll
            for (int k = 0; k < 4; ++k)
                word[4 * v + k] = some.at[k];
        }
    if (size <= 8)
        kn_move_words<2>(word, off & 8);
    if (size <= 4)
        kn_move_words<1>(word, off & 4);
    if (size < 4)
#pragma unroll
        for (int k = 0; k < 4 * vectors - 1; ++k)
            word[k] = __funnelshift_r(word[k], word[k + 1], 8 * (off & 3));
    kn_window<T, N> window;
    memcpy(&window, word, bytes);
    return window;
}

extern "C" __global__ void __launch_bounds__(${block}${blocks}) ${entry}(const __grid_constant__ kn_args kn)
{
    ${wait}
    ${values}
    ${loop_prep}
    ${element}

    /* 32 vectors side by side; the axes of single elements and of single rows stand behind those that are walked. */
    const kn_axis &kn_axis_x = kn.axis[kn.rank], &kn_axis_y = kn.axis[kn.rank + 1];
    kn_place kn_here = kn_locate(kn, blockIdx.x);
    const unsigned kn_column = threadIdx.x % 32 * ${vector}, kn_row = threadIdx.x / 32 * ${lanes};
    const int kn_rows = (int)(kn_axis_y.extent - kn_here.second * (${block} / 32 * ${lanes}) - kn_row);
    if (kn_here.inner * (32 * ${vector}) + kn_column < kn_axis_x.extent && kn_rows > 0) {
        kn_move(kn_here, kn_axis_x, kn_column);
        kn_move(kn_here, kn_axis_y, kn_row);
        if (kn_rows >= ${lanes}) {
            ${loads}
#pragma unroll
            for (int kn_k = 0; kn_k < ${vector}; ++kn_k) {
                ${lane}
            }
            ${stores}
        } else {
#pragma unroll 1
            for (int kn_left = kn_rows * ${vector}; kn_left > 0; --kn_left) {
                ${single}
                kn_move(kn_here, kn_axis_x, 1);
                if (kn_left % ${vector} == 1) {
                    kn_move(kn_here, kn_axis_x, -${vector});
                    kn_move(kn_here, kn_axis_y, 1);
                }
            }
        }
    }
    ${after_loop}
}
