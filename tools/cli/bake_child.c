/* bake_child.c - the process that compiles: it may hang, crash or take all memory without anybody else coming
 * to harm.
 *
 * A question on standard input: "TARGET LENGTH\n" and the record's line. The answer on standard output: "made
 * LENGTH\n" and a bundle of one kernel, or "failed LENGTH\n" and why. */
#include "bake_parts.h"
#include <stdlib.h>
#include <string.h>

static bool answer(const char *word, const void *data, size_t size)
{
    printf("%s %zu\n", word, size);
    return fwrite(data, 1, size, stdout) == size && fflush(stdout) == 0;
}

static bool compile(const char *line, const char *target, const kiln_bake_options *how)
{
    void *bytes = NULL;
    size_t size = 0;
    if (kiln_bake(&bytes, &size, line, target, how) != KILN_OK)
        return answer("failed", kiln_error_message(), strlen(kiln_error_message()));
    bool is_told = answer("made", bytes, size);
    free(bytes);
    return is_told;
}

int bake_child_run(const cli_options *options)
{
    kiln_bake_options how = KILN_BAKE_OPTIONS_INIT;
    char target[64];
    size_t length;
    bool goes_on = true;
    how.n_include_folders = options->includes.count;
    how.include_folders = options->includes.items;
    while (goes_on && scanf("%63s %zu", target, &length) == 2 && getchar() == '\n') {
        char *line = malloc(length + 1);
        goes_on = line && fread(line, 1, length, stdin) == length;
        if (goes_on) {
            line[length] = 0;
            goes_on = compile(line, target, &how);
        }
        free(line);
    }
    return goes_on ? CLI_OK : CLI_FAILED;
}
