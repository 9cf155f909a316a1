/* device/pool.h - the caching allocator of one device: what kiln/memory.h promises. */
#ifndef KN_DEVICE_POOL_H
#define KN_DEVICE_POOL_H

#include "device/device.h"

typedef struct kn_pool kn_pool;

/* NULL, with the last error set, where there is no memory. granularity: a power of two. Lives as long as the
 * device. */
kn_pool *kn_pool_create(kn_device *device, size_t granularity);

/* Gives everything back; where some of its memory is still in use it stays as it is. Takes NULL. */
void kn_pool_free(kn_pool *pool);

/* A stream of this handle is there: blocks that come back for it are known to be its own. */
kiln_status kn_pool_stream_begins(kn_pool *pool, void *stream);

/* The native stream is about to be destroyed: what the pool holds for it becomes everybody's once its queued
 * work is done. */
void kn_pool_stream_ends(kn_pool *pool, void *stream);

/* A capture begins on the stream: from now on its memory is the graph's. */
kiln_status kn_pool_capture_begins(kn_pool *pool, void *stream, uint64_t capture);

/* The graph is gone: its memory is everybody's, where is_running once the work that is now queued on the
 * stream is done. */
void kn_pool_capture_ends(kn_pool *pool, uint64_t capture, bool is_running, void *stream);

#endif
