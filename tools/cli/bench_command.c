/* bench_command.c - kiln-bench, the program that `kiln bench` is: chooses rows, runs them, prints them as a
 * table or as one JSON object a line. */
#include "bench.h"
#include "bench_command.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- choosing rows ---- */

static bool is_chosen_by(const bench_row *row, const char *word, size_t length, bool by_name)
{
    if (by_name)
        return strlen(row->name) == length && strncmp(row->name, word, length) == 0;
    for (const char *at = row->name; *at; at++)
        if (strncmp(at, word, length) == 0)
            return true;
    return false;
}

/* The rows of one word: the row of that name, else the rows of the table whose name contains it, else those
 * of the sweeps. */
static int choose_word(const bench_rows *rows, bool *chosen, const char *word, size_t length)
{
    int found = 0;
    for (int pass = 0; pass < 3 && !found; pass++)
        for (int i = 0; i < rows->count; i++) {
            const bench_row *row = &rows->row[i];
            if ((pass == 0 || row->is_extra == (pass == 2)) && is_chosen_by(row, word, length, pass == 0)) {
                chosen[i] = true;
                found++;
            }
        }
    return found;
}

static void print_rows(FILE *file, const bench_rows *rows, bool with_extra)
{
    for (int i = 0; i < rows->count; i++)
        if (with_extra || !rows->row[i].is_extra)
            fprintf(file, "  %-12s %s\n", rows->row[i].name, rows->row[i].title);
}

static int unknown_row(const bench_rows *rows, const char *word, size_t length)
{
    cli_complain("kiln bench: there is no row '%.*s'; the rows are:", (int)length, word);
    print_rows(stderr, rows, false);
    fputs("and of the sweeps E1@2^10 (E2, B1, chain, graph alike), P1:01234 (P2, P4, P8, P16, Podd1, Podd2, "
          "Podd4 alike), narrow4:3:acb-bca (narrow1, narrow2, narrow8, narrowodd1 to narrowodd8 alike), "
          "reduce:64x16384x64, rows:softmax:1024 (layernorm alike), "
          "program:softmax:f4:65536x1024 "
          "(rmsnorm, layernorm, bf2 alike), paper:1e4.\n",
          stderr);
    return CLI_FAILED;
}

/* The rows "NAME@..." or "NAME:...". */
static int choose_sweep(const bench_rows *rows, bool *chosen, const char *name)
{
    size_t length = strlen(name);
    int found = 0;
    for (int i = 0; i < rows->count; i++) {
        const char *row = rows->row[i].name;
        if (length > 0 && strncmp(row, name, length) == 0 && (row[length] == '@' || row[length] == ':')) {
            chosen[i] = true;
            found++;
        }
    }
    if (!found)
        cli_complain("kiln bench: there is no sweep '%s'; kiln bench --help lists them", name);
    return found ? CLI_OK : CLI_FAILED;
}

/* --row: words between commas; neither that nor --sweep: the whole table, without the sweeps. */
static int choose(const bench_rows *rows, bool *chosen, const cli_options *o)
{
    const char *text = o->row;
    for (int i = 0; i < rows->count && !text && !o->sweep; i++)
        chosen[i] = !rows->row[i].is_extra;
    if (o->sweep && choose_sweep(rows, chosen, o->sweep) != CLI_OK)
        return CLI_FAILED;
    while (text) {
        size_t length = strcspn(text, ",");
        if (length == 0 || choose_word(rows, chosen, text, length) == 0)
            return unknown_row(rows, text, length);
        text = text[length] ? text + length + 1 : NULL;
    }
    return CLI_OK;
}

/* ---- printing ---- */

