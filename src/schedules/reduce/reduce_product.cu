${head}
${axes}
/* A thread has this many rows and columns of results, in fours; it copies so many elements of an operand in a step; so many terms are a sum that is added to the others. */
enum { kn_side = ${results_side}, kn_side_bits = kn_side == 8 ? 3 : 2, kn_fours = kn_side / 4, kn_results = kn_side * kn_side, kn_copies = 8, kn_thread_bits = 8, kn_terms = 512, kn_batch = 4 };

/* An operand's elements of a step, along an axis of results (e) and the reduction axis (k): neighbouring threads copy elements that are neighbours in memory. */
struct kn_operand_tile {
    bool is_along_k;        /* these lie along the reduction axis */
    int bits;               /* of the slower index, by how much one copy of a thread is apart from the next */
    unsigned e, k, last;    /* a thread's first element, and the last one along e */
    unsigned pitch, copies; /* elements from one k to the next in shared memory */
    unsigned to, to_on;     /* the thread's first element there, and from one to the next */
    long long first, on;    /* bytes to the first element, and from one to the next */

    __device__ __forceinline__ kn_operand_tile(const long long step, const long long step_k, const unsigned left, const int e_bits, const int k_bits, const int size)
    {
        is_along_k = step == 0 || (step_k < 0 ? -step_k : step_k) < (step < 0 ? -step : step);
        const int fast_bits = is_along_k ? k_bits : e_bits;
        const unsigned fast = threadIdx.x & ((1u << fast_bits) - 1), slow = threadIdx.x >> fast_bits;
        bits = kn_thread_bits - fast_bits;
        e = is_along_k ? slow : fast;
        k = is_along_k ? fast : slow;
        last = (left < 1u << e_bits ? left : 1u << e_bits) - 1;
        pitch = (1u << e_bits) + 16 / size;
        copies = threadIdx.x < 1u << (e_bits + k_bits) ? (${block} - 1 + (1u << (e_bits + k_bits))) / ${block} : 0;
        to = k * pitch + e;
        to_on = (is_along_k ? 1 : pitch) << bits;
        first = e * step + k * step_k;
        on = (is_along_k ? step : step_k) << bits;
    }
    /* The copies that are not behind an end. */
    __device__ __forceinline__ unsigned within(const unsigned elements) const
    {
        if (e > last || k >= elements)
            return 0;
        const unsigned more = is_along_k ? last - e : elements - 1 - k;
        return min((more >> bits) + 1, copies);
    }
};

/* Copies an element to shared memory, without a register if it has 4 bytes or more. */
template <class T>
__device__ __forceinline__ void kn_copy_element(T *to, const char *from)
{
#if __CUDA_ARCH__ >= 800
    if constexpr (sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16) {
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "n"(sizeof(T)) : "memory");
        return;
    }
#endif
    *to = *(const T *)from;
}

