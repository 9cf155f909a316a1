/* device/capture_hold.h - objects that captures keep, and ends that wait for theirs. */
#ifndef KN_DEVICE_CAPTURE_HOLD_H
#define KN_DEVICE_CAPTURE_HOLD_H

#include "device/capture_list.h"

/* While `stream` is being captured: the graph takes the object over, calls release(object) when it and its
 * instances are gone, and *taken is true. Otherwise nothing happens and *taken is false. On failure the
 * object stays the caller's. release is called outside all locks and may free memory. */
kiln_status kn_capture_hold(kn_device *device, void *stream, void (*release)(void *object), void *object,
                            bool *taken);

/* For calls that would spoil captures, such as waiting for a device: if a stream of the device is being
 * captured, returns true and calls release(object) when the capture is over. held is the object's own. */
bool kn_capture_defer(kn_device *device, kn_held *held, void (*release)(void *object), void *object);

#endif
