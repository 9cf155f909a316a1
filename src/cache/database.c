/* cache/database.c - opens the SQLite file of a cache, and recovers from damage, locks and forks. */
#include "cache/database.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/shortage.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The schema, which is known only here. Small columns come first: listing then never reads the blobs. */
enum { SCHEMA_VERSION = 1, APPLICATION_ID = 0x6b696c6e /* "kiln" */ };
static const char schema[] = "CREATE TABLE code("
                             "id INTEGER PRIMARY KEY,"
                             "hash BLOB NOT NULL," /* XXH3-128 of what: an index, not a proof */
                             "created INTEGER NOT NULL,"
                             "used INTEGER NOT NULL,"  /* to the day; outside of the checksum, as is bytes */
                             "bytes INTEGER NOT NULL," /* of the row's blobs */
                             "checksum BLOB NOT NULL," /* XXH3-128 over producer, what, aux, code */
                             "producer TEXT NOT NULL,"
                             "what BLOB NOT NULL,"
                             "aux BLOB NOT NULL,"
                             "code BLOB NOT NULL);"
                             "CREATE INDEX code_hash ON code(hash);"
                             "CREATE INDEX code_used ON code(used, bytes);"
                             "CREATE INDEX code_producer ON code(producer, used, bytes);"
                             "PRAGMA application_id=1802071150;"
                             "PRAGMA user_version=1;";

static const char *const sql[KN_SQL_COUNT] = {
    [KN_SQL_BEGIN] = "BEGIN IMMEDIATE",
    [KN_SQL_COMMIT] = "COMMIT",
    [KN_SQL_ROLLBACK] = "ROLLBACK",
    [KN_SQL_FIND] = ("SELECT id, used, checksum, producer, what, aux, code FROM code WHERE hash=?1 AND "
                     "(?2 IS NULL OR producer=?2) ORDER BY id DESC"),
    [KN_SQL_TOUCH] = "UPDATE code SET used=?2 WHERE id=?1",
    [KN_SQL_INSERT] = ("INSERT INTO code(hash, created, used, bytes, checksum, producer, what, aux, code) "
                       "VALUES(?1, ?2, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"),
    [KN_SQL_REPLACE] = "DELETE FROM code WHERE hash=?1 AND producer=?2 AND what=?3",
    [KN_SQL_REMOVE] = "DELETE FROM code WHERE hash=?1 AND what=?2",
    [KN_SQL_DROP_ROW] = "DELETE FROM code WHERE id=?1",
    /* Deletes the least recently used rows until ?1 bytes are freed, but no more than ?3 rows. */
    [KN_SQL_EVICT] = ("DELETE FROM code WHERE id IN (SELECT id FROM (SELECT id, sum(max(bytes, 0)) OVER "
                      "(ORDER BY used, id) - max(bytes, 0) AS before FROM (SELECT id, used, bytes FROM code "
                      "WHERE id<>?2 ORDER BY used, id LIMIT ?3)) WHERE before<?1)"),
    [KN_SQL_DEAD] = "SELECT producer FROM code GROUP BY producer HAVING max(used)<?1 LIMIT 1",
    [KN_SQL_EVICT_DEAD] =
        ("DELETE FROM code WHERE id IN (SELECT id FROM code WHERE producer=?1 AND id<>?2 LIMIT ?3)"),
    [KN_SQL_ROW] = ("SELECT id, used, checksum, producer, what, aux, code FROM code WHERE id<?1 "
                    "ORDER BY id DESC LIMIT 1"),
    [KN_SQL_TOTALS] = "SELECT count(*), total(max(bytes, 0)) FROM code",
    /* Collisions: rows of the same hash are found in the index alone; only of these keys are read. */
    [KN_SQL_COLLISIONS] =
        ("SELECT ifnull(sum(keys - 1), 0) FROM (SELECT count(DISTINCT what) AS keys FROM code WHERE "
         "hash IN (SELECT hash FROM code GROUP BY hash HAVING count(*)>1) GROUP BY hash)"),
    [KN_SQL_AGE] = "UPDATE code SET used=0 WHERE used>?1",
    [KN_SQL_NEXT] =
        "SELECT id, created, used, bytes, producer, what FROM code WHERE id<?1 ORDER BY id DESC LIMIT 1",
    [KN_SQL_CLEAR] = "DELETE FROM code",
    [KN_SQL_PAGES] = ("SELECT (page_count - freelist_count) * page_size FROM pragma_page_count(), "
                      "pragma_freelist_count(), pragma_page_size()"),
};

