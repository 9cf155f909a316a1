/* The caching allocator. A segment is one allocation of the device, cut into blocks. Segments belong to a
 * lane: the memory of one stream, within which a block that is freed may be handed out again at once, because
 * the stream runs in order. Lookups go: the lane's quick lists (the very size that was asked before), its
 * bins (best fit, splitting), then everything that has become free is merged, and only then the device is
 * asked. Small and large requests have segments of their own, so that a small block never pins a large one.
 */
#include "device/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "device/device_private.h"

enum {
    SUBDIVISIONS = 8, /* bins between two powers of two */
    BINS = 64 * SUBDIVISIONS / 2,
    BIN_WORDS = BINS / 64,
    QUICK_SLOTS = 64,
    QUICK_DEPTH = 8, /* blocks that one quick list keeps */
    BIN_SCAN = 16    /* blocks of its own bin that a request looks at */
};
enum { SMALL_LIMIT = 1 << 20, SMALL_SEGMENT = 2 << 20, MEDIUM_LIMIT = 10 << 20, MEDIUM_SEGMENT = 20 << 20 };

typedef enum block_state { BLOCK_USED, BLOCK_QUICK, BLOCK_FREE, BLOCK_PENDING, BLOCK_HELD } block_state;

typedef struct segment segment;
typedef struct lane lane;

typedef struct block {
    char *pointer;
    size_t size, asked; /* asked: what was requested, rounded up; size may be a little more */
    segment *home;
    struct block *before, *after;  /* neighbours in the segment */
    struct block *previous, *next; /* in a bin, a quick list (next alone), a pending or held list */
    struct block *hash_next;
    block_state state;
    int use_count, event_count;
    lane **uses;   /* other lanes that use it */
    void **events; /* pending: what has to be over; same allocation as uses */
} block;

struct segment {
    lane *owner;
    segment *previous, *next;
    block *first;
    size_t size;
    bool is_small;
};

typedef struct bin_set {
    uint64_t occupied[BIN_WORDS];
    block *bins[BINS];
} bin_set;

struct lane {
    lane *next;
    void *stream;
    uint64_t capture; /* 0, or the capture whose graph owns this memory */
    bool has_ended;   /* the stream or graph is gone: anybody's once the events are over */
    int references;   /* blocks that name the lane among their uses */
    int event_count;
    void **events;
    segment *segments;
    block *held; /* freed while the capture could still use them */
    int quick_count;
    unsigned char quick_depth[QUICK_SLOTS];
    block *quick[QUICK_SLOTS];
    bin_set sets[2]; /* large, small */
};

struct kn_pool {
    kn_device *device;
    size_t granularity;
    int shift;
    pthread_mutex_t lock;
    lane *lanes, *recent;
    block **buckets; /* by address */
    size_t bucket_mask, block_count;
    block *spare;                        /* block structs for later */
    block *pending_first, *pending_last; /* wait for events, oldest first */
    void **idle_events;
    int idle_count, idle_capacity;
    size_t used, held, peak, limit;
    uint64_t allocations, device_allocations;
    _Atomic int capture_lanes;
};

/* ---- the hook ---- */

static struct {
    pthread_mutex_t lock;
    kiln_memory_hook call;
    void *user;
    _Atomic bool is_set;
} hook = {.lock = PTHREAD_MUTEX_INITIALIZER};

void kiln_memory_set_hook(kiln_memory_hook call, void *user)
{
    pthread_mutex_lock(&hook.lock);
    hook.call = call;
    hook.user = user;
    atomic_store(&hook.is_set, call != NULL);
    pthread_mutex_unlock(&hook.lock);
}

static void run_hook(kn_pool *pool, void *pointer, size_t size, bool freed)
{
    pthread_mutex_lock(&hook.lock);
    kiln_memory_hook call = hook.call;
    void *user = hook.user;
    pthread_mutex_unlock(&hook.lock);
    if (call)
        call(pool->device->id, pointer, size, freed, user);
}

/* ---- blocks by address ---- */

static size_t bucket_of(const kn_pool *pool, const void *pointer)
{
    return (size_t)((((uintptr_t)pointer >> pool->shift) * UINT64_C(0x9E3779B97F4A7C15)) >> 32) &
           pool->bucket_mask;
}

