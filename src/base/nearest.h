/* base/nearest.h - finds which of several names was meant by one that is none of them. */
#ifndef KN_BASE_NEAREST_H
#define KN_BASE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

enum { KN_NEAREST_SIZE = 64 };

typedef struct kn_nearest {
    const char *name;
    size_t length;
    int distance;               /* of the nearest so far; only a nearer one replaces it */
    char best[KN_NEAREST_SIZE]; /* "": none is near */
} kn_nearest;

/* One edit is allowed in a name of 3 or 4 letters, two in one of 5 or 6, three in a longer one. */
kn_nearest kn_nearest_begin(const char *name, size_t length);
/* The name itself is never the nearest. */
void kn_nearest_consider(kn_nearest *n, const char *name, size_t length);

#endif
