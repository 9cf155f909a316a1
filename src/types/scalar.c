/* types/scalar.c - scalars given by value: read from an argument, checked, and written as one element. */
#include "types/dtype.h"
#include "base/error.h"
#include "types/number.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- numbers of any dtype ---- */

static kn_number integer_number(int64_t i)
{
    return (kn_number){.kind = KN_KIND_INT, .i = i};
}

static kn_number unsigned_number(uint64_t u)
{
    return u <= INT64_MAX ? integer_number((int64_t)u) : (kn_number){.kind = KN_KIND_UINT, .u = u};
}

static kn_number real_number(double re)
{
    return (kn_number){.kind = KN_KIND_FLOAT, .re = re};
}

/* clang-format off */
#define READ(type, make) { type v; memcpy(&v, from, sizeof v); return make; }
/* clang-format on */

kn_number kn_number_load(const void *from, kiln_dtype dtype)
{
    switch (dtype) {
    case KILN_BOOL:
        return (kn_number){.kind = KN_KIND_BOOL, .i = *(const unsigned char *)from != 0};
    case KILN_INT8:
        READ(int8_t, integer_number(v))
    case KILN_INT16:
        READ(int16_t, integer_number(v))
    case KILN_INT32:
        READ(int32_t, integer_number(v))
    case KILN_INT64:
        READ(int64_t, integer_number(v))
    case KILN_UINT8:
        READ(uint8_t, integer_number(v))
    case KILN_UINT16:
        READ(uint16_t, integer_number(v))
    case KILN_UINT32:
        READ(uint32_t, integer_number(v))
    case KILN_UINT64:
        READ(uint64_t, unsigned_number(v))
    case KILN_FLOAT16:
        READ(uint16_t, real_number(kn_half_to_double(v)))
    case KILN_BFLOAT16:
        READ(uint16_t, real_number(kn_bfloat16_to_double(v)))
    case KILN_FLOAT32:
        READ(float, real_number((double)v))
    case KILN_FLOAT64:
        READ(double, real_number(v))
    case KILN_COMPLEX64: {
        float v[2];
        memcpy(v, from, sizeof v);
        return (kn_number){.kind = KN_KIND_COMPLEX, .re = (double)v[0], .im = (double)v[1]};
    }
    case KILN_COMPLEX128: {
        double v[2];
        memcpy(v, from, sizeof v);
        return (kn_number){.kind = KN_KIND_COMPLEX, .re = v[0], .im = v[1]};
    }
    default:
        return integer_number(0);
    }
}

static kn_number number_of_arg(const kiln_arg *arg)
{
    switch ((kiln_arg_kind)arg->kind) {
    case KILN_ARG_WEAK_BOOL:
        return (kn_number){.kind = KN_KIND_BOOL, .i = arg->value.i != 0};
    case KILN_ARG_WEAK_INT:
        return integer_number(arg->value.i);
    case KILN_ARG_WEAK_UINT:
        return unsigned_number(arg->value.u);
    case KILN_ARG_WEAK_FLOAT:
        return real_number(arg->value.d[0]);
    case KILN_ARG_WEAK_COMPLEX:
        return (kn_number){.kind = KN_KIND_COMPLEX, .re = arg->value.d[0], .im = arg->value.d[1]};
    default:
        return kn_number_load(arg->value.bytes, (kiln_dtype)arg->dtype);
    }
}

void kn_number_format(const kn_number *number, char *out, size_t size)
{
    switch (number->kind) {
    case KN_KIND_BOOL:
        snprintf(out, size, "%s", number->i ? "true" : "false");
        break;
    case KN_KIND_INT:
        snprintf(out, size, "%" PRId64, number->i);
        break;
    case KN_KIND_UINT:
        snprintf(out, size, "%" PRIu64, number->u);
        break;
    case KN_KIND_FLOAT:
        snprintf(out, size, "%.17g", number->re);
        break;
    default:
        snprintf(out, size, "%.17g%+.17gi", number->re, number->im);
    }
}

/* ---- writing ---- */

/* A double of an integer of more than 53 bits whose lowest bit records whether any bit was cut off: rounding
 * it again to fewer digits is then as exact as rounding once. */
static double sticky_double(const kn_number *x)
{
    uint64_t magnitude = x->kind == KN_KIND_UINT ? x->u : x->i < 0 ? 0 - (uint64_t)x->i : (uint64_t)x->i;
    if (magnitude >> 53)
        magnitude = (magnitude >> 11 | ((magnitude & 0x7ff) != 0)) << 11;
    return x->kind != KN_KIND_UINT && x->i < 0 ? -(double)magnitude : (double)magnitude;
}

static double real_part(const kn_number *x, bool to_double)
{
    if (x->kind == KN_KIND_FLOAT || x->kind == KN_KIND_COMPLEX)
        return x->re;
    if (to_double)
        return x->kind == KN_KIND_UINT ? (double)x->u : (double)x->i;
    return sticky_double(x);
}

