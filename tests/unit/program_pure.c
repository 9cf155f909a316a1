/* Bodies that may be computed once for each value of their input, and those that may not or need not be. */
#include "program/program.h"
#include "program/pure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"

static kn_program *program_of(const char *in, const char *out, const char *body,
                              const kiln_kernel_options *options)
{
    kn_program *p = NULL;
    if (kn_program_elementwise(&p, in, out, body, "k", options) != KILN_OK)
        fail_msg("%s: %s", body, kiln_error_message());
    return p;
}

static bool is_pure(const char *out, const char *body)
{
    kn_program *p = program_of("uint8 x, float32 m", out, body, NULL);
    bool pure = kn_body_is_pure(p);
    kn_program_free(p);
    return pure;
}

static void straight_assignments_are_pure(void **state)
{
    (void)state;
    assert_true(is_pure("float32 z", "z = x / 255.0f - m"));
    assert_true(is_pure("float32 z", "float q = x - m; z = q * q; // z"));
    assert_true(is_pure("float32 z, float32 w", "z = exp(x - m);\nw = x"));
}

static void what_does_more_is_not(void **state)
{
    static const char *const bodies[] = {"z += x",
                                         "z = x; z = z + m",
                                         "if (x > 3) z = m",
                                         "z = x > 3 ? m : 0",
                                         "for (int k = 0; k < 3; ++k) z = m",
                                         "z = m; return",
                                         "z = i + x",
                                         "z = _ind.size()",
                                         "{ z = x; }",
                                         "float q = z; z = q",
                                         "float q = 1, *p = &q; z = x",
                                         "z = clock()",
                                         "z = __clz(x)",
                                         "static float q; z = x",
                                         "printf(\"z\"); z = x",
                                         "z = x; bool q = z == m",
                                         "float q = 0; (q = m, z = q)",
                                         "#if 1\nz = x\n#endif"};
    (void)state;
    for (size_t k = 0; k < sizeof bodies / sizeof bodies[0]; k++)
        if (is_pure("float32 z", bodies[k]))
            fail_msg("'%s' is taken for pure", bodies[k]);
    assert_false(is_pure("float32 z, float32 w", "z = x, w = m"));
}

static bool is_pure_with(const char *in, const kiln_kernel_options *options)
{
    kn_program *p = program_of(in, "float32 z", "z = x * 2", options);
    bool pure = kn_body_is_pure(p);
    kn_program_free(p);
    return pure;
}

static void nor_are_texts_around_it(void **state)
{
    (void)state;
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    assert_true(is_pure_with("uint8 x", &options));
    options.preamble = "#define x (*counter)++";
    assert_false(is_pure_with("uint8 x", &options));
    options = (kiln_kernel_options)KILN_KERNEL_OPTIONS_INIT;
    options.loop_prep = "float q = 0";
    assert_false(is_pure_with("uint8 x", &options));
    options = (kiln_kernel_options)KILN_KERNEL_OPTIONS_INIT;
    options.after_loop = "float q = 0";
    assert_false(is_pure_with("uint8 x", &options));
    assert_false(is_pure_with("uint8 x, raw uint8 y", NULL));
}

static void bodies_that_move_elements_are_told(void **state)
{
    static const struct {
        const char *in, *out, *body;
        bool assigns, is_copy;
    } cases[] = {{"T x", "T z", "z = x", true, true},
                 {"T x", "T z", " z = x; // as it is", true, true},
                 {"uint8 x", "float32 z", "z = x", true, false},
                 {"T x", "U z", "z = x", true, false},
                 {"T x", "T z", "z = -x", false, false},
                 {"T x", "T z", "z = x; x = z", false, false},
                 {"T x", "T z", "z = z", false, false},
                 {"T x, T y", "T z", "z = x", false, false},
                 {"T x", "T z, T w", "z = x; w = x", false, false}};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        kn_program *p = program_of(cases[k].in, cases[k].out, cases[k].body, NULL);
        if (kn_body_assigns(p) != cases[k].assigns || kn_body_is_copy(p) != cases[k].is_copy)
            fail_msg("'%s' from %s to %s is taken for another", cases[k].body, cases[k].in, cases[k].out);
        kn_program_free(p);
    }
}

static bool is_costly(const char *body)
{
    kn_program *p = program_of("uint8 x, float32 m", "float32 z", body, NULL);
    bool costly = kn_body_is_expensive(p);
    kn_program_free(p);
    return costly;
}

static void divisions_and_functions_are_expensive(void **state)
{
    (void)state;
    assert_true(is_costly("z = x / m"));
    assert_true(is_costly("z = x % 3"));
    assert_true(is_costly("z = exp(m)"));
    assert_false(is_costly("z = x * m - 1 /* x / m */"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(straight_assignments_are_pure),
        cmocka_unit_test(what_does_more_is_not),
        cmocka_unit_test(nor_are_texts_around_it),
        cmocka_unit_test(bodies_that_move_elements_are_told),
        cmocka_unit_test(divisions_and_functions_are_expensive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
