/*
 * kiln/cache.h - the user's on-disk cache of compiled kernels.
 *
 *     char path[4096];
 *     kiln_cache_path(path, sizeof path);
 *     kiln_cache_stats s = KILN_CACHE_STATS_INIT;
 *     kiln_cache_get_stats(&s);
 *
 * One SQLite file in KILN_CACHE_DIR, else $XDG_CACHE_HOME/kiln, else ~/.cache/kiln. The cache never
 * makes a call fail: whatever is wrong with it, kernels are compiled instead, and the trouble is
 * counted here. Thread-safe, and safe among processes.
 *
 * The folder holds code that is run: where others may write to it (its group too), or to a folder
 * above it without the sticky bit, there is no cache, and the trouble says so. `chmod go-w` mends
 * it.
 */
#ifndef KILN_CACHE_H
#define KILN_CACHE_H

#include <kiln/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kiln_cache_stats {
    size_t struct_size;
    uint64_t entries, bytes;                           /* in the file */
    uint64_t memory_hits, disk_hits, misses, compiles; /* of this process */
    uint64_t errors;   /* times the cache could not be used in this process */
    double compile_ms; /* spent in compilers by this process */
    bool writable;
    char trouble[256]; /* the first trouble of this process, or "" */
    uint64_t bundles,
        bundles_refused;  /* attached by now; that could not be read (the log says why) */
    uint64_t bundle_hits; /* of disk_hits: found in bundles */
} kiln_cache_stats;
#define KILN_CACHE_STATS_INIT                                                                      \
    {                                                                                              \
        sizeof(kiln_cache_stats), 0, 0, 0, 0, 0, 0, 0, 0, false, {0}, 0, 0, 0                      \
    }

/* Writes the file's path; KILN_ERROR_INVALID where size is too small, KILN_ERROR_NOT_FOUND where
 * there is no place for a cache. */
KILN_API kiln_status kiln_cache_path(char *buffer, size_t size);
KILN_API kiln_status kiln_cache_get_stats(kiln_cache_stats *out);

typedef struct kiln_cache_entry {
    const char *what;     /* the serialised specialisation */
    const char *compiler; /* identity of the compiler */
    uint64_t code_bytes;
    int64_t created;   /* seconds since 1970 */
    int64_t last_used; /* to the day, or so */
} kiln_cache_entry;
/* Calls visit for each entry, newest first, until it returns false. The strings live during the
 * call alone. */
KILN_API kiln_status kiln_cache_list(bool (*visit)(const kiln_cache_entry *entry, void *user),
                                     void *user);
/* Removes every entry; *removed (may be NULL) how many. */
KILN_API kiln_status kiln_cache_clear(uint64_t *removed);

#ifdef __cplusplus
}
#endif
#endif
