/* notes.c - what has to be known beside the code: lowered names, and what the compiler read.
 *
 * lowered _Z5twiceIiEvPT_ folder vendor/include                   where it looks besides the folders of the
 * options system /usr/include                     ... and where the toolchain's own files are file
 * 0f34...8a3b 0 math/constants.h     a hash; the number of the folder (options first) or -; the name probe
 * optional.h                        a name that __has_include asks for environment 91c0...
 * of CPATH and the like lookups 52b7...                         which of the names are there in which of the
 * folders unknown                                 never holds
 *
 * A compiler tells what it read, not where it looked in vain. But all that it can have looked for is a name
 * of a file that it found, or that is asked for by __has_include, in one of the folders: so the whole table
 * is hashed, and a file that comes to be in front of another changes it. It changes too often rather than too
 * seldom, and the cost of that is a compile. */
#include "compile/compile.h"
#include "compile/compiler.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/os.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HASH_DIGITS = 32, FILE_MAX_BYTES = 256 << 20 };

static const char lowered_word[] = "lowered ", folder_word[] = "folder ", system_word[] = "system ",
                  file_word[] = "file ", probe_word[] = "probe ", environment_word[] = "environment ",
                  lookups_word[] = "lookups ", unknown_line[] = "unknown\n";

typedef struct span {
    const char *text;
    size_t length;
} span;

typedef struct span_list {
    span *items;
    size_t n, capacity;
    bool failed;
} span_list;

static void push(span_list *list, span item)
{
    if (list->n == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 32;
        span *items = kn_realloc(list->items, capacity * sizeof *items);
        if (!items) {
            list->failed = true;
            return;
        }
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->n++] = item;
}

/* ---- lines ---- */

static bool next_line(span *line, const char **at, const char *end)
{
    if (*at >= end)
        return false;
    const char *stop = memchr(*at, '\n', (size_t)(end - *at));
    stop = stop ? stop : end;
    *line = (span){*at, (size_t)(stop - *at)};
    *at = stop + (stop < end);
    return true;
}

/* Takes the word from the beginning of the line. */
static bool take_word(span *line, const char *word)
{
    size_t length = strlen(word);
    if (line->length < length || memcmp(line->text, word, length) != 0)
        return false;
    line->text += length;
    line->length -= length;
    return true;
}

/* ---- the folders of the user's options ---- */

/* The folder that the option at *i names, "-Idir", "-I dir" or another form; NULL where it names none. */
static const char *folder_of(const char *const *options, int n, int i)
{
    static const char *const forms[] = {"-I",      "--include-path", "-include-path",      "-isystem",
                                        "-iquote", "-idirafter",     "--include-directory"};
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        size_t length = strlen(forms[f]);
        if (strncmp(options[i], forms[f], length) != 0)
            continue;
        const char *folder = options[i] + length;
        folder += *folder == '=';
        if (*folder)
            return folder;
        return i + 1 < n ? options[i + 1] : NULL;
    }
    return NULL;
}

/* Compilers drop slashes at the end. */
static span as_folder(const char *text, size_t length)
{
    while (length > 1 && text[length - 1] == '/')
        length--;
    return (span){text, length};
}

/* ---- one look at what the notes say ---- */

typedef struct noted_file {
    span hash, name;
    int folder; /* -1: the name is a path */
} noted_file;

typedef struct survey {
    span_list folders; /* of the options, then of the notes: the user's, then the system's */
    size_t first_system;
    span_list files; /* what follows "file " */
    span_list probes;
    span environment, lookups;
    bool is_unknown;
} survey;

static void free_survey(survey *s)
{
    kn_free(s->folders.items);
    kn_free(s->files.items);
    kn_free(s->probes.items);
}

static void take_line(survey *s, span line)
{
    if (take_word(&line, folder_word)) {
        push(&s->folders, as_folder(line.text, line.length));
        s->first_system = s->folders.n;
    } else if (take_word(&line, system_word)) {
        push(&s->folders, as_folder(line.text, line.length));
    } else if (take_word(&line, file_word)) {
        push(&s->files, line);
    } else if (take_word(&line, probe_word)) {
        push(&s->probes, line);
    } else if (take_word(&line, environment_word)) {
        s->environment = line;
    } else if (take_word(&line, lookups_word)) {
        s->lookups = line;
    } else if (!take_word(&line, lowered_word)) {
        s->is_unknown = true;
    }
}

