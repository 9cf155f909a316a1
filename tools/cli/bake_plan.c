/* bake_plan.c - what is to be baked: targets, records and lines written by hand. */
#include "bake_parts.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void bake_plan_free(bake_plan *plan)
{
    for (int j = 0; j < plan->count; j++) {
        free(plan->jobs[j].name);
        free(plan->jobs[j].types);
        free(plan->jobs[j].key);
        free(plan->jobs[j].line);
        free((void *)(uintptr_t)plan->jobs[j].made.data);
        free(plan->jobs[j].failure);
    }
    for (int w = 0; w < plan->n_words; w++)
        free(plan->words[w]);
    free(plan->words);
    free(plan->jobs);
    free(plan->targets);
}

/* ---- targets ---- */

static bool add_target(bake_plan *plan, const char *target)
{
    for (int t = 0; t < plan->n_targets; t++)
        if (strcmp(plan->targets[t], target) == 0)
            return true;
    const char **targets = realloc(plan->targets, (size_t)(plan->n_targets + 1) * sizeof *targets);
    if (!targets)
        return false;
    plan->targets = targets;
    plan->targets[plan->n_targets++] = target;
    return true;
}

/* A copy that lives as long as the plan. */
static char *keep(bake_plan *plan, const char *text, size_t length)
{
    char **words = realloc(plan->words, (size_t)(plan->n_words + 1) * sizeof *words);
    if (!words)
        return NULL;
    plan->words = words;
    char *word = strndup(text, length);
    if (word)
        plan->words[plan->n_words++] = word;
    return word;
}

/* The number of a target: of "sm_100f" 100; 0 if it is no CUDA target. */
static int number_of(const char *target)
{
    const char *at = strncmp(target, "sm_", 3) == 0 ? target + 3 : NULL;
    return at ? atoi(at) : 0;
}

static int refuse_target(const char *word, const char *option)
{
    return cli_usage_error("bake", "--%s: '%s' is no target: %s", option, word, kiln_error_message());
}

/* PTX of the newest target, which all that come after it can run. */
static const char *newest_ptx(bake_plan *plan)
{
    char text[32];
    int newest = 0;
    for (int t = 0; t < plan->n_targets; t++)
        if (number_of(plan->targets[t]) > newest)
            newest = number_of(plan->targets[t]);
    snprintf(text, sizeof text, "compute_%d", newest);
    return newest ? keep(plan, text, strlen(text)) : NULL;
}

/* The words of one list; *wants_ptx where one is "ptx". */
static int read_words(bake_plan *plan, const cli_list *list, const char *option, bool *wants_ptx)
{
    for (int i = 0; i < list->count; i++)
        for (const char *at = list->items[i], *next; *at; at = next) {
            size_t length = strcspn(at, ",");
            next = at + length + (at[length] == ',');
            char *word = keep(plan, at, length);
            if (!word)
                return cli_usage_error("bake", "has no memory");
            bool is_ptx = strcmp(word, "ptx") == 0 && strcmp(option, "arch") == 0;
            *wants_ptx = *wants_ptx || is_ptx;
            if (is_ptx)
                continue;
            bool is_cuda = strncmp(word, "sm_", 3) == 0 || strncmp(word, "compute_", 8) == 0;
            if (is_cuda != (strcmp(option, "arch") == 0))
                return cli_usage_error("bake", "--%s: '%s' is no target of that kind", option, word);
            if (kiln_bake_check_target(word) != KILN_OK)
                return refuse_target(word, option);
            if (!add_target(plan, word))
                return cli_usage_error("bake", "has no memory");
        }
    return CLI_OK;
}

int bake_read_targets(bake_plan *plan, const cli_options *options)
{
    bool wants_ptx = false;
    int code = read_words(plan, &options->archs, "arch", &wants_ptx);
    if (code == CLI_OK && wants_ptx) {
        const char *ptx = newest_ptx(plan);
        if (!ptx)
            return cli_usage_error("bake",
                                   "--arch ptx is PTX of the newest of the other targets, and there is none: "
                                   "name one, or say compute_90");
        if (!add_target(plan, ptx))
            return cli_usage_error("bake", "has no memory");
    }
    if (code == CLI_OK)
        code = read_words(plan, &options->hosts, "host", &wants_ptx);
    if (code == CLI_OK && plan->n_targets == 0)
        return cli_usage_error("bake", "needs --arch or --host: targets to compile for");
    return code;
}

/* ---- jobs ---- */

