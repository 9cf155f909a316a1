/* schedules/interleave/kind_channels.h - the configuration of channels kernels. */
#ifndef KN_SCHEDULES_INTERLEAVE_KIND_CHANNELS_H
#define KN_SCHEDULES_INTERLEAVE_KIND_CHANNELS_H

#include "schedule/choice.h"
#include "schedule/config.h"

/* through_shared: planar results are unaligned, and staged in shared memory.
 * table: each block has a table of the body's results, for each byte and channel. */
#define KN_CHANNELS_CONFIG(X) X(channels, KN_MOST_CHANNELS) X(through_shared, 1) X(table, 1)
KN_CONFIG(kn_channels_config, KN_CHANNELS_CONFIG);
enum { KN_TABLE_ENTRIES = 256 };

#endif
