/* cli_start.c - how the programs of the command begin and end: descriptors, messages, options, output. */
#include "cli.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool has_word(int argc, char **argv, const char *word)
{
    for (int k = 0; k < argc; k++)
        if (strcmp(argv[k], word) == 0)
            return true;
    return false;
}

/* Where the caller has closed standard input, output or error, the next file to be opened would be it, and
 * take in what is printed. What stands there instead can neither be read nor written, so that every use of it
 * fails as it should. */
static void hold_standard_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/", O_PATH | O_CLOEXEC); /* the lowest that is free: this one */
}

void cli_begin(int argc, char **argv)
{
    hold_standard_descriptors();
    cli_errors_in_json(has_word(argc, argv, "--json"));
}

void cli_command_help(const cli_command *command)
{
    printf("usage: kiln %s%s%s [OPTION...]\n\n%s\n", command->name, *command->usage ? " " : "",
           command->usage, command->summary);
    if (*command->details)
        printf("\n%s", command->details);
    puts("\nOptions:");
    cli_options_help(stdout, command);
}

/* One that is misspelt is said by all commands, whether they use a device or not. */
static int check_target(void)
{
    const char *target = secure_getenv("KILN_TARGET");
    kiln_device device;
    if (!target || !*target || kiln_device_parse(&device, target) != KILN_ERROR_INVALID)
        return CLI_OK;
    return cli_complain("kiln: KILN_TARGET is \"%s\"; expected \"host\", \"cuda\" or \"cuda:N\"", target);
}

static int check_positional(const cli_command *command, const cli_options *options)
{
    int count = options->positional.count;
    if (command->bit == CLI_REDUCE && count == command->min_positional - 1)
        return cli_usage_error(command->name,
                               "needs IDENTITY as its sixth word: the result where there is nothing to "
                               "reduce, such as 0 for a sum, or - where there is none");
    if (count < command->min_positional)
        return cli_usage_error(command->name, "needs %s", command->usage);
    if (command->max_positional >= 0 && count > command->max_positional)
        return cli_usage_error(command->name, "does not take '%s'",
                               options->positional.items[command->max_positional]);
    return CLI_OK;
}

/* Messages of the library, and of a compiler about the kernel's own text, as KILN_LOG wants them. */
static void print_message(kiln_log_level level, const char *message, void *user)
{
    (void)user;
    if ((int)level < kiln_log_wanted(KILN_LOG_WARNING))
        return;
    cli_progress_hide();
    fprintf(stderr, "kiln: %s\n", message);
}

int cli_run(const cli_command *command, int argc, char **argv)
{
    cli_options options;
    kiln_log_set_callback(print_message, NULL);
    kiln_variables_check();
    int code = has_word(argc, argv, "--help") ? CLI_OK : check_target();
    if (code != CLI_OK)
        return code;
    code = cli_options_read(&options, command, argc, argv);
    if (code == CLI_OK && options.help)
        cli_command_help(command);
    else if (code == CLI_OK && (code = check_positional(command, &options)) == CLI_OK)
        code = command->run(&options);
    cli_options_free(&options);
    return code;
}

/* Output that could not be written (a full disk, say) is a failure of the command. */
int cli_finish(int code)
{
    bool had_failed = ferror(stdout), broken = fflush(stdout) != 0 || had_failed;
    if (broken)
        cli_complain("kiln: the output could not be written%s%s", had_failed ? "" : ": ",
                     had_failed ? "" : strerror(errno));
    else
        cli_errors_finish(code);
    return broken && code == CLI_OK ? CLI_FAILED : code;
}
