/*
 * fused_picture.c - a chain of filters over a picture as one kernel: unsharp masking (a binomial blur of 3 by
 * 3 pixels from shifted views, and what the picture differs from it by), a tone curve that lifts the dark,
 * and back to bytes. Checked against plain C in double precision, and timed against the same operations one
 * after another.
 *
 *     example_fused_picture [PICTURE.npy [RESULT.ppm]]    uint8, (rows, columns, 3); default:
 *     hubble_deep_field.npy
 *
 * The picture beside this file is described in statistics.c.
 */
#include "unfused.h"

static const double strength = 0.4, tone = 0.75;

static const char expression[] = "x = p.astype(float32) / 255;"
                                 "h = x[:, :-2] + 2 * x[:, 1:-1] + x[:, 2:];"
                                 "blurred = (h[:-2] + 2 * h[1:-1] + h[2:]) / 16;"
                                 "c = x[1:-1, 1:-1];"
                                 "sharp = clip(c + strength * (c - blurred), 0, 1);"
                                 "(255 * sharp ** tone + 0.5).astype(uint8)";

/* ---- an operation after another ---- */

enum { P, STRENGTH, TONE, ZERO, HALF, ONE, TWO, SIXTEEN, ALL, GIVEN };
enum {
    FLOATS = GIVEN,
    X,
    LEFT,
    MIDDLE,
    RIGHT,
    TWICE,
    PAIR,
    H,
    ABOVE,
    AT,
    BELOW,
    TWICE_AT,
    UPPER,
    SUM,
    BLURRED,
    C,
    EDGE,
    STRONG,
    SHARP,
    CLIPPED,
    CURVED,
    LARGE,
    ROUNDED,
    BYTES
};
static const step steps[] = {
    {"to_float32", FLOATS, {P}, 1, false},
    {"divide", X, {FLOATS, ALL}, 2, false},
    {"[:, :-2]", LEFT, {X}, 1, false},
    {"[:, 1:-1]", MIDDLE, {X}, 1, false},
    {"[:, 2:]", RIGHT, {X}, 1, false},
    {"multiply", TWICE, {TWO, MIDDLE}, 2, false},
    {"add", PAIR, {LEFT, TWICE}, 2, false},
    {"add", H, {PAIR, RIGHT}, 2, false},
    {"[:-2]", ABOVE, {H}, 1, false},
    {"[1:-1]", AT, {H}, 1, false},
    {"[2:]", BELOW, {H}, 1, false},
    {"multiply", TWICE_AT, {TWO, AT}, 2, false},
    {"add", UPPER, {ABOVE, TWICE_AT}, 2, false},
    {"add", SUM, {UPPER, BELOW}, 2, false},
    {"divide", BLURRED, {SUM, SIXTEEN}, 2, false},
    {"[1:-1, 1:-1]", C, {X}, 1, false},
    {"subtract", EDGE, {C, BLURRED}, 2, false},
    {"multiply", STRONG, {STRENGTH, EDGE}, 2, false},
    {"add", SHARP, {C, STRONG}, 2, false},
    {"clip", CLIPPED, {SHARP, ZERO, ONE}, 3, false},
    {"power", CURVED, {CLIPPED, TONE}, 2, false},
    {"multiply", LARGE, {ALL, CURVED}, 2, false},
    {"add", ROUNDED, {LARGE, HALF}, 2, false},
    {"to_uint8", BYTES, {ROUNDED}, 1, false},
};

/* Casts have no operation: these two become some. */
static kiln_status register_casts(void)
{
    kiln_operation cast = KILN_OPERATION_INIT;
    cast.name = "to_float32";
    cast.in_params = "T x";
    cast.out_params = "U y";
    cast.types = "B->f";
    cast.map = "y = (U)x";
    kiln_status status = kiln_operation_register(&cast);
    cast.name = "to_uint8";
    cast.types = "f->B";
    return status == KILN_OK ? kiln_operation_register(&cast) : status;
}

/* ---- the picture ---- */

typedef struct picture {
    kiln_array *array;
    int64_t rows, columns;
    unsigned char *value; /* a copy on the host, three colours per pixel */
} picture;

