/* device/host_memory.h - the host's memory: taken, copied and filled. See kn_backend. */
#ifndef KN_DEVICE_HOST_MEMORY_H
#define KN_DEVICE_HOST_MEMORY_H

#include "device/backend.h"

kiln_status kn_host_memory_alloc(kn_device *device, size_t size, void **out);
void kn_host_memory_free(kn_device *device, void *pointer);
kiln_status kn_host_memory_info(kn_device *device, size_t *free_bytes, size_t *total);
size_t kn_host_memory_page(kn_device *device);
kiln_status kn_host_memory_reserve(kn_device *device, size_t size, bool is_small, void **out);
void kn_host_memory_unreserve(kn_device *device, void *range, size_t size);
kiln_status kn_host_memory_map(kn_device *device, void *at, size_t size, uint64_t *handle);
void kn_host_memory_unmap(kn_device *device, void *at, size_t size, uint64_t handle);
kiln_status kn_host_copy(kn_device *device, void *to, const void *from, size_t size, kn_copy_kind kind,
                         void *stream);
kiln_status kn_host_copy_peer(kn_device *to_device, void *to, kn_device *from_device, const void *from,
                              size_t size, void *stream);
kiln_status kn_host_fill(kn_device *device, void *to, const void *pattern, size_t pattern_size, size_t count,
                         void *stream);

#endif
