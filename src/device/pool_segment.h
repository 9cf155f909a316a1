/* device/pool_segment.h - segments: allocations from the device. All under the pool's lock. */
#ifndef KN_DEVICE_POOL_SEGMENT_H
#define KN_DEVICE_POOL_SEGMENT_H

#include "device/pool_parts.h"

/* Gives wholly free segments back until at most keep bytes are cached. A capture's memory stays: its graph is
 * replayed at those addresses. */
void kn_pool_trim(kn_pool *pool, size_t keep);
/* A new segment; its one block is left free but in no bin. */
kiln_status kn_pool_new_segment(kn_pool *pool, kn_pool_arena *l, size_t wanted, kn_block **out);

#endif
