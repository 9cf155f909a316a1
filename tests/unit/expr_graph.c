/* Graphs: equal nodes are one, numbers of numbers are numbers, what nobody needs goes. */
#include "graph/graph.h"
#include "graph_text.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "each_allocation.h"

static kn_graph *make(const char *inputs)
{
    kn_graph *g = NULL;
    assert_int_equal(kn_graph_create(&g, "g", ""), KILN_OK);
    assert_int_equal(kn_graph_set_inputs(g, inputs), KILN_OK);
    return g;
}

static int add(kn_graph *g, const kn_node *node)
{
    int k = -1;
    assert_int_equal(kn_graph_add(&k, g, node), KILN_OK);
    return k;
}

static int number(kn_graph *g, kiln_arg value)
{
    return add(g, &(kn_node){.kind = KN_NODE_NUMBER, .number = value});
}

static int call(kn_graph *g, const char *name, int a, int b)
{
    char copy[32];
    int in[2] = {a, b};
    snprintf(copy, sizeof copy, "%s", name);
    return add(
        g,
        &(kn_node){.kind = KN_NODE_CALL, .n_in = b < 0 ? 1 : 2, .in = in, .name = copy, .is_operator = true});
}

static void equal_nodes_are_one(void **state)
{
    kn_graph *g = make("x, y");
    (void)state;
    int sum = call(g, "add", 0, 1);
    assert_int_equal(sum, 2);
    assert_int_equal(call(g, "add", 0, 1), sum);
    assert_int_not_equal(call(g, "add", 1, 0), sum); /* operations need not commute */
    assert_int_not_equal(call(g, "subtract", 0, 1), sum);
    int one = number(g, kiln_arg_int(1));
    assert_int_equal(number(g, kiln_arg_int(1)), one);
    assert_int_not_equal(number(g, kiln_arg_float(1)), one);
    assert_int_not_equal(number(g, kiln_arg_bool(true)), one);
    assert_int_not_equal(number(g, kiln_arg_float(-0.0)), number(g, kiln_arg_float(0.0)));
    assert_int_equal(number(g, kiln_arg_float((double)NAN)), number(g, kiln_arg_float((double)NAN)));
    kn_graph_free(g);
}

