/* Files that are cut off, zeroed and scrambled, and disks that fail: no crash, no hang, no wrong row. */
#include "crash_common.h"

#include <sqlite3.h>

#include "base/error.h"

enum { ROWS = 40, ROW_BYTES = 6000 };

/* ---- files ---- */

static kn_blob model = KN_BLOB_INIT; /* a file with all rows */

static void file_name(char path[300])
{
    snprintf(path, 300, "%s/kernels.sqlite", folder);
}

static int make_model(void **state)
{
    char path[300];
    if (make_folder(state) != 0)
        return 1;
    kn_cache *cache = open_cache();
    for (unsigned n = 0; n < ROWS; n++)
        put_row(cache, n, ROW_BYTES);
    kn_cache_free(cache);
    file_name(path);
    return kn_os_read_file(&model, path) != KILN_OK;
}

static int drop_model(void **state)
{
    kn_blob_free(&model);
    return remove_folder(state);
}

/* One of the ways in which files go wrong. */
static size_t damage(unsigned char *bytes, size_t size, uint64_t *seed)
{
    size_t at = (size_t)(next_random(seed) % size), length = (size_t)(next_random(seed) % 5000);
    length = length < size - at ? length : size - at;
    switch (next_random(seed) % 5) {
    case 0:
        return at;
    case 1:
        memset(bytes + at, 0, length);
        return size;
    case 2:
        for (size_t i = 0; i < length; i++)
            bytes[at + i] = (unsigned char)next_random(seed);
        return size;
    case 3: /* a page in another's place */
        memmove(bytes + at / 4096 * 4096, bytes + (size_t)(next_random(seed) % (size / 4096)) * 4096, 4096);
        return size;
    default:
        for (int i = 0; i < 8; i++)
            bytes[next_random(seed) % size] ^= (unsigned char)(1 << next_random(seed) % 8);
        return size;
    }
}

/* Returns how many rows are still there. */
static int use_damaged(int round)
{
    int right = 0;
    kn_cache *cache = open_cache();
    for (unsigned n = 0; n < ROWS; n++) {
        row_state is = look_at_row(cache, n, ROW_BYTES);
        if (is == ROW_WRONG)
            fail_msg("round %d: row %u is wrong", round, n);
        right += is == ROW_RIGHT;
    }
    put_row(cache, 1000, ROW_BYTES);
    assert_int_not_equal(look_at_row(cache, 1000, ROW_BYTES), ROW_WRONG);
    kn_cache_free(cache);
    return right;
}

static void damaged_files_give_no_wrong_row(void **state)
{
    int rounds = times(10000), whole = 0;
    uint64_t seed = 7;
    char path[300];
    unsigned char *bytes = malloc(model.size);
    double slowest = 0;
    (void)state;
    file_name(path);
    for (int round = 0; round < rounds; round++) {
        memcpy(bytes, model.data, model.size);
        size_t size = damage(bytes, model.size, &seed);
        assert_int_equal(kn_os_write_file(path, bytes, size), KILN_OK);
        double start = kn_os_now_ms();
        whole += use_damaged(round) == ROWS;
        double ms = kn_os_now_ms() - start;
        slowest = ms > slowest ? ms : slowest;
    }
    free(bytes);
    print_message("%d files, %d of them without a loss, the slowest took %.0f ms\n", rounds, whole, slowest);
    assert_true(slowest < 100e3);
}

/* ---- rows ---- */

static void change_row(const char *column, int byte, int bit)
{
    sqlite3 *db;
    sqlite3_stmt *row;
    char path[300], sql[300];
    file_name(path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    snprintf(sql, sizeof sql, "SELECT CAST(%s AS BLOB), typeof(%s) FROM code WHERE id=1", column, column);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &row, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(row), SQLITE_ROW);
    int size = sqlite3_column_bytes(row, 0);
    unsigned char *bytes = malloc((size_t)size);
    memcpy(bytes, sqlite3_column_blob(row, 0), (size_t)size);
    bytes[byte] ^= (unsigned char)(1 << bit);
    sqlite3_finalize(row);
    snprintf(sql, sizeof sql, "UPDATE code SET %s=CAST(?1 AS %s) WHERE id=1", column,
             strcmp(column, "producer") == 0 ? "TEXT" : "BLOB");
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &row, NULL), SQLITE_OK);
    sqlite3_bind_blob(row, 1, bytes, size, SQLITE_TRANSIENT);
    assert_int_equal(sqlite3_step(row), SQLITE_DONE);
    sqlite3_finalize(row);
    sqlite3_close(db);
    free(bytes);
}

