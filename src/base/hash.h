/* base/hash.h - XXH3: an index, a checksum, never a proof that two things are equal. The same on every
 * machine. */
#ifndef KN_BASE_HASH_H
#define KN_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct kn_hash {
    unsigned char bytes[16]; /* XXH3-128, canonical (big-endian) */
} kn_hash;

uint64_t kn_hash_64(const void *data, size_t size);
kn_hash kn_hash_128(const void *data, size_t size);
/* kn_hash_128 as an index: a match is then compared whole. Tests make it collide. */
kn_hash kn_hash_index(const void *data, size_t size);
/* For tests: the hash has so many bits, in whole bytes; 128 is the default. */
void kn_hash_set_index_bits(int bits);
/* 32 hexadecimal digits and the terminator. */
void kn_hash_hex(const kn_hash *hash, char out[33]);

#endif
