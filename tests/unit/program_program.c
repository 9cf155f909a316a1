/* Programs: what a definition may be, what its body uses, and what its messages say. */
#include "program/program.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "each_allocation.h"

static kn_program *make(const char *in, const char *out, const char *body, const kiln_kernel_options *options)
{
    kn_program *p = NULL;
    assert_int_equal(kn_program_elementwise(&p, in, out, body, "k", options), KILN_OK);
    assert_non_null(p);
    return p;
}

static void assert_uses(const char *body, const char *loop_prep, unsigned expected)
{
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    options.loop_prep = loop_prep;
    kn_program *p = make("T x", "T z", body, &options);
    assert_int_equal(p->uses, expected);
    kn_program_free(p);
}

static void uses_are_whole_words_of_code(void **state)
{
    (void)state;
    assert_uses("z = x", NULL, 0);
    assert_uses("z = x + i", NULL, KN_USES_INDEX);
    assert_uses("z = x / n", NULL, KN_USES_COUNT);
    assert_uses("int in = 0; z = x + in; // i and n", NULL, 0);
    assert_uses("z = x; /* i */ const char *s = \"i n\"; (void)s", NULL, 0);
    assert_uses("z = _ind.size()", NULL, KN_USES_INDEX | KN_USES_COUNT | KN_USES_INDEXER);
    assert_uses("if (x < 0) continue; z = x", NULL, KN_USES_CONTINUE);
    assert_uses("if (x < 0) break; z = x", NULL, KN_USES_CONTINUE);
    assert_uses("if (x < 0) return; z = x", NULL, 0);
    assert_uses("z = x * half_n", "float half_n = n / 2;", KN_USES_COUNT);
}

static void everything_is_copied(void **state)
{
    char option[] = "-DA=1", name[] = "a.h", text[] = "int a;", body[] = "z = x",
         preamble[] = "struct pair { int a; };";
    const char *const options_list[] = {option}, *const names[] = {name}, *const texts[] = {text};
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    (void)state;
    options.flags = KILN_KERNEL_NO_FMA;
    options.preamble = preamble;
    options.compile_options = options_list;
    options.n_compile_options = 1;
    options.header_names = names;
    options.header_texts = texts;
    options.n_headers = 1;
    kn_program *p = make("T x, pair q", "T z", body, &options);
    memset(option, 'x', 3), memset(name, 'x', 3), memset(text, 'x', 3), memset(body, 'x', 3),
        memset(preamble, 'x', 3);
    assert_string_equal(p->stage[0].body, "z = x");
    assert_string_equal(p->preamble, "struct pair { int a; };");
    assert_string_equal(p->loop_prep, "");
    assert_int_equal(p->n_options, 1);
    assert_string_equal(p->option[0], "-DA=1");
    assert_int_equal(p->n_headers, 1);
    assert_string_equal(p->header_name[0], "a.h");
    assert_string_equal(p->header_text[0], "int a;");
    assert_int_equal(p->flags, KILN_KERNEL_NO_FMA);
    assert_int_equal(p->n_in, 2);
    assert_int_equal(p->n_out, 1);
    assert_string_equal(p->param[2].name, "z");
    kn_program_free(p);
    kn_program_free(NULL);
}

/* Options of an older header, which end earlier. */
static void short_option_structs(void **state)
{
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    kn_program *p = NULL;
    (void)state;
    options.preamble = "#define A 1";
    options.loop_prep = "(";
    options.struct_size = offsetof(kiln_kernel_options, loop_prep);
    p = make("T x", "T z", "z = x", &options);
    assert_string_equal(p->preamble, "#define A 1");
    assert_string_equal(p->loop_prep, "");
    kn_program_free(p);
    p = NULL;
    options.struct_size = sizeof options + 8;
    assert_int_equal(kn_program_elementwise(&p, "T x", "T z", "z = x", "k", &options), KILN_ERROR_INVALID);
    assert_null(p);
    assert_non_null(strstr(kiln_error_message(), "struct_size"));
}

static void assert_refused(const kiln_kernel_options *options, const char *in, kiln_status status,
                           const char *words)
{
    kn_program *p = NULL;
    assert_int_equal(kn_program_elementwise(&p, in, "T z", "z = x", "my_kernel", options), status);
    assert_null(p);
    assert_non_null(strstr(kiln_error_message(), words));
}

