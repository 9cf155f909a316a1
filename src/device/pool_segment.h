/* device/pool_segment.h - segments: memory taken from the device and given back to it. All under the pool's
 * lock. */
#ifndef KN_DEVICE_POOL_SEGMENT_H
#define KN_DEVICE_POOL_SEGMENT_H

#include "device/pool_parts.h"

/* Gives free segments, and free pages of mapped ones, back until at most keep bytes are cached. A capture's
 * memory stays: its graph is replayed at those addresses. Mapped pages wait for the work of their stream, for
 * most_ms at most. */
void kn_pool_trim(kn_pool *pool, size_t keep, double most_ms);
/* Gives callers what is theirs; the lock is not held meanwhile. */
void kn_pool_return_segments(kn_pool *pool);
/* A block of at least `wanted` bytes from the device, free but in no bin. Where there is no memory, cached
 * memory goes back first; then blocks that wait for other streams are waited for, too. The lock is not held
 * while a caller's source is called. */
kiln_status kn_pool_grow(kn_pool *pool, kn_pool_arena *l, size_t wanted, kn_block **out);

#endif
