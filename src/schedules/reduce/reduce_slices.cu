${head}
${axes}
enum { kn_steps = 8 }; /* elements of a thread that are loaded before any is reduced */
/* Iterations of structs are whole, but for the last one: a number of elements in a struct is then a constant, and the compiler removes divisions by it. */
constexpr bool kn_are_whole = __is_class(${type});

/* Elements of rows of an operand in shared memory, of so many bytes each: a row begins anywhere within 16 bytes, and an odd number of these lies between two. */
__device__ __forceinline__ constexpr unsigned kn_slice_pitch(unsigned slice, unsigned size)
{
    return ((slice * size + 30) / 16 | 1) * 16;
}

/* The elements of so many rows are copied in the chunks of 16 bytes that hold any of them. */
static __device__ __forceinline__ void kn_stage_rows(unsigned char *buffer, const unsigned long long *rows, long long at, unsigned count, unsigned bytes, unsigned pitch)
{
    const unsigned chunks = (bytes + 30) / 16;
#pragma unroll 4
    for (unsigned e = threadIdx.x; e < count * chunks; e += ${block}) {
        const unsigned row = kn_quotient(e, chunks), chunk = 16 * (e - row * chunks);
        const unsigned long long from = rows[row] + at;
        const unsigned off = (unsigned)from & 15;
        if (chunk < off + bytes) {
            const char *const aligned = (const char *)(from - off) + chunk;
            unsigned char *const to = buffer + row * pitch + chunk;
#if __CUDA_ARCH__ >= 800
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(aligned) : "memory");
#else
            *reinterpret_cast<uint4 *>(to) = *reinterpret_cast<const uint4 *>(aligned);
#endif
        }
    }
}

