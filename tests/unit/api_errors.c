/* Errors that public headers name and no other test provokes; tests/docs/check_errors.py says which. */
#include <kiln/kiln.h>

#include "base/os.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "each_allocation.h"
#include "ok.h"

#define MESSAGE_HAS(words)                                                                                   \
    do {                                                                                                     \
        if (!strstr(kiln_error_message(), words))                                                            \
            fail_msg("\"%s\" is not in \"%s\"", words, kiln_error_message());                                \
    } while (0)

static char folder[200];

static const char *in_folder(const char *name)
{
    static char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int make_folder(void **state)
{
    (void)state;
    return kn_os_make_temporary_folder(folder, sizeof folder) != KILN_OK ||
           setenv("KILN_CACHE_DIR", in_folder("cache"), 1) != 0 || setenv("KILN_TARGET", "host", 1) != 0;
}

static int remove_folder(void **state)
{
    (void)state;
    kn_os_remove_folder(folder);
    return 0;
}

static void write_bytes(const char *name, const void *bytes, size_t size)
{
    OK(kiln_file_write(in_folder(name), bytes, size, 0));
}

/* ---- files ---- */

/* A .npy file of four bytes; its size. */
static size_t npy(unsigned char out[200], const char *descr)
{
    int n =
        snprintf((char *)out + 10, 180, "{'descr': %s, 'fortran_order': False, 'shape': (1,), }\n", descr);
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (unsigned char)n;
    out[9] = 0;
    memset(out + 10 + n, 0, 4);
    return 10 + (size_t)n + 4;
}

static void npy_files(void **state)
{
    unsigned char bytes[200];
    kiln_array *a = NULL;
    size_t size = npy(bytes, "'|O'"), whole = 0;
    (void)state;
    write_bytes("objects.npy", bytes, size);
    assert_int_equal(kiln_array_load_npy(&a, in_folder("objects.npy"), KILN_DEVICE_HOST), KILN_ERROR_TYPE);
    assert_int_equal(kiln_array_load_npy(&a, folder, KILN_DEVICE_HOST), KILN_ERROR_IO);
    MESSAGE_HAS(folder);
    assert_int_equal(kiln_array_npy_size(&whole, bytes, size), KILN_ERROR_TYPE);
    assert_int_equal(kiln_array_npy_size(&whole, "neither this nor that", 21), KILN_ERROR_FORMAT);
    assert_int_equal(kiln_array_npy_size(&whole, bytes, 20), KILN_ERROR_FORMAT);
    assert_int_equal(kiln_array_npy_size(NULL, bytes, size), KILN_ERROR_INVALID);
    assert_int_equal(kiln_array_npy_size(&whole, NULL, size), KILN_ERROR_INVALID);
    assert_int_equal(whole, 0);
    size = npy(bytes, "[('width', '<f4')]");
    assert_int_equal(kiln_array_load_npy_bytes(&a, bytes, size, "height", KILN_DEVICE_HOST),
                     KILN_ERROR_NOT_FOUND);
    MESSAGE_HAS("width");
    assert_null(a);
    OK(kiln_array_load_npy_bytes(&a, bytes, size, "width", KILN_DEVICE_HOST));
    kiln_array_free(a);
}

static void pictures_and_folders(void **state)
{
    static const int64_t picture[] = {2, 3}, channels[] = {2, 3, 5};
    kiln_array *a = NULL, *doubles = NULL, *deep = NULL;
    (void)state;
    OK(kiln_array_zeros(&a, KILN_UINT8, 2, picture, KILN_DEVICE_HOST));
    OK(kiln_array_zeros(&doubles, KILN_FLOAT64, 2, picture, KILN_DEVICE_HOST));
    OK(kiln_array_zeros(&deep, KILN_UINT8, 3, channels, KILN_DEVICE_HOST));
    assert_int_equal(mkdir(in_folder("taken.pgm"), 0700), 0);
    assert_int_equal(kiln_array_save(a, in_folder("taken.pgm")), KILN_ERROR_IO);
    assert_int_equal(kiln_array_save(doubles, in_folder("x.pgm")), KILN_ERROR_TYPE);
    MESSAGE_HAS("float64");
    assert_int_equal(kiln_array_save(deep, in_folder("x.pgm")), KILN_ERROR_SHAPE);
    assert_int_equal(kiln_file_write(in_folder("taken.pgm"), "x", 1, 0), KILN_ERROR_IO);
    assert_int_not_equal(access(in_folder("x.pgm"), F_OK), 0);
    kiln_array_free(a);
    kiln_array_free(doubles);
    kiln_array_free(deep);
}

/* ---- definitions ---- */

static void definitions(void **state)
{
    kiln_kernel *kernel = NULL;
    kiln_operation d = {.struct_size = sizeof d,
                        .name = "halved",
                        .in_params = "T x",
                        .out_params = "T y",
                        .types = "f->f",
                        .map = "y = (x"};
    (void)state;
    assert_int_equal(kiln_operation_register(&d), KILN_ERROR_SYNTAX);
    assert_int_equal(kiln_expression_create(&kernel, "x", "x + (1", NULL), KILN_ERROR_SYNTAX);
    assert_int_equal(
        kiln_reduction_create(&kernel, "T kn_x", "T y", "kn_x", "a + b", "y = a", "0", "reserved", NULL),
        KILN_ERROR_INVALID);
    MESSAGE_HAS("kn_x");
    assert_null(kernel);
    assert_int_equal(kiln_bake_check_target("abacus"), KILN_ERROR_INVALID);
    MESSAGE_HAS("abacus");
}

/* ---- without memory ---- */

static void texts_and_traces_without_memory(void **state)
{
    static const int64_t shape[] = {3, 40};
    kiln_kernel *kernel = NULL;
    kiln_trace *trace = NULL;
    kiln_array *x = NULL, *y = NULL;
    (void)state;
    EACH_ALLOCATION(kiln_expression_create(&kernel, "x, y", "exp(x) / (1 + sum(y[::-1], axis=-1))", NULL),
                    KILN_ERROR_MEMORY, kiln_kernel_free(kernel));
    EACH_ALLOCATION(kiln_trace_begin(&trace, "traced"), KILN_ERROR_MEMORY, kiln_trace_free(trace));
    OK(kiln_trace_begin(&trace, "traced"));
    EACH_ALLOCATION(kiln_trace_input(&x, trace, NULL, KILN_FLOAT32, 2, shape), KILN_ERROR_MEMORY,
                    kiln_array_free(x));
    OK(kiln_trace_input(&x, trace, "last", KILN_FLOAT32, 2, shape));
    const kiln_arg in = kiln_arg_array(x);
    OK(kiln_operation_call(&y, 1, "exp", &in, 1, NULL));
    EACH_ALLOCATION(kiln_trace_end(&kernel, trace, &y, 1, NULL), KILN_ERROR_MEMORY, break);
    kiln_kernel_free(kernel);
    kiln_array_free(x);
    kiln_array_free(y);
    kiln_trace_free(trace);
}

static bool count_line(const kiln_record_line *line, void *user)
{
    (void)line;
    ++*(int *)user;
    return true;
}

static bool count_entry(const kiln_bundle_entry *entry, void *user)
{
    (void)entry;
    ++*(int *)user;
    return true;
}

/* A kernel, called once; *record the line of that call. */
static kiln_kernel *called_kernel(const char *body, char **record, kiln_status wanted)
{
    static const int64_t shape[] = {5};
    kiln_kernel *kernel = NULL;
    kiln_array *x = NULL, *y = NULL;
    OK(kiln_elementwise_create(&kernel, "T x", "T y", body, "told", NULL));
    OK(kiln_array_zeros(&x, KILN_FLOAT32, 1, shape, KILN_DEVICE_HOST));
    const kiln_arg in = kiln_arg_array(x);
    assert_int_equal(kiln_kernel_call(kernel, &y, 1, &in, 1, NULL), wanted);
    OK(kiln_kernel_record(record, kernel, NULL, 1, &in, 1, NULL));
    kiln_array_free(x);
    kiln_array_free(y);
    return kernel;
}

static void bundles_without_memory(void **state)
{
    char *record = NULL;
    void *bytes = NULL, *merged = NULL;
    size_t size = 0, merged_size = 0;
    uint64_t checked, damaged;
    int count = 0;
    (void)state;
    kiln_kernel_free(called_kernel("y = x + 1", &record, KILN_OK));
    OK(kiln_record_read(record, NULL, count_line, &count));
    if (count == 0)
        fail_msg("no line in: %s", record);
    EACH_ALLOCATION(kiln_record_read(record, NULL, count_line, &count), KILN_ERROR_MEMORY, (void)0);
    EACH_ALLOCATION(kiln_cache_verify(&checked, &damaged), KILN_ERROR_MEMORY, (void)0);
    EACH_ALLOCATION(kiln_cache_export(&bytes, &size), KILN_ERROR_MEMORY, kiln_free(bytes));
    OK(kiln_cache_export(&bytes, &size));
    count = 0;
    EACH_ALLOCATION(kiln_bundle_visit(bytes, size, count_entry, &count), KILN_ERROR_MEMORY, (void)0);
    assert_true(count > 0);
    const kiln_bytes one = {bytes, size};
    EACH_ALLOCATION(kiln_bundle_merge(&merged, &merged_size, &one, 1), KILN_ERROR_MEMORY, kiln_free(merged));
    write_bytes("a.bundle", bytes, size);
    EACH_ALLOCATION(kiln_bundle_attach(in_folder("a.bundle")), KILN_ERROR_MEMORY, (void)0);
    /* The first few: those behind them would compile each time. */
    for (unsigned long nth = 1; nth <= 3; nth++) {
        kn_alloc_fail_at(nth, 1);
        assert_int_equal(kiln_bake(&merged, &merged_size, record, "x86-64-v3", NULL), KILN_ERROR_MEMORY);
        kn_alloc_fail_at(0, 0);
    }
    free(record);
    kiln_free(bytes);
}

/* ---- bundles and compilers ---- */

static void what_is_no_bundle(void **state)
{
    int count = 0;
    (void)state;
    write_bytes("no.bundle", "neither this nor that", 21);
    assert_int_equal(kiln_bundle_attach(in_folder("no.bundle")), KILN_ERROR_FORMAT);
    assert_int_equal(kiln_bundle_visit("neither this nor that", 21, count_entry, &count), KILN_ERROR_FORMAT);
    assert_int_equal(count, 0);
}

static void what_does_not_compile(void **state)
{
    char *record = NULL;
    void *bytes = NULL;
    size_t size = 0;
    kiln_toolchain_info info = KILN_TOOLCHAIN_INFO_INIT;
    (void)state;
    kiln_kernel_free(called_kernel("y = no_such_name(x)", &record, KILN_ERROR_COMPILE));
    assert_int_equal(kiln_bake(&bytes, &size, record, "x86-64-v3", NULL), KILN_ERROR_COMPILE);
    assert_non_null(strstr(kiln_error_log(), "no_such_name"));
    free(record);
    assert_int_equal(kiln_toolchain_get_info("abacus", &info), KILN_ERROR_INVALID);
    MESSAGE_HAS("abacus");
}

/* Compilers are looked for once a process. */
static void in_child(void (*body)(void))
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        body();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

#define REQUIRE(condition)                                                                                   \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, kiln_error_message());        \
            _exit(1);                                                                                        \
        }                                                                                                    \
    } while (0)

