/* The function that is called when a device is first used. */
#include "device/first_use.h"

#include <stddef.h>

static void (*first_use)(kn_backend_kind); /* set before there are threads */

void kn_device_on_first_use(void (*callback)(kn_backend_kind))
{
    first_use = callback;
}

void kn_device_tell_first_use(kn_backend_kind kind)
{
    if (first_use)
        first_use(kind);
}
