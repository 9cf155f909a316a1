#include "fault_flows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "store/build.h"
#include "base/os.h"
#include "eager/operation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char fault_folder[256];

static void in_folder(char *out, size_t size, const char *name)
{
    snprintf(out, size, "%s/%s", fault_folder, name);
}

int fault_set_up(void **state)
{
    char path[300];
    (void)state;
    unsetenv("TMPDIR");
    if (kn_os_make_temporary_folder(fault_folder, sizeof fault_folder) != KILN_OK)
        return 1;
    in_folder(path, sizeof path, "tmp");
    if (kn_os_make_folders(path, 0700) != KILN_OK)
        return 1;
    setenv("TMPDIR", path, 1);
    in_folder(path, sizeof path, "cache");
    setenv("KILN_CACHE_DIR", path, 1);
    setenv("KILN_TARGET", "host", 1);
    fault_forget();
    return 0;
}

/* Compiles that were killed leave folders in tmp. */
static void remove_all(const char *path)
{
    const char *argv[] = {"/bin/rm", "-rf", path, NULL};
    kn_str output = KN_STR_INIT;
    int code;
    kn_os_run(argv, NULL, &output, &code);
    kn_str_free(&output);
}

int fault_tear_down(void **state)
{
    (void)state;
    fault_forget();
    remove_all(fault_folder);
    return access(fault_folder, F_OK) == 0;
}

void fault_forget(void)
{
    kn_operations_forget();
    kn_build_shutdown();
}

void fault_empty_cache(void)
{
    char path[300];
    fault_forget();
    in_folder(path, sizeof path, "cache");
    remove_all(path);
}

/* ---- arrays ---- */

enum { ROWS = 3, COLUMNS = 40, SIZE = ROWS * COLUMNS };

/* 0, 1, 2, ... as ROWS x COLUMNS. */
static kiln_status make_matrix(kiln_array **out)
{
    static const int64_t shape[2] = {ROWS, COLUMNS};
    float data[SIZE];
    for (int i = 0; i < SIZE; i++)
        data[i] = (float)i;
    return kiln_array_from_host(out, data, KILN_FLOAT32, 2, shape, KILN_DEVICE_HOST);
}

static kiln_status expect(kiln_array *array, float (*value)(int row, int column))
{
    float data[SIZE];
    kiln_status status = kiln_array_to_host(array, data, sizeof data);
    for (int i = 0; i < SIZE && status == KILN_OK; i++)
        if (data[i] != value(i / COLUMNS, i % COLUMNS))
            fail_msg("element %d is %g, not %g", i, (double)data[i], (double)value(i / COLUMNS, i % COLUMNS));
    return status;
}

static float count(int row, int column)
{
    return (float)(row * COLUMNS + column);
}

static float count_reversed(int row, int column)
{
    return (float)(row * COLUMNS + COLUMNS - 1 - column);
}

static kiln_status view_arrays(void)
{
    static const int64_t flat[1] = {SIZE}, again[2] = {ROWS, -1};
    kiln_array *x = NULL, *reversed = NULL, *copy = NULL, *transposed = NULL, *line = NULL, *back = NULL;
    kiln_status status = make_matrix(&x);
    if (status == KILN_OK)
        status = kiln_array_index(&reversed, x, ":, ::-1");
    if (status == KILN_OK)
        status = kiln_array_copy(&copy, reversed);
    if (status == KILN_OK)
        status = expect(copy, count_reversed);
    if (status == KILN_OK)
        status = kiln_array_transpose(&transposed, copy, NULL);
    if (status == KILN_OK)
        status = kiln_array_reshape(&line, x, 1, flat);
    if (status == KILN_OK)
        status = kiln_array_reshape(&back, line, 2, again);
    if (status == KILN_OK)
        status = expect(back, count);
    kiln_array_free(x);
    kiln_array_free(reversed);
    kiln_array_free(copy);
    kiln_array_free(transposed);
    kiln_array_free(line);
    kiln_array_free(back);
    return status;
}

static kiln_status file_arrays(void)
{
    char path[300];
    kiln_array *x = NULL, *reversed = NULL, *loaded = NULL;
    char *text = NULL;
    kiln_status status = make_matrix(&x);
    in_folder(path, sizeof path, "x.npy");
    if (status == KILN_OK)
        status = kiln_array_index(&reversed, x, ":, ::-1");
    if (status == KILN_OK)
        status = kiln_array_save_npy(reversed, path);
    if (status == KILN_OK)
        status = kiln_array_load_npy(&loaded, path, KILN_DEVICE_HOST);
    if (status == KILN_OK)
        status = expect(loaded, count_reversed);
    if (status == KILN_OK)
        status = kiln_array_to_string(&text, reversed, NULL);
    if (status == KILN_OK)
        assert_non_null(strstr(text, "39."));
    free(text);
    kiln_array_free(x);
    kiln_array_free(reversed);
    kiln_array_free(loaded);
    unlink(path);
    return status;
}

