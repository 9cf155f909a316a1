// needs: kn_load_series
// with: gather
// N contiguous elements in registers.
template <class T, int N>
struct kn_series {
    T at[N];
};

// Such a range, in words of W bytes. If it begins within a word, one more word is loaded, and all are moved.
template <class T, int N, int W>
__device__ __forceinline__ kn_series<T, N> kn_load_series(const char *from) {
    constexpr int words = N * sizeof(T) / 4;
    const unsigned off = (unsigned)(unsigned long long)from & (W - 1);
    kn_series<T, N> run;
    if constexpr (W < 4) {
#pragma unroll
        for (int k = 0; k < N; ++k)
            run.at[k] = reinterpret_cast<const T *>(from)[k];
    } else {
        unsigned word[words + W / 4];
        if (sizeof(T) >= W || off == 0) {
#pragma unroll
            for (int k = 0; k < words; k += W / 4) {
                const kn_words<W / 4> some = *reinterpret_cast<const kn_words<W / 4> *>(from + 4 * k);
#pragma unroll
                for (int j = 0; j < W / 4; ++j)
                    word[k + j] = some.at[j];
            }
        } else {
#pragma unroll
            for (int k = 0; k < words + W / 4; k += W / 4) {
                const kn_words<W / 4> some = *reinterpret_cast<const kn_words<W / 4> *>(from - off + 4 * k);
#pragma unroll
                for (int j = 0; j < W / 4; ++j)
                    word[k + j] = some.at[j];
            }
            // Two statements: of a loop over both NVRTC leaves the words in local memory.
            if (W == 16 && off & 8)
#pragma unroll
                for (int k = 0; k < words + W / 4 - 2; ++k)
                    word[k] = word[k + 2];
            if (W >= 8 && off & 4)
#pragma unroll
                for (int k = 0; k < words + W / 4 - 1; ++k)
                    word[k] = word[k + 1];
            if (sizeof(T) < 4)
#pragma unroll
                for (int k = 0; k < words; ++k)
                    word[k] = __funnelshift_r(word[k], word[k + 1], 8 * (off & 3));
        }
        memcpy(&run, word, sizeof run);
    }
    return run;
}
