#include "elements.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

number number_real(double re)
{
    return (number){re, 0};
}

bool dtype_is_complex(kiln_dtype dtype)
{
    return dtype == KILN_COMPLEX64 || dtype == KILN_COMPLEX128;
}

bool dtype_is_float(kiln_dtype dtype)
{
    return dtype >= KILN_FLOAT16;
}

bool dtype_is_unsigned(kiln_dtype dtype)
{
    return dtype >= KILN_UINT8 && dtype <= KILN_UINT64;
}

/* ---- 16-bit floats: exponent and fraction bits are all that differs ---- */

static double small_float(uint16_t bits, int fraction_bits)
{
    int exponent_bits = 15 - fraction_bits, bias = (1 << (exponent_bits - 1)) - 1;
    int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1),
        fraction = bits & ((1 << fraction_bits) - 1);
    double magnitude;
    if (exponent == (1 << exponent_bits) - 1)
        magnitude = fraction ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        magnitude = ldexp(fraction, 1 - bias - fraction_bits);
    else
        magnitude = ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
    return bits & 0x8000 ? -magnitude : magnitude;
}

static uint16_t small_bits(double x, int fraction_bits)
{
    int exponent_bits = 15 - fraction_bits, bias = (1 << (exponent_bits - 1)) - 1, exponent;
    unsigned sign = signbit(x) ? 0x8000 : 0, infinite = ((1u << exponent_bits) - 1) << fraction_bits;
    if (isnan(x))
        return (uint16_t)(infinite | 1u << (fraction_bits - 1));
    if (isinf(x))
        return (uint16_t)(sign | infinite);
    if (x == 0)
        return (uint16_t)sign;
    frexp(x, &exponent);
    int unit = (exponent - 1 < 1 - bias ? 1 - bias : exponent - 1) - fraction_bits;
    /* In units of the last place, counted from zero: a carry moves on into the exponent by itself. */
    double units = nearbyint(ldexp(fabs(x), -unit));
    uint64_t bits = (uint64_t)units + ((uint64_t)(unit + fraction_bits + bias - 1) << fraction_bits);
    return (uint16_t)(sign | (bits > infinite ? infinite : bits));
}

/* ---- loading and storing ---- */

#define LOAD(type)                                                                                           \
    {                                                                                                        \
        type v;                                                                                              \
        memcpy(&v, at, sizeof v);                                                                            \
        return number_real((double)v);                                                                       \
    }

number number_load(const void *at, kiln_dtype dtype)
{
    uint16_t bits;
    float pair[2];
    double wide[2];
    switch (dtype) {
    case KILN_BOOL:
        return number_real(*(const unsigned char *)at != 0);
    case KILN_INT8:
        LOAD(int8_t)
    case KILN_INT16:
        LOAD(int16_t)
    case KILN_INT32:
        LOAD(int32_t)
    case KILN_INT64:
        LOAD(int64_t)
    case KILN_UINT8:
        LOAD(uint8_t)
    case KILN_UINT16:
        LOAD(uint16_t)
    case KILN_UINT32:
        LOAD(uint32_t)
    case KILN_UINT64:
        LOAD(uint64_t)
    case KILN_FLOAT32:
        LOAD(float)
    case KILN_FLOAT64:
        LOAD(double)
    case KILN_COMPLEX64:
        memcpy(pair, at, sizeof pair);
        return (number){pair[0], pair[1]};
    case KILN_COMPLEX128:
        memcpy(wide, at, sizeof wide);
        return (number){wide[0], wide[1]};
    default:
        memcpy(&bits, at, sizeof bits);
        return number_real(small_float(bits, dtype == KILN_FLOAT16 ? 10 : 7));
    }
}

/* A number that does not fit wraps when it is stored. */
static uint64_t whole(double x)
{
    return x < 0 ? (uint64_t)(int64_t)x : (uint64_t)x;
}

#define STORE(type, value)                                                                                   \
    {                                                                                                        \
        type v = (type)(value);                                                                              \
        memcpy(at, &v, sizeof v);                                                                            \
        return;                                                                                              \
    }

