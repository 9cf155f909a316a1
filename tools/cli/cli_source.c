/* cli_source.c - `kiln source` and `kiln explain`: what a call would compile, without running it. */
#include "cli.h"
#include <stdlib.h>
#include <string.h>

/* The two commands differ in the functions that are asked, and in what the answers are called. */
typedef kiln_status (*text_function)(char **out, kiln_kernel *kernel, kiln_array *const *outs, int n_out,
                                     const kiln_arg *in, int n_in, const kiln_call_options *call,
                                     const char *target);

enum { MOST_TEXTS = 2 };

typedef struct text_command {
    const char *name;
    int n_texts;
    const char *key[MOST_TEXTS];
    text_function text[MOST_TEXTS];
} text_command;

static const text_command source_command = {"source", 1, {"source"}, {kiln_kernel_source}};
static const text_command explain_command = {
    "explain", 2, {"specialisation", "launches"}, {kiln_kernel_explain, kiln_kernel_launches}};

static void print_texts(const text_command *command, char *const *text)
{
    for (int t = 0; t < command->n_texts; t++) {
        size_t length = strlen(text[t]);
        printf("%s%s", text[t], length == 0 || text[t][length - 1] == '\n' ? "" : "\n");
    }
}

static void print_json(const text_command *command, char *const *text)
{
    cli_json json = {stdout, false};
    cli_json_open(&json, NULL, '{');
    for (int t = 0; t < command->n_texts; t++)
        cli_json_text(&json, command->key[t], text[t]);
    cli_json_close(&json, '}');
    putchar('\n');
}

static kiln_status ask(char **text, const text_command *command, const cli_call *call, const char *target)
{
    kiln_status status = KILN_OK;
    for (int t = 0; t < command->n_texts && status == KILN_OK; t++)
        status = command->text[t](&text[t], call->kernel, call->out, call->n_out, call->in, call->n_in, NULL,
                                  target);
    return status;
}

static int run(const text_command *command, const cli_options *options)
{
    const char *target = options->arch ? options->arch : options->target;
    cli_call call = CLI_CALL_INIT;
    char *text[MOST_TEXTS] = {NULL};
    if (options->arch && options->target)
        return cli_usage_error(command->name, "takes --arch or --target, not both");
    int code = cli_shape_check(command->name, options);
    if (code != CLI_OK)
        return code;
    /* Only dtypes and layouts matter, so that the arrays stay on the host whatever the target. */
    kiln_status status = cli_call_define(&call, options);
    if (status == KILN_OK)
        code = cli_numbers_check(&call, options);
    if (code != CLI_OK) {
        cli_call_free(&call);
        return code;
    }
    if (status == KILN_OK)
        status = cli_call_read(&call, options, KILN_DEVICE_HOST, true);
    if (status == KILN_OK)
        status = cli_call_make_outputs(&call, options, KILN_DEVICE_HOST);
    if (status == KILN_OK)
        status = ask(text, command, &call, target);
    if (status == KILN_OK)
        (options->json ? print_json : print_texts)(command, text);
    else
        code = cli_library_error(options);
    for (int t = 0; t < MOST_TEXTS; t++)
        free(text[t]);
    cli_call_free(&call);
    return code;
}

int cli_source_run(const cli_options *options)
{
    return run(&source_command, options);
}

int cli_explain_run(const cli_options *options)
{
    return run(&explain_command, options);
}
