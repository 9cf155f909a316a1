/* Mapped segments. A segment grows by pages where the fewest are needed: between two free blocks, or at its
 * end. Free pages can go back to the device from anywhere in it, so that memory is lost only where a page has
 * a block in use. Addresses without pages are blocks, too: holes. */
#include "device/pool_pages.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/os.h"
#include "device/pool_arena.h"
#include "device/pool_block.h"

/* The bytes of one mapping, a part of what is mapped at once: larger ones cost fewer calls, smaller ones go
 * back more easily, and blocks that fill them again are about as large. */
enum { EXTENT_PARTS = 16, EXTENT_MIN = 4 << 20, EXTENT_MAX = 32 << 20 };
/* One range has at most one in so many of the addresses that the process may have. */
enum { ADDRESS_SHARE = 4 };

/* Where pages are to be mapped: at the end of a hole that touches a free block, or at its beginning. */
typedef struct place {
    kn_block *hole;
    size_t offset, size; /* in the hole */
} place;

static size_t round_up(size_t size, size_t multiple)
{
    return (size + multiple - 1) / multiple * multiple;
}

static char *base_of(const kn_segment *s)
{
    return s->first->pointer;
}

/* ---- holes ---- */

static void add_hole(kn_block *b)
{
    kn_segment *s = b->home;
    b->state = BLOCK_HOLE;
    b->previous = NULL;
    b->next = s->holes;
    if (b->next)
        b->next->previous = b;
    s->holes = b;
}

static void remove_hole(kn_block *b)
{
    if (b->next)
        b->next->previous = b->previous;
    *(b->previous ? &b->previous->next : &b->home->holes) = b->next;
}

static bool is_in_state(const kn_block *b, kn_block_state state)
{
    return b && b->state == state;
}

static size_t free_bytes(const kn_block *b)
{
    return is_in_state(b, BLOCK_FREE) ? b->size : 0;
}

/* The fewest pages of a hole that give a block of `wanted` bytes; false where it is too small. */
static bool fit_hole(const kn_pool *pool, kn_block *hole, size_t wanted, place *out)
{
    size_t before = free_bytes(hole->before), after = free_bytes(hole->after);
    size_t near = before >= after ? before : after;
    size_t size = round_up(near < wanted ? wanted - near : 1, pool->page);
    *out = (place){hole, before >= after || size >= hole->size ? 0 : hole->size - size, size};
    if (size > hole->size)
        out->size = hole->size;
    return size <= hole->size || before + hole->size + after >= wanted;
}

/* The place that needs the fewest pages; of equal ones the smallest hole. The hole of `out` is NULL where
 * there is none. */
static void find_place(const kn_pool *pool, const kn_pool_arena *l, size_t wanted, place *out)
{
    place here;
    *out = (place){NULL, 0, 0};
    for (kn_segment *s = l->segments; s; s = s->next)
        for (kn_block *h = s->is_small == (wanted <= SMALL_LIMIT) ? s->holes : NULL; h; h = h->next) {
            if (!fit_hole(pool, h, wanted, &here))
                continue;
            if (!out->hole || here.size < out->size || (here.size == out->size && h->size < out->hole->size))
                *out = here;
        }
}

/* ---- segments ---- */

static void free_range(kn_pool *pool, kn_segment *s)
{
    pool->device->backend->memory_unreserve(pool->device, base_of(s), s->size);
    kn_pool_drop_block(pool, s->first);
    kn_free(s->extents);
    kn_free(s);
}

static void drop_if_empty(kn_pool *pool, kn_segment *s)
{
    if (!s->first || s->first->state != BLOCK_HOLE || s->first->after)
        return;
    kn_pool_remove_segment(s);
    free_range(pool, s);
}

/* A range as large as the device's memory, all of it a hole. A process that may have few addresses keeps most
 * of them for others. */