static void look_through(survey *s, const char *notes, size_t size, const char *const *options, int n_options)
{
    span line;
    *s = (survey){.is_unknown = false};
    for (int i = 0; i < n_options; i++) {
        const char *folder = folder_of(options, n_options, i);
        if (folder)
            push(&s->folders, as_folder(folder, strlen(folder)));
    }
    s->first_system = s->folders.n;
    for (const char *at = notes, *end = notes + size; next_line(&line, &at, end);)
        take_line(s, line);
}

static bool has_failed(const survey *s)
{
    return s->folders.failed || s->files.failed || s->probes.failed;
}

/* False where the line is damaged. */
static bool read_file_line(noted_file *out, const survey *s, span line)
{
    if (line.length < HASH_DIGITS + 4 || line.text[HASH_DIGITS] != ' ')
        return false;
    const char *number = line.text + HASH_DIGITS + 1, *end = line.text + line.length;
    const char *blank = memchr(number, ' ', (size_t)(end - number));
    if (!blank || blank + 1 == end)
        return false;
    out->hash = (span){line.text, HASH_DIGITS};
    out->name = (span){blank + 1, (size_t)(end - blank - 1)};
    out->folder = *number == '-' ? -1 : atoi(number);
    return out->folder < (int)s->folders.n;
}

static bool join(char path[PATH_MAX], const span *folder, const span *name)
{
    int length = folder && name->text[0] != '/'
                     ? snprintf(path, PATH_MAX, "%.*s/%.*s", (int)folder->length, folder->text,
                                (int)name->length, name->text)
                     : snprintf(path, PATH_MAX, "%.*s", (int)name->length, name->text);
    return length > 0 && length < PATH_MAX;
}

static bool path_of(char path[PATH_MAX], const survey *s, const noted_file *file)
{
    return join(path, file->folder >= 0 ? &s->folders.items[file->folder] : NULL, &file->name);
}

static bool is_system(const survey *s, const noted_file *file)
{
    return file->folder >= 0 && (size_t)file->folder >= s->first_system;
}

/* ---- which names are there in which folders ---- */

/* The part of path below folder; an empty one where it is not below. */
static span below(const char *path, const span *folder)
{
    size_t length = folder->length;
    if (length == 0 || strncmp(path, folder->text, length) != 0 ||
        (path[length] != '/' && folder->text[length - 1] != '/'))
        return (span){"", 0};
    const char *name = path + length + strspn(path + length, "/");
    return (span){name, strlen(name)};
}

typedef struct table {
    span_list columns; /* folders, and those where the user's own files are: names in quotes begin there */
    span_list names;
    kn_map *seen;
    kn_str paths; /* ended by NULs; fixed once columns point into it */
    bool failed;
} table;

static void add_name(table *t, span name)
{
    static char present;
    if (name.length == 0 || kn_map_get(t->seen, name.text, name.length))
        return;
    t->failed = t->failed || !kn_map_put(t->seen, name.text, name.length, &present);
    push(&t->names, name);
}

/* Paths first, one after the other, since a growing text moves. */
static void add_paths(table *t, const survey *s)
{
    for (size_t f = 0; f < s->files.n; f++) {
        noted_file file;
        char path[PATH_MAX] = "";
        if (!read_file_line(&file, s, s->files.items[f]) || !path_of(path, s, &file)) {
            t->failed = true;
            return;
        }
        kn_str_append_n(&t->paths, path, strlen(path) + 1);
        kn_str_append_n(&t->paths, is_system(s, &file) ? "s" : "u", 1);
    }
    t->failed = t->failed || t->paths.failed;
}

static bool is_column(const table *t, span folder)
{
    for (size_t c = 0; c < t->columns.n; c++)
        if (t->columns.items[c].length == folder.length &&
            memcmp(t->columns.items[c].text, folder.text, folder.length) == 0)
            return true;
    return false;
}

