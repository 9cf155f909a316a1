/* compile/diagnostics.c - the first error, and the warnings, in a compiler's output, written the same way
 * whichever compiler said it:
 *
 * *   NVRTC        my_kernel(1): error: identifier "foo" is undefined
 *   gcc, clang   my_kernel:1:6: error: 'foo' was not declared in this scope
 *
 * * both become "my_kernel:1: error: ...", with the user's line and a caret, and where a hint knows what was
 * meant its words are the same. */
#include "compile/compiler.h"

#include "base/error.h"
#include "compile/hints.h"
#include "base/caret.h"
#include "program/operators.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct text_span {
    const char *begin;
    int length;
} text_span;

typedef struct diagnostic {
    text_span file, line, text;
    long column;     /* from 1; 0: it is not named */
    char digits[24]; /* of a line number that no compiler named */
} diagnostic;

static const char *skip_digits(const char *p)
{
    while (isdigit((unsigned char)*p))
        p++;
    return p;
}

/* Reads "(12): " at p, NVRTC's way of naming a line. */
static const char *read_parenthesised_line(const char *p, diagnostic *d)
{
    const char *digits = p + 1, *end = skip_digits(digits);
    if (*p != '(' || end == digits || strncmp(end, "): ", 3) != 0)
        return NULL;
    d->line = (text_span){digits, (int)(end - digits)};
    d->column = 0;
    return end + 3;
}

/* Reads ":12: " or ":12:6: " at p. */
static const char *read_colon_line(const char *p, diagnostic *d)
{
    const char *digits = p + 1, *end = skip_digits(digits);
    if (*p != ':' || end == digits || *end != ':')
        return NULL;
    d->line = (text_span){digits, (int)(end - digits)};
    d->column = 0;
    const char *column_end = skip_digits(end + 1);
    if (column_end > end + 1 && *column_end == ':') {
        d->column = strtol(end + 1, NULL, 10);
        end = column_end;
    }
    return end[1] == ' ' ? end + 2 : NULL;
}

