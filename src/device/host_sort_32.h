/* device/host_sort_32.h - what host_sort_lanes.h asks of vectors of 32 bytes, for host_sort.c: it includes
 * this for keys of 32 BITS, and of 64. It has no guard. */

#define WITH WITH_VECTORS_32
#define VECTOR __m256i
#if BITS == 32
#define KEY uint32_t
#define LANES 8
#define NAME(of) of##_32_by_32
#define COLUMNS 2
#define NARROW 1 /* lanes of 32 bits in one of a key */
#else
#define KEY uint64_t
#define LANES 4
#define NAME(of) of##_64_by_32
#define COLUMNS 4
#define NARROW 2
#endif

/* Lane k ^ flip of a vector. */
INLINE_WITH __m256i NAME(flipped)(const __m256i x, const int flip)
{
    switch (flip * NARROW) {
    case 1:
        return _mm256_shuffle_epi32(x, 0xb1);
    case 2:
        return _mm256_shuffle_epi32(x, 0x4e);
    case 3:
        return _mm256_shuffle_epi32(x, 0x1b);
    case 4:
        return _mm256_permute4x64_epi64(x, 0x4e);
    case 6:
        return _mm256_permute4x64_epi64(x, 0x1b);
    default:
        return _mm256_permute4x64_epi64(_mm256_shuffle_epi32(x, 0x1b), 0x4e);
    }
}

/* The lanes of y whose number has this bit, and the others of x. */
INLINE_WITH __m256i NAME(joined)(const __m256i x, const __m256i y, const int bit)
{
    switch (bit * NARROW) {
    case 1:
        return _mm256_blend_epi32(x, y, 0xaa);
    case 2:
        return _mm256_blend_epi32(x, y, 0xcc);
    default:
        return _mm256_blend_epi32(x, y, 0xf0);
    }
}

#if BITS == 32
/* Keys as the network compares them. */
INLINE_WITH __m256i NAME(comparable)(const __m256i x)
{
    return x;
}

/* The lanes, a bit each, of keys before the pivot (or_equal: and of the pivot itself). */
INLINE_WITH unsigned NAME(before_pivot)(const __m256i x, const __m256i pivot, const bool or_equal)
{
    const __m256i bound = or_equal ? _mm256_min_epu32(x, pivot) : _mm256_max_epu32(x, pivot);
    const unsigned is = (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(bound, x)));
    return or_equal ? is : is ^ 0xff;
}

/* Orders the lanes of two vectors. */
INLINE_WITH void NAME(order)(__m256i *x, __m256i *y)
{
    const __m256i low = _mm256_min_epu32(*x, *y);
    *y = _mm256_max_epu32(*x, *y);
    *x = low;
}

/* Orders each lane and its partner; the higher one is that with `bit`. */
INLINE_WITH __m256i NAME(exchanged)(const __m256i x, const int flip, const int bit)
{
    const __m256i other = NAME(flipped)(x, flip);
    return NAME(joined)(_mm256_min_epu32(x, other), _mm256_max_epu32(x, other), bit);
}

INLINE_WITH __m256i NAME(all)(const uint32_t key)
{
    return _mm256_set1_epi32((int)key);
}

/* The lanes before this one. */
INLINE_WITH __m256i NAME(lanes)(const int64_t count)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

INLINE_WITH __m256i NAME(load_lanes)(const uint32_t *from, const __m256i lanes)
{
    return _mm256_maskload_epi32((const int *)from, lanes);
}
#else
/* Instructions compare signed keys alone. */
INLINE_WITH __m256i NAME(comparable)(const __m256i x)
{
    return _mm256_xor_si256(x, _mm256_set1_epi64x(INT64_MIN));
}

INLINE_WITH unsigned NAME(before_pivot)(const __m256i x, const __m256i pivot, const bool or_equal)
{
    const __m256i a = NAME(comparable)(x), b = NAME(comparable)(pivot);
    const __m256i is = or_equal ? _mm256_cmpgt_epi64(a, b) : _mm256_cmpgt_epi64(b, a);
    return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(is)) ^ (or_equal ? 0xf : 0);
}

/* Lanes of y where `which` has all bits, else of x. Compilers compare bytes of such a mask once more. */
INLINE_WITH __m256i NAME(chosen)(const __m256i x, const __m256i y, const __m256i which)
{
    return _mm256_castpd_si256(
        _mm256_blendv_pd(_mm256_castsi256_pd(x), _mm256_castsi256_pd(y), _mm256_castsi256_pd(which)));
}

