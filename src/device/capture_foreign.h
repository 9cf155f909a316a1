/* device/capture_foreign.h - captures that kiln did not begin. */
#ifndef KN_DEVICE_CAPTURE_FOREIGN_H
#define KN_DEVICE_CAPTURE_FOREIGN_H

#include "device/backend.h"

/* A capture is met, on a stream that is in it: where kiln did not begin it keeps account of it until its
 * graph is gone. */
kiln_status kn_capture_meet(kn_device *device, void *stream, uint64_t capture);
/* Frees the objects of graphs that are gone; costs next to nothing if there are none. Call without locks. */
void kn_capture_reap(void);

#endif
