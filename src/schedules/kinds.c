/* kinds.c - the table of kinds. */
#include "schedule/kind.h"

#include "schedules/kinds.h"

#include <stddef.h>
#include <string.h>

/* By back end, in the order in which they are asked. */
static const kn_kind *const host_kinds[] = {&kn_kind_host_woven,
                                            &kn_kind_host_runs,
                                            &kn_kind_host_indices,
                                            &kn_kind_host_quick,
                                            &kn_kind_host_fold,
                                            &kn_kind_host_row,
                                            NULL};
static const kn_kind *const cuda_kinds[] = {&kn_kind_woven,
                                            &kn_kind_planes,
                                            &kn_kind_shifted,
                                            &kn_kind_mirrored,
                                            &kn_kind_pixels,
                                            &kn_kind_tile,
                                            &kn_kind_windows,
                                            &kn_kind_flat,
                                            &kn_kind_steps,
                                            &kn_kind_broad,
                                            &kn_kind_rows,
                                            &kn_kind_strided,
                                            &kn_kind_fold_threads,
                                            &kn_kind_fold_tile,
                                            &kn_kind_fold_columns,
                                            &kn_kind_reduce_slices,
                                            &kn_kind_fold_lanes,
                                            &kn_kind_fold_rows,
                                            &kn_kind_row_columns,
                                            &kn_kind_row_lanes,
                                            &kn_kind_row_block,
                                            &kn_kind_row_long,
                                            &kn_kind_row_walked,
                                            NULL};

const kn_kind *const *kn_kinds_of(kn_backend_kind backend)
{
    return backend == KN_HOST ? host_kinds : cuda_kinds;
}
