/* Errors, strings, blobs, hashes and the map of the base layer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/blob.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/map.h"
#include "base/nearest.h"
#include "base/setting.h"
#include "base/str.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void error_keeps_status_and_message(void **state)
{
    (void)state;
    kiln_error_clear();
    assert_int_equal(kiln_error_status(), KILN_OK);
    assert_string_equal(kiln_error_message(), "");
    assert_int_equal(kn_error(KILN_ERROR_SHAPE, "axis %d", 3), KILN_ERROR_SHAPE);
    assert_int_equal(kiln_error_status(), KILN_ERROR_SHAPE);
    assert_string_equal(kiln_error_message(), "axis 3");
    assert_int_equal(kn_error_context("add(%s)", "x"), KILN_ERROR_SHAPE);
    assert_string_equal(kiln_error_message(), "add(x): axis 3");
    kn_error(KILN_ERROR_TYPE, "again: %s", kiln_error_message());
    assert_string_equal(kiln_error_message(), "again: add(x): axis 3");
    assert_int_equal(kn_error_memory_of(12, "a plan"), KILN_ERROR_MEMORY);
    assert_string_equal(kiln_error_message(), "out of memory: 12 bytes for a plan");
    kn_alloc_fail_at(2, 0);
    void *first = kn_malloc(100), *second = kn_calloc(3, 17), *third = kn_malloc(5);
    kn_alloc_fail_at(0, 0);
    assert_true(first && !second && third);
    kn_free(first);
    kn_free(third);
    assert_int_equal(kn_error_memory("a plan"), KILN_ERROR_MEMORY);
    assert_string_equal(kiln_error_message(), "out of memory: 51 bytes for a plan");
}

static void error_cuts_long_messages(void **state)
{
    char text[3000];
    (void)state;
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = 0;
    kn_error(KILN_ERROR_IO, "%s", text);
    assert_int_equal(strlen(kiln_error_message()), 1023);
    assert_string_equal(kiln_error_message() + 1020, "...");
    kn_error_context("in %s", "front");
    assert_int_equal(strlen(kiln_error_message()), 1023);
    assert_memory_equal(kiln_error_message(), "in front: aaa", 13);
}

static void error_log_lives_with_its_error(void **state)
{
    kn_error_state saved;
    (void)state;
    kn_error(KILN_ERROR_COMPILE, "one");
    kn_error_set_log("line 1\nline 2");
    kn_error_context("k");
    assert_string_equal(kiln_error_log(), "line 1\nline 2");
    kn_error_save(&saved);
    kn_error(KILN_ERROR_IO, "two");
    assert_string_equal(kiln_error_log(), "");
    kn_error_restore(&saved);
    assert_string_equal(kiln_error_message(), "k: one");
    assert_string_equal(kiln_error_log(), "line 1\nline 2");
    kn_alloc_fail_at(1, 0);
    kn_error_set_log("lost");
    kn_alloc_fail_at(0, 0);
    assert_string_equal(kiln_error_log(), "");
}

static void *fail_in_thread(void *user)
{
    assert_string_equal(kiln_error_message(), "");
    kn_error(KILN_ERROR_IO, "thread");
    kn_error_set_log("a log that the thread's end frees");
    *(int *)user = kiln_error_status();
    return NULL;
}

static void errors_belong_to_their_thread(void **state)
{
    pthread_t thread;
    int status = 0;
    (void)state;
    kn_error(KILN_ERROR_TYPE, "main");
    assert_int_equal(pthread_create(&thread, NULL, fail_in_thread, &status), 0);
    pthread_join(thread, NULL);
    assert_int_equal(status, KILN_ERROR_IO);
    assert_string_equal(kiln_error_message(), "main");
}

static void every_status_has_a_name(void **state)
{
    (void)state;
    for (int status = KILN_ERROR_INTERNAL; status <= 0; status++)
        assert_string_not_equal(kiln_status_name((kiln_status)status), "KILN_ERROR_UNKNOWN");
    assert_string_equal(kiln_status_name(KILN_ERROR_SHAPE), "KILN_ERROR_SHAPE");
    assert_string_equal(kiln_status_name((kiln_status)-99), "KILN_ERROR_UNKNOWN");
}

static void string_grows(void **state)
{
    kn_str s = KN_STR_INIT;
    char *text;
    (void)state;
    assert_string_equal(kn_str_text(&s), "");
    for (int i = 0; i < 1000; i++)
        kn_str_printf(&s, "%d,", i);
    kn_str_append_n(&s, "xyz", 2);
    assert_int_equal(kn_str_status(&s, "test"), KILN_OK);
    assert_int_equal(s.length, 10 * 2 + 90 * 3 + 900 * 4 + 2);
    assert_string_equal(s.data + s.length - 6, "999,xy");
    text = kn_str_take(&s, "test");
    assert_int_equal(strlen(text), 3892);
    assert_null(s.data);
    kn_free(text);
    text = kn_str_take(&s, "test");
    assert_string_equal(text, "");
    kn_free(text);
}

static void string_remembers_a_failure(void **state)
{
    kn_str s = KN_STR_INIT;
    (void)state;
    kn_str_append(&s, "before");
    kn_alloc_fail_at(1, 0);
    kn_str_printf(&s, "%200d", 1);
    kn_alloc_fail_at(0, 0);
    kn_str_append(&s, "after");
    assert_int_equal(kn_str_status(&s, "text"), KILN_ERROR_MEMORY);
    assert_string_equal(kn_str_text(&s), "before");
    kn_str_clear(&s);
    kn_str_append(&s, "again");
    assert_int_equal(kn_str_status(&s, "text"), KILN_ERROR_MEMORY);
    assert_null(kn_str_take(&s, "text"));
    assert_null(s.data);
    assert_int_equal(kn_str_status(&s, "text"), KILN_OK);
}

static void blob_copies(void **state)
{
    kn_blob blob = KN_BLOB_INIT;
    (void)state;
    assert_true(kn_blob_copy(&blob, "abc", 3));
    assert_memory_equal(blob.data, "abc", 3);
    kn_blob_free(&blob);
    assert_true(kn_blob_copy(&blob, NULL, 0));
    assert_non_null(blob.data);
    kn_blob_free(&blob);
    assert_null(blob.data);
    kn_alloc_fail_at(1, 0);
    assert_false(kn_blob_copy(&blob, "abc", 3));
    kn_alloc_fail_at(0, 0);
    assert_null(blob.data);
    kn_blob_free(NULL);
}

/* Values from the XXH3 specification's reference program. */
static void hashes_are_xxh3(void **state)
{
    kn_hash hash = kn_hash_128("", 0);
    char hex[33];
    (void)state;
    kn_hash_hex(&hash, hex);
    assert_string_equal(hex, "99aa06d3014798d86001c324468d497f");
    assert_true(kn_hash_64(NULL, 0) == 0x2d06800538d394c2ULL);
}

