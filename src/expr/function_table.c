/* Finds the function that a call in an expression means. */
#include "expr/call.h"

#include "expr/common_arguments.h"
#include "expr/composed.h"
#include "expr/functions.h"
#include "expr/names.h"
#include "expr/shaped_functions.h"
#include "kernel/histogram.h"
#include "kernel/kernel.h"
#include "kernel/random.h"
#include "kernel/sort.h"

/* A bit of functions that kiln's own texts call: nobody has meant these. */
enum { INNER = 1 << 20 };

/* Functions in files of their own. */
static const struct {
    const char *name;
    kiln_status (*call)(kn_value *out, kn_parser *p, const kn_called *c);
    int which; /* of the functions that `call` computes */
} functions[] = {{"among", kn_call_among, INNER},
                 {"angle", kn_call_angle, 0},
                 {"append", kn_call_append, 0},
                 {"argpartition", kn_call_partition, KN_ARGPARTITION},
                 {"argsort", kn_call_sort, KN_ARGSORT},
                 {"argwhere", kn_call_argwhere, 0},
                 {"array", kn_call_array, 2},
                 {"array_equal", kn_call_equal_arrays, 1},
                 {"array_equiv", kn_call_equal_arrays, 0},
                 {"array_split", kn_call_split, 1},
                 {"asarray", kn_call_array, 0},
                 {"atleast_1d", kn_call_atleast, 1},
                 {"atleast_2d", kn_call_atleast, 2},
                 {"atleast_3d", kn_call_atleast, 3},
                 {"bincount", kn_call_bincount, 0},
                 {"block", kn_call_block, 0},
                 {"choose", kn_call_choose, 0},
                 {"column_stack", kn_call_stacked, 0},
                 {"compress", kn_call_compress, 0},
                 {"concat", kn_call_concatenate, 0},
                 {"concatenate", kn_call_concatenate, 0},
                 {"convolve", kn_call_convolve, 0},
                 {"convolved", kn_call_reading, INNER},
                 {"copy", kn_call_array, 1},
                 {"copyto", kn_call_copyto, 0},
                 {"corrcoef", kn_call_cov, 1},
                 {"correlate", kn_call_convolve, 1},
                 {"counted", kn_call_counted, INNER},
                 {"counted_between", kn_call_counted_between, INNER},
                 {"cov", kn_call_cov, 0},
                 {"cumulative_prod", kn_call_cumulative, 1},
                 {"cumulative_sum", kn_call_cumulative, 0},
                 {"delete", kn_call_delete, 0},
                 {"diag", kn_call_diag, 0},
                 {"diagonal", kn_call_diagonal, 0},
                 {"diff", kn_call_diff, 0},
                 {"digitize", kn_call_digitize, 0},
                 {"dot", kn_call_shaped_pair, 0},
                 {"dsplit", kn_call_split_along, 2},
                 {"dstack", kn_call_stacked, 0},
                 {"einsum", kn_call_einsum, 0},
                 {"evaluated", kn_call_reading, INNER},
                 {"extract", kn_call_extract, 0},
                 {"fftshift", kn_call_shift, 0},
                 {"fill", kn_call_fill, 0},
                 {"filled_along", kn_call_filled, INNER},
                 {"filled_diagonal", kn_call_reading, INNER},
                 {"flatnonzero", kn_call_flatnonzero, 0},
                 {"flip", kn_call_flip, 0},
                 {"gradient", kn_call_gradient, 0},
                 {"histogram", kn_call_histogram, 0},
                 {"histogram2d", kn_call_histogram2d, 0},
                 {"histogram_bin_edges", kn_call_bin_edges, 0},
                 {"histogramdd", kn_call_histogramdd, 0},
                 {"hsplit", kn_call_split_along, 1},
                 {"hstack", kn_call_stacked, 0},
                 {"hypergeometric_of", kn_call_reading, INNER},
                 {"ifftshift", kn_call_shift, 1},
                 {"indices", kn_call_indices, 0},
                 {"inner", kn_call_shaped_pair, 0},
                 {"insert", kn_call_insert, 0},
                 {"interpolated", kn_call_reading, INNER},
                 {"item", kn_call_item, 0},
                 {"kron", kn_call_shaped_pair, 0},
                 {"left_of", kn_call_left, INNER},
                 {"lexsort", kn_call_lexsort, 0},
                 {"matmul", kn_call_shaped_pair, 0},
                 {"matvec", kn_call_shaped_pair, 0},
                 {"median", kn_call_median, 0},
                 {"meshgrid", kn_call_meshgrid, 0},
                 {"moveaxis", kn_call_moveaxis, 0},
                 {"multi_dot", kn_call_multi_dot, 0},
                 {"nan_to_num", kn_call_nan_to_num, 0},
                 {"nanmedian", kn_call_median, KN_SKIPS_NAN},
                 {"nanpercentile", kn_call_quantile, KN_OF_PERCENT | KN_SKIPS_NAN},
                 {"nanquantile", kn_call_quantile, KN_SKIPS_NAN},
                 {"nonzero", kn_call_argwhere, 1},
                 {"numbered", kn_call_reading, INNER},
                 {"of_dtype", kn_call_of_dtype, INNER},
                 {"packbits", kn_call_packbits, 0},
                 {"packed", kn_call_reading, INNER},
                 {"pad", kn_call_pad, 0},
                 {"partition", kn_call_partition, KN_PARTITION},
                 {"percentile", kn_call_quantile, KN_OF_PERCENT},
                 {"permuted_index", kn_call_permuted_index, 0},
                 {"placed_by", kn_call_put_mask, INNER | 1},
                 {"places_along", kn_call_take_along_axis, INNER | 1},
                 {"places_of", kn_call_places_of, INNER},
                 {"polyder", kn_call_polyder, 0},
                 {"polyint", kn_call_polyint, 0},
                 {"putmask", kn_call_put_mask, 0},
                 {"quantile", kn_call_quantile, 0},
                 {"ravel_multi_index", kn_call_multi_index, 0},
                 {"repeat", kn_call_repeat, 0},
                 {"resize", kn_call_resize, 0},
                 {"roll", kn_call_roll, 0},
                 {"rollaxis", kn_call_rollaxis, 0},
                 {"root_of", kn_call_root, INNER},
                 {"rot90", kn_call_rot90, 0},
                 {"row_stack", kn_call_stacked, 0},
                 {"runs_of", kn_call_runs, INNER},
                 {"scattered_add", kn_call_scattered, INNER | KN_ADDED},
                 {"scattered_and", kn_call_scattered, INNER | KN_ANDED},
                 {"scattered_last", kn_call_scattered_last, INNER},
                 {"scattered_max", kn_call_scattered, INNER | KN_GREATEST},
                 {"scattered_min", kn_call_scattered, INNER | KN_LEAST},
                 {"scattered_multiply", kn_call_scattered, INNER | KN_MULTIPLIED},
                 {"scattered_or", kn_call_scattered, INNER | KN_ORED},
                 {"scattered_subtract", kn_call_scattered, INNER | KN_ADDED | KN_SUBTRACTED},
                 {"scattered_xor", kn_call_scattered, INNER | KN_XORED},
                 {"searchsorted", kn_call_searchsorted, 0},
                 {"segment_max", kn_call_segments, KN_GREATEST},
                 {"segment_min", kn_call_segments, KN_LEAST},
                 {"segment_prod", kn_call_segments, KN_MULTIPLIED},
                 {"segment_sum", kn_call_segments, KN_ADDED},
                 {"shaped_as", kn_call_shaped_as, INNER},
                 {"select", kn_call_select, 0},
                 {"selected", kn_call_extract, INNER | 1},
                 {"slice", kn_call_slice, 0},
                 {"sliding_window_view", kn_call_windows, 0},
                 {"sort", kn_call_sort, KN_SORT},
                 {"sort_complex", kn_call_sort_complex, 0},
                 {"split", kn_call_split, 0},
                 {"stack", kn_call_concatenate, 1},
                 {"swapaxes", kn_call_swapaxes, 0},
                 {"take", kn_call_take, 0},
                 {"take_along_axis", kn_call_take_along_axis, 0},
                 {"tensordot", kn_call_tensordot, 0},
                 {"tile", kn_call_tile, 0},
                 {"topk", kn_call_topk, 0},
                 {"trapezoid", kn_call_trapezoid, 0},
                 {"trim_zeros", kn_call_trim_zeros, 0},
                 {"unique", kn_call_unique, 0},
                 {"unpackbits", kn_call_packbits, 1},
                 {"unpacked", kn_call_reading, INNER},
                 {"unravel_index", kn_call_unravel_index, 0},
                 {"unstack", kn_call_unstack, 0},
                 {"vdot", kn_call_shaped_pair, 0},
                 {"vecdot", kn_call_vecdot, 0},
                 {"vecmat", kn_call_shaped_pair, 0},
                 {"vsplit", kn_call_split_along, 0},
                 {"vstack", kn_call_stacked, 0},
                 {"weights_along", kn_call_weights_along, INNER},
                 {"where", kn_call_where, 0}};

