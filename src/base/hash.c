/* base/hash.c - XXH3-128 and its hexadecimal digits. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/hash.h"

#include <stdatomic.h>
#include <string.h>

uint64_t kn_hash_64(const void *data, size_t size)
{
    return XXH3_64bits(size ? data : "", size);
}

kn_hash kn_hash_128(const void *data, size_t size)
{
    XXH128_canonical_t canonical;
    kn_hash hash;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(size ? data : "", size));
    memcpy(hash.bytes, canonical.digest, sizeof hash.bytes);
    return hash;
}

void kn_hash_hex(const kn_hash *hash, char out[33])
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < 16; i++) {
        out[2 * i] = digits[hash->bytes[i] >> 4];
        out[2 * i + 1] = digits[hash->bytes[i] & 15];
    }
    out[32] = 0;
}

static atomic_int index_bits = 128;

void kn_hash_set_index_bits(int bits)
{
    atomic_store(&index_bits, bits);
}

kn_hash kn_hash_index(const void *data, size_t size)
{
    kn_hash hash = kn_hash_128(data, size);
    int bits = atomic_load_explicit(&index_bits, memory_order_relaxed);
    if (bits < 128)
        memset(hash.bytes + bits / 8, 0, sizeof hash.bytes - (size_t)bits / 8);
    return hash;
}
