/* Python's operators on weak numbers. */
#include "graph/constant_folding.h"

#include <complex.h>
#include <math.h>
#include <string.h>

#include "types/number.h"

/* Whole numbers are exact in 128 bits; only the result must fit 64. */
__extension__ typedef __int128 wide;

typedef enum number_kind { IS_BOOL, IS_INT, IS_FLOAT, IS_COMPLEX } number_kind;
typedef struct number {
    number_kind kind;
    wide i;
    double re, im;
} number;

typedef const char *(*operator_text)(number *out, const number *x, const number *y);

static const char too_large[] = "a whole number that 64 bits do not hold";
static const char by_zero[] = "a division by zero";
static const char no_meaning[] = "an operator that Python does not have for such numbers";

/* ---- numbers ---- */

/* A number of a dtype, converted as by Python's float(x). */
static number read_typed(const kiln_arg *arg)
{
    const kn_number x = kn_number_load(arg->value.bytes, (kiln_dtype)arg->dtype);
    switch (x.kind) {
    case KN_KIND_BOOL:
        return (number){IS_BOOL, x.i != 0, (double)(x.i != 0), 0};
    case KN_KIND_INT:
        return (number){IS_INT, x.i, (double)x.i, 0};
    case KN_KIND_UINT:
        return (number){IS_INT, x.u, (double)x.u, 0};
    case KN_KIND_FLOAT:
        return (number){IS_FLOAT, 0, x.re, 0};
    default:
        return (number){IS_COMPLEX, 0, x.re, x.im};
    }
}

static number read_number(const kiln_arg *arg)
{
    switch ((kiln_arg_kind)arg->kind) {
    case KILN_ARG_WEAK_BOOL:
        return (number){IS_BOOL, arg->value.i != 0, (double)(arg->value.i != 0), 0};
    case KILN_ARG_WEAK_INT:
        return (number){IS_INT, arg->value.i, (double)arg->value.i, 0};
    case KILN_ARG_WEAK_UINT:
        return (number){IS_INT, arg->value.u, (double)arg->value.u, 0};
    case KILN_ARG_WEAK_FLOAT:
        return (number){IS_FLOAT, 0, arg->value.d[0], 0};
    case KILN_ARG_TYPED:
        return read_typed(arg);
    default:
        return (number){IS_COMPLEX, 0, arg->value.d[0], arg->value.d[1]};
    }
}

static const char *write_number(kiln_arg *out, const number *x)
{
    if (x->kind == IS_BOOL)
        *out = kiln_arg_bool(x->i != 0);
    else if (x->kind == IS_FLOAT)
        *out = kiln_arg_float(x->re);
    else if (x->kind == IS_COMPLEX)
        *out = kiln_arg_complex(x->re, x->im);
    else if (x->i < INT64_MIN || x->i > UINT64_MAX)
        return too_large;
    else
        *out = x->i <= INT64_MAX ? kiln_arg_int((int64_t)x->i) : kiln_arg_uint((uint64_t)x->i);
    return NULL;
}

bool kn_weak_to_int64(int64_t *out, const kiln_arg *number)
{
    if (number->kind == KILN_ARG_WEAK_BOOL)
        *out = number->value.i != 0;
    else if (number->kind == KILN_ARG_WEAK_INT ||
             (number->kind == KILN_ARG_WEAK_UINT && number->value.u <= INT64_MAX))
        *out = number->value.i;
    else
        return false;
    return true;
}

static bool are_whole(const number *x, const number *y)
{
    return x->kind <= IS_INT && y->kind <= IS_INT;
}

static bool is_complex_pair(const number *x, const number *y)
{
    return x->kind == IS_COMPLEX || y->kind == IS_COMPLEX;
}

static const char *give_int(number *out, wide i)
{
    *out = (number){IS_INT, i, 0, 0};
    return NULL;
}

static const char *give_float(number *out, double re)
{
    *out = (number){IS_FLOAT, 0, re, 0};
    return NULL;
}

static const char *give_complex(number *out, double complex z)
{
    *out = (number){IS_COMPLEX, 0, creal(z), cimag(z)};
    return NULL;
}

static const char *give_bool(number *out, bool is)
{
    *out = (number){IS_BOOL, is, 0, 0};
    return NULL;
}

static double complex complex_of(const number *x)
{
    return CMPLX(x->re, x->im);
}

/* ---- arithmetic ---- */

static const char *add(number *out, const number *x, const number *y)
{
    if (are_whole(x, y))
        return give_int(out, x->i + y->i);
    return is_complex_pair(x, y) ? give_complex(out, complex_of(x) + complex_of(y))
                                 : give_float(out, x->re + y->re);
}

static const char *subtract(number *out, const number *x, const number *y)
{
    if (are_whole(x, y))
        return give_int(out, x->i - y->i);
    return is_complex_pair(x, y) ? give_complex(out, complex_of(x) - complex_of(y))
                                 : give_float(out, x->re - y->re);
}