const char *kn_function_name(int k)
{
    const kn_law *law;
    const char *own;
    for (size_t f = 0; f < sizeof functions / sizeof functions[0]; ++f)
        if (!(functions[f].which & INNER) && k-- == 0)
            return functions[f].name;
    for (int j = 0; (own = kn_call_own_name(j)) != NULL; ++j)
        if (k-- == 0)
            return own;
    law = kn_law_at(k);
    return law ? law->name : NULL;
}

static kiln_status refuse_name(const kn_parser *p, const kn_called *c)
{
    char hint[128];
    if (kn_parser_find(p, c->name, c->name_length))
        return kn_parser_refuse(p, c->at, c->name_length, "'%.*s' is a value, and cannot be called",
                                (int)c->name_length, c->name);
    return kn_parser_refuse(p, c->at, c->name_length, "there is no function '%.*s'%s", (int)c->name_length,
                            c->name, kn_suggest(hint, sizeof hint, p, c->name, c->name_length));
}

static kiln_status call_function(kn_value *out, kn_parser *p, const kn_called *c)
{
    kn_known_operation operation;
    kiln_dtype dtype;
    bool is_python;
    kiln_status status;
    if (kn_call_own(&status, out, p, c))
        return status;
    for (size_t f = 0; f < sizeof functions / sizeof functions[0]; ++f)
        if (kn_call_is(c, functions[f].name)) {
            kn_called called = *c;
            called.which = functions[f].which & ~INNER;
            return functions[f].call(out, p, &called);
        }
    if (kn_is_method(c->name, c->name_length))
        return kn_call_method(out, p, c);
    const kn_law *law = kn_law_find(c->name, c->name_length);
    if (law)
        return kn_call_random(out, p, c, law);
    if (kn_find_dtype(&dtype, &is_python, c->name, c->name_length))
        return kn_call_dtype(out, p, c, dtype, is_python);
    if (kn_call_composed(&status, out, p, c))
        return status;
    if (kn_find_operation(&operation, c->name, c->name_length))
        return kn_call_operation(out, p, c, &operation);
    return refuse_name(p, c);
}

