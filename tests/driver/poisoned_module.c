/* A raw module's row in the cache holds code that the driver has loaded. */
#include <kiln/kiln.h>

#include "store/build.h"
#include "cache/cache.h"
#include "fake_cuda.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

long fake_compiles(void); /* of the compiler of our own */

static char folder[256];

/* The compiler of our own wants to see the parameter that generated kernels have. */
static const char source[] = "struct kn_args {\n float *x;\n};\n"
                             "void mine(const __grid_constant__ kn_args a) {}\n";

static int set_up(void **state)
{
    (void)state;
    if (kn_os_make_temporary_folder(folder, sizeof folder) != KILN_OK)
        return 1;
    setenv("KILN_LIBCUDA", FAKE_LIBCUDA, 1);
    setenv("KILN_NVRTC", FAKE_LIBNVRTC, 1);
    setenv("KILN_CACHE_DIR", folder, 1);
    setenv("KILN_TARGET", "cuda:0", 1);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    kn_build_shutdown();
    kn_os_remove_folder(folder);
    return access(folder, F_OK) == 0;
}

/* Where a module that works came from, in a process that remembers nothing. */
static kiln_origin create(void)
{
    kiln_module *module = NULL;
    kiln_function *function = NULL;
    kiln_call_info info = KILN_CALL_INFO_INIT;
    kn_build_shutdown();
    if (kiln_module_create(&module, source, 0, NULL) != KILN_OK) {
        assert_null(module);
        return KILN_ORIGIN_NONE;
    }
    assert_int_equal(kiln_kernel_last_call(&info), KILN_OK);
    assert_int_equal(kiln_module_function(&function, module, "mine"), KILN_OK);
    kiln_module_free(module);
    return info.origin;
}

static bool spoil(const kiln_cache_entry *entry, void *user)
{
    const kn_blob nonsense = {(void *)"no kernel", 9};
    kn_cache_put(user, entry->what, strlen(entry->what), entry->compiler, &nonsense, NULL);
    return false;
}

static int entries(void)
{
    kiln_cache_stats s = KILN_CACHE_STATS_INIT;
    assert_int_equal(kiln_cache_get_stats(&s), KILN_OK);
    return (int)s.entries;
}

static void what_the_driver_refuses_is_not_stored(void **state)
{
    int loaded = fake_live(FAKE_MODULE);
    (void)state;
    fake_fail("cuModuleLoadDataEx", 1, 200);
    assert_int_equal(create(), KILN_ORIGIN_NONE);
    fake_fail(NULL, 0, 0);
    assert_int_equal(entries(), 0);
    assert_int_equal(create(), KILN_ORIGIN_COMPILER);
    assert_int_equal(create(), KILN_ORIGIN_DISK);
    assert_int_equal(fake_live(FAKE_MODULE), loaded);
}

/* Out of memory says nothing about the code. */
static void code_that_could_not_be_tried_is_stored(void **state)
{
    long before;
    kiln_module *module = NULL;
    (void)state;
    assert_int_equal(create(), KILN_ORIGIN_DISK);
    assert_int_equal(kiln_cache_clear(NULL), KILN_OK);
    kn_build_shutdown();
    before = fake_calls_of("cuModuleLoadDataEx");
    fake_fail("cuModuleLoadDataEx", 1, 2);
    assert_int_equal(kiln_module_create(&module, source, 0, NULL), KILN_OK); /* at the second attempt */
    fake_fail(NULL, 0, 0);
    assert_int_equal(fake_calls_of("cuModuleLoadDataEx") - before, 2);
    assert_int_equal(entries(), 0);
    kiln_module_free(module);
    assert_int_equal(create(), KILN_ORIGIN_COMPILER);
}

static void rows_that_do_not_load_are_made_anew(void **state)
{
    int loaded = fake_live(FAKE_MODULE);
    kn_cache *cache = kn_cache_create(folder, false);
    (void)state;
    assert_int_equal(kn_cache_visit(cache, spoil, cache), KILN_OK);
    kn_cache_free(cache);
    assert_int_equal(create(), KILN_ORIGIN_COMPILER);
    assert_int_equal(create(), KILN_ORIGIN_DISK);
    assert_int_equal(entries(), 1);
    assert_int_equal(fake_live(FAKE_MODULE), loaded);
}

/* Checks the origin of a module, and the numbers of loads and compiles. */
static void expect_effort(kiln_origin origin, int loads, int compiles)
{
    long loaded = fake_calls_of("cuModuleLoadDataEx"), compiled = fake_compiles();
    assert_int_equal(create(), origin);
    assert_int_equal(fake_calls_of("cuModuleLoadDataEx") - loaded, loads);
    assert_int_equal(fake_compiles() - compiled, compiles);
}

/* CUDA_ERROR_INVALID_IMAGE, NO_BINARY_FOR_GPU, INVALID_PTX, UNSUPPORTED_PTX_VERSION, INVALID_SOURCE. */
static const int refusals[] = {200, 209, 218, 222, 300};

/* The driver refuses what was right when it was stored (another driver, say): made anew, once, and what was
 * made takes its place. */
static void what_the_driver_refuses_is_made_anew_once(void **state)
{
    int loaded = fake_live(FAKE_MODULE);
    (void)state;
    for (size_t r = 0; r < sizeof refusals / sizeof *refusals; r++) {
        assert_int_equal(create(), KILN_ORIGIN_DISK);
        fake_fail("cuModuleLoadDataEx", 1, refusals[r]);
        expect_effort(KILN_ORIGIN_COMPILER, 2, 1);
        assert_string_equal(fake_failed_function(), "cuModuleLoadDataEx");
        expect_effort(KILN_ORIGIN_DISK, 1, 0);
        assert_int_equal(entries(), 1);
    }
    assert_int_equal(fake_live(FAKE_MODULE), loaded);
}

/* The row's code is nonsense, and what is made anew is refused as well: one error, and nobody tries on. */
static void what_is_refused_twice_is_an_error(void **state)
{
    kn_cache *cache = kn_cache_create(folder, false);
    (void)state;
    assert_int_equal(create(), KILN_ORIGIN_DISK);
    assert_int_equal(kn_cache_visit(cache, spoil, cache), KILN_OK);
    kn_cache_free(cache);
    fake_fail("cuModuleLoadDataEx", 2, 200);
    expect_effort(KILN_ORIGIN_NONE, 2, 1);
    fake_fail(NULL, 0, 0);
    assert_non_null(strstr(kiln_error_message(), "cuModuleLoadDataEx"));
    expect_effort(KILN_ORIGIN_COMPILER, 2, 1);
    expect_effort(KILN_ORIGIN_DISK, 1, 0);
    assert_int_equal(entries(), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_driver_refuses_is_not_stored),
        cmocka_unit_test(code_that_could_not_be_tried_is_stored),
        cmocka_unit_test(rows_that_do_not_load_are_made_anew),
        cmocka_unit_test(what_the_driver_refuses_is_made_anew_once),
        cmocka_unit_test(what_is_refused_twice_is_an_error),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
