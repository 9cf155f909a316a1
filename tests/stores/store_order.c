/* Stores more in the list, added by new files and a line each: they are asked in their turn, what it has is
 * used and what is no good in it is not, whatever else the next stores have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <kiln/kiln.h>

#include "base/error.h"
#include "store/build.h"
#include "store/build_state.h"
#include "host_function.h"
#include "toy_store.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[256];

static int set_up(void **state)
{
    (void)state;
    if (kn_os_make_temporary_folder(folder, sizeof folder) != KILN_OK)
        return 1;
    kn_build_shutdown();
    setenv("KILN_CACHE_DIR", folder, 1);
    unsetenv("KILN_CACHE");
    unsetenv("KILN_COMPILE");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    kn_build_shutdown();
    toy_store_empty(&toy_bundle);
    toy_store_empty(&toy_remote);
    kn_os_remove_folder(folder);
    return access(folder, F_OK) == 0;
}

/* ---- functions that add a number, which their key does not tell ---- */

static char what[128];
static int which;    /* of several keys */
static int compiled; /* times that the source was written */

static kiln_status write_adder(kn_str *source, kn_compile_request *compile, const kn_compile_job *job)
{
    const int *addend = job->spec;
    (void)compile;
    compiled++;
    kn_str_printf(source,
                  "extern \"C\" __attribute__((visibility(\"default\"))) void kiln_%s(const void *args, "
                  "long long, long long)\n{ **(int *const *)args += %d; }\n",
                  *addend ? "adder" : "other", *addend);
    return KILN_OK;
}

static kn_compile_job adder(const int *addend)
{
    kn_compile_job s = {.name = "adder", .entry = "kiln_adder", .write = write_adder, .spec = addend};
    char target[48];
    kn_target_host(&s.target);
    kn_target_format(&s.target, target, sizeof target);
    snprintf(what, sizeof what, "adder %d for target=\"%s\"", which, target);
    s.what = (kn_str){.data = what, .length = strlen(what)};
    return s;
}

/* The number that the found function adds; a compiler would make one that adds `made`. */
static int find(int made, kiln_origin expected)
{
    const kn_compile_job job = adder(&made);
    const kn_build_request request = {.job = &job};
    kn_build_info info = {0};
    kn_function *function = NULL;
    if (kn_build_function(&function, &request, host(), &info) != KILN_OK)
        fail_msg("%s", kiln_error_message());
    assert_int_equal(info.origin, expected);
    return run_on_host(function, 0);
}

/* The code of one that adds so much; 0: that lacks the entry. Nothing keeps it. */
static kn_blob code_of(int addend)
{
    const kn_compile_job job = adder(&addend);
    const kn_build_request request = {.job = &job};
    kn_blob code = KN_BLOB_INIT;
    kn_build_shutdown();
    setenv("KILN_CACHE", "off", 1);
    assert_int_equal(kn_build_code(&code, &request, NULL), KILN_OK);
    unsetenv("KILN_CACHE");
    kn_build_shutdown();
    compiled = 0;
    atomic_store(&toy_bundle.asked, 0);
    atomic_store(&toy_remote.asked, 0);
    return code;
}

static void bundle(const kn_blob *code, const char *dependencies)
{
    toy_store_empty(&toy_bundle);
    toy_store_add(&toy_bundle, what, code->data, code->size, dependencies);
}

static kiln_cache_stats stats(void)
{
    kiln_cache_stats s = KILN_CACHE_STATS_INIT;
    assert_int_equal(kiln_cache_get_stats(&s), KILN_OK);
    return s;
}

/* Puts one that adds 1 into the cache; the next who asks is as a new process. */
static void fill_cache(void)
{
    kn_blob none = code_of(1);
    kn_blob_free(&none);
    toy_store_empty(&toy_bundle);
    assert_int_equal(find(1, KILN_ORIGIN_COMPILER), 1);
    assert_int_equal(stats().entries, 1);
    kn_build_shutdown();
    compiled = 0;
}

/* ---- the order ---- */

