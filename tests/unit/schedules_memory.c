/* Source is written whole or not at all: whichever allocation fails. */
#include "base/alloc.h"
#include "codegen/codegen.h"
#include "schedules/choose.h"
#include "schedule/kind.h"
#include "program/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "drawn.h"

enum { ROWS = 256, COLUMNS = 512 };

/* A call of two inputs and a result of ROWS x COLUMNS, by their strides. */
typedef struct layout_case {
    const char *target, *kind;
    int64_t stride[3][2];
    bool is_reduction;
} layout_case;

static kn_program *make_program(bool is_reduction)
{
    kn_program *p = NULL;
    kiln_kernel_options o = KILN_KERNEL_OPTIONS_INIT;
    o.preamble = "// a preamble";
    o.loop_prep = "float half = n / 2;";
    o.after_loop = "(void)half;";
    if (is_reduction)
        assert_int_equal(kn_program_reduction(&p, "float16 x, float32 y", "float32 z", "x * y", "a + b",
                                              "z = a", "0", "k", NULL),
                         KILN_OK);
    else
        assert_int_equal(
            kn_program_elementwise(&p, "float16 x, float32 y", "float32 z", "z = x / y + i", "k", &o),
            KILN_OK);
    return p;
}

static void make_spec(kn_spec *spec, const layout_case *c, const kn_program *p)
{
    static const int64_t shape[] = {ROWS, COLUMNS}, outputs[] = {ROWS, 1};
    static const int item[] = {2, 4, 4};
    kn_space *space = calloc(1, sizeof *space);
    kn_view view[3];
    kn_access access[3];
    kn_launch_params params;
    assert_non_null(space);
    *spec = (kn_spec){.program = p, .generator = "1-test"};
    assert_int_equal(kn_target_parse(&spec->target, c->target), KILN_OK);
    for (int k = 0; k < 3; ++k) {
        view[k] = (kn_view){k == 2 && c->is_reduction ? outputs : shape, c->stride[k], 2, k == 2};
        access[k] = (kn_access){item[k], 4096, k == 2};
        spec->operand[k] = (kn_operand){.pass = KN_PASS_ARRAY, .dtype = k ? KILN_FLOAT32 : KILN_FLOAT16};
    }
    spec->n_arrays = kn_operands_settle(spec->operand, 3);
    kn_space_make(space, 2, shape, c->is_reduction ? 2 : 0, view, 3,
                  p->uses & KN_USES_INDEX ? KN_WITH_INDEX : 0);
    assert_int_equal(kn_schedule_choose(&spec->schedule, &params, p, space, access, 3, &spec->target, 0),
                     KILN_OK);
    assert_string_equal(spec->schedule.kind->name, c->kind);
    free(space);
}

static void nth_allocation_fails(void **state)
{
    static const layout_case cases[] = {
        {"sm_90", "flat", {{1024, 2}, {2048, 4}, {2048, 4}}, false},
        {"sm_90", "output_bound", {{0, 2}, {2048, 4}, {2048, 4}}, false},
        {"sm_90", "rows", {{2052, 4}, {2052, 4}, {2048, 4}}, false},
        {"sm_90", "tile", {{2, 512}, {4, 1024}, {2048, 4}}, false},
        {"sm_90", "windows", {{2, 512}, {4, 1028}, {2052, 4}}, false},
        {"sm_90", "strided", {{2, 512}, {4, 1024}, {4096, 8}}, false},
        {"sm_90", "reduce_rows", {{1024, 2}, {2048, 4}, {4, 0}}, true},
        {"host", "flat", {{1024, 2}, {2048, 4}, {2048, 4}}, false},
        {"host", "reduce", {{1024, 2}, {2048, 4}, {4, 0}}, true},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        kn_program *p = make_program(cases[k].is_reduction);
        kn_spec *spec = malloc(sizeof *spec);
        kn_str whole = KN_STR_INIT;
        assert_non_null(spec);
        make_spec(spec, &cases[k], p);
        assert_int_equal(kn_codegen_source(&whole, spec, NULL), KILN_OK);
        unsigned long nth = 0, made;
        do {
            nth = nth == 0 ? 1 : drawn_next(nth, 4);
            kn_str source = KN_STR_INIT;
            kn_alloc_fail_at(nth, 0);
            kiln_status status = kn_codegen_source(&source, spec, NULL);
            made = kn_alloc_fail_at(0, 0);
            assert_int_equal(status, status == KILN_OK ? KILN_OK : KILN_ERROR_MEMORY);
            if (status == KILN_OK && strcmp(kn_str_text(&source), kn_str_text(&whole)) != 0)
                fail_msg("%s for %s: without allocation %lu the source is another one", cases[k].kind,
                         cases[k].target, nth);
            kn_str_free(&source);
        } while (made >= nth);
        assert_true(made > 10);
        kn_str_free(&whole);
        free(spec);
        kn_program_free(p);
    }
}

int main(void)
{
    setenv("KILN_KINDS", "-fewest", 0); /* kinds take few elements, too */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nth_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
