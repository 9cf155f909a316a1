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

/* items: elements of a lane.
 * one_row: a block has elements of one row, along one axis.
 * several_tiles: rows have several tiles. */
#define KN_SCAN_CONFIG(X) X(items, 17) X(one_row, 1) X(several_tiles, 1)
KN_CONFIG(kn_scan_config, KN_SCAN_CONFIG);

#endif
