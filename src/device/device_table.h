/* device/device_table.h - the devices that are ready, by slot, and their names. */
#ifndef KN_DEVICE_DEVICE_TABLE_H
#define KN_DEVICE_DEVICE_TABLE_H

#include "device/backend.h"

enum { KN_CUDA_DEVICES_MAX = 64 };

/* The slot of a device in per-device tables: 0 for the host, ordinal + 1 for CUDA. */
static inline int kn_device_slot(kiln_device id)
{
    return KILN_DEVICE_IS_CUDA(id) ? id - KILN_DEVICE_CUDA(0) + 1 : 0;
}

/* The device of a slot, or NULL where it was not used yet. */
kn_device *kn_device_ready(int slot);
/* Each is made once and lives for ever, but for the host's, which goes (NULL) with the library. */
void kn_device_set_ready(int slot, kn_device *device);

/* "host", "cuda:0", ...: of an id that names a device, not the default. Gives buffer. */
char *kn_device_write_name(kiln_device id, char *buffer, size_t size);

#endif
