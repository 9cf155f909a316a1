/* device/cuda_memory.h - memory of CUDA devices: taken, copied and filled. See kn_backend. */
#ifndef KN_DEVICE_CUDA_MEMORY_H
#define KN_DEVICE_CUDA_MEMORY_H

#include "device/backend.h"

kiln_status kn_cuda_memory_alloc(kn_device *device, size_t size, void **out);
kiln_status kn_cuda_memory_alloc_managed(kn_device *device, size_t size, void **out);
void kn_cuda_memory_free(kn_device *device, void *pointer);
kiln_status kn_cuda_memory_info(kn_device *device, size_t *free_bytes, size_t *total);

/* Pinned memory, portable to every context. */
kiln_status kn_cuda_pinned_alloc(kn_device *device, size_t size, void **out);
void kn_cuda_pinned_free(kn_device *device, void *pointer);

kiln_status kn_cuda_copy(kn_device *device, void *to, const void *from, size_t size, kn_copy_kind kind,
                         void *stream);
kiln_status kn_cuda_copy_peer(kn_device *to_device, void *to, kn_device *from_device, const void *from,
                              size_t size, void *stream);
kiln_status kn_cuda_fill(kn_device *device, void *to, const void *pattern, size_t item_size, size_t count,
                         void *stream);

#endif
