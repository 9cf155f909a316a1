/* device/host_memory.h - the host's memory: taken, copied and filled. See kn_backend. */
#ifndef KN_DEVICE_HOST_MEMORY_H
#define KN_DEVICE_HOST_MEMORY_H

#include "device/backend.h"

kiln_status kn_host_memory_alloc(kn_device *device, size_t size, void **out);
void kn_host_memory_free(kn_device *device, void *pointer);
kiln_status kn_host_memory_info(kn_device *device, size_t *free_bytes, size_t *total);
kiln_status kn_host_copy(kn_device *device, void *to, const void *from, size_t size, kn_copy_kind kind,
                         void *stream);
kiln_status kn_host_copy_peer(kn_device *to_device, void *to, kn_device *from_device, const void *from,
                              size_t size, void *stream);
kiln_status kn_host_fill(kn_device *device, void *to, const void *pattern, size_t pattern_size, size_t count,
                         void *stream);

#endif
