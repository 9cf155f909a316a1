/* baked NAME...: calls operations on small arrays, and says what that took; 1 where anything was compiled.
 * baked COUNT: the first operations of the table that take float64, as a program calls them.
 * baked drawn COUNT NAME...: so many calls in layouts that are drawn.
 * baked arrays: arrays of float64 are made, copied, filled and converted to booleans, in layouts that are
 * drawn.
 * baked mixed: operations of float64 take booleans.
 * baked large: float32 is sorted by name, of a few elements and of many.
 * baked sorts COUNT: sorts by keys and selections by predicates that nobody has compiled; 1 where more than
 * maps of their texts was. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <kiln/kiln.h>

#include "drawn.h"

enum { MOST = 4 /* inputs, or results */ };

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* The inputs and results of the variant whose inputs are all float64, and its results these or booleans;
 * false: there is none. */
static int find_variant(int *n_in, int *n_out, const kiln_operation *operation)
{
    for (const char *at = operation->types; *at; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " "), inputs = strspn(at, "d");
        if (inputs > 0 && inputs <= MOST && at[inputs] == '-' && operation->map) {
            const size_t results = strspn(at + inputs + strlen("->"), "d?");
            *n_in = (int)inputs;
            *n_out = (int)results;
            return results <= MOST && inputs + strlen("->") + results == length;
        }
        at += length;
    }
    return 0;
}

static int find_operation(kiln_operation *out, int *n_in, int *n_out, const char *name)
{
    for (int k = 0; k < kiln_operation_count(); k++)
        if (kiln_operation_at(out, k) == KILN_OK && strcmp(out->name, name) == 0 &&
            find_variant(n_in, n_out, out))
            return 1;
    fprintf(stderr, "%s: no variant takes float64\n", name);
    return 0;
}

/* Prints the first result of four ones. */
static int call(const char *name, int n_in, int n_out)
{
    const int64_t shape = 4;
    const double ones[] = {1, 1, 1, 1};
    double values[4] = {0};
    kiln_array *x = NULL, *out[MOST] = {NULL};
    kiln_arg in[MOST];
    kiln_status status = kiln_array_from_host(&x, ones, KILN_FLOAT64, 1, &shape, KILN_DEVICE_DEFAULT);
    for (int k = 0; k < n_in; k++)
        in[k] = kiln_arg_array(x);
    if (status == KILN_OK)
        status = kiln_operation_call(out, n_out, name, in, n_in, NULL);
    if (status == KILN_OK)
        status = kiln_array_to_host(out[0], values, kiln_array_nbytes(out[0]));
    if (status == KILN_OK && kiln_array_dtype(out[0]) == KILN_FLOAT64)
        printf("%s %g\n", name, values[0]);
    else if (status != KILN_OK)
        fprintf(stderr, "%s: %s\n", name, kiln_error_message());
    kiln_array_free(x);
    for (int k = 0; k < n_out; k++)
        kiln_array_free(out[k]);
    return status == KILN_OK;
}

/* So many operations, as they stand in the table. */
static int call_first(int count)
{
    kiln_operation operation = KILN_OPERATION_INIT;
    char last[64] = "";
    int n_in, n_out, called = 0;
    for (int k = 0; k < kiln_operation_count() && called < count; k++) {
        if (kiln_operation_at(&operation, k) != KILN_OK)
            return 0;
        if (strcmp(operation.name, last) == 0 || !find_variant(&n_in, &n_out, &operation))
            continue;
        snprintf(last, sizeof last, "%s", operation.name);
        if (!call(last, n_in, n_out))
            return 0;
        called++;
    }
    return called == count;
}

/* ---- drawn layouts ---- */

static unsigned long long state;

static unsigned draw(unsigned below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % below;
}

