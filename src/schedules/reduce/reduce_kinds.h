/* schedules/reduce/reduce_kinds.h - the kinds of this family, and how the source of each is written.
 * Reductions: one map, a reduce, one map. */
#ifndef KN_SCHEDULES_REDUCE_REDUCE_KINDS_H
#define KN_SCHEDULES_REDUCE_REDUCE_KINDS_H

#include "codegen/writer.h"
#include "schedule/kind.h"
#include "schedules/reduce/reduce_space.h"

/* results_each: of a thread. */
#define KN_REDUCE_POINTS_CONFIG(X) X(results_each, 4)
KN_CONFIG(kn_reduce_points_config, KN_REDUCE_POINTS_CONFIG);
/* few: results of a row. items: of a row that a thread has. whole: all have
 * as many. */
enum { KN_MOST_FEW = 6 };
#define KN_REDUCE_FEW_CONFIG(X) X(few, KN_MOST_FEW) X(items, 4) X(whole, 1)
KN_CONFIG(kn_reduce_few_config, KN_REDUCE_FEW_CONFIG);
/* results_side: rows, and columns, of results of a thread. */
#define KN_REDUCE_PRODUCT_CONFIG(X) X(reduction_axes, KN_REDUCE_SEVERAL_AXES) X(results_side, 8)
KN_CONFIG(kn_reduce_product_config, KN_REDUCE_PRODUCT_CONFIG);
/* half_width: sums of 64 bits have so few terms of 16 at most that they fit 32. all_outputs: columns are
 * those of all output axes. deep: rows of a thread in flight, where they are more than usual. */
#define KN_REDUCE_COLUMNS_CONFIG(X)                                                                          \
    X(reduction_axes, KN_REDUCE_SEVERAL_AXES) X(half_width, 1) X(all_outputs, 1) X(deep, 16)
KN_CONFIG(kn_reduce_columns_config, KN_REDUCE_COLUMNS_CONFIG);
/* narrow_row: its elements; 0: rows are not narrow. structs: a thread has a vector of structs. */
#define KN_REDUCE_THREADS_CONFIG(X) X(reduction_axes, KN_REDUCE_SEVERAL_AXES) X(narrow_row, 8) X(structs, 1)
KN_CONFIG(kn_reduce_threads_config, KN_REDUCE_THREADS_CONFIG);
/* padded: 16 bytes of 144 are left unused, so that threads read different banks. */
#define KN_REDUCE_TILE_CONFIG(X) X(padded, 1)
KN_CONFIG(kn_reduce_tile_config, KN_REDUCE_TILE_CONFIG);
/* items: of a row that a thread has. */
#define KN_REDUCE_LANES_CONFIG(X) X(reduction_axes, KN_REDUCE_SEVERAL_AXES) X(items, 8)
KN_CONFIG(kn_reduce_lanes_config, KN_REDUCE_LANES_CONFIG);
/* alone: a block for each result, of at most two output axes. bytes: single elements of a byte along one
 * axis, of which a thread loads more at a time. */
#define KN_REDUCE_ROWS_CONFIG(X) X(reduction_axes, KN_REDUCE_SEVERAL_AXES) X(alone, 1) X(bytes, 1)
KN_CONFIG(kn_reduce_rows_config, KN_REDUCE_ROWS_CONFIG);

extern const kn_kind kn_kind_reduce_points, kn_kind_reduce_few, kn_kind_reduce_product,
    kn_kind_reduce_threads, kn_kind_reduce_tile, kn_kind_reduce_columns, kn_kind_reduce_lanes,
    kn_kind_reduce_rows, kn_kind_reduce_slices, kn_kind_reduce_levels;
extern const kn_recipe kn_recipe_reduce_points, kn_recipe_reduce_few, kn_recipe_reduce_product,
    kn_recipe_reduce_threads, kn_recipe_reduce_tile, kn_recipe_reduce_columns, kn_recipe_reduce_lanes,
    kn_recipe_reduce_rows, kn_recipe_reduce_slices, kn_recipe_reduce_levels;

/* True if a schedule of reduce_lanes says of each input that is broadcast along rows that it is. */
bool kn_reduce_names_broadcast(const kn_schedule *s);

#endif
