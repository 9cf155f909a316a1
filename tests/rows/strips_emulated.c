/* strips_emulated - expressions with results of rows and of columns, by the kernels that a GPU would run: one
 * reading serves both where rows are whole vectors. Against plain loops in double precision.
 *
 * usage: strips_emulated [COUNT [SEED]] */
#include "drawn.h"
#include "emulated.h"
#include "types/dtype.h"

#include <kiln/expression.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUTS = 2, MOST_RESULTS = 3, LEAST = 1 << 16, SHORTEST = 512 };

static uint64_t state;

static uint64_t draw(uint64_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
}

/* ---- inputs ---- */

typedef struct input {
    kiln_array *array;
    unsigned char *memory;
    double *value; /* in C order */
} input;

/* A number of few digits, which all dtypes hold. */
static double store(unsigned char *to, kiln_dtype dtype)
{
    const float f = ((float)draw(33) - 15) / 4;
    const uint16_t half = kn_half_from_double((double)f);
    if (dtype == KILN_FLOAT32)
        memcpy(to, &f, sizeof f);
    else
        memcpy(to, dtype == KILN_FLOAT16 ? (const void *)&half : (const char *)&f + 2, sizeof half);
    return (double)f;
}

/* An array of rows that begins anywhere, with gaps between them, or of columns, unless it is plain. */
static bool make(input *in, kiln_dtype dtype, const int64_t *shape, bool is_plain)
{
    const bool is_across = !is_plain && draw(6) == 0;
    const int64_t item = (int64_t)kiln_dtype_size(dtype), gap = is_plain ? 0 : 4 * (int64_t)draw(4),
                  shift = is_plain ? 0 : item * (int64_t)draw(9);
    const int64_t step = (shape[is_across ? 0 : 1] + gap) * item;
    const int64_t stride[2] = {is_across ? item : step, is_across ? step : item};
    in->memory = malloc((size_t)(step * shape[is_across ? 1 : 0] + shift));
    in->value = malloc((size_t)(shape[0] * shape[1]) * sizeof *in->value);
    for (int64_t r = 0; r < shape[0]; ++r)
        for (int64_t c = 0; c < shape[1]; ++c)
            in->value[r * shape[1] + c] = store(in->memory + shift + r * stride[0] + c * stride[1], dtype);
    kiln_array_spec spec = KILN_ARRAY_SPEC_INIT;
    spec.dtype = dtype;
    spec.ndim = 2;
    spec.shape = shape;
    spec.strides = stride;
    spec.device = KILN_DEVICE_HOST;
    return kiln_array_wrap(&in->array, in->memory + shift, &spec, NULL, NULL) == KILN_OK;
}

static void drop(input *in)
{
    kiln_array_free(in->array);
    free(in->memory);
    free(in->value);
}

/* ---- what results should be ---- */

enum { OF_ELEMENTS, OF_ROWS, OF_COLUMNS };
enum { OPENED, CENTRED, SHIFTED, TEXTS };

static const struct {
    const char *text;
    int n_out, of[MOST_RESULTS];
} texts[TEXTS] = {
    [OPENED] = {"y = where(x > 0, d, 0); y, sum(y, axis=0)", 2, {OF_ELEMENTS, OF_COLUMNS}},
    [CENTRED] = {"m = mean(x * d, axis=-1, keepdims=True); (x - m) * d, sum(x * d, axis=0), max(d, axis=0)",
                 3,
                 {OF_ELEMENTS, OF_COLUMNS, OF_COLUMNS}},
    [SHIFTED] = {"q = sum(x, axis=-1); q, min(d - q[:, None] / 16 + 400, axis=0)", 2, {OF_ROWS, OF_COLUMNS}}};

/* The text's number for a row: its mean, its sum. */
static double of_row(int text, const double *x, const double *d, int64_t length)
{
    double sum = 0;
    for (int64_t c = 0; c < length; ++c)
        sum += text == CENTRED ? x[c] * d[c] : x[c];
    return text == CENTRED ? sum / (double)length : sum;
}

