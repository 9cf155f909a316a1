/* program/operators.c - guards the operators / % << >> of a text, and undoes it in compilers' messages. */
#include "program/operators.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/caret.h"
#include "types/dtype.h"

enum { DEPTH_MAX = 256, NARROWEST = 32 /* bits of the type to which integers are promoted */ };

/* Division takes a word that binds more tightly than itself, a shift one that takes a sum, an assignment one
 * that takes the whole expression to its right. The last needs its blank: `+ +y` is no `++y`. */
static const char divide_mark[] = " kn_by()->*", shift_mark[] = " kn_by() + ", assign_mark[] = " kn_by() =";
static const char *const marks[] = {
    divide_mark,     shift_mark,      assign_mark,    "kn_drawn_0 = ",
    "kn_drawn_1 = ", "kn_drawn_2 = ", "kn_drawn_3 = "}; /* the last: draws.h */

/* ---- tokens ---- */

/* The first token at or behind text that is no blank. */
static const char *skip_blanks(const char *text)
{
    size_t length;
    while (kn_token_scan(text, &length) == KN_TOKEN_SPACE)
        text += length;
    return text;
}

static bool is_word(const char *text, size_t length, const char *word)
{
    return length == strlen(word) && memcmp(text, word, length) == 0;
}

/* `if` and `elif`, but not `ifdef` and `ifndef`, which evaluate nothing. */
static bool is_condition(const char *directive)
{
    const char *name = directive + 1 + strspn(directive + 1, " \t");
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz");
    return is_word(name, length, "if") || is_word(name, length, "elif");
}

static bool is_define(const char *directive)
{
    const char *name = directive + 1 + strspn(directive + 1, " \t");
    return is_word(name, strspn(name, "abcdefghijklmnopqrstuvwxyz"), "define");
}

bool kn_text_has_conditions(const char *text)
{
    size_t length;
    for (kn_token_kind kind; (kind = kn_token_scan(text, &length)) != KN_TOKEN_END; text += length)
        if (kind == KN_TOKEN_OTHER && *text == '#' && is_condition(text))
            return true;
    return false;
}

/* ---- guarding ---- */

typedef struct guard {
    kn_str *out;
    bool in_macros;
    bool starts_line, in_directive, is_copied; /* is_copied: a directive other than #define, copied
                                                  unchanged */
    bool after_operator;                       /* the word `operator`, which names one of them */
    bool after_name;
    bool after_scalar; /* a type's name, and brackets */
    bool after_zero;   /* a number that is zero, of no other type than a scalar, and closing brackets */
    int depth;
    unsigned char open[DEPTH_MAX + 1]; /* `<` that may be template brackets, in each pair of brackets */
} guard;

/* The length of the operator / % << >> or its assignment at text; 0: none. */
static size_t operator_length(const char *text, char before)
{
    if (*text == '/' || (*text == '%' && before != '<' && text[1] != '>' && text[1] != ':')) /* <% %> %: */
        return text[1] == '=' ? 2 : 1;
    if ((*text != '<' && *text != '>') || text[1] != *text)
        return 0;
    return text[2] == '=' ? 3 : 2;
}

/* A launch's <<< and >>>, or three template brackets. */
static bool is_triple(const char *text)
{
    return (*text == '<' || *text == '>') && text[1] == *text && text[2] == *text;
}

/* True if the right operand is over, with no operator behind it that would belong to it. */
static bool ends_operand(const char *text, bool is_assignment)
{
    const char *next = skip_blanks(text);
    return !*next || strchr(is_assignment ? ";),]}" : ";),]}:?&|^<>=!", *next);
}

static bool is_zero(const char *number, size_t length)
{
    bool is_hexadecimal = number[0] == '0' && (number[1] == 'x' || number[1] == 'X');
    const char *digits = is_hexadecimal ? "123456789abcdefABCDEF" : "123456789";
    for (size_t k = 0; k < length; ++k)
        if (strchr(digits, number[k]))
            return false;
    return true;
}

/* A number that is neither zero nor, for shifts, too large. (-1 is two tokens.) */
static bool is_harmless(const char *sign, size_t length)
{
    const char *number = skip_blanks(sign + length);
    bool is_assignment = sign[length - 1] == '=', is_shift = *sign == '<' || *sign == '>';
    size_t digits;
    if (!*number || *number == '{')
        return true;
    if (kn_token_scan(number, &digits) != KN_TOKEN_NUMBER)
        return false;
    if (is_shift ? strtoul(number, NULL, 0) >= NARROWEST : is_zero(number, digits))
        return false;
    return (!is_shift && !is_assignment) || ends_operand(number + digits, is_assignment);
}

