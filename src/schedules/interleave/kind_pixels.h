/* schedules/interleave/kind_pixels.h - the forms of pixels kernels: what the fill of their template reads. */
#ifndef KN_SCHEDULES_INTERLEAVE_KIND_PIXELS_H
#define KN_SCHEDULES_INTERLEAVE_KIND_PIXELS_H

#include "schedule/schedule.h"

/* Bits of the schedule's form. */
enum {
    KN_PIXELS_LAID = 1, /* results along the planes begin anywhere: laid in shared memory first */
    KN_PIXELS_TABLE = 2 /* the body is computed for each value of its byte and each channel, once a block */
};
enum { KN_TABLE_ENTRIES = 256 };

#endif
