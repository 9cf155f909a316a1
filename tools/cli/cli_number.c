/* cli_number.c - words of the command line that are numbers. */
#include "cli.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool read_boolean(kiln_arg *out, const char *text)
{
    bool yes = strcmp(text, "true") == 0 || strcmp(text, "True") == 0;
    bool no = strcmp(text, "false") == 0 || strcmp(text, "False") == 0;
    *out = kiln_arg_bool(yes);
    return yes || no;
}

/* An integer beyond int64 is unsigned where that holds it; beyond that it is no integer (and reads as a
 * float). */
static bool read_integer(kiln_arg *out, const char *text)
{
    char *end;
    errno = 0;
    *out = kiln_arg_int(strtoll(text, &end, 10));
    if (end == text || *end)
        return false;
    if (errno == 0)
        return true;
    errno = 0;
    *out = kiln_arg_uint(strtoull(text, &end, 10));
    return errno == 0 && text[0] != '-';
}

/* 0.5, 2j, 1+2j */
static bool read_real_or_complex(kiln_arg *out, const char *text)
{
    char *end, *rest;
    double first = strtod(text, &end);
    if (end == text)
        return false;
    *out = kiln_arg_float(first);
    if (!*end)
        return true;
    *out = kiln_arg_complex(0, first);
    if (strcmp(end, "j") == 0)
        return true;
    if (*end != '+' && *end != '-')
        return false;
    *out = kiln_arg_complex(first, strtod(end, &rest));
    return rest != end && strcmp(rest, "j") == 0;
}

bool cli_number_read(kiln_arg *out, const char *text)
{
    if (isspace((unsigned char)text[0]))
        return false;
    return read_boolean(out, text) || read_integer(out, text) || read_real_or_complex(out, text);
}