static kiln_status reserve_range(kn_pool *pool, kn_pool_arena *l, size_t wanted)
{
    const kn_backend *backend = pool->device->backend;
    size_t available = 0, total = 0;
    void *range = NULL;
    kiln_status status = backend->memory_info(pool->device, &available, &total);
    size_t most = kn_os_address_limit() / ADDRESS_SHARE, size = total < most ? total : most;
    size -= size % pool->page;
    if (status != KILN_OK || wanted > size)
        return KILN_ERROR_UNSUPPORTED;
    if (backend->memory_reserve(pool->device, size, wanted <= SMALL_LIMIT, &range) != KILN_OK)
        return KILN_ERROR_UNSUPPORTED;
    kn_segment *s = kn_calloc(1, sizeof *s);
    kn_extent *extents = kn_calloc(size / pool->page, sizeof *extents);
    if (!s || !extents || !(s->first = kn_pool_new_block(pool, s, range, size))) {
        backend->memory_unreserve(pool->device, range, size);
        kn_free(s);
        kn_free(extents);
        return kn_error_memory("the memory pool");
    }
    s->size = size;
    s->is_small = wanted <= SMALL_LIMIT;
    s->extents = extents;
    add_hole(s->first);
    kn_pool_add_segment(l, s);
    return KILN_OK;
}

/* ---- extents ---- */

static void unmap_extent(kn_pool *pool, kn_segment *s, size_t page)
{
    kn_extent *e = &s->extents[page];
    pool->device->backend->memory_unmap(pool->device, base_of(s) + page * pool->page, e->size, e->handle);
    pool->held -= e->size;
    *e = (kn_extent){0, 0};
}

/* The extent that ends in front of a page. */
static size_t extent_before(const kn_segment *s, size_t page)
{
    while (s->extents[--page].size == 0)
        ;
    return page;
}

static size_t extent_pages(const kn_pool *pool, size_t pages)
{
    size_t size = pages * pool->page / EXTENT_PARTS;
    size = size < EXTENT_MIN ? EXTENT_MIN : size > EXTENT_MAX ? EXTENT_MAX : size;
    return size < pool->page ? 1 : size / pool->page;
}

static kiln_status map_extents(kn_pool *pool, kn_segment *s, size_t first, size_t end)
{
    const kn_backend *backend = pool->device->backend;
    size_t most = extent_pages(pool, end - first), at = first;
    kiln_status status = KILN_OK;
    while (at < end && status == KILN_OK) {
        size_t pages = end - at < most ? end - at : most, size = pages * pool->page;
        uint64_t handle = 0;
        status = backend->memory_map(pool->device, base_of(s) + at * pool->page, size, &handle);
        if (status == KILN_OK) {
            s->extents[at] = (kn_extent){size, handle};
            kn_pool_note_held(pool, size);
            at += pages;
        }
    }
    while (status != KILN_OK && at > first)
        unmap_extent(pool, s, at = extent_before(s, at));
    return status;
}

/* ---- growing ---- */

/* Cuts the place out of its hole; NULL without memory. */
static kn_block *cut_hole(kn_pool *pool, const place *where)
{
    kn_block *b = where->hole;
    if (where->offset > 0)
        return kn_pool_split_block(pool, b, where->offset);
    if (where->size < b->size) {
        kn_block *rest = kn_pool_split_block(pool, b, where->size);
        if (!rest)
            return NULL;
        remove_hole(b);
        add_hole(rest);
    } else {
        remove_hole(b);
    }
    return b;
}

/* Becomes a hole (again), one with the holes beside it. */
static void make_hole(kn_pool *pool, kn_block *b)
{
    if (is_in_state(b->after, BLOCK_HOLE)) {
        remove_hole(b->after);
        kn_pool_join_after(pool, b);
    }
    if (is_in_state(b->before, BLOCK_HOLE)) {
        b = b->before;
        remove_hole(b);
        kn_pool_join_after(pool, b);
    }
    add_hole(b);
}

static kn_block *join_free(kn_pool *pool, kn_block *b)
{
    if (is_in_state(b->after, BLOCK_FREE)) {
        kn_pool_take_from_bin(pool, b->after);
        kn_pool_join_after(pool, b);
    }
    if (is_in_state(b->before, BLOCK_FREE)) {
        b = b->before;
        kn_pool_take_from_bin(pool, b);
        kn_pool_join_after(pool, b);
    }
    b->state = BLOCK_FREE;
    return b;
}

