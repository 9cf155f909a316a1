/* The texts of operations and kernels as parts of an expression: which of them can be parts, and what of a
 * text is replaced. */
#include <kiln/kiln.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "graph/graph.h"
#include "graph/op.h"
#include "each_allocation.h"
#include "ok.h"

#define COUNT(list) (int)(sizeof(list) / sizeof *(list))

/* An operation "T x -> T y", and the texts that are tried with it. */
static const kn_param pair[] = {{.name = "x", .type = KN_TYPE_PLACEHOLDER, .placeholder = 'T'},
                                {.name = "out", .type = KN_TYPE_PLACEHOLDER, .placeholder = 'T'}};
static const kiln_dtype floats[] = {KILN_FLOAT32, KILN_FLOAT32}, halves[] = {KILN_FLOAT16, KILN_FLOAT16};

static kn_op plain_op(void)
{
    return (kn_op){
        .name = "plain", .n_in = 1, .n_out = 1, .param = pair, .dtype = floats, .declared = floats};
}

/* Each operator of C++ but "=" after the output's name makes a statement more than an assignment. */
static void expressions_are_assignments(void **state)
{
    static const char *const none[] = {"out += x",
                                       "out -= x",
                                       "out *= x",
                                       "out /= x",
                                       "out == x",
                                       "out != x",
                                       "out <= x",
                                       "out >= x",
                                       "out < x",
                                       "out > x",
                                       "out[0] = x",
                                       "out.re = x",
                                       "out->re = x",
                                       "out::a = x",
                                       "out(x)",
                                       "out++",
                                       "out, x",
                                       "out ? x : 0",
                                       "out x",
                                       "out 1",
                                       "out",
                                       "",
                                       " ",
                                       "x = out",
                                       "outer = x",
                                       "1 = x",
                                       "= x",
                                       "{ out = x; }",
                                       "out = x; x",
                                       "out = x;",
                                       "out = x, x",
                                       "out = f(x), g(x)",
                                       "out = out + x",
                                       "out = (out = x)",
                                       "out = x }",
                                       "out = [x, x], x",
                                       "out = \"open",
                                       "out <<= x",
                                       "out \n == x",
                                       "out = 'c"};
    static const char *const some[][2] = {{"out = x", " x"},
                                          {" \n out\t=x+1", "x+1"},
                                          {"out =f(x, 2)", "f(x, 2)"},
                                          {"out = a[x, 1](x, (x, 2))", " a[x, 1](x, (x, 2))"},
                                          {"out = x == 1", " x == 1"},
                                          {"out = outer", " outer"},
                                          {"out = ';' + \"{,}\"[0]", " ';' + \"{,}\"[0]"}};
    kn_op op = plain_op();
    (void)state;
    for (int k = 0; k < COUNT(none); ++k)
        if (kn_op_expression(&op, none[k]))
            fail_msg("'%s' is taken for an expression", none[k]);
    for (int k = 0; k < COUNT(some); ++k) {
        const char *found = kn_op_expression(&op, some[k][0]);
        if (!found || strcmp(found, some[k][1]) != 0)
            fail_msg("'%s': '%s' instead of '%s'", some[k][0], found ? found : "nothing", some[k][1]);
    }
    op.n_out = 2;
    assert_null(kn_op_expression(&op, "out = x"));
}

static void check_put(const kn_op *op, const char *text, const char *expected)
{
    static const char *const name[] = {"x0", "y0"};
    kn_str out = KN_STR_INIT;
    kn_op_put(&out, op, text, name, "left", "right");
    if (strcmp(kn_str_text(&out), expected) != 0)
        fail_msg("'%s' becomes '%s' instead of '%s'", text, kn_str_text(&out), expected);
    kn_str_free(&out);
}

