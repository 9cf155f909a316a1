/* The cache as it should work: hits, misses, replacing, listing, evicting, and the default folder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/log.h"
#include "cache/cache.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[256];
static kn_cache *cache;

static int set_up(void **state)
{
    (void)state;
    if (kn_os_make_temporary_folder(folder, sizeof folder) != KILN_OK)
        return 1;
    return !(cache = kn_cache_create(folder, false));
}

static int tear_down(void **state)
{
    (void)state;
    kn_cache_free(cache);
    cache = NULL;
    kn_os_remove_folder(folder);
    return access(folder, F_OK) == 0;
}

static void reopen(void)
{
    kn_cache_free(cache);
    cache = kn_cache_create(folder, false);
    assert_non_null(cache);
}

static void put(const char *what, const char *with, const char *code)
{
    kn_blob blob = {(void *)code, strlen(code)}, aux = {(void *)"aux", 3};
    kn_cache_put(cache, what, strlen(what), with, &blob, &aux);
}

/* The code that is found, in a static buffer, or NULL. */
static const char *get(const char *what, const char *with)
{
    static char text[256];
    kn_blob code = KN_BLOB_INIT, aux = KN_BLOB_INIT;
    if (!kn_cache_get(cache, what, strlen(what), with, &code, &aux))
        return NULL;
    assert_int_equal(aux.size, 3);
    assert_memory_equal(aux.data, "aux", 3);
    snprintf(text, sizeof text, "%.*s", (int)code.size, (char *)code.data);
    kn_blob_free(&code);
    kn_blob_free(&aux);
    return text;
}

static kiln_cache_stats stats(void)
{
    kiln_cache_stats s = KILN_CACHE_STATS_INIT;
    kn_cache_fill_stats(cache, &s);
    return s;
}

static void what_was_put_is_found(void **state)
{
    (void)state;
    kn_cache_warm_up(cache);
    assert_null(get("a", "g++ 1"));
    put("a", "g++ 1", "code of a");
    put("b", "g++ 1", "code of b");
    assert_string_equal(get("a", "g++ 1"), "code of a");
    reopen();
    assert_string_equal(get("a", "g++ 1"), "code of a");
    assert_string_equal(get("b", "g++ 1"), "code of b");
    assert_null(get("ab", "g++ 1"));
    assert_null(get("", "g++ 1"));
    assert_int_equal(stats().entries, 2);
    assert_int_equal(stats().errors, 0);
    assert_true(stats().writable);
    assert_string_equal(stats().trouble, "");
}

static void the_producer_is_part_of_the_key(void **state)
{
    (void)state;
    put("a", "nvrtc 1", "one");
    assert_null(get("a", "nvrtc 2"));
    put("a", "nvrtc 2", "two");
    assert_string_equal(get("a", "nvrtc 1"), "one");
    assert_string_equal(get("a", "nvrtc 2"), "two");
    assert_string_equal(get("a", NULL), "two"); /* any producer: the newest row */
    put("a", "nvrtc 1", "one again");
    assert_string_equal(get("a", NULL), "one again");
    assert_int_equal(stats().entries, 2);
    kn_cache_remove(cache, "a", 1);
    assert_int_equal(stats().entries, 0);
    assert_null(get("a", NULL));
}

static void empty_and_binary_parts(void **state)
{
    kn_blob code = {(void *)"\0\1\2", 3}, empty = KN_BLOB_INIT, out = KN_BLOB_INIT, aux = KN_BLOB_INIT;
    (void)state;
    kn_cache_put(cache, "x\0y", 3, "", &code, NULL);
    kn_cache_put(cache, NULL, 0, "", &empty, NULL);
    assert_false(kn_cache_get(cache, "x\0z", 3, "", &out, NULL));
    assert_true(kn_cache_get(cache, "x\0y", 3, "", &out, &aux));
    assert_int_equal(out.size, 3);
    assert_memory_equal(out.data, "\0\1\2", 3);
    assert_int_equal(aux.size, 0);
    kn_blob_free(&out);
    kn_blob_free(&aux);
    assert_true(kn_cache_get(cache, "", 0, NULL, &out, NULL));
    assert_int_equal(out.size, 0);
    kn_blob_free(&out);
}

