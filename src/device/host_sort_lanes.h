/* device/host_sort_lanes.h - sorts keys of one size, by vectors of 64 bytes: a quicksort that stores to
 * another place, and a bitonic network for few keys. For host_sort.c, which includes it for each size with
 * these names: KEY, LANES, NUMBERS (of lanes), MASK (a bit of each), NUMBER (as instructions take a key),
 * NAME(of) (of a function), and LANE(of) and its like (of an instruction). It has no guard: it is meant to be
 * included again. */

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

/* Sorts `count` vectors, a power of two: each by itself, then twice as many together at a time. */
INLINE void NAME(network)(__m512i *v, const int count)
{
#pragma GCC unroll 8
    for (int i = 0; i < count; ++i)
#pragma GCC unroll 4
        for (int size = 2; size <= LANES; size *= 2) {
            v[i] = NAME(exchanged)(v[i], size - 1, size / 2);
#pragma GCC unroll 4
            for (int apart = size / 4; apart > 0; apart /= 2)
                v[i] = NAME(exchanged)(v[i], apart, apart);
        }
#pragma GCC unroll 4
    for (int half = 1; half < count; half *= 2) {
#pragma GCC unroll 8
        for (int i = 0; i + 2 * half <= count; i += 2 * half) {
            __m512i back[MOST_VECTORS]; /* the second half backwards: one rises, the other falls */
#pragma GCC unroll 4
            for (int k = 0; k < half; ++k)
                back[k] = NAME(flipped)(v[i + 2 * half - 1 - k], LANES - 1);
#pragma GCC unroll 4
            for (int k = 0; k < half; ++k)
                v[i + half + k] = back[k];
        }
#pragma GCC unroll 4
        for (int apart = half; apart > 0; apart /= 2)
#pragma GCC unroll 8
            for (int i = 0; i + 2 * apart <= count; i += 2 * apart)
#pragma GCC unroll 4
                for (int k = i; k < i + apart; ++k) {
                    const __m512i low = LANE_UNSIGNED(min)(v[k], v[k + apart]);
                    v[k + apart] = LANE_UNSIGNED(max)(v[k], v[k + apart]);
                    v[k] = low;
                }
#pragma GCC unroll 8
        for (int i = 0; i < count; ++i)
#pragma GCC unroll 4
            for (int apart = LANES / 2; apart > 0; apart /= 2)
                v[i] = NAME(exchanged)(v[i], apart, apart);
    }
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

INLINE void NAME(sort_vectors)(const KEY *from, KEY *to, const int64_t n, const int count)
{
    __m512i v[MOST_VECTORS];
#pragma GCC unroll 8
    for (int i = 0; i < count; ++i)
        v[i] = LANE(mask_loadu)(_mm512_set1_epi32(-1), NAME(first)(n, i), from + (int64_t)i * LANES);
    NAME(network)(v, count);
#pragma GCC unroll 8
    for (int i = 0; i < count; ++i)
        LANE(mask_storeu)(to + (int64_t)i * LANES, NAME(first)(n, i), v[i]);
}

/* Up to MOST_VECTORS of keys. */
WITH_VECTORS static void NAME(sort_few)(const KEY *from, KEY *to, const int64_t n)
{
    if (n <= LANES)
        NAME(sort_vectors)(from, to, n, 1);
    else if (n <= 2 * LANES)
        NAME(sort_vectors)(from, to, n, 2);
    else if (n <= 4 * LANES)
        NAME(sort_vectors)(from, to, n, 4);
    else
        NAME(sort_vectors)(from, to, n, 8);
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

/* The median of some keys that are equally far apart; where they begin is random. */
WITH_VECTORS static KEY NAME(pick)(const KEY *from, const int64_t n, uint64_t *random)
{
    KEY sample[MOST_VECTORS * LANES];
    const int count = n > MANY ? MOST_VECTORS * LANES : n > SOME ? 2 * LANES : LANES;
    const int64_t apart = n / count;
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    from += (int64_t)((*random >> 32) % (uint64_t)apart);
    for (int k = 0; k < count; ++k)
        sample[k] = from[k * apart];
    NAME(sort_few)(sample, sample, count);
    return sample[count / 2];
}

/* One step of quicksort: `from`, which may be `to` or `beside`, is parted into two ranges. */
WITH_VECTORS static void NAME(split)(range *first, range *second, const range *r, uint64_t *random)
{
    KEY *const to = r->from == r->to ? r->beside : r->to;
    const KEY *const from = r->from;
    const KEY pivot = NAME(pick)(from, r->n, random);
    int64_t low = NAME(part)(from, to, r->n, pivot, false);
    bool is_least = low == 0;
    if (is_least) /* the pivot is the least key: those that are equal to it are in order */
        low = NAME(part)(from, to, r->n, pivot, true);
    *first = (range){to, r->to, r->beside, low, is_least};
    *second = (range){to + low, (KEY *)r->to + low, (KEY *)r->beside + low, r->n - low, false};
}

WITH_VECTORS static void NAME(sort)(range r, uint64_t *random)
{
    while (r.n > MOST_VECTORS * LANES && !r.is_one) {
        range first, second;
        NAME(split)(&first, &second, &r, random);
        const bool is_shorter = first.n < second.n;
        NAME(sort)(is_shorter ? first : second, random);
        r = is_shorter ? second : first;
    }
    if (!r.is_one)
        NAME(sort_few)(r.from, r.to, r.n);
    else if (r.from != r.to)
        memcpy(r.to, r.from, (size_t)r.n * sizeof(KEY));
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

/* The number of sorted keys before one. */
static int64_t NAME(before)(const KEY *sorted, const int64_t n, const KEY of)
{
    int64_t low = 0, high = n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (sorted[middle] < of)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void NAME(mend)(const KEY *from, KEY *sorted, const int64_t n, const KEY least, const KEY most)
{
    const int64_t begin = NAME(before)(sorted, n, least),
                  end = most == (KEY)-1 ? n : NAME(before)(sorted, n, (KEY)(most + 1));
    if (end > begin && sorted[begin] != sorted[end - 1])
        NAME(keep_order)(from, sorted + begin, n, least, most);
}

/* Elements that are equal, but not the same: zeros of both signs, and NaN. */
static void NAME(mend_equal)(const KEY *from, KEY *sorted, const int64_t n, const KEY infinity)
{
    NAME(mend)(from, sorted, n, infinity, (KEY)(infinity + 1));
    NAME(mend)(from, sorted, n, (KEY)(2 * infinity + 2), (KEY)-1);
}

#undef KEY
#undef LANES
#undef MASK
#undef NUMBER
#undef NUMBERS
#undef NAME
#undef LANE
#undef LANE_UNSIGNED
#undef LANE_BY_MASK
#undef LANE_COMPARED
