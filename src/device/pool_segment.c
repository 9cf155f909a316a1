/* Segments of the pool: taken from the device and given back to it. */
#include "device/pool_segment.h"

#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/error.h"
#include "device/device_table.h"
#include "device/pool_block.h"
#include "device/pool_arena.h"
#include "device/pool_pages.h"

/* The bytes that may be held beyond the peak: some pages, a share of the peak, and one of the bytes that
 * moved beyond a small share of all that was handed out. Pages of a stream that stays busy are not moved. */
enum { SPARE = 16 << 20, PEAK_SHARE = 256, SMALL_SHARE = 64, MOVED_SHARE = 32, MOVE_WAIT_MS = 5 };
/* More pages move than have to, since the next block would wait for its own. */
enum { MOVE_MORE = 8 << 20 };

/* ---- giving back ---- */

static void free_segment(kn_pool *pool, kn_segment *s)
{
    kn_pool_take_from_bin(pool, s->first);
    pool->held -= s->size;
    kn_pool_drop_block(pool, s->first);
    kn_pool_remove_segment(s);
    if (s->source.caller.free) {
        s->next = pool->returned;
        pool->returned = s;
        return;
    }
    s->source.free(pool->device, s->memory);
    kn_free(s);
}

static void return_memory(const kn_pool *pool, const kn_pool_source *source, void *memory, size_t size)
{
    KN_UNCANCELLED;
    if (source->caller.free)
        source->caller.free(pool->device->id, memory, size, source->caller.user);
    else
        source->free(pool->device, memory);
}

void kn_pool_return_segments(kn_pool *pool)
{
    kn_segment *list = pool->returned;
    if (!list)
        return;
    pool->returned = NULL;
    kn_lock_give(pool->lock);
    for (kn_segment *next; list; list = next) {
        next = list->next;
        return_memory(pool, &list->source, list->memory, list->size);
        kn_free(list);
    }
    kn_lock_take(pool->lock);
}

static bool is_free_whole(const kn_segment *s)
{
    return !s->extents && s->first->state == BLOCK_FREE && !s->first->after;
}

static void trim_arena(kn_pool *pool, kn_pool_arena *l, size_t keep, double most_ms)
{
    enum { UNKNOWN, OVER, BUSY } work = UNKNOWN; /* unmapping does not wait for it */
    kn_pool_flush_quick(pool, l);
    for (kn_segment *s = l->segments, *next; s && pool->held - pool->used > keep; s = next) {
        next = s->next;
        bool has_pages = s->extents && kn_pool_has_free_pages(pool, s);
        if (has_pages && work == UNKNOWN)
            work = kn_pool_stream_is_over(pool, l->stream, most_ms) ? OVER : BUSY;
        if (has_pages && work == OVER)
            kn_pool_unmap_free(pool, s, keep);
        else if (is_free_whole(s))
            free_segment(pool, s);
    }
}

void kn_pool_trim(kn_pool *pool, size_t keep, double most_ms)
{
    kn_pool_arena *heir = kn_pool_get_arena(pool, NULL, 0);
    kn_pool_settle_pending(pool, false);
    if (heir)
        kn_pool_adopt_ended(pool, heir);
    for (kn_pool_arena *l = pool->arenas; l; l = l->next)
        if (!l->capture && !l->has_ended)
            trim_arena(pool, l, keep, most_ms);
}

/* ---- growing ---- */

/* Without the pool's lock, since it may call kiln. */
static kiln_status take_from_caller(kn_pool *pool, const kn_pool_source *source, size_t size, void **out)
{
    KN_UNCANCELLED;
    kn_lock_give(pool->lock);
    *out = source->caller.alloc(pool->device->id, size, source->caller.user);
    kiln_status status = *out ? KILN_OK : kn_error(KILN_ERROR_MEMORY, "the caller's source gave no memory");
    if (*out && (uintptr_t)*out % pool->granularity) {
        status =
            kn_error(KILN_ERROR_INVALID, "the caller's source gave memory at %p; expected a multiple of %zu",
                     *out, pool->granularity);
        source->caller.free(pool->device->id, *out, size, source->caller.user);
    }
    kn_lock_take(pool->lock);
    return status;
}

static kiln_status take_from_source(kn_pool *pool, const kn_pool_source *source, size_t size, void **out)
{
    if (pool->limit && (size > pool->limit || pool->held > pool->limit - size))
        return kn_error(KILN_ERROR_MEMORY, "the pool's limit of %zu bytes is reached", pool->limit);
    return source->caller.alloc ? take_from_caller(pool, source, size, out)
                                : source->alloc(pool->device, size, out);
}

