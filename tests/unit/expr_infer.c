/* Dtypes and shapes of expressions, for given arguments. */
#include "graph/infer.h"
#include "infer_text.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "each_allocation.h"

static kiln_kernel *squared, *scaled, *fixed, *mixed, *sum_of, *best, *open_type;

static int make_kernels(void **state)
{
    (void)state;
    return kiln_elementwise_create(&squared, "T x, T y", "T z", "z = (x - y) * (x - y)", "squared", NULL) ||
           kiln_elementwise_create(&scaled, "T x, float64 s", "T z, bool big", "z = x * s; big = x > s",
                                   "scaled", NULL) ||
           kiln_elementwise_create(&fixed, "float32 x, int8 k", "float64 z", "z = x * k", "fixed", NULL) ||
           kiln_elementwise_create(&mixed, "T x, U y", "U z", "z = (U)x * y", "mixed", NULL) ||
           kiln_reduction_create(&sum_of, "T x, T w", "T y", "x * w", "a + b", "y = a", "0", "sum_of",
                                 NULL) ||
           kiln_reduction_create(&best, "T x", "T y", "x", "a > b ? a : b", "y = a", NULL, "best", NULL) ||
           kiln_elementwise_create(&open_type, "T x", "V z", "z = x", "open_type", NULL);
}

static int free_kernels(void **state)
{
    kiln_kernel *const all[] = {squared, scaled, fixed, mixed, sum_of, best, open_type};
    (void)state;
    for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k)
        kiln_kernel_free(all[k]);
    return 0;
}

static kn_graph *parse(const char *text)
{
    kiln_kernel *const kernels[] = {squared, scaled, fixed, mixed, sum_of, best, open_type};
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    kn_graph *g = NULL;
    options.kernels = kernels;
    options.n_kernels = 7;
    if (kn_graph_parse(&g, "x, y, z", text, 0, &options) != KILN_OK)
        fail_msg("%s: %s", text, kiln_error_message());
    return g;
}

typedef struct typing {
    const char *arguments, *text, *expected;
} typing;

static void assert_typings(const typing *list, size_t count)
{
    for (size_t k = 0; k < count; ++k) {
        kn_str words = KN_STR_INIT;
        kn_graph *g = parse(list[k].text);
        if (infer_results(&words, g, list[k].arguments) != KILN_OK)
            fail_msg("%s of %s: %s", list[k].text, list[k].arguments, kiln_error_message());
        if (strcmp(kn_str_text(&words), list[k].expected) != 0)
            fail_msg("%s of %s: %s was expected, and got %s", list[k].text, list[k].arguments,
                     list[k].expected, kn_str_text(&words));
        kn_str_free(&words);
        kn_graph_free(g);
    }
}
#define ASSERT_TYPINGS(list) assert_typings(list, sizeof list / sizeof list[0])

