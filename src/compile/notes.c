/* notes.c - what has to be known beside the code: lowered names, and which headers went in.
 *
 *   lowered _Z5twiceIiEvPT_
 *   header math/constants.h 0f343b0931126a20f133d67c2b018a3b
 *
 * Neither compiler tells NVRTC's callers what a source included, so that the text is read for #include lines.
 * That finds too much (lines in comments, or switched off), never too little but for names made by macros. A
 * header found too much only makes a row stricter.
 */
#include "compile/compile.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/os.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { MAX_HEADERS = 4096, HASH_DIGITS = 32 };

static const char lowered_word[] = "lowered ", header_word[] = "header ";

/* ---- the folders of the user's options ---- */

typedef struct folder_list {
    const char *const *options;
    int n;
} folder_list;

/* The folder that the option at *i names, "-Idir", "-I dir" or either long form; NULL where it names none. */
static const char *folder_of(const folder_list *list, int i)
{
    static const char *const forms[] = {"-I", "--include-path=", "-include-path=", "-isystem", "-iquote"};
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        size_t length = strlen(forms[f]);
        if (strncmp(list->options[i], forms[f], length) != 0)
            continue;
        if (list->options[i][length])
            return list->options[i] + length;
        return i + 1 < list->n ? list->options[i + 1] : NULL;
    }
    return NULL;
}

/* Reads "folder/name" of the first folder that has it; false where none has. */
static bool read_header(kn_blob *out, const folder_list *list, const char *name)
{
    for (int i = 0; i < list->n; i++) {
        const char *folder = folder_of(list, i);
        char path[PATH_MAX];
        if (!folder || snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path ||
            !kn_os_is_file(path))
            continue;
        return kn_os_read_file(out, path) == KILN_OK;
    }
    return false;
}

static void hash_of(const kn_blob *blob, char hex[33])
{
    kn_hash hash = kn_hash_128(blob->data, blob->size);
    kn_hash_hex(&hash, hex);
}

/* ---- reading #include lines ---- */

typedef struct scanner {
    const kn_compile_request *request;
    folder_list folders;
    kn_map *seen; /* names, so that each is read once */
    kn_str *out;
    bool failed;
} scanner;

static bool is_in_memory(const kn_compile_request *request, const char *name)
{
    for (int i = 0; i < request->n_headers; i++)
        if (strcmp(request->header_names[i], name) == 0)
            return true;
    return false;
}

static void scan_text(scanner *s, const char *text, size_t size, const char *below);

/* Takes "a/../b.h" and "./b.h" as they are: the name only has to lead to the same file again. */
static bool take_header(scanner *s, const char *name)
{
    static char present;
    if (kn_map_get(s->seen, name, strlen(name)) || is_in_memory(s->request, name))
        return true;
    kn_blob file = KN_BLOB_INIT;
    if (!read_header(&file, &s->folders, name))
        return false;
    char hex[HASH_DIGITS + 1], below[PATH_MAX];
    hash_of(&file, hex);
    kn_str_printf(s->out, "%s%s %s\n", header_word, name, hex);
    s->failed = s->failed || !kn_map_put(s->seen, name, strlen(name), &present);
    const char *slash = strrchr(name, '/');
    snprintf(below, sizeof below, "%.*s", slash ? (int)(slash - name) + 1 : 0, name);
    if (!s->failed && kn_map_count(s->seen) < MAX_HEADERS)
        scan_text(s, file.data, file.size, below);
    kn_blob_free(&file);
    return true;
}

/* A quoted name is looked for beside the file that includes it first. */
static void take_include(scanner *s, const char *name, int length, bool is_quoted, const char *below)
{
    char path[PATH_MAX];
    if (is_quoted && below[0] &&
        snprintf(path, sizeof path, "%s%.*s", below, length, name) < (int)sizeof path && take_header(s, path))
        return;
    if (snprintf(path, sizeof path, "%.*s", length, name) < (int)sizeof path)
        take_header(s, path);
}

static const char *skip_blanks(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    return p;
}

/* One line from behind its '#'. */
static void scan_directive(scanner *s, const char *p, const char *end, const char *below)
{
    p = skip_blanks(p, end);
    if (end - p < 8 || memcmp(p, "include", 7) != 0)
        return;
    p = skip_blanks(p + 7, end);
    if (p == end || (*p != '"' && *p != '<'))
        return;
    const char *close = memchr(p + 1, *p == '"' ? '"' : '>', (size_t)(end - p - 1));
    if (close)
        take_include(s, p + 1, (int)(close - p - 1), *p == '"', below);
}