static void words_are_replaced(void **state)
{
    static const char *const texts[][2] = {
        {"out = x + (T)1", "y0 = x0 + (float)1"},
        {"a + b", "left + right"},
        {"a.b + b->a", "left.b + right->a"},
        {"p.x - p . x + p->x + p -> x + N::x + N :: T", "p.x - p . x + p->x + p -> x + N::x + N :: T"},
        {"p > x ? x : x", "p > x0 ? x0 : x0"},
        {"1 - x", "1 - x0"},
        {"-x->x", "-x0->x"},
        {"1. * x", "1. * x0"},
        {"\"x\" 'T' xx Tx _x", "\"x\" 'T' xx Tx _x"},
        {"float16(x)", "float16(x0)"},
    };
    static const char *const named[][2] = {{"float16(x) + (T)1 + (bfloat16)a",
                                            "kn_rounded_to<float16>(x0) + (kn_rounded_to<float16>)1 + "
                                            "(kn_rounded_to<bfloat16>)left"},
                                           {"N::float16", "N::float16"}};
    kn_op op = plain_op();
    (void)state;
    for (int k = 0; k < COUNT(texts); ++k)
        check_put(&op, texts[k][0], texts[k][1]);
    op.declared = halves;
    op.halves = KN_HALVES_NAMED;
    for (int k = 0; k < COUNT(named); ++k)
        check_put(&op, named[k][0], named[k][1]);
    op.halves = KN_HALVES_WIDE;
    check_put(&op, "out = (T)x", "y0 = (float)x0");
    op.halves = KN_HALVES_EACH;
    check_put(&op, "out = (T)x", "y0 = (float16)x0");
}

/* ---- kernels as nodes ---- */

typedef struct node {
    kn_node node;
    kn_typed typed;
    kn_arena arena;
} node;

/* A node that calls a kernel whose parameters all have a dtype. */
static void call(node *n, kiln_kernel *kernel, kiln_dtype dtype)
{
    *n = (node){.node = {.kind = KN_NODE_KERNEL, .kernel = kernel}, .arena = KN_ARENA_INIT};
    for (int k = 0; k < COUNT(n->typed.param); ++k)
        n->typed.param[k] = dtype;
}

static void check_alone(const char *what, const char *in, const char *body,
                        const kiln_kernel_options *options, bool expected)
{
    kiln_kernel *kernel = NULL;
    node n;
    OK(kiln_elementwise_create(&kernel, in, "T z", body, "tried", options));
    call(&n, kernel, KILN_FLOAT32);
    if (kn_op_is_alone(&n.node, &n.typed, 0) != expected)
        fail_msg("%s ('%s', '%s') is %s a kernel of its own", what, in, body, expected ? "not" : "");
    kiln_kernel_free(kernel);
}

static void texts_that_are_kernels_of_their_own(void **state)
{
    static const char *const alone[][2] = {
        {"T x", "z = x + (T)i"},
        {"T x", "z = x + (T)n"},
        {"T x", "z = x + (T)_ind.ndim"},
        {"T x", "z = x; if (x > 0) continue; z = -x"},
        {"T x", "const T t1 = x; z = t1"},
        {"T x", "const T q97 = x; z = q97"},
        {"T x", "const T t1_half = x; z = t1_half"},
        {"raw T x, T y", "z = x[0] + y"},
        {"raw _non_const T x, T y", "z = y"},
        {"T x, own p", "z = x * (T)p.a"},
    };
    static const char *const fused[][2] = {
        {"T x", "z = x"},
        {"T x1", "z = x1"},
        {"T x, T t2", "z = x + t2"},
        {"T x", "const T t = x; z = t"},
        {"T x", "const T x1_half = x; z = x1_half"},
        {"T x", "const T g1 = x, x1y = x; z = g1 + x1y"},
        {"T x", "const own p = {(float)x, 0, 1}; z = (T)(p.a + p . n)"},
    };
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    (void)state;
    options.preamble = "struct own { float a, b; int n; };";
    for (int k = 0; k < COUNT(alone); ++k)
        check_alone("the text", alone[k][0], alone[k][1], &options, true);
    for (int k = 0; k < COUNT(fused); ++k)
        check_alone("the text", fused[k][0], fused[k][1], &options, false);
}

/* Each option of a kernel by itself. */
static void options_that_are_kernels_of_their_own(void **state)
{
    const char *const define = "-DWIDTH=3", *const header = "own.h", *const content = "";
    kiln_kernel_options options[7];
    static const char *const what[] = {"loop_prep", "after_loop", "options", "headers",
                                       "flags",     "a macro",    "rounding"};
    (void)state;
    for (int k = 0; k < COUNT(options); ++k)
        options[k] = (kiln_kernel_options)KILN_KERNEL_OPTIONS_INIT;
    options[0].loop_prep = "const int two = 2;";
    options[1].after_loop = ";";
    options[2].compile_options = &define;
    options[2].n_compile_options = 1;
    options[3].header_names = &header;
    options[3].header_texts = &content;
    options[3].n_headers = 1;
    options[4].flags = KILN_KERNEL_FAST_MATH;
    options[5].preamble = "#define TWO 2\n";
    options[6].flags = KILN_KERNEL_ROUND_EACH;
    for (int k = 0; k < COUNT(options); ++k)
        check_alone(what[k], "T x", "z = x", &options[k], true);
}

