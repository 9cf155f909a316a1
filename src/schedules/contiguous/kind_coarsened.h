/* schedules/contiguous/kind_coarsened.h - the coarsened space, for codegen and tests. */
#ifndef KN_SCHEDULES_CONTIGUOUS_KIND_COARSENED_H
#define KN_SCHEDULES_CONTIGUOUS_KIND_COARSENED_H

#include "schedule/config.h"

/* Vectors of a thread, along the coarsened axis; or words of narrow results, whose rows begin anywhere. */
enum { KN_COARSENING = 4, KN_COARSENING_UNALIGNED = 16 };
#define KN_COARSENED_CONFIG(X) X(coarsening, KN_COARSENING_UNALIGNED)
KN_CONFIG(kn_coarsened_config, KN_COARSENED_CONFIG);

static inline bool kn_coarsened_is_unaligned(const kn_schedule *schedule)
{
    return kn_coarsened_config_of(schedule)->coarsening == KN_COARSENING_UNALIGNED;
}

typedef struct kn_coarsened_params {
    int axis; /* of the space: the coarsened one */
} kn_coarsened_params;

/* The space of a coarsened kernel, outermost first: a thread's vectors along the axis, groups of them
 * along it, then the other axes. In unaligned rows the fastest axis counts lanes, which have a
 * word each but for the first. */
void kn_coarsened_space(kn_space *out, const kn_space *space, const kn_schedule *schedule, int axis);

#endif
