/* cache/cache_row.c - checksums, statements and transactions of rows. */
#include "cache/cache_row.h"

#include <string.h>

/* Each part is hashed by itself, so that no part can pass for the beginning of the next. */
kn_hash kn_row_checksum(const char *producer, const void *what, size_t what_size, const kn_blob *aux,
                        const kn_blob *code)
{
    kn_hash parts[4];
    parts[0] = kn_hash_128(producer, strlen(producer));
    parts[1] = kn_hash_128(what, what_size);
    parts[2] = kn_hash_128(aux->data, aux->size);
    parts[3] = kn_hash_128(code->data, code->size);
    return kn_hash_128(parts, sizeof parts);
}

bool kn_row_equal(const kn_blob *view, const void *data, size_t size)
{
    return view->size == size && (size == 0 || !memcmp(view->data, data, size));
}

void kn_row_run(kn_database *database, kn_statement which, int64_t id, int64_t value)
{
    int rc;
    sqlite3_stmt *statement;
    if (!database->is_writable)
        return;
    statement = kn_database_statement(database, which, &rc);
    if (!statement)
        return;
    sqlite3_bind_int64(statement, 1, id);
    if (sqlite3_bind_parameter_count(statement) > 1)
        sqlite3_bind_int64(statement, 2, value);
    sqlite3_step(statement);
    sqlite3_reset(statement);
}

int kn_row_finish(sqlite3_stmt *statement, int rc)
{
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* Everything of body or nothing. */
int kn_row_transaction(kn_database *database, void *argument, int (*body)(kn_database *, void *))
{
    int rc = kn_database_execute(database, KN_SQL_BEGIN);
    if (rc != SQLITE_OK)
        return rc;
    rc = body(database, argument);
    if (rc == SQLITE_OK)
        rc = kn_database_execute(database, KN_SQL_COMMIT);
    if (rc != SQLITE_OK && !sqlite3_get_autocommit(database->db))
        kn_database_execute(database, KN_SQL_ROLLBACK);
    return rc;
}
