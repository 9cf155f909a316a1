/* Division by a reciprocal and one correction: a proof for all mantissas, and the limits of what it is used
 * for.
 *
 * The proof. Let a and b be mantissas, A and B times 2^-23, r = (1 + d) / b the rounded reciprocal, |d| <
 * 2^-24, and q = RN(a r). The residue e = b q - a is exact, or off by 2^-47 where q < 1. What the last
 * operation rounds, q - e r, is a/b + d (a/b - q) and at most 2^-47 more. As |a/b - q| is at most 1.5 units
 * in the last place of the quotient, what is rounded is off by less than 4 * 2^-24 units. So it rounds as a/b
 * does unless a/b lies that near to a middle between two numbers. Those lie at M / 2^k, k = 25 where A < B
 * and 24 elsewhere, and a/b is |A 2^k - M B| / (2 B) units away from one: that integer has to be smaller than
 * 8 there (and is never 0). Here all pairs are tried for which it is at most 16: for each B and each such
 * residue what A must be modulo the odd part of B. Powers of two change nothing as long as no number on the
 * way leaves the normal ones, nor a residue's last bit 2^-149: for b from 2^-20 to 2^20 and a from 2^-100 to
 * 2^100 quotients lie from 2^-120 to 2^120, and residues are multiples of 2^-147.
 *
 * usage: prelude_division [--all]      --all: every B, 2^23 of them; without it one in 64 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

bool divide_floats(float *out, const float *x, float by, long n);
bool divide_bytes(float *out, const unsigned char *x, float by, long n);
bool divide_longs(float *out, const long long *x, float by, long n);
float divide_whole(long long x, float by);
float divide_whole_on_host(long long x, float by);
double divide_double(double x, float by);
unsigned find_wrong(unsigned first, unsigned end, unsigned step, unsigned by);

enum { LEAST = 1 << 23, END = 1 << 24, MOST_RESIDUE = 16 };
static unsigned each = 64; /* of how many B one is tried */

/* Modulo an odd number. */
static uint64_t inverse_of_power(int power, uint64_t by)
{
    uint64_t x = 1;
    for (int k = 0; k < power; ++k)
        x = (x % 2 == 0 ? x : x + by) / 2;
    return x % by;
}

/* All A from `first` to `end` with A * 2^power = residue modulo B. */
static void try_residue(unsigned first, unsigned end, unsigned by, unsigned odd, uint64_t inverse,
                        int residue)
{
    if (residue % (int)(by / odd) != 0)
        return;
    uint64_t size = (uint64_t)abs(residue) * inverse % odd,
             least = residue < 0 && size > 0 ? odd - size : size;
    unsigned at = (unsigned)(least + (first > least ? (first - least + odd - 1) / odd * odd : 0));
    unsigned wrong = find_wrong(at, end, odd, by);
    if (wrong)
        fail_msg("%u / %u is not what IEEE has", wrong, by);
}

static void all_mantissas_divide_as_ieee_has_it(void **state)
{
    (void)state;
    for (unsigned by = LEAST; by < END; by += each == 1 ? 1 : 1 + (by * 2654435761u >> 16) % (2 * each)) {
        unsigned odd = by >> __builtin_ctz(by);
        uint64_t below = inverse_of_power(25, odd), above = inverse_of_power(24, odd);
        for (int residue = -MOST_RESIDUE; residue <= MOST_RESIDUE; ++residue) {
            try_residue(LEAST, by, by, odd, below, residue);
            try_residue(by, END, by, odd, above, residue);
        }
    }
}

/* Numbers that the proof leaves out must be right too. */
static void other_mantissas_do(void **state)
{
    (void)state;
    uint64_t dice = 1;
    for (int k = 0; k < 20000; ++k) {
        dice = dice * UINT64_C(6364136223846793005) + 1442695040888963407;
        unsigned by = LEAST + (unsigned)(dice >> 41), first = LEAST + (unsigned)(dice >> 20 & 1023);
        assert_int_equal(find_wrong(first, END, 65537, by), 0);
    }
}

/* ---- limits ---- */

static float next(float x)
{
    return nextafterf(x, INFINITY);
}

static float before(float x)
{
    return nextafterf(x, -INFINITY);
}

/* Bit for bit, signs of zeros too. */
static void assert_quotient(float x, float by)
{
    float out, expected = x / by;
    assert_true(divide_floats(&out, &x, by, 1));
    if (memcmp(&out, &expected, sizeof out) != 0)
        fail_msg("%a / %a is %a, not %a", (double)x, (double)by, (double)expected, (double)out);
}

static void assert_beyond(float x, float by)
{
    float out;
    if (divide_floats(&out, &x, by, 1))
        fail_msg("%a / %a is taken for near", (double)x, (double)by);
}

static const float near_divisors[] = {0x1p-20f, 0x1.000002p-20f, 0x1.fffffep-1f, 1, 0x1.000002p0f, 3,
                                      255,      0x1.fffffep19f,  0x1p20f};