/* NumPy 2.4's answers. */
static void dtypes(void **state)
{
    static const typing list[] = {
        {"float32[3] float32[3]", "x + y", "float32[3]"},
        {"int32[3] float32[3]", "x + y", "float64[3]"},
        {"int8[3] uint8[3]", "x + y", "int16[3]"},
        {"uint64[3] int64[3]", "x + y", "float64[3]"},
        {"uint64[3] int64[3]", "x < y", "bool[3]"},
        {"bool[3] bool[3]", "x + y", "bool[3]"},
        {"bool[3] bool[3]", "x / y", "float64[3]"},
        {"int8[3] int8[3]", "x / y", "float64[3]"},
        {"float16[3] bfloat16[3]", "x * y", "float32[3]"},
        {"uint8[3]", "x + 1", "uint8[3]"},
        {"uint8[3]", "x + 1.5", "float64[3]"},
        {"uint8[3]", "x + True", "uint8[3]"},
        {"uint8[3]", "x + 1j", "complex128[3]"},
        {"bool[3]", "x + 1", "int64[3]"},
        {"float16[3]", "x * 2.5", "float16[3]"},
        {"float32[3]", "x * 1j", "complex64[3]"},
        {"float32[3]", "x * pi", "float32[3]"},
        {"float32[3]", "x * (2 / 3)", "float32[3]"},
        {"float32[3]", "x * sqrt(2)", "float64[3]"},
        {"float32[3]", "x * add(1, 1)", "float64[3]"},
        {"float32[3]", "x * float32(0.5)", "float32[3]"},
        {"float32[3]", "x * float64(0.5)", "float64[3]"},
        {"float32[3]", "x * float(2)", "float32[3]"},
        {"float32[3]", "sum(x) / x.size", "float32[]"},
        {"float32[3]", "sum(x) / float(x.size)", "float32[]"},
        {"float32[3] int32[3]", "x / len(y)", "float32[3]"},
        {"int32[3]", "exp(x)", "float64[3]"},
        {"int8[3]", "exp(x)", "float16[3]"},
        {"float16[3]", "exp(x)", "float16[3]"},
        {"int8[3]", "sum(x)", "int64[]"},
        {"uint8[3]", "sum(x)", "uint64[]"},
        {"bool[3]", "sum(x)", "int64[]"},
        {"float16[3]", "mean(x)", "float16[]"},
        {"int32[3]", "mean(x)", "float64[]"},
        {"complex64[3]", "var(x)", "float32[]"},
        {"complex64[3]", "abs(x)", "float32[3]"},
        {"float32[3]", "var(x, ddof=1)", "float32[]"},
        {"float32[3] ~int64", "std(x, ddof=y)", "float32[]"},
        {"float32[3]", "argmax(x)", "int64[]"},
        {"float32[3]", "isnan(x)", "bool[3]"},
        {"float32[3] bool[3]", "where(y, x, 0)", "float32[3]"},
        {"float32[3]", "where(x, x, x)", "float32[3]"},
        {"int8[3] bool[3]", "where(x, y, 3)", "int64[3]"},
        {"uint8[3] complex64[3]", "where(y, x, -x)", "uint8[3]"},
        {"uint8[3]", "clip(x, -5, 300)", "uint8[3]"},
        {"complex64[3]", "sign(x)", "complex64[3]"},
        {"float32[3] bool[3]", "where(y, 1.5, 0)", "float64[3]"},
        {"float32[3] bool[3]", "where(y, 1, 0)", "int64[3]"},
        {"int8[3] bool[3]", "where(y, x, 0.5)", "float64[3]"},
        {"int16[3]", "x << 2", "int16[3]"},
        {"uint8[3] int8[3]", "x & y", "int16[3]"},
        {"bool[3]", "~x", "bool[3]"},
        {"int16[3]", "-x", "int16[3]"},
        {"float32[3]", "x.astype(int8)", "int8[3]"},
        {"float32[3]", "float16(x) + bfloat16(x)", "float32[3]"},
        {"float32[3]", "x.astype(bool) & (x > 0)", "bool[3]"},
        {"float32[3]", "arange(3) * x", "float64[3]"},
        {"float32[3]", "arange(3)", "int64[3]"},
        {"float32[3]", "arange(3.)", "float64[3]"},
    };
    (void)state;
    ASSERT_TYPINGS(list);
}

