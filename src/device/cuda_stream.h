/* device/cuda_stream.h - streams of CUDA devices. See kn_backend. */
#ifndef KN_DEVICE_CUDA_STREAM_H
#define KN_DEVICE_CUDA_STREAM_H

#include "device/backend.h"

kiln_status kn_cuda_stream_create(kn_device *device, unsigned flags, void **out);
void kn_cuda_stream_destroy(kn_device *device, void *stream);
kiln_status kn_cuda_stream_synchronize(kn_device *device, void *stream);
kiln_status kn_cuda_stream_query(kn_device *device, void *stream, bool *done);
kiln_status kn_cuda_stream_is_capturing(kn_device *device, void *stream, bool *capturing, uint64_t *id);
bool kn_cuda_stream_may_record(kn_device *device, void *stream);
kiln_status kn_cuda_stream_check(kn_device *device, void *stream);
kiln_status kn_cuda_synchronize(kn_device *device);

#endif