void number_store(void *at, kiln_dtype dtype, number x)
{
    float pair[2] = {(float)x.re, (float)x.im};
    double wide[2] = {x.re, x.im};
    switch (dtype) {
    case KILN_BOOL:
        STORE(uint8_t, x.re != 0 || x.im != 0)
    case KILN_INT8:
    case KILN_UINT8:
        STORE(uint8_t, whole(x.re))
    case KILN_INT16:
    case KILN_UINT16:
        STORE(uint16_t, whole(x.re))
    case KILN_INT32:
    case KILN_UINT32:
        STORE(uint32_t, whole(x.re))
    case KILN_INT64:
    case KILN_UINT64:
        STORE(uint64_t, whole(x.re))
    case KILN_FLOAT32:
        STORE(float, x.re)
    case KILN_FLOAT64:
        STORE(double, x.re)
    case KILN_COMPLEX64:
        memcpy(at, pair, sizeof pair);
        return;
    case KILN_COMPLEX128:
        memcpy(at, wide, sizeof wide);
        return;
    default:
        STORE(uint16_t, small_bits(x.re, dtype == KILN_FLOAT16 ? 10 : 7))
    }
}

static bool parts_agree(double a, double b, double tolerance)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    if (isinf(a) || isinf(b))
        return a == b;
    return fabs(a - b) <= tolerance * (fabs(b) > 1 ? fabs(b) : 1);
}

/* Only NaNs may differ in their bits; the two parts of a complex number each for itself. */
static bool parts_are_same(const void *a, const void *b, size_t size, double x, double y)
{
    return memcmp(a, b, size) == 0 || (isnan(x) && isnan(y));
}

bool elements_agree(const void *a, const void *b, kiln_dtype dtype, double tolerance)
{
    size_t size = kiln_dtype_size(dtype), part = dtype_is_complex(dtype) ? size / 2 : size;
    if (!memcmp(a, b, size))
        return true;
    number x = number_load(a, dtype), y = number_load(b, dtype);
    if (!dtype_is_float(dtype))
        return false;
    if (tolerance == 0)
        return parts_are_same(a, b, part, x.re, y.re) &&
               (part == size ||
                parts_are_same((const char *)a + part, (const char *)b + part, part, x.im, y.im));
    return parts_agree(x.re, y.re, tolerance) && parts_agree(x.im, y.im, tolerance);
}

const char *element_text(const void *at, kiln_dtype dtype)
{
    static char text[3][96];
    static int next;
    char *out = text[next++ % 3];
    number x = number_load(at, dtype);
    if (dtype_is_complex(dtype))
        snprintf(out, sizeof text[0], "%.17g%+.17gi", x.re, x.im);
    else if (dtype == KILN_BOOL)
        snprintf(out, sizeof text[0], "byte %d", *(const unsigned char *)at);
    else
        snprintf(out, sizeof text[0], "%.17g", x.re);
    return out;
}

/* ---- random data ---- */

/* Weyl sequence through the finaliser of MurmurHash3 with Stafford's constants ("splitmix64"). */
uint64_t dice_bits(dice *d)
{
    uint64_t z = d->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

int64_t dice_between(dice *d, int64_t low, int64_t high)
{
    return low + (int64_t)(dice_bits(d) % (uint64_t)(high - low + 1));
}

bool dice_one_in(dice *d, int times)
{
    return dice_between(d, 1, times) == 1;
}

static double small_value(kiln_dtype dtype, dice *d)
{
    if (dtype == KILN_BOOL)
        return (double)dice_between(d, 0, 1);
    if (dtype_is_unsigned(dtype))
        return (double)dice_between(d, 0, 15);
    return (double)(dtype_is_float(dtype) ? dice_between(d, -15, 15) * 0.5 : dice_between(d, -9, 9));
}

void element_fill(void *at, kiln_dtype dtype, fill how, int64_t index, dice *d)
{
    uint64_t bits[2] = {dice_bits(d), dice_bits(d)};
    static const unsigned char bytes[] = {0, 1, 2, 3, 0x80, 0xff, 0x10, 0};
    if (how == FILL_BITS)
        memcpy(at, bits, kiln_dtype_size(dtype));
    else if (how == FILL_BYTES)
        *(unsigned char *)at = bytes[bits[0] % sizeof bytes];
    else if (how == FILL_COUNT)
        number_store(at, dtype, number_real((double)index));
    else if (how == FILL_ZEROS)
        memset(at, 0, kiln_dtype_size(dtype));
    else if (how == FILL_POSITIVE)
        number_store(at, dtype,
                     (number){(double)dice_between(d, 1, 64) / (dtype_is_float(dtype) ? 16 : 1), 0.25});
    else
        number_store(at, dtype, (number){small_value(dtype, d), small_value(dtype, d)});
}