static void store_floating(void *out, kiln_dtype dtype, const kn_number *x)
{
    double re = real_part(x, dtype == KILN_FLOAT64 || dtype == KILN_COMPLEX128);
    double wide[2] = {re, x->kind == KN_KIND_COMPLEX ? x->im : 0};
    float narrow[2] = {(float)wide[0], (float)wide[1]};
    uint16_t small;
    switch (dtype) {
    case KILN_FLOAT16:
        small = kn_half_from_double(re);
        memcpy(out, &small, sizeof small);
        break;
    case KILN_BFLOAT16:
        small = kn_bfloat16_from_double(re);
        memcpy(out, &small, sizeof small);
        break;
    case KILN_FLOAT32:
    case KILN_COMPLEX64:
        memcpy(out, narrow, kiln_dtype_size(dtype));
        break;
    default:
        memcpy(out, wide, kiln_dtype_size(dtype));
    }
}

static void store_integer(void *out, size_t size, uint64_t bits)
{
    memcpy(out, &bits, size); /* little-endian machines only: the low bytes come first */
}

/* The integer that x is, as bits of two's complement; false where it is none, or outside the dtype's range.
 */
static bool integer_bits(const kn_number *x, const kn_dtype_info *info, uint64_t *bits)
{
    bool is_signed = info->kind == KN_KIND_INT;
    unsigned width = info->kind == KN_KIND_BOOL ? 1 : info->size * 8U - is_signed;
    uint64_t highest = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
    if (x->kind == KN_KIND_FLOAT) {
        if (!(x->re == floor(x->re)) || x->re >= ldexp(1, (int)width) ||
            x->re < (is_signed ? -ldexp(1, (int)width) : 0))
            return false;
        *bits = x->re < 0 ? (uint64_t)(int64_t)x->re : (uint64_t)x->re;
        return true;
    }
    *bits = x->kind == KN_KIND_UINT ? x->u : (uint64_t)x->i;
    if (x->kind != KN_KIND_UINT && x->i < 0)
        return is_signed && x->i >= -(int64_t)highest - 1;
    return *bits <= highest;
}

bool kn_number_store(void *out, kiln_dtype dtype, const kn_number *x)
{
    const kn_dtype_info *info = kn_dtype_info_of(dtype);
    uint64_t bits;
    if (x->kind == KN_KIND_COMPLEX && info->kind != KN_KIND_COMPLEX)
        return false;
    if (info->kind >= KN_KIND_FLOAT) {
        store_floating(out, dtype, x);
        return true;
    }
    if (!integer_bits(x, info, &bits))
        return false;
    store_integer(out, info->size, bits);
    return true;
}

/* Formats the least and the greatest number of an integer dtype for a message. */
static void format_range(char *out, size_t size, const kn_dtype_info *info)
{
    int bits = info->size * 8;
    if (info->kind == KN_KIND_BOOL)
        snprintf(out, size, "0 or 1");
    else if (info->kind == KN_KIND_INT)
        snprintf(out, size, "%" PRId64 " to %" PRId64, INT64_MIN >> (64 - bits), INT64_MAX >> (64 - bits));
    else
        snprintf(out, size, "0 to %" PRIu64, UINT64_MAX >> (64 - bits));
}

/* Why a scalar is refused. */
static kiln_status refuse_value(const kn_number *x, const kn_dtype_info *info, const char *parameter)
{
    char text[80], range[96];
    kn_number_format(x, text, sizeof text);
    format_range(range, sizeof range, info);
    if (x->kind == KN_KIND_COMPLEX && info->kind != KN_KIND_COMPLEX)
        return kn_error(KILN_ERROR_TYPE, "parameter '%s': the complex value %s was given, but %s is real",
                        parameter, text, info->name);
    if (info->kind < KN_KIND_FLOAT && x->kind == KN_KIND_FLOAT && x->re != floor(x->re))
        return kn_error(KILN_ERROR_TYPE, "parameter '%s': %s was given, but %s takes whole numbers only",
                        parameter, text, info->name);
    return kn_error(KILN_ERROR_TYPE, "parameter '%s': %s does not fit %s: %s was expected", parameter, text,
                    info->name, range);
}

static kiln_status read_scalar(kn_number *out, kiln_dtype dtype, const kiln_arg *arg, const char *parameter)
{
    const kn_dtype_info *info = kn_dtype_info_of(dtype);
    if (!info)
        return kn_error(KILN_ERROR_TYPE, "parameter '%s': %d is no dtype", parameter, (int)dtype);
    if (arg->kind < KILN_ARG_WEAK_BOOL || arg->kind > KILN_ARG_TYPED)
        return kn_error(KILN_ERROR_TYPE, "parameter '%s': a scalar of %s was expected, but %s was given",
                        parameter, info->name, arg->kind == KILN_ARG_ARRAY ? "an array" : "no scalar");
    if (arg->kind == KILN_ARG_TYPED && !kiln_dtype_can_cast((kiln_dtype)arg->dtype, dtype))
        return kn_error(KILN_ERROR_TYPE,
                        "parameter '%s': a scalar of %s was given, which does not convert safely to %s",
                        parameter, kiln_dtype_name((kiln_dtype)arg->dtype), info->name);
    *out = number_of_arg(arg);
    return KILN_OK;
}

