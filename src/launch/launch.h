/* launch/launch.h - a specialisation loaded on a device, made ready for one space: a list of steps, each a
 * function, a grid, an argument block filled but for what a call brings, and the places where that goes. */
#ifndef KN_LAUNCH_LAUNCH_H
#define KN_LAUNCH_LAUNCH_H

#include "device/device.h"
#include "plan/layout.h"

/* A raw array as the kernel sees it; the argument block repeats it but for the address. */
typedef struct kn_raw_shape {
    int64_t size;
    int ndim;
    const int64_t *shape, *strides;
} kn_raw_shape;

/* Everything a launch depends on but addresses and scalar values. Immutable; may be run by any number of
 * threads. */
typedef struct kn_launch_plan kn_launch_plan;

/* What a plan is made from; read during kn_launch_plan_create alone. */
typedef struct kn_launch_input {
    const kn_spec *spec;
    const kn_space *space;
    const kn_figures *figures;
    int logical_ndim;
    const int64_t *logical_shape;
    const kn_raw_shape *raw; /* by parameter; entries of raw parameters are read */
    kn_device *device;
    kn_function *function;
} kn_launch_input;

kiln_status kn_launch_plan_create(kn_launch_plan **out, const kn_launch_input *input);
void kn_launch_plan_free(kn_launch_plan *plan);

/* value[k]: for an array or raw parameter its first address; for a scalar or struct where its bytes are. No
 * lock, no allocation. */
kiln_status kn_launch_plan_run(const kn_launch_plan *plan, const void *const *value, void *stream);

#endif
