/* device/lost.h - CUDA in a child of fork(): where it was started before, nothing can be done with it. */
#ifndef KN_DEVICE_LOST_H
#define KN_DEVICE_LOST_H

#include "device/backend.h"

extern bool kn_cuda_lost; /* set before the child does anything */
/* The message of every call that follows. */
extern const char kn_cuda_lost_message[];

/* True if the device can no longer be used. Its objects are left as they are. */
static inline bool kn_device_is_lost(const kn_device *device)
{
    return kn_cuda_lost && device->backend->kind == KN_CUDA;
}
/* The error that says so. */
kiln_status kn_device_say_lost(void);

#endif
