/* device/host_among.h - whether keys are among other ones, by a table. */
#ifndef KN_DEVICE_HOST_AMONG_H
#define KN_DEVICE_HOST_AMONG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Keys of 1, 2, 4 or 8 bytes, which are equal if their bits are. */
typedef struct kn_host_among {
    const void *key, *other;
    bool *to; /* for each key */
    void *table;
    int64_t keys, others; /* others: one at least */
    int key_size;
    bool has_vectors;   /* kn_host_sort_vectors has some */
    size_t table_bytes; /* kn_host_among_bytes at least */
} kn_host_among;
size_t kn_host_among_bytes(int64_t keys, int64_t others, int key_size);
void kn_host_find_among(const kn_host_among *of);

#endif
