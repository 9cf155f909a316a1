/* Every dtype: copies, arithmetic, conversions, special values, mixed widths. */
#include "cases.h"

#include <math.h>
#include <string.h>

static void same_bits(const element *e)
{
    memcpy(e->out[0], e->in[0], kiln_dtype_size(e->in_dtype[0]));
}

/* Bits go through unchanged, NaNs with payloads too: a signalling NaN may become quiet, so that only NaN is
 * asked for. */
static void copy_bits(void)
{
    for (int d = KILN_INT8; kiln_dtype_size((kiln_dtype)d) > 0; ++d) {
        if (!is_run_here((size_t)d, 4))
            continue;
        stage *s = STAGE("T x", "T z", "z = x");
        stage_in(s, (kiln_dtype)d, "9,31", "C", FILL_BITS);
        stage_out(s, (kiln_dtype)d, "9,31", d % 2 ? "C" : "F");
        stage_check(s, same_bits, NULL);
        stage_free(s);
    }
}

static void normalised(const element *e)
{
    OUT(unsigned char, 0) = IN(unsigned char, 0) != 0;
    OUT(unsigned char, 1) = IN(unsigned char, 0) == 0;
    OUT(int32_t, 2) = (IN(unsigned char, 0) != 0) + 2 * (IN(unsigned char, 1) != 0);
}

static void bool_bytes(void)
{
    static const char *const layouts[] = {"C", "/0", "+3"};
    for (size_t l = 0; l < 3; ++l) {
        stage *s = STAGE("bool x, bool y", "bool same, bool inverse, int32 sum",
                         "same = x; inverse = !x; sum = x + y * 2");
        stage_in(s, KILN_BOOL, "1000", layouts[l], FILL_BYTES);
        stage_in(s, KILN_BOOL, "1000", "C", FILL_BYTES);
        stage_out(s, KILN_BOOL, "1000", "C");
        stage_out(s, KILN_BOOL, "1000", layouts[l]);
        stage_out(s, KILN_INT32, "1000", "C");
        stage_check(s, normalised, NULL);
        stage_free(s);
    }
}

static void arithmetic_expected(const element *e)
{
    double x = in_number(e, 0).re, y = in_number(e, 1).re;
    set_out(e, 0, x + y);
    set_out(e, 1, dtype_is_unsigned(e->in_dtype[0]) && x < y ? 0 : x - y);
    set_out(e, 2, x * y);
}

static void arithmetic(void)
{
    for (int d = KILN_INT8; d <= KILN_FLOAT64; ++d) {
        if (!is_run_here(100 + (size_t)d, 4))
            continue;
        stage *s =
            STAGE("T x, T y", "T sum, T difference, T product",
                  "sum = x + y; difference = T(-1) < T(0) || x > y ? T(x - y) : T(0); product = x * y");
        stage_in(s, (kiln_dtype)d, "1003", "C", FILL_SMALL);
        stage_in(s, (kiln_dtype)d, "1003", d % 3 ? "C" : "-0", FILL_SMALL);
        for (int j = 0; j < 3; ++j)
            stage_out(s, (kiln_dtype)d, "1003", "C");
        stage_check(s, arithmetic_expected, NULL);
        stage_free(s);
    }
}

static void complex_expected(const element *e)
{
    number x = in_number(e, 0), y = in_number(e, 1);
    number_store(e->out[0], e->out_dtype[0], (number){x.re + y.re, x.im + y.im});
    number_store(e->out[1], e->out_dtype[1], (number){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re});
    number_store(e->out[2], e->out_dtype[2], (number){x.re, -x.im});
    set_out(e, 3, x.re * x.re + x.im * x.im);
}

static void complex_numbers(void)
{
    stage *s = STAGE("complex64 x, complex64 y",
                     "complex64 sum, complex64 product, complex64 mirrored, float32 square",
                     "sum = x + y; product = x * y; mirrored = conj(x); square = norm(x)");
    stage_in(s, KILN_COMPLEX64, "9,31", "C", FILL_SMALL);
    stage_in(s, KILN_COMPLEX64, "9,31", "F", FILL_SMALL);
    stage_out(s, KILN_COMPLEX64, "9,31", "C");
    stage_out(s, KILN_COMPLEX64, "9,31", "-0");
    stage_out(s, KILN_COMPLEX64, "9,31", "C");
    stage_out(s, KILN_FLOAT32, "9,31", "C");
    stage_check(s, complex_expected, NULL);
    stage_free(s);
    s = STAGE("complex128 x, complex128 y",
              "complex128 sum, complex128 product, complex128 mirrored, float64 square",
              "sum = x + y; product = x * y; mirrored = conj(x); square = norm(x)");
    for (int k = 0; k < 2; ++k)
        stage_in(s, KILN_COMPLEX128, "1001", "C", FILL_SMALL);
    for (int j = 0; j < 3; ++j)
        stage_out(s, KILN_COMPLEX128, "1001", "C");
    stage_out(s, KILN_FLOAT64, "1001", "C");
    stage_check(s, complex_expected, NULL);
    stage_free(s);
}

