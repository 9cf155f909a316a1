/* From a call to a record, to a bundle, to calls that nothing is compiled for. */
#include <kiln/kiln.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/os.h"
#include "store/lifetime.h"
#include "ok.h"

enum { N = 1000 };

static char folder[256], path[300];
static char warnings[2048];

static void take_warning(kiln_log_level level, const char *message, void *user)
{
    (void)user;
    if (level >= KILN_LOG_WARNING)
        snprintf(warnings + strlen(warnings), sizeof warnings - strlen(warnings), "%s\n", message);
}

static const char *in_folder(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* As a new process would be, without a cache, and with nothing that may be compiled. */
static void begin_anew(void)
{
    kn_build_shutdown();
    setenv("KILN_CACHE", "off", 1);
    setenv("KILN_COMPILE", "never", 1);
    unsetenv("KILN_BUNDLE_PATH");
    unsetenv("KILN_RECORD");
    warnings[0] = '\0';
}

static int set_up(void **state)
{
    (void)state;
    if (kn_os_make_temporary_folder(folder, sizeof folder) != KILN_OK)
        return 1;
    begin_anew();
    kiln_log_set_callback(take_warning, NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    kn_build_shutdown();
    kiln_log_set_callback(NULL, NULL);
    kn_os_remove_folder(folder);
    return access(folder, F_OK) == 0;
}

/* ---- kernels ---- */

static kiln_kernel *make_kernel(int addend)
{
    kiln_kernel *kernel = NULL;
    char body[64];
    snprintf(body, sizeof body, "y = x + %d", addend);
    OK(kiln_elementwise_create(&kernel, "T x", "T y", body, "adder", NULL));
    return kernel;
}

/* Without a kernel. */
static kiln_status zeros(kiln_array **out)
{
    static const int32_t data[N];
    return kiln_array_from_host(out, data, KILN_INT32, 1, (const int64_t[]){N}, KILN_DEVICE_HOST);
}

static char *record_of(int addend)
{
    kiln_kernel *kernel = make_kernel(addend);
    kiln_array *x = NULL;
    char *lines = NULL;
    OK(zeros(&x));
    const kiln_arg in[] = {kiln_arg_array(x)};
    OK(kiln_kernel_record(&lines, kernel, NULL, 1, in, 1, NULL));
    kiln_array_free(x);
    kiln_kernel_free(kernel);
    return lines;
}

/* KILN_OK, where what came out is right, or what the call says. */
static kiln_status call(int addend, kiln_origin *origin)
{
    kiln_call_info info = KILN_CALL_INFO_INIT;
    kiln_kernel *kernel = make_kernel(addend);
    kiln_array *x = NULL, *y = NULL;
    OK(zeros(&x));
    const kiln_arg in[] = {kiln_arg_array(x)};
    kiln_status status = kiln_kernel_call(kernel, &y, 1, in, 1, NULL);
    if (status == KILN_OK) {
        OK(kiln_stream_synchronize(NULL));
        assert_int_equal(((const int32_t *)kiln_array_data(y))[N - 1], addend);
        OK(kiln_kernel_last_call(&info));
        *origin = info.origin;
    }
    kiln_array_free(x);
    kiln_array_free(y);
    kiln_kernel_free(kernel);
    return status;
}

static void expect_found(int addend)
{
    kiln_origin origin = KILN_ORIGIN_NONE;
    OK(call(addend, &origin));
    assert_int_equal(origin, KILN_ORIGIN_DISK);
}

static void expect_missing(int addend)
{
    kiln_origin origin;
    assert_int_equal(call(addend, &origin), KILN_ERROR_FORBIDDEN);
}

static bool take_line(const kiln_record_line *line, void *user)
{
    free(*(char **)user);
    *(char **)user = strdup(line->text);
    return !kiln_record_needs(line->targets, "host");
}

/* A bundle of one, for this machine. */
static kiln_bytes bake(int addend, const char *target)
{
    void *bytes = NULL;
    size_t size = 0;
    char *lines = record_of(addend), *line = NULL;
    OK(kiln_record_read(lines, NULL, take_line, &line));
    assert_non_null(line);
    OK(kiln_bake(&bytes, &size, line, target, NULL));
    free(line);
    free(lines);
    return (kiln_bytes){bytes, size};
}

static void write_bundle(const char *name, kiln_bytes bytes)
{
    OK(kn_os_write_file(in_folder(name), bytes.data, bytes.size));
    chmod(in_folder(name), 0600);
}

static void drop(kiln_bytes bytes)
{
    free((void *)(uintptr_t)bytes.data);
}

/* ---- tests ---- */

static void a_bundle_serves_without_compiler(void **state)
{
    kiln_cache_stats stats = KILN_CACHE_STATS_INIT;
    kiln_bytes one = bake(1, "host");
    (void)state;
    expect_missing(1);
    write_bundle("one.kiln", one);
    OK(kiln_bundle_attach(in_folder("one.kiln")));
    expect_found(1);
    expect_missing(2);
    OK(kiln_cache_get_stats(&stats));
    assert_int_equal(stats.bundles, 1);
    assert_int_equal(stats.bundle_hits, 1);
    assert_int_equal(stats.compiles, 0);
    begin_anew();
    expect_missing(1);
    OK(kiln_bundle_attach_memory(one.data, one.size));
    expect_found(1);
    drop(one);
}

static void what_misses_is_named(void **state)
{
    (void)state;
    expect_missing(7);
    const char *message = kiln_error_message();
    assert_non_null(strstr(message, "adder"));
    assert_non_null(strstr(message, "array:int32 array:int32"));
    assert_non_null(strstr(message, "kiln bake"));
    assert_non_null(strstr(message, "host:"));
}

/* Twice the same bytes, in whatever order. */
static void bakes_are_the_same_bytes(void **state)
{
    kiln_bytes a[] = {bake(1, "host"), bake(2, "host")},
               b[] = {bake(2, "host"), bake(1, "host"), bake(1, "host")};
    void *first = NULL, *second = NULL;
    size_t first_size = 0, second_size = 1;
    (void)state;
    OK(kiln_bundle_merge(&first, &first_size, a, 2));
    OK(kiln_bundle_merge(&second, &second_size, b, 3));
    assert_int_equal(first_size, second_size);
    assert_memory_equal(first, second, first_size);
    OK(kiln_bundle_attach_memory(first, first_size));
    expect_found(1);
    expect_found(2);
    kn_build_shutdown();
    free(first);
    free(second);
    for (int i = 0; i < 5; i++)
        drop(i < 2 ? a[i] : b[i - 2]);
}

static void the_path_names_files_and_folders(void **state)
{
    kiln_cache_stats stats = KILN_CACHE_STATS_INIT;
    kiln_bytes one = bake(1, "host"), two = bake(2, "host");
    char list[900];
    (void)state;
    mkdir(in_folder("many"), 0700);
    write_bundle("one", one);
    write_bundle("many/two.kiln", two);
    write_bundle("many/ignored.txt", (kiln_bytes){"text", 4});
    snprintf(list, sizeof list, ":%s/one::%s/many:", folder, folder);
    begin_anew();
    setenv("KILN_BUNDLE_PATH", list, 1);
    expect_found(1);
    expect_found(2);
    OK(kiln_cache_get_stats(&stats));
    assert_int_equal(stats.bundles, 2);
    assert_string_equal(warnings, "");
    unlink(in_folder("many/two.kiln"));
    unlink(in_folder("many/ignored.txt"));
    rmdir(in_folder("many"));
    drop(one);
    drop(two);
}

/* Left out, said once, and everything goes on. */
static void what_cannot_be_read_is_left_out(void **state)
{
    kiln_cache_stats stats = KILN_CACHE_STATS_INIT;
    kiln_bytes one = bake(1, "host");
    char list[900];
    (void)state;
    write_bundle("one", one);
    write_bundle("broken", (kiln_bytes){one.data, one.size - 1});
    snprintf(list, sizeof list, "%s/broken:%s/missing:%s/one", folder, folder, folder);
    begin_anew();
    setenv("KILN_BUNDLE_PATH", list, 1);
    expect_found(1);
    OK(kiln_cache_get_stats(&stats));
    assert_int_equal(stats.bundles, 1);
    assert_int_equal(stats.bundles_refused, 2);
    assert_non_null(strstr(warnings, "broken has"));
    assert_non_null(strstr(warnings, "missing: No such file"));
    drop(one);
}

static void others_may_not_write_to_it(void **state)
{
    kiln_bytes one = bake(1, "host");
    (void)state;
    write_bundle("one", one);
    chmod(in_folder("one"), 0622);
    assert_int_equal(kiln_bundle_attach(path), KILN_ERROR_IO);
    assert_non_null(strstr(kiln_error_message(), "other users may write"));
    chmod(path, 0600);
    chmod(folder, 0777);
    assert_int_equal(kiln_bundle_attach(path), KILN_ERROR_IO);
    chmod(folder, 0700);
    OK(kiln_bundle_attach(path));
    drop(one);
}

/* Every byte of the row's part changed: never found, and never wrong. */
static void damaged_rows_are_not_used(void **state)
{
    kiln_bytes one = bake(1, "host");
    unsigned char *copy = malloc(one.size);
    (void)state;
    for (size_t at = one.size - 200; at < one.size; at += 7) {
        memcpy(copy, one.data, one.size);
        copy[at] ^= 1;
        begin_anew();
        OK(kiln_bundle_attach_memory(copy, one.size));
        expect_missing(1);
        assert_non_null(strstr(warnings, "the checksum of a row is wrong"));
    }
    kn_build_shutdown();
    free(copy);
    drop(one);
}

/* A row that cannot be read is passed over for the next best, of another bundle. */
static void the_next_best_is_asked(void **state)
{
    kiln_bytes one = bake(1, "host");
    unsigned char *copy = malloc(one.size);
    (void)state;
    memcpy(copy, one.data, one.size);
    copy[one.size - 1] ^= 1;
    begin_anew();
    OK(kiln_bundle_attach_memory(one.data, one.size));
    OK(kiln_bundle_attach_memory(copy, one.size));
    expect_found(1);
    kn_build_shutdown();
    free(copy);
    drop(one);
}

static void a_lesser_processors_code_serves(void **state)
{
#ifdef __x86_64__
    kiln_bytes one = bake(1, "x86-64");
    (void)state;
    OK(kiln_bundle_attach_memory(one.data, one.size));
    expect_found(1);
    kn_build_shutdown();
    drop(one);
#else
    (void)state;
#endif
}

static void call_is_recorded(void **state)
{
    kiln_origin origin;
    kn_blob text = KN_BLOB_INIT;
    (void)state;
    begin_anew();
    setenv("KILN_RECORD", in_folder("record"), 1);
    assert_int_equal(call(1, &origin), KILN_ERROR_FORBIDDEN); /* what is missing is recorded, too */
    assert_int_equal(call(1, &origin), KILN_ERROR_FORBIDDEN);
    OK(kn_os_read_file(&text, in_folder("record")));
    char *lines = record_of(1);
    assert_int_equal(text.size, strlen(lines));
    assert_memory_equal(text.data, lines, text.size);
    free(lines);
    kn_blob_free(&text);
}

static bool count_lines(const kiln_record_line *line, void *user)
{
    if (line->name)
        assert_string_equal(line->name, "adder");
    *(int *)user += line->name ? 1 : 100;
    return true;
}

static void damaged_lines_are_seen(void **state)
{
    char *lines = record_of(1);
    size_t length = strlen(lines);
    uint64_t damaged = 0;
    int whole = 0, all = 0;
    (void)state;
    OK(kiln_record_read(lines, &damaged, count_lines, &all));
    assert_true(all > 0 && all < 100 && damaged == 0);
    for (size_t at = 8; at < length; at += 11) {
        char before = lines[at];
        size_t start = at;
        while (start > 0 && lines[start - 1] != '\n')
            --start;
        if (before == '\n' || at - start < 8) /* that is no line of ours, but one written by hand */
            continue;
        lines[at] ^= 1;
        whole = 0;
        OK(kiln_record_read(lines, &damaged, count_lines, &whole));
        assert_true(damaged >= 1);
        assert_true(whole == all - 1 || lines[at] == '\n');
        lines[at] = before;
    }
    OK(kiln_record_read("# a comment\n\n  \nmap 'T x' 'T y' 'y = x'", &damaged, count_lines, &whole));
    assert_int_equal(damaged, 0);
    free(lines);
}

static bool take_entry(const kiln_bundle_entry *entry, void *user)
{
    int *rows = user;
    assert_string_equal(entry->name, "adder");
    assert_string_equal(entry->types, "array:int32 array:int32");
    assert_true(entry->is_usable && entry->code_bytes > 0 && entry->code && entry->compiler[0]);
    assert_true(entry->generator[0] && strncmp(entry->key, "kiln/", 5) == 0);
    ++*rows;
    return true;
}

static void bundles_are_listed_and_searched(void **state)
{
    kiln_bytes one = bake(1, "host");
    char *line = record_of(1), *other = record_of(2);
    void *found = NULL;
    size_t size = 0;
    int rows = 0;
    (void)state;
    OK(kiln_bundle_visit(one.data, one.size, take_entry, &rows));
    assert_int_equal(rows, 1);
    line[strcspn(line, "\n")] = other[strcspn(other, "\n")] = '\0';
    /* the first line need not be the host's */
    if (kiln_bundle_find(&found, &size, one.data, one.size, line, "host") == KILN_OK) {
        assert_int_equal(size, one.size);
        assert_memory_equal(found, one.data, size);
        free(found);
    }
    assert_int_equal(kiln_bundle_find(NULL, NULL, one.data, one.size, other, "host"), KILN_ERROR_NOT_FOUND);
    assert_non_null(strstr(kiln_error_message(), "adder"));
    assert_int_equal(kiln_bundle_find(NULL, NULL, one.data, one.size, line, "sm_90"), KILN_ERROR_NOT_FOUND);
    free(line);
    free(other);
    drop(one);
}

/* One process compiles, another is handed the bytes. */
static void one_kernel_is_handed_on(void **state)
{
    kiln_kernel *kernel = make_kernel(5);
    kiln_array *x = NULL;
    void *bytes = NULL;
    size_t size = 0;
    int rows = 0;
    (void)state;
    OK(zeros(&x));
    const kiln_arg in[] = {kiln_arg_array(x)};
    assert_int_equal(kiln_kernel_export(&bytes, &size, kernel, NULL, 1, in, 1, NULL, NULL),
                     KILN_ERROR_FORBIDDEN);
    unsetenv("KILN_COMPILE");
    OK(kiln_kernel_export(&bytes, &size, kernel, NULL, 1, in, 1, NULL, NULL));
    OK(kiln_bundle_visit(bytes, size, take_entry, &rows));
    assert_int_equal(rows, 1);
    kiln_kernel_free(kernel);
    begin_anew();
    expect_missing(5);
    OK(kiln_bundle_attach_copy(bytes, size));
    free(bytes);
    expect_found(5);
    kernel = make_kernel(5);
    OK(kiln_kernel_export(&bytes, &size, kernel, NULL, 1, in, 1, NULL,
                          "host")); /* found, and handed on once more */
    free(bytes);
    assert_int_equal(kiln_kernel_export(NULL, &size, kernel, NULL, 1, in, 1, NULL, NULL), KILN_ERROR_INVALID);
    assert_int_equal(kiln_kernel_export(&bytes, NULL, kernel, NULL, 1, in, 1, NULL, NULL),
                     KILN_ERROR_INVALID);
    assert_int_equal(kiln_kernel_export(&bytes, &size, NULL, NULL, 1, in, 1, NULL, NULL), KILN_ERROR_INVALID);
    assert_int_equal(kiln_bundle_attach_copy(NULL, 3), KILN_ERROR_INVALID);
    assert_int_equal(kiln_bundle_attach_copy("text", 4), KILN_ERROR_FORMAT);
    kiln_array_free(x);
    kiln_kernel_free(kernel);
}

static void wrong_arguments_are_named(void **state)
{
    kiln_bytes one = bake(1, "host"), none = {NULL, 4};
    kiln_bake_options options = KILN_BAKE_OPTIONS_INIT;
    char *line = record_of(1);
    void *bytes;
    size_t size;
    (void)state;
    assert_int_equal(kiln_bundle_attach(NULL), KILN_ERROR_INVALID);
    assert_int_equal(kiln_bundle_attach_memory(NULL, 3), KILN_ERROR_INVALID);
    assert_int_equal(kiln_bundle_attach(in_folder("missing")), KILN_ERROR_NOT_FOUND);
    assert_int_equal(kiln_bundle_attach(folder), KILN_ERROR_IO);
    assert_int_equal(kiln_bundle_attach_memory("text", 4), KILN_ERROR_FORMAT);
    assert_int_equal(kiln_bake(&bytes, &size, line, "sm_12", NULL), KILN_ERROR_INVALID);
    assert_int_equal(kiln_bake(&bytes, &size, "nonsense", "host", NULL), KILN_ERROR_FORMAT);
    options.struct_size = 1000;
    assert_int_equal(kiln_bake(&bytes, &size, line, "host", &options), KILN_ERROR_INVALID);
    options = (kiln_bake_options)KILN_BAKE_OPTIONS_INIT;
    options.n_include_folders = 1;
    assert_int_equal(kiln_bake(&bytes, &size, line, "host", &options), KILN_ERROR_INVALID);
    assert_int_equal(kiln_bundle_merge(&bytes, &size, &none, 1), KILN_ERROR_INVALID);
    none = (kiln_bytes){"text", 4};
    assert_int_equal(kiln_bundle_merge(&bytes, &size, &none, 1), KILN_ERROR_FORMAT);
    assert_non_null(strstr(kiln_error_message(), "bundles[0]"));
    assert_false(kiln_record_needs(NULL, "host"));
    assert_true(kiln_record_needs("cuda:sm_80 cuda:sm_90", "sm_90a"));
    assert_true(kiln_record_needs("cuda:sm_80 cuda:sm_90", "compute_90"));
    assert_false(kiln_record_needs("cuda:sm_80 cuda:sm_100", "sm_10"));
    assert_false(kiln_record_needs("cuda:sm_80 cuda:sm_103", "sm_100f"));
    free(line);
    drop(one);
}

/* Each pointer that may not be NULL, with all others given. */
static void missing_arguments_are_named(void **state)
{
    kiln_bytes one = bake(1, "host");
    char *line = record_of(1);
    void *bytes;
    size_t size;
    (void)state;
    FAILS(kiln_bake(NULL, &size, line, "host", NULL), KILN_ERROR_INVALID, "kiln_bake: bytes is NULL");
    FAILS(kiln_bake(&bytes, NULL, line, "host", NULL), KILN_ERROR_INVALID, "kiln_bake: size is NULL");
    FAILS(kiln_bake(&bytes, &size, NULL, "host", NULL), KILN_ERROR_INVALID, "kiln_bake: line is NULL");
    FAILS(kiln_bake(&bytes, &size, line, NULL, NULL), KILN_ERROR_INVALID, "kiln_bake: target is NULL");
    FAILS(kiln_bundle_merge(NULL, &size, &one, 1), KILN_ERROR_INVALID, "kiln_bundle_merge: bytes is NULL");
    FAILS(kiln_bundle_merge(&bytes, NULL, &one, 1), KILN_ERROR_INVALID, "kiln_bundle_merge: size is NULL");
    FAILS(kiln_bundle_merge(&bytes, &size, NULL, 1), KILN_ERROR_INVALID,
          "kiln_bundle_merge: bundles is NULL");
    FAILS(kiln_bundle_merge(&bytes, &size, &one, -1), KILN_ERROR_INVALID, "or n_bundles below 0");
    FAILS(kiln_bundle_visit(NULL, 0, take_entry, NULL), KILN_ERROR_INVALID,
          "kiln_bundle_visit: bytes is NULL");
    FAILS(kiln_bundle_visit(one.data, one.size, NULL, NULL), KILN_ERROR_INVALID,
          "kiln_bundle_visit: visit is NULL");
    FAILS(kiln_bundle_find(NULL, NULL, NULL, one.size, line, "host"), KILN_ERROR_INVALID,
          "find: bundle is NULL");
    FAILS(kiln_bundle_find(NULL, NULL, one.data, one.size, NULL, "host"), KILN_ERROR_INVALID,
          "find: line is NULL");
    FAILS(kiln_bundle_find(NULL, NULL, one.data, one.size, line, NULL), KILN_ERROR_INVALID,
          "find: target is NULL");
    FAILS(kiln_bundle_find(&bytes, NULL, one.data, one.size, line, "host"), KILN_ERROR_INVALID,
          "of bytes and size one is NULL");
    FAILS(kiln_bundle_find(NULL, &size, one.data, one.size, line, "host"), KILN_ERROR_INVALID,
          "of bytes and size one is NULL");
    FAILS(kiln_bundle_read_file(NULL, &size, "file"), KILN_ERROR_INVALID,
          "kiln_bundle_read_file: bytes is NULL");
    FAILS(kiln_bundle_read_file(&bytes, NULL, "file"), KILN_ERROR_INVALID,
          "kiln_bundle_read_file: size is NULL");
    FAILS(kiln_bundle_read_file(&bytes, &size, NULL), KILN_ERROR_INVALID,
          "kiln_bundle_read_file: path is NULL");
    FAILS(kiln_record_read(NULL, NULL, count_lines, NULL), KILN_ERROR_INVALID,
          "kiln_record_read: text is NULL");
    FAILS(kiln_record_read(line, NULL, NULL, NULL), KILN_ERROR_INVALID, "kiln_record_read: visit is NULL");
    free(line);
    drop(one);
}

/* Whichever allocation fails: an error, or the right result, and nothing lost. */
static void memory_may_be_short(void **state)
{
    kiln_bytes one = bake(1, "host");
    kiln_bytes parts[] = {one, one};
    kiln_status status = KILN_ERROR_MEMORY;
    (void)state;
    for (unsigned long n = 1; status != KILN_OK; n++) {
        void *bytes = NULL;
        size_t size;
        kn_alloc_fail_at(n, 0);
        status = kiln_bundle_merge(&bytes, &size, parts, 2);
        kn_alloc_fail_at(0, 0);
        assert_true(status == KILN_OK || status == KILN_ERROR_MEMORY);
        free(bytes);
    }
    status = KILN_ERROR_MEMORY;
    for (unsigned long n = 1; status != KILN_OK; n++) {
        begin_anew();
        kn_alloc_fail_at(n, 0);
        status = kiln_bundle_attach_memory(one.data, one.size);
        kn_alloc_fail_at(0, 0);
        assert_true(status == KILN_OK || status == KILN_ERROR_MEMORY);
    }
    expect_found(1);
    kn_build_shutdown();
    drop(one);
}

/* ---- the same of what looks at records, bundles and the cache ---- */

static unsigned long nth; /* allocation that fails */
static char *a_line;
static kiln_bytes a_bundle;

static kiln_status try_record(void)
{
    kiln_kernel *kernel = make_kernel(1);
    kiln_array *x = NULL;
    char *lines = NULL;
    OK(zeros(&x));
    const kiln_arg in[] = {kiln_arg_array(x)};
    kn_alloc_fail_at(nth, 0);
    kiln_status status = kiln_kernel_record(&lines, kernel, NULL, 1, in, 1, NULL);
    kn_alloc_fail_at(0, 0);
    free(lines);
    kiln_array_free(x);
    kiln_kernel_free(kernel);
    return status;
}

static kiln_status try_export(void)
{
    kiln_kernel *kernel = make_kernel(1);
    kiln_array *x = NULL;
    void *bytes = NULL;
    size_t size;
    OK(zeros(&x));
    const kiln_arg in[] = {kiln_arg_array(x)};
    kn_alloc_fail_at(nth, 0);
    kiln_status status = kiln_kernel_export(&bytes, &size, kernel, NULL, 1, in, 1, NULL, NULL);
    kn_alloc_fail_at(0, 0);
    free(bytes);
    kiln_array_free(x);
    kiln_kernel_free(kernel);
    return status;
}

static kiln_status try_find(void)
{
    void *bytes = NULL;
    size_t size;
    kn_alloc_fail_at(nth, 0);
    kiln_status status = kiln_bundle_find(&bytes, &size, a_bundle.data, a_bundle.size, a_line, "host");
    kn_alloc_fail_at(0, 0);
    free(bytes);
    return status;
}

static kiln_status try_visit(void)
{
    int rows = 0;
    kn_alloc_fail_at(nth, 0);
    kiln_status status = kiln_bundle_visit(a_bundle.data, a_bundle.size, take_entry, &rows);
    kn_alloc_fail_at(0, 0);
    assert_true(status != KILN_OK || rows == 1);
    return status;
}

static kiln_status try_read(void)
{
    int lines = 0;
    kn_alloc_fail_at(nth, 0);
    kiln_status status = kiln_record_read(a_line, NULL, count_lines, &lines);
    kn_alloc_fail_at(0, 0);
    assert_true(status != KILN_OK || lines == 1);
    return status;
}

static kiln_status try_copy(void)
{
    begin_anew();
    kn_alloc_fail_at(nth, 0);
    kiln_status status = kiln_bundle_attach_copy(a_bundle.data, a_bundle.size);
    kn_alloc_fail_at(0, 0);
    return status;
}

static void take_host_line(void)
{
    char *lines = record_of(1);
    a_line = NULL;
    OK(kiln_record_read(lines, NULL, take_line, &a_line));
    free(lines);
}

static void all_of_it_survives_short_memory(void **state)
{
    static kiln_status (*const tries[])(void) = {try_record, try_find, try_visit,
                                                 try_read,   try_copy, try_export};
    (void)state;
    a_bundle = bake(1, "host");
    take_host_line();
    for (size_t t = 0; t < sizeof tries / sizeof *tries; t++) {
        kiln_status status = KILN_ERROR_MEMORY;
        for (nth = 1; status != KILN_OK; nth++) {
            assert_in_range(nth, 1, 5000);
            status = tries[t]();
            if (status != KILN_OK && status != KILN_ERROR_MEMORY)
                fail_msg("%d: %s", (int)t, kiln_error_message());
        }
    }
    kn_build_shutdown();
    free(a_line);
    drop(a_bundle);
}

/* ---- the user's cache through the same functions ---- */

static void begin_with_cache(void)
{
    begin_anew();
    unsetenv("KILN_CACHE");
    unsetenv("KILN_COMPILE");
    setenv("KILN_CACHE_DIR", folder, 1);
}

static void the_cache_is_exported_and_imported(void **state)
{
    void *bytes = NULL;
    size_t size = 0;
    uint64_t added = 0, checked = 0, damaged = 1, removed = 1;
    int rows = 0;
    kiln_origin origin;
    (void)state;
    assert_int_equal(kiln_cache_flush(), KILN_ERROR_NOT_FOUND);
    assert_int_equal(kiln_cache_verify(NULL, NULL), KILN_ERROR_NOT_FOUND);
    assert_int_equal(kiln_cache_collect(NULL), KILN_ERROR_NOT_FOUND);
    assert_int_equal(kiln_cache_export(&bytes, &size), KILN_ERROR_NOT_FOUND);
    begin_with_cache();
    OK(call(1, &origin));
    assert_int_equal(origin, KILN_ORIGIN_COMPILER);
    OK(kiln_cache_flush());
    OK(kiln_cache_verify(&checked, &damaged));
    assert_true(checked == 1 && damaged == 0);
    OK(kiln_cache_collect(&removed));
    assert_int_equal(removed, 0);
    OK(kiln_cache_export(&bytes, &size));
    OK(kiln_bundle_visit(bytes, size, take_entry, &rows));
    assert_int_equal(rows, 1);
    OK(kiln_cache_clear(NULL));
    kn_build_shutdown();
    OK(kiln_cache_import(bytes, size, &added));
    assert_int_equal(added, 1);
    setenv("KILN_COMPILE", "never", 1);
    expect_found(1);
    assert_int_equal(kiln_cache_import(NULL, size, NULL), KILN_ERROR_INVALID);
    assert_int_equal(kiln_cache_import("text", 4, NULL), KILN_ERROR_FORMAT);
    assert_int_equal(kiln_cache_export(NULL, &size), KILN_ERROR_INVALID);
    assert_int_equal(kiln_cache_export(&bytes, NULL), KILN_ERROR_INVALID);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_bundle_serves_without_compiler, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_misses_is_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bakes_are_the_same_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_path_names_files_and_folders, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be_read_is_left_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(others_may_not_write_to_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_rows_are_not_used, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_next_best_is_asked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_lesser_processors_code_serves, set_up, tear_down),
        cmocka_unit_test_setup_teardown(call_is_recorded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_lines_are_seen, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bundles_are_listed_and_searched, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_kernel_is_handed_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_of_it_survives_short_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_cache_is_exported_and_imported, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrong_arguments_are_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(missing_arguments_are_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(memory_may_be_short, set_up, tear_down),
    };
    setenv("KILN_TARGET", "host", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
