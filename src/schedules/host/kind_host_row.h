/* schedules/host/kind_host_row.h - the field of the host's row programs, and the order of their baseline
 * tier. */
#ifndef KN_SCHEDULES_HOST_KIND_HOST_ROW_H
#define KN_SCHEDULES_HOST_KIND_HOST_ROW_H

#include "schedules/host/host_order.h"

/* The kind's field. Of a result, rows along the outer reduction axes, and their length; capacity: elements
 * that are held, at most. */
#define KN_HOST_ROW_FIELD                                                                                    \
    int reduction_rank;                                                                                      \
    int row_unused;                                                                                          \
    long long rows, length, capacity;
typedef struct kn_host_row_field {
    KN_HOST_ROW_FIELD
} kn_host_row_field;

/* The loops that a kernel of the baseline tier gives for a reduction:
 * LANES: to[k] is element first + k of the row at `place`, behind what is there in the first `steps` of
 * `count` lanes; step: elements of the result before this row.
 * BOTH: to[k] is a[k] and b[k], reduced, or b[k] if a is NULL.
 * side: memory for KN_HOST_ROW_SIDES values. */
enum { KN_HOST_ROW_LANES, KN_HOST_ROW_BOTH };
#define KN_HOST_ROW_LOOPS                                                                                    \
    KN_HOST_LOOPS                                                                                            \
    const long long *here;                                                                                   \
    unsigned char *side;                                                                                     \
    void *to;
typedef struct kn_host_row_loops {
    KN_HOST_ROW_LOOPS
} kn_host_row_loops;
enum { KN_HOST_ROW_ACROSS = 32, KN_HOST_ROW_SIDES = 2 * KN_HOST_ROW_ACROSS };

/* Reduces the elements of the result at `here` to `to`, in the order of host_row.cpp. Without elements `to`
 * stays. */
void kn_host_row_in_order(const void *loops);

#endif
