${head}
${axes}

/* Reads ${vector} vectors that run along q, one behind the other along p, turns them, and keeps them as vectors along p. Rows of the tile are `pitch` elements; the
 * vectors of a row are exchanged by the row's number so that neither writing nor reading meets in one bank. */
template <class T>
static __device__ __forceinline__ void kn_stage(T *tile, const char *from, int step, unsigned pitch, unsigned a, unsigned b, unsigned mask)
{
    kn_pack<T, ${vector}> row[${vector}];
#pragma unroll
    for (int j = 0; j < ${vector}; ++j)
        row[j] = kn_load<T, ${vector}>((const T *)(from + j * step));
#pragma unroll
    for (int k = 0; k < ${vector}; ++k) {
        kn_pack<T, ${vector}> turned;
#pragma unroll
        for (int j = 0; j < ${vector}; ++j)
            turned.at[j] = row[j].at[k];
        *(kn_pack<T, ${vector}> *)(tile + (b * ${vector} + k) * pitch + ((a ^ (b & mask)) * ${vector})) = turned;
    }
}

extern "C" __global__ void __launch_bounds__(${block}) ${entry}(const __grid_constant__ kn_args kn)
{
    ${wait}
    ${values}
    ${loop_prep}
    ${element}

    extern __shared__ uint4 kn_shared[];
    const kn_axis &kn_q = kn.axis[kn.rank + 1], &kn_p = kn.axis[kn.rank];
    const kn_place kn_corner = kn_locate<1>(kn, blockIdx.x);
    const unsigned kn_pitch = kn.tile_p * ${vector}, kn_mask = kn.tile_p - 1;
    const unsigned kn_p_left = kn_p.extent - kn_corner.inner * kn_pitch, kn_q_left = kn_q.extent - kn_corner.second * kn.tile_q * ${vector};
    ${tiles}
    {
        const unsigned kn_b = threadIdx.x & (kn.tile_q - 1), kn_a = threadIdx.x / kn.tile_q;
        if (kn_a * ${vector} < kn_p_left && kn_b * ${vector} < kn_q_left) {
            ${stage}
        }
    }
    __syncthreads();
    const unsigned kn_c = threadIdx.x & kn_mask, kn_r0 = threadIdx.x / kn.tile_p;
    if (kn_c * ${vector} < kn_p_left) {
#pragma unroll ${row_unroll}
        for (unsigned kn_j = 0; kn_j < ${vector}; ++kn_j) {
            const unsigned kn_r = kn_r0 + kn_j * kn.tile_q;
            if (kn_r < kn_q_left) {
                const unsigned kn_turned = kn_r * kn_pitch + ((kn_c ^ (kn_r / ${vector} & kn_mask)) * ${vector});
                kn_place kn_here = kn_corner;
                kn_move(kn_here, kn_p, kn_c * ${vector});
                kn_move(kn_here, kn_q, kn_r);
                ${loads}
                ${packs}
                ${gather}
#pragma unroll
                for (int kn_k = 0; kn_k < ${vector}; ++kn_k) {
                    ${lane}
                }
                ${stores}
            }
        }
    }
    ${after_loop}
}
