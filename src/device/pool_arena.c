/* Arenas of the pool: the memory of one stream or of one capture; blocks that other arenas use, which wait
 * for events before they are handed out again; arenas that have ended. */
#include "device/pool_arena.h"

#include <sched.h>

#include "base/alloc.h"
#include "base/os.h"
#include "device/pool_block.h"

/* ---- events ---- */

static void *take_event(kn_pool *pool)
{
    void *event = NULL;
    if (pool->idle_count > 0)
        return pool->idle_events[--pool->idle_count];
    return pool->device->backend->event_create(pool->device, 0, &event) == KILN_OK ? event : NULL;
}

static void give_event(kn_pool *pool, void *event)
{
    if (kn_grow(&pool->idle_events, &pool->idle_capacity, pool->idle_count, sizeof(void *)))
        pool->idle_events[pool->idle_count++] = event;
    else
        pool->device->backend->event_destroy(pool->device, event);
}

/* An event behind the work that is now queued on the stream. NULL: that work is over, since the function
 * waits for it if no event can be made. */
void *kn_pool_event_behind(kn_pool *pool, void *stream)
{
    const kn_backend *backend = pool->device->backend;
    void *event = take_event(pool);
    if (event && backend->event_record(pool->device, event, stream) == KILN_OK)
        return event;
    if (event)
        give_event(pool, event);
    backend->stream_synchronize(pool->device,
                                stream); /* a failure means that the device is lost: nothing runs any more */
    return NULL;
}

/* Gives back the events that are over, from the last; true when none is left. wait: until then. */
bool kn_pool_events_over(kn_pool *pool, void **events, int *count, bool wait)
{
    while (*count > 0) {
        bool done = true; /* a failing query means a lost device */
        if (pool->device->backend->event_query(pool->device, events[*count - 1], &done) == KILN_OK && !done) {
            if (!wait)
                return false;
            sched_yield();
            continue;
        }
        give_event(pool, events[--*count]);
    }
    return true;
}

bool kn_pool_stream_is_over(kn_pool *pool, void *stream, double most_ms)
{
    const kn_backend *backend = pool->device->backend;
    if (backend->kind != KN_CUDA)
        return true;
    if (!backend->stream_may_record(pool->device, stream))
        return false;
    void *event = kn_pool_event_behind(pool, stream);
    int count = event != NULL;
    double start = kn_os_now_ms();
    while (!kn_pool_events_over(pool, &event, &count, false) && kn_os_now_ms() - start < most_ms)
        sched_yield();
    if (count > 0)
        give_event(pool, event);
    return count == 0;
}

/* ---- arenas ---- */

kn_pool_arena *kn_pool_find_arena(kn_pool *pool, void *stream, uint64_t capture)
{
    kn_pool_arena *l = pool->recent;
    if (l && l->stream == stream && l->capture == capture)
        return l;
    for (l = pool->arenas; l; l = l->next)
        if (l->stream == stream && l->capture == capture && !l->has_ended)
            return pool->recent = l;
    return NULL;
}

kn_pool_arena *kn_pool_get_arena(kn_pool *pool, void *stream, uint64_t capture)
{
    kn_pool_arena *l = kn_pool_find_arena(pool, stream, capture);
    if (l)
        return l;
    if (!(l = kn_calloc(1, sizeof *l)))
        return NULL;
    l->stream = stream;
    l->capture = capture;
    l->next = pool->arenas;
    pool->arenas = pool->recent = l;
    if (capture)
        atomic_fetch_add(&pool->capture_arenas, 1);
    return l;
}

void kn_pool_drop_empty_arenas(kn_pool *pool)
{
    for (kn_pool_arena **link = &pool->arenas, *l; (l = *link);) {
        if (!l->has_ended || l->segments || l->references || l->event_count || l->parked) {
            link = &l->next;
            continue;
        }
        *link = l->next;
        kn_free(l->events);
        kn_free(l);
    }
}

static void drop_uses(kn_block *b)
{
    for (int i = 0; i < b->use_count; i++)
        b->uses[i]->references--;
    kn_free(b->uses);
    b->uses = NULL;
    b->events = NULL;
    b->use_count = b->event_count = 0;
}

void kn_pool_add_segment(kn_pool_arena *l, kn_segment *s)
{
    s->owner = l;
    s->previous = NULL;
    s->next = l->segments;
    if (s->next)
        s->next->previous = s;
    l->segments = s;
}

void kn_pool_remove_segment(kn_segment *s)
{
    if (s->next)
        s->next->previous = s->previous;
    if (s->previous)
        s->previous->next = s->next;
    else
        s->owner->segments = s->next;
}

/* ---- uses ---- */

