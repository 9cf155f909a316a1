/* cache/cache_row.h - the inside of kn_cache: its rows, and the functions that read and write them. To be
 * called with the gate held. */
#ifndef KN_CACHE_CACHE_ROW_H
#define KN_CACHE_CACHE_ROW_H

#include <kiln/base.h>
#include "base/blob.h"
#include "base/hash.h"
#include "cache/database.h"

struct kn_cache {
    kn_database database;
};

/* The columns of KN_SQL_FIND and KN_SQL_ROW. */
enum {
    KN_COLUMN_ID,
    KN_COLUMN_USED,
    KN_COLUMN_CHECKSUM,
    KN_COLUMN_PRODUCER,
    KN_COLUMN_WHAT,
    KN_COLUMN_AUX,
    KN_COLUMN_CODE
};

static inline kn_blob kn_row_column(sqlite3_stmt *row, int index)
{
    kn_blob view; /* of SQLite's memory, valid until the next sqlite3_step */
    view.data = (void *)sqlite3_column_blob(row, index);
    view.size = (size_t)sqlite3_column_bytes(row, index);
    return view;
}

kn_hash kn_row_checksum(const char *producer, const void *what, size_t what_size, const kn_blob *aux,
                        const kn_blob *code);
bool kn_row_equal(const kn_blob *view, const void *data, size_t size);

/* Runs a statement with one or two integers; its outcome does not matter to the caller. */
void kn_row_run(kn_database *database, kn_statement which, int64_t id, int64_t value);
/* Steps a statement whose parameters were bound with rc, and lets go of them. */
int kn_row_finish(sqlite3_stmt *statement, int rc);
/* Everything of body or nothing. */
int kn_row_transaction(kn_database *database, void *argument, int (*body)(kn_database *, void *));

/* Why the last attempt failed, as an error. */
kiln_status kn_cache_trouble(struct kn_cache *cache);

/* Removes rows if the cache is beyond its limit, but never the new one. It runs after a put, in the same
 * transaction: this put removes rows down to the limit, later ones down to four fifths of it. */
int kn_cache_evict(kn_database *database);

#endif
