/* schedules/reduce/kind_reduce_slices.h - a question of kinds that leave rows to this one. */
#ifndef KN_SCHEDULES_REDUCE_KIND_REDUCE_SLICES_H
#define KN_SCHEDULES_REDUCE_KIND_REDUCE_SLICES_H

#include "schedule/schedule.h"

/* The output axis along which some inputs are contiguous, where others are along a reduction axis, and slices
 * of rows are staged; -1. */
int kn_reduce_slices_crossed(const kn_choice *c);
/* True if there is one. */
bool kn_reduce_slices_crosses(const kn_choice *c);
/* True if slices of rows are staged for the inputs, with gaps between them or not. */
bool kn_reduce_slices_takes(const kn_choice *c);

#endif
