/* bake_look.c - `kiln bake --check`, --list, merge and diff: what is in bundles. */
#include "bake_parts.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int bundle_error(const char *path, const cli_options *options)
{
    cli_complain("kiln: in %s:", path);
    return cli_library_error(options);
}

/* ---- check ---- */

static void print_missing(const bake_job *job, cli_json *json)
{
    if (!json) {
        printf("missing: %s (%s) for %s\n", job->name, job->types, job->target);
        return;
    }
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "name", job->name);
    cli_json_text(json, "types", job->types);
    cli_json_text(json, "target", job->target);
    cli_json_close(json, '}');
}

static int check_jobs(bake_plan *plan, const kiln_bytes *bundle, cli_json *json)
{
    int missing = 0;
    for (int j = 0; j < plan->count; j++) {
        const bake_job *job = &plan->jobs[j];
        kiln_status status = kiln_bundle_find(NULL, NULL, bundle->data, bundle->size, job->line, job->target);
        if (status == KILN_OK)
            continue;
        if (status != KILN_ERROR_NOT_FOUND)
            return -1;
        missing++;
        print_missing(job, json);
    }
    return missing;
}

int bake_check(bake_plan *plan, const cli_options *options)
{
    cli_json json = {stdout, false}, *out = options->json ? &json : NULL;
    kiln_bytes bundle;
    void *bytes = cli_file_read(&bundle.size, options->check);
    if (!bytes)
        return CLI_FAILED;
    bundle.data = bytes;
    if (out) {
        cli_json_open(out, NULL, '{');
        cli_json_open(out, "missing", '[');
    }
    int missing = check_jobs(plan, &bundle, out);
    if (out) {
        cli_json_close(out, ']');
        cli_json_integer(out, "needed", plan->count);
        cli_json_finish(out);
    } else if (missing >= 0)
        printf("%d of %d kernels are there\n", plan->count - missing, plan->count);
    free(bytes);
    if (missing < 0)
        cli_complain("kiln: %s", kiln_error_message());
    return missing == 0 ? CLI_OK : CLI_FAILED;
}

/* ---- list ---- */

static bool print_entry(const kiln_bundle_entry *entry, void *user)
{
    cli_json *json = user;
    if (!json) {
        printf("%-14s %8zu bytes  %s%s%s%s  %s%s\n", entry->target, entry->code_bytes, entry->name,
               *entry->types ? " (" : "", entry->types, *entry->types ? ")" : "", entry->compiler,
               entry->is_usable ? "" : "  (of another library: not used by this one)");
        return true;
    }
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "name", entry->name);
    cli_json_text(json, "types", entry->types);
    cli_json_text(json, "target", entry->target);
    cli_json_text(json, "key", entry->key);
    cli_json_text(json, "generator", entry->generator);
    cli_json_text(json, "compiler", entry->compiler);
    cli_json_boolean(json, "usable", entry->is_usable);
    cli_json_integer(json, "code_bytes", (int64_t)entry->code_bytes);
    cli_json_close(json, '}');
    return true;
}

static int list_one(const char *path, const cli_options *options, cli_json *json)
{
    size_t size;
    void *bytes = cli_file_read(&size, path);
    if (!bytes)
        return CLI_FAILED;
    kiln_status status = kiln_bundle_visit(bytes, size, print_entry, json);
    free(bytes);
    if (status == KILN_OK)
        return CLI_OK;
    cli_options text = *options;
    text.json = false; /* a list is open already */
    return bundle_error(path, &text);
}

int bake_list(const cli_options *options)
{
    cli_json json = {stdout, false}, *out = options->json ? &json : NULL;
    int code = CLI_OK;
    if (out) {
        cli_json_open(out, NULL, '{');
        cli_json_open(out, "kernels", '[');
    }
    for (int i = 0; i < options->positional.count && code == CLI_OK; i++)
        code = list_one(options->positional.items[i], options, out);
    if (out) {
        cli_json_close(out, ']');
        cli_json_finish(out);
    }
    return code;
}

/* ---- merge ---- */

static void free_bytes(kiln_bytes *bytes, int count)
{
    for (int i = 0; i < count; i++)
        free((void *)(uintptr_t)bytes[i].data);
    free(bytes);
}

static int write_merged(const kiln_bytes *parts, int count, const cli_options *options)
{
    void *bytes = NULL;
    size_t size = 0;
    if (kiln_bundle_merge(&bytes, &size, parts, count) != KILN_OK)
        return cli_library_error(options);
    bool is_written = cli_file_write(options->outputs.items[0], bytes, size);
    if (is_written && options->json) {
        cli_json json = {stdout, false};
        cli_json_open(&json, NULL, '{');
        cli_json_text(&json, "bundle", options->outputs.items[0]);
        cli_json_integer(&json, "bytes", (int64_t)size);
        cli_json_finish(&json);
    } else if (is_written && !options->quiet) {
        printf("%s: %zu bytes\n", options->outputs.items[0], size);
    }
    free(bytes);
    return is_written ? CLI_OK : CLI_FAILED;
}

