/* device/host_find_order_keys.h - what host_find_order.c does with keys of one size: it includes this for
 * each KEY, with NAME(of) a function. It has no guard. */

/* No key is less than the one before it. */
WITH static bool NAME(rises)(const void *keys, int64_t n)
{
    const KEY *const key = keys;
    KN_HOST_RETURN_NONE(k, n, key[k + 1] < key[k]);
}

/* Each key is less than the one before it. */
WITH static bool NAME(falls)(const void *keys, int64_t n)
{
    const KEY *const key = keys;
    KN_HOST_RETURN_NONE(k, n, key[k + 1] >= key[k]);
}

WITH static void NAME(find_range)(const void *keys, int64_t n, uint64_t *least, uint64_t *most)
{
    const KEY *const key = keys;
    KEY low = (KEY)-1, high = 0;
    for (int64_t k = 0; k < n; ++k) {
        low = key[k] < low ? key[k] : low;
        high = key[k] > high ? key[k] : high;
    }
    *least = low;
    *most = high;
}

/* Puts bits of keys behind those that are there. */
WITH static void NAME(add_field)(uint64_t *to, const void *keys, const uint32_t *order, int64_t n,
                                 const field *f)
{
    const KEY *const key = keys;
    const KEY least = (KEY)f->least;
    if (order)
        for (int64_t k = 0; k < n; ++k)
            to[k] = to[k] << f->bits | ((uint64_t)(KEY)(key[order[k]] - least) >> f->shift & f->mask);
    else
        for (int64_t k = 0; k < n; ++k)
            to[k] = to[k] << f->bits | ((uint64_t)(KEY)(key[k] - least) >> f->shift & f->mask);
}

/* Elements have the same key. */
WITH static bool NAME(are_same)(const void *keys, const uint32_t *order, int64_t n)
{
    const KEY *const key = keys;
    for (int64_t k = 1; k < n; ++k)
        if (key[order[k]] != key[order[0]])
            return false;
    return true;
}

WITH static void NAME(count_digits)(uint32_t *counts, const void *keys, int64_t n, const field *f)
{
    const KEY *const key = keys;
    for (int64_t k = 0; k < n; ++k)
        ++counts[(uint64_t)(KEY)(key[k] - (KEY)f->least) & f->mask];
}

/* Stores the numbers of elements by the first digit of their keys, with these keys if another digit comes. */
WITH static void NAME(place_digits)(uint32_t *place, const void *keys, int64_t n, const field *f,
                                    uint32_t first, uint32_t *order, uint64_t *both)
{
    const KEY *const key = keys;
    const KEY least = (KEY)f->least;
    if (order)
        for (int64_t k = 0; k < n; ++k)
            order[place[(uint64_t)(KEY)(key[k] - least) & f->mask]++] = first + (uint32_t)k;
    else
        for (int64_t k = 0; k < n; ++k) {
            const uint64_t by = (KEY)(key[k] - least);
            both[place[by & f->mask]++] = by << 32 | (first + (uint32_t)k);
        }
}

#undef KEY
#undef NAME