/* Numbers given by value. */
static void weak_numbers(void **state)
{
    static const typing list[] = {
        {"float32[3] ~float64", "x * y", "float32[3]"},
        {"float32[3] ~float64", "x * (y + 1)", "float32[3]"},
        {"float32[3] ~float64", "x * exp(y)", "float64[3]"},
        {"float32[3] ~int64", "x * (y / 2)", "float32[3]"},
        {"uint8[3] ~int64", "x * (y / 2)", "float64[3]"},
        {"uint8[3] ~int64", "x * (y // 2)", "uint8[3]"},
        {"uint8[3] ~int64", "x * (y > 2)", "uint8[3]"},
        {"uint8[3]", "x < 256", "bool[3]"},
        {"uint8[3] ~int64", "x < y * 2", "bool[3]"},
        {"uint64[3]", "x / -1", "float64[3]"},
        {"uint16[3]", "logical_and(x, -1)", "bool[3]"},
        {"float32[3]", "where(5, x, 1e300)", "float32[3]"},
        {"float32[3] float64", "x * y", "float64[3]"},
        {"float32[3] float32", "x * y", "float32[3]"},
        {"float32[3] float32 ~float64", "x * (y * z)", "float32[3]"},
        {"float32[] ~float64", "x * y", "float32[]"},
        {"~int64 ~int64", "x + y", "~int64"},
        {"~int64 ~int64", "x / y", "~float64"},
        {"~bool ~bool", "x + y", "~int64"},
        {"~bool ~bool", "x & y", "~bool"},
        {"~bool ~int64", "x & y", "~int64"},
        {"~bool", "-x", "~int64"},
        {"~bool", "~x", "~int64"},
        {"~int64 ~float64", "x < y", "~bool"},
        {"~int64 ~complex128", "x * y", "~complex128"},
        {"~int64 ~uint64", "x + y", "~uint64"},
        {"~int64", "x", "~int64"},
        {"~int64", "x ** 2", "~int64"},
        {"~int64", "x ** -2", "~float64"},
        {"~int64", "add(x, 1)", "int64"},
        {"~int64", "exp(x)", "float64"},
        {"~int64", "sum(x)", "int64"},
        {"~int64", "float(x) * 2", "~float64"},
        {"float32", "float(x) * 2", "~float64"},
        {"float32[3]", "x * float(sqrt(2))", "float32[3]"},
        {"float32[3]", "float(x)", "float64[3]"},
        {"uint8", "int(x) + 1", "~int64"},
        {"~uint64 ~uint64", "x + y", "~uint64"},
        {"~int64", "float32(x) * 2", "float32"},
        {"~float64", "x.T", "float64"},
        {"float32 ~float64", "x + y", "float32"},
        {"int8[3]", "x.shape[0] * 2.5", "~float64"},
        {"int8[3]", "x.ndim + True", "~int64"},
    };
    (void)state;
    ASSERT_TYPINGS(list);
}

static void shapes(void **state)
{
    static const typing list[] = {
        {"float32[3,1] float32[4]", "x + y", "float32[3,4]"},
        {"float32[2,3,4] float32[]", "x + y", "float32[2,3,4]"},
        {"float32[0,4] float32[1,1]", "x + y", "float32[0,4]"},
        {"float32[2,3,4]", "sum(x)", "float32[]"},
        {"float32[2,3,4]", "sum(x, axis=1)", "float32[2,4]"},
        {"float32[2,3,4]", "sum(x, axis=-1, keepdims=True)", "float32[2,3,1]"},
        {"float32[2,3,4]", "sum(x, axis=(0, -1))", "float32[3]"},
        {"float32[2,3,4]", "sum(x, keepdims=True)", "float32[1,1,1]"},
        {"float32[2,3,4]", "sum(x, axis=())", "float32[2,3,4]"},
        {"float32[2,0]", "sum(x, axis=1)", "float32[2]"},
        {"float32[0,2]", "max(x, axis=1)", "float32[0]"},
        {"float32[2,3,4]", "x.T", "float32[4,3,2]"},
        {"float32[2,3,4]", "transpose(x, (1, -1, 0))", "float32[3,4,2]"},
        {"float32[2,3,4]", "x[0]", "float32[3,4]"},
        {"float32[2,3,4]", "x[..., 1]", "float32[2,3]"},
        {"float32[2,3,4]", "x[-1, ::2, None, 1:-1]", "float32[2,1,2]"},
        {"float32[2,3,4]", "x[:, ::-1, 10:]", "float32[2,3,0]"},
        {"float32[2,3,4]", "x[1, 2, 3]", "float32[]"},
        {"float32[2,3,4]", "x[None, ..., None]", "float32[1,2,3,4,1]"},
        {"float32[2,1,4]", "squeeze(x)", "float32[2,4]"},
        {"float32[2,1,4]", "squeeze(x, axis=1)", "float32[2,4]"},
        {"float32[2,1,4]", "squeeze(x, axis=-2)", "float32[2,4]"},
        {"float32[2,4]", "expand_dims(x, 1)", "float32[2,1,4]"},
        {"float32[2,4]", "expand_dims(x, (0, -1))", "float32[1,2,4,1]"},
        {"float32[2,3,4]", "x.reshape(4, -1)", "float32[4,6]"},
        {"float32[2,3,4]", "ravel(x)", "float32[24]"},
        {"float32[0,3]", "x.reshape(3, 0)", "float32[3,0]"},
        {"float32[0,3]", "x.reshape(-1, 3)", "float32[0,3]"},
        {"float32[1]", "x.reshape(())", "float32[]"},
        {"float32[2,6] float32[3]", "x.reshape(y.shape[0], -1)", "float32[3,4]"},
        {"float32[2,6]", "x.reshape(x.shape[1] // 2, x.shape[0] * 2)", "float32[3,4]"},
        {"float32[2,6]", "arange(x.shape[1])", "int64[6]"},
        {"float32[2,6]", "arange(x.size, 0, -5)", "int64[3]"},
        {"float32[2,6]", "arange(0, 1, 0.1)", "float64[10]"},
        {"float32[2,6]", "arange(3, 1)", "int64[0]"},
        {"float32[2,6]", "arange(-9223372036854775807, 9223372036854775807, 9223372036854775807)",
         "int64[2]"},
        {"float32[2,6]", "x.ndim, x.size, x.shape[-1]", "~int64 ~int64 ~int64"},
    };
    (void)state;
    ASSERT_TYPINGS(list);
}

