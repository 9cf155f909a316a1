/* cache/cache.c - gets, puts and removes the rows of a cache, and records their use. */
#include "cache/cache.h"
#include "cache/cache_row.h"
#include "cache/database.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/lock.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const uint64_t default_limit = 1ULL << 30;
enum { DAY = 24 * 60 * 60, MINUTE = 60 };

/* One get, put or remove. */
typedef struct request {
    const void *what;
    size_t what_size;
    const char *with;
    kn_hash hash;
    const kn_blob *code, *aux; /* to put */
    kn_blob found_code, found_aux;
    bool is_found;
} request;

static char *join(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = kn_malloc(size);
    if (path)
        snprintf(path, size, "%s/%s", folder, name);
    return path;
}

kn_cache *kn_cache_create(const char *folder, bool read_only)
{
    kn_cache *cache = kn_calloc(1, sizeof *cache);
    kn_database *database = cache ? &cache->database : NULL;
    if (!cache)
        return NULL;
    database->read_only = read_only;
    database->limit = default_limit;
    database->folder = kn_strdup(folder);
    database->path = join(folder, KN_DATABASE_FILE);
    if (database->folder && database->path)
        return cache;
    kn_cache_free(cache);
    return NULL;
}

void kn_cache_set_limit(kn_cache *cache, uint64_t bytes)
{
    kn_database_enter();
    cache->database.limit = bytes;
    kn_database_leave(&cache->database);
}

const char *kn_cache_file(const kn_cache *cache)
{
    return cache->database.path;
}

/* The statement of most calls is prepared too: that reads the schema. */
void kn_cache_warm_up(kn_cache *cache)
{
    int rc;
    kn_database_enter();
    if (kn_database_ready(&cache->database))
        kn_database_statement(&cache->database, KN_SQL_FIND, &rc);
    kn_database_leave(&cache->database);
}

/* ---- rows ---- */

static const kn_blob no_bytes = KN_BLOB_INIT;

/* True if this row is the wanted one; *is_damaged if it is, but its bytes differ from those that were stored.
 */
static bool matches(sqlite3_stmt *row, const request *r, bool *is_damaged)
{
    kn_blob what = kn_row_column(row, KN_COLUMN_WHAT), aux = kn_row_column(row, KN_COLUMN_AUX),
            code = kn_row_column(row, KN_COLUMN_CODE);
    kn_blob stored = kn_row_column(row, KN_COLUMN_CHECKSUM);
    const char *producer = (const char *)sqlite3_column_text(row, KN_COLUMN_PRODUCER);
    kn_hash sum;
    if (!kn_row_equal(&what, r->what, r->what_size) ||
        (r->with && (!producer || strcmp(producer, r->with) != 0)))
        return false;
    sum = kn_row_checksum(producer ? producer : "", what.data, what.size, &aux, &code);
    *is_damaged = !kn_row_equal(&stored, sum.bytes, sizeof sum.bytes);
    return !*is_damaged;
}

static int take(sqlite3_stmt *row, request *r)
{
    kn_blob aux = kn_row_column(row, KN_COLUMN_AUX), code = kn_row_column(row, KN_COLUMN_CODE);
    if (!kn_blob_copy(&r->found_code, code.data, code.size))
        return SQLITE_NOMEM;
    if (!kn_blob_copy(&r->found_aux, aux.data, aux.size)) {
        kn_blob_free(&r->found_code);
        return SQLITE_NOMEM;
    }
    r->is_found = true;
    return SQLITE_OK;
}

/* Writes that a hit or a damaged row leaves until the reading statement has given its lock back. */
typedef struct afterwards {
    int64_t touch, drop; /* row ids, or 0 */
} afterwards;

/* The least age, in seconds, of the recorded use for which a new one is written. */
static int64_t worth(const kn_database *database)
{
    return database->is_tight ? 1 : MINUTE;
}

/* A use is forgotten where the list is full. */
static void remember_use(kn_database *database, int64_t id)
{
    for (int i = 0; i < database->n_touched; i++)
        if (database->touched[i] == id)
            return;
    if (database->is_writable && database->n_touched < KN_MOST_TOUCHED)
        database->touched[database->n_touched++] = id;
}

