/* Blocks of the pool: found by address, stored in bins by size (best fit, split and merged) and in quick
 * lists by exact size. */
#include "device/pool_block.h"

#include "base/alloc.h"

/* ---- blocks by address ---- */

static size_t bucket_of(const kn_pool *pool, const void *pointer)
{
    return (size_t)((((uintptr_t)pointer >> pool->shift) * UINT64_C(0x9E3779B97F4A7C15)) >> 32) &
           pool->bucket_mask;
}

kn_block *kn_pool_find_block(const kn_pool *pool, const void *pointer)
{
    kn_block *b = pool->buckets[bucket_of(pool, pointer)];
    while (b && b->pointer != pointer)
        b = b->hash_next;
    return b;
}

static void grow_buckets(kn_pool *pool)
{
    size_t count = (pool->bucket_mask + 1) * 2, old_count = pool->bucket_mask + 1;
    kn_block **old = pool->buckets, **fresh = kn_calloc(count, sizeof *fresh);
    if (!fresh)
        return; /* the chains get longer, that is all */
    pool->buckets = fresh;
    pool->bucket_mask = count - 1;
    for (size_t i = 0; i < old_count; i++)
        for (kn_block *b = old[i], *next; b; b = next) {
            kn_block **bucket = &fresh[bucket_of(pool, b->pointer)];
            next = b->hash_next;
            b->hash_next = *bucket;
            *bucket = b;
        }
    kn_free(old);
}

kn_block *kn_pool_new_block(kn_pool *pool, kn_segment *home, char *pointer, size_t size)
{
    kn_block *b = pool->spare;
    if (b)
        pool->spare = b->next;
    else if (!(b = kn_malloc(sizeof *b)))
        return NULL;
    *b = (kn_block){.pointer = pointer, .size = size, .asked = size, .home = home, .state = BLOCK_USED};
    if (++pool->block_count > 2 * pool->bucket_mask)
        grow_buckets(pool);
    kn_block **bucket = &pool->buckets[bucket_of(pool, pointer)];
    b->hash_next = *bucket;
    *bucket = b;
    return b;
}

void kn_pool_drop_block(kn_pool *pool, kn_block *b)
{
    kn_block **link = &pool->buckets[bucket_of(pool, b->pointer)];
    while (*link != b)
        link = &(*link)->hash_next;
    *link = b->hash_next;
    pool->block_count--;
    b->next = pool->spare;
    pool->spare = b;
}

/* ---- bins ---- */

/* Eight bins a power of two, by size in units of the granularity. */
static int bin_of(const kn_pool *pool, size_t size)
{
    uint64_t granules = size >> pool->shift;
    if (granules < SUBDIVISIONS)
        return (int)granules;
    int log = 63 - __builtin_clzll(granules);
    int bin = (log - 2) * SUBDIVISIONS + (int)((granules >> (log - 3)) & (SUBDIVISIONS - 1));
    return bin < BINS ? bin : BINS - 1;
}

static bool comes_before(const kn_block *a, const kn_block *b)
{
    return a->size != b->size ? a->size < b->size : a->pointer < b->pointer;
}

/* A bin begins with its smallest blocks, so that the first that suffices is the best fit; of equal ones with
 * the lowest address, so that the high end of a segment becomes free. Of a long bin only the beginning is in
 * order. */
void kn_pool_put_in_bin(kn_pool *pool, kn_block *b)
{
    kn_bin_set *set = &b->home->owner->sets[b->home->is_small];
    int bin = bin_of(pool, b->size), scanned = 0;
    kn_block *previous = NULL, *next = set->bins[bin];
    for (; next && scanned < BIN_SCAN && comes_before(next, b); scanned++) {
        previous = next;
        next = next->next;
    }
    b->state = BLOCK_FREE;
    b->previous = previous;
    b->next = next;
    if (next)
        next->previous = b;
    *(previous ? &previous->next : &set->bins[bin]) = b;
    set->occupied[bin / 64] |= UINT64_C(1) << (bin % 64);
}

void kn_pool_take_from_bin(kn_pool *pool, kn_block *b)
{
    kn_bin_set *set = &b->home->owner->sets[b->home->is_small];
    int bin = bin_of(pool, b->size);
    if (b->next)
        b->next->previous = b->previous;
    if (b->previous)
        b->previous->next = b->next;
    else if (!(set->bins[bin] = b->next))
        set->occupied[bin / 64] &= ~(UINT64_C(1) << (bin % 64));
}