static block *find_block(const kn_pool *pool, const void *pointer)
{
    block *b = pool->buckets[bucket_of(pool, pointer)];
    while (b && b->pointer != pointer)
        b = b->hash_next;
    return b;
}

static void grow_buckets(kn_pool *pool)
{
    size_t count = (pool->bucket_mask + 1) * 2, old_count = pool->bucket_mask + 1;
    block **old = pool->buckets, **fresh = kn_calloc(count, sizeof *fresh);
    if (!fresh)
        return; /* the chains get longer, that is all */
    pool->buckets = fresh;
    pool->bucket_mask = count - 1;
    for (size_t i = 0; i < old_count; i++)
        for (block *b = old[i], *next; b; b = next) {
            block **bucket = &fresh[bucket_of(pool, b->pointer)];
            next = b->hash_next;
            b->hash_next = *bucket;
            *bucket = b;
        }
    kn_free(old);
}

static block *new_block(kn_pool *pool, segment *home, char *pointer, size_t size)
{
    block *b = pool->spare;
    if (b)
        pool->spare = b->next;
    else if (!(b = kn_malloc(sizeof *b)))
        return NULL;
    *b = (block){.pointer = pointer, .size = size, .asked = size, .home = home, .state = BLOCK_USED};
    if (++pool->block_count > 2 * pool->bucket_mask)
        grow_buckets(pool);
    block **bucket = &pool->buckets[bucket_of(pool, pointer)];
    b->hash_next = *bucket;
    *bucket = b;
    return b;
}

static void drop_block(kn_pool *pool, block *b)
{
    block **link = &pool->buckets[bucket_of(pool, b->pointer)];
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
    uint64_t units = size >> pool->shift;
    if (units < SUBDIVISIONS)
        return (int)units;
    int log = 63 - __builtin_clzll(units);
    int bin = (log - 2) * SUBDIVISIONS + (int)((units >> (log - 3)) & (SUBDIVISIONS - 1));
    return bin < BINS ? bin : BINS - 1;
}

static void put_in_bin(kn_pool *pool, block *b)
{
    bin_set *set = &b->home->owner->sets[b->home->is_small];
    int bin = bin_of(pool, b->size);
    b->state = BLOCK_FREE;
    b->previous = NULL;
    b->next = set->bins[bin];
    if (b->next)
        b->next->previous = b;
    set->bins[bin] = b;
    set->occupied[bin / 64] |= UINT64_C(1) << (bin % 64);
}

static void take_from_bin(kn_pool *pool, block *b)
{
    bin_set *set = &b->home->owner->sets[b->home->is_small];
    int bin = bin_of(pool, b->size);
    if (b->next)
        b->next->previous = b->previous;
    if (b->previous)
        b->previous->next = b->next;
    else if (!(set->bins[bin] = b->next))
        set->occupied[bin / 64] &= ~(UINT64_C(1) << (bin % 64));
}

/* The first bin after `bin` that has a block; -1. All in it are larger than what belongs into `bin`. */
static int next_occupied(const bin_set *set, int bin)
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

static block *find_in_bins(const kn_pool *pool, const bin_set *set, size_t size)
{
    int bin = bin_of(pool, size), scanned = 0;
    block *best = NULL;
    for (block *b = set->bins[bin]; b && scanned < BIN_SCAN; b = b->next, scanned++)
        if (b->size >= size && (!best || b->size < best->size))
            best = b;
    if (!best && (bin = next_occupied(set, bin)) >= 0)
        best = set->bins[bin];
    while (best && best->size < size) /* the last bin is open-ended */
        best = best->next;
    return best;
}

/* ---- cutting and joining ---- */

static void cut_block(kn_pool *pool, block *b, size_t size)
{
    size_t rest = b->size - size;
    if (rest < pool->granularity || (!b->home->is_small && rest < SMALL_LIMIT))
        return;
    block *tail = new_block(pool, b->home, b->pointer + size, rest);
    if (!tail)
        return; /* the whole block serves, too */
    b->size = size;
    tail->before = b;
    tail->after = b->after;
    if (tail->after)
        tail->after->before = tail;
    b->after = tail;
    put_in_bin(pool, tail);
}

static void join_after(kn_pool *pool, block *b)
{
    block *gone = b->after;
    b->size += gone->size;
    b->after = gone->after;
    if (b->after)
        b->after->before = b;
    drop_block(pool, gone);
}

