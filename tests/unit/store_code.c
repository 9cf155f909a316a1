/* From key material to code and functions: memory, disk, compiler; one compile a key among threads and
 * processes; errors; switches in the environment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <kiln/cache.h>

#include "base/alloc.h"
#include "base/error.h"
#include "store/build.h"
#include "cache/cache.h"
#include "host_function.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[256], file[300];
static atomic_int generated;
static kiln_status (*next_write)(kn_str *, kn_compile_request *, const kn_compile_job *);

static int set_up(void **state)
{
    (void)state;
    if (kn_os_make_temporary_folder(folder, sizeof folder) != KILN_OK)
        return 1;
    snprintf(file, sizeof file, "%s/kernels.sqlite", folder);
    kn_build_shutdown();
    setenv("KILN_CACHE_DIR", folder, 1);
    unsetenv("KILN_CACHE");
    unsetenv("KILN_COMPILE");
    atomic_store(&generated, 0);
    next_write = NULL;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    kn_build_shutdown();
    kn_os_remove_folder(folder);
    return access(folder, F_OK) == 0;
}

/* The function adds an int, the specialisation, to what args points at. */
static kiln_status write_adder(kn_str *source, kn_compile_request *compile, const kn_compile_job *job)
{
    atomic_fetch_add(&generated, 1);
    assert_string_equal(compile->name, "adder");
    assert_int_equal(compile->target.backend, KN_HOST);
    if (next_write)
        return next_write(source, compile, job);
    kn_str_printf(source,
                  "extern \"C\" __attribute__((visibility(\"default\"))) void kiln_adder(const void *args, "
                  "long long, long long)\n"
                  "{ **(int *const *)args += %d; }\n",
                  *(const int *)job->spec);
    return KILN_OK;
}

/* A key and its request. */
typedef struct wanted {
    char what[128];
    int addend;
    kn_compile_job job;
    kn_build_request request;
} wanted;

static kn_build_request *want(wanted *w, int addend, unsigned flags)
{
    char target[48];
    memset(w, 0, sizeof *w);
    w->addend = addend;
    kn_target_host(&w->job.target);
    kn_target_format(&w->job.target, target, sizeof target);
    snprintf(w->what, sizeof w->what, "target=\"%s\" adds=\"%d\"", target, addend);
    w->job.what = (kn_str){.data = w->what, .length = strlen(w->what)};
    w->job.name = "adder";
    strcpy(w->job.entry, "kiln_adder");
    w->job.write = write_adder;
    w->job.spec = &w->addend;
    w->request.job = &w->job;
    w->request.flags = flags;
    return &w->request;
}

/* The origin of a function that works. */
static kiln_origin find(int addend, unsigned flags)
{
    wanted w;
    kn_build_info info = {0};
    kn_function *function = NULL;
    kiln_status status = kn_build_function(&function, want(&w, addend, flags), host(), &info);
    if (status != KILN_OK)
        fail_msg("%s", kiln_error_message());
    assert_int_equal(run_on_host(function, 100), 100 + addend);
    assert_true(info.code_bytes > 0);
    assert_true((info.origin == KILN_ORIGIN_COMPILER) == (info.compile_ms > 0));
    assert_true(info.origin != KILN_ORIGIN_MEMORY || info.cache_ms + info.generate_ms == 0);
    return info.origin;
}

static kiln_status try_find(int addend, unsigned flags)
{
    wanted w;
    kn_function *function = NULL;
    return kn_build_function(&function, want(&w, addend, flags), host(), NULL);
}

static kiln_cache_stats stats(void)
{
    kiln_cache_stats s = KILN_CACHE_STATS_INIT;
    assert_int_equal(kiln_cache_get_stats(&s), KILN_OK);
    return s;
}

