/* kernel/sort_along.h - the part of an axis that a sort gives. */
#ifndef KN_KERNEL_SORT_ALONG_H
#define KN_KERNEL_SORT_ALONG_H

#include <stdbool.h>
#include <stdint.h>

/* A sort along one axis, of which a number of elements is wanted. */
typedef struct kn_sort_along {
    bool has_axis; /* false: the axis is that of the call's options */
    int axis;
    int64_t count;     /* the first results along the axis; KN_SORT_ALL */
    int64_t least;     /* of the axis's extent */
    const char *asked; /* the argument that asks for so many: of static storage */
} kn_sort_along;
enum { KN_SORT_ALL = -1 };

#endif