/* Rounding after each operation is no reason where the expression does so, too. */
static void rounding_is_shared(void **state)
{
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    kiln_kernel *kernel = NULL;
    const kn_op *op = NULL;
    node n;
    (void)state;
    options.flags = KILN_KERNEL_ROUND_EACH;
    OK(kiln_elementwise_create(&kernel, "T x", "T z", "z = x * x", "each", &options));
    call(&n, kernel, KILN_BFLOAT16);
    assert_true(kn_op_is_alone(&n.node, &n.typed, KILN_KERNEL_FAST_MATH));
    assert_false(kn_op_is_alone(&n.node, &n.typed, KILN_KERNEL_ROUND_EACH));
    assert_false(kn_op_shows_halves(&n.node, &n.typed));
    OK(kn_op_find(&op, &n.arena, &n.node, &n.typed, NULL, KILN_KERNEL_ROUND_EACH));
    assert_int_equal(op->halves, KN_HALVES_EACH);
    assert_string_equal(kn_op_type(op, 0), "bfloat16");
    assert_string_equal(kn_op_output_type(op, 1), "bfloat16");
    kn_arena_free(&n.arena);
    kiln_kernel_free(kernel);
}

static void patterns_that_are_kernels_of_their_own(void **state)
{
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    kiln_kernel *kernel[4] = {NULL};
    const bool alone[] = {false, false, true, true};
    node n;
    (void)state;
    OK(kiln_reduction_create(&kernel[0], "T x", "T z", "x", "a + b", "z = a", "0", "sums", NULL));
    options.preamble = "struct own { float a; };";
    options.reduce_type = "own";
    OK(kiln_reduction_create(&kernel[1], "T x", "T z", "own{(float)x}", "own{a.a + b.a}", "z = (T)a.a", NULL,
                             "structs", &options));
    options.preamble = "template<typename T> struct of { T a; };";
    options.reduce_type = "of<T>";
    OK(kiln_reduction_create(&kernel[2], "T x", "T z", "of<T>{x}", "of<T>{a.a + b.a}", "z = a.a", NULL,
                             "templates", &options));
    OK(kiln_scan_create(&kernel[3], "T x", "T z", "x", "a + b", "z = a", NULL, "scans", NULL));
    for (int k = 0; k < COUNT(kernel); ++k) {
        call(&n, kernel[k], KILN_FLOAT32);
        if (kn_op_is_alone(&n.node, &n.typed, 0) != alone[k])
            fail_msg("kernel %d is %s a kernel of its own", k, alone[k] ? "not" : "");
        kiln_kernel_free(kernel[k]);
    }
}

/* ---- 16-bit floats ---- */

static void check_halves(const char *body, kiln_dtype dtype, bool shows, kn_halves halves_of)
{
    kiln_kernel *kernel = NULL;
    const kn_op *op = NULL;
    node n;
    OK(kiln_elementwise_create(&kernel, "T x", "T z", body, "tried", NULL));
    call(&n, kernel, dtype);
    if (kn_op_shows_halves(&n.node, &n.typed) != shows)
        fail_msg("'%s' %s on the type of 16-bit floats", body, shows ? "does not depend" : "depends");
    OK(kn_op_find(&op, &n.arena, &n.node, &n.typed, NULL, 0));
    if (op->halves != halves_of)
        fail_msg("'%s': %d instead of %d", body, op->halves, halves_of);
    kn_arena_free(&n.arena);
    kiln_kernel_free(kernel);
}

