/* The table of devices that have been made, and their names. */
#include "device/device_table.h"

#include <stdatomic.h>
#include <stdio.h>

static _Atomic(kn_device *) ready[KN_CUDA_DEVICES_MAX + 1];

kn_device *kn_device_ready(int slot)
{
    return atomic_load_explicit(&ready[slot], memory_order_acquire);
}

void kn_device_set_ready(int slot, kn_device *device)
{
    atomic_store_explicit(&ready[slot], device, memory_order_release);
}

char *kn_device_write_name(kiln_device id, char *buffer, size_t size)
{
    if (KILN_DEVICE_IS_CUDA(id))
        snprintf(buffer, size, "cuda:%d", (int)(id - KILN_DEVICE_CUDA(0)));
    else
        snprintf(buffer, size, id == KILN_DEVICE_HOST ? "host" : "device(%d)", (int)id);
    return buffer;
}