static void allocation_fails_as_asked(void **state)
{
    void *p[4];
    (void)state;
    kn_alloc_fail_at(2, 0);
    for (int i = 0; i < 4; i++)
        p[i] = kn_malloc(8);
    assert_int_equal(kn_alloc_fail_at(2, 1), 4);
    assert_non_null(p[0]);
    assert_null(p[1]);
    assert_non_null(p[2]);
    for (int i = 0; i < 4; i++)
        kn_free(p[i]);
    p[0] = kn_calloc(0, 0);
    p[1] = kn_strdup("x");
    p[2] = kn_realloc(NULL, 1);
    assert_int_equal(kn_alloc_fail_at(0, 0), 3);
    assert_non_null(p[0]);
    assert_null(p[1]);
    assert_null(p[2]);
    kn_free(p[0]);
}

/* Against an array: puts, replaces and removes in a pseudo-random order, with few distinct homes. */
static void map_agrees_with_an_array(void **state)
{
    enum { KEYS = 700 };
    static int values[KEYS];
    static bool present[KEYS];
    kn_map *map = kn_map_create();
    size_t count = 0;
    unsigned random = 12345;
    (void)state;
    for (int step = 0; step < 50000; step++) {
        int key = (int)((random = random * 1664525u + 1013904223u) >> 8) % KEYS;
        if (random & 0x80) {
            assert_true(kn_map_put(map, &key, sizeof key, &values[key]));
            count += !present[key];
            present[key] = true;
        } else {
            assert_ptr_equal(kn_map_remove(map, &key, sizeof key), present[key] ? &values[key] : NULL);
            count -= present[key];
            present[key] = false;
        }
        assert_int_equal(kn_map_count(map), count);
    }
    for (int key = 0; key < KEYS; key++)
        assert_ptr_equal(kn_map_get(map, &key, sizeof key), present[key] ? &values[key] : NULL);
    kn_map_free(map, NULL);
}

