/* Shortest digits, against those of Python's repr() and NumPy's, and against what the C library reads
 * back. */
#include "types/decimal.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void assert_digits(const kn_decimal *d, const char *digits, int point, double of)
{
    if (strcmp(d->digits, digits) != 0 || d->point != point || d->count != (int)strlen(digits))
        fail_msg("%.17g: 0.%s (%d) e%d instead of 0.%se%d", of, d->digits, d->count, d->point, digits, point);
}

/* Above a power of two neighbours are twice as far apart as below: there the nearest decimal of so many
 * digits may not read back, and the next one up does. */
static void shortest(void **state)
{
    static const struct {
        double value;
        kiln_dtype dtype;
        const char *digits;
        int point;
    } rows[] = {
        {0, KILN_FLOAT64, "0", 1},
        {-0.0, KILN_FLOAT16, "0", 1},
        {1, KILN_FLOAT64, "1", 1},
        {-10, KILN_FLOAT32, "1", 2},
        {0.1, KILN_FLOAT64, "1", 0},
        {0.30000000000000004, KILN_FLOAT64, "30000000000000004", 0},
        {1e22, KILN_FLOAT64, "1", 23},
        {123456, KILN_FLOAT64, "123456", 6},
        {5e-324, KILN_FLOAT64, "5", -323},
        {1.7976931348623157e308, KILN_FLOAT64, "17976931348623157", 309},
        {0x1p-1017, KILN_FLOAT64, "7120236347223045", -306},
        {0x1p-1007, KILN_FLOAT64, "7291122019556398", -303},
        {0x1p-957, KILN_FLOAT64, "8209073602596753", -288},
        {0x1p-808, KILN_FLOAT64, "5858190679279809", -243},
        {(double)0.1f, KILN_FLOAT32, "1", 0},
        {0x1p-96, KILN_FLOAT32, "12621775", -28},
        {0x1p87, KILN_FLOAT32, "15474251", 27},
        {0x1p90, KILN_FLOAT32, "12379401", 28},
        {0x1.fffffep127, KILN_FLOAT32, "34028235", 39},
        {0x1p-149, KILN_FLOAT32, "1", -44},
        {65504, KILN_FLOAT16, "655", 5},
        {0x1p-6, KILN_FLOAT16, "1563", -1},
        {0x1p-24, KILN_FLOAT16, "6", -7},
        {0.0999755859375, KILN_FLOAT16, "1", 0},
        {0x1p-119, KILN_BFLOAT16, "151", -35},
        {0x1p-79, KILN_BFLOAT16, "166", -23},
        {0x1p64, KILN_BFLOAT16, "185", 20},
        {0x1p84, KILN_BFLOAT16, "194", 26},
        {0x1.fep127, KILN_BFLOAT16, "339", 39},
    };
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
        kn_decimal d;
        kn_decimal_shortest(&d, rows[k].value, rows[k].dtype);
        assert_digits(&d, rows[k].digits, rows[k].point, rows[k].value);
    }
}

/* Every float16 and bfloat16: what is given reads back, and the nearest decimal with one digit less does
 * not. */
static void all_halves(void **state)
{
    (void)state;
    for (uint32_t code = 1; code < 0x7f80; ++code)
        for (int bf = 0; bf < 2; ++bf) {
            if (!bf && code >= 0x7c00)
                continue;
            kn_decimal d;
            char text[64];
            double value = bf ? kn_bfloat16_to_double((uint16_t)code) : kn_half_to_double((uint16_t)code);
            kn_decimal_shortest(&d, -value, bf ? KILN_BFLOAT16 : KILN_FLOAT16);
            snprintf(text, sizeof text, "0.%se%d", d.digits, d.point);
            double back = strtod(text, NULL);
            assert_int_equal(bf ? kn_bfloat16_from_double(back) : kn_half_from_double(back), code);
            assert_true(d.count == 1 || d.digits[d.count - 1] != '0');
            if (d.count == 1)
                continue;
            snprintf(text, sizeof text, "%.*e", d.count - 2, value);
            back = strtod(text, NULL);
            assert_int_not_equal(bf ? kn_bfloat16_from_double(back) : kn_half_from_double(back), code);
        }
}

static void rounding(void **state)
{
    kn_decimal d;
    (void)state;
    kn_decimal_round(&d, -1234.5678, 6);
    assert_digits(&d, "123457", 4, -1234.5678);
    kn_decimal_round(&d, 9.9996, 4);
    assert_digits(&d, "1000", 2, 9.9996);
    kn_decimal_round(&d, 0.00125, 1);
    assert_digits(&d, "1", -2, 0.00125);
    kn_decimal_round(&d, 0.1, 23);
    assert_digits(&d, "10000000000000000555112", 0, 0.1);
}

static void assert_limited(double value, int places, int digits, const char *expected, int point)
{
    kn_decimal d;
    kn_decimal_shortest(&d, value, KILN_FLOAT64);
    if (places >= 0)
        kn_decimal_limit_places(&d, value, places);
    else
        kn_decimal_limit_digits(&d, value, digits);
    assert_digits(&d, expected, point, value);
}

/* As printf("%.*f") has them, without trailing zeros. */
static void limits(void **state)
{
    (void)state;
    assert_limited(1234.5678, 2, 0, "123457", 4);
    assert_limited(1234.5678, 4, 0, "12345678", 4);
    assert_limited(1234.5678, 3, 0, "1234568", 4);
    assert_limited(1234.5678, 0, 0, "1235", 4);
    assert_limited(0.996, 2, 0, "1", 1);
    assert_limited(0.96, 1, 0, "1", 1);
    assert_limited(0.6, 0, 0, "1", 1);
    assert_limited(0.4, 0, 0, "0", 1);
    assert_limited(0.5, 0, 0, "0", 1);  /* to even */
    assert_limited(0.05, 1, 0, "1", 0); /* a little more than that */
    assert_limited(0.04, 1, 0, "0", 1);
    assert_limited(0.009, 2, 0, "1", -1);
    assert_limited(0.0009, 2, 0, "0", 1);
    assert_limited(0.01, 2, 0, "1", -1);
    assert_limited(120, 0, 0, "12", 3);
    assert_limited(0, 3, 0, "0", 1);
    assert_limited(1234.5678, -1, 4, "1235", 4);
    assert_limited(1234.5678, -1, 8, "12345678", 4);
    assert_limited(1234.5678, -1, 9, "12345678", 4);
    assert_limited(1299.9, -1, 3, "13", 4);
    assert_limited(9999, -1, 2, "1", 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shortest),
        cmocka_unit_test(all_halves),
        cmocka_unit_test(rounding),
        cmocka_unit_test(limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
