/* generates - reads specialisations with their sources, as golden_source --sources writes them, and generates
 * each anew. It is linked without the models, which choose launch parameters: a source that needed one would
 * end the process.
 *
 * usage: generates FILE
 */
#include "base/str.h"
#include "codegen/codegen.h"
#include "schedules/spec_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes a line off the text, which is cut up. */
static char *take_line(char **text)
{
    char *line = *text;
    *text += strcspn(line, "\n");
    if (**text)
        *(*text)++ = '\0';
    return line;
}

static bool generates(const char *line, const char *source, size_t length)
{
    kn_parsed_spec parsed;
    kn_str text = KN_STR_INIT;
    bool same = false;
    if (kn_spec_parse(&parsed, line) == KILN_OK) {
        same = kn_codegen_source(&text, &parsed.spec, NULL) == KILN_OK && text.length == length &&
               memcmp(kn_str_text(&text), source, length) == 0;
        kn_parsed_spec_free(&parsed);
    }
    if (!same)
        printf("FAILED: %.200s...: %s\n", line, kiln_error_message());
    kn_str_free(&text);
    return same;
}

/* The whole file, ended by a NUL. */
static char *read_all(const char *path)
{
    FILE *in = fopen(path, "rb");
    long size = in && fseek(in, 0, SEEK_END) == 0 ? ftell(in) : -1;
    char *text = size >= 0 ? calloc((size_t)size + 1, 1) : NULL;
    if (text && (fseek(in, 0, SEEK_SET) != 0 || fread(text, 1, (size_t)size, in) != (size_t)size)) {
        free(text);
        text = NULL;
    }
    if (in)
        fclose(in);
    return text;
}

int main(int argc, char **argv)
{
    char *text = argc == 2 ? read_all(argv[1]) : NULL;
    int count = 0, failed = 0;
    if (!text) {
        fprintf(stderr, "usage: generates FILE\n");
        return 2;
    }
    for (char *at = text; *at; ++count) {
        char *line = take_line(&at);
        size_t length = strtoull(take_line(&at), NULL, 10);
        failed += !generates(line, at, length);
        at += length + 1;
    }
    free(text);
    printf("%d sources, %d failed\n", count, failed);
    return failed > 0 || count == 0;
}