/* The product of factors below 2^64; false if it does not fit 128 bits. */
static bool multiply_wide(wide *out, wide x, wide y)
{
    wide limit = (wide)1 << 64, magnitude = x < 0 ? -x : x, other = y < 0 ? -y : y;
    if (magnitude != 0 && other > limit / magnitude)
        return false;
    *out = x * y;
    return true;
}

static const char *multiply(number *out, const number *x, const number *y)
{
    wide product;
    if (are_whole(x, y))
        return multiply_wide(&product, x->i, y->i) ? give_int(out, product) : too_large;
    return is_complex_pair(x, y) ? give_complex(out, complex_of(x) * complex_of(y))
                                 : give_float(out, x->re * y->re);
}

static const char *divide(number *out, const number *x, const number *y)
{
    if (y->re == 0 && y->im == 0)
        return by_zero;
    if (is_complex_pair(x, y))
        return give_complex(out, complex_of(x) / complex_of(y));
    return are_whole(x, y) ? give_float(out, (double)((long double)x->i / (long double)y->i))
                           : give_float(out, x->re / y->re);
}

/* Floor division: quotient and remainder by Python's rules for floats. */
static void divide_floats(double *quotient, double *left, double x, double y)
{
    double mod = fmod(x, y), div = (x - mod) / y;
    if (mod != 0 && (y < 0) != (mod < 0)) {
        mod += y;
        div -= 1;
    }
    *left = mod != 0 ? mod : copysign(0, y);
    double below = floor(div);
    *quotient = div == 0 ? copysign(0, x / y) : div - below > 0.5 ? below + 1 : below;
}

static const char *floor_divide(number *out, const number *x, const number *y)
{
    double quotient, left;
    if (is_complex_pair(x, y))
        return no_meaning;
    if (y->re == 0)
        return by_zero;
    if (are_whole(x, y))
        return give_int(out, x->i / y->i - (x->i % y->i != 0 && (x->i < 0) != (y->i < 0)));
    divide_floats(&quotient, &left, x->re, y->re);
    return give_float(out, quotient);
}

static const char *take_remainder(number *out, const number *x, const number *y)
{
    double quotient, left;
    if (is_complex_pair(x, y))
        return no_meaning;
    if (y->re == 0)
        return by_zero;
    if (are_whole(x, y)) {
        wide rest = x->i % y->i;
        return give_int(out, rest != 0 && (rest < 0) != (y->i < 0) ? rest + y->i : rest);
    }
    divide_floats(&quotient, &left, x->re, y->re);
    return give_float(out, left);
}

/* The exponent is not negative. A result beyond 64 bits is found after 64 factors at most. */
static const char *whole_power(number *out, wide base, wide exponent)
{
    wide power = 1;
    if (base == 0 || base == 1 || base == -1)
        exponent = exponent == 0 ? 0 : 2 - exponent % 2;
    for (; exponent > 0; --exponent)
        if (!multiply_wide(&power, power, base))
            return too_large;
    return give_int(out, power);
}

static const char *power(number *out, const number *x, const number *y)
{
    if (are_whole(x, y) && y->i >= 0)
        return whole_power(out, x->i, y->i);
    if (x->re == 0 && x->im == 0 && (y->re < 0 || y->im != 0))
        return "zero to a power that is negative or complex";
    bool is_root = x->re < 0 && y->re != floor(y->re); /* of a negative number: the result is complex */
    bool is_finite = isfinite(x->re) && isfinite(x->im) && isfinite(y->re) && isfinite(y->im);
    double complex result =
        is_complex_pair(x, y) || is_root ? cpow(complex_of(x), complex_of(y)) : CMPLX(pow(x->re, y->re), 0);
    if (is_finite && !(isfinite(creal(result)) && isfinite(cimag(result))))
        return "a power that float64 does not hold";
    return is_complex_pair(x, y) || is_root ? give_complex(out, result) : give_float(out, creal(result));
}

static const char *negative(number *out, const number *x, const number *y)
{
    (void)y;
    return x->kind <= IS_INT       ? give_int(out, -x->i)
           : x->kind == IS_COMPLEX ? give_complex(out, -complex_of(x))
                                   : give_float(out, -x->re);
}

static const char *positive(number *out, const number *x, const number *y)
{
    (void)y;
    *out = *x;
    out->kind = x->kind == IS_BOOL ? IS_INT : x->kind;
    return NULL;
}

/* ---- bits ---- */

static const char *invert(number *out, const number *x, const number *y)
{
    (void)y;
    return x->kind <= IS_INT ? give_int(out, ~x->i) : no_meaning;
}

