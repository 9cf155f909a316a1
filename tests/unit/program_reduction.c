/* Reductions as programs: what they are made of, and what is refused. */
#include "program/program.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* The program's own values, as signatures write them: what is mapped and what is accumulated. */
static void assert_values(const kn_program *p, const char *expected)
{
    kn_str text = KN_STR_INIT;
    assert_int_equal(p->n_values, 2);
    for (int v = 0; v < 2; ++v) {
        kn_str_append(&text, v ? ", " : "");
        kn_param_format(&text, &p->param[p->n_in + p->n_out + v]);
    }
    assert_string_equal(kn_str_text(&text), expected);
    kn_str_free(&text);
}

static kn_program *make(const char *in, const char *out, const char *reduce_type)
{
    kn_program *p = NULL;
    kiln_kernel_options o = KILN_KERNEL_OPTIONS_INIT;
    o.reduce_type = reduce_type;
    assert_int_equal(kn_program_reduction(&p, in, out, "x * x", "a + b", "z = a", "0", "k", &o), KILN_OK);
    return p;
}

static void parts(void **state)
{
    kn_program *p = make("T x", "T z", NULL);
    (void)state;
    assert_string_equal(p->pattern, "mrk");
    assert_string_equal(p->name, "k");
    assert_true(p->n_in == 1 && p->n_out == 1 && p->n_stages == 3 && p->reduced_outputs == 1);
    assert_int_equal(p->reduced, KN_REDUCED_BY_CALL);
    assert_string_equal(p->stage[0].body, "x * x");
    assert_string_equal(p->stage[1].body, "a + b");
    assert_string_equal(p->stage[1].identity, "0");
    assert_string_equal(p->stage[2].body, "z = a");
    assert_values(p, "_wide T _kn_mapped, _wide T _a");
    kn_program_free(p);
}

/* The first output's, unless the options say another. */
static void reduce_types(void **state)
{
    static const struct {
        const char *in, *out, *type, *values;
    } rows[] = {
        {"T x", "float16 z", NULL, "_wide float16 _kn_mapped, _wide float16 _a"},
        {"T x, int8 y", "U z, T w", NULL, "_wide U _kn_mapped, _wide U _a"},
        {"T x", "raw int32 z", NULL, "_wide int32 _kn_mapped, _wide int32 _a"},
        {"T x", "T z", "float64", "float64 _kn_mapped, float64 _a"},
        {"T x", "U z", "T", "T _kn_mapped, T _a"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
        kn_program *p = NULL;
        kiln_kernel_options o = KILN_KERNEL_OPTIONS_INIT;
        o.reduce_type = rows[k].type;
        kiln_status status = kn_program_reduction(&p, rows[k].in, rows[k].out, "x", "a + b",
                                                  strstr(rows[k].out, " w")    ? "z = a; w = a"
                                                  : strstr(rows[k].out, "raw") ? "z[0] = a"
                                                                               : "z = a",
                                                  NULL, "k", &o);
        if (status != KILN_OK)
            fail_msg("row %zu: %s", k, kiln_error_message());
        assert_values(p, rows[k].values);
        assert_string_equal(p->stage[1].identity, "");
        kn_program_free(p);
    }
}

static void missing_texts(void **state)
{
    static const char *const names[] = {"out_params", "map", "reduce", "post"};
    (void)state;
    for (int missing = 0; missing < 4; ++missing) {
        const char *text[] = {"T z", "x", "a + b", "z = a"};
        char words[64];
        kn_program *p = NULL;
        text[missing] = NULL;
        snprintf(words, sizeof words, "k: %s is NULL; a string was expected", names[missing]);
        assert_int_equal(kn_program_reduction(&p, "T x", text[0], text[1], text[2], text[3], "0", "k", NULL),
                         KILN_ERROR_INVALID);
        assert_null(p);
        assert_string_equal(kiln_error_message(), words);
    }
    kn_program *p = NULL;
    assert_int_equal(kn_program_reduction(&p, "T x", "", "x", "a + b", "", "0", "k", NULL),
                     KILN_ERROR_INVALID);
    assert_non_null(strstr(kiln_error_message(), "k: the output signature is empty"));
    assert_int_equal(kn_program_reduction(&p, "T x", "flot z", "x", "a + b", "z = a", "0", NULL, NULL),
                     KILN_ERROR_SYNTAX);
    assert_true(strncmp(kiln_error_message(), "kernel: output signature: ", 26) == 0);
    assert_null(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts),
        cmocka_unit_test(reduce_types),
        cmocka_unit_test(missing_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