static void date_now(char *out, size_t size)
{
    time_t now = time(NULL);
    struct tm parts;
    out[0] = 0;
    if (gmtime_r(&now, &parts))
        strftime(out, size, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

/* The kernel driver's version, "580.159.03": the first word that begins with a digit. */
static void driver_version(char *out, size_t size)
{
    char line[512] = "";
    FILE *file = fopen("/proc/driver/nvidia/version", "r");
    out[0] = 0;
    if (file && !fgets(line, sizeof line, file))
        line[0] = 0;
    if (file)
        fclose(file);
    for (char *word = strtok(line, " \t\n"); word && !*out; word = strtok(NULL, " \t\n"))
        if (word[0] >= '0' && word[0] <= '9' && strchr(word, '.'))
            snprintf(out, size, "%s", word);
}

static void print_header_json(const bench *b, const char *date, const char *cuda, const char *driver)
{
    char target[32];
    cli_json json = {stdout, false};
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "device", b->properties.name);
    cli_json_text(&json, "target", kiln_device_name(b->device, target, sizeof target));
    cli_json_text(&json, "architecture", b->properties.architecture);
    cli_json_integer(&json, "multiprocessors", b->properties.multiprocessors);
    cli_json_text(&json, "driver", driver);
    cli_json_text(&json, "cuda", cuda);
    cli_json_text(&json, "date", date);
    cli_json_text(&json, "kiln", kiln_version());
    cli_json_number(&json, "size_scale", b->scale);
    cli_json_close(&json, '}');
    putchar('\n');
}

/* Names of sweeps are long. */
static int name_width(const bench *b)
{
    return b->options->sweep ? 31 : 12;
}

static void print_header(const bench *b)
{
    char date[40], driver[64] = "", cuda[16] = "";
    date_now(date, sizeof date);
    if (b->is_cuda) {
        driver_version(driver, sizeof driver);
        snprintf(cuda, sizeof cuda, "%d.%d", b->properties.driver_version / 1000,
                 b->properties.driver_version % 1000 / 10);
    }
    if (b->options->json) {
        print_header_json(b, date, cuda, driver);
        return;
    }
    printf("%s", b->properties.name);
    if (b->is_cuda)
        printf(", driver %s, CUDA %s", driver, cuda);
    printf(", kiln %s, %s, sizes times %g\n\n", kiln_version(), date, b->scale);
    printf("%-*s %10s %9s %9s %8s %7s\n", name_width(b), "row", "us", "GB/s", "floor us", "of floor",
           "spread");
}

static void number_if_any(cli_json *json, const char *key, double value)
{
    if (!isnan(value))
        cli_json_number(json, key, value);
}

static void print_row_json(const bench_row *row, const bench_result *r)
{
    cli_json json = {stdout, false};
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "row", row->name);
    cli_json_text(&json, "peer", "kiln");
    cli_json_number(&json, "us", r->time.us);
    cli_json_number(&json, "gbs", r->bytes / r->time.us / 1e3);
    cli_json_number(&json, "floor_gbs", r->bytes / r->floor.us / 1e3);
    number_if_any(&json, "floor_us", r->floor.us);
    cli_json_number(&json, "min_us", r->time.min_us);
    cli_json_number(&json, "p10_us", r->time.p10_us);
    cli_json_number(&json, "p90_us", r->time.p90_us);
    cli_json_integer(&json, "samples", r->time.samples);
    number_if_any(&json, "floor_p10_us", r->floor.p10_us);
    number_if_any(&json, "floor_p90_us", r->floor.p90_us);
    number_if_any(&json, "copy_us", r->copy_us);
    number_if_any(&json, "bytes", r->bytes);
    number_if_any(&json, "compile_ms", r->compile_ms);
    number_if_any(&json, "best_ms", r->best_ms);
    number_if_any(&json, "first_ms", r->first_ms);
    number_if_any(&json, "result_us", r->result_us);
    cli_json_text(&json, "mode", r->mode);
    cli_json_integer(&json, "checked", r->checked);
    cli_json_text(&json, "title", row->title);
    cli_json_close(&json, '}');
    putchar('\n');
}

static void print_number(int width, int precision, double value)
{
    if (isnan(value))
        printf(" %*s", width, "");
    else
        printf(" %*.*f", width, precision, value);
}

