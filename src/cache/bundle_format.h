/* cache/bundle_format.h - offsets of the numbers in a bundle, for reading and writing. */
#ifndef KN_CACHE_BUNDLE_FORMAT_H
#define KN_CACHE_BUNDLE_FORMAT_H

#include <stdint.h>

#include "base/hash.h"

#define KN_BUNDLE_MAGIC "KILNBNDL"

enum {
    KN_BUNDLE_VERSION = 1,
    KN_BUNDLE_HEAD = 64,
    KN_BUNDLE_HEAD_HASHED = 48,
    KN_BUNDLE_ENTRY = 56,
    KN_BUNDLE_MOST_ROWS = 1 << 24
};

/* Places in the head. */
enum { KN_AT_VERSION = 8, KN_AT_ROWS = 12, KN_AT_SIZE = 16, KN_AT_LABELS = 24, KN_AT_INDEX_HASH = 32 };
/* Places in an entry of the index. */
enum {
    KN_AT_CHECKSUM = 16,
    KN_AT_LABEL_SIZE = 32,
    KN_AT_WHAT_SIZE = 36,
    KN_AT_AUX_SIZE = 40,
    KN_AT_CODE_SIZE = 48
};

static inline uint64_t kn_bundle_number(const unsigned char *at, int bytes)
{
    uint64_t n = 0;
    while (bytes-- > 0)
        n = n << 8 | at[bytes];
    return n;
}

static inline void kn_bundle_put_number(unsigned char *at, uint64_t n, int bytes)
{
    for (int i = 0; i < bytes; i++, n >>= 8)
        at[i] = (unsigned char)n;
}

/* Each part is hashed by itself, so that no part can pass for the beginning of the next. */
static inline kn_hash kn_bundle_checksum(const void *label, size_t label_size, const void *what,
                                         size_t what_size, const void *aux, size_t aux_size, const void *code,
                                         size_t code_size)
{
    kn_hash parts[4];
    parts[0] = kn_hash_128(label, label_size);
    parts[1] = kn_hash_128(what, what_size);
    parts[2] = kn_hash_128(aux, aux_size);
    parts[3] = kn_hash_128(code, code_size);
    return kn_hash_128(parts, sizeof parts);
}

#endif
