/* schedules/scan/scan_kinds.h - the kinds of this family, and how the source of each is written. Scans: a map
 * expression, a scan, one map. */
#ifndef KN_SCHEDULES_SCAN_SCAN_KINDS_H
#define KN_SCHEDULES_SCAN_SCAN_KINDS_H

#include "codegen/writer.h"
#include "schedule/kind.h"

extern const kn_kind kn_kind_select, kn_kind_scan_rows, kn_kind_scan_columns, kn_kind_scan;
extern const kn_recipe kn_recipe_select, kn_recipe_scan_rows, kn_recipe_scan_columns, kn_recipe_scan;

/* The words of both targets' templates: the scanned type, its variables, the function, the identity. */
void kn_put_scan_names(kn_writer *w);

/* True if the stage has the operand, an array. */
bool kn_scan_is_of_stage(const kn_writer *w, int stage, int k);

enum { KN_SCAN_MAP, KN_SCAN_SCAN, KN_SCAN_POST }; /* the stages */

/* kind_scan.c: the kernel's variant is one more than the sum of those that hold. */
enum {
    KN_SCAN_ONE_ROW = 1, /* a block has elements of one row, along one axis */
    KN_SCAN_TILES = 2    /* rows have several tiles */
};
/* kind_scan_rows.c, kind_scan_columns.c. */
enum { KN_SCAN_ROWS_WHOLE = 1, KN_SCAN_ROWS_TILES = 2 };
/* kind_select.c: one more than the sum of those that hold. */
enum {
    KN_SELECT_ONE_AXIS = 1, /* elements lie along one axis */
    KN_SELECT_TILES = 2     /* there are several tiles */
};

#endif