static void it_is_asked_in_its_turn(void **state)
{
    kn_blob two = code_of(2);
    (void)state;
    fill_cache();
    bundle(&two, "");
    assert_int_equal(find(3, KILN_ORIGIN_DISK), 2); /* before the cache, which has one that adds 1 */
    assert_int_equal(find(3, KILN_ORIGIN_MEMORY), 2);
    assert_int_equal(atomic_load(&toy_bundle.asked), 1); /* after the memory */
    assert_int_equal(stats().disk_hits, 1);
    assert_int_equal(stats().memory_hits, 1);
    assert_int_equal(stats().misses + stats().compiles, 0);
    assert_int_equal(stats().entries, 1); /* what is bundled is not copied */
    toy_store_empty(&toy_bundle);
    kn_build_shutdown();
    assert_int_equal(find(3, KILN_ORIGIN_DISK), 1);
    assert_int_equal(atomic_load(&toy_bundle.asked), 1);
    assert_int_equal(compiled, 0);
    kn_blob_free(&two);
}

/* One of each in a process: those of the disk are counted together. */
static void hits_are_counted_by_origin(void **state)
{
    kn_blob two = code_of(2);
    (void)state;
    fill_cache();
    which = 1;
    adder(&(int){0});
    bundle(&two, "");
    assert_int_equal(find(3, KILN_ORIGIN_DISK), 2);
    which = 2;
    assert_int_equal(find(3, KILN_ORIGIN_COMPILER), 3);
    which = 0;
    assert_int_equal(find(3, KILN_ORIGIN_DISK), 1);
    assert_int_equal(find(3, KILN_ORIGIN_MEMORY), 1);
    assert_int_equal(stats().disk_hits, 2);
    assert_int_equal(stats().compiles, 1);
    assert_int_equal(stats().misses, 1);
    assert_int_equal(stats().memory_hits, 1);
    assert_true(stats().compile_ms > 0);
    kn_blob_free(&two);
}

static void what_is_made_goes_into_the_cache(void **state)
{
    (void)state;
    assert_int_equal(find(3, KILN_ORIGIN_COMPILER), 3);
    assert_int_equal(atomic_load(&toy_bundle.asked), 1); /* only stores that can be locked are asked again */
    assert_int_equal(stats().misses, 1);
    kn_build_shutdown();
    assert_int_equal(find(4, KILN_ORIGIN_DISK), 3);
}

static void it_serves_where_nothing_is_compiled(void **state)
{
    kn_blob two = code_of(2);
    const kn_compile_job job = adder(&(int){3});
    const kn_build_request request = {.job = &job};
    kn_blob code = KN_BLOB_INIT;
    (void)state;
    setenv("KILN_COMPILE", "never", 1);
    assert_int_equal(kn_build_code(&code, &request, NULL), KILN_ERROR_FORBIDDEN);
    assert_non_null(strstr(kiln_error_message(), "(looked in /toy/bundle, "));
    assert_non_null(strstr(kiln_error_message(), "/kernels.sqlite)"));
    bundle(&two, "");
    assert_int_equal(find(3, KILN_ORIGIN_DISK), 2);
    setenv("KILN_CACHE", "off", 1);
    kn_build_shutdown();
    assert_int_equal(find(3, KILN_ORIGIN_DISK), 2);
    kn_blob_free(&two);
}

/* A list of other stores is searched as well: what it has not, it does not have. */
static void a_list_without_compiler_and_cache(void **state)
{
    kn_blob two = code_of(2), code = KN_BLOB_INIT;
    const kn_compile_job job = adder(&(int){3});
    const kn_build_request request = {.job = &job};
    (void)state;
    toy_list_is_without_compiler = true;
    assert_int_equal(kn_build_code(&code, &request, NULL), KILN_ERROR_NOT_FOUND);
    assert_non_null(strstr(kiln_error_message(), "adder"));
    assert_int_equal(kn_build_code(&code, &request, NULL), KILN_ERROR_NOT_FOUND); /* nobody waits for it */
    bundle(&two, "");
    assert_int_equal(find(3, KILN_ORIGIN_DISK), 2);
    assert_int_equal(stats().errors, 1);
    kn_build_shutdown();
    toy_list_is_without_compiler = false;
    kn_blob_free(&two);
}

