/* schedules/host/host_kinds.h - the kinds of this family and their recipes: all kinds of the host. */
#ifndef KN_SCHEDULES_HOST_HOST_KINDS_H
#define KN_SCHEDULES_HOST_HOST_KINDS_H

#include "codegen/writer.h"
#include "schedule/kind.h"

extern const kn_kind kn_kind_host_interleaved, kn_kind_host_runs, kn_kind_host_indices, kn_kind_host_quick,
    kn_kind_host_reduce, kn_kind_host_row_short, kn_kind_host_row, kn_kind_host_scan;
extern const kn_recipe kn_recipe_host_interleaved, kn_recipe_host_runs, kn_recipe_host_indices,
    kn_recipe_host_quick, kn_recipe_host_reduce, kn_recipe_host_row_short, kn_recipe_host_row,
    kn_recipe_host_scan;

#endif