static void compiler_then_memory_then_disk(void **state)
{
    (void)state;
    assert_int_equal(find(1, 0), KILN_ORIGIN_COMPILER);
    assert_int_equal(find(1, 0), KILN_ORIGIN_MEMORY);
    assert_int_equal(find(2, 0), KILN_ORIGIN_COMPILER);
    assert_int_equal(atomic_load(&generated), 2);
    assert_int_equal(stats().compiles, 2);
    assert_int_equal(stats().misses, 2);
    assert_int_equal(stats().memory_hits, 1);
    assert_true(stats().compile_ms > 0);
    kn_build_shutdown(); /* as a new process */
    kn_build_warm_up(KN_CUDA);
    assert_int_equal(find(1, 0), KILN_ORIGIN_DISK);
    assert_int_equal(find(1, KN_BUILD_NO_COMPILE), KILN_ORIGIN_MEMORY);
    assert_int_equal(atomic_load(&generated), 2);
    assert_int_equal(stats().disk_hits, 1);
    assert_int_equal(stats().compiles, 0);
    assert_int_equal(stats().entries, 2);
    assert_int_equal(stats().errors, 0);
}

static void code_is_a_copy(void **state)
{
    wanted w;
    kn_blob a = KN_BLOB_INIT, b = KN_BLOB_INIT;
    kn_build_info info = {0};
    (void)state;
    assert_int_equal(kn_build_code(&a, want(&w, 3, 0), &info), KILN_OK);
    assert_int_equal(info.origin, KILN_ORIGIN_COMPILER);
    assert_int_equal(kn_build_code(&b, want(&w, 3, 0), NULL), KILN_OK);
    assert_int_equal(a.size, b.size);
    assert_int_equal(a.size, info.code_bytes);
    assert_memory_equal(a.data, b.data, a.size);
    assert_ptr_not_equal(a.data, b.data);
    kn_blob_free(&a);
    kn_blob_free(&b);
    assert_int_equal(find(3, 0), KILN_ORIGIN_MEMORY);
}

static void wrong_entry_points_are_named(void **state)
{
    wanted w;
    kn_function *function = NULL;
    (void)state;
    want(&w, 1, 0);
    strcpy(w.job.entry, "kiln_other");
    assert_int_equal(kn_build_function(&function, &w.request, host(), NULL), KILN_ERROR_NOT_FOUND);
    assert_non_null(strstr(kiln_error_message(), "kiln_other"));
    assert_null(function);
    assert_int_equal(stats().entries, 0); /* code without its entry is no good to anybody */
    assert_int_equal(try_find(1, 0), KILN_OK);
    assert_int_equal(stats().entries, 1);
    assert_int_equal(atomic_load(&generated), 2);
}

static void keys_name_their_target(void **state)
{
    wanted w;
    kn_blob code = KN_BLOB_INIT;
    kn_build_request *request = want(&w, 1, 0);
    (void)state;
    w.job.what = (kn_str){.data = w.what, .length = (size_t)snprintf(w.what, sizeof w.what, "no target")};
    assert_int_equal(kn_build_code(&code, request, NULL), KILN_ERROR_INTERNAL);
    assert_int_equal(atomic_load(&generated), 0);
}

/* ---- forbidden ---- */

static void forbidden_compiles_name_the_kernel(void **state)
{
    char target[48];
    kn_target host_target;
    (void)state;
    kn_target_host(&host_target);
    kn_target_format(&host_target, target, sizeof target);
    assert_int_equal(try_find(1, KN_BUILD_NO_COMPILE), KILN_ERROR_FORBIDDEN);
    assert_non_null(strstr(kiln_error_message(), "adder"));
    assert_non_null(strstr(kiln_error_message(), target));
    assert_non_null(strstr(kiln_error_message(), file));
    setenv("KILN_COMPILE", "never", 1);
    assert_int_equal(try_find(1, 0), KILN_ERROR_FORBIDDEN);
    assert_non_null(strstr(kiln_error_message(), "KILN_COMPILE=never"));
    assert_int_equal(atomic_load(&generated), 0);
    unsetenv("KILN_COMPILE");
    assert_int_equal(find(1, 0), KILN_ORIGIN_COMPILER);
    kn_build_shutdown();
    setenv("KILN_COMPILE", "never", 1);
    assert_int_equal(find(1, 0), KILN_ORIGIN_DISK);
}

