/* identity.c - writes at build time what the code generator is identified by: a hash over the sources that
 * shape generated text and argument blocks. And the same for what compilers are told.
 *
 *    kiln_identity generator_sources.h FILE...      defines KN_GENERATOR_SOURCES
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

enum { FORMAT = 1 }; /* of the cleaned text: another one is another identity */

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

/* What follows a comment that begins at `at`; `at` itself where none does. */
static const char *after_comment(const char *at)
{
    if (at[0] == '/' && at[1] == '/')
        return at + strcspn(at, "\n");
    if (at[0] == '/' && at[1] == '*') {
        const char *end = strstr(at + 2, "*/");
        return end ? end + 2 : at + strlen(at);
    }
    return at;
}

/* What follows the string or character that begins at `at`; `at` itself where none does. */
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

static int compare_names(const void *a, const void *b)
{
    return strcmp(base_name(*(char *const *)a), base_name(*(char *const *)b));
}

static int add_file(XXH3_state_t *state, const char *path)
{
    char *text = read_text(path);
    if (!text)
        return complain(path, "could not be read");
    clean(text);
    XXH3_128bits_update(state, base_name(path), strlen(base_name(path)) + 1);
    XXH3_128bits_update(state, text, strlen(text) + 1);
    free(text);
    return 0;
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
        fputs("usage: kiln_identity OUTPUT.h FILE...\n", stderr);
        return 2;
    }
    XXH3_state_t state;
    XXH3_128bits_reset(&state);
    qsort(argv + 2, (size_t)argc - 2, sizeof *argv, compare_names);
    for (int i = 2; i < argc; i++)
        if (add_file(&state, argv[i]) != 0)
            return 1;
    return write_header(argv[1], XXH3_128bits_digest(&state));
}
