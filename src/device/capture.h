/* device/capture.h - captures that kiln begins and ends. Their results are in graph_handle.c. */
#ifndef KN_DEVICE_CAPTURE_H
#define KN_DEVICE_CAPTURE_H

#include "device/capture_list.h"
#include "device/cuda_driver.h"

/* Begins a capture on a stream that is not the default one. flags: KILN_CAPTURE_*. */
kiln_status kn_capture_begin(kn_device *device, void *stream, unsigned flags);
/* Ends it, whatever its state: then *capture and *graph are the caller's on success, and everything is given
 * back on failure. Where the stream or the thread is the wrong one nothing happens to it. */
kiln_status kn_capture_end(kn_capture **capture, kn_cu_graph *graph, kn_device *device, void *stream);

/* A stream of ours is about to be destroyed. A capture that was begun on it ends; where it is a member of
 * another, release(object) is called when that is over, and the answer is true. held is the object's own. */
bool kn_capture_stream_leaves(kn_device *device, void *stream, kn_held *held, void (*release)(void *object),
                              void *object);

#endif