kiln_status kn_scalar_store(void *out, kiln_dtype dtype, const kiln_arg *arg, const char *parameter)
{
    kn_number x;
    kiln_status status = read_scalar(&x, dtype, arg, parameter);
    if (status != KILN_OK)
        return status;
    return kn_number_store(out, dtype, &x) ? KILN_OK : refuse_value(&x, kn_dtype_info_of(dtype), parameter);
}

static bool is_nonzero(const kn_number *x)
{
    return x->kind == KN_KIND_FLOAT     ? x->re != 0
           : x->kind == KN_KIND_COMPLEX ? x->re != 0 || x->im != 0
                                        : x->kind == KN_KIND_UINT || x->i != 0;
}

kiln_status kn_scalar_convert(void *out, kiln_dtype dtype, const kiln_arg *arg, const char *parameter)
{
    kn_number x;
    kiln_status status = read_scalar(&x, dtype, arg, parameter);
    if (status != KILN_OK)
        return status;
    if (dtype == KILN_BOOL)
        x = integer_number(is_nonzero(&x));
    return kn_number_store(out, dtype, &x) ? KILN_OK : refuse_value(&x, kn_dtype_info_of(dtype), parameter);
}

/* ---- dtypes that hold a weak number ---- */

bool kn_weak_fits(const kiln_arg *arg, kiln_dtype dtype)
{
    const kn_dtype_info *info = kn_dtype_info_of(dtype);
    uint64_t bits;
    if (arg->kind != KILN_ARG_WEAK_INT && arg->kind != KILN_ARG_WEAK_UINT)
        return true;
    kn_number x = number_of_arg(arg);
    return (info->kind != KN_KIND_INT && info->kind != KN_KIND_UINT) || integer_bits(&x, info, &bits);
}

/* The least (side -1) or the greatest number of a dtype. */
static kiln_arg end_of(kiln_dtype dtype, int side)
{
    const kn_dtype_info *info = kn_dtype_info_of(dtype);
    bool is_signed = info->kind == KN_KIND_INT;
    if (info->kind >= KN_KIND_FLOAT)
        return info->kind == KN_KIND_FLOAT ? kiln_arg_float(side * INFINITY)
                                           : kiln_arg_complex(side * INFINITY, side * INFINITY);
    if (side < 0)
        return kiln_arg_int(is_signed ? INT64_MIN >> (64 - info->size * 8) : 0);
    uint64_t most = info->kind == KN_KIND_BOOL ? 1 : UINT64_MAX >> (64 - info->size * 8 + is_signed);
    return most <= INT64_MAX ? kiln_arg_int((int64_t)most) : kiln_arg_uint(most);
}

bool kn_bound_is_open(kn_bound bound, const kiln_arg *number)
{
    const kn_dtype_info *info = kn_dtype_info_of(bound.of);
    if (bound.side == 0 || !info || (info->kind != KN_KIND_INT && info->kind != KN_KIND_UINT) ||
        (number->kind != KILN_ARG_WEAK_INT && number->kind != KILN_ARG_WEAK_UINT))
        return false;
    const kiln_arg end = end_of(bound.of, bound.side);
    bool is_below = number->kind == KILN_ARG_WEAK_INT && number->value.i < 0;
    if (bound.side < 0)
        return number->kind == KILN_ARG_WEAK_INT && number->value.i <= end.value.i;
    return !is_below && number->value.u >= end.value.u;
}

kiln_arg kn_bound_number(kn_bound bound, const kiln_arg *number, kiln_dtype dtype)
{
    return kn_bound_is_open(bound, number) ? end_of(dtype, bound.side) : *number;
}

/* Integers end at these numbers of bits, signs apart. */
static const unsigned char ends[] = {7, 8, 15, 16, 31, 32, 63, 64};
enum { N_ENDS = sizeof ends, IS_NEGATIVE = 8 };

unsigned kn_weak_class(const kiln_arg *arg)
{
    bool is_below = arg->kind == KILN_ARG_WEAK_INT && arg->value.i < 0;
    uint64_t left = is_below ? ~arg->value.u : arg->value.u;
    unsigned size = 0;
    if (arg->kind != KILN_ARG_WEAK_INT && arg->kind != KILN_ARG_WEAK_UINT)
        return 0;
    while (size + 1 < N_ENDS && left >> ends[size])
        ++size;
    return size | (is_below ? IS_NEGATIVE : 0);
}

kiln_arg kn_weak_of_class(unsigned number_class)
{
    uint64_t most = UINT64_MAX >> (64 - ends[number_class % N_ENDS]);
    if (number_class & IS_NEGATIVE)
        return kiln_arg_int(-(int64_t)most - 1);
    return most <= INT64_MAX ? kiln_arg_int((int64_t)most) : kiln_arg_uint(most);
}
