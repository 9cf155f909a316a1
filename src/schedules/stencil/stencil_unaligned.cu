${head}
${axes}

/* The elements of `count` results and `More` beside them; none for no results. */
template <class T, int N, int More>
static __device__ __forceinline__ kn_window<T, N> kn_load_some(const char *from, int count)
{
    return kn_window_of(kn_load_vectors<T, N>(from, 0, count > 0 ? (count + More) * (int)sizeof(T) : -16));
}

/* The same for an input outside the stencil, contiguous or broadcast. */
template <class T, int N>
[[maybe_unused]] static __device__ __forceinline__ kn_window<T, N> kn_load_some_along(const char *from, int step, int count)
{
    if (step != 0)
        return kn_load_some<T, N, 0>(from, count);
    kn_window<T, N> same;
    const T one = *reinterpret_cast<const T *>(from);
#pragma unroll
    for (int k = 0; k < N; ++k)
        same.at[k] = one;
    return same;
}

/* Stores the results of an unaligned row, from `column` on at `to`. Each thread stores the aligned vector that has its first result; the elements in front of that one
 * come from the thread before it. Partial vectors at the ends of a row are stored element by element. */
template <class T, int N>
static __device__ __forceinline__ void kn_store_joined(T *to, const kn_pack<T, N> &own, int column, int extent)
{
    constexpr int words = sizeof(T) * N / 4;
    const int off = (int)((unsigned)(unsigned long long)to & (4 * words - 1)), first = column - off / (int)sizeof(T);
    T *const aligned = reinterpret_cast<T *>(reinterpret_cast<char *>(to) - off);
    const kn_words<words> last = kn_words_of(own);
    unsigned run[2 * words];
#pragma unroll
    for (int k = 0; k < words; ++k) {
        run[k] = __shfl_up_sync(~0u, last.at[k], 1);
        run[words + k] = last.at[k];
    }
#pragma unroll
    for (int by = words / 2; 4 * by >= (int)sizeof(T) && by > 0; by /= 2)
#pragma unroll
        for (int k = 2 * words - 1; k >= by; --k)
            run[k] = off & (4 * by) ? run[k - by] : run[k];
    kn_words<words> joined;
#pragma unroll
    for (int k = 0; k < words; ++k)
        joined.at[k] = sizeof(T) < 4 ? __funnelshift_l(run[words + k - 1], run[words + k], 8 * (off & 3)) : run[words + k];
    const kn_pack<T, N> vector = kn_elements_of<T, N>(joined);
    if (first >= 0 && first + N <= extent) {
        kn_store(aligned, vector);
    } else {
        const unsigned there = extent > first ? (first < 0 ? ~0u << -first : ~0u) & (extent - first < 32 ? (1u << (extent - first)) - 1 : ~0u) : 0;
#pragma unroll
        for (int k = 0; k < N; ++k)
            if (there >> k & 1)
                aligned[k] = vector.at[k];
    }
}

${begin}

    /* The first thread of a warp stores nothing: it computes the last vector of the warp before, for the second thread. The axes of single elements and of single rows
     * are behind those of the grid. */
    const kn_axis &kn_axis_x = kn.axis[kn.rank], &kn_axis_y = kn.axis[kn.rank + 1];
    kn_place kn_here = kn_locate(kn, blockIdx.x);
    const int kn_lane = threadIdx.x % 32, kn_row = threadIdx.x / 32 * ${rows}, kn_column = ((int)kn_here.inner * 31 + kn_lane - 1) * ${vector};
    const int kn_rows = (int)(kn_axis_y.extent - kn_here.second * (${block} / 32 * ${rows}) - kn_row), kn_rest = (int)kn_axis_x.extent - kn_column;
    const int kn_count = kn_column < 0 || kn_rest < 0 ? 0 : kn_rest < ${vector} ? kn_rest : ${vector}, kn_extent = kn_lane > 0 ? (int)kn_axis_x.extent : 0;
    if (kn_rows > 0) {
        kn_move(kn_here, kn_axis_x, (kn_lane - 1) * ${vector});
        kn_move(kn_here, kn_axis_y, kn_row);
        if (kn_rows >= ${rows}) {
            ${elements}
        } else if (kn_lane > 0) {
#pragma unroll 1
            for (int kn_j = 0; kn_j < kn_rows; ++kn_j) {
#pragma unroll 1
                for (int kn_k = 0; kn_k < kn_count; ++kn_k) {
                    ${single}
                    kn_move(kn_here, kn_axis_x, 1);
                }
                kn_move(kn_here, kn_axis_x, -kn_count);
                kn_move(kn_here, kn_axis_y, 1);
            }
        }
    }
    ${after_loop}
}