static void *find_in_thread(void *user)
{
    const kn_compile_job *job = user;
    const kn_build_request request = {.job = job};
    kn_function *function = NULL;
    return kn_build_function(&function, &request, host(), NULL) == KILN_OK && run_on_host(function, 0) == 2
               ? user
               : NULL;
}

static void threads_ask_it_once(void **state)
{
    kn_blob two = code_of(2);
    kn_compile_job job = adder(&(int){3});
    pthread_t thread[6];
    void *result;
    (void)state;
    bundle(&two, "");
    for (int t = 0; t < 6; t++)
        assert_int_equal(pthread_create(&thread[t], NULL, find_in_thread, &job), 0);
    for (int t = 0; t < 6; t++) {
        pthread_join(thread[t], &result);
        assert_ptr_equal(result, &job);
    }
    assert_int_equal(atomic_load(&toy_bundle.asked), 1);
    kn_blob_free(&two);
}

/* ---- what is no good in it ---- */

/* Where nothing is compiled, what is no good is not said to be missing. */
static void expect_refused(void)
{
    const kn_compile_job job = adder(&(int){3});
    const kn_build_request request = {.job = &job};
    kn_function *function = NULL;
    kn_build_shutdown();
    setenv("KILN_COMPILE", "never", 1);
    assert_int_equal(kn_build_function(&function, &request, host(), NULL), KILN_ERROR_FORBIDDEN);
    unsetenv("KILN_COMPILE");
    assert_non_null(strstr(kiln_error_message(), " is there for host:"));
    assert_non_null(strstr(kiln_error_message(), "; what the toy had "));
    assert_null(strstr(kiln_error_message(), "has not been compiled"));
}

/* Neither with what the cache has nor where all has to be made anew, on a device or as bytes. */
static void expect_unused(const kn_blob *bad)
{
    fill_cache();
    bundle(bad, "");
    assert_int_equal(find(3, KILN_ORIGIN_DISK), 1);
    assert_int_equal(compiled, 0);
    assert_int_equal(atomic_load(&toy_bundle.found), 1); /* and not asked again */
    assert_int_equal(find(3, KILN_ORIGIN_MEMORY), 1);
    KILN_IGNORE(kiln_cache_clear(NULL));
    expect_refused();
    for (int i = 0; i < 2; i++) {
        kn_build_shutdown();
        assert_int_equal(find(3, i ? KILN_ORIGIN_DISK : KILN_ORIGIN_COMPILER), 3);
        assert_int_equal(stats().entries, 1);
        assert_int_equal(compiled, 1);
    }
    assert_int_equal(toy_bundle.rows, 1); /* it is not written to */
    KILN_IGNORE(kiln_cache_clear(NULL));
    kn_build_shutdown();
}

static void damaged_code_is_not_used(void **state)
{
    kn_blob two = code_of(2), empty = KN_BLOB_INIT, text = {(void *)"some text", 9}, cut = two;
    (void)state;
    expect_unused(&empty);
    expect_unused(&text);
    cut.size--;
    expect_unused(&cut);
    cut.size = two.size / 2;
    expect_unused(&cut);
    ((unsigned char *)two.data)[18] = 190; /* of another machine: CUDA's */
    expect_unused(&two);
    kn_blob_free(&two);
}

static void wrong_code_is_not_used(void **state)
{
    kn_blob other = code_of(0), two = code_of(2);
    (void)state;
    expect_unused(&other); /* whole, but without the entry */
    kn_blob_free(&other);
    kn_blob_free(&two);
}

/* ---- far away ---- */

static void put_far_away(const kn_blob *code)
{
    toy_store_empty(&toy_remote);
    toy_store_add(&toy_remote, what, code->data, code->size, "");
}

static unsigned long long refusals(void)
{
    kn_build_state *state = NULL;
    assert_int_equal(kn_build_state_get(&state), KILN_OK);
    return kn_stores_refusals(state);
}

