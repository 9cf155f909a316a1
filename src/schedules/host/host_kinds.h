/* schedules/host/host_kinds.h - the kinds of this family and their recipes: all kinds of the host. */
#ifndef KN_SCHEDULES_HOST_HOST_KINDS_H
#define KN_SCHEDULES_HOST_HOST_KINDS_H

#include "codegen/writer.h"
#include "schedule/kind.h"

/* step: of interleaved operands, those at one place; of inputs that are read in place, elements from one to
 * the next, or KN_HOST_BACKWARD; other_step: likewise, of those with another stride. */
#define KN_HOST_CONFIG(X) X(step, 9) X(other_step, 9)
enum { KN_HOST_BACKWARD = 9 /* each element is one before the last */ };
KN_CONFIG(kn_host_config, KN_HOST_CONFIG);
/* lanes_of_row: elements of a row in a vector; 1: lanes are results.
 * short_rows: this many are reduced at a time, with some lanes for each; 2: rows of several axes, whose steps
 * go along the second.
 * indices: 1 (grouped): lanes are several elements of each result, which have indices of their own. From
 * KN_HOST_REDUCE_SEARCHED on, a number for each kn_extreme: its place is looked for in the first block of a
 * row that has it, since of a block its extreme alone is found; from KN_HOST_REDUCE_ALONE on in all of the
 * row.
 * beside: so many results lie side by side, and such runs are reduced as short rows are, many at a time;
 * with short_rows, the elements of each follow each other, and vectors have KN_HOST_REDUCE_COPIES of each
 * result.
 * half_width: sums of 64 bits have terms of 16 at most, so few that they fit 32: a vector has twice as
 * many.
 * KN_HOST_REDUCE_TRUTHS: terms are 0 or 1; sums of some steps are as wide as an input. */
#define KN_HOST_REDUCE_CONFIG(X)                                                                             \
    X(lanes_of_row, 64) X(short_rows, 2) X(indices, 5) X(beside, 8) X(half_width, 2)
KN_CONFIG(kn_host_reduce_config, KN_HOST_REDUCE_CONFIG);
/* multipass: values of elements are computed again for each pass, rather than held. */
#define KN_HOST_ROW_CONFIG(X) X(multipass, 1)
KN_CONFIG(kn_host_row_config, KN_HOST_ROW_CONFIG);
/* across: a block has rows side by side, rather than a stretch of one row. */
#define KN_HOST_SCAN_CONFIG(X) X(across, 1) X(block_elements, 1 << 13)
KN_CONFIG(kn_host_scan_config, KN_HOST_SCAN_CONFIG);
/* Integers of 4 and 8 bytes are combined along a row by vectors, in any order, where the text is one of
 * these. */
typedef enum kn_host_scan_way {
    KN_HOST_SCAN_BY_TEXT,
    KN_HOST_SCAN_BY_SUM,
    KN_HOST_SCAN_BY_GREATEST,
    KN_HOST_SCAN_BY_LEAST
} kn_host_scan_way;
kn_host_scan_way kn_host_scan_way_of(const kn_spec *spec);

/* Sorts. one_axis: the elements of a row lie along one axis. */
#define KN_HOST_SORT_CONFIG(X) X(one_axis, 1)
KN_CONFIG(kn_host_sort_config, KN_HOST_SORT_CONFIG);

/* Tallies. one_axis: the elements lie along one axis. */
#define KN_HOST_TALLY_CONFIG(X) X(one_axis, 1)
KN_CONFIG(kn_host_tally_config, KN_HOST_TALLY_CONFIG);

/* Two maps over the elements of a row, which lie along one axis, or not. single, stores: their stages, and
 * the slots that they go into. */
void kn_put_host_rows(kn_writer *w, bool one_axis, int single, int stores);

/* The structs of a baseline's calls and of its loops, for the order that calls them (host_order.h). */
void kn_host_put_loops(kn_writer *w, const kn_field *loops);

extern const kn_kind kn_kind_host_interleaved, kn_kind_host_runs, kn_kind_host_indices, kn_kind_host_quick,
    kn_kind_host_reduce, kn_kind_host_row_short, kn_kind_host_row, kn_kind_host_select, kn_kind_host_scan,
    kn_kind_host_sort_count, kn_kind_host_sort_place, kn_kind_host_tally;
extern const kn_recipe kn_recipe_host_interleaved, kn_recipe_host_runs, kn_recipe_host_indices,
    kn_recipe_host_quick, kn_recipe_host_reduce, kn_recipe_host_row_short, kn_recipe_host_row,
    kn_recipe_host_select, kn_recipe_host_scan, kn_recipe_host_sort_count, kn_recipe_host_sort_place,
    kn_recipe_host_tally;

#endif