static void put_back(kn_pool *pool, block *b)
{
    if (b->after && b->after->state == BLOCK_FREE) {
        take_from_bin(pool, b->after);
        join_after(pool, b);
    }
    if (b->before && b->before->state == BLOCK_FREE) {
        b = b->before;
        take_from_bin(pool, b);
        join_after(pool, b);
    }
    put_in_bin(pool, b);
}

/* ---- quick lists ---- */

static int quick_slot(const kn_pool *pool, size_t size)
{
    return (int)(((size >> pool->shift) * UINT64_C(0x9E3779B97F4A7C15)) >> 58);
}

static block *take_quick(kn_pool *pool, lane *l, size_t size)
{
    int slot = quick_slot(pool, size);
    for (block **link = &l->quick[slot]; *link; link = &(*link)->next)
        if ((*link)->asked == size) {
            block *b = *link;
            *link = b->next;
            l->quick_depth[slot]--;
            l->quick_count--;
            return b;
        }
    return NULL;
}

static void put_free(kn_pool *pool, block *b)
{
    lane *l = b->home->owner;
    int slot = quick_slot(pool, b->asked);
    if (l->quick_depth[slot] >= QUICK_DEPTH) {
        put_back(pool, b);
        return;
    }
    b->state = BLOCK_QUICK;
    b->next = l->quick[slot];
    l->quick[slot] = b;
    l->quick_depth[slot]++;
    l->quick_count++;
}

static void flush_quick(kn_pool *pool, lane *l)
{
    if (l->quick_count == 0)
        return;
    for (int slot = 0; slot < QUICK_SLOTS; slot++) {
        block *b = l->quick[slot], *next;
        l->quick[slot] = NULL;
        l->quick_depth[slot] = 0;
        for (; b; b = next) {
            next = b->next;
            put_back(pool, b);
        }
    }
    l->quick_count = 0;
}

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
    if (pool->idle_count == pool->idle_capacity) {
        int capacity = pool->idle_capacity ? 2 * pool->idle_capacity : 16;
        void **events = kn_realloc(pool->idle_events, (size_t)capacity * sizeof *events);
        if (!events) {
            pool->device->backend->event_destroy(pool->device, event);
            return;
        }
        pool->idle_events = events;
        pool->idle_capacity = capacity;
    }
    pool->idle_events[pool->idle_count++] = event;
}

/* An event behind the work that is now queued on the stream. NULL, when that work is over: where no event can
 * be had, it is waited for. */
static void *event_behind(kn_pool *pool, void *stream)
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
static bool events_over(kn_pool *pool, void **events, int *count, bool wait)
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

/* ---- lanes ---- */

static lane *find_lane(kn_pool *pool, void *stream, uint64_t capture)
{
    lane *l = pool->recent;
    if (l && l->stream == stream && l->capture == capture)
        return l;
    for (l = pool->lanes; l; l = l->next)
        if (l->stream == stream && l->capture == capture && !l->has_ended)
            return pool->recent = l;
    return NULL;
}

static lane *get_lane(kn_pool *pool, void *stream, uint64_t capture)
{
    lane *l = find_lane(pool, stream, capture);
    if (l)
        return l;
    if (!(l = kn_calloc(1, sizeof *l)))
        return NULL;
    l->stream = stream;
    l->capture = capture;
    l->next = pool->lanes;
    pool->lanes = pool->recent = l;
    if (capture)
        atomic_fetch_add(&pool->capture_lanes, 1);
    return l;
}

static void drop_empty_lanes(kn_pool *pool)
{
    for (lane **link = &pool->lanes, *l; (l = *link);) {
        if (!l->has_ended || l->segments || l->references || l->event_count || l->held) {
            link = &l->next;
            continue;
        }
        *link = l->next;
        kn_free(l->events);
        kn_free(l);
    }
}

static void drop_uses(block *b)
{
    for (int i = 0; i < b->use_count; i++)
        b->uses[i]->references--;
    kn_free(b->uses);
    b->uses = NULL;
    b->events = NULL;
    b->use_count = b->event_count = 0;
}

static void add_segment(lane *l, segment *s)
{
    s->owner = l;
    s->previous = NULL;
    s->next = l->segments;
    if (s->next)
        s->next->previous = s;
    l->segments = s;
}

static void remove_segment(segment *s)
{
    if (s->next)
        s->next->previous = s->previous;
    if (s->previous)
        s->previous->next = s->next;
    else
        s->owner->segments = s->next;
}

