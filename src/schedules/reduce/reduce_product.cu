${head}
${axes}
/* A thread has this many rows and columns of results, in fours; so many terms are a sum that is added to the others. */
enum { kn_side = ${results_side}, kn_side_bits = kn_side == 8 ? 3 : 2, kn_fours = kn_side / 4, kn_results = kn_side * kn_side, kn_terms = 512 };
/* Neighbouring threads copy so many bytes along the reduction axis, a sector, and then the next row: rows in shared memory are 16 bytes longer than whole lines, so that a warp
   stores to all banks. */
enum { kn_sector = 32 };

/* An operand's elements of a step, along an axis of results (e) and the reduction axis (k): neighbouring threads copy elements that are neighbours in memory, or vectors of them
   along e. */
struct kn_operand_tile {
    unsigned e, k, e_on, k_on, last; /* a thread's first element, from one that it copies to the next, and the last one along e */
    unsigned pitch;                  /* elements from one k to the next in shared memory */
    bool are_vectors;

    __device__ __forceinline__ kn_operand_tile(const char *const from, const long long step, const long long step_k, const unsigned left, const int e_bits, const int k_bits, const int size)
    {
        const bool is_along_k = step == 0 || (step_k < 0 ? -step_k : step_k) < (step < 0 ? -step : step);
        const unsigned wide = 16 / (unsigned)size;
        last = (left < 1u << e_bits ? left : 1u << e_bits) - 1;
        are_vectors = !is_along_k && step == size && ((unsigned)(unsigned long long)from | (unsigned)step_k) % 16 == 0 && (last + 1) % wide == 0;
        const unsigned vector = are_vectors ? wide : 1, run = is_along_k ? min(kn_sector / (unsigned)size, 1u << k_bits) : kn_quotient(1u << e_bits, vector);
        const unsigned slow = kn_quotient(threadIdx.x, run), fast = threadIdx.x - slow * run, rows = kn_quotient(${block}, run);
        e = is_along_k ? slow : fast * vector;
        k = is_along_k ? fast : slow;
        e_on = is_along_k ? rows : 1u << e_bits;
        k_on = is_along_k ? run : rows;
        pitch = (1u << e_bits) + 16 / size;
    }
};

/* Copies elements to shared memory, without a register if they have 4 bytes or more. */
template <class T>
__device__ __forceinline__ void kn_copy_elements(T *to, const char *from)
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
    const auto kn_m_of = [&](const int kn_r, const unsigned kn_y) { return kn_first_m + (kn_r / 4 << (kn.m_bits + 2)) + 4 * kn_y + kn_r % 4; };
    const auto kn_n_of = [&](const int kn_c, const unsigned kn_x) { return kn_first_n + (kn_c / 4 << (kn.n_bits + 2)) + 4 * kn_x + kn_c % 4; };
    unsigned char *kn_next_buffer = kn_buffer;
    const unsigned kn_step_rows = min(1u << kn.k_bits, (unsigned)kn.axis[0].extent);
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
    const unsigned kn_stage_bytes = (unsigned)(kn_next_buffer - kn_buffer); /* the next step lies behind this one */
    /* Some steps are copied ahead of the one that is reduced: all, if shared memory holds them. */
    const unsigned kn_ahead_by = kn.stages < kn.chunk ? kn.stages - 1 : kn.stages;
    unsigned kn_there = 0, kn_now = 0; /* where the step that is copied lies, and the one that is reduced */
    const auto kn_next_step = [&](const unsigned kn_at) { return kn_at + kn_stage_bytes < kn.stages * kn_stage_bytes ? kn_at + kn_stage_bytes : 0; };
#pragma unroll 1
    for (unsigned kn_q = 0; kn_q < kn_steps + kn_ahead_by; ++kn_q) {
        if (kn_q >= kn_ahead_by)
            kn_stage_wait_but(kn_ahead_by - 1);
        if (kn_q < kn_steps) {
            kn_place kn_ahead;
            const unsigned kn_elements = kn_go_to_step(kn_ahead, kn_q);
            ${loads}
            kn_there = kn_next_step(kn_there);
        }
        kn_stage_step();
        if (kn_q < kn_ahead_by)
            continue;
        const bool kn_is_last = kn_q + 1 == kn_steps + kn_ahead_by;
        kn_place kn_step;
        const unsigned kn_elements = kn_go_to_step(kn_step, kn_q - kn_ahead_by);
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
#pragma unroll (kn_side == 8 ? 2 : 4)
        for (; kn_j < kn_end; ++kn_j)
            kn_take(kn_j, kn_number<0>());
        kn_count += kn_end > kn_begin ? kn_end - kn_begin : 0;
        kn_held = kn_elements < kn_held ? kn_held : kn_elements;
        kn_now = kn_next_step(kn_now);
        if (kn_count > 0 && (kn_is_last || kn_count >= kn_terms)) {
#pragma unroll
            for (int kn_k = 0; kn_k < kn_results; ++kn_k)
                kn_found[kn_k] = kn_some ? ${next}(kn_found[kn_k], kn_sum[kn_k / kn_side][kn_k % kn_side]) : kn_sum[kn_k / kn_side][kn_k % kn_side];
            kn_some = true;
            kn_count = 0;
        }
    }

    /* Results come together in shared memory, some of each thread at a time: kn_width columns, which are a vector of a result if they are contiguous and aligned. There each thread adds up what
       the groups have of some results, the upper half of the groups to the lower one. Of blocks that share a tile the last one reduces what they have found, in their order. */
    const unsigned kn_groups = ${block} / kn_together;
    const bool kn_is_alone = kn_side == 8 || kn_groups == 1; /* a thread: no other has a part of its results */
    constexpr int kn_width = sizeof(${type}) > 32 ? 1 : 4, kn_turn = kn_side == 8 ? kn_results : sizeof(${type}) <= 4 ? 16 : sizeof(${type}) <= 8 ? 8 : kn_width;
    constexpr unsigned kn_apart = ${block} + 8; /* so that neighbouring threads store to other banks, and read from others */
    __shared__ __align__(16) unsigned char kn_values[kn_side == 8 ? 16 : sizeof(${type}) * kn_apart * kn_turn];
    ${type} *const kn_shared = reinterpret_cast<${type} *>(kn_values);
    ${type} *const kn_partial = reinterpret_cast<${type} *>(kn.partials) + (long long)kn_tile * kn.by.extent * (kn_results * kn_together);
