/* device/host_find_order.h - the stable order of elements by keys of several arrays, on processors by whose
 * vectors host_sort.h sorts. */
#ifndef KN_DEVICE_HOST_FIND_ORDER_H
#define KN_DEVICE_HOST_FIND_ORDER_H

#include <stdbool.h>
#include <stdint.h>

enum { KN_HOST_ORDER_KEYS = 4 };

/* Rows of unsigned keys, fewer than 2^32 in all. */
typedef struct kn_host_order {
    const void *key[KN_HOST_ORDER_KEYS]; /* those of the first array count most */
    int key_size[KN_HOST_ORDER_KEYS];    /* 1, 2, 4 or 8 bytes */
    int keys, vector_size;               /* kn_host_sort_vectors, for keys of 8 bytes */
    uint32_t *order;                     /* 0, 1, 2 and so on; then the numbers of the elements, in order */
    uint64_t *from, *to;                 /* as many as there are elements, used meanwhile */
    int64_t rows, length;
} kn_host_order;
void kn_host_find_order(const kn_host_order *order);

#endif
