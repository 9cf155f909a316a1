${head}
${axes}

${begin}

    /* 32 vectors next to each other. The axes of single elements and of single rows are behind those of the grid. */
    const kn_axis &kn_axis_x = kn.axis[kn.rank], &kn_axis_y = kn.axis[kn.rank + 1];
    kn_place kn_here = kn_locate(kn, blockIdx.x);
    const unsigned kn_column = threadIdx.x % 32 * ${vector}, kn_row = threadIdx.x / 32 * ${rows};
    const int kn_rows = (int)(kn_axis_y.extent - kn_here.second * (${block} / 32 * ${rows}) - kn_row);
    if (kn_here.inner * (32 * ${vector}) + kn_column < kn_axis_x.extent && kn_rows > 0) {
        kn_move(kn_here, kn_axis_x, kn_column);
        kn_move(kn_here, kn_axis_y, kn_row);
        if (kn_rows >= ${rows}) {
            ${elements}
        } else {
#pragma unroll 1
            for (int kn_left = kn_rows * ${vector}; kn_left > 0; --kn_left) {
                ${single}
                kn_move(kn_here, kn_axis_x, 1);
                if (kn_left % ${vector} == 1) {
                    kn_move(kn_here, kn_axis_x, -${vector}u);
                    kn_move(kn_here, kn_axis_y, 1);
                }
            }
        }
    }
    ${after_loop}
}