static void the_cache_can_be_switched_off(void **state)
{
    char path[300];
    (void)state;
    setenv("KILN_CACHE", "off", 1);
    assert_int_equal(find(1, 0), KILN_ORIGIN_COMPILER);
    assert_int_equal(find(1, 0), KILN_ORIGIN_MEMORY);
    assert_int_equal(access(file, F_OK), -1);
    assert_int_equal(stats().errors, 0);
    assert_int_equal(kiln_cache_path(path, sizeof path), KILN_ERROR_NOT_FOUND);
    assert_non_null(strstr(kiln_error_message(), "KILN_CACHE=off"));
    assert_int_equal(kiln_cache_clear(NULL), KILN_ERROR_NOT_FOUND);
}

static void without_a_place_it_compiles(void **state)
{
    char home[256], path[300];
    (void)state;
    snprintf(home, sizeof home, "%s", getenv("HOME") ? getenv("HOME") : "");
    unsetenv("KILN_CACHE_DIR");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    assert_int_equal(find(1, 0), KILN_ORIGIN_COMPILER);
    assert_int_equal(stats().errors, 1);
    assert_non_null(strstr(stats().trouble, "HOME"));
    assert_int_equal(kiln_cache_path(path, sizeof path), KILN_ERROR_NOT_FOUND);
    setenv("HOME", home, 1);
}

/* ---- errors ---- */

static kiln_status refuse_to_write(kn_str *source, kn_compile_request *compile, const kn_compile_job *job)
{
    (void)job, (void)compile;
    kn_str_append(source, "half a source");
    return kn_error(KILN_ERROR_TYPE, "adder cannot be written");
}

static void a_failed_generation_leaves_nothing_locked(void **state)
{
    (void)state;
    next_write = refuse_to_write;
    assert_int_equal(try_find(1, 0), KILN_ERROR_TYPE);
    assert_string_equal(kiln_error_message(), "adder cannot be written");
    next_write = NULL;
    double start = kn_os_now_ms();
    assert_int_equal(find(1, 0), KILN_ORIGIN_COMPILER);
    assert_true(kn_os_now_ms() - start < 900e3);
}

static kiln_status write_nonsense(kn_str *source, kn_compile_request *compile, const kn_compile_job *job)
{
    (void)job, (void)compile;
    usleep(100 * 1000);
    kn_str_append(source, "#line 1 \"adder\"\nthis is not C;\n");
    return KILN_OK;
}

typedef struct attempt {
    kiln_status status;
    char message[256];
    bool has_log;
} attempt;

static void *attempt_in_thread(void *user)
{
    attempt *a = user;
    a->status = try_find(7, 0);
    snprintf(a->message, sizeof a->message, "%s", kiln_error_message());
    a->has_log = strstr(kiln_error_log(), "adder:1") != NULL;
    return NULL;
}

/* All who wait get the message and the log of the one compile. */
static void errors_are_shared(void **state)
{
    pthread_t threads[4];
    attempt attempts[4];
    (void)state;
    next_write = write_nonsense;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, attempt_in_thread, &attempts[i]), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(attempts[i].status, KILN_ERROR_COMPILE);
        assert_string_equal(attempts[i].message, attempts[0].message);
        assert_memory_equal(attempts[i].message, "adder:1", 7);
        assert_true(attempts[i].has_log);
    }
    assert_in_range(atomic_load(&generated), 1, 3);
    next_write = NULL;
    assert_int_equal(find(7, 0), KILN_ORIGIN_COMPILER);
}

/* ---- one compile a key ---- */

static void *find_in_thread(void *user)
{
    for (int i = 0; i < 4; i++)
        *(kiln_origin *)user = find(i, 0);
    return NULL;
}

static void threads_compile_a_key_once(void **state)
{
    pthread_t threads[6];
    kiln_origin origins[6];
    (void)state;
    for (int i = 0; i < 6; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, find_in_thread, &origins[i]), 0);
    for (int i = 0; i < 6; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&generated), 4);
    assert_int_equal(stats().compiles, 4);
}