static void texts_that_show_halves(void **state)
{
    static const char *const shows[] = {"z = (T)sizeof(x)", "z = bits(x)", "z = nextafter(x, x)",
                                        "z = (T)__half_as_short(x)", "z = __float2bfloat16(x)"};
    static const char *const named[] = {"z = (T)1 + x", "z = x + (float16)2", "const T t = x; z = t"};
    static const char *const wide[] = {"z = x", "z = x & x", "z = p.T + x", "z = half(x)",
                                       "z = N::float16(x)"};
    kiln_kernel *reduction = NULL;
    node n;
    (void)state;
    OK(kiln_reduction_create(&reduction, "T x", "T z", "bits(x)", "a + b", "z = a", "0", "sums", NULL));
    call(&n, reduction, KILN_FLOAT16);
    assert_true(kn_op_shows_halves(&n.node, &n.typed));
    kiln_kernel_free(reduction);
    for (int k = 0; k < COUNT(shows); ++k) {
        bool names = strstr(shows[k], "(T)");
        check_halves(shows[k], KILN_FLOAT16, true, names ? KN_HALVES_NAMED : KN_HALVES_WIDE);
        check_halves(shows[k], KILN_FLOAT32, false, KN_HALVES_WIDE);
    }
    check_halves("const T &t = x; z = t", KILN_BFLOAT16, true, KN_HALVES_NAMED);
    check_halves("const T * t = &x; z = *t", KILN_BFLOAT16, true, KN_HALVES_NAMED);
    for (int k = 0; k < COUNT(named); ++k)
        check_halves(named[k], KILN_FLOAT16, false, KN_HALVES_NAMED);
    for (int k = 0; k < COUNT(wide); ++k)
        check_halves(wide[k], KILN_FLOAT16, false, KN_HALVES_WIDE);
}

static void reductions_in_halves(void **state)
{
    static const struct {
        const char *type;
        bool shows;
        kiln_dtype value;
    } cases[] = {{NULL, false, KILN_FLOAT32},      {"float32", false, KILN_FLOAT32},
                 {"float64", false, KILN_FLOAT64}, {"T", true, KILN_FLOAT32},
                 {"U", false, KILN_FLOAT64},       {"float16", true, KILN_FLOAT32}};
    (void)state;
    for (int k = 0; k < COUNT(cases); ++k) {
        kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
        kiln_kernel *kernel = NULL;
        const kn_op *op = NULL;
        node n;
        options.reduce_type = cases[k].type;
        OK(kiln_reduction_create(&kernel, "T x, U w", "T z", "x", "a + b", "z = a", "0", "sums", &options));
        call(&n, kernel, KILN_FLOAT16);
        n.typed.param[1] = KILN_FLOAT64;
        if (kn_op_shows_halves(&n.node, &n.typed) != cases[k].shows)
            fail_msg("reduced in %s: %d", cases[k].type ? cases[k].type : "none", !cases[k].shows);
        OK(kn_op_find(&op, &n.arena, &n.node, &n.typed, NULL, 0));
        assert_int_equal(op->value, cases[k].value);
        assert_string_equal(op->reduce, "a + b");
        assert_string_equal(op->identity, "0");
        assert_string_equal(op->post, "z = a");
        kn_arena_free(&n.arena);
        kiln_kernel_free(kernel);
    }
}

/* ---- what a kernel's texts give ---- */

static void costs_and_identities(void **state)
{
    static const struct {
        const char *map;
        bool is_costly;
    } cases[] = {{"x * 2", false}, {"(T)(x)", false},  {"x / 2", true},
                 {"x % 2", true},  {"sqrt (x)", true}, {"T(x)", false}};
    (void)state;
    for (int k = 0; k < COUNT(cases); ++k) {
        kiln_kernel *kernel = NULL;
        const kn_op *op = NULL;
        node n;
        OK(kiln_reduction_create(&kernel, "T x", "T z", cases[k].map, "a + b", "z = a", NULL, "sums", NULL));
        call(&n, kernel, KILN_INT32);
        OK(kn_op_find(&op, &n.arena, &n.node, &n.typed, NULL, 0));
        if (op->is_costly != cases[k].is_costly)
            fail_msg("'%s' is %s", cases[k].map, op->is_costly ? "costly" : "cheap");
        assert_null(op->identity);
        assert_int_equal(op->value, KILN_INT32);
        assert_string_equal(kn_op_type(op, 0), "int");
        kn_arena_free(&n.arena);
        kiln_kernel_free(kernel);
    }
}

/* ---- operations as nodes ---- */

/* A node that calls an operation; the first of its variants. */
static void call_row(node *n, const kiln_operation *row)
{
    const char *types = row->types;
    *n = (node){.node = {.kind = KN_NODE_CALL}, .arena = KN_ARENA_INIT};
    n->typed.definition = row;
    assert_true(kn_variant_next(&n->typed.variant, &types));
    n->typed.dtype = n->typed.variant.dtype[n->typed.variant.n_in];
}

