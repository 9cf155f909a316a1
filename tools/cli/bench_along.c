/* bench_along.c - rows of the table whose results need whole rows of the inputs, along any axes (softmax and
 * its like): their references in double precision, and the check of some rows from end to end. */
#include "bench.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Elements that the check reads of the first input, apart from the first and the last row, which it always
 * does. */
enum { MOST_READ = 1 << 20, MOST_ROWS = 128 };

/* ---- references ---- */

static double greatest_of(const double *x, int64_t length)
{
    double greatest = -INFINITY;
    for (int64_t k = 0; k < length; k++)
        greatest = fmax(greatest, x[k]);
    return greatest;
}

static double mean_of(const double *x, int64_t length)
{
    double sum = 0;
    for (int64_t k = 0; k < length; k++)
        sum += x[k];
    return sum / (double)length;
}

/* The mean of the squared distances from `from`. */
static double spread_of(const double *x, int64_t length, double from)
{
    double sum = 0;
    for (int64_t k = 0; k < length; k++)
        sum += (x[k] - from) * (x[k] - from);
    return sum / (double)length;
}

static double sum_of_powers(const double *x, int64_t length, double greatest)
{
    double sum = 0;
    for (int64_t k = 0; k < length; k++)
        sum += exp(x[k] - greatest);
    return sum;
}

/* The largest of the elements, as a size. */
static double size_of(const double *x, int64_t length)
{
    double size = 0;
    for (int64_t k = 0; k < length; k++)
        size = fmax(size, fabs(x[k]));
    return size;
}

void bench_softmax(double *const *out, double *size, const double *const *in, int64_t length)
{
    double greatest = greatest_of(in[0], length), sum = sum_of_powers(in[0], length, greatest);
    for (int64_t k = 0; k < length; k++)
        out[0][k] = exp(in[0][k] - greatest) / sum;
    *size = 1 / sum;
}

void bench_rmsnorm(double *const *out, double *size, const double *const *in, int64_t length)
{
    double root = sqrt(spread_of(in[0], length, 0) + 1e-5);
    for (int64_t k = 0; k < length; k++)
        out[0][k] = in[0][k] / root * in[1][k];
    *size = size_of(out[0], length);
}

/* x is rounded before its mean is subtracted. */
void bench_layernorm(double *const *out, double *size, const double *const *in, int64_t length)
{
    double mean = mean_of(in[0], length), root = sqrt(spread_of(in[0], length, mean) + 1e-5);
    *size = 0;
    for (int64_t k = 0; k < length; k++) {
        double scale = in[1] ? in[1][k] : 1, shift = in[2] ? in[2][k] : 0;
        out[0][k] = (in[0][k] - mean) / root * scale + shift;
        *size = fmax(*size, fabs(in[0][k] / root * scale) + fabs(shift));
    }
}

void bench_cross_entropy(double *const *out, double *size, const double *const *in, int64_t length)
{
    double greatest = greatest_of(in[0], length), sum = sum_of_powers(in[0], length, greatest);
    double logit = in[0][(int64_t)in[1][0]];
    out[0][0] = greatest + log(sum) - logit;
    *size = fabs(greatest) + log(sum) + fabs(logit);
}

void bench_softmax_gradient(double *const *out, double *size, const double *const *in, int64_t length)
{
    double dot = 0, dots = 0;
    for (int64_t k = 0; k < length; k++) {
        dot += in[0][k] * in[1][k];
        dots += fabs(in[0][k] * in[1][k]);
    }
    for (int64_t k = 0; k < length; k++)
        out[0][k] = in[0][k] * (in[1][k] - dot);
    *size = size_of(in[0], length) * (size_of(in[1], length) + dots / sqrt((double)length));
}

void bench_rmsnorm_gradient(double *const *out, double *size, const double *const *in, int64_t length)
{
    const double *x = in[0], *d = in[1], *scale = in[2], root = in[3][0];
    double mean = 0;
    *size = 0;
    for (int64_t k = 0; k < length; k++)
        mean += x[k] * root * d[k] * scale[k] / (double)length;
    for (int64_t k = 0; k < length; k++) {
        out[0][k] = (d[k] * scale[k] - x[k] * root * mean) * root;
        *size = fmax(*size, fabs(d[k] * scale[k] * root) + fabs(x[k] * root * root));
    }
}