static void converted(const element *e)
{
    for (int j = 0; j < 12; ++j)
        set_out(e, j, in_number(e, 0).re);
}

/* One source dtype and every real one as a result. */
static void conversions(void)
{
    static const kiln_dtype to[] = {KILN_BOOL,   KILN_INT8,    KILN_INT16,   KILN_INT32,
                                    KILN_INT64,  KILN_UINT8,   KILN_UINT16,  KILN_UINT32,
                                    KILN_UINT64, KILN_FLOAT16, KILN_FLOAT32, KILN_FLOAT64};
    for (int d = KILN_BOOL; d <= KILN_FLOAT64; ++d) {
        if (d == KILN_BFLOAT16 || !is_run_here(200 + (size_t)d, 4))
            continue;
        stage *s =
            STAGE("T x",
                  "bool a, int8 b, int16 c, int32 d, int64 f, uint8 g, uint16 h, uint32 j, uint64 k, float16 "
                  "l, float32 m, float64 o",
                  "a = x; b = x; c = x; d = x; f = x; g = x; h = x; j = x; k = x; l = x; m = x; o = x");
        stage_in(s, (kiln_dtype)d, "301", "C", d == KILN_BOOL ? FILL_SMALL : FILL_POSITIVE);
        for (size_t j = 0; j < sizeof to / sizeof to[0]; ++j)
            stage_out(s, to[j], "301", "C");
        stage_check(s, converted, NULL);
        stage_free(s);
    }
}

static void bfloat16_expected(const element *e)
{
    set_out(e, 0, in_number(e, 0).re);
    set_out(e, 1, in_number(e, 1).re);
    set_out(e, 2, in_number(e, 1).re + 1);
}

/* Rounding, to nearest even, of every kind of float32 that bfloat16 and float16 have to round. */
static void sixteen_bit_rounding(void)
{
    static const kiln_dtype dtypes[] = {KILN_BFLOAT16, KILN_FLOAT16};
    for (int d = 0; d < 2; ++d) {
        stage *s = stage_create("float32 x, T y", "T z, float32 w, T v", "z = x; w = y; v = y + 1", NULL,
                                case_seed() + (uint64_t)d);
        stage_in(s, KILN_FLOAT32, "65536", "C", FILL_BITS);
        stage_in(s, dtypes[d], "65536", "C", FILL_BITS);
        stage_out(s, dtypes[d], "65536", "C");
        stage_out(s, KILN_FLOAT32, "65536", "C");
        stage_out(s, dtypes[d], "65536", "C");
        stage_check(s, bfloat16_expected, NULL);
        stage_free(s);
    }
}

static void wide_expected(const element *e)
{
    uint64_t x = IN(uint64_t, 0), y = IN(uint64_t, 1);
    OUT(uint64_t, 0) = x + y;
    OUT(uint64_t, 1) = x * y;
    OUT(uint64_t, 2) = x ^ (y << 3);
    OUT(unsigned char, 3) = x < y;
    OUT(unsigned char, 4) = (int64_t)x < (int64_t)y;
}

static void wide_integers(void)
{
    stage *s = STAGE(
        "uint64 x, uint64 y", "uint64 sum, uint64 product, uint64 bits, bool less, bool less_signed",
        "sum = x + y; product = x * y; bits = x ^ (y << 3); less = x < y; less_signed = (int64)x < (int64)y");
    for (int k = 0; k < 2; ++k)
        stage_in(s, KILN_UINT64, "1000", "C", FILL_BITS);
    for (int j = 0; j < 3; ++j)
        stage_out(s, KILN_UINT64, "1000", "C");
    for (int j = 0; j < 2; ++j)
        stage_out(s, KILN_BOOL, "1000", "C");
    stage_check(s, wide_expected, NULL);
    stage_free(s);
}

static void wrapped(const element *e)
{
    OUT(uint8_t, 0) = (uint8_t)(IN(uint8_t, 0) + IN(uint8_t, 1));
    OUT(uint16_t, 1) = (uint16_t)(IN(uint8_t, 0) * 257 + IN(uint8_t, 1));
}

static void narrow_integers_wrap(void)
{
    stage *s = STAGE("uint8 x, uint8 y", "uint8 z, uint16 w", "z = x + y; w = x * 257 + y");
    for (int k = 0; k < 2; ++k)
        stage_in(s, KILN_UINT8, "100003", k ? "+1" : "C", FILL_BITS);
    stage_out(s, KILN_UINT8, "100003", "C");
    stage_out(s, KILN_UINT16, "100003", "C");
    stage_check(s, wrapped, NULL);
    stage_free(s);
}

