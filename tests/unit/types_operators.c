/* Which operators of a text get a word, and that compilers' messages lose it again. */
#include "types/operators.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void assert_becomes(const char *text, const char *expected, bool in_macros)
{
    kn_str s = KN_STR_INIT;
    kn_operators_guard(&s, text, in_macros);
    assert_string_equal(kn_str_text(&s), expected);
    kn_str_free(&s);
}

static void assert_stays(const char *text)
{
    assert_becomes(text, text, true);
}

static void operands_that_may_go_wrong(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"z = x / y", "z = x / kn_by()->* y"},
        {"z=x%-y;", "z=x% kn_by()->*-y;"},
        {"x/ *p", "x/ kn_by()->* *p"},
        {"x / /* by */ y // / z\n/ w", "x / kn_by()->* /* by */ y // / z\n/ kn_by()->* w"},
        {"x / 0 % 00 / 0x0 / -1", "x / kn_by()->* 0 % kn_by()->* 00 / kn_by()->* 0x0 / kn_by()->* -1"},
        {"x << y >> z", "x << kn_by() +  y >> kn_by() +  z"},
        {"x<<+y", "x<< kn_by() + +y"},
        {"x << 32, x >> 3 + n", "x << kn_by() +  32, x >> kn_by() +  3 + n"},
        {"x /= y; x %=y; x <<= y; x >>= 70;",
         "x /= kn_by() = y; x %= kn_by() =y; x <<= kn_by() = y; x >>= kn_by() = 70;"},
        {"x /= 2 - n;", "x /= kn_by() = 2 - n;"},
        {"a < b && c < d >> e", "a < b && c < d >> kn_by() +  e"},
        {"vec<x / y> v; (a >> b)", "vec<x / kn_by()->* y> v; (a >> kn_by() +  b)"},
        {"f<g<int>>(a / b) >> c", "f<g<int>>(a / kn_by()->* b) >> kn_by() +  c"},
        {"p->x > q->y; a >> b", "p->x > q->y; a >> kn_by() +  b"},
        {"z = 0.0 - n * 2;", "z = 0.0 - kn_by() +  n * 2;"},
        {"a*0-y, ((float64)((T)(0)))- -x", "a*0- kn_by() + y, ((float64)((T)(0)))- kn_by() +  -x"},
        {"return 0 - int(0) - x", "return 0 - kn_by() +  int(0) - kn_by() +  x"},
        {"#define F(a, b) a / b\nF(1, 2) / y", "#define F(a, b) a / kn_by()->* b\nF(1, 2) / kn_by()->* y"},
    };
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; ++k)
        assert_becomes(pairs[k][0], pairs[k][1], true);
    assert_becomes("#define F(a) a / b\\\n / c\nx / y", "#define F(a) a / b\\\n / c\nx / kn_by()->* y",
                   false);
}

static void texts_that_stay(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "x / 2 % 3.5f / 0x10 / .5",
        "x << 3 >> 31;",
        "x /= 2; x <<= 7;",
        "x * y + z & w",
        "\"a / b\" '/' R\"(a % b)\" /* a / b */ // a << b",
        "#include <a/b.h>\n#if A / B\n#elif A >> B\n#endif",
        "V operator/(V a, V b); V &operator <<= (V &a, int b); &V::operator%;",
        "vec<vec<int>> a; vec<vec<vec<int>>> b; c = static_cast<vec<vec<int>>>(x);",
        "template <class T, class U = vec<T>> struct S <% int a; %>;",
        "%:define A",
        "f<<<1, 2>>>(x)",
        "x /= {2}",
        "is_same<T, vec<U &&>>()"};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; ++k)
        assert_stays(texts[k]);
}

static void conditions(void **state)
{
    (void)state;
    assert_true(kn_text_has_conditions("x\n  # if A"));
    assert_true(kn_text_has_conditions("#ifdef A\n#elif B\n#endif"));
    assert_false(kn_text_has_conditions("#ifdef A\n#ifndef B\n#endif // #if\nif (x) \"#if\";"));
}

static void assert_reads(const char *log, const char *expected)
{
    static const char source[] =
        "first\n#line 1 \"k\"\nz = x / kn_by()->* y + (x << kn_by() +  w);\nq %= kn_by() = r\n"
        "#line 4 \"kiln_k.cu\"\nlast kn_by()\n";
    kn_str s = KN_STR_INIT;
    kn_str_append(&s, log);
    kn_operators_unguard(&s, source);
    assert_string_equal(kn_str_text(&s), expected);
    kn_str_free(&s);
}

static void messages(void **state)
{
    (void)state;
    /* gcc, clang and NVRTC about the same names. */
    assert_reads("k:1:20: error: no y\nk:1:41: error: no w\nk:2:16: error: no r\n",
                 "k:1:9: error: no y\nk:1:19: error: no w\nk:2:6: error: no r\n");
    assert_reads("k:1:41: error: no w\nz = x / kn_by()->* y + (x << kn_by() +  w);\n"
                 "    ~              ~                    ^~\n",
                 "k:1:19: error: no w\nz = x / y + (x << w);\n    ~   ~         ^~\n");
    assert_reads("k(2): error: no r\n  q %= kn_by() = r\n                 ^\n\n1 error\n",
                 "k(2): error: no r\n  q %= r\n       ^\n\n1 error\n");
    assert_reads("other.h:1:21: error: a\nk:9:21: b\nIn function: k:1\n",
                 "other.h:1:21: error: a\nk:9:21: b\nIn function: k:1\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operands_that_may_go_wrong),
        cmocka_unit_test(texts_that_stay),
        cmocka_unit_test(conditions),
        cmocka_unit_test(messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