static void add_columns(table *t, const survey *s)
{
    push(&t->columns, (span){".", 1});
    for (size_t f = 0; f < s->folders.n; f++)
        push(&t->columns, s->folders.items[f]);
    const char *path = t->paths.data;
    for (size_t f = 0; f < s->files.n; f++, path += strlen(path) + 2) {
        const char *slash = strrchr(path, '/');
        span folder = {path, slash ? (size_t)(slash - path) : 0};
        if (path[strlen(path) + 1] == 'u' && folder.length > 0 && !is_column(t, folder))
            push(&t->columns, folder);
    }
}

static void add_names(table *t, const survey *s)
{
    const char *path = t->paths.data;
    for (size_t f = 0; f < s->files.n; f++, path += strlen(path) + 2) {
        if (path[0] != '/')
            add_name(t, (span){path, strlen(path)});
        for (size_t c = 0; c < t->columns.n; c++)
            add_name(t, below(path, &t->columns.items[c]));
    }
    for (size_t p = 0; p < s->probes.n; p++)
        add_name(t, s->probes.items[p]);
    t->failed = t->failed || t->names.failed || t->columns.failed;
}

static void look_up(table *t, kn_str *bits)
{
    for (size_t n = 0; n < t->names.n; n++)
        for (size_t c = 0; c < t->columns.n; c++) {
            char path[PATH_MAX];
            bool is_there = join(path, &t->columns.items[c], &t->names.items[n]) && access(path, F_OK) == 0;
            kn_str_append_n(bits, is_there ? "1" : "0", 1);
        }
}

/* False without memory, and for damaged notes. */
static bool hash_lookups(char hex[HASH_DIGITS + 1], const survey *s)
{
    table t = {.seen = kn_map_create(), .paths = KN_STR_INIT};
    kn_str bits = KN_STR_INIT;
    bool is_done = false;
    if (!t.seen)
        return false;
    add_paths(&t, s);
    if (!t.failed) {
        add_columns(&t, s);
        add_names(&t, s);
    }
    if (!t.failed) {
        look_up(&t, &bits);
        kn_hash hash = kn_hash_128(kn_str_text(&bits), bits.length);
        kn_hash_hex(&hash, hex);
        is_done = !bits.failed;
    }
    kn_str_free(&bits);
    kn_str_free(&t.paths);
    kn_map_free(t.seen, NULL);
    kn_free(t.columns.items);
    kn_free(t.names.items);
    return is_done;
}

/* ---- names that __has_include asks for ---- */

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

typedef struct writer {
    kn_str *out;
    bool is_unknown;
} writer;

/* What stands between the parentheses: a name is noted. A macro could be any name: of that, in the user's own
 * text, nothing can be known. */
static void take_probe(writer *w, const char *at, const char *end, bool is_users)
{
    at = skip_blanks(at, end);
    if (at == end || *at != '(')
        return; /* defined(__has_include) */
    at = skip_blanks(at + 1, end);
    char closing = at == end ? 0 : *at == '<' ? '>' : *at == '"' ? '"' : 0;
    const char *close = closing ? memchr(at + 1, closing, (size_t)(end - at - 1)) : NULL;
    if (close && close > at + 1 && !memchr(at, '\n', (size_t)(close - at)))
        kn_str_printf(w->out, "%s%.*s\n", probe_word, (int)(close - at - 1), at + 1);
    else if (is_users)
        w->is_unknown = true;
}

/* Every word that ends in has_include, so that macros that pass a name on are seen where they are used. */
static void find_probes(writer *w, const char *text, size_t size, bool is_users)
{
    static const char *const words[] = {"has_include", "HAS_INCLUDE", "has_embed"};
    const char *end = text + size;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i]);
        const char *at = memmem(text, size, words[i], length);
        while (at) {
            at += length;
            while (at < end && (isalnum((unsigned char)*at) || *at == '_'))
                at++;
            take_probe(w, at, end, is_users);
            at = memmem(at, (size_t)(end - at), words[i], length);
        }
    }
}

static void find_probes_of_request(writer *w, const kn_compile_request *request)
{
    find_probes(w, request->source, strlen(request->source), !request->is_generated);
    for (int i = 0; i < request->n_user_texts; i++)
        find_probes(w, request->user_texts[i], strlen(request->user_texts[i]), true);
    for (int i = 0; i < request->n_headers; i++)
        find_probes(w, request->header_texts[i], strlen(request->header_texts[i]), true);
    for (int i = 0; i < request->n_options; i++)
        find_probes(w, request->options[i], strlen(request->options[i]), true);
}

