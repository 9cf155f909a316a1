/* device/host_assign.h - rows that are read at places, and values that are stored at places, one after the
 * other, so that the last one counts where places are the same. */
#ifndef KN_DEVICE_HOST_ASSIGN_H
#define KN_DEVICE_HOST_ASSIGN_H

#include <stdbool.h>
#include <stdint.h>

typedef struct kn_host_assignment {
    void *to;           /* rows of so many bytes */
    const void *places; /* numbers of rows, those below 0 from the end on */
    const void *values; /* rows, side by side */
    int64_t count, rows, row_bytes;
    bool has_wide_places; /* of 64 bits, else 32 */
    bool is_one_value;    /* for all places */
} kn_host_assignment;
/* False, and nothing is stored, if a place is outside: *outside is the first one. */
bool kn_host_assign(int64_t *outside, const kn_host_assignment *of);

/* Rows of blocks: of each block those at the places, one after the other. */
typedef struct kn_host_gathering {
    void *to;
    const void *from, *places; /* places: as above */
    int64_t blocks, count, rows, row_bytes;
    bool has_wide_places;
} kn_host_gathering;
/* False, and nothing is stored, if a place is outside. */
bool kn_host_gather(int64_t *outside, const kn_host_gathering *of);

#endif