/* By their suffixes, in files and in memory. */
static kiln_status named_files(void)
{
    char path[300];
    void *bytes = NULL;
    size_t size = 0;
    kiln_array *x = NULL, *loaded = NULL, *small = NULL, *again = NULL;
    kiln_status status = make_matrix(&x);
    in_folder(path, sizeof path, "x.pfm");
    if (status == KILN_OK)
        status = kiln_array_save(x, path);
    if (status == KILN_OK)
        status = kiln_array_load(&loaded, path, KILN_DEVICE_HOST);
    if (status == KILN_OK)
        status = expect(loaded, count);
    if (status == KILN_OK)
        status = kiln_array_zeros(&small, KILN_UINT16, KILN_SHAPE(4, 5), KILN_DEVICE_HOST);
    if (status == KILN_OK)
        status = kiln_array_save_bytes(&bytes, &size, small, ".pgm");
    if (status == KILN_OK)
        status = kiln_array_load_bytes(&again, bytes, size, KILN_DEVICE_HOST);
    if (status == KILN_OK)
        assert_int_equal(kiln_array_dtype(again), KILN_UINT16);
    kiln_free(bytes);
    kiln_array_free(x);
    kiln_array_free(loaded);
    kiln_array_free(small);
    kiln_array_free(again);
    unlink(path);
    return status;
}

/* ---- kernels ---- */

static kiln_status make_kernel(kiln_kernel **out)
{
    return kiln_elementwise_create(out, "T x, T y, float32 s", "T z, bool hit",
                                   "z = (x + y) * s; hit = z > 50", "fault", NULL);
}

static float sum(int row, int column)
{
    return (count(row, column) + count_reversed(0, column)) * 0.5f;
}

static kiln_status expect_hits(kiln_array *hit)
{
    unsigned char data[SIZE];
    kiln_status status = kiln_array_to_host(hit, data, sizeof data);
    for (int i = 0; i < SIZE && status == KILN_OK; i++)
        assert_int_equal(data[i], sum(i / COLUMNS, i % COLUMNS) > 50);
    return status;
}

/* A row that is read backwards and broadcast, outputs that the call allocates. */
static kiln_status call_kernel(void)
{
    kiln_kernel *kernel = NULL;
    kiln_array *x = NULL, *row = NULL, *out[2] = {NULL, NULL};
    kiln_status status = make_kernel(&kernel);
    if (status == KILN_OK)
        status = make_matrix(&x);
    if (status == KILN_OK)
        status = kiln_array_index(&row, x, "0, ::-1");
    if (status == KILN_OK) {
        kiln_arg in[] = {kiln_arg_array(x), kiln_arg_array(row), kiln_arg_float(0.5)};
        status = kiln_kernel_call(kernel, out, 2, in, 3, NULL);
        assert_true((status == KILN_OK) == (out[0] != NULL));
        assert_true((status == KILN_OK) == (out[1] != NULL));
    }
    if (status == KILN_OK)
        status = expect(out[0], sum);
    if (status == KILN_OK)
        status = expect_hits(out[1]);
    kiln_array_free(out[0]);
    kiln_array_free(out[1]);
    kiln_array_free(row);
    kiln_array_free(x);
    kiln_kernel_free(kernel);
    return status;
}

/* The output is the input backwards: the call has to copy first. A call that failed has not touched it. */
static kiln_status call_in_place(void)
{
    kiln_kernel *kernel = NULL;
    kiln_array *x = NULL, *reversed = NULL;
    kiln_status status = kiln_elementwise_create(&kernel, "T x", "T z", "z = x", "mirror", NULL);
    if (status == KILN_OK)
        status = make_matrix(&x);
    if (status == KILN_OK)
        status = kiln_array_index(&reversed, x, ":, ::-1");
    if (status == KILN_OK) {
        kiln_arg in[] = {kiln_arg_array(reversed)};
        kiln_status called = kiln_kernel_call(kernel, &x, 1, in, 1, NULL);
        status = expect(x, called == KILN_OK ? count_reversed : count);
        if (called != KILN_OK)
            status = called;
    }
    kiln_array_free(reversed);
    kiln_array_free(x);
    kiln_kernel_free(kernel);
    return status;
}