static kiln_status map_place(kn_pool *pool, const place *where, kn_block **out)
{
    kn_segment *s = where->hole->home;
    if (pool->limit && (where->size > pool->limit || pool->held > pool->limit - where->size))
        return kn_error(KILN_ERROR_MEMORY, "the pool's limit of %zu bytes is reached", pool->limit);
    kn_block *b = cut_hole(pool, where);
    if (!b)
        return kn_error_memory("the memory pool");
    size_t first = (size_t)(b->pointer - base_of(s)) / pool->page;
    kiln_status status = map_extents(pool, s, first, first + b->size / pool->page);
    if (status == KILN_OK)
        *out = join_free(pool, b);
    else
        make_hole(pool, b);
    return status;
}

kiln_status kn_pool_map_block(kn_pool *pool, kn_pool_arena *l, size_t wanted, kn_block **out)
{
    place where;
    find_place(pool, l, wanted, &where);
    if (!where.hole) {
        kiln_status status = reserve_range(pool, l, wanted);
        if (status != KILN_OK)
            return status;
        find_place(pool, l, wanted, &where);
    }
    if (!where.hole)
        return KILN_ERROR_UNSUPPORTED;
    kn_segment *s = where.hole->home;
    kiln_status status = map_place(pool, &where, out);
    if (status != KILN_OK)
        drop_if_empty(pool, s);
    else
        pool->device_allocations++;
    return status;
}

/* ---- shrinking ---- */

/* The extents that lie in a block, as pages; false: none does. */
static bool find_extents(const kn_pool *pool, const kn_block *b, size_t *first, size_t *end)
{
    const kn_segment *s = b->home;
    size_t begin = (size_t)(b->pointer - base_of(s)), limit = (begin + b->size) / pool->page;
    size_t at = round_up(begin, pool->page) / pool->page;
    while (at < limit && s->extents[at].size == 0)
        at++;
    *first = *end = at;
    while (*end < limit && *end + s->extents[*end].size / pool->page <= limit)
        *end += s->extents[*end].size / pool->page;
    return *first < *end;
}

/* Cuts a free block at both ends of [from, from + size); NULL without memory. The parts in front and behind
 * stay free. */
static kn_block *isolate(kn_pool *pool, kn_block *b, char *from, size_t size)
{
    kn_block *middle = b;
    kn_pool_take_from_bin(pool, b);
    if (from > b->pointer && !(middle = kn_pool_split_block(pool, b, (size_t)(from - b->pointer))))
        middle = NULL;
    if (middle && size < middle->size && !kn_pool_split_block(pool, middle, size)) {
        if (middle != b)
            kn_pool_join_after(pool, b);
        middle = NULL;
    }
    if (!middle || middle != b)
        kn_pool_put_in_bin(pool, b);
    if (middle && is_in_state(middle->after, BLOCK_FREE))
        kn_pool_put_in_bin(pool, middle->after);
    return middle;
}

/* The last extents of a free block, until at most keep bytes are cached. */
static void unmap_part(kn_pool *pool, kn_block *b, size_t keep)
{
    kn_segment *s = b->home;
    size_t first, end, excess = pool->held - pool->used - keep, size = 0;
    if (!find_extents(pool, b, &first, &end))
        return;
    size_t from = end;
    while (from > first && size < excess)
        size += s->extents[from = extent_before(s, from)].size;
    kn_block *gone = isolate(pool, b, base_of(s) + from * pool->page, size);
    if (!gone)
        return; /* without memory for the parts it stays */
    while (end > from)
        unmap_extent(pool, s, end = extent_before(s, end));
    make_hole(pool, gone);
}

bool kn_pool_has_free_pages(const kn_pool *pool, const kn_segment *s)
{
    size_t first, end;
    for (const kn_block *b = s->first; b; b = b->after)
        if (b->state == BLOCK_FREE && find_extents(pool, b, &first, &end))
            return true;
    return false;
}

void kn_pool_unmap_free(kn_pool *pool, kn_segment *s, size_t keep)
{
    for (kn_block *b = s->first, *next; b && pool->held - pool->used > keep; b = next) {
        next = b->after;
        while (is_in_state(next, BLOCK_HOLE)) /* which may become one with the new hole */
            next = next->after;
        if (b->state == BLOCK_FREE)
            unmap_part(pool, b, keep);
    }
    drop_if_empty(pool, s);
}
