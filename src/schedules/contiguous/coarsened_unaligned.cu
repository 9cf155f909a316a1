${head}
${axes}

/* Neighbouring elements of a row. */
template <class T, int N>
struct kn_columns {
    T at[N];
};

/* Those from column `first` + `by` on of the row that has its column `first` at `from`; in place of those beyond its ends the nearest. Or one element, repeated, of
 * an input that is broadcast along the row. */
template <class T, int N>
static __device__ __forceinline__ kn_columns<T, N> kn_load_columns(const char *from, int step, int first, int by, int extent)
{
    kn_columns<T, N> loaded;
    if (step != 0) {
#pragma unroll
        for (int k = 0; k < N; ++k)
            loaded.at[k] = *reinterpret_cast<const T *>(from + step * (max(0, min(first + by + k, extent - 1)) - first));
    } else {
        const T one = *reinterpret_cast<const T *>(from);
#pragma unroll
        for (int k = 0; k < N; ++k)
            loaded.at[k] = one;
    }
    return loaded;
}

/* The last elements of the window but `off`. */
template <class T, int N>
static __device__ __forceinline__ kn_columns<T, (N + 1) / 2> kn_columns_from(kn_columns<T, N> window, int off)
{
    constexpr int count = (N + 1) / 2;
    kn_columns<T, count> columns;
#pragma unroll
    for (int by = 1; by < count; by *= 2)
#pragma unroll
        for (int k = 0; k + by < N; ++k)
            window.at[k] = off & by ? window.at[k] : window.at[k + by];
#pragma unroll
    for (int k = 0; k < count; ++k)
        columns.at[k] = window.at[k];
    return columns;
}

/* An aligned word from column `first` on; element by element what is beyond an end of the row. */
template <class T, int N>
static __device__ __forceinline__ void kn_store_columns(T *to, const kn_pack<T, N> &word, int first, int extent)
{
    if (first >= 0 && first + N <= extent) {
        kn_store(to, word);
    } else {
#pragma unroll
        for (int k = 0; k < N; ++k)
            if (first + k >= 0 && first + k < extent)
                to[k] = word.at[k];
    }
}

${begin}

    /* Rows that are ${vector} apart begin alike: the elements that their words have are taken from the windows together. */
    const unsigned kn_thread = blockIdx.x * ${block}u + threadIdx.x;
    if (kn_thread < kn.size) {
        const kn_place kn_here = kn_locate(kn, kn_thread);
        const kn_axis &kn_w = kn.axis[kn.rank];
        const int kn_left = (int)(kn_w.extent - kn_here.outer * ${coarsening}), kn_column = (int)kn_here.inner * ${vector};
        ${invariant}
#pragma unroll 1
        for (int kn_j = 0; kn_j < ${vector} && kn_j < kn_left; ++kn_j) {
            ${from}
            ${loads}
            ${step_packs}
#pragma unroll
            for (int kn_m = 0; kn_m < ${coarsening} / ${vector}; ++kn_m) {
                const int kn_row = kn_j + kn_m * ${vector};
                if (kn_row < kn_left) {
                    ${step_loads}
                }
            }
#pragma unroll
            for (int kn_m = 0; kn_m < ${coarsening} / ${vector}; ++kn_m) {
                if (kn_j + kn_m * ${vector} < kn_left) {
                    ${result}
#pragma unroll
                    for (int kn_k = 0; kn_k < ${vector}; ++kn_k) {
                        ${lane}
                    }
                    ${stores}
                }
            }
        }
    }
    ${after_loop}
}