/* Each field of a node tells it from another. */
static void fields_tell_nodes_apart(void **state)
{
    kn_graph *g = make("x, y");
    int in[2] = {0, 1};
    int64_t extents[2][2] = {{2, 3}, {3, 2}};
    kn_subscript subscript[3] = {
        {KN_SUBSCRIPT_SLICE, 0, 1, 1}, {KN_SUBSCRIPT_SLICE, 0, 1, 2}, {KN_SUBSCRIPT_INDEX, 0, 1, 1}};
    char sum[] = "sum", max[] = "max";
    const kn_node nodes[] = {
        {.kind = KN_NODE_CALL, .n_in = 1, .in = in, .name = sum},
        {.kind = KN_NODE_CALL, .n_in = 1, .in = in, .name = max},
        {.kind = KN_NODE_CALL, .n_in = 2, .in = in, .name = sum},
        {.kind = KN_NODE_CALL, .n_in = 1, .in = in + 1, .name = sum},
        {.kind = KN_NODE_CALL, .n_in = 1, .in = in, .name = sum, .index = 1},
        {.kind = KN_NODE_CALL, .n_in = 1, .in = in, .name = sum, .has_axes = true},
        {.kind = KN_NODE_CALL, .n_in = 1, .in = in, .name = sum, .has_axes = true, .n_axes = 1},
        {.kind = KN_NODE_CALL, .n_in = 1, .in = in, .name = sum, .has_axes = true, .n_axes = 1, .axis = {1}},
        {.kind = KN_NODE_CALL, .n_in = 1, .in = in, .name = sum, .has_axes = true, .n_axes = 2, .axis = {1}},
        {.kind = KN_NODE_CALL, .n_in = 1, .in = in, .name = sum, .keepdims = true},
        {.kind = KN_NODE_CALL, .n_in = 1, .in = in, .name = sum, .is_operator = true},
        {.kind = KN_NODE_CAST, .n_in = 1, .in = in, .dtype = KILN_FLOAT32},
        {.kind = KN_NODE_CAST, .n_in = 1, .in = in, .dtype = KILN_FLOAT64},
        {.kind = KN_NODE_TRANSPOSE, .n_in = 1, .in = in},
        {.kind = KN_NODE_EXTENT, .n_in = 1, .in = in},
        {.kind = KN_NODE_NDIM, .n_in = 1, .in = in},
        {.kind = KN_NODE_RESHAPE, .n_in = 1, .in = in, .n_axes = 2, .extent = extents[0]},
        {.kind = KN_NODE_RESHAPE, .n_in = 1, .in = in, .n_axes = 2, .extent = extents[1]},
        {.kind = KN_NODE_SLICE, .n_in = 1, .in = in, .n_subscripts = 1, .subscript = &subscript[0]},
        {.kind = KN_NODE_SLICE, .n_in = 1, .in = in, .n_subscripts = 1, .subscript = &subscript[1]},
        {.kind = KN_NODE_SLICE, .n_in = 1, .in = in, .n_subscripts = 1, .subscript = &subscript[2]},
        {.kind = KN_NODE_SLICE, .n_in = 1, .in = in, .n_subscripts = 2, .subscript = &subscript[0]},
    };
    const int count = sizeof nodes / sizeof nodes[0];
    (void)state;
    for (int pass = 0; pass < 2; ++pass)
        for (int k = 0; k < count; ++k)
            assert_int_equal(add(g, &nodes[k]), 2 + k);
    assert_int_equal(g->n_nodes, 2 + count);
    kn_graph_free(g);
}

/* ---- folding ---- */

static kiln_arg i(int64_t value)
{
    return kiln_arg_int(value);
}
static kiln_arg u(uint64_t value)
{
    return kiln_arg_uint(value);
}
static kiln_arg f(double value)
{
    return kiln_arg_float(value);
}
static kiln_arg b(bool value)
{
    return kiln_arg_bool(value);
}
static kiln_arg z(double re, double im)
{
    return kiln_arg_complex(re, im);
}

static void assert_number(const char *name, kiln_arg x, kiln_arg y, const char *expected)
{
    kn_graph *g = make("");
    kn_str text = KN_STR_INIT;
    int first = number(g, x), second = y.kind == KILN_ARG_NONE ? -1 : number(g, y);
    int k = call(g, name, first, second);
    assert_int_equal(g->node[k].kind, KN_NODE_NUMBER);
    graph_text_node(&text, g, k);
    assert_string_equal(kn_str_text(&text), expected);
    kn_str_free(&text);
    kn_graph_free(g);
}