static void print_row_text(const bench *b, const bench_row *row, const bench_result *r)
{
    printf("%-*s", name_width(b), row->name);
    print_number(10, r->time.us < 100 ? 2 : 1, r->time.us);
    print_number(9, 1, r->bytes / r->time.us / 1e3);
    print_number(9, r->floor.us < 100 ? 2 : 1, r->floor.us);
    print_number(7, 1, 100 * r->floor.us / r->time.us);
    printf("%c", isnan(r->floor.us) ? ' ' : '%');
    print_number(6, 1, 100 * (r->time.p90_us - r->time.p10_us) / r->time.us);
    printf("%%  %s (%s", row->title, r->mode);
    if (!isnan(r->best_ms))
        printf(", best form after %.0f ms", r->best_ms);
    printf(")\n");
}

static void print_failure(const bench *b, const bench_row *row)
{
    cli_complain("kiln bench: %s: %s", row->name, b->error);
    if (!b->options->json)
        return;
    cli_json json = {stdout, false};
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "row", row->name);
    cli_json_text(&json, "peer", "kiln");
    cli_json_text(&json, "error", b->error);
    cli_json_close(&json, '}');
    putchar('\n');
}

/* ---- running ---- */

static bool run_row(bench *b, const bench_row *row, bench_result *out)
{
    static bool (*const runs[])(bench *, const bench_row *, bench_result *) = {
        [BENCH_ELEMENTS] = bench_elements_run, [BENCH_CHAIN] = bench_chain_run,
        [BENCH_CHAIN_GRAPH] = bench_chain_run, [BENCH_GIVEN] = bench_call_run,
        [BENCH_ALLOCATED] = bench_call_run,    [BENCH_WAITED] = bench_call_run,
        [BENCH_BY_NAME] = bench_by_name_run,   [BENCH_RESULT] = bench_call_run,
        [BENCH_PLANNED] = bench_plan_run,      [BENCH_DEFINITION] = bench_first_use_run,
        [BENCH_PROCESS] = bench_first_use_run,
    };
    const bench_time none = {NAN, NAN, NAN, NAN, 0};
    *out = (bench_result){none, none, NAN, NAN, NAN, NAN, NAN, NAN, "", 0};
    return runs[row->kind](b, row, out);
}

static int run_chosen(bench *b, const bench_rows *rows, const bool *chosen)
{
    int code = CLI_OK, count = 0, at = 0;
    for (int i = 0; i < rows->count; i++)
        count += chosen[i];
    print_header(b);
    for (int i = 0; i < rows->count; i++) {
        const bench_row *row = &rows->row[i];
        bench_result result;
        if (!chosen[i])
            continue;
        cli_progress(b->options, at++, count, "%s", row->name);
        bool ok = run_row(b, row, &result);
        cli_progress_end();
        if (!ok)
            print_failure(b, row);
        else if (b->options->json)
            print_row_json(row, &result);
        else
            print_row_text(b, row, &result);
        fflush(stdout);
        code = ok ? code : CLI_FAILED;
    }
    return code;
}

/* A positive number behind an option that may be absent. */
static int read_number(double *out, const char *option, const char *text, double otherwise)
{
    char *end = NULL;
    *out = text ? strtod(text, &end) : otherwise;
    if (text && (!*text || *end || !(*out > 0) || !(*out <= 1e6)))
        return cli_usage_error("bench", "--%s takes a positive number, not '%s'", option, text);
    return CLI_OK;
}

