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
    bool is_of_all_targets; /* its answer depends on none */
} text_command;

static const text_command source_command = {"source", 1, {"source"}, {kiln_kernel_source}, false};
static const text_command explain_command = {
    "explain", 2, {"specialisation", "launches"}, {kiln_kernel_explain, kiln_kernel_launches}, false};

static void print_texts(const text_command *command, char *const *text)
{
    for (int t = 0; t < command->n_texts && text[t]; t++) {
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
    cli_json_finish(&json);
}

static kiln_status ask(char **text, const text_command *command, const cli_call *call,
                       const kiln_call_options *how, const char *target)
{
    kiln_status status = KILN_OK;
    for (int t = 0; t < command->n_texts && status == KILN_OK; t++)
        status = command->text[t](&text[t], call->kernel, call->out, call->n_out, call->in, call->n_in, how,
                                  target);
    return status;
}

/* The definitions that words can give, distinguished by the first word, which no signature looks like. */
typedef struct form {
    const char *word;
    int n_texts; /* that define the kernel, behind the word */
    const char *needs;
    kiln_status (*define)(cli_call *call, const cli_options *options);
    bool is_expression;
} form;

static const form forms[] = {
    {"map", 3, "IN OUT BODY", cli_call_define, false},
    {"reduce", 6, "IN OUT MAP REDUCE POST IDENTITY behind 'reduce'", cli_call_define_reduction, false},
    {"scan", 6, "IN OUT MAP SCAN POST IDENTITY behind 'scan'", cli_call_define_scan, false},
    {"select", 4, "IN OUT KEEP BODY behind 'select'", cli_call_define_selection, false},
    {"sort", 4, "IN OUT KEYS BODY behind 'sort'", cli_call_define_sort, false},
    {"eval", 1, "EXPRESSION behind 'eval'", cli_call_define_expression, true},
};

bool cli_is_form(const char *word)
{
    bool is = false;
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        is = is || strcmp(word, forms[f].word) == 0;
    return is;
}

/* Takes the word off, where there is one; without it the words are those of `map`. */
static const form *take_form(cli_options *options)
{
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        if (strcmp(options->positional.items[0], forms[f].word) == 0) {
            options->positional.items++;
            options->positional.count--;
            return &forms[f];
        }
    return &forms[0];
}

static int check_usage(const text_command *command, const cli_options *options, const form *form)
{
    if (options->arch && options->target)
        return cli_usage_error(command->name, "takes --arch or --target, not both");
    if (options->positional.count < form->n_texts)
        return cli_usage_error(command->name, "needs %s", form->needs);
    int code = cli_form_check(command->name, form->word, options);
    if (code != CLI_OK)
        return code;
    if (form->is_expression)
        return cli_names_check(command->name, options);
    code = cli_types_check(command->name, options);
    return code == CLI_OK ? cli_shape_check(command->name, options) : code;
}

/* The answers, to be freed after a failure too. */
static int find_texts(char **text, const text_command *command, const cli_options *options, const form *form)
{
    char usual[16];
    const char *target = options->arch ? options->arch : options->target;
    kiln_device device = KILN_DEVICE_DEFAULT;
    cli_call call = CLI_CALL_INIT;
    kiln_call_options how = KILN_CALL_OPTIONS_INIT;
    int axes[KILN_MAX_NDIM];
    int code = check_usage(command, options, form);
    if (code == CLI_OK)
        code = cli_axes_read(axes, &how.n_axes, command->name, options);
    if (code != CLI_OK)
        return code;
    how.axes = options->axes.count ? axes : NULL;
    how.flags = options->keepdims ? KILN_CALL_KEEPDIMS : 0;
    /* Only dtypes and layouts matter, so that the arrays stay on the host whatever the target;
     * none is that of `kiln map`. */
    kiln_status status = target || command->is_of_all_targets ? KILN_OK : kiln_device_current(&device);
    if (status == KILN_OK && !target)
        target = kiln_device_name(device, usual, sizeof usual);
    if (status == KILN_OK)
        status = form->define(&call, options);
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
        status = ask(text, command, &call, &how, target);
    if (status != KILN_OK)
        code = cli_library_error(options);
    cli_call_free(&call);
    return code;
}

static int run(const text_command *command, const cli_options *options)
{
    cli_options words = *options;
    char *text[MOST_TEXTS] = {NULL};
    const form *form = take_form(&words);
    int code = find_texts(text, command, &words, form);
    if (code == CLI_OK)
        (options->json ? print_json : print_texts)(command, text);
    for (int t = 0; t < MOST_TEXTS; t++)
        free(text[t]);
    return code;
}

static kiln_status record(char **out, kiln_kernel *kernel, kiln_array *const *outs, int n_out,
                          const kiln_arg *in, int n_in, const kiln_call_options *call, const char *target)
{
    (void)target; /* all of them are answered */
    return kiln_kernel_record(out, kernel, outs, n_out, in, n_in, call);
}

int cli_record_lines(char **out, const cli_options *options)
{
    static const text_command command = {"bake", 1, {"record"}, {record}, true};
    cli_options words = *options;
    const form *form = take_form(&words);
    return find_texts(out, &command, &words, form);
}

int cli_source_run(const cli_options *options)
{
    return run(&source_command, options);
}

int cli_explain_run(const cli_options *options)
{
    return run(&explain_command, options);
}

int cli_explain_lines(char **out, const cli_options *options)
{
    static const text_command command = {
        "cache explain", 1, {"specialisation"}, {kiln_kernel_explain}, false};
    cli_options words = *options;
    const form *form = take_form(&words);
    return find_texts(out, &command, &words, form);
}
