${head}
${axes}

/* Copies 16 bytes to shared memory, without a register if the architecture can. */
static __device__ __forceinline__ void kn_copy_chunk(unsigned to, const char *from)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
#else
    const uint4 chunk = *(const uint4 *)from;
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(chunk.x), "r"(chunk.y), "r"(chunk.z), "r"(chunk.w) : "memory");
#endif
}

template <int Size> struct kn_word;
template <> struct kn_word<1> {
    static __device__ __forceinline__ unsigned char take(unsigned from)
    {
        unsigned word;
        asm volatile("ld.shared.u8 %0, [%1];" : "=r"(word) : "r"(from));
        return (unsigned char)word;
    }
};
template <> struct kn_word<2> {
    static __device__ __forceinline__ unsigned short take(unsigned from)
    {
        unsigned short word;
        asm volatile("ld.shared.u16 %0, [%1];" : "=h"(word) : "r"(from));
        return word;
    }
};
template <> struct kn_word<4> {
    static __device__ __forceinline__ unsigned take(unsigned from)
    {
        unsigned word;
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(from));
        return word;
    }
};
template <> struct kn_word<8> {
    static __device__ __forceinline__ uint2 take(unsigned from)
    {
        uint2 word;
        asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(word.x), "=r"(word.y) : "r"(from));
        return word;
    }
};
template <> struct kn_word<16> {
    static __device__ __forceinline__ uint4 take(unsigned from)
    {
        uint4 word;
        asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w) : "r"(from));
        return word;
    }
};

/* Reads an element by its address in shared memory: address arithmetic is then 32 bits wide. */
template <class T>
static __device__ __forceinline__ T kn_take(unsigned from)
{
    const auto word = kn_word<sizeof(T)>::take(from);
    T element;
    memcpy(&element, &word, sizeof element);
    return element;
}

#if ${narrow_axis}
/* Reads N elements `pitch` bytes apart. Behind the first `left` of them, and then behind every `row`, the next one is `carry` bytes further. */
template <class T, int N>
static __device__ __forceinline__ kn_pack<T, N> kn_take_rows(unsigned from, unsigned pitch, unsigned carry, unsigned left, unsigned row)
{
    kn_pack<T, N> run;
#pragma unroll
    for (int k = 0; k < N; ++k) {
        run.at[k] = kn_take<T>(from);
        const bool ends = --left == 0;
        from += ends ? pitch + carry : pitch;
        left = ends ? row : left;
    }
    return run;
}
#else
/* Reads N elements `pitch` bytes apart; from `left` on they continue at `on`. Small elements are read by words of the result, and threads begin with different words,
 * since the vectors of one run begin in an eighth of the banks. */
template <class T, int N>
static __device__ __forceinline__ kn_pack<T, N> kn_take_run(unsigned from, unsigned on, int left, const kn_args &w, unsigned turn)
{
    kn_pack<T, N> run;
    const unsigned apart[4] = {0, w.pitch, w.pitch2, w.pitch3};
    if constexpr (sizeof(T) > 2 || sizeof(T) * N != 16) {
#pragma unroll
        for (int k = 0; k < N; ++k)
            run.at[k] = kn_take<T>((k == 0 || k < left ? from : on) + (k < 4 ? apart[k] : k * w.pitch));
    } else {
        constexpr int part = N / 4;
        const unsigned first_part = part * (turn & 3);
        unsigned ons = left < N ? ~0u << left & (1u << N) - 1 : 0;
        ons = (ons | ons << N) >> first_part; /* a bit for each element, in the order of the reads */
#pragma unroll
        for (int w4 = 0; w4 < 4; ++w4) {
            const unsigned first = (first_part + part * w4) & (N - 1);
            unsigned here = from + first * w.pitch, there = on + first * w.pitch;
            asm("" : "+r"(here), "+r"(there)); /* hoisted out of the loop: otherwise the product is added behind each selection */
#pragma unroll
            for (int k = 0; k < part; ++k)
                run.at[part * w4 + k] = kn_take<T>((ons & 1u << (part * w4 + k) ? there : here) + apart[k]);
        }
        kn_words<4> word = kn_words_of(run);
#pragma unroll
        for (int by = 1; by <= 2; by *= 2) {
            kn_words<4> moved;
#pragma unroll
            for (int k = 0; k < 4; ++k)
                moved.at[k] = turn & by ? word.at[(k + 4 - by) & 3] : word.at[k];
            word = moved;
        }
        run = kn_elements_of<T, N>(word);
    }
    return run;
}
#endif

static __device__ __forceinline__ void kn_copied()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
    __syncthreads();
}