static int search(kn_database *database, request *r, sqlite3_stmt *row, afterwards *later)
{
    const int64_t now = kn_os_unix_seconds();
    int rc;
    while ((rc = sqlite3_step(row)) == SQLITE_ROW) {
        bool is_damaged = false;
        if (matches(row, r, &is_damaged)) {
            int64_t used = sqlite3_column_int64(row, KN_COLUMN_USED);
            if (used <= now - worth(database) || used >= now + DAY)
                later->touch = sqlite3_column_int64(row, KN_COLUMN_ID);
            return take(row, r);
        }
        if (is_damaged) {
            later->drop = sqlite3_column_int64(row, KN_COLUMN_ID);
            kn_database_note(database, "%s: the checksum of an entry is wrong, the entry has been dropped",
                             database->path);
        }
    }
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int get(kn_database *database, void *argument)
{
    request *r = argument;
    afterwards later = {0, 0};
    int rc;
    sqlite3_stmt *row = kn_database_statement(database, KN_SQL_FIND, &rc);
    if (!row)
        return rc;
    sqlite3_bind_blob(row, 1, r->hash.bytes, sizeof r->hash.bytes, SQLITE_STATIC);
    sqlite3_bind_text(row, 2, r->with, -1, SQLITE_STATIC);
    rc = search(database, r, row, &later);
    sqlite3_reset(row);
    sqlite3_clear_bindings(row);
    if (later.touch)
        remember_use(database, later.touch);
    if (later.drop)
        kn_row_run(database, KN_SQL_DROP_ROW, later.drop, 0);
    return rc;
}

static request make_request(const void *what, size_t what_size, const char *with)
{
    request r = {.what = what, .what_size = what_size, .with = with, .hash = kn_hash_index(what, what_size)};
    return r;
}

bool kn_cache_get(kn_cache *cache, const void *what, size_t what_size, const char *with, kn_blob *code,
                  kn_blob *aux)
{
    request r = make_request(what, what_size, with);
    kn_database_enter();
    kn_database_attempt(&cache->database, get, &r);
    kn_database_leave(&cache->database);
    if (!r.is_found)
        return false;
    *code = r.found_code;
    if (aux)
        *aux = r.found_aux;
    else
        kn_blob_free(&r.found_aux);
    return true;
}

/* ---- writing ---- */

static int bind_bytes(sqlite3_stmt *statement, int index, const void *data, size_t size)
{
    if (size > INT_MAX)
        return SQLITE_TOOBIG;
    return size ? sqlite3_bind_blob(statement, index, data, (int)size, SQLITE_STATIC)
                : sqlite3_bind_zeroblob(statement, index, 0);
}

static int remove_same(kn_database *database, const request *r)
{
    int rc;
    sqlite3_stmt *statement = kn_database_statement(database, KN_SQL_REPLACE, &rc);
    if (!statement)
        return rc;
    sqlite3_bind_blob(statement, 1, r->hash.bytes, sizeof r->hash.bytes, SQLITE_STATIC);
    sqlite3_bind_text(statement, 2, r->with, -1, SQLITE_STATIC);
    return kn_row_finish(statement, bind_bytes(statement, 3, r->what, r->what_size));
}

static int insert(kn_database *database, const request *r)
{
    kn_hash sum = kn_row_checksum(r->with, r->what, r->what_size, r->aux, r->code);
    int rc;
    sqlite3_stmt *statement = kn_database_statement(database, KN_SQL_INSERT, &rc);
    if (!statement)
        return rc;
    sqlite3_bind_blob(statement, 1, r->hash.bytes, sizeof r->hash.bytes, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 2, kn_os_unix_seconds());
    sqlite3_bind_int64(statement, 3, (int64_t)(r->what_size + r->aux->size + r->code->size));
    sqlite3_bind_blob(statement, 4, sum.bytes, sizeof sum.bytes, SQLITE_STATIC);
    sqlite3_bind_text(statement, 5, r->with, -1, SQLITE_STATIC);
    rc = bind_bytes(statement, 6, r->what, r->what_size);
    if (rc == SQLITE_OK)
        rc = bind_bytes(statement, 7, r->aux->data, r->aux->size);
    if (rc == SQLITE_OK)
        rc = bind_bytes(statement, 8, r->code->data, r->code->size);
    return kn_row_finish(statement, rc);
}

/* Writes the remembered uses. A row may be gone by now, which does not matter. */
static int touch_rows(kn_database *database, void *unused)
{
    const int64_t now = kn_os_unix_seconds();
    (void)unused;
    for (int i = 0; i < database->n_touched; i++)
        kn_row_run(database, KN_SQL_TOUCH, database->touched[i], now);
    database->n_touched = 0;
    return SQLITE_OK;
}

static int replace_row(kn_database *database, void *argument)
{
    const request *r = argument;
    int rc = remove_same(database, r);
    if (rc == SQLITE_OK)
        rc = touch_rows(database, NULL);
    if (rc == SQLITE_OK)
        rc = insert(database, r);
    return rc == SQLITE_OK ? kn_cache_evict(database) : rc;
}

static int put(kn_database *database, void *argument)
{
    return database->is_writable ? kn_row_transaction(database, argument, replace_row) : SQLITE_READONLY;
}

void kn_cache_put(kn_cache *cache, const void *what, size_t what_size, const char *with, const kn_blob *code,
                  const kn_blob *aux)
{
    request r = make_request(what, what_size, with ? with : "");
    r.code = code;
    r.aux = aux ? aux : &no_bytes;
    kn_database_enter();
    if (!kn_database_attempt(&cache->database, put, &r))
        cache->database.has_lost = true;
    kn_database_leave(&cache->database);
}

/* Without them nothing is wrong: whatever fails is forgotten. */
static int write_touched(kn_database *database, void *unused)
{
    (void)unused;
    if (database->n_touched > 0 && database->is_writable)
        kn_row_transaction(database, NULL, touch_rows);
    database->n_touched = 0;
    return SQLITE_OK;
}

bool kn_cache_flush(kn_cache *cache)
{
    kn_database *database = &cache->database;
    kn_database_enter();
    bool is_done =
        kn_database_attempt(database, write_touched, NULL) && database->is_writable && !database->has_lost;
    database->has_lost = false;
    kn_database_leave(database);
    return is_done;
}

/* Other threads may still use the file: they may be in the middle of it. */
void kn_cache_leave(kn_cache *cache)
{
    kn_database *database = &cache->database;
    if (!kn_database_try_enter())
        return;
    if (database->state == KN_DATABASE_OPEN && database->owner == kn_fork_count() &&
        database->n_touched > 0) {
        sqlite3_busy_timeout(database->db, 0);
        write_touched(database, NULL);
    }
    database->has_news = false;
    kn_database_leave(database);
}

void kn_cache_free(kn_cache *cache)
{
    if (!cache)
        return;
    kn_database_enter();
    if (cache->database.state == KN_DATABASE_OPEN)
        kn_database_attempt(&cache->database, write_touched, NULL);
    kn_database_close(&cache->database);
    cache->database.has_news = false;
    kn_database_leave(&cache->database);
    kn_free(cache->database.folder);
    kn_free(cache->database.path);
    kn_free(cache);
}

/* ---- removing, locking ---- */

static int remove_what(kn_database *database, void *argument)
{
    const request *r = argument;
    int rc;
    sqlite3_stmt *statement = kn_database_statement(database, KN_SQL_REMOVE, &rc);
    if (!statement)
        return rc;
    sqlite3_bind_blob(statement, 1, r->hash.bytes, sizeof r->hash.bytes, SQLITE_STATIC);
    return kn_row_finish(statement, bind_bytes(statement, 2, r->what, r->what_size));
}

void kn_cache_remove(kn_cache *cache, const void *what, size_t what_size)
{
    request r = make_request(what, what_size, NULL);
    kn_database_enter();
    kn_database_attempt(&cache->database, remove_what, &r);
    kn_database_leave(&cache->database);
}

/* Each key has one byte of the lock file; byte 0 is for setting a damaged file aside. */
bool kn_cache_lock(kn_cache *cache, const void *what, size_t what_size, kn_os_lock *lock, int timeout_ms)
{
    uint64_t hash = kn_hash_64(what, what_size);
    char file[PATH_MAX];
    bool is_ready;
    lock->fd = -1;
    kn_database_enter();
    is_ready = kn_database_ready(&cache->database) && cache->database.is_writable;
    memcpy(file, cache->database.lock_file, sizeof file);
    kn_database_leave(&cache->database);
    return is_ready && kn_os_lock_file_at(lock, file, (int64_t)(hash >> 2) + 1, timeout_ms);
}
