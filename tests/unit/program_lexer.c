/* The lexical elements of texts, one by one, and where errors point. */
#include "base/caret.h"
#include "program/signature.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* "N1.5|S |Wx": a letter for the kind in front of each element's text. */
static void cut_up(char *out, size_t size, const char *text)
{
    static const char letters[] = {[KN_TOKEN_SPACE] = 'S',   [KN_TOKEN_NAME] = 'W',  [KN_TOKEN_NUMBER] = 'N',
                                   [KN_TOKEN_LITERAL] = 'L', [KN_TOKEN_OTHER] = 'O', [KN_TOKEN_OPEN] = 'X'};
    size_t length, used = 0;
    out[0] = '\0';
    for (kn_token_kind kind; (kind = kn_token_scan(text, &length)) != KN_TOKEN_END; text += length) {
        assert_true(length > 0 && length <= strlen(text));
        used += (size_t)snprintf(out + used, size - used, "%s%c%.*s", used ? "|" : "", letters[kind],
                                 (int)length, text);
        assert_true(used < size);
    }
    assert_int_equal(length, 0);
}

static void elements(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"", ""},
        {"ab_9 Z", "Wab_9|S |WZ"},
        {"azAZ_@[`{", "WazAZ_|O@|O[|O`|O{"},
        {"09/:", "N09|O/|O:"},
        {" \t\r\n\v\fx", "S \t\r\n\v\f|Wx"},
        {"1e-3f+x", "N1e-3f|O+|Wx"},
        {"1E+3-1p+2-0x1.8P-2", "N1E+3|O-|N1p+2|O-|N0x1.8P-2"},
        {"1+2-3*4", "N1|O+|N2|O-|N3|O*|N4"},
        {"1e*2", "N1e|O*|N2"},
        {"12-x+1", "N12|O-|Wx|O+|N1"},
        {".5+.e", "N.5|O+|O.|We"},
        {"1.2.3", "N1.2.3"},
        {"1'000'x' '", "N1'000'x|L' '"},
        {"1''", "N1|L''"},
        {"a//b\nc", "Wa|S//b|S\n|Wc"},
        {"//b\\\nc\nd", "S//b\\\nc|S\n|Wd"},
        {"//", "S//"},
        {"/*/ x */y", "S/*/ x */|Wy"},
        {"/**/y", "S/**/|Wy"},
        {"a/b/ *c", "Wa|O/|Wb|O/|S |O*|Wc"},
        {"/* x", "X/* x"},
        {"\"a\\\"b\"c", "L\"a\\\"b\"|Wc"},
        {"\"a\\", "X\"a\\"},
        {"a\"", "Wa|X\""},
        {"'", "X'"},
        {"u8'", "Xu8'"},
        {"\"a\nb\"", "X\"a\nb\""},
        {"'a' 'b", "L'a'|S |X'b"},
        {"u8\"x\"u\"x\"U'x'L'x'", "Lu8\"x\"|Lu\"x\"|LU'x'|LL'x'"},
        {"u8 8\"x\"", "Wu8|S |N8|L\"x\""},
        {"x8\"a\"", "Wx8|L\"a\""},
        {"u9'a'", "Wu9|L'a'"},
        {"uu'a'", "Wuu|L'a'"},
        {"R\"(a\"b)\"c", "LR\"(a\"b)\"|Wc"},
        {"R\"xy(a)\" )x\" )xy\"c", "LR\"xy(a)\" )x\" )xy\"|Wc"},
        {"R\"0123456789abcdef(a)0123456789abcdef\"b", "LR\"0123456789abcdef(a)0123456789abcdef\"|Wb"},
        {"R\"0123456789abcdefg(a)\"b", "WR|L\"0123456789abcdefg(a)\"|Wb"},
        {"R\"x y(a)\"b", "WR|L\"x y(a)\"|Wb"},
        {"R\"x(a)\"b", "XR\"x(a)\"b"},
        {"R'a'", "WR|L'a'"},
        {"LR\"(a)\"u8R\"(b)\"", "LLR\"(a)\"|Lu8R\"(b)\""},
        {"LR'a'", "WLR|L'a'"},
        {"\xc3\xa9", "O\xc3|O\xa9"},
    };
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; ++k) {
        char came[200];
        cut_up(came, sizeof came, pairs[k][0]);
        assert_string_equal(came, pairs[k][1]);
    }
}

/* Every character by itself, against the C library in its own locale. */
static void characters(void **state)
{
    (void)state;
    for (int c = 0; c < 128; ++c) {
        bool is_letter = (c | 32) >= 'a' && (c | 32) <= 'z' && c >= 'A';
        assert_int_equal(kn_is_name_start((char)c), is_letter || c == '_');
        assert_int_equal(kn_is_name_char((char)c), is_letter || c == '_' || (c >= '0' && c <= '9'));
    }
}

static void positions(void **state)
{
    (void)state;
    static const char text[] = "ab\n\xc3\xa9\tc\n\nd";
    static const int expected[][2] = {{1, 1}, {1, 2}, {1, 3}, {2, 1}, {2, 2}, {2, 2},
                                      {2, 3}, {2, 4}, {3, 1}, {4, 1}, {4, 2}, {4, 2}};
    for (size_t at = 0; at < sizeof expected / sizeof *expected; ++at) {
        int line, column;
        kn_text_position(text, at, &line, &column);
        if (line != expected[at][0] || column != expected[at][1])
            fail_msg("offset %zu is %d:%d instead of %d:%d", at, line, column, expected[at][0],
                     expected[at][1]);
    }
}

