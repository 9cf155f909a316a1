/* schedules/interleave/kind_channels.h - the variants of channels kernels, for their kind and their
 * recipe. */
#ifndef KN_SCHEDULES_INTERLEAVE_KIND_CHANNELS_H
#define KN_SCHEDULES_INTERLEAVE_KIND_CHANNELS_H

#include "schedule/schedule.h"

/* Bits of the schedule's variant. */
enum {
    KN_CHANNELS_STAGED = 1, /* planar results are unaligned, and staged in shared memory */
    KN_CHANNELS_TABLE = 2   /* each block has a table of the body's results, for each byte and channel */
};
enum { KN_TABLE_ENTRIES = 256 };

#endif