static const char *give_bits(number *out, const number *x, const number *y, wide bits)
{
    *out = (number){x->kind == IS_BOOL && y->kind == IS_BOOL ? IS_BOOL : IS_INT, bits, 0, 0};
    return are_whole(x, y) ? NULL : no_meaning;
}

static const char *bitwise_and(number *out, const number *x, const number *y)
{
    return give_bits(out, x, y, x->i & y->i);
}

static const char *bitwise_or(number *out, const number *x, const number *y)
{
    return give_bits(out, x, y, x->i | y->i);
}

static const char *bitwise_xor(number *out, const number *x, const number *y)
{
    return give_bits(out, x, y, x->i ^ y->i);
}

static const char *left_shift(number *out, const number *x, const number *y)
{
    wide product;
    if (!are_whole(x, y))
        return no_meaning;
    if (y->i < 0)
        return "a shift by less than nothing";
    if (x->i == 0)
        return give_int(out, 0);
    bool fits = y->i <= 64 && multiply_wide(&product, x->i, (wide)1 << (int)y->i);
    return fits ? give_int(out, product) : too_large;
}

static const char *right_shift(number *out, const number *x, const number *y)
{
    if (!are_whole(x, y))
        return no_meaning;
    if (y->i < 0)
        return "a shift by less than nothing";
    return give_int(out, x->i >> (int)(y->i > 64 ? 64 : y->i));
}

/* ---- comparisons: exact, between whole numbers and floats too, as far as long double holds both ---- */

static long double real_of(const number *x)
{
    return x->kind <= IS_INT ? (long double)x->i : (long double)x->re;
}

static const char *equal(number *out, const number *x, const number *y)
{
    return give_bool(out, real_of(x) == real_of(y) && x->im == y->im);
}

static const char *not_equal(number *out, const number *x, const number *y)
{
    return give_bool(out, !(real_of(x) == real_of(y) && x->im == y->im));
}

#define COMPARISON(name, op)                                                                                 \
    static const char *name(number *out, const number *x, const number *y)                                   \
    {                                                                                                        \
        return is_complex_pair(x, y) ? no_meaning : give_bool(out, real_of(x) op real_of(y));                \
    }
COMPARISON(less, <)
COMPARISON(less_equal, <=)
COMPARISON(greater, >)
COMPARISON(greater_equal, >=)

/* ---- the table ---- */

#define ROW(name, operands)                                                                                  \
    {                                                                                                        \
#name, operands, name                                                                                \
    }
static const struct {
    const char *name;
    int n_in;
    operator_text text;
} table[] = {ROW(add, 2),         ROW(subtract, 2),     ROW(multiply, 2),
             ROW(divide, 2),      ROW(floor_divide, 2), {"remainder", 2, take_remainder},
             ROW(power, 2),       ROW(negative, 1),     ROW(positive, 1),
             ROW(invert, 1),      ROW(bitwise_and, 2),  ROW(bitwise_or, 2),
             ROW(bitwise_xor, 2), ROW(left_shift, 2),   ROW(right_shift, 2),
             ROW(equal, 2),       ROW(not_equal, 2),    ROW(less, 2),
             ROW(less_equal, 2),  ROW(greater, 2),      ROW(greater_equal, 2)};

enum { N_ROWS = sizeof table / sizeof table[0] };

static size_t find_row(const char *name, int n_in)
{
    size_t t = 0;
    while (t < N_ROWS && (table[t].n_in != n_in || strcmp(table[t].name, name) != 0))
        ++t;
    return t;
}

bool kn_constant_fold_knows(const char *name, int n_in)
{
    return find_row(name, n_in) < N_ROWS;
}

const char *kn_constant_fold(kiln_arg *out, const char *name, const kiln_arg *in, int n_in)
{
    size_t t = find_row(name, n_in);
    number x, y, result;
    *out = kiln_arg_none();
    if (t == N_ROWS)
        return NULL;
    x = read_number(&in[0]);
    y = read_number(&in[n_in - 1]);
    const char *why = table[t].text(&result, &x, &y);
    return why ? why : write_number(out, &result);
}

const char *kn_constant_fold_cast(kiln_arg *out, kiln_dtype dtype, const kiln_arg *in)
{
    number x = read_number(in);
    bool is_zero = x.re == 0 && x.im == 0;
    if (dtype == KILN_BOOL)
        *out = kiln_arg_bool(!is_zero);
    else if (dtype == KILN_COMPLEX128)
        *out = kiln_arg_complex(x.re, x.im);
    else if (x.kind == IS_COMPLEX)
        return "a complex number where a real one is wanted";
    else if (dtype == KILN_FLOAT64)
        *out = kiln_arg_float(x.re);
    else if (x.kind == IS_FLOAT && !(fabs(x.re) < 0x1p64))
        return too_large;
    else {
        give_int(&x, x.kind == IS_FLOAT ? (wide)x.re : x.i);
        return write_number(out, &x);
    }
    return NULL;
}
