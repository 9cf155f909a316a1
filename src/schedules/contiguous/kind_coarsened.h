/* schedules/contiguous/kind_coarsened.h - the coarsened space, for codegen and tests. */
#ifndef KN_SCHEDULES_CONTIGUOUS_KIND_COARSENED_H
#define KN_SCHEDULES_CONTIGUOUS_KIND_COARSENED_H

#include "schedule/config.h"

/* Vectors of a thread, along the coarsened axis; or single elements, of which each is a small store. */
enum { KN_COARSENING = 4, KN_COARSENING_SINGLE = 16 };
#define KN_COARSENED_CONFIG(X) X(coarsening, KN_COARSENING_SINGLE)
KN_CONFIG(kn_coarsened_config, KN_COARSENED_CONFIG);

typedef struct kn_coarsened_params {
    int axis; /* of the space: the coarsened one */
} kn_coarsened_params;

/* The space of a coarsened kernel, outermost first: a thread's vectors along the axis, groups of `steps`
 * vectors along it, then the other axes. */
void kn_coarsened_space(kn_space *out, const kn_space *space, int axis, int steps);

#endif
