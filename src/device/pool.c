/* The caching allocator. A segment is a range of addresses, cut into blocks: one whose pages are mapped where
 * blocks need them (pool_pages.c), or one allocation of the device. Segments belong to an arena: the memory
 * of one stream, within which a block that is freed may be handed out again at once, because the stream runs
 * in order. Lookups go: the arena's quick lists (the very size that was asked before), its bins (best fit,
 * splitting), then everything that has become free is merged, and only then the device is asked. Small and
 * large requests have segments of their own, so that a small block never pins a large one. */
#include "device/pool.h"

#include <math.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/setting.h"
#include "device/device_table.h"
#include "device/lost.h"
#include "device/pool_block.h"
#include "device/pool_arena.h"
#include "device/pool_segment.h"

/* ---- handing out ---- */

static kn_block *take_binned(kn_pool *pool, kn_pool_arena *l, size_t size)
{
    kn_block *b = kn_pool_find_in_bins(pool, &l->sets[size <= SMALL_LIMIT], size);
    if (b)
        kn_pool_take_from_bin(pool, b);
    return b;
}

static kiln_status take_slowly(kn_pool *pool, kn_pool_arena *l, size_t size, kn_block **out)
{
    kn_pool_settle_pending(pool, false);
    if (!(*out = kn_pool_take_quick(pool, l, size)))
        *out = take_binned(pool, l, size);
    if (!*out && (l->quick_count > 0 || kn_pool_adopt_ended(pool, l))) {
        kn_pool_flush_quick(pool, l);
        kn_pool_adopt_ended(pool, l);
        *out = take_binned(pool, l, size);
    }
    l->references++; /* a caller's source is called without the lock: the arena must stay */
    kiln_status status = *out ? KILN_OK : kn_pool_grow(pool, l, size, out);
    l->references--;
    if (status == KILN_OK) {
        (*out)->state = BLOCK_USED; /* before cutting: the rest must not be joined with it */
        kn_pool_cut_block(pool, *out, size);
        (*out)->asked = size;
    }
    return status;
}

kiln_status kn_pool_take(void **out, size_t *size, kn_pool *pool, void *stream, uint64_t capture)
{
    size_t wanted = *size ? (*size + pool->granularity - 1) & ~(pool->granularity - 1) : pool->granularity;
    kiln_status status = KILN_OK;
    kn_lock_take(pool->lock);
    kn_pool_arena *l = kn_pool_get_arena(pool, stream, capture);
    kn_block *b = l ? kn_pool_take_quick(pool, l, wanted) : NULL;
    if (b)
        b->state = BLOCK_USED;
    else
        status = l ? take_slowly(pool, l, wanted, &b) : kn_error_memory("the memory pool");
    if (pool->returned)
        kn_pool_return_segments(pool);
    if (status == KILN_OK) {
        pool->allocations++;
        pool->handed_out += b->size;
        pool->used += b->size;
        if (pool->used > pool->peak)
            pool->peak = pool->used;
        *size = b->size;
        *out = b->pointer;
    }
    kn_lock_give(pool->lock);
    return status;
}

/* ---- coming back ---- */

static kn_pool_arena *find_capture(const kn_pool *pool, uint64_t capture)
{
    kn_pool_arena *l = pool->arenas;
    while (l && (l->capture != capture || l->has_ended))
        l = l->next;
    return l;
}

/* The captured work may use a block that is freed while its stream is being captured: the block then waits
 * for the graph's end. */
static void free_in_capture(kn_pool *pool, kn_block *b)
{
    uint64_t capture = 0;
    kn_pool_arena *l = b->home->owner;
    if (l->capture || l->has_ended || kn_device_capture_of(pool->device, l->stream, &capture) != KILN_OK ||
        !capture)
        kn_pool_release(pool, b);
    else if ((l = find_capture(pool, capture)))
        kn_pool_park(b, l);
    else
        kn_pool_release(pool, b);
}

/* A block whose stream ended may have passed to another arena. A new stream can have the old one's handle,
 * and then the block's owner saw no need to say that it was used there. */
static void note_own_stream(kn_pool *pool, kn_block *b, void *stream)
{
    kn_pool_arena *l = kn_pool_find_arena(pool, stream, 0);
    if (l && l != b->home->owner && !kn_pool_add_use(b, l))
        pool->device->backend->stream_synchronize(pool->device, stream);
}

