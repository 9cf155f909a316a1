/* labels_emulated - reductions beside elements at an index for each result (cross-entropy), as expressions,
 * by the kernels that a GPU would run. Against plain loops
 * in double precision.
 *
 * usage: labels_emulated [COUNT [SEED]] */
#include "emulated.h"

#include <kiln/expression.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drawn.h"
#include "elements.h"

enum { AXES = 3 };

static dice drawn;

static int draw(int below)
{
    return (int)dice_between(&drawn, 0, below - 1);
}

/* An array with gaps, its axes in any order in memory; every element as a number too. */
typedef struct input {
    kiln_array *array;
    unsigned char *memory;
    double *value; /* in C order */
    int64_t shape[AXES];
} input;

static int64_t size_of(const int64_t *shape)
{
    return shape[0] * shape[1] * shape[2];
}

/* Floats between -8 and 8, of few bits, and now and then -inf; labels below `extent`, or from -extent on. */
static double number_of(kiln_dtype dtype, int extent)
{
    if (extent > 0)
        return dice_between(&drawn, dtype == KILN_UINT8 ? 0 : -extent, extent - 1);
    return dice_one_in(&drawn, 50) ? -INFINITY : (double)dice_between(&drawn, -1024, 1024) / 128;
}

static bool make(input *in, kiln_dtype dtype, const int64_t *shape, const int *order, int extent)
{
    int64_t item = (int64_t)kiln_dtype_size(dtype), run = item, strides[AXES], at = 0;
    const int64_t shift = item * draw(3), count = size_of(shape);
    memcpy(in->shape, shape, sizeof in->shape);
    for (int k = AXES; k-- > 0;) {
        strides[order[k]] = run;
        run = run * shape[order[k]] + (k == AXES - 1 ? item * draw(2) : 0);
    }
    in->memory = calloc(1, (size_t)(run + shift));
    in->value = malloc((size_t)count * sizeof *in->value);
    for (int64_t a = 0; a < shape[0]; ++a)
        for (int64_t b = 0; b < shape[1]; ++b)
            for (int64_t c = 0; c < shape[2]; ++c) {
                void *to = in->memory + shift + a * strides[0] + b * strides[1] + c * strides[2];
                number_store(to, dtype, number_real(number_of(dtype, extent)));
                in->value[at++] = number_load(to, dtype).re;
            }
    kiln_array_spec spec = KILN_ARRAY_SPEC_INIT;
    spec.dtype = dtype;
    spec.ndim = AXES;
    spec.shape = shape;
    spec.strides = strides;
    spec.device = KILN_DEVICE_HOST;
    return kiln_array_wrap(&in->array, in->memory + shift, &spec, NULL, NULL) == KILN_OK;
}

static void drop(input *in)
{
    kiln_array_free(in->array);
    free(in->memory);
    free(in->value);
}

/* Element `j` along the axis of the row that holds result `r`. */
static double element(const input *in, int axis, int64_t r, int64_t j)
{
    int64_t inner = 1;
    for (int a = axis + 1; a < AXES; ++a)
        inner *= in->shape[a];
    return in->value[(r / inner * in->shape[axis] + j) * inner + r % inner];
}

/* ---- what is computed: x, labels t of its rows, and y, with other extents along the axis ---- */

typedef double reference(const input *x, const input *y, int axis, int64_t r, int64_t label);

static double greatest_of(const input *x, int axis, int64_t r, double sign)
{
    double greatest = -INFINITY;
    for (int64_t j = 0; j < x->shape[axis]; ++j)
        greatest = fmax(greatest, sign * element(x, axis, r, j));
    return sign * greatest;
}

static double cross_entropy(const input *x, const input *y, int axis, int64_t r, int64_t label)
{
    double greatest = greatest_of(x, axis, r, 1), sum = 0;
    (void)y;
    for (int64_t j = 0; j < x->shape[axis]; ++j)
        sum += exp(element(x, axis, r, j) - greatest);
    return greatest + log(sum) - element(x, axis, r, label < 0 ? label + x->shape[axis] : label);
}

static double from_other(const input *x, const input *y, int axis, int64_t r, int64_t label)
{
    const int64_t last = y->shape[axis] - 1;
    return greatest_of(x, axis, r, 1) + element(y, axis, r, label < 0 ? 0 : label > last ? last : label);
}

static double spread(const input *x, const input *y, int axis, int64_t r, int64_t label)
{
    (void)y, (void)label;
    return greatest_of(x, axis, r, 1) - greatest_of(x, axis, r, -1);
}