/* Python 3's answers. */
static void numbers_are_folded_as_python_does(void **state)
{
    const kiln_arg none = kiln_arg_none();
    (void)state;
    assert_number("add", i(2), i(3), "5");
    assert_number("add", b(true), b(true), "2");
    assert_number("add", i(INT64_MAX), i(1), "9223372036854775808u");
    assert_number("add", i(1), f(0.5), "1.5f");
    assert_number("add", i(1), z(0, 2), "1+2j");
    assert_number("subtract", i(INT64_MIN), i(-1), "-9223372036854775807");
    assert_number("subtract", u(UINT64_MAX), i(1), "18446744073709551614u");
    assert_number("subtract", f(1), z(0, 2), "1-2j");
    assert_number("multiply", i(-3), i(4), "-12");
    assert_number("multiply", u(UINT64_MAX), i(1), "18446744073709551615u");
    assert_number("multiply", f(0.5), i(4), "2f");
    assert_number("multiply", z(0, 1), z(0, 1), "-1+0j");
    assert_number("divide", i(7), i(2), "3.5f");
    assert_number("divide", i(6), i(2), "3f");
    assert_number("divide", f(1), i(-4), "-0.25f");
    assert_number("divide", z(2, 4), i(2), "1+2j");
    assert_number("floor_divide", i(7), i(2), "3");
    assert_number("floor_divide", i(-7), i(2), "-4");
    assert_number("floor_divide", i(7), i(-2), "-4");
    assert_number("floor_divide", i(-6), i(2), "-3");
    assert_number("floor_divide", f(-7), i(2), "-4f");
    assert_number("floor_divide", f(1), f(0.1), "9f");
    assert_number("floor_divide", f(-0.0), f(1), "-0f");
    assert_number("remainder", i(-7), i(3), "2");
    assert_number("remainder", i(7), i(-3), "-2");
    assert_number("remainder", i(-6), i(3), "0");
    assert_number("remainder", f(-7.5), i(2), "0.5f");
    assert_number("remainder", f(6), i(-3), "-0f");
    assert_number("power", i(2), i(10), "1024");
    assert_number("power", i(2), i(63), "9223372036854775808u");
    assert_number("power", i(-2), i(63), "-9223372036854775808");
    assert_number("power", i(-1), i(INT64_MAX), "-1");
    assert_number("power", i(-1), i(1000), "1");
    assert_number("power", i(0), i(0), "1");
    assert_number("power", i(0), u(UINT64_MAX), "0");
    assert_number("power", i(2), i(-2), "0.25f");
    assert_number("power", f(2), f(0.5), "1.4142135623730951f");
    assert_number("power", f(-8), i(3), "-512f");
    assert_number("power", z(0, 1), i(0), "1+0j");
    assert_number("negative", i(5), none, "-5");
    assert_number("negative", b(true), none, "-1");
    assert_number("negative", u(UINT64_C(1) << 63), none, "-9223372036854775808");
    assert_number("negative", f(0), none, "-0f");
    assert_number("negative", z(1, -2), none, "-1+2j");
    assert_number("positive", b(true), none, "1");
    assert_number("positive", f(2.5), none, "2.5f");
    assert_number("invert", i(5), none, "-6");
    assert_number("invert", b(true), none, "-2");
    assert_number("bitwise_and", i(12), i(10), "8");
    assert_number("bitwise_or", i(12), i(10), "14");
    assert_number("bitwise_xor", i(12), i(-1), "-13");
    assert_number("bitwise_and", b(true), b(false), "False");
    assert_number("bitwise_or", b(true), i(2), "3");
    assert_number("left_shift", i(1), i(63), "9223372036854775808u");
    assert_number("left_shift", i(-3), i(2), "-12");
    assert_number("left_shift", i(0), i(1000), "0");
    assert_number("right_shift", i(-5), i(1), "-3");
    assert_number("right_shift", i(-5), i(1000), "-1");
    assert_number("equal", i(1), b(true), "True");
    assert_number("equal", i((INT64_C(1) << 53) + 1), f(9007199254740992.0), "False");
    assert_number("equal", z(1, 0), i(1), "True");
    assert_number("equal", z(1, 1), i(1), "False");
    assert_number("not_equal", f((double)NAN), f((double)NAN), "True");
    assert_number("not_equal", z(1, 1), z(1, 1), "False");
    assert_number("less", u(UINT64_MAX), i(-1), "False");
    assert_number("less", i(-1), f(-0.5), "True");
    assert_number("less_equal", i(2), i(2), "True");
    assert_number("greater", i(3), i(2), "True");
    assert_number("greater_equal", i(2), i(3), "False");
}

/* (-8) ** 0.5, which is complex. */
static void roots_of_negative_numbers_are_complex(void **state)
{
    kn_graph *g = make("");
    (void)state;
    int k = call(g, "power", number(g, i(-8)), number(g, f(0.5)));
    assert_int_equal(g->node[k].number.kind, KILN_ARG_WEAK_COMPLEX);
    assert_true(fabs(g->node[k].number.value.d[0]) < 1e-15);
    assert_true(fabs(g->node[k].number.value.d[1] - 2.8284271247461903) < 1e-15);
    kn_graph_free(g);
}

