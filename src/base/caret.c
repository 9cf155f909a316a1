/* base/caret.c - error messages with the line of a text and a caret under the place. */
#include "base/caret.h"
#include "base/error.h"
#include "base/str.h"
#include <stdio.h>
#include <string.h>

enum { WINDOW = 100 };

/* Continuation bytes of UTF-8 take no column. */
static bool takes_column(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

void kn_text_position(const char *text, size_t at, int *line, int *column)
{
    *line = *column = 1;
    for (size_t i = 0; i < at && text[i]; i++) {
        if (text[i] == '\n') {
            ++*line;
            *column = 1;
        } else {
            *column += takes_column(text[i]);
        }
    }
}

static void append_pointer(kn_str *s, const char *text, size_t begin, size_t at, size_t end)
{
    for (size_t i = begin; i < at; i++)
        if (takes_column(text[i]))
            kn_str_append(s, text[i] == '\t' ? "\t" : " ");
    kn_str_append(s, "^");
    for (size_t i = at + 1; i < end; i++)
        if (takes_column(text[i]))
            kn_str_append(s, "~");
}

static void append_lines(kn_str *s, const char *text, size_t at, size_t length)
{
    size_t begin = at, end = at + strcspn(text + at, "\n");
    while (begin > 0 && text[begin - 1] != '\n')
        begin--;
    size_t first = at - begin > WINDOW / 2 ? at - WINDOW / 2 : begin;
    size_t last = end - first > WINDOW ? first + WINDOW : end;
    while (first < at && !takes_column(text[first]))
        first++;
    const char *head = first > begin ? "..." : "";
    kn_str_printf(s, "\n  %s%.*s%s\n  %s", head, (int)(last - first), text + first, last < end ? "..." : "",
                  *head ? "   " : "");
    append_pointer(s, text, first, at, length > last - at ? last : at + length);
}

kiln_status kn_error_at(kiln_status status, const char *text, size_t at, size_t length, const char *format,
                        ...)
{
    kn_str place = KN_STR_INIT;
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    append_lines(&place, text, at, length);
    kn_error(status, "%s%s", message, place.failed ? "" : kn_str_text(&place));
    kn_str_free(&place);
    return status;
}
