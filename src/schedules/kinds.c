/* kinds.c - the table of kinds: kn_kinds_of. */
#include "schedule/kind.h"

#include "schedules/kinds.h"

#include <stddef.h>
#include <string.h>

/* By back end, in the order in which they are asked. */
static const kn_kind *const host_kinds[] = {&kn_kind_host_interleaved,
                                            &kn_kind_host_runs,
                                            &kn_kind_host_indices,
                                            &kn_kind_host_quick,
                                            &kn_kind_host_row_short,
                                            &kn_kind_host_reduce,
                                            &kn_kind_host_row,
                                            &kn_kind_host_select,
                                            &kn_kind_host_scan,
                                            &kn_kind_host_sort_count,
                                            &kn_kind_host_sort_place,
                                            &kn_kind_host_tally,
                                            NULL};
static const kn_kind *const cuda_kinds[] = {&kn_kind_interleaved,    &kn_kind_stencil_3d,
                                            &kn_kind_stencil,        &kn_kind_transpose_pairs,
                                            &kn_kind_channels,       &kn_kind_tile,
                                            &kn_kind_windows,        &kn_kind_flat,
                                            &kn_kind_coarsened,      &kn_kind_output_bound,
                                            &kn_kind_rows,           &kn_kind_strided,
                                            &kn_kind_reduce_points,  &kn_kind_reduce_few,
                                            &kn_kind_reduce_product, &kn_kind_reduce_threads,
                                            &kn_kind_reduce_tile,    &kn_kind_reduce_columns,
                                            &kn_kind_reduce_slices,  &kn_kind_reduce_lanes,
                                            &kn_kind_reduce_rows,    &kn_kind_reduce_levels,
                                            &kn_kind_row_beside,     &kn_kind_row_columns,
                                            &kn_kind_row_strips,     &kn_kind_row_lanes,
                                            &kn_kind_row_block,      &kn_kind_row_long,
                                            &kn_kind_row_multipass,  &kn_kind_select_row,
                                            &kn_kind_select,         &kn_kind_scan_rows,
                                            &kn_kind_scan_columns,   &kn_kind_scan,
                                            &kn_kind_sort_count,     &kn_kind_sort_place,
                                            &kn_kind_sort_network,   &kn_kind_sort_rows,
                                            &kn_kind_sort_top,       &kn_kind_tally_halves,
                                            &kn_kind_tally,          NULL};

const kn_kind *const *kn_kinds_of(kn_backend_kind backend)
{
    return backend == KN_HOST ? host_kinds : cuda_kinds;
}