static int read_picture(picture *p, const char *path)
{
    if (kiln_array_load_npy(&p->array, path, KILN_DEVICE_DEFAULT) != KILN_OK)
        return complain(path);
    const int64_t *shape = kiln_array_shape(p->array);
    if (kiln_array_dtype(p->array) != KILN_UINT8 || kiln_array_ndim(p->array) != 3 || shape[0] < 3 ||
        shape[1] < 3 || shape[2] != 3) {
        fprintf(stderr, "%s: uint8, rows and columns (three or more) of three colours were expected\n", path);
        return 1;
    }
    p->rows = shape[0];
    p->columns = shape[1];
    size_t size = kiln_array_nbytes(p->array);
    p->value = malloc(size);
    return p->value && kiln_array_to_host(p->array, p->value, size) == KILN_OK ? 0 : complain(path);
}

/* The result for one colour of one pixel, before rounding; row and column of the result. */
static double filtered_at(const picture *p, int64_t row, int64_t column, int colour)
{
    static const double weight[3] = {1, 2, 1};
    double blurred = 0, c = 0;
    for (int64_t i = 0; i < 3; i++)
        for (int64_t j = 0; j < 3; j++) {
            double x = p->value[((row + i) * p->columns + column + j) * 3 + colour] / 255.0;
            blurred += weight[i] * weight[j] * x / 16;
            c = i == 1 && j == 1 ? x : c;
        }
    return 255 * pow(fmin(fmax(c + strength * (c - blurred), 0), 1), tone);
}

/* The pixels that a way computes, which the caller frees; NULL if they are wrong. Rounding may go either way
 * if the exact value is in the middle; the tone curve is steep at 0, where 1e-7 is 0.02 of a step. */
static unsigned char *checked(const char *name, const picture *p, const way *w)
{
    int64_t rows = p->rows - 2, columns = p->columns - 2, count = rows * columns * 3, wrong = 0;
    unsigned char *got = result_of(w, count, 1);
    if (!got) {
        complain(name);
        return NULL;
    }
    for (int64_t k = 0; k < count; k++)
        wrong += !(fabs(got[k] - filtered_at(p, k / 3 / columns, k / 3 % columns, (int)(k % 3))) <= 0.55);
    printf("%-12s %lld of %lld bytes differ %s\n", name, (long long)wrong, (long long)count,
           wrong ? "(WRONG)" : "(good)");
    if (!wrong)
        return got;
    free(got);
    return NULL;
}

static int write_picture(const char *path, const unsigned char *pixels, int64_t rows, int64_t columns)
{
    FILE *file = fopen(path, "wb");
    if (!file) {
        perror(path);
        return 1;
    }
    fprintf(file, "P6\n%lld %lld\n255\n", (long long)columns, (long long)rows);
    fwrite(pixels, 3, (size_t)(rows * columns), file);
    if (fclose(file) != 0) {
        perror(path);
        return 1;
    }
    printf("the picture is in %s\n", path);
    return 0;
}

static int filter(const picture *p, const char *path)
{
    const kiln_arg in[GIVEN] = {
        [P] = kiln_arg_array(p->array), [STRENGTH] = kiln_arg_float(strength), [TONE] = kiln_arg_float(tone),
        [ZERO] = kiln_arg_float(0),     [HALF] = kiln_arg_float(0.5),          [ONE] = kiln_arg_float(1),
        [TWO] = kiln_arg_float(2),      [SIXTEEN] = kiln_arg_float(16),        [ALL] = kiln_arg_float(255)};
    way fused = {.run = run_fused, .device = KILN_DEVICE_DEFAULT, .n_in = 3, .in = in};
    way unfused = {.run = run_unfused,
                   .device = KILN_DEVICE_DEFAULT,
                   .steps = steps,
                   .n_steps = sizeof steps / sizeof *steps,
                   .n_in = GIVEN,
                   .in = in};
    if (kiln_expression_create(&fused.kernel, "p, strength, tone", expression, NULL) != KILN_OK)
        return complain("expression");
    unsigned char *one = checked("expression", p, &fused),
                  *many = one ? checked("operations", p, &unfused) : NULL;
    int failed = !one || !many;
    if (!failed && print_times("picture", &fused, &unfused) != KILN_OK)
        failed = complain("picture");
    failed = failed || write_picture(path, one, p->rows - 2, p->columns - 2);
    free(one);
    free(many);
    kiln_kernel_free(fused.kernel);
    return failed;
}

int main(int argc, char **argv)
{
    picture p = {NULL, 0, 0, NULL};
    int failed = read_picture(&p, argc > 1 ? argv[1] : "hubble_deep_field.npy");
    if (!failed && register_casts() != KILN_OK)
        failed = complain("casts");
    failed = failed || filter(&p, argc > 2 ? argv[2] : "hubble_deep_field.ppm");
    kiln_array_free(p.array);
    free(p.value);
    return failed;
}