/* ---- writing notes ---- */

static void hash_of(const kn_blob *blob, char hex[HASH_DIGITS + 1])
{
    kn_hash hash = kn_hash_128(blob->data, blob->size);
    kn_hash_hex(&hash, hex);
}

/* A file that cannot be read is an answer here, not an error. */
static bool read_quietly(kn_blob *out, const char *path)
{
    kn_error_state before;
    kn_error_save(&before);
    kiln_status status = kn_os_read_plain_file(out, path, FILE_MAX_BYTES, false);
    kn_error_restore(&before);
    return status == KILN_OK;
}

/* The first folder that the path lies below, and the name there; else the path itself. */
static noted_file place_file(const survey *s, const char *path)
{
    for (size_t f = 0; f < s->folders.n; f++) {
        span name = below(path, &s->folders.items[f]);
        if (name.length > 0)
            return (noted_file){{"", 0}, name, (int)f};
    }
    return (noted_file){{"", 0}, {path, strlen(path)}, -1};
}

static void note_file(writer *w, const survey *s, span path_text)
{
    char path[PATH_MAX], hex[HASH_DIGITS + 1], number[16] = "-";
    kn_blob content = KN_BLOB_INIT;
    if (!join(path, NULL, &path_text) || !read_quietly(&content, path)) {
        w->is_unknown = true;
        return;
    }
    noted_file file = place_file(s, path);
    hash_of(&content, hex);
    if (file.folder >= 0)
        snprintf(number, sizeof number, "%d", file.folder);
    kn_str_printf(w->out, "%s%s %s %.*s\n", file_word, hex, number, (int)file.name.length, file.name.text);
    if (content.size > 0)
        find_probes(w, content.data, content.size, !is_system(s, &file));
    kn_blob_free(&content);
}

/* Compilers name a file as often as it is included. */
static kiln_status note_files(writer *w, const survey *s, const kn_str *files)
{
    static char present;
    kn_map *seen = kn_map_create();
    bool is_full = !seen;
    span path;
    for (const char *at = kn_str_text(files), *end = at + files->length;
         !is_full && next_line(&path, &at, end);) {
        if (kn_map_get(seen, path.text, path.length))
            continue;
        is_full = !kn_map_put(seen, path.text, path.length, &present);
        note_file(w, s, path);
    }
    kn_map_free(seen, NULL);
    return is_full ? kn_error_memory(0, "a list of headers") : KILN_OK;
}

static void note_folders(kn_str *out, const char *word, const kn_str *folders)
{
    span line;
    for (const char *at = kn_str_text(folders), *end = at + folders->length; next_line(&line, &at, end);)
        kn_str_printf(out, "%s%.*s\n", word, (int)line.length, line.text);
}

static kiln_status note_lookups(kn_str *notes, const kn_compile_request *request)
{
    survey s;
    char hex[HASH_DIGITS + 1];
    look_through(&s, notes->data, notes->length, request->options, request->n_options);
    bool is_done = !has_failed(&s) && hash_lookups(hex, &s);
    free_survey(&s);
    if (!is_done)
        return kn_error_memory(0, "a list of headers");
    kn_str_printf(notes, "%s%s\n", lookups_word, hex);
    return kn_str_status(notes, "notes");
}

static kiln_status note_reads(writer *w, const kn_compile_request *request, const kn_compile_reads *reads)
{
    char hex[HASH_DIGITS + 1];
    survey s;
    note_folders(w->out, folder_word, &reads->folders);
    note_folders(w->out, system_word, &reads->system_folders);
    if (reads->uses_environment) {
        kn_compile_environment_hash(hex, KN_ENVIRONMENT_OF_FILES);
        kn_str_printf(w->out, "%s%s\n", environment_word, hex);
    }
    kiln_status status = kn_str_status(w->out, "notes");
    if (status != KILN_OK)
        return status;
    /* The names of the folders are copied, since the notes grow while files are noted. */
    char *folders = kn_strdup(kn_str_text(w->out));
    if (!folders)
        return kn_error_memory(w->out->length, "notes");
    look_through(&s, folders, strlen(folders), request->options, request->n_options);
    status = has_failed(&s) ? kn_error_memory(0, "a list of headers") : note_files(w, &s, &reads->files);
    free_survey(&s);
    kn_free(folders);
    find_probes_of_request(w, request);
    return status == KILN_OK ? kn_str_status(w->out, "notes") : status;
}

