${head}
${axes}

/* Prefetches elements that are loaded some planes later. */
static __device__ __forceinline__ void kn_ask(const char *from)
{
    asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
}

${begin}

    /* 32 vectors next to each other. The axes of single elements, lines and planes are behind those of the grid. */
    const kn_axis &kn_axis_x = kn.axis[kn.rank], &kn_axis_y = kn.axis[kn.rank + 1], &kn_axis_z = kn.axis[kn.rank + 2];
    kn_place kn_here = kn_locate(kn, blockIdx.x);
    const unsigned kn_column = threadIdx.x % 32 * ${vector}, kn_row = threadIdx.x / 32 * ${rows};
    const int kn_rows = (int)(kn_axis_y.extent - kn_here.second * (${block} / 32 * ${rows}) - kn_row);
    const int kn_rest = (int)(kn_axis_z.extent - kn_here.outer * ${depth}), kn_planes = kn_rest < ${depth} ? kn_rest : ${depth};
    if (kn_here.inner * (32 * ${vector}) + kn_column < kn_axis_x.extent && kn_rows > 0) {
        kn_move(kn_here, kn_axis_x, kn_column);
        kn_move(kn_here, kn_axis_y, kn_row);
        if (kn_rows >= ${rows}) {
            ${loads}
#pragma unroll 1
            for (int kn_p = 0; kn_p < kn_planes; ++kn_p) {
                kn_place kn_next = kn_here;
                kn_move(kn_next, kn_axis_z, 1);
                ${from}
                if (kn_p + 1 < kn_planes) {
                    ${gather}
                }
                ${packs}
#pragma unroll
                for (int kn_k = 0; kn_k < ${vector}; ++kn_k) {
                    ${lane}
                }
                ${stores}
                ${next}
                kn_here = kn_next;
            }
        } else {
#pragma unroll 1
            for (int kn_p = 0; kn_p < kn_planes; ++kn_p) {
                kn_place kn_next = kn_here;
                kn_move(kn_next, kn_axis_z, 1);
#pragma unroll 1
                for (int kn_left = kn_rows * ${vector}; kn_left > 0; --kn_left) {
                    ${single}
                    kn_move(kn_here, kn_axis_x, 1);
                    if (kn_left % ${vector} == 1) {
                        kn_move(kn_here, kn_axis_x, -${vector}u);
                        kn_move(kn_here, kn_axis_y, 1);
                    }
                }
                kn_here = kn_next;
            }
        }
    }
    ${after_loop}
}
