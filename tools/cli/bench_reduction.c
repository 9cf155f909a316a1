/* bench_reduction.c - rows that reduce or scan: their kernels, and the check of their results against sums in
 * double precision. */
#include "bench.h"
#include <math.h>

/* The most elements that the check reduces, besides the first and the last result, which are always checked.
 */
enum { MOST_REDUCED = 1 << 22 };
enum { CHECKED_OF_SCAN = 33 /* results along a scanned axis */ };

bool bench_reduction_define(bench *b, kiln_kernel **out, const bench_reduction *f, const char *in,
                            const char *made, const char *name)
{
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    options.preamble = f->preamble;
    options.reduce_type = f->type;
    return bench_check(
        b, kiln_reduction_create(out, in, made, f->map, f->reduce, f->post, f->identity, name, &options));
}

kiln_call_options bench_reduction_call(int *axes, const bench_row *row)
{
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    if (*row->reduced && !row->expression) {
        options.axes = axes;
        options.n_axes = bench_axes_read(axes, row->reduced);
    }
    return options;
}

/* ---- the reference ---- */

/* A C-ordered input: its reduced axes, and those that stay. */
typedef struct loop_nest {
    kiln_dtype dtype;
    int n_reduction_axes, n_output_axes;
    int64_t extent[BENCH_MAX_NDIM], stride[BENCH_MAX_NDIM]; /* of the reduced axes, in elements */
    int64_t output_extent[BENCH_MAX_NDIM], output_stride[BENCH_MAX_NDIM];
    int64_t results, length; /* elements of a result */
} loop_nest;

static loop_nest make_loop_nest(kiln_array *array, const bench_row *row)
{
    loop_nest w = {.dtype = kiln_array_dtype(array), .results = 1, .length = 1};
    const int64_t *shape = kiln_array_shape(array);
    int axes[BENCH_MAX_NDIM], n_axes = bench_axes_read(axes, row->reduced);
    unsigned reduced = n_axes ? 0 : ~0u;
    for (int k = 0; k < n_axes; k++)
        reduced |= 1u << axes[k];
    int64_t stride = kiln_array_size(array);
    for (int axis = 0; axis < kiln_array_ndim(array); axis++) {
        bool is_reduced = reduced >> axis & 1;
        int *count = is_reduced ? &w.n_reduction_axes : &w.n_output_axes;
        stride /= shape[axis];
        (is_reduced ? w.extent : w.output_extent)[*count] = shape[axis];
        (is_reduced ? w.stride : w.output_stride)[(*count)++] = stride;
        *(is_reduced ? &w.length : &w.results) *= shape[axis];
    }
    return w;
}

static void take(bench_reduced *out, double x, int64_t at)
{
    if (out->n == 0 || x > out->greatest) {
        out->greatest = x;
        out->at = at;
    }
    out->n++;
    out->sum += x;
    out->squares += x * x;
}

/* place: the C-order index among the reduced axes before this one. */
static void reduce_axis(bench_reduced *out, const loop_nest *w, int axis, int64_t offset, int64_t place)
{
    bool is_last = axis == w->n_reduction_axes - 1;
    place *= w->extent[axis];
    for (int64_t k = 0; k < w->extent[axis]; k++, offset += w->stride[axis])
        if (is_last)
            take(out, bench_random_at(w->dtype, offset), place + k);
        else
            reduce_axis(out, w, axis + 1, offset, place + k);
}

/* A sum's rounding grows with its partial sums, which are about as large as the elements' 2-norm, whatever
 * becomes of the sum in the end: the row's function says so by its size. */
static bool check_result(bench *b, const bench_data *data, const bench_row *row, const loop_nest *w,
                         int64_t at)
{
    int64_t index[BENCH_MAX_NDIM], offset = 0;
    bench_reduced all = {0};
    bench_value got;
    double want, size;
    bench_index_split(index, at, w->output_extent, w->n_output_axes);
    for (int axis = 0; axis < w->n_output_axes; axis++)
        offset += index[axis] * w->output_stride[axis];
    reduce_axis(&all, w, 0, offset, 0);
    row->reduction->expected(&all, &want, &size);
    if (!bench_element_read(b, &got, data->set[0].array[1], index, w->n_output_axes))
        return false;
    if (fabs(got.re - want) <= 3 * bench_tolerance(row->operand[1].dtype) * fmax(1, size))
        return true;
    return bench_fail(b, "wrong result: element %lld is %.9g, expected %.9g", (long long)at, got.re, want);
}

/* The first and the last result, and others evenly between. */
bool bench_reduction_check(bench *b, bench_data *data, const bench_row *row)
{
    loop_nest w = make_loop_nest(data->set[0].array[0], row);
    int64_t count = MOST_REDUCED / w.length < BENCH_SAMPLES ? MOST_REDUCED / w.length : BENCH_SAMPLES;
    count = count < 2 ? 2 : count;
    count = count < w.results ? count : w.results;
    bool ok = true;
    for (int64_t k = 0; k < count && ok; k++)
        ok = check_result(b, data, row, &w, count > 1 ? (w.results - 1) * k / (count - 1) : 0);
    data->checked = (int)count;
    return ok;
}

/* ---- scans ---- */

bool bench_scan_define(bench *b, kiln_kernel **out, const bench_row *row)
{
    const bench_reduction *f = row->reduction;
    return bench_check(b, kiln_scan_create(out, row->in, row->out, f->map, f->reduce, f->post, f->identity,
                                           "bench_row", NULL));
}

/* The results along the scanned axis, at every so many of its elements and at the last. */
static bool check_scanned(bench *b, const bench_data *data, const bench_row *row, const loop_nest *w,
                          int64_t at)
{
    int64_t output[BENCH_MAX_NDIM] = {0}, index[BENCH_MAX_NDIM], offset = 0;
    int64_t every = (w->length + CHECKED_OF_SCAN - 2) / (CHECKED_OF_SCAN - 1);
    int axis, ndim = w->n_output_axes + 1;
    bench_reduced all = {0};
    bench_axes_read(&axis, row->reduced);
    bench_index_split(output, at, w->output_extent, w->n_output_axes);
    for (int a = 0; a < ndim; a++)
        index[a] = a == axis ? 0 : output[a - (a > axis)];
    for (int a = 0; a < w->n_output_axes; a++)
        offset += output[a] * w->output_stride[a];
    for (int64_t k = 0; k < w->length; k++) {
        bench_value got;
        double want, size;
        take(&all, bench_random_at(w->dtype, offset + k * w->stride[0]), k);
        if (k % every != 0 && k != w->length - 1)
            continue;
        row->reduction->expected(&all, &want, &size);
        index[axis] = k;
        if (!bench_element_read(b, &got, data->set[0].array[1], index, ndim))
            return false;
        if (!(fabs(got.re - want) <= 3 * bench_tolerance(row->operand[1].dtype) * fmax(1, size)))
            return bench_fail(b, "wrong result: element %lld of row %lld is %.9g, expected %.9g",
                              (long long)k, (long long)at, got.re, want);
    }
    return true;
}

bool bench_scan_check(bench *b, bench_data *data, const bench_row *row)
{
    loop_nest w = make_loop_nest(data->set[0].array[0], row);
    bool ok = check_scanned(b, data, row, &w, 0);
    if (ok && w.results > 1)
        ok = check_scanned(b, data, row, &w, w.results - 1);
    data->checked = CHECKED_OF_SCAN * (w.results > 1 ? 2 : 1);
    return ok;
}
