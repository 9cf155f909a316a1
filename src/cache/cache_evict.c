/* cache/cache_evict.c - chooses and deletes rows where a cache is beyond its limit. */
#include "cache/cache.h"
#include "cache/cache_row.h"

enum {
    DAY = 24 * 60 * 60,
    EVICT_ROWS = 64, /* at once */
    EVICT_ROUNDS = 8 /* of a put: others wait meanwhile */
};

/* A row with a use in the future (its time is damaged, or a clock was wrong) would never go: its use is
 * reset. */
static int doubt_the_future(kn_database *database)
{
    int rc;
    sqlite3_stmt *statement = kn_database_statement(database, KN_SQL_AGE, &rc);
    if (!statement)
        return rc;
    return kn_row_finish(statement, sqlite3_bind_int64(statement, 1, kn_os_unix_seconds() + DAY));
}

/* A file of an earlier library has no index by producers. */
static const char by_producer[] = "CREATE INDEX IF NOT EXISTS code_producer ON code(producer, used, bytes)";

/* Removes rows of a producer (a toolchain) unused for a week; *gone: their number. */
static int evict_dead(kn_database *database, int64_t spared, int *gone)
{
    int rc;
    sqlite3_stmt *dead = kn_database_statement(database, KN_SQL_DEAD, &rc), *statement;
    *gone = 0;
    if (!dead)
        return rc;
    sqlite3_bind_int64(dead, 1, kn_os_unix_seconds() - 7 * DAY);
    rc = sqlite3_step(dead);
    statement = rc == SQLITE_ROW ? kn_database_statement(database, KN_SQL_EVICT_DEAD, &rc) : NULL;
    if (statement) {
        sqlite3_bind_value(statement, 1, sqlite3_column_value(dead, 0));
        sqlite3_reset(dead);
        sqlite3_bind_int64(statement, 2, spared);
        sqlite3_bind_int64(statement, 3, EVICT_ROWS);
        rc = kn_row_finish(statement, SQLITE_OK);
        *gone = rc == SQLITE_OK ? sqlite3_changes(database->db) : 0;
    }
    sqlite3_reset(dead);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int evict_oldest(kn_database *database, int64_t spared, uint64_t bytes, int *gone)
{
    int rc;
    sqlite3_stmt *statement = kn_database_statement(database, KN_SQL_EVICT, &rc);
    *gone = 0;
    if (!statement)
        return rc;
    sqlite3_bind_int64(statement, 1, bytes < INT64_MAX ? (int64_t)bytes : INT64_MAX);
    sqlite3_bind_int64(statement, 2, spared);
    sqlite3_bind_int64(statement, 3, EVICT_ROWS);
    rc = kn_row_finish(statement, SQLITE_OK);
    *gone = rc == SQLITE_OK ? sqlite3_changes(database->db) : 0;
    return rc;
}

/* Deletes some rows: those of dead producers, else the oldest. *gone is 0 where there is none but the spared
 * one. */
static int evict_some(kn_database *database, int64_t spared, uint64_t bytes, int *gone)
{
    int rc = evict_dead(database, spared, gone);
    return rc == SQLITE_OK && *gone == 0 ? evict_oldest(database, spared, bytes, gone) : rc;
}

int kn_cache_evict(kn_database *database)
{
    const int64_t spared = sqlite3_last_insert_rowid(database->db);
    const uint64_t wanted = database->limit / 5 * 4;
    uint64_t used = 0;
    int rc = kn_database_number(database, KN_SQL_PAGES, &used), gone = 1;
    database->is_tight = used > database->limit / 4 * 3;
    if (rc == SQLITE_OK && used > database->limit && !database->is_evicting) {
        database->is_evicting = true;
        rc = sqlite3_exec(database->db, by_producer, NULL, NULL, NULL);
        if (rc == SQLITE_OK)
            rc = doubt_the_future(database);
    }
    for (int round = 0; rc == SQLITE_OK && database->is_evicting && gone > 0; round++) {
        if (used <= wanted || (round >= EVICT_ROUNDS && used <= database->limit))
            break;
        rc = evict_some(database, spared, used - wanted, &gone);
        if (rc == SQLITE_OK)
            rc = kn_database_number(database, KN_SQL_PAGES, &used);
    }
    database->is_evicting = database->is_evicting && used > wanted && gone > 0;
    return rc;
}

/* ---- collecting ---- */

static int collect_some(kn_database *database, void *argument)
{
    int *gone = argument;
    uint64_t used = 0;
    int rc = kn_database_number(database, KN_SQL_PAGES, &used);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(database->db, by_producer, NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = doubt_the_future(database);
    if (rc == SQLITE_OK)
        rc = evict_dead(database, 0, gone);
    if (rc == SQLITE_OK && *gone == 0 &&
        used > (database->is_evicting ? database->limit / 5 * 4 : database->limit)) {
        database->is_evicting = true;
        rc = evict_oldest(database, 0, used - database->limit / 5 * 4, gone);
    }
    return rc;
}

static int collect(kn_database *database, void *argument)
{
    return database->is_writable ? kn_row_transaction(database, argument, collect_some) : SQLITE_READONLY;
}

static int shrink(kn_database *database, void *unused)
{
    (void)unused;
    database->is_evicting = false;
    sqlite3_exec(database->db, "VACUUM", NULL, NULL,
                 NULL); /* where others are busy the file keeps its size */
    return SQLITE_OK;
}

/* In steps, between which others come in. */
kiln_status kn_cache_collect(kn_cache *cache, uint64_t *removed)
{
    int gone = 0;
    bool is_done;
    *removed = 0;
    do {
        kn_database_enter();
        gone = 0;
        is_done = kn_database_attempt(&cache->database, collect, &gone);
        kn_database_leave(&cache->database);
        *removed += (uint64_t)gone;
    } while (is_done && gone > 0);
    kn_database_enter();
    is_done = kn_database_attempt(&cache->database, shrink, NULL) && is_done;
    kn_database_leave(&cache->database);
    return is_done ? KILN_OK : kn_cache_trouble(cache);
}
