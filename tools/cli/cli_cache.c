/* cli_cache.c - `kiln cache` and its actions. */
#include "cli.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static kiln_status print_path(const cli_options *options, cli_json *json)
{
    (void)options;
    char path[4096];
    kiln_status status = kiln_cache_path(path, sizeof path);
    if (status == KILN_OK && json)
        cli_json_text(json, "path", path);
    else if (status == KILN_OK)
        puts(path);
    return status;
}

static kiln_status print_stats(const cli_options *options, cli_json *json)
{
    (void)options;
    kiln_cache_stats stats = KILN_CACHE_STATS_INIT;
    kiln_status status = kiln_cache_get_stats(&stats);
    if (status != KILN_OK)
        return status;
    if (json) {
        cli_json_integer(json, "entries", (int64_t)stats.entries);
        cli_json_integer(json, "bytes", (int64_t)stats.bytes);
        cli_json_integer(json, "collisions", (int64_t)stats.collisions);
        cli_json_boolean(json, "writable", stats.writable);
        cli_json_text(json, "trouble", stats.trouble);
        return KILN_OK;
    }
    printf("kernels: %" PRIu64 "\nbytes: %" PRIu64 "\ncollisions: %" PRIu64 "\nwritable: %s\n", stats.entries,
           stats.bytes, stats.collisions, stats.writable ? "yes" : "no");
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

static kiln_status print_list(const cli_options *options, cli_json *json)
{
    (void)options;
    if (json)
        cli_json_open(json, "entries", '[');
    kiln_status status = kiln_cache_list(print_entry, json);
    if (json)
        cli_json_close(json, ']');
    return status;
}

static kiln_status clear(const cli_options *options, cli_json *json)
{
    (void)options;
    uint64_t removed = 0;
    kiln_status status = kiln_cache_clear(&removed);
    if (status == KILN_OK && json)
        cli_json_integer(json, "removed", (int64_t)removed);
    else if (status == KILN_OK)
        printf("%" PRIu64 " kernel%s removed\n", removed, removed == 1 ? "" : "s");
    return status;
}

static kiln_status verify(const cli_options *options, cli_json *json)
{
    uint64_t checked = 0, damaged = 0;
    cli_progress(options, 0, 0, "reading every kernel");
    kiln_status status = kiln_cache_verify(&checked, &damaged);
    cli_progress_end();
    if (status == KILN_OK && json) {
        cli_json_integer(json, "checked", (int64_t)checked);
        cli_json_integer(json, "damaged", (int64_t)damaged);
    } else if (status == KILN_OK)
        printf("%" PRIu64 " right, %" PRIu64 " damaged and removed\n", checked, damaged);
    return status;
}

static kiln_status collect(const cli_options *options, cli_json *json)
{
    uint64_t removed = 0;
    cli_progress(options, 0, 0, "looking for what nobody uses");
    kiln_status status = kiln_cache_collect(&removed);
    cli_progress_end();
    if (status == KILN_OK && json)
        cli_json_integer(json, "removed", (int64_t)removed);
    else if (status == KILN_OK)
        printf("%" PRIu64 " kernel%s removed\n", removed, removed == 1 ? "" : "s");
    return status;
}

/* ---- inspect ---- */

typedef struct inspection {
    const char *name;
    cli_json *json;
    int count;
} inspection;

static bool has_name(const char *what, const char *name)
{
    cli_field field;
    for (const char *at = strchr(what, ' '); at && cli_field_next(&field, &at);)
        if (field.key_length == 4 && memcmp(field.key, "name", 4) == 0)
            return (size_t)field.value_length == strlen(name) &&
                   memcmp(field.value, name, (size_t)field.value_length) == 0;
    return false;
}

static void print_fields(const kiln_cache_entry *entry)
{
    cli_field field;
    for (const char *at = strchr(entry->what, ' '); at && cli_field_next(&field, &at);)
        printf("%.*s: %.*s\n", field.key_length, field.key, field.value_length, field.value);
}

static bool inspect_entry(const kiln_cache_entry *entry, void *user)
{
    inspection *i = user;
    char created[32], used[32];
    if (!has_name(entry->what, i->name))
        return true;
    i->count++;
    if (i->json)
        return print_entry(entry, i->json);
    format_day(created, sizeof created, entry->created);
    format_day(used, sizeof used, entry->last_used);
    print_fields(entry);
    printf("compiler: %s\ncreated: %s\nlast used: %s\ncode bytes: %" PRIu64 "\n\n", entry->compiler, created,
           used, entry->code_bytes);
    return true;
}

static kiln_status inspect(const cli_options *options, cli_json *json)
{
    inspection i = {options->positional.items[1], json, 0};
    if (json)
        cli_json_open(json, "entries", '[');
    kiln_status status = kiln_cache_list(inspect_entry, &i);
    if (json)
        cli_json_close(json, ']');
    else if (status == KILN_OK && i.count == 0)
        printf("the cache has no kernel of the name %s\n", i.name);
    return status;
}

/* ---- export and import ---- */

static kiln_status export(const cli_options *options, cli_json *json)
{
    void *bytes = NULL;
    size_t size = 0;
    const char *path = options->outputs.items[0];
    cli_progress(options, 0, 0, "reading every kernel");
    kiln_status status = kiln_cache_export(&bytes, &size);
    cli_progress_end();
    if (status == KILN_OK)
        status = kiln_file_write(path, bytes, size, KILN_FILE_DURABLE);
    free(bytes);
    if (status == KILN_OK && json)
        cli_json_integer(json, "bytes", (int64_t)size);
    else if (status == KILN_OK)
        printf("%s: %zu bytes\n", path, size);
    return status;
}

static kiln_status import(const cli_options *options, cli_json *json)
{
    uint64_t added = 0;
    size_t size;
    void *bytes = NULL;
    kiln_status status = kiln_bundle_read_file(&bytes, &size, options->positional.items[1]);
    if (status != KILN_OK)
        return status;
    cli_progress(options, 0, 0, "writing kernels");
    status = kiln_cache_import(bytes, size, &added);
    cli_progress_end();
    free(bytes);
    if (status == KILN_OK && json)
        cli_json_integer(json, "added", (int64_t)added);
    else if (status == KILN_OK)
        printf("%" PRIu64 " kernel%s added\n", added, added == 1 ? "" : "s");
    return status;
}

/* ---- the table ---- */

static const struct action {
    const char *name, *argument; /* NULL: it takes none */
    bool has_output;
    kiln_status (*run)(const cli_options *options, cli_json *json);
} actions[] = {{"path", NULL, false, print_path},  {"stats", NULL, false, print_stats},
               {"list", NULL, false, print_list},  {"inspect", "NAME", false, inspect},
               {"verify", NULL, false, verify},    {"gc", NULL, false, collect},
               {"clear", NULL, false, clear},      {"export", NULL, true, export},
               {"import", "BUNDLE", false, import}};

static int run_action(const struct action *action, const cli_options *options)
{
    cli_json json = {stdout, false};
    kiln_status status;
    if (options->json)
        cli_json_open(&json, NULL, '{');
    status = action->run(options, options->json ? &json : NULL);
    if (status != KILN_OK)
        cli_complain("kiln: %s", kiln_error_message());
    if (options->json)
        cli_json_finish(&json);
    return status == KILN_OK ? CLI_OK : CLI_FAILED;
}

static int check_usage(const struct action *action, const cli_options *options)
{
    int expected = action->argument ? 2 : 1;
    if (options->positional.count < expected)
        return cli_usage_error("cache", "%s needs %s", action->name, action->argument);
    if (options->positional.count > expected)
        return cli_usage_error("cache", "does not take '%s'", options->positional.items[expected]);
    if (options->outputs.count != action->has_output)
        return cli_usage_error("cache", action->has_output ? "%s needs one -o BUNDLE" : "%s takes no -o",
                               action->name);
    return CLI_OK;
}

int cli_cache_run(const cli_options *options)
{
    const char *name = options->positional.items[0];
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        if (strcmp(actions[i].name, name) != 0)
            continue;
        int code = check_usage(&actions[i], options);
        return code == CLI_OK ? run_action(&actions[i], options) : code;
    }
    return cli_usage_error(
        "cache", "takes path, stats, list, inspect, explain, verify, gc, clear, export or import, not '%s'",
        name);
}