/* An array in either order of its axes in memory, of neighbours or of every second element. */
static kiln_status make_array(kiln_array **out, int ndim, const int64_t *shape)
{
    const int64_t step = 1 + (int64_t)draw(2), item = (int64_t)sizeof(double);
    const int last = ndim > 0 ? (int)draw((unsigned)ndim) : 0;
    int64_t strides[2] = {step * item, step * item}, size = step;
    for (int a = 0; a < ndim; a++)
        size *= shape[a];
    if (ndim == 2)
        strides[1 - last] *= shape[last];
    kiln_array *whole = NULL;
    kiln_status status = kiln_array_zeros(&whole, KILN_FLOAT64, 1, &size, KILN_DEVICE_DEFAULT);
    if (status == KILN_OK)
        status = kiln_array_as_strided(out, whole, ndim, shape, strides);
    kiln_array_free(whole);
    return status;
}

static int call_drawn(const char *name, int n_in, int n_out, int is_reduction)
{
    static const int64_t extents[] = {1, 3, 8, 40, 1000};
    const int ndim = (int)draw(3), axis = ndim > 0 ? (int)draw((unsigned)ndim) : 0;
    const unsigned number = draw(2) ? draw((unsigned)n_in) : (unsigned)n_in; /* by value */
    const int64_t shape[] = {extents[draw(5)], extents[draw(5)]};
    kiln_array *x[MOST] = {NULL}, *out[MOST] = {NULL};
    kiln_arg in[MOST];
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    kiln_status status = KILN_OK;
    for (int k = 0; k < n_in && status == KILN_OK; k++) {
        if (n_in > 1 && number == (unsigned)k) {
            in[k] = kiln_arg_float(2);
            continue;
        }
        status = make_array(&x[k], ndim, shape);
        in[k] = kiln_arg_array(x[k]);
    }
    if (is_reduction && ndim > 0 && draw(3) > 0) {
        options.axes = &axis;
        options.n_axes = 1;
    }
    if (status == KILN_OK)
        status = kiln_operation_call(out, n_out, name, in, n_in, &options);
    if (status != KILN_OK)
        fprintf(stderr, "%s of %d axes, %lld and %lld: %s\n", name, ndim, (long long)shape[0],
                (long long)shape[1], kiln_error_message());
    for (int k = 0; k < MOST; k++) {
        kiln_array_free(x[k]);
        kiln_array_free(out[k]);
    }
    return status == KILN_OK;
}

static int call_all_drawn(int count, int n_names, char **names)
{
    state = drawn_seed();
    for (int k = 0; k < count; k++) {
        const char *name = names[draw((unsigned)n_names)];
        kiln_operation operation = KILN_OPERATION_INIT;
        int n_in, n_out;
        if (!find_operation(&operation, &n_in, &n_out, name) ||
            !call_drawn(name, n_in, n_out, operation.reduce != NULL))
            return 0;
    }
    return 1;
}

/* ---- arrays ---- */

static kiln_status change_array(kiln_array *x)
{
    const double three = 3;
    kiln_array *copy = NULL, *truth = NULL;
    bool differ[4] = {false};
    double first = 0;
    kiln_status status = kiln_array_fill(x, &three);
    if (status == KILN_OK)
        status = kiln_array_copy(&copy, x);
    if (status == KILN_OK)
        status = kiln_array_astype(&truth, copy, KILN_BOOL);
    if (status == KILN_OK && kiln_array_size(x) == 1) {
        status = kiln_array_to_host(copy, &first, sizeof first);
        if (status == KILN_OK)
            status = kiln_array_to_host(truth, differ, 1);
        printf("%g %d\n", first, differ[0]);
    }
    kiln_array_free(truth);
    kiln_array_free(copy);
    return status;
}

static int use_arrays(int count)
{
    static const int64_t extents[] = {1, 3, 8, 40, 300};
    kiln_array *range = NULL, *back = NULL;
    state = drawn_seed();
    kiln_status status = kiln_array_arange(&range, 0, 1000, 0.5, KILN_FLOAT64, KILN_DEVICE_DEFAULT);
    if (status == KILN_OK)
        status = kiln_array_astype(&back, range, KILN_BOOL);
    for (int k = 0; k < count && status == KILN_OK; k++) {
        const int64_t shape[] = {extents[draw(5)], extents[draw(5)]};
        kiln_array *x = NULL;
        status = make_array(&x, (int)draw(3), shape);
        if (status == KILN_OK)
            status = change_array(x);
        kiln_array_free(x);
    }
    if (status != KILN_OK)
        fprintf(stderr, "arrays: %s\n", kiln_error_message());
    kiln_array_free(back);
    kiln_array_free(range);
    return status == KILN_OK;
}

