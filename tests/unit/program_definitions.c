/* Refused definitions, message by message, and the words that their texts are found to use. */
#include "program/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void assert_says(kiln_status status, kiln_status expected, const kn_program *p, const char *words)
{
    assert_int_equal(status, expected);
    assert_null(p);
    if (!strstr(kiln_error_message(), words))
        fail_msg("'%s' is not in: %s", words, kiln_error_message());
}

static void missing_texts(void **state)
{
    kn_program *p = NULL;
    (void)state;
    assert_says(kn_program_elementwise(&p, NULL, "T z", "z = 1", "k", NULL), KILN_ERROR_INVALID, p,
                "in_params is NULL");
    assert_says(kn_program_elementwise(&p, "T x", NULL, "z = 1", "k", NULL), KILN_ERROR_INVALID, p,
                "out_params is NULL");
    assert_says(kn_program_elementwise(&p, "T x", "T z", NULL, "k", NULL), KILN_ERROR_INVALID, p,
                "body is NULL");
    assert_says(kn_program_elementwise(&p, "T x", "", "", "k", NULL), KILN_ERROR_INVALID, p,
                "k: the output signature is empty");
}

static kiln_status define(const char *name)
{
    kn_program *p = NULL;
    kiln_status status = kn_program_elementwise(&p, "T x", "T z", "z = x", name, NULL);
    if (status == KILN_OK && name)
        assert_string_equal(p->name, name);
    else if (status == KILN_OK)
        assert_string_equal(p->name, "kernel");
    kn_program_free(p);
    return status;
}

static void names(void **state)
{
    static const char *const good[] = {"a", "z", "A", "Z", "_", "a0", "b9", "zZ_09", NULL},
                             *const bad[] = {"",   "0",  "9a", "a-b", "a b", "a`",
                                             "a{", "a@", "a[", "a/",  "a:",  "\xc3\xa9"};
    char longest[65];
    (void)state;
    for (size_t k = 0; k < sizeof good / sizeof *good; ++k)
        assert_int_equal(define(good[k]), KILN_OK);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; ++k) {
        assert_int_equal(define(bad[k]), KILN_ERROR_INVALID);
        assert_non_null(strstr(kiln_error_message(), "a C identifier of at most 63 characters"));
    }
    memset(longest, 'a', sizeof longest);
    longest[63] = '\0';
    assert_int_equal(define(longest), KILN_OK);
    longest[63] = 'a';
    longest[64] = '\0';
    assert_int_equal(define(longest), KILN_ERROR_INVALID);
}

static void options(void **state)
{
    static const char *const two[] = {"-DA", "-DB"}, *const hole[] = {"-DA", NULL};
    kn_program *p = NULL;
    kiln_kernel_options o = KILN_KERNEL_OPTIONS_INIT;
    (void)state;
    o.flags = 16;
    assert_says(kn_program_elementwise(&p, "T x", "T z", "z = x", "k", &o), KILN_ERROR_INVALID, p,
                "options.flags: 0x10 was given; only KILN_KERNEL_* (0xf) are known");
    o.flags = 3;
    o.header_names = two;
    o.n_headers = 2;
    assert_says(kn_program_elementwise(&p, "T x", "T z", "z = x", "k", &o), KILN_ERROR_INVALID, p,
                "header_texts: a list of 2 texts was given as NULL");
    o.header_texts = hole;
    assert_says(kn_program_elementwise(&p, "T x", "T z", "z = x", "k", &o), KILN_ERROR_INVALID, p,
                "header_texts: text 1 is NULL");
    o.header_texts = two;
    o.n_headers = -1;
    assert_says(kn_program_elementwise(&p, "T x", "T z", "z = x", "k", &o), KILN_ERROR_INVALID, p,
                "header_names: a list of -1 texts was given as an array");
    o.n_headers = 0;
    o.compile_options = hole;
    o.n_compile_options = 2;
    assert_says(kn_program_elementwise(&p, "T x", "T z", "z = x", "k", &o), KILN_ERROR_INVALID, p,
                "compile_options: text 1 is NULL");
    o.n_compile_options = 1;
    assert_int_equal(kn_program_elementwise(&p, "T x", "T z", "z = x", "k", &o), KILN_OK);
    assert_true(p->flags == 3 && p->n_options == 1 && p->n_headers == 0);
    kn_program_free(p);
}

static void texts_with_faults(void **state)
{
    static const char *const field[] = {"preamble", "loop_prep", "after_loop", "body"};
    (void)state;
    for (int k = 0; k < 4; ++k) {
        kn_program *p = NULL;
        kiln_kernel_options o = KILN_KERNEL_OPTIONS_INIT;
        char words[64];
        const char **to[] = {&o.preamble, &o.loop_prep, &o.after_loop};
        if (k < 3)
            *to[k] = "a)";
        snprintf(words, sizeof words, "k: %s:1:%d: ')' closes nothing", field[k], k < 3 ? 2 : 6);
        assert_says(kn_program_elementwise(&p, "T x", "T z", k < 3 ? "z = x" : "z = x)", "k", &o),
                    KILN_ERROR_SYNTAX, p, words);
    }
    kn_program *p = NULL;
    kiln_kernel_options o = KILN_KERNEL_OPTIONS_INIT;
    o.preamble = "struct pair { int a; };";
    assert_says(kn_program_elementwise(&p, "T x", "T y, pair z", "y = x; z = 1", "k", &o), KILN_ERROR_TYPE, p,
                "k: output 'z' is a struct (pair)");
    assert_says(kn_program_elementwise(&p, "T x", "T x", "x = 1", "k", &o), KILN_ERROR_INVALID, p,
                "k: output signature: 'x' is the name of two parameters");
}