static bool count_visits(const void *key, size_t key_size, void *value, void *user)
{
    assert_int_equal(strlen(key), key_size - 1);
    assert_string_equal(key, value);
    return ++*(int *)user < 3;
}

static void map_releases_and_visits(void **state)
{
    kn_map *map = kn_map_create();
    int visits = 0;
    (void)state;
    assert_null(kn_map_get(map, "none", 5));
    assert_null(kn_map_remove(map, "none", 5));
    for (int i = 0; i < 10; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i);
        assert_true(kn_map_put(map, key, strlen(key) + 1, kn_strdup(key)));
    }
    kn_map_each(map, count_visits, &visits);
    assert_int_equal(visits, 3);
    kn_map_free(map, kn_free);
    kn_map_free(NULL, NULL);
}

static void map_survives_a_failed_put(void **state)
{
    kn_map *map = kn_map_create();
    int value;
    (void)state;
    for (unsigned long nth = 1; nth <= 2; nth++) {
        kn_alloc_fail_at(nth, 0);
        assert_false(kn_map_put(map, "a", 1, &value));
        kn_alloc_fail_at(0, 0);
        assert_int_equal(kn_map_count(map), 0);
    }
    assert_true(kn_map_put(map, "", 0, &value));
    assert_ptr_equal(kn_map_get(map, "x", 0), &value);
    kn_map_free(map, NULL);
}

static void keep_message(kiln_log_level level, const char *message, void *user)
{
    snprintf(user, 64, "%d %s", level, message);
}

static void log_reaches_the_callback(void **state)
{
    char text[64] = "";
    (void)state;
    kn_log(KILN_LOG_WARNING, "nobody listens");
    kiln_log_set_callback(keep_message, text);
    kn_log(KILN_LOG_WARNING, "disk %s", "full");
    assert_string_equal(text, "2 disk full");
    kiln_log_set_callback(NULL, NULL);
    kn_log(KILN_LOG_INFO, "dropped");
    assert_string_equal(text, "2 disk full");
}

static void messages_wait_where_a_lock_is_held(void **state)
{
    char text[64] = "";
    (void)state;
    kiln_log_set_callback(keep_message, text);
    kn_log_hold();
    kn_log_hold();
    kn_log(KILN_LOG_INFO, "one");
    kn_log_release();
    assert_string_equal(text, "");
    kn_log(KILN_LOG_WARNING, "two");
    kn_log_release();
    assert_string_equal(text, "2 two");
    kn_log(KILN_LOG_DEBUG, "three");
    assert_string_equal(text, "0 three");
    kiln_log_set_callback(NULL, NULL);
}

static void levels_have_names(void **state)
{
    static const char *const names[] = {"debug", "info", "WARN", "off"};
    (void)state;
    unsetenv("KILN_LOG");
    assert_int_equal(kiln_log_wanted(7), 7);
    for (int level = 0; level < 4; level++) {
        setenv("KILN_LOG", names[level], 1);
        assert_int_equal(kiln_log_wanted(7), level);
    }
    setenv("KILN_LOG", "loud", 1);
    assert_int_equal(kiln_log_wanted(7), KILN_LOG_WARNING);
    unsetenv("KILN_LOG");
}

static void variables_are_a_table(void **state)
{
    kiln_variable v = KILN_VARIABLE_INIT;
    (void)state;
    for (int k = 0; k < kiln_variable_count(); k++) {
        assert_int_equal(kiln_variable_at(&v, k), KILN_OK);
        assert_int_equal(strncmp(v.name, "KILN_", 5), 0);
        assert_true(v.values[0] && v.meaning[0] && v.meaning[strlen(v.meaning) - 1] != '.');
    }
    assert_int_equal(kiln_variable_at(&v, -1), KILN_ERROR_INVALID);
    assert_int_equal(kiln_variable_at(&v, kiln_variable_count()), KILN_ERROR_INVALID);
    assert_non_null(strstr(kiln_error_message(), "index is"));
    v.struct_size = 1;
    assert_int_equal(kiln_variable_at(&v, 0), KILN_ERROR_INVALID);
    assert_int_equal(kiln_variable_at(NULL, 0), KILN_ERROR_INVALID);
}

