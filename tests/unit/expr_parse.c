/* Expression strings: what they mean as graphs, and what the errors say. */
#include "graph/graph.h"
#include "graph_text.h"
#include <pthread.h>
#include "ops/numpy_names.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "drawn.h"
#include "each_allocation.h"
#include "expr/composed_table.h"
#include "expr/functions.h"

static kiln_kernel *squared, *sum_of, *pair_of, *raw_one;

static int make_kernels(void **state)
{
    (void)state;
    return kiln_elementwise_create(&squared, "T x, T y", "T z", "z = (x - y) * (x - y)", "squared", NULL) ||
           kiln_reduction_create(&sum_of, "T x", "T y", "x", "a + b", "y = a", "0", "sum_of", NULL) ||
           kiln_elementwise_create(&pair_of, "T x", "T low, T high", "low = x - 1; high = x + 1", "pair_of",
                                   NULL) ||
           kiln_elementwise_create(&raw_one, "raw _non_const T x, T y", "T z", "z = x[0]", "raw_one", NULL);
}

static int free_kernels(void **state)
{
    (void)state;
    kiln_kernel_free(squared);
    kiln_kernel_free(sum_of);
    kiln_kernel_free(pair_of);
    kiln_kernel_free(raw_one);
    return 0;
}

static kiln_status parse(kn_graph **out, const char *params, const char *text)
{
    kiln_kernel *const kernels[] = {squared, sum_of, pair_of, raw_one};
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    options.kernels = kernels;
    options.n_kernels = 4;
    return kn_graph_parse(out, params, text, 0, &options);
}

static void assert_means(const char *params, const char *text, const char *expected)
{
    kn_graph *g = NULL;
    kn_str words = KN_STR_INIT;
    if (parse(&g, params, text) != KILN_OK)
        fail_msg("%s: %s", text, kiln_error_message());
    graph_text(&words, g);
    if (strcmp(kn_str_text(&words), expected) != 0)
        fail_msg("%s:\n  %s\n  was expected, and got\n  %s", text, expected, kn_str_text(&words));
    kn_str_free(&words);
    kn_graph_free(g);
}

typedef struct meaning {
    const char *text, *expected;
} meaning;

static void assert_meanings(const meaning *list, size_t count)
{
    for (size_t k = 0; k < count; ++k)
        assert_means("x, y, n", list[k].text, list[k].expected);
}
#define ASSERT_MEANINGS(list) assert_meanings(list, sizeof list / sizeof list[0])

static void operators(void **state)
{
    static const meaning list[] = {
        {"x + y", "out = add'(x, y)"},
        {"x - y - n", "out = subtract'(subtract'(x, y), n)"},
        {"x - (y - n)", "out = subtract'(x, subtract'(y, n))"},
        {"x + y * n", "out = add'(x, multiply'(y, n))"},
        {"(x + y) * n", "out = multiply'(add'(x, y), n)"},
        {"x * y / n", "out = divide'(multiply'(x, y), n)"},
        {"x // y % n", "out = remainder'(floor_divide'(x, y), n)"},
        {"-x ** y", "out = negative'(power'(x, y))"},
        {"x ** -y", "out = power'(x, negative'(y))"},
        {"x ** y ** n", "out = power'(x, power'(y, n))"},
        {"x ** -y ** n", "out = power'(x, negative'(power'(y, n)))"},
        {"-x * y", "out = multiply'(negative'(x), y)"},
        {"~x & y", "out = bitwise_and'(invert'(x), y)"},
        {"+x", "out = positive'(x)"},
        {"--x", "out = negative'(negative'(x))"},
        {"x | y ^ n & 1", "out = bitwise_or'(x, bitwise_xor'(y, bitwise_and'(n, 1)))"},
        {"x & y << n + 1", "out = bitwise_and'(x, left_shift'(y, add'(n, 1)))"},
        {"x >> y << n", "out = left_shift'(right_shift'(x, y), n)"},
        {"x | y < n", "out = less'(bitwise_or'(x, y), n)"},
        {"(x < y) | (x > n)", "out = bitwise_or'(less'(x, y), greater'(x, n))"},
        {"x <= y", "out = less_equal'(x, y)"},
        {"x >= y", "out = greater_equal'(x, y)"},
        {"x == y", "out = equal'(x, y)"},
        {"x != y", "out = not_equal'(x, y)"},
    };
    (void)state;
    ASSERT_MEANINGS(list);
}

static void numbers(void **state)
{
    static const meaning list[] = {
        {"x + 1", "out = add'(x, 1)"},
        {"x + 1.", "out = add'(x, 1f)"},
        {"x + .5", "out = add'(x, 0.5f)"},
        {"x + 1e3", "out = add'(x, 1000f)"},
        {"x + 2.5E-1", "out = add'(x, 0.25f)"},
        {"x + 1_000.5", "out = add'(x, 1000.5f)"},
        {"x + 0xfF", "out = add'(x, 255)"},
        {"x + 0b101", "out = add'(x, 5)"},
        {"x + 0o17", "out = add'(x, 15)"},
        {"x + 1_000", "out = add'(x, 1000)"},
        {"x + 000", "out = add'(x, 0)"},
        {"x + 2j", "out = add'(x, 0+2j)"},
        {"x + 1.5J", "out = add'(x, 0+1.5j)"},
        {"x + (1 + 2j)", "out = add'(x, 1+2j)"},
        {"x + 18446744073709551615", "out = add'(x, 18446744073709551615u)"},
        {"x + 0.1", "out = add'(x, 0.10000000000000001f)"},
        {"x + 2 / 3", "out = add'(x, 0.66666666666666663f)"},
        {"x * (2 / 3)", "out = multiply'(x, 0.66666666666666663f)"},
        {"x + 7 // 2 + 2 ** 3", "out = add'(add'(x, 3), 8)"},
        {"x * (1 < 2)", "out = multiply'(x, True)"},
        {"x * pi", "out = multiply'(x, 3.1415926535897931f)"},
        {"x * e", "out = multiply'(x, 2.7182818284590451f)"},
        {"x * -inf", "out = multiply'(x, -inff)"},
        {"x * np.pi", "out = multiply'(x, 3.1415926535897931f)"},
        {"x * numpy.e", "out = multiply'(x, 2.7182818284590451f)"},
        {"x & True", "out = bitwise_and'(x, True)"},
        {"1 + 1", "out = 2"},
        {"sqrt(2) * x", "out = multiply(sqrt(2), x)"},
        {"x * float(2)", "out = multiply'(x, 2f)"},
        {"x * int(-2.5)", "out = multiply'(x, -2)"},
        {"x * bool(3)", "out = multiply'(x, True)"},
        {"x * complex(3)", "out = multiply'(x, 3+0j)"},
        {"x / float(x.size)", "out = divide'(x, float64'(extent(x)))"},
    };
    (void)state;
    ASSERT_MEANINGS(list);
}