static void assert_points(const char *text, size_t at, size_t length, const char *expected)
{
    assert_int_equal(kn_error_at(KILN_ERROR_SYNTAX, text, at, length, "%s", "m"), KILN_ERROR_SYNTAX);
    assert_string_equal(kiln_error_message(), expected);
}

/* The line alone, the caret under the place and waves up to its end; tabs stay tabs, accents take one
 * column. */
static void carets(void **state)
{
    (void)state;
    assert_points("abc", 0, 1, "m\n  abc\n  ^");
    assert_points("abc", 1, 2, "m\n  abc\n   ^~");
    assert_points("abc", 3, 1, "m\n  abc\n     ^");
    assert_points("abc", 1, 99, "m\n  abc\n   ^~");
    assert_points("one\n\ttwo\nthree", 5, 3, "m\n  \ttwo\n  \t^~~");
    assert_points("one\ntwo", 3, 1, "m\n  one\n     ^");
    assert_points("\xc3\xa9\xc3\xa9x\xc3\xa9", 4, 3, "m\n  \xc3\xa9\xc3\xa9x\xc3\xa9\n    ^~");
}

/* A message shows 100 bytes of a longer line, half of them in front of the place. */
static void windows_of_long_lines(void **state)
{
    char text[301], expected[400], dots[101], waves[101];
    (void)state;
    for (size_t k = 0; k < 300; ++k)
        text[k] = (char)('a' + k % 26);
    text[300] = '\0';
    memset(dots, ' ', sizeof dots);
    memset(waves, '~', sizeof waves);
    snprintf(expected, sizeof expected, "m\n  %.100s...\n  %.50s^~", text, dots);
    assert_points(text, 50, 2, expected);
    snprintf(expected, sizeof expected, "m\n  ...%.100s...\n     %.50s^~", text + 1, dots);
    assert_points(text, 51, 2, expected);
    snprintf(expected, sizeof expected, "m\n  ...%.100s...\n     %.50s^%.49s", text + 150, dots, waves);
    assert_points(text, 200, 99, expected);
    snprintf(expected, sizeof expected, "m\n  ...%.100s\n     %.50s^", text + 200, dots);
    assert_points(text, 250, 1, expected);
    snprintf(expected, sizeof expected, "m\n  ...%.99s\n     %.50s^", text + 201, dots);
    assert_points(text, 251, 1, expected);
    text[100] = '\0';
    snprintf(expected, sizeof expected, "m\n  %.100s\n  ^", text);
    assert_points(text, 0, 1, expected);
    /* A window does not begin inside a character. */
    text[10] = '\xc3', text[11] = '\xa9';
    snprintf(expected, sizeof expected, "m\n  ...%.88s\n     %.49s^", text + 12, dots);
    assert_points(text, 61, 1, expected);
}

/* Each of the three kinds of brackets, left open, closed by another, or closed without being opened. */
static void brackets(void **state)
{
    (void)state;
    static const char pairs[] = "()[]{}";
    for (int a = 0; a < 6; a += 2)
        for (int b = 0; b < 6; b += 2) {
            char text[] = {pairs[a], pairs[b + 1], '\0'}, alone[] = {pairs[b + 1], '\0'}, message[80];
            assert_int_equal(kn_snippet_check(text, "body"), a == b ? KILN_OK : KILN_ERROR_SYNTAX);
            if (a != b) {
                snprintf(message, sizeof message,
                         "body:1:2: '%c' does not close the '%c' of line 1, column 1", pairs[b + 1],
                         pairs[a]);
                assert_true(strncmp(kiln_error_message(), message, strlen(message)) == 0);
            }
            assert_int_equal(kn_snippet_check(alone, "body"), KILN_ERROR_SYNTAX);
            assert_non_null(strstr(kiln_error_message(), "closes nothing"));
            text[1] = '\0';
            assert_int_equal(kn_snippet_check(text, "body"), KILN_ERROR_SYNTAX);
            assert_non_null(strstr(kiln_error_message(), "is never closed"));
        }
    assert_int_equal(kn_snippet_check("([{}])[()]{{}}", "body"), KILN_OK);
}

/* 256 brackets deep is deep enough. */
static void depth_of_brackets(void **state)
{
    char text[2 * 257 + 1];
    (void)state;
    for (int depth = 256; depth <= 257; ++depth) {
        memset(text, '(', (size_t)depth);
        memset(text + depth, ')', (size_t)depth);
        text[2 * depth] = '\0';
        assert_int_equal(kn_snippet_check(text, "body"), depth == 256 ? KILN_OK : KILN_ERROR_SYNTAX);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements),          cmocka_unit_test(characters),
        cmocka_unit_test(positions),         cmocka_unit_test(carets),
        cmocka_unit_test(brackets),          cmocka_unit_test(windows_of_long_lines),
        cmocka_unit_test(depth_of_brackets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