static void kernels(void **state)
{
    static const typing list[] = {
        {"float32[3] float32[3]", "squared(x, y)", "float32[3]"},
        {"float32[3]", "squared(x, 2)", "float32[3]"},
        {"uint8[3] ~int64", "squared(x, y)", "uint8[3]"},
        {"int8[3]", "squared(2, 3)", "int64"},
        {"int8[3]", "squared(2, 3.5)", "float64"},
        {"float32 float64", "squared(x, y)", "float64"},
        {"float32 ~float64", "squared(x, y)", "float32"},
        {"float32[3]", "scaled(x, 2)", "float32[3] bool[3]"},
        {"float32[3]", "scaled(x, 2)[1]", "bool[3]"},
        {"float32[3] int8[3]", "fixed(x, y)", "float64[3]"},
        {"float32[3] int8", "fixed(x, y)", "float64[3]"},
        {"float32[3] int8[2,1]", "mixed(x, y)", "int8[2,3]"},
        {"float32[3,4] float32[4]", "sum_of(x, y, axis=0)", "float32[4]"},
        {"float32[3,4] float32[4]", "sum_of(x, y, 1, keepdims=True)", "float32[3,1]"},
        {"float32[3,4]", "sum_of(x, 1)", "float32[]"},
    };
    (void)state;
    ASSERT_TYPINGS(list);
}

/* ---- what lowering reads besides ---- */

static void axes_variants_and_values(void **state)
{
    kn_typed *t = NULL;
    infer_arguments a;
    kn_graph *g = parse("sum(x + 1, axis=(0, -1)) / (x.shape[1] * 2)");
    (void)state;
    infer_read(&a, "int8[2,3,4] int8[] int8[]");
    assert_int_equal(kn_graph_infer(&t, g, a.list), KILN_OK);
    const kn_typed *quotient = &t[g->out[0]], *sum = &t[g->node[g->out[0]].in[0]],
                   *twice = &t[g->node[g->out[0]].in[1]], *plus = &t[g->node[g->node[g->out[0]].in[0]].in[0]];
    assert_true(sum->is_reduction);
    assert_int_equal(sum->axes, 5);
    assert_string_equal(sum->definition->name, "sum");
    assert_int_equal(sum->variant.dtype[0], KILN_INT8);
    assert_int_equal(sum->variant.dtype[1], KILN_INT64);
    assert_false(plus->is_reduction);
    assert_int_equal(plus->variant.dtype[1], KILN_INT8);
    assert_int_equal(twice->number.kind, KILN_ARG_WEAK_INT);
    assert_int_equal(twice->number.value.i, 6);
    assert_true(twice->is_scalar);
    assert_int_equal(quotient->number.kind, KILN_ARG_NONE);
    assert_int_equal(quotient->variant.dtype[0], KILN_INT64);
    assert_int_equal(quotient->dtype, KILN_FLOAT64);
    kn_free(t);
    kn_graph_free(g);
}

