/* device/host_select.h - the key at a place of a row, without a sort: few of the keys tell between which two
 * it is, and those that are between them are looked at again. */
#ifndef KN_DEVICE_HOST_SELECT_H
#define KN_DEVICE_HOST_SELECT_H

#include <stdbool.h>
#include <stdint.h>

/* Rows of unsigned keys of 1, 2, 4 or 8 bytes, of each of which the keys at some places are looked for. What
 * is found has the order of `place`: all rows of the first place, then those of the next one. */
typedef struct kn_host_places {
    const void *keys;
    void *beside; /* as much memory */
    int64_t rows, length, places;
    int key_size;
    bool has_vectors;      /* kn_host_sort_vectors has those of 64 bytes */
    const uint32_t *place; /* below length */
    uint64_t *key;
    uint32_t *rank, *total; /* the place among the equal keys, and how many of those there are */
} kn_host_places;
void kn_host_find_places(const kn_host_places *of);

/* Elements of rows before those with a key, equal to it and behind it: each of the three as it came. */
typedef struct kn_host_partition {
    const void *keys;
    int64_t rows, length;
    int key_size;
    bool has_vectors;    /* kn_host_sort_vectors has those of 64 bytes */
    const uint64_t *key; /* by row: that of place `kth`, as found */
    const uint32_t *rank, *total;
    int64_t kth;
    int64_t stored;      /* places of a row that are stored, the first ones */
    const void *element; /* as large as keys, at any address */
    void *to;            /* elements; NULL: not wanted */
    int64_t *at;         /* their numbers in the row; NULL: not wanted */
} kn_host_partition;
void kn_host_part_rows(const kn_host_partition *of);

#endif
