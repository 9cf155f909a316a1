${head}
${axes}
/* A block is a warp, and has a tile. It looks at the elements twice: it counts those of each digit, and puts that down; then it stores each at its place. So each text stands in the kernel once. */
enum { kn_of_tile = ${block} * ${items}, kn_shift = 8 * sizeof(${type}) - 2 };

${begin}
    typedef ${type} kn_word;
    __shared__ kn_word kn_next[257]; /* elements of a digit, then the place of the next one in the row; behind them what is not there */

    const unsigned kn_ticket = kn_take_ticket(kn.counters, gridDim.x), kn_lane = threadIdx.x;
    if (${exclusive} && kn.${result}_.first[kn.${result}_.extents[0] - 1] != 0) /* an earlier pass says that this one is left out */
        return;
    const unsigned kn_row = kn_ticket / kn.tiles, kn_tile = kn_ticket - kn_row * kn.tiles;
    const long long kn_first = (long long)kn_tile * kn_of_tile;
    const unsigned kn_count = kn.length - kn_first < kn_of_tile ? (unsigned)(kn.length - kn_first) : kn_of_tile;
    kn_word *const kn_words = kn.${result}_.first + (unsigned long long)kn_ticket * 256;
    kn_place kn_here = {};
    ${locate}
    ${pointers}
#pragma unroll 1
    for (unsigned kn_d = kn_lane; kn_d < 257; kn_d += 32)
        kn_next[kn_d] = 0;
    __syncwarp();
#pragma unroll 1
    for (int kn_stores = 0; kn_stores < 2; ++kn_stores) {
#pragma unroll 1
        for (unsigned kn_r = 0; kn_r < kn_count; kn_r += 32) {
            const unsigned kn_e = kn_r + kn_lane;
            [[maybe_unused]] const unsigned kn_j = kn_e < kn_count ? kn_e : 0;
            ${from}
            ${loads}
            ${single}
            const unsigned kn_digit = kn_e < kn_count ? (unsigned)${mapped} & 255 : 256;
            const unsigned kn_same = __match_any_sync(0xffffffffu, kn_digit), kn_lower = kn_same & ((1u << kn_lane) - 1);
            const kn_word kn_to = kn_next[kn_digit];
            __syncwarp();
            if (kn_lower == 0)
                kn_next[kn_digit] = kn_to + __popc(kn_same);
            __syncwarp();
            if (kn_stores && kn_e < kn_count) {
                const ${order} ${row} = (${order})(kn_row * kn.length + (kn_word)(kn_to + __popc(kn_lower)));
                ${stores}
            }
        }
        if (!kn_stores) {
#pragma unroll 1
            for (unsigned kn_d = kn_lane; kn_d < 256; kn_d += 32)
                kn_put_down(kn_words + kn_d, kn_next[kn_d] | (kn_word)(kn_tile == 0 ? 2 : 1) << kn_shift);
            kn_word kn_begin = 0; /* the row's elements of the digits before these 32 */
#pragma unroll 1
            for (unsigned kn_d = kn_lane; kn_d < 256; kn_d += 32) {
                const kn_word kn_of_row = kn.${first}_.first[(unsigned long long)kn_row * 256 + kn_d];
                kn_word kn_earlier = 0, kn_seen = 0, kn_all = kn_of_row;
                const kn_word *kn_at = kn_words + kn_d;
#pragma unroll 1
                while (kn_tile > 0 && kn_seen >> kn_shift != 2) {
                    kn_at -= 256;
                    do
                        kn_seen = kn_look_at(kn_at);
                    while (kn_seen >> kn_shift == 0);
                    kn_earlier += kn_seen & ((kn_word)1 << kn_shift) - 1;
                }
                if (kn_tile > 0)
                    kn_put_down(kn_words + kn_d, kn_earlier + kn_next[kn_d] | (kn_word)2 << kn_shift);
                __syncwarp();
#pragma unroll 1
                for (int kn_by = 1; kn_by < 32; kn_by *= 2) {
                    const kn_word kn_other = __shfl_up_sync(0xffffffffu, kn_all, kn_by);
                    kn_all += kn_lane >= kn_by ? kn_other : 0;
                }
                kn_next[kn_d] = kn_begin + kn_all - kn_of_row + kn_earlier;
                kn_begin += __shfl_sync(0xffffffffu, kn_all, 31);
            }
            __syncwarp();
        }
    }
    ${after_loop}
}