/* ---- uses ---- */

/* Another lane uses the block; false where there is no memory to note it. */
static bool add_use(block *b, lane *l)
{
    for (int i = 0; i < b->use_count; i++)
        if (b->uses[i] == l)
            return true;
    size_t count = (size_t)b->use_count + 1; /* room for the events behind the lanes */
    void **both = kn_realloc(b->uses, 2 * count * sizeof *both);
    if (!both)
        return false;
    b->uses = (lane **)(void *)both;
    b->events = both + count;
    b->uses[b->use_count++] = l;
    l->references++;
    return true;
}

/* ---- coming back ---- */

static void hold(block *b, lane *l)
{
    b->state = BLOCK_HELD;
    b->next = l->held;
    l->held = b;
}

/* Turns the uses of a block into events; true when it has to wait for some. */
static bool record_uses(kn_pool *pool, block *b)
{
    for (int i = 0; i < b->use_count; i++) {
        lane *user = b->uses[i];
        void *event = user->has_ended ? NULL : event_behind(pool, user->stream);
        if (user->has_ended)
            events_over(pool, user->events, &user->event_count,
                        true); /* the stream is gone: its last work will be */
        if (event)
            b->events[b->event_count++] = event;
        user->references--;
    }
    b->use_count = 0;
    return b->event_count > 0;
}

static void append_pending(kn_pool *pool, block *b)
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
static lane *take_capture_use(block *b)
{
    for (int i = 0; i < b->use_count; i++) {
        lane *l = b->uses[i];
        if (l->capture && !l->has_ended) {
            b->uses[i] = b->uses[--b->use_count];
            l->references--;
            return l;
        }
    }
    return NULL;
}

static void release(kn_pool *pool, block *b)
{
    lane *capture = b->use_count > 0 ? take_capture_use(b) : NULL;
    if (capture && capture != b->home->owner) {
        hold(b, capture);
    } else if (b->use_count > 0 && record_uses(pool, b)) {
        append_pending(pool, b);
    } else {
        if (b->uses)
            drop_uses(b);
        put_free(pool, b);
    }
}

/* Takes in what no longer waits, oldest first. */
static void settle_pending(kn_pool *pool, bool wait)
{
    while (pool->pending_first &&
           events_over(pool, pool->pending_first->events, &pool->pending_first->event_count, wait)) {
        block *b = pool->pending_first;
        pool->pending_first = b->next;
        if (!b->next)
            pool->pending_last = NULL;
        drop_uses(b);
        put_free(pool, b);
    }
}

/* Gives the memory of a lane that has ended to another, which is well when its events are over. */
static void adopt(kn_pool *pool, lane *from, lane *to)
{
    flush_quick(pool, from);
    for (segment *s; (s = from->segments);) {
        for (block *b = s->first; b; b = b->after)
            if (b->state == BLOCK_FREE)
                take_from_bin(pool, b);
        remove_segment(s);
        add_segment(to, s);
        for (block *b = s->first; b; b = b->after)
            if (b->state == BLOCK_FREE)
                put_in_bin(pool, b);
    }
    while (from->held) {
        block *b = from->held;
        from->held = b->next;
        release(pool, b);
    }
}

static bool adopt_ended(kn_pool *pool, lane *to, bool wait)
{
    bool found = false;
    for (lane *l = pool->lanes; l; l = l->next) {
        if (l == to || !l->has_ended || !events_over(pool, l->events, &l->event_count, wait))
            continue;
        found = found || l->segments;
        adopt(pool, l, to);
    }
    drop_empty_lanes(pool);
    return found;
}

/* ---- segments ---- */

static void free_segment(kn_pool *pool, segment *s)
{
    take_from_bin(pool, s->first);
    pool->device->backend->memory_free(pool->device, s->first->pointer);
    pool->held -= s->size;
    drop_block(pool, s->first);
    remove_segment(s);
    kn_free(s);
}

/* Gives wholly free segments back until at most keep bytes are cached. A capture's memory stays: its graph is
 * replayed at those addresses. */