static const struct {
    const char *text; /* the axis is `A` */
    reference *value;
} cases[] = {
    {"m = max(x, axis=A, keepdims=True); s = sum(exp(x - m), axis=A, keepdims=True);"
     "m + log(s) - take_along_axis(x, t, A)",
     cross_entropy},
    {"max(x, axis=A, keepdims=True) + take_along_axis(y, t, A, mode='clip')", from_other},
    {"max(x, axis=A, keepdims=True) - take_along_axis(x, argmin(x, axis=A, keepdims=True), A)", spread}};
enum { CASES = sizeof cases / sizeof cases[0] };

static bool is_right(const input *x, const input *y, const input *t, const kiln_array *out, int axis,
                     int what, double tolerance)
{
    const int64_t results = size_of(t->shape);
    const kiln_dtype dtype = kiln_array_dtype(out);
    const char *data = kiln_array_data(out);
    for (int64_t r = 0; r < results; ++r) {
        double is = number_load(data + r * (int64_t)kiln_dtype_size(dtype), dtype).re,
               should = cases[what].value(x, y, axis, r, (int64_t)t->value[r]);
        if (is != should && !(isnan(is) && isnan(should)) &&
            !(fabs(is - should) <= tolerance * (1 + fabs(should)))) {
            fprintf(stderr, "result %lld: %.9g for %.9g\n", (long long)r, is, should);
            return false;
        }
    }
    return true;
}

static void write_text(char *to, const char *text, int axis)
{
    for (; *text; ++text)
        *to++ = (char)(*text == 'A' ? '0' + axis : *text);
    *to = '\0';
}

static bool run(void)
{
    static const kiln_dtype dtypes[] = {KILN_FLOAT32, KILN_FLOAT32, KILN_FLOAT16, KILN_BFLOAT16,
                                        KILN_FLOAT64},
                            indices[] = {KILN_INT64, KILN_INT32, KILN_UINT8};
    static const int orders[][AXES] = {{0, 1, 2}, {0, 1, 2}, {2, 1, 0}, {1, 0, 2}};
    static const int extents[] = {1, 7, 32, 100, 1000, 5000, 20000};
    const int what = draw(CASES), order = draw(4), axis = draw(2) ? 2 : draw(AXES);
    const kiln_dtype dtype = dtypes[draw(5)], of_labels = indices[draw(3)];
    int64_t shape[AXES] = {1 + draw(4), 1 + draw(5), 1 + draw(6)}, short_shape[AXES], other[AXES];
    char text[256];
    kiln_kernel *kernel = NULL;
    kiln_array *out = NULL;
    input x = {0}, y = {0}, t = {0};
    shape[axis] = extents[draw(7)] + draw(3);
    memcpy(short_shape, shape, sizeof shape);
    memcpy(other, shape, sizeof shape);
    short_shape[axis] = 1;
    other[axis] = 1 + draw(9);
    write_text(text, cases[what].text, axis);
    bool right =
        make(&x, dtype, shape, orders[order], 0) && make(&y, dtype, other, orders[draw(4)], 0) &&
        make(&t, of_labels, short_shape, orders[draw(4)], (int)(shape[axis] < 128 ? shape[axis] : 128)) &&
        kiln_expression_create(&kernel,
                               what == 1   ? "x, y, t"
                               : what == 0 ? "x, t"
                                           : "x",
                               text, NULL) == KILN_OK;
    if (right) {
        const kiln_arg in[] = {kiln_arg_array(x.array),
                               kiln_arg_array(what == 1   ? y.array
                                              : what == 0 ? t.array
                                                          : x.array),
                               kiln_arg_array(t.array)};
        right = emulated_call("sm_90", kernel, &out, 1, in,
                              what == 1   ? 3
                              : what == 0 ? 2
                                          : 1,
                              NULL) == KILN_OK;
    }
    if (!right)
        fprintf(stderr, "FAILED: %s\n", kiln_error_message());
    else
        right = is_right(&x, &y, &t, out, axis, what,
                         dtype == KILN_FLOAT16 || dtype == KILN_BFLOAT16 ? 0.01 : 2e-6);
    if (!right)
        fprintf(stderr, "FAILED: %s of (%lld, %lld, %lld), %s, order %d, %d kernels\n", text,
                (long long)shape[0], (long long)shape[1], (long long)shape[2], kiln_dtype_name(dtype), order,
                emulated_steps);
    kiln_array_free(out);
    drop(&x);
    drop(&y);
    drop(&t);
    kiln_kernel_free(kernel);
    return right;
}

int main(int argc, char **argv)
{
    setenv("KILN_KINDS", "-fewest", 0); /* kinds take few elements, too */
    int count = argc > 1 ? atoi(argv[1]) : drawn_all() ? 40 : 2, failed = 0;
    drawn.state = argc > 2 ? strtoull(argv[2], NULL, 10) : drawn_seed();
    for (int k = 0; k < count; ++k)
        failed += !run();
    printf("%d cases, %d failed\n", count, failed);
    return failed || count < 1;
}