static void files_are_private(void **state)
{
    struct stat info;
    char path[300];
    (void)state;
    kn_cache_free(cache);
    snprintf(path, sizeof path, "%s/made", folder);
    cache = kn_cache_create(path, false);
    put("a", "p", "code");
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    assert_int_equal(stat(kn_cache_file(cache), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_string_equal(get("a", "p"), "code");
    kn_cache_free(cache);
    cache = NULL;
    kn_os_remove_folder(path);
}

/* A rollback journal, whatever mode the file is in: versions of SQLite differ in how safe their WAL is. */
static void write_ahead_logs_are_rolled_back(void **state)
{
    sqlite3 *db;
    sqlite3_stmt *row;
    (void)state;
    put("a", "p", "code");
    kn_cache_free(cache);
    cache = NULL;
    char path[300];
    snprintf(path, sizeof path, "%s/kernels.sqlite", folder);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA journal_mode=WAL", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    reopen();
    assert_string_equal(get("a", "p"), "code");
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA journal_mode", -1, &row, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(row), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(row, 0), "delete");
    sqlite3_finalize(row);
    sqlite3_close(db);
}

static bool collect(const kiln_cache_entry *entry, void *user)
{
    char *text = user;
    size_t length = strlen(text);
    snprintf(text + length, 256 - length, "%s/%s/%d ", entry->what, entry->compiler, (int)entry->code_bytes);
    assert_true(entry->created > 1700000000 && entry->last_used == entry->created);
    put("from the callback", "p", "the gate is open while it runs");
    return strcmp(entry->what, "two") != 0;
}

static void entries_are_listed_and_cleared(void **state)
{
    char text[256] = "";
    uint64_t removed = 0;
    (void)state;
    put("one", "p", "1");
    put("two", "q", "22");
    put("three", "p", "333");
    assert_int_equal(kn_cache_visit(cache, collect, text), KILN_OK);
    assert_string_equal(text, "three/p/11 two/q/8 ");
    assert_int_equal(stats().bytes, (3 + 3 + 1) + (3 + 3 + 2) + (5 + 3 + 3) + (17 + 3 + 30));
    assert_int_equal(kn_cache_clear(cache, &removed), KILN_OK);
    assert_int_equal(removed, 4);
    assert_int_equal(stats().entries, 0);
    assert_int_equal(kn_cache_clear(cache, NULL), KILN_OK);
    assert_null(get("one", "p"));
}

/* The oldest use goes first; what was just put stays even where it alone is too much. */
static void beyond_the_limit_the_oldest_go(void **state)
{
    static char code[100 * 1024];
    kn_blob blob = {code, sizeof code}, found = KN_BLOB_INIT;
    int there = 0;
    (void)state;
    kn_cache_set_limit(cache, 2000 * 1024);
    for (int i = 0; i < 60; i++) {
        memset(code, i, sizeof code);
        kn_cache_put(cache, &i, sizeof i, "p", &blob, NULL);
    }
    for (int i = 0; i < 60; i++) {
        bool is_there = kn_cache_get(cache, &i, sizeof i, "p", &found, NULL);
        kn_blob_free(&found);
        assert_false(there && !is_there); /* the missing ones are the first ones */
        there += is_there;
    }
    assert_in_range(there, 10, 20);
    kn_cache_set_limit(cache, 1);
    put("last", "p", "code");
    assert_string_equal(get("last", "p"), "code");
    assert_int_equal(stats().entries, 1);
    assert_int_equal(stats().errors, 0);
}

/* ---- SQL beside the cache ---- */

static void execute(const char *sql)
{
    sqlite3 *db;
    char path[300], *why = NULL;
    snprintf(path, sizeof path, "%s/kernels.sqlite", folder);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 1000);
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
        fail_msg("%s: %s", sql, why);
    sqlite3_close(db);
}

/* One text, "" for NULL. */
static const char *query(const char *sql)
{
    static char text[256];
    sqlite3 *db;
    sqlite3_stmt *row;
    char path[300];
    snprintf(path, sizeof path, "%s/kernels.sqlite", folder);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &row, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(row), SQLITE_ROW);
    const char *found = (const char *)sqlite3_column_text(row, 0);
    snprintf(text, sizeof text, "%s", found ? found : "");
    sqlite3_finalize(row);
    sqlite3_close(db);
    return text;
}

