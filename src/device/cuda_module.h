/* device/cuda_module.h - code on a CUDA device, and launches. See kn_backend. */
#ifndef KN_DEVICE_CUDA_MODULE_H
#define KN_DEVICE_CUDA_MODULE_H

#include "device/backend.h"

kiln_status kn_cuda_module_load(kn_device *device, const void *code, size_t size, const char *name,
                                kn_module **out);
void kn_cuda_module_unload(kn_module *module);
kiln_status kn_cuda_module_function(kn_module *module, const char *name, kn_function **out);
kn_module *kn_cuda_function_module(kn_function *function);
kiln_status kn_cuda_module_global(kn_module *module, const char *name, void **address, size_t *size);
void *kn_cuda_module_handle(kn_module *module);
void *kn_cuda_function_handle(kn_function *function);
kiln_status kn_cuda_launch(kn_function *function, const kn_launch *launch, void *stream);
kiln_status kn_cuda_function_info(kn_function *function, kn_function_info *out);
int kn_cuda_function_params(kn_function *function, size_t *size, int capacity);
kiln_status kn_cuda_function_allow_shared(kn_function *function, size_t bytes, int percent);
kiln_status kn_cuda_occupancy(kn_function *function, int block_threads, size_t shared_bytes, int *blocks);

#endif
