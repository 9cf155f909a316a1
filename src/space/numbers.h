/* space/numbers.h - arithmetic of whole numbers that plans have in common. */
#ifndef KN_SPACE_NUMBERS_H
#define KN_SPACE_NUMBERS_H

#include <stdint.h>

static inline int64_t kn_divide_up(int64_t n, int64_t by)
{
    return (n + by - 1) / by;
}

static inline int64_t kn_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t kn_magnitude(int64_t x)
{
    return x < 0 ? -x : x;
}

/* The greatest one, by Euclid. */
static inline int kn_common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return (int)a;
}

#endif
