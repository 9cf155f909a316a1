/*
 * kiln/index.h - x[...] with any of NumPy's indices, read and assigned.
 *
 *     kiln_array *table = NULL, *at = NULL, *mask = NULL, *some = NULL, *rows = NULL;
 *     int64_t numbers[] = {2, 0, -1}, count[] = {3}, shape[] = {4, 3};
 *     bool chosen[] = {true, false, false, true};
 *     kiln_array_from_host(&at, numbers, KILN_INT64, 1, count, KILN_DEVICE_DEFAULT);
 *     kiln_array_from_host(&mask, chosen, KILN_BOOL, 1, shape, KILN_DEVICE_DEFAULT);
 *     kiln_array_zeros(&table, KILN_FLOAT32, 2, shape, KILN_DEVICE_DEFAULT);
 *     kiln_index by_number[] = {kiln_index_array(at), kiln_index_slice(0, 2, 1)};
 *     kiln_index by_mask[] = {kiln_index_array(mask)};
 *     kiln_array_set(table, by_mask, 1, kiln_arg_float(1));              // table[mask] = 1
 *     kiln_array_update(table, by_number, 2, "+", kiln_arg_float(0.5));  // table[at, 0:2] += 0.5
 *     kiln_array_get(&some, table, by_number, 2);                        // table[at, 0:2]
 *     kiln_array_get(&rows, table, by_mask, 1);                          // table[mask]
 *     kiln_array_free(table);
 *     kiln_array_free(at);
 *     kiln_array_free(mask);
 *     kiln_array_free(some);
 *     kiln_array_free(rows);
 */
#ifndef KILN_INDEX_H
#define KILN_INDEX_H

#include <kiln/arg.h>
#include <kiln/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One item between the brackets. */
typedef enum kiln_index_kind {
    KILN_INDEX_SLICE,    /* start:stop:step; KILN_SLICE_NONE where a bound is left out */
    KILN_INDEX_NUMBER,   /* [start]: the axis goes; from the end if it is negative */
    KILN_INDEX_NEW_AXIS, /* None */
    KILN_INDEX_REST,     /* ... */
    KILN_INDEX_ARRAY     /* an array of whole numbers, or a mask of booleans */
} kiln_index_kind;
typedef struct kiln_index {
    kiln_index_kind kind;      /* of the item */
    int64_t start, stop, step; /* KILN_INDEX_SLICE; start: KILN_INDEX_NUMBER */
    kiln_array *array;         /* KILN_INDEX_ARRAY: the caller's */
} kiln_index;

/* start:stop:step */
static inline kiln_index kiln_index_slice(int64_t start, int64_t stop, int64_t step)
{
    kiln_index index = {KILN_INDEX_SLICE, start, stop, step, NULL};
    return index;
}
/* One index: the axis goes. */
static inline kiln_index kiln_index_number(int64_t at)
{
    kiln_index index = {KILN_INDEX_NUMBER, at, 0, 0, NULL};
    return index;
}
/* None: an axis of one element. */
static inline kiln_index kiln_index_new_axis(void)
{
    kiln_index index = {KILN_INDEX_NEW_AXIS, 0, 0, 0, NULL};
    return index;
}
/* ...: all axes that no other item takes. */
static inline kiln_index kiln_index_rest(void)
{
    kiln_index index = {KILN_INDEX_REST, 0, 0, 0, NULL};
    return index;
}
/* Whole numbers, or a mask. */
static inline kiln_index kiln_index_array(kiln_array *array)
{
    kiln_index index = {KILN_INDEX_ARRAY, 0, 0, 0, array};
    return index;
}

/* array[index]: axes, shapes and the order of axes are NumPy's for every mixture of items. A view
 * where there is no array among them, else a new array; with a mask the call waits for the number
 * of elements that are true. KILN_ERROR_INVALID, KILN_ERROR_SHAPE and KILN_ERROR_TYPE name the
 * item: of an index that is outside, its value, the axis and the axis's extent. */
KILN_NODISCARD KILN_API kiln_status kiln_array_get(kiln_array **out, const kiln_array *array,
                                                   const kiln_index *index, int n_index);
/* array[index] = value: an array, which broadcasts, or a number, converted as by kiln_array_astype.
 * Where an index says a place twice the last value counts, on every run. In a trace `array` is the
 * changed array from then on, and views of it are of the former one. */
KILN_NODISCARD KILN_API kiln_status kiln_array_set(kiln_array *array, const kiln_index *index,
                                                   int n_index, kiln_arg value);
/* array[index] = array[index] OP value, for an operator of expressions: "+", "-", "*", "/", "//",
 * "%", "**", "&", "|", "^", "<<", ">>". A place that an index says twice changes once, by the last
 * value; kiln_add_at and others of <kiln/ops.h> add each. KILN_ERROR_INVALID for another one;
 * KILN_ERROR_TYPE where NumPy's rule "same_kind" does not make the array's dtype of the result. */
KILN_NODISCARD KILN_API kiln_status kiln_array_update(kiln_array *array, const kiln_index *index,
                                                      int n_index, const char *op, kiln_arg value);
/* NumPy's unravel_index: out gets ndim arrays, the indices along each axis of elements that are
 * given by their numbers in C order. KILN_ERROR_INVALID for a number that is not in the shape. */
KILN_NODISCARD KILN_API kiln_status kiln_unravel_index(kiln_array **out, kiln_arg indices,
                                                       const int64_t *shape, int ndim);

#ifdef __cplusplus
}
#endif
#endif
