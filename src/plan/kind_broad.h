/* plan/kind_broad.h - the forms of broad kernels: what the fill of their template reads. */
#ifndef KN_PLAN_KIND_BROAD_H
#define KN_PLAN_KIND_BROAD_H

#include "plan/schedule.h"

/* Bits of the schedule's form. */
enum {
    KN_BROAD_TOGETHER = 1, /* what a warp has lies in one row, and is located once */
    KN_BROAD_PAST = 2      /* results are stored past what lies in the cache, which is what is read */
};
enum { KN_BROAD_WARP = 32 /* threads */ };

#endif