static void messages_name_the_kernel_and_the_text(void **state)
{
    static const char *const holes[] = {NULL};
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    (void)state;
    assert_refused(NULL, "float16x x", KILN_ERROR_SYNTAX, "my_kernel: input signature");
    options.after_loop = "}";
    assert_refused(&options, "T x", KILN_ERROR_SYNTAX, "my_kernel: after_loop");
    options.after_loop = NULL;
    options.n_compile_options = 1;
    assert_refused(&options, "T x", KILN_ERROR_INVALID, "compile_options");
    options.compile_options = holes;
    assert_refused(&options, "T x", KILN_ERROR_INVALID, "compile_options");
    options.n_compile_options = -1;
    assert_refused(&options, "T x", KILN_ERROR_INVALID, "compile_options");
}

/* They are for expressions. */
static void kernels_are_refused(void **state)
{
    struct kiln_kernel *const none[] = {NULL};
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    kn_program *p = NULL;
    (void)state;
    options.n_kernels = 1;
    assert_refused(&options, "T x", KILN_ERROR_INVALID,
                   "options.kernels: 1 were given, but C++ texts call none");
    options.n_kernels = 0;
    options.kernels = none;
    assert_refused(&options, "T x", KILN_ERROR_INVALID, "options.kernels: 0 were given");
    assert_int_equal(kn_program_reduction(&p, "T x", "T y", "x", "a + b", "y = a", "0", "r", &options),
                     KILN_ERROR_INVALID);
    assert_non_null(strstr(kiln_error_message(), "r: options.kernels: 0 were given"));
    assert_null(p);
}

static void nth_allocation_fails(void **state)
{
    static const char *const list[] = {"-DA=1", "-DB=2"};
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    kn_program *p = NULL;
    (void)state;
    options.preamble = "#define C 3";
    options.compile_options = options.header_names = options.header_texts = list;
    options.n_compile_options = options.n_headers = 2;
    EACH_ALLOCATION_IS_NEEDED(kn_program_elementwise(&p, "T x", "T z", "z = x", "k", &options),
                              kn_program_free(p));
}

/* ---- stages ---- */

static const kn_stage_text mean_stages[] = {
    {.kind = KN_MAP, .label = "load", .reads = "x", .gives = "v", .body = "v = x"},
    {.kind = KN_REDUCE, .label = "sum", .reads = "v", .gives = "s", .body = "a + b", .identity = "0"},
    {.kind = KN_MAP, .label = "spread", .reads = "x, s", .gives = "y", .body = "y = x - s * i"},
    {.kind = KN_MAP, .over = KN_OVER_RESULTS, .label = "store", .reads = "s", .gives = "z", .body = "z = s"}};

static kn_program_text mean_text(const kn_stage_text *stages)
{
    return (kn_program_text){.name = "mean",
                             .in = "T x",
                             .out = "T y, T z",
                             .values = "T v, float64 s",
                             .stage = stages,
                             .n_stages = 4,
                             .reduced = 1};
}

static void stages_over_values(void **state)
{
    kn_program *p = NULL;
    const kn_program_text text = mean_text(mean_stages);
    (void)state;
    assert_int_equal(kn_program_create(&p, &text), KILN_OK);
    assert_string_equal(p->pattern, "mrmk");
    assert_int_equal(p->n_values, 2);
    assert_int_equal(p->reduced_outputs, 2);
    assert_int_equal(p->uses, KN_USES_INDEX);
    assert_int_equal(p->stage[2].n_read, 2);
    assert_int_equal(p->stage[2].value[0], 0);
    assert_int_equal(p->stage[2].value[1], 4);
    assert_int_equal(p->stage[2].value[2], 1);
    assert_string_equal(p->text[KN_TEXT_STAGE + 1], "a + b");
    assert_string_equal(p->text[KN_TEXT_STAGE + 4 + 1], "0");
    kn_program_free(p);
}

