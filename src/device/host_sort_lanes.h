/* device/host_sort_lanes.h - sorts keys of one size by vectors of one size: a quicksort that stores to
 * another place, and a bitonic network for few keys. For host_sort.c, which includes it behind host_sort_64.h
 * or host_sort_32.h, whose names it uses: KEY, LANES (of a vector), NAME(of) (of a function), VECTOR, COLUMNS
 * (that many vectors are sorted together by sort_columns; 0: there is none), and WITH (the instructions). It
 * has no guard: it is meant to be included again. */

/* Orders each vector and the one so far behind it, a power of two. */
INLINE_WITH void NAME(order_apart)(VECTOR *v, const int count, const int apart)
{
#pragma GCC unroll 8
    for (int k = 0; k < count; ++k)
        if (!(k & apart))
            NAME(order)(&v[k], &v[k + apart]);
}

/* Sorts vectors that rise and then fall, or the reverse: each 2 * `apart` of `count`. Compilers unroll no
 * loop whose step is a division, and vectors stay in registers only without loops. */
INLINE_WITH void NAME(clean)(VECTOR *v, const int count, const int apart)
{
    if (apart >= 4)
        NAME(order_apart)(v, count, 4);
    if (apart >= 2)
        NAME(order_apart)(v, count, 2);
    if (apart >= 1)
        NAME(order_apart)(v, count, 1);
    if (count == MOST_VECTORS && COLUMNS > 0) {
        NAME(clean_lanes)(v);
        return;
    }
#pragma GCC unroll 8
    for (int i = 0; i < count; ++i) {
        if (LANES > 8)
            v[i] = NAME(exchanged)(v[i], 8, 8);
        if (LANES > 4)
            v[i] = NAME(exchanged)(v[i], 4, 4);
        v[i] = NAME(exchanged)(v[i], 2, 2);
        v[i] = NAME(exchanged)(v[i], 1, 1);
    }
}

/* Sorts each so many neighbouring lanes, whose halves are sorted. */
INLINE_WITH VECTOR NAME(merge_lanes)(VECTOR x, const int size)
{
    x = NAME(exchanged)(x, size - 1, size / 2);
    if (size > 8)
        x = NAME(exchanged)(x, 4, 4);
    if (size > 4)
        x = NAME(exchanged)(x, 2, 2);
    if (size > 2)
        x = NAME(exchanged)(x, 1, 1);
    return x;
}

/* Sorts each vector by itself. */
INLINE_WITH void NAME(sort_each)(VECTOR *v, const int count)
{
#pragma GCC unroll 8
    for (int i = 0; i < count; ++i) {
        v[i] = NAME(merge_lanes)(NAME(merge_lanes)(v[i], 2), 4);
        if (LANES > 4)
            v[i] = NAME(merge_lanes)(v[i], 8);
        if (LANES > 8)
            v[i] = NAME(merge_lanes)(v[i], 16);
    }
}

/* Sorts each 2 * `half` vectors, whose halves are sorted. */
INLINE_WITH void NAME(merge_vectors)(VECTOR *v, const int count, const int half)
{
    VECTOR back[MOST_VECTORS]; /* the second half backwards: one rises, the other falls */
#pragma GCC unroll 8
    for (int k = 0; k < count; ++k)
        back[k] = k & half ? NAME(flipped)(v[k ^ (half - 1)], LANES - 1) : v[k];
#pragma GCC unroll 8
    for (int k = 0; k < count; ++k)
        v[k] = back[k];
    NAME(clean)(v, count, half);
}

/* Sorts `count` vectors, a power of two: few together, then twice as many at a time. */
INLINE_WITH void NAME(network)(VECTOR *v, const int count)
{
    const bool by_columns = count == MOST_VECTORS && COLUMNS > 0;
    if (by_columns)
        NAME(sort_columns)(v);
    else
        NAME(sort_each)(v, count);
    if (count > 1 && !(by_columns && COLUMNS > 1))
        NAME(merge_vectors)(v, count, 1);
    if (count > 2 && !(by_columns && COLUMNS > 2))
        NAME(merge_vectors)(v, count, 2);
    if (count > 4)
        NAME(merge_vectors)(v, count, 4);
}

INLINE_WITH void NAME(sort_vectors)(const KEY *from, KEY *to, const int64_t n, const int count)
{
    VECTOR v[MOST_VECTORS];
#pragma GCC unroll 8
    for (int i = 0; i < count; ++i)
        v[i] = NAME(load_some)(from, n, i);
    NAME(network)(v, count);
#pragma GCC unroll 8
    for (int i = 0; i < count; ++i)
        NAME(store_some)(to, n, i, v[i]);
}

