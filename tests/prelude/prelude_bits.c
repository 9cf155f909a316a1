/* CUDA's integer intrinsics and named conversions on the host, against loops over bits and arithmetic in long
 * double. */
#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

typedef long long int64;
typedef unsigned long long uint64;

int kiln__popc(unsigned x);
int kiln__popcll(uint64 x);
int kiln__clz(int x);
int kiln__clzll(int64 x);
int kiln__ffs(int x);
int kiln__ffsll(int64 x);
unsigned kiln__brev(unsigned x);
uint64 kiln__brevll(uint64 x);
unsigned kiln__byte_perm(unsigned x, unsigned y, unsigned s);
unsigned kiln__funnelshift_l(unsigned low, unsigned high, unsigned s);
unsigned kiln__funnelshift_r(unsigned low, unsigned high, unsigned s);
unsigned kiln__funnelshift_lc(unsigned low, unsigned high, unsigned s);
unsigned kiln__funnelshift_rc(unsigned low, unsigned high, unsigned s);
int kiln__mulhi(int x, int y);
unsigned kiln__umulhi(unsigned x, unsigned y);
int64 kiln__mul64hi(int64 x, int64 y);
uint64 kiln__umul64hi(uint64 x, uint64 y);
int kiln__mul24(int x, int y);
unsigned kiln__umul24(unsigned x, unsigned y);
unsigned kiln__sad(int x, int y, unsigned z);
unsigned kiln__usad(unsigned x, unsigned y, unsigned z);
int kiln__hadd(int x, int y);
int kiln__rhadd(int x, int y);
unsigned kiln__uhadd(unsigned x, unsigned y);
unsigned kiln__urhadd(unsigned x, unsigned y);
bool kiln_reinterpret(float x, double y);

static uint64 seed = 1;

/* Sparse and dense ones, and the ends of the range. */
static uint64 next_number(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    uint64 x = seed ^ seed >> 29, few = x >> 58;
    switch (seed >> 33 & 7) {
    case 0:
        return 1ull << few;
    case 1:
        return ~0ull << few;
    case 2:
        return few - 4;
    default:
        return x >> (few & 31);
    }
}

static int lowest_bit(uint64 x)
{
    for (int k = 0; k < 64; ++k)
        if (x >> k & 1)
            return k;
    return -1;
}

static int highest_bit(uint64 x)
{
    int highest = -1;
    for (int k = 0; k < 64; ++k)
        if (x >> k & 1)
            highest = k;
    return highest;
}

static uint64 reversed(uint64 x, int bits)
{
    uint64 result = 0;
    for (int k = 0; k < bits; ++k)
        result |= (x >> k & 1) << (bits - 1 - k);
    return result;
}

static int count(uint64 x)
{
    int n = 0;
    for (; x; x >>= 1)
        n += x & 1;
    return n;
}

static void test_bits(void **state)
{
    (void)state;
    for (int round = 0; round < 20000; ++round) {
        uint64 x = round ? next_number() : 0;
        unsigned u = (unsigned)x;
        assert_int_equal(kiln__popc(u), count(u));
        assert_int_equal(kiln__popcll(x), count(x));
        assert_int_equal(kiln__clz((int)u), 31 - highest_bit(u));
        assert_int_equal(kiln__clzll((int64)x), 63 - highest_bit(x));
        assert_int_equal(kiln__ffs((int)u), lowest_bit(u) + 1);
        assert_int_equal(kiln__ffsll((int64)x), lowest_bit(x) + 1);
        assert_int_equal(kiln__brev(u), reversed(u, 32));
        assert_true(kiln__brevll(x) == reversed(x, 64));
    }
}

static unsigned permuted(uint64 bytes, unsigned selector)
{
    unsigned result = 0;
    for (int k = 0; k < 4; ++k) {
        unsigned digit = selector >> 4 * k & 15, byte = bytes >> 8 * (digit % 8) & 255;
        if (digit >= 8)
            byte = byte >= 128 ? 255 : 0;
        result += byte << 8 * k;
    }
    return result;
}