static void look_without_compiler(void)
{
    kiln_toolchain_info info = KILN_TOOLCHAIN_INFO_INIT;
    setenv("KILN_CXX", "/nowhere/c++", 1);
    REQUIRE(kiln_toolchain_get_info("host", &info) == KILN_ERROR_NOT_FOUND);
    REQUIRE(strstr(kiln_error_message(), "/nowhere/c++"));
    const char *record = getenv("API_ERRORS_RECORD");
    void *bytes = NULL;
    size_t size = 0;
    REQUIRE(kiln_bake(&bytes, &size, record, "x86-64-v3", NULL) == KILN_ERROR_NOT_FOUND);
    REQUIRE(bytes == NULL);
}

static void write_record(void)
{
    char *record = NULL;
    kiln_kernel_free(called_kernel("y = x + 3", &record, KILN_OK));
    write_bytes("record", record, strlen(record));
}

static void without_compiler(void **state)
{
    char text[8192] = "";
    (void)state;
    in_child(write_record);
    FILE *file = fopen(in_folder("record"), "r");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    setenv("API_ERRORS_RECORD", text, 1);
    in_child(look_without_compiler);
}

static void look_at_broken_cache(void)
{
    void *bytes = NULL;
    size_t size = 0;
    setenv("KILN_CACHE_DIR", in_folder("broken"), 1);
    REQUIRE(kiln_cache_export(&bytes, &size) == KILN_ERROR_IO);
    REQUIRE(kiln_cache_verify(NULL, NULL) == KILN_ERROR_IO);
    REQUIRE(kiln_cache_flush() == KILN_ERROR_IO);
}

/* The cache's file is a folder. */
static void broken_cache(void **state)
{
    (void)state;
    assert_int_equal(mkdir(in_folder("broken"), 0700), 0);
    assert_int_equal(mkdir(in_folder("broken/kernels.sqlite"), 0700), 0);
    in_child(look_at_broken_cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_compiler), /* before any compiler was looked for */
        cmocka_unit_test(broken_cache),     /* before the cache was opened */
        cmocka_unit_test(npy_files),
        cmocka_unit_test(pictures_and_folders),
        cmocka_unit_test(definitions),
        cmocka_unit_test(texts_and_traces_without_memory),
        cmocka_unit_test(bundles_without_memory),
        cmocka_unit_test(what_is_no_bundle),
        cmocka_unit_test(what_does_not_compile),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