#define USED_LATELY                                                                                          \
    "SELECT group_concat(what) FROM (SELECT what FROM code WHERE used>created-1000 ORDER BY what)"

/* A hit writes nothing; that it was used is written with the next put, by a flush, or when the cache is
 * closed. */
static void uses_are_written_later(void **state)
{
    (void)state;
    put("a", "p", "1");
    put("b", "p", "2");
    put("c", "p", "3");
    execute("UPDATE code SET used=used-100000");
    assert_string_equal(get("a", "p"), "1");
    assert_string_equal(query(USED_LATELY), "");
    assert_true(kn_cache_flush(cache));
    assert_string_equal(query(USED_LATELY), "a");
    assert_string_equal(get("b", "p"), "2");
    put("d", "p", "4");
    assert_string_equal(query(USED_LATELY), "a,b,d");
    assert_string_equal(get("c", "p"), "3");
    reopen();
    assert_string_equal(query(USED_LATELY), "a,b,c,d");
    execute("UPDATE code SET used=used-100000");
    assert_string_equal(get("d", "p"), "4");
    kn_cache_leave(cache); /* as when the process ends */
    assert_string_equal(query(USED_LATELY), "d");
    assert_int_equal(stats().errors, 0);
}

/* Where another process writes at that moment an ending one does not wait. */
static void nobody_waits_in_the_end(void **state)
{
    sqlite3 *db;
    char path[300];
    (void)state;
    put("a", "p", "1");
    execute("UPDATE code SET used=used-100000");
    assert_string_equal(get("a", "p"), "1");
    snprintf(path, sizeof path, "%s/kernels.sqlite", folder);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    double start = kn_os_now_ms();
    kn_cache_leave(cache);
    assert_true(kn_os_now_ms() - start < 950); /* less than the wait for others */
    sqlite3_close(db);
    assert_string_equal(query(USED_LATELY), "");
    assert_int_equal(stats().errors, 0);
}

static void a_flush_tells_of_losses(void **state)
{
    sqlite3 *db;
    char path[300];
    (void)state;
    put("a", "p", "1");
    assert_true(kn_cache_flush(cache));
    snprintf(path, sizeof path, "%s/kernels.sqlite", folder);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
    put("b", "p", "2"); /* waits, and is dropped */
    sqlite3_close(db);
    usleep(2100 * 1000); /* until the cache tries again */
    assert_false(kn_cache_flush(cache));
    assert_true(kn_cache_flush(cache));
    assert_null(get("b", "p"));
}

static void put_large(int from, int to, const char *with)
{
    static char code[20 * 1024];
    const kn_blob blob = {code, sizeof code};
    for (int i = from; i < to; i++) {
        memset(code, i, sizeof code);
        kn_cache_put(cache, &i, sizeof i, with, &blob, NULL);
    }
}

/* A use within a minute of the one before it is written down where the limit is near. */
static void uses_count_near_the_limit(void **state)
{
    const int first = 0;
    kn_blob code = KN_BLOB_INIT;
    (void)state;
    kn_cache_set_limit(cache, 2000 * 1024);
    for (int share = 1; share <= 3; ++share) { /* in fifths; from four on rows go */
        put_large(20 * share - 20, 20 * share, "p");
        if (share == 3)
            put_large(60, 78, "p");
        execute("UPDATE code SET used=used-20, created=created-20");
        assert_true(kn_cache_get(cache, &first, sizeof first, "p", &code, NULL));
        kn_blob_free(&code);
        assert_true(kn_cache_flush(cache));
        assert_string_equal(query("SELECT count(*) FROM code WHERE used>created"), share == 3 ? "1" : "0");
    }
    assert_int_equal(stats().errors, 0);
}