static void test_bytes_and_funnels(void **state)
{
    (void)state;
    for (int round = 0; round < 20000; ++round) {
        uint64 pair = next_number();
        unsigned low = (unsigned)pair, high = (unsigned)(pair >> 32), s = (unsigned)next_number();
        assert_int_equal(kiln__byte_perm(low, high, s), permuted(pair, s));
        unsigned by = s % 32, to = s % 70, stop = to < 32 ? to : 32;
        assert_int_equal(kiln__funnelshift_l(low, high, s), (unsigned)(pair << by >> 32));
        assert_int_equal(kiln__funnelshift_r(low, high, s), (unsigned)(pair >> by));
        assert_int_equal(kiln__funnelshift_lc(low, high, to),
                         stop == 32 ? low : (unsigned)(pair << stop >> 32));
        assert_int_equal(kiln__funnelshift_rc(low, high, to), stop == 32 ? high : (unsigned)(pair >> stop));
    }
}

/* The upper half of a product, by 32-bit digits. */
static uint64 high_product(uint64 x, uint64 y)
{
    uint64 a = x >> 32, b = x & 0xffffffff, c = y >> 32, d = y & 0xffffffff;
    uint64 middle = (b * d >> 32) + (a * d & 0xffffffff) + (b * c & 0xffffffff);
    return a * c + (a * d >> 32) + (b * c >> 32) + (middle >> 32);
}

static int signed24(unsigned x)
{
    int low = (int)(x & 0xffffff);
    return low & 0x800000 ? low - 0x1000000 : low;
}

static void test_products_and_sums(void **state)
{
    (void)state;
    for (int round = 0; round < 20000; ++round) {
        uint64 x = next_number(), y = next_number();
        unsigned u = (unsigned)x, v = (unsigned)y;
        int i = (int)u, j = (int)v;
        int64 sum = (int64)i + j;
        uint64 unsigned_sum = (uint64)u + v;
        assert_int_equal(kiln__umulhi(u, v), (uint64)u * v >> 32);
        assert_int_equal(kiln__mulhi(i, j), (int)(((int64)i * j) >> 32));
        assert_true(kiln__umul64hi(x, y) == high_product(x, y));
        assert_true((uint64)kiln__mul64hi((int64)x, (int64)y) ==
                    high_product(x, y) - ((int64)x < 0 ? y : 0) - ((int64)y < 0 ? x : 0));
        assert_int_equal(kiln__umul24(u, v), (unsigned)((uint64)(u & 0xffffff) * (v & 0xffffff)));
        assert_int_equal((unsigned)kiln__mul24(i, j), (unsigned)((int64)signed24(u) * signed24(v)));
        assert_int_equal(kiln__usad(u, v, 7), (unsigned)(7 + (u > v ? u - v : v - u)));
        assert_int_equal(kiln__sad(i, j, 7), (unsigned)(7 + (uint64)(i > j ? (int64)i - j : (int64)j - i)));
        assert_int_equal(kiln__hadd(i, j), (int)floor(sum / 2.0));
        assert_int_equal(kiln__rhadd(i, j), (int)floor((sum + 1) / 2.0));
        assert_int_equal(kiln__uhadd(u, v), (unsigned)(unsigned_sum / 2));
        assert_int_equal(kiln__urhadd(u, v), (unsigned)((unsigned_sum + 1) / 2));
    }
}

static long double in_direction(long double x, int k)
{
    return k == 0 ? rintl(x) : k == 1 ? truncl(x) : k == 2 ? ceill(x) : floorl(x);
}

static long double clamped(long double x, long double lowest, long double highest)
{
    return x < lowest ? lowest : x > highest ? highest : x;
}

#define TO_INTEGER(F, from, I, to, lowest, highest)                                                          \
    void kiln_##from##2##to(F x, I out[4]);                                                                  \
    static void check_##from##2##to(F x)                                                                     \
    {                                                                                                        \
        I out[4];                                                                                            \
        kiln_##from##2##to(x, out);                                                                          \
        for (int k = 0; k < 4; ++k)                                                                          \
            assert_true(out[k] == (I)clamped(in_direction(x, k), lowest, highest));                          \
    }