static kiln_operation sum_row(void)
{
    kiln_operation row = KILN_OPERATION_INIT;
    row.name = "total";
    row.in_params = "T x, U w";
    row.out_params = "U z";
    row.types = "ef->f";
    row.map = "x * w";
    row.reduce = "a + b";
    row.post = "z = a";
    row.identity = "0";
    return row;
}

static void rows_that_are_kernels_of_their_own(void **state)
{
    const char *const define = "-DWIDTH=3", *const header = "own.h", *const content = "";
    kiln_operation rows[14];
    node n;
    (void)state;
    for (int k = 0; k < COUNT(rows); ++k)
        rows[k] = sum_row();
    rows[0].map = "x * w * i";
    rows[1].reduce = "a + b + n";
    rows[2].post = "z = a; return";
    rows[3].identity = "t1";
    rows[4].preamble = "#define TWO 2\n";
    rows[5].reduce_type = "of<T>";
    rows[6].reduce_type = "my::own";
    rows[7].flags = KILN_KERNEL_FAST_MATH;
    rows[8].loop_prep = rows[9].after_loop = ";";
    rows[10].compile_options = &define;
    rows[10].n_compile_options = 1;
    rows[11].header_names = &header;
    rows[11].header_texts = &content;
    rows[11].n_headers = 1;
    rows[12].preamble = "struct own { float n; };"; /* fused, and so is the last one */
    rows[12].reduce_type = "own";
    for (int k = 0; k < COUNT(rows); ++k) {
        call_row(&n, &rows[k]);
        if (kn_op_is_alone(&n.node, &n.typed, 0) != (k < 12))
            fail_msg("row %d is %s a kernel of its own", k, k < 12 ? "not" : "");
    }
    n.node.kind = KN_NODE_CAST;
    assert_false(kn_op_is_alone(&n.node, &n.typed, 0));
}

/* Each text of a row may depend on the type of 16-bit floats. */
static void rows_that_show_halves(void **state)
{
    static const char *const in_value[] = {"T", "float16", "U", "float32", "own"};
    kiln_operation rows[7];
    node n;
    (void)state;
    for (int k = 0; k < COUNT(rows); ++k)
        rows[k] = sum_row();
    rows[0].map = "bits(x) * w";
    rows[1].reduce = "a + (U)sizeof(b)";
    rows[2].post = "z = nextafter(a, a)";
    rows[3].identity = "__half2float(0)";
    rows[4].preamble = "typedef float16 own;";
    rows[5].preamble = "typedef bfloat16 own;";
    for (int k = 0; k < COUNT(rows); ++k) {
        call_row(&n, &rows[k]);
        if (kn_op_shows_halves(&n.node, &n.typed) != (k < 6))
            fail_msg("row %d %s on the type of 16-bit floats", k, k < 6 ? "does not depend" : "depends");
        n.typed.variant.dtype[0] = KILN_FLOAT32;
        assert_false(kn_op_shows_halves(&n.node, &n.typed));
    }
    for (int k = 0; k < COUNT(in_value); ++k) {
        kiln_operation row = sum_row();
        row.reduce_type = in_value[k];
        call_row(&n, &row);
        if (kn_op_shows_halves(&n.node, &n.typed) != (k < 2))
            fail_msg("a sum in %s %s on the type of 16-bit floats", in_value[k],
                     k < 2 ? "does not depend" : "depends");
    }
    call_row(&n, &rows[0]);
    n.node.kind = KN_NODE_CAST;
    assert_false(kn_op_shows_halves(&n.node, &n.typed));
}