/* Down to four fifths, so that not each put has to take rows away. */
static void four_fifths_stay(void **state)
{
    uint64_t most = 0, least = UINT64_MAX;
    (void)state;
    kn_cache_set_limit(cache, 2000 * 1024);
    put_large(0, 80, "p");
    for (int i = 80; i < 300; i++) {
        put_large(i, i + 1, "p");
        uint64_t bytes = stats().bytes;
        most = bytes > most ? bytes : most;
        least = bytes < least ? bytes : least;
    }
    assert_in_range(most, 1600 * 1024, 2000 * 1024);
    assert_in_range(least, 1200 * 1024, 1600 * 1024);
    assert_int_equal(stats().errors, 0);
}

/* Code of a toolchain that nobody has used for a week goes first, however old the others are. */
static void dead_producers_go_first(void **state)
{
    int found = 0;
    kn_blob code = KN_BLOB_INIT;
    (void)state;
    put_large(0, 30, "lives");
    put_large(30, 60, "dead");
    put_large(60, 61, "lives");
    execute("UPDATE code SET used=used-30*86400 WHERE producer='lives' AND id<=30;"
            "UPDATE code SET used=used-8*86400 WHERE producer='dead'");
    kn_cache_set_limit(cache, 1200 * 1024);
    put_large(61, 62, "lives");
    assert_string_equal(query("SELECT count(*) FROM code WHERE producer='dead'"), "0");
    for (int i = 0; i < 30; i++) {
        found += kn_cache_get(cache, &i, sizeof i, "lives", &code, NULL);
        kn_blob_free(&code);
    }
    assert_int_equal(found, 30);
}

static void what_is_too_much_is_collected(void **state)
{
    uint64_t removed = 0;
    (void)state;
    put_large(0, 100, "p");
    put("old", "dead", "code");
    execute("UPDATE code SET used=used-8*86400 WHERE producer='dead'");
    assert_int_equal(kn_cache_collect(cache, &removed), KILN_OK);
    assert_int_equal(removed, 1);
    kn_cache_set_limit(cache, 1000 * 1024);
    assert_int_equal(kn_cache_collect(cache, &removed), KILN_OK);
    assert_in_range(removed, 50, 75);
    char path[300];
    struct stat info;
    snprintf(path, sizeof path, "%s/kernels.sqlite", folder);
    assert_int_equal(stat(path, &info), 0);
    assert_in_range(info.st_size, 400 * 1024, 900 * 1024);
    assert_int_equal(kn_cache_collect(cache, &removed), KILN_OK);
    assert_int_equal(removed, 0);
    assert_int_equal(stats().errors, 0);
}

static bool add_up(const kn_cache_row *row, void *user)
{
    char *text = user;
    size_t length = strlen(text);
    snprintf(text + length, 256 - length, "%.*s/%s/%.*s/%.*s ", (int)row->what.size, (char *)row->what.data,
             row->producer, (int)row->aux.size, (char *)row->aux.data, (int)row->code.size,
             (char *)row->code.data);
    return true;
}

static void all_rows_are_looked_at(void **state)
{
    char text[256] = "";
    uint64_t damaged = 7;
    (void)state;
    put("one", "p", "1");
    put("two", "q", "22");
    put("three", "p", "333");
    assert_int_equal(kn_cache_read_all(cache, add_up, text, &damaged), KILN_OK);
    assert_string_equal(text, "three/p/aux/333 two/q/aux/22 one/p/aux/1 ");
    assert_int_equal(damaged, 0);
    execute("UPDATE code SET code=CAST('23' AS BLOB) WHERE producer='q'");
    text[0] = '\0';
    assert_int_equal(kn_cache_read_all(cache, add_up, text, &damaged), KILN_OK);
    assert_string_equal(text, "three/p/aux/333 one/p/aux/1 ");
    assert_int_equal(damaged, 1);
    assert_int_equal(stats().entries, 2);
}

/* The number of numbers by which the first keys are found. */
static unsigned count_indices(int keys)
{
    bool is_met[256] = {false};
    unsigned count = 0;
    for (int i = 0; i < keys; i++) {
        char what[32];
        snprintf(what, sizeof what, "key %d", i);
        unsigned char first = kn_hash_index(what, strlen(what)).bytes[0];
        count += !is_met[first];
        is_met[first] = true;
    }
    return count;
}

