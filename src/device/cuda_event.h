/* device/cuda_event.h - events of CUDA devices. See kn_backend. */
#ifndef KN_DEVICE_CUDA_EVENT_H
#define KN_DEVICE_CUDA_EVENT_H

#include "device/backend.h"

kiln_status kn_cuda_event_create(kn_device *device, unsigned flags, void **out);
void kn_cuda_event_destroy(kn_device *device, void *event);
kiln_status kn_cuda_event_record(kn_device *device, void *event, void *stream);
kiln_status kn_cuda_event_synchronize(kn_device *device, void *event);
kiln_status kn_cuda_event_query(kn_device *device, void *event, bool *done);
kiln_status kn_cuda_event_elapsed(kn_device *device, void *start, void *end, double *milliseconds);
kiln_status kn_cuda_stream_wait_event(kn_device *device, void *stream, void *event);

#endif
