/* host_function.h - for tests of build: the host device, and a call of a function there. Comes behind
 * cmocka.h. */
#ifndef TESTS_HOST_FUNCTION_H
#define TESTS_HOST_FUNCTION_H

#include "device/device.h"

static inline kn_device *host(void)
{
    kn_device *device;
    assert_int_equal(kn_device_get(&device, KILN_DEVICE_HOST), KILN_OK);
    return device;
}

/* Changes the int that a function's argument points at. */
static inline int run_on_host(kn_function *function, int value)
{
    int *pointer = &value;
    kn_launch launch = {.grid = {1, 1, 1},
                        .block = {1, 1, 1},
                        .elements = 1,
                        .grain = 1,
                        .block_data = &pointer,
                        .block_size = sizeof pointer};
    assert_int_equal(host()->backend->launch(function, &launch, NULL), KILN_OK);
    return value;
}

#endif
