/* device/host_assign.h - values that are stored at places, one after the other, so that the last one counts
 * where places are the same. */
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

#endif
