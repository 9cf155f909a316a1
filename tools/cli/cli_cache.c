/* cli_cache.c - `kiln cache path|stats|list|clear`. */
#include "cli.h"
#include <inttypes.h>
#include <string.h>
#include <time.h>

static kiln_status print_path(cli_json *json)
{
    char path[4096];
    kiln_status status = kiln_cache_path(path, sizeof path);
    if (status == KILN_OK && json)
        cli_json_text(json, "path", path);
    else if (status == KILN_OK)
        puts(path);
    return status;
}

static kiln_status print_stats(cli_json *json)
{
    kiln_cache_stats stats = KILN_CACHE_STATS_INIT;
    kiln_status status = kiln_cache_get_stats(&stats);
    if (status != KILN_OK)
        return status;
    if (json) {
        cli_json_integer(json, "entries", (int64_t)stats.entries);
        cli_json_integer(json, "bytes", (int64_t)stats.bytes);
        cli_json_boolean(json, "writable", stats.writable);
        cli_json_text(json, "trouble", stats.trouble);
        return KILN_OK;
    }
    printf("kernels: %" PRIu64 "\nbytes: %" PRIu64 "\nwritable: %s\n", stats.entries, stats.bytes,
           stats.writable ? "yes" : "no");
    if (*stats.trouble)
        printf("trouble: %s\n", stats.trouble);
    return KILN_OK;
}

static void format_day(char *out, size_t size, int64_t seconds)
{
    time_t t = (time_t)seconds;
    struct tm parts;
    if (!gmtime_r(&t, &parts) || !strftime(out, size, "%Y-%m-%d", &parts))
        snprintf(out, size, "?");
}

/* user: the JSON list, or NULL for lines of text. */
static bool print_entry(const kiln_cache_entry *entry, void *user)
{
    cli_json *json = user;
    char created[32], used[32];
    format_day(created, sizeof created, entry->created);
    format_day(used, sizeof used, entry->last_used);
    if (!json) {
        printf("%s  used %s  %8" PRIu64 " bytes  %s  %s\n", created, used, entry->code_bytes, entry->compiler,
               entry->what);
        return true;
    }
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "what", entry->what);
    cli_json_text(json, "compiler", entry->compiler);
    cli_json_integer(json, "code_bytes", (int64_t)entry->code_bytes);
    cli_json_text(json, "created", created);
    cli_json_text(json, "last_used", used);
    cli_json_close(json, '}');
    return true;
}

static kiln_status print_list(cli_json *json)
{
    if (json)
        cli_json_open(json, "entries", '[');
    kiln_status status = kiln_cache_list(print_entry, json);
    if (json)
        cli_json_close(json, ']');
    return status;
}

static kiln_status clear(cli_json *json)
{
    uint64_t removed = 0;
    kiln_status status = kiln_cache_clear(&removed);
    if (status == KILN_OK && json)
        cli_json_integer(json, "removed", (int64_t)removed);
    else if (status == KILN_OK)
        printf("%" PRIu64 " kernel%s removed\n", removed, removed == 1 ? "" : "s");
    return status;
}

static const struct action {
    const char *name;
    kiln_status (*run)(cli_json *json);
} actions[] = {{"path", print_path}, {"stats", print_stats}, {"list", print_list}, {"clear", clear}};

static int run_action(const struct action *action, const cli_options *options)
{
    cli_json json = {stdout, false};
    if (!options->json)
        return action->run(NULL) == KILN_OK ? CLI_OK : cli_library_error(options);
    cli_json_open(&json, NULL, '{');
    kiln_status status = action->run(&json);
    /* The object is open already: the error becomes one of its members. */
    if (status != KILN_OK)
        cli_json_text(&json, "error", kiln_error_message());
    cli_json_close(&json, '}');
    putchar('\n');
    if (status != KILN_OK)
        fprintf(stderr, "kiln: %s\n", kiln_error_message());
    return status == KILN_OK ? CLI_OK : CLI_FAILED;
}

int cli_cache_run(const cli_options *options)
{
    const char *name = options->positional.items[0];
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (strcmp(actions[i].name, name) == 0)
            return run_action(&actions[i], options);
    return cli_usage_error("cache", "takes path, stats, list or clear, not '%s'", name);
}