void bench_scale_gradient(double *const *out, double *size, const double *const *in, int64_t length)
{
    double squares = out[0][0] = 0;
    for (int64_t k = 0; k < length; k++) {
        double term = in[0][k] * in[1][k] * in[2][k];
        out[0][0] += term;
        squares += term * term;
    }
    *size = sqrt(squares) + fabs(out[0][0]);
}

/* The gradient for the scale comes first. */
void bench_rmsnorm_gradients(double *const *out, double *size, const double *const *in, int64_t length)
{
    bench_rmsnorm_gradient(out + 1, size + 1, in, length);
}

void bench_scale_beside(double *const *out, double *size, const double *const *in, int64_t length)
{
    const double *const own[] = {in[0], in[1], in[3]};
    bench_scale_gradient(out, size, own, length);
}

void bench_standardised(double *const *out, double *size, const double *const *in, int64_t length)
{
    double mean = mean_of(in[0], length), root = sqrt(spread_of(in[0], length, mean));
    for (int64_t k = 0; k < length; k++)
        out[0][k] = (in[0][k] - mean) / root;
    *size = size_of(in[0], length) / root;
}

void bench_unit(double *const *out, double *size, const double *const *in, int64_t length)
{
    double norm = sqrt(spread_of(in[0], length, 0) * (double)length + 1e-12);
    for (int64_t k = 0; k < length; k++)
        out[0][k] = in[0][k] / norm;
    *size = size_of(out[0], length);
}

void bench_rescaled(double *const *out, double *size, const double *const *in, int64_t length)
{
    double least = INFINITY, greatest = greatest_of(in[0], length);
    for (int64_t k = 0; k < length; k++)
        least = fmin(least, in[0][k]);
    for (int64_t k = 0; k < length; k++)
        out[0][k] = (in[0][k] - least) / (greatest - least);
    *size = 1;
}

void bench_batch_norm(double *const *out, double *size, const double *const *in, int64_t length)
{
    double *const normalised[] = {out[2]};
    double mean = mean_of(in[0], length), variance = spread_of(in[0], length, mean);
    out[0][0] = 0.9 * in[3][0] + 0.1 * mean;
    out[1][0] = 0.9 * in[4][0] + 0.1 * variance * (double)length / (double)(length - 1);
    bench_layernorm(normalised, &size[2], in, length);
    size[0] = fabs(in[3][0]) + 1;
    size[1] = fabs(in[4][0]) + variance;
}

void bench_batch_gradient(double *const *out, double *size, const double *const *in, int64_t length)
{
    double gradient[2] = {0, 0}, squares[2] = {0, 0}, deviation = in[4][0], n = (double)length;
    for (int64_t k = 0; k < length; k++) {
        const double dy[] = {in[1][k] * (in[0][k] - in[3][0]) * deviation, in[1][k]};
        for (int g = 0; g < 2; g++) {
            gradient[g] += dy[g];
            squares[g] += dy[g] * dy[g];
        }
    }
    for (int g = 0; g < 2; g++) {
        out[g][0] = gradient[g];
        size[g] = sqrt(squares[g]);
    }
    size[2] = 0;
    for (int64_t k = 0; k < length; k++) {
        double factor = in[2][k] * deviation, normalised = (in[0][k] - in[3][0]) * deviation;
        out[2][k] = factor * (in[1][k] - gradient[1] / n - normalised * gradient[0] / n);
        size[2] = fmax(size[2], fabs(factor) * (fabs(in[1][k]) + fabs(normalised)));
    }
}

void bench_dot(double *const *out, double *size, const double *const *in, int64_t length)
{
    out[0][0] = *size = 0;
    for (int64_t k = 0; k < length; k++) {
        out[0][0] += in[0][k] * in[1][k];
        *size += fabs(in[0][k] * in[1][k]);
    }
}

/* The first of equals. */
void bench_nearest(double *const *out, double *size, const double *const *in, int64_t length)
{
    double least = INFINITY;
    for (int64_t c = 0; c * BENCH_COORDINATES < length; c++) {
        double distance = 0;
        for (int64_t k = c * BENCH_COORDINATES; k < (c + 1) * BENCH_COORDINATES; k++)
            distance += (in[0][k] - in[1][k]) * (in[0][k] - in[1][k]);
        if (distance < least) {
            least = distance;
            out[0][0] = (double)c;
        }
    }
    *size = 1;
}

