/* elements.h - elements of every dtype as numbers, independently of kiln: what expectations are computed
 * with.
 *
 *     number x = number_load(at, KILN_FLOAT16);
 *     number_store(to, KILN_BFLOAT16, number_real(x.re * 2));
 */
#ifndef CASES_ELEMENTS_H
#define CASES_ELEMENTS_H

#include <kiln/kiln.h>

/* Integers beyond 2^53 are the business of the cases themselves. */
typedef struct number {
    double re, im;
} number;

number number_real(double re);
number number_load(const void *at, kiln_dtype dtype);
/* Integers wrap, floats are rounded to nearest even, anything but zero is true. */
void number_store(void *at, kiln_dtype dtype, number x);
bool dtype_is_float(kiln_dtype dtype);
bool dtype_is_complex(kiln_dtype dtype);
bool dtype_is_unsigned(kiln_dtype dtype);

/* Equal bits, or both NaN whatever their signs and payloads, or within relative `tolerance` (absolute below
 * 1); the parts of complex numbers each for itself. */
bool elements_agree(const void *a, const void *b, kiln_dtype dtype, double tolerance);
/* Static storage, overwritten by the third call after. */
const char *element_text(const void *at, kiln_dtype dtype);

/* A generator with a state of its own: the same seed gives the same numbers everywhere. */
typedef struct dice {
    uint64_t state;
} dice;
uint64_t dice_bits(dice *d);
/* low .. high, both included. */
int64_t dice_between(dice *d, int64_t low, int64_t high);
/* True once in `times`. */
bool dice_one_in(dice *d, int times);

typedef enum fill {
    FILL_SMALL =
        0,      /* few-bit numbers, so that sums and products are exact in every dtype that can hold them */
    FILL_BITS,  /* any bits */
    FILL_BYTES, /* bool: bytes other than 0 and 1 too */
    FILL_POSITIVE, /* 1/16 .. 4 in sixteenths; integers 1 .. 64 */
    FILL_COUNT,    /* 0, 1, 2, ... in the order of the elements */
    FILL_ZEROS
} fill;
void element_fill(void *at, kiln_dtype dtype, fill how, int64_t index, dice *d);

#endif