#pragma unroll 1
    for (int kn_t = 0; kn_t <= kn_results; kn_t += kn_turn) {
        const bool kn_is_end = kn_t == kn_results;
        if (kn_is_end && (kn.by.extent == 1 || !kn_comes_last(kn.counters + kn_tile, kn.by.extent)))
            break;
        if (!kn_is_end && !kn_is_alone) {
            __syncthreads();
#pragma unroll
            for (int kn_u = 0; kn_u < kn_turn; ++kn_u)
                kn_shared[kn_u * kn_apart + threadIdx.x] = kn_found[kn_turn == kn_results ? kn_u : kn_t + kn_u];
            __syncthreads();
        }
        /* Columns of a thread: of one of those that had the same results, or of each of several ones. */
#pragma unroll 1
        for (unsigned kn_v = threadIdx.x; kn_v < (kn_is_end ? kn_results : kn_turn) / kn_width * kn_together; kn_v += ${block}) {
            const unsigned kn_k = (kn_v >> (kn.n_bits + kn.m_bits)) * kn_width, kn_owner = kn_v & (kn_together - 1);
            ${type} kn_one[kn_width];
            if (kn_is_alone && !kn_is_end) {
#pragma unroll
                for (int kn_c = 0; kn_c < kn_width; ++kn_c)
                    kn_one[kn_c] = kn_found[kn_t + kn_k + kn_c];
            } else if (!kn_is_end) {
                ${type} *const kn_mine = kn_shared + kn_k * kn_apart + kn_owner;
#pragma unroll 1
                for (unsigned kn_half = kn_groups / 2; kn_half > 0; kn_half /= 2)
#pragma unroll 1
                    for (unsigned kn_g = 0; kn_g < kn_half && (kn_g + kn_half) * kn.part < kn_held; ++kn_g)
#pragma unroll
                        for (int kn_c = 0; kn_c < kn_width; ++kn_c)
                            kn_mine[kn_c * kn_apart + kn_g * kn_together] = ${reduce}(kn_mine[kn_c * kn_apart + kn_g * kn_together], kn_mine[kn_c * kn_apart + (kn_g + kn_half) * kn_together]);
#pragma unroll
                for (int kn_c = 0; kn_c < kn_width; ++kn_c)
                    kn_one[kn_c] = kn_mine[kn_c * kn_apart];
            } else {
#pragma unroll 4
                for (unsigned kn_s = 0; kn_s < kn.by.extent; ++kn_s)
#pragma unroll
                    for (int kn_c = 0; kn_c < kn_width; ++kn_c) {
                        const ${type} kn_other = kn_partial[(kn_s * kn_results + kn_k + kn_c) * kn_together + kn_owner];
                        kn_one[kn_c] = kn_s == 0 ? kn_other : ${reduce}(kn_one[kn_c], kn_other);
                    }
            }
            if (!kn_is_end && kn.by.extent > 1) {
#pragma unroll
                for (int kn_c = 0; kn_c < kn_width; ++kn_c)
                    kn_partial[(kn_part * kn_results + kn_t + kn_k + kn_c) * kn_together + kn_owner] = kn_one[kn_c];
                continue;
            }
            const int kn_r = (int)(kn_is_end ? kn_k : kn_t + kn_k);
            const unsigned kn_m = kn_m_of(kn_r / kn_side, kn_owner >> kn.n_bits), kn_n = kn_n_of(kn_r % kn_side, kn_owner & ((1u << kn.n_bits) - 1));
            if (kn_m < kn_axis_m.extent && kn_n < kn_axis_n.extent) {
                const int kn_left = kn_axis_n.extent - kn_n < kn_width ? (int)(kn_axis_n.extent - kn_n) : kn_width;
                ${results}
#pragma unroll
                for (int kn_c = 0; kn_c < kn_width; ++kn_c)
                    if (kn_c < kn_left) {
                        ${invariant}
                        ${type} ${result} = kn_one[kn_c];
                        ${post}
                    }
                ${stores}
            }
        }
    }
    ${after_loop}
}