static kiln_status look_at_kernel(void)
{
    kiln_kernel *kernel = NULL;
    kiln_array *x = NULL;
    char *source = NULL, *line = NULL, *launches = NULL;
    kiln_status status = make_kernel(&kernel);
    if (status == KILN_OK)
        status = make_matrix(&x);
    if (status == KILN_OK) {
        kiln_arg in[] = {kiln_arg_array(x), kiln_arg_array(x), kiln_arg_float(0.5)};
        status = kiln_kernel_source(&source, kernel, NULL, 2, in, 3, NULL, "sm_90");
        if (status == KILN_OK)
            status = kiln_kernel_explain(&line, kernel, NULL, 2, in, 3, NULL, NULL);
        if (status == KILN_OK)
            status = kiln_kernel_launches(&launches, kernel, NULL, 2, in, 3, NULL, "sm_90");
        if (status == KILN_OK)
            status = kiln_kernel_prepare(kernel, NULL, 2, in, 3, NULL, NULL);
    }
    if (status == KILN_OK) {
        assert_non_null(strstr(source, "(x + y) * s"));
        assert_non_null(strstr(line, "host:"));
        assert_non_null(strstr(launches, "grid="));
    }
    free(source);
    free(line);
    free(launches);
    kiln_array_free(x);
    kiln_kernel_free(kernel);
    return status;
}

/* Maps are fused with the steps of an algorithm where elements are many; an array of one, repeated. */
static kiln_status fuse_maps(void)
{
    static const int64_t many = 1 << 20, one = 1, none = 0;
    kiln_kernel *kernel = NULL;
    kiln_array *x = NULL, *all = NULL;
    char *line = NULL;
    kiln_call_options best = KILN_CALL_OPTIONS_INIT; /* quick sorts are other steps */
    best.flags = KILN_CALL_BEST;
    kiln_status status = kiln_expression_create(&kernel, "x, t", "sort(x * t), x[x + 1 > t]", NULL);
    if (status == KILN_OK)
        status = kiln_array_zeros(&x, KILN_FLOAT32, 1, &one, KILN_DEVICE_HOST);
    if (status == KILN_OK)
        status = kiln_array_as_strided(&all, x, 1, &many, &none);
    if (status == KILN_OK) {
        kiln_arg in[] = {kiln_arg_array(all), kiln_arg_float(0.5)};
        status = kiln_kernel_explain(&line, kernel, NULL, 2, in, 2, &best, "sm_90");
    }
    if (status == KILN_OK)
        assert_non_null(strstr(line, "which computes"));
    free(line);
    kiln_array_free(all);
    kiln_array_free(x);
    kiln_kernel_free(kernel);
    return status;
}

/* A definition of its own each time; nothing to compute, and so nothing to compile. */
static kiln_status use_operations(void)
{
    static const int64_t nothing = 0;
    static int number;
    const kiln_dtype in_dtype = KILN_INT16;
    char name[40];
    kiln_kernel *kernel = NULL;
    kiln_array *x = NULL, *y = NULL;
    int before = kiln_operation_count();
    snprintf(name, sizeof name, "fault_%d", number++);
    const kiln_operation d = {.struct_size = sizeof d,
                              .name = name,
                              .in_params = "T x",
                              .out_params = "U y",
                              .types = "f->f l->d",
                              .map = "y = x",
                              .preamble = "typedef T own;"};
    kiln_status status = kiln_operation_register(&d);
    assert_int_equal(kiln_operation_count(), before + (status == KILN_OK));
    if (status == KILN_OK)
        status = kiln_operation_kernel(&kernel, name, &in_dtype, 1);
    if (status == KILN_OK)
        assert_string_equal(kiln_kernel_name(kernel), name);
    if (status == KILN_OK)
        status = kiln_array_zeros(&x, KILN_INT32, 1, &nothing, KILN_DEVICE_HOST);
    if (status == KILN_OK) {
        kiln_arg in = kiln_arg_array(x);
        status = kiln_operation_call(&y, 1, name, &in, 1, NULL);
    }
    if (status == KILN_OK)
        assert_int_equal(kiln_array_dtype(y), KILN_FLOAT64);
    kiln_array_free(x);
    kiln_array_free(y);
    return status;
}