static void calls(void **state)
{
    static const meaning list[] = {
        {"exp(x)", "out = exp(x)"},
        {"np.exp(x)", "out = exp(x)"},
        {"arctan2(x, y)", "out = arctan2(x, y)"},
        {"add(x, y)", "out = add(x, y)"},
        {"where(x > 0, x, 0)", "out = where(greater'(x, 0), x, 0)"},
        {"where(x=x, y=y, condition=n)", "out = where(n, x, y)"},
        {"clip(x, 0, 1)", "out = clip(x, 0, 1)"},
        {"clip(x, 0, None)", "out = maximum(x, 0)"},
        {"clip(x, None, 1)", "out = minimum(x, 1)"},
        {"clip(x, a_max=1)", "out = minimum(x, 1)"},
        {"clip(x, min=0, max=1)", "out = clip(x, 0, 1)"},
        {"x.clip(0, 1)", "out = clip(x, 0, 1)"},
        {"absolute(x) + abs(y)", "out = add(abs(x), abs(y))"},
        {"acos(x) + pow(y, 2)", "out = add(arccos(x), power(y, 2))"},
        {"asin(x)", "out = arcsin(x)"},
        {"atan(x)", "out = arctan(x)"},
        {"atan2(x, y)", "out = arctan2(x, y)"},
        {"conj(x)", "out = conjugate(x)"},
        {"mod(x, y)", "out = remainder(x, y)"},
        {"true_divide(x, y)", "out = divide(x, y)"},
        {"bitwise_invert(x)", "out = invert(x)"},
        {"bitwise_not(x)", "out = invert(x)"},
        {"amax(x)", "out = max(x)"},
        {"sum(x)", "out = sum(x)"},
        {"sum(x, 0)", "out = sum<0>(x)"},
        {"sum(x, axis=-1, keepdims=True)", "out = sum<-1 kept>(x)"},
        {"sum(x, axis=None, keepdims=False)", "out = sum(x)"},
        {"sum(x, keepdims=1)", "out = sum< kept>(x)"},
        {"sum(x, axis=(0, -1))", "out = sum<0,-1>(x)"},
        {"sum(x, axis=[0, 2])", "out = sum<0,2>(x)"},
        {"sum(x, axis=(1,))", "out = sum<1>(x)"},
        {"sum(x, axis=())", "out = sum<>(x)"},
        {"sum(x, axis=3 - 1)", "out = sum<2>(x)"},
        {"x.max(axis=0)", "out = max<0>(x)"},
        {"(x + y).sum()", "out = sum(add'(x, y))"},
        {"var(x)", "out = var(x)"},
        {"var(x, 0, ddof=1)", "out = var<0>(x, 1)"},
        {"std(x, correction=1)", "out = std(x, 1)"},
        {"x.std(ddof=n)", "out = std(x, n)"},
        {"x.astype(float32)", "out = float32(x)"},
        {"x.astype(np.int8)", "out = int8(x)"},
        {"x.astype('float16')", "out = float16(x)"},
        {"x.astype(\"int\")", "out = int64(x)"},
        {"x.astype(float)", "out = float64(x)"},
        {"astype(x, dtype=bool)", "out = bool(x)"},
        {"float32(x) + bool_(y) + double(n)", "out = add(add(float32(x), bool(y)), float64(n))"},
        {"bfloat16(x)", "out = bfloat16(x)"},
        {"float(x)", "out = float64'(x)"},
        {"exp(x,)", "out = exp(x)"},
    };
    (void)state;
    ASSERT_MEANINGS(list);
}