static void assert_no_number(const char *name, kiln_arg x, kiln_arg y, const char *words)
{
    kn_graph *g = make("");
    char copy[32];
    int in[2] = {number(g, x), y.kind == KILN_ARG_NONE ? 0 : number(g, y)}, k = -1;
    snprintf(copy, sizeof copy, "%s", name);
    const kn_node node = {.kind = KN_NODE_CALL,
                          .n_in = y.kind == KILN_ARG_NONE ? 1 : 2,
                          .in = in,
                          .name = copy,
                          .is_operator = true};
    assert_int_equal(kn_graph_add(&k, g, &node), KILN_ERROR_INVALID);
    assert_int_equal(k, -1);
    assert_non_null(strstr(kiln_error_message(), words));
    kn_graph_free(g);
}

static void what_python_refuses(void **state)
{
    const kiln_arg none = kiln_arg_none();
    (void)state;
    assert_no_number("divide", i(1), i(0), "a division by zero");
    assert_no_number("divide", z(1, 1), f(0), "a division by zero");
    assert_no_number("floor_divide", f(1), b(false), "a division by zero");
    assert_no_number("remainder", i(1), i(0), "a division by zero");
    assert_no_number("remainder", z(1, 1), i(2), "an operator that Python does not have");
    assert_no_number("floor_divide", i(1), z(1, 1), "an operator that Python does not have");
    assert_no_number("power", i(0), i(-1), "zero to a power");
    assert_no_number("power", f(10), i(400), "a power that float64 does not hold");
    assert_no_number("power", i(2), i(64), "64 bits do not hold");
    assert_no_number("power", i(-3), i(1000000), "64 bits do not hold");
    assert_no_number("add", u(UINT64_MAX), i(1), "64 bits do not hold");
    assert_no_number("subtract", i(INT64_MIN), i(1), "64 bits do not hold");
    assert_no_number("multiply", u(UINT64_MAX), u(UINT64_MAX), "64 bits do not hold");
    assert_no_number("negative", u(UINT64_MAX), none, "64 bits do not hold");
    assert_no_number("left_shift", i(1), i(64), "64 bits do not hold");
    assert_no_number("left_shift", i(1), i(1000), "64 bits do not hold");
    assert_no_number("left_shift", i(1), i(-1), "a shift by less than nothing");
    assert_no_number("right_shift", i(1), i(-1), "a shift by less than nothing");
    assert_no_number("left_shift", f(1), i(1), "an operator that Python does not have");
    assert_no_number("right_shift", i(1), f(1), "an operator that Python does not have");
    assert_no_number("bitwise_and", f(1), i(1), "an operator that Python does not have");
    assert_no_number("invert", f(1), none, "an operator that Python does not have");
    assert_no_number("less", z(1, 0), i(2), "an operator that Python does not have");
}

static void only_operators_on_numbers_are_folded(void **state)
{
    kn_graph *g = make("x");
    char add_name[] = "add", sqrt_name[] = "sqrt";
    int two = number(g, i(2)), in[2] = {two, two};
    (void)state;
    int k = add(g, &(kn_node){.kind = KN_NODE_CALL, .n_in = 2, .in = in, .name = add_name});
    assert_int_equal(g->node[k].kind, KN_NODE_CALL);
    k = add(g, &(kn_node){.kind = KN_NODE_CALL, .n_in = 1, .in = in, .name = sqrt_name, .is_operator = true});
    assert_int_equal(g->node[k].kind, KN_NODE_CALL);
    k = call(g, "add", 0, two);
    assert_int_equal(g->node[k].kind, KN_NODE_CALL);
    kn_graph_free(g);
}

