/* schedules/contiguous/kind_broad.h - the forms of broad kernels: what the fill of their template reads. */
#ifndef KN_SCHEDULES_CONTIGUOUS_KIND_BROAD_H
#define KN_SCHEDULES_CONTIGUOUS_KIND_BROAD_H

#include "schedule/schedule.h"

/* Bits of the schedule's form. */
enum {
    KN_BROAD_TOGETHER = 1, /* what a warp has lies in one row, and is located once */
    KN_BROAD_PAST = 2      /* results are stored past what lies in the cache, which is what is read */
};
/* Bits from KN_BROAD_KEPT on: the number of the array operand that is asked for first, and kept in the cache;
 * 0: none is. Operand 0 has number 1. */
enum { KN_BROAD_KEPT = 4 };
static inline int kn_broad_kept(const kn_schedule *schedule)
{
    return (schedule->variant >> KN_BROAD_KEPT) - 1;
}
enum { KN_BROAD_WARP = 32 /* threads */ };

#endif