/* Functions, and methods of arrays, that change their first argument, which NumPy's programs call as
 * statements. */
static bool changes_first(const kn_called *c)
{
    static const struct {
        const char *name;
        bool is_method;
    } rows[] = {{"copyto", false}, {"fill", true}, {"fill_diagonal", false},  {"partition", true},
                {"place", false},  {"put", false}, {"put_along_axis", false}, {"putmask", false},
                {"resize", true},  {"sort", true}};
    const char *end = c->name_length > 3 ? c->name + c->name_length - 3 : "   ";
    bool does = memcmp(end, "_at", 3) == 0 || memcmp(end, ".at", 3) == 0;
    for (size_t k = 0; k < sizeof rows / sizeof rows[0] && !does; ++k)
        does = kn_call_is(c, rows[k].name) && (c->is_method || !rows[k].is_method);
    return does;
}

/* A frame of its own: calls stand inside one another. */
__attribute__((noinline)) static kiln_status call_with_common(kn_value *out, kn_parser *p, const kn_called *c)
{
    kn_called called = *c;
    kn_common common;
    kiln_status status = kn_common_take(&common, p, &called);
    called.common = &common;
    if (status == KILN_OK)
        status = call_function(out, p, &called);
    return status == KILN_OK ? kn_common_finish(out, p, &called, &common) : status;
}

kiln_status kn_parser_call(kn_value *out, kn_parser *p, const kn_called *c)
{
    for (int k = 0; k < p->n_kernels; ++k)
        if (kn_call_is(c, kiln_kernel_name(p->kernel[k])))
            return kn_call_kernel(out, p, c, p->kernel[k]);
    const int changed = c->count > 0 && changes_first(c) ? p->argument[c->first].variable : 0;
    kiln_status status = kn_common_is_given(p, c) ? call_with_common(out, p, c) : call_function(out, p, c);
    return status == KILN_OK && changed > 0 ? kn_parser_give(out, p, changed) : status;
}