/* Found once, it is in the user's cache, and is not asked for again. */
static void remote_code_goes_into_the_cache(void **state)
{
    kn_blob two = code_of(2);
    (void)state;
    put_far_away(&two);
    assert_int_equal(find(3, KILN_ORIGIN_DISK), 2);
    assert_int_equal(find(3, KILN_ORIGIN_MEMORY), 2);
    assert_int_equal(stats().entries, 1);
    assert_int_equal(stats().disk_hits, 1);
    assert_int_equal(stats().misses + stats().compiles, 0);
    kn_build_shutdown();
    assert_int_equal(find(3, KILN_ORIGIN_DISK), 2);
    assert_int_equal(stats().disk_hits, 1);
    assert_int_equal(atomic_load(&toy_remote.asked), 1);
    assert_int_equal(refusals(), 0);
    assert_int_equal(compiled, 0);
    kn_blob_free(&two);
}

/* Code for another machine, which no device is asked about, is stored if it is whole. */
static void remote_code_is_stored_without_a_device(void **state)
{
    kn_blob two = code_of(2), found = KN_BLOB_INIT;
    const kn_compile_job job = adder(&(int){3});
    const kn_build_request request = {.job = &job};
    (void)state;
    put_far_away(&two);
    assert_int_equal(kn_build_code(&found, &request, NULL), KILN_OK);
    assert_int_equal(found.size, two.size);
    assert_int_equal(stats().entries, 1);
    kn_blob_free(&found);
    kn_blob_free(&two);
}

/* The compiler is asked next, and its code is stored. */
static void expect_refused_remote(const kn_blob *bad)
{
    put_far_away(bad);
    assert_int_equal(find(3, KILN_ORIGIN_COMPILER), 3);
    assert_int_equal(refusals(), 1);
    assert_int_equal(stats().compiles, 1);
    assert_int_equal(stats().entries, 1);
    assert_int_equal(atomic_load(&toy_remote.found), 1);
    kn_build_shutdown();
    assert_int_equal(find(4, KILN_ORIGIN_DISK), 3);
    assert_int_equal(refusals(), 0);
    KILN_IGNORE(kiln_cache_clear(NULL));
    kn_build_shutdown();
}

static void bad_remote_code_is_refused(void **state)
{
    kn_blob two = code_of(2), lacks_entry = code_of(0), cut = two;
    (void)state;
    cut.size--;
    expect_refused_remote(&cut);
    expect_refused_remote(&lacks_entry);
    kn_blob_free(&lacks_entry);
    kn_blob_free(&two);
}

/* If nothing may be compiled either, the code that does not load is stored nowhere. */
static void bad_remote_code_is_not_stored(void **state)
{
    kn_blob lacks_entry = code_of(0);
    (void)state;
    put_far_away(&lacks_entry);
    const kn_compile_job job = adder(&(int){3});
    const kn_build_request request = {.job = &job, .flags = KN_BUILD_NO_COMPILE};
    kn_function *function = NULL;
    assert_int_equal(kn_build_function(&function, &request, host(), NULL), KILN_ERROR_FORBIDDEN);
    assert_non_null(strstr(kiln_error_message(), "; what the far toy had does not load: "));
    assert_int_equal(refusals(), 1);
    assert_int_equal(stats().entries, 0);
    kn_blob_free(&lacks_entry);
}

/* ---- headers ---- */

static void write_header(const char *text)
{
    char header[300];
    snprintf(header, sizeof header, "%s/addend.h", folder);
    assert_int_equal(kn_os_write_file(header, text, strlen(text)), KILN_OK);
}

static kiln_status write_from_header(kn_str *source, kn_compile_request *compile, const kn_compile_job *job)
{
    compile->options = job->options;
    compile->n_options = job->n_options;
    kn_str_append(source, "#include \"addend.h\"\nextern \"C\" __attribute__((visibility(\"default\"))) void "
                          "kiln_adder(const void *args, long long, long long)\n"
                          "{ **(int *const *)args += ADDEND; }\n");
    return KILN_OK;
}