/* Blocks are MOST_VECTORS of sorted keys each. Merges two such of as many blocks: afterwards those of `low`
 * have the least keys and those of `high` the others, and each rises and then falls, or the reverse. */
INLINE_WITH void NAME(cross)(VECTOR *low, VECTOR *high)
{
#pragma GCC unroll 4
    for (int k = 0; k < MOST_VECTORS / 2; ++k) { /* `high` is taken backwards, two vectors at a time */
        const int back = MOST_VECTORS - 1 - k;
        VECTOR x = NAME(flipped)(high[back], LANES - 1), y = NAME(flipped)(high[k], LANES - 1);
        NAME(order)(&low[k], &x);
        NAME(order)(&low[back], &y);
        high[k] = x;
        high[back] = y;
    }
}

/* Orders each vector of two blocks. */
INLINE_WITH void NAME(order_blocks)(VECTOR *low, VECTOR *high)
{
#pragma GCC unroll 8
    for (int k = 0; k < MOST_VECTORS; ++k)
        NAME(order)(&low[k], &high[k]);
}

INLINE_WITH void NAME(clean_block)(VECTOR *block)
{
    VECTOR v[MOST_VECTORS];
#pragma GCC unroll 8
    for (int k = 0; k < MOST_VECTORS; ++k)
        v[k] = block[k];
    NAME(clean)(v, MOST_VECTORS, MOST_VECTORS / 2);
#pragma GCC unroll 8
    for (int k = 0; k < MOST_VECTORS; ++k)
        block[k] = v[k];
}

/* Sorts blocks that rise and then fall, or the reverse: `half`, a power of two, of which `n` are there. Those
 * that are not would have the greatest keys, and stay where they are. */
INLINE_WITH void NAME(clean_blocks)(VECTOR (*v)[MOST_VECTORS], const int half, const int n)
{
    for (int apart = half / 2; apart > 0; apart /= 2)
        for (int k = 0; k + apart < n; ++k)
            if (!(k & apart))
                NAME(order_blocks)(v[k], v[k + apart]);
    for (int k = 0; k < n; ++k)
        NAME(clean_block)(v[k]);
}

/* Sorts `half` blocks and the n behind them, which are sorted both, together. */
INLINE_WITH void NAME(merge_blocks)(VECTOR (*v)[MOST_VECTORS], const int half, const int n)
{
    for (int k = 0; k < n; ++k)
        NAME(cross)(v[half - 1 - k], v[half + k]);
    NAME(clean_blocks)(v, half, half);
    NAME(clean_blocks)(v + half, half, n);
}

/* Sorts up to MOST_BLOCKS of keys. */
WITH static void NAME(sort_blocks)(const KEY *from, KEY *to, const int64_t n)
{
    enum { BLOCK = MOST_VECTORS * LANES };
    VECTOR v[MOST_BLOCKS][MOST_VECTORS];
    const int blocks = (int)((n + BLOCK - 1) / BLOCK);
    for (int b = 0; b < blocks; ++b) {
        VECTOR w[MOST_VECTORS];
#pragma GCC unroll 8
        for (int k = 0; k < MOST_VECTORS; ++k)
            w[k] = NAME(load_some)(from, n, b * MOST_VECTORS + k);
        NAME(network)(w, MOST_VECTORS);
#pragma GCC unroll 8
        for (int k = 0; k < MOST_VECTORS; ++k)
            v[b][k] = w[k];
    }
    for (int half = 1; half < blocks; half *= 2)
        for (int b = 0; b + half < blocks; b += 2 * half)
            NAME(merge_blocks)(v + b, half, blocks - b - half < half ? blocks - b - half : half);
    for (int b = 0; b < blocks; ++b)
#pragma GCC unroll 8
        for (int k = 0; k < MOST_VECTORS; ++k)
            NAME(store_some)(to, n, b * MOST_VECTORS + k, v[b][k]);
}

/* Up to MOST_BLOCKS of keys. */
WITH static void NAME(sort_few)(const KEY *from, KEY *to, const int64_t n)
{
    if (n <= LANES)
        NAME(sort_vectors)(from, to, n, 1);
    else if (n <= 2 * LANES)
        NAME(sort_vectors)(from, to, n, 2);
    else if (n <= 4 * LANES)
        NAME(sort_vectors)(from, to, n, 4);
    else if (n <= MOST_VECTORS * LANES)
        NAME(sort_vectors)(from, to, n, MOST_VECTORS);
    else
        NAME(sort_blocks)(from, to, n);
}

