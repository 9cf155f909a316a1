/* cli_source.c - `kiln source` and `kiln explain`: what a call would compile, without running it. */
#include "cli.h"
#include <stdlib.h>
#include <string.h>

/* The two commands differ in the function that is asked, and in what the answer is called. */
typedef kiln_status (*text_function)(char **out, kiln_kernel *kernel, kiln_array *const *outs, int n_out,
                                     const kiln_arg *in, int n_in, const char *target);

typedef struct text_command {
    const char *name, *key;
    text_function text;
} text_command;

static const text_command source_command = {"source", "source", kiln_kernel_source};
static const text_command explain_command = {"explain", "specialisation", kiln_kernel_explain};

static void print_result(const text_command *command, const cli_options *options, const char *text)
{
    if (!options->json) {
        size_t length = strlen(text);
        printf("%s%s", text, length > 0 && text[length - 1] == '\n' ? "" : "\n");
        return;
    }
    cli_json json = {stdout, false};
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, command->key, text);
    cli_json_close(&json, '}');
    putchar('\n');
}

static int run(const text_command *command, const cli_options *options)
{
    const char *target = options->arch ? options->arch : options->target;
    cli_call call = CLI_CALL_INIT;
    char *text = NULL;
    if (options->arch && options->target)
        return cli_usage_error(command->name, "takes --arch or --target, not both");
    int code = cli_shape_check(command->name, options);
    if (code != CLI_OK)
        return code;
    /* Only dtypes and layouts matter, so that the arrays stay on the host whatever the target. */
    kiln_status status = cli_call_define(&call, options);
    if (status == KILN_OK)
        status = cli_call_read(&call, options, KILN_DEVICE_HOST, true);
    if (status == KILN_OK)
        status = cli_call_make_outputs(&call, options, KILN_DEVICE_HOST);
    if (status == KILN_OK)
        status = command->text(&text, call.kernel, call.out, call.n_out, call.in, call.n_in, target);
    if (status == KILN_OK)
        print_result(command, options, text);
    else
        code = cli_library_error(options);
    free(text);
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
