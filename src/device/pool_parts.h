/* device/pool_parts.h - the parts of a pool: segments of the device's memory, cut into blocks, in arenas. */
#ifndef KN_DEVICE_POOL_PARTS_H
#define KN_DEVICE_POOL_PARTS_H

#include <stdatomic.h>

#include "base/lock.h"
#include "device/backend.h"

enum {
    SUBDIVISIONS = 8, /* bins between two powers of two */
    BINS = 64 * SUBDIVISIONS / 2,
    BIN_WORDS = BINS / 64,
    QUICK_SLOTS = 64,
    QUICK_DEPTH = 8, /* blocks that one quick list keeps */
    BIN_SCAN = 16    /* blocks of its own bin that a request looks at */
};
enum { SMALL_LIMIT = 1 << 20, SMALL_SEGMENT = 2 << 20, MEDIUM_LIMIT = 10 << 20, MEDIUM_SEGMENT = 20 << 20 };

typedef enum kn_block_state {
    BLOCK_USED,
    BLOCK_QUICK,
    BLOCK_FREE,
    BLOCK_PENDING,
    BLOCK_PARKED,
    BLOCK_HOLE /* addresses without memory */
} kn_block_state;

typedef struct kn_segment kn_segment;
typedef struct kn_pool_arena kn_pool_arena;

typedef struct kn_block {
    char *pointer;
    size_t size, asked; /* asked: the requested size, rounded up; size may be a little more */
    kn_segment *home;
    struct kn_block *before, *after;  /* neighbours in the segment */
    struct kn_block *previous, *next; /* in a bin, a list of holes; next alone: quick, pending, parked */
    struct kn_block *hash_next;
    kn_block_state state;
    int use_count, event_count;
    kn_pool_arena **uses; /* other arenas that use it */
    void **events;        /* of a pending block: events that must have happened; same allocation as uses */
} kn_block;

/* The pages that one call of the device mapped. */
typedef struct kn_extent {
    size_t size;
    uint64_t handle;
} kn_extent;

/* Where segments come from. */
typedef struct kn_pool_source {
    kiln_status (*alloc)(kn_device *device, size_t size, void **out);
    void (*free)(kn_device *device, void *pointer);
    bool is_mapped;            /* segments of pages, where there are such */
    kiln_memory_source caller; /* with alloc: instead of the above */
} kn_pool_source;

struct kn_segment {
    kn_pool_source source;
    kn_pool_arena *owner;
    kn_segment *previous, *next;
    kn_block *first;
    void *memory; /* of one allocation; NULL: mapped */
    size_t size;  /* of all its blocks, holes included */
    bool is_small;
    kn_extent *extents; /* of a mapped segment: one for each page, of size 0 where no extent begins */
    kn_block *holes;    /* of a mapped segment */
};

typedef struct kn_bin_set {
    uint64_t occupied[BIN_WORDS];
    kn_block *bins[BINS];
} kn_bin_set;

struct kn_pool_arena {
    kn_pool_arena *next;
    void *stream;
    uint64_t capture; /* 0, or the capture whose graph owns this memory */
    bool has_ended;   /* the stream or graph is gone: the memory becomes everybody's after the events */
    int references;   /* blocks that name the arena among their uses */
    int event_count;
    void **events;
    kn_segment *segments;
    kn_block *parked; /* freed while the capture could still use them */
    int quick_count;
    unsigned char quick_depth[QUICK_SLOTS];
    kn_block *quick[QUICK_SLOTS];
    kn_bin_set sets[2]; /* large, small */
};

typedef struct kn_pool {
    kn_device *device;
    size_t granularity;
    int shift;
    size_t page;           /* of mapped segments; 0: none are made */
    kn_pool_source source; /* of new segments */
    kn_segment *returned;  /* a caller's, which get them back once no lock is held */
    kn_lock lock;
    kn_pool_arena *arenas, *recent;
    kn_block **buckets; /* by address */
    size_t bucket_mask, block_count;
    kn_block *spare;                        /* block structs for later */
    kn_block *pending_first, *pending_last; /* wait for events, oldest first */
    void **idle_events;
    int idle_count, idle_capacity;
    size_t used, held, peak, peak_held, limit;
    uint64_t moved, handed_out; /* bytes that went back to the device to be mapped elsewhere; of all blocks */
    uint64_t allocations, device_allocations;
    _Atomic int capture_arenas;
} kn_pool;

static inline void kn_pool_note_held(kn_pool *pool, size_t more)
{
    pool->held += more;
    if (pool->held > pool->peak_held)
        pool->peak_held = pool->held;
}

#endif
