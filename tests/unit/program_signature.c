/* Signatures and snippets: what parses, and where the caret stands when one does not. */
#include "program/signature.h"
#include "base/caret.h"
#include "base/str.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static kn_param param[8];

static void assert_parses(const char *text, const char *preamble, int expected, const char *written)
{
    int count = -1;
    kn_str s = KN_STR_INIT;
    assert_int_equal(kn_signature_parse(param, 0, 8, &count, text, "input", preamble), KILN_OK);
    assert_int_equal(count, expected);
    for (int k = 0; k < count; k++) {
        kn_str_append(&s, k ? ", " : "");
        kn_param_format(&s, &param[k]);
    }
    assert_string_equal(kn_str_text(&s), written);
    kn_str_free(&s);
}

static void good_signatures(void **state)
{
    (void)state;
    assert_parses("", NULL, 0, "");
    assert_parses("  \n ", NULL, 0, "");
    assert_parses("T x", NULL, 1, "T x");
    assert_parses("T x, raw float32 y,_non_const int64 m", NULL, 3, "T x, raw float32 y, _non_const int64 m");
    assert_parses("_non_const raw U z", NULL, 1, "raw _non_const U z");
    assert_parses("float x, int y, half h", NULL, 3, "float64 x, int64 y, float16 h");
    assert_parses("Point p, T x", "struct Point { float a; };", 2, "Point p, T x");
    assert_parses("T _count", NULL, 1, "T _count");
    assert_parses("pair<T> p, T x", "template <class T> struct pair { T a, b; };", 2, "pair<T> p, T x");
    assert_parses("pair <pair<T>, T> p", "template <class T, class U> struct pair {};", 1,
                  "pair <pair<T>, T> p");
    assert_parses("Point p", "#include \"point.h\"", 1, "Point p");
    assert_parses("my::pair<T>p", "namespace my { template <class T> struct pair {}; }", 1, "my::pair<T> p");
    assert_parses("float32 N", NULL, 1, "float32 N");
    assert_int_equal(param[0].type, KN_TYPE_DTYPE);
    assert_int_equal(param[0].dtype, KILN_FLOAT32);
}

static void outputs_are_checked_against_inputs(void **state)
{
    int count = 0, more = 0;
    (void)state;
    assert_int_equal(kn_signature_parse(param, 0, 8, &count, "T x, T y", "input", NULL), KILN_OK);
    assert_int_equal(kn_signature_parse(param, count, 8, &more, "T z, bool hit", "output", NULL), KILN_OK);
    assert_int_equal(more, 2);
    assert_string_equal(param[3].name, "hit");
    assert_int_equal(kn_signature_parse(param, count, 8, &more, "T z, T y", "output", NULL),
                     KILN_ERROR_INVALID);
    assert_string_equal(kiln_error_message(), "output signature: 'y' is the name of two parameters\n"
                                              "  T z, T y\n"
                                              "         ^");
}

static void assert_fails(kiln_status status, const char *text, const char *message)
{
    int count = 42;
    assert_int_equal(kn_signature_parse(param, 0, 8, &count, text, "input", "// Commented\nstruct Real;"),
                     status);
    assert_string_equal(kiln_error_message(), message);
    assert_int_equal(count, 42);
}

static void syntax_errors_have_a_caret(void **state)
{
    (void)state;
    assert_fails(KILN_ERROR_SYNTAX, "T x, flot32 y",
                 "input signature: unknown type 'flot32': neither a dtype, nor one capital letter, nor a "
                 "struct of the "
                 "preamble\n  T x, flot32 y\n       ^~~~~~");
    assert_fails(
        KILN_ERROR_SYNTAX, "Commented c",
        "input signature: unknown type 'Commented': neither a dtype, nor one capital letter, nor a struct of "
        "the preamble\n  Commented c\n  ^~~~~~~~~");
    assert_fails(KILN_ERROR_SYNTAX, "T x,",
                 "input signature: expected a type, found the end\n  T x,\n      ^");
    assert_fails(KILN_ERROR_SYNTAX, ", T x", "input signature: expected a type, found ','\n  , T x\n  ^");
    assert_fails(KILN_ERROR_SYNTAX, "float32 *x",
                 "input signature: expected the parameter's name, found '*'\n  float32 *x\n          ^");
    assert_fails(KILN_ERROR_SYNTAX, "pair<T x",
                 "input signature: '<' of the type 'pair' has no '>'\n  pair<T x\n  ^~~~");
    assert_fails(KILN_ERROR_SYNTAX, "T",
                 "input signature: expected the parameter's name, found the end\n  T\n   ^");
    assert_fails(KILN_ERROR_SYNTAX, "T x T y",
                 "input signature: expected ',' after 'x', found 'T'\n  T x T y\n      ^");
    assert_fails(KILN_ERROR_SYNTAX, "raw raw T x",
                 "input signature: 'raw' stands twice\n  raw raw T x\n      ^~~");
    assert_fails(KILN_ERROR_SYNTAX, "T x,\n\tT 3",
                 "input signature: expected the parameter's name, found '3'\n  \tT 3\n  \t  ^");
}