static void processes_compile_a_key_once(void **state)
{
    int ends[2], compiled = 0, status;
    pid_t children[4];
    char byte;
    (void)state;
    assert_int_equal(pipe(ends), 0);
    for (int i = 0; i < 4; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            kiln_origin origin = find(1, 0);
            byte = origin == KILN_ORIGIN_COMPILER;
            _exit(write(ends[1], &byte, 1) != 1);
        }
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(read(ends[0], &byte, 1), 1);
        compiled += byte;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(compiled, 1);
    close(ends[0]);
    close(ends[1]);
}

static kiln_status write_for_ever(kn_str *source, kn_compile_request *compile, const kn_compile_job *job)
{
    (void)compile, (void)source;
    if (write(*(const int *)job->spec, "x", 1) == 1)
        pause();
    return KILN_OK;
}

/* Killed while it holds the lock of a key: the next process does not wait. */
static void a_killed_compile_gives_its_key_back(void **state)
{
    int ends[2], status;
    pid_t child;
    char byte;
    double start;
    (void)state;
    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        wanted w;
        kn_blob code = KN_BLOB_INIT;
        next_write = write_for_ever;
        want(&w, 1, 0);
        w.job.spec = &ends[1];
        kn_build_code(&code, &w.request, NULL);
        _exit(1);
    }
    assert_int_equal(read(ends[0], &byte, 1), 1);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    start = kn_os_now_ms();
    assert_int_equal(find(1, 0), KILN_ORIGIN_COMPILER);
    assert_true(kn_os_now_ms() - start < 900e3);
    close(ends[0]);
    close(ends[1]);
}

static void *compile_slowly(void *user)
{
    wanted w;
    kn_blob code = KN_BLOB_INIT;
    want(&w, 5, 0);
    w.job.spec = user;
    kn_build_code(&code, &w.request, NULL);
    return NULL;
}

static kiln_status write_until_told(kn_str *source, kn_compile_request *compile, const kn_compile_job *job)
{
    const int *ends = job->spec;
    char byte;
    (void)compile, (void)source;
    if (write(ends[1], "x", 1) != 1 || read(ends[2], &byte, 1) != 1)
        return kn_error(KILN_ERROR_IO, "pipe");
    return kn_error(KILN_ERROR_TYPE, "told to stop");
}

