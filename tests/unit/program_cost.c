/* The estimated cost of bodies, counted by hand. */
#include "program/cost.h"
#include "program/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int cost_of(const char *body)
{
    kn_program *p = NULL;
    char text[256];
    snprintf(text, sizeof text, "z = x; %s", body);
    assert_int_equal(kn_program_elementwise(&p, "float32 x", "float32 z", text, "k", NULL), KILN_OK);
    int cost = kn_cost_functions(p);
    kn_program_free(p);
    return cost;
}

static void bodies(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        int cost;
    } rows[] = {
        {"", 0},
        {"z = sqrt(x) + abs(x)", 0},
        {"z = exp(x)", 1},
        {"z = exp (x)", 1},
        {"z = expf(x)", 1},
        {"z = expm1f(x) + exp2(x)", 2},
        {"z = expl(x) + expff(x) + exx(x) + ex(x) + aexp(x)", 0},
        {"z = exp + sin", 0},
        {"z = exp[0](x)", 0},
        {"z = sin(cos(tan(x)))", 3},
        {"// exp(x)\nconst char *t = \"exp(x)\"; /* exp(x) */", 0},
        {"for (int k = 0; k < 3; ++k) z += exp(x)", 8},
        {"while (z < 3) z += exp(x) + log(x)", 16},
        {"z = sin(x); for (;;) z = pow(x, 2)", 9},
        {"fort(1); fo(1); whale(2); whilst(3); z = exp(x)", 1},
        {"z = exp1(x) + log3(x)", 0},
        {"z = log10(x) + log1p(x) + tgammaf(x)", 3},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k)
        if (cost_of(rows[k].body) != rows[k].cost)
            fail_msg("'%s' costs %d instead of %d", rows[k].body, cost_of(rows[k].body), rows[k].cost);
}

static void every_function(void **state)
{
    (void)state;
    static const char *const costly[] = {
        "acos",  "acosh", "asin",   "asinh", "atan", "atan2", "atanh", "cbrt",  "cos",   "cosh",
        "erf",   "erfc",  "exp",    "exp10", "exp2", "expm1", "fmod",  "hypot", "log",   "log10",
        "log1p", "log2",  "lgamma", "pow",   "sin",  "sinh",  "tan",   "tanh",  "tgamma"};
    for (size_t k = 0; k < sizeof costly / sizeof *costly; ++k) {
        char body[32];
        snprintf(body, sizeof body, "z = %s(x)", costly[k]);
        assert_int_equal(cost_of(body), 1);
    }
}

/* The sum over all stages. */
static void several_stages(void **state)
{
    kn_program *p = NULL;
    const kn_stage_text stages[] = {
        {.label = "first", .body = "t = exp(x)", .reads = "x", .gives = "t"},
        {.label = "second", .body = "z = sin(t) + log(t)", .reads = "t", .gives = "z"}};
    const kn_program_text text = {
        .in = "float32 x", .out = "float32 z", .values = "float32 t", .stage = stages, .n_stages = 2};
    (void)state;
    assert_int_equal(kn_program_create(&p, &text), KILN_OK);
    assert_int_equal(kn_cost_functions(p), 3);
    kn_program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies),
        cmocka_unit_test(every_function),
        cmocka_unit_test(several_stages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
