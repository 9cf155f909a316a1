/* Splits an expression string into words. */
#include "expr/lexer.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/caret.h"

enum { DIGITS_MAX = 400 }; /* the most characters of a number: a float64 needs fewer to be exact */

static kiln_status refuse(const kn_lexer *l, size_t length, const char *message)
{
    return kn_error_at(KILN_ERROR_SYNTAX, l->text, l->at, length, "expression: %s", message);
}

/* ---- numbers ---- */

static int digit_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : 99;
}

static int base_of(const char *text)
{
    char letter = text[0] == '0' ? (char)(text[1] | 0x20) : 0;
    return letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 10;
}

/* Appends digits, with single underscores between them, to `digits`. False: an underscore is elsewhere. */
static bool take_digits(const char **text, int base, char *digits, size_t *count)
{
    size_t before = *count;
    for (bool after = false;; ++*text) {
        char c = **text;
        bool is_digit = digit_value(c) < base;
        if (!is_digit && !(c == '_' && after && digit_value((*text)[1]) < base))
            break;
        if (is_digit && *count < DIGITS_MAX)
            digits[(*count)++] = c;
        after = is_digit;
    }
    digits[*count] = 0;
    return *count > before || base == 10;
}

static bool read_whole(uint64_t *out, const char *digits, int base)
{
    *out = 0;
    for (; *digits; ++digits) {
        unsigned digit = (unsigned)digit_value(*digits);
        if (*out > (UINT64_MAX - digit) / (unsigned)base)
            return false;
        *out = *out * (unsigned)base + digit;
    }
    return true;
}

/* strtod with a point in any locale. */
static double read_float(const char *digits)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c)
        return strtod(digits, NULL);
    double value = strtod_l(digits, NULL, c);
    freelocale(c);
    return value;
}

static void take_exponent(const char **text, char *digits, size_t *count)
{
    const char *rest = *text;
    if ((*rest++ | 0x20) != 'e')
        return;
    bool has_sign = *rest == '+' || *rest == '-';
    if (digit_value(rest[has_sign]) > 9 || *count + 3 > DIGITS_MAX)
        return;
    digits[(*count)++] = 'e';
    if (has_sign)
        digits[(*count)++] = *rest++;
    *text = rest;
    take_digits(text, 10, digits, count);
}

static kiln_status give_number(kn_lexer *l, const char *digits, int base, bool is_float, bool is_imaginary)
{
    uint64_t whole = 0;
    if (is_float || is_imaginary) {
        double value = read_float(digits);
        l->number = is_imaginary ? kiln_arg_complex(0, value) : kiln_arg_float(value);
        return KILN_OK;
    }
    if (!read_whole(&whole, digits, base))
        return refuse(l, l->length, "a whole number of 64 bits was expected, or a float (1e20)");
    if (base == 10 && digits[0] == '0' && whole != 0)
        return refuse(l, l->length, "a whole number does not begin with 0");
    l->number = whole <= INT64_MAX ? kiln_arg_int((int64_t)whole) : kiln_arg_uint(whole);
    return KILN_OK;
}

static kiln_status take_number(kn_lexer *l)
{
    char digits[DIGITS_MAX + 8];
    const char *text = l->text + l->at, *begin = text;
    size_t count = 0;
    int base = base_of(text);
    text += base == 10 ? 0 : 2;
    bool is_sound = take_digits(&text, base, digits, &count), is_float = false;
    if (base == 10) {
        const char *point = text;
        if (*text == '.') {
            digits[count++] = *text++;
            take_digits(&text, 10, digits, &count);
        }
        take_exponent(&text, digits, &count);
        is_float = text > point;
    }
    bool is_imaginary = base == 10 && (*text | 0x20) == 'j';
    text += is_imaginary;
    l->kind = KN_WORD_NUMBER;
    l->length = (size_t)(text - begin);
    if (!is_sound || kn_is_name_char(*text))
        return refuse(l, l->length + 1,
                      "a number was expected; a name may not follow it without an operator");
    if (count >= DIGITS_MAX)
        return refuse(l, l->length, "a number of fewer digits was expected");
    return give_number(l, digits, base, is_float, is_imaginary);
}

