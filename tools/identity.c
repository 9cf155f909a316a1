/* identity.c - writes at build time what the code generator is identified by: a hash over the sources that
 * shape generated text and argument blocks. And the same for what compilers are told.
 *
 *    kiln_identity generator_sources.h FILE... [--reach FILE...]     defines KN_GENERATOR_SOURCES
 *
 * Of the files behind --reach those count that the others reach: a header that one of them includes, and a
 * source whose first include of ours is such a header, which is where the functions that it declares stand.
 * tests/identity holds this against what the objects use of one another.
 *
 * Comments and the width of blanks say nothing about what the code does, and are left out: a better word in
 * one costs nobody a compile. The hash is XXH3-128 over each file's name (without folders) and text, the
 * files in the order of their names. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { FORMAT = 3 }; /* of the cleaned text: another one is another identity */

static int complain(const char *path, const char *trouble)
{
    fprintf(stderr, "kiln_identity: %s %s\n", path, trouble);
    return 1;
}

/* The whole file, ended by a NUL; NULL where it cannot be read. */
static char *read_text(const char *path)
{
    FILE *in = fopen(path, "rb");
    char *text = NULL;
    long size = -1;
    if (in && fseek(in, 0, SEEK_END) == 0 && (size = ftell(in)) >= 0 && fseek(in, 0, SEEK_SET) == 0)
        text = malloc((size_t)size + 1);
    if (text && fread(text, 1, (size_t)size, in) != (size_t)size) {
        free(text);
        text = NULL;
    }
    if (text)
        text[size] = '\0';
    if (in)
        fclose(in);
    return text;
}

/* The text behind a comment that begins at `at`; `at` itself if none does. Comments of preludes that say when
 * these are wanted are none. */
static const char *after_comment(const char *at)
{
    if (strncmp(at, "// needs:", 9) == 0 || strncmp(at, "// with:", 8) == 0)
        return at;
    if (at[0] == '/' && at[1] == '/')
        return at + strcspn(at, "\n");
    if (at[0] == '/' && at[1] == '*') {
        const char *end = strstr(at + 2, "*/");
        return end ? end + 2 : at + strlen(at);
    }
    return at;
}

/* The text behind the string or character that begins at `at`; `at` itself if none does. */
static const char *after_quoted(const char *at)
{
    const char quote = *at;
    const char *end = at + 1;
    if (quote != '"' && quote != '\'')
        return at;
    while (*end && *end != quote && *end != '\n')
        end += *end == '\\' && end[1] ? 2 : 1;
    return *end == quote ? end + 1 : end;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Takes comments out of the text, and makes one blank of any others that stand together: a line's end where
 * there is one, which ends directives. In place: what comes is never longer. */
static void clean(char *text)
{
    const char *from = text;
    char *to = text;
    bool blank = false, line = true;
    while (*from) {
        const char *next = after_comment(from);
        if (next != from || is_blank(*from)) {
            blank = true;
            line = line || *from == '\n';
            from = next != from ? next : from + 1;
            continue;
        }
        if (blank && to != text)
            *to++ = line ? '\n' : ' ';
        blank = line = false;
        next = after_quoted(from);
        do
            *to++ = *from++;
        while (from < next);
    }
    *to = '\0';
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A file with its text as it is hashed. */
typedef struct source {
    const char *path;
    char *text;
    bool counts, is_read;
} source;

/* A public header may have the name of an internal one. */
static int compare_files(const void *a, const void *b)
{
    const source *first = a, *second = b;
    int names = strcmp(base_name(first->path), base_name(second->path));
    return names ? names : strcmp(first->text, second->text);
}

/* ---- what files reach ---- */

/* The first include behind *text without its end ("<kiln/arg.h"), in out; and moves *text behind it. */
static bool next_include(char *out, size_t size, const char **text)
{
    static const char word[] = "#include ";
    const char *at = strstr(*text, word);
    if (!at)
        return false;
    at += strlen(word);
    snprintf(out, size, "%.*s", (int)(1 + strcspn(at + 1, "\">\n")), at);
    *text = at + 1;
    return true;
}

static bool is_named(const source *file, const char *include)
{
    size_t path = strlen(file->path), name = strlen(include + 1);
    return path > name && file->path[path - name - 1] == '/' &&
           strcmp(file->path + path - name, include + 1) == 0;
}

static bool is_header(const source *file)
{
    size_t length = strlen(file->path);
    return length > 2 && strcmp(file->path + length - 2, ".h") == 0;
}

/* True if the file is where the header's functions stand. */
static bool belongs_to(const source *file, const source *header)
{
    const char *text = file->text;
    char include[256];
    while (next_include(include, sizeof include, &text))
        if (include[0] == '"')
            return is_named(header, include);
    return false;
}

static void take_header(source *files, int count, source *header)
{
    header->counts = true;
    for (int i = 0; i < count; i++)
        if (!is_header(&files[i]) && belongs_to(&files[i], header))
            files[i].counts = true;
}

/* Adds a file's includes to the counted files. */
static void take_includes(source *files, int count, source *file)
{
    const char *text = file->text;
    char include[256];
    file->is_read = true;
    while (next_include(include, sizeof include, &text))
        for (int i = 0; i < count; i++)
            if (!files[i].counts && is_named(&files[i], include))
                take_header(files, count, &files[i]);
}

static void reach_all(source *files, int count)
{
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < count; i++)
            if (files[i].counts && !files[i].is_read) {
                take_includes(files, count, &files[i]);
                more = true;
            }
    }
}

