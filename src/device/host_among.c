/* Keys that are among other ones: a table has a byte for each number from the least of the others to the
 * greatest, where it is long enough for that, else the others themselves, at places that their bits say. The
 * threads share the keys. */
#include "device/host_among.h"

#include <string.h>

#include "device/host_threads.h"
#ifdef __x86_64__
#include "device/host_vectors.h"
#endif

enum {
    LEAST_BYTES = 1 << 16, /* of a table, for all keys of two bytes */
    MOST_BYTES = 1 << 24,  /* of a byte for each number */
    BYTES_OF_KEY = 8,      /* as many numbers for each key are looked at sooner than places that bits say */
    NEAR = 1 << 14,        /* bytes of a table that lies in the nearest cache */
    GRAIN = 1 << 15        /* keys that are worth a thread */
};

/* A table in use. */
typedef struct lookup {
    const kn_host_among *of;
    uint64_t least, range; /* bytes: of the others */
    int shift;             /* places: the bits that count */
    bool has_none;         /* a key that stands for none, 0, is among the others */
} lookup;

#define ALWAYS static inline __attribute__((always_inline))

ALWAYS uint64_t key_at(const void *keys, int64_t k, int size)
{
    return size == 1   ? ((const uint8_t *)keys)[k]
           : size == 2 ? ((const uint16_t *)keys)[k]
           : size == 4 ? ((const uint32_t *)keys)[k]
                       : ((const uint64_t *)keys)[k];
}

/* The key as a signed number, so that small ones of either sign are neighbours. */
ALWAYS uint64_t signed_key_at(const void *keys, int64_t k, int size)
{
    return size == 4 ? (uint64_t)(int64_t)((const int32_t *)keys)[k] : key_at(keys, k, size);
}

/* ---- a byte for each number ---- */

ALWAYS void find_range(lookup *l, int size)
{
    const kn_host_among *a = l->of;
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (int64_t k = 0; k < a->others; ++k) {
        const int64_t key = (int64_t)signed_key_at(a->other, k, size);
        least = key < least ? key : least;
        most = key > most ? key : most;
    }
    l->least = (uint64_t)least;
    l->range = (uint64_t)most - (uint64_t)least;
}

ALWAYS void mark(const lookup *l, int size)
{
    const kn_host_among *a = l->of;
    bool *const is_there = a->table;
    memset(is_there, 0, (size_t)l->range + 2);
    for (int64_t k = 0; k < a->others; ++k)
        is_there[signed_key_at(a->other, k, size) - l->least] = true;
}

/* The byte behind the last one is that of all other numbers. */
ALWAYS void look_up(const lookup *l, int64_t begin, int64_t end, int size)
{
    const kn_host_among *a = l->of;
    const bool *const is_there = a->table;
    for (int64_t k = begin; k < end; ++k) {
        const uint64_t place = signed_key_at(a->key, k, size) - l->least;
        a->to[k] = is_there[place <= l->range ? place : l->range + 1];
    }
}

/* ---- the others in buckets ---- */

/* A bucket has a few keys, the rest of which are 0. Its keys are compared without a branch; the next bucket
 * has keys too where it is full, which is rare. */
enum { BUCKET = 4 };

ALWAYS bool is_in_bucket(const void *table, uint64_t bucket, uint64_t key, int size)
{
    bool is_in = false;
    for (int k = 0; k < BUCKET; ++k)
        is_in |= key_at(table, (int64_t)(bucket * BUCKET) + k, size) == key;
    return is_in;
}

ALWAYS bool is_full(const void *table, uint64_t bucket, int size)
{
    return key_at(table, (int64_t)(bucket * BUCKET) + BUCKET - 1, size) != 0;
}

ALWAYS uint64_t bucket_of(uint64_t key, int shift)
{
    return key * UINT64_C(0x9e3779b97f4a7c15) >> shift;
}

/* The bucket that has the key, or that would have it. */
ALWAYS uint64_t find_bucket(const lookup *l, uint64_t key, int size)
{
    const uint64_t last = (UINT64_C(1) << (64 - l->shift)) - 1;
    uint64_t bucket = bucket_of(key, l->shift);
    while (is_full(l->of->table, bucket, size) && !is_in_bucket(l->of->table, bucket, key, size))
        bucket = (bucket + 1) & last;
    return bucket;
}

ALWAYS void insert(lookup *l, int size)
{
    const kn_host_among *a = l->of;
    memset(a->table, 0, (size_t)BUCKET * (size_t)size << (64 - l->shift));
    for (int64_t k = 0; k < a->others; ++k) {
        const uint64_t key = key_at(a->other, k, size), bucket = find_bucket(l, key, size);
        int64_t place = (int64_t)(bucket * BUCKET);
        l->has_none = l->has_none || key == 0;
        if (is_in_bucket(a->table, bucket, key, size))
            continue;
        while (key_at(a->table, place, size) != 0)
            ++place;
        if (size == 4)
            ((uint32_t *)a->table)[place] = (uint32_t)key;
        else
            ((uint64_t *)a->table)[place] = key;
    }
}