${begin}

    extern __shared__ uint4 kn_shared[];
    const kn_axis &kn_axis_p = kn.axis[0], &kn_axis_p2 = kn.axis[1], &kn_axis_q = kn.axis[2], &kn_axis_q2 = kn.axis[3];
    kn_place kn_corner = {};
    unsigned kn_rest = kn_divide(blockIdx.x, kn.axis[4]), kn_outer = kn_divide(kn_rest, kn.axis[5]);
    const unsigned kn_near = blockIdx.x - kn_rest * kn.axis[4].extent, kn_far = kn_rest - kn_outer * kn.axis[5].extent;
    const unsigned kn_run = (kn.rows_first ? kn_far : kn_near) * kn.run, kn_row = (kn.rows_first ? kn_near : kn_far) * kn.rows;
    kn_rest = kn_outer;
#pragma unroll 1
    for (int kn_a = 6; kn_a < kn.rank; ++kn_a) {
        kn_outer = kn_divide(kn_rest, kn.axis[kn_a]);
        kn_move(kn_corner, kn.axis[kn_a], kn_rest - kn_outer * kn.axis[kn_a].extent);
        kn_rest = kn_outer;
    }
    /* The elements of each run, from the first with which a slot of this tile may begin, and the runs. */
    const unsigned kn_from = kn_run - min(kn_run, ${vector}u - 1), kn_to = min(kn_run + kn.run, kn.run_size);
    const unsigned kn_rows = min(kn.rows, kn.n_rows - kn_row);
    const unsigned kn_p2_0 = kn_divide(kn_from, kn_axis_p), kn_p0 = kn.crossed || kn.shared ? 0 : kn_from - kn_p2_0 * kn_axis_p.extent;
    const unsigned kn_p2_step = kn.crossed ? ${staged_size} : kn.step, kn_q_step = kn.crossed ? kn.step : kn.column;
    /* Copies the tile of an input to shared memory, from `kn_to_input` on; returns the address of the first element there, with the misalignment of its address in memory. */
    const auto kn_copy_input = [&](const char *kn_input, const unsigned kn_to_input) {
        /* Rows as they are in the input: all chunks of 16 bytes that have one of their elements. */
#if ${narrow_axis}
        const bool kn_shared_rows = kn.shared; /* rows of channels are along the second axis alone */
        const kn_axis &kn_p = kn_shared_rows ? kn_axis_p2 : kn_axis_p;
        const unsigned kn_pitch = kn_shared_rows ? kn.step : kn.pitch, kn_p_first = kn_shared_rows ? kn_p2_0 : kn_p0, kn_first_row = kn_shared_rows ? kn_p2_0 : kn_from, kn_end_row = kn_shared_rows ? kn_divide(kn_to - 1, kn_axis_p) + 1 : kn_to;
#else
        constexpr bool kn_shared_rows = false;
        const kn_axis &kn_p = kn_axis_p;
        const unsigned kn_pitch = kn.pitch, kn_p_first = kn_p0, kn_first_row = kn_from, kn_end_row = kn_to;
#endif
        const kn_axis &kn_s = kn.crossed ? kn_axis_q : kn_axis_p2;
        const unsigned kn_n0 = threadIdx.x >> kn.chunk_lanes, kn_dn = ${block} >> kn.chunk_lanes;
        const unsigned kn_begin = kn.crossed ? 0 : kn_first_row, kn_s0 = kn.crossed || kn_shared_rows ? 0 : kn_p2_0, kn_count = kn.crossed ? kn_rows * kn_axis_p.extent : kn_end_row - kn_first_row;
        const unsigned kn_s1 = kn_divide(kn_begin + kn_n0, kn_p), kn_ds = kn.p2_step, kn_dp = kn.p_step;
        unsigned kn_p1 = kn_begin + kn_n0 - kn_s1 * kn_p.extent;
        const int kn_p_stride = kn_p.stride[${staged}], kn_s_stride = kn_shared_rows ? 0 : kn_s.stride[${staged}];
        const char *kn_at = kn_input + kn_corner.at[${staged}] + kn_axis_q.stride[${staged}] * (int)kn_row + (kn.crossed ? (int)kn_p2_0 * ${staged_size} : 0);
        unsigned kn_phase = (unsigned)(unsigned long long)(kn_at + (int)kn_p_first * kn_p_stride + (int)kn_s0 * kn_s_stride) & 15;
        kn_at += (int)kn_p1 * kn_p_stride + (int)kn_s1 * kn_s_stride;
        kn_phase += kn_to_input;
        unsigned kn_here = (kn_p1 - kn_p_first) * kn_pitch + (kn_s1 - kn_s0) * kn.step + kn_phase;
        const int kn_at_step = (int)kn_dp * kn_p_stride + (int)kn_ds * kn_s_stride, kn_at_carry = kn_at_step + kn_s_stride - (int)kn_p.extent * kn_p_stride;
        const unsigned kn_here_step = kn_dp * kn_pitch + kn_ds * kn.step, kn_here_carry = kn_here_step + kn.step - kn_p.extent * kn_pitch;
        const unsigned kn_bytes = kn.crossed ? (kn_divide(kn_to - 1, kn_axis_p) + 1 - kn_p2_0) * ${staged_size} : kn_rows * kn.column;
#pragma unroll 1
        for (unsigned kn_chunk = 16 * (threadIdx.x & ((1u << kn.chunk_lanes) - 1)); kn_chunk < kn_bytes + 15; kn_chunk += 16u << kn.chunk_lanes) {
            const char *kn_from_at = kn_at + kn_chunk;
            unsigned kn_to_at = kn_here, kn_p_at = kn_p1;
#pragma unroll 4
            for (unsigned kn_n = kn_n0; kn_n < kn_count; kn_n += kn_dn) {
                const unsigned kn_off = kn_to_at & 15; /* bytes in front of the row in its first chunk */
                if (kn_chunk < kn_bytes + kn_off)
                    kn_copy_chunk(kn_chunk + kn_to_at - kn_off, kn_from_at - kn_off);
                kn_p_at += kn_dp;
                const bool kn_carry = kn_p_at >= kn_p.extent;
                kn_p_at -= kn_carry ? kn_p.extent : 0;
                kn_from_at += kn_carry ? kn_at_carry : kn_at_step;
                kn_to_at += kn_carry ? kn_here_carry : kn_here_step;
            }
        }
        return kn_phase;
    };
    const unsigned kn_phase = kn_copy_input((const char *)${staged_from}, (unsigned)__cvta_generic_to_shared(kn_shared));
    ${tiles}
    kn_copied();
    /* Slots are aligned vectors of results. A thread has one slot of some runs at a time. */
    const unsigned kn_r0 = threadIdx.x >> kn.slot_lanes, kn_dr = 1u << kn.row_lanes;
    const unsigned kn_dq2 = kn.q2_step, kn_dq = kn.q_step;
    const unsigned kn_q0_2 = kn_divide(kn_row + kn_r0, kn_axis_q), kn_q0 = kn_row + kn_r0 - kn_q0_2 * kn_axis_q.extent;
    kn_move(kn_corner, kn_axis_q, kn_q0);
    kn_move(kn_corner, kn_axis_q2, kn_q0_2);