static int size_of(const char *column)
{
    sqlite3 *db;
    sqlite3_stmt *row;
    char path[300], sql[200];
    file_name(path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    snprintf(sql, sizeof sql, "SELECT length(CAST(%s AS BLOB)) FROM code WHERE id=1", column);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &row, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(row), SQLITE_ROW);
    int size = sqlite3_column_int(row, 0);
    sqlite3_finalize(row);
    sqlite3_close(db);
    return size;
}

/* Every byte of what a row holds, one after the other: a miss each time, and right again once it is put
 * anew. */
static void every_byte_of_a_row(void **state)
{
    static const char *const columns[] = {"hash", "checksum", "producer", "what", "code"};
    enum { BYTES = 400 };
    (void)state;
    kn_os_remove_folder(folder);
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        kn_cache *cache = open_cache();
        put_row(cache, 3, BYTES);
        int size = size_of(columns[c]);
        assert_true(size > 0);
        for (int byte = 0; byte < size; byte++) {
            change_row(columns[c], byte, byte % 8);
            if (look_at_row(cache, 3, BYTES) != ROW_MISSING)
                fail_msg("%s: byte %d is not looked at", columns[c], byte);
            kn_cache_clear(cache, NULL);
            put_row(cache, 3, BYTES);
            if (look_at_row(cache, 3, BYTES) != ROW_RIGHT)
                fail_msg("%s: after byte %d the row is not healed", columns[c], byte);
        }
        kn_cache_free(cache);
        kn_os_remove_folder(folder);
    }
}

/* ---- disks that fail: a VFS over SQLite's own ---- */

/* The nth call of any function of a file, and all after it, fail in one of these ways. */
static const int failures[] = {SQLITE_FULL, SQLITE_IOERR_WRITE, SQLITE_IOERR_READ, SQLITE_READONLY,
                               SQLITE_CANTOPEN};
static struct {
    long at, calls;
    int code;
    bool is_once;
} fault;

static bool fails(void)
{
    long call = ++fault.calls;
    return fault.at > 0 && (fault.is_once ? call == fault.at : call >= fault.at);
}

typedef struct shim_file {
    sqlite3_file base;
    sqlite3_file *real;
} shim_file;

static sqlite3_vfs *real_vfs;

#define REAL(f) (((shim_file *)(f))->real)
#define FORWARD(f, call, ...) (fails() ? fault.code : REAL(f)->pMethods->call(REAL(f), __VA_ARGS__))

static int shim_close(sqlite3_file *f)
{
    return REAL(f)->pMethods ? REAL(f)->pMethods->xClose(REAL(f)) : SQLITE_OK;
}
static int shim_read(sqlite3_file *f, void *to, int n, sqlite3_int64 at)
{
    return FORWARD(f, xRead, to, n, at);
}
static int shim_write(sqlite3_file *f, const void *from, int n, sqlite3_int64 at)
{
    return FORWARD(f, xWrite, from, n, at);
}
static int shim_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    return FORWARD(f, xTruncate, size);
}
static int shim_sync(sqlite3_file *f, int flags)
{
    return FORWARD(f, xSync, flags);
}
static int shim_size(sqlite3_file *f, sqlite3_int64 *size)
{
    return FORWARD(f, xFileSize, size);
}
static int shim_lock(sqlite3_file *f, int level)
{
    return FORWARD(f, xLock, level);
}
static int shim_unlock(sqlite3_file *f, int level)
{
    return REAL(f)->pMethods->xUnlock(REAL(f), level);
}
static int shim_reserved(sqlite3_file *f, int *out)
{
    return FORWARD(f, xCheckReservedLock, out);
}
static int shim_control(sqlite3_file *f, int op, void *argument)
{
    return REAL(f)->pMethods->xFileControl(REAL(f), op, argument);
}
static int shim_sector(sqlite3_file *f)
{
    return REAL(f)->pMethods->xSectorSize(REAL(f));
}
static int shim_device(sqlite3_file *f)
{
    return REAL(f)->pMethods->xDeviceCharacteristics(REAL(f));
}

