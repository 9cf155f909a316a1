/* device/host_lanes_64.h - names of keys of 64 bits and of instructions on vectors of them, for a header
 * that is included once for each size and removes them (host_sort_lanes.h, host_select_keys.h). It has no
 * guard. */

#define KEY uint64_t
#define NUMBER long long
#define LANES 8
#define NUMBERS                                                                                              \
    {                                                                                                        \
        0, 1, 2, 3, 4, 5, 6, 7                                                                               \
    }
#define MASK __mmask8
#define NAME(of) of##_64
#define LANE(of) _mm512_##of##_epi64
#define LANE_UNSIGNED(of) _mm512_##of##_epu64
#define LANE_BY_MASK(of) _mm512_mask_##of##_epu64
#define LANE_COMPARED(of) _mm512_##of##_epu64_mask
