/* types/half.c - float16 and bfloat16 to and from double, rounded once to nearest even. */
#include "types/dtype.h"
#include <math.h>
#include <string.h>

typedef struct small_format {
    int mantissa, bias;
} small_format;

static const small_format half_format = {10, 15}, bfloat16_format = {7, 127};

static unsigned infinity_of(small_format f)
{
    return (unsigned)(2 * f.bias + 1) << f.mantissa;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* x >= 0, below 2^15: to nearest, ties to even, whatever the rounding mode of the thread is. */
static unsigned round_even(double x)
{
    double whole = floor(x), rest = x - whole;
    unsigned r = (unsigned)whole;
    return r + (rest > 0.5 || (rest == 0.5 && (r & 1)));
}

static uint16_t encode(double value, small_format f)
{
    unsigned sign = (unsigned)(bits_of(value) >> 63) << 15, infinity = infinity_of(f);
    double x = fabs(value);
    if (isnan(value)) /* quiet, with the upper bits of the payload */
        return (uint16_t)(sign | infinity | 1U << (f.mantissa - 1) |
                          (unsigned)(bits_of(x) >> (52 - f.mantissa) & ((1U << f.mantissa) - 1)));
    if (x == 0)
        return (uint16_t)sign;
    int exponent, lowest = 1 - f.bias;
    if (isinf(x) || (frexp(x, &exponent), exponent - 1 > f.bias))
        return (uint16_t)(sign | infinity);
    if (--exponent < lowest)
        exponent = lowest; /* subnormal: the quantum stops shrinking */
    unsigned digits = round_even(ldexp(x, f.mantissa - exponent));
    /* The leading one of a normal number adds 1 to the exponent field, and so does a carry out of the digits.
     */
    unsigned code = ((unsigned)(exponent - lowest) << f.mantissa) + digits;
    return (uint16_t)(sign | (code < infinity ? code : infinity));
}

static double decode(uint16_t bits, small_format f)
{
    unsigned digits = bits & ((1U << f.mantissa) - 1), exponent = (bits & 0x7fffU) >> f.mantissa;
    double x;
    if (exponent == (unsigned)(2 * f.bias + 1)) {
        uint64_t wide = UINT64_C(0x7ff) << 52 | (uint64_t)digits << (52 - f.mantissa);
        memcpy(&x, &wide, sizeof x);
    } else if (exponent == 0) {
        x = ldexp(digits, 1 - f.bias - f.mantissa);
    } else {
        x = ldexp(digits | 1U << f.mantissa, (int)exponent - f.bias - f.mantissa);
    }
    return bits & 0x8000U ? -x : x;
}

uint16_t kn_half_from_double(double value)
{
    return encode(value, half_format);
}

double kn_half_to_double(uint16_t bits)
{
    return decode(bits, half_format);
}

uint16_t kn_bfloat16_from_double(double value)
{
    return encode(value, bfloat16_format);
}

double kn_bfloat16_to_double(uint16_t bits)
{
    return decode(bits, bfloat16_format);
}
