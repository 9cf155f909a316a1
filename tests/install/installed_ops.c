/* installed_ops.c - <kiln/ops.h> from C11: each kind of function, with arrays and numbers, run and traced. */
#include <kiln/kiln.h>
#include <kiln/ops.h>
#include <stdio.h>
#include <string.h>

static int faults;

static void expect(kiln_status status, kiln_array *array, kiln_dtype dtype, int ndim, double value,
                   const char *what)
{
    double first = 0;
    float narrow = 0;
    bool is_there = status == KILN_OK && kiln_array_dtype(array) == dtype && kiln_array_ndim(array) == ndim;
    kiln_array *one = array;
    while (is_there && kiln_array_ndim(one) > 0 && status == KILN_OK) {
        kiln_array *part = NULL;
        status = kiln_array_select(&part, one, 0, -1);
        if (one != array)
            kiln_array_free(one);
        one = part;
    }
    if (is_there && status == KILN_OK)
        status = dtype == KILN_FLOAT32 ? kiln_array_to_host(one, &narrow, sizeof narrow)
                                       : kiln_array_to_host(one, &first, sizeof first);
    first = dtype == KILN_FLOAT32 ? (double)narrow : first;
    if (!is_there || status != KILN_OK || first != value) {
        fprintf(stderr, "%s: %s of %d axes, last element %g: %s\n", what,
                kiln_dtype_name(kiln_array_dtype(array)), kiln_array_ndim(array), first,
                status ? kiln_error_message() : "");
        faults++;
    }
    if (one != array)
        kiln_array_free(one);
    kiln_array_free(array);
}

/* The last element of what a call gives. */
#define EXPECT(dtype, ndim, value, name, ...)                                                                \
    do {                                                                                                     \
        kiln_array *given = NULL;                                                                            \
        kiln_status status = name(&given, __VA_ARGS__);                                                      \
        expect(status, given, dtype, ndim, value, #name);                                                    \
    } while (0)

int main(void)
{
    static const int64_t shape[] = {2, 3};
    static const int both[] = {0, 1};
    const kiln_axes rows = kiln_axis(-1, false), with_ones = kiln_axis(0, true), listed = {both, 2, 0, true},
                    none = {both, 0, 0, false}, all = {NULL, 0, 0, true};
    kiln_array *flat = NULL, *x = NULL;
    if (kiln_array_arange(&flat, 1, 7, 1, KILN_FLOAT32, KILN_DEVICE_DEFAULT) != KILN_OK ||
        kiln_array_reshape(&x, flat, 2, shape) != KILN_OK) {
        fprintf(stderr, "%s\n", kiln_error_message());
        return 1;
    }
    EXPECT(KILN_FLOAT32, 2, 12, kiln_add, x, x);
    EXPECT(KILN_FLOAT32, 2, -5, kiln_subtract, 1, x);
    EXPECT(KILN_FLOAT64, 2, 6.5, kiln_add, x, kiln_arg_float64(0.5));
    EXPECT(KILN_FLOAT32, 2, 36, kiln_square, x);
    EXPECT(KILN_FLOAT32, 2, 4, kiln_clip, x, 2, 4);
    EXPECT(KILN_FLOAT32, 0, 21, kiln_sum, x, NULL);
    EXPECT(KILN_FLOAT32, 1, 15, kiln_sum, x, &rows);
    EXPECT(KILN_FLOAT32, 2, 9, kiln_sum, x, &with_ones);
    EXPECT(KILN_FLOAT32, 2, 21, kiln_sum, x, &listed);
    EXPECT(KILN_FLOAT32, 2, 21, kiln_sum, x, &all);
    EXPECT(KILN_FLOAT32, 2, 6, kiln_sum, x, &none);
    EXPECT(KILN_FLOAT32, 1, 1, kiln_var_ddof, x, 1, &rows);
    EXPECT(KILN_FLOAT64, 0, 1.5, kiln_max, kiln_arg_float(1.5), NULL);
    kiln_array *both_parts[2] = {NULL, NULL};
    kiln_status status = kiln_divmod(both_parts, x, 4);
    expect(status, both_parts[0], KILN_FLOAT32, 2, 1, "kiln_divmod: quotients");
    expect(status, both_parts[1], KILN_FLOAT32, 2, 2, "kiln_divmod: remainders");
    KILN_IGNORE((kiln_add)(&flat, kiln_arg_array(x),
                           kiln_arg_array(NULL))); /* an output that is given, and an error */
    if (!strstr(kiln_error_message(), "add")) {
        fprintf(stderr, "%s\n", kiln_error_message());
        faults++;
    }
    kiln_array_free(flat);
    kiln_array_free(x);
    puts(faults ? "wrong" : "functions of operations");
    return faults != 0;
}
