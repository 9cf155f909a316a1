/* Integers where C++ says nothing and processors trap: quotients by zero, the least integer by -1, shifts
 * by more than there are bits. The results are NumPy's, whatever the types, the operators' form and the
 * place in the texts. */
#include "values.h"

#include <math.h>
#include <string.h>

__extension__ typedef __int128 wide; /* holds every result exactly */
__extension__ typedef unsigned __int128 wide_bits;
enum { SIDE = 24, PAIRS = SIDE * SIDE };

static wide least_of(kiln_dtype dtype)
{
    bool has_sign = dtype >= KILN_INT8 && dtype <= KILN_INT64;
    return has_sign ? -((wide)1 << (8 * kiln_dtype_size(dtype) - 1)) : 0;
}

static wide load(const void *from, kiln_dtype dtype)
{
    unsigned long long bits = 0;
    int size = (int)kiln_dtype_size(dtype);
    memcpy(&bits, from, (size_t)size);
    wide half = (wide)1 << (8 * size - 1);
    return least_of(dtype) < 0 && (wide)bits >= half ? (wide)bits - 2 * half : (wide)bits;
}

static void store(void *to, kiln_dtype dtype, wide x)
{
    unsigned long long bits = (unsigned long long)x;
    memcpy(to, &bits, kiln_dtype_size(dtype));
}

/* Zero, one and two with both signs, both ends, and counts around the widths. */
static wide edge(kiln_dtype dtype, int k)
{
    static const int near[] = {0, 1, -1, 2, -2, 3, -3, 7, 8, 9, 15, 16, 31, 32, 33, 63, 64, 65, 100, -8, -32};
    const int n = sizeof near / sizeof *near;
    wide least = least_of(dtype), greatest = least + ((wide)1 << (8 * kiln_dtype_size(dtype))) - 1;
    return k < n ? near[k] : k == n ? least : k == n + 1 ? greatest : least + 1;
}

typedef wide (*meaning)(wide x, wide y, int width);

static wide quotient(wide x, wide y, int width)
{
    (void)width;
    return y == 0 ? 0 : x / y;
}
static wide remainder_of(wide x, wide y, int width)
{
    (void)width;
    return y == 0 ? 0 : x % y;
}
static wide left(wide x, wide y, int width)
{
    return y < 0 || y >= width ? 0 : (wide)((wide_bits)x << y);
}
static wide right(wide x, wide y, int width)
{
    return x >> (y < 0 || y >= width ? width : (int)y);
}
static const meaning meanings[] = {quotient, remainder_of, left, right};
enum { MEANINGS = sizeof meanings / sizeof *meanings, FORMS = 3 };

static void compare(kiln_dtype dtype, const char *form, const unsigned char *x, const unsigned char *y,
                    unsigned char z[MEANINGS][PAIRS * 8])
{
    size_t size = kiln_dtype_size(dtype);
    int width = size < 4 ? 32 : 8 * (int)size; /* of the type that x is promoted to */
    for (int m = 0; m < MEANINGS; ++m)
        for (size_t k = 0; k < PAIRS; ++k) {
            wide a = load(x + k * size, dtype), b = load(y + k * size, dtype);
            unsigned char wanted[8] = {0};
            store(wanted, dtype, meanings[m](a, b, width));
            trouble_unless(memcmp(wanted, z[m] + k * size, size) == 0,
                           "%s of %s: operator %d of %lld and %lld gave %lld, expected %lld", form,
                           kiln_dtype_name(dtype), m, (long long)a, (long long)b,
                           (long long)load(z[m] + k * size, dtype), (long long)load(wanted, dtype));
        }
}

static void run_form(kiln_dtype dtype, const char *body)
{
    static unsigned char x[PAIRS * 8], y[PAIRS * 8], z[MEANINGS][PAIRS * 8];
    size_t size = kiln_dtype_size(dtype);
    values v = VALUES_INIT;
    for (int k = 0; k < PAIRS; ++k) {
        store(x + (size_t)k * size, dtype, edge(dtype, k / SIDE));
        store(y + (size_t)k * size, dtype, edge(dtype, k % SIDE));
    }
    values_in(&v, dtype, x);
    values_in(&v, dtype, y);
    for (int m = 0; m < MEANINGS; ++m)
        values_out(&v, dtype, z[m]);
    if (values_run(&v, "T x, T y", "T q, T r, T l, T s", body, PAIRS))
        compare(dtype, body, x, y, z);
}

static void every_pair(void)
{
    static const char *const forms[FORMS] = {
        "q = x / y; r = x % y; l = x << y; s = x >> y;",
        "q = r = l = s = x; q /= y; r %= y; l <<= y; s >>= y;",
        "q = x/(T)(y + 1 - 1) * 1; r = 0 + x%\n  /* by */ y; l = x << y + 3 - 3; s = (x >> 0 + y) + 0;"};
    static const kiln_dtype dtypes[] = {KILN_INT8,  KILN_INT16,  KILN_INT32,  KILN_INT64,
                                        KILN_UINT8, KILN_UINT16, KILN_UINT32, KILN_UINT64};
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; ++d)
        run_form(dtypes[d], forms[d % FORMS]);
    run_form(KILN_INT32, forms[0]);
    run_form(KILN_INT64, forms[1]);
    run_form(KILN_UINT64, forms[2]);
}