/* Forked while another thread compiles: the child has no such thread, and does not wait for it. */
static void a_forked_child_takes_over(void **state)
{
    int ends[4], status;
    pthread_t thread;
    pid_t child;
    char byte;
    (void)state;
    setenv("KILN_CACHE", "off", 1); /* the lock among processes would be the thread's */
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(pipe(ends + 2), 0);
    next_write = write_until_told;
    assert_int_equal(pthread_create(&thread, NULL, compile_slowly, ends), 0);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    child = fork();
    if (child == 0) {
        alarm(900);
        next_write = NULL;
        _exit(find(5, 0) == KILN_ORIGIN_COMPILER ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(write(ends[3], "x", 1), 1);
    pthread_join(thread, NULL);
    for (int i = 0; i < 4; i++)
        close(ends[i]);
}

/* ---- what is in the file ---- */

static void execute(const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 1000);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* Right by its checksum, but this machine cannot load it: it is made anew. */
static void code_that_does_not_load_is_made_anew(void **state)
{
    wanted w;
    kn_blob code = {(void *)"not a shared object", 19};
    (void)state;
    want(&w, 1, 0);
    kn_cache *cache = kn_cache_create(folder, false);
    kn_cache_put(cache, w.what, strlen(w.what), kn_compile_identity(KN_HOST), &code, NULL);
    kn_cache_free(cache);
    assert_int_equal(find(1, 0), KILN_ORIGIN_COMPILER);
    kn_build_shutdown();
    assert_int_equal(find(1, 0), KILN_ORIGIN_DISK);
}

static void another_compiler_is_a_miss(void **state)
{
    (void)state;
    assert_int_equal(find(1, 0), KILN_ORIGIN_COMPILER);
    kn_build_shutdown();
    execute("UPDATE code SET producer='g++ of yesterday'");
    assert_int_equal(find(1, 0), KILN_ORIGIN_COMPILER);
    assert_int_equal(stats().entries, 2);
}

static bool keep_entry(const kiln_cache_entry *entry, void *user)
{
    snprintf(user, 128, "%s", entry->what);
    return true;
}

static void the_public_functions_see_it(void **state)
{
    char path[300], what[128] = "";
    uint64_t removed = 0;
    wanted w;
    (void)state;
    assert_int_equal(find(1, 0), KILN_ORIGIN_COMPILER);
    assert_int_equal(kiln_cache_path(path, sizeof path), KILN_OK);
    assert_string_equal(path, file);
    assert_int_equal(kiln_cache_path(path, 5), KILN_ERROR_INVALID);
    assert_int_equal(kiln_cache_path(NULL, 5), KILN_ERROR_INVALID);
    assert_int_equal(kiln_cache_list(keep_entry, what), KILN_OK);
    want(&w, 1, 0);
    assert_string_equal(what, w.what);
    assert_int_equal(kiln_cache_list(NULL, NULL), KILN_ERROR_INVALID);
    assert_int_equal(kiln_cache_clear(&removed), KILN_OK);
    assert_int_equal(removed, 1);
    assert_int_equal(kiln_cache_get_stats(NULL), KILN_ERROR_INVALID);
    kiln_cache_stats old = {.struct_size = offsetof(kiln_cache_stats, misses)};
    old.misses = 77; /* beyond what a program of long ago knows */
    assert_int_equal(kiln_cache_get_stats(&old), KILN_OK);
    assert_int_equal(old.misses, 77);
}

static void sources_are_written_down(void **state)
{
    DIR *d;
    int count = 0;
    char sources[300], path[600];
    kn_blob text = KN_BLOB_INIT;
    (void)state;
    snprintf(sources, sizeof sources, "%s/sources", folder);
    setenv("KILN_DUMP_SOURCE", sources, 1);
    find(42, 0);
    setenv("KILN_DUMP_SOURCE", "/proc/no/such/folder", 1);
    find(43, 0); /* works all the same */
    unsetenv("KILN_DUMP_SOURCE");
    d = opendir(sources);
    assert_non_null(d);
    for (struct dirent *item; (item = readdir(d)) != NULL;) {
        if (item->d_name[0] == '.')
            continue;
        count++;
        snprintf(path, sizeof path, "%s/%s", sources, item->d_name);
        assert_memory_equal(item->d_name, "adder-", 6);
        assert_int_equal(strspn(item->d_name + 6, "0123456789abcdef"), 32); /* all of the hash */
        assert_int_equal(kn_os_read_file(&text, path), KILN_OK);
    }
    closedir(d);
    kn_os_remove_folder(sources);
    assert_int_equal(count, 1);
    assert_non_null(memmem(text.data, text.size, "+= 42", 5));
    kn_blob_free(&text);
}

int main(void)
{
#define WITH_CACHE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_CACHE(compiler_then_memory_then_disk),
        WITH_CACHE(code_is_a_copy),
        WITH_CACHE(wrong_entry_points_are_named),
        WITH_CACHE(keys_name_their_target),
        WITH_CACHE(forbidden_compiles_name_the_kernel),
        WITH_CACHE(the_cache_can_be_switched_off),
        WITH_CACHE(without_a_place_it_compiles),
        WITH_CACHE(a_failed_generation_leaves_nothing_locked),
        WITH_CACHE(errors_are_shared),
        WITH_CACHE(threads_compile_a_key_once),
        WITH_CACHE(processes_compile_a_key_once),
        WITH_CACHE(a_killed_compile_gives_its_key_back),
        WITH_CACHE(a_forked_child_takes_over),
        WITH_CACHE(code_that_does_not_load_is_made_anew),
        WITH_CACHE(another_compiler_is_a_miss),
        WITH_CACHE(the_public_functions_see_it),
        WITH_CACHE(sources_are_written_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
