/* The cache when something is wrong with it: every get is a miss, every put is dropped, the trouble is
 * counted and told once, and no wrong bytes come out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "drawn.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include "cache/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[256], file[300];
static kn_cache *cache;
static int warnings;

static void count_warning(kiln_log_level level, const char *message, void *user)
{
    (void)user;
    assert_int_equal(level, KILN_LOG_WARNING);
    assert_non_null(strstr(message, "cache"));
    warnings++;
}

static int set_up(void **state)
{
    (void)state;
    warnings = 0;
    kiln_log_set_callback(count_warning, NULL);
    if (kn_os_make_temporary_folder(folder, sizeof folder) != KILN_OK)
        return 1;
    snprintf(file, sizeof file, "%s/kernels.sqlite", folder);
    return !(cache = kn_cache_create(folder, false));
}

static int tear_down(void **state)
{
    (void)state;
    kn_cache_free(cache);
    cache = NULL;
    kiln_log_set_callback(NULL, NULL);
    chmod(folder, 0700);
    kn_os_remove_folder(folder);
    return access(folder, F_OK) == 0;
}

static void close_cache(void)
{
    kn_cache_free(cache);
    cache = NULL;
}

static void reopen(void)
{
    close_cache();
    cache = kn_cache_create(folder, false);
}

static void put(const char *what, const char *code)
{
    kn_blob blob = {(void *)code, strlen(code)};
    kn_cache_put(cache, what, strlen(what), "p", &blob, NULL);
}

static bool has(const char *what, const char *code)
{
    kn_blob found = KN_BLOB_INIT;
    bool is_found = kn_cache_get(cache, what, strlen(what), "p", &found, NULL);
    if (is_found) {
        assert_int_equal(found.size, strlen(code));
        assert_memory_equal(found.data, code, found.size);
    }
    kn_blob_free(&found);
    return is_found;
}

static kiln_cache_stats stats(void)
{
    kiln_cache_stats s = KILN_CACHE_STATS_INIT;
    kn_cache_fill_stats(cache, &s);
    return s;
}

static void execute(const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* Nothing works, nobody is hurt, one warning. */
static void expect_unusable(const char *trouble)
{
    kn_os_lock lock = KN_OS_LOCK_INIT;
    kn_error(KILN_ERROR_TYPE, "before");
    for (int i = 0; i < 3; i++) {
        put("a", "code");
        assert_false(has("a", "code"));
    }
    assert_false(kn_cache_lock(cache, "a", 1, &lock, 0));
    assert_string_equal(kiln_error_message(), "before");
    assert_int_equal(warnings, 1);
    assert_true(stats().errors >= 6);
    assert_false(stats().writable);
    if (!strstr(stats().trouble, trouble))
        fail_msg("'%s' does not speak of '%s'", stats().trouble, trouble);
    assert_int_equal(kn_cache_clear(cache, NULL), KILN_ERROR_IO);
    assert_non_null(strstr(kiln_error_message(), trouble));
}

/* It works, with one trouble told. */
static void expect_recovered(void)
{
    put("new", "new code");
    assert_true(has("new", "new code"));
    assert_int_equal(warnings, 1);
    assert_int_equal(stats().errors, 1);
}

/* ---- no place ---- */

static void the_folder_is_a_file(void **state)
{
    (void)state;
    assert_int_equal(kn_os_write_file(file, "x", 1), KILN_OK);
    kn_cache_free(cache);
    cache = kn_cache_create(file, false);
    expect_unusable("not a folder");
}

static void the_folder_cannot_be_made(void **state)
{
    (void)state;
    kn_cache_free(cache);
    cache = kn_cache_create("/proc/no/such/folder", false);
    expect_unusable("/proc/no");
}

static void the_file_is_a_folder(void **state)
{
    (void)state;
    assert_int_equal(mkdir(file, 0700), 0);
    expect_unusable("not a plain file");
    rmdir(file);
}

/* Whoever may write there could have us run his code. */
static void the_folder_is_open_to_all(void **state)
{
    (void)state;
    chmod(folder, 01777);
    expect_unusable("other users may write");
}

/* The caller's own group has other members. */
static void the_folder_is_open_to_the_group(void **state)
{
    (void)state;
    assert_int_equal(chmod(folder, 0770), 0);
    expect_unusable("chmod go-w");
}