/* No key is less than the one before it. */
WITH static bool NAME(is_sorted)(const KEY *from, const int64_t n)
{
    KN_HOST_RETURN_NONE(k, n, from[k + 1] < from[k]);
}

/* All keys are equal. */
WITH static bool NAME(is_same)(const KEY *from, const int64_t n)
{
    KN_HOST_RETURN_NONE(k, n, from[k + 1] != from[k]);
}

/* No key is greater than the one before it. */
WITH static bool NAME(is_reversed)(const KEY *from, const int64_t n)
{
    KN_HOST_RETURN_NONE(k, n, from[k + 1] > from[k]);
}

/* Makes use of a row's order, if it has one. */
WITH static void NAME(find_order)(range *r)
{
    const KEY *const from = r->from;
    KEY *const to = r->to;
    r->in_order = NAME(is_sorted)(from, r->n);
    if (r->in_order || !NAME(is_reversed)(from, r->n))
        return;
    for (int64_t k = 0; k < r->n; ++k)
        to[k] = from[r->n - 1 - k];
    r->from = to;
    r->in_order = true;
}

/* A key of a range, and what the others are as far as some of them tell. */
typedef struct NAME(pivot) {
    KEY key;
    bool is_least, is_most;
} NAME(pivot);

/* The median of some keys that are equally far apart; where they begin is random. */
WITH static NAME(pivot) NAME(pick)(const KEY *from, const int64_t n, uint64_t *random)
{
    enum { FEW = 128 / sizeof(KEY) };
    KEY sample[MOST_VECTORS * LANES];
    const int count = n > MANY ? MOST_VECTORS * LANES : n > SOME ? FEW : FEW / 2;
    const int64_t apart = n / count;
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    from += (int64_t)((*random >> 32) * (uint64_t)apart >> 32);
    for (int k = 0; k < count; ++k)
        sample[k] = from[k * apart];
    NAME(sort_few)(sample, sample, count);
    const KEY key = sample[count / 2];
    return (NAME(pivot)){key, key == sample[0], key == sample[count - 1]};
}

/* One step of quicksort: `from`, which may be `to` or `beside`, is parted into two ranges. Few different keys
 * make ranges of equal ones soon, which are in order. */
WITH static void NAME(split)(range *first, range *second, const range *r, uint64_t *random)
{
    KEY *const to = r->from == r->to ? r->beside : r->to;
    const KEY *const from = r->from;
    const NAME(pivot) pivot = NAME(pick)(from, r->n, random);
    if (pivot.is_least && pivot.is_most && NAME(is_same)(from, r->n)) {
        *first = *r;
        first->in_order = true;
        *second = (range){r->to, r->to, r->beside, 0, true};
        return;
    }
    int64_t low = NAME(part)(from, to, r->n, pivot.key, pivot.is_least);
    const bool is_all = low == (pivot.is_least ? r->n : 0);
    if (is_all) /* no key is behind the pivot, or none is before it: those that are equal to it are parted */
        low = NAME(part)(from, to, r->n, pivot.key, !pivot.is_least);
    *first = (range){to, r->to, r->beside, low, is_all ? !pivot.is_least : pivot.is_least};
    *second = (range){to + low, (KEY *)r->to + low, (KEY *)r->beside + low, r->n - low,
                      is_all ? pivot.is_least : pivot.is_most && !pivot.is_least};
    if (!is_all && first->in_order)
        first->in_order = NAME(is_same)(to, low);
    if (!is_all && second->in_order)
        second->in_order = NAME(is_same)(to + low, r->n - low);
}

WITH static void NAME(sort)(range r, uint64_t *random)
{
    while (r.n > MOST_BLOCKS * MOST_VECTORS * LANES && !r.in_order) {
        range first, second;
        NAME(split)(&first, &second, &r, random);
        const bool is_shorter = first.n < second.n;
        NAME(sort)(is_shorter ? first : second, random);
        r = is_shorter ? second : first;
    }
    if (!r.in_order)
        NAME(sort_few)(r.from, r.to, r.n);
    else if (r.from != r.to)
        memcpy(r.to, r.from, (size_t)r.n * sizeof(KEY));
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
static void NAME(mend_equal)(const void *from, void *sorted, const int64_t n, const uint64_t bits)
{
    const KEY infinity = (KEY)bits;
    NAME(mend)(from, sorted, n, infinity, (KEY)(infinity + 1));
    NAME(mend)(from, sorted, n, (KEY)(2 * infinity + 2), (KEY)-1);
}

#undef WITH
#undef VECTOR
#undef COLUMNS
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