static void rows_give_their_texts(void **state)
{
    static const struct {
        const char *type;
        kiln_dtype value;
    } in_value[] = {{NULL, KILN_FLOAT32},      {"T", KILN_FLOAT32}, {"U", KILN_FLOAT32},
                    {"float64", KILN_FLOAT64}, {"int8", KILN_INT8}, {"own", KILN_DTYPE_NONE}};
    const kn_op *op = NULL;
    node n;
    (void)state;
    for (int k = 0; k < COUNT(in_value); ++k) {
        kiln_operation row = sum_row();
        row.reduce_type = in_value[k].type;
        call_row(&n, &row);
        OK(kn_op_find(&op, &n.arena, &n.node, &n.typed, NULL, 0));
        assert_int_equal(op->value, in_value[k].value);
        assert_true(op->n_in == 2 && op->n_out == 1 && op->dtype[0] == KILN_FLOAT32);
        assert_string_equal(op->name, "total");
        assert_string_equal(op->param[0].name, "x");
        assert_string_equal(op->param[1].name, "w");
        assert_string_equal(op->param[2].name, "z");
        assert_string_equal(op->identity, "0");
        assert_true(op->map == row.map && op->reduce == row.reduce && op->post == row.post && !op->preamble);
        assert_int_equal(op->halves, KN_HALVES_WIDE);
        kn_arena_free(&n.arena);
    }
    kiln_operation row = sum_row();
    row.identity = row.preamble = "";
    row.map = "(T)1 * w";
    call_row(&n, &row);
    OK(kn_op_find(&op, &n.arena, &n.node, &n.typed, "z = x * x", 0));
    assert_true(!op->identity && !op->preamble && op->halves == KN_HALVES_NAMED);
    assert_string_equal(op->map, "z = x * x");
    row.preamble = "/";
    OK(kn_op_find(&op, &n.arena, &n.node, &n.typed, NULL, 0));
    assert_string_equal(op->preamble, "/");
    assert_string_equal(op->map, "(T)1 * w");
    kn_arena_free(&n.arena);
}

static void memory_fails(void **state)
{
    const kn_op *op = NULL;
    kiln_operation row = sum_row();
    kiln_kernel *kernel = NULL;
    node n;
    (void)state;
    OK(kiln_elementwise_create(&kernel, "T x", "T z", "z = x", "copied", NULL));
    for (int of_row = 0; of_row < 2; ++of_row) {
        of_row ? call_row(&n, &row) : call(&n, kernel, KILN_FLOAT32);
        EACH_ALLOCATION_IS_NEEDED((kn_arena_free(&n.arena), n.arena = (kn_arena)KN_ARENA_INIT,
                                   kn_op_find(&op, &n.arena, &n.node, &n.typed, NULL, 0)),
                                  (void)0);
        kn_arena_free(&n.arena);
    }
    kiln_kernel_free(kernel);
}

/* A value is read in the type that the texts name; a 16-bit float may stay unrounded. */
static void inputs_are_converted(void **state)
{
    static const struct {
        kn_halves halves;
        const char *of_half, *of_float, *result;
    } cases[] = {{KN_HALVES_WIDE, "v", "v", "float"},
                 {KN_HALVES_NAMED, "kn_unrounded{v}", "v", "float"},
                 {KN_HALVES_EACH, "((float16)v)", "v", "float16"}};
    static const kiln_dtype mixed[] = {KILN_FLOAT16, KILN_FLOAT32};
    (void)state;
    for (int k = 0; k < COUNT(cases); ++k) {
        kn_op op = plain_op();
        kn_str of_half = KN_STR_INIT, of_float = KN_STR_INIT;
        op.declared = mixed;
        op.halves = cases[k].halves;
        kn_op_put_input(&of_half, &op, 0, "v");
        kn_op_put_input(&of_float, &op, 1, "v");
        assert_string_equal(kn_str_text(&of_half), cases[k].of_half);
        assert_string_equal(kn_str_text(&of_float), cases[k].of_float);
        assert_string_equal(kn_op_output_type(&op, 0), cases[k].result);
        assert_string_equal(kn_op_output_type(&op, 1), "float");
        kn_str_free(&of_half);
        kn_str_free(&of_float);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_are_assignments),
        cmocka_unit_test(words_are_replaced),
        cmocka_unit_test(texts_that_are_kernels_of_their_own),
        cmocka_unit_test(options_that_are_kernels_of_their_own),
        cmocka_unit_test(rounding_is_shared),
        cmocka_unit_test(patterns_that_are_kernels_of_their_own),
        cmocka_unit_test(texts_that_show_halves),
        cmocka_unit_test(reductions_in_halves),
        cmocka_unit_test(costs_and_identities),
        cmocka_unit_test(rows_that_are_kernels_of_their_own),
        cmocka_unit_test(rows_that_show_halves),
        cmocka_unit_test(rows_give_their_texts),
        cmocka_unit_test(inputs_are_converted),
        cmocka_unit_test(memory_fails),
    };
    return cmocka_run_group_tests_name("the texts of operations in expressions", tests, NULL, NULL);
}
