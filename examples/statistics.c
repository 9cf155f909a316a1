/*
 * statistics.c - what a picture is like, in one pass over it: mean, variance, least and greatest value and
 * where the greatest is, five outputs of one reduction. Of each colour, of the whole, and of each row.
 *
 *     example_statistics [PICTURE.npy]      uint8, (rows, columns, colours); default: hubble_deep_field.npy
 *
 * The picture beside this file is a part (rows 300 to 555, columns 400 to 783) of the Hubble eXtreme Deep
 * Field as scikit-image 0.26 carries it: NASA, ESA, G. Illingworth, D. Magee and P. Oesch, R. Bouwens and the
 * HUDF09 team, release 2012-37 of hubblesite.org; in the public domain.
 */
#include <kiln/kiln.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Means and sums of squared distances from them are joined as Chan, Golub and LeVeque do (Updating formulae
 * and a pairwise algorithm for computing sample variances, 1979): nothing large is taken from something
 * large. Of equal values the first one counts, so that it does not matter in which order elements meet. */
static const char preamble[] =
    "struct statistics { double n, mean, squares, least, greatest; long long at; };\n"
    "__device__ statistics join(statistics a, statistics b) {\n"
    "    double n = a.n + b.n, apart = b.mean - a.mean;\n"
    "    bool second = b.greatest > a.greatest || (b.greatest == a.greatest && b.at < a.at);\n"
    "    return {n, a.mean + apart * b.n / n, a.squares + b.squares + apart * apart * a.n * b.n / n,\n"
    "            b.least < a.least ? b.least : a.least, second ? b.greatest : a.greatest, second ? b.at : "
    "a.at};\n"
    "}";

enum { MEAN, VARIANCE, LEAST, GREATEST, AT, OUTPUTS };

/* The results of one call, fetched; `count` of each. */
typedef struct table {
    int64_t count;
    double *mean, *variance;
    unsigned char *least, *greatest;
    int64_t *at;
} table;

static int complain(const char *what)
{
    fprintf(stderr, "%s: %s: %s\n%s\n", what, kiln_status_name(kiln_error_status()), kiln_error_message(),
            kiln_error_log());
    return 1;
}

static kiln_status define(kiln_kernel **kernel)
{
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    options.preamble = preamble;
    options.reduce_type = "statistics";
    return kiln_reduction_create(kernel, "T x",
                                 "float64 mean, float64 variance, T least, T greatest, int64 at",
                                 "statistics{1, (double)x, 0, (double)x, (double)x, _J}", "join(a, b)",
                                 "mean = a.mean; variance = a.squares / a.n; least = a.least;\n"
                                 "greatest = a.greatest; at = a.at",
                                 NULL, "statistics", &options);
}

/* ---- one call ---- */

static void free_table(table *t)
{
    free(t->mean);
    free(t->variance);
    free(t->least);
    free(t->greatest);
    free(t->at);
}

/* The elements of an array, which the caller frees; NULL where that failed. */
static void *fetched(kiln_array *array)
{
    size_t bytes = kiln_array_nbytes(array);
    void *elements = malloc(bytes);
    if (elements && kiln_array_to_host(array, elements, bytes) == KILN_OK)
        return elements;
    free(elements);
    return NULL;
}

static bool fetch(table *t, kiln_array *const *out)
{
    t->count = kiln_array_size(out[MEAN]);
    t->mean = fetched(out[MEAN]);
    t->variance = fetched(out[VARIANCE]);
    t->least = fetched(out[LEAST]);
    t->greatest = fetched(out[GREATEST]);
    t->at = fetched(out[AT]);
    return t->mean && t->variance && t->least && t->greatest && t->at;
}

/* axes NULL: all of them. */
static bool reduce(table *t, kiln_kernel *kernel, kiln_array *picture, const int *axes, int n_axes)
{
    kiln_array *out[OUTPUTS] = {NULL};
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    const kiln_arg in = kiln_arg_array(picture);
    options.axes = axes;
    options.n_axes = n_axes;
    bool done = kiln_kernel_call(kernel, out, OUTPUTS, &in, 1, &options) == KILN_OK && fetch(t, out);
    for (int j = 0; j < OUTPUTS; j++)
        kiln_array_free(out[j]);
    return done;
}

/* ---- the same in plain C ---- */

static bool is_near(double x, double y)
{
    return fabs(x - y) <= 1e-11 * fabs(y); /* a hundred thousand roundings of 2^-53 */
}

/* `count` values that lie `step` apart. Sums of whole numbers are exact, n times that of the squares too:
 * below 2^63 for pictures of up to some ten million values. */
