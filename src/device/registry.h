/* device/registry.h - the devices that there are, and which one is current. */
#ifndef KN_DEVICE_REGISTRY_H
#define KN_DEVICE_REGISTRY_H

#include "device/backend.h"

/* The device of an id (KILN_DEVICE_DEFAULT: the current one), made ready at first use. Lives for ever.
 * KILN_ERROR_NOT_FOUND, with the reason, where it is not there. */
kiln_status kn_device_get(kn_device **out, kiln_device id);

#endif
