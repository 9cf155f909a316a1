/* bench_along.c - rows of the table whose results need whole rows of the inputs (softmax and its like): their
 * references in double precision, and the check of some rows from end to end. */
#include "bench.h"
#include <math.h>
#include <stdlib.h>

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

double bench_softmax(double *out, const double *const *in, int64_t length)
{
    double greatest = greatest_of(in[0], length), sum = sum_of_powers(in[0], length, greatest);
    for (int64_t k = 0; k < length; k++)
        out[k] = exp(in[0][k] - greatest) / sum;
    return 1 / sum;
}

double bench_rmsnorm(double *out, const double *const *in, int64_t length)
{
    double root = sqrt(spread_of(in[0], length, 0) + 1e-5), size = 0;
    for (int64_t k = 0; k < length; k++) {
        out[k] = in[0][k] / root * in[1][k];
        size = fmax(size, fabs(out[k]));
    }
    return size;
}

/* x is rounded before its mean is subtracted. */
double bench_layernorm(double *out, const double *const *in, int64_t length)
{
    double mean = mean_of(in[0], length), root = sqrt(spread_of(in[0], length, mean) + 1e-5), size = 0;
    for (int64_t k = 0; k < length; k++) {
        double scale = in[1] ? in[1][k] : 1, shift = in[2] ? in[2][k] : 0;
        out[k] = (in[0][k] - mean) / root * scale + shift;
        size = fmax(size, fabs(in[0][k] / root * scale) + fabs(shift));
    }
    return size;
}

double bench_cross_entropy(double *out, const double *const *in, int64_t length)
{
    double greatest = greatest_of(in[0], length), sum = sum_of_powers(in[0], length, greatest);
    *out = greatest + log(sum) - in[0][(int64_t)in[1][0]];
    return fabs(greatest) + log(sum) + fabs(in[0][(int64_t)in[1][0]]);
}

/* ---- the check ---- */

/* The elements of operand k that meet row `at` of the first input: inputs are broadcast against it; a result
 * without the last axis has one for each row. Allocated with malloc; NULL: it failed. */
static double *read_row(bench *b, const bench_data *data, int k, bool is_result, int64_t at, int64_t *count)
{
    kiln_array *x = data->set[0].array[0], *array = data->set[0].array[k];
    int64_t index[BENCH_MAX_NDIM];
    int ndim = kiln_array_ndim(x), own = kiln_array_ndim(array);
    const int64_t *shape = kiln_array_shape(x);
    bench_index_split(index, at * shape[ndim - 1], shape, ndim);
    bool is_short = is_result && own < ndim;
    *count = is_short ? 1 : kiln_array_shape(array)[own - 1];
    bench_value *value = malloc((size_t)*count * sizeof *value);
    double *row = malloc((size_t)*count * sizeof *row);
    bool ok = value && row ? bench_run_read(b, value, array, index, is_short ? own : ndim, *count)
                           : bench_fail(b, "out of memory");
    for (int64_t i = 0; i < *count && ok; i++)
        row[i] = value[i].re;
    free(value);
    if (ok)
        return row;
    free(row);
    return NULL;
}

static bool compare_row(bench *b, const bench_row *row, const double *got, const double *want, int64_t count,
                        double size, int64_t at)
{
    double allowed = 3 * bench_tolerance(row->operand[row->n_operands - 1].dtype) * size;
    for (int64_t k = 0; k < count; k++)
        if (!(fabs(got[k] - want[k]) <= allowed))
            return bench_fail(b, "wrong result: element %lld of row %lld is %.9g, expected %.9g within %.2g",
                              (long long)k, (long long)at, got[k], want[k], allowed);
    return true;
}

static bool check_row(bench *b, bench_data *data, const bench_row *row, int64_t at)
{
    double *in[BENCH_MAX_OPERANDS] = {NULL};
    int64_t count = 0, length = 0;
    int result = row->n_operands - 1;
    bool ok = true;
    for (int k = 0; k < result && ok; k++) {
        in[k] = read_row(b, data, k, false, at, &count);
        length = k == 0 ? count : length;
        ok = in[k] != NULL;
    }
    double *got = ok ? read_row(b, data, result, true, at, &count) : NULL, *want = NULL;
    if (got && !(want = malloc((size_t)count * sizeof *want)))
        bench_fail(b, "out of memory");
    if (want) {
        double size = row->along(want, (const double *const *)in, length);
        ok = compare_row(b, row, got, want, count, size, at);
        data->checked += (int)count;
    }
    for (int k = 0; k < result; k++)
        free(in[k]);
    ok = ok && want;
    free(got);
    free(want);
    return ok;
}

/* The first and the last row, and others evenly between. */
bool bench_along_check(bench *b, bench_data *data, const bench_row *row)
{
    kiln_array *x = data->set[0].array[0];
    int64_t length = kiln_array_shape(x)[kiln_array_ndim(x) - 1], rows = kiln_array_size(x) / length;
    int64_t count = MOST_READ / length < MOST_ROWS ? MOST_READ / length : MOST_ROWS;
    bool ok = true;
    count = count < 2 ? 2 : count;
    count = count < rows ? count : rows;
    data->checked = 0;
    for (int64_t k = 0; k < count && ok; k++)
        ok = check_row(b, data, row, count > 1 ? (rows - 1) * k / (count - 1) : 0);
    return ok;
}
