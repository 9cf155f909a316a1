/*
 * views.c - indexing and views: slices, steps, single indices, transposes, shapes, broadcasting. No data
 * moves but where it says so.
 */
#include <kiln/kiln.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(kiln_status status)
{
    if (status == KILN_OK)
        return;
    fprintf(stderr, "%s: %s\n", kiln_status_name(status), kiln_error_message());
    exit(1);
}

/* Prints the array, compares it with what NumPy prints for it, and frees it. */
static void expect_and_free(kiln_array *array, const char *what, const char *expected)
{
    char *text = NULL;
    must(kiln_array_to_string(&text, array, NULL));
    printf("%s\n%s\n\n", what, text);
    if (strcmp(text, expected) != 0) {
        fprintf(stderr, "expected\n%s\n", expected);
        exit(1);
    }
    free(text);
    kiln_array_free(array);
}

/* x = numpy.arange(12).reshape(3, 4) */
static kiln_array *make_matrix(void)
{
    const int64_t shape[2] = {3, 4};
    kiln_array *flat = NULL, *x = NULL;
    must(kiln_array_arange(&flat, 0, 12, 1, KILN_INT32, KILN_DEVICE_DEFAULT));
    must(kiln_array_reshape(&x, flat, 2, shape));
    kiln_array_free(flat); /* x keeps the storage */
    return x;
}

static void show_indices(kiln_array *x)
{
    static const char *const rows[][2] = {
        {"1", "[4 5 6 7]"},     {"-1", "[ 8  9 10 11]"},  {"1:, ::2", "[[ 4  6]\n [ 8 10]]"},
        {"::-1, 0", "[8 4 0]"}, {"..., 3", "[ 3  7 11]"}, {"None, 0, :2", "[[0 1]]"},
        {"5:", "[]"},
    };
    char what[64];
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        kiln_array *view = NULL;
        must(kiln_array_index(&view, x, rows[k][0]));
        snprintf(what, sizeof what, "x[%s]", rows[k][0]);
        expect_and_free(view, what, rows[k][1]);
    }
}

static void show_shapes(kiln_array *x)
{
    const int64_t flat[1] = {-1}, cube[3] = {2, 2, 3}, wide[3] = {2, 1, 4};
    kiln_array *view = NULL, *row = NULL;
    must(kiln_array_transpose(&view, x, NULL));
    expect_and_free(view, "x.T", "[[ 0  4  8]\n [ 1  5  9]\n [ 2  6 10]\n [ 3  7 11]]");
    must(kiln_array_reshape(&view, x, 3, cube));
    expect_and_free(view, "x.reshape(2, 2, 3)",
                    "[[[ 0  1  2]\n  [ 3  4  5]]\n\n [[ 6  7  8]\n  [ 9 10 11]]]");
    must(kiln_array_reshape(&view, x, 1, flat));
    expect_and_free(view, "x.reshape(-1)", "[ 0  1  2  3  4  5  6  7  8  9 10 11]");
    must(kiln_array_index(&row, x, "2"));
    must(kiln_array_broadcast_to(&view, row, 3, wide));
    expect_and_free(view, "broadcast_to(x[2], (2, 1, 4))", "[[[ 8  9 10 11]]\n\n [[ 8  9 10 11]]]");
    must(kiln_array_expand_dims(&view, row, 1));
    expect_and_free(view, "expand_dims(x[2], 1)", "[[ 8]\n [ 9]\n [10]\n [11]]");
    kiln_array_free(row);
}

/* A view is a window on the same elements: writing through it changes x. */
static void show_sharing(kiln_array *x)
{
    const int32_t values[6] = {-1, -2, -3, -4, -5, -6};
    kiln_array *view = NULL, *copy = NULL;
    must(kiln_array_copy(&copy, x));
    must(kiln_array_index(&view, x, ":, 1:3"));
    must(kiln_array_set_from_host(view, values, sizeof values));
    kiln_array_free(view);
    expect_and_free(kiln_array_retain(x), "x after x[:, 1:3] = ...",
                    "[[ 0 -1 -2  3]\n [ 4 -3 -4  7]\n [ 8 -5 -6 11]]");
    expect_and_free(copy, "the copy made before", "[[ 0  1  2  3]\n [ 4  5  6  7]\n [ 8  9 10 11]]");
}

/* Kernels take views as they are, and write into them. */
static void show_kernels_on_views(kiln_array *x)
{
    kiln_kernel *swap = NULL;
    kiln_array *evens = NULL, *odds = NULL, *reversed = NULL, *out[2];
    must(kiln_elementwise_create(&swap, "T x, T y", "T a, T b", "a = y; b = x", "swap", NULL));
    must(kiln_array_index(&evens, x, ":, ::2"));
    must(kiln_array_index(&odds, x, ":, 1::2"));
    must(kiln_array_index(&reversed, odds, "::-1"));
    /* The outputs are the inputs: the call behaves as if the inputs had been copied first. */
    kiln_arg in[] = {kiln_arg_array(evens), kiln_arg_array(reversed)};
    out[0] = evens;
    out[1] = reversed;
    must(kiln_kernel_call(swap, out, 2, in, 2, NULL));
    expect_and_free(kiln_array_retain(x), "x after swapping columns 0 and 2 with 1 and 3 upside down",
                    "[[-5  8 11 -6]\n [-3  4  7 -4]\n [-1  0  3 -2]]");
    kiln_array_free(reversed);
    kiln_array_free(odds);
    kiln_array_free(evens);
    kiln_kernel_free(swap);
}

int main(void)
{
    kiln_array *x = make_matrix();
    show_indices(x);
    show_shapes(x);
    show_sharing(x);
    show_kernels_on_views(x);
    kiln_array_free(x);
    return 0;
}