kiln_status kn_compile_notes(kn_str *out, const kn_compile_request *request, const kn_compile_result *result)
{
    kn_str notes = KN_STR_INIT;
    writer w = {&notes, result->reads.is_unknown};
    kiln_status status = KILN_OK;
    if (result->reads.is_traced)
        status = note_reads(&w, request, &result->reads);
    if (status == KILN_OK && result->reads.is_traced && !w.is_unknown)
        status = note_lookups(&notes, request);
    for (int i = 0; i < result->n_lowered_names; i++)
        kn_str_printf(out, "%s%s\n", lowered_word, result->lowered_names[i]);
    kn_str_append(out, w.is_unknown ? unknown_line : kn_str_text(&notes));
    kn_str_free(&notes);
    return status == KILN_OK ? kn_str_status(out, "notes") : status;
}

/* ---- verifying ---- */

static bool file_holds(const survey *s, const noted_file *file)
{
    char path[PATH_MAX], hex[HASH_DIGITS + 1];
    kn_blob content = KN_BLOB_INIT;
    if (!path_of(path, s, file) || !read_quietly(&content, path))
        return false;
    hash_of(&content, hex);
    kn_blob_free(&content);
    return memcmp(hex, file->hash.text, HASH_DIGITS) == 0;
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Whether the folder is there in which the file was found. */
static bool has_home(const survey *s, const noted_file *file)
{
    char path[PATH_MAX];
    if (file->folder >= 0)
        return join(path, NULL, &s->folders.items[file->folder]) && is_folder(path);
    if (!path_of(path, s, file))
        return true;
    char *slash = strrchr(path, '/');
    if (slash)
        slash[slash == path] = 0;
    return !slash || is_folder(path);
}

static bool files_hold(const survey *s, bool *is_from_elsewhere)
{
    bool holds = true;
    *is_from_elsewhere = s->files.n > 0;
    for (size_t f = 0; f < s->files.n; f++) {
        noted_file file;
        if (!read_file_line(&file, s, s->files.items[f])) {
            *is_from_elsewhere = false;
            return false;
        }
        *is_from_elsewhere = *is_from_elsewhere && !has_home(s, &file);
        holds = holds && file_holds(s, &file);
        if (!holds && !*is_from_elsewhere)
            return false;
    }
    return holds;
}

static bool survey_holds(const survey *s)
{
    char hex[HASH_DIGITS + 1];
    bool is_from_elsewhere;
    if (s->is_unknown || has_failed(s))
        return false;
    if (s->files.n == 0 && s->lookups.length == 0)
        return true;
    bool holds = files_hold(s, &is_from_elsewhere);
    if (!holds)
        return is_from_elsewhere;
    kn_compile_environment_hash(hex, KN_ENVIRONMENT_OF_FILES);
    if (s->environment.length > 0 &&
        (s->environment.length != HASH_DIGITS || memcmp(s->environment.text, hex, HASH_DIGITS) != 0))
        return false;
    return hash_lookups(hex, s) && s->lookups.length == HASH_DIGITS &&
           memcmp(s->lookups.text, hex, HASH_DIGITS) == 0;
}

bool kn_compile_notes_hold(const char *notes, size_t size, const char *const *options, int n_options)
{
    survey s;
    if (!notes || size == 0)
        return true;
    look_through(&s, notes, size, options, n_options);
    bool holds = survey_holds(&s);
    free_survey(&s);
    return holds;
}

const char *kn_compile_notes_lowered(const char *notes, size_t size, int n, size_t *length)
{
    const char *at = notes;
    span line;
    for (int i = 0; notes && next_line(&line, &at, notes + size);)
        if (take_word(&line, lowered_word) && i++ == n) {
            *length = line.length;
            return line.text;
        }
    return NULL;
}