${begin}

    extern __shared__ __align__(16) unsigned char kn_buffer[];

    /* A block has a tile of results, and kn.by.extent blocks share the steps of its sums. Of its threads some have the same results: groups, each of which takes a part of a step. */
    const unsigned kn_x = threadIdx.x & ((1u << kn.n_bits) - 1), kn_y = threadIdx.x >> kn.n_bits & ((1u << kn.m_bits) - 1);
    const unsigned kn_group = threadIdx.x >> (kn.n_bits + kn.m_bits), kn_together = 1u << (kn.n_bits + kn.m_bits);
    const unsigned kn_tile = kn_divide(blockIdx.x, kn.by), kn_part = blockIdx.x - kn_tile * kn.by.extent;
    const unsigned kn_down = kn_divide(kn_tile, kn.across), kn_outer = kn_divide(kn_down, kn.down);
    const unsigned kn_first_n = (kn_tile - kn_down * kn.across.extent) * (kn_side << kn.n_bits), kn_first_m = (kn_down - kn_outer * kn.down.extent) * (kn_side << kn.m_bits);
    const auto &kn_axis_n = kn.axis[kn.reduction_rank], &kn_axis_m = kn.axis[kn.reduction_rank + 1];
    kn_place kn_row = {};
    kn_go_to_result<${operands}>(kn_row, kn, kn.reduction_rank + 2, kn_outer);
    const auto kn_m_of = [&](const int kn_r) { return kn_first_m + (kn_r / 4 << (kn.m_bits + 2)) + 4 * kn_y + kn_r % 4; };
    const auto kn_n_of = [&](const int kn_c) { return kn_first_n + (kn_c / 4 << (kn.n_bits + 2)) + 4 * kn_x + kn_c % 4; };
    unsigned char *kn_next_buffer = kn_buffer;
    ${stage}

    /* Steps: a row along the innermost reduction axis has kn.per_row of them. */
    const long long kn_first = (long long)kn_part * kn.chunk;
    const unsigned kn_steps = kn.steps - kn_first < kn.chunk ? (unsigned)(kn.steps - kn_first) : kn.chunk;
    const auto kn_go_to_step = [&](kn_place &kn_step, const unsigned kn_q) {
        const unsigned kn_at = (unsigned)kn_first + kn_q, kn_line = kn_divide(kn_at, kn.per_row), kn_begin = (kn_at - kn_line * kn.per_row.extent) << kn.k_bits;
        for (int o = 0; o < ${operands}; ++o)
            kn_step.at[o] = kn_row.at[o] + kn_begin * kn.axis[0].stride[o];
        if (${reduction_axes} > 1)
            kn_move(kn_step, kn, 1, kn.reduction_rank, kn_line);
        const unsigned kn_left = (unsigned)kn.axis[0].extent - kn_begin;
        return kn_left < 1u << kn.k_bits ? kn_left : 1u << kn.k_bits;
    };
    ${type} kn_sum[kn_side][kn_side], kn_found[kn_results]; /* the latter in memory: where it is indexed loops are short */
    unsigned kn_count = 0, kn_held = 0; /* terms of the sum; groups that hold something: the first ones */
    bool kn_some = false;
    const unsigned kn_stage_bytes = (unsigned)(kn_next_buffer - kn_buffer);
    const auto kn_stage_step = [&](const unsigned kn_q) {
        kn_place kn_ahead;
        const unsigned kn_elements = kn_go_to_step(kn_ahead, kn_q), kn_there = kn_q % 2 * kn_stage_bytes;
        ${loads}
    };
    kn_stage_step(0);
#pragma unroll 1
    for (unsigned kn_q = 0; kn_q < kn_steps; ++kn_q) {
        const bool kn_is_last = kn_q + 1 == kn_steps;
        kn_place kn_step;
        const unsigned kn_elements = kn_go_to_step(kn_step, kn_q), kn_now = kn_q % 2 * kn_stage_bytes;
        kn_stage_wait();
        if (!kn_is_last)
            kn_stage_step(kn_q + 1);
        const unsigned kn_begin = kn_group * kn.part, kn_end = kn_begin + kn.part < kn_elements ? kn_begin + kn.part : kn_elements;
        const auto kn_take = [&](const unsigned kn_j, auto kn_number_of) {
            ${packs}
#pragma unroll
            for (int kn_f = 0; kn_f < kn_fours; ++kn_f) {
                ${from}
            }
#pragma unroll
            for (int kn_r = 0; kn_r < kn_side; ++kn_r)
#pragma unroll
                for (int kn_c = 0; kn_c < kn_side; ++kn_c) {
                    ${lane}
                    if constexpr (decltype(kn_number_of)::value)
                        kn_sum[kn_r][kn_c] = ${mapped};
                    else
                        kn_sum[kn_r][kn_c] = ${next}(kn_sum[kn_r][kn_c], ${mapped});
                }
        };
        unsigned kn_j = kn_begin;
        if (kn_count == 0 && kn_j < kn_end)
            kn_take(kn_j++, kn_number<1>());
#pragma unroll (kn_side == 8 ? 1 : 2)
        for (; kn_j < kn_end; ++kn_j)
            kn_take(kn_j, kn_number<0>());
        kn_count += kn_end > kn_begin ? kn_end - kn_begin : 0;
        kn_held = kn_elements < kn_held ? kn_held : kn_elements;
        if (kn_count > 0 && (kn_is_last || kn_count >= kn_terms)) {
#pragma unroll
            for (int kn_k = 0; kn_k < kn_results; ++kn_k)
                kn_found[kn_k] = kn_some ? ${next}(kn_found[kn_k], kn_sum[kn_k / kn_side][kn_k % kn_side]) : kn_sum[kn_k / kn_side][kn_k % kn_side];
            kn_some = true;
            kn_count = 0;
        }
    }

    /* Groups: the upper half of them is added to the lower one. */
    __shared__ __align__(16) unsigned char kn_values[sizeof(${type}) * ${block} / 2];
    ${type} *const kn_shared = reinterpret_cast<${type} *>(kn_values);