/* The first bin after `bin` that has a block, -1: none. Its blocks are larger than those of `bin`. */
static int next_occupied(const kn_bin_set *set, int bin)
{
    for (int word = ++bin / 64; word < BIN_WORDS; word++) {
        uint64_t bits = set->occupied[word];
        if (word == bin / 64)
            bits &= ~UINT64_C(0) << (bin % 64);
        if (bits)
            return word * 64 + __builtin_ctzll(bits);
    }
    return -1;
}

kn_block *kn_pool_find_in_bins(const kn_pool *pool, const kn_bin_set *set, size_t size)
{
    int bin = bin_of(pool, size), scanned = 0;
    kn_block *best = NULL;
    for (kn_block *b = set->bins[bin]; b && scanned < BIN_SCAN; b = b->next, scanned++)
        if (b->size >= size && (!best || b->size < best->size))
            best = b;
    if (!best && (bin = next_occupied(set, bin)) >= 0)
        best = set->bins[bin];
    while (best && best->size < size) /* the last bin is open-ended */
        best = best->next;
    return best;
}

/* ---- cutting and joining ---- */

kn_block *kn_pool_split_block(kn_pool *pool, kn_block *b, size_t size)
{
    kn_block *tail = kn_pool_new_block(pool, b->home, b->pointer + size, b->size - size);
    if (!tail)
        return NULL;
    b->size = size;
    tail->state = b->state;
    tail->before = b;
    tail->after = b->after;
    if (tail->after)
        tail->after->before = tail;
    b->after = tail;
    return tail;
}

void kn_pool_cut_block(kn_pool *pool, kn_block *b, size_t size)
{
    if (b->size - size < pool->granularity)
        return;
    kn_block *tail = kn_pool_split_block(pool, b, size);
    if (tail) /* else the whole block serves, too */
        kn_pool_put_in_bin(pool, tail);
}

void kn_pool_join_after(kn_pool *pool, kn_block *b)
{
    kn_block *gone = b->after;
    b->size += gone->size;
    b->after = gone->after;
    if (b->after)
        b->after->before = b;
    kn_pool_drop_block(pool, gone);
}

static void put_back(kn_pool *pool, kn_block *b)
{
    if (b->after && b->after->state == BLOCK_FREE) {
        kn_pool_take_from_bin(pool, b->after);
        kn_pool_join_after(pool, b);
    }
    if (b->before && b->before->state == BLOCK_FREE) {
        b = b->before;
        kn_pool_take_from_bin(pool, b);
        kn_pool_join_after(pool, b);
    }
    kn_pool_put_in_bin(pool, b);
}

/* ---- quick lists ---- */

static int quick_slot(const kn_pool *pool, size_t size)
{
    return (int)(((size >> pool->shift) * UINT64_C(0x9E3779B97F4A7C15)) >> 58);
}

kn_block *kn_pool_take_quick(kn_pool *pool, kn_pool_arena *l, size_t size)
{
    int slot = quick_slot(pool, size);
    for (kn_block **link = &l->quick[slot]; *link; link = &(*link)->next)
        if ((*link)->asked == size) {
            kn_block *b = *link;
            *link = b->next;
            l->quick_depth[slot]--;
            l->quick_count--;
            return b;
        }
    return NULL;
}

void kn_pool_put_free(kn_pool *pool, kn_block *b)
{
    kn_pool_arena *l = b->home->owner;
    int slot = quick_slot(pool, b->asked);
    if (b->size > SMALL_LIMIT || l->quick_depth[slot] >= QUICK_DEPTH) {
        put_back(pool, b);
        return;
    }
    b->state = BLOCK_QUICK;
    b->next = l->quick[slot];
    l->quick[slot] = b;
    l->quick_depth[slot]++;
    l->quick_count++;
}

void kn_pool_flush_quick(kn_pool *pool, kn_pool_arena *l)
{
    if (l->quick_count == 0)
        return;
    for (int slot = 0; slot < QUICK_SLOTS; slot++) {
        kn_block *b = l->quick[slot], *next;
        l->quick[slot] = NULL;
        l->quick_depth[slot] = 0;
        for (; b; b = next) {
            next = b->next;
            put_back(pool, b);
        }
    }
    l->quick_count = 0;
}
