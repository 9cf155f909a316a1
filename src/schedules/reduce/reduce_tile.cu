${head}
${axes}
enum { kn_tile_elements = 1024 * ${vector} }; /* that are staged together, at most */
constexpr bool kn_is_padded = ${padded};

${begin}

    /* kn.chunks contiguous chunks of `reduced` by `columns` elements; kn.lanes threads share a result. */
    const long long kn_begun = (long long)blockIdx.x * kn.chunks;
    const unsigned kn_columns = kn.columns.extent, kn_chunk = kn.reduced * kn_columns;
    const unsigned kn_chunks = kn.outers - kn_begun < kn.chunks ? (unsigned)(kn.outers - kn_begun) : kn.chunks;
    ${stage}
    kn_stage_wait();

    __shared__ __align__(16) unsigned char kn_buffer[sizeof(${type}) * ${block}];
    ${type} *const kn_shared = reinterpret_cast<${type} *>(kn_buffer);
    /* The threads of a result are neighbours if threads of neighbouring results would read the same banks. */
    const unsigned kn_results_each = ${block} / kn.lanes, kn_results = kn_chunks * kn_columns, kn_apart = kn.are_lanes_together ? 1 : kn_results_each;
    const unsigned kn_lane = kn.are_lanes_together ? threadIdx.x % kn.lanes : threadIdx.x / kn_results_each;
    const unsigned kn_own = kn.are_lanes_together ? threadIdx.x / kn.lanes : threadIdx.x - kn_lane * kn_results_each;
    const bool kn_is_inner = kn_columns > 1 && kn.axis[1].extent == kn_columns; /* the innermost output axis is that of the columns */
#pragma unroll 1
    for (unsigned kn_base = 0; kn_base < kn_results; kn_base += kn_results_each) {
        const unsigned kn_r = kn_base + kn_own;
        const bool kn_is_here = kn_r < kn_results;
        const long long kn_at = kn_begun * kn_columns + kn_r;
        const unsigned kn_run = kn_divide(kn_r, kn.columns), kn_from_first = kn_run * kn_chunk + (kn_r - kn_run * kn_columns);
        ${type} ${result};
        kn_place kn_here = {};
        if (kn_is_here) {
            kn_go_to_result<${operands}>(kn_here, kn, kn_is_inner ? 2 : 1, kn_is_inner ? (unsigned)kn_begun + kn_run : (unsigned)kn_at);
            if (kn_is_inner)
                for (int o = 0; o < ${operands}; ++o)
                    kn_here.at[o] += (kn_r - kn_run * kn_columns) * kn.axis[1].stride[o];
            unsigned kn_j = kn_lane, kn_e = kn_from_first + kn_j * kn_columns;
            {
                ${single}
                ${result} = ${mapped};
            }
#pragma unroll 4
            for (kn_j += kn.lanes; kn_j < kn.reduced; kn_j += kn.lanes) {
                kn_e += kn.lanes * kn_columns;
                ${single}
                ${result} = ${next}(${result}, ${mapped});
            }
        }
        if (kn.lanes > 1) {
            kn_shared[threadIdx.x] = ${result};
            __syncthreads();
            for (unsigned kn_half = kn.lanes / 2; kn_half > 0; kn_half /= 2) {
                if (kn_is_here && kn_lane < kn_half)
                    kn_shared[threadIdx.x] = ${reduce}(kn_shared[threadIdx.x], kn_shared[threadIdx.x + kn_half * kn_apart]);
                __syncthreads();
            }
            ${result} = kn_shared[threadIdx.x];
        }
        if (kn_is_here && kn_lane == 0) {
            ${stores}
        }
    }
    ${after_loop}
}
