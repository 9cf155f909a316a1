/* device/pool_pages.h - mapped segments: ranges of addresses, reserved as large as the device's memory, whose
 * pages are mapped where blocks need them. All under the pool's lock. */
#ifndef KN_DEVICE_POOL_PAGES_H
#define KN_DEVICE_POOL_PAGES_H

#include "device/pool_parts.h"

/* A block of at least `wanted` bytes, free but in no bin: a free block that mapped pages made large enough,
 * or pages alone. KILN_ERROR_UNSUPPORTED: no addresses can be had for it. */
kiln_status kn_pool_map_block(kn_pool *pool, kn_pool_arena *l, size_t wanted, kn_block **out);
/* True if a whole extent is free. */
bool kn_pool_has_free_pages(const kn_pool *pool, const kn_segment *s);
/* Unmaps whole extents of free blocks until at most keep bytes are cached; the stream's work must be over. A
 * segment without pages is gone afterwards. */
void kn_pool_unmap_free(kn_pool *pool, kn_segment *s, size_t keep);

#endif