static void reserved_names_are_refused(void **state)
{
    static const char *const reserved[] = {"T i",       "T _ind", "T __x", "T _X",    "T _j",
                                           "T _kn_x",   "T kn_x", "T kn",  "T class", "T int",
                                           "T float32", "T T",    "T and"};
    int count;
    (void)state;
    for (size_t k = 0; k < sizeof reserved / sizeof reserved[0]; k++)
        assert_int_equal(kn_signature_parse(param, 0, 8, &count, reserved[k], "input", NULL),
                         KILN_ERROR_INVALID);
    assert_fails(KILN_ERROR_INVALID, "T x, T i",
                 "input signature: 'i' is reserved: it is the index of the element\n  T x, T i\n         ^");
    assert_parses("T ii, T n, T knob, T ind_", NULL, 4, "T ii, T n, T knob, T ind_");
}

static void limits_are_told(void **state)
{
    char text[128] = "T ";
    int count;
    (void)state;
    assert_fails(KILN_ERROR_INVALID, "T a, T b, T c, T d, T e, T f, T g, T h, T k",
                 "input signature: more than 8 parameters\n  T a, T b, T c, T d, T e, T f, T g, T h, T k\n"
                 "                                          ^");
    memset(text + 2, 'x', 64);
    assert_int_equal(kn_signature_parse(param, 0, 8, &count, text, "input", NULL), KILN_ERROR_SYNTAX);
    assert_non_null(strstr(kiln_error_message(), "a name of 64 characters; at most 63 are possible"));
}

static void words_outside_literals_and_comments(void **state)
{
    (void)state;
    assert_true(kn_text_has_word("z = foo(x);", "foo"));
    assert_false(kn_text_has_word("z = foobar(x); // foo\n/* foo */ \"foo\" 'f'", "foo"));
    assert_true(kn_text_has_word("x = 1'000'000; foo", "foo"));
    assert_true(kn_text_has_word("\"a\\\"\" foo", "foo"));
    assert_false(kn_text_has_word("// \\\nfoo", "foo"));
    assert_false(kn_text_has_word("R\"(\" foo )\"", "foo"));
    assert_false(kn_text_has_word("1e5f 0xfoo", "foo"));
    assert_true(kn_text_has_word("a/foo", "foo"));
}

/* A prefix belongs to its literal, and a raw literal ends where it says. */
static void literals_with_prefixes(void **state)
{
    static const char *const literals[] = {
        "\"foo\"",       "u8\"foo\"",         "u\"( foo\"",      "U\"foo )\"",        "L\"\\\" foo\"",
        "'foo'",         "u8'\\''",           "L'\"'",           "R\"(\" foo (\n)\"", "u8R\"x()\" foo)x\"",
        "uR\"(' foo)\"", "UR\"foo(foo)foo\"", "LR\"..(foo)..\"", "1'000'000",         "0xF'f00",
        "0b1'0'1u"};
    (void)state;
    for (size_t k = 0; k < sizeof literals / sizeof literals[0]; ++k) {
        char text[80];
        snprintf(text, sizeof text, "(%s) bar", literals[k]);
        assert_false(kn_text_has_word(text, "foo"));
        assert_false(kn_text_has_word(text, "R"));
        assert_false(kn_text_has_word(text, "u8"));
        assert_true(kn_text_has_word(text, "bar"));
        assert_int_equal(kn_snippet_check(text, "body"), KILN_OK);
    }
    assert_true(kn_text_has_word("R + foo", "foo"));
    assert_true(kn_text_has_word("LR \"\" foo", "LR"));
    assert_true(kn_text_has_word("u8 + u'x' + U", "U"));
    assert_true(kn_text_has_word("xu8\"\"", "xu8"));
}

