/* device/memory.h - pooled memory: well under a microsecond when warm. */
#ifndef KN_DEVICE_MEMORY_H
#define KN_DEVICE_MEMORY_H

#include "device/backend.h"

/* size 0 gives a valid distinct block. Blocks are aligned to 512 bytes on CUDA, 64 on the host, and padded to
 * that granularity. */
kiln_status kn_memory_alloc(void **out, kn_device *device, size_t size, void *stream);
/* The capture that a stream is in, 0 for none: an answer that costs calls of the driver, for the functions
 * that take it. */
kiln_status kn_memory_capture_of(uint64_t *capture, kn_device *device, void *stream);
/* The same for a stream of which that is known. */
kiln_status kn_memory_alloc_in(void **out, kn_device *device, size_t size, void *stream, uint64_t capture);
/* stream: the one it was allocated for. Work already queued there may still use it. */
void kn_memory_free(kn_device *device, void *pointer, size_t size, void *stream);
/* Marks that work on `stream`, not the one it was allocated for, uses the block: it is handed out again only
 * when that work is done. */
kiln_status kn_memory_used_on(kn_device *device, void *pointer, void *stream);
kiln_status kn_memory_used_in(kn_device *device, void *pointer, void *stream, uint64_t capture);

/* A word of pinned host memory that kernels set, and nobody clears: 0 as long as no kernel of the device has
 * reported anything. NULL without such memory. */
volatile unsigned *kn_device_flag(kn_device *device);

#endif