#define LOCK_FILE "kernels.lock"

enum {
    BUSY_MS = 1000,     /* the longest wait for others */
    BACK_OFF_MS = 2000, /* so that a file that stays locked costs a fraction of the time */
    SET_ASIDE_MAX = 3
};

/* ---- the gate ---- */

/* SQLite writes, whatever is asked of it: within the gate a file that grows beyond a limit is an error, no
 * signal. Of the one thread that is inside. */
static kn_os_guard guard;

void kn_database_enter(void)
{
    kn_lock_take(KN_LOCK_CACHE);
    kn_os_guard_writes(&guard);
}

bool kn_database_try_enter(void)
{
    if (!kn_lock_try(KN_LOCK_CACHE))
        return false;
    kn_os_guard_writes(&guard);
    return true;
}

void kn_database_leave(kn_database *database)
{
    char trouble[sizeof database->trouble];
    bool has_news = database->has_news;
    if (has_news)
        memcpy(trouble, database->trouble, sizeof trouble);
    database->has_news = false;
    kn_os_unguard_writes(&guard);
    kn_lock_give(KN_LOCK_CACHE);
    if (has_news)
        kn_log(KILN_LOG_WARNING, "the kernel cache is not used as it should be: %s", trouble);
}

/* ---- forks ---- */

/* The program, or another library in it, may use SQLite as well: a child that was forked while a thread of
 * theirs was inside would wait for SQLite's own locks for ever. */
static bool is_stuck;

static void look_in_child(void)
{
    static const int ours[] = {SQLITE_MUTEX_STATIC_MASTER, SQLITE_MUTEX_STATIC_MEM, SQLITE_MUTEX_STATIC_OPEN,
                               SQLITE_MUTEX_STATIC_PRNG,   SQLITE_MUTEX_STATIC_LRU, SQLITE_MUTEX_STATIC_PMEM,
                               SQLITE_MUTEX_STATIC_VFS1};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        sqlite3_mutex *mutex = sqlite3_mutex_alloc(ours[i]);
        if (!mutex)
            continue; /* SQLite without threads */
        if (sqlite3_mutex_try(mutex) == SQLITE_OK)
            sqlite3_mutex_leave(mutex);
        else
            is_stuck = true;
    }
}

__attribute__((constructor)) static void register_fork(void)
{
    kn_fork_on_child(look_in_child);
}

static bool is_usable(kn_database *database)
{
    if (!is_stuck)
        return true;
    database->state = KN_DATABASE_UNUSABLE;
    kn_database_note(database, "%s: a thread was inside SQLite when this process was forked", database->path);
    return false;
}

void kn_database_note(kn_database *database, const char *format, ...)
{
    va_list args;
    database->errors++;
    if (database->trouble[0])
        return;
    va_start(args, format);
    vsnprintf(database->trouble, sizeof database->trouble, format, args);
    va_end(args);
    database->has_news = true;
}

/* ---- opening ---- */

static void give_up(kn_database *database)
{
    kn_database_close(database);
    database->state = KN_DATABASE_UNUSABLE;
}

