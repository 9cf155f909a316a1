/* cli_glob.h - words that stand for several files: 'in/?.npy' and what comes of them, 'out/{}.npy'. */
#ifndef KILN_CLI_GLOB_H
#define KILN_CLI_GLOB_H

#include "cli.h"

/* The files of each word; count 1 where a word is none. */
typedef struct cli_glob {
    char ***path; /* by word: count paths in the order of their names; NULL: the word is no pattern */
    int n_words, count;
    const char **pattern; /* of -o, by output: with {} in it; NULL: none */
    const char *first;    /* of the first pattern's paths gives its name to {} */
} cli_glob;

/* Looks for patterns among the words and the outputs of a call. CLI_OK, CLI_FAILED or CLI_USAGE, after a
 * message. Free *out either way. */
int cli_glob_find(cli_glob *out, const char *command, const cli_call *call, const cli_options *options);
/* True if any word is one. */
bool cli_glob_is_any(const cli_glob *glob);
/* The file that the nth turn writes for output j, to be freed; NULL without memory. */
char *cli_glob_output(const cli_glob *glob, int j, int n);
/* CLI_OK; CLI_USAGE or CLI_FAILED, after a message, where a result would go over a file that another call of
 * the glob reads, or over another result. */
int cli_outputs_check(const char *command, const cli_glob *glob, const cli_call *call,
                      const cli_options *options);
/* The words and files of the nth turn, in place of the call's; those of outputs are freed with the next turn.
 */
bool cli_glob_iteration(cli_glob *glob, cli_call *call, int n);
void cli_glob_free(cli_glob *glob);

#endif