extern "C" __global__ void __launch_bounds__(${block}) ${entry}(const __grid_constant__ kn_args kn)
{
    ${wait}
    ${values}
    ${loop_prep}
    ${element}

    extern __shared__ __align__(16) unsigned char kn_buffer[];
    /* Values of all threads at a time, or of as many as fit. */
    constexpr unsigned kn_fitting = (40 << 10) / sizeof(${type}), kn_slots = kn_fitting < ${block} ? kn_fitting : ${block};
    static_assert(kn_slots >= 8, "the reduce type is too large: the lanes of a result share 40 KiB");
    __shared__ __align__(16) unsigned char kn_values[sizeof(${type}) * kn_slots];
    ${type} *const kn_shared = reinterpret_cast<${type} *>(kn_values);

    /* A block has kn.tile_results results, and kn.lanes threads for each; kn.splits blocks share the slices of these results' rows. */
    const unsigned kn_tile = kn_divide(blockIdx.x, kn.by), kn_part = blockIdx.x - kn_tile * kn.splits;
    const unsigned kn_own = kn.are_lanes_together ? threadIdx.x / kn.lanes : threadIdx.x % kn.tile_results;
    const unsigned kn_lane = kn.are_lanes_together ? threadIdx.x % kn.lanes : threadIdx.x / kn.tile_results;
    const unsigned kn_apart = kn.are_lanes_together ? 1 : kn.tile_results;
    const long long kn_begun = (long long)kn_tile * kn.tile_results;
    const unsigned kn_count = kn.size - kn_begun < kn.tile_results ? (unsigned)(kn.size - kn_begun) : kn.tile_results;
    const bool kn_is_lane = kn_lane < kn.lanes, kn_is_here = kn_is_lane && kn_own < kn_count; /* the last threads are none of so many that are no power of two */
    kn_place kn_here = {};
    if (kn_is_here)
        kn_go_to_result<${operands}>(kn_here, kn, kn.reduction_rank, (unsigned)(kn_begun + kn_own));
    unsigned char *kn_next_buffer = kn_buffer;
    ${stage}

    kn_chain<${type}> kn_chained;
    unsigned kn_turn = 0, kn_held = 0; /* lanes of a result that hold something: the first ones */
    const long long kn_first = (long long)kn_part * kn.chunk;
    const unsigned kn_slices = kn.steps - kn_first < kn.chunk ? (unsigned)(kn.steps - kn_first) : kn.chunk;
#pragma unroll 1
    for (unsigned kn_q = 0; kn_q < kn_slices; ++kn_q) {
        kn_place kn_step = {};
        const unsigned kn_row = kn_divide((unsigned)kn_first + kn_q, kn.per_row), kn_begin = ((unsigned)kn_first + kn_q - kn_row * kn.per_row.extent) * kn.slice;
        for (int o = 0; o < ${operands}; ++o)
            kn_step.at[o] = kn_begin * kn.axis[0].stride[o];
        if (${reduction_axes} > 1)
            kn_move(kn_step, kn, 1, kn.reduction_rank, kn_row);
        const unsigned kn_left = (unsigned)kn.axis[0].extent - kn_begin, kn_elements = kn_left < kn.slice ? kn_left : kn.slice;
        __syncthreads();
        ${loads}
        kn_stage_wait();
        if (kn_is_here && kn_lane < kn_elements) {
            ${pointers}
            ${type} kn_reduced;
            unsigned kn_e = kn_lane;
            if constexpr (kn_are_whole) {
#pragma unroll 1
                for (; kn_e + (kn_steps - 1) * kn.lanes < kn_elements; kn_e += kn_steps * kn.lanes) {
                    ${packs}
#pragma unroll
                    for (int kn_u = 0; kn_u < kn_steps; ++kn_u) {
                        ${from}
                        ${step_loads}
                    }
                    ${type} kn_sum;
#pragma unroll
                    for (int kn_u = 0; kn_u < kn_steps; ++kn_u) {
                        [[maybe_unused]] const unsigned kn_j = kn_e + kn_u * kn.lanes;
                        ${single}
                        kn_sum = kn_u == 0 ? ${mapped} : ${next}(kn_sum, ${mapped});
                    }
                    kn_reduced = kn_e == kn_lane ? kn_sum : ${next}(kn_reduced, kn_sum);
                }
            }
#pragma unroll 1
            for (; kn_e < kn_elements; kn_e += kn_steps * kn.lanes) {
                ${packs}
#pragma unroll
                for (int kn_u = 0; kn_u < kn_steps; ++kn_u) {
                    if (kn_e + kn_u * kn.lanes < kn_elements) {
                        ${from}
                    }
                    ${step_loads}
                }
                ${type} kn_sum;
#pragma unroll
                for (int kn_u = 0; kn_u < kn_steps; ++kn_u) {
                    const unsigned kn_j = kn_e + kn_u * kn.lanes;
                    if (kn_are_whole && kn_j >= kn_elements)
                        break;
                    if (kn_j < kn_elements) {
                        ${single}
                        kn_sum = kn_u == 0 ? ${mapped} : ${next}(kn_sum, ${mapped});
                    }
                }
                kn_reduced = kn_e == kn_lane ? kn_sum : ${next}(kn_reduced, kn_sum);
            }
            kn_chain_put(kn_chained, kn_turn, kn_reduced, ${next});
            ++kn_turn;
        }
        kn_held = kn_elements < kn_held ? kn_held : kn_elements;
    }
    ${type} ${result} = kn_chain_all(kn_chained, kn_turn, ${next});

    /* Lanes of a result are reduced, then the partials of the blocks that share it. */
    bool kn_is_final = true;
#pragma unroll 1
    for (bool kn_again = kn.splits > 1;; kn_again = false) {
        kn_held = kn_held < kn.lanes ? kn_held : kn.lanes;
        if (kn_held > 1) {
            const unsigned kn_at_a_time = kn_slots / kn.lanes; /* results */
#pragma unroll 1
            for (unsigned kn_done = 0;; kn_done += kn_at_a_time) {
                const bool kn_is_among = kn_slots == ${block} || (kn_is_lane && kn_own - kn_done < kn_at_a_time);
                const unsigned kn_slot = kn_slots == ${block} ? threadIdx.x : (kn_own - kn_done) * kn.lanes + kn_lane;
                __syncthreads();
                if (kn_is_among)
                    kn_shared[kn_slot] = ${result};
                __syncthreads();
#pragma unroll 1
                for (unsigned kn_by = 1; kn_by < kn_held; kn_by *= 2) {
                    if (kn_is_among && kn_is_here && kn_lane % (2 * kn_by) == 0 && kn_lane + kn_by < kn_held)
                        kn_shared[kn_slot] = ${reduce}(kn_shared[kn_slot], kn_shared[kn_slot + kn_by * (kn_slots == ${block} ? kn_apart : 1)]);
                    __syncthreads();
                }
                if (kn_is_among)
                    ${result} = kn_shared[kn_slot];
                if (kn_slots == ${block} || kn_done + kn_at_a_time >= kn.tile_results)
                    break;
            }
        }
        if (!kn_again)
            break;
        ${type} *const kn_partial = reinterpret_cast<${type} *>(kn.partials) + (long long)kn_tile * kn.splits * kn.tile_results + kn_own;
        if (kn_is_here && kn_lane == 0)
            kn_partial[kn_part * kn.tile_results] = ${result};
        kn_is_final = kn_comes_last(kn.counters + kn_tile, kn.splits);
        if (!kn_is_final)
            break;
        kn_held = kn.splits;
#pragma unroll 1
        for (unsigned kn_s = kn_lane; kn_is_here && kn_s < kn.splits; kn_s += kn_steps * kn.lanes) {
            ${type} kn_next[kn_steps];
#pragma unroll
            for (int kn_u = 0; kn_u < kn_steps; ++kn_u)
                if (kn_s + kn_u * kn.lanes < kn.splits)
                    kn_next[kn_u] = kn_partial[(kn_s + kn_u * kn.lanes) * kn.tile_results];
#pragma unroll
            for (int kn_u = 0; kn_u < kn_steps; ++kn_u)
                if (kn_s + kn_u * kn.lanes < kn.splits)
                    ${result} = kn_u == 0 && kn_s == kn_lane ? kn_next[0] : ${reduce}(${result}, kn_next[kn_u]);
        }
    }
    if (kn_is_final && kn_is_here && kn_lane == 0) {
        ${stores}
    }
    ${after_loop}
}