/* ---- from files to the header ---- */

/* Returns how many; -1 where one cannot be read. */
static int read_files(source *files, char **paths, int n_paths)
{
    bool counts = true;
    int count = 0;
    for (int i = 0; i < n_paths; i++) {
        if (strcmp(paths[i], "--reach") == 0) {
            counts = false;
            continue;
        }
        files[count] = (source){.path = paths[i], .text = read_text(paths[i]), .counts = counts};
        if (!files[count].text) {
            complain(paths[i], "could not be read");
            return -1;
        }
        clean(files[count++].text);
    }
    return count;
}

static XXH128_hash_t hash_files(const source *files, int count)
{
    XXH3_state_t state;
    XXH3_128bits_reset(&state);
    for (int i = 0; i < count; i++) {
        const char *name = base_name(files[i].path);
        if (!files[i].counts)
            continue;
        XXH3_128bits_update(&state, name, strlen(name) + 1);
        XXH3_128bits_update(&state, files[i].text, strlen(files[i].text) + 1);
    }
    return XXH3_128bits_digest(&state);
}

static int write_header(const char *path, XXH128_hash_t hash)
{
    FILE *out = fopen(path, "w");
    if (!out)
        return complain(path, "could not be written");
    fputs("#define KN_", out);
    for (const char *c = base_name(path); *c && *c != '.'; c++)
        fputc(toupper((unsigned char)*c), out);
    int written = fprintf(out, " \"%d-%016llx%016llx\"\n", FORMAT, (unsigned long long)hash.high64,
                          (unsigned long long)hash.low64);
    return fclose(out) == 0 && written > 0 ? 0 : complain(path, "could not be written");
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fputs("usage: kiln_identity OUTPUT.h FILE... [--reach FILE...]\n", stderr);
        return 2;
    }
    source *files = calloc((size_t)argc, sizeof *files);
    int count = files ? read_files(files, argv + 2, argc - 2) : -1;
    int failed = 1;
    if (count >= 0) {
        qsort(files, (size_t)count, sizeof *files, compare_files);
        reach_all(files, count);
        failed = write_header(argv[1], hash_files(files, count));
    }
    for (int i = 0; i < count; i++)
        free(files[i].text);
    free(files);
    return failed;
}
