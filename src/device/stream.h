/* device/stream.h - the native streams behind public handles. */
#ifndef KN_DEVICE_STREAM_H
#define KN_DEVICE_STREAM_H

#include "device/backend.h"

/* The native stream that a public handle (NULL: the thread's current stream where it belongs to this device,
 * else the default) means on this device; KILN_ERROR_INVALID where the handle is of another device. */
kiln_status kn_stream_native(void **out, kn_device *device, kiln_stream *stream);
/* The device and native stream that a public handle means; NULL: the thread's current ones. */
kiln_status kn_stream_resolve(kn_device **device, void **native, kiln_stream *stream);

#endif
