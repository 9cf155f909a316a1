/* kind_examples - the examples of kinds, src/schedules/FAMILY/examples/NAME.txt (golden/description.h).
 * Each is taken by the kind that it names, and each kind of the tables has one at least: one without
 * fails. Then they are run, as they are and with other extents and alignments that the kind takes too, and
 * compared with plain loops over their own texts; or they are compiled.
 *
 * usage: kind_examples host FOLDER... [--verbose]      the host's run
 *        kind_examples emulated FOLDER... [--verbose]  some of CUDA's, on the processor; with KILN_SOAK=1
 *                                                      all, and the host's
 *        kind_examples compile FOLDER...               some of CUDA's by NVRTC: 77 where there is none */
#include "reference.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drawn.h"
#include "schedule/row_strips.h"
#include "emulated.h"
#include "schedule/kind.h"

enum { MOST_EXAMPLES = 400, VARIANTS = 6 };

typedef struct example {
    char path[400];
    bool is_host;
    int runs; /* as it is, and varied */
} example;

static example examples[MOST_EXAMPLES];
static description described[MOST_EXAMPLES];
static int n_examples, failed;
static bool is_verbose;

static void fail(const example *e)
{
    printf("FAILED %s: %s\n", e->path, trouble_text());
    ++failed;
    trouble_clear();
}

/* ---- finding them ---- */

static int is_example(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 4 && !strcmp(entry->d_name + length - 4, ".txt");
}

static void read_folder(const char *folder)
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_example, alphasort);
    if (n_examples + count > MOST_EXAMPLES) {
        printf("more examples than %d: MOST_EXAMPLES of this file\n", MOST_EXAMPLES);
        exit(1);
    }
    for (int k = 0; k < count; ++k) {
        example *e = &examples[n_examples];
        description *d = &described[n_examples++];
        snprintf(e->path, sizeof e->path, "%s/%s", folder, entries[k]->d_name);
        free(entries[k]);
        description_read(d, e->path);
        trouble_unless(in_trouble() || (d->target && d->schedule), "an example has a target and a schedule");
        e->is_host = d->target && !strcmp(d->target, "host");
        if (in_trouble())
            fail(e);
    }
    free(entries);
}

/* ---- variants ---- */

/* Other extents: equal ones stay equal, those of one stay. Where operands share an array, whose rows other
 * operands' places count, those alone that equal the first of all. */
typedef struct variation {
    int64_t from[32], to[32];
    int count;
    char text[STAGE_OPERANDS][120];
} variation;

static int64_t vary_extent(variation *v, int64_t extent, dice *d)
{
    int k = 0;
    while (k < v->count && v->from[k] != extent)
        ++k;
    if (k < v->count || extent <= 1)
        return k < v->count ? v->to[k] : extent;
    int64_t to = dice_one_in(d, 3)   ? extent
                 : dice_one_in(d, 3) ? dice_between(d, (extent + 1) / 2, extent)
                                     : extent + dice_between(d, -3, 3);
    v->from[k] = extent;
    v->to[k] = to < 2 ? 2 : to;
    ++v->count;
    return v->to[k];
}

static void vary_operand(variation *v, int k, const description *from, bool has_shared, dice *d)
{
    const int64_t first = strtoll(strchr(from->operand[0], ' ') + 1, NULL, 10);
    char name[16] = "", shape[64] = "";
    int used = 0, axis = 0;
    sscanf(from->operand[k], "%15s %63s%n", name, shape, &used);
    char *to = v->text[k];
    size_t left = sizeof v->text[k], at = (size_t)snprintf(to, left, "%s ", name);
    for (char *word = shape; *word; ++axis) {
        char *end = word;
        int64_t extent = strtoll(word, &end, 10);
        if (end == word)
            break;
        bool may = !has_shared || extent == first;
        at += (size_t)snprintf(to + at, left - at, "%s%lld", axis ? "," : "",
                               (long long)(may ? vary_extent(v, extent, d) : extent));
        word = end + (*end == ',');
    }
    bool is_offset = !has_shared && !strcmp(from->kind[k], "operand") && dice_one_in(d, 4);
    at += (size_t)snprintf(to + at, left - at, "%s%s", axis ? "" : "-", used ? from->operand[k] + used : "");
    if (is_offset)
        snprintf(to + at, left - at, " +%d", (int)dice_between(d, 1, 17));
}

/* Raw operands of columns have the strips of the first operand's rows, which lie along its last axis. */
static void set_strips(variation *v, const description *from)
{
    int64_t rows = 1, length = 1;
    for (const char *at = strchr(v->text[0], ' '); at && (*at == ' ' || *at == ',');
         at += strspn(at + 1, "0123456789") + 1) {
        rows *= length;
        length = strtoll(at + 1, NULL, 10);
    }
    for (int k = 0; k < from->n_operands && rows > 0 && length > 0; ++k)
        if (!strcmp(from->kind[k], "raw"))
            snprintf(v->text[k], sizeof v->text[k], "%.*s %lld,%lld", (int)strcspn(from->operand[k], " "),
                     from->operand[k], (long long)kn_strip_count(rows, length), (long long)length);
}

