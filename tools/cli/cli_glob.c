/* cli_glob.c - patterns of file names, which the shell has left to us. */
#include "cli_glob.h"
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file of just this name is that file. */
static bool is_pattern(const char *word)
{
    kiln_arg ignored;
    return strpbrk(word, "*?[") && access(word, F_OK) != 0 && !cli_number_read(&ignored, word);
}

static char **list_files(int *count, const char *pattern)
{
    glob_t found;
    *count = -1;
    if (glob(pattern, 0, NULL, &found) != 0)
        return NULL;
    char **paths = calloc(found.gl_pathc + 1, sizeof *paths);
    bool has_memory = paths != NULL;
    for (size_t k = 0; has_memory && k < found.gl_pathc; k++)
        has_memory = (paths[k] = strdup(found.gl_pathv[k])) != NULL;
    if (has_memory)
        *count = (int)found.gl_pathc;
    globfree(&found);
    return paths;
}

static int add_word(cli_glob *g, int index, const char *word)
{
    int count;
    if (!is_pattern(word))
        return CLI_OK;
    g->path[index] = list_files(&count, word);
    if (count < 0)
        return cli_complain("kiln: %s: there is no such file", word);
    bool is_first = !cli_glob_is_any(g);
    if (!is_first && count != g->count)
        return cli_complain("kiln: %s is %d file%s, and another pattern %d: both give one to each call", word,
                            count, count == 1 ? "" : "s", g->count);
    g->count = count;
    g->first = is_first ? word : g->first;
    return CLI_OK;
}

bool cli_glob_is_any(const cli_glob *glob)
{
    return glob->first != NULL;
}

/* "out/photo.npy" of "out/{}.npy" and "in/photo.npz"; NULL without memory. */
static char *fill_pattern(const char *pattern, const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');
    int length = dot && dot > base ? (int)(dot - base) : (int)strlen(base);
    const char *place = strstr(pattern, "{}");
    char *filled = malloc(strlen(pattern) + (size_t)length + 1);
    if (filled)
        sprintf(filled, "%.*s%.*s%s", (int)(place - pattern), pattern, length, base, place + 2);
    return filled;
}

char *cli_glob_output(const cli_glob *g, int j, int n)
{
    int word = 0;
    while (!g->path[word])
        word++;
    return fill_pattern(g->pattern[j], g->path[word][n]);
}

static int check_output(const cli_glob *g, const char *command, int j)
{
    const char *pattern = g->pattern[j], *member = cli_file_member(pattern);
    if (member && strstr(pattern, "{}") >= member)
        return cli_usage_error(
            command, "-o %s: the files of '%s' would all go to %.*s: {} has to stand in front of the colon",
            pattern, g->first, (int)(member - pattern) - 1, pattern);
    return CLI_OK;
}

int cli_glob_find(cli_glob *out, const char *command, const cli_call *call, const cli_options *options)
{
    int code = CLI_OK;
    *out = (cli_glob){.n_words = call->n_words, .count = 1};
    out->path = calloc((size_t)call->n_words + 1, sizeof *out->path);
    out->pattern = calloc((size_t)call->n_out + 1, sizeof *out->pattern);
    if (!out->path || !out->pattern)
        return cli_complain("kiln: out of memory");
    for (int k = 0; k < call->n_words && code == CLI_OK; k++)
        code = add_word(out, k, call->word[k]);
    for (int j = 0; j < call->n_out && code == CLI_OK; j++) {
        bool has_place = call->file[j] && strstr(call->file[j], "{}");
        if (cli_glob_is_any(out) && !has_place)
            return cli_usage_error(
                command,
                "the results of the files of '%s' need an -o each with {} in it, where their "
                "names stand",
                out->first);
        out->pattern[j] = cli_glob_is_any(out) ? call->file[j] : NULL;
        if (out->pattern[j])
            code = check_output(out, command, j);
    }
    if (code == CLI_OK && cli_glob_is_any(out) && (options->repeat || options->explain))
        return cli_usage_error(command, "takes no --repeat and no --explain for the files of '%s'",
                               out->first);
    return code == CLI_OK ? cli_outputs_check(command, out, call, options) : code;
}

static void free_names(const cli_glob *glob, cli_call *call)
{
    for (int j = 0; j < call->n_out; j++)
        if (glob->pattern[j] && call->file[j] != glob->pattern[j])
            free((void *)(uintptr_t)call->file[j]);
}

bool cli_glob_iteration(cli_glob *glob, cli_call *call, int n)
{
    const char *path = NULL;
    bool has_memory = true;
    free_names(glob, call);
    for (int k = 0; k < glob->n_words; k++) {
        if (!glob->path[k])
            continue;
        call->word[k] = n < glob->count ? glob->path[k][n] : NULL;
        path = path ? path : call->word[k];
    }
    for (int j = 0; j < call->n_out; j++) {
        call->file[j] = n < glob->count && path ? fill_pattern(glob->pattern[j], path) : glob->pattern[j];
        has_memory = has_memory && call->file[j];
    }
    return has_memory;
}

void cli_glob_free(cli_glob *glob)
{
    for (int k = 0; glob->path && k < glob->n_words; k++) {
        for (int n = 0; glob->path[k] && glob->path[k][n]; n++)
            free(glob->path[k][n]);
        free(glob->path[k]);
    }
    free(glob->path);
    free(glob->pattern);
}
