/* cases - every case on every target that is present.
 *
 * usage: cases [--target host|cuda:N] [--filter SUBSTRING] [--list]
 *
 * One line a failing case, then "N passed, N failed"; a case that ends the program is named, too. Kernels
 * are compiled into a cache of this run's own, unless KILN_CACHE_DIR is set.
 *
 * Without KILN_SOAK every other case of what texts mean has its kernels in the quick form, which compiles in
 * a third of the time and gives the same bits. */
#include "cases.h"
#include "own_cache.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const case_list lists[] = {{"layout", layout_cases, false},
                                  {"dtype", dtype_cases, true},
                                  {"snippet", snippet_cases, true},
                                  {"scalar", scalar_cases, true},
                                  {"overlap", overlap_cases, true},
                                  {"option", option_cases, false},
                                  {"check", check_cases, false},
                                  {"refusal", refusal_cases, false},
                                  {"call", call_cases, false},
                                  {"guide", guide_cases, false},
                                  {"left", left_cases, false},
                                  {"raw", raw_cases, true},
                                  {"large", large_cases, false},
                                  {"graph", graph_cases, false},
                                  {"cast", cast_cases, true},
                                  {"half", half_cases, true},
                                  {"complex", complex_cases, true},
                                  {"stream", stream_cases, false},
                                  {"array", array_cases, false},
                                  {"fill", fill_cases, true},
                                  {"integer", integer_cases, true},
                                  {"capture", capture_cases, false},
                                  {"module", module_cases, false},
                                  {"reduction", reduction_cases, false},
                                  {"together", reduction_together_cases, false},
                                  {"reduction_large", reduction_large_cases, false}};
static char target_name[16];
static uint64_t seed;
static char running[160]; /* the name of the case */

/* Only what a handler may call. */
static void say_who_ended_it(int number)
{
    static const char text[] = "\nFAILED by a signal: ";
    signal(number, SIG_DFL);
    ssize_t written = write(STDOUT_FILENO, text, sizeof text - 1);
    written = written < 0 ? written : write(STDOUT_FILENO, running, strlen(running));
    written = written < 0 ? written : write(STDOUT_FILENO, "\n", 1);
    (void)written;
    raise(number);
}

uint64_t case_seed(void)
{
    return seed;
}

const char *case_target(void)
{
    return target_name;
}

/* A sanitizer that has a handler says more. */
static void name_at(int number)
{
    struct sigaction before;
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
        signal(number, say_who_ended_it);
}

enum { FEWER_THAN_ALL = 50 }; /* cases: one of so many runs at least */

typedef struct run_options {
    const char *target, *filter;
    bool list, verbose;
    int passed, failed, turn;
    size_t count; /* of the cases that might run */
} run_options;

/* Where the environment asks for best forms, or for nothing. */
static void choose_forms(run_options *o, const case_list *list, int here)
{
    const char *asked = getenv("KILN_FORMS");
    bool is_quick = list->of_meaning && here == CASE_HOST && o->turn++ % 2 && !getenv("KILN_SOAK");
    if (!asked || strcmp(asked, "best") == 0)
        succeeded(kiln_set_forms(is_quick ? KILN_FORMS_QUICK : KILN_FORMS_BEST), "kiln_set_forms");
}

static void run_case(run_options *o, const case_list *list, const test_case *c)
{
    char name[160];
    int here = KILN_DEVICE_IS_CUDA(stage_device) ? CASE_CUDA : CASE_HOST;
    snprintf(name, sizeof name, "%s/%s/%s", target_name, list->name, c->name);
    int targets = c->when & (CASE_HOST | CASE_CUDA);
    if ((o->filter && !strstr(name, o->filter)) || (targets && !(targets & here)) ||
        (c->when & CASE_LONG && !getenv("KILN_SOAK")) ||
        (here == CASE_CUDA && c->when & CASE_DEVICE && getenv("CASES_EMULATED")))
        return;
    if (o->list) {
        puts(name);
        return;
    }
    seed = 1;
    for (const char *at = c->name; *at; ++at)
        seed = seed * 31 + (unsigned char)*at;
    int share = getenv("CASES_WITHOUT_VALUES") ? 72 : here != CASE_HOST ? 1 : list->of_meaning ? 6 : 2;
    if (!o->filter && !is_drawn_of(o->count++, FEWER_THAN_ALL, share))
        return; /* most of its time is a compiler's */
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    trouble_clear();
    choose_forms(o, list, here);
    memcpy(running, name, sizeof running);
    c->run();
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (o->verbose)
        printf("%6.0f ms  %s\n",
               (double)(end.tv_sec - start.tv_sec) * 1e3 + (double)(end.tv_nsec - start.tv_nsec) * 1e-6,
               name);
    if (in_trouble())
        printf("FAILED %s: %s\n", name, trouble_text());
    ++*(in_trouble() ? &o->failed : &o->passed);
    fflush(stdout);
}

static bool run_target(run_options *o, const char *target)
{
    kiln_device device;
    if (kiln_device_parse(&device, target) != KILN_OK || kiln_device_set_current(device) != KILN_OK) {
        fprintf(stderr, "cases: %s\n", kiln_error_message());
        return false;
    }
    stage_device = device;
    kiln_device_name(device, target_name, sizeof target_name);
    for (size_t l = 0; l < sizeof lists / sizeof lists[0]; ++l)
        for (const test_case *c = lists[l].cases; c->name; ++c)
            run_case(o, &lists[l], c);
    return true;
}

static bool read_options(run_options *o, int argc, char **argv)
{
    for (int k = 1; k < argc; ++k) {
        if (!strcmp(argv[k], "--list"))
            o->list = true;
        else if (!strcmp(argv[k], "--verbose"))
            o->verbose = true;
        else if (!strcmp(argv[k], "--target") && k + 1 < argc)
            o->target = argv[++k];
        else if (!strcmp(argv[k], "--filter") && k + 1 < argc)
            o->filter = argv[++k];
        else
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    run_options o = {0};
    int devices = 0;
    setenv("KILN_KINDS", "-fewest", 0); /* small arrays have kinds of large ones, as explain says */
    if (!read_options(&o, argc, argv)) {
        fprintf(stderr, "usage: cases [--target host|cuda:N] [--filter SUBSTRING] [--list] [--verbose]\n");
        return 2;
    }
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
    for (size_t k = 0; k < sizeof fatal / sizeof fatal[0]; ++k)
        name_at(fatal[k]);
    use_own_cache();
    if (o.target && !run_target(&o, o.target))
        return 2;
    if (!o.target) {
        run_target(&o, "host");
        if (kiln_device_count(&devices) == KILN_OK && devices > 0)
            run_target(&o, "cuda:0");
    }
    if (o.list)
        return 0;
    printf("%d passed, %d failed\n", o.passed, o.failed);
    return o.failed > 0 || o.passed == 0;
}
