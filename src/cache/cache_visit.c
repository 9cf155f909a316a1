/* cache/cache_visit.c - counts, lists and removes the entries of a cache. */
#include "cache/cache.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "cache/cache_row.h"

static int read_totals(kn_database *database, void *argument)
{
    kiln_cache_stats *stats = argument;
    int rc;
    sqlite3_stmt *row = kn_database_statement(database, KN_SQL_TOTALS, &rc);
    if (!row)
        return rc;
    rc = sqlite3_step(row);
    if (rc == SQLITE_ROW) {
        stats->entries = (uint64_t)sqlite3_column_int64(row, 0);
        double bytes = sqlite3_column_double(row, 1); /* of damaged rows, any number */
        stats->bytes = bytes < 0x1p63 ? (uint64_t)bytes : UINT64_MAX;
    }
    sqlite3_reset(row);
    return rc == SQLITE_ROW ? kn_database_number(database, KN_SQL_COLLISIONS, &stats->collisions) : rc;
}

void kn_cache_fill_stats(kn_cache *cache, kiln_cache_stats *stats)
{
    kn_database *database = &cache->database;
    stats->entries = stats->bytes = stats->collisions = 0;
    kn_database_enter();
    kn_database_attempt(database, read_totals, stats);
    stats->writable = database->state == KN_DATABASE_OPEN && database->is_writable;
    stats->errors = database->errors;
    memcpy(stats->trouble, database->trouble, sizeof stats->trouble);
    kn_database_leave(database);
}

/* A row's copy, to be shown outside the gate. */
typedef struct listed {
    int64_t id; /* rows below it are to come */
    kiln_cache_entry entry;
    char *what, *compiler;
    bool is_found;
} listed;

static void free_listed(listed *l)
{
    kn_free(l->what);
    kn_free(l->compiler);
    l->what = l->compiler = NULL;
}

static int copy_listed(listed *l, sqlite3_stmt *row)
{
    const char *producer = (const char *)sqlite3_column_text(row, 4);
    kn_blob what = kn_row_column(row, 5);
    l->what = kn_strndup(what.size ? what.data : "", what.size);
    l->compiler = kn_strdup(producer ? producer : "");
    l->id = sqlite3_column_int64(row, 0);
    l->entry = (kiln_cache_entry){l->what, l->compiler, (uint64_t)sqlite3_column_int64(row, 3),
                                  sqlite3_column_int64(row, 1), sqlite3_column_int64(row, 2)};
    l->is_found = l->what && l->compiler;
    return l->is_found ? SQLITE_OK : SQLITE_NOMEM;
}

static int read_next(kn_database *database, void *argument)
{
    listed *l = argument;
    int rc;
    sqlite3_stmt *row = kn_database_statement(database, KN_SQL_NEXT, &rc);
    if (!row)
        return rc;
    sqlite3_bind_int64(row, 1, l->id);
    rc = sqlite3_step(row);
    if (rc == SQLITE_ROW)
        rc = copy_listed(l, row);
    else if (rc == SQLITE_DONE)
        rc = SQLITE_OK;
    sqlite3_reset(row);
    return rc;
}

kiln_status kn_cache_trouble(kn_cache *cache)
{
    char trouble[sizeof cache->database.trouble];
    bool is_memory;
    kn_database_enter();
    is_memory = (cache->database.last_rc & 0xff) == SQLITE_NOMEM;
    memcpy(trouble, cache->database.trouble, sizeof trouble);
    kn_database_leave(&cache->database);
    if (is_memory)
        return kn_error(KILN_ERROR_MEMORY, "out of memory while looking through the cache");
    return kn_error(KILN_ERROR_IO, "the cache cannot be used: %s", trouble);
}

kiln_status kn_cache_visit(kn_cache *cache, bool (*visit)(const kiln_cache_entry *entry, void *user),
                           void *user)
{
    listed l = {.id = INT64_MAX};
    for (;;) {
        bool is_read, goes_on;
        l.is_found = false;
        kn_database_enter();
        is_read = kn_database_attempt(&cache->database, read_next, &l);
        kn_database_leave(&cache->database);
        goes_on = is_read && l.is_found && visit(&l.entry, user);
        free_listed(&l);
        if (!is_read)
            return kn_cache_trouble(cache);
        if (!goes_on)
            return KILN_OK;
    }
}