TO_INTEGER(float, float, int, int, INT32_MIN, INT32_MAX)
TO_INTEGER(float, float, unsigned, uint, 0, UINT32_MAX)
TO_INTEGER(float, float, int64, ll, INT64_MIN, INT64_MAX)
TO_INTEGER(float, float, uint64, ull, 0, UINT64_MAX)
TO_INTEGER(double, double, int, int, INT32_MIN, INT32_MAX)
TO_INTEGER(double, double, unsigned, uint, 0, UINT32_MAX)
TO_INTEGER(double, double, int64, ll, INT64_MIN, INT64_MAX)
TO_INTEGER(double, double, uint64, ull, 0, UINT64_MAX)

static void check_to_integers(double x)
{
    check_float2int((float)x);
    check_float2uint((float)x);
    check_float2ll((float)x);
    check_float2ull((float)x);
    check_double2int(x);
    check_double2uint(x);
    check_double2ll(x);
    check_double2ull(x);
}

static void test_conversions_to_integers(void **state)
{
    (void)state;
    static const double ends[] = {
        0.0,          -0.0,          0.5,          -0.5,   1.5,     2.5,    -2.5, 0.49999999999999994,
        2147483647.5, -2147483648.5, 4294967295.5, 9.3e18, -9.3e18, 1.9e19, 1e30, -1e30,
        INFINITY,     -INFINITY};
    for (size_t k = 0; k < sizeof ends / sizeof *ends; ++k)
        check_to_integers(ends[k]);
    for (int round = 0; round < 20000; ++round)
        check_to_integers(ldexp((double)(int64)next_number(), -(int)(next_number() & 63)));
    int from_float[4], from_double[4];
    unsigned unsigned_from_double[4];
    int64 wide[4];
    uint64 unsigned_wide[4];
    kiln_float2int(NAN, from_float);
    kiln_double2int(NAN, from_double);
    kiln_double2uint(NAN, unsigned_from_double);
    kiln_float2ll(NAN, wide);
    kiln_double2ull(NAN, unsigned_wide);
    for (int k = 0; k < 4; ++k)
        assert_true(from_float[k] == 0 && from_double[k] == INT32_MIN &&
                    unsigned_from_double[k] == 1u << 31 && wide[k] == INT64_MIN &&
                    unsigned_wide[k] == 1ull << 63);
}

/* By the processor's own rounding modes. */
static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};

#define FROM(I, from, F, to)                                                                                 \
    void kiln_##from##2##to(I x, F out[4]);                                                                  \
    static void check_##from##2##to(I x)                                                                     \
    {                                                                                                        \
        F out[4];                                                                                            \
        kiln_##from##2##to(x, out);                                                                          \
        for (int k = 0; k < 4; ++k) {                                                                        \
            volatile I given = x;                                                                            \
            fesetround(modes[k]);                                                                            \
            volatile F wanted = (F)given;                                                                    \
            fesetround(FE_TONEAREST);                                                                        \
            assert_true(out[k] == wanted);                                                                   \
        }                                                                                                    \
    }
FROM(int, int, float, float)
FROM(unsigned, uint, float, float)
FROM(int64, ll, float, float)
FROM(uint64, ull, float, float)
FROM(int64, ll, double, double)
FROM(uint64, ull, double, double)
FROM(double, double, float, float)

static void test_conversions_from_integers(void **state)
{
    (void)state;
    for (int round = 0; round < 20000; ++round) {
        uint64 x = round == 0 ? 0 : round == 1 ? UINT64_MAX : round == 2 ? 1ull << 63 : next_number();
        check_int2float((int)x);
        check_uint2float((unsigned)x);
        check_ll2float((int64)x);
        check_ull2float(x);
        check_ll2double((int64)x);
        check_ull2double(x);
        check_double2float(ldexp((double)(int64)x, (int)(next_number() % 60) - 180));
        check_double2float((double)(int64)x);
    }
    check_double2float(1e300);
    check_double2float(-1e300);
    assert_true(kiln_reinterpret(-1.5f, 3.141592653589793));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_bytes_and_funnels),
        cmocka_unit_test(test_products_and_sums),
        cmocka_unit_test(test_conversions_to_integers),
        cmocka_unit_test(test_conversions_from_integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
