${head}
${axes}

#if ${narrow_axis}
/* Moves along a narrow axis and the next one, which are one contiguous range for some operands. */
static __device__ __forceinline__ void kn_move_both(kn_place &place, const kn_axis &next, const kn_axis &narrow, unsigned steps, unsigned extent, unsigned reciprocal)
{
    const unsigned far = (steps * reciprocal) >> 20;
    kn_move(place, next, far);
    kn_move(place, narrow, steps - far * extent);
}
#define kn_move_p(place, steps) kn_move_both(place, kn_axis_p, kn_axis_p2, steps, kn.p_narrow, kn.p_narrow_reciprocal)
#define kn_move_q(place, steps) kn_move_both(place, kn_axis_q, kn_axis_q2, steps, kn.q_narrow, kn.q_narrow_reciprocal)
#define kn_p_extent (kn_axis_p.extent * kn.p_narrow)
#define kn_q_extent (kn_axis_q.extent * kn.q_narrow)
#else
#define kn_move_p(place, steps) kn_move(place, kn_axis_p, steps)
#define kn_move_q(place, steps) kn_move(place, kn_axis_q, steps)
#define kn_p_extent kn_axis_p.extent
#define kn_q_extent kn_axis_q.extent
#endif

/* Reads ${vector} vectors along q, one behind the other along p, transposes them, and stores vectors along p: rows from b * ${vector} on of the tile, `pitch` elements
 * apart. If p has a narrow axis, they are `carry` bytes further behind the first `left`, and then behind every `of_row` of them. */
template <class T>
[[maybe_unused]] static __device__ __forceinline__ void kn_stage(T *tile, const char *from, int step, unsigned left, unsigned of_row, int carry, unsigned pitch, unsigned b, unsigned slot)
{
    kn_pack<T, ${vector}> row[${vector}];
#pragma unroll
    for (int j = 0; j < ${vector}; ++j) {
        row[j] = kn_load<T, ${vector}>((const T *)from);
        from += --left == 0 ? step + carry : step;
        left = left == 0 ? of_row : left;
    }
#pragma unroll
    for (int k = 0; k < ${vector}; ++k) {
        kn_pack<T, ${vector}> transposed;
#pragma unroll
        for (int j = 0; j < ${vector}; ++j)
            transposed.at[j] = row[j].at[k];
        *(kn_pack<T, ${vector}> *)(tile + (b * ${vector} + k) * pitch + slot * ${vector}) = transposed;
    }
}

/* The vectors of a row are rotated by the row's number, so that neither writes nor reads have bank conflicts. */
static __device__ __forceinline__ unsigned kn_rotate(const kn_args &tile, unsigned vector, unsigned row)
{
    const unsigned sum = vector + row;
    return sum - ((sum * tile.row_reciprocal) >> 20) * tile.p;
}

${begin}

    extern __shared__ uint4 kn_shared[];
    const kn_axis &kn_axis_p = kn.axis[kn.rank], &kn_axis_p2 = kn.axis[kn.rank + 1], &kn_axis_q = kn.axis[kn.rank + 2], &kn_axis_q2 = kn.axis[kn.rank + 3];
    const unsigned kn_pitch = kn.p * ${vector};
    kn_place kn_corner = {};
    unsigned kn_step[4], kn_rest = blockIdx.x;
#ifdef __CUDACC_RTC__
    ${corner}
#else
#pragma unroll
    for (int kn_a = 0; kn_a < 4; ++kn_a) {
        const unsigned kn_outer = kn_divide(kn_rest, kn.axis[kn_a]);
        kn_step[kn_a] = kn_rest - kn_outer * kn.axis[kn_a].extent;
        kn_move(kn_corner, kn.axis[kn_a], kn_step[kn_a]);
        kn_rest = kn_outer;
    }
#pragma unroll 1
    for (int kn_a = 4; kn_a < kn.rank; ++kn_a) {
        const unsigned kn_outer = kn_divide(kn_rest, kn.axis[kn_a]);
        kn_move(kn_corner, kn.axis[kn_a], kn_rest - kn_outer * kn.axis[kn_a].extent);
        kn_rest = kn_outer;
    }
#endif
    /* The rest of each axis from the corner on, and of the second axes. */
    const unsigned kn_p_left = kn_p_extent - kn_step[0] * kn.p_vectors * ${vector}, kn_p2_left = kn_axis_p2.extent - kn_step[1] * kn.p_steps;
    const unsigned kn_q_left = kn_q_extent - kn_step[2] * kn.q_vectors * ${vector}, kn_q2_left = kn_axis_q2.extent - kn_step[3] * kn.q_steps;
    ${tiles}
    {
        const unsigned kn_t = (threadIdx.x * kn.q_row_reciprocal) >> 20, kn_b = threadIdx.x - kn_t * kn.q, kn_t1 = (kn_t * kn.across_reciprocal) >> 20;
        const unsigned kn_a = (kn_t - kn_t1 * kn.across) * kn.p_vectors + kn_t1;
        const unsigned kn_a2 = (kn_a * kn.p_reciprocal) >> 20, kn_a1 = (kn_a - kn_a2 * kn.p_vectors) * ${vector};
        const unsigned kn_b2 = (kn_b * kn.q_reciprocal) >> 20, kn_b1 = (kn_b - kn_b2 * kn.q_vectors) * ${vector};
        if (kn_a1 < kn_p_left && kn_a2 < kn_p2_left && kn_b1 < kn_q_left && kn_b2 < kn_q2_left) {
            const unsigned kn_slot = kn_rotate(kn, kn_a, kn_b);
            kn_place kn_from = kn_corner;
            kn_move_p(kn_from, kn_a1);
            kn_move(kn_from, kn_axis_p2, kn_a2);
            kn_move_q(kn_from, kn_b1);
            kn_move(kn_from, kn_axis_q2, kn_b2);
#if ${narrow_axis}
            const unsigned kn_rows = kn.p_narrow - (kn_a1 - ((kn_a1 * kn.p_narrow_reciprocal) >> 20) * kn.p_narrow);
#endif
            ${stage}
        }
    }
    __syncthreads();
    const unsigned kn_r0 = (threadIdx.x * kn.row_reciprocal) >> 20, kn_c = threadIdx.x - kn_r0 * kn.p;
    const unsigned kn_c2 = (kn_c * kn.p_reciprocal) >> 20, kn_c1 = (kn_c - kn_c2 * kn.p_vectors) * ${vector};
    if (kn_c1 < kn_p_left && kn_c2 < kn_p2_left) {
        kn_move_p(kn_corner, kn_c1);
        kn_move(kn_corner, kn_axis_p2, kn_c2);
#pragma unroll ${row_unroll}
        for (unsigned kn_j = 0; kn_j < ${vector}; ++kn_j) {
            const unsigned kn_r = kn_r0 + kn_j * kn.q, kn_b = kn_r / ${vector};
            const unsigned kn_r2 = (kn_b * kn.q_reciprocal) >> 20, kn_r1 = kn_r - kn_r2 * kn.q_vectors * ${vector};
            if (kn_r1 < kn_q_left && kn_r2 < kn_q2_left) {
                const unsigned kn_transposed = kn_r * kn_pitch + kn_rotate(kn, kn_c, kn_b) * ${vector};
                kn_place kn_here = kn_corner;
                kn_move_q(kn_here, kn_r1);
                kn_move(kn_here, kn_axis_q2, kn_r2);
                ${elements}
            }
        }
    }
    ${after_loop}
}
