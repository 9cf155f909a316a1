#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/hash.h"

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