static void trim(kn_pool *pool, size_t keep)
{
    lane *heir = get_lane(pool, NULL, 0);
    settle_pending(pool, false);
    if (heir)
        adopt_ended(pool, heir, false);
    for (lane *l = pool->lanes; l; l = l->next) {
        if (l->capture || l->has_ended)
            continue;
        flush_quick(pool, l);
        for (segment *s = l->segments, *next; s && pool->held - pool->used > keep; s = next) {
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
        kiln_device_name(pool->device->id, name, sizeof name), size, pool->used, pool->held, limit, available,
        total, reason);
}

/* Asks the device for a segment; when it has none, for a smaller one, then again with everything cached given
 * back, then once more when all that only waits has been waited for. *size is what came of it. */
static kiln_status find_memory(kn_pool *pool, size_t wanted, size_t *size, void **out)
{
    kiln_status status = KILN_ERROR_MEMORY;
    for (int attempt = 0; attempt < 4 && status == KILN_ERROR_MEMORY; attempt++) {
        if (attempt == 1 && *size == wanted)
            continue;
        if (attempt == 1)
            *size = wanted;
        if (attempt == 3)
            settle_pending(pool, true);
        if (attempt >= 2)
            trim(pool, 0);
        status = take_from_device(pool, *size, out);
    }
    return status == KILN_ERROR_MEMORY ? say_exhausted(pool, wanted) : status;
}

/* A new segment; its one block is left free but in no bin. */
static kiln_status new_segment(kn_pool *pool, lane *l, size_t wanted, block **out)
{
    void *memory = NULL;
    size_t size = segment_size(wanted);
    segment *s = kn_calloc(1, sizeof *s);
    if (!s)
        return kn_error_memory(sizeof *s, "the memory pool");
    kiln_status status = find_memory(pool, wanted, &size, &memory);
    if (status == KILN_OK && !(s->first = new_block(pool, s, memory, size))) {
        pool->device->backend->memory_free(pool->device, memory);
        status = kn_error_memory(sizeof *s->first, "the memory pool");
    }
    if (status != KILN_OK) {
        kn_free(s);
        return status;
    }
    s->size = size;
    s->is_small = wanted <= SMALL_LIMIT;
    add_segment(l, s);
    pool->held += size;
    pool->device_allocations++;
    *out = s->first;
    return KILN_OK;
}

/* ---- handing out ---- */

static block *take_binned(kn_pool *pool, lane *l, size_t size)
{
    block *b = find_in_bins(pool, &l->sets[size <= SMALL_LIMIT], size);
    if (b)
        take_from_bin(pool, b);
    return b;
}

static kiln_status take_slowly(kn_pool *pool, lane *l, size_t size, block **out)
{
    settle_pending(pool, false);
    if (!(*out = take_quick(pool, l, size)))
        *out = take_binned(pool, l, size);
    if (!*out && (l->quick_count > 0 || adopt_ended(pool, l, false))) {
        flush_quick(pool, l);
        adopt_ended(pool, l, false);
        *out = take_binned(pool, l, size);
    }
    kiln_status status = *out ? KILN_OK : new_segment(pool, l, size, out);
    if (status == KILN_OK) {
        (*out)->state = BLOCK_USED; /* before cutting: the rest must not be joined with it */
        cut_block(pool, *out, size);
        (*out)->asked = size;
    }
    return status;
}

/* The capture that a stream is in; 0. The default stream cannot be captured. */
static kiln_status capture_of(kn_device *device, void *stream, uint64_t *capture)
{
    bool is_capturing = false;
    *capture = 0;
    if (device->backend->kind != KN_CUDA || !stream)
        return KILN_OK;
    kiln_status status = device->backend->stream_is_capturing(device, stream, &is_capturing, capture);
    if (!is_capturing)
        *capture = 0;
    return status;
}

kiln_status kn_memory_alloc(void **out, kn_device *device, size_t size, void *stream)
{
    kn_pool *pool = device->pool;
    uint64_t capture = 0;
    if (size > SIZE_MAX / 4)
        return kn_error_memory(size, "an array");
    kn_capture_reap();
    if (stream && capture_of(device, stream, &capture) != KILN_OK)
        return kiln_error_status();
    if (capture && kn_capture_meet(device, stream, capture) != KILN_OK)
        return kiln_error_status();
    size = size ? (size + pool->granularity - 1) & ~(pool->granularity - 1) : pool->granularity;

    kiln_status status = KILN_OK;
    pthread_mutex_lock(&pool->lock);
    lane *l = get_lane(pool, stream, capture);
    block *b = l ? take_quick(pool, l, size) : NULL;
    if (b)
        b->state = BLOCK_USED;
    else
        status = l ? take_slowly(pool, l, size, &b) : kn_error_memory(sizeof *l, "the memory pool");
    if (status == KILN_OK) {
        pool->allocations++;
        pool->used += b->size;
        if (pool->used > pool->peak)
            pool->peak = pool->used;
        size = b->size;
        *out = b->pointer;
    }
    pthread_mutex_unlock(&pool->lock);
    if (status == KILN_OK && atomic_load_explicit(&hook.is_set, memory_order_relaxed))
        run_hook(pool, *out, size, false);
    return status;
}

static lane *find_capture(const kn_pool *pool, uint64_t capture)
{
    lane *l = pool->lanes;
    while (l && (l->capture != capture || l->has_ended))
        l = l->next;
    return l;
}

/* A block that is freed while its stream is being captured may be used by what was captured: it then waits
 * for the graph's end. */
static void free_in_capture(kn_pool *pool, block *b)
{
    uint64_t capture = 0;
    lane *l = b->home->owner;
    if (l->capture || l->has_ended || capture_of(pool->device, l->stream, &capture) != KILN_OK || !capture)
        release(pool, b);
    else if ((l = find_capture(pool, capture)))
        hold(b, l);
    else
        release(pool, b);
}

/* A block whose stream ended may have passed to another lane. A new stream can have the old one's handle, and
 * then the block's owner saw no need to say that it was used there. */
static void note_own_stream(kn_pool *pool, block *b, void *stream)
{
    lane *l = find_lane(pool, stream, 0);
    if (l && l != b->home->owner && !add_use(b, l))
        pool->device->backend->stream_synchronize(pool->device, stream);
}

void kn_memory_free(kn_device *device, void *pointer, size_t size, void *stream)
{
    kn_pool *pool = device->pool;
    (void)size;
    if (!pointer)
        return;
    if (atomic_load_explicit(&hook.is_set, memory_order_relaxed))
        run_hook(pool, pointer, size, true);
    pthread_mutex_lock(&pool->lock);
    block *b = find_block(pool, pointer);
    bool is_ours = b && b->state == BLOCK_USED;
    if (is_ours) {
        pool->used -= b->size;
        if (b->home->owner->stream != stream)
            note_own_stream(pool, b, stream);
        if (b->use_count == 0 && atomic_load_explicit(&pool->capture_lanes, memory_order_relaxed) == 0) {
            put_free(pool, b);
        } else {
            kn_error_state before;
            kn_error_save(&before);
            free_in_capture(pool, b);
            kn_error_restore(&before);
        }
    }
    pthread_mutex_unlock(&pool->lock);
    if (!is_ours)
        kn_log(KILN_LOG_WARNING, "memory pool: %p was freed, which is not in use", pointer);
}

kiln_status kn_memory_used_on(kn_device *device, void *pointer, void *stream)
{
    kn_pool *pool = device->pool;
    uint64_t capture = 0;
    kiln_status status = capture_of(device, stream, &capture);
    if (status == KILN_OK && capture)
        status = kn_capture_meet(device, stream, capture);
    if (status != KILN_OK || device->backend->kind != KN_CUDA)
        return status;
    pthread_mutex_lock(&pool->lock);
    block *b = find_block(pool, pointer);
    lane *l = b ? get_lane(pool, stream, capture) : NULL;
    bool is_known =
        !b || b->state != BLOCK_USED || b->home->owner == l; /* foreign memory looks after itself */
    if (!is_known && (!l || !add_use(b, l)))
        status = kn_error_memory(sizeof *l, "the memory pool");
    pthread_mutex_unlock(&pool->lock);
    return status;
}

/* ---- lanes that begin and end ---- */

kiln_status kn_pool_stream_begins(kn_pool *pool, void *stream)
{
    pthread_mutex_lock(&pool->lock);
    bool done = get_lane(pool, stream, 0);
    pthread_mutex_unlock(&pool->lock);
    return done ? KILN_OK : kn_error_memory(sizeof(lane), "the memory pool");
}

static void end_lane(kn_pool *pool, lane *l, void *event)
{
    l->has_ended = true;
    if (pool->recent == l)
        pool->recent = NULL;
    if (l->capture)
        atomic_fetch_sub(&pool->capture_lanes, 1);
    if (event && (l->events = kn_malloc(sizeof *l->events))) {
        l->events[l->event_count++] = event;
    } else if (event) {
        int one = 1;
        events_over(pool, &event, &one, true);
    }
}

kiln_status kn_pool_capture_begins(kn_pool *pool, void *stream, uint64_t capture)
{
    pthread_mutex_lock(&pool->lock);
    bool done = get_lane(pool, stream, capture);
    pthread_mutex_unlock(&pool->lock);
    return done ? KILN_OK : kn_error_memory(sizeof(lane), "the memory pool");
}

void kn_pool_capture_ends(kn_pool *pool, uint64_t capture, bool is_running, void *stream)
{
    kn_error_state before;
    if (atomic_load(&pool->capture_lanes) == 0)
        return;
    kn_error_save(&before);
    pthread_mutex_lock(&pool->lock);
    for (lane *l = pool->lanes; l; l = l->next)
        if (l->capture == capture && !l->has_ended)
            end_lane(pool, l, is_running ? event_behind(pool, stream) : NULL);
    drop_empty_lanes(pool);
    pthread_mutex_unlock(&pool->lock);
    kn_error_restore(&before);
}

void kn_pool_stream_ends(kn_pool *pool, void *stream)
{
    kn_error_state before;
    if (!stream)
        return;
    kn_error_save(&before);
    pthread_mutex_lock(&pool->lock);
    lane *l = find_lane(pool, stream, 0);
    if (l)
        end_lane(pool, l, event_behind(pool, stream));
    drop_empty_lanes(pool);
    pthread_mutex_unlock(&pool->lock);
    kn_error_restore(&before);
}

/* ---- the pool ---- */

kn_pool *kn_pool_create(kn_device *device, size_t granularity)
{
    kn_pool *pool = kn_calloc(1, sizeof *pool);
    block **buckets = kn_calloc(1024, sizeof(block *));
    if (!pool || !buckets) {
        kn_free(pool);
        kn_free(buckets);
        kn_error_memory(sizeof *pool, "the memory pool");
        return NULL;
    }
    pool->device = device;
    pool->granularity = granularity;
    pool->shift = __builtin_ctzll(granularity);
    pool->buckets = buckets;
    pool->bucket_mask = 1023;
    pthread_mutex_init(&pool->lock, NULL);
    return pool;
}

void kn_pool_free_unused(kn_pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_destroy(&pool->lock);
    kn_free(pool->buckets);
    kn_free(pool);
}

static kiln_status pool_of(kiln_device id, kn_pool **out)
{
    kn_device *device = NULL;
    kiln_status status = kn_device_get(&device, id);
    if (status == KILN_OK)
        *out = device->pool;
    return status;
}

kiln_status kiln_memory_get_stats(kiln_device id, kiln_memory_stats *out)
{
    kn_pool *pool = NULL;
    if (!out || out->struct_size < sizeof(size_t))
        return kn_error(KILN_ERROR_INVALID, "kiln_memory_get_stats: %s",
                        out ? "out->struct_size is not set; use KILN_MEMORY_STATS_INIT" : "out is NULL");
    kiln_status status = pool_of(id, &pool);
    if (status != KILN_OK)
        return status;
    pthread_mutex_lock(&pool->lock);
    kiln_memory_stats all = {
        out->struct_size,        pool->used, pool->held, pool->peak, pool->limit, pool->allocations,
        pool->device_allocations};
    pthread_mutex_unlock(&pool->lock);
    memcpy(out, &all, out->struct_size < sizeof all ? out->struct_size : sizeof all);
    return KILN_OK;
}

kiln_status kiln_memory_set_limit(kiln_device id, size_t limit_bytes)
{
    kn_pool *pool = NULL;
    kiln_status status = pool_of(id, &pool);
    if (status != KILN_OK)
        return status;
    pthread_mutex_lock(&pool->lock);
    pool->limit = limit_bytes;
    pthread_mutex_unlock(&pool->lock);
    return KILN_OK;
}

kiln_status kiln_memory_trim(kiln_device id, size_t keep_bytes)
{
    kn_pool *pool = NULL;
    kiln_status status = pool_of(id, &pool);
    if (status != KILN_OK)
        return status;
    pthread_mutex_lock(&pool->lock);
    trim(pool, keep_bytes);
    pthread_mutex_unlock(&pool->lock);
    return KILN_OK;
}
