${head}
${axes}

extern "C" __global__ void __launch_bounds__(${block}) ${entry}(const __grid_constant__ kn_args kn)
{
    ${wait}
    ${values}
    ${loop_prep}
    ${element}

    /* ${lanes} threads share a result. */
    const unsigned kn_lane = threadIdx.x % ${lanes};
    const long long kn_at = (blockIdx.x * ${block}ll + threadIdx.x) / ${lanes};
    const bool kn_is_here = kn_at < kn.size;
    kn_place kn_here = {};
    ${type} ${result};
    bool kn_some = false;
    if (kn_is_here) {
        kn_move(kn_here, kn, kn.fold_rank, kn.rank, kn_at);
        for (long long kn_r = 0; kn_r < kn.rows; ++kn_r) {
            kn_place kn_row = kn_here;
            kn_move(kn_row, kn, 1, kn.fold_rank, kn_r);
#pragma unroll 4
            for (long long kn_j = kn_lane; kn_j < kn.length; kn_j += ${lanes}) {
                ${loads}
                ${single}
                ${result} = kn_some ? ${fold}(${result}, ${mapped}) : ${mapped};
                kn_some = true;
            }
        }
    }
    if (${lanes} > 1) {
        /* Threads from kn_live on have met no element. */
        __shared__ __align__(16) unsigned char kn_room[sizeof(${type}) * ${block}];
        ${type} *const kn_shared = reinterpret_cast<${type} *>(kn_room);
        const unsigned kn_live = kn.rows == 0 ? 0 : kn.length < ${lanes} ? (unsigned)kn.length : ${lanes};
        if (kn_some)
            kn_shared[threadIdx.x] = ${result};
#pragma unroll
        for (unsigned kn_half = ${lanes} / 2; kn_half > 0; kn_half /= 2) {
            if (${lanes} > 32)
                __syncthreads();
            else
                __syncwarp();
            if (kn_is_here && kn_lane < kn_half && kn_lane + kn_half < kn_live)
                kn_shared[threadIdx.x] = ${fold}(kn_shared[threadIdx.x], kn_shared[threadIdx.x + kn_half]);
        }
        if (kn_some)
            ${result} = kn_shared[threadIdx.x];
    }
    if (kn_is_here && kn_lane == 0) {
        ${empty}
        ${stores}
    }
    ${after_loop}
}