INLINE_WITH void NAME(order)(__m256i *x, __m256i *y)
{
    const __m256i is_greater = _mm256_cmpgt_epi64(*x, *y);
    const __m256i low = NAME(chosen)(*x, *y, is_greater);
    *y = NAME(chosen)(*y, *x, is_greater);
    *x = low;
}

INLINE_WITH __m256i NAME(exchanged)(const __m256i x, const int flip, const int bit)
{
    const __m256i other = NAME(flipped)(x, flip), least = _mm256_cmpgt_epi64(x, other),
                  most = _mm256_xor_si256(least, _mm256_set1_epi32(-1));
    return NAME(chosen)(x, other, NAME(joined)(least, most, bit));
}

INLINE_WITH __m256i NAME(all)(const uint64_t key)
{
    return _mm256_set1_epi64x((long long)key);
}

INLINE_WITH __m256i NAME(lanes)(const int64_t count)
{
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
}

INLINE_WITH __m256i NAME(load_lanes)(const uint64_t *from, const __m256i lanes)
{
    return _mm256_maskload_epi64((const long long *)from, lanes);
}
#endif

/* Four vectors of four lanes of 64 bits: their columns. */
INLINE_WITH void NAME(transpose_four)(__m256i *v)
{
    const __m256i a = _mm256_unpacklo_epi64(v[0], v[1]), b = _mm256_unpackhi_epi64(v[0], v[1]),
                  c = _mm256_unpacklo_epi64(v[2], v[3]), d = _mm256_unpackhi_epi64(v[2], v[3]);
    v[0] = _mm256_permute2x128_si256(a, c, 0x20);
    v[1] = _mm256_permute2x128_si256(b, d, 0x20);
    v[2] = _mm256_permute2x128_si256(a, c, 0x31);
    v[3] = _mm256_permute2x128_si256(b, d, 0x31);
}

/* The columns of LANES vectors. */
INLINE_WITH void NAME(transpose)(__m256i *v)
{
#if BITS == 32
    __m256i low[4], high[4]; /* pairs of keys of one column: of columns 0, 1, 4, 5, and of the others */
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
        low[k] = _mm256_unpacklo_epi32(v[2 * k], v[2 * k + 1]);
        high[k] = _mm256_unpackhi_epi32(v[2 * k], v[2 * k + 1]);
    }
    NAME(transpose_four)(low);
    NAME(transpose_four)(high);
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
        v[k + (k & 2)] = low[k];
        v[k + (k & 2) + 2] = high[k];
    }
#else
    NAME(transpose_four)(v);
#endif
}

/* host_sort_lanes.h has it. */
INLINE_WITH void NAME(order_apart)(VECTOR *v, int count, int apart);

/* Sorts vectors that rise and then fall, or the reverse, as columns: their lanes need no moves then. */
INLINE_WITH void NAME(clean_lanes)(__m256i *v)
{
    NAME(transpose)(v);
    if (LANES == 4)
        NAME(transpose)(v + 4);
    else
        NAME(order_apart)(v, 8, 4);
    NAME(order_apart)(v, 8, 2);
    NAME(order_apart)(v, 8, 1);
    NAME(transpose)(v);
    if (LANES == 4)
        NAME(transpose)(v + 4);
}

/* Sorts each two neighbouring columns of eight keys, which are sorted, together. */
INLINE_WITH void NAME(merge_columns)(__m256i *v)
{
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) { /* the second column backwards */
        __m256i low = v[k], high = NAME(flipped)(v[7 - k], 1);
        NAME(order)(&low, &high);
        v[k] = NAME(joined)(low, high, 1);
        v[7 - k] = NAME(flipped)(NAME(joined)(high, low, 1), 1);
    }
    NAME(order_apart)(v, 8, 4);
    NAME(order_apart)(v, 8, 2);
    NAME(order_apart)(v, 8, 1);
}

/* Sorts the columns of eight vectors by a network of 19 exchanges, the fewest, then each two of them, and
 * lays these out in rows. */
