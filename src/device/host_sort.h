/* device/host_sort.h - sorts keys alone, by vectors: several times as fast as a radix sort, on processors
 * that have the instructions. */
#ifndef KN_DEVICE_HOST_SORT_H
#define KN_DEVICE_HOST_SORT_H

#include <stdbool.h>
#include <stdint.h>

/* True: processors of this architecture ("x86-64-v4") have the instructions, and this library the code. */
bool kn_host_sorts_keys(const char *architecture, int key_size);

/* Rows of unsigned keys of 4 or 8 bytes. `from` stays as it is. */
typedef struct kn_host_keys {
    const void *from;
    void *to, *beside; /* the sorted keys; memory that is used meanwhile */
    int64_t rows, length;
    int key_size;
    /* The bits of infinity, for keys of floats (kn_sort_exact of host_sort_exact.cpp), which is -0's key too:
     * zeros are equal, and NaN are, and have the order in which they came. 0: keys are equal only if they are
     * the same, and `beside` may be `from`, which then changes. */
    uint64_t infinity;
} kn_host_keys;
void kn_host_sort_keys(const kn_host_keys *keys);

#endif
