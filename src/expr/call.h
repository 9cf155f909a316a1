/* expr/call.h - calls in an expression: which function a name means (function_table.c), those that more than
 * one file has (functions.c), and functions in files of their own. */
#ifndef KN_EXPR_CALL_H
#define KN_EXPR_CALL_H

#include <string.h>

#include "expr/names.h"
#include "expr/parser.h"

static inline bool kn_call_is(const kn_called *c, const char *name)
{
    return strlen(name) == c->name_length && memcmp(name, c->name, c->name_length) == 0;
}

/* ---- by functions.c ---- */

/* True: a function of that file has the name, and has been called. */
bool kn_call_own(kiln_status *status, kn_value *out, kn_parser *p, const kn_called *c);
/* Number k of their names; NULL: there are no more. */
const char *kn_call_own_name(int k);
kiln_status kn_call_dtype(kn_value *out, kn_parser *p, const kn_called *c, kiln_dtype dtype, bool is_python);

/* An error about the whole call. */
kiln_status kn_call_refuse(const kn_parser *p, const kn_called *c, const char *message);
/* A KILN_ERROR_INVALID or _TYPE of another layer becomes an error about this value. */
kiln_status kn_call_check(const kn_parser *p, const kn_value *about, kiln_status status);
/* slot[n]: the argument for name[n]; only the first n_places of them may be positional, and the first
 * n_needed have to be there. */
kiln_status kn_call_match(kn_value *slot, const kn_parser *p, const kn_called *c, const char *const *name,
                          int n_names, int n_places, int n_needed);
/* An error if the argument is absent. */
kiln_status kn_call_need(const kn_parser *p, const kn_called *c, const kn_value *slot, const char *name);
kiln_status kn_call_axis(int *out, const kn_parser *p, const kn_value *value);
/* Reads axis= and keepdims= of a reduction. */
kiln_status kn_call_reduced(kn_node *node, const kn_parser *p, const kn_value *axis,
                            const kn_value *keepdims);
/* True if the reduction of this name has where= or initial= here, and may have them (reduced_where.c). */
bool kn_call_has_where(const kn_parser *p, const kn_called *c, const char *name);
kiln_status kn_call_reduced_where(kn_value *out, kn_parser *p, const kn_called *c, const char *name);
/* Adds a cast unless dtype is absent or None. */
kiln_status kn_call_cast(kn_value *value, kn_parser *p, const kn_called *c, const kn_value *dtype);
/* Adds a cast that NumPy's casting allows. is_python: by int, float, bool or complex
 * (kn_node.is_operator). */
kiln_status kn_call_cast_to(kn_value *value, kn_parser *p, const kn_called *c, kiln_dtype dtype,
                            kn_casting casting, bool is_python);
/* Adds a cast to the dtype of another value, of the same kind. */
kiln_status kn_call_cast_like(kn_value *value, kn_parser *p, const kn_called *c, const kn_value *like);

/* True if an argument was given that is not None. */
static inline bool kn_call_is_given(const kn_value *value)
{
    return value->kind != KN_VALUE_ABSENT && value->kind != KN_VALUE_NONE;
}
/* The number of the one of these words that the argument `what` is; *out stays where it is absent. NULL ends
 * them. */
kiln_status kn_call_word(int *out, const kn_parser *p, const kn_value *value, const char *const *word,
                         const char *what);
/* Adds all outputs of a call: one value, or a tuple. */
kiln_status kn_call_add_outputs(kn_value *out, kn_parser *p, kn_node *node, int n_out);
/* Adds the first results of a kernel, which is freed: one value, or a tuple. */
kiln_status kn_call_add_kernel(kn_value *out, kn_parser *p, const kn_called *c, kiln_kernel *kernel,
                               const int *in, int n_in, int n_out);
/* x with subscripts; with `own` for one axis, and the others as they are. */
kiln_status kn_call_add_slice(kn_value *out, kn_parser *p, const kn_called *c, const kn_value *x,
                              kn_subscript *subscript, int count);
kiln_status kn_call_add_part(kn_value *out, kn_parser *p, const kn_called *c, const kn_value *x,
                             kn_subscript own, int axis);
/* All elements of x, in C order, along one axis. */
kiln_status kn_call_flatten(kn_value *x, kn_parser *p, const kn_called *c);
/* Where no axis is given x is flattened, and the axis is the one that it has then. */
kiln_status kn_call_flat_axis(kn_value *x, kn_value *axis, kn_parser *p, const kn_called *c);
/* x[1:] - x[:-1] along the last axis. */
kiln_status kn_call_add_differences(kn_value *out, kn_parser *p, const kn_called *c, const kn_value *x);

/* counted(n): arange(n) of a number that is not negative; the size of a new array. */
kiln_status kn_call_counted(kn_value *out, kn_parser *p, const kn_called *c);

/* ---- in files of their own ---- */

