/* device/host_lanes_32.h - names of keys of 32 bits and of instructions on vectors of them, for a header
 * that is included once for each size and removes them (host_sort_lanes.h, host_select_keys.h). It has no
 * guard. */

#define KEY uint32_t
#define NUMBER int
#define LANES 16
#define NUMBERS                                                                                              \
    {                                                                                                        \
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15                                                 \
    }
#define MASK __mmask16
#define NAME(of) of##_32
#define LANE(of) _mm512_##of##_epi32
#define LANE_UNSIGNED(of) _mm512_##of##_epu32
#define LANE_BY_MASK(of) _mm512_mask_##of##_epu32
#define LANE_COMPARED(of) _mm512_##of##_epu32_mask