static void stages_that_do_not_fit(void **state)
{
    static const struct {
        int stage;
        kn_stage_text text;
        const char *words;
    } faults[] = {
        {0,
         {.label = "load", .reads = "w", .gives = "v", .body = "v = w"},
         "stage 'load': there is no value 'w'"},
        {0,
         {.label = "load", .reads = "s", .gives = "v", .body = "v = s"},
         "'load' reads 's', which no stage"},
        {0, {.label = "load", .gives = "x", .body = "x = 1"}, "'load' gives 'x', which is an input"},
        {0, {.label = "load", .gives = "v", .body = "x + v"}, "output 'v' is never assigned"},
        {0, {.label = "load", .gives = "v", .body = "v = ("}, "load:1:5"},
        {0, {.label = "", .gives = "v", .body = "v = x"}, "stage 0: the label ''"},
        {2, {.label = "load", .gives = "y", .body = "y = x"}, "stage 2: the label 'load'"},
        {2, {.label = "a b", .gives = "y", .body = "y = x"}, "stage 2: the label 'a b'"},
        {2, {.label = "spread", .gives = "v", .body = "v = x"}, "'spread' gives 'v', which is given before"},
        {2, {.label = "spread", .gives = "", .body = ";"}, "no stage gives output 'y'"},
        {1,
         {.kind = KN_REDUCE, .label = "sum", .reads = "x", .gives = "s", .body = "a"},
         "'sum' reduces: one value"},
        {1,
         {.kind = KN_REDUCE, .label = "sum", .reads = "v", .gives = "y", .body = "a"},
         "'sum' reduces: one value"},
        {3,
         {.over = KN_OVER_RESULTS, .label = "store", .reads = "v", .gives = "z", .body = "z = v"},
         "reads 'v', which each of them has of its own"},
        {3, {.label = "store", .reads = "s", .gives = "z"}, "body is NULL"},
    };
    (void)state;
    for (size_t f = 0; f < sizeof faults / sizeof faults[0]; ++f) {
        kn_stage_text stages[4];
        kn_program *p = NULL;
        const kn_program_text text = mean_text(stages);
        memcpy(stages, mean_stages, sizeof stages);
        stages[faults[f].stage] = faults[f].text;
        assert_int_not_equal(kn_program_create(&p, &text), KILN_OK);
        assert_null(p);
        if (!strstr(kiln_error_message(), faults[f].words))
            fail_msg("%zu: '%s' is not in: %s", f, faults[f].words, kiln_error_message());
    }
}

static void as_many_stages_as_fit(void **state)
{
    kn_stage_text stages[KN_MAX_STAGES + 1];
    kn_program_text text = {.in = "T x", .out = "T z", .stage = stages};
    kn_program *p = NULL;
    char label[KN_MAX_STAGES + 1][16];
    (void)state;
    for (int s = 0; s <= KN_MAX_STAGES; ++s) {
        snprintf(label[s], sizeof label[s], "s%d", s);
        stages[s] =
            (kn_stage_text){.label = label[s], .gives = s == 0 ? "z" : "", .body = s == 0 ? "z = x" : ";"};
    }
    assert_int_equal(kn_program_create(&p, &text), KILN_ERROR_INVALID);
    text.n_stages = KN_MAX_STAGES;
    assert_int_equal(kn_program_create(&p, &text), KILN_OK);
    assert_int_equal(strlen(p->pattern), KN_MAX_STAGES);
    kn_program_free(p);
    p = NULL;
    text.n_stages = KN_MAX_STAGES + 1;
    assert_int_equal(kn_program_create(&p, &text), KILN_ERROR_INVALID);
    text.n_stages = 1;
    text.values = "raw T v";
    assert_int_equal(kn_program_create(&p, &text), KILN_ERROR_INVALID);
    assert_non_null(strstr(kiln_error_message(), "'v' is a value of its own"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uses_are_whole_words_of_code),
        cmocka_unit_test(everything_is_copied),
        cmocka_unit_test(short_option_structs),
        cmocka_unit_test(messages_name_the_kernel_and_the_text),
        cmocka_unit_test(stages_over_values),
        cmocka_unit_test(stages_that_do_not_fit),
        cmocka_unit_test(as_many_stages_as_fit),
        cmocka_unit_test(kernels_are_refused),
        cmocka_unit_test(nth_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
