/* schedules/scan/scan_kinds.h - the kinds of this family, and how the source of each is written. Scans: a map
 * expression, a scan, one map. */
#ifndef KN_SCHEDULES_SCAN_SCAN_KINDS_H
#define KN_SCHEDULES_SCAN_SCAN_KINDS_H

#include "codegen/writer.h"
#include "schedule/kind.h"

extern const kn_kind kn_kind_select, kn_kind_select_row, kn_kind_scan_rows, kn_kind_scan_columns,
    kn_kind_scan;
extern const kn_recipe kn_recipe_select, kn_recipe_select_row, kn_recipe_scan_rows, kn_recipe_scan_columns,
    kn_recipe_scan;

/* The words of both targets' templates: the scanned type, its variables, the function, the identity. */
void kn_put_scan_names(kn_writer *w);

/* True if the stage has the operand, an array. */
bool kn_scan_is_of_stage(const kn_writer *w, int stage, int k);

enum { KN_SCAN_MAP, KN_SCAN_SCAN, KN_SCAN_POST }; /* the stages */

/* items: elements of a lane.
 * several_tiles: rows have several tiles. */
#define KN_SCAN_CONFIG(X) X(items, 17) X(several_tiles, 1)
KN_CONFIG(kn_scan_config, KN_SCAN_CONFIG);
/* scan_rows and scan_columns. items: elements of a lane, or of a thread in each of its columns. */
#define KN_SCAN_ROWS_CONFIG(X) X(items, 33) X(several_tiles, 1)
KN_CONFIG(kn_scan_rows_config, KN_SCAN_ROWS_CONFIG);
/* items: elements of a thread.
 * one_axis: elements lie along one axis.
 * several_tiles: there are several. */
#define KN_SELECT_CONFIG(X) X(items, 16) X(one_axis, 1) X(several_tiles, 1)
KN_CONFIG(kn_select_config, KN_SELECT_CONFIG);
/* packed: selected elements lie side by side in shared memory before they are stored.
 * words: each tile has a word, by which others know of it. */
#define KN_SELECT_ROW_CONFIG(X) X(items, 32) X(several_tiles, 1) X(packed, 1) X(words, 1)
KN_CONFIG(kn_select_row_config, KN_SELECT_ROW_CONFIG);

#endif
