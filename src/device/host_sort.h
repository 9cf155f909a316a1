/* device/host_sort.h - sorts keys alone, by vectors: several times as fast as a radix sort, on processors
 * that have the instructions. */
#ifndef KN_DEVICE_HOST_SORT_H
#define KN_DEVICE_HOST_SORT_H

#include <stdbool.h>
#include <stdint.h>

/* The bytes of the vectors by which keys of this size are sorted on processors of this architecture, such as
 * "x86-64-v4". 0: they are not. */
int kn_host_sort_vectors(const char *architecture, int key_size);

/* Rows of unsigned keys of 4 or 8 bytes. `from` stays as it is. */
typedef struct kn_host_keys {
    const void *from;
    void *to, *beside; /* the sorted keys; memory that is used meanwhile */
    int64_t rows, length;
    int key_size, vector_size; /* kn_host_sort_vectors */
    /* The bits of infinity, for keys of floats (kn_sort_exact of host_sort_exact.cpp), which is -0's key too:
     * zeros are equal, and NaN are, and have the order in which they came. 0: keys are equal only if they are
     * the same, and `beside` may be `from`, which then changes. */
    uint64_t infinity;
} kn_host_keys;
void kn_host_sort_keys(const kn_host_keys *keys);

enum {
    /* Elements of 16 bits, and of 8, from which on a row is sorted by counts of all words. Shorter ones of 16
     * bits need vectors. */
    KN_HOST_WORDS_ROW = 1 << 15,
    KN_HOST_BYTES_ROW = 1 << 8
};

/* Rows of fewer than 2^32 elements of 16 bits, or of integers of 8, on any processor. NaN comes last, and it
 * and zeros have the order in which they came. */
typedef struct kn_host_words {
    const void *from; /* at any address */
    void *to;         /* other memory */
    void *memory;     /* kn_host_words_memory */
    int64_t rows, length;
    int element_size, vector_size; /* bytes; kn_host_sort_vectors of keys of 4 bytes */
    bool is_signed, is_float, is_descending;
    uint16_t infinity; /* its bits, of floats */
} kn_host_words;
/* The bytes that are used meanwhile. */
int64_t kn_host_words_memory(const kn_host_words *words);
void kn_host_sort_words(const kn_host_words *words);

#endif
