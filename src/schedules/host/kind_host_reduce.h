/* schedules/host/kind_host_reduce.h - constants and the field of the host's reductions, and the order of
 * their baseline tier. */
#ifndef KN_SCHEDULES_HOST_KIND_HOST_REDUCE_H
#define KN_SCHEDULES_HOST_KIND_HOST_REDUCE_H

#include "schedules/host/host_order.h"

enum {
    KN_HOST_REDUCE_WIDE = 1024,  /* results of a task, at most */
    KN_HOST_REDUCE_DEPTH = 64,   /* steps of a row that are reduced in registers, at most */
    KN_HOST_REDUCE_LARGEST = 64, /* bytes of a value of the baseline tier */
    KN_HOST_REDUCE_BATCH =
        32, /* short rows that are reduced at a time; the buffers of host_reduce.cpp have this size */
    KN_HOST_REDUCE_RUNS = 2,    /* short_rows of several axes */
    KN_HOST_REDUCE_TRUTHS = 2,  /* half_width */
    KN_HOST_REDUCE_GROUPED = 1, /* indices; see host_kinds.h */
    KN_HOST_REDUCE_SEARCHED = 2,
    KN_HOST_REDUCE_ALONE = 4,
    KN_HOST_REDUCE_COPIES = 8 /* elements of a result in a vector */
};

/* The kind's field. groups: elements of the innermost reduction axis in a step; rows: along the other ones;
 * steps of a row, and the rest of its elements; piece: steps of one, and pieces of a row; chunk: pieces of
 * one, and chunks of a result; width: neighbouring results of a task. */
#define KN_HOST_REDUCE_FIELD                                                                                 \
    int reduction_rank;                                                                                      \
    int groups;                                                                                              \
    long long rows, steps, rest, piece, pieces, chunk, chunks, width;
typedef struct kn_host_reduce_field {
    KN_HOST_REDUCE_FIELD
} kn_host_reduce_field;

/* The loops that a kernel of the baseline tier gives:
 * STEPS: to[k] of `count` lanes is `steps` steps from `place` on, the first one's number being `first`,
 * behind a[k] unless a is NULL.
 * BOTH: to[k] is a[k * step] and b[k * step], reduced.
 * FINISH: `count` results at `place` from their values at a; steps 0: there were no elements. */
enum { KN_HOST_REDUCE_STEPS, KN_HOST_REDUCE_BOTH, KN_HOST_REDUCE_FINISH };
#define KN_HOST_REDUCE_LOOPS                                                                                 \
    KN_HOST_LOOPS                                                                                            \
    int lanes, is_short, beside, depth, index_operand;                                                       \
    unsigned *counters;                                                                                      \
    unsigned char *partials;                                                                                 \
    long long begin, end;
typedef struct kn_host_reduce_loops {
    KN_HOST_REDUCE_LOOPS
} kn_host_reduce_loops;

/* Computes the tasks from `begin` up to `end`. It combines the values that host_reduce.cpp combines, in the
 * same order. */
void kn_host_reduce_in_order(const void *loops);

#endif