static size_t segment_size(size_t size)
{
    if (size <= SMALL_LIMIT)
        return SMALL_SEGMENT;
    if (size < MEDIUM_LIMIT)
        return MEDIUM_SEGMENT;
    return (size + SMALL_SEGMENT - 1) / SMALL_SEGMENT * SMALL_SEGMENT;
}

static kiln_status say_exhausted(kn_pool *pool, size_t size)
{
    char name[24], reason[200], limit[48] = "none";
    size_t available = 0, total = 0;
    snprintf(reason, sizeof reason, "%s", kiln_error_message());
    if (pool->limit)
        snprintf(limit, sizeof limit, "%zu", pool->limit);
    if (pool->device->backend->memory_info(pool->device, &available, &total) != KILN_OK)
        available = total = 0;
    return kn_error(
        KILN_ERROR_MEMORY,
        "out of memory on %s: %zu bytes wanted; the pool has %zu in use and holds %zu (limit %s), the "
        "device has %zu of %zu free: %s",
        kn_device_write_name(pool->device->id, name, sizeof name), size, pool->used, pool->held, limit,
        available, total, reason);
}

/* A segment of its own kind; its one block is left free but in no bin. */
static kiln_status new_segment(kn_pool *pool, kn_pool_arena *l, size_t wanted, size_t size, kn_block **out)
{
    kn_segment *s = kn_calloc(1, sizeof *s);
    if (!s)
        return kn_error_memory("the memory pool");
    s->source = pool->source;
    kiln_status status = take_from_source(pool, &s->source, size, &s->memory);
    if (status == KILN_OK && !(s->first = kn_pool_new_block(pool, s, s->memory, size))) {
        kn_lock_give(pool->lock);
        return_memory(pool, &s->source, s->memory, size);
        kn_lock_take(pool->lock);
        status = kn_error_memory("the memory pool");
    }
    if (status != KILN_OK) {
        kn_free(s);
        return status;
    }
    s->size = size;
    s->is_small = wanted <= SMALL_LIMIT;
    kn_pool_add_segment(l, s);
    kn_pool_note_held(pool, size);
    pool->device_allocations++;
    *out = s->first;
    return KILN_OK;
}

/* By pages; where there are no addresses for these, by a segment; where a limit leaves less than either, by a
 * segment of what is wanted. */
static kiln_status grow_arena(kn_pool *pool, kn_pool_arena *l, size_t wanted, kn_block **out)
{
    bool is_mapped = pool->page && pool->source.is_mapped;
    kiln_status status = is_mapped ? kn_pool_map_block(pool, l, wanted, out) : KILN_ERROR_UNSUPPORTED;
    if (status == KILN_ERROR_UNSUPPORTED)
        status = new_segment(pool, l, wanted, segment_size(wanted), out);
    if (status == KILN_ERROR_MEMORY && segment_size(wanted) != wanted)
        status = new_segment(pool, l, wanted, wanted, out);
    return status;
}

/* Scattered free pages go back first where the pool would hold much more than its blocks needed at once. Many
 * moves make that more, so that a program whose blocks never fit does not go on moving pages for ever. */
static void make_way(kn_pool *pool, size_t wanted)
{
    size_t busy = pool->used + wanted, peak = busy > pool->peak ? busy : pool->peak, before = pool->held;
    uint64_t small = pool->handed_out / SMALL_SHARE, excess = pool->moved > small ? pool->moved - small : 0;
    size_t most = peak + SPARE + peak / PEAK_SHARE + (size_t)(excess / MOVED_SHARE);
    if (!pool->page || pool->held + wanted <= most)
        return;
    kn_pool_trim(pool, most - busy - MOVE_MORE, MOVE_WAIT_MS);
    pool->moved += before - pool->held;
}

kiln_status kn_pool_grow(kn_pool *pool, kn_pool_arena *l, size_t wanted, kn_block **out)
{
    make_way(pool, wanted);
    kiln_status status = grow_arena(pool, l, wanted, out);
    for (int again = 0; again < 2 && status == KILN_ERROR_MEMORY; again++) {
        if (again > 0)
            kn_pool_settle_pending(pool, true);
        kn_pool_trim(pool, 0, INFINITY);
        kn_pool_return_segments(pool);
        status = grow_arena(pool, l, wanted, out);
    }
    return status == KILN_ERROR_MEMORY ? say_exhausted(pool, wanted) : status;
}