INLINE_WITH void NAME(sort_columns)(__m256i *v)
{
    static const signed char pairs[][2] = {{0, 2}, {1, 3}, {4, 6}, {5, 7}, {0, 4}, {1, 5}, {2, 6},
                                           {3, 7}, {0, 1}, {2, 3}, {4, 5}, {6, 7}, {2, 4}, {3, 5},
                                           {1, 4}, {3, 6}, {1, 2}, {3, 4}, {5, 6}};
#pragma GCC unroll 19
    for (int k = 0; k < 19; ++k)
        NAME(order)(&v[pairs[k][0]], &v[pairs[k][1]]);
    NAME(merge_columns)(v);
    NAME(transpose)(v);
#if BITS == 64
    NAME(transpose)(v + 4);
    const __m256i w[] = {v[0], v[4], v[1], v[5], v[2], v[6], v[3], v[7]};
#pragma GCC unroll 8
    for (int k = 0; k < 8; ++k)
        v[k] = w[k];
#endif
}

/* Vector i of `n` keys; lanes behind the last key are greatest. */
INLINE_WITH __m256i NAME(load_some)(const KEY *from, const int64_t n, const int i)
{
    const int64_t left = n - (int64_t)i * LANES;
    from += (int64_t)i * LANES;
    if (left >= LANES)
        return NAME(comparable)(_mm256_loadu_si256((const __m256i *)from));
    const __m256i all = _mm256_set1_epi32(-1), lanes = NAME(lanes)(left > 0 ? left : 0);
    return NAME(comparable)(left <= 0 ? all : _mm256_blendv_epi8(all, NAME(load_lanes)(from, lanes), lanes));
}

INLINE_WITH void NAME(store_some)(KEY *to, const int64_t n, const int i, const __m256i x)
{
    const int64_t left = n - (int64_t)i * LANES;
    KEY lanes[LANES];
    to += (int64_t)i * LANES;
    if (left >= LANES) {
        _mm256_storeu_si256((__m256i *)to, NAME(comparable)(x));
    } else if (left > 0) {
        _mm256_storeu_si256((__m256i *)lanes, NAME(comparable)(x));
        memcpy(to, lanes, (size_t)left * sizeof(KEY));
    }
}

/* The lanes before a pivot in front of the others, both as they come. */
INLINE_WITH __m256i NAME(parted)(const __m256i x, const unsigned before)
{
    const uint64_t lanes = NARROW == 1 ? lanes_of_8[before] : lanes_of_4[before];
    return _mm256_permutevar8x32_epi32(x, _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)lanes)));
}

/* Stores keys before the pivot (or_equal: and the pivot itself) from the front of `to` on, the others from
 * its end. Returns the number of the former. Whole vectors are stored at both ends: keys that are too many
 * lie in the gap between both, which has as many keys as are left, two vectors at least. */
INLINE_WITH int64_t NAME(part)(const KEY *from, KEY *to, const int64_t n, const KEY pivot,
                               const bool or_equal)
{
    const __m256i at = NAME(all)(pivot);
    uint64_t low = 0;
    int64_t k = 0;
#pragma GCC unroll 4
    for (; k + 2 * LANES <= n; k += LANES) {
        const __m256i x = _mm256_loadu_si256((const __m256i *)(from + k));
        const unsigned before = NAME(before_pivot)(x, at, or_equal);
        const __m256i parted = NAME(parted)(x, before);
        _mm256_storeu_si256((__m256i *)(to + low), parted);
        _mm256_storeu_si256((__m256i *)(to + (n - k - LANES) + low), parted);
        low += (uint64_t)_mm_popcnt_u64(before);
    }
    for (; k < n; ++k) { /* of both places one is right, and the other one is in the gap */
        const KEY key = from[k];
        to[low] = key;
        to[(n - k - 1) + (int64_t)low] = key;
        low += or_equal ? key <= pivot : key < pivot;
    }
    return (int64_t)low;
}

/* Stores the keys from `least` to `most`, which are few, in the order in which they come. */
WITH static void NAME(keep_order)(const KEY *from, KEY *to, const int64_t n, const KEY least, const KEY most)
{
    const __m256i low = NAME(all)(least), high = NAME(all)(most);
    for (int64_t k = 0; k < n; k += LANES) {
        const int64_t left = n - k;
        const __m256i x = left >= LANES ? _mm256_loadu_si256((const __m256i *)(from + k))
                                        : NAME(load_lanes)(from + k, NAME(lanes)(left));
        unsigned in = ~NAME(before_pivot)(x, low, false) & NAME(before_pivot)(x, high, true);
        in &= left >= LANES ? ~0u : (1u << left) - 1;
        for (; in != 0; in &= in - 1)
            *to++ = from[k + __builtin_ctz(in)];
    }
}

#undef NARROW
#undef BITS
