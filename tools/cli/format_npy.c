/* format_npy.c - which fields a structured .npy file has. What is in them the library reads. */
#include "formats.h"
#include <string.h>

/* The text between two quotes at `at`, as Python writes it; the end of the header where it does not end. */
static const char *skip_string(const char *at, const char *end)
{
    char quote = *at++;
    while (at < end && *at != quote)
        at += *at == '\\' && at + 1 < end ? 2 : 1;
    return at < end ? at + 1 : end;
}

/* The first list of the header is that of the fields: (NAME, TYPE) or ((TITLE, NAME), TYPE), where a type may
 * be such a list again. A name is the last text before its type; without one ('') it is padding. */
kiln_status format_npy_list(cli_bytes *out, const format_input *in)
{
    const char *at = (const char *)in->data, *end = at + in->size;
    const char *descr = in->size > 10 ? memmem(at, in->size, "'descr':", 8) : NULL, *name = NULL;
    size_t length = 0;
    int brackets = 0, parentheses = 0;
    at = descr ? descr + 8 : end;
    at += at < end ? strspn(at, " ") : 0;
    if (at >= end || *at != '[')
        return KILN_OK; /* numbers, or what the reader says is wrong */
    for (; at < end && (at[0] != ']' || brackets > 1); at++) {
        brackets += (*at == '[') - (*at == ']');
        parentheses += (*at == '(') - (*at == ')');
        bool is_name_over = *at == ',' && brackets == 1 && parentheses == 1 && name;
        if (is_name_over && length > 0) {
            cli_bytes_put(out, name, length);
            cli_bytes_put(out, "", 1);
        }
        if (is_name_over)
            name = NULL;
        if (*at == '(' && brackets == 1 && parentheses == 1)
            name = at;
        if (*at != '\'' && *at != '"')
            continue;
        const char *behind = skip_string(at, end);
        if (brackets == 1 && name) {
            name = at + 1;
            length = (size_t)(behind - at) - 2;
        }
        at = behind - 1;
    }
    return KILN_OK;
}