/* Sums of float64 and booleans, of which add has no variant. */
static int mix(void)
{
    const double twos[] = {2, 2, 2};
    const bool truths[] = {true, false, true};
    const int64_t shape = 3;
    double sums[2][3] = {{0}};
    kiln_call_options never = KILN_CALL_OPTIONS_INIT;
    kiln_array *x = NULL, *truth = NULL, *sum[2] = {NULL};
    kiln_status status = kiln_array_from_host(&x, twos, KILN_FLOAT64, 1, &shape, KILN_DEVICE_DEFAULT);
    if (status == KILN_OK)
        status = kiln_array_from_host(&truth, truths, KILN_BOOL, 1, &shape, KILN_DEVICE_DEFAULT);
    const kiln_arg in[] = {kiln_arg_array(x), kiln_arg_array(truth), kiln_arg_array(x)};
    for (int k = 0; k < 2 && status == KILN_OK; k++) {
        status = kiln_operation_call(&sum[k], 1, "add", in + k, 2, NULL);
        if (status == KILN_OK)
            status = kiln_array_to_host(sum[k], sums[k], sizeof sums[k]);
        kiln_array_free(sum[k]);
        sum[k] = NULL;
    }
    never.flags = KILN_CALL_NO_COMPILE; /* what converts might be compiled */
    if (status == KILN_OK && kiln_operation_call(&sum[0], 1, "add", in, 2, &never) != KILN_ERROR_FORBIDDEN)
        status = KILN_ERROR_INTERNAL;
    if (status != KILN_OK)
        fprintf(stderr, "mixed: %s\n", kiln_error_message());
    printf("%g %g %g %g\n", sums[0][0], sums[0][1], sums[1][1], sums[1][2]);
    kiln_array_free(truth);
    kiln_array_free(x);
    return status == KILN_OK;
}

/* ---- sorts and selections ---- */

/* One by one key or two, of either dtype, in either order; *maps: those of its texts. */
static int sort_drawn(int *maps)
{
    char text[2][64], name[32];
    const int n_keys = 1 + (int)draw(2), ndim = 1 + (int)draw(2), axis = (int)draw((unsigned)ndim);
    const int64_t shapes[2][2] = {{5000 + draw(5000)}, {2 + draw(20), 2000 + draw(2000)}};
    const kiln_dtype dtype = draw(2) ? KILN_FLOAT64 : KILN_BOOL;
    kiln_sort_key keys[2];
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    kiln_array *x = NULL, *out = NULL;
    kiln_kernel *kernel = NULL;
    for (int k = 0; k < n_keys; k++) {
        snprintf(text[k], sizeof text[k], "x * %u.5 < %u", draw(1u << 30), draw(1u << 30));
        keys[k] = (kiln_sort_key){text[k], draw(2) ? "bool" : "float64", draw(2) ? KILN_SORT_DESCENDING : 0};
    }
    snprintf(name, sizeof name, "by_%u", draw(1u << 30));
    options.axes = &axis;
    options.n_axes = 1;
    kiln_status status = kiln_array_zeros(&x, dtype, ndim, shapes[ndim - 1], KILN_DEVICE_DEFAULT);
    const kiln_arg in = kiln_arg_array(x);
    if (status == KILN_OK)
        status = kiln_sort_create(&kernel, "T x", "T y", keys, n_keys, "y = x", name, NULL);
    if (status == KILN_OK)
        status = kiln_kernel_call(kernel, &out, 1, &in, 1, &options);
    if (status != KILN_OK)
        fprintf(stderr, "%s of %d axes: %s\n", name, ndim, kiln_error_message());
    *maps += n_keys + 1;
    kiln_kernel_free(kernel);
    kiln_array_free(out);
    kiln_array_free(x);
    return status == KILN_OK;
}

