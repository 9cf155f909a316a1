/* cli_error.c - what every subcommand says where something fails, and the clock. */
#include "cli.h"
#include <stdarg.h>
#include <string.h>
#include <time.h>

double cli_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

int cli_usage_error(const char *command, const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "kiln%s%s: ", command ? " " : "", command ? command : "");
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\nTry 'kiln%s%s --help'.\n", command ? " " : "", command ? command : "");
    return CLI_USAGE;
}

/* A message that shows a line and a caret has said it all; where it does not the compiler's text has more,
 * of which this many lines are shown. */
enum { LOG_LINES = 12 };

static void print_log(const char *message, const char *log)
{
    const char *rest = log;
    if (!*log || strstr(message, log))
        return;
    for (int k = 0; k < LOG_LINES && *rest && !strstr(message, "\n  "); k++) {
        size_t length = strcspn(rest, "\n");
        fprintf(stderr, "%.*s\n", (int)length, rest);
        rest += length + (rest[length] == '\n');
    }
    if (*rest)
        fputs("(the compiler's whole text: --json)\n", stderr);
}

static int print_error(const cli_options *options, kiln_status status, const char *message, const char *log)
{
    fprintf(stderr, "kiln: %s\n", message);
    if (!options->json)
        print_log(message, log);
    if (options->json) {
        cli_json json = {stdout, false};
        cli_json_open(&json, NULL, '{');
        cli_json_text(&json, "error", kiln_status_name(status));
        cli_json_text(&json, "message", message);
        cli_json_text(&json, "log", log);
        cli_json_close(&json, '}');
        putchar('\n');
    }
    return CLI_FAILED;
}

int cli_library_error(const cli_options *options)
{
    /* Without an error of the library it was the command's own allocation that failed. */
    bool own = kiln_error_status() == KILN_OK;
    return print_error(options, own ? KILN_ERROR_MEMORY : kiln_error_status(),
                       own ? "out of memory" : kiln_error_message(), kiln_error_log());
}

int cli_input_error(const cli_options *options, const char *format, ...)
{
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return print_error(options, KILN_ERROR_TYPE, message, "");
}
