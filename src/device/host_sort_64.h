/* device/host_sort_64.h - what host_sort_lanes.h asks of vectors of 64 bytes, for host_sort.c: it includes
 * this for each size of keys, behind host_lanes_32.h or host_lanes_64.h. It has no guard. */

#define WITH WITH_VECTORS
#define VECTOR __m512i
#define COLUMNS 0

typedef KEY NAME(vector) __attribute__((vector_size(64)));

/* Lane k ^ flip of a vector. */
INLINE __m512i NAME(flipped)(const __m512i x, const int flip)
{
    return LANE(permutexvar)((__m512i)((NAME(vector))NUMBERS ^ (KEY)flip), x);
}

/* The lanes whose number has this bit. */
INLINE MASK NAME(having)(const int bit)
{
    return (MASK)(bit == 1 ? 0xaaaa : bit == 2 ? 0xcccc : bit == 4 ? 0xf0f0 : 0xff00);
}

/* Orders each lane and its partner; the higher one is that with `bit`. */
INLINE __m512i NAME(exchanged)(const __m512i x, const int flip, const int bit)
{
    const __m512i other = NAME(flipped)(x, flip);
    return LANE_BY_MASK(max)(LANE_UNSIGNED(min)(x, other), NAME(having)(bit), x, other);
}

/* Orders the lanes of two vectors. */
INLINE void NAME(order)(__m512i *x, __m512i *y)
{
    const __m512i low = LANE_UNSIGNED(min)(*x, *y);
    *y = LANE_UNSIGNED(max)(*x, *y);
    *x = low;
}

INLINE void NAME(sort_columns)(__m512i *v)
{
    (void)v;
}

INLINE void NAME(clean_lanes)(__m512i *v)
{
    (void)v;
}

/* So many lanes. */
INLINE MASK NAME(lanes)(const int count)
{
    return (MASK)((1u << count) - 1);
}

/* The lanes of vector i that `n` keys have. */
INLINE MASK NAME(first)(const int64_t n, const int i)
{
    const int64_t left = n - (int64_t)i * LANES;
    return (MASK)(left >= LANES ? ~0u : left > 0 ? (1u << left) - 1 : 0);
}

/* Vector i of `n` keys; lanes behind the last key are greatest. */
INLINE __m512i NAME(load_some)(const KEY *from, const int64_t n, const int i)
{
    return LANE(mask_loadu)(_mm512_set1_epi32(-1), NAME(first)(n, i), from + (int64_t)i * LANES);
}

INLINE void NAME(store_some)(KEY *to, const int64_t n, const int i, const __m512i x)
{
    LANE(mask_storeu)(to + (int64_t)i * LANES, NAME(first)(n, i), x);
}

/* Stores keys before the pivot (or_equal: and the pivot itself) from the front of `to` on, the others from
 * its end. Returns the number of the former. Whole vectors are stored in front: keys that are too many there
 * lie in the gap between both, which has as many keys as are left. */
INLINE int64_t NAME(part)(const KEY *from, KEY *to, const int64_t n, const KEY pivot, const bool or_equal)
{
    const __m512i at = LANE(set1)((NUMBER)pivot);
    int64_t low = 0, high = n, k = 0;
#pragma GCC unroll 4
    for (; k + LANES <= n; k += LANES) {
        const __m512i x = _mm512_loadu_si512(from + k);
        const MASK before = or_equal ? LANE_COMPARED(cmple)(x, at) : LANE_COMPARED(cmplt)(x, at);
        const int count = __builtin_popcount(before);
        _mm512_storeu_si512(to + low, LANE(maskz_compress)(before, x));
        low += count;
        high -= LANES - count;
        LANE(mask_storeu)(to + high, NAME(lanes)(LANES - count), LANE(maskz_compress)((MASK)~before, x));
    }
    if (k < n) {
        const MASK rest = NAME(first)(n - k, 0);
        const __m512i x = LANE(maskz_loadu)(rest, from + k);
        const MASK before = rest & (or_equal ? LANE_COMPARED(cmple)(x, at) : LANE_COMPARED(cmplt)(x, at));
        const int count = __builtin_popcount(before);
        LANE(mask_storeu)(to + low, NAME(lanes)(count), LANE(maskz_compress)(before, x));
        low += count;
        LANE(mask_storeu)
        (to + low, NAME(lanes)((int)(n - k) - count), LANE(maskz_compress)(rest & (MASK)~before, x));
    }
    return low;
}

/* Stores the keys from `least` to `most` in the order in which they come. */
WITH_VECTORS static void NAME(keep_order)(const KEY *from, KEY *to, const int64_t n, const KEY least,
                                          const KEY most)
{
    const __m512i low = LANE(set1)((NUMBER)least), high = LANE(set1)((NUMBER)most);
    for (int64_t k = 0; k < n; k += LANES) {
        const MASK rest = NAME(first)(n - k, 0);
        const __m512i x = LANE(maskz_loadu)(rest, from + k);
        const MASK in = rest & LANE_COMPARED(cmple)(low, x) & LANE_COMPARED(cmple)(x, high);
        const int count = __builtin_popcount(in);
        LANE(mask_storeu)(to, NAME(lanes)(count), LANE(maskz_compress)(in, x));
        to += count;
    }
}
