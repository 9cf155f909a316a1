/* Shared by the tests against the fake driver. */
#ifndef DRIVER_COMMON_H
#define DRIVER_COMMON_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "device/device.h"
#include "fake_cuda.h"
#include "../ok.h"

#define MESSAGE_HAS(text) assert_non_null(strstr(kiln_error_message(), text))

static inline kn_device *cuda(int ordinal)
{
    kn_device *device = NULL;
    OK(kn_device_get(&device, KILN_DEVICE_CUDA(ordinal)));
    return device;
}

static inline int use_fake_driver(void **state)
{
    (void)state;
    setenv("KILN_LIBCUDA", FAKE_LIBCUDA, 1);
    unsetenv("KILN_TARGET");
    return 0;
}

#endif