static int select_drawn(int *maps)
{
    char text[64], name[32];
    const int ndim = 1 + (int)draw(2);
    const int64_t shapes[2][2] = {{1 + draw(5000)}, {1 + draw(20), 1 + draw(2000)}};
    kiln_array *x = NULL;
    kiln_kernel *kernel = NULL;
    snprintf(text, sizeof text, "x * %u.5 < %u", draw(1u << 30), draw(1u << 30));
    snprintf(name, sizeof name, "of_%u", draw(1u << 30));
    kiln_status status = make_array(&x, ndim, shapes[ndim - 1]);
    const kiln_arg in = kiln_arg_array(x);
    if (status == KILN_OK)
        status = kiln_select_create(&kernel, "T x", "T y, int64 at", text, "y = x; at = i", name, NULL);
    kiln_array *all[3] = {NULL};
    if (status == KILN_OK)
        status = kiln_kernel_call(kernel, all, 3, &in, 1, NULL);
    if (status != KILN_OK)
        fprintf(stderr, "%s of %d axes: %s\n", name, ndim, kiln_error_message());
    *maps += 2;
    for (int k = 0; k < 3; k++)
        kiln_array_free(all[k]);
    kiln_kernel_free(kernel);
    kiln_array_free(x);
    return status == KILN_OK;
}

/* Many elements have other tiles than few have. */
static int sort_large(void)
{
    static const int64_t sizes[] = {1 << 20, (1 << 23) + 5};
    kiln_status status = KILN_OK;
    for (int k = 0; k < 4 && status == KILN_OK; k++) {
        kiln_array *x = NULL, *out = NULL;
        status = kiln_array_zeros(&x, KILN_FLOAT32, 1, &sizes[k / 2], KILN_DEVICE_DEFAULT);
        if (status == KILN_OK)
            status = k % 2 ? kiln_argsort(&out, kiln_arg_array(x), -1, 0)
                           : kiln_sort(&out, kiln_arg_array(x), -1, 0);
        if (status != KILN_OK)
            fprintf(stderr, "a sort of %lld elements: %s\n", (long long)sizes[k / 2], kiln_error_message());
        kiln_array_free(out);
        kiln_array_free(x);
    }
    return status == KILN_OK;
}

static int sort_all_drawn(int *maps, int count)
{
    state = drawn_seed();
    for (int k = 0; k < count; k++)
        if (!(draw(2) ? sort_drawn : select_drawn)(maps))
            return 0;
    return 1;
}

int main(int argc, char **argv)
{
    double start = now_ms();
    const int is_drawn_mode = argc > 3 && strcmp(argv[1], "drawn") == 0;
    const int is_of_sorts = argc == 3 && strcmp(argv[1], "sorts") == 0;
    int maps = 0, n_in, n_out, count = argc == 2 ? atoi(argv[1]) : 0;
    kiln_operation operation = KILN_OPERATION_INIT;
    kiln_cache_stats stats = KILN_CACHE_STATS_INIT;
    if (count > 0 && !call_first(count))
        return 1;
    const int is_mixed = argc == 2 && strcmp(argv[1], "mixed") == 0;
    if (is_mixed && !mix())
        return 1;
    const int is_of_arrays = argc == 2 && strcmp(argv[1], "arrays") == 0;
    if (is_of_arrays && !use_arrays(40))
        return 1;
    if (is_drawn_mode && !call_all_drawn(atoi(argv[2]), argc - 3, argv + 3))
        return 1;
    if (is_of_sorts && !sort_all_drawn(&maps, atoi(argv[2])))
        return 1;
    const int is_large = argc == 2 && strcmp(argv[1], "large") == 0;
    if (is_large && !sort_large())
        return 1;
    const int has_mode = count > 0 || is_drawn_mode || is_of_arrays || is_mixed || is_of_sorts || is_large;
    for (int i = 1; i < argc && !has_mode; i++)
        if (!find_operation(&operation, &n_in, &n_out, argv[i]) || !call(argv[i], n_in, n_out))
            return 1;
    if (kiln_cache_get_stats(&stats) != KILN_OK)
        return 1;
    printf("compiled %llu, from bundles %llu of %llu bundles, %.1f ms\n", (unsigned long long)stats.compiles,
           (unsigned long long)stats.bundle_hits, (unsigned long long)stats.bundles, now_ms() - start);
    return stats.compiles != (unsigned)maps;
}
