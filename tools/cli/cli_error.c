/* cli_error.c - what every subcommand says where something fails, and the clock. Text goes to standard error
 * at once; with --json an object stands on standard output in the end, unless the command has printed one. */
#include "cli.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double cli_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* ---- what has been said ---- */

static struct {
    bool is_wanted; /* --json */
    const char *kind;
    char message[4096]; /* all of them, one below the other */
    char *log;
} said;

void cli_errors_in_json(bool wanted)
{
    said.is_wanted = wanted;
}

static void keep(const char *kind, const char *message)
{
    size_t length = strlen(said.message);
    if (!said.kind)
        said.kind = kind;
    snprintf(said.message + length, sizeof said.message - length, "%s%s", length ? "\n" : "", message);
}

void cli_json_finish(cli_json *json)
{
    if (said.kind) {
        cli_json_text(json, "error", said.kind);
        cli_json_text(json, "message", said.message);
        cli_json_text(json, "log", said.log ? said.log : "");
    }
    cli_json_close(json, '}');
    putc('\n', json->file);
}

void cli_errors_finish(int code)
{
    cli_json json = {stdout, false};
    if (said.is_wanted && code != CLI_OK && said.kind && !cli_json_was_printed()) {
        cli_json_open(&json, NULL, '{');
        cli_json_finish(&json);
    }
    free(said.log);
    said.log = NULL;
}

/* ---- saying it ---- */

int cli_complain(const char *format, ...)
{
    char message[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    cli_progress_hide();
    fprintf(stderr, "%s\n", message);
    keep("failed", strncmp(message, "kiln: ", 6) == 0 ? message + 6 : message);
    return CLI_FAILED;
}

int cli_usage_error(const char *command, const char *format, ...)
{
    char message[2048];
    va_list arguments;
    int length = snprintf(message, sizeof message, "kiln%s%s: ", command ? " " : "", command ? command : "");
    va_start(arguments, format);
    vsnprintf(message + length, sizeof message - (size_t)length, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s\nTry 'kiln%s%s --help'.\n", message, command ? " " : "", command ? command : "");
    keep("usage", message);
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

/* The library's messages speak of members of structs and of arguments, which here are options. `#` is any
 * number. */
static const char *const option_words[][2] = {
    {"options.size, the number of elements, or options.shape (which may have none)",
     "--size, the number of elements or their shape,"},
    {"options.size or options.shape", "--size"},
    {"options.shape", "--size"},
    {"options.axes[#]", "--axis"},
    {"pass an output array", "--type says it (with --size, where every array is raw)"}};

/* The length of the pattern in `text`; 0: it does not match. */
static size_t match_words(const char *text, const char *pattern)
{
    const char *at = text;
    for (; *pattern; pattern++) {
        if (*pattern == '#')
            at += strspn(at, "0123456789");
        else if (*at++ != *pattern)
            return 0;
    }
    return (size_t)(at - text);
}

static void say_options(char *out, size_t size, const char *message)
{
    size_t used = 0;
    for (const char *at = message; *at && used + 1 < size;) {
        const char *said = NULL;
        size_t length = 0;
        for (size_t k = 0; k < sizeof option_words / sizeof *option_words && length == 0; k++) {
            length = match_words(at, option_words[k][0]);
            said = option_words[k][1];
        }
        used += (size_t)snprintf(out + used, size - used, "%.*s", length ? (int)strlen(said) : 1,
                                 length ? said : at);
        at += length ? length : 1;
    }
    out[used < size ? used : size - 1] = 0;
}

static int print_error(kiln_status status, const char *given, const char *log)
{
    char message[4096];
    say_options(message, sizeof message, given);
    fprintf(stderr, "kiln: %s\n", message);
    if (!said.is_wanted)
        print_log(message, log);
    keep(kiln_status_name(status), message);
    if (!said.log)
        said.log = strdup(log);
    return CLI_FAILED;
}

/* ---- errors of the command's own, which go where the library's do ---- */

static struct {
    kiln_status status;
    char message[2048];
} own;

kiln_status cli_fail(kiln_status status, const char *format, ...)
{
    char message[sizeof own.message]; /* an argument may point into the one before */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    own.status = status;
    memcpy(own.message, message, sizeof message);
    return status;
}

const char *cli_fail_message(void)
{
    return own.status != KILN_OK ? own.message : kiln_error_message();
}

int cli_library_error(const cli_options *options)
{
    (void)options;
    if (own.status != KILN_OK) {
        kiln_status status = own.status;
        own.status = KILN_OK;
        return print_error(status, own.message, "");
    }
    /* Without an error of the library it was the command's own allocation that failed. */
    bool is_ours = kiln_error_status() == KILN_OK;
    return print_error(is_ours ? KILN_ERROR_MEMORY : kiln_error_status(),
                       is_ours ? "out of memory" : kiln_error_message(), kiln_error_log());
}

int cli_input_error(const cli_options *options, const char *format, ...)
{
    char message[1024];
    va_list arguments;
    (void)options;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return print_error(KILN_ERROR_TYPE, message, "");
}