/* Who may write above it can put another folder in its place. */
static void a_folder_above_is_open(void **state)
{
    static const struct {
        mode_t mode;
        bool is_safe;
    } cases[] = {{0777, false}, {0770, false}, {0707, false}, {01777, true}, {0755, true}};
    char inner[300], deep[320];
    (void)state;
    snprintf(inner, sizeof inner, "%s/inner", folder);
    snprintf(deep, sizeof deep, "%s/deep", inner);
    assert_int_equal(kn_os_make_folders(deep, 0700), KILN_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        warnings = 0;
        assert_int_equal(chmod(inner, cases[i].mode), 0);
        kn_cache_free(cache);
        cache = kn_cache_create(deep, false);
        if (cases[i].is_safe)
            put("a", "code");
        else
            expect_unusable("other users may write");
        assert_int_equal(has("a", "code"), cases[i].is_safe);
    }
    close_cache();
    kn_os_remove_folder(deep);
    kn_os_remove_folder(inner);
}

/* A link is followed once: what it leads to is looked at, and used from then on. */
static void a_link_on_the_way(void **state)
{
    char inner[300], link[300];
    (void)state;
    snprintf(inner, sizeof inner, "%s/inner", folder);
    snprintf(link, sizeof link, "%s/link", folder);
    assert_int_equal(mkdir(inner, 0700), 0);
    assert_int_equal(symlink("inner", link), 0);
    kn_cache_free(cache);
    cache = kn_cache_create(link, false);
    put("a", "code");
    assert_int_equal(unlink(link), 0);
    assert_int_equal(symlink("/nowhere", link), 0);
    put("b", "code");
    assert_true(has("a", "code") && has("b", "code"));
    kn_cache_free(cache);
    cache = kn_cache_create(inner, false);
    assert_true(has("a", "code") && has("b", "code"));
    assert_int_equal(warnings, 0);
    close_cache();
    kn_os_remove_folder(inner);
}

/* ---- files that lie there from a time when the folder was open ---- */

static const char *const beside[] = {"", "-journal", "-wal", "-shm"};
enum { BESIDE = sizeof beside / sizeof *beside };

static void path_beside(char *out, size_t size, int which)
{
    if (which < BESIDE)
        snprintf(out, size, "%s%s", file, beside[which]);
    else
        snprintf(out, size, "%s/kernels.lock", folder);
}

typedef void planting(const char *path);

static void plant_anothers(const char *path)
{
    assert_int_equal(kn_os_write_file(path, "x", 1), KILN_OK);
    assert_int_equal(chown(path, 12345, 12345), 0);
}

static void plant_open(const char *path)
{
    assert_int_equal(kn_os_write_file(path, "x", 1), KILN_OK);
    assert_int_equal(chmod(path, 0660), 0);
}

static void plant_link(const char *path)
{
    unlink(path);
    assert_int_equal(symlink("/dev/zero", path), 0);
}

static void plant_second_name(const char *path)
{
    char other[300];
    snprintf(other, sizeof other, "%s/other", folder);
    unlink(path);
    assert_int_equal(kn_os_write_file(other, "x", 1), KILN_OK);
    assert_int_equal(link(other, path), 0);
    /* it stays under its other name */
}

static void plant_pipe(const char *path)
{
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
}

static void files_are_looked_at(void **state)
{
    static const struct {
        planting *plant;
        const char *trouble;
    } plants[] = {{plant_open, "other users may write"},
                  {plant_link, "not a plain file"},
                  {plant_second_name, "2 names"},
                  {plant_pipe, "not a plain file"},
                  {plant_anothers, "belongs to another user"}};
    char path[320], other[300];
    (void)state;
    snprintf(other, sizeof other, "%s/other", folder);
    for (size_t i = 0; i < sizeof plants / sizeof *plants - (geteuid() != 0); i++)
        for (int which = 0; which <= BESIDE; which++) {
            reopen();
            put("a", "code");
            close_cache();
            warnings = 0;
            path_beside(path, sizeof path, which);
            plants[i].plant(path);
            reopen();
            expect_unusable(plants[i].trouble);
            unlink(path);
            unlink(other);
            unlink(file);
        }
}

static void the_folder_is_another_users(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    assert_int_equal(chown(folder, 12345, 12345), 0);
    expect_unusable("belongs to another user");
}

static void the_file_is_a_link(void **state)
{
    (void)state;
    assert_int_equal(symlink("/dev/null", file), 0);
    expect_unusable("not a plain file");
}