/* Where an array is certainly in it, an operator is a function: x + y is add(x, y). */
static void operators_on_arrays_are_functions(void **state)
{
    kn_graph *g = make("x, y");
    char name[] = "add";
    int in[2] = {0, 0};
    (void)state;
    in[0] = add(g, &(kn_node){.kind = KN_NODE_CAST, .n_in = 1, .in = in, .dtype = KILN_FLOAT32});
    in[1] = 1;
    int k = call(g, "add", in[0], 1);
    assert_false(g->node[k].is_operator);
    assert_int_equal(add(g, &(kn_node){.kind = KN_NODE_CALL, .n_in = 2, .in = in, .name = name}), k);
    k = call(g, "add", 0, 1); /* both may be numbers at a call */
    assert_true(g->node[k].is_operator);
    k = call(g, "add", k, 1);
    assert_true(g->node[k].is_operator);
    kn_graph_free(g);
}

/* ---- inputs, results, pruning ---- */

static void inputs(void **state)
{
    kn_graph *g = make(" x ,\ty,double , T");
    (void)state;
    assert_int_equal(g->n_in, 4);
    assert_string_equal(g->input[0], "x");
    assert_string_equal(g->input[2], "double");
    assert_string_equal(g->input[3], "T");
    assert_int_equal(g->n_nodes, 4);
    assert_int_equal(g->node[3].index, 3);
    kn_graph_free(g);
    g = make(" ");
    assert_int_equal(g->n_in, 0);
    kn_graph_free(g);
}

static void assert_inputs_refused(const char *names, kiln_status status, const char *words)
{
    kn_graph *g = NULL;
    assert_int_equal(kn_graph_create(&g, "g", ""), KILN_OK);
    assert_int_equal(kn_graph_set_inputs(g, names), status);
    if (!strstr(kiln_error_message(), words))
        fail_msg("%s: '%s' was expected in: %s", names, words, kiln_error_message());
    kn_graph_free(g);
}

