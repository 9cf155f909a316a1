/* schedules/sort/sort_kinds.h - the kinds of this family, and how the source of each is written: the passes
 * of a radix sort, and sorts of short rows. A map expression, counts, places or ranks, one map. */
#ifndef KN_SCHEDULES_SORT_SORT_KINDS_H
#define KN_SCHEDULES_SORT_SORT_KINDS_H

#include "codegen/writer.h"
#include "schedule/kind.h"
#include "schedule/sort_tile.h"

extern const kn_kind kn_kind_sort_count, kn_kind_sort_place, kn_kind_sort_rows, kn_kind_sort_top,
    kn_kind_sort_network;
extern const kn_recipe kn_recipe_sort_count, kn_recipe_sort_place, kn_recipe_sort_rows, kn_recipe_sort_top,
    kn_recipe_sort_network;

enum { KN_SORT_KEY, KN_SORT_SORT, KN_SORT_PUT }; /* the stages */

/* one_axis: the elements of a row lie along one axis, or there is one alone.
 * many: counts have many copies. */
#define KN_SORT_COUNT_CONFIG(X) X(one_axis, 1) X(many, 1)
KN_CONFIG(kn_sort_count_config, KN_SORT_COUNT_CONFIG);
/* Digits of a key that are counted, one of a signed value; copies of each counter in shared memory. */
int kn_sort_count_digits(const kn_spec *spec);
int kn_sort_count_copies(const kn_spec *spec);
/* items: elements of a thread.
 * bytes: of an element's inputs, which lie in shared memory.
 * numbers: elements have their number in the tile there, too.
 * dynamic: of a size that the launch says, which may be larger than what is declared. */
#define KN_SORT_PLACE_CONFIG(X)                                                                              \
    X(items, KN_SORT_KEYS_ITEMS) X(bytes, 255) X(numbers, 1) X(dynamic, 1) X(one_axis, 1)
enum {
    KN_SORT_KEYS_BLOCK = 384,    /* threads of a tile of many keys of 4 bytes */
    KN_SORT_KEYS_THREADS = 1152, /* ... of a multiprocessor */
    KN_SORT_KEYS_ITEMS = 22,     /* their elements */
    KN_SORT_PAIRS_BLOCK = 512,   /* the same of keys of 4 bytes with their index or another 4 bytes */
    KN_SORT_PAIRS_THREADS = 1024,
    KN_SORT_LARGE_THREADS = 1024, /* of a multiprocessor, of keys of 8 bytes */
    KN_SORT_LARGE_ITEMS = 14,     /* elements of a thread, of keys of 8 bytes */
    KN_SORT_WIDE_ITEMS = 10       /* ... of pairs of 16 bytes */
};
KN_CONFIG(kn_sort_place_config, KN_SORT_PLACE_CONFIG);
/* items: elements of a lane.
 * row_threads: those that share a row. */
#define KN_SORT_ROWS_CONFIG(X) X(items, 16) X(row_threads, 256) X(one_axis, 1)
KN_CONFIG(kn_sort_rows_config, KN_SORT_ROWS_CONFIG);
/* items: elements of a lane, a power of two.
 * down: descending. */
#define KN_SORT_NETWORK_CONFIG(X) X(items, 32) X(down, 1) X(one_axis, 1)
KN_CONFIG(kn_sort_network_config, KN_SORT_NETWORK_CONFIG);
/* wanted: the first elements of a row, at most. */
#define KN_SORT_TOP_CONFIG(X) X(items, 16) X(wanted, KN_SORT_TOP) X(one_axis, 1)
KN_CONFIG(kn_sort_top_config, KN_SORT_TOP_CONFIG);

/* The words of both targets' templates: the key, the type of words, the raw operands. */
void kn_put_sort_names(kn_writer *w);
/* CUDA: the way to an element, and both maps of it where it lies in memory. */
void kn_put_sort_maps(kn_writer *w, bool one_axis);

#endif
