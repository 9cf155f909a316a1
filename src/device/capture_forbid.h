/* device/capture_forbid.h - the calls that an open capture forbids. */
#ifndef KN_DEVICE_CAPTURE_FORBID_H
#define KN_DEVICE_CAPTURE_FORBID_H

#include "device/backend.h"

/* KILN_ERROR_CAPTURE, with `what` as the refused call, if the calling thread has begun a capture that is not
 * over. */
kiln_status kn_capture_forbids(const char *what);
/* The same for code, which only captures that were begun with KILN_CAPTURE_PREPARED keep from loading. */
kiln_status kn_capture_forbids_code(void);
/* The same for a call that concerns the whole device: there the captures of all threads count. */
kiln_status kn_capture_forbids_device(const kn_device *device, const char *what);
/* True if the capture of this number was begun so that nothing is compiled or loaded for its calls. */
bool kn_capture_is_prepared(uint64_t capture);
/* The error for a capture that has been spoilt already. */
kiln_status kn_capture_say_spoilt(void);

#endif
