/* cache/cache_row.h - the inside of kn_cache, and the columns of its rows. */
#ifndef KN_CACHE_CACHE_ROW_H
#define KN_CACHE_CACHE_ROW_H

#include "base/blob.h"
#include "cache/database.h"

struct kn_cache {
    kn_database database;
};

static inline kn_blob kn_row_column(sqlite3_stmt *row, int index)
{
    kn_blob view; /* of memory that is SQLite's until the next step */
    view.data = (void *)sqlite3_column_blob(row, index);
    view.size = (size_t)sqlite3_column_bytes(row, index);
    return view;
}

#endif