void bench_filled(double *const *out, double *size, const double *const *in, int64_t length)
{
    double mean = mean_of(in[1], length);
    for (int64_t k = 0; k < length; k++)
        out[0][k] = in[0][k] != 0 ? in[1][k] : mean;
    *size = size_of(in[1], length);
}

void bench_best(double *const *out, double *size, const double *const *in, int64_t length)
{
    out[0][0] = greatest_of(in[0], length);
    for (int64_t k = length - 1; k >= 0; k--)
        out[1][0] = in[0][k] == out[0][0] ? (double)k : out[1][0];
    size[0] = size[1] = 1;
}

/* ---- the check ---- */

/* The space of the inputs: all of them broadcast, and the axes along which elements belong together. */
typedef struct columns {
    int ndim;
    int64_t extent[BENCH_MAX_NDIM];
    bool is_reduced[BENCH_MAX_NDIM];
    int64_t count, length; /* such sets of elements, and the elements of one */
    bool is_across;        /* those of bench_row.across */
} columns;

/* True if the sets have elements of the result. */
static bool is_compared(const bench_row *row, const columns *c, const kiln_array *result)
{
    return !row->across || (kiln_array_ndim(result) < c->ndim) == c->is_across;
}

static columns make_columns(const bench_data *data, const bench_row *row, bool is_across)
{
    columns c = {.count = 1, .length = 1, .is_across = is_across};
    int axes[BENCH_MAX_NDIM], n_axes = bench_axes_read(axes, is_across ? "0" : row->reduced);
    for (int k = 0; k < bench_row_inputs(row); k++)
        if (kiln_array_ndim(data->set[0].array[k]) > c.ndim)
            c.ndim = kiln_array_ndim(data->set[0].array[k]);
    for (int axis = 0; axis < c.ndim; axis++)
        c.extent[axis] = 1;
    for (int k = 0; k < bench_row_inputs(row); k++) {
        const kiln_array *array = data->set[0].array[k];
        int own = kiln_array_ndim(array);
        for (int axis = 0; axis < own; axis++)
            if (kiln_array_shape(array)[axis] > 1)
                c.extent[c.ndim - own + axis] = kiln_array_shape(array)[axis];
    }
    c.is_reduced[c.ndim - 1] = n_axes == 0;
    for (int k = 0; k < n_axes; k++)
        c.is_reduced[axes[k]] = true;
    for (int axis = 0; axis < c.ndim; axis++)
        *(c.is_reduced[axis] ? &c.length : &c.count) *= c.extent[axis];
    return c;
}

/* The C-order index of set `at`; 0 along the reduced axes. */
static void split_columns(int64_t *index, const columns *c, int64_t at)
{
    for (int axis = c->ndim - 1; axis >= 0; axis--) {
        index[axis] = c->is_reduced[axis] ? 0 : at % c->extent[axis];
        at /= c->is_reduced[axis] ? 1 : c->extent[axis];
    }
}

/* The elements of an array that belong to a set, as a view: an input's are broadcast to all of it. Axes that
 * a result lacks are reduced. */
static bool view_columns(bench *b, kiln_array **out, kiln_array *array, const columns *c,
                         const int64_t *index, bool is_input)
{
    int own = kiln_array_ndim(array), at = is_input || own == c->ndim ? own - c->ndim : 0;
    unsigned char *address = kiln_array_data(array);
    int64_t shape[BENCH_MAX_NDIM], strides[BENCH_MAX_NDIM];
    kiln_array_spec spec = KILN_ARRAY_SPEC_INIT;
    bool lacks_reduced = !is_input && own < c->ndim;
    for (int axis = 0; axis < c->ndim; axis++) {
        if (lacks_reduced && c->is_reduced[axis])
            continue;
        bool is_broadcast = at < 0 || kiln_array_shape(array)[at] == 1;
        int64_t stride = is_broadcast ? 0 : kiln_array_strides(array)[at];
        address += index[axis] * stride;
        if (c->is_reduced[axis]) {
            shape[spec.ndim] = is_input || !is_broadcast ? c->extent[axis] : 1;
            strides[spec.ndim++] = stride;
        }
        at++;
    }
    spec.dtype = kiln_array_dtype(array);
    spec.device = b->device;
    spec.shape = shape;
    spec.strides = strides;
    return bench_check(b, kiln_array_wrap(out, address, &spec, NULL, NULL));
}