static void parameters_of_kernels(void **state)
{
    kn_typed *t = NULL;
    infer_arguments a;
    kn_graph *g = parse("mixed(x, 2)");
    (void)state;
    infer_read(&a, "int8[2] int8[] int8[]");
    assert_int_equal(kn_graph_infer(&t, g, a.list), KILN_OK);
    const kiln_dtype *param = t[g->out[0]].param;
    assert_int_equal(param[0], KILN_INT8);
    assert_int_equal(param[1], KILN_INT64);
    assert_int_equal(param[2], KILN_INT64);
    kn_free(t);
    kn_graph_free(g);
}

static void settled_subscripts(void **state)
{
    const int64_t shape[] = {5, 6, 7};
    kn_subscript subscript[KN_SUBSCRIPTS_CAPACITY];
    int count = 0;
    kn_graph *g = parse("x[-2, None, 1:100:2, ::-1]");
    (void)state;
    assert_int_equal(kn_subscripts_settle(subscript, &count, g, &g->node[g->out[0]], 3, shape), KILN_OK);
    const kn_subscript expected[] = {{KN_SUBSCRIPT_INDEX, 3, 0, 0},
                                     {KN_SUBSCRIPT_NEW, 0, 0, 0},
                                     {KN_SUBSCRIPT_SLICE, 1, 3, 2},
                                     {KN_SUBSCRIPT_SLICE, 6, 7, -1}};
    assert_int_equal(count, 4);
    for (int k = 0; k < count; ++k) {
        assert_int_equal(subscript[k].kind, expected[k].kind);
        assert_int_equal(subscript[k].start, expected[k].start);
        assert_int_equal(subscript[k].stop, expected[k].stop);
        assert_int_equal(subscript[k].step, expected[k].step);
    }
    kn_graph_free(g);
}

/* ---- errors ---- */

static void assert_refused(const char *arguments, const char *text, kiln_status status, const char *message)
{
    kn_str words = KN_STR_INIT;
    kn_graph *g = parse(text);
    kiln_status got = infer_results(&words, g, arguments);
    if (got != status)
        fail_msg("%s of %s: status %d: %s %s", text, arguments, got, kiln_error_message(),
                 kn_str_text(&words));
    if (!strstr(kiln_error_message(), message))
        fail_msg("%s:\n  %s\n  was expected in\n%s", text, message, kiln_error_message());
    kn_str_free(&words);
    kn_graph_free(g);
}

static void dtypes_that_are_refused(void **state)
{
    (void)state;
    assert_refused("uint8[3]", "x * 2 + 300", KILN_ERROR_TYPE,
                   "expression: 300 does not fit uint8: 0 to 255 was expected\n  x * 2 + 300\n        ^");
    assert_refused("uint8[3]", "x - -1", KILN_ERROR_TYPE, "-1 does not fit uint8");
    assert_refused("uint8[3]", "where(x < 256, 256, x)", KILN_ERROR_TYPE, "256 does not fit uint8");
    assert_refused("uint8[200]", "int8(x) + x.size * 2", KILN_ERROR_TYPE, "400 does not fit int8");
    assert_refused("bool[3]", "x - x", KILN_ERROR_TYPE,
                   "subtract: no variant takes (bool, bool)\n  x - x\n    ^");
    assert_refused("bool[3]", "-x", KILN_ERROR_TYPE, "negative: no variant takes (bool)");
    assert_refused("float32[3]", "x & x", KILN_ERROR_TYPE,
                   "bitwise_and: no variant takes (float32, float32)");
    assert_refused("uint8[3]", "clip(x, 300, 400)", KILN_ERROR_TYPE, "300 does not fit uint8");
    assert_refused("uint8[3]", "clip(x, -7, -5)", KILN_ERROR_TYPE, "-5 does not fit uint8");
    assert_refused("float32[3]", "x^2", KILN_ERROR_TYPE,
                   "bitwise_xor: no variant takes (float32, int8); x ^ y is of bits, and a power is x**y");
    assert_refused("~float64 ~int64", "x & y", KILN_ERROR_TYPE,
                   "bitwise_and: no variant takes (float64, int64)");
    assert_refused("float32[3] float32[3]", "var(x, ddof=y)", KILN_ERROR_TYPE,
                   "var: 'ddof' is one number for a whole result");
    assert_refused("~complex128 ~int64", "x < y", KILN_ERROR_INVALID,
                   "an operator that Python does not have");
    assert_refused("~complex128 ~int64", "x // y", KILN_ERROR_TYPE, "floor_divide: no variant takes");
    assert_refused("~complex128", "int8(x)", KILN_ERROR_TYPE, "a complex number was given, but int8 is real");
    assert_refused("~complex128", "float(x)", KILN_ERROR_INVALID,
                   "a complex number where a real one is wanted");
    assert_refused("complex64", "int(x)", KILN_ERROR_INVALID, "a complex number where a real one is wanted");
    assert_refused("float32[3]", "x + float32(1j)", KILN_ERROR_TYPE,
                   "a complex number was given, but float32 is real");
    assert_refused("float32[3]", "x + uint8(300)", KILN_ERROR_TYPE, "300 does not fit uint8");
    assert_refused("float32[3]", "1 / (x.ndim - 1)", KILN_ERROR_INVALID,
                   "a division by zero\n  1 / (x.ndim - 1)\n    ^");
    assert_refused("float32[3]", "int(x.size / 0.5 * 1e300)", KILN_ERROR_INVALID, "64 bits do not hold");
}

