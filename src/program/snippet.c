/* program/snippet.c - the little of C++'s lexical grammar that is needed to find words and unbalanced
 * brackets in a user's text. */
#include "base/caret.h"
#include "program/signature.h"
#include "base/error.h"
#include <stdio.h>
#include <string.h>

bool kn_is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool kn_is_name_char(char c)
{
    return kn_is_name_start(c) || is_digit(c);
}

static size_t name_length(const char *text)
{
    size_t n = 0;
    while (kn_is_name_char(text[n]))
        n++;
    return n;
}

/* 1e-3f, 0x1.8p+2, 1'000'000: an apostrophe between digits is no literal. */
static size_t number_length(const char *text)
{
    size_t n = 1;
    while (kn_is_name_char(text[n]) || text[n] == '.' || (text[n] == '\'' && kn_is_name_char(text[n + 1])) ||
           ((text[n] == '+' || text[n] == '-') && strchr("eEpP", text[n - 1])))
        n++;
    return n;
}

/* The comment's length; 0 where text begins none; *open where it does not end. */
static size_t comment_length(const char *text, bool *open)
{
    if (text[0] == '/' && text[1] == '/') {
        size_t n = 2;
        while (text[n] && (text[n] != '\n' || text[n - 1] == '\\'))
            n++;
        return n;
    }
    if (text[0] != '/' || text[1] != '*')
        return 0;
    const char *end = strstr(text + 2, "*/");
    *open = end == NULL;
    return end ? (size_t)(end - text) + 2 : strlen(text);
}

/* The length of a string or character literal whose quote is text[0]. The end of a line does not close it. */
static size_t quoted_length(const char *text, bool *open)
{
    size_t n = 1;
    while (text[n] && text[n] != '\n' && text[n] != text[0])
        n += text[n] == '\\' && text[n + 1] ? 2 : 1;
    *open = text[n] != text[0];
    return *open ? strlen(text) : n + 1;
}

/* The length of u8, u, U or L in front of a literal, if text[0] is the first character. */
static size_t encoding_length(const char *text)
{
    size_t n = text[0] == 'u' && text[1] == '8' ? 2 : text[0] && strchr("uUL", text[0]) ? 1 : 0;
    bool is_raw = text[n] == 'R' && text[n + 1] == '"';
    return is_raw || text[n] == '"' || text[n] == '\'' ? n : 0;
}

/* R"delimiter( ... )delimiter", from the R on; 0 where it is something else. */
static size_t raw_string_length(const char *text, bool *open)
{
    size_t delimiter = text[0] == 'R' && text[1] == '"' ? strcspn(text + 2, "()\\\" \t\r\n\v\f") : 0;
    if (text[0] != 'R' || text[1] != '"' || delimiter > 16 || text[2 + delimiter] != '(')
        return 0;
    for (const char *p = strchr(text, ')'); p; p = strchr(p + 1, ')'))
        if (!strncmp(p + 1, text + 2, delimiter) && p[1 + delimiter] == '"')
            return (size_t)(p - text) + delimiter + 2;
    *open = true;
    return strlen(text);
}

/* The length of a string or character literal with its prefix; 0 if text does not begin with one. */
static size_t literal_length(const char *text, bool *open)
{
    size_t encoding = encoding_length(text), length = raw_string_length(text + encoding, open);
    if (length == 0 && (text[encoding] == '"' || text[encoding] == '\''))
        length = quoted_length(text + encoding, open);
    return length > 0 ? encoding + length : 0;
}

kn_token_kind kn_token_scan(const char *text, size_t *length)
{
    bool open = false;
    if (!*text)
        return *length = 0, KN_TOKEN_END;
    if ((*length = comment_length(text, &open)) > 0)
        return open ? KN_TOKEN_OPEN : KN_TOKEN_SPACE;
    if ((*length = strspn(text, " \t\r\n\v\f")) > 0)
        return KN_TOKEN_SPACE;
    if ((*length = literal_length(text, &open)) > 0)
        return open ? KN_TOKEN_OPEN : KN_TOKEN_LITERAL;
    if (kn_is_name_start(*text))
        return *length = name_length(text), KN_TOKEN_NAME;
    if (is_digit(*text) || (*text == '.' && is_digit(text[1])))
        return *length = number_length(text), KN_TOKEN_NUMBER;
    return *length = 1, KN_TOKEN_OTHER;
}

bool kn_text_has_word(const char *text, const char *word)
{
    size_t length, wanted = strlen(word);
    for (kn_token_kind kind; (kind = kn_token_scan(text, &length)) != KN_TOKEN_END; text += length)
        if (kind == KN_TOKEN_NAME && length == wanted && !memcmp(text, word, wanted))
            return true;
    return false;
}

/* ---- brackets ---- */

enum { DEPTH_MAX = 256 };

typedef struct bracket_stack {
    const char *what, *text;
    size_t at[DEPTH_MAX];
    int depth;
} bracket_stack;

static kiln_status error_in(const bracket_stack *s, size_t at, const char *message)
{
    int line, column;
    kn_text_position(s->text, at, &line, &column);
    return kn_error_at(KILN_ERROR_SYNTAX, s->text, at, 1, "%s:%d:%d: %s", s->what, line, column, message);
}

static kiln_status close_bracket(bracket_stack *s, size_t at)
{
    static const char pairs[] = "()[]{}";
    char message[96], closing = s->text[at], opening = *(strchr(pairs, closing) - 1);
    if (s->depth > 0 && s->text[s->at[s->depth - 1]] == opening) {
        s->depth--;
        return KILN_OK;
    }
    if (s->depth == 0) {
        snprintf(message, sizeof message, "'%c' closes nothing", closing);
        return error_in(s, at, message);
    }
    int line, column;
    kn_text_position(s->text, s->at[s->depth - 1], &line, &column);
    snprintf(message, sizeof message, "'%c' does not close the '%c' of line %d, column %d", closing,
             s->text[s->at[s->depth - 1]], line, column);
    return error_in(s, at, message);
}

static kiln_status take_character(bracket_stack *s, size_t at)
{
    char c = s->text[at];
    if (strchr(")]}", c))
        return close_bracket(s, at);
    if (!strchr("([{", c))
        return KILN_OK;
    if (s->depth == DEPTH_MAX)
        return error_in(s, at, "brackets are nested too deeply");
    s->at[s->depth++] = at;
    return KILN_OK;
}

kiln_status kn_snippet_check(const char *text, const char *what)
{
    bracket_stack s = {.what = what, .text = text};
    size_t at = 0, length;
    for (kn_token_kind kind; (kind = kn_token_scan(text + at, &length)) != KN_TOKEN_END; at += length) {
        kiln_status status = KILN_OK;
        if (kind == KN_TOKEN_OPEN)
            status = error_in(&s, at,
                              text[at] == '/' ? "this comment is never closed"
                              : text[at + encoding_length(text + at)] == '\''
                                  ? "this character literal is never closed"
                                  : "this string is never closed");
        else if (kind == KN_TOKEN_OTHER)
            status = take_character(&s, at);
        if (status)
            return status;
    }
    if (s.depth == 0)
        return KILN_OK;
    char message[] = "'(' is never closed";
    message[1] = text[s.at[s.depth - 1]];
    return error_in(&s, s.at[s.depth - 1], message);
}