static void views(void **state)
{
    static const meaning list[] = {
        {"x.T", "out = transpose(x)"},
        {"x.T.T", "out = transpose(transpose(x))"},
        {"transpose(x)", "out = transpose(x)"},
        {"transpose(x, None)", "out = transpose(x)"},
        {"transpose(x, (1, 0, -1))", "out = transpose<1,0,-1>(x)"},
        {"transpose(x, axes=(1, 0))", "out = transpose<1,0>(x)"},
        {"x.transpose(1, 0)", "out = transpose<1,0>(x)"},
        {"x.transpose([1, 0])", "out = transpose<1,0>(x)"},
        {"permute_dims(x, (1, 0))", "out = transpose<1,0>(x)"},
        {"reshape(x, (2, -1))", "out = reshape<2,-1>(x)"},
        {"x.reshape(2, 3)", "out = reshape<2,3>(x)"},
        {"x.reshape(-1)", "out = reshape<-1>(x)"},
        {"x.reshape(())", "out = reshape(x)"},
        {"reshape(x, shape=(4, 1))", "out = reshape<4,1>(x)"},
        {"x.reshape(y.shape[0], -1)", "out = reshape<-2,-1>(x, extent<0>(y))"},
        {"ravel(x)", "out = reshape<-1>(x)"},
        {"x.flatten()", "out = reshape<-1>(x)"},
        {"expand_dims(x, 0)", "out = x[None,...]"},
        {"expand_dims(x, -1)", "out = x[...,None]"},
        {"expand_dims(x, 1)", "out = x[:,None,...]"},
        {"expand_dims(x, (0, -2))", "out = x[None,...,None,:]"},
        {"squeeze(x)", "out = x[ones]"},
        {"squeeze(x, axis=1)", "out = x[:,one,...]"},
        {"x.squeeze(-1)", "out = x[...,one]"},
        {"x[0]", "out = x[0]"},
        {"x[-1, 2:]", "out = x[-1,2:]"},
        {"x[:, ::2, None, ..., 1:-1:3]", "out = x[:,::2,None,...,1:-1:3]"},
        {"x[::-1]", "out = x[::-1]"},
        {"x[newaxis, 1:1 + 2]", "out = x[None,1:3]"},
        {"x[None:5, np.newaxis]", "out = x[:5,None]"},
        {"x[0,]", "out = x[0]"},
        {"x[...]", "out = x[...]"},
        {"x[1:99999999999999999999 // 10]", ""},
        {"x[:18446744073709551615]", "out = x[:9223372036854775807]"},
        {"(x + y)[1:]", "out = add'(x, y)[1:]"},
        {"x[0][1].T", "out = transpose(x[0][1])"},
        {"x.shape[0]", "out = extent<0>(x)"},
        {"shape(x)[-1]", "out = extent<-1>(x)"},
        {"len(x)", "out = extent<0>(x)"},
        {"x.size + size(y)", "out = add'(extent(x), extent(y))"},
        {"x.ndim * ndim(y)", "out = multiply'(ndim(x), ndim(y))"},
        {"sum(x) / x.shape[0]", "out = divide(sum(x), extent<0>(x))"},
        {"arange(5)", "out = arange(0, 5, 1)"},
        {"zeros_like(x)", "out = like(0, x)"},
        {"np.full_like(x, y, dtype=int8)", "out = like.int8(y, x)"},
        {"broadcast_to(x, y.shape)", "out = like.x(x, y)"},
        {"broadcast_to(x, (2, y.shape[0]))", "out = broadcast<2,-2>(x, extent<0>(y))"},
        {"ones((2, 3), dtype=float32)", "out = broadcast<2,3>(float32(1))"},
        {"full(3, 2)", "out = broadcast<3>(2)"},
        {"zeros(x.shape)", "out = like.x(float64(0), x)"},
        {"sum(x, axis=0, dtype=float32)", "out = float32(sum<0>(float32(x)))"},
        {"x.mean(dtype=None)", "out = mean(x)"},
        {"arange(1, 5)", "out = arange(1, 5, 1)"},
        {"arange(0, 1, 0.25)", "out = arange(0, 1, 0.25f)"},
        {"arange(5, 0, -1)", "out = arange(5, 0, -1)"},
        {"arange(x.shape[0], dtype=float32)", "out = float32(arange(0, extent<0>(x), 1))"},
        {"(x, y)[1] + 1", "out = add'(y, 1)"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof list / sizeof list[0]; ++k)
        if (list[k].expected[0])
            assert_means("x, y, n", list[k].text, list[k].expected);
}

/* Quarters of a turn are counted modulo 4, below 0 too. */
static void turns(void **state)
{
    static const meaning list[] = {
        {"rot90(x)", "out = transpose<0,1>(x[:,::-1])"},
        {"rot90(x, 5)", "out = transpose<0,1>(x[:,::-1])"},
        {"rot90(x, -3)", "out = transpose<0,1>(x[:,::-1])"},
        {"rot90(x, 2)", "out = x[:,::-1][::-1]"},
        {"rot90(x, -2)", "out = x[:,::-1][::-1]"},
        {"rot90(x, 3)", "out = transpose<0,1>(x[::-1])"},
        {"rot90(x, -1)", "out = transpose<0,1>(x[::-1])"},
        {"rot90(x, 7, (1, 0))", "out = transpose<1,0>(x[:,::-1])"},
        {"rot90(x, 0)", "out = x[...]"},
        {"rot90(x, -4)", "out = x[...]"},
    };
    (void)state;
    ASSERT_MEANINGS(list);
}

/* Lists of one element count as lists, too. */
static void blocks(void **state)
{
    static const meaning list[] = {
        {"block([x])", "out = block(x[fill 1 of 1,...])"},
        {"block([[x]])", "out = block(block(x[fill 2 of 2,...]))"},
        {"block([x, y])", "out = block(x[fill 1 of 1,...], y[fill 1 of 1,...])"},
        {"block([[x], [y]])", "out = block(block(x[fill 2 of 2,...]), block(y[fill 2 of 2,...]))"},
    };
    (void)state;
    ASSERT_MEANINGS(list);
}

static void statements(void **state)
{
    static const meaning list[] = {
        {"m = mean(x); x - m", "out = subtract(x, mean(x))"},
        {"m = mean(x)\nx - m\n", "out = subtract(x, mean(x))"},
        {"\n ; # nothing\nm = x # a name\n;m + m;\n", "out = add'(x, x)"},
        {"x + (y\n + n) # brackets hold lines together", "out = add'(x, add'(y, n))"},
        {"m = mean(x)", "m = mean(x)"},
        {"x = x + 1; x", "out = add'(x, 1)"},
        {"x = x + 1; x = x * 2; x", "out = multiply'(add'(x, 1), 2)"},
        {"m = x + y; m", "m = add'(x, y)"},
        {"m = x + y; (m)", "m = add'(x, y)"},
        {"m = x + y; m, n", "m = add'(x, y); out = n"},
        {"m = x + y; s = x - y; m, s", "m = add'(x, y); s = subtract'(x, y)"},
        {"m, s = x + y, x - y; s, m", "s = subtract'(x, y); m = add'(x, y)"},
        {"m, s = x + y, x - y", "m = add'(x, y); s = subtract'(x, y)"},
        {"x + y, x - y", "out = add'(x, y); out1 = subtract'(x, y)"},
        {"(x + y, x - y)", "out = add'(x, y); out1 = subtract'(x, y)"},
        {"x + y,", "out = add'(x, y)"},
        {"x, x", "out = x; out1 = x"},
        {"unused = exp(y); x", "out = x"},
        {"t = (x, y); t[0] - t[-1]", "out = subtract'(x, y)"},
        {"t = (x, y); a, b = t; b - a", "out = subtract'(y, x)"},
        {"s = x.shape; s[0] + 1", "out = add'(extent<0>(x), 1)"},
        {"d = float32; x.astype(d)", "out = float32(x)"},
        {"e = x; e + 1", "out = add'(x, 1)"},
        {"sum = x; sum + max(sum)", "out = add(x, max(x))"},
        {"n = n + 1\n\tx * n", "out = multiply'(x, add'(n, 1))"},
    };
    (void)state;
    ASSERT_MEANINGS(list);
    assert_means("", "arange(3) * 2", "out = multiply(arange(0, 3, 1), 2)");
    assert_means("e, np", "e + np", "out = add'(e, np)");
    assert_means("max", "max(max)", "out = max(max)");
}

static void kernels_are_functions(void **state)
{
    static const meaning list[] = {
        {"squared(x, y) + 1", "out = add(squared(x, y), 1)"},
        {"squared(x, y=2)", "out = squared(x, 2)"},
        {"x.squared(2)", "out = squared(x, 2)"},
        {"sum_of(x)", "out = sum_of(x)"},
        {"sum_of(x, axis=(0, 1), keepdims=True)", "out = sum_of<0,1 kept>(x)"},
        {"sum_of(x, 0)", "out = sum_of<0>(x)"},
        {"low, high = pair_of(x); high - low", "out = subtract(pair_of.1(x), pair_of(x))"},
        {"pair_of(x)[1]", "out = pair_of.1(x)"},
        {"pair_of(x)", "out = pair_of(x); out1 = pair_of.1(x)"},
    };
    kn_graph *g = NULL;
    (void)state;
    ASSERT_MEANINGS(list);
    assert_int_equal(parse(&g, "x", "squared(x, 1); "), KILN_OK);
    assert_true(g->has_kernels);
    kn_graph_free(g);
    assert_int_equal(parse(&g, "x", "s = squared(x, 1); x"), KILN_OK);
    assert_false(g->has_kernels);
    kn_graph_free(g);
}

static void registered_operations_are_functions(void **state)
{
    kiln_operation split = KILN_OPERATION_INIT;
    (void)state;
    split.name = "fuse_split";
    split.in_params = "T x, T at";
    split.out_params = "T low, T high";
    split.types = "ff->ff dd->dd";
    split.map = "low = x < at ? x : at; high = x < at ? at : x";
    assert_int_equal(kiln_operation_register(&split), KILN_OK);
    assert_means("x", "a, b = fuse_split(x, at=2); b - a",
                 "out = subtract(fuse_split.1(x, 2), fuse_split(x, 2))");
}

/* ---- errors ---- */

static void assert_refused(const char *text, const char *message)
{
    kn_graph *g = NULL;
    kiln_status status = parse(&g, "x, y, n", text);
    if (status != KILN_ERROR_SYNTAX)
        fail_msg("%s: status %d: %s", text, status, kiln_error_message());
    assert_null(g);
    if (!strstr(kiln_error_message(), message))
        fail_msg("%s:\n  %s\n  was expected in\n%s", text, message, kiln_error_message());
}

static void errors_point_at_the_place(void **state)
{
    (void)state;
    assert_refused("x + ", "expression: the expression ends where a value was expected\n  x + \n      ^");
    assert_refused("x + * y", "a value was expected\n  x + * y\n      ^");
    assert_refused("x y", "an operator, or the end of the statement, was expected\n  x y\n    ^");
    assert_refused("(x + y", "')' was expected\n  (x + y\n        ^");
    assert_refused("x + y)", "an operator, or the end of the statement, was expected\n  x + y)\n       ^");
    assert_refused("m = x\nm + z", "there is no name 'z'\n  m + z\n      ^");
    assert_refused("sqr(x) + foo", "there is no function 'sqr'; did you mean 'sqrt'?\n  sqr(x) + foo\n  ^~~");
    assert_refused("x.foo", "there is no attribute 'foo'\n  x.foo\n    ^~~");
}

static void syntax_errors(void **state)
{
    (void)state;
    assert_refused("", "an expression was expected");
    assert_refused(" ;\n# nothing", "an expression was expected");
    assert_refused("x; y",
                   "nothing uses this value: name = ... was expected, or the last statement\n  x; y\n  ^");
    assert_refused("x = ", "the expression ends where a value was expected");
    assert_refused("x = y = n", "one assignment a statement");
    assert_refused("x + y = n", "one assignment a statement");
    assert_refused("a, b = 3", "2 values were expected, for 2 names");
    assert_refused("a, b = x, y, n", "2 values were expected");
    assert_refused("True = x; x", "'True' is no name for a value");
    assert_refused("a, if = x, y; a", "'if' is no name for a value");
    assert_refused("x[", "the expression ends where a value was expected");
    assert_refused("x[1", "a comma or ']' was expected");
    assert_refused("x[]", "an index was expected\n  x[]\n   ^~");
    assert_refused("x[..., ...]", "an index has one ... at most");
    assert_refused("x[1:2:0]", "the step of a slice is 0");
    assert_refused("x[True]", "an index is a whole number");
    assert_refused("x[[1, y]]", "stack() joins arrays");
    assert_refused("x[[1, [2]]]", "its lists have different lengths");
    assert_refused("x[[1, float32]]", "numbers that stand in the expression were expected");
    assert_refused("x[0, (y, y)]", "a tuple of indices is the whole index");
    assert_refused("x[(y, None)]", "a tuple of arrays, or of whole numbers, was expected");
    assert_refused("x[float32]", "an index is a whole number");
    assert_refused("z[0] = 1; z", "there is no name 'z'");
    assert_refused("x[0] = float32; x", "an array or a number was expected");
    assert_refused("x[0][1] = 2; x", "one assignment a statement");
    assert_refused("a = (x, y); a[0] = 1; a", "an array was expected in front of '['");
    assert_refused("x[1.5]", "index: a whole number that stands in the expression was expected");
    assert_refused("x[1.5:]", "index: a whole number that stands");
    assert_refused("x[:1.5]", "slice: a whole number that stands");
    assert_refused("x[::n]", "slice: a whole number that stands");
    assert_refused("(x, y)[2]", "index 2 of a tuple of 2");
    assert_refused("(x, y)[-3]", "index -3 of a tuple of 2");
    assert_refused("(x, y)[0:1]", "one whole number was expected");
    assert_refused("x.shape[0, 1]", "one whole number was expected");
    assert_refused("x.shape[64]", "no array has so many axes");
    assert_refused("exp(x", "a comma or ')' was expected");
    assert_refused("exp(x y)", "a comma or ')' was expected");
    assert_refused("exp(;x)", "a value was expected");
    assert_refused("x(1)", "'x' is a value, and cannot be called");
    assert_refused("(x)(1)", "this value cannot be called");
    assert_refused("sqrt + 1", "'sqrt' is a function: sqrt(...) was expected");
    assert_refused("x.", "the name of an attribute was expected");
    assert_refused("np.1", "there is no name 'np'");
    assert_refused("np.(x)", "a name of NumPy's was expected");
    assert_refused("np", "there is no name 'np'");
    assert_refused("x.shape", "not a shape");
    assert_refused("x + None", "an array or a number was expected, not None\n  x + None\n      ^~~~");
    assert_refused("x + float32", "not a dtype");
    assert_refused("x + (1, float32)", "not a dtype");
    assert_refused("()", "a result was expected");
    assert_refused("x + 'abc'", "not a word");
    assert_refused("x + 'abc", "the text does not end");
    assert_refused("x $ y", "the character '$' has no meaning here");
    assert_refused("x \x01 y", "the byte 0x01 has no meaning here");
    assert_refused("x \xc3\x97 y", "the byte 0xc3 has no meaning here");
    assert_refused("{x}", "a value was expected");
    assert_refused("x ? y", "an operator, or the end of the statement");
}

static void numbers_that_are_refused(void **state)
{
    char long_number[600] = "0.";
    (void)state;
    assert_refused("x + 2x",
                   "a number was expected; a name may not follow it without an operator\n  x + 2x\n      ^");
    assert_refused("x + 012", "a whole number does not begin with 0");
    assert_refused("x + 18446744073709551616", "a whole number of 64 bits was expected");
    assert_refused("x + 0x", "a number was expected");
    assert_refused("x + 0b2", "a number was expected");
    assert_refused("x + 1__0", "a number was expected");
    assert_refused("x + 1_", "a number was expected");
    memset(long_number + 2, '1', 500);
    assert_refused(long_number, "a number of fewer digits was expected");
}

static void what_python_has_and_arrays_do_not(void **state)
{
    (void)state;
    assert_refused("x and y", "use & between comparisons");
    assert_refused("x && y", "use & between comparisons");
    assert_refused("x or y", "use | between comparisons");
    assert_refused("x || y", "use | between comparisons");
    assert_refused("not x", "write ~(x > 0)");
    assert_refused("!x", "write ~(x > 0)");
    assert_refused("x < y < n", "a chain of comparisons has no meaning for arrays: write (x < y) & (y < z)");
    assert_refused("x if y else n", "write where(condition, x, y)");
    assert_refused("exp(x if y else n)", "write where(condition, x, y)");
    assert_refused("x in y", "any(x == y)");
    assert_refused("x is y", "write x == y");
    assert_refused("x @ (y, None)", "an array or a number was expected, not None");
    assert_refused("lambda x: x", "functions are kernels");
    assert_refused("y * (x += 1)", "write x = x + y");
    assert_refused("nothing += 1; x", "there is no name 'nothing'");
    assert_refused("(x := y)", "a statement of its own");
    assert_refused("exp(*x)", "a value was expected");
}

/* Errors inside the text of a composed function stand at its call, and its names are its own. */
static void composed_functions_that_are_refused(void **state)
{
    (void)state;
    assert_refused("isclose(x)", "isclose: the argument 'b' is missing\n  isclose(x)\n  ^~~~~~~~~~");
    assert_refused("isclose(x, y, wtol=3)", "isclose has no argument 'wtol'; there are: a, b, rtol, atol, "
                                            "equal_nan\n  isclose(x, y, wtol=3)\n                ^~~~");
    assert_refused("isclose(x, y) + rtol", "there is no name 'rtol'");
    assert_refused("b = y; isclose(x, 1) + a", "there is no name 'a'");
    assert_refused("x + outer(x, None)",
                   "outer: an array or a number was expected, not None\n  x + outer(x, None)\n      ^~~~");
    assert_refused("eye(3.5)",
                   "N: a whole number that stands in the expression was expected\n  eye(3.5)\n      ^~~");
    assert_refused("eye(2, 2, 1, float32, 5)", "eye takes 4 arguments without names");
    assert_refused("eye()", "eye: the argument 'N' is missing");
    assert_refused("nanprod(x, 0, True)", "nanprod takes 2 arguments without names");
    assert_refused("eye(2, dtype=3)", "eye: a dtype was expected, such as float32\n  eye(2, dtype=3)\n  ^~~");
    assert_refused("isclos(x)", "did you mean 'isclose'?");
}

static void arguments_that_are_refused(void **state)
{
    (void)state;
    assert_refused("exp()", "exp: the argument 'x' is missing\n  exp()\n  ^~~~~");
    assert_refused("add(x)", "add: the argument 'y' is missing");
    assert_refused("exp(x, y)",
                   "exp takes 1 argument without names; this is one more\n  exp(x, y)\n         ^");
    assert_refused("exp(x, axis=y)",
                   "exp has no argument 'axis'; there are: x\n  exp(x, axis=y)\n         ^~~~");
    assert_refused("sum(x, 0, 1)", "sum takes 2 arguments without names");
    assert_refused("sum(x, 0, axis=1)", "sum: 'axis' is given twice");
    assert_refused("where(x, y=1)", "where: the argument 'x' is missing");
    assert_refused("sum(x, axis=1.5)", "axis: a whole number that stands in the expression was expected");
    assert_refused("sum(x, axis=n)", "axis: a whole number that stands in the expression was expected");
    assert_refused("sum(x, axis=(0, x))", "axis: a whole number");
    assert_refused("sum(x, axis=64)", "axis: 64 was given; -64 to 63 were expected");
    assert_refused("sum(x, keepdims=y)", "keepdims: a whole number");
    assert_refused("sum((x, None))", "an array or a number was expected, not None");
    assert_refused("sum_of(x, y)", "axis: a whole number");
    assert_refused("squared(x)", "squared: the argument 'y' is missing");
    assert_refused("squared(x, y, axis=0)", "squared has no argument 'axis'; there are: x, y");
    assert_refused("raw_one(x, y)",
                   "raw_one: its parameter 'x' is raw and _non_const, an array that it may write to, which "
                   "no expression has");
    assert_refused("transpose()", "transpose: an array was expected");
    assert_refused("transpose(x, 1.5)", "axis: a whole number");
    assert_refused("transpose(x, shape=1)", "transpose has no argument 'shape'; there are: axes");
    assert_refused("reshape(x)", "reshape: a shape was expected");
    assert_refused("reshape(x, (-1, -1))", "one extent at most may be -1");
    assert_refused("reshape(x, -2)", "an extent of -2 was given");
    assert_refused("reshape(x, 2.5)", "shape: a whole number");
    assert_refused("ravel(x, y)", "order: 'C', 'F', 'A' or 'K' was expected");
    assert_refused("expand_dims(x)", "expand_dims: the argument 'axis' is missing");
    assert_refused("expand_dims(x, (0, 0))", "axis: 0 is given twice");
    assert_refused("squeeze(x, axis=y)", "axis: a whole number");
    assert_refused("astype(x)", "astype: the argument 'dtype' is missing");
    assert_refused("x.astype(1)", "a dtype was expected, such as float32");
    assert_refused("float32()", "float32: the argument 'x' is missing");
    assert_refused("float32(x, y)", "float32 takes 1 argument without names");
    assert_refused("arange()", "arange: the argument 'stop' is missing");
    assert_refused("zeros()", "zeros: the argument 'shape' is missing");
    assert_refused("full(3)", "full: the argument 'fill_value' is missing");
    assert_refused("zeros_like(x, 3)", "a dtype was expected");
    assert_refused("full_like(x, (1, None))", "an array or a number was expected, not None");
    assert_refused("broadcast_to(x)", "broadcast_to: the argument 'shape' is missing");
    assert_refused("broadcast_to(x, 2.5)", "shape: a whole number");
    assert_refused("zeros(-2)", "an extent of -2 was given");
    assert_refused("sum(x, dtype=2)", "a dtype was expected");
    assert_refused("max(x, dtype=int8)", "max has no argument 'dtype'; there are: x, axis, keepdims");
    assert_refused("arange(3, dtype=1)", "a dtype was expected");
    assert_refused("clip(low=x)", "clip: the argument 'x' is missing");
    assert_refused("clip(None, 1)", "not None");
    assert_refused("size(x, y)", "axis: a whole number that stands in the expression was expected");
    assert_refused("shape(x, y)", "one argument was expected");
    assert_refused("len()", "one argument was expected");
}

static void near_names_are_suggested(void **state)
{
    (void)state;
    assert_refused("exq(x)", "did you mean 'exp'?");
    assert_refused("maen(x)", "did you mean 'mean'?");
    assert_refused("squard(x, y)", "did you mean 'squared'?");
    assert_refused("x.astype(flaot32)", "did you mean 'float32'?");
    assert_refused("mean_of = x; men_of + 1", "did you mean 'mean_of'?");
    assert_refused("x.reshap(1)", "did you mean 'reshape'?");
    assert_refused("absolut(x)", "did you mean 'absolute'?");
    assert_refused("nam", "did you mean 'nan'?");
    assert_refused("qr(x)", "there is no function 'qr'; NumPy's is not there yet\n");
    assert_refused("x.qr()", "there is no function 'qr'; NumPy's is not there yet\n");
    assert_refused("pinv(x)", "there is no function 'pinv'; NumPy's is not there yet\n");
    assert_refused("np.fft(x)", "there is no function 'fft'; NumPy's is not there yet\n");
    assert_refused("norm(x)", "there is no function 'norm'; write norm_2(x)\n");
    assert_refused("x.sum", "'sum' is a method: sum(...) was expected\n");
    assert_refused("if x > 0: y = 1", "where(condition, x, y) chooses");
    assert_refused("for i in x: i", "an expression has no statements but assignments");
    assert_refused("frobnicate(x)", "there is no function 'frobnicate'\n");
    assert_refused("a_name_that_is_longer_than_any_other_that_there_is_or_could_be(x)", "could_be'\n");
}

/* Each function, those that draw random numbers too, is found by a name that is nearly its own. */
static void suggested_functions(void **state)
{
    (void)state;
    char text[64], hint[64];
    int count = 0;
    for (const char *name; (name = kn_function_name(count)) != NULL; ++count) {
        snprintf(text, sizeof text, "%s_(x)", name);
        snprintf(hint, sizeof hint, "did you mean '%s'?", name);
        assert_refused(text, hint);
    }
    assert_true(count > 100);
    assert_refused("scattered_las(x)", "there is no function 'scattered_las'\n");
}

static void numbers_without_a_result(void **state)
{
    kn_graph *g = NULL;
    (void)state;
    assert_int_equal(parse(&g, "x", "x + 1 / 0"), KILN_ERROR_INVALID);
    assert_non_null(strstr(kiln_error_message(),
                           "expression: there is no number for a division by zero\n  x + 1 / 0\n        ^"));
    assert_int_equal(parse(&g, "x", "x + int(1e30)"), KILN_ERROR_INVALID);
    assert_int_equal(parse(&g, "x", "x + int(nan)"), KILN_ERROR_INVALID);
    assert_int_equal(parse(&g, "x", "x + float(1j)"), KILN_ERROR_INVALID);
    assert_non_null(strstr(kiln_error_message(), "a complex number where a real one is wanted"));
}

static void options_that_are_refused(void **state)
{
    kiln_kernel *const none[] = {NULL};
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    kn_graph *g = NULL;
    (void)state;
    assert_int_equal(kn_graph_parse(&g, NULL, "x", 0, NULL), KILN_ERROR_INVALID);
    assert_non_null(strstr(kiln_error_message(), "params is NULL"));
    assert_int_equal(kn_graph_parse(&g, "x", NULL, 0, NULL), KILN_ERROR_INVALID);
    assert_non_null(strstr(kiln_error_message(), "expression is NULL"));
    options.n_kernels = 1;
    assert_int_equal(kn_graph_parse(&g, "x", "x", 0, &options), KILN_ERROR_INVALID);
    assert_non_null(strstr(kiln_error_message(), "options.n_kernels: 1 was given, and kernels is NULL"));
    options.kernels = none;
    assert_int_equal(kn_graph_parse(&g, "x", "x", 0, &options), KILN_ERROR_INVALID);
    assert_non_null(strstr(kiln_error_message(), "options.kernels[0] is NULL"));
    options.n_kernels = -1;
    assert_int_equal(kn_graph_parse(&g, "x", "x", 0, &options), KILN_ERROR_INVALID);
    options.n_kernels = 0;
    options.struct_size = sizeof options + 8;
    assert_int_equal(kn_graph_parse(&g, "x", "x", 0, &options), KILN_ERROR_INVALID);
    assert_non_null(strstr(kiln_error_message(), "struct_size"));
    assert_null(g);
}

/* ---- large, deep and broken texts ---- */

/* `count` times `piece`. */
static char *repeat(const char *piece, int count, const char *end)
{
    size_t length = strlen(piece);
    char *text = malloc(length * (size_t)count + strlen(end) + 1);
    for (int k = 0; k < count; ++k)
        memcpy(text + length * (size_t)k, piece, length);
    strcpy(text + length * (size_t)count, end);
    return text;
}

static void assert_nodes(char *text, int expected)
{
    kn_graph *g = NULL;
    if (parse(&g, "x, y, n", text) != KILN_OK)
        fail_msg("%s", kiln_error_message());
    assert_int_equal(g->n_nodes, expected);
    kn_graph_free(g);
    free(text);
}

static void large_and_deep(void **state)
{
    (void)state;
    assert_nodes(repeat("x + ", 10000, "y"), 10003);
    assert_nodes(repeat("exp(", 1, "x)"), 4);
    kn_str deep = KN_STR_INIT;
    for (int k = 0; k < 500; ++k)
        kn_str_append(&deep, "exp(");
    kn_str_append(&deep, "x");
    for (int k = 0; k < 500; ++k)
        kn_str_append(&deep, ")");
    assert_nodes(strdup(kn_str_text(&deep)), 503);
    kn_str_free(&deep);
    assert_nodes(repeat("x = x * y + 1\n", 250, "x"), 503 + 1);
    char *text = repeat("x[None,", 1, "");
    free(text);
    text = repeat("None,", 200, "]");
    kn_str many = KN_STR_INIT;
    kn_str_printf(&many, "x[%s", text);
    assert_refused(kn_str_text(&many), "too many indices");
    kn_str_free(&many);
    free(text);
}

/* A text of `depth` values inside one another: read, or refused for want of stack. */
static void assert_reads(const char *open, const char *inside, const char *close, int depth, bool must_read)
{
    kn_graph *g = NULL;
    kn_str text = KN_STR_INIT;
    for (int k = 0; k < depth; ++k)
        kn_str_append(&text, open);
    kn_str_append(&text, inside);
    for (int k = 0; k < depth; ++k)
        kn_str_append(&text, close);
    kiln_status status = parse(&g, "x, y, n", kn_str_text(&text));
    bool is_low = status == KILN_ERROR_SYNTAX &&
                  strstr(kiln_error_message(), "inside one another are too many for this thread's stack");
    if (status != KILN_OK && (must_read || !is_low))
        fail_msg("%d of %s: %.300s", depth, open, kiln_error_message());
    kn_graph_free(g);
    kn_str_free(&text);
}

/* stack: bytes; of each 16 KiB one level of two values is read by any build. */
static void *read_deep(void *stack)
{
    static const char *const nested[][3] = {{"(", "x", ")"},     {"exp(", "x", ")"},
                                            {"-", "x", ""},      {"2**", "x", ""},
                                            {"(x + ", "y", ")"}, {"where(x, y, ", "x", ")"}};
    for (size_t k = 0; k < sizeof nested / sizeof nested[0]; ++k) {
        assert_reads(nested[k][0], nested[k][1], nested[k][2], (int)(*(const size_t *)stack >> 14), true);
        assert_reads(nested[k][0], nested[k][1], nested[k][2], 590, false);
        assert_reads(nested[k][0], nested[k][1], nested[k][2], 20000, false);
    }
    return NULL;
}

/* Nothing is read beyond the end of the stack, however small. */
static void stacks_are_not_left(void **state)
{
    static size_t stacks[] = {64 << 10, 256 << 10, 8 << 20};
    (void)state;
    for (size_t k = 0; k < sizeof stacks / sizeof stacks[0]; ++k) {
        pthread_attr_t attributes;
        pthread_t thread;
        pthread_attr_init(&attributes);
        assert_int_equal(pthread_attr_setstacksize(&attributes, stacks[k]), 0);
        assert_int_equal(pthread_create(&thread, &attributes, read_deep, &stacks[k]), 0);
        pthread_join(thread, NULL);
        pthread_attr_destroy(&attributes);
    }
}

/* Any bytes: an answer, and no more is asked here. */
static void random_bytes(void **state)
{
    static const char *const pieces[] = {
        "x",       "y",       "1",       "2.5",   "(",    ")",   "[",   "]",    ",",      ":",
        "...",     ".",       "shape",   "T",     "sum",  "exp", "=",   "==",   "axis=",  "+",
        "**",      "-",       "~",       "&",     ";",    "\n",  "np.", "None", "'int8'", "astype",
        "reshape", "squared", "pair_of", "where", "\xff", "#",   "1e",  "0x",   "in",     "arange"};
    uint32_t seed = 12345;
    (void)state;
    for (int round = 0; round < 20000; ++round) {
        char text[200] = "";
        int count = (int)(seed >> 8) % 14 + 1;
        for (int k = 0; k < count; ++k) {
            seed = seed * 1664525 + 1013904223;
            strcat(text, pieces[(seed >> 8) % (sizeof pieces / sizeof pieces[0])]);
        }
        kn_graph *g = NULL;
        kiln_status status = parse(&g, "x, y", text);
        assert_true(status == KILN_OK ? g != NULL : g == NULL);
        assert_true(status == KILN_OK || status == KILN_ERROR_SYNTAX || status == KILN_ERROR_INVALID);
        kn_graph_free(g);
    }
    for (int round = 0; round < 20000; ++round) {
        char text[24] = "";
        for (int k = 0; k < 20; ++k) {
            seed = seed * 1664525 + 1013904223;
            text[k] = (char)(seed >> 16);
        }
        kn_graph *g = NULL;
        parse(&g, "x, y", text);
        kn_graph_free(g);
    }
}

static void nth_allocation_fails(void **state)
{
    static const char text[] = "a, b = pair_of(x.T[1:, None]); c = sum(squared(a, 2) * 1.5, axis=(0, 1)); "
                               "c.reshape(x.shape[0], -1), arange(len(x)).astype(float32), allclose(x, y)";
    kn_graph *g = NULL;
    (void)state;
    EACH_ALLOCATION_IS_NEEDED(parse(&g, "x, y", text), kn_graph_free(g));
}

/* A call of a composed function with the arguments that it needs. */
static void write_call(kn_str *out, const kn_composed *row)
{
    static const char *const given[] = {"x", "1", "'full'", "[x, y]", "[1]"};
    kn_composed_params params;
    const char *before = "";
    kn_composed_read(&params, row->params);
    kn_str_printf(out, "%s(", row->name);
    for (int k = 0; k < params.count; ++k)
        if (!params.value[k][0]) {
            kn_str_printf(out, "%s%s=%s", before, params.name[k], given[params.kind[k]]);
            before = ", ";
        }
    kn_str_append(out, ")");
}

static kiln_status parse_to_text(kn_str *out, const char *text)
{
    kn_graph *g = NULL;
    kiln_status status = parse(&g, "x, y", text);
    if (status == KILN_OK)
        graph_text(out, g);
    kn_graph_free(g);
    return status;
}

/* Where an allocation fails, a text is refused for want of memory, or means what it always does, and nothing
 * that it allocated stays. False: it is always refused. */
static bool means_the_same(const char *text)
{
    kn_str expected = KN_STR_INIT;
    unsigned long made, nth = 0;
    const bool is_good = parse_to_text(&expected, text) == KILN_OK;
    const long held = kn_alloc_held();
    do {
        kn_graph *g = NULL;
        kn_str words = KN_STR_INIT;
        kn_alloc_fail_at(++nth, 0);
        const kiln_status status = parse(&g, "x, y", text);
        made = kn_alloc_fail_at(0, 0);
        if (status == KILN_OK)
            graph_text(&words, g);
        if (status == KILN_OK ? strcmp(kn_str_text(&words), kn_str_text(&expected)) != 0
                              : is_good && (status != KILN_ERROR_MEMORY || made < nth))
            fail_msg("%s: allocation %lu: %s: %s%s", text, nth, kiln_status_name(status),
                     status == KILN_OK ? kn_str_text(&words) : kiln_error_message(),
                     status == KILN_OK ? " is another graph" : "");
        kn_str_free(&words);
        kn_graph_free(g);
        if (is_good && kn_alloc_held() != held)
            fail_msg("%s: allocation %lu: %ld are not freed", text, nth, kn_alloc_held() - held);
    } while (is_good && made >= nth);
    kn_str_free(&expected);
    return is_good;
}

static void nth_allocation_of_functions_fails(void **state)
{
    static const char *const others[] = {"cumsum(x)",
                                         "argsort(x)",
                                         "topk(x, 2)",
                                         "partition(x, (0, 1))",
                                         "histogram(x)",
                                         "unique(x)",
                                         "histogram(x, 3, density=True)",
                                         "bincount(x, length=3)",
                                         "percentile(x, (5, 7), axis=0)",
                                         "i, j = nonzero(x); i",
                                         "einsum('ij,jk', x, y)",
                                         "x[x > 0]",
                                         "x[[0, 1]]",
                                         "x[x > 0] = 1; x",
                                         "x[0, y] += y; x",
                                         "sum(x[x > 0])",
                                         "var(x[x > 0], ddof=1)",
                                         "max(x[y > 0])",
                                         "normal(1, x)",
                                         "mean(x, dtype=float64)",
                                         "x[zeros_like(y, dtype=int32)]",
                                         "tensordot(x, y)",
                                         "lexsort((x, y))",
                                         "full((2, 3), 7)"};
    enum { OTHERS = sizeof others / sizeof others[0], SHARE = 6 };
    const kn_composed *row;
    int good = 0, refused = 0;
    (void)state;
    for (size_t k = 0; k < OTHERS; ++k)
        if (is_drawn_of(k, OTHERS, SHARE))
            if (!means_the_same(others[k]))
                fail_msg("%s: %s", others[k], kiln_error_message());
    for (int k = 0; (row = kn_composed_at(k)) != NULL; ++k) {
        kn_str text = KN_STR_INIT;
        if (!is_drawn((size_t)k, SHARE))
            continue;
        write_call(&text, row);
        *(means_the_same(kn_str_text(&text)) ? &good : &refused) += 1;
        kn_str_free(&text);
    }
    print_message("             %d calls of rows, %d are refused\n", good + refused, refused);
}

/* The text behind "write ", to be freed; NULL where a message has none. */
static char *advice(void)
{
    const char *at = strstr(kiln_error_message(), "; write ");
    char *text = at ? kn_strdup(at + 8) : NULL;
    if (text)
        text[strcspn(text, "\n")] = 0;
    return text;
}

/* Each name of NumPy's means something, is said not to be there, or is said with an expression in its place.
 */
static void names_of_numpy(void **state)
{
    int n_advised = 0, n_missing = 0;
    (void)state;
    for (size_t k = 0; k < sizeof numpy_names / sizeof *numpy_names; k++) {
        kn_graph *g = NULL;
        char text[64];
        snprintf(text, sizeof text, "%s(x, axis=7, no_such=1)", numpy_names[k]);
        assert_int_not_equal(parse(&g, "x", text), KILN_OK);
        if (!strstr(kiln_error_message(), "there is no function"))
            continue;
        char *written = advice();
        if (written && parse(&g, "x, y, w, n", written) != KILN_OK)
            fail_msg("%s: %s", numpy_names[k], kiln_error_message());
        n_advised += written != NULL;
        n_missing += strstr(kiln_error_message(), "NumPy's is not there yet") != NULL;
        assert_true(written || strstr(kiln_error_message(), "NumPy's is not there yet"));
        kn_free(written);
        kn_graph_free(g);
    }
    assert_true(n_advised > 2 && n_missing > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(suggested_functions),
        cmocka_unit_test(operators),
        cmocka_unit_test(numbers),
        cmocka_unit_test(calls),
        cmocka_unit_test(views),
        cmocka_unit_test(turns),
        cmocka_unit_test(blocks),
        cmocka_unit_test(statements),
        cmocka_unit_test(kernels_are_functions),
        cmocka_unit_test(registered_operations_are_functions),
        cmocka_unit_test(errors_point_at_the_place),
        cmocka_unit_test(syntax_errors),
        cmocka_unit_test(numbers_that_are_refused),
        cmocka_unit_test(what_python_has_and_arrays_do_not),
        cmocka_unit_test(composed_functions_that_are_refused),
        cmocka_unit_test(arguments_that_are_refused),
        cmocka_unit_test(near_names_are_suggested),
        cmocka_unit_test(numbers_without_a_result),
        cmocka_unit_test(options_that_are_refused),
        cmocka_unit_test(names_of_numpy),
        cmocka_unit_test(large_and_deep),
        cmocka_unit_test(stacks_are_not_left),
        cmocka_unit_test(random_bytes),
        cmocka_unit_test(nth_allocation_fails),
        cmocka_unit_test(nth_allocation_of_functions_fails),
    };
    return cmocka_run_group_tests(tests, make_kernels, free_kernels);
}