static void shapes_that_are_refused(void **state)
{
    (void)state;
    assert_refused("float32[3] float32[4]", "1 + (x * y)", KILN_ERROR_SHAPE,
                   "expression: shapes (3,) and (4,) do not broadcast\n  1 + (x * y)\n         ^");
    assert_refused("float32[3]", "sum(x, axis=1)", KILN_ERROR_INVALID,
                   "axis 1 was given; the arguments' shape has 1\n  sum(x, axis=1)\n  ^~~");
    assert_refused("float32[3]", "sum(x, axis=-2)", KILN_ERROR_INVALID, "axis -2 was given");
    assert_refused("float32[3]", "sum(x, axis=(0, -1))", KILN_ERROR_INVALID, "axis -1 was given before");
    assert_refused("float32[2,0]", "max(x, axis=1)", KILN_ERROR_INVALID,
                   "axis 1 has no elements, and there is no");
    assert_refused("float32[2,0]", "best(x, axis=1)", KILN_ERROR_INVALID,
                   "axis 1 has no elements, and there is no");
    assert_refused("float32[2,3]", "transpose(x, (0,))", KILN_ERROR_SHAPE,
                   "1 axes were given; the array has 2");
    assert_refused("float32[2,3]", "transpose(x, (0, 2))", KILN_ERROR_SHAPE,
                   "axis 2 was given; the array has 2");
    assert_refused("float32[2,3]", "transpose(x, (0, -2))", KILN_ERROR_SHAPE, "axis -2 was given before");
    assert_refused("float32[2,3]", "x[0, 0, 0]", KILN_ERROR_SHAPE,
                   "3 indices were given for 2 axes\n  x[0, 0, 0]\n   ^~~");
    assert_refused("float32[2,3]", "x[2]", KILN_ERROR_SHAPE,
                   "index 2 is out of range for axis 0 of extent 2");
    assert_refused("float32[2,3]", "x[0, -4]", KILN_ERROR_SHAPE,
                   "index -4 is out of range for axis 1 of extent 3");
    assert_refused("float32[2,3]", "squeeze(x, axis=0)", KILN_ERROR_SHAPE,
                   "axis 0 has extent 2; only one of extent 1");
    assert_refused("float32[2,3]", "x.reshape(4, 2)", KILN_ERROR_SHAPE,
                   "(2, 3) has 6 elements, and cannot become (4, 2)");
    assert_refused("float32[2,3]", "x.reshape(4, -1)", KILN_ERROR_SHAPE, "cannot become (4, -1)");
    assert_refused("float32[0,3]", "x.reshape(0, -1)", KILN_ERROR_SHAPE, "cannot become (0, -1)");
    assert_refused("float32[2,3]", "x.reshape(-x.shape[0], 3)", KILN_ERROR_SHAPE,
                   "an extent of -2 was given");
    assert_refused("float32[2,3] ~int64", "x.reshape(y, 3)", KILN_ERROR_UNSUPPORTED,
                   "the shape depends on a value, which is not known here");
    assert_refused("float32[2,3] int64[]", "zeros((y, 3))", KILN_ERROR_UNSUPPORTED,
                   "the shape depends on a value");
    assert_refused("float32[2,3] float32[]", "zeros((y, 3))", KILN_ERROR_INVALID,
                   "the shape would depend on a value");
    assert_refused("float32[2,3]", "eye(1 - x.ndim)", KILN_ERROR_SHAPE, "a length of -1 was given");
    assert_refused("float32[2,3]", "x.reshape(x.size / 2, 2)", KILN_ERROR_TYPE,
                   "a whole number was expected");
    assert_refused("float32[2,3]", "x.shape[2]", KILN_ERROR_SHAPE, "axis 2 was given; the array has 2");
    assert_refused("float32[]", "len(x)", KILN_ERROR_SHAPE, "axis 0 was given; the array has 0");
    assert_refused("float32[2,3]", "arange(x)", KILN_ERROR_INVALID, "the shape would depend on a value");
    assert_refused("float32[2,3]", "arange(0, 5, x.ndim - 2)", KILN_ERROR_INVALID,
                   "the step of a range is 0");
    assert_refused("float32[2,3]", "arange(0, inf)", KILN_ERROR_SHAPE, "a range without an end");
    assert_refused("float32[2,3]", "arange(nan)", KILN_ERROR_SHAPE, "a range without an end");
    assert_refused("float32[2,3]", "arange(1j)", KILN_ERROR_TYPE, "a range has no complex numbers");
    assert_refused("float32[2,3]", "arange(-9223372036854775807, 9223372036854775807)", KILN_ERROR_SHAPE,
                   "a range without an end");
}