/* An index of 8 bits, or none: rows are told apart by their keys. */
static void keys_are_told_apart(void **state)
{
    char what[32];
    (void)state;
    for (int bits = 0; bits <= 8; bits += 8) {
        kn_hash_set_index_bits(bits);
        for (int i = 0; i < 600; i++) {
            snprintf(what, sizeof what, "key %d", i);
            put(what, "p", what);
        }
        for (int i = 0; i < 600; i++) {
            snprintf(what, sizeof what, "key %d", i);
            assert_string_equal(get(what, "p"), what);
        }
        assert_null(get("key 600", "p"));
        put("key 0", "another producer", "the same key, which collides with none");
        assert_int_equal(stats().collisions, 600 - count_indices(600));
        assert_true(stats().collisions >= 600 - (1u << bits));
        assert_int_equal(kn_cache_clear(cache, NULL), KILN_OK);
    }
    kn_hash_set_index_bits(128);
    put("key 0", "p", "one");
    put("key 1", "p", "two");
    put("key 1", "another producer", "three");
    assert_int_equal(stats().collisions, 0);
    assert_int_equal(kn_cache_clear(cache, NULL), KILN_OK);
    assert_int_equal(stats().errors, 0);
}

/* ---- several at once ---- */

static void *put_and_get_many(void *user)
{
    char what[64], code[128];
    for (int i = 0; i < 100; i++) {
        kn_blob blob = {code, 0}, found = KN_BLOB_INIT;
        snprintf(what, sizeof what, "what %d", i % 40);
        snprintf(code, sizeof code, "the code of %s", what);
        blob.size = strlen(code);
        if (i % 5 == 0)
            kn_cache_put(user, what, strlen(what), "p", &blob, NULL);
        if (kn_cache_get(user, what, strlen(what), "p", &found, NULL)) {
            assert_int_equal(found.size, blob.size);
            assert_memory_equal(found.data, code, blob.size);
        }
        kn_blob_free(&found);
    }
    return NULL;
}

static void threads_share_a_cache(void **state)
{
    pthread_t threads[4];
    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, put_and_get_many, cache), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(stats().entries, 8);
    assert_int_equal(stats().errors, 0);
}

static void processes_share_a_file(void **state)
{
    pid_t children[3];
    int code;
    (void)state;
    put("before the fork", "p", "code");
    for (int i = 0; i < 3; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            put_and_get_many(cache); /* the connection of the parent is not touched: it is opened anew */
            _exit(get("before the fork", "p") ? 0 : 1);
        }
    }
    put_and_get_many(cache);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(waitpid(children[i], &code, 0), children[i]);
        assert_int_equal(code, 0);
    }
    assert_string_equal(get("before the fork", "p"), "code");
    assert_int_equal(stats().entries, 9);
}

/* All at once on an empty folder: one writes, the others find it, nobody sees half a schema. */
static void processes_begin_a_file_together(void **state)
{
    (void)state;
    for (int round = 0; round < 25; round++) {
        int found = 0, code;
        reopen();
        for (int i = 0; i < 4; i++)
            if (fork() == 0) {
                kn_os_lock lock = KN_OS_LOCK_INIT;
                bool is_locked = kn_cache_lock(cache, "x", 1, &lock, 10000), is_found = get("x", "p") != NULL;
                if (!is_found)
                    put("x", "p", "code");
                kn_os_unlock_file(&lock);
                _exit(!is_locked || stats().errors ? 100 : is_found);
            }
        for (int i = 0; i < 4; i++) {
            assert_true(wait(&code) > 0);
            found += WEXITSTATUS(code);
        }
        assert_int_equal(found, 3);
        kn_cache_free(cache);
        cache = NULL;
        kn_os_remove_folder(folder);
    }
}