/* ---- the other words ---- */

static kiln_status take_text(kn_lexer *l)
{
    char quote = l->text[l->at];
    const char stops[] = {quote, '\\', '\n', 0};
    size_t length = 1 + strcspn(l->text + l->at + 1, stops);
    if (l->text[l->at + length] != quote)
        return refuse(l, length, "the text does not end; a dtype's name in quotes was expected");
    l->kind = KN_WORD_TEXT;
    l->length = length + 1;
    return KILN_OK;
}

/* Longer signs first. Some are listed only to be refused by name. */
static const char *const signs[] = {
    "**=", "//=", ">>=", "<<=", "...", "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "->", ":=",
    "+=",  "-=",  "*=",  "/=",  "%=",  "&=", "|=", "^=", "@=", "+",  "-",  "*",  "/",  "%",  "@",  "&",  "|",
    "^",   "~",   "<",   ">",   "=",   "(",  ")",  "[",  "]",  ",",  ":",  ".",  "!",  "?",  "{",  "}"};

static kiln_status take_sign(kn_lexer *l)
{
    for (size_t s = 0; s < sizeof signs / sizeof signs[0]; ++s)
        if (strncmp(l->text + l->at, signs[s], strlen(signs[s])) == 0) {
            l->kind = KN_WORD_SIGN;
            l->length = strlen(signs[s]);
            return KILN_OK;
        }
    unsigned char c = (unsigned char)l->text[l->at];
    return kn_error_at(KILN_ERROR_SYNTAX, l->text, l->at, 1,
                       c > ' ' && c < 0x7f ? "expression: the character '%c' has no meaning here"
                                           : "expression: the byte 0x%02x has no meaning here",
                       c);
}

static void skip_blanks(kn_lexer *l)
{
    const char *blanks = l->brackets > 0 ? " \t\r\f\n" : " \t\r\f";
    for (bool more = true; more;) {
        l->at += strspn(l->text + l->at, blanks);
        more = l->text[l->at] == '#';
        l->at += more ? strcspn(l->text + l->at, "\n") : 0;
    }
}

static kiln_status take_word(kn_lexer *l)
{
    skip_blanks(l);
    char c = l->text[l->at], next = c ? l->text[l->at + 1] : 0;
    l->length = c != 0;
    l->kind = !c ? KN_WORD_END : c == ';' || c == '\n' ? KN_WORD_LINE : KN_WORD_NAME;
    if (l->kind != KN_WORD_NAME)
        return KILN_OK;
    if (digit_value(c) < 10 || (c == '.' && digit_value(next) < 10))
        return take_number(l);
    if (c == '\'' || c == '"')
        return take_text(l);
    if (!kn_is_name_start(c))
        return take_sign(l);
    while (kn_is_name_char(l->text[l->at + l->length]))
        ++l->length;
    return KILN_OK;
}

kiln_status kn_lexer_start(kn_lexer *lexer, const char *text)
{
    *lexer = (kn_lexer){.text = text};
    return take_word(lexer);
}

kiln_status kn_lexer_next(kn_lexer *lexer)
{
    char c = lexer->kind == KN_WORD_SIGN && lexer->length == 1 ? lexer->text[lexer->at] : 0;
    if (c == '(' || c == '[')
        ++lexer->brackets;
    if ((c == ')' || c == ']') && lexer->brackets > 0)
        --lexer->brackets;
    lexer->at = lexer->end = lexer->at + lexer->length;
    return take_word(lexer);
}

bool kn_lexer_at(const kn_lexer *lexer, const char *word)
{
    bool may = lexer->kind == KN_WORD_SIGN || lexer->kind == KN_WORD_NAME;
    return may && strlen(word) == lexer->length && memcmp(lexer->text + lexer->at, word, lexer->length) == 0;
}