static void vary(description *out, variation *v, const description *from, dice *d)
{
    bool has_shared = false;
    *out = *from;
    *v = (variation){.count = 0};
    for (int k = 0; k < from->n_operands; ++k)
        has_shared = has_shared || !strcmp(from->kind[k], "shared");
    for (int k = 0; k < from->n_operands; ++k) {
        vary_operand(v, k, from, has_shared, d);
        out->operand[k] = v->text[k];
    }
    if (from->n_stages > 0 && from->stage[from->n_stages - 1].kind == KN_COLUMNS)
        set_strips(v, from);
}

/* ---- one call ---- */

typedef struct call {
    kiln_kernel *kernel;
    stage *stage;
    kiln_call_options options;
    int axes[KILN_MAX_NDIM], n_in, n_out;
    kiln_arg *in;
    kiln_array **out;
} call;

static void begin_call(call *c, const description *d, uint64_t seed)
{
    *c = (call){.kernel = description_kernel(d)};
    c->stage = description_stage(d, c->kernel, seed);
    description_options(&c->options, c->axes, d);
    if (!c->stage)
        return;
    c->in = stage_args(c->stage, &c->n_in);
    c->out = stage_outs(c->stage, &c->n_out);
    succeeded(kiln_set_forms(d->tier ? KILN_FORMS_QUICK : KILN_FORMS_BEST), "kiln_set_forms");
}

static void end_call(call *c)
{
    stage_free(c->stage);
    kiln_kernel_free(c->kernel);
}

/* One kind alone combines columns: expressions compute other layouts by several kernels. */
static bool combines_columns(const description *d)
{
    return d->n_stages > 0 && d->stage[d->n_stages - 1].kind == KN_COLUMNS;
}

/* True if the kind that the example names takes the call. */
static bool is_taken(const call *c, const description *d)
{
    char *line = NULL, expected[64];
    snprintf(expected, sizeof expected, " schedule=\"%s\"", d->schedule);
    if (in_trouble())
        return false;
    kiln_status status =
        kiln_kernel_explain(&line, c->kernel, c->out, c->n_out, c->in, c->n_in, &c->options, d->target);
    if ((status == KILN_ERROR_UNSUPPORTED && combines_columns(d)) ||
        !succeeded(status, "kiln_kernel_explain"))
        return false;
    bool is = strstr(line, expected) != NULL;
    free(line);
    return is;
}

static void check_kind(const example *e, const description *d)
{
    call c;
    begin_call(&c, d, 1);
    if (!is_taken(&c, d))
        trouble("it is not computed by the kind '%s'", d->schedule);
    end_call(&c);
    if (in_trouble())
        fail(e);
}

/* Kernels for the host; of CUDA's kernels those that are emulated. */
static const char *emulated_target;

static kiln_status emulate(kiln_kernel *kernel, kiln_array **out, int n_out, const kiln_arg *in, int n_in,
                           const kiln_call_options *options)
{
    return emulated_call(emulated_target, kernel, out, n_out, in, n_in, options);
}

static void run_call(example *e, const description *d, const references *r, uint64_t seed)
{
    call c;
    begin_call(&c, d, seed);
    if (is_taken(&c, d)) {
        emulated_target = d->target;
        stage_call = e->is_host ? kiln_kernel_call : emulate;
        stage_run(c.stage, &c.options);
        reference_check(r, (int)(e - examples), d, c.stage);
        ++e->runs;
    }
    if (is_verbose) {
        printf("%s: run %d\n", e->path, e->runs);
        fflush(stdout);
    }
    if (in_trouble()) {
        char *operands = c.stage ? stage_describe(c.stage) : NULL;
        printf("%s", operands ? operands : "");
        free(operands);
        fail(e);
    }
    end_call(&c);
}

/* The example as it is, and varied: one way in `share` is drawn; where that is below all of them, the example
 * itself and a variant at least. */
static void run_example(example *e, const references *r, unsigned share)
{
    const size_t own_runs = (size_t)(e - examples) * (1 + VARIANTS);
    const bool is_sparse = share > VARIANTS;
    const description *d = &described[e - examples];
    dice own = {17 + (uint64_t)(e - examples)};
    description other;
    variation v;
    if (!is_sparse || is_drawn(own_runs, share))
        run_call(e, d, r, 1);
    for (int k = 0; k < VARIANTS; ++k) {
        vary(&other, &v, d, &own);
        if (is_drawn(own_runs + 1 + (size_t)k, share) || (!is_sparse && k == (int)(drawn_seed() % VARIANTS)))
            run_call(e, &other, r, 2 + (uint64_t)k);
    }
}

/* ---- compiling ---- */

