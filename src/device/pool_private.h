/* device/pool_private.h - what the files of the pool share. All of it is called under the pool's lock. */
#ifndef KN_DEVICE_POOL_PRIVATE_H
#define KN_DEVICE_POOL_PRIVATE_H

#include <stdatomic.h>

#include "base/lock.h"
#include "device/pool.h"

enum {
    SUBDIVISIONS = 8, /* bins between two powers of two */
    BINS = 64 * SUBDIVISIONS / 2,
    BIN_WORDS = BINS / 64,
    QUICK_SLOTS = 64,
    QUICK_DEPTH = 8, /* blocks that one quick list keeps */
    BIN_SCAN = 16    /* blocks of its own bin that a request looks at */
};
enum { SMALL_LIMIT = 1 << 20, SMALL_SEGMENT = 2 << 20, MEDIUM_LIMIT = 10 << 20, MEDIUM_SEGMENT = 20 << 20 };

typedef enum kn_block_state { BLOCK_USED, BLOCK_QUICK, BLOCK_FREE, BLOCK_PENDING, BLOCK_HELD } kn_block_state;

typedef struct kn_segment kn_segment;
typedef struct kn_lane kn_lane;

typedef struct kn_block {
    char *pointer;
    size_t size, asked; /* asked: what was requested, rounded up; size may be a little more */
    kn_segment *home;
    struct kn_block *before, *after;  /* neighbours in the segment */
    struct kn_block *previous, *next; /* in a bin, a quick list (next alone), a pending or held list */
    struct kn_block *hash_next;
    kn_block_state state;
    int use_count, event_count;
    kn_lane **uses; /* other lanes that use it */
    void **events;  /* pending: what has to be over; same allocation as uses */
} kn_block;

struct kn_segment {
    kn_lane *owner;
    kn_segment *previous, *next;
    kn_block *first;
    size_t size;
    bool is_small;
};

typedef struct kn_bin_set {
    uint64_t occupied[BIN_WORDS];
    kn_block *bins[BINS];
} kn_bin_set;

struct kn_lane {
    kn_lane *next;
    void *stream;
    uint64_t capture; /* 0, or the capture whose graph owns this memory */
    bool has_ended;   /* the stream or graph is gone: anybody's once the events are over */
    int references;   /* blocks that name the lane among their uses */
    int event_count;
    void **events;
    kn_segment *segments;
    kn_block *held; /* freed while the capture could still use them */
    int quick_count;
    unsigned char quick_depth[QUICK_SLOTS];
    kn_block *quick[QUICK_SLOTS];
    kn_bin_set sets[2]; /* large, small */
};

struct kn_pool {
    kn_device *device;
    size_t granularity;
    int shift;
    kn_lock lock;
    kn_lane *lanes, *recent;
    kn_block **buckets; /* by address */
    size_t bucket_mask, block_count;
    kn_block *spare;                        /* block structs for later */
    kn_block *pending_first, *pending_last; /* wait for events, oldest first */
    void **idle_events;
    int idle_count, idle_capacity;
    size_t used, held, peak, limit;
    uint64_t allocations, device_allocations;
    _Atomic int capture_lanes;
};

/* ---- pool_block.c: blocks by address, in bins and quick lists ---- */
/* The block that begins at pointer; NULL where none does. */
kn_block *kn_pool_find_block(const kn_pool *pool, const void *pointer);
/* In use, and known by its address; NULL without memory. */
kn_block *kn_pool_new_block(kn_pool *pool, kn_segment *home, char *pointer, size_t size);
void kn_pool_drop_block(kn_pool *pool, kn_block *b);
/* A free block into, or out of, the bins of its lane. */
void kn_pool_put_in_bin(kn_pool *pool, kn_block *b);
void kn_pool_take_from_bin(kn_pool *pool, kn_block *b);
/* The best fit, which stays where it is; NULL. */
kn_block *kn_pool_find_in_bins(const kn_pool *pool, const kn_bin_set *set, size_t size);
/* Leaves size bytes; the rest, where it is worth it, becomes a free block. */
void kn_pool_cut_block(kn_pool *pool, kn_block *b, size_t size);
/* A block that was asked with the very same size; NULL. */
kn_block *kn_pool_take_quick(kn_pool *pool, kn_lane *l, size_t size);
/* Nobody uses the block any more: into a quick list, or joined with its neighbours into a bin. */
void kn_pool_put_free(kn_pool *pool, kn_block *b);
/* Empties the quick lists into the bins. */
void kn_pool_flush_quick(kn_pool *pool, kn_lane *l);

/* ---- pool_lane.c: the memory of one stream, and what waits for other streams ---- */
/* An event behind the work that is now queued on the stream. NULL, when that work is over: where no event can
 * be had, it is waited for. */
void *kn_pool_event_behind(kn_pool *pool, void *stream);
/* Gives back the events that are over, from the last; true when none is left. wait: until then. */
bool kn_pool_events_over(kn_pool *pool, void **events, int *count, bool wait);
/* The lane of a stream (in a capture, where that is not 0), found; made where there is none, NULL without
 * memory. */
kn_lane *kn_pool_find_lane(kn_pool *pool, void *stream, uint64_t capture);
kn_lane *kn_pool_get_lane(kn_pool *pool, void *stream, uint64_t capture);
/* Frees the lanes that have ended and that nothing names any more. */
void kn_pool_drop_empty_lanes(kn_pool *pool);
void kn_pool_add_segment(kn_lane *l, kn_segment *s);
void kn_pool_remove_segment(kn_segment *s);
/* Another lane uses the block; false where there is no memory to note it. */
bool kn_pool_add_use(kn_block *b, kn_lane *l);
/* Until the graph of the capture l is gone. */
void kn_pool_hold(kn_block *b, kn_lane *l);
/* A block that its owner has given back: free at once, or once its other users are done. */
void kn_pool_release(kn_pool *pool, kn_block *b);
/* Takes in what no longer waits, oldest first. */
void kn_pool_settle_pending(kn_pool *pool, bool wait);
/* Takes over the memory of lanes that have ended and whose work is over; whether there was any. */
bool kn_pool_adopt_ended(kn_pool *pool, kn_lane *to, bool wait);

/* ---- pool_segment.c: what is asked from the device and given back ---- */
/* Gives wholly free segments back until at most keep bytes are cached. A capture's memory stays: its graph is
 * replayed at those addresses. */
void kn_pool_trim(kn_pool *pool, size_t keep);
/* A new segment; its one block is left free but in no bin. */
kiln_status kn_pool_new_segment(kn_pool *pool, kn_lane *l, size_t wanted, kn_block **out);

#endif
