/* device/host_module.h - code on the host, and launches. See kn_backend. */
#ifndef KN_DEVICE_HOST_MODULE_H
#define KN_DEVICE_HOST_MODULE_H

#include "device/backend.h"

kiln_status kn_host_module_load(kn_device *device, const void *code, size_t size, const char *name,
                                kn_module **out);
void kn_host_module_unload(kn_module *module);
kiln_status kn_host_module_function(kn_module *module, const char *name, kn_function **out);
kn_module *kn_host_function_module(kn_function *function);
kiln_status kn_host_module_global(kn_module *module, const char *name, void **address, size_t *size);
kiln_status kn_host_launch(kn_function *function, const kn_launch *launch, void *stream);
kiln_status kn_host_function_info(kn_function *function, kn_function_info *out);
kiln_status kn_host_occupancy(kn_function *function, int block_threads, size_t shared_bytes, int *blocks);

#endif
