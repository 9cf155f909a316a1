/* cache/database.h - the SQLite file behind a cache: opening, the schema, prepared statements, and recovery
 * from trouble.
 *
 * Every function here is called with the gate held (kn_database_enter): one lock for the whole process, so
 * that no child is born while a thread of ours is inside SQLite. */
#ifndef KN_CACHE_DATABASE_H
#define KN_CACHE_DATABASE_H

#include "base/os.h"

#include <limits.h>
#include <sqlite3.h>
#include <sys/types.h>

#define KN_DATABASE_FILE "kernels.sqlite"

typedef enum kn_statement {
    KN_SQL_BEGIN,
    KN_SQL_COMMIT,
    KN_SQL_ROLLBACK,
    KN_SQL_FIND,
    KN_SQL_TOUCH,
    KN_SQL_INSERT,
    KN_SQL_REPLACE,
    KN_SQL_REMOVE,
    KN_SQL_DROP_ROW,
    KN_SQL_AGE,
    KN_SQL_EVICT,
    KN_SQL_DEAD,
    KN_SQL_EVICT_DEAD,
    KN_SQL_ROW,
    KN_SQL_TOTALS,
    KN_SQL_COLLISIONS,
    KN_SQL_NEXT,
    KN_SQL_CLEAR,
    KN_SQL_PAGES,
    KN_SQL_COUNT
} kn_statement;

enum { KN_MOST_TOUCHED = 256 };

typedef enum kn_database_state {
    KN_DATABASE_UNOPENED,
    KN_DATABASE_OPEN,
    KN_DATABASE_UNUSABLE
} kn_database_state;

typedef struct kn_database {
    char *folder, *path;                      /* as told */
    char file[PATH_MAX], lock_file[PATH_MAX]; /* without links: the paths that were checked */
    bool read_only;                           /* as asked: a file that never changes */
    bool is_writable;                         /* as found */
    kn_database_state state;
    sqlite3 *db;
    sqlite3_stmt *statements[KN_SQL_COUNT];
    unsigned owner; /* kn_fork_count() of the process that opened db: no other may touch it */
    dev_t device;   /* which file it is, to see that another process has set it aside */
    ino_t inode;
    int set_aside;   /* how often this process has done so */
    double retry_at; /* the time of the next attempt, while others hold the file or it cannot be written */
    int last_rc;     /* of the last attempt */
    uint64_t errors;
    uint64_t limit;                   /* bytes */
    bool is_tight;                    /* at the last put it was not far from the limit: each use counts */
    bool is_evicting;                 /* it was beyond the limit, and is not yet at four fifths of it */
    int64_t touched[KN_MOST_TOUCHED]; /* rows that were used: written down with the next row, or later */
    int n_touched;
    bool has_lost; /* something that was to be written was not */
    bool has_news; /* trouble has to be reported once the gate is open */
    char trouble[256];
} kn_database;

/* Takes and opens the gate. Leaving reports the first trouble through the log. */
void kn_database_enter(void);
void kn_database_leave(kn_database *database);

/* The same where the gate is open and no other waits; false: it was not taken. */
bool kn_database_try_enter(void);
/* True if there is an open file; opens it at the first call. */
bool kn_database_ready(kn_database *database);
void kn_database_close(kn_database *database);

/* A prepared statement, ready to be bound; NULL with *rc set. */
sqlite3_stmt *kn_database_statement(kn_database *database, kn_statement which, int *rc);
/* The number that a statement without parameters gives; unchanged after a failure. */
int kn_database_number(kn_database *database, kn_statement which, uint64_t *out);
/* Runs one without parameters or results. */
int kn_database_execute(kn_database *database, kn_statement which);

/* Runs operation, and once more on a new file where it found the file damaged. False, counted, where it
 * failed. */
bool kn_database_attempt(kn_database *database, int (*operation)(kn_database *, void *), void *argument);

/* Counts one trouble; the first is stored and reported. */
void kn_database_note(kn_database *database, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* True if the folder exists (with `make` it is made) and only this user and root can put code into it; real
 * (PATH_MAX bytes) is its path without links, *reason the fault. */
bool kn_cache_folder_is_safe(char *real, const char *folder, bool make, char *reason, size_t size);

#endif