static void a_key_is_locked_for_one_at_a_time(void **state)
{
    kn_os_lock a = KN_OS_LOCK_INIT, b = KN_OS_LOCK_INIT, c = KN_OS_LOCK_INIT;
    (void)state;
    assert_true(kn_cache_lock(cache, "x", 1, &a, 0));
    assert_false(kn_cache_lock(cache, "x", 1, &b, 20));
    assert_true(kn_cache_lock(cache, "y", 1, &c, 0));
    kn_os_unlock_file(&a);
    assert_true(kn_cache_lock(cache, "x", 1, &b, 0));
    kn_os_unlock_file(&b);
    kn_os_unlock_file(&c);
    assert_int_equal(stats().errors, 0);
}

static void read_only_handles_read(void **state)
{
    kn_cache *bundle;
    kn_blob code = KN_BLOB_INIT;
    kn_os_lock lock = KN_OS_LOCK_INIT;
    (void)state;
    put("a", "p", "code");
    bundle = kn_cache_create(folder, true);
    assert_true(kn_cache_get(bundle, "a", 1, NULL, &code, NULL));
    assert_memory_equal(code.data, "code", 4);
    kn_cache_put(bundle, "b", 1, "p", &code, NULL);
    kn_blob_free(&code);
    assert_false(kn_cache_get(bundle, "b", 1, NULL, &code, NULL));
    assert_false(kn_cache_lock(bundle, "a", 1, &lock, 0));
    kn_cache_free(bundle);
    assert_int_equal(stats().entries, 1);
}

/* ---- where it lies ---- */

static void set_or_unset(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

static void folder_follows_the_environment(void **state)
{
    static const struct {
        const char *own, *xdg, *home, *expected;
    } cases[] = {
        {"/a/b", "/x", "/h", "/a/b"},
        {NULL, "/x", "/h", "/x/kiln"},
        {NULL, "relative", "/h", "/h/.cache/kiln"},
        {"", "", "/h", "/h/.cache/kiln"},
        {NULL, NULL, "relative", NULL},
        {NULL, NULL, NULL, NULL},
    };
    char out[512];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set_or_unset("KILN_CACHE_DIR", cases[i].own);
        set_or_unset("XDG_CACHE_HOME", cases[i].xdg);
        set_or_unset("HOME", cases[i].home);
        kiln_status status = kn_cache_default_folder(out, sizeof out);
        assert_int_equal(status, cases[i].expected ? KILN_OK : KILN_ERROR_NOT_FOUND);
        if (cases[i].expected)
            assert_string_equal(out, cases[i].expected);
        else
            assert_non_null(strstr(kiln_error_message(), "HOME"));
    }
    setenv("KILN_CACHE_DIR", "relative/folder", 1);
    assert_int_equal(kn_cache_default_folder(out, sizeof out), KILN_OK);
    assert_int_equal(out[0], '/');
    assert_non_null(strstr(out, "/relative/folder"));
    assert_int_equal(kn_cache_default_folder(out, 4), KILN_ERROR_INVALID);
    unsetenv("KILN_CACHE_DIR");
}

int main(void)
{
#define WITH_CACHE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_CACHE(what_was_put_is_found),
        WITH_CACHE(the_producer_is_part_of_the_key),
        WITH_CACHE(empty_and_binary_parts),
        WITH_CACHE(files_are_private),
        WITH_CACHE(write_ahead_logs_are_rolled_back),
        WITH_CACHE(entries_are_listed_and_cleared),
        WITH_CACHE(beyond_the_limit_the_oldest_go),
        WITH_CACHE(uses_are_written_later),
        WITH_CACHE(nobody_waits_in_the_end),
        WITH_CACHE(a_flush_tells_of_losses),
        WITH_CACHE(uses_count_near_the_limit),
        WITH_CACHE(four_fifths_stay),
        WITH_CACHE(dead_producers_go_first),
        WITH_CACHE(what_is_too_much_is_collected),
        WITH_CACHE(all_rows_are_looked_at),
        WITH_CACHE(keys_are_told_apart),
        WITH_CACHE(threads_share_a_cache),
        WITH_CACHE(processes_share_a_file),
        WITH_CACHE(processes_begin_a_file_together),
        WITH_CACHE(a_key_is_locked_for_one_at_a_time),
        WITH_CACHE(read_only_handles_read),
        cmocka_unit_test(folder_follows_the_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