/* The number that the function adds; new code is bundled, with its list of read files. */
static int find_from_header(kiln_origin expected, kn_str *dependencies)
{
    char option[300];
    const char *const options[] = {option};
    kn_compile_job job = adder(&(int){0});
    kn_build_request request = {.job = &job, .dependencies = dependencies};
    kn_build_info info = {0};
    kn_function *function = NULL;
    kn_blob code = KN_BLOB_INIT;
    snprintf(option, sizeof option, "-I%s", folder);
    job.options = options;
    job.n_options = 1;
    job.write = write_from_header;
    if (kn_build_function(&function, &request, host(), &info) != KILN_OK)
        fail_msg("%s", kiln_error_message());
    assert_int_equal(info.origin, expected);
    if (!dependencies)
        return run_on_host(function, 0);
    request.dependencies = NULL;
    assert_int_equal(kn_build_code(&code, &request, NULL), KILN_OK);
    bundle(&code, kn_str_text(dependencies));
    kn_blob_free(&code);
    return run_on_host(function, 0);
}

/* Its header reads otherwise now, and as it was at last. */
static void outdated_code_is_not_used(void **state)
{
    kn_str dependencies = KN_STR_INIT;
    (void)state;
    write_header("#define ADDEND 2\n");
    setenv("KILN_CACHE", "off", 1);
    assert_int_equal(find_from_header(KILN_ORIGIN_COMPILER, &dependencies), 2);
    assert_true(dependencies.length > 0);
    kn_str_free(&dependencies);
    unsetenv("KILN_CACHE");
    kn_build_shutdown();
    assert_int_equal(find_from_header(KILN_ORIGIN_DISK, NULL), 2);
    write_header("#define ADDEND 5\n");
    assert_int_equal(find_from_header(KILN_ORIGIN_COMPILER, NULL), 5);
    kn_build_shutdown();
    assert_int_equal(find_from_header(KILN_ORIGIN_DISK, NULL), 5);
    assert_int_equal(stats().compiles, 0);
    write_header("#define ADDEND 2\n");
    assert_int_equal(find_from_header(KILN_ORIGIN_DISK, NULL), 2);
}

/* A file has changed since it was read: the code is for this process alone. */
static void uncacheable_code_is_not_stored(void **state)
{
    char command[300];
    (void)state;
    write_header("#define ADDEND 2\n");
    snprintf(command, sizeof command, "echo '#define ADDEND 9' >%s/addend.h", folder);
    setenv("AFTERWARDS", command, 1);
    assert_int_equal(find_from_header(KILN_ORIGIN_COMPILER, NULL), 2);
    unsetenv("AFTERWARDS");
    assert_int_equal(stats().entries, 0);
    assert_int_equal(find_from_header(KILN_ORIGIN_COMPILER, NULL), 9);
    assert_int_equal(stats().entries, 1);
}

/* ---- a compiler that runs the command AFTERWARDS when it has done its work ---- */

static char tools[256];

static int begin(void **state)
{
    static const char compiler[] = "#!/bin/sh\n${REAL_CXX:-c++} \"$@\" || exit\neval \"$AFTERWARDS\"\n";
    char script[300];
    const char *real = getenv("KILN_CXX");
    (void)state;
    if (real)
        setenv("REAL_CXX", real, 1);
    if (kn_os_make_temporary_folder(tools, sizeof tools) != KILN_OK)
        return 1;
    snprintf(script, sizeof script, "%s/compiler", tools);
    if (kn_os_write_file(script, compiler, sizeof compiler - 1) != KILN_OK || chmod(script, 0700) != 0)
        return 1;
    return setenv("KILN_CXX", script, 1);
}

static int end(void **state)
{
    (void)state;
    kn_os_remove_folder(tools);
    return access(tools, F_OK) == 0;
}

int main(void)
{
#define WITH_CACHE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_CACHE(it_is_asked_in_its_turn),           WITH_CACHE(hits_are_counted_by_origin),
        WITH_CACHE(what_is_made_goes_into_the_cache),  WITH_CACHE(it_serves_where_nothing_is_compiled),
        WITH_CACHE(a_list_without_compiler_and_cache), WITH_CACHE(threads_ask_it_once),
        WITH_CACHE(damaged_code_is_not_used),          WITH_CACHE(wrong_code_is_not_used),
        WITH_CACHE(outdated_code_is_not_used),         WITH_CACHE(uncacheable_code_is_not_stored),
        WITH_CACHE(remote_code_goes_into_the_cache),   WITH_CACHE(remote_code_is_stored_without_a_device),
        WITH_CACHE(bad_remote_code_is_refused),        WITH_CACHE(bad_remote_code_is_not_stored),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