/* ---- damage ---- */

static void damage(long offset, const void *bytes, size_t size)
{
    FILE *f = fopen(file, "r+");
    assert_non_null(f);
    assert_int_equal(fseek(f, offset, SEEK_SET), 0);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    fclose(f);
}

static void a_file_that_is_no_database(void **state)
{
    char aside[320];
    (void)state;
    put("a", "code");
    close_cache();
    damage(0, "this is not SQLite", 18);
    reopen();
    assert_false(has("a", "code"));
    expect_recovered();
    assert_non_null(strstr(stats().trouble, "damaged"));
    snprintf(aside, sizeof aside, "%s.damaged", file);
    assert_int_equal(access(aside, F_OK), 0);
}

static void a_truncated_file(void **state)
{
    static const long sizes[] = {0, 1, 50, 100, 1000, 4096, 5000, 8192, 20000};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        static char code[50000];
        memset(code, 'c', sizeof code - 1);
        put("a", code);
        close_cache();
        assert_int_equal(truncate(file, sizes[i]), 0);
        reopen();
        assert_false(has("a", code));
        put("b", "code");
        assert_true(has("b", "code"));
    }
}

/* Whatever is overwritten: either the right bytes or none. */
static void overwritten_pages(void **state)
{
    static char code[30000];
    struct stat info;
    (void)state;
    memset(code, 'c', sizeof code - 1);
    for (long offset = 100;; offset += 1733) {
        unlink(file);
        reopen();
        for (char what[] = "a"; what[0] < 'e'; what[0]++)
            put(what, code);
        close_cache();
        assert_int_equal(stat(file, &info), 0);
        if (offset >= info.st_size)
            break;
        damage(offset, "\xff\x00\x80\x07garbage", 11);
        reopen();
        for (char what[] = "a"; what[0] < 'e'; what[0]++)
            has(what, code); /* compares the bytes where there are any */
        put("z", "code");
        assert_true(has("z", "code"));
    }
    reopen();
}

static void a_wrong_checksum(void **state)
{
    (void)state;
    put("a", "code of a");
    put("b", "code of b");
    execute("UPDATE code SET code=CAST('code of x' AS BLOB) WHERE what=CAST('a' AS BLOB)");
    assert_false(has("a", "code of a"));
    assert_true(has("b", "code of b"));
    assert_int_equal(stats().entries, 1); /* it has been dropped */
    assert_int_equal(stats().errors, 1);
    assert_int_equal(warnings, 1);
    put("a", "code of a");
    assert_true(has("a", "code of a"));
}

/* Every stored part is under the checksum. */
static void a_changed_part(void **state)
{
    static const char *const changes[] = {
        "UPDATE code SET aux=CAST('y' AS BLOB)",
        "UPDATE code SET checksum=zeroblob(16)",
        "UPDATE code SET checksum=x''",
        "UPDATE code SET checksum='text', code=7",
    };
    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        put("a", "code");
        assert_true(has("a", "code"));
        execute(changes[i]);
        assert_false(has("a", "code"));
    }
}

/* Every byte of every column, each bit of its numbers: the right bytes or a miss, and the file goes on
 * working. */
static void flip(const char *column, int byte, int bit)
{
    sqlite3 *db;
    sqlite3_stmt *read, *write;
    char sql[200];
    unsigned char value[64];
    int size;
    assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
    snprintf(sql, sizeof sql, "SELECT CAST(%s AS BLOB) FROM code", column);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &read, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(read), SQLITE_ROW);
    size = sqlite3_column_bytes(read, 0);
    assert_in_range(size, byte + 1, sizeof value);
    memcpy(value, sqlite3_column_blob(read, 0), (size_t)size);
    sqlite3_finalize(read);
    value[byte] ^= (unsigned char)(1u << bit);
    snprintf(sql, sizeof sql, "UPDATE code SET %s=%s", column,
             strcmp(column, "producer") ? "?1" : "CAST(?1 AS TEXT)");
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &write, NULL), SQLITE_OK);
    sqlite3_bind_blob(write, 1, value, size, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(write), SQLITE_DONE);
    sqlite3_finalize(write);
    sqlite3_close(db);
}

static void begin_row(void)
{
    kn_blob code = {(void *)"code of a", 9}, aux = {(void *)"aux", 3};
    kn_cache_clear(cache, NULL);
    kn_cache_put(cache, "a", 1, "p", &code, &aux);
}

