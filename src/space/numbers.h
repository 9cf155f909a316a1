/* space/numbers.h - arithmetic of whole numbers that plans have in common. */
#ifndef KN_SPACE_NUMBERS_H
#define KN_SPACE_NUMBERS_H

#include <stdint.h>

static inline int64_t kn_divide_up(int64_t n, int64_t by)
{
    return (n + by - 1) / by;
}

static inline int64_t kn_multiple_up(int64_t n, int64_t of)
{
    return kn_divide_up(n, of) * of;
}

static inline int64_t kn_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t kn_most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t kn_clamp(int64_t value, int64_t least, int64_t most)
{
    return value < least ? least : value > most ? most : value;
}

/* The greatest power of two up to n, which is at least 1. */
static inline int kn_power_below(int64_t n)
{
    int power = 1;
    while (2 * (int64_t)power <= n)
        power *= 2;
    return power;
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