static void inputs_that_are_refused(void **state)
{
    char many[400] = "a0", long_name[80];
    (void)state;
    assert_inputs_refused("x, x", KILN_ERROR_INVALID, "'x' is there twice\n  x, x\n     ^");
    assert_inputs_refused("x y", KILN_ERROR_SYNTAX, "a comma was expected between names\n  x y\n    ^");
    assert_inputs_refused("x,", KILN_ERROR_SYNTAX, "another name was expected");
    assert_inputs_refused(",x", KILN_ERROR_SYNTAX, "a name was expected");
    assert_inputs_refused("1x", KILN_ERROR_SYNTAX, "a name was expected");
    assert_inputs_refused("x, y+z", KILN_ERROR_SYNTAX, "name was expected");
    memset(long_name, 'a', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = 0;
    assert_inputs_refused(long_name, KILN_ERROR_SYNTAX, "at most 63 characters");
    for (int k = 1; k < 65; ++k)
        snprintf(many + strlen(many), sizeof many - strlen(many), ",a%d", k);
    assert_inputs_refused(many, KILN_ERROR_INVALID, "at most 64 names");
}

static void results_have_names_of_their_own(void **state)
{
    kn_graph *g = make("x, out1");
    char too_long[80];
    (void)state;
    memset(too_long, 'a', sizeof too_long - 1);
    too_long[sizeof too_long - 1] = 0;
    const char *const wishes[] = {"m", "m", "x", NULL, "_s", "kn_s", "2", too_long};
    const char *const expected[] = {"m", "out", "out2", "out3", "out4", "out5", "out6", "out7"};
    for (int k = 0; k < 8; ++k) {
        assert_int_equal(kn_graph_add_result(g, 0, wishes[k]), KILN_OK);
        assert_string_equal(g->output[k], expected[k]);
    }
    for (int k = 8; k < KN_MAX_PARAMS; ++k)
        assert_int_equal(kn_graph_add_result(g, 0, NULL), KILN_OK);
    assert_int_equal(kn_graph_add_result(g, 0, NULL), KILN_ERROR_INVALID);
    assert_non_null(strstr(kiln_error_message(), "more results than 64"));
    kn_graph_free(g);
}

static void what_nobody_needs_goes(void **state)
{
    kn_graph *g = make("x, y");
    kn_str text = KN_STR_INIT;
    (void)state;
    call(g, "multiply", 0, 0);
    int sum = call(g, "add", 0, number(g, i(2)));
    call(g, "subtract", sum, 1);
    int product = call(g, "multiply", sum, sum);
    assert_int_equal(kn_graph_add_result(g, product, "p"), KILN_OK);
    assert_int_equal(kn_graph_add_result(g, sum, "s"), KILN_OK);
    assert_int_equal(kn_graph_prune(g), KILN_OK);
    assert_int_equal(g->n_nodes, 5);
    graph_text(&text, g);
    assert_string_equal(kn_str_text(&text), "p = multiply'(add'(x, 2), add'(x, 2)); s = add'(x, 2)");
    kn_str_free(&text);
    kn_graph_free(g);
    kn_graph_free(NULL);
}

static void too_many_nodes(void **state)
{
    kn_graph *g = make("x");
    int k = -1;
    (void)state;
    const kn_node one_more = {.kind = KN_NODE_NUMBER, .number = i(0)};
    assert_int_equal(number(g, i(1)), 1);
    g->n_nodes = KN_MAX_NODES;
    assert_int_equal(kn_graph_add(&k, g, &one_more), KILN_ERROR_INVALID);
    g->n_nodes = 2;
    assert_non_null(strstr(kiln_error_message(), "more than 16777216 different values"));
    assert_int_equal(number(g, i(1)), 1);
    kn_graph_free(g);
}

static kiln_status build(kn_graph **out)
{
    kn_graph *g = NULL;
    int k = 0, in[2] = {0, 1};
    int64_t extent[1] = {-1};
    char name[] = "add";
    kn_subscript subscript = {.kind = KN_SUBSCRIPT_REST};
    kiln_status status = kn_graph_create(&g, "g", "x + y");
    if (status == KILN_OK)
        status = kn_graph_set_inputs(g, "x, y, z");
    const kn_node nodes[] = {
        {.kind = KN_NODE_CALL, .n_in = 2, .in = in, .name = name},
        {.kind = KN_NODE_SLICE, .n_in = 1, .in = in, .n_subscripts = 1, .subscript = &subscript},
        {.kind = KN_NODE_RESHAPE, .n_in = 1, .in = in, .n_axes = 1, .extent = extent}};
    for (int n = 0; n < 3 && status == KILN_OK; ++n) {
        status = kn_graph_add(&k, g, &nodes[n]);
        if (status == KILN_OK)
            status = kn_graph_add_result(g, k, NULL);
    }
    if (status == KILN_OK)
        status = kn_graph_prune(g);
    if (status == KILN_OK)
        *out = g;
    else
        kn_graph_free(g);
    return status;
}

static void nth_allocation_fails(void **state)
{
    kn_graph *g = NULL;
    (void)state;
    EACH_ALLOCATION_IS_NEEDED(build(&g), kn_graph_free(g));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_nodes_are_one),
        cmocka_unit_test(fields_tell_nodes_apart),
        cmocka_unit_test(numbers_are_folded_as_python_does),
        cmocka_unit_test(roots_of_negative_numbers_are_complex),
        cmocka_unit_test(what_python_refuses),
        cmocka_unit_test(only_operators_on_numbers_are_folded),
        cmocka_unit_test(operators_on_arrays_are_functions),
        cmocka_unit_test(inputs),
        cmocka_unit_test(inputs_that_are_refused),
        cmocka_unit_test(results_have_names_of_their_own),
        cmocka_unit_test(what_nobody_needs_goes),
        cmocka_unit_test(too_many_nodes),
        cmocka_unit_test(nth_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
