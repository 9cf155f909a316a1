/* schedules/contiguous/kind_output_bound.h - the variants of output-bound kernels, for their kind and their
 * recipe. */
#ifndef KN_SCHEDULES_CONTIGUOUS_KIND_OUTPUT_BOUND_H
#define KN_SCHEDULES_CONTIGUOUS_KIND_OUTPUT_BOUND_H

#include "schedule/schedule.h"

/* Bits of the schedule's variant. */
enum {
    KN_OUTPUT_BOUND_ONE_ROW = 1, /* all elements of a warp are in one row, located by one place */
    KN_OUTPUT_BOUND_STREAMED = 2 /* results are stored past the caches, so that the inputs stay there */
};
/* Bits from KN_OUTPUT_BOUND_RESIDENT on: operand number + 1 of the array that is prefetched and stays in L2;
 * 0: there is none. */
enum { KN_OUTPUT_BOUND_RESIDENT = 4 };
static inline int kn_output_bound_resident(const kn_schedule *schedule)
{
    return (schedule->variant >> KN_OUTPUT_BOUND_RESIDENT) - 1;
}
enum { KN_OUTPUT_BOUND_WARP = 32 /* threads */ };

#endif