static const sqlite3_io_methods shim_methods = {
    1,         shim_close,  shim_read,     shim_write,   shim_truncate, shim_sync,   shim_size,
    shim_lock, shim_unlock, shim_reserved, shim_control, shim_sector,   shim_device, NULL,
    NULL,      NULL,        NULL,          NULL,         NULL};

static int shim_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *out)
{
    shim_file *shim = (shim_file *)f;
    (void)vfs;
    shim->real = (sqlite3_file *)(void *)(shim + 1);
    shim->base.pMethods = NULL;
    if (fails())
        return SQLITE_CANTOPEN;
    int rc = real_vfs->xOpen(real_vfs, name, shim->real, flags, out);
    shim->base.pMethods = rc == SQLITE_OK ? &shim_methods : NULL;
    return rc;
}

static int shim_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    (void)vfs;
    return fails() ? SQLITE_IOERR_DELETE : real_vfs->xDelete(real_vfs, name, sync);
}

static void install_shim(void)
{
    static sqlite3_vfs shim;
    if (real_vfs)
        return;
    sqlite3_initialize();
    real_vfs = sqlite3_vfs_find(NULL);
    shim = *real_vfs;
    shim.zName = "shim";
    shim.szOsFile = (int)sizeof(shim_file) + real_vfs->szOsFile;
    shim.xOpen = shim_open;
    shim.xDelete = shim_delete;
    sqlite3_vfs_register(&shim, 1);
}

/* A few calls of a process. The rows are right or missing, whatever fails. */
static void use_cache(int code, long at)
{
    kn_cache *cache = open_cache();
    for (unsigned n = 0; n < 4; n++) {
        if (look_at_row(cache, n, ROW_BYTES) == ROW_WRONG)
            fail_msg("failure %d at %ld: row %u is wrong", code, at, n);
        put_row(cache, n + 2, ROW_BYTES);
    }
    kn_cache_flush(cache);
    kn_cache_free(cache);
}

/* ... and what had been put before, and was not touched, is there when the disk works again. */
static void look_when_healed(int code, long at)
{
    fault.at = 0;
    kn_cache *cache = open_cache();
    put_row(cache, 9, ROW_BYTES);
    if (look_at_row(cache, 9, ROW_BYTES) != ROW_RIGHT)
        fail_msg("failure %d at %ld: the cache is not usable afterwards", code, at);
    for (unsigned n = 0; n < 8; n++)
        if (look_at_row(cache, n, ROW_BYTES) == ROW_WRONG)
            fail_msg("failure %d at %ld: row %u is wrong afterwards", code, at, n);
    kn_cache_free(cache);
}

static void every_operation_of_the_disk_fails(void **state)
{
    long tried = 0;
    (void)state;
    install_shim();
    for (size_t f = 0; f < sizeof failures / sizeof *failures; f++)
        for (int once = 0; once < 2; once++)
            for (long at = 1;; at += getenv("KILN_SOAK") ? 1 : 3) {
                kn_os_remove_folder(folder);
                fault.at = 0;
                kn_cache *cache = open_cache();
                put_row(cache, 0, ROW_BYTES);
                kn_cache_free(cache);
                fault.calls = 0;
                fault.code = failures[f];
                fault.is_once = once;
                fault.at = at;
                use_cache(failures[f], at);
                bool is_beyond = fault.calls < at;
                look_when_healed(failures[f], at);
                tried++;
                if (is_beyond)
                    break;
            }
    print_message("%ld failures\n", tried);
    assert_true(tried > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(damaged_files_give_no_wrong_row, make_model, drop_model),
        cmocka_unit_test_setup_teardown(every_byte_of_a_row, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(every_operation_of_the_disk_fails, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