/* A wrong value is reported once, and not taken. */
static void wrong_values_are_logged(void **state)
{
    char text[64] = "";
    const char *value;
    (void)state;
    kiln_log_set_callback(keep_message, text);
    setenv("KILN_COMPILE", "nevr", 1);
    assert_null(kn_setting("KILN_COMPILE"));
    assert_string_equal(text, "2 KILN_COMPILE is \"nevr\"; auto or never was expected, and auto ");
    text[0] = 0;
    assert_false(kn_setting_is("KILN_COMPILE", "nevr"));
    assert_string_equal(text, "");
    setenv("KILN_COMPILE", "Never", 1);
    assert_true(kn_setting_is("KILN_COMPILE", "never"));
    unsetenv("KILN_COMPILE");
    assert_null(kn_setting("KILN_COMPILE"));
    setenv("KILN_CHECK", "2", 1);
    assert_int_equal(kn_setting_read(&value, "KILN_CHECK"), KILN_ERROR_INVALID);
    assert_string_equal(kiln_error_message(), "KILN_CHECK is \"2\"; 0 or 1 was expected");
    kiln_variables_check(); /* that is an error of what reads it */
    assert_string_equal(text, "");
    unsetenv("KILN_CHECK");
    assert_int_equal(kn_setting_read(&value, "KILN_CHECK"), KILN_OK);
    assert_null(value);
    kiln_log_set_callback(NULL, NULL);
}

/* A number of bytes begins with a digit: what else strtoull takes, a sign or blanks, is refused. */
static void bytes_are_digits_and_a_suffix(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes; /* 0: refused */
    } list[] = {{"1", 1},
                {"9", 9},
                {"10", 10},
                {"016", 16},
                {"3k", 3 << 10},
                {"512M", 512 << 20},
                {"2g", UINT64_C(2) << 30},
                {"16777215T", UINT64_C(16777215) << 40},
                {"18446744073709551615", UINT64_MAX},
                {"18446744073709551616", 0},
                {"16777216T", 0},
                {"0", 0},
                {"0M", 0},
                {"", 0},
                {"M", 0},
                {"-1", 0},
                {"-5M", 0},
                {"+1", 0},
                {" 1", 0},
                {"\t1", 0},
                {"1 ", 0},
                {"1 M", 0},
                {"1MB", 0},
                {"1P", 0},
                {"/1", 0},
                {":1", 0}};
    (void)state;
    for (size_t k = 0; k < sizeof list / sizeof list[0]; ++k) {
        uint64_t bytes = 77, expected = list[k].bytes ? list[k].bytes : 77;
        if (kn_setting_bytes(&bytes, list[k].text) != (list[k].bytes > 0) || bytes != expected)
            fail_msg("\"%s\": %llu", list[k].text, (unsigned long long)bytes);
    }
}

static const char *nearest_of(const char *name, const char *other)
{
    static kn_nearest n;
    n = kn_nearest_begin(name, strlen(name));
    kn_nearest_consider(&n, other, strlen(other));
    return n.best;
}

static void names_are_near(void **state)
{
    (void)state;
    assert_string_equal(nearest_of("sqtr", "sqrt"), "sqrt");
    assert_string_equal(nearest_of("sqrtt", "sqrt"), "sqrt");
    assert_string_equal(nearest_of("Sqrt", "sqrt"), "sqrt");
    assert_string_equal(nearest_of("sqrt", "sqrt"), "");
    assert_string_equal(nearest_of("median", "min"), "");
    assert_string_equal(nearest_of("x", "y"), "");
    assert_string_equal(nearest_of("temperatrue", "temperature"), "temperature");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(error_keeps_status_and_message),
        cmocka_unit_test(error_cuts_long_messages),
        cmocka_unit_test(error_log_lives_with_its_error),
        cmocka_unit_test(errors_belong_to_their_thread),
        cmocka_unit_test(every_status_has_a_name),
        cmocka_unit_test(string_grows),
        cmocka_unit_test(string_remembers_a_failure),
        cmocka_unit_test(blob_copies),
        cmocka_unit_test(hashes_are_xxh3),
        cmocka_unit_test(allocation_fails_as_asked),
        cmocka_unit_test(map_agrees_with_an_array),
        cmocka_unit_test(map_releases_and_visits),
        cmocka_unit_test(map_survives_a_failed_put),
        cmocka_unit_test(log_reaches_the_callback),
        cmocka_unit_test(messages_wait_where_a_lock_is_held),
        cmocka_unit_test(levels_have_names),
        cmocka_unit_test(variables_are_a_table),
        cmocka_unit_test(wrong_values_are_logged),
        cmocka_unit_test(bytes_are_digits_and_a_suffix),
        cmocka_unit_test(names_are_near),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
