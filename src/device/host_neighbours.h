/* device/host_neighbours.h - whether rows of keys are in an order, for the host's sorts. */
#ifndef KN_DEVICE_HOST_NEIGHBOURS_H
#define KN_DEVICE_HOST_NEIGHBOURS_H

#include <stdint.h>

enum { KN_HOST_SEEN_AT_ONCE = 64 /* keys, by vectors */ };

/* The body of a function that returns true if `is` holds for no k of 0 to n - 2, for a key and the next one.
 * Few keys of a random row tell, so that some are asked at a time. */
#define KN_HOST_RETURN_NONE(k, n, is)                                                                        \
    for (int64_t k = 0; k + 1 < (n);) {                                                                      \
        const int64_t end = (n)-1 - k < KN_HOST_SEEN_AT_ONCE ? (n)-1 : k + KN_HOST_SEEN_AT_ONCE;             \
        int some = 0;                                                                                        \
        for (; k < end; ++k)                                                                                 \
            some |= (is);                                                                                    \
        if (some)                                                                                            \
            return false;                                                                                    \
    }                                                                                                        \
    return true

#endif
