/* launch/launch.h - a specialisation loaded on a device, made ready for one space: a launch for each part of
 * it, which is a function, a grid, an argument block filled but for what a call brings, and the places where
 * that goes. */
#ifndef KN_LAUNCH_LAUNCH_H
#define KN_LAUNCH_LAUNCH_H

#include "launch/input.h"

/* Everything a launch depends on but addresses and scalar values. Immutable; may be run by any number of
 * threads. */
typedef struct kn_launch_plan kn_launch_plan;

kiln_status kn_launch_plan_create(kn_launch_plan **out, const kn_launch_input *input);
/* The function of one that was created without; elementwise programs can be. Before it runs. */
kiln_status kn_launch_plan_set_function(kn_launch_plan *plan, kn_function *function, bool waits_for_kernels);
void kn_launch_plan_free(kn_launch_plan *plan);

/* value[k]: for an array or raw parameter its first address; for a scalar or struct where its bytes are. No
 * lock, no allocation, but for the workspace of launches that have some. */
kiln_status kn_launch_plan_run(const kn_launch_plan *plan, const void *const *value, void *stream);

#endif
