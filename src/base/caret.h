/* base/caret.h - errors that point into the text they are about, and the lexical rules that signatures and
 * snippets share. */
#ifndef KN_BASE_CARET_H
#define KN_BASE_CARET_H

#include <kiln/base.h>

/* Sets the last error to "MESSAGE", the line of text that holds `at`, and a caret line under [at, at +
 * length); returns status. Only a window of a very long line is shown. */
kiln_status kn_error_at(kiln_status status, const char *text, size_t at, size_t length, const char *format,
                        ...) __attribute__((format(printf, 5, 6)));

/* 1-based line and column (in characters) of an offset. */
void kn_text_position(const char *text, size_t at, int *line, int *column);

bool kn_is_name_start(char c);
bool kn_is_name_char(char c);

/* One lexical element of C++ text. */
typedef enum kn_token_kind {
    KN_TOKEN_END,
    KN_TOKEN_SPACE, /* blanks, comments */
    KN_TOKEN_NAME,
    KN_TOKEN_NUMBER,
    KN_TOKEN_LITERAL, /* string or character */
    KN_TOKEN_OTHER,   /* one character */
    KN_TOKEN_OPEN     /* a comment or literal that is not closed: reaches to the end of the text */
} kn_token_kind;

/* The element that begins at text; *length is its length. */
kn_token_kind kn_token_scan(const char *text, size_t *length);

#endif