/* Another arena uses the block; false where there is no memory to note it. */
bool kn_pool_add_use(kn_block *b, kn_pool_arena *l)
{
    for (int i = 0; i < b->use_count; i++)
        if (b->uses[i] == l)
            return true;
    size_t count = (size_t)b->use_count + 1; /* plus one for the events behind the arenas */
    void **both = kn_realloc(b->uses, 2 * count * sizeof *both);
    if (!both)
        return false;
    b->uses = (kn_pool_arena **)(void *)both;
    b->events = both + count;
    b->uses[b->use_count++] = l;
    l->references++;
    return true;
}

/* ---- coming back ---- */

void kn_pool_park(kn_block *b, kn_pool_arena *l)
{
    b->state = BLOCK_PARKED;
    b->next = l->parked;
    l->parked = b;
}

/* Converts the uses of a block into events; true if it has to wait for some. */
static bool record_uses(kn_pool *pool, kn_block *b)
{
    for (int i = 0; i < b->use_count; i++) {
        kn_pool_arena *user = b->uses[i];
        void *event = user->has_ended ? NULL : kn_pool_event_behind(pool, user->stream);
        if (user->has_ended)
            kn_pool_events_over(pool, user->events, &user->event_count,
                                true); /* the stream is gone: its last work will be */
        if (event)
            b->events[b->event_count++] = event;
        user->references--;
    }
    b->use_count = 0;
    return b->event_count > 0;
}

static void append_pending(kn_pool *pool, kn_block *b)
{
    b->state = BLOCK_PENDING;
    b->next = NULL;
    if (pool->pending_last)
        pool->pending_last->next = b;
    else
        pool->pending_first = b;
    pool->pending_last = b;
}

/* The capture, still alive, among the users of a block; its use is taken off. */
static kn_pool_arena *take_capture_use(kn_block *b)
{
    for (int i = 0; i < b->use_count; i++) {
        kn_pool_arena *l = b->uses[i];
        if (l->capture && !l->has_ended) {
            b->uses[i] = b->uses[--b->use_count];
            l->references--;
            return l;
        }
    }
    return NULL;
}

/* The arena of a captured user of the block; NULL: none. Behind a captured stream no event can be recorded:
 * the block keeps its uses until the capture's graph ends, and is released again then. */
static kn_pool_arena *captured_user(kn_pool *pool, const kn_block *b)
{
    const kn_backend *backend = pool->device->backend;
    bool is_captured = false;
    if (b->use_count == 0 || atomic_load_explicit(&pool->capture_arenas, memory_order_relaxed) == 0)
        return NULL;
    for (int i = 0; i < b->use_count && !is_captured; i++)
        if (!b->uses[i]->has_ended)
            is_captured = !backend->stream_may_record(pool->device, b->uses[i]->stream);
    kn_pool_arena *l = is_captured ? pool->arenas : NULL;
    while (l && (!l->capture || l->has_ended))
        l = l->next;
    return l;
}

void kn_pool_release(kn_pool *pool, kn_block *b)
{
    kn_pool_arena *capture = b->use_count > 0 ? take_capture_use(b) : NULL;
    if (!capture || capture == b->home->owner)
        capture = captured_user(pool, b);
    if (capture) {
        kn_pool_park(b, capture);
    } else if (b->use_count > 0 && record_uses(pool, b)) {
        append_pending(pool, b);
    } else {
        if (b->uses)
            drop_uses(b);
        kn_pool_put_free(pool, b);
    }
}

/* Frees blocks that no longer wait, oldest first. */
void kn_pool_settle_pending(kn_pool *pool, bool wait)
{
    while (pool->pending_first &&
           kn_pool_events_over(pool, pool->pending_first->events, &pool->pending_first->event_count, wait)) {
        kn_block *b = pool->pending_first;
        pool->pending_first = b->next;
        if (!b->next)
            pool->pending_last = NULL;
        drop_uses(b);
        kn_pool_put_free(pool, b);
    }
}

/* Gives the memory of a arena that has ended to another, which is well when its events are over. */
static void adopt(kn_pool *pool, kn_pool_arena *from, kn_pool_arena *to)
{
    kn_pool_flush_quick(pool, from);
    for (kn_segment *s; (s = from->segments);) {
        for (kn_block *b = s->first; b; b = b->after)
            if (b->state == BLOCK_FREE)
                kn_pool_take_from_bin(pool, b);
        kn_pool_remove_segment(s);
        kn_pool_add_segment(to, s);
        for (kn_block *b = s->first; b; b = b->after)
            if (b->state == BLOCK_FREE)
                kn_pool_put_in_bin(pool, b);
    }
    while (from->parked) {
        kn_block *b = from->parked;
        from->parked = b->next;
        kn_pool_release(pool, b);
    }
}

bool kn_pool_adopt_ended(kn_pool *pool, kn_pool_arena *to)
{
    bool found = false;
    for (kn_pool_arena *l = pool->arenas; l; l = l->next) {
        if (l == to || !l->has_ended || !kn_pool_events_over(pool, l->events, &l->event_count, false))
            continue;
        found = found || l->segments;
        adopt(pool, l, to);
    }
    kn_pool_drop_empty_arenas(pool);
    return found;
}