enum { NEAR_DIVISORS = sizeof near_divisors / sizeof near_divisors[0] };

/* Numbers of integer dtypes, by constants. */
static void whole_numbers_are_exact(void **state)
{
    (void)state;
    uint64_t dice = 7;
    for (int k = 0; k < 200000; ++k) {
        dice = dice * UINT64_C(6364136223846793005) + 1442695040888963407;
        const int64_t x = k < 512 ? k - 256 : (int64_t)dice >> (dice >> 58 & 63);
        const float by = k % 3 == 0 ? near_divisors[k % NEAR_DIVISORS]
                                    : ldexpf((float)(dice >> 33 | 1), -(int)(dice >> 27 & 31) - 11);
        const float expected = (float)x / by, out = k % 2 ? divide_whole(x, by) : divide_whole_on_host(x, by);
        if (by >= 0x1p-20f && by <= 0x1p20f && memcmp(&out, &expected, sizeof out) != 0)
            fail_msg("%lld / %a is %a, not %a", (long long)x, (double)by, (double)expected, (double)out);
    }
}

static void dividends_at_the_limits_are_exact_and_beyond_them_refused(void **state)
{
    (void)state;
    const float least = next(0x1p-100f), most = 0x1p100f;
    for (int k = 0; k < NEAR_DIVISORS; ++k)
        for (int sign = -1; sign <= 1; sign += 2) {
            const float inside[] = {0, least, next(least), 1, 0x1.fffffep0f, before(most), most};
            const float outside[] = {before(0x1p-100f), FLT_MIN, FLT_TRUE_MIN, next(most), FLT_MAX, INFINITY};
            for (size_t j = 0; j < sizeof inside / sizeof inside[0]; ++j)
                assert_quotient((float)sign * inside[j], near_divisors[k]);
            for (size_t j = 0; j < sizeof outside / sizeof outside[0]; ++j)
                assert_beyond((float)sign * outside[j], near_divisors[k]);
        }
}

static void divisors_beyond_the_limits_are_refused(void **state)
{
    (void)state;
    const float by[] = {before(0x1p-20f), next(0x1p20f), 0,   -0.0f,   -1,           -3,
                        INFINITY,         -INFINITY,     NAN, FLT_MIN, FLT_TRUE_MIN, FLT_MAX};
    const unsigned char byte = 5;
    float out;
    for (size_t k = 0; k < sizeof by / sizeof by[0]; ++k) {
        assert_beyond(1, by[k]);
        assert_beyond(0, by[k]);
        assert_false(divide_bytes(&out, &byte, by[k], 1));
    }
}

static void one_dividend_beyond_the_limits_is_enough(void **state)
{
    (void)state;
    float x[5], out[5];
    for (int at = 0; at < 5; ++at)
        for (int k = 0; k < 2; ++k) {
            for (int j = 0; j < 5; ++j)
                x[j] = (float)(j - 2);
            x[at] = k ? 0x1p101f : 0x1p-101f;
            assert_false(divide_floats(out, x, 3, 5));
        }
}

static void what_is_no_number_stays_none(void **state)
{
    (void)state;
    const float x[] = {1, NAN, 2};
    float out[3];
    assert_true(divide_floats(out, x, 3, 3));
    assert_true(isnan(out[1]) && out[0] == 1.0f / 3 && out[2] == 2.0f / 3);
}

static void integers_are_near_as_they_are(void **state)
{
    (void)state;
    const long long x[] = {0, 1, -1, 16777217, INT64_MAX, INT64_MIN, INT64_MIN + 1};
    float out[7];
    for (int k = 0; k < NEAR_DIVISORS; ++k) {
        assert_true(divide_longs(out, x, near_divisors[k], 7));
        for (int j = 0; j < 7; ++j)
            assert_true(out[j] == (float)x[j] / near_divisors[k]);
        for (int byte = 0; byte < 256; ++byte) {
            unsigned char b = (unsigned char)byte;
            assert_true(divide_bytes(out, &b, near_divisors[k], 1) &&
                        out[0] == (float)byte / near_divisors[k]);
        }
    }
}

static void wider_quotients_are_left_alone(void **state)
{
    (void)state;
    assert_true(divide_double(1, 3) == 1.0 / 3 && divide_double(1e300, 0) == INFINITY);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_mantissas_divide_as_ieee_has_it),
        cmocka_unit_test(other_mantissas_do),
        cmocka_unit_test(whole_numbers_are_exact),
        cmocka_unit_test(dividends_at_the_limits_are_exact_and_beyond_them_refused),
        cmocka_unit_test(divisors_beyond_the_limits_are_refused),
        cmocka_unit_test(one_dividend_beyond_the_limits_is_enough),
        cmocka_unit_test(what_is_no_number_stays_none),
        cmocka_unit_test(integers_are_near_as_they_are),
        cmocka_unit_test(wider_quotients_are_left_alone),
    };
    if (argc > 1 && !strcmp(argv[1], "--all"))
        each = 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
