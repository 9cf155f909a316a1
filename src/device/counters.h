/* device/counters.h - counters by which the blocks of a launch find the last one among them. */
#ifndef KN_DEVICE_COUNTERS_H
#define KN_DEVICE_COUNTERS_H

#include "device/backend.h"

/* `count` counters (at most KN_MAX_COUNTERS) that are zero when the launch that is queued next on the stream
 * begins, and that it leaves zero. No two launches that can overlap are given the same: on CUDA those of a
 * stream share theirs, but each captured one (capture: its number, else 0) has its own for as long as the
 * graph lives; on the host each call has its own. */
kiln_status kn_counters_take(unsigned **out, kn_device *device, int count, void *stream, uint64_t capture);
/* The launch is queued, or has failed. Takes NULL. */
void kn_counters_give(kn_device *device, unsigned *counters, int count);

/* The native stream is about to be destroyed. */
void kn_counters_stream_ends(kn_device *device, void *stream);

#endif