enum { IND = KN_USES_COUNT | KN_USES_INDEXER };

static void uses(void **state)
{
    static const struct {
        const char *in, *body, *loop_prep, *after_loop, *preamble;
        unsigned uses;
    } rows[] = {
        {"T x", "z = x", "", "", "", 0},
        {"T x", "z = x", "int a = i;", "", "", KN_USES_INDEX},
        {"T x", "z = x", "", "int a = i;", "", KN_USES_INDEX},
        {"T x", "z = x", "", "", "int f(int i, int n) { return i; }", 0},
        {"T x", "z = x", "", "int a = n;", "", KN_USES_COUNT},
        {"T n", "z = n", "", "", "", 0},
        {"T n", "z = n + i", "", "", "", KN_USES_INDEX},
        {"T x", "z = x; break", "", "", "", KN_USES_CONTINUE},
        {"T x", "z = x + _ind.size()", "", "", "", IND | KN_USES_INDEX},
        {"T x", "z = x", "int a = _ind.size();", "", "", IND | KN_USES_INDEXER_OUTSIDE},
        {"T x", "z = x", "", "int a = _ind.size();", "", IND | KN_USES_INDEXER_OUTSIDE},
        {"T x", "z = _ind.get()[0]", "", "", "", IND | KN_USES_INDEX | KN_USES_PLACE},
        {"T x", "z = _ind.ndim", "", "", "", IND | KN_USES_INDEX | KN_USES_PLACE},
        {"T x", "z = x + f(_ind)", "", "", "int f(A &a) { return a.get()[0]; }",
         IND | KN_USES_INDEX | KN_USES_PLACE},
        {"T x", "z = get(x) + ndim", "", "", "", 0},
        {"T x", "z = _ind.size()", "int a = ndim;", "", "", IND | KN_USES_INDEX | KN_USES_PLACE},
        {"T x", "z = _ind.size()", "", "get();", "", IND | KN_USES_INDEX | KN_USES_PLACE},
    };
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
        kn_program *p = NULL;
        kiln_kernel_options o = KILN_KERNEL_OPTIONS_INIT;
        o.loop_prep = rows[k].loop_prep;
        o.after_loop = rows[k].after_loop;
        o.preamble = rows[k].preamble;
        assert_int_equal(kn_program_elementwise(&p, rows[k].in, "T z", rows[k].body, "k", &o), KILN_OK);
        if (p->uses != rows[k].uses)
            fail_msg("row %zu, '%s', uses %#x instead of %#x", k, rows[k].body, p->uses, rows[k].uses);
        kn_program_free(p);
    }
}

/* Lists that begin with what stands between names have an empty one. */
static void names_of_nothing(void **state)
{
    static const char *const lists[] = {",x", " x", "x,,y", "X", "x y z", "xx"};
    (void)state;
    for (size_t k = 0; k < sizeof lists / sizeof *lists; ++k) {
        const kn_stage_text stage = {.body = "z = x", .reads = lists[k], .gives = "z"};
        const kn_program_text text = {.in = "T x, T y", .out = "T z", .stage = &stage, .n_stages = 1};
        kn_program *p = NULL;
        bool is_good = strchr(lists[k], 'y') && !strchr(lists[k], 'z');
        assert_int_equal(kn_program_create(&p, &text), is_good ? KILN_OK : KILN_ERROR_INVALID);
        kn_program_free(p);
    }
}

/* A stage reads and gives up to twice as many values as programs have parameters, however often each is
 * named. */
static void as_many_names_as_fit(void **state)
{
    (void)state;
    for (int reads = 100; reads <= 130; ++reads) {
        char names[500] = "";
        for (int k = 0; k < reads; ++k)
            strcat(names, k ? ", x" : "x");
        const kn_stage_text stage = {.body = "z = x; w = x", .reads = names, .gives = "z, w"};
        const kn_program_text text = {.in = "T x", .out = "T z, T w", .stage = &stage, .n_stages = 1};
        kn_program *p = NULL;
        assert_int_equal(kn_program_create(&p, &text), reads <= 126 ? KILN_OK : KILN_ERROR_UNSUPPORTED);
        if (p)
            assert_true(p->stage[0].n_read == reads && p->stage[0].n_given == 2);
        kn_program_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_texts),
        cmocka_unit_test(names),
        cmocka_unit_test(options),
        cmocka_unit_test(texts_with_faults),
        cmocka_unit_test(names_of_nothing),
        cmocka_unit_test(as_many_names_as_fit),
        cmocka_unit_test(uses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