static bool compile_for(const example *e, const char *target)
{
    const description *d = &described[e - examples];
    kiln_prepare_options options = KILN_PREPARE_OPTIONS_INIT;
    call c;
    options.target = target;
    begin_call(&c, d, 1);
    kiln_status status =
        in_trouble() ? KILN_OK
                     : kiln_kernel_prepare(c.kernel, c.out, c.n_out, c.in, c.n_in, &c.options, &options);
    bool is_absent = status == KILN_ERROR_NOT_FOUND && !getenv("KILN_REQUIRE_NVRTC");
    if (!is_absent)
        trouble_unless(status == KILN_OK, "%s: %s\n%s", target, kiln_error_message(), kiln_error_log());
    end_call(&c);
    if (in_trouble())
        fail(e);
    return !is_absent;
}

/* True of a kind's first example. Half of these are drawn. */
static bool is_first_of_kind(const example *e)
{
    const char *kind = described[e - examples].schedule;
    for (const example *other = examples; kind && other < e; ++other) {
        const char *of_other = described[other - examples].schedule;
        if (of_other && other->is_host == e->is_host && strcmp(of_other, kind) == 0)
            return false;
    }
    return true;
}

/* The first examples of half of the kinds and one in 18 of the others; one in 40 for another target, too.
 * False where there is no compiler. */
static bool compile_examples(void)
{
    static const char *const others[] = {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"};
    int n = 0, more = 0;
    for (example *e = examples; e < examples + n_examples; ++e) {
        const size_t number = (size_t)(e - examples);
        if (e->is_host || !is_drawn(number, is_first_of_kind(e) ? 2 : 18))
            continue;
        bool is_for_another = is_drawn(number + (size_t)n_examples, 40);
        bool is_there = compile_for(e, described[number].target) &&
                        (!is_for_another || compile_for(e, others[(number + drawn_seed()) % 7]));
        if (!is_there)
            return false;
        n++;
        more += is_for_another;
    }
    printf("%d examples compiled, %d for two targets, %d failed\n", n, more, failed);
    return n > 0;
}

/* ---- all ---- */

/* Each kind has an example, which ran where its target is; with KILN_SOAK=1 a variant did, too. */
static void count_by_kind(bool runs_host, bool runs_cuda)
{
    for (int backend = 0; backend < 2; ++backend)
        for (const kn_kind *const *kind = kn_kinds_of(backend ? KN_HOST : KN_CUDA); *kind; ++kind) {
            int count = 0, runs = 0;
            for (int k = 0; k < n_examples; ++k)
                if (examples[k].is_host == (backend == 1) && described[k].schedule &&
                    !strcmp(described[k].schedule, (*kind)->name)) {
                    ++count;
                    runs += examples[k].runs;
                }
            bool runs_here = backend == 1 ? runs_host : runs_cuda,
                 is_good = count > 0 && (!runs_here || runs >= count + drawn_all());
            printf("%s%s %s: %d examples, %d runs\n", is_good ? "" : "FAILED: too few of ",
                   backend ? "host" : "cuda", (*kind)->name, count, runs);
            failed += !is_good;
        }
}

static int run_examples(bool emulates)
{
    const bool is_short = emulates && !drawn_all();
    int n_run = 0;
    static bool is_run[MOST_EXAMPLES];
    for (int k = 0; k < n_examples; ++k)
        is_run[k] = references_have(&described[k]) &&
                    (is_short ? !examples[k].is_host && is_drawn_of((size_t)k, (size_t)n_examples, 40)
                              : examples[k].is_host || emulates);
    references *r = references_compile(described, n_examples, is_run);
    if (in_trouble()) {
        printf("FAILED: %s\n", trouble_text());
        return 1;
    }
    for (example *e = examples; e < examples + n_examples; ++e) {
        check_kind(e, &described[e - examples]);
        fflush(stdout); /* what is emulated may end the process */
        if (is_run[e - examples])
            run_example(e, r, is_short ? 1 + VARIANTS : 2);
        n_run += e->runs;
    }
    references_free(r);
    count_by_kind(!is_short, emulates && !is_short);
    printf("%d examples, %d runs, %d failed\n", n_examples, n_run, failed);
    return failed > 0 || n_examples == 0;
}

int main(int argc, char **argv)
{
    setenv("KILN_KINDS", "-fewest", 0); /* kinds take few elements, too */
    is_verbose = argc > 1 && !strcmp(argv[argc - 1], "--verbose");
    argc -= is_verbose;
    bool compiles = argc > 2 && !strcmp(argv[1], "compile"),
         emulates = argc > 2 && !strcmp(argv[1], "emulated");
    if (argc < 3 || (!compiles && !emulates && strcmp(argv[1], "host") != 0)) {
        fprintf(stderr, "usage: kind_examples host|emulated|compile FOLDER... [--verbose]\n");
        return 2;
    }
    for (int k = 2; k < argc; ++k)
        read_folder(argv[k]);
    if (failed > 0)
        return 1;
    if (compiles)
        return compile_examples() ? failed > 0 : 77;
    return run_examples(emulates);
}