static void compared(const element *e)
{
    float x = IN(float, 0), y = IN(float, 1);
    OUT(unsigned char, 0) = x > y;
    OUT(unsigned char, 1) = x != x;
    OUT(float, 2) = x < y ? x : y;
    OUT(unsigned char, 3) = !(x <= y);
}

/* All bits are met: NaN, infinities, signed zeros, denormals, none of them flushed. */
static void special_values(void)
{
    stage *s = STAGE("float32 x, float32 y", "bool more, bool is_nan, float32 lower, bool not_less",
                     "more = x > y; is_nan = x != x; lower = x < y ? x : y; not_less = !(x <= y)");
    for (int k = 0; k < 2; ++k)
        stage_in(s, KILN_FLOAT32, "65536", "C", FILL_BITS);
    stage_out(s, KILN_BOOL, "65536", "C");
    stage_out(s, KILN_BOOL, "65536", "C");
    stage_out(s, KILN_FLOAT32, "65536", "C");
    stage_out(s, KILN_BOOL, "65536", "C");
    stage_check(s, compared, NULL);
    stage_free(s);
}

static void denormal_expected(const element *e)
{
    OUT(float, 0) = ldexpf((float)(e->i + 1), -149) + 0.0f;
    OUT(float, 1) = ldexpf((float)(e->i + 1), -149);
}

static void denormals(void)
{
    stage *s = STAGE("int32 x", "float32 z, float32 w",
                     "float32 v = (x + 1) * 1.401298464324817e-45f; z = v + 0.0f; w = v");
    stage_in(s, KILN_INT32, "1000", "C", FILL_COUNT);
    stage_out(s, KILN_FLOAT32, "1000", "C");
    stage_out(s, KILN_FLOAT32, "1000", "C");
    stage_check(s, denormal_expected, NULL);
    stage_free(s);
}

static void mixed_expected(const element *e)
{
    set_out(e, 0, in_number(e, 0).re + in_number(e, 1).re);
    set_out(e, 1, in_number(e, 0).re * 2);
}

/* Widths of one call that differ by up to sixteen. */
static void mixed_widths(void)
{
    static const struct {
        kiln_dtype x, y, z, w;
    } mixes[] = {{KILN_UINT8, KILN_UINT8, KILN_FLOAT32, KILN_FLOAT64},
                 {KILN_FLOAT64, KILN_UINT8, KILN_UINT8, KILN_UINT8},
                 {KILN_INT8, KILN_INT64, KILN_INT16, KILN_FLOAT64},
                 {KILN_FLOAT16, KILN_FLOAT32, KILN_FLOAT64, KILN_FLOAT16}};
    static const char *const layouts[] = {"C", "+1", "/0", "-0"};
    for (size_t m = 0; m < sizeof mixes / sizeof mixes[0]; ++m)
        for (size_t l = 0; l < 4; ++l) {
            if (!is_run_here(300 + 4 * m + l, 4))
                continue;
            stage *s = STAGE("A x, B y", "C z, D w", "z = x + y; w = x * 2");
            bool integers = mixes[m].z == KILN_UINT8;
            stage_in(s, mixes[m].x, "2003", layouts[l], integers ? FILL_POSITIVE : FILL_SMALL);
            stage_in(s, mixes[m].y, "2003", "C", FILL_SMALL);
            stage_out(s, mixes[m].z, "2003", layouts[(l + m) % 4]);
            stage_out(s, mixes[m].w, "2003", "C");
            stage_check(s, mixed_expected, NULL);
            stage_free(s);
        }
}

static void rooted(const element *e)
{
    set_out(e, 0, sqrt(in_number(e, 0).re) + exp(-in_number(e, 0).re) * sin(in_number(e, 0).re));
}

static void mathematics(void)
{
    static const kiln_dtype dtypes[] = {KILN_FLOAT32, KILN_FLOAT64, KILN_FLOAT16};
    static const double tolerance[] = {4e-7, 1e-15, 2e-3};
    for (int d = 0; d < 3; ++d) {
        stage *s = STAGE("T x", "T z", "z = sqrt(x) + exp(-x) * sin(x)");
        stage_in(s, dtypes[d], "4099", "C", FILL_POSITIVE);
        stage_out(s, dtypes[d], "4099", "C");
        stage_tolerate(s, tolerance[d]);
        stage_check(s, rooted, NULL);
        stage_free(s);
    }
}

const test_case dtype_cases[] = {
    {"copy_bits", copy_bits, 0},
    {"bool_bytes", bool_bytes, 0},
    {"arithmetic", arithmetic, 0},
    {"complex_numbers", complex_numbers, 0},
    {"conversions", conversions, 0},
    {"sixteen_bit_rounding", sixteen_bit_rounding, 0},
    {"wide_integers", wide_integers, 0},
    {"narrow_integers_wrap", narrow_integers_wrap, 0},
    {"special_values", special_values, 0},
    {"denormals", denormals, 0},
    {"mixed_widths", mixed_widths, 0},
    {"mathematics", mathematics, 0},
    {NULL, NULL, 0},
};
