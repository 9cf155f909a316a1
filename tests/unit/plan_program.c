/* Programs: what a definition may be, what its body mentions, and what its messages say. */
#include "plan/program.h"
#include "base/alloc.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

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
    assert_string_equal(p->body, "z = x");
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

static void nth_allocation_fails(void **state)
{
    static const char *const list[] = {"-DA=1", "-DB=2"};
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    kiln_status status = KILN_ERROR_MEMORY;
    (void)state;
    options.preamble = "#define C 3";
    options.compile_options = options.header_names = options.header_texts = list;
    options.n_compile_options = options.n_headers = 2;
    unsigned long nth = 1;
    for (; status != KILN_OK && nth < 100; ++nth) {
        kn_program *p = NULL;
        kn_alloc_fail_at(nth, 0);
        status = kn_program_elementwise(&p, "T x", "T z", "z = x", "k", &options);
        kn_alloc_fail_at(0, 0);
        assert_true(status == KILN_OK || status == KILN_ERROR_MEMORY);
        assert_int_equal(status == KILN_OK, p != NULL);
        kn_program_free(p);
    }
    assert_true(nth > 10 && nth < 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uses_are_whole_words_of_code),
        cmocka_unit_test(everything_is_copied),
        cmocka_unit_test(short_option_structs),
        cmocka_unit_test(messages_name_the_kernel_and_the_text),
        cmocka_unit_test(nth_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