/* True if there is a hit: then it is what was put. */
static bool is_row_right(void)
{
    kn_blob code = KN_BLOB_INIT, aux = KN_BLOB_INIT;
    bool is_found = kn_cache_get(cache, "a", 1, "p", &code, &aux);
    if (is_found) {
        assert_true(code.size == 9 && aux.size == 3);
        assert_memory_equal(code.data, "code of a", 9);
        assert_memory_equal(aux.data, "aux", 3);
    }
    kn_blob_free(&code);
    kn_blob_free(&aux);
    stats();
    return is_found;
}

static void every_byte_of_a_row(void **state)
{
    static const struct {
        const char *name;
        int size;
    } columns[] = {{"hash", 16}, {"checksum", 16}, {"producer", 1}, {"what", 1}, {"aux", 3}, {"code", 9}};
    (void)state;
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
        for (int at = 0; at < columns[c].size * 8; at++) {
            if (!is_drawn(c * 1000 + (size_t)at, 3))
                continue;
            begin_row();
            assert_true(is_row_right());
            flip(columns[c].name, at / 8, at % 8);
            assert_false(is_row_right());
            begin_row();
            assert_true(is_row_right());
        }
}

/* The numbers of a row decide which goes first, and nothing else: any may stand there. */
static void every_bit_of_a_number(void **state)
{
    static const char *const names[] = {"created", "used", "bytes"};
    static const char *const odd[] = {
        "(-9223372036854775807-1)", "9223372036854775807", "-1", "'text'", "1e300", "x'0102'"};
    char sql[200];
    (void)state;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        for (int i = 0; i < 64 + (int)(sizeof odd / sizeof *odd); i++) {
            if (i < 64 && !is_drawn((n + 10) * 1000 + (size_t)i, 3))
                continue;
            begin_row();
            if (i < 64) /* SQL has no exclusive or */
                snprintf(sql, sizeof sql, "UPDATE code SET %s=(%s | (1<<%d)) - (%s & (1<<%d))", names[n],
                         names[n], i, names[n], i);
            else
                snprintf(sql, sizeof sql, "UPDATE code SET %s=%s", names[n], odd[i - 64]);
            execute(sql);
            assert_true(is_row_right());
            assert_true(is_row_right());
            assert_int_equal(stats().entries, 1);
        }
    assert_int_equal(stats().errors, 0);
}

/* Nobody has used it in the future: it goes before those that are used. */
static void a_row_of_the_future_goes(void **state)
{
    static char big[300 * 1024];
    kn_blob code = {big, sizeof big};
    (void)state;
    kn_cache_set_limit(cache, 1000 * 1024);
    for (char what[] = "a"; what[0] < 'd'; what[0]++)
        kn_cache_put(cache, what, 1, "p", &code, NULL);
    execute("UPDATE code SET used=9223372036854775807 WHERE what=CAST('b' AS BLOB)");
    put("new", "new code");
    kn_cache_put(cache, "d", 1, "p", &code, NULL);
    kn_blob found = KN_BLOB_INIT;
    assert_false(kn_cache_get(cache, "b", 1, "p", &found, NULL));
    assert_true(kn_cache_get(cache, "d", 1, "p", &found, NULL));
    kn_blob_free(&found);
    assert_int_equal(stats().errors, 0);
}

/* Two keys of one hash: the rows are told apart by the whole key. */
static void a_collision_of_hashes(void **state)
{
    kn_hash hash = kn_hash_128("a", 1);
    char hex[33], sql[200];
    (void)state;
    put("a", "code of a");
    put("b", "code of b");
    kn_hash_hex(&hash, hex);
    snprintf(sql, sizeof sql, "UPDATE code SET hash=x'%s'", hex);
    execute(sql);
    assert_true(has("a", "code of a"));
    kn_cache_remove(cache, "a", 1);
    assert_false(has("a", "code of a"));
    assert_int_equal(stats().entries, 1);
    assert_int_equal(stats().errors, 0);
}

static void a_missing_table(void **state)
{
    (void)state;
    put("a", "code");
    close_cache();
    execute("DROP TABLE code");
    reopen();
    assert_false(has("a", "code"));
    expect_recovered();
}