ALWAYS void search(const lookup *l, int64_t begin, int64_t end, int size)
{
    const kn_host_among *a = l->of;
    for (int64_t k = begin; k < end; ++k) {
        const uint64_t key = key_at(a->key, k, size), bucket = find_bucket(l, key, size);
        a->to[k] = is_in_bucket(a->table, bucket, key, size) & ((key != 0) | l->has_none);
    }
}

/* ---- few others, each compared with all keys ---- */

enum { FEW = 16 };

ALWAYS void compare(const lookup *l, int64_t begin, int64_t end, int size, int count)
{
    const kn_host_among *a = l->of;
    uint64_t other[FEW];
    for (int j = 0; j < count; ++j)
        other[j] = key_at(a->other, j < a->others ? j : 0, size);
    for (int64_t k = begin; k < end; ++k) {
        const uint64_t key = key_at(a->key, k, size);
        bool is_in = false;
        for (int j = 0; j < count; ++j)
            is_in |= size == 2   ? (uint16_t)key == (uint16_t)other[j]
                     : size == 4 ? (uint32_t)key == (uint32_t)other[j]
                                 : key == other[j];
        a->to[k] = is_in;
    }
}

#ifdef __x86_64__
#define WITH_COMPARISONS WITH_VECTORS_32
#else
#define WITH_COMPARISONS
#endif
WITH_COMPARISONS static void compare_2(void *of, int64_t begin, int64_t end)
{
    compare(of, begin, end, 2, FEW);
}

WITH_COMPARISONS static void compare_4(void *of, int64_t begin, int64_t end)
{
    const lookup *l = of;
    l->of->others > FEW / 2 ? compare(l, begin, end, 4, FEW) : compare(l, begin, end, 4, FEW / 2);
}

WITH_COMPARISONS static void compare_8(void *of, int64_t begin, int64_t end)
{
    const lookup *l = of;
    l->of->others > FEW / 2 ? compare(l, begin, end, 8, FEW) : compare(l, begin, end, 8, FEW / 2);
}

/* ---- both ---- */

#define OF_SIZE(size)                                                                                        \
    static void look_up_##size(void *l, int64_t begin, int64_t end)                                          \
    {                                                                                                        \
        look_up(l, begin, end, size);                                                                        \
    }                                                                                                        \
    static void find_range_##size(lookup *l)                                                                 \
    {                                                                                                        \
        find_range(l, size);                                                                                 \
    }                                                                                                        \
    static void mark_##size(lookup *l)                                                                       \
    {                                                                                                        \
        mark(l, size);                                                                                       \
    }
OF_SIZE(1)
OF_SIZE(2)
OF_SIZE(4)
OF_SIZE(8)

static void search_4(void *l, int64_t begin, int64_t end)
{
    search(l, begin, end, 4);
}

static void search_8(void *l, int64_t begin, int64_t end)
{
    search(l, begin, end, 8);
}

static const struct {
    void (*find_range)(lookup *l);
    void (*mark)(lookup *l);
    void (*look_up)(void *l, int64_t begin, int64_t end);
    void (*search)(void *l, int64_t begin, int64_t end);
    void (*compare)(void *l, int64_t begin, int64_t end);
} sizes[] = {[1] = {find_range_1, mark_1, look_up_1, NULL, NULL},
             [2] = {find_range_2, mark_2, look_up_2, NULL, compare_2},
             [4] = {find_range_4, mark_4, look_up_4, search_4, compare_4},
             [8] = {find_range_8, mark_8, look_up_8, search_8, compare_8}};

/* Twice as many buckets as others, of a power of two: one in 600 is full. */
static int bits_of(int64_t others)
{
    int bits = 1;
    while (INT64_C(1) << bits < 2 * others)
        ++bits;
    return bits;
}

size_t kn_host_among_bytes(int64_t keys, int64_t others, int key_size)
{
    const int64_t numbers =
        keys < MOST_BYTES && others < MOST_BYTES ? BYTES_OF_KEY * (keys + others) : MOST_BYTES;
    const int64_t of_numbers = numbers < LEAST_BYTES  ? LEAST_BYTES
                               : numbers > MOST_BYTES ? MOST_BYTES
                                                      : numbers;
    const int64_t of_keys = key_size < 4 ? 0 : ((int64_t)BUCKET << bits_of(others)) * key_size;
    return (size_t)(of_keys > of_numbers ? of_keys : of_numbers) + 2;
}

void kn_host_find_among(const kn_host_among *of)
{
    lookup l = {.of = of, .shift = 64 - bits_of(of->others)};
    sizes[of->key_size].find_range(&l);
    if (of->has_vectors && of->others <= FEW && l.range >= NEAR) {
        kn_host_parallel(of->keys, GRAIN, sizes[of->key_size].compare, &l);
    } else if (l.range < of->table_bytes - 1) {
        sizes[of->key_size].mark(&l);
        kn_host_parallel(of->keys, GRAIN, sizes[of->key_size].look_up, &l);
    } else {
        of->key_size == 4 ? insert(&l, 4) : insert(&l, 8);
        kn_host_parallel(of->keys, GRAIN, sizes[of->key_size].search, &l);
    }
}
