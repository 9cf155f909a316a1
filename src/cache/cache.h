/* cache/cache.h - key material -> blob, in one SQLite file per folder. It knows nothing of kernels.
 *
 * A key has two parts: `what` (any bytes) and `with` (the producer's identity). XXH3-128 over `what` is the
 * index. The material itself is stored too, and compared on every hit. A checksum covers all that a hit gives
 * or is found by; an entry's times and size, which only decide which entries are removed first, have none.
 *
 * No function here makes a caller fail. If something is wrong (no folder, read-only, full, locked, damaged),
 * a get is a miss, and a put is dropped, counted and reported once through the log. A damaged file is set
 * aside, and a new one is begun. Rollback journal, no mmap, mode 0700 for the folder, 0600 for the file.
 *
 * Code of others is never run. There is no cache, not even a read-only one, if anybody but this user and root
 * may write to the folder or exchange a folder above it, or has made one of the files (journals, the lock).
 * Thread-safe: one connection behind a mutex, reopened in a forked child. */
#ifndef KN_CACHE_CACHE_H
#define KN_CACHE_CACHE_H

#include <kiln/cache.h>
#include "base/blob.h"
#include "base/os.h"

typedef struct kn_cache kn_cache;

/* A handle; the file is opened at the first use (or by kn_cache_warm_up, which may run on another thread).
 * NULL only without memory. */
kn_cache *kn_cache_create(const char *folder, bool read_only);
void kn_cache_free(kn_cache *cache);
void kn_cache_warm_up(kn_cache *cache);

/* Beyond so many bytes (default 1 GiB) entries are removed until four fifths are left: first those of
 * producers unused for a week, then the least recently used. */
void kn_cache_set_limit(kn_cache *cache, uint64_t bytes);

/* True on a hit: *code, and *aux (may be NULL) which put was given beside it (opaque, may be empty), are the
 * caller's. with NULL: any producer, the newest entry. */
bool kn_cache_get(kn_cache *cache, const void *what, size_t what_size, const char *with, kn_blob *code,
                  kn_blob *aux);
/* A hit writes nothing: that it was used is written down with the next put, or by kn_cache_flush. */
void kn_cache_put(kn_cache *cache, const void *what, size_t what_size, const char *with, const kn_blob *code,
                  const kn_blob *aux);
/* Writes the uses that hits have left. Whether these and all puts since the last call are in the file. */
bool kn_cache_flush(kn_cache *cache);
/* The same at the end of the process: does not wait, and ignores failures. */
void kn_cache_leave(kn_cache *cache);

/* One entry, as views. */
typedef struct kn_cache_row {
    kn_blob what, aux, code;
    const char *producer;
} kn_cache_row;
/* Calls visit for each entry, newest first, until it returns false; *damaged those whose checksum is
 * wrong, which are dropped. */
kiln_status kn_cache_read_all(kn_cache *cache, bool (*visit)(const kn_cache_row *row, void *user), void *user,
                              uint64_t *damaged);
/* Deletes entries beyond the limit and those of dead producers, and shrinks the file. */
kiln_status kn_cache_collect(kn_cache *cache, uint64_t *removed);

/* Removes the entries of `what`. */
void kn_cache_remove(kn_cache *cache, const void *what, size_t what_size);

/* A lock that one process at a time can hold for this `what`, waiting at most timeout_ms; false: go on
 * without it. */
bool kn_cache_lock(kn_cache *cache, const void *what, size_t what_size, kn_os_lock *lock, int timeout_ms);

/* Fills entries, bytes, collisions, writable, errors and trouble alone. */
void kn_cache_fill_stats(kn_cache *cache, kiln_cache_stats *stats);
kiln_status kn_cache_visit(kn_cache *cache, bool (*visit)(const kiln_cache_entry *entry, void *user),
                           void *user);
kiln_status kn_cache_clear(kn_cache *cache, uint64_t *removed);
const char *kn_cache_file(const kn_cache *cache);

/* The user's cache folder: KILN_CACHE_DIR, $XDG_CACHE_HOME/kiln, ~/.cache/kiln; a node-local folder (in /tmp,
 * private to the user, verified to be his) where that lies on a network file system. KILN_ERROR_NOT_FOUND
 * where there is none. */
kiln_status kn_cache_default_folder(char *out, size_t size);

#endif