int bake_merge(const cli_options *options)
{
    int count = options->positional.count - 1, code = CLI_OK;
    kiln_bytes *parts = calloc((size_t)count + 1, sizeof *parts);
    for (int i = 0; i < count && code == CLI_OK && parts; i++) {
        void *bytes = NULL; /* what is merged is attached, and run */
        if (kiln_bundle_read_file(&bytes, &parts[i].size, options->positional.items[i + 1]) != KILN_OK)
            code = cli_library_error(options);
        parts[i].data = bytes;
    }
    if (code == CLI_OK)
        code = parts ? write_merged(parts, count, options) : CLI_FAILED;
    free_bytes(parts, parts ? count : 0);
    return code;
}

/* ---- diff ---- */

typedef struct row {
    char *name, *types, *target, *key;
    kiln_bytes code;
} row;

typedef struct rows {
    row *items;
    int count, capacity;
    bool has_failed;
} rows;

static bool take_row(const kiln_bundle_entry *entry, void *user)
{
    rows *all = user;
    if (all->count == all->capacity) {
        int capacity = all->capacity ? 2 * all->capacity : 64;
        row *items = realloc(all->items, (size_t)capacity * sizeof *items);
        all->has_failed = !items;
        if (!items)
            return false;
        all->items = items;
        all->capacity = capacity;
    }
    char *code = malloc(entry->code_bytes + 1);
    row *r = &all->items[all->count++];
    *r = (row){strdup(entry->name),
               strdup(entry->types),
               strdup(entry->target),
               strdup(entry->key),
               {code, entry->code_bytes}};
    all->has_failed = !code || !r->name || !r->types || !r->target || !r->key;
    if (!all->has_failed)
        memcpy(code, entry->code, entry->code_bytes);
    return !all->has_failed;
}

static void free_rows(rows *all)
{
    for (int r = 0; r < all->count; r++) {
        row *one = &all->items[r];
        free(one->name);
        free(one->types);
        free(one->target);
        free(one->key);
        free((void *)(uintptr_t)one->code.data);
    }
    free(all->items);
}

static const row *find_row(const rows *all, const row *wanted)
{
    for (int r = 0; r < all->count; r++)
        if (strcmp(all->items[r].target, wanted->target) == 0 && strcmp(all->items[r].key, wanted->key) == 0)
            return &all->items[r];
    return NULL;
}

static bool print_difference(const char *how, const row *r, cli_json *json)
{
    if (!json)
        printf("%s %s (%s) for %s\n", how, r->name, r->types, r->target);
    else {
        cli_json_open(json, NULL, '{');
        cli_json_text(json, "difference", how);
        cli_json_text(json, "name", r->name);
        cli_json_text(json, "types", r->types);
        cli_json_text(json, "target", r->target);
        cli_json_close(json, '}');
    }
    return true;
}

static int print_differences(const rows *a, const rows *b, cli_json *json)
{
    int count = 0;
    for (int r = 0; r < a->count; r++) {
        const row *one = &a->items[r], *other = find_row(b, one);
        bool is_same = other && other->code.size == one->code.size &&
                       memcmp(other->code.data, one->code.data, one->code.size) == 0;
        if (!is_same)
            count += print_difference(other ? "!" : "-", one, json);
    }
    for (int r = 0; r < b->count; r++)
        if (!find_row(a, &b->items[r]))
            count += print_difference("+", &b->items[r], json);
    return count;
}

static int read_rows(rows *out, const char *path, const cli_options *options)
{
    size_t size;
    void *bytes = cli_file_read(&size, path);
    if (!bytes)
        return CLI_FAILED;
    kiln_status status = kiln_bundle_visit(bytes, size, take_row, out);
    free(bytes);
    if (status == KILN_OK && !out->has_failed)
        return CLI_OK;
    return bundle_error(path, options);
}

int bake_diff(const cli_options *options)
{
    cli_json json = {stdout, false}, *out = options->json ? &json : NULL;
    rows a = {0}, b = {0};
    int count = 0, code = read_rows(&a, options->positional.items[1], options);
    if (code == CLI_OK)
        code = read_rows(&b, options->positional.items[2], options);
    if (code == CLI_OK && out) {
        cli_json_open(out, NULL, '{');
        cli_json_open(out, "differences", '[');
    }
    if (code == CLI_OK)
        count = print_differences(&a, &b, out);
    if (code == CLI_OK && out) {
        cli_json_close(out, ']');
        cli_json_finish(out);
    }
    free_rows(&a);
    free_rows(&b);
    return code == CLI_OK && count > 0 ? CLI_FAILED : code;
}
