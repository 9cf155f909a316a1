/* schedules/choose.h - asks the kinds. */
#ifndef KN_SCHEDULES_CHOOSE_H
#define KN_SCHEDULES_CHOOSE_H

#include "schedule/kind.h"

/* NULL: the back end has none of that name. */
const kn_kind *kn_kind_find(kn_backend_kind backend, const char *name);

/* block: the user's wish, 0 for none. The first kind of the target that computes such programs and takes the
 * space has it, but for those that KILN_KINDS names. KILN_ERROR_UNSUPPORTED where there is none, which
 * elementwise programs do not meet unless their last kind is switched off; KILN_ERROR_INVALID for a name in
 * KILN_KINDS that no kind has. */
kiln_status kn_schedule_choose(kn_schedule *out, kn_launch_params *launch_params, const kn_program *program,
                               const kn_space *space, const kn_access *access, int count,
                               const kn_target *target, int block);

/* Whether kernels of the kind are quick forms, of which compilers are to make what they soonest can. */
bool kn_kind_is_quick(kn_backend_kind backend, const kn_kind *kind);

/* Whether the best form is there nearly as soon as a quick one would be. */
bool kn_schedule_is_soon(const kn_schedule *schedule, const kn_program *program);

/* The form of an elementwise program that takes any layout and compiles soonest: the same for all spaces of
 * up to eight axes, and for all others. count: arrays among the operands; block as above. False: the back end
 * has none for such programs. */
bool kn_schedule_quick(kn_schedule *out, const kn_program *program, const kn_target *target, int count,
                       int ndim, int block);

#endif