bool kn_pool_give(kn_pool *pool, void *pointer, void *stream)
{
    kn_lock_take(pool->lock);
    kn_block *b = kn_pool_find_block(pool, pointer);
    bool is_ours = b && b->state == BLOCK_USED;
    if (is_ours) {
        pool->used -= b->size;
        if (b->home->owner->stream != stream)
            note_own_stream(pool, b, stream);
        if (b->use_count == 0 && atomic_load_explicit(&pool->capture_arenas, memory_order_relaxed) == 0) {
            kn_pool_put_free(pool, b);
        } else {
            kn_error_state before;
            kn_error_save(&before);
            free_in_capture(pool, b);
            kn_error_restore(&before);
        }
    }
    kn_lock_give(pool->lock);
    return is_ours;
}

kiln_status kn_pool_note_use(kn_pool *pool, void *pointer, void *stream, uint64_t capture)
{
    kiln_status status = KILN_OK;
    kn_lock_take(pool->lock);
    kn_block *b = kn_pool_find_block(pool, pointer);
    kn_pool_arena *l = b ? kn_pool_get_arena(pool, stream, capture) : NULL;
    bool is_known =
        !b || b->state != BLOCK_USED || b->home->owner == l; /* memory of others is not ours to free */
    if (!is_known && (!l || !kn_pool_add_use(b, l)))
        status = kn_error_memory("the memory pool");
    kn_lock_give(pool->lock);
    return status;
}

/* ---- arenas that begin and end ---- */

kiln_status kn_pool_stream_begins(kn_pool *pool, void *stream)
{
    kn_lock_take(pool->lock);
    bool done = kn_pool_get_arena(pool, stream, 0);
    kn_lock_give(pool->lock);
    return done ? KILN_OK : kn_error_memory("the memory pool");
}

static void end_arena(kn_pool *pool, kn_pool_arena *l, void *event)
{
    l->has_ended = true;
    if (pool->recent == l)
        pool->recent = NULL;
    if (l->capture)
        atomic_fetch_sub(&pool->capture_arenas, 1);
    if (event && (l->events = kn_malloc(sizeof *l->events))) {
        l->events[l->event_count++] = event;
    } else if (event) {
        int one = 1;
        kn_pool_events_over(pool, &event, &one, true);
    }
}

kiln_status kn_pool_capture_begins(kn_pool *pool, void *stream, uint64_t capture)
{
    kn_lock_take(pool->lock);
    bool done = kn_pool_get_arena(pool, stream, capture);
    kn_lock_give(pool->lock);
    return done ? KILN_OK : kn_error_memory("the memory pool");
}

void kn_pool_capture_ends(kn_pool *pool, uint64_t capture, bool is_running, void *stream)
{
    kn_error_state before;
    if (atomic_load(&pool->capture_arenas) == 0)
        return;
    kn_error_save(&before);
    kn_lock_take(pool->lock);
    for (kn_pool_arena *l = pool->arenas; l; l = l->next)
        if (l->capture == capture && !l->has_ended)
            end_arena(pool, l, is_running ? kn_pool_event_behind(pool, stream) : NULL);
    kn_pool_drop_empty_arenas(pool);
    kn_lock_give(pool->lock);
    kn_error_restore(&before);
}

void kn_pool_stream_ends(kn_pool *pool, void *stream)
{
    kn_error_state before;
    if (!stream || kn_device_is_lost(pool->device))
        return;
    kn_error_save(&before);
    kn_lock_take(pool->lock);
    kn_pool_arena *l = kn_pool_find_arena(pool, stream, 0);
    if (l)
        end_arena(pool, l, kn_pool_event_behind(pool, stream));
    kn_pool_drop_empty_arenas(pool);
    kn_lock_give(pool->lock);
    kn_error_restore(&before);
}

/* ---- the pool ---- */

static kn_pool_source own_source(const kn_pool *pool)
{
    const kn_backend *backend = pool->device->backend;
    return (kn_pool_source){backend->memory_alloc, backend->memory_free, true, KILN_MEMORY_SOURCE_INIT};
}

