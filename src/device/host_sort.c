/* A quicksort by vectors. Each step reads a range and stores its keys to another place, the lesser ones from
 * the front and the others from the end, so that no load waits for a store; ranges go to and fro between two
 * places. Of a long row the first steps are made by all threads, a range each. */
#include "device/host_sort.h"

#include <string.h>

#include "device/host_threads.h"

#if defined(__x86_64__)

#include "device/host_vectors.h"

enum {
    MOST_VECTORS = 8,    /* of a network */
    SOME = 1 << 10,      /* keys, from which on a pivot is the median of more of them ... */
    MANY = 1 << 14,      /* ... and of many more */
    LONG_ROW = 1 << 16,  /* keys that are worth several threads */
    MOST_RANGES = 1 << 6 /* of a long row */
};

/* Keys that are to be sorted. is_one: all are equal. */
typedef struct range {
    const void *from;
    void *to, *beside;
    int64_t n;
    bool is_one;
} range;

#include "device/host_lanes_32.h"
#include "device/host_sort_lanes.h"

#include "device/host_lanes_64.h"
#include "device/host_sort_lanes.h"

bool kn_host_sorts_keys(const char *architecture, int key_size)
{
    return strcmp(architecture, "x86-64-v4") == 0 && (key_size == 4 || key_size == 8);
}

typedef struct sorting {
    const kn_host_keys *keys;
    range range[2][MOST_RANGES]; /* of a long row: those that are split, and those that they become */
    int from;
} sorting;

static void sort_range(const kn_host_keys *k, const range *r, uint64_t seed)
{
    if (k->key_size == 4)
        sort_32(*r, &seed);
    else
        sort_64(*r, &seed);
}

static void split_ranges(void *user, int64_t begin, int64_t end)
{
    sorting *s = user;
    for (int64_t k = begin; k < end; ++k) {
        const range *r = &s->range[s->from][k];
        range *to = &s->range[!s->from][2 * k];
        uint64_t seed = (uint64_t)k;
        if (r->n < LONG_ROW / 2 || r->is_one) {
            to[0] = *r;
            to[1] = (range){.from = r->to, .to = r->to, .beside = r->beside};
        } else if (s->keys->key_size == 4) {
            split_32(&to[0], &to[1], r, &seed);
        } else {
            split_64(&to[0], &to[1], r, &seed);
        }
    }
}

static void sort_ranges(void *user, int64_t begin, int64_t end)
{
    sorting *s = user;
    for (int64_t k = begin; k < end; ++k)
        sort_range(s->keys, &s->range[s->from][k], (uint64_t)k);
}

static range row_of(const kn_host_keys *k, int64_t row)
{
    const int64_t at = row * k->length * k->key_size;
    return (range){(const char *)k->from + at, (char *)k->to + at, (char *)k->beside + at, k->length, false};
}

static void mend_row(const kn_host_keys *k, int64_t row)
{
    const range r = row_of(k, row);
    if (k->infinity != 0 && k->key_size == 4)
        mend_equal_32(r.from, r.to, r.n, (uint32_t)k->infinity);
    else if (k->infinity != 0)
        mend_equal_64(r.from, r.to, r.n, k->infinity);
}

static void sort_rows(void *user, int64_t begin, int64_t end)
{
    const kn_host_keys *k = user;
    for (int64_t row = begin; row < end; ++row) {
        const range r = row_of(k, row);
        sort_range(k, &r, (uint64_t)row);
        mend_row(k, row);
    }
}

static void sort_long_row(const kn_host_keys *k, int64_t row)
{
    sorting s = {.keys = k};
    s.range[0][0] = row_of(k, row);
    for (int ranges = 1; ranges < MOST_RANGES; ranges *= 2) {
        kn_host_parallel(ranges, 1, split_ranges, &s);
        s.from = !s.from;
    }
    kn_host_parallel(MOST_RANGES, 1, sort_ranges, &s);
    mend_row(k, row);
}

static void sort_long_rows(void *user, int64_t begin, int64_t end)
{
    for (int64_t row = begin; row < end; ++row)
        sort_long_row(user, row);
}

void kn_host_sort_keys(const kn_host_keys *keys)
{
    kn_host_keys k = *keys;
    kn_host_parallel_rows(k.rows, k.length, LONG_ROW, sort_rows, sort_long_rows, &k);
}

#else

bool kn_host_sorts_keys(const char *architecture, int key_size)
{
    (void)architecture, (void)key_size;
    return false;
}

void kn_host_sort_keys(const kn_host_keys *keys)
{
    (void)keys;
}

#endif
