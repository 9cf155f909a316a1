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

/* The contents of the cache, and this process's use of it. */
typedef struct kiln_cache_stats {
    size_t struct_size;
    uint64_t entries, bytes;                           /* in the file */
    uint64_t memory_hits, disk_hits, misses, compiles; /* of this process */
    uint64_t errors;   /* times the cache could not be used in this process */
    double compile_ms; /* spent in compilers by this process */
    bool writable;     /* whether compiled kernels are stored */
    char trouble[256]; /* the first trouble of this process, or "" */
    uint64_t bundles,
        bundles_refused;  /* attached by now; that could not be read (the log says why) */
    uint64_t bundle_hits; /* of disk_hits: found in bundles */
    uint64_t collisions;  /* keys in the file that are not the first under the number by which they
                             are found; told apart by all of their bytes */
    /* plans of this process that began with a quick form (kiln_form); that have to stay with it,
     * for the best one may not be compiled, or could not; best forms that are still to come */
    uint64_t quick_forms, quick_only, best_failed, best_pending;
} kiln_cache_stats;
#define KILN_CACHE_STATS_INIT                                                                      \
    {                                                                                              \
        sizeof(kiln_cache_stats), 0, 0, 0, 0, 0, 0, 0, 0, false, {0}, 0, 0, 0, 0, 0, 0, 0, 0       \
    }

/* Writes the file's path; KILN_ERROR_INVALID where size is too small, KILN_ERROR_NOT_FOUND where
 * there is no place for a cache. */
KILN_NODISCARD KILN_API kiln_status kiln_cache_path(char *buffer, size_t size);
/* Fills *out; out->struct_size must be set. */
KILN_NODISCARD KILN_API kiln_status kiln_cache_get_stats(kiln_cache_stats *out);

/* A kernel in the cache. */
typedef struct kiln_cache_entry {
    const char *what;     /* the serialised specialisation */
    const char *compiler; /* identity of the compiler */
    uint64_t code_bytes;  /* of the binary */
    int64_t created;      /* seconds since 1970 */
    int64_t last_used;    /* to the day, or so */
} kiln_cache_entry;
/* Calls visit for each entry, newest first, until it returns false. The strings live during the
 * call alone. */
KILN_NODISCARD KILN_API kiln_status kiln_cache_list(bool (*visit)(const kiln_cache_entry *entry,
                                                                  void *user),
                                                    void *user);
/* Returns when everything that this process has compiled, and all it has to write down of what
 * it used, is in the file; then the death of a process takes nothing of it away. (Kernels are in
 * the file when the call that compiled them returns; times of use are written with them, or
 * later: a hit writes nothing.) KILN_ERROR_IO where something of it could not be written,
 * KILN_ERROR_NOT_FOUND where there is no cache. */
KILN_NODISCARD KILN_API kiln_status kiln_cache_flush(void);
/* Looks at every entry: *checked (may be NULL) how many were right; *damaged (may be NULL) how
 * many were not, and have been removed. KILN_ERROR_NOT_FOUND, KILN_ERROR_IO, KILN_ERROR_MEMORY. */
KILN_NODISCARD KILN_API kiln_status kiln_cache_verify(uint64_t *checked, uint64_t *damaged);
/* Removes what compilers have left that nobody has used for a week, and, where the file is
 * beyond KILN_CACHE_MAX (1G unless set: "512M", "2G"), what was not used for longest, until four
 * fifths of it are left; then makes the file smaller. While kernels are compiled the same
 * happens by itself. *removed (may be NULL) how many. */
KILN_NODISCARD KILN_API kiln_status kiln_cache_collect(uint64_t *removed);
/* The entries of this library's code generator as a bundle (<kiln/bundle.h>), allocated with
 * malloc: the caller's. KILN_ERROR_INVALID, KILN_ERROR_NOT_FOUND, KILN_ERROR_IO,
 * KILN_ERROR_MEMORY. */
KILN_NODISCARD KILN_API kiln_status kiln_cache_export(void **bytes, size_t *size);
/* Puts the kernels of a bundle into the cache, those that this library's generator made; *added
 * (may be NULL) how many. They are found where the same compiler is, or none. KILN_ERROR_FORMAT
 * as for kiln_bundle_attach. */
KILN_NODISCARD KILN_API kiln_status kiln_cache_import(const void *bytes, size_t size,
                                                      uint64_t *added);
/* Removes every entry; *removed (may be NULL) how many. */
KILN_NODISCARD KILN_API kiln_status kiln_cache_clear(uint64_t *removed);

#ifdef __cplusplus
}
#endif
#endif
