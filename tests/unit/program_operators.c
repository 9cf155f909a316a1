/* The operators of a text that get a word, and that compilers' messages lose it again. */
#include "program/operators.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
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

/* A plain number is the whole operand, or only its beginning: by what stands behind it. */
static void what_follows_a_number(void **state)
{
    static const char all[] = ";),]}:?&|^<>=!+-*.([{~@$";
    (void)state;
    for (const char *c = all; *c; ++c) {
        char text[32], guarded[64];
        snprintf(text, sizeof text, "x << 3 %c q", *c);
        snprintf(guarded, sizeof guarded, "x << kn_by() +  3 %c q", *c);
        assert_becomes(text, strchr(";),]}:?&|^<>=!", *c) ? text : guarded, true);
        snprintf(text, sizeof text, "x <<= 3 %c q", *c);
        snprintf(guarded, sizeof guarded, "x <<= kn_by() = 3 %c q", *c);
        assert_becomes(text, strchr(";),]}", *c) ? text : guarded, true);
        snprintf(text, sizeof text, "x /= 3 %c q", *c);
        snprintf(guarded, sizeof guarded, "x /= kn_by() = 3 %c q", *c);
        assert_becomes(text, strchr(";),]}", *c) ? text : guarded, true);
        snprintf(text, sizeof text, "x / 3 %c q",
                 *c); /* binds as tightly as anything behind it but the last */
        assert_becomes(text, text, true);
    }
}

static void numbers(void **state)
{
    static const struct {
        const char *number;
        bool divides, shifts;
    } rows[] = {{"0", false, true},    {"1", true, true},      {"00", false, true},   {"0x0", false, true},
                {"0X00", false, true}, {"0xa", true, true},    {"0xF", true, true},   {"0x0f", true, true},
                {"0b0", false, true},  {"0u", false, true},    {"10", true, true},    {"31", true, true},
                {"32", true, false},   {"0x1f", true, true},   {"0x20", true, false}, {"037", true, true},
                {"040", true, false},  {"99999", true, false}, {"9", true, true},     {"0xA0", true, false},
                {"100u", true, false}};
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
        char text[32], guarded[64];
        snprintf(text, sizeof text, "x %% %s", rows[k].number);
        snprintf(guarded, sizeof guarded, "x %% kn_by()->* %s", rows[k].number);
        assert_becomes(text, rows[k].divides ? text : guarded, true);
        snprintf(text, sizeof text, "x >>= %s", rows[k].number);
        snprintf(guarded, sizeof guarded, "x >>= kn_by() = %s", rows[k].number);
        assert_becomes(text, rows[k].shifts ? text : guarded, true);
    }
}

/* A minus behind a zero that is nothing else. */
static void zeros_and_minuses(void **state)
{
    static const char *const signs[] = {"0 -",          "0.0f -",       "(0) -",         "((0)) -",
                                        "T(0) -",       "(T)0 -",       "int(0) -",      "float(0)-",
                                        "return 0 -",   "float32(0) -", "x = 0 -",       "a, 0 -",
                                        "a ? 0 -",      "long(0) -",    "double((0)) -", "; 0x0 -",
                                        "unsigned(0)-", "bool(0) -",    "short(0) -",    "a + 0 -",
                                        "char(0) -",    "signed(0) -",  "A(0) -",        "Z(0) -",
                                        "kn[0 -"},
                             *const others[] = {"1 -",      "f(0) -",   "z0 -",        "x[0] -",
                                                "a -",      "0 * 2 -",  "t(0) -",      "At(0) -",
                                                "0 + -",    "(0, 1) -", "floats(0) -", "10 -",
                                                "(0)[1] -", "{0} -",    "\"0\" -",     "f(0)(0) -"};
    (void)state;
    for (size_t k = 0; k < sizeof signs / sizeof *signs; ++k) {
        char text[64], guarded[96];
        snprintf(text, sizeof text, "%s q", signs[k]);
        snprintf(guarded, sizeof guarded, "%s kn_by() +  q", signs[k]);
        assert_becomes(text, guarded, true);
        snprintf(text, sizeof text, "%s> q", signs[k]); /* an arrow, a decrement, an assignment */
        assert_stays(text);
        snprintf(text, sizeof text, "%s- q", signs[k]);
        assert_stays(text);
        snprintf(text, sizeof text, "%s= q", signs[k]);
        assert_stays(text);
    }
    for (size_t k = 0; k < sizeof others / sizeof *others; ++k) {
        char text[64];
        snprintf(text, sizeof text, "%s q", others[k]);
        assert_stays(text);
    }
}

/* Lines that begin with #, and what they contain. */
static void directives(void **state)
{
    static const char *const in_macros[][2] = {
        {"# define D a / b\nx", "# define D a / kn_by()->* b\nx"},
        {"#\tdefine D a / b\nx", "#\tdefine D a / kn_by()->* b\nx"},
        {"#undef D a / b\nx / y", "#undef D a / b\nx / kn_by()->* y"},
        {"#defined a / b\nx", "#defined a / b\nx"},
        {"x # a / b\n", "x # a / kn_by()->* b\n"},
        {"  #if a / b \\\n / c\nx / y", "  #if a / b \\\n / c\nx / kn_by()->* y"},
        {"#if a /* \n */ / b\nx / y", "#if a /* \n */ / b\nx / kn_by()->* y"},
        {"x \\\n#if a / b\n", "x \\\n#if a / kn_by()->* b\n"}};
    (void)state;
    for (size_t k = 0; k < sizeof in_macros / sizeof *in_macros; ++k)
        assert_becomes(in_macros[k][0], in_macros[k][1], true);
    assert_becomes("#define D a / b\nx / y", "#define D a / b\nx / kn_by()->* y", false);
}

/* Template brackets far beyond what anybody writes are counted no further. */
static void deep_brackets(void **state)
{
    char text[700], expected[720];
    (void)state;
    for (int depth = 255; depth <= 300; depth += 45) {
        memset(text, '(', (size_t)depth);
        strcpy(text + depth, "a / b");
        memset(text + depth + 5, ')', (size_t)depth);
        strcpy(text + 2 * depth + 5, " / c");
        snprintf(expected, sizeof expected, "%.*sa / kn_by()->* b%.*s / kn_by()->* c", depth, text, depth,
                 text + depth + 5);
        assert_becomes(text, expected, true);
    }
    for (int k = 0; k < 300; ++k)
        memcpy(text + 2 * k, "a<", 2);
    text[600] = '\0';
    assert_stays(text);
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
    assert_true(kn_text_has_conditions("#\tif A"));
    assert_true(kn_text_has_conditions("#elif"));
    assert_false(kn_text_has_conditions("#else\n#i\n#eli\n#elifs\n# define if"));
    assert_false(kn_text_has_conditions(""));
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
        cmocka_unit_test(what_follows_a_number),
        cmocka_unit_test(numbers),
        cmocka_unit_test(zeros_and_minuses),
        cmocka_unit_test(directives),
        cmocka_unit_test(deep_brackets),
        cmocka_unit_test(conditions),
        cmocka_unit_test(messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