/* Functions whose shapes depend on elements (found_functions.c). slot: a, repeats and the axis or none. */
kiln_status kn_call_repeat_by(kn_value *out, kn_parser *p, const kn_called *c, const kn_value *slot);
kiln_status kn_call_bincount_by(kn_value *out, kn_parser *p, const kn_called *c, const kn_value *x,
                                const kn_value *weights, int64_t least);
/* trim: letters of the ends, f and b. */
kiln_status kn_call_trim_axes(kn_value *out, kn_parser *p, const kn_called *c, const kn_value *x,
                              const kn_value *axes, const char *trim);

/* Methods of arrays (array_members.c). */
kiln_status kn_call_item(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_fill(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_slice(kn_value *out, kn_parser *p, const kn_called *c);

/* Operations, and the user's kernels (operation_calls.c). */
kiln_status kn_call_kernel(kn_value *out, kn_parser *p, const kn_called *c, kiln_kernel *kernel);
kiln_status kn_call_operation(kn_value *out, kn_parser *p, const kn_called *c, const kn_known_operation *o);

/* NumPy's methods of ufuncs (method_functions.c). */
kiln_status kn_call_method(kn_value *out, kn_parser *p, const kn_called *c);
/* shaped_as(x, a): the elements of x in the shape of a. */
kiln_status kn_call_shaped_as(kn_value *out, kn_parser *p, const kn_called *c);

/* Functions that count into bins (histogram_functions.c). */
kiln_status kn_call_bincount(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_histogram(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_bin_edges(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_segments(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_scattered_last(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_scattered(kn_value *out, kn_parser *p, const kn_called *c);

/* Random numbers (random_functions.c), of a row of kernel/random_table.c. */
struct kn_law;
kiln_status kn_call_random(kn_value *out, kn_parser *p, const kn_called *c, const struct kn_law *law);
kiln_status kn_call_root(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_permuted_index(kn_value *out, kn_parser *p, const kn_called *c);

/* Functions that read by indices (taken_functions.c). */
kiln_status kn_call_take(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_take_along_axis(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_argwhere(kn_value *out, kn_parser *p, const kn_called *c); /* which 1: nonzero */
kiln_status kn_call_put_mask(kn_value *out, kn_parser *p, const kn_called *c);

/* Functions that give views (view_functions.c); which: the axis, the number of axes, or whether parts differ.
 */
kiln_status kn_call_swapaxes(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_moveaxis(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_rollaxis(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_diagonal(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_flip(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_rot90(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_atleast(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_windows(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_split(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_split_along(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_unstack(kn_value *out, kn_parser *p, const kn_called *c);

/* Functions that join arrays, or read elements at other places (arranged_functions.c). */
kiln_status kn_call_concatenate(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_stacked(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_append(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_roll(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_repeat(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_tile(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_pad(kn_value *out, kn_parser *p, const kn_called *c);

kiln_status kn_call_delete(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_insert(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_block(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_shift(kn_value *out, kn_parser *p, const kn_called *c);

/* Functions that are others, as their arguments say (varied_functions.c). */
kiln_status kn_call_angle(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_array(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_meshgrid(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_nan_to_num(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_polyder(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_polyint(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_vecdot(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_where(kn_value *out, kn_parser *p, const kn_called *c);

/* copyto(dst, src, casting='same_kind', where=True) (common_arguments.c), and x flat, in the dtype of y. */
kiln_status kn_call_copyto(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_of_dtype(kn_value *out, kn_parser *p, const kn_called *c);

/* Functions of neighbours, of sorted elements and of selected ones (element_functions.c). */
kiln_status kn_call_flatnonzero(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_extract(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_among(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_compress(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_searchsorted(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_digitize(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_diff(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_trapezoid(kn_value *out, kn_parser *p, const kn_called *c);

/* Functions whose text is written for their arguments (written_functions.c). */
kiln_status kn_call_choose(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_counted_between(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_histogram2d(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_convolve(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_gradient(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_indices(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_resize(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_select(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_multi_index(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_unravel_index(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_multi_dot(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_trim_zeros(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_packbits(kn_value *out, kn_parser *p, const kn_called *c);

/* Maps that read whole arrays (read_functions.c); which: a row of its table. */
kiln_status kn_call_places_of(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_reading(kn_value *out, kn_parser *p, const kn_called *c);

/* Functions by sorts (sorted_functions.c); which: a row of a table there. */
kiln_status kn_call_sort(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_lexsort(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_partition(kn_value *out, kn_parser *p, const kn_called *c);
/* Kinds of a median or quantile. */
enum { KN_OF_PERCENT = 1, KN_SKIPS_NAN = 2 };
kiln_status kn_call_median(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_quantile(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_topk(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_runs(kn_value *out, kn_parser *p, const kn_called *c);
kiln_status kn_call_unique(kn_value *out, kn_parser *p, const kn_called *c);

#endif