static void scan_text(scanner *s, const char *text, size_t size, const char *below)
{
    const char *end = text + size;
    for (const char *line = text; line < end && !s->failed;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        stop = stop ? stop : end;
        const char *p = skip_blanks(line, stop);
        if (p < stop && *p == '#')
            scan_directive(s, p + 1, stop, below);
        line = stop + 1;
    }
}

/* "-include x.h" and NVRTC's "--pre-include=x.h". */
static void scan_options(scanner *s)
{
    static const char pre[] = "--pre-include=";
    for (int i = 0; i < s->folders.n; i++) {
        const char *option = s->folders.options[i];
        if (strncmp(option, pre, sizeof pre - 1) == 0)
            take_header(s, option + sizeof pre - 1);
        else if (strncmp(option, "-include=", 9) == 0)
            take_header(s, option + 9);
        else if (strcmp(option, "-include") == 0 && i + 1 < s->folders.n)
            take_header(s, s->folders.options[i + 1]);
    }
}

static bool names_a_folder(const folder_list *list)
{
    for (int i = 0; i < list->n; i++)
        if (folder_of(list, i))
            return true;
    return false;
}

static kiln_status note_headers(kn_str *out, const kn_compile_request *request)
{
    scanner s = {request, {request->options, request->n_options}, NULL, out, false};
    if (!names_a_folder(&s.folders))
        return KILN_OK;
    s.seen = kn_map_create();
    if (!s.seen)
        return kn_error_memory(0, "a list of headers");
    scan_options(&s);
    scan_text(&s, request->source, strlen(request->source), "");
    for (int i = 0; i < request->n_headers; i++)
        scan_text(&s, request->header_texts[i], strlen(request->header_texts[i]), "");
    kn_map_free(s.seen, NULL);
    return s.failed ? kn_error_memory(0, "a list of headers") : KILN_OK;
}

kiln_status kn_compile_notes(kn_str *out, const kn_compile_request *request, const kn_compile_result *result)
{
    for (int i = 0; i < result->n_lowered_names; i++)
        kn_str_printf(out, "%s%s\n", lowered_word, result->lowered_names[i]);
    kiln_status status = note_headers(out, request);
    return status == KILN_OK ? kn_str_status(out, "notes") : status;
}

/* ---- reading notes ---- */

/* The next line that begins with word, from *at on: its rest. NULL where there is none. */
static const char *next_line(const char **at, const char *end, const char *word, size_t *length)
{
    size_t word_length = strlen(word);
    while (*at < end) {
        const char *line = *at, *stop = memchr(line, '\n', (size_t)(end - line));
        stop = stop ? stop : end;
        *at = stop + (stop < end);
        if ((size_t)(stop - line) > word_length && memcmp(line, word, word_length) == 0) {
            *length = (size_t)(stop - line) - word_length;
            return line + word_length;
        }
    }
    return NULL;
}

static bool header_holds(const folder_list *folders, const char *line, size_t length)
{
    char name[PATH_MAX], hex[HASH_DIGITS + 1];
    if (length < HASH_DIGITS + 2 || length >= sizeof name)
        return false;
    size_t name_length = length - HASH_DIGITS - 1;
    memcpy(name, line, name_length);
    name[name_length] = 0;
    kn_blob file = KN_BLOB_INIT;
    if (!read_header(&file, folders, name))
        return true; /* not here: a row that was made elsewhere is taken at its word */
    hash_of(&file, hex);
    kn_blob_free(&file);
    return memcmp(hex, line + name_length + 1, HASH_DIGITS) == 0;
}

bool kn_compile_notes_hold(const char *notes, size_t size, const char *const *options, int n_options)
{
    if (!notes)
        return true;
    folder_list folders = {options, n_options};
    const char *at = notes, *end = notes + size;
    size_t length = 0;
    for (const char *line = next_line(&at, end, header_word, &length); line;
         line = next_line(&at, end, header_word, &length))
        if (!header_holds(&folders, line, length))
            return false;
    return true;
}

const char *kn_compile_notes_lowered(const char *notes, size_t size, int n, size_t *length)
{
    const char *at = notes;
    const char *line = NULL;
    for (int i = 0; notes && i <= n; i++) {
        line = next_line(&at, notes + size, lowered_word, length);
        if (!line)
            return NULL;
    }
    return line;
}