kn_pool *kn_pool_create(kn_device *device, size_t granularity)
{
    kn_pool *pool = kn_calloc(1, sizeof *pool);
    kn_block **buckets = kn_calloc(1024, sizeof(kn_block *));
    if (!pool || !buckets) {
        kn_free(pool);
        kn_free(buckets);
        kn_error_memory("the memory pool");
        return NULL;
    }
    pool->device = device;
    pool->source = own_source(pool);
    pool->granularity = granularity;
    pool->page = kn_setting_is("KILN_MEMORY", "plain") ? 0 : device->backend->memory_page(device);
    pool->shift = __builtin_ctzll(granularity);
    pool->buckets = buckets;
    pool->bucket_mask = 1023;
    int slot = kn_device_slot(device->id);
    pool->lock = slot ? KN_LOCK_POOL_CUDA + (kn_lock)slot : KN_LOCK_POOL_HOST;
    return pool;
}

kn_pool *kn_pool_create_over(kn_device *device, size_t granularity,
                             kiln_status (*alloc)(kn_device *device, size_t size, void **out),
                             void (*free)(kn_device *device, void *pointer))
{
    kn_pool *pool = kn_pool_create(device, granularity);
    if (pool)
        pool->source = (kn_pool_source){alloc, free, false, KILN_MEMORY_SOURCE_INIT};
    return pool;
}

static void free_parts(kn_pool *pool)
{
    for (kn_pool_arena *l = pool->arenas, *next; l; l = next) {
        next = l->next;
        kn_free(l->events);
        kn_free(l);
    }
    for (kn_block *b = pool->spare, *next; b; b = next) {
        next = b->next;
        kn_free(b);
    }
    while (pool->idle_count > 0)
        pool->device->backend->event_destroy(pool->device, pool->idle_events[--pool->idle_count]);
    kn_free(pool->idle_events);
    kn_free(pool->buckets);
    kn_free(pool);
}

void kn_pool_free(kn_pool *pool)
{
    if (!pool)
        return;
    kn_lock_take(pool->lock);
    kn_pool_trim(pool, 0, INFINITY);
    kn_pool_return_segments(pool);
    bool is_unused = pool->block_count == 0;
    kn_lock_give(pool->lock);
    if (is_unused)
        free_parts(pool);
}

void kn_pool_read_stats(kiln_memory_stats *out, kn_pool *pool)
{
    kn_lock_take(pool->lock);
    *out = (kiln_memory_stats){
        out->struct_size,         pool->used,     pool->held, pool->peak, pool->limit, pool->allocations,
        pool->device_allocations, pool->peak_held};
    kn_lock_give(pool->lock);
}

void kn_pool_set_limit(kn_pool *pool, size_t limit_bytes)
{
    kn_lock_take(pool->lock);
    pool->limit = limit_bytes;
    kn_lock_give(pool->lock);
}

void kn_pool_set_source(kn_pool *pool, const kiln_memory_source *source)
{
    kn_pool_source fresh = own_source(pool);
    if (source) {
        fresh.is_mapped = false;
        fresh.caller = *source;
    }
    if (source && source->is_managed)
        fresh.alloc = pool->device->backend->memory_alloc_managed;
    kn_lock_take(pool->lock);
    pool->source = fresh;
    kn_lock_give(pool->lock);
}

void kn_pool_give_back(kn_pool *pool, size_t keep)
{
    kn_lock_take(pool->lock);
    kn_pool_trim(pool, keep, INFINITY);
    kn_pool_return_segments(pool);
    kn_lock_give(pool->lock);
}

static kiln_status show_segment(kn_pool *pool, const kn_segment *s, kn_pool_shower *show, kn_device *peer)
{
    kiln_status status = KILN_OK;
    for (size_t page = 0; s->extents && status == KILN_OK && page < s->size / pool->page; page++)
        if (s->extents[page].size > 0)
            status = show(pool->device, s->first->pointer + page * pool->page, s->extents[page].size, peer);
    return status;
}

kiln_status kn_pool_show(kn_pool *pool, kn_pool_shower *show, kn_device *peer)
{
    kiln_status status = KILN_OK;
    kn_lock_take(pool->lock);
    for (kn_pool_arena *l = pool->arenas; l; l = l->next)
        for (kn_segment *s = l->segments; s && status == KILN_OK; s = s->next)
            status = show_segment(pool, s, show, peer);
    kn_lock_give(pool->lock);
    return status;
}
