/* Shared by the tests of crashes: a folder, rows whose bytes follow from their number, and random numbers. */
#ifndef CRASH_COMMON_H
#define CRASH_COMMON_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/os.h"
#include "cache/cache.h"

static char folder[256];

static inline int make_folder(void **state)
{
    (void)state;
    return kn_os_make_temporary_folder(folder, sizeof folder) != KILN_OK;
}

static inline int remove_folder(void **state)
{
    (void)state;
    kn_os_remove_folder(folder);
    return access(folder, F_OK) == 0;
}

/* The number of rounds: a 40th of it outside of tools/soak. */
static inline int times(int count)
{
    return getenv("KILN_SOAK") ? count : count / 40;
}

static inline uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 33;
}

enum { LARGEST = 60000 };

/* Row n has up to so many bytes of code. */
static inline kn_blob code_of(unsigned char *bytes, unsigned n, int largest)
{
    uint64_t seed = n;
    size_t size = 1 + (size_t)(next_random(&seed) % (uint64_t)largest);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(n * 31 + i * (1 + n % 7));
    return (kn_blob){bytes, size};
}

static inline int key_of(char key[64], unsigned n)
{
    return snprintf(key, 64, "the key of row %u", n);
}

static inline void put_row(kn_cache *cache, unsigned n, int largest)
{
    unsigned char bytes[LARGEST];
    char key[64];
    kn_blob code = code_of(bytes, n, largest);
    kn_cache_put(cache, key, (size_t)key_of(key, n), "producer", &code, NULL);
}

typedef enum row_state { ROW_MISSING, ROW_RIGHT, ROW_WRONG } row_state;

static inline row_state look_at_row(kn_cache *cache, unsigned n, int largest)
{
    unsigned char bytes[LARGEST];
    char key[64];
    kn_blob wanted = code_of(bytes, n, largest), found = KN_BLOB_INIT;
    if (!kn_cache_get(cache, key, (size_t)key_of(key, n), "producer", &found, NULL))
        return ROW_MISSING;
    bool is_right = found.size == wanted.size && memcmp(found.data, wanted.data, wanted.size) == 0;
    kn_blob_free(&found);
    return is_right ? ROW_RIGHT : ROW_WRONG;
}

static inline kn_cache *open_cache(void)
{
    kn_cache *cache = kn_cache_create(folder, false);
    assert_non_null(cache);
    return cache;
}

/* All children; those that ended otherwise than with 0. */
static inline int wait_for(const pid_t *children, int count)
{
    int bad = 0;
    for (int c = 0; c < count; c++) {
        int status = 0;
        waitpid(children[c], &status, 0);
        bad += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    }
    return bad;
}

#endif
