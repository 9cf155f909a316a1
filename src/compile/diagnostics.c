/* diagnostics.c - the first error, and the warnings, in a compiler's output, written the same way whichever
 * compiler said it.
 *
 * NVRTC:       my_kernel(1): error: identifier "foo" is undefined gcc, clang:  my_kernel:1:6: error: 'foo'
 * was not declared in this scope both become  my_kernel:1: error: ... */
#include "compile/compiler.h"

#include "base/error.h"

#include <ctype.h>
#include <string.h>

typedef struct text_span {
    const char *begin;
    int length;
} text_span;

typedef struct diagnostic {
    text_span file, line, text;
} diagnostic;

static const char *skip_digits(const char *p)
{
    while (isdigit((unsigned char)*p))
        p++;
    return p;
}

/* Reads "(12): " at p, NVRTC's way of naming a line. */
static const char *read_parenthesised_line(const char *p, text_span *line)
{
    const char *digits = p + 1, *end = skip_digits(digits);
    if (*p != '(' || end == digits || strncmp(end, "): ", 3) != 0)
        return NULL;
    *line = (text_span){digits, (int)(end - digits)};
    return end + 3;
}

/* Reads ":12: " or ":12:6: " at p. */
static const char *read_colon_line(const char *p, text_span *line)
{
    const char *digits = p + 1, *end = skip_digits(digits);
    if (*p != ':' || end == digits || *end != ':')
        return NULL;
    *line = (text_span){digits, (int)(end - digits)};
    const char *column_end = skip_digits(end + 1);
    if (column_end > end + 1 && *column_end == ':')
        end = column_end;
    return end[1] == ' ' ? end + 2 : NULL;
}

/* Splits "FILE(LINE): REST" or "FILE:LINE:COLUMN: REST"; the text is REST up to the end of the line. */
static bool read_location(const char *begin, const char *end, diagnostic *d)
{
    for (const char *p = begin + 1; p < end; p++) {
        const char *rest = read_parenthesised_line(p, &d->line);
        if (!rest)
            rest = read_colon_line(p, &d->line);
        if (rest && rest <= end) {
            d->file = (text_span){begin, (int)(p - begin)};
            d->text = (text_span){rest, (int)(end - rest)};
            return true;
        }
    }
    return false;
}

/* Drops "error: ", "fatal error: ", "catastrophic error: ", "error #20-D: " in front of the text, or
 * "warning: "; false where it is none of these. */
static bool strip_severity(text_span *text, const char *severity)
{
    static const char *const kinds[] = {"", "fatal ", "catastrophic ", "internal "};
    size_t severity_length = strlen(severity);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t length = strlen(kinds[i]);
        const char *word = text->begin + length, *end = text->begin + text->length;
        if ((size_t)text->length <= length + severity_length || memcmp(text->begin, kinds[i], length) != 0 ||
            memcmp(word, severity, severity_length) != 0)
            continue;
        const char *colon = memchr(word, ':', (size_t)(end - word));
        if (!colon || end - colon < 2)
            continue;
        *text = (text_span){colon + 2, (int)(end - colon - 2)};
        return true;
    }
    return false;
}

static const char *line_end(const char *line)
{
    const char *end = strchr(line, '\n');
    return end ? end : line + strlen(line);
}

static bool find_located_error(const char *log, diagnostic *d)
{
    for (const char *line = log; *line;) {
        const char *end = line_end(line);
        if (read_location(line, end, d) && strip_severity(&d->text, "error"))
            return true;
        line = *end ? end + 1 : end;
    }
    return false;
}

/* Linkers and ptxas name no line: the first line that speaks of an error, else the first line that says
 * anything. */
static text_span find_plain_error(const char *log)
{
    text_span first = {"", 0};
    for (const char *line = log; *line;) {
        const char *end = line_end(line);
        text_span here = {line, (int)(end - line)};
        if (first.length == 0)
            first = here;
        if (memmem(line, (size_t)here.length, "error", 5) || memmem(line, (size_t)here.length, "fatal", 5))
            return here;
        line = *end ? end + 1 : end;
    }
    return first;
}

kiln_status kn_compile_failed(const char *name, const kn_str *log, const char *fallback)
{
    const char *text = kn_str_text(log);
    diagnostic d;
    if (find_located_error(text, &d)) {
        kn_error(KILN_ERROR_COMPILE, "%.*s:%.*s: error: %.*s", d.file.length, d.file.begin, d.line.length,
                 d.line.begin, d.text.length, d.text.begin);
    } else {
        text_span plain = find_plain_error(text);
        if (plain.length > 0)
            kn_error(KILN_ERROR_COMPILE, "%s: %.*s", name, plain.length, plain.begin);
        else
            kn_error(KILN_ERROR_COMPILE, "%s: %s", name, fallback);
    }
    kn_error_set_log(text);
    return KILN_ERROR_COMPILE;
}

/* ---- warnings ---- */

static bool is_text(const text_span *span, const char *text, bool is_prefix)
{
    size_t length = strlen(text);
    return (is_prefix ? (size_t)span->length > length : (size_t)span->length == length) &&
           memcmp(span->begin, text, length) == 0;
}

/* The user's lines have the kernel's name, or "name.preamble" and the like, or that of a header in memory. */
static bool is_users(const text_span *file, const kn_compile_request *request)
{
    size_t length = strlen(request->name);
    if (is_text(file, request->name, false))
        return true;
    if (is_text(file, request->name, true) && file->begin[length] == '.')
        return true;
    for (int i = 0; i < request->n_headers; i++)
        if (is_text(file, request->header_names[i], false))
            return true;
    return false;
}

/* Text that stands in a kernel several times is warned about as often. */
static bool is_said_already(const kn_str *out, const char *line, size_t length)
{
    return out->length > 0 && memmem(out->data, out->length, line, length) != NULL;
}

static void put_warning(kn_str *out, const diagnostic *d)
{
    kn_str line = KN_STR_INIT;
    kn_str_printf(&line, "%.*s:%.*s: warning: %.*s\n", d->file.length, d->file.begin, d->line.length,
                  d->line.begin, d->text.length, d->text.begin);
    if (!line.failed && !is_said_already(out, line.data, line.length))
        kn_str_append_n(out, line.data, line.length);
    out->failed = out->failed || line.failed;
    kn_str_free(&line);
}

void kn_compile_take_warnings(kn_str *out, const kn_compile_request *request, const kn_str *log)
{
    for (const char *line = kn_str_text(log); *line;) {
        const char *end = line_end(line);
        diagnostic d;
        if (read_location(line, end, &d) && strip_severity(&d.text, "warning") && is_users(&d.file, request))
            put_warning(out, &d);
        line = *end ? end + 1 : end;
    }
}

void kn_compile_source_name(kn_str *out, const kn_compile_request *request)
{
    kn_str_append(out, request->is_generated ? "kiln_" : "");
    for (const char *c = request->name; *c; c++)
        if (*c != '"' && *c != '\\' && *c != '\n')
            kn_str_append_n(out, c, 1);
    if (request->is_generated)
        kn_str_append(out, request->target.backend == KN_CUDA ? ".cu" : ".cpp");
}
