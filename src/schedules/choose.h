/* schedules/choose.h - asks the kinds. */
#ifndef KN_SCHEDULES_CHOOSE_H
#define KN_SCHEDULES_CHOOSE_H

#include "schedule/kind.h"

/* NULL: the back end has none of that name. */
const kn_kind *kn_kind_find(kn_backend_kind backend, const char *name);

/* Chooses the first kind of the target, except those that KILN_KINDS switches off, that computes such
 * programs and takes the space. block: the user's wish, 0 for none. KILN_ERROR_UNSUPPORTED if there is none,
 * which cannot happen to elementwise programs unless their last kind is switched off; KILN_ERROR_INVALID for
 * a name in KILN_KINDS that no kind has. */
kiln_status kn_schedule_choose(kn_schedule *out, kn_launch_params *launch_params, const kn_program *program,
                               const kn_space *space, const kn_access *access, int count,
                               const kn_target *target, int block);

/* True for the kind of the baseline tier, whose kernels are to be compiled as soon as possible. */
bool kn_kind_is_quick(kn_backend_kind backend, const kn_kind *kind);

/* True if its kernels are to be compiled as soon as possible. */
bool kn_schedule_is_baseline(const kn_schedule *schedule, kn_backend_kind backend);

/* Makes it the baseline tier of the same kind, if the kind has one, and results of such programs keep their
 * bits. False: it has none, and the specialisation is as it was. */
bool kn_schedule_make_baseline(kn_spec *spec, const kn_space *space);

/* The baseline tier of a program whose kinds combine elements in an order (reductions on CUDA): one
 * schedule for all layouts and kinds, whose launches keep the order of the optimised one. False: the back
 * end has none for such programs, or cannot reduce in the order of this one. */
bool kn_schedule_keeps_order(kn_schedule *out, const kn_spec *optimised, const kn_space *space,
                             const kn_launch_params *launch_params);

/* True if the optimised tier compiles nearly as soon as the baseline. */
bool kn_schedule_is_soon(const kn_schedule *schedule, const kn_program *program);

/* The baseline tier of an elementwise program, which takes any layout: one schedule for all spaces of up to
 * eight axes, another one for all others. count: arrays among the operands; block as above. False: the back
 * end has none for such programs. */
bool kn_schedule_quick(kn_schedule *out, const kn_program *program, const kn_target *target, int count,
                       int ndim, int block);

#endif
