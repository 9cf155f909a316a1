/* device/host_stream.h - streams and events of the host. See kn_backend. */
#ifndef KN_DEVICE_HOST_STREAM_H
#define KN_DEVICE_HOST_STREAM_H

#include "device/backend.h"

kiln_status kn_host_stream_create(kn_device *device, unsigned flags, void **out);
void kn_host_stream_destroy(kn_device *device, void *stream);
/* Streams and events are always done: work has run when its call returns. */
kiln_status kn_host_wait(kn_device *device, void *handle);
kiln_status kn_host_is_done(kn_device *device, void *handle, bool *done);
kiln_status kn_host_stream_is_capturing(kn_device *device, void *stream, bool *capturing, uint64_t *id);
kiln_status kn_host_stream_check(kn_device *device, void *stream);
kiln_status kn_host_event_create(kn_device *device, unsigned flags, void **out);
void kn_host_event_destroy(kn_device *device, void *event);
kiln_status kn_host_event_record(kn_device *device, void *event, void *stream);
kiln_status kn_host_event_elapsed(kn_device *device, void *start, void *end, double *milliseconds);
kiln_status kn_host_stream_wait_event(kn_device *device, void *stream, void *event);
kiln_status kn_host_synchronize(kn_device *device);

#endif