/* Those elements, allocated with malloc; NULL: it failed. */
static double *read_columns(bench *b, kiln_array *array, const columns *c, const int64_t *index,
                            bool is_input, int64_t *count)
{
    kiln_array *view = NULL;
    bool ok = view_columns(b, &view, array, c, index, is_input);
    *count = ok ? kiln_array_size(view) : 0;
    bench_value *value = ok ? malloc((size_t)*count * sizeof *value) : NULL;
    double *out = value ? malloc((size_t)*count * sizeof *out) : NULL;
    if (ok && !out)
        ok = bench_fail(b, "out of memory");
    ok = ok && bench_array_read(b, value, view);
    for (int64_t i = 0; i < *count && ok && out; i++)
        out[i] = value[i].re;
    kiln_array_free(view);
    free(value);
    if (ok)
        return out;
    free(out);
    return NULL;
}

static bool compare(bench *b, kiln_dtype dtype, const double *got, const double *want, int64_t count,
                    double size, int64_t at)
{
    double allowed = 3 * bench_tolerance(dtype) * size;
    for (int64_t k = 0; k < count; k++)
        if (!(fabs(got[k] - want[k]) <= allowed))
            return bench_fail(b, "wrong result: element %lld of row %lld is %.9g, expected %.9g within %.2g",
                              (long long)k, (long long)at, got[k], want[k], allowed);
    return true;
}

static bool check_columns(bench *b, bench_data *data, const bench_row *row, const columns *c, int64_t at)
{
    double *found[BENCH_MAX_OPERANDS] = {NULL}, *want[BENCH_MAX_OPERANDS] = {NULL};
    double size[BENCH_MAX_OPERANDS] = {0};
    int64_t index[BENCH_MAX_NDIM], count[BENCH_MAX_OPERANDS] = {0};
    int n_in = bench_row_inputs(row);
    bool ok = true;
    split_columns(index, c, at);
    for (int k = 0; k < row->n_operands && ok; k++) {
        if (k >= n_in && !is_compared(row, c, data->set[0].array[k]))
            continue;
        found[k] = read_columns(b, data->set[0].array[k], c, index, k < n_in, &count[k]);
        ok = found[k] != NULL;
    }
    for (int k = 0; k < row->n_operands - n_in && ok; k++) {
        want[k] = calloc((size_t)c->length, sizeof *want[k]);
        ok = want[k] || bench_fail(b, "out of memory");
    }
    if (ok) {
        const double *in[BENCH_MAX_OPERANDS] = {NULL};
        memcpy(in, found, (size_t)n_in * sizeof *in);
        (c->is_across ? row->across : row->along)(want, size, in, c->length);
    }
    for (int k = n_in; k < row->n_operands && ok; k++) {
        if (!found[k])
            continue;
        ok = compare(b, row->operand[k].dtype, found[k], want[k - n_in], count[k], size[k - n_in], at);
        data->checked += (int)count[k];
    }
    for (int k = 0; k < BENCH_MAX_OPERANDS; k++) {
        free(found[k]);
        free(want[k]);
    }
    return ok;
}

/* The first and the last set, and others evenly between. */
static bool check_some(bench *b, bench_data *data, const bench_row *row, const columns *c)
{
    int64_t count = MOST_READ / c->length < MOST_ROWS ? MOST_READ / c->length : MOST_ROWS;
    bool ok = true;
    count = count < 2 ? 2 : count;
    count = count < c->count ? count : c->count;
    for (int64_t k = 0; k < count && ok; k++)
        ok = check_columns(b, data, row, c, count > 1 ? (c->count - 1) * k / (count - 1) : 0);
    return ok;
}

bool bench_along_check(bench *b, bench_data *data, const bench_row *row)
{
    const columns along = make_columns(data, row, false);
    data->checked = 0;
    bool ok = check_some(b, data, row, &along);
    if (!row->across || !ok)
        return ok;
    const columns across = make_columns(data, row, true);
    return check_some(b, data, row, &across);
}
