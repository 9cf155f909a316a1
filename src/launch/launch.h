/* launch/launch.h - a specialisation, loaded on a device and ready for one space: a launch for each part of
 * it, which is a function, a grid, an argument block, and the places in it that a call fills. */
#ifndef KN_LAUNCH_LAUNCH_H
#define KN_LAUNCH_LAUNCH_H

#include "launch/input.h"

/* All parts of a launch except addresses and scalar values. Immutable; any number of threads may run it. */
typedef struct kn_launch_plan kn_launch_plan;

kiln_status kn_launch_plan_create(kn_launch_plan **out, const kn_launch_input *input);
/* Sets the function of a plan that was created without one, before it runs. */
kiln_status kn_launch_plan_set_function(kn_launch_plan *plan, kn_function *function, bool waits_for_kernels);
void kn_launch_plan_free(kn_launch_plan *plan);

/* value[k]: for an array or raw parameter its first address; for a scalar or struct the place of its
 * bytes. Takes no lock and allocates nothing except the workspace of launches that need one. */
kiln_status kn_launch_plan_run(const kn_launch_plan *plan, const void *const *value, void *stream);

#endif