/* `vec<vec<int>> v` rather than `x >> v`: two open brackets, or no operand on its right. */
static bool closes_templates(const guard *g, const char *text)
{
    return *text == '>' && text[2] != '=' &&
           (g->open[g->depth] >= 2 || strchr(",;)>:{[=", *skip_blanks(text + 2)));
}

static void put_operator(guard *g, const char *text, size_t length)
{
    kn_str_append_n(g->out, text, length);
    if (g->after_operator || is_harmless(text, length))
        return;
    kn_str_append(g->out, text[length - 1] == '='        ? assign_mark
                          : *text == '/' || *text == '%' ? divide_mark
                                                         : shift_mark);
}

/* Counts possible template brackets. A comparison looks like one, but ends with its expression. */
static void count_bracket(guard *g, const char *text, char before)
{
    unsigned char *open = &g->open[g->depth];
    if (strchr("([{", *text) && g->depth < DEPTH_MAX)
        g->open[++g->depth] = 0;
    else if (strchr(")]}", *text) && g->depth > 0)
        --g->depth;
    else if (*text == '<' && g->after_name && !g->after_operator && text[1] != '=' && *open < UCHAR_MAX)
        ++*open;
    else if (*text == '>' && before != '-' && *open > 0)
        --*open;
    if (strchr(";{}?|", *text) || (*text == '&' && before == '&' && !strchr(">,", *skip_blanks(text + 1))))
        g->open[g->depth] = 0;
}

/* Names of types that have no operators of their own; a letter is a placeholder. */
static bool is_scalar_name(const char *text, size_t length)
{
    static const char *const words[] = {"return", "bool",  "char",   "short",  "int",
                                        "long",   "float", "double", "signed", "unsigned"};
    for (size_t k = 0; k < sizeof words / sizeof *words; ++k)
        if (is_word(text, length, words[k]))
            return true;
    if (length == 1)
        return *text >= 'A' && *text <= 'Z';
    return kn_dtype_find(text, length) != KILN_DTYPE_NONE;
}

/* Sees the left operand of a minus: `0`, `(T)0`, `T(0)`, `((T)(0))`, but not `f(0)`. */
static void pass_operand(guard *g, const char *text, size_t length, kn_token_kind kind)
{
    bool is_bracket = kind == KN_TOKEN_OTHER && (*text == '(' || *text == ')');
    if (kind == KN_TOKEN_NUMBER)
        g->after_zero = g->after_scalar && is_zero(text, length);
    else if (!is_bracket || *text == '(')
        g->after_zero = false;
    if (!is_bracket)
        g->after_scalar = kind == KN_TOKEN_NAME ? is_scalar_name(text, length) : kind == KN_TOKEN_OTHER;
}

/* One character, or an operator of several; the length taken. */
static size_t put_other(guard *g, const char *text, char before)
{
    size_t length = operator_length(text, before);
    if (is_triple(text)) {
        kn_str_append_n(g->out, text, 3);
        return 3;
    }
    if (length > 0 && !closes_templates(g, text)) {
        put_operator(g, text, length);
        return length;
    }
    count_bracket(g, text, before);
    kn_str_append_n(g->out, text, 1);
    if (g->after_zero && *text == '-' && !strchr("-=>", text[1]))
        kn_str_append(g->out, shift_mark);
    return 1;
}

/* Passes a blank; one that ends a line ends its #-line too. */
static void pass_blank(guard *g, const char *text, size_t length, char before)
{
    bool is_comment = *text == '/';
    if (is_comment || !memchr(text, '\n', length))
        return;
    if (before != '\\')
        g->in_directive = g->is_copied = false;
    g->starts_line = before != '\\';
}

void kn_operators_guard(kn_str *out, const char *text, bool in_macros)
{
    guard g = {.out = out, .in_macros = in_macros, .starts_line = true, .after_scalar = true};
    size_t length;
    char before = '\0';
    for (kn_token_kind kind; (kind = kn_token_scan(text, &length)) != KN_TOKEN_END; text += length) {
        if (kind == KN_TOKEN_SPACE) {
            pass_blank(&g, text, length, before);
            kn_str_append_n(out, text, length);
            before = ' ';
            continue;
        }
        if (g.starts_line && *text == '#') {
            g.in_directive = true;
            g.is_copied = !in_macros || !is_define(text);
        }
        g.starts_line = false;
        if (kind == KN_TOKEN_OTHER && !g.is_copied)
            length = put_other(&g, text, before);
        else
            kn_str_append_n(out, text, length);
        pass_operand(&g, text, length, kind);
        g.after_name = kind == KN_TOKEN_NAME;
        g.after_operator = g.after_name && is_word(text, length, "operator");
        before = text[length - 1];
    }
}

/* ---- messages of compilers ---- */

