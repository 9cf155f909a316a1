/* device/cuda_pages.h - ranges of device addresses whose pages are mapped one by one. See kn_backend. */
#ifndef KN_DEVICE_CUDA_PAGES_H
#define KN_DEVICE_CUDA_PAGES_H

#include "device/backend.h"

/* Into the device: a page's bytes, 0 where the driver maps none; whether network cards may reach pages. */
void kn_cuda_read_pages(kn_device *device);

size_t kn_cuda_memory_page(kn_device *device);
kiln_status kn_cuda_memory_reserve(kn_device *device, size_t size, bool is_small, void **out);
void kn_cuda_memory_unreserve(kn_device *device, void *range, size_t size);
kiln_status kn_cuda_memory_map(kn_device *device, void *at, size_t size, uint64_t *handle);
void kn_cuda_memory_unmap(kn_device *device, void *at, size_t size, uint64_t handle);
/* Kernels of `peer` may reach what is mapped there. */
kiln_status kn_cuda_memory_show(kn_device *device, void *at, size_t size, kn_device *peer);

#endif