/* A struct of one capital letter would read as a placeholder. */
static void structs_of_one_letter(void **state)
{
    static const char *const declaring[] = {"struct S { float a; };",
                                            "struct S\n: base {};",
                                            "struct /* the */ S;",
                                            "typedef struct { int a; } S;",
                                            "struct alignas(16) S { int a; };",
                                            "namespace n {}\nclass S final {};",
                                            "enum S { one };",
                                            "union S{};",
                                            "typedef struct s { struct { int S; } in; } S;"},
                             *const others[] = {"template <class S> struct pair { S a; };",
                                                "template <typename S, class T = S> T f(S x);",
                                                "struct pair { struct S { int a; }; };",
                                                "// struct S {};",
                                                "const char *t = \"struct S {\";",
                                                "struct SS { };",
                                                "template <int N, class S>\nstruct q { };",
                                                "struct pair make(int S);",
                                                "void f() { struct S { } s; }"};
    int count;
    (void)state;
    for (size_t k = 0; k < sizeof declaring / sizeof declaring[0]; ++k) {
        assert_int_equal(kn_signature_parse(param, 0, 8, &count, "float32 x, S p", "input", declaring[k]),
                         KILN_ERROR_INVALID);
        assert_string_equal(
            kiln_error_message(),
            "input signature: 'S' is one capital letter, and so a placeholder for a dtype, but the "
            "preamble declares a type of that name; give that type a longer name\n"
            "  float32 x, S p\n             ^");
        assert_int_equal(kn_signature_parse(param, 0, 8, &count, "float32 x, T p", "input", declaring[k]),
                         KILN_OK);
    }
    for (size_t k = 0; k < sizeof others / sizeof others[0]; ++k)
        if (kn_signature_parse(param, 0, 8, &count, "float32 x, S p", "input", others[k]) != KILN_OK)
            fail_msg("'%s' declares no S: %s", others[k], kiln_error_message());
}

static void assert_snippet(const char *text, const char *message)
{
    assert_int_equal(kn_snippet_check(text, "body"), KILN_ERROR_SYNTAX);
    assert_string_equal(kiln_error_message(), message);
}

static void snippets_balance(void **state)
{
    char deep[600];
    (void)state;
    assert_int_equal(kn_snippet_check("if (x > 0) { z = a[(int)x]; } // )", "body"), KILN_OK);
    assert_int_equal(kn_snippet_check("", "body"), KILN_OK);
    assert_snippet("z = (x;", "body:1:5: '(' is never closed\n  z = (x;\n      ^");
    assert_snippet("z = x;\n  w = x);", "body:2:8: ')' closes nothing\n    w = x);\n         ^");
    assert_snippet("{\n(}", "body:2:2: '}' does not close the '(' of line 2, column 1\n  (}\n   ^");
    assert_snippet("z = \"a;\ny", "body:1:5: this string is never closed\n  z = \"a;\n      ^");
    assert_snippet("z = u8R\"x(a)\";", "body:1:5: this string is never closed\n  z = u8R\"x(a)\";\n      ^");
    assert_snippet("z = L'a;", "body:1:5: this character literal is never closed\n  z = L'a;\n      ^");
    assert_snippet("z; /* x", "body:1:4: this comment is never closed\n  z; /* x\n     ^");
    assert_snippet("\xc3\xa9 'x", "body:1:3: this character literal is never closed\n  \xc3\xa9 'x\n    ^");
    memset(deep, '(', sizeof deep);
    deep[sizeof deep - 1] = '\0';
    assert_int_equal(kn_snippet_check(deep, "body"), KILN_ERROR_SYNTAX);
    assert_non_null(strstr(kiln_error_message(), "nested too deeply"));
}

/* A message shows only the surroundings in a long line, and the caret is still under the place. */
static void long_lines_are_cut(void **state)
{
    char text[400];
    (void)state;
    memset(text, 'a', sizeof text);
    text[300] = '(';
    text[399] = '\0';
    assert_int_equal(kn_snippet_check(text, "body"), KILN_ERROR_SYNTAX);
    const char *line = strchr(kiln_error_message(), '\n') + 1, *caret = strchr(line, '\n') + 1;
    assert_int_equal(line[strchr(caret, '^') - caret], '(');
    assert_true(caret - line < 115);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_signatures),
        cmocka_unit_test(outputs_are_checked_against_inputs),
        cmocka_unit_test(syntax_errors_have_a_caret),
        cmocka_unit_test(reserved_names_are_refused),
        cmocka_unit_test(limits_are_told),
        cmocka_unit_test(words_outside_literals_and_comments),
        cmocka_unit_test(literals_with_prefixes),
        cmocka_unit_test(structs_of_one_letter),
        cmocka_unit_test(snippets_balance),
        cmocka_unit_test(long_lines_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
