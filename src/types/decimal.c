/* types/decimal.c - shortest decimal digits, by trying: the C library rounds exactly in both directions. */
#include "types/decimal.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 400 }; /* the longest %f of a double */

static void trim_zeros(kn_decimal *d)
{
    while (d->count > 1 && d->digits[d->count - 1] == '0')
        d->count--;
    if (d->count == 0 || d->digits[0] == '0')
        *d = (kn_decimal){.digits = "0", .count = 1, .point = 1};
    d->digits[d->count] = '\0';
}

/* By way of %e. The point is whatever the locale has: all that is no digit is passed over. */
void kn_decimal_round(kn_decimal *d, double value, int count)
{
    char text[TEXT_MAX];
    snprintf(text, sizeof text, "%.*e", count - 1, fabs(value));
    const char *exponent = strchr(text, 'e');
    d->count = 0;
    for (const char *p = text; p < exponent && d->count < count; p++)
        if (*p >= '0' && *p <= '9')
            d->digits[d->count++] = *p;
    d->digits[d->count] = '\0';
    d->point = atoi(exponent + 1) + 1;
}

/* One unit more in the last digit. */
static void increment(kn_decimal *d)
{
    int k = d->count - 1;
    while (k >= 0 && d->digits[k] == '9')
        d->digits[k--] = '0';
    if (k >= 0) {
        d->digits[k]++;
    } else {
        d->digits[0] = '1';
        d->point++;
    }
}

static bool reads_back(const kn_decimal *d, double value, kiln_dtype dtype)
{
    char text[64];
    double x = fabs(value);
    snprintf(text, sizeof text, "%.*se%d", d->count, d->digits, d->point - d->count);
    if (dtype == KILN_FLOAT32)
        return strtof(text, NULL) == (float)x;
    double y = strtod(text, NULL);
    if (dtype == KILN_FLOAT16)
        return kn_half_from_double(y) == kn_half_from_double(x);
    if (dtype == KILN_BFLOAT16)
        return kn_bfloat16_from_double(y) == kn_bfloat16_from_double(x);
    return y == x;
}

void kn_decimal_shortest(kn_decimal *out, double value, kiln_dtype dtype)
{
    for (int count = 1; count <= 17; count++) {
        kn_decimal_round(out, value, count);
        if (value == 0 || reads_back(out, value, dtype))
            break;
        /* Above a power of two there is twice the space that is below: the next number up may do where the
         * nearest, below, does not. */
        increment(out);
        if (reads_back(out, value, dtype))
            break;
    }
    trim_zeros(out);
}

void kn_decimal_limit_digits(kn_decimal *d, double value, int digits)
{
    if (d->count <= digits)
        return;
    kn_decimal_round(d, value, digits);
    trim_zeros(d);
}

void kn_decimal_limit_places(kn_decimal *d, double value, int places)
{
    if (d->count - d->point <= places)
        return;
    if (d->point + places > 0) {
        /* Rounding may carry into one digit more in front, which the exponent takes up; %e keeps the number
         * of digits. */
        kn_decimal_round(d, value, d->point + places);
        trim_zeros(d);
        return;
    }
    /* The first digit lies behind the last place: the value becomes one unit of that place, or zero. */
    char text[TEXT_MAX];
    snprintf(text, sizeof text, "%.*f", places, fabs(value));
    bool rounds_up = text[strlen(text) - 1] == '1';
    *d = (kn_decimal){.digits = "1", .count = 1, .point = 1 - places};
    if (!rounds_up)
        *d = (kn_decimal){.digits = "0", .count = 1, .point = 1};
}