static void kernels_that_are_refused(void **state)
{
    (void)state;
    assert_refused("float32[3] float64[3]", "squared(x, y)", KILN_ERROR_TYPE,
                   "squared: type T is float32 by 'x' but float64 by 'y'");
    assert_refused("float64[3] int8[3]", "fixed(x, y)", KILN_ERROR_TYPE,
                   "fixed: 'x' is declared float32, but is given float64 here; cast it: x.astype(float32)");
    assert_refused("uint8[3]", "squared(x, 300)", KILN_ERROR_TYPE, "300 does not fit uint8");
    assert_refused("float32[3] int64", "fixed(x, y)", KILN_ERROR_TYPE,
                   "fixed: 'k': a number of int64 was given, which does not convert safely to int8");
    assert_refused("float32[3]", "open_type(x)", KILN_ERROR_TYPE,
                   "open_type: output 'z': no argument settles type V");
}

static void too_many_axes(void **state)
{
    kn_str shape = KN_STR_INIT;
    (void)state;
    kn_str_append(&shape, "float32[1");
    for (int k = 1; k < KILN_MAX_NDIM; ++k)
        kn_str_append(&shape, ",1");
    kn_str_append(&shape, "]");
    assert_refused(kn_str_text(&shape), "x[None]", KILN_ERROR_SHAPE, "more than 64 axes are too many");
    const typing list[] = {{kn_str_text(&shape), "sum(x)", "float32[]"},
                           {kn_str_text(&shape), "x[0, None].size", "~int64"}};
    ASSERT_TYPINGS(list);
    kn_str_free(&shape);
}

static void nth_allocation_fails(void **state)
{
    kn_graph *g = parse("sum(x[:, None] + 1, axis=0, keepdims=True) * squared(y, 2), x.reshape(-1)");
    infer_arguments a;
    kn_typed *t = NULL;
    (void)state;
    infer_read(&a, "float32[2,3] float32[3] float32");
    EACH_ALLOCATION(kn_graph_infer(&t, g, a.list), KILN_ERROR_MEMORY, kn_free(t));
    kn_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dtypes),
        cmocka_unit_test(weak_numbers),
        cmocka_unit_test(shapes),
        cmocka_unit_test(kernels),
        cmocka_unit_test(axes_variants_and_values),
        cmocka_unit_test(parameters_of_kernels),
        cmocka_unit_test(settled_subscripts),
        cmocka_unit_test(dtypes_that_are_refused),
        cmocka_unit_test(shapes_that_are_refused),
        cmocka_unit_test(kernels_that_are_refused),
        cmocka_unit_test(too_many_axes),
        cmocka_unit_test(nth_allocation_fails),
    };
    return cmocka_run_group_tests(tests, make_kernels, free_kernels);
}