/* The right error, or the one of what failed on the way to it. */
static kiln_status wanted(kiln_status status, kiln_status right)
{
    if (status == KILN_OK)
        fail_msg("%s was expected", kiln_status_name(right));
    if (status == right)
        assert_true(strlen(kiln_error_message()) > 0);
    return status == right ? KILN_OK : status;
}

static kiln_status make_mistakes(void)
{
    static const int64_t shape[1] = {7};
    kiln_kernel *kernel = NULL;
    kiln_array *x = NULL, *seven = NULL, *out[2] = {NULL, NULL};
    kiln_status status = wanted(kiln_elementwise_create(&kernel, "T x,, T y", "T z", "z = x", "fault", NULL),
                                KILN_ERROR_SYNTAX);
    assert_null(kernel);
    if (status == KILN_OK)
        status = make_kernel(&kernel);
    if (status == KILN_OK)
        status = make_matrix(&x);
    if (status == KILN_OK)
        status = kiln_array_zeros(&seven, KILN_FLOAT32, 1, shape, KILN_DEVICE_HOST);
    if (status == KILN_OK) {
        kiln_arg in[] = {kiln_arg_array(x), kiln_arg_array(seven), kiln_arg_float(0.5)};
        status = wanted(kiln_kernel_call(kernel, out, 2, in, 3, NULL), KILN_ERROR_SHAPE);
    }
    assert_null(out[0]);
    kiln_array_free(seven);
    kiln_array_free(x);
    kiln_kernel_free(kernel);
    return status;
}

/* A text that the compiler refuses is never cached. */
static kiln_status compile_nonsense(void)
{
    kiln_kernel *kernel = NULL;
    kiln_array *x = NULL, *out = NULL;
    kiln_status status =
        kiln_elementwise_create(&kernel, "T x", "T z", "z = no_such_name(x)", "nonsense", NULL);
    if (status == KILN_OK)
        status = make_matrix(&x);
    if (status == KILN_OK) {
        kiln_arg in[] = {kiln_arg_array(x)};
        status = wanted(kiln_kernel_call(kernel, &out, 1, in, 1, NULL), KILN_ERROR_COMPILE);
    }
    assert_null(out);
    kiln_array_free(x);
    kiln_kernel_free(kernel);
    return status;
}

static bool count_entry(const kiln_cache_entry *entry, void *user)
{
    ++*(int *)user;
    return entry->what != NULL;
}

static kiln_status look_at_cache(void)
{
    kiln_cache_stats stats = KILN_CACHE_STATS_INIT;
    char path[300];
    int entries = 0;
    kiln_status status = kiln_cache_path(path, sizeof path);
    if (status == KILN_OK)
        status = kiln_cache_get_stats(&stats);
    if (status == KILN_OK)
        status = kiln_cache_list(count_entry, &entries);
    return status;
}

/* Times of calls, with outputs that are given back; nothing is written where it fails. */
static kiln_status time_kernel(void)
{
    kiln_kernel *kernel = NULL;
    kiln_array *x = NULL, *row = NULL;
    kiln_benchmark times = KILN_BENCHMARK_INIT;
    kiln_benchmark_options options = KILN_BENCHMARK_OPTIONS_INIT;
    options.calls = options.warm_up = 1;
    kiln_status status = make_kernel(&kernel);
    if (status == KILN_OK)
        status = make_matrix(&x);
    if (status == KILN_OK)
        status = kiln_array_index(&row, x, "0, ::-1");
    if (status == KILN_OK) {
        const kiln_arg in[] = {kiln_arg_array(x), kiln_arg_array(row), kiln_arg_float(0.5)};
        status = kiln_kernel_benchmark(&times, kernel, NULL, 2, in, 3, NULL, &options);
        assert_int_equal(times.calls, status == KILN_OK ? 1 : 0);
    }
    kiln_array_free(x);
    kiln_array_free(row);
    kiln_kernel_free(kernel);
    return status;
}

const fault_flow fault_flows[] = {
    {"view_arrays", view_arrays, false},          {"file_arrays", file_arrays, false},
    {"call_kernel", call_kernel, true},           {"call_in_place", call_in_place, true},
    {"look_at_kernel", look_at_kernel, true},     {"make_mistakes", make_mistakes, false},
    {"compile_nonsense", compile_nonsense, true}, {"look_at_cache", look_at_cache, false},
    {"use_operations", use_operations, false},    {"named_files", named_files, false},
    {"time_kernel", time_kernel, true},           {"fuse_maps", fuse_maps, false},
};
const int fault_flow_count = sizeof fault_flows / sizeof *fault_flows;