/* The mark at text; NULL: none. */
static const char *find_mark(const char *text)
{
    for (size_t k = 0; k < sizeof marks / sizeof *marks; ++k)
        if (strncmp(text, marks[k], strlen(marks[k])) == 0)
            return marks[k];
    return NULL;
}

/* The original column of a column in a guarded line (from 0); inside a mark that of the text behind it. */
static size_t original_column(const char *line, size_t column)
{
    size_t removed = 0;
    for (size_t at = 0; at < column && line[at] && line[at] != '\n';) {
        const char *mark = find_mark(line + at);
        if (mark) {
            size_t rest = column - at, length = strlen(mark);
            removed += rest < length ? rest : length;
            at += length;
        } else {
            ++at;
        }
    }
    return column - removed;
}

static const char *next_line(const char *line)
{
    const char *end = strchr(line, '\n');
    return end ? end + 1 : line + strlen(line);
}

/* The line of the source that #line calls by that file and number; NULL: there is none. */
static const char *find_line(const char *source, const char *file, size_t length, long number)
{
    bool is_file = false;
    long here = 0;
    for (const char *line = source; *line; line = next_line(line), ++here) {
        char *quote = NULL;
        if (strncmp(line, "#line ", 6) == 0) {
            here = strtol(line + 6, &quote, 10) - 1;
            is_file = strncmp(quote, " \"", 2) == 0 && strncmp(quote + 2, file, length) == 0 &&
                      quote[2 + length] == '"';
        } else if (is_file && here == number) {
            return line;
        }
    }
    return NULL;
}

/* Copies a line without its marks. */
static void put_unmarked(kn_str *out, const char *text, const char *end)
{
    for (const char *mark; text < end; text += mark ? strlen(mark) : 1) {
        mark = find_mark(text);
        if (!mark)
            kn_str_append_n(out, text, 1);
    }
}

bool kn_operators_text(kn_str *out, const char *source, const char *file, size_t length)
{
    const char *line = find_line(source, file, length, 1);
    for (; line && *line && strncmp(line, "#line ", 6) != 0; line = next_line(line)) {
        const char *end = line + strcspn(line, "\n");
        put_unmarked(out, line, end);
        kn_str_append(out, "\n");
    }
    return line != NULL;
}

/* Copies "kernel:1:15:" with its column put right; the place behind it, or line where it is none. */
static const char *put_position(kn_str *out, const char *line, const char *source)
{
    size_t file = strcspn(line, ":\n");
    char *end = NULL;
    if (line[file] != ':' || line[file + 1] < '0' || line[file + 1] > '9')
        return line;
    long number = strtol(line + file + 1, &end, 10), column = 0;
    const char *digits = end + 1, *found = NULL;
    if (*end != ':' || *digits < '0' || *digits > '9')
        return line;
    column = strtol(digits, &end, 10);
    found = find_line(source, line, file, number);
    if (!found || column < 1)
        return line;
    kn_str_append_n(out, line, (size_t)(digits - line));
    kn_str_printf(out, "%zu", original_column(found, (size_t)column - 1) + 1);
    return end;
}

static bool has_mark(const char *text, const char *end)
{
    for (; text < end; ++text)
        if (find_mark(text))
            return true;
    return false;
}

/* The line of carets under a line that had marks. */
static bool is_caret_line(const char *text, const char *end)
{
    size_t length = strspn(text, " ^~|");
    return text < end && (size_t)(end - text) == length && memchr(text, '^', length);
}

static void put_carets(kn_str *out, const char *text, const char *end, const char *above)
{
    size_t column = 0; /* of the written text */
    for (const char *at = text; at < end; ++at) {
        size_t wanted = original_column(above, (size_t)(at - text));
        if (*at == ' ' || wanted < column)
            continue;
        kn_str_printf(out, "%*s%c", (int)(wanted - column), "", *at);
        column = wanted + 1;
    }
}

void kn_operators_unguard(kn_str *log, const char *source)
{
    kn_str clean = KN_STR_INIT;
    const char *above = NULL, *text = kn_str_text(log);
    if (!strstr(source, "kn_by()") && !strstr(source, "kn_drawn_0 = "))
        return;
    for (const char *line = text; *line; line = next_line(line)) {
        const char *end = line + strcspn(line, "\n");
        if (above && is_caret_line(line, end))
            put_carets(&clean, line, end, above);
        else
            put_unmarked(&clean, put_position(&clean, line, source), end);
        kn_str_append_n(&clean, end, *end == '\n');
        above = has_mark(line, end) ? line : NULL;
    }
    if (clean.failed) {
        kn_str_free(&clean);
        return;
    }
    kn_str_free(log);
    *log = clean;
}
