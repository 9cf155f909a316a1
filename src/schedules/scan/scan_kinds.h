/* schedules/scan/scan_kinds.h - the kinds of this family, and how the source of each is written. Scans: a map
 * expression, a scan, one map. */
#ifndef KN_SCHEDULES_SCAN_SCAN_KINDS_H
#define KN_SCHEDULES_SCAN_SCAN_KINDS_H

#include "codegen/writer.h"
#include "schedule/kind.h"

extern const kn_kind kn_kind_scan;
extern const kn_recipe kn_recipe_scan;

/* The words of both targets' templates: the scanned type, its variables, the function, the identity. */
void kn_put_scan_names(kn_writer *w);

enum { KN_SCAN_MAP, KN_SCAN_SCAN, KN_SCAN_POST }; /* the stages */

/* kind_scan.c: the kernel's variant is one more than the sum of those that hold. */
enum {
    KN_SCAN_ONE_ROW = 1, /* a block has elements of one row, along one axis */
    KN_SCAN_TILES = 2    /* rows have several tiles */
};

#endif
