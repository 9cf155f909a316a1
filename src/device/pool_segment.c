/* Segments of the pool: taken from the device and given back to it. */
#include "device/pool_segment.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"
#include "device/device_table.h"
#include "device/pool_block.h"
#include "device/pool_arena.h"

/* ---- segments ---- */

static void free_segment(kn_pool *pool, kn_segment *s)
{
    kn_pool_take_from_bin(pool, s->first);
    pool->device->backend->memory_free(pool->device, s->first->pointer);
    pool->held -= s->size;
    kn_pool_drop_block(pool, s->first);
    kn_pool_remove_segment(s);
    kn_free(s);
}

/* Gives wholly free segments back until at most keep bytes are cached. A capture's memory stays: its graph is
 * replayed at those addresses. */
void kn_pool_trim(kn_pool *pool, size_t keep)
{
    kn_pool_arena *heir = kn_pool_get_arena(pool, NULL, 0);
    kn_pool_settle_pending(pool, false);
    if (heir)
        kn_pool_adopt_ended(pool, heir);
    for (kn_pool_arena *l = pool->arenas; l; l = l->next) {
        if (l->capture || l->has_ended)
            continue;
        kn_pool_flush_quick(pool, l);
        for (kn_segment *s = l->segments, *next; s && pool->held - pool->used > keep; s = next) {
            next = s->next;
            if (s->first->state == BLOCK_FREE && !s->first->after)
                free_segment(pool, s);
        }
    }
}

static kiln_status take_from_device(kn_pool *pool, size_t size, void **out)
{
    if (pool->limit && (size > pool->limit || pool->held > pool->limit - size))
        return kn_error(KILN_ERROR_MEMORY, "the pool's limit of %zu bytes is reached", pool->limit);
    return pool->device->backend->memory_alloc(pool->device, size, out);
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

/* Asks the device for a segment; if it has none, for a smaller one, then again after freeing all cached
 * memory, then once more after waiting for all pending blocks. *size: the size of the segment. */
static kiln_status find_memory(kn_pool *pool, size_t wanted, size_t *size, void **out)
{
    kiln_status status = KILN_ERROR_MEMORY;
    for (int attempt = 0; attempt < 4 && status == KILN_ERROR_MEMORY; attempt++) {
        if (attempt == 1 && *size == wanted)
            continue;
        if (attempt == 1)
            *size = wanted;
        if (attempt == 3)
            kn_pool_settle_pending(pool, true);
        if (attempt >= 2)
            kn_pool_trim(pool, 0);
        status = take_from_device(pool, *size, out);
    }
    return status == KILN_ERROR_MEMORY ? say_exhausted(pool, wanted) : status;
}

/* A new segment; its one block is left free but in no bin. */
kiln_status kn_pool_new_segment(kn_pool *pool, kn_pool_arena *l, size_t wanted, kn_block **out)
{
    void *memory = NULL;
    size_t size = segment_size(wanted);
    kn_segment *s = kn_calloc(1, sizeof *s);
    if (!s)
        return kn_error_memory(sizeof *s, "the memory pool");
    kiln_status status = find_memory(pool, wanted, &size, &memory);
    if (status == KILN_OK && !(s->first = kn_pool_new_block(pool, s, memory, size))) {
        pool->device->backend->memory_free(pool->device, memory);
        status = kn_error_memory(sizeof *s->first, "the memory pool");
    }
    if (status != KILN_OK) {
        kn_free(s);
        return status;
    }
    s->size = size;
    s->is_small = wanted <= SMALL_LIMIT;
    kn_pool_add_segment(l, s);
    pool->held += size;
    pool->device_allocations++;
    *out = s->first;
    return KILN_OK;
}
