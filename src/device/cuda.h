/* device/cuda.h - a CUDA device. */
#ifndef KN_DEVICE_CUDA_H
#define KN_DEVICE_CUDA_H

#include "device/backend.h"

/* Device `ordinal`, its primary context retained. */
kiln_status kn_cuda_device_create(kn_device **out, int ordinal);
void *kn_cuda_context_of(kn_device *device);

#endif