/* The element of the text's result j, or of what is combined for it. */
static double element(int text, int j, double x, double d, double row)
{
    if (text == OPENED)
        return x > 0 ? d : 0;
    if (text == SHIFTED)
        return j == 0 ? row : d - row / 16 + 400;
    return j == 0 ? (x - row) * d : j == 1 ? x * d : d;
}

static double combine(int text, int j, double a, double b)
{
    return text == CENTRED && j == 2 ? fmax(a, b) : text == SHIFTED ? fmin(a, b) : a + b;
}

static double read(const kiln_array *a, int64_t k)
{
    uint16_t half;
    uint32_t word;
    float f;
    memcpy(&half, (const char *)kiln_array_data(a) + 2 * k, sizeof half);
    if (kiln_array_dtype(a) == KILN_FLOAT16)
        return kn_half_to_double(half);
    word = (uint32_t)half << 16;
    if (kiln_array_dtype(a) == KILN_FLOAT32)
        memcpy(&word, (const char *)kiln_array_data(a) + 4 * k, sizeof word);
    memcpy(&f, &word, sizeof f);
    return (double)f;
}

/* Sums of so many terms are off by more, of what each may be. */
static bool is_near(const kiln_array *a, int64_t k, double expected, double terms)
{
    const double unit = kiln_array_dtype(a) == KILN_FLOAT32   ? 1e-6
                        : kiln_array_dtype(a) == KILN_FLOAT16 ? 1e-3
                                                              : 8e-3;
    return fabs(read(a, k) - expected) <= unit * (fabs(expected) + 4) + 1e-6 * terms;
}

static bool is_right(int text, int j, const kiln_array *out, const double *x, const double *d,
                     const int64_t *shape)
{
    const int64_t length = shape[1];
    double *column = calloc((size_t)length, sizeof *column);
    bool right = true;
    for (int64_t r = 0; r < shape[0]; ++r) {
        const double row = of_row(text, x + r * length, d + r * length, length);
        if (texts[text].of[j] == OF_ROWS)
            right = right && is_near(out, r, row, (double)length);
        for (int64_t c = 0; c < length; ++c) {
            const int64_t k = r * length + c;
            const double e = element(text, j, x[k], d[k], row);
            if (texts[text].of[j] == OF_ELEMENTS)
                right = right && is_near(out, k, e, (double)length);
            column[c] = r == 0 ? e : combine(text, j, column[c], e);
        }
    }
    for (int64_t c = 0; c < length && texts[text].of[j] == OF_COLUMNS; ++c)
        right = right && is_near(out, c, column[c], 4 * (double)shape[0]);
    free(column);
    return right;
}

/* ---- calls ---- */

/* True if one kernel has rows and columns. */
static bool has_strips(kiln_kernel *kernel, const kiln_arg *in, int n_out)
{
    char *line = NULL;
    bool has = kiln_kernel_explain(&line, kernel, NULL, n_out, in, INPUTS, NULL, "sm_90") == KILN_OK &&
               strstr(line, " schedule=\"row_strips\"");
    free(line);
    return has;
}