#if !${narrow_axis}
    const unsigned kn_turn = threadIdx.x >> 3 & 3;
#endif
    const unsigned kn_on = kn_p2_step - kn_axis_p.extent * kn.pitch; /* distance at which a run continues along its second axis */
#pragma unroll 1
    for (unsigned kn_slot = threadIdx.x & ((1u << kn.slot_lanes) - 1); kn_slot < kn.slots; kn_slot += 1u << kn.slot_lanes) {
        const unsigned kn_t = kn_run + kn_slot * ${vector}, kn_p2_t = kn_divide(kn_t, kn_axis_p), kn_pt = kn_t - kn_p2_t * kn_axis_p.extent;
        unsigned kn_q_at = kn_q0;
        kn_place kn_slot_at = kn_corner;
        kn_move(kn_slot_at, kn_axis_p, kn_pt);
        kn_move(kn_slot_at, kn_axis_p2, kn_p2_t);
#if !${narrow_axis}
        unsigned kn_transposed_at = kn_phase + (kn_pt - kn_p0) * kn.pitch + (kn_p2_t - kn_p2_0) * kn_p2_step + kn_r0 * kn_q_step;
#endif
#pragma unroll 1
        for (unsigned kn_r = kn_r0; kn_r < kn_rows; kn_r += kn_dr) {
            /* The vector begins this many elements earlier, where it is aligned. */
            const int kn_misalignment = (unsigned)((unsigned long long)(${result_from}) / ${result_size}) % ${vector}, kn_first = (int)kn_t - kn_misalignment;
            if (kn_first >= 0 && kn_first + ${vector} <= (int)kn.run_size) {
#if ${narrow_axis}
                /* The fastest axis is short: the place of the vector's first element, and the elements that are left there. */
                const unsigned kn_p2_first = kn_divide(kn_first, kn_axis_p), kn_p_at = kn_first - kn_p2_first * kn_axis_p.extent;
                int kn_left = kn_axis_p.extent - kn_p_at;
                const unsigned kn_transposed = kn_phase + (kn_p_at - kn_p0) * kn.pitch + (kn_p2_first - kn_p2_0) * kn_p2_step + kn_r * kn_q_step;
                kn_place kn_here = kn_slot_at;
                kn_move(kn_here, kn_axis_p, kn_p_at - kn_pt);
                kn_move(kn_here, kn_axis_p2, kn_p2_first - kn_p2_t);
#else
                int kn_left = kn_axis_p.extent - kn_pt + kn_misalignment; /* lanes before the run continues along its second axis */
                unsigned kn_transposed = kn_transposed_at - kn_misalignment * kn.pitch;
                kn_place kn_here = kn_slot_at;
                kn_move(kn_here, kn_axis_p, -kn_misalignment);
#endif
                ${loads}
                ${packs}
#if !${narrow_axis}
                if (kn_left > (int)kn_axis_p.extent) {
                    kn_left -= kn_axis_p.extent;
                    kn_transposed -= kn_on;
                    kn_move(kn_here, kn_axis_p, kn_axis_p.extent);
                    kn_move(kn_here, kn_axis_p2, ~0u);
                }
                unsigned kn_transposed_on = kn_transposed + kn_on;
                asm("" : "+r"(kn_transposed_on)); /* one selection for each lane: otherwise the difference is selected, then added */
#endif
                ${gather}
#pragma unroll
                for (int kn_k = 0; kn_k < ${vector}; ++kn_k) {
                    ${lane}
                }
                ${stores}
            }
#if !${narrow_axis}
            kn_transposed_at += kn_dr * kn_q_step;
#endif
            kn_move(kn_slot_at, kn_axis_q, kn_dq);
            kn_move(kn_slot_at, kn_axis_q2, kn_dq2);
            kn_q_at += kn_dq;
            if (kn_q_at >= kn_axis_q.extent) {
                kn_q_at -= kn_axis_q.extent;
                kn_move(kn_slot_at, kn_axis_q, -kn_axis_q.extent);
                kn_move(kn_slot_at, kn_axis_q2, 1);
            }
        }
    }
    /* The ends of runs, which fill no slot: one element for each thread. */
    kn_move(kn_corner, kn_axis_q, -kn_q0);
    kn_move(kn_corner, kn_axis_q2, -kn_q0_2);