static uint64_t stir(uint64_t hash, const char *text)
{
    for (const char *c = text; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    return hash;
}

/* FNV-1a: most jobs are told apart by it. */
static uint64_t hash_of(const char *key, const char *target)
{
    return stir(stir(UINT64_C(0xcbf29ce484222325), key), target);
}

static bool has_job(const bake_plan *plan, const char *key, const char *target, uint64_t hash)
{
    for (int j = 0; j < plan->count; j++)
        if (plan->jobs[j].hash == hash && strcmp(plan->jobs[j].target, target) == 0 &&
            strcmp(plan->jobs[j].key, key) == 0)
            return true;
    return false;
}

static bool add_job(bake_plan *plan, const kiln_record_line *line, const char *target)
{
    uint64_t hash = hash_of(line->key, target);
    if (has_job(plan, line->key, target, hash))
        return true;
    if (plan->count == plan->capacity) {
        int capacity = plan->capacity ? 2 * plan->capacity : 64;
        bake_job *jobs = realloc(plan->jobs, (size_t)capacity * sizeof *jobs);
        if (!jobs)
            return false;
        plan->jobs = jobs;
        plan->capacity = capacity;
    }
    bake_job *job = &plan->jobs[plan->count++];
    *job = (bake_job){.name = strdup(line->name),
                      .types = strdup(line->types),
                      .key = strdup(line->key),
                      .line = strdup(line->text),
                      .target = target,
                      .hash = hash};
    return job->name && job->types && job->key && job->line;
}

/* ---- lines ---- */

/* Where a line comes from, for messages, and where its jobs go. */
typedef struct reading {
    bake_plan *plan;
    const char *path;
    int code;
} reading;

static bool take_line(const kiln_record_line *line, void *user);

/* Cuts a line into words as a shell does, in place; -1 where a quote does not end. */
static int split_words(char **words, int most, char *line)
{
    int count = 0;
    for (char *at = line; *at;) {
        while (isspace((unsigned char)*at))
            at++;
        if (!*at || count == most)
            break;
        char *to = words[count++] = at, quote = 0;
        for (; *at && (quote || !isspace((unsigned char)*at)); at++) {
            if (quote ? *at == quote : *at == '\'' || *at == '"')
                quote = quote ? 0 : *at;
            else if (*at == '\\' && quote != '\'' && at[1])
                *to++ = *++at;
            else
                *to++ = *at;
        }
        if (quote)
            return -1;
        at += *at != 0;
        *to = 0;
    }
    return count;
}

static const cli_command *explain_command(void)
{
    for (int i = 0; i < cli_command_count; i++)
        if (strcmp(cli_commands[i].name, "explain") == 0)
            return &cli_commands[i];
    return NULL;
}

static int refuse_line(const reading *r, const char *line, const char *why)
{
    cli_complain("kiln: %s: '%.60s' is neither a record's line nor one written by hand: %s", r->path, line,
                 why);
    return CLI_FAILED;
}

/* The records of a call that is described by words. */
static int read_words_of_call(reading *r, int count, char **words)
{
    cli_options options;
    char *lines = NULL;
    int code = cli_options_read(&options, explain_command(), count, words);
    if (code == CLI_OK && options.positional.count < 1)
        code = CLI_FAILED;
    if (code == CLI_OK)
        code = cli_record_lines(&lines, &options);
    if (code != CLI_OK)
        cli_complain("kiln: in %s", r->path);
    else if (kiln_record_read(lines, NULL, take_line, r) != KILN_OK) {
        cli_complain("kiln: in %s: %s", r->path, kiln_error_message());
        code = CLI_FAILED;
    }
    cli_options_free(&options);
    free(lines);
    return code == CLI_OK ? r->code : CLI_FAILED;
}

static int read_hand_written(reading *r, const char *text)
{
    enum { MOST_WORDS = 256 };
    char *words[MOST_WORDS], *line = strdup(text);
    int code, count = line ? split_words(words, MOST_WORDS, line) : 0;
    if (count < 1)
        code = refuse_line(r, text, count < 0 ? "a quote does not end" : "it has no words");
    else if (!cli_is_form(words[0]))
        code = refuse_line(r, text, "that begins with map, reduce, scan, select, sort or eval");
    else
        code = read_words_of_call(r, count, words);
    free(line);
    return code;
}

static bool take_line(const kiln_record_line *line, void *user)
{
    reading *r = user;
    bake_plan *plan = r->plan;
    if (!line->name) {
        r->code = read_hand_written(r, line->text);
        return r->code == CLI_OK;
    }
    for (int t = 0; t < plan->n_targets && r->code == CLI_OK; t++)
        if (kiln_record_needs(line->targets, plan->targets[t]) && !add_job(plan, line, plan->targets[t])) {
            cli_complain("kiln: out of memory");
            r->code = CLI_FAILED;
        }
    return r->code == CLI_OK;
}

static int read_record(bake_plan *plan, const char *path, const cli_options *options)
{
    size_t size;
    uint64_t damaged = 0;
    reading r = {plan, path, CLI_OK};
    char *text = cli_file_read(&size, path);
    if (!text)
        return CLI_FAILED;
    if (strlen(text) != size) {
        cli_complain("kiln: %s is no text, and so no record", path);
        r.code = CLI_FAILED;
    } else if (kiln_record_read(text, &damaged, take_line, &r) != KILN_OK)
        r.code = cli_library_error(options);
    if (damaged)
        cli_complain("kiln: %s: %llu line%s of a process that died while it wrote %s passed over", path,
                     (unsigned long long)damaged, damaged == 1 ? "" : "s", damaged == 1 ? "is" : "are");
    plan->damaged += damaged;
    free(text);
    return r.code;
}

int bake_read_records(bake_plan *plan, const cli_options *options)
{
    int code = CLI_OK;
    for (int i = 0; i < options->positional.count && code == CLI_OK; i++)
        code = read_record(plan, options->positional.items[i], options);
    if (code == CLI_OK && plan->count == 0) {
        cli_complain("kiln: nothing in the records is needed on these targets");
        code = CLI_FAILED;
    }
    return code;
}
