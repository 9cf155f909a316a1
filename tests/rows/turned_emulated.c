/* turned_emulated - reductions of two inputs that lie along different axes, as expressions, by the kernels
 * that a GPU would run: one of them is copied first. Against plain loops in double precision.
 *
 * usage: turned_emulated [COUNT [SEED]] */
#include "drawn.h"
#include "emulated.h"

#include <kiln/expression.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AXES = 3, SHORTEST = 32, LEAST = 1 << 18 };

static uint64_t state;

static uint64_t draw(uint64_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
}

typedef struct input {
    kiln_array *array;
    unsigned char *memory;
    int64_t stride[AXES]; /* in elements */
} input;

/* Axes in this order in memory, outermost first; with gaps, and beginning anywhere. */
static bool make(input *in, kiln_dtype dtype, const int64_t *shape, const int *order)
{
    int64_t item = (int64_t)kiln_dtype_size(dtype), run = 1, strides[AXES], shift = (int64_t)draw(3);
    for (int k = AXES; k-- > 0;) {
        in->stride[order[k]] = run;
        strides[order[k]] = run * item;
        run = run * shape[order[k]] + (k == AXES - 1 ? (int64_t)draw(2) : 0);
    }
    in->memory = malloc((size_t)((run + shift) * item));
    for (int64_t e = 0; e < run + shift; ++e) {
        float f = (float)draw(1000) / 1000;
        if (dtype == KILN_FLOAT32)
            memcpy(in->memory + e * item, &f, sizeof f);
        else
            in->memory[e] = (unsigned char)draw(2);
    }
    kiln_array_spec spec = KILN_ARRAY_SPEC_INIT;
    spec.dtype = dtype;
    spec.ndim = AXES;
    spec.shape = shape;
    spec.strides = strides;
    spec.device = KILN_DEVICE_HOST;
    return kiln_array_wrap(&in->array, in->memory + shift * item, &spec, NULL, NULL) == KILN_OK;
}

static double value_of(const input *in, const int64_t *at)
{
    int64_t e = 0;
    for (int a = 0; a < AXES; ++a)
        e += at[a] * in->stride[a];
    const char *data = kiln_array_data(in->array);
    float f = 0;
    if (kiln_array_dtype(in->array) != KILN_FLOAT32)
        return data[e];
    memcpy(&f, data + e * (int64_t)sizeof f, sizeof f);
    return (double)f;
}

/* Sums, so that each element counts. */
static bool is_right(const input *x, const input *y, const kiln_array *out, const int64_t *shape, int axis)
{
    const float *result = kiln_array_data(out);
    int one = axis == 0 ? 1 : 0, other = axis == 2 ? 1 : 2;
    int64_t at[AXES];
    for (at[one] = 0; at[one] < shape[one]; ++at[one])
        for (at[other] = 0; at[other] < shape[other]; ++at[other]) {
            double sum = 0;
            for (at[axis] = 0; at[axis] < shape[axis]; ++at[axis])
                sum += value_of(x, at) * value_of(y, at);
            if (fabs((double)*result++ - sum) > 1e-5 * (1 + sum))
                return false;
        }
    return true;
}

static bool run(void)
{
    const int64_t shape[AXES] = {SHORTEST + (int64_t)draw(40), LEAST / SHORTEST / SHORTEST + (int64_t)draw(9),
                                 SHORTEST + (int64_t)draw(70)};
    static const int plain[AXES] = {0, 1, 2}, orders[][AXES] = {{2, 1, 0}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}};
    const int *order = orders[draw(4)], axis = (int)draw(AXES);
    const bool is_mask = draw(3) == 0, is_first = draw(2) == 0;
    char text[80];
    kiln_kernel *kernel = NULL;
    kiln_array *out = NULL;
    input x = {0}, y = {0};
    snprintf(text, sizeof text, is_mask ? "sum(where(y, x, 0), axis=%d)" : "sum(x * y, axis=%d)", axis);
    bool right = make(&x, KILN_FLOAT32, shape, is_first && !is_mask ? order : plain) &&
                 make(&y, is_mask ? KILN_BOOL : KILN_FLOAT32, shape, is_first && !is_mask ? plain : order) &&
                 kiln_expression_create(&kernel, "x, y", text, NULL) == KILN_OK;
    if (right) {
        const kiln_arg in[] = {kiln_arg_array(x.array), kiln_arg_array(y.array)};
        right = emulated_call("sm_90", kernel, &out, 1, in, 2, NULL) == KILN_OK;
    }
    if (!right)
        fprintf(stderr, "FAILED: %s\n", kiln_error_message());
    else
        right = is_right(&x, &y, out, shape, axis);
    if (!right)
        fprintf(stderr, "FAILED: %s of (%lld, %lld, %lld), %d%d%d in memory, %d kernels\n", text,
                (long long)shape[0], (long long)shape[1], (long long)shape[2], order[0], order[1], order[2],
                emulated_steps);
    kiln_array_free(out);
    kiln_array_free(x.array);
    kiln_array_free(y.array);
    kiln_kernel_free(kernel);
    free(x.memory);
    free(y.memory);
    return right;
}

int main(int argc, char **argv)
{
    setenv("KILN_KINDS", "-fewest", 0); /* kinds take few elements, too */
    long count = drawn_count(argc, argv, 6, 2), failed = 0;
    state = drawn_state(argc, argv);
    for (long k = 0; k < count; ++k)
        failed += !run();
    printf("%ld cases, %ld failed\n", count, failed);
    return failed || count < 1;
}