/* Damage that comes while the file is open. */
static void damage_under_an_open_cache(void **state)
{
    char garbage[512]; /* over the change counter too, or SQLite would trust the pages it remembers */
    (void)state;
    put("a", "code");
    memset(garbage, 'g', sizeof garbage);
    damage(0, garbage, sizeof garbage);
    assert_false(has("a", "code"));
    expect_recovered();
}

/* ---- files of others ---- */

static void expect_left_alone(const char *sql, const char *trouble)
{
    kn_blob before = KN_BLOB_INIT, after = KN_BLOB_INIT;
    close_cache();
    execute(sql);
    assert_int_equal(kn_os_read_file(&before, file), KILN_OK);
    reopen();
    expect_unusable(trouble);
    assert_int_equal(kn_os_read_file(&after, file), KILN_OK);
    assert_int_equal(before.size, after.size);
    assert_memory_equal(before.data, after.data, before.size);
    kn_blob_free(&before);
    kn_blob_free(&after);
}

static void a_later_version_is_left_alone(void **state)
{
    (void)state;
    put("a", "code");
    expect_left_alone("PRAGMA user_version=2", "version 2");
}

static void a_foreign_database_is_left_alone(void **state)
{
    (void)state;
    expect_left_alone("CREATE TABLE mine(x)", "not a kernel cache");
}

/* ---- what others do ---- */

static void a_locked_file(void **state)
{
    sqlite3 *db;
    double start, one;
    (void)state;
    put("a", "code");
    assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
    start = kn_os_now_ms();
    assert_false(has("a", "code"));
    one = kn_os_now_ms() - start;
    start = kn_os_now_ms();
    for (int i = 0; i < 20; i++) {
        assert_false(has("a", "code"));
        put("b", "code");
    }
    assert_true(kn_os_now_ms() - start < 10 * one); /* one wait, not forty */
    assert_int_equal(warnings, 1);
    assert_true(stats().errors >= 40);
    assert_non_null(strstr(stats().trouble, "locked"));
    sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_close(db);
    usleep(2100 * 1000);
    assert_true(has("a", "code"));
}

static int signals_seen;

static void count_signal(int which)
{
    (void)which;
    signals_seen++;
}

/* Beyond `ulimit -f` the system sends a signal that ends the process, or that its handler wonders about. */
static void a_full_disk(void **state)
{
    static char code[200 * 1024];
    struct rlimit before, small;
    kn_blob blob = {code, sizeof code}, found = KN_BLOB_INIT;
    (void)state;
    put("a", "code");
    signals_seen = 0;
    signal(SIGXFSZ, count_signal);
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 64 * 1024;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    kn_cache_put(cache, "big", 3, "p", &blob, NULL);
    kn_cache_put(cache, "big", 3, "p", &blob, NULL);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(signals_seen, 0);
    assert_int_equal(warnings, 1);
    assert_int_equal(stats().errors, 3); /* both puts and the look at the totals */
    usleep(2100 * 1000);
    assert_true(has("a", "code"));
    assert_false(kn_cache_get(cache, "big", 3, "p", &found, NULL));
    kn_cache_put(cache, "big", 3, "p", &blob, NULL);
    assert_true(kn_cache_get(cache, "big", 3, "p", &found, NULL));
    assert_int_equal(found.size, sizeof code);
    kn_blob_free(&found);
    assert_int_equal(warnings, 1);
}

/* As a user without the right to write: what is there is found, nothing is put. */
static void run_in_a_read_only_folder(void)
{
    kiln_cache_stats s = KILN_CACHE_STATS_INIT;
    cache = kn_cache_create(folder, false);
    if (!has("a", "code"))
        _exit(1);
    put("b", "code");
    if (has("b", "code"))
        _exit(2);
    if (!has("a", "code")) /* what cannot be written can be read */
        _exit(5);
    kn_cache_fill_stats(cache, &s);
    _exit(s.writable ? 3 : s.errors == 0 ? 4 : 0);
}

static void a_read_only_folder(void **state)
{
    int code;
    pid_t child;
    (void)state;
    if (geteuid() != 0)
        skip();
    put("a", "code");
    close_cache();
    assert_int_equal(chmod(folder, 0755), 0); /* root's, whom everybody trusts */
    assert_int_equal(chmod(file, 0644), 0);
    child = fork();
    if (child == 0) {
        if (setgid(12345) != 0 || setuid(12345) != 0)
            _exit(9);
        run_in_a_read_only_folder();
    }
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_int_equal(WEXITSTATUS(code), 0);
    assert_int_equal(WIFSIGNALED(code), 0);
}

