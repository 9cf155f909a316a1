/* types/decimal.h - the shortest decimal digits that mean a floating value. Independent of the locale. */
#ifndef KN_TYPES_DECIMAL_H
#define KN_TYPES_DECIMAL_H

#include "types/dtype.h"

/* 0.DIGITS times ten to the power of `point`; zero is "0" with point 1. No trailing zeros, no sign. */
typedef struct kn_decimal {
    char digits[24];
    int count, point;
} kn_decimal;

/* The fewest digits that read back as value in dtype (float16, bfloat16, float32; else float64); of those the
 * nearest. value is finite. */
void kn_decimal_shortest(kn_decimal *out, double value, kiln_dtype dtype);
/* |value| rounded to `digits` digits (1 to 23), with trailing zeros. */
void kn_decimal_round(kn_decimal *out, double value, int digits);
/* If d, made of value, has more digits than this (behind the point, or in all), rounds value itself to so
 * many. */
void kn_decimal_limit_places(kn_decimal *d, double value, int places);
void kn_decimal_limit_digits(kn_decimal *d, double value, int digits);

#endif
