${head}
${axes}

typedef kn_pack<${type}, ${vector}> kn_vector;

/* Tile `number` of those on and above the diagonal, with `count` along a side: row in .x, column in .y. Two rows are joined, so that all have equal lengths. */
struct kn_tile_place {
    unsigned x, y;
};
static __device__ __forceinline__ kn_tile_place kn_tile_of(unsigned number, unsigned count)
{
    const unsigned length = count | 1, row = number / length, column = number - row * length;
    if (count & 1)
        return column >= row ? kn_tile_place{row, column} : kn_tile_place{count - row, count - 1 - column};
    return column > row ? kn_tile_place{row, column - 1} : kn_tile_place{count - 1 - row, count - 1 - column};
}

${begin}

    constexpr unsigned kn_side = 16;
    __shared__ kn_vector kn_tiles[2][kn_side * kn_side * ${vector}];
    const kn_axis &kn_axis_p = kn.axis[kn.rank], &kn_axis_q = kn.axis[kn.rank + 1];
    const kn_place kn_corner = kn_locate(kn, blockIdx.x);
    const kn_tile_place kn_tile = kn_tile_of(kn_corner.inner, kn.tiles);
    {
        const unsigned kn_a = threadIdx.x % kn_side, kn_b = threadIdx.x / kn_side;
        kn_vector kn_straight[2][${vector}];
#pragma unroll
        for (int kn_h = 0; kn_h < 2; ++kn_h) {
            const unsigned kn_row = ((kn_h ? kn_tile.y : kn_tile.x) * kn_side + kn_b) * ${vector}, kn_column = ((kn_h ? kn_tile.x : kn_tile.y) * kn_side + kn_a) * ${vector};
            if (kn_row < kn_axis_q.extent && kn_column < kn_axis_p.extent) {
                kn_place kn_from = kn_corner;
                kn_move(kn_from, kn_axis_q, kn_row);
                kn_move(kn_from, kn_axis_p, kn_column);
#pragma unroll
                for (int kn_j = 0; kn_j < ${vector}; ++kn_j)
                    kn_straight[kn_h][kn_j] = kn_load<${type}, ${vector}>((const ${type} *)(${staged_from}));
            }
        }
        /* The vectors of a row are rotated by their source, so that neither writes nor reads have bank conflicts. */
#pragma unroll
        for (int kn_h = 0; kn_h < 2; ++kn_h)
#pragma unroll
            for (int kn_k = 0; kn_k < ${vector}; ++kn_k) {
                kn_vector kn_transposed;
#pragma unroll
                for (int kn_j = 0; kn_j < ${vector}; ++kn_j)
                    kn_transposed.at[kn_j] = kn_straight[kn_h][kn_j].at[kn_k];
                kn_tiles[kn_h][(kn_a * ${vector} + kn_k) * kn_side + (kn_a + kn_b) % kn_side] = kn_transposed;
            }
        __syncthreads();
#pragma unroll
        for (int kn_h = 0; kn_h < 2; ++kn_h) {
            const unsigned kn_row = ((kn_h ? kn_tile.y : kn_tile.x) * kn_side + kn_b) * ${vector}, kn_column = ((kn_h ? kn_tile.x : kn_tile.y) * kn_side + kn_a) * ${vector};
            if ((kn_h == 0 || kn_tile.x != kn_tile.y) && kn_row < kn_axis_q.extent && kn_column < kn_axis_p.extent) {
                kn_place kn_here = kn_corner;
                kn_move(kn_here, kn_axis_q, kn_row);
                kn_move(kn_here, kn_axis_p, kn_column);
#pragma unroll
                for (int kn_j = 0; kn_j < ${vector}; ++kn_j) {
                    const kn_vector kn_transposed = kn_tiles[1 - kn_h][(kn_b * ${vector} + kn_j) * kn_side + (kn_a + kn_b) % kn_side];
                    ${elements}
                    kn_move(kn_here, kn_axis_q, 1);
                }
            }
        }
    }
    ${after_loop}
}