static int clear(kn_database *database, void *argument)
{
    uint64_t *removed = argument;
    int rc = database->is_writable ? kn_database_execute(database, KN_SQL_CLEAR) : SQLITE_READONLY;
    if (rc != SQLITE_OK)
        return rc;
    *removed = (uint64_t)sqlite3_changes64(database->db);
    sqlite3_exec(database->db, "VACUUM", NULL, NULL,
                 NULL); /* where others are busy the file keeps its size */
    return SQLITE_OK;
}

kiln_status kn_cache_clear(kn_cache *cache, uint64_t *removed)
{
    uint64_t count = 0;
    bool is_done;
    kn_database_enter();
    is_done = kn_database_attempt(&cache->database, clear, &count);
    kn_database_leave(&cache->database);
    if (removed)
        *removed = count;
    return is_done ? KILN_OK : kn_cache_trouble(cache);
}

/* ---- all rows ---- */

typedef struct reading {
    int64_t id; /* rows below it are to come */
    bool (*visit)(const kn_cache_row *row, void *user);
    void *user;
    kn_blob what, aux, code;
    char *producer;
    bool is_found, is_damaged;
} reading;

static void free_reading(reading *r)
{
    kn_blob_free(&r->what);
    kn_blob_free(&r->aux);
    kn_blob_free(&r->code);
    kn_free(r->producer);
    r->producer = NULL;
}

static int copy_row(reading *r, sqlite3_stmt *row)
{
    kn_blob what = kn_row_column(row, KN_COLUMN_WHAT), aux = kn_row_column(row, KN_COLUMN_AUX),
            code = kn_row_column(row, KN_COLUMN_CODE), stored = kn_row_column(row, KN_COLUMN_CHECKSUM);
    const char *producer = (const char *)sqlite3_column_text(row, KN_COLUMN_PRODUCER);
    kn_hash sum = kn_row_checksum(producer ? producer : "", what.data, what.size, &aux, &code);
    r->id = sqlite3_column_int64(row, KN_COLUMN_ID);
    r->is_found = true;
    r->is_damaged = !kn_row_equal(&stored, sum.bytes, sizeof sum.bytes);
    if (r->is_damaged)
        return SQLITE_OK;
    r->producer = kn_strdup(producer ? producer : "");
    return r->producer && kn_blob_copy(&r->what, what.data, what.size) &&
                   kn_blob_copy(&r->aux, aux.data, aux.size) && kn_blob_copy(&r->code, code.data, code.size)
               ? SQLITE_OK
               : SQLITE_NOMEM;
}

static int read_row(kn_database *database, void *argument)
{
    reading *r = argument;
    int rc;
    sqlite3_stmt *row = kn_database_statement(database, KN_SQL_ROW, &rc);
    r->is_found = false;
    if (!row)
        return rc;
    sqlite3_bind_int64(row, 1, r->id);
    rc = sqlite3_step(row);
    if (rc == SQLITE_ROW)
        rc = copy_row(r, row);
    sqlite3_reset(row);
    if (r->is_found && r->is_damaged)
        kn_row_run(database, KN_SQL_DROP_ROW, r->id, 0);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

kiln_status kn_cache_read_all(kn_cache *cache, bool (*visit)(const kn_cache_row *row, void *user), void *user,
                              uint64_t *damaged)
{
    reading r = {.id = INT64_MAX};
    bool is_read, goes_on = true;
    *damaged = 0;
    do {
        kn_database_enter();
        is_read = kn_database_attempt(&cache->database, read_row, &r);
        kn_database_leave(&cache->database);
        const kn_cache_row row = {r.what, r.aux, r.code, r.producer};
        if (is_read && r.is_found && r.is_damaged)
            ++*damaged;
        else if (is_read && r.is_found)
            goes_on = visit(&row, user);
        free_reading(&r);
    } while (is_read && r.is_found && goes_on);
    return is_read ? KILN_OK : kn_cache_trouble(cache);
}