/* Plain cases have rows that occupy all threads; the first one is plain. */
static bool run(bool is_first)
{
    static const kiln_dtype dtypes[] = {KILN_FLOAT32, KILN_FLOAT16, KILN_BFLOAT16};
    const int text = (int)draw(TEXTS);
    const bool is_plain = is_first || draw(2) == 0;
    const kiln_dtype dtype = dtypes[draw(3)];
    int64_t length = SHORTEST + (is_plain ? 256 * (int64_t)draw(7) : 8 * (int64_t)draw(200));
    length += is_plain ? 0 : (int64_t)draw(2) * (int64_t)draw(8);
    const int64_t shape[2] = {LEAST / length + 1 + (int64_t)draw(40), length};
    kiln_kernel *kernel = NULL;
    kiln_array *out[MOST_RESULTS] = {NULL};
    input x = {0}, d = {0};
    bool right = make(&x, dtype, shape, is_plain) && make(&d, dtype, shape, is_plain) &&
                 kiln_expression_create(&kernel, "x, d", texts[text].text, NULL) == KILN_OK;
    bool strips = false;
    if (right) {
        const kiln_arg in[] = {kiln_arg_array(x.array), kiln_arg_array(d.array)};
        right = emulated_call("sm_90", kernel, out, texts[text].n_out, in, INPUTS, NULL) == KILN_OK;
        strips = right && has_strips(kernel, in, texts[text].n_out);
    }
    if (!right)
        fprintf(stderr, "FAILED: %s\n", kiln_error_message());
    if (right && is_plain && !strips)
        fprintf(stderr, "FAILED: rows and columns are read apart\n");
    for (int j = 0; j < texts[text].n_out && right; ++j)
        right = is_right(text, j, out[j], x.value, d.value, shape);
    right = right && (strips || !is_plain);
    printf("%s: %s of %s (%lld, %lld)%s\n", right ? "right" : "FAILED", texts[text].text,
           kiln_dtype_name(dtype), (long long)shape[0], (long long)shape[1], strips ? ", by strips" : "");
    for (int j = 0; j < MOST_RESULTS; ++j)
        kiln_array_free(out[j]);
    drop(&x);
    drop(&d);
    kiln_kernel_free(kernel);
    return right;
}

/* Where one reading serves both, and where it does not: nothing has the rows, or reads the same; terms have
 * another dtype, columns other axes, or another shape. */
static bool check_choice(void)
{
    static const struct {
        const char *text;
        int n_out;
        bool is_chosen;
    } chosen[] = {{"x + d, sum(x, axis=0)", 2, true},
                  {"x + d, max(x * d, axis=0, keepdims=True), min(x, axis=0)", 3, true},
                  {"x + d, sum(x, axis=(0, 1))", 2, false},
                  {"x + d, sum(x, axis=1)", 2, false},
                  {"x + d, var(x, axis=0)", 2, false},
                  {"x + d, sum(x > 0, axis=0)", 2, false},
                  {"x + d, sum(x[1:], axis=0)", 2, false},
                  {"sum(x, axis=0), sum(d, axis=0)", 2, false},
                  {"sum(x, axis=0), sum(d, axis=1)", 2, false},
                  {"sum(x * d, axis=0), sum(d, axis=1)", 2, true}};
    const int64_t shape[2] = {100, 1024};
    input x = {0}, d = {0};
    bool right = make(&x, KILN_FLOAT32, shape, true) && make(&d, KILN_FLOAT32, shape, true);
    for (size_t k = 0; k < sizeof chosen / sizeof chosen[0] && right; ++k) {
        const kiln_arg in[] = {kiln_arg_array(x.array), kiln_arg_array(d.array)};
        kiln_kernel *kernel = NULL;
        right = kiln_expression_create(&kernel, "x, d", chosen[k].text, NULL) == KILN_OK &&
                has_strips(kernel, in, chosen[k].n_out) == chosen[k].is_chosen;
        if (!right)
            fprintf(stderr, "FAILED: %s is computed %s\n", chosen[k].text,
                    chosen[k].is_chosen ? "apart" : "by strips");
        kiln_kernel_free(kernel);
    }
    drop(&x);
    drop(&d);
    return right;
}

int main(int argc, char **argv)
{
    setenv("KILN_KINDS", "-fewest", 0); /* kinds take few elements, too */
    long count = drawn_count(argc, argv, 6, 2), failed = 0;
    state = drawn_state(argc, argv);
    failed += !check_choice();
    for (long k = 0; k < count; ++k)
        failed += !run(k == 0);
    printf("%ld cases, %ld failed\n", count, failed);
    return failed || count < 1;
}
