/* launch/input.h - the inputs of a launch plan. */
#ifndef KN_LAUNCH_INPUT_H
#define KN_LAUNCH_INPUT_H

#include "device/device.h"
#include "schedule/spec.h"

/* A raw array as the kernel sees it; the argument block has the same fields and the address. */
typedef struct kn_raw_shape {
    int64_t size;
    int ndim;
    const int64_t *shape, *strides;
} kn_raw_shape;

/* The inputs of kn_launch_plan_create, read only during that call. */
typedef struct kn_launch_input {
    const kn_spec *spec;
    const kn_space *space;
    const kn_launch_params *launch_params;
    const kn_spec *order; /* of baseline reductions: the optimised tier, whose order they have; or NULL */
    int logical_ndim;
    const int64_t *logical_shape;
    const kn_raw_shape *raw; /* by parameter; entries of raw parameters are read */
    kn_device *device;
    kn_function *function;  /* NULL: set later (kn_launch_plan_set_function) */
    bool waits_for_kernels; /* the function waits for other kernels */
} kn_launch_input;

#endif