/* One element; each result is a small number that is written beside it. */
static void texts_around(void)
{
    static const char preamble[] =
        "#define HALF(x) ((x) / 2)\n#define OVER(x, y) ((x) / (y))\n"
        "template <class A> struct box { A a; };\n"
        "struct metres { int a; };\n"
        "__device__ metres operator/(metres x, int y) { return {x.a / y}; }\n"
        "template <class S> __device__ box<S> operator/(const box<S> &x, S y) { return {x.a / y}; }\n"
        "struct grid { int a; template <class S> __device__ grid operator%(S y) const { return {(int)(a % "
        "y)}; } };\n"
        "enum shade { light, dark = 7 };\n"
        "__device__ int by(int x, int y) { return x / y; }\n"
        "template <int N> __device__ int fixed() { return N; }\n"
        "constexpr int SIX = 6, THREE = 3;\nstatic_assert(SIX / THREE == 2, \"\");\n";
    static const char body[] =
        "int rows[SIX / THREE]; rows[0] = 0;\n"
        "box<box<int>> inner = {{9}};\n"
        "switch (x) { case SIX / THREE: break; case (SIX << THREE) + 1: break; default: rows[0] = 1; }\n"
        "z = rows[0] + by(x, zero) + OVER(x, zero) + x / HALF(zero);          // 1\n"
        "z += (metres{x} / zero).a + (box<int>{x} / zero).a + (grid{x} % zero).a; // 1\n"
        "z += x / light + x / (dark + zero);                                   // 1\n"
        "z += x / (zero > 1 ? 1 : zero) + fixed<SIX / THREE>();                // 3\n"
        "z += inner.a.a / 3 >> zero;                                           // 6\n"
        "z += \"/ % <<\"[0] == '/' ? 1 : 100;                                   // 7\n"
        "volatile int count = 40; z += (1 << count) + (x >> count);            // 7\n"
        "z += 1.5f / 3 * 2; z += (x / 2.0f > 2) + x / 0.5;                     // 19\n"
        "const int *p = &zero; z += x / *p + x % *p;                           // 19\n"
        "bool truth = x / 3; z += truth / (zero > 3);                          // 19\n"
        "z += x > zero && x < 9 >> zero;                                       // 20\n";
    const kiln_kernel_options options = {
        sizeof options, 0,    preamble, "const int start = 5 / (int)(n - n);", NULL, NULL, 0, NULL, NULL, 0,
        NULL,           NULL, 0};
    kiln_kernel *kernel = NULL;
    kiln_array *z = NULL;
    const int64_t shape[] = {3};
    kiln_arg in[] = {kiln_arg_int(5), kiln_arg_int(0)};
    double out[3] = {0};
    if (!succeeded(
            kiln_elementwise_create(&kernel, "int32 x, int32 zero", "float64 z", body, "texts", &options),
            "create"))
        return;
    if (succeeded(kiln_array_empty(&z, KILN_FLOAT64, 1, shape, stage_device), "empty") &&
        succeeded(kiln_kernel_call(kernel, &z, 1, in, 2, NULL), "call") &&
        succeeded(kiln_array_to_host(z, out, sizeof out), "to host"))
        trouble_unless(out[0] == 20 && out[2] == 20, "expected 20, got %g and %g", out[0], out[2]);
    kiln_array_free(z);
    kiln_kernel_free(kernel);
}

static void negative_or_not(const element *e)
{
    OUT(double, 0) = 0.0 - IN(int32_t, 0);
    OUT(float, 1) = 0;
    OUT(float, 1) -= fabsf((float)IN(int32_t, 0));
}

/* Zero less zero is no negative zero. */
static void zero_less(void)
{
    stage *s =
        STAGE("int32 x", "float64 z, float32 w", "z = 0.0 - x % 2 * 0 - x; w = (float32)0 - fabs((float)x);");
    stage_in(s, KILN_INT32, "99", "C", FILL_SMALL);
    stage_out(s, KILN_FLOAT64, "99", "C");
    stage_out(s, KILN_FLOAT32, "99", "C");
    stage_check(s, negative_or_not, NULL);
    stage_free(s);
}

static void around_of(const element *e)
{
    int8_t x = IN(int8_t, 0), less = (int8_t)-x, more = (int8_t)(x + 100);
    OUT(int8_t, 0) = less < x ? less : x;
    OUT(int8_t, 1) = (int8_t)(more < 5 ? 1 : more / 3);
}

/* Bytes that go around where they are stored in variables, vectors of them too. */
static void bytes_go_around(void)
{
    stage *s = STAGE(
        "int8 x", "int8 y, int8 z",
        "const signed char less = -x, more = x + 100; y = less < x ? less : x; z = more < 5 ? 1 : more / 3;");
    stage_in(s, KILN_INT8, "1003", "C", FILL_BITS);
    stage_out(s, KILN_INT8, "1003", "C");
    stage_out(s, KILN_INT8, "1003", "C");
    stage_check(s, around_of, NULL);
    stage_free(s);
}

/* A message still names the user's line. */
static void messages_keep_lines(void)
{
    stage *s = STAGE("int32 x", "int32 z", "z = x / x;\nz = x % unknown_word;");
    stage_in(s, KILN_INT32, "3", "C", FILL_SMALL);
    stage_out(s, KILN_INT32, "3", "C");
    stage_refuse(s, KILN_ERROR_COMPILE, ":2: error|unknown_word");
    stage_free(s);
    trouble_unless(!strstr(kiln_error_log(), "kn_by"), "the log has words nobody wrote:\n%s",
                   kiln_error_log());
}

const test_case integer_cases[] = {{"every_pair", every_pair, 0},
                                   {"texts_around", texts_around, 0},
                                   {"zero_less", zero_less, 0},
                                   {"bytes_go_around", bytes_go_around, 0},
                                   {"messages_keep_lines", messages_keep_lines, 0},
                                   {NULL, NULL, 0}};