#pragma unroll 1
    for (unsigned kn_half = ${block} / kn_together / 2; kn_half > 0; kn_half /= 2)
#pragma unroll 1
        for (int kn_k = 0; kn_k < kn_results; ++kn_k) {
            __syncthreads();
            if (kn_group >= kn_half && kn_group < 2 * kn_half)
                kn_shared[threadIdx.x - kn_half * kn_together] = kn_found[kn_k];
            __syncthreads();
            if (kn_group < kn_half && (kn_group + kn_half) * kn.part < kn_held)
                kn_found[kn_k] = ${reduce}(kn_found[kn_k], kn_shared[threadIdx.x]);
        }

    /* Blocks that share a tile: the last one reduces what they have found, in their order. */
    bool kn_is_final = true;
    if (kn.by.extent > 1) {
        ${type} *const kn_partial = reinterpret_cast<${type} *>(kn.partials) + (long long)kn_tile * kn.by.extent * (kn_results * kn_together) + threadIdx.x;
        if (kn_group == 0)
#pragma unroll 4
            for (int kn_k = 0; kn_k < kn_results; ++kn_k)
                kn_partial[(kn_part * kn_results + kn_k) * kn_together] = kn_found[kn_k];
        kn_is_final = kn_comes_last(kn.counters + kn_tile, kn.by.extent);
        if (kn_is_final && kn_group == 0)
#pragma unroll 1
            for (int kn_k = 0; kn_k < kn_results; ++kn_k)
#pragma unroll 1
                for (unsigned kn_s = 0; kn_s < kn.by.extent; kn_s += kn_batch) {
                    ${type} kn_other[kn_batch];
#pragma unroll
                    for (int kn_u = 0; kn_u < kn_batch; ++kn_u)
                        if (kn_s + kn_u < kn.by.extent)
                            kn_other[kn_u] = kn_partial[((kn_s + kn_u) * kn_results + kn_k) * kn_together];
#pragma unroll
                    for (int kn_u = 0; kn_u < kn_batch; ++kn_u)
                        if (kn_s + kn_u < kn.by.extent)
                            kn_found[kn_k] = kn_s + kn_u == 0 ? kn_other[0] : ${reduce}(kn_found[kn_k], kn_other[kn_u]);
                }
    }
    if (kn_is_final && kn_group == 0)
#pragma unroll 1
        for (int kn_k = 0; kn_k < kn_results; ++kn_k) {
            const unsigned kn_m = kn_m_of(kn_k / kn_side), kn_n = kn_n_of(kn_k % kn_side);
            if (kn_m < kn_axis_m.extent && kn_n < kn_axis_n.extent) {
                ${type} ${result} = kn_found[kn_k];
                ${post}
            }
        }
    ${after_loop}
}