#pragma unroll 1
    for (int kn_is_end = kn_run > 0; kn_is_end <= (kn_run + kn.run + ${vector} > kn.run_size); ++kn_is_end)
#pragma unroll 1
        for (unsigned kn_n = threadIdx.x; kn_n < kn_rows * ${vector}; kn_n += ${block}) {
            const unsigned kn_r = kn_n / ${vector}, kn_k = kn_n % ${vector};
            const unsigned kn_q1_2 = kn_divide(kn_row + kn_r, kn_axis_q), kn_q1 = kn_row + kn_r - kn_q1_2 * kn_axis_q.extent;
            kn_place kn_slot_at = kn_corner;
            kn_move(kn_slot_at, kn_axis_q, kn_q1);
            kn_move(kn_slot_at, kn_axis_q2, kn_q1_2);
            const unsigned kn_misalignment = (unsigned)((unsigned long long)(${result_from}) / ${result_size}) % ${vector};
            /* The slot's first element, the lanes within the run, and whether the slot belongs to this tile. A run shorter than a vector may end in the slot in which it
             * begins; such a slot counts as its beginning. */
            const int kn_first = (int)(kn_is_end ? (kn.run_size + kn_misalignment) / ${vector} * ${vector} : 0) - (int)kn_misalignment, kn_t = kn_first + (int)kn_k;
            const int kn_begin = (int)kn_run - (int)((kn_run + kn_misalignment) % ${vector});
            if (kn_t < 0 || kn_t >= (int)kn.run_size || kn_first < kn_begin || kn_first >= kn_begin + (int)kn.run || (kn_is_end ? kn_first < 0 : kn_misalignment == 0))
                continue;
            const unsigned kn_p2_1 = kn_divide(kn_t, kn_axis_p), kn_p1 = kn_t - kn_p2_1 * kn_axis_p.extent;
            const unsigned kn_transposed = kn_phase + (kn_p1 - kn_p0) * kn.pitch + (kn_p2_1 - kn_p2_0) * kn_p2_step + kn_r * kn_q_step;
            kn_place kn_here = kn_slot_at;
            kn_move(kn_here, kn_axis_p, kn_p1);
            kn_move(kn_here, kn_axis_p2, kn_p2_1);
            ${single}
        }
    ${after_loop}
}
