/* schedule/row_strips.h - the strips of rows whose columns are combined: the lowering has a partial value of
 * each column for each of them (fuse/strips.c), and a kind has a block for each (row_strips). They depend on
 * the shape alone, so that the bits are the same on every GPU. */
#ifndef KN_SCHEDULE_ROW_STRIPS_H
#define KN_SCHEDULE_ROW_STRIPS_H

#include "space/numbers.h"

enum {
    KN_STRIPS_LEAST_LENGTH = 512, /* elements of a row: shorter ones would have a block of few threads */
    KN_STRIPS_MOST_LENGTH = 8192, /* longer ones have registers for fewer of them than memory waits for */
    KN_STRIPS_LEAST_ROWS = 16,    /* of a strip: partial values are written and read once more */
    KN_STRIPS_PARTIALS =
        792 *
        4096 /* partial values, at most: blocks of 512 threads in three, or two, whole waves of an H100 */
};

/* The rows of a strip, of so many rows in all; the last strip may have fewer. */
static inline int64_t kn_strip_rows(int64_t rows, int64_t length)
{
    int64_t strips = kn_most(KN_STRIPS_PARTIALS / length, 1);
    return kn_most(kn_divide_up(rows, strips), KN_STRIPS_LEAST_ROWS);
}

static inline int64_t kn_strip_count(int64_t rows, int64_t length)
{
    return kn_divide_up(rows, kn_strip_rows(rows, length));
}

#endif
