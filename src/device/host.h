/* device/host.h - the host as a device. */
#ifndef KN_DEVICE_HOST_H
#define KN_DEVICE_HOST_H

#include "device/backend.h"

/* The one host device; NULL, with the last error set, without memory for its pool. Call under the registry's
 * lock. */
kn_device *kn_host_device_create(void);

#endif