static bool is_right(const table *t, int64_t r, const unsigned char *value, int64_t count, int64_t step)
{
    int64_t sum = 0, squares = 0, at = 0;
    unsigned char least = value[0];
    for (int64_t k = 0; k < count; k++) {
        unsigned char v = value[k * step];
        sum += v;
        squares += v * v;
        least = v < least ? v : least;
        at = v > value[at * step] ? k : at;
    }
    double n = (double)count;
    return is_near(t->mean[r], (double)sum / n) &&
           is_near(t->variance[r], (double)(count * squares - sum * sum) / n / n) && t->least[r] == least &&
           t->greatest[r] == value[at * step] && t->at[r] == at;
}

/* ---- the picture ---- */

typedef struct picture {
    kiln_array *array;
    int64_t rows, columns, colours;
    unsigned char *value; /* a copy on the host */
} picture;

static int read_picture(picture *p, const char *path)
{
    if (kiln_array_load_npy(&p->array, path, KILN_DEVICE_DEFAULT) != KILN_OK)
        return complain(path);
    if (kiln_array_dtype(p->array) != KILN_UINT8 || kiln_array_ndim(p->array) != 3 ||
        kiln_array_size(p->array) == 0) {
        fprintf(stderr, "%s: uint8 of three axes, rows, columns and colours, was expected\n", path);
        return 1;
    }
    const int64_t *shape = kiln_array_shape(p->array);
    p->rows = shape[0];
    p->columns = shape[1];
    p->colours = shape[2];
    p->value = fetched(p->array);
    return p->value ? 0 : complain(path);
}

static void print_line(const table *t, int64_t r, const char *name, int64_t columns)
{
    printf(
        "  %-5s  mean %7.3f, deviation %7.3f, from %d to %d, which is first met at row %lld, column %lld\n",
        name, t->mean[r], sqrt(t->variance[r]), t->least[r], t->greatest[r], (long long)(t->at[r] / columns),
        (long long)(t->at[r] % columns));
}

/* Rows and columns are reduced, colours are not: elements of one colour are three bytes apart. */
static int show_colours(kiln_kernel *kernel, const picture *p)
{
    static const char *const names[] = {"red", "green", "blue", "other"};
    static const int axes[] = {0, 1};
    table t = {0};
    int wrong = 0;
    if (!reduce(&t, kernel, p->array, axes, 2))
        wrong = complain("colours");
    for (int64_t c = 0; c < t.count && !wrong; c++) {
        wrong += !is_right(&t, c, p->value + c, p->rows * p->columns, p->colours);
        print_line(&t, c, names[c < 3 ? c : 3], p->columns);
    }
    free_table(&t);
    return wrong;
}

static int show_whole(kiln_kernel *kernel, const picture *p)
{
    table t = {0};
    int wrong = 0;
    if (!reduce(&t, kernel, p->array, NULL, 0)) {
        wrong = complain("all");
    } else {
        wrong = !is_right(&t, 0, p->value, p->rows * p->columns * p->colours, 1);
        t.at[0] /= p->colours; /* the pixel */
        print_line(&t, 0, "all", p->columns);
    }
    free_table(&t);
    return wrong;
}

/* Columns and colours are reduced. */
static int show_rows(kiln_kernel *kernel, const picture *p)
{
    static const int axes[] = {-2, -1};
    const int64_t length = p->columns * p->colours;
    table t = {0};
    int64_t brightest = 0, calmest = 0;
    int wrong = 0;
    if (!reduce(&t, kernel, p->array, axes, 2))
        wrong = complain("rows");
    for (int64_t r = 0; r < t.count && !wrong; r++) {
        wrong += !is_right(&t, r, p->value + r * length, length, 1);
        brightest = t.mean[r] > t.mean[brightest] ? r : brightest;
        calmest = t.variance[r] < t.variance[calmest] ? r : calmest;
    }
    if (!wrong)
        printf("  row %lld is the brightest (mean %.3f), row %lld varies least (deviation %.3f)\n",
               (long long)brightest, t.mean[brightest], (long long)calmest, sqrt(t.variance[calmest]));
    free_table(&t);
    return wrong;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "hubble_deep_field.npy";
    kiln_kernel *kernel = NULL;
    picture p = {NULL, 0, 0, 0, NULL};
    int wrong = read_picture(&p, path);
    if (!wrong && define(&kernel) != KILN_OK)
        wrong = complain("statistics");
    if (!wrong) {
        printf("%lld rows of %lld pixels of %lld colours\n", (long long)p.rows, (long long)p.columns,
               (long long)p.colours);
        wrong += show_colours(kernel, &p);
        wrong += show_whole(kernel, &p);
        wrong += show_rows(kernel, &p);
        printf("%s\n", wrong ? "not what plain C finds (WRONG)" : "all as plain C finds it (good)");
    }
    kiln_kernel_free(kernel);
    kiln_array_free(p.array);
    free(p.value);
    return wrong != 0;
}
