/* expr/indexing.h - x[...] in an expression: a view where the index has no arrays, else a kernel. */
#ifndef KN_EXPR_INDEXING_H
#define KN_EXPR_INDEXING_H

#include "expr/parser.h"
#include "kernel/indexed.h"

enum { KN_INDEX_ARRAYS = 24 };

/* The items between the brackets. */
typedef struct kn_index_text {
    kn_subscript item[KN_INDEX_ITEMS];
    kn_value array[KN_INDEX_ARRAYS]; /* of the items that are KN_SUBSCRIPT_ARRAY */
    struct kn_bounds {
        kn_value start, stop;
    } bounds[KN_INDEX_ITEMS]; /* of slices: those that a call computes; else absent */
    int n_items, n_arrays;
    size_t at, length;
} kn_index_text;

/* The array of the next item, which may be a list of numbers. */
kiln_status kn_index_add_array(kn_index_text *index, kn_parser *p, const kn_value *array);
/* An array, or a tuple of arrays and numbers, as the next items. */
kiln_status kn_index_add(kn_index_text *index, kn_parser *p, const kn_value *value);
/* Results of nonzero: the one along an axis, or all of them, as a tuple. */
kiln_status kn_nonzero_item(kn_value *out, kn_parser *p, const kn_value *nonzero, int64_t axis);
kiln_status kn_nonzero_items(kn_value *out, kn_parser *p, const kn_value *nonzero, int count);
/* x[...] */
kiln_status kn_index_read(kn_value *out, kn_parser *p, const kn_value *x, const kn_index_text *index);
/* x as it is after x[...] = value, or with an operator in front of the "=". Slices with computed bounds
 * become arrays of *index. */
kiln_status kn_index_assign(kn_value *out, kn_parser *p, const kn_value *x, kn_index_text *index,
                            const char *op, const kn_value *value);

/* Takes what slices with computed bounds say out of x, and makes these whole axes. */
kiln_status kn_index_take_computed(kn_value *x, kn_parser *p, kn_index_text *index);
/* x as it is after x OP= value, of an array: in its shape and dtype. index: where that stands in the text. */
kiln_status kn_index_change(kn_value *out, kn_parser *p, const kn_value *x, const kn_index_text *index,
                            const char *op, const kn_value *value);

#endif
