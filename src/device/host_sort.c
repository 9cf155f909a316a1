/* A quicksort by vectors. Each step reads a range and stores its keys to another place, the lesser ones from
 * the front and the others from the end, so that no load waits for a store; ranges go to and fro between two
 * places. Of a long row the first steps are made by all threads, a range each. */
#include "device/host_sort.h"

#include <string.h>

#include "device/host_neighbours.h"
#include "device/host_threads.h"

#if defined(__x86_64__)

#include "device/host_vectors.h"

enum {
    MOST_VECTORS = 8,    /* of a network */
    MOST_BLOCKS = 8,     /* of so many vectors, that are sorted together */
    SOME = 1 << 10,      /* keys, from which on a pivot is the median of more of them ... */
    MANY = 1 << 14,      /* ... and of many more */
    LONG_ROW = 1 << 16,  /* keys that are worth several threads */
    MOST_RANGES = 1 << 6 /* of a long row */
};

/* Keys that are to be sorted. in_order: each is there already, as equal ones are. */
typedef struct range {
    const void *from;
    void *to, *beside;
    int64_t n;
    bool in_order;
} range;

/* Orders of lanes, a byte each: first those whose bit is set in the number of the order. */
#define PLACE(set, lane)                                                                                     \
    ((set) >> (lane)&1 ? __builtin_popcount((set) & ((1 << (lane)) - 1))                                     \
                       : (lane) + __builtin_popcount((set) >> (lane)))
#define PLACED(set, lane) (UINT64_C(lane) << 8 * PLACE(set, lane))
#define ORDER(set)                                                                                           \
    (PLACED(set, 1) | PLACED(set, 2) | PLACED(set, 3) | PLACED(set, 4) | PLACED(set, 5) | PLACED(set, 6) |   \
     PLACED(set, 7))
#define ORDERS_4(set) ORDER(set), ORDER((set) + 1), ORDER((set) + 2), ORDER((set) + 3)
#define ORDERS_16(set) ORDERS_4(set), ORDERS_4((set) + 4), ORDERS_4((set) + 8), ORDERS_4((set) + 12)
#define ORDERS_64(set) ORDERS_16(set), ORDERS_16((set) + 16), ORDERS_16((set) + 32), ORDERS_16((set) + 48)
#define PAIRS(set) ORDER(((set)&1) * 3 + ((set)&2) * 6 + ((set)&4) * 12 + ((set)&8) * 24)
#define PAIRS_4(set) PAIRS(set), PAIRS((set) + 1), PAIRS((set) + 2), PAIRS((set) + 3)

static const uint64_t lanes_of_8[] = {ORDERS_64(0), ORDERS_64(64), ORDERS_64(128), ORDERS_64(192)},
                      lanes_of_4[] = {PAIRS_4(0), PAIRS_4(4), PAIRS_4(8), PAIRS_4(12)};

#include "device/host_lanes_32.h"
#include "device/host_sort_64.h"
#include "device/host_sort_lanes.h"

#include "device/host_lanes_64.h"
#include "device/host_sort_64.h"
#include "device/host_sort_lanes.h"

#define BITS 32
#include "device/host_sort_32.h"
#include "device/host_sort_lanes.h"

#define BITS 64
#include "device/host_sort_32.h"
#include "device/host_sort_lanes.h"

int kn_host_sort_vectors(const char *architecture, int key_size)
{
    if (key_size != 4 && key_size != 8)
        return 0;
    return strcmp(architecture, "x86-64-v4") == 0 ? 64 : strcmp(architecture, "x86-64-v3") == 0 ? 32 : 0;
}

/* By the keys' size and by that of vectors. */
typedef struct sorter {
    void (*sort)(range r, uint64_t *random);
    void (*split)(range *first, range *second, const range *r, uint64_t *random);
    void (*find_order)(range *r);
    void (*mend)(const void *from, void *sorted, int64_t n, uint64_t infinity);
} sorter;

static const sorter *sorter_of(const kn_host_keys *k)
{
    static const sorter all[2][2] = {
        {{sort_32_by_32, split_32_by_32, find_order_32_by_32, mend_equal_32_by_32},
         {sort_32, split_32, find_order_32, mend_equal_32}},
        {{sort_64_by_32, split_64_by_32, find_order_64_by_32, mend_equal_64_by_32},
         {sort_64, split_64, find_order_64, mend_equal_64}}};
    return &all[k->key_size == 8][k->vector_size == 64];
}

typedef struct sorting {
    const kn_host_keys *keys;
    range range[2][MOST_RANGES]; /* of a long row: those that are split, and those that they become */
    int from;
} sorting;

static void split_ranges(void *user, int64_t begin, int64_t end)
{
    sorting *s = user;
    for (int64_t k = begin; k < end; ++k) {
        const range *r = &s->range[s->from][k];
        range *to = &s->range[!s->from][2 * k];
        uint64_t seed = (uint64_t)k;
        if (r->n < LONG_ROW / 2 || r->in_order) {
            to[0] = *r;
            to[1] = (range){.from = r->to, .to = r->to, .beside = r->beside, .in_order = true};
        } else {
            sorter_of(s->keys)->split(&to[0], &to[1], r, &seed);
        }
    }
}

static void sort_ranges(void *user, int64_t begin, int64_t end)
{
    sorting *s = user;
    for (int64_t k = begin; k < end; ++k) {
        uint64_t seed = (uint64_t)k;
        sorter_of(s->keys)->sort(s->range[s->from][k], &seed);
    }
}

static range row_of(const kn_host_keys *k, int64_t row)
{
    const int64_t at = row * k->length * k->key_size;
    return (range){(const char *)k->from + at, (char *)k->to + at, (char *)k->beside + at, k->length, false};
}

static void mend_row(const kn_host_keys *k, int64_t row)
{
    const range r = row_of(k, row);
    if (k->infinity != 0)
        sorter_of(k)->mend(r.from, r.to, r.n, k->infinity);
}

static void sort_rows(void *user, int64_t begin, int64_t end)
{
    const kn_host_keys *k = user;
    for (int64_t row = begin; row < end; ++row) {
        range r = row_of(k, row);
        uint64_t seed = (uint64_t)row;
        sorter_of(k)->find_order(&r);
        sorter_of(k)->sort(r, &seed);
        mend_row(k, row);
    }
}

static void sort_long_row(const kn_host_keys *k, int64_t row)
{
    sorting s = {.keys = k};
    s.range[0][0] = row_of(k, row);
    sorter_of(k)->find_order(&s.range[0][0]);
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

int kn_host_sort_vectors(const char *architecture, int key_size)
{
    (void)architecture, (void)key_size;
    return 0;
}

void kn_host_sort_keys(const kn_host_keys *keys)
{
    (void)keys;
}

#endif