/* Killed again and again in the middle of writing: the next process finds whole rows or none. */
static void killed_processes(void **state)
{
    static char code[300 * 1024];
    int status;
    (void)state;
    memset(code, 'c', sizeof code - 1);
    for (int round = 0; round < 15; round++) {
        pid_t child = fork();
        if (child == 0) {
            for (int i = 0;; i++) {
                char what[16];
                snprintf(what, sizeof what, "%d", i % 8);
                put(what, code);
            }
        }
        usleep(20000 + 3000 * round);
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, &status, 0), child);
        for (int i = 0; i < 8; i++) {
            char what[16];
            snprintf(what, sizeof what, "%d", i);
            has(what, code);
        }
    }
    put("after", "code");
    assert_true(has("after", "code"));
    assert_int_equal(stats().errors, 0);
}

/* ---- memory ---- */

static bool run_all(void)
{
    kn_blob code = {(void *)"code", 4}, found = KN_BLOB_INIT, aux = KN_BLOB_INIT;
    kn_cache *own = kn_cache_create(folder, false);
    bool is_found;
    if (!own)
        return false;
    kn_cache_put(own, "a", 1, "p", &code, &code);
    is_found = kn_cache_get(own, "a", 1, "p", &found, &aux);
    if (is_found)
        assert_memory_equal(found.data, "code", 4);
    kn_blob_free(&found);
    kn_blob_free(&aux);
    kn_cache_free(own);
    return is_found;
}

static void without_memory(void **state)
{
    unsigned long nth = 0;
    bool is_found;
    (void)state;
    do {
        kn_alloc_fail_at(++nth, 0);
        is_found = run_all();
        kn_alloc_fail_at(0, 0);
    } while (!is_found && nth < 100);
    assert_in_range(nth, 4, 50);
}

/* SQLite opens for reading what it cannot open for writing. */
static int failures;
static int open_fails(const char *path, int flags, int mode)
{
    bool is_failing = flags & O_RDWR && failures > 0 && strstr(path, "kernels.sqlite");
    if (!is_failing)
        return open(path, flags, mode);
    failures--;
    errno = EMFILE;
    return -1;
}

static void without_a_descriptor(void **state)
{
    (void)state;
    sqlite3_vfs *system = sqlite3_vfs_find(NULL);
    put("one", "code");
    reopen();
    failures = 1;
    assert_int_equal(system->xSetSystemCall(system, "open", (sqlite3_syscall_ptr)open_fails), SQLITE_OK);
    has("one", "code");
    assert_int_equal(failures, 0);
    system->xSetSystemCall(system, "open", NULL);
    put("two", "code");
    assert_true(has("two", "code"));
}

int main(void)
{
#define WITH_CACHE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_CACHE(the_folder_is_a_file),
        WITH_CACHE(the_folder_cannot_be_made),
        WITH_CACHE(the_file_is_a_folder),
        WITH_CACHE(the_folder_is_open_to_all),
        WITH_CACHE(the_folder_is_open_to_the_group),
        WITH_CACHE(a_folder_above_is_open),
        WITH_CACHE(a_link_on_the_way),
        WITH_CACHE(files_are_looked_at),
        WITH_CACHE(the_folder_is_another_users),
        WITH_CACHE(the_file_is_a_link),
        WITH_CACHE(a_file_that_is_no_database),
        WITH_CACHE(a_truncated_file),
        WITH_CACHE(overwritten_pages),
        WITH_CACHE(a_wrong_checksum),
        WITH_CACHE(a_changed_part),
        WITH_CACHE(every_byte_of_a_row),
        WITH_CACHE(every_bit_of_a_number),
        WITH_CACHE(a_row_of_the_future_goes),
        WITH_CACHE(a_collision_of_hashes),
        WITH_CACHE(a_missing_table),
        WITH_CACHE(damage_under_an_open_cache),
        WITH_CACHE(a_later_version_is_left_alone),
        WITH_CACHE(a_foreign_database_is_left_alone),
        WITH_CACHE(a_locked_file),
        WITH_CACHE(a_full_disk),
        WITH_CACHE(a_read_only_folder),
        WITH_CACHE(killed_processes),
        WITH_CACHE(without_memory),
        WITH_CACHE(without_a_descriptor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
