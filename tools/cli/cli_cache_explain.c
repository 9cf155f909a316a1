/* cli_cache_explain.c - `kiln cache explain`: why a call finds its kernel in the cache or not. */
#include "cli.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_FIELDS = 512 };

typedef struct fields {
    cli_field item[MOST_FIELDS];
    int count;
} fields;

bool cli_field_next(cli_field *out, const char **at)
{
    const char *key = *at + strspn(*at, " "), *equals = strchr(key, '=');
    if (!equals || equals[1] != '"')
        return false;
    const char *value = equals + 2, *end = value;
    while (*end && *end != '"')
        end += *end == '\\' && end[1] ? 2 : 1;
    *out = (cli_field){key, value, (int)(equals - key), (int)(end - value), 0};
    *at = *end ? end + 1 : end;
    return *end != 0;
}

static bool has_key(const cli_field *a, const cli_field *b)
{
    return a->key_length == b->key_length && memcmp(a->key, b->key, (size_t)a->key_length) == 0;
}

static void read_fields(fields *out, const char *line)
{
    cli_field field;
    const char *at = strchr(line, ' ');
    for (out->count = 0; at && out->count < MOST_FIELDS && cli_field_next(&field, &at);) {
        for (int f = 0; f < out->count; f++)
            field.nth += has_key(&out->item[f], &field);
        out->item[out->count++] = field;
    }
}

static const cli_field *find_field(const fields *all, const cli_field *wanted)
{
    for (int f = 0; f < all->count; f++)
        if (all->item[f].nth == wanted->nth && has_key(&all->item[f], wanted))
            return &all->item[f];
    return NULL;
}

static bool is_same(const cli_field *a, const cli_field *b)
{
    return a && b && a->value_length == b->value_length &&
           memcmp(a->value, b->value, (size_t)a->value_length) == 0;
}

/* Calls show for each field in which the two differ; NULL for what one has not. Their number. */
static int each_difference(const fields *wanted, const fields *there,
                           void (*show)(const cli_field *wanted, const cli_field *there, void *user),
                           void *user)
{
    int count = 0;
    for (int f = 0; f < wanted->count; f++) {
        const cli_field *other = find_field(there, &wanted->item[f]);
        if (is_same(&wanted->item[f], other))
            continue;
        count++;
        if (show)
            show(&wanted->item[f], other, user);
    }
    for (int f = 0; f < there->count; f++)
        if (!find_field(wanted, &there->item[f])) {
            count++;
            if (show)
                show(NULL, &there->item[f], user);
        }
    return count;
}

/* ---- the cache's entries beside what is wanted ---- */

typedef struct search {
    const char *line;
    fields *wanted, *other;
    char *nearest, *compiler; /* of the entry that differs least */
    int differences;          /* -1: no entry has the name */
    bool is_there;
} search;

static bool has_name(const fields *a, const fields *b)
{
    static const cli_field name = {"name", NULL, 4, 0, 0};
    return is_same(find_field(a, &name), find_field(b, &name));
}

static bool look_at(const kiln_cache_entry *entry, void *user)
{
    search *s = user;
    bool is_exact = strcmp(entry->what, s->line) == 0;
    read_fields(s->other, entry->what);
    int differences = is_exact ? 0 : each_difference(s->wanted, s->other, NULL, NULL);
    if (!is_exact &&
        (!has_name(s->wanted, s->other) || (s->differences >= 0 && differences >= s->differences)))
        return true;
    free(s->nearest);
    free(s->compiler);
    s->nearest = strdup(entry->what);
    s->compiler = strdup(entry->compiler);
    s->differences = differences;
    s->is_there = is_exact;
    return !is_exact && s->nearest && s->compiler;
}

/* Whose compiler would be asked; "" where it is not here. */
static void find_identity(char *out, size_t size, const char *line)
{
    kiln_toolchain_info info = KILN_TOOLCHAIN_INFO_INIT;
    const char *backend = strstr(line, " target=\"cuda:") ? "cuda" : "host";
    snprintf(out, size, "%s", kiln_toolchain_get_info(backend, &info) == KILN_OK ? info.identity : "");
}

/* ---- saying it ---- */

static void put_value(char *out, size_t size, const cli_field *field)
{
    snprintf(out, size, "%.*s", field ? field->value_length : 0, field ? field->value : "");
}

static void show_field(const char *key, const char *wanted, const char *there, cli_json *json)
{
    if (!json) {
        printf("  %s: wanted %s, there %s\n", key, *wanted ? wanted : "nothing", *there ? there : "nothing");
        return;
    }
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "field", key);
    cli_json_text(json, "wanted", wanted);
    cli_json_text(json, "there", there);
    cli_json_close(json, '}');
}

static void show_difference(const cli_field *wanted, const cli_field *there, void *user)
{
    char key[64], left[1024], right[1024];
    const cli_field *any = wanted ? wanted : there;
    snprintf(key, sizeof key, "%.*s", any->key_length, any->key);
    put_value(left, sizeof left, wanted);
    put_value(right, sizeof right, there);
    show_field(key, left, right, user);
}