/* Splits "FILE(LINE): REST" or "FILE:LINE:COLUMN: REST"; the text is REST up to the end of the line. */
static bool read_location(const char *begin, const char *end, diagnostic *d)
{
    for (const char *p = begin + 1; p < end; p++) {
        const char *rest = read_parenthesised_line(p, d);
        if (!rest)
            rest = read_colon_line(p, d);
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

/* ---- the user's lines ---- */

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

/* ---- the place ---- */

/* NVRTC gives no column: its caret is below the line that it shows, two columns further right. */
static long column_of_caret(const char *rest)
{
    enum { SHOWN = 2, LINES = 8 };
    for (int k = 0; k < LINES && *rest == '\n'; k++) {
        const char *line = rest + 1;
        size_t blanks = strspn(line, " \t");
        if (line[blanks] == '^' && blanks >= SHOWN)
            return (long)blanks - SHOWN + 1;
        rest = line_end(line);
    }
    return 0;
}

/* The first error of the user's own lines; where there is none the first of all. */
static bool find_located_error(const char *log, const kn_compile_request *request, diagnostic *d)
{
    bool is_found = false;
    for (const char *line = log; *line;) {
        const char *end = line_end(line);
        diagnostic here;
        if (read_location(line, end, &here) && strip_severity(&here.text, "error")) {
            bool is_own = is_users(&here.file, request);
            if (here.column == 0)
                here.column = column_of_caret(end);
            if (is_own || !is_found)
                *d = here;
            if (is_own)
                return true;
            is_found = true;
        }
        line = *end ? end + 1 : end;
    }
    return is_found;
}

/* "at line 12 of NAME", by which NVRTC names the call of a function that the error is in. */
static bool read_worded_line(const char *begin, const char *end, diagnostic *d)
{
    static const char word[] = "at line ", between[] = " of ";
    const char *at = memmem(begin, (size_t)(end - begin), word, sizeof word - 1);
    const char *digits = at ? at + sizeof word - 1 : end, *rest = skip_digits(digits);
    if (!at || end - rest < (long)sizeof between || memcmp(rest, between, sizeof between - 1) != 0)
        return false;
    const char *name = rest + sizeof between - 1;
    d->line = (text_span){digits, (int)(rest - digits)};
    d->file = (text_span){name, (int)(end - name)};
    d->column = 0;
    return true;
}

/* An error in a function of the library's belongs to the user's line that calls it. gcc names it in front of
 * the error, others behind. */
static bool move_to_call(diagnostic *d, const char *log, const kn_compile_request *request)
{
    diagnostic call = *d;
    bool is_found = false;
    for (const char *line = log; *line && (line < d->text.begin || !is_found);) {
        const char *end = line_end(line);
        diagnostic here = *d;
        bool names_call = read_worded_line(line, end, &here) ||
                          (read_location(line, end, &here) &&
                           (memmem(here.text.begin, (size_t)here.text.length, "required from", 13) ||
                            memmem(here.text.begin, (size_t)here.text.length, "requested here", 14)));
        if (names_call && is_users(&here.file, request)) {
            call.file = here.file;
            call.line = here.line;
            call.column = here.column;
            is_found = true;
        }
        line = *end ? end + 1 : end;
    }
    *d = call;
    return is_found;
}

/* An error right behind one of the user's texts, where the library's source goes on, belongs to its end. */
static bool move_to_end(diagnostic *d, const kn_compile_request *request)
{
    const char *above = NULL, *end = NULL; /* the directive of the text that is being read */
    long at = strtol(d->line.begin, NULL, 10), number = 0, n_lines = 0;
    for (const char *line = request->source; *line; line = *end ? end + 1 : end, n_lines++) {
        end = line_end(line);
        if (sscanf(line, "#line %ld \"", &number) != 1)
            continue;
        const char *name = above ? strchr(above, '"') + 1 : NULL;
        text_span file = {name, name ? (int)strcspn(name, "\"\n") : 0};
        if (name && number == at && is_users(&file, request)) {
            snprintf(d->digits, sizeof d->digits, "%ld", strtol(above + 6, NULL, 10) + n_lines - 1);
            d->file = file;
            d->line = (text_span){d->digits, (int)strlen(d->digits)};
            d->column = LONG_MAX;
            return true;
        }
        above = memchr(line, '"', (size_t)(end - line)) ? line : NULL;
        n_lines = -1;
    }
    return false;
}

/* The text of the user's that the error is in; false where it is in none. */
static bool find_text(kn_str *out, const kn_compile_request *request, const text_span *file)
{
    for (int i = 0; i < request->n_headers; i++)
        if (is_text(file, request->header_names[i], false)) {
            kn_str_append(out, request->header_texts[i]);
            return true;
        }
    if (!is_users(file, request))
        return false;
    if (kn_operators_text(out, request->source, file->begin, (size_t)file->length))
        return true;
    if (!request->is_generated)
        kn_str_append(out, request->source);
    return !request->is_generated;
}

/* The offset of a line and column, both from 1, within the text; false: no such line. Without a column: of
 * the line's first word. */
static bool find_offset(size_t *out, const char *text, long line, long column)
{
    const char *at = text;
    for (; line > 1 && *at; line--) {
        at = line_end(at);
        at += *at == '\n';
    }
    size_t length = (size_t)(line_end(at) - at);
    size_t first = column > 0 ? (size_t)column - 1 : strspn(at, " \t");
    *out = (size_t)(at - text) + (first < length ? first : length);
    return line == 1 && (*at || length > 0);
}

/* ---- the message ---- */

/* Compilers' quotes become `'`. */
static void put_plain_quotes(kn_str *out, const text_span *text)
{
    static const char *const quotes[] = {"\"", "\xe2\x80\x98", "\xe2\x80\x99"};
    for (int i = 0; i < text->length;) {
        size_t length = 0;
        for (size_t q = 0; q < sizeof quotes / sizeof *quotes && !length; q++) {
            size_t n = strlen(quotes[q]);
            if ((size_t)(text->length - i) >= n && memcmp(text->begin + i, quotes[q], n) == 0)
                length = n;
        }
        kn_str_append_n(out, length ? "'" : text->begin + i, 1);
        i += length ? (int)length : 1;
    }
}

/* The library's own names lose the prefix that keeps them apart from the user's. */
static void put_without_prefixes(kn_str *out, const text_span *text)
{
    const char *end = text->begin + text->length;
    for (const char *at = text->begin; at < end; at++) {
        bool begins = at == text->begin || !kn_is_name_char(at[-1]);
        if (begins && end - at > 3 && (memcmp(at, "kn_", 3) == 0 || memcmp(at, "KN_", 3) == 0))
            at += 3;
        kn_str_append_n(out, at, 1);
    }
}

/* "name:line: error: message", the line and a caret. */
static void say_with_line(const diagnostic *d, const char *text, const kn_hint *hint)
{
    int line, column;
    kn_text_position(text, hint->at, &line, &column);
    kn_error_at(KILN_ERROR_COMPILE, text, hint->at, hint->length, "%.*s:%d: error: %s", d->file.length,
                d->file.begin, line, hint->message);
}

/* NVRTC says of which types it speaks on the lines below, further in. */
static void put_continuation(kn_str *out, const char *rest)
{
    static const char indent[] = "\n            ";
    for (; strncmp(rest, indent, sizeof indent - 1) == 0; rest = line_end(rest + 1))
        kn_str_append_n(out, rest, (size_t)(line_end(rest + 1) - rest));
}

static void say_located(const diagnostic *d, const kn_compile_request *request)
{
    kn_str said = KN_STR_INIT, plain = KN_STR_INIT, text = KN_STR_INIT;
    kn_hint hint = {.length = 1};
    put_plain_quotes(&said, &d->text);
    put_without_prefixes(&plain, &d->text);
    put_continuation(&said, d->text.begin + d->text.length);
    bool has_line = find_text(&text, request, &d->file) &&
                    find_offset(&hint.at, kn_str_text(&text), strtol(d->line.begin, NULL, 10), d->column);
    /* Whole modules are the user's own CUDA, for which there are no hints. */
    if (has_line && request->is_generated &&
        kn_hint_find(&hint, request, kn_str_text(&text), hint.at, kn_str_text(&said))) {
        say_with_line(d, kn_str_text(&text), &hint);
    } else if (has_line) {
        snprintf(hint.message, sizeof hint.message, "%s", kn_str_text(&plain));
        say_with_line(d, kn_str_text(&text), &hint);
    } else {
        kn_error(KILN_ERROR_COMPILE, "%.*s:%.*s: error: %s", d->file.length, d->file.begin, d->line.length,
                 d->line.begin, kn_str_text(&plain));
    }
    kn_str_free(&said);
    kn_str_free(&plain);
    kn_str_free(&text);
}

/* ---- undefined symbols ---- */

/* The name that a symbol has in C++: of "_ZN5space3fooEf" it is foo, of "foo" itself. */
static text_span name_of_symbol(text_span symbol)
{
    const char *at = symbol.begin, *end = at + symbol.length;
    if (symbol.length < 4 || strncmp(at, "_Z", 2) != 0)
        return symbol;
    bool is_nested = at[2] == 'N';
    for (at += is_nested ? 3 : 2; at < end && isdigit((unsigned char)*at);) {
        const char *name = skip_digits(at);
        long length = strtol(at, NULL, 10);
        if (length < 1 || length > end - name)
            break;
        symbol = (text_span){name, (int)length};
        at = name + length;
        if (!is_nested)
            break;
    }
    return symbol;
}

/* The offset of a name as a token of a text, where it is there last: behind its declaration; false where it
 * is not there. */
static bool find_name(size_t *out, const char *text, const text_span *name)
{
    bool is_found = false;
    size_t length;
    for (size_t at = 0; kn_token_scan(text + at, &length) != KN_TOKEN_END; at += length)
        if (length == (size_t)name->length && memcmp(text + at, name->begin, length) == 0) {
            *out = at;
            is_found = true;
        }
    return is_found;
}

/* The user's text that uses a name: one that declares it, in the preamble, is the last to be taken. */
static bool find_use(diagnostic *d, kn_str *text, size_t *at, const kn_compile_request *request,
                     const text_span *name, bool in_preambles)
{
    static const char preamble[] = ".preamble";
    for (const char *line = request->source; *line; line += *line == '\n') {
        const char *end = line_end(line), *quote = memchr(line, '"', (size_t)(end - line));
        if (strncmp(line, "#line ", 6) == 0 && quote) {
            text_span file = {quote + 1, (int)strcspn(quote + 1, "\"\n")};
            bool is_preamble = memmem(file.begin, (size_t)file.length, preamble, sizeof preamble - 1);
            kn_str_free(text);
            d->file = file;
            if (is_preamble == in_preambles && is_users(&file, request) && find_text(text, request, &file) &&
                find_name(at, kn_str_text(text), name))
                return true;
        }
        line = end;
    }
    return false;
}

static kiln_status say_undefined(const kn_compile_request *request, text_span symbol)
{
    text_span name = name_of_symbol(symbol);
    kn_str text = KN_STR_INIT;
    kn_hint hint = {.length = (size_t)name.length};
    diagnostic d;
    snprintf(hint.message, sizeof hint.message,
             "'%.*s' is declared, and defined nowhere: define it in the preamble, or for the host alone name "
             "its library in compile_options, as \"-LFOLDER\", \"-lNAME\"",
             name.length < 64 ? name.length : 64, name.begin);
    if (find_use(&d, &text, &hint.at, request, &name, false) ||
        find_use(&d, &text, &hint.at, request, &name, true))
        say_with_line(&d, kn_str_text(&text), &hint);
    else
        kn_error(KILN_ERROR_COMPILE, "%s: error: %s", request->name, hint.message);
    kn_str_free(&text);
    return KILN_ERROR_COMPILE;
}

/* The symbol that ptxas, a linker or a loader lacks; false where the log is about something else. */
static bool find_undefined(text_span *out, const char *log)
{
    static const char *const words[] = {"Unresolved extern function '", "undefined reference to `",
                                        "undefined symbol: "};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        const char *at = strstr(log, words[k]);
        if (!at)
            continue;
        at += strlen(words[k]);
        *out = (text_span){at, (int)strcspn(at, "'(, \n")};
        return out->length > 0;
    }
    return false;
}

kiln_status kn_compile_not_loaded(const kn_compile_request *request, kiln_status status)
{
    text_span symbol;
    kn_str log = KN_STR_INIT;
    kn_str_append(&log, kiln_error_log());
    if (!log.failed && request->is_generated && find_undefined(&symbol, kn_str_text(&log))) {
        status = say_undefined(request, symbol);
        kn_error_set_log(kn_str_text(&log));
    }
    kn_str_free(&log);
    return status;
}

kiln_status kn_compile_failed(const kn_compile_request *request, const kn_str *log, const char *fallback)
{
    const char *text = kn_str_text(log);
    text_span symbol;
    diagnostic d;
    if (find_located_error(text, request, &d)) {
        if (request->is_generated && !is_users(&d.file, request) && !move_to_call(&d, text, request))
            move_to_end(&d, request);
        say_located(&d, request);
    } else if (request->is_generated && find_undefined(&symbol, text)) {
        say_undefined(request, symbol);
    } else {
        text_span plain = find_plain_error(text);
        if (plain.length > 0)
            kn_error(KILN_ERROR_COMPILE, "%s: %.*s", request->name, plain.length, plain.begin);
        else
            kn_error(KILN_ERROR_COMPILE, "%s: %s", request->name, fallback);
    }
    kn_error_set_log(text);
    return KILN_ERROR_COMPILE;
}

/* ---- warnings ---- */

/* A text that occurs in a kernel several times gets a warning each time. */
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
