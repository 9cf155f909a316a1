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
    const T one = count > 0 ? *reinterpret_cast<const T *>(from) : T();
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

    /* Some lanes of a warp have a row, or a part of it: then the first stores nothing, but computes the last vector of the part before for the second. The axes of single
     * elements and of single rows are behind those of the grid. A warp's lanes exchange elements together, those without a row too. */
    const kn_axis &kn_axis_x = kn.axis[kn.rank], &kn_axis_y = kn.axis[kn.rank + 1];
    kn_place kn_here = kn_locate(kn, blockIdx.x);
    const int kn_across = (int)(threadIdx.x % 32 * kn.inverse >> 16), kn_lane = (int)(threadIdx.x % 32) - kn_across * kn.lanes - kn.before;
    const int kn_row = ((int)(threadIdx.x / 32) * kn.rows_of_warp + kn_across) * ${rows}, kn_column = ((int)kn_here.inner * (kn.lanes - kn.before) + kn_lane) * ${vector};
    const int kn_rows = kn_across < kn.rows_of_warp ? (int)kn_axis_y.extent - (int)kn_here.second * (${block} / 32 * ${rows}) * kn.rows_of_warp - kn_row : 0, kn_rest = (int)kn_axis_x.extent - kn_column;
    const int kn_count = kn_rows <= 0 || kn_column < 0 || kn_rest < 0 ? 0 : kn_rest < ${vector} ? kn_rest : ${vector}, kn_extent = kn_rows > 0 && kn_lane >= 0 ? (int)kn_axis_x.extent : 0;
    const unsigned kn_some = __ballot_sync(~0u, kn_rows > 0), kn_whole = __ballot_sync(~0u, kn_rows >= ${rows});
    kn_move(kn_here, kn_axis_x, kn_lane * ${vector});
    kn_move(kn_here, kn_axis_y, kn_row);
    if (kn_some != 0 && kn_some == kn_whole) {
        ${elements}
    } else if (kn_rows > 0 && kn_lane >= 0) {
#pragma unroll 1
        for (int kn_j = 0; kn_j < kn_rows && kn_j < ${rows}; ++kn_j) {
#pragma unroll 1
            for (int kn_k = 0; kn_k < kn_count; ++kn_k) {
                ${single}
                kn_move(kn_here, kn_axis_x, 1);
            }
            kn_move(kn_here, kn_axis_x, -kn_count);
            kn_move(kn_here, kn_axis_y, 1);
        }
    }
    ${after_loop}
}