/* "found", "missing", "other compiler", or "quick form": calls begin with that, and the best one is made
 * beside them. */
static const char *state_of(const search *s, const char *identity, bool has_quick)
{
    if (!s->is_there)
        return has_quick ? "quick form" : "missing";
    return *identity && strcmp(s->compiler, identity) != 0 ? "other compiler" : "found";
}

static void show_text(const search *s, const char *state, const char *identity)
{
    printf("%s: %s\n", state, s->line);
    if (strcmp(state, "missing") == 0)
        puts(s->differences < 0 ? "  no entry has this kernel's name"
                                : "  the nearest entry of this name differs in");
    if (strcmp(state, "quick form") == 0)
        puts("  the best form is not there; the quick one is, and calls begin with it:");
    if (s->differences > 0)
        each_difference(s->wanted, s->other, show_difference, NULL);
    if (strcmp(state, "other compiler") == 0)
        show_field("compiler", identity, s->compiler, NULL);
}

static void show_json(const search *s, const char *state, const char *identity, cli_json *json)
{
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "state", state);
    cli_json_text(json, "specialisation", s->line);
    cli_json_open(json, "differences", '[');
    if (s->differences > 0)
        each_difference(s->wanted, s->other, show_difference, json);
    if (strcmp(state, "other compiler") == 0)
        show_field("compiler", identity, s->compiler, json);
    cli_json_close(json, ']');
    cli_json_close(json, '}');
}

typedef struct presence {
    const char *line, *identity;
    bool is_there;
} presence;

static bool look_for(const kiln_cache_entry *entry, void *user)
{
    presence *p = user;
    p->is_there =
        strcmp(entry->what, p->line) == 0 && (!*p->identity || strcmp(entry->compiler, p->identity) == 0);
    return !p->is_there;
}

/* quick: the line of the quick form; NULL: calls do not begin with one. */
static int explain_line(const char *line, const char *quick, const cli_options *options, cli_json *json)
{
    search s = {
        .line = line, .differences = -1, .wanted = malloc(sizeof(fields)), .other = malloc(sizeof(fields))};
    char identity[256];
    int code = CLI_FAILED;
    if (s.wanted && s.other) {
        read_fields(s.wanted, line);
        code = kiln_cache_list(look_at, &s) == KILN_OK ? CLI_OK : cli_library_error(options);
    }
    if (code == CLI_OK) {
        find_identity(identity, sizeof identity, line);
        presence at_once = {quick, identity, false};
        if (quick && !s.is_there && kiln_cache_list(look_for, &at_once) != KILN_OK)
            at_once.is_there = false;
        const char *state = state_of(&s, identity, at_once.is_there);
        read_fields(s.other, s.nearest ? s.nearest : "");
        if (json)
            show_json(&s, state, identity, json);
        else
            show_text(&s, state, identity);
        code = strcmp(state, "found") == 0 || strcmp(state, "quick form") == 0 ? CLI_OK : CLI_FAILED;
    }
    free(s.wanted);
    free(s.other);
    free(s.nearest);
    free(s.compiler);
    return code;
}

/* The next line of specialisations; NULL: there is none. */
static char *next_line(char **rest)
{
    char *line = strsep(rest, "\n");
    while (line && (line[0] == '#' || !line[0]))
        line = strsep(rest, "\n");
    return line;
}

/* The lines of the forms with which calls begin. *out stays NULL where KILN_FORMS has them wait for the best
 * one. */
static int find_quick(char **out, const cli_options *options)
{
    const char *forms = secure_getenv("KILN_FORMS");
    if (forms && strcmp(forms, "best") == 0)
        return CLI_OK;
    if (kiln_set_forms(KILN_FORMS_QUICK) != KILN_OK)
        return cli_library_error(options);
    return cli_explain_lines(out, options);
}

int cli_cache_explain_run(const cli_options *options)
{
    cli_json json = {stdout, false};
    char *lines = NULL, *quick_lines = NULL;
    int code = cli_explain_lines(&lines, options), all = CLI_OK;
    if (code == CLI_OK)
        code = find_quick(&quick_lines, options);
    if (code == CLI_OK && options->json) {
        cli_json_open(&json, NULL, '{');
        cli_json_open(&json, "specialisations", '[');
    }
    char *rest = lines, *quick_rest = quick_lines;
    for (char *line; code == CLI_OK && (line = next_line(&rest)) != NULL;) {
        const char *quick = quick_rest ? next_line(&quick_rest) : NULL;
        if (explain_line(line, quick, options, options->json ? &json : NULL) != CLI_OK)
            all = CLI_FAILED;
    }
    if (code == CLI_OK && options->json) {
        cli_json_close(&json, ']');
        cli_json_finish(&json);
    }
    free(lines);
    free(quick_lines);
    return code == CLI_OK ? all : code;
}
