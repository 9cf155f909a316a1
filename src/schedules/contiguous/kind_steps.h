/* schedules/contiguous/kind_steps.h - what codegen and tests need of steps kernels. */
#ifndef KN_SCHEDULES_CONTIGUOUS_KIND_STEPS_H
#define KN_SCHEDULES_CONTIGUOUS_KIND_STEPS_H

#include "schedule/schedule.h"

/* Steps of a thread. */
enum { KN_THREAD_STEPS = 4 };

typedef struct kn_steps_params {
    int axis; /* of the space, on which steps are taken */
} kn_steps_params;

/* The space as a steps kernel goes over it, outermost first: the axis of the steps, then steps taken together
 * along it, then the other axes. */
void kn_steps_space(kn_space *out, const kn_space *space, int axis);

#endif