void kn_database_close(kn_database *database)
{
    /* A connection that came through fork() belongs to the parent: not even closing it is allowed. */
    bool is_own = database->owner == kn_fork_count();
    for (int i = 0; i < KN_SQL_COUNT; i++) {
        if (is_own)
            sqlite3_finalize(database->statements[i]);
        database->statements[i] = NULL;
    }
    if (is_own)
        sqlite3_close(database->db);
    database->db = NULL;
    database->state = KN_DATABASE_UNOPENED;
    database->n_touched = 0; /* rows of another file, perhaps */
}

/* The file is made here, for SQLite would make it readable for all; its journal takes the mode over. Opened
 * and closed only while it is new: closing any descriptor of a file drops the locks that SQLite holds on it
 * in this process. */
static bool make_file(kn_database *database)
{
    int fd = kn_os_open(database->file, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (fd < 0)
        return errno == EEXIST;
    close(fd);
    return true;
}

/* Remembers the file's identity, to notice later that another process has set it aside. */
static bool remember_file(kn_database *database)
{
    struct stat info;
    if (!kn_shortage_unless(lstat(database->file, &info) == 0)) {
        kn_database_note(database, "%s: %s", database->path, strerror(errno));
        return false;
    }
    database->device = info.st_dev;
    database->inode = info.st_ino;
    return true;
}

/* Code of other users must not be run. Files that SQLite reads beside the database (it rolls a journal back
 * into it) and files that we lock are checked like the database: they may be from a time when the folder was
 * open to others. No new file comes from them, since by now the folder is closed. */
static bool are_trusted_files(kn_database *database)
{
    static const char *const endings[] = {"", "-journal", "-wal", "-shm"};
    char path[PATH_MAX + 16], reason[256];
    bool is_good;
    if (database
            ->read_only) /* opened as immutable: no journal is looked for, and images share files by links */
        is_good = kn_os_file_is_private(database->file, KN_OS_MAY_BE_LINKED, reason, sizeof reason);
    else
        is_good = kn_os_file_is_private(database->lock_file, KN_OS_MAY_BE_MISSING, reason, sizeof reason);
    for (size_t i = 0; is_good && !database->read_only && i < sizeof endings / sizeof *endings; i++) {
        snprintf(path, sizeof path, "%s%s", database->file, endings[i]);
        is_good = kn_os_file_is_private(path, i ? KN_OS_MAY_BE_MISSING : 0, reason, sizeof reason);
    }
    if (!is_good)
        kn_database_note(database, "%s", reason);
    return is_good;
}

/* "file:/path?immutable=1", for a file that never changes: no locks, which network file systems handle badly.
 */
static bool immutable_uri(char *out, size_t size, const char *path)
{
    size_t at = (size_t)snprintf(out, size, "file:");
    for (; *path && at + 16 < size; path++)
        at += (size_t)snprintf(out + at, size - at, strchr("%?#", *path) ? "%%%02X" : "%c",
                               (unsigned char)*path);
    snprintf(out + at, size - at, "?immutable=1");
    return *path == 0;
}

static int open_connection(kn_database *database)
{
    const int common = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE;
    char uri[PATH_MAX + 64];
    int rc;
    if (database->read_only) {
        if (!immutable_uri(uri, sizeof uri, database->file))
            return SQLITE_CANTOPEN;
        return sqlite3_open_v2(uri, &database->db, common | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
    }
    rc = sqlite3_open_v2(database->file, &database->db, common | SQLITE_OPEN_READWRITE, NULL);
    if ((rc & 0xff) == SQLITE_CANTOPEN || (rc & 0xff) == SQLITE_PERM) {
        sqlite3_close(database->db);
        database->db = NULL;
        rc = sqlite3_open_v2(database->file, &database->db, common | SQLITE_OPEN_READONLY, NULL);
    }
    /* This, and SQLite, open for reading what cannot be opened for writing, for want of a descriptor too:
     * then the next call tries again. */
    bool is_read_only = rc == SQLITE_OK && sqlite3_db_readonly(database->db, "main") == 1;
    if (is_read_only && access(database->file, W_OK) == 0) {
        kn_shortage_note(EMFILE);
        rc = SQLITE_NOMEM;
    }
    return rc;
}

static int read_integer(sqlite3 *db, const char *query, int *out)
{
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(db, query, -1, &statement, NULL);
    if (rc == SQLITE_OK && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
        *out = sqlite3_column_int(statement, 0);
        rc = SQLITE_OK;
    }
    sqlite3_finalize(statement);
    return rc;
}

/* Rollback journal: several versions of SQLite can damage a file in WAL mode, and the mode stays with the
 * file. */
static int configure(kn_database *database)
{
    const char *pragmas =
        "PRAGMA mmap_size=0; PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA temp_store=MEMORY;"
        "PRAGMA synchronous=OFF; PRAGMA cache_size=-512;";
    int rc;
    sqlite3_busy_timeout(database->db, BUSY_MS);
    sqlite3_db_config(database->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    rc = sqlite3_exec(database->db, pragmas, NULL, NULL, NULL);
    database->is_writable = !database->read_only && sqlite3_db_readonly(database->db, "main") == 0;
    if (rc == SQLITE_OK && database->is_writable)
        rc = sqlite3_exec(database->db, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL);
    return rc;
}

/* Under a write lock, for another process may be at the same. */
static int create_schema(kn_database *database)
{
    int version = 0, rc = sqlite3_exec(database->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (rc != SQLITE_OK)
        return rc;
    rc = read_integer(database->db, "PRAGMA user_version", &version);
    if (rc == SQLITE_OK && version == 0)
        rc = sqlite3_exec(database->db, schema, NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(database->db, "COMMIT", NULL, NULL, NULL);
    if (rc != SQLITE_OK)
        sqlite3_exec(database->db, "ROLLBACK", NULL, NULL, NULL);
    return rc;
}

/* The version, the application id and the number of objects of a file. */
typedef struct file_kind {
    int version, application, objects;
} file_kind;

/* In one transaction: another process may be making the schema at this moment. */
static int read_kind(kn_database *database, file_kind *kind)
{
    int rc = sqlite3_exec(database->db, "BEGIN", NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = read_integer(database->db, "PRAGMA user_version", &kind->version);
    if (rc == SQLITE_OK)
        rc = read_integer(database->db, "PRAGMA application_id", &kind->application);
    if (rc == SQLITE_OK && kind->version == 0)
        rc = read_integer(database->db, "SELECT count(*) FROM sqlite_master", &kind->objects);
    if (!sqlite3_get_autocommit(database->db))
        sqlite3_exec(database->db, "ROLLBACK", NULL, NULL, NULL);
    return rc;
}

/* A file of another program or of a later version is left as it is. */
static int check_schema(kn_database *database)
{
    file_kind kind = {0, 0, 0};
    int rc = read_kind(database, &kind);
    if (rc != SQLITE_OK)
        return rc;
    if (kind.version == SCHEMA_VERSION && kind.application == APPLICATION_ID)
        return SQLITE_OK;
    if (kind.version == 0 && kind.application == 0 && kind.objects == 0 && database->is_writable)
        return create_schema(database);
    if (kind.application == APPLICATION_ID)
        kn_database_note(database, "%s has version %d, this library knows %d", database->path, kind.version,
                         SCHEMA_VERSION);
    else
        kn_database_note(database, "%s is not a kernel cache", database->path);
    return SQLITE_MISMATCH;
}

static int open_file(kn_database *database)
{
    int rc;
    database->owner = kn_fork_count();
    rc = open_connection(database);
    if (rc == SQLITE_OK)
        rc = configure(database);
    if (rc == SQLITE_OK)
        rc = check_schema(database);
    if (rc == SQLITE_OK)
        database->state = KN_DATABASE_OPEN;
    return rc;
}

/* ---- trouble ---- */

static bool is_damage(int rc)
{
    return (rc & 0xff) == SQLITE_CORRUPT || (rc & 0xff) == SQLITE_NOTADB;
}

static int system_errno(const kn_database *database, int rc)
{
    bool is_of_system = (rc & 0xff) == SQLITE_IOERR || (rc & 0xff) == SQLITE_CANTOPEN;
    return database->db && is_of_system ? sqlite3_system_errno(database->db) : 0;
}

/* False for a file that is no cache of ours, or not to be opened, whenever it is tried. */
static bool may_pass(const kn_database *database, int rc)
{
    static const int passing[] = {SQLITE_BUSY, SQLITE_LOCKED, SQLITE_NOMEM, SQLITE_FULL, SQLITE_IOERR};
    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
        if ((rc & 0xff) == passing[i])
            return true;
    return kn_shortage_note(system_errno(database, rc));
}

/* The system's reason for SQLite's "disk I/O error"; "" where it says no more. */
static const char *system_reason(const kn_database *database, int rc)
{
    static const int telling[] = {EDQUOT, ENOSPC, EROFS, ESTALE, EMFILE, ENFILE};
    int reason = system_errno(database, rc);
    for (size_t i = 0; i < sizeof telling / sizeof *telling; i++)
        if (telling[i] == reason)
            return strerror(reason);
    return "";
}

/* Another try comes later, for the trouble may pass: a lock of others, a full disk. */
static void back_off(kn_database *database, int rc)
{
    bool is_its_own = database->db && sqlite3_extended_errcode(database->db) == rc;
    const char *reason = is_its_own ? sqlite3_errmsg(database->db) : sqlite3_errstr(rc),
               *more = system_reason(database, rc);
    if ((rc & 0xff) != SQLITE_MISMATCH) /* it has been counted */
        kn_database_note(database, "%s: %s%s%s", database->path, reason, *more ? ": " : "", more);
    /* The next call may have memory or a descriptor, and an unwritable file may be readable. */
    bool is_shortage = (rc & 0xff) == SQLITE_NOMEM || kn_shortage_note(system_errno(database, rc));
    if (!is_shortage && (rc != SQLITE_READONLY || database->is_writable))
        database->retry_at = kn_os_now_ms() + BACK_OFF_MS;
}

static void rename_damaged(const kn_database *database, const char *suffix)
{
    char from[PATH_MAX + 32], to[PATH_MAX + 32];
    if ((size_t)snprintf(from, sizeof from, "%s%s", database->file, suffix) < sizeof from &&
        (size_t)snprintf(to, sizeof to, "%s.damaged%s", database->file, suffix) < sizeof to)
        rename(from, to);
}

/* One process does it: the others see by the file's number that it is another one by now, and open that. */
static bool set_aside(kn_database *database)
{
    kn_os_lock lock = KN_OS_LOCK_INIT;
    struct stat info;
    kn_database_note(database, "%s was damaged and has been set aside", database->path);
    kn_database_close(database);
    if (database->read_only || database->set_aside++ >= SET_ASIDE_MAX ||
        !kn_os_lock_file_at(&lock, database->lock_file, 0, BUSY_MS))
        return false;
    if (lstat(database->file, &info) == 0 && info.st_dev == database->device &&
        info.st_ino == database->inode) {
        rename_damaged(database, "");
        rename_damaged(database, "-journal");
    }
    kn_os_unlock_file(&lock);
    return lstat(database->file, &info) != 0 || info.st_ino != database->inode ||
           info.st_dev != database->device;
}

/* The paths that are used from here on: a link in the given path might be changed. */
static bool find_place(kn_database *database)
{
    char reason[256], real[PATH_MAX];
    if (!kn_cache_folder_is_safe(real, database->folder, !database->read_only, reason, sizeof reason)) {
        kn_database_note(database, "%s", reason);
        return false;
    }
    if ((size_t)snprintf(database->file, PATH_MAX, "%s/%s", real, KN_DATABASE_FILE) < PATH_MAX &&
        (size_t)snprintf(database->lock_file, PATH_MAX, "%s/%s", real, LOCK_FILE) < PATH_MAX)
        return true;
    kn_database_note(database, "%s is too long a path", real);
    return false;
}

static bool prepare_place(kn_database *database)
{
    if (!find_place(database))
        return false;
    if (!database->read_only && !make_file(database)) {
        kn_database_note(database, "%s: %s", database->path, strerror(errno));
        return false;
    }
    return are_trusted_files(database) && remember_file(database);
}

/* Opens; a damaged file is set aside and a new one begun. */
static void open_database(kn_database *database)
{
    for (;;) {
        int rc;
        unsigned before = kn_shortages();
        if (!prepare_place(database)) {
            if (kn_shortages() == before)
                give_up(database);
            return;
        }
        rc = open_file(database);
        if (rc == SQLITE_OK)
            return;
        if (is_damage(rc) && set_aside(database))
            continue;
        if (!is_damage(rc))
            back_off(database, rc);
        bool is_final = !may_pass(database, rc);
        kn_database_close(database);
        if (is_final)
            database->state = KN_DATABASE_UNUSABLE;
        return;
    }
}

bool kn_database_ready(kn_database *database)
{
    if (!is_usable(database))
        return false;
    if (database->state == KN_DATABASE_OPEN && database->owner == kn_fork_count() && !database->retry_at)
        return true;
    if (database->retry_at && kn_os_now_ms() < database->retry_at) {
        database->errors++;
        return false;
    }
    database->retry_at = 0;
    if (database->state == KN_DATABASE_OPEN && database->owner != kn_fork_count())
        kn_database_close(database);
    if (database->state == KN_DATABASE_UNOPENED) {
        kn_error_state before; /* whatever happens here is not the caller's failure */
        kn_error_save(&before);
        open_database(database);
        kn_error_restore(&before);
    } else if (database->state == KN_DATABASE_UNUSABLE)
        database->errors++;
    return database->state == KN_DATABASE_OPEN;
}

/* ---- statements ---- */

sqlite3_stmt *kn_database_statement(kn_database *database, kn_statement which, int *rc)
{
    sqlite3_stmt **prepared = &database->statements[which];
    *rc = SQLITE_OK;
    if (!*prepared) {
        *rc = sqlite3_prepare_v3(database->db, sql[which], -1, SQLITE_PREPARE_PERSISTENT, prepared, NULL);
        if (*rc == SQLITE_ERROR) /* a table or column is missing: the text itself is right */
            *rc = SQLITE_CORRUPT;
    }
    return *prepared;
}

int kn_database_number(kn_database *database, kn_statement which, uint64_t *out)
{
    int rc;
    sqlite3_stmt *row = kn_database_statement(database, which, &rc);
    if (!row)
        return rc;
    rc = sqlite3_step(row);
    if (rc == SQLITE_ROW)
        *out = (uint64_t)sqlite3_column_int64(row, 0);
    sqlite3_reset(row);
    return rc == SQLITE_ROW ? SQLITE_OK : rc;
}

int kn_database_execute(kn_database *database, kn_statement which)
{
    int rc;
    sqlite3_stmt *statement = kn_database_statement(database, which, &rc);
    if (!statement)
        return rc;
    rc = sqlite3_step(statement);
    sqlite3_reset(statement);
    return rc == SQLITE_DONE || rc == SQLITE_ROW ? SQLITE_OK : rc;
}

bool kn_database_attempt(kn_database *database, int (*operation)(kn_database *, void *), void *argument)
{
    database->last_rc = SQLITE_OK;
    while (kn_database_ready(database)) {
        int rc = database->last_rc = operation(database, argument);
        if (rc == SQLITE_OK)
            return true;
        if (!is_damage(rc)) {
            back_off(database, rc);
            return false;
        }
        if (!set_aside(database)) {
            give_up(database);
            return false;
        }
    }
    return false;
}
