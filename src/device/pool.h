/* device/pool.h - the caching allocator of one device, which implements kiln/memory.h. */
#ifndef KN_DEVICE_POOL_H
#define KN_DEVICE_POOL_H

#include "device/backend.h"

typedef struct kn_pool kn_pool;
typedef kiln_status kn_pool_shower(kn_device *device, void *at, size_t size, kn_device *peer);

/* NULL, with the last error set, where there is no memory. granularity: a power of two. Lives as long as the
 * device. */
kn_pool *kn_pool_create(kn_device *device, size_t granularity);
/* The same, over functions as kn_backend's memory_alloc and memory_free are. */
kn_pool *kn_pool_create_over(kn_device *device, size_t granularity,
                             kiln_status (*alloc)(kn_device *device, size_t size, void **out),
                             void (*free)(kn_device *device, void *pointer));

/* Gives everything back; where some of its memory is still in use it stays as it is. Takes NULL. */
void kn_pool_free(kn_pool *pool);

/* Hands out `size` bytes for a stream, in a capture if that is not 0. *size becomes the rounded size. */
kiln_status kn_pool_take(void **out, size_t *size, kn_pool *pool, void *stream, uint64_t capture);
/* Takes a block back; false where there is none in use at this address. stream: the one that it was taken
 * for. */
bool kn_pool_give(kn_pool *pool, void *pointer, void *stream);
/* Another stream than the block's own (in a capture, where that is not 0) uses it. */
kiln_status kn_pool_note_use(kn_pool *pool, void *pointer, void *stream, uint64_t capture);

/* Into the fields of `out` but its size. */
void kn_pool_read_stats(kiln_memory_stats *out, kn_pool *pool);
void kn_pool_set_limit(kn_pool *pool, size_t limit_bytes);
/* New segments come from there; NULL: from the device. */
void kn_pool_set_source(kn_pool *pool, const kiln_memory_source *source);
/* Returns unused memory to the device, until at most keep bytes are cached. */
void kn_pool_give_back(kn_pool *pool, size_t keep);

/* A stream of this handle is there: blocks that come back for it are known to be its own. */
kiln_status kn_pool_stream_begins(kn_pool *pool, void *stream);

/* The native stream is about to be destroyed: its memory in the pool becomes everybody's when its queued work
 * is done. */
void kn_pool_stream_ends(kn_pool *pool, void *stream);

/* A capture begins on the stream: from now on its memory is the graph's. */
kiln_status kn_pool_capture_begins(kn_pool *pool, void *stream, uint64_t capture);

/* The graph is gone: its memory is everybody's, where is_running once the work that is now queued on the
 * stream is done. */
void kn_pool_capture_ends(kn_pool *pool, uint64_t capture, bool is_running, void *stream);

/* Calls show() for all mapped memory, until it fails. */
kiln_status kn_pool_show(kn_pool *pool, kn_pool_shower *show, kn_device *peer);

#endif
