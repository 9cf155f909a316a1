/* schedules/contiguous/kind_output_bound.h - the configuration of output-bound kernels. */
#ifndef KN_SCHEDULES_CONTIGUOUS_KIND_OUTPUT_BOUND_H
#define KN_SCHEDULES_CONTIGUOUS_KIND_OUTPUT_BOUND_H

#include "program/stages.h"
#include "schedule/config.h"

/* vectors: of a thread, of each operand.
 * one_row: all elements of a warp are in one row, located by one place.
 * streamed: results are stored past the caches, so that the inputs stay there.
 * resident: operand number + 1 of the array that is prefetched and stays in L2; 0: there is none. */
#define KN_OUTPUT_BOUND_CONFIG(X)                                                                            \
    X(vectors, KN_OUTPUT_BOUND_VECTORS) X(one_row, 1) X(streamed, 1) X(resident, KN_MAX_PARAMS)
enum {
    KN_OUTPUT_BOUND_VECTORS = 4 /* more are no better (u8 to f32 by channel: 99 % of the floor, not 96) */
};
KN_CONFIG(kn_output_bound_config, KN_OUTPUT_BOUND_CONFIG);
enum { KN_OUTPUT_BOUND_WARP = 32 /* threads */ };

#endif
