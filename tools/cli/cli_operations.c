/* cli_operations.c - `kiln operations`: which there are by name, and how they are defined. */
#include "cli.h"
#include <string.h>

static int count_words(const char *text)
{
    int count = 0;
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        text += strcspn(text, " ");
        count++;
    }
    return count;
}

static const char *form_of(const kiln_operation *o)
{
    return o->reduce ? "reduction" : "elementwise";
}

/* The texts of a definition, those that it has not being NULL. */
typedef struct text_row {
    const char *key;
    size_t at;
} text_row;

static const text_row texts[] = {
    {"in", offsetof(kiln_operation, in_params)},      {"out", offsetof(kiln_operation, out_params)},
    {"types", offsetof(kiln_operation, types)},       {"map", offsetof(kiln_operation, map)},
    {"reduce", offsetof(kiln_operation, reduce)},     {"post", offsetof(kiln_operation, post)},
    {"identity", offsetof(kiln_operation, identity)}, {"reduce_type", offsetof(kiln_operation, reduce_type)},
    {"preamble", offsetof(kiln_operation, preamble)}};
enum { N_TEXTS = sizeof texts / sizeof *texts };

static const char *text_of(const kiln_operation *o, const text_row *row)
{
    return *(const char *const *)((const char *)o + row->at);
}

static void print_json(cli_json *json, const kiln_operation *o)
{
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "name", o->name);
    cli_json_text(json, "form", form_of(o));
    for (const text_row *row = texts; row < texts + N_TEXTS; row++)
        if (text_of(o, row))
            cli_json_text(json, row->key, text_of(o, row));
    cli_json_close(json, '}');
}

/* Texts of several lines stand below their keys. */
static void print_definition(const kiln_operation *o)
{
    printf("%s: %s%s\n", o->name, form_of(o), o->map ? "" : ", refused for these types");
    for (const text_row *row = texts; row < texts + N_TEXTS; row++) {
        const char *text = text_of(o, row);
        if (!text || !*text)
            continue;
        if (!strchr(text, '\n'))
            printf("  %-12s %s\n", row->key, text);
        for (const char *line = strchr(text, '\n') ? text : "", *end; *line; line = *end ? end + 1 : end) {
            end = line + strcspn(line, "\n");
            printf("  %-12s %.*s\n", line == text ? row->key : "", (int)(end - line), line);
        }
    }
}

static kiln_status operation_at(kiln_operation *out, int index)
{
    *out = (kiln_operation)KILN_OPERATION_INIT;
    return kiln_operation_at(out, index);
}

/* Definitions of one operation have its name in common, and need not stand together. */
static bool is_first(const kiln_operation *o, int index)
{
    kiln_operation before;
    for (int k = 0; k < index; k++)
        if (operation_at(&before, k) == KILN_OK && strcmp(before.name, o->name) == 0)
            return false;
    return true;
}

static void print_summary(const kiln_operation *o, int index)
{
    kiln_operation other;
    int variants = 0;
    if (!is_first(o, index))
        return;
    for (int k = index; k < kiln_operation_count(); k++)
        if (operation_at(&other, k) == KILN_OK && other.map && strcmp(other.name, o->name) == 0)
            variants += count_words(other.types);
    printf("%-14s %-12s %d variant%s\n", o->name, form_of(o), variants, variants == 1 ? "" : "s");
}

int cli_operations_run(const cli_options *options)
{
    const char *name = options->positional.count ? options->positional.items[0] : NULL;
    cli_json json = {stdout, false};
    kiln_operation o;
    int found = 0;
    for (int k = 0; k < kiln_operation_count(); k++) {
        if (operation_at(&o, k) != KILN_OK)
            return cli_library_error(options);
        if (name && strcmp(o.name, name) != 0)
            continue;
        if (options->json && found == 0) {
            cli_json_open(&json, NULL, '{');
            cli_json_open(&json, "definitions", '[');
        }
        found++;
        if (options->json)
            print_json(&json, &o);
        else if (name)
            print_definition(&o);
        else
            print_summary(&o, k);
    }
    kiln_kernel *none = NULL;
    if (found == 0 && kiln_operation_kernel(&none, name, NULL, 0) != KILN_OK)
        return cli_library_error(options);
    if (options->json) {
        cli_json_close(&json, ']');
        cli_json_finish(&json);
    }
    return CLI_OK;
}