/* The device, its stream and events. On the host sizes are a sixteenth. */
static bool open_device(bench *b)
{
    const cli_options *o = b->options;
    b->properties.struct_size = sizeof b->properties;
    bool ok = bench_check(b, o->target ? kiln_device_parse(&b->device, o->target)
                                       : kiln_device_current(&b->device)) &&
              bench_check(b, kiln_device_set_current(b->device)) &&
              bench_check(b, kiln_device_get_properties(b->device, &b->properties)) &&
              bench_check(b, kiln_stream_create(&b->stream, b->device, KILN_STREAM_NON_BLOCKING)) &&
              bench_check(b, kiln_event_create(&b->begin, b->device, KILN_EVENT_TIMING)) &&
              bench_check(b, kiln_event_create(&b->end, b->device, KILN_EVENT_TIMING));
    if (!ok)
        return false;
    kiln_stream_set_current(b->stream);
    b->is_cuda = KILN_DEVICE_IS_CUDA(b->device);
    b->scale *= b->is_cuda ? 1 : 1.0 / 16;
    return !b->is_cuda || bench_driver_open(b);
}

static void close_device(bench *b)
{
    if (b->stream)
        KILN_IGNORE(kiln_stream_synchronize(b->stream)); /* an error has surfaced in a row */
    kiln_stream_set_current(NULL);
    kiln_kernel_free(b->random);
    kiln_kernel_free(b->random_bytes);
    kiln_kernel_free(b->random_below);
    kiln_event_free(b->begin);
    kiln_event_free(b->end);
    kiln_stream_free(b->stream);
    bench_driver_close(b->driver);
}

static int run_rows(bench *b)
{
    const cli_options *o = b->options;
    bench_rows rows;
    bool *chosen = NULL;
    int code = CLI_FAILED;
    /* the best form is what is measured; rows of first use are processes of their own */
    if (kiln_set_forms(KILN_FORMS_BEST) != KILN_OK || !bench_rows_make(&rows, b->is_cuda, b->scale) ||
        !(chosen = calloc((size_t)rows.count, sizeof *chosen)))
        cli_complain("kiln bench: out of memory");
    else if (o->list) {
        print_rows(stdout, &rows, true);
        code = CLI_OK;
    } else if ((code = choose(&rows, chosen, o)) == CLI_OK)
        code = run_chosen(b, &rows, chosen);
    free(chosen);
    bench_rows_free(&rows);
    return code;
}

/* The names of the rows, for shells that complete words. */
static int print_words(void)
{
    bench_rows rows = {0};
    bool is_made = bench_rows_make(&rows, true, 1);
    for (int i = 0; is_made && i < rows.count; i++)
        if (!rows.row[i].is_extra && !strchr(rows.row[i].name, ' '))
            printf("%s ", rows.row[i].name);
    bench_rows_free(&rows);
    return is_made ? CLI_OK : CLI_FAILED;
}

static int run_bench(const cli_options *options)
{
    const char *child = options->positional.count ? options->positional.items[0] : NULL;
    bench b = {.options = options};
    if (child && strcmp(child, "words") == 0)
        return print_words();
    int code = read_number(&b.scale, "size-scale", options->size_scale, 1);
    if (code == CLI_OK)
        code = read_number(&b.seconds, "seconds", options->seconds, options->sweep ? 0.02 : 0.25);
    /* The names that bench_first_use.c gives its own processes. */
    if (code == CLI_OK && child && strncmp(child, BENCH_CHILD, strlen(BENCH_CHILD)) != 0)
        code = cli_usage_error("bench", "does not take '%s'", child);
    if (code == CLI_OK)
        code = cli_form_check("bench", options->list ? "--list" : "rows", options);
    if (code != CLI_OK)
        return code;
    if (!open_device(&b)) {
        cli_complain("kiln bench: %s", b.error);
        code = CLI_FAILED;
    } else
        code = child ? bench_child_run(&b, child) : run_rows(&b);
    close_device(&b);
    return code;
}

const cli_command cli_commands[] = {BENCH_COMMAND(run_bench)};
const int cli_command_count = 1;

int main(int argc, char **argv)
{
    cli_begin(argc, argv);
    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        printf("kiln-bench %s\n", kiln_version());
        return cli_finish(CLI_OK);
    }
    return cli_finish(cli_run(&cli_commands[0], argc - 1, argv + 1));
}
