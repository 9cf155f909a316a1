/* Tracing: what is recorded has the dtypes and shapes of what runs, and its kernel the values. */
#include <kiln/kiln.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "drawn.h"

#include "base/alloc.h"
#include "types/number.h"
#include "ok.h"

/* ---- arrays that go when a test ends ---- */

static kiln_array *pool[512];
static int n_pool;

static kiln_array *keep(kiln_array *array)
{
    assert_true(n_pool < (int)(sizeof pool / sizeof pool[0]));
    return pool[n_pool++] = array;
}

static void drain(void)
{
    while (n_pool > 0)
        kiln_array_free(pool[--n_pool]);
}

static kiln_kernel *split, *weighted, *doubled, *raw, *record, *formula, *fast, *numbered, *gather, *scatter,
    *prepared, *early, *placed, *writes, *all_raw, *with_text;

/* Kernels whose texts do not mix with others. */
static int make_opaque_kernels(void)
{
    kiln_kernel_options around = KILN_KERNEL_OPTIONS_INIT, macro = KILN_KERNEL_OPTIONS_INIT,
                        text = KILN_KERNEL_OPTIONS_INIT;
    around.loop_prep = "const int factor = 3;";
    around.after_loop = "(void)factor;";
    macro.preamble = "#define HALF(x) ((x) / 2)\n";
    text.preamble = "__device__ float tripled(const float v) { return 3 * v; }";
    return kiln_elementwise_create(&numbered, "T x", "T low, T high",
                                   "low = x - (T)i; high = x + (T)(n + _ind.get()[_ind.ndim - 1])",
                                   "numbered", NULL) ||
           kiln_elementwise_create(&gather, "raw T t, T x, float64 by", "T y",
                                   "y = t[t.size() - 1 - i % t.size()] * x * (T)by", "gather", NULL) ||
           kiln_elementwise_create(&scatter, "T x", "raw T y, T z", "y[n - 1 - i] = x; z = x", "scatter",
                                   NULL) ||
           kiln_elementwise_create(&prepared, "T x", "T y", "y = x * (T)factor", "prepared", &around) ||
           kiln_elementwise_create(&early, "T x1", "T y1", "y1 = HALF(x1); if (x1 > 5) continue; y1 = -y1",
                                   "early", &macro) ||
           kiln_reduction_create(&placed, "T x", "T y", "x * (T)(i + 1)", "a + b", "y = a", "0", "placed",
                                 NULL) ||
           kiln_elementwise_create(&writes, "raw _non_const T x, T y", "T z", "z = y", "writes", NULL) ||
           kiln_elementwise_create(&all_raw, "raw T x", "T z", "z = x[0]", "all_raw", NULL) ||
           kiln_expression_create(&with_text, "a", "m = a * 2 - a.mean(); m, exp(-m * m).T", &text);
}

static int make_kernels(void **state)
{
    kiln_kernel_options fast_math = KILN_KERNEL_OPTIONS_INIT, with_struct = KILN_KERNEL_OPTIONS_INIT;
    (void)state;
    fast_math.flags = KILN_KERNEL_FAST_MATH;
    with_struct.preamble = "struct pair { float a, b; };";
    return kiln_elementwise_create(&split, "T x, T y", "T low, bool is_x", "is_x = x < y; low = is_x ? x : y",
                                   "split", NULL) ||
           kiln_reduction_create(&weighted, "T x, float64 w", "T y", "x * (T)w", "a + b", "y = a", "0",
                                 "weighted", NULL) ||
           kiln_elementwise_create(&doubled, "T x", "T y", "y = x + x", "doubled", NULL) ||
           kiln_elementwise_create(&raw, "raw T x, T y", "T z", "z = x[0] + y", "first", NULL) ||
           kiln_elementwise_create(&record, "T x, pair p", "T z", "z = x * (T)p.a", "paired", &with_struct) ||
           kiln_expression_create(&formula, "a, b",
                                  "d = a - mean(a, axis=-1, keepdims=True); d * b, sum(d * d)", NULL) ||
           kiln_expression_create(&fast, "a", "exp(a)", &fast_math) || make_opaque_kernels();
}

static int free_kernels(void **state)
{
    kiln_kernel *const all[] = {split,  weighted, doubled,  raw,   record, formula, fast,    numbered,
                                gather, scatter,  prepared, early, placed, writes,  all_raw, with_text};
    (void)state;
    for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k)
        kiln_kernel_free(all[k]);
    return 0;
}

static kiln_array *range(kiln_dtype dtype, int ndim, const int64_t *shape)
{
    kiln_array *flat = NULL, *out = NULL;
    int64_t size = 1;
    for (int a = 0; a < ndim; ++a)
        size *= shape[a];
    OK(kiln_array_arange(&flat, 1, (double)size + 1, 1, dtype, KILN_DEVICE_HOST));
    OK(kiln_array_reshape(&out, flat, ndim, shape));
    kiln_array_free(flat);
    return keep(out);
}

static kiln_array *apply(const char *name, int n_in, const kiln_arg *in, const kiln_call_options *options)
{
    kiln_array *out = NULL;
    if (kiln_apply(&out, 1, name, in, n_in, options) != KILN_OK)
        fail_msg("%s: %s", name, kiln_error_message());
    return keep(out);
}

static kiln_array *unary(const char *name, kiln_array *x)
{
    const kiln_arg in = kiln_arg_array(x);
    return apply(name, 1, &in, NULL);
}

static kiln_array *binary(const char *name, kiln_array *x, kiln_arg y)
{
    const kiln_arg in[] = {kiln_arg_array(x), y};
    return apply(name, 2, in, NULL);
}

static kiln_array *over(const char *name, kiln_array *x, int axis, unsigned flags)
{
    const kiln_arg in = kiln_arg_array(x);
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    options.axes = &axis;
    options.n_axes = 1;
    options.flags = flags;
    return apply(name, 1, &in, &options);
}

static kiln_array *index_of(kiln_array *x, const char *text)
{
    kiln_array *out = NULL;
    OK(kiln_array_index(&out, x, text));
    return keep(out);
}

/* ---- functions that are run, and traced ---- */

/* in[]: arrays; out[]: results that the pool holds. Returns how many. */
typedef int (*function)(kiln_array **out, kiln_array *const *in);

static int arithmetic(kiln_array **out, kiln_array *const *in)
{
    const kiln_arg three[] = {kiln_arg_array(binary("less", in[0], kiln_arg_array(in[1]))),
                              kiln_arg_array(in[0]), kiln_arg_float(0.25)};
    out[0] = binary("add", in[0], kiln_arg_array(in[1]));
    out[1] = binary("multiply", unary("sqrt", in[1]), kiln_arg_int(3));
    out[2] = binary("subtract", in[0], kiln_arg_float64(0.5));
    out[3] = apply("where", 3, three, NULL);
    out[4] = binary("power", in[0], kiln_arg_uint8(2));
    out[5] = binary("equal", in[0], kiln_arg_bool(true));
    out[6] = binary("multiply", in[1], kiln_arg_complex(0, 2));
    return 7;
}

static int reductions(kiln_array **out, kiln_array *const *in)
{
    const kiln_arg with_ddof[] = {kiln_arg_array(in[0]), kiln_arg_int(1)};
    const int axes[] = {0, -1};
    const kiln_arg one = kiln_arg_array(in[0]);
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    options.axes = axes;
    options.n_axes = 2;
    out[0] = unary("sum", in[0]);
    out[1] = over("mean", in[0], -1, KILN_CALL_KEEPDIMS);
    out[2] = apply("max", 1, &one, &options);
    out[3] = apply("var", 2, with_ddof, NULL);
    out[4] = over("argmax", in[0], 0, 0);
    options.n_axes = 0;
    out[5] = apply("sum", 1, &one, &options);
    out[6] = binary("divide", in[0], kiln_arg_array(over("norm_2", in[0], 1, KILN_CALL_KEEPDIMS)));
    return 7;
}

static int kernels(kiln_array **out, kiln_array *const *in)
{
    static const kiln_dtype doubles[] = {KILN_FLOAT64, KILN_FLOAT64};
    kiln_array *two[2] = {NULL}, *one = NULL;
    const kiln_arg pair[] = {kiln_arg_array(in[0]), kiln_arg_array(in[1])},
                   scaled[] = {kiln_arg_array(in[0]), kiln_arg_float32(2)},
                   typed[] = {kiln_arg_array(in[0]), kiln_arg_int(7)};
    const int axis = 1;
    kiln_kernel *add = NULL;
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    options.axes = &axis;
    options.n_axes = 1;
    OK(kiln_kernel_call(split, two, 2, pair, 2, NULL));
    out[0] = keep(two[0]);
    out[1] = keep(two[1]);
    OK(kiln_kernel_call(weighted, &one, 1, scaled, 2, &options));
    out[2] = keep(one);
    one = NULL;
    OK(kiln_operation_kernel(&add, "add", doubles, 2));
    OK(kiln_kernel_call(add, &one, 1, typed, 2, NULL));
    out[3] = keep(one);
    two[0] = two[1] = NULL;
    OK(kiln_kernel_call(formula, two, 2, typed, 2, NULL));
    out[4] = keep(two[0]);
    out[5] = keep(two[1]);
    return 6;
}

static int conversions(kiln_array **out, kiln_array *const *in)
{
    static const kiln_dtype to[] = {KILN_FLOAT16, KILN_INT8, KILN_BOOL, KILN_COMPLEX64};
    kiln_array *half = binary("multiply", in[0], kiln_arg_float(0.5)),
               *transposed = index_of(in[0], "..., ::-1"), *one = NULL,
               *imaginary = binary("multiply", in[0], kiln_arg_complex(0.5, 2));
    int n = 0;
    for (size_t k = 0; k < sizeof to / sizeof to[0]; ++k) {
        OK(kiln_array_astype(&one, half, to[k]));
        out[n++] = keep(one);
        OK(kiln_array_astype(&one, imaginary, to[k]));
        out[n++] = keep(one);
    }
    OK(kiln_array_astype(&one, transposed, KILN_INT8));
    out[n++] = keep(one);
    out[n++] = binary("add", out[2], kiln_arg_array(one));
    return n;
}

static int views(kiln_array **out, kiln_array *const *in)
{
    static const int axes[] = {1, 0};
    static const int64_t flat[] = {-1}, three[] = {2, 3, 4}, swapped[] = {2, 6};
    kiln_array *v[10] = {NULL};
    OK(kiln_array_slice(&v[0], in[0], -1, 1, KILN_SLICE_NONE, 2));
    OK(kiln_array_select(&v[1], in[0], 0, -1));
    OK(kiln_array_transpose(&v[2], in[0], NULL));
    OK(kiln_array_transpose(&v[3], in[0], axes));
    OK(kiln_array_reshape(&v[4], v[2], 1, flat)); /* a copy, where it is run */
    OK(kiln_array_broadcast_to(&v[5], in[0], 3, three));
    OK(kiln_array_expand_dims(&v[6], in[0], 1));
    OK(kiln_array_expand_dims(&v[7], v[6], -1));
    OK(kiln_array_squeeze(&v[8], v[7], -3));
    OK(kiln_array_reshape(&v[9], in[0], 2, swapped));
    for (int k = 0; k < 10; ++k)
        keep(v[k]);
    out[0] = index_of(in[0], "::-1, None, 1:3");
    out[1] = index_of(in[0], "..., -2");
    out[2] = binary("add", v[0], kiln_arg_int(1));
    out[3] = binary("add", v[1], kiln_arg_array(in[1]));
    out[4] = v[2];
    out[5] = unary("negative", v[3]);
    out[6] = unary("square", v[4]);
    out[7] = binary("subtract", v[5], kiln_arg_array(over("sum", v[5], 0, 0)));
    out[8] = unary("negative", v[8]);
    OK(kiln_array_squeeze(&out[9], v[8], KILN_ALL_AXES));
    keep(out[9]);
    out[10] = unary("exp", v[9]);
    OK(kiln_array_copy(&out[11], v[0]));
    keep(out[11]);
    OK(kiln_array_contiguous(&out[12], v[2]));
    keep(out[12]);
    return 13;
}

/* ---- tracing them ---- */

static kiln_kernel *trace_of(function f, kiln_array *const *like, int n_in, kiln_array **traced, int *n_out)
{
    kiln_trace *trace = NULL;
    kiln_kernel *kernel = NULL;
    kiln_array *in[8] = {NULL};
    OK(kiln_trace_begin(&trace, "traced"));
    for (int k = 0; k < n_in; ++k) {
        OK(kiln_trace_input(&in[k], trace, NULL, kiln_array_dtype(like[k]), kiln_array_ndim(like[k]),
                            kiln_array_shape(like[k])));
        keep(in[k]);
    }
    *n_out = f(traced, in);
    OK(kiln_trace_end(&kernel, trace, traced, *n_out, NULL));
    kiln_trace_free(trace);
    assert_int_equal(kiln_kernel_n_in(kernel), n_in);
    assert_int_equal(kiln_kernel_n_out(kernel), *n_out);
    return kernel;
}

static void assert_like(const kiln_array *x, const kiln_array *y, const char *what, int k)
{
    if (kiln_array_dtype(x) != kiln_array_dtype(y) || kiln_array_ndim(x) != kiln_array_ndim(y))
        fail_msg("%s %d: %s of %d axes, %s of %d", what, k, kiln_dtype_name(kiln_array_dtype(x)),
                 kiln_array_ndim(x), kiln_dtype_name(kiln_array_dtype(y)), kiln_array_ndim(y));
    for (int a = 0; a < kiln_array_ndim(x); ++a)
        if (kiln_array_shape(x)[a] != kiln_array_shape(y)[a])
            fail_msg("%s %d: axis %d has %lld and %lld", what, k, a, (long long)kiln_array_shape(x)[a],
                     (long long)kiln_array_shape(y)[a]);
}

static bool is_near(double x, double y, double unit)
{
    return x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= unit * (fabs(y) + 1e-3);
}

/* Within a few roundings of float32, or of the dtype where it is coarser. */
static void assert_equal(kiln_array *x, kiln_array *y, int which)
{
    size_t bytes = kiln_array_nbytes(y), item = kiln_dtype_size(kiln_array_dtype(y));
    char *a = malloc(bytes + 1), *b = malloc(bytes + 1);
    assert_like(x, y, "result", which);
    OK(kiln_array_to_host(x, a, bytes));
    OK(kiln_array_to_host(y, b, bytes));
    for (size_t k = 0; k < bytes; k += item) {
        kn_number p = kn_number_load(a + k, kiln_array_dtype(x)),
                  q = kn_number_load(b + k, kiln_array_dtype(y));
        bool is_float = p.kind == KN_KIND_FLOAT || p.kind == KN_KIND_COMPLEX;
        double unit = item == 2 ? 4e-3 : 2e-6;
        if (is_float ? !is_near(p.re, q.re, unit) || !is_near(p.im, q.im, unit) : p.i != q.i)
            fail_msg("result %d, element %zu: %g %g %lld, %g %g %lld", which, k / item, p.re, p.im,
                     (long long)p.i, q.re, q.im, (long long)q.i);
    }
    free(a);
    free(b);
}

/* The kernel gives the same results for these arrays as the function. */
static void assert_same(kiln_kernel *kernel, function f, kiln_array *const *in, int n_in)
{
    kiln_array *fused[64] = {NULL}, *apart[64] = {NULL};
    kiln_arg args[8];
    int n_out = f(apart, in);
    for (int k = 0; k < n_in; ++k)
        args[k] = kiln_arg_array(in[k]);
    OK(kiln_kernel_call(kernel, fused, n_out, args, n_in, NULL));
    for (int j = 0; j < n_out; ++j)
        assert_equal(keep(fused[j]), apart[j], j);
}

static void check(function f, kiln_dtype dtype)
{
    static const int64_t shape[] = {3, 4};
    kiln_array *in[] = {range(dtype, 2, shape), range(dtype, 1, shape + 1)}, *traced[64], *apart[64];
    int n_out;
    kiln_kernel *kernel = trace_of(f, in, 2, traced, &n_out);
    f(apart, in);
    for (int j = 0; j < n_out; ++j) {
        assert_like(traced[j], apart[j], "traced", j);
        assert_null(kiln_array_data(traced[j]));
        assert_true(kiln_array_is_c_contiguous(traced[j]));
    }
    assert_same(kernel, f, in, 2);
    kiln_kernel_free(kernel);
    drain();
}

static void arithmetic_is_recorded(void **state)
{
    (void)state;
    check(arithmetic, KILN_FLOAT32);
    check(arithmetic, KILN_INT16);
}

static void reductions_are_recorded(void **state)
{
    (void)state;
    check(reductions, KILN_FLOAT32);
}

static void kernels_are_recorded(void **state)
{
    (void)state;
    check(kernels, KILN_FLOAT32);
}

static void conversions_are_recorded(void **state)
{
    static const int64_t shape[] = {3};
    kiln_array *x = range(KILN_FLOAT32, 1, shape), *out = NULL;
    (void)state;
    FAILS(kiln_array_astype(NULL, x, KILN_INT8), KILN_ERROR_INVALID, "out is NULL");
    FAILS(kiln_array_astype(&out, NULL, KILN_INT8), KILN_ERROR_INVALID, "kiln_array_astype");
    FAILS(kiln_array_astype(&out, x, (kiln_dtype)99), KILN_ERROR_TYPE, "dtype number 99 was given");
    OK(kiln_array_astype(&out, x, KILN_FLOAT32)); /* a copy */
    assert_ptr_not_equal(kiln_array_data(keep(out)), kiln_array_data(x));
    assert_equal(out, x, 0);
    drain();
    check(conversions, KILN_FLOAT32);
}

static void views_are_recorded(void **state)
{
    (void)state;
    check(views, KILN_FLOAT32);
}

/* ---- random views ---- */

static uint64_t seed;

static int64_t draw(int64_t count)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((seed >> 33) % (uint64_t)count);
}

/* A bound of a slice, within the extent or beyond it. */
static int64_t bound(int64_t extent)
{
    return draw(4) == 0 ? KILN_SLICE_NONE : draw(2 * extent + 3) - extent - 1;
}

static kiln_status random_view(kiln_array **out, kiln_array *a)
{
    static const char *const indices[] = {"None, ...", "..., None", "::-1",
                                          "-1",        "..., ::2",  "1:, ..., None"};
    const int ndim = kiln_array_ndim(a), axis = (int)draw(2 * ndim + 1) - ndim;
    const int64_t extent = ndim > 0 && axis < ndim ? kiln_array_shape(a)[axis < 0 ? axis + ndim : axis] : 0;
    int64_t shape[KILN_MAX_NDIM] = {-1, 2};
    int turn[KILN_MAX_NDIM];
    switch (draw(8)) {
    case 0:
        return kiln_array_index(out, a, indices[draw(6)]);
    case 1:
        return kiln_array_slice(out, a, axis, bound(extent), bound(extent), draw(5) - 2);
    case 2:
        return kiln_array_select(out, a, axis, draw(extent + 1) - extent / 2);
    case 3:
        for (int k = 0; k < ndim; ++k)
            turn[k] = (k + 1) % ndim - (k % 2 ? ndim : 0);
        return kiln_array_transpose(out, a, draw(2) ? NULL : turn);
    case 4:
        return kiln_array_expand_dims(out, a, axis);
    case 5:
        return kiln_array_squeeze(out, a, draw(3) ? axis : KILN_ALL_AXES);
    case 6:
        return kiln_array_reshape(out, a, (int)draw(2) + 1, shape);
    default:
        for (int k = 0; k <= ndim; ++k)
            shape[k] = k == 0 ? 2 : kiln_array_shape(a)[k - 1];
        return kiln_array_broadcast_to(out, a, ndim + 1, shape);
    }
}

enum { CHAINS = 16, LENGTH = 7, MOST = 1 << 12 /* elements */ };

/* Each chain begins with the input, as it is or as something computed. Both ways fail at the same views. */
static int random_chains(kiln_array **out, kiln_array *const *in)
{
    for (int c = 0; c < CHAINS; ++c) {
        kiln_array *now = c % 2 ? in[0] : unary("negative", in[0]);
        for (int k = 0; k < LENGTH; ++k) {
            kiln_array *next = NULL;
            if (random_view(&next, now) == KILN_OK && kiln_array_size(next) <= MOST)
                now = keep(next);
            else
                kiln_array_free(next);
        }
        out[c] = now;
    }
    return CHAINS;
}

static void views_at_random(void **state)
{
    static const int64_t shape[] = {2, 3, 4};
    (void)state;
    enum { ROUNDS = 8 };
    for (uint64_t round = 1; round <= ROUNDS; ++round) {
        if (!is_drawn_of(round - 1, ROUNDS, 18))
            continue;
        kiln_array *in[] = {range(KILN_FLOAT32, 3, shape)}, *traced[64], *apart[64], *fused[64] = {NULL};
        const kiln_arg arg = kiln_arg_array(in[0]);
        int n_out;
        seed = round;
        kiln_kernel *kernel = trace_of(random_chains, in, 1, traced, &n_out);
        seed = round;
        random_chains(apart, in);
        for (int j = 0; j < n_out; ++j)
            assert_like(traced[j], apart[j], "chain", j);
        OK(kiln_kernel_call(kernel, fused, n_out, &arg, 1, NULL));
        for (int j = 0; j < n_out; ++j)
            assert_equal(keep(fused[j]), apart[j], j);
        kiln_kernel_free(kernel);
        drain();
    }
}

/* ---- other arguments ---- */

/* A kernel takes other dtypes and shapes than those it was traced with. */
static int centred(kiln_array **out, kiln_array *const *in)
{
    kiln_array *d = binary("subtract", in[0], kiln_arg_array(over("mean", in[0], -1, KILN_CALL_KEEPDIMS)));
    out[0] = index_of(binary("multiply", d, kiln_arg_array(in[1])), "1:, ..., ::-2");
    return 1;
}

static void other_arguments(void **state)
{
    static const int64_t traced_as[] = {3, 4}, called_with[] = {2, 5, 6};
    kiln_array *small[] = {range(KILN_FLOAT32, 2, traced_as), range(KILN_FLOAT32, 1, traced_as + 1)};
    kiln_array *large[] = {range(KILN_INT16, 3, called_with), range(KILN_FLOAT64, 2, called_with + 1)};
    kiln_array *traced[64], *apart[64], *one = NULL;
    int n_out;
    (void)state;
    kiln_kernel *kernel = trace_of(centred, small, 2, traced, &n_out);
    assert_same(kernel, centred, small, 2);
    assert_same(kernel, centred, large, 2);
    const kiln_arg by_value[] = {kiln_arg_array(small[0]), kiln_arg_int(2)};
    OK(kiln_kernel_call(kernel, &one, 1, by_value, 2, NULL));
    large[0] = small[0];
    large[1] = binary("multiply", range(KILN_FLOAT32, 0, NULL), kiln_arg_int(2));
    centred(apart, large);
    assert_equal(keep(one), apart[0], 0);
    kiln_kernel_free(kernel);
    drain();
}

/* An input that was an array in the trace may be a number. */
static void views_of_numbers(void **state)
{
    static const int64_t shape[] = {2, 3};
    kiln_trace *trace = NULL;
    kiln_kernel *kernel = NULL;
    kiln_array *x = NULL, *wide = NULL, *row = NULL, *out[4] = {NULL};
    (void)state;
    OK(kiln_trace_begin(&trace, "number"));
    OK(kiln_trace_input(&x, trace, "x", KILN_FLOAT16, 0, NULL));
    OK(kiln_array_broadcast_to(&wide, keep(x), 2, shape));
    OK(kiln_array_expand_dims(&row, x, 0));
    kiln_array *const results[] = {x, keep(wide), keep(row), binary("add", wide, kiln_arg_int(1))};
    OK(kiln_trace_end(&kernel, trace, results, 4, NULL));
    kiln_trace_free(trace);
    for (int is_half = 0; is_half < 2; ++is_half) {
        const uint16_t half = 0x4100; /* 2.5 */
        const kiln_arg in = is_half ? kiln_arg_typed(KILN_FLOAT16, &half) : kiln_arg_float(2.5);
        const kiln_dtype dtype = is_half ? KILN_FLOAT16 : KILN_FLOAT64;
        memset(out, 0, sizeof out);
        OK(kiln_kernel_call(kernel, out, 4, &in, 1, NULL));
        for (int j = 0; j < 4; ++j) {
            char bytes[48];
            assert_int_equal(kiln_array_dtype(keep(out[j])), dtype);
            assert_int_equal(kiln_array_size(out[j]), j % 2 ? 6 : 1);
            OK(kiln_array_to_host(out[j], bytes, kiln_array_nbytes(out[j])));
            size_t last = kiln_array_nbytes(out[j]) - kiln_dtype_size(dtype);
            assert_true(kn_number_load(bytes + last, dtype).re == (j == 3 ? 3.5 : 2.5));
        }
    }
    kiln_kernel_free(kernel);
    drain();
}

/* A kernel of a trace, called in another trace: its nodes become that one's. */
static kiln_kernel *inner;

static int with_inner(kiln_array **out, kiln_array *const *in)
{
    kiln_array *one = NULL;
    const kiln_arg args[] = {kiln_arg_array(in[0]), kiln_arg_float(1.5)};
    OK(kiln_kernel_call(inner, &one, 1, args, 2, NULL));
    out[0] = binary("add", keep(one), kiln_arg_int(1));
    return 1;
}

static void a_trace_in_a_trace(void **state)
{
    static const int64_t shape[] = {3, 4};
    kiln_array *in[] = {range(KILN_FLOAT32, 2, shape), range(KILN_FLOAT32, 1, shape + 1)}, *traced[64];
    int n_out;
    (void)state;
    inner = trace_of(centred, in, 2, traced, &n_out);
    kiln_kernel *outer = trace_of(with_inner, in, 1, traced, &n_out);
    assert_same(outer, with_inner, in, 1);
    kiln_kernel_free(inner); /* the outer one has what it needs */
    kiln_kernel_free(outer);
    drain();
}

/* Numbers that an expression computes of those it is given are what they are outside: constants of the trace,
 * which take the array's dtype, or are refused where that cannot hold them. */
static kiln_kernel *at_offset;
static int64_t shift_by;

static int with_computed(kiln_array **out, kiln_array *const *in)
{
    const kiln_arg args[] = {kiln_arg_array(in[0]), kiln_arg_int(shift_by)};
    kiln_array *made[2] = {NULL, NULL};
    OK(kiln_kernel_call(at_offset, made, 2, args, 2, NULL));
    out[0] = keep(made[0]);
    out[1] = keep(made[1]);
    return 2;
}

static void computed_numbers(void **state)
{
    static const int64_t shape[] = {3, 4}, fitting[] = {10, 12, 137};
    kiln_array *in[] = {range(KILN_UINT8, 2, shape)}, *traced[64];
    int n_out;
    (void)state;
    OK(kiln_expression_create(&at_offset, "x, s", "x + (s - 10) * 2, x * int(sqrt(s))", NULL));
    for (size_t k = 0; k < sizeof fitting / sizeof *fitting; ++k) {
        shift_by = fitting[k];
        kiln_kernel *kernel = trace_of(with_computed, in, 1, traced, &n_out);
        assert_same(kernel, with_computed, in, 1);
        kiln_kernel_free(kernel);
        unsigned char first[12];
        const kiln_arg args[] = {kiln_arg_array(in[0]), kiln_arg_int(shift_by)};
        kiln_array *out[2] = {NULL, NULL};
        OK(kiln_kernel_call(at_offset, out, 2, args, 2, NULL));
        OK(kiln_array_to_host(out[0], first, sizeof first));
        assert_int_equal(first[0], (1 + (shift_by - 10) * 2) & 255);
        kiln_array_free(out[0]);
        kiln_array_free(out[1]);
    }
    kiln_trace *trace = NULL;
    kiln_array *x = NULL;
    OK(kiln_trace_begin(&trace, "refused"));
    OK(kiln_trace_input(&x, trace, "x", KILN_UINT8, 2, shape));
    static const int64_t too_wide[] = {9, 138};
    for (size_t k = 0; k < sizeof too_wide / sizeof *too_wide; ++k) {
        kiln_array *out[2] = {NULL, NULL};
        const kiln_arg inside[] = {kiln_arg_array(x), kiln_arg_int(too_wide[k])},
                       outside[] = {kiln_arg_array(in[0]), kiln_arg_int(too_wide[k])};
        FAILS(kiln_kernel_call(at_offset, out, 2, inside, 2, NULL), KILN_ERROR_TYPE, "does not fit uint8");
        FAILS(kiln_kernel_call(at_offset, out, 2, outside, 2, NULL), KILN_ERROR_TYPE, "does not fit uint8");
        assert_true(!out[0] && !out[1]);
    }
    kiln_array_free(x);
    kiln_trace_free(trace);
    kiln_kernel_free(at_offset);
    drain();
}

/* ---- inputs, results, names ---- */

/* The layout of memory between two kernels follows from its producer. */
static int in_two_kernels(kiln_array **out, kiln_array *const *in)
{
    static const int64_t flat[] = {-1};
    kiln_array *one = NULL, *transposed = NULL, *run = NULL;
    const kiln_arg x = kiln_arg_array(in[0]);
    OK(kiln_kernel_call(doubled, &one, 1, &x, 1, NULL));
    OK(kiln_array_reshape(&run, keep(one), 1, flat));
    OK(kiln_array_transpose(&transposed, binary("add", in[0], kiln_arg_int(1)), NULL));
    OK(kiln_array_reshape(&one, keep(transposed), 1, flat));
    out[0] = binary("add", keep(run), kiln_arg_array(keep(one)));
    return 1;
}

/* Texts that do not mix with others have kernels of their own, over what lies in memory. */
static int opaque_kernels(kiln_array **out, kiln_array *const *in)
{
    kiln_array *two[2] = {NULL}, *one = NULL, *table = binary("multiply", in[1], kiln_arg_int(2));
    kiln_arg args[3] = {kiln_arg_array(binary("add", in[0], kiln_arg_array(in[1])))};
    OK(kiln_kernel_call(numbered, two, 2, args, 1, NULL));
    out[0] = binary("subtract", keep(two[1]), kiln_arg_array(keep(two[0])));
    out[1] = two[0];
    args[0] = kiln_arg_array(index_of(in[0], "::-1"));
    two[0] = two[1] = NULL;
    OK(kiln_kernel_call(numbered, two, 2, args, 1, NULL)); /* of which one is needed */
    out[2] = binary("add", keep(two[1]), kiln_arg_int(1));
    keep(two[0]);
    args[0] = kiln_arg_array(table);
    args[1] = kiln_arg_array(binary("add", in[0], kiln_arg_int(1)));
    args[2] = kiln_arg_float64(0.5);
    OK(kiln_kernel_call(gather, &one, 1, args, 3, NULL));
    out[3] = unary("negative", keep(one));
    one = NULL;
    OK(kiln_kernel_call(prepared, &one, 1, &args[1], 1, NULL));
    out[4] = keep(one);
    args[0] = kiln_arg_array(unary("sqrt", one));
    one = NULL;
    OK(kiln_kernel_call(early, &one, 1, args, 1, NULL));
    out[5] = keep(one);
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    const int axis = -1;
    options.axes = &axis;
    options.n_axes = 1;
    options.flags = KILN_CALL_KEEPDIMS;
    one = NULL;
    OK(kiln_kernel_call(placed, &one, 1, &args[1], 1, &options));
    out[6] = binary("add", keep(one), kiln_arg_array(in[0]));
    two[0] = two[1] = NULL;
    OK(kiln_kernel_call(with_text, two, 2, &args[1], 1, NULL));
    out[7] = binary("multiply", keep(two[0]), kiln_arg_int(3));
    out[8] = keep(two[1]);
    one = NULL;
    OK(kiln_kernel_call(fast, &one, 1, args, 1, NULL));
    out[9] = keep(one);
    out[10] = apply("fuse_numbered", 1, &args[1], NULL);
    return 11;
}

static void kernels_of_their_own(void **state)
{
    static const int64_t shape[] = {3, 4};
    kiln_operation numbers = KILN_OPERATION_INIT;
    kiln_array *traced[64];
    char *text = NULL;
    int n_out;
    (void)state;
    numbers.name = "fuse_numbered";
    numbers.in_params = "T x";
    numbers.out_params = "T y";
    numbers.types = "f->f d->d";
    numbers.map = "y = x * (T)i";
    OK(kiln_operation_register(&numbers));
    check(opaque_kernels, KILN_FLOAT16);
    kiln_array *in[] = {range(KILN_FLOAT32, 2, shape), range(KILN_FLOAT32, 1, shape + 1)};
    const kiln_arg args[] = {kiln_arg_array(in[0]), kiln_arg_array(in[1])};
    kiln_kernel *kernel = trace_of(opaque_kernels, in, 2, traced, &n_out);
    OK(kiln_kernel_explain(&text, kernel, NULL, n_out, args, 2, NULL, "host"));
    if (!strstr(text, "its texts, or its options, cannot stand beside others") ||
        !strstr(text, "fast_math=\"1\"") || !strstr(text, "tripled"))
        fail_msg("%s", text);
    free(text);
    kiln_kernel_free(kernel);
    drain();
}

/* An expression takes it, as a kernel of its own. */
static void operations_with_options(void **state)
{
    static const char *const options[] = {"-DFACTOR=3"};
    const float values[] = {1, 7, 5};
    float result[3];
    static const int64_t shape[] = {3};
    kiln_array *x = NULL, *out = NULL;
    kiln_kernel *kernel = NULL;
    kiln_operation d = KILN_OPERATION_INIT;
    (void)state;
    OK(kiln_array_from_host(&x, values, KILN_FLOAT32, 1, shape, KILN_DEVICE_HOST));
    kiln_arg in = kiln_arg_array(x);
    d.name = "by_factor";
    d.in_params = "T x";
    d.out_params = "T y";
    d.types = "f->f";
    d.map = "y = x * FACTOR + begin";
    d.loop_prep = "const int begin = 1";
    d.compile_options = options;
    d.n_compile_options = 1;
    OK(kiln_operation_register(&d));
    OK(kiln_expression_create(&kernel, "x", "by_factor(x + 1) * 2", NULL));
    OK(kiln_kernel_call(kernel, &out, 1, &in, 1, NULL));
    OK(kiln_array_to_host(out, result, sizeof result));
    assert_true(result[0] == 14 && result[1] == 50 && result[2] == 38);
    kiln_kernel_free(kernel);
    kiln_array_free(out);
    kiln_array_free(x);
}

/* The same in expressions: such a kernel is a function there. */
static void expressions_in_expressions(void **state)
{
    static const int64_t shape[] = {3, 4};
    kiln_kernel *const kernels[] = {formula, fast, gather, scatter};
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    kiln_kernel *outer = NULL;
    kiln_array *x = range(KILN_FLOAT32, 2, shape), *inside[2] = {NULL}, *out[2] = {NULL};
    const kiln_arg in[] = {kiln_arg_array(x), kiln_arg_array(x)};
    (void)state;
    options.kernels = kernels;
    options.n_kernels = 1;
    OK(kiln_expression_create(&outer, "x", "d, s = expression(x, b=x); d + 1, s", &options));
    OK(kiln_kernel_call(formula, inside, 2, in, 2, NULL));
    OK(kiln_kernel_call(outer, out, 2, in, 1, NULL));
    assert_equal(keep(out[0]), binary("add", keep(inside[0]), kiln_arg_int(1)), 0);
    assert_equal(keep(out[1]), keep(inside[1]), 1);
    kiln_kernel_free(outer);
    options.kernels = kernels + 1;
    outer = NULL;
    options.n_kernels = 3;
    OK(kiln_expression_create(
        &outer, "x", "y = expression(x * 0) * x; gather(x[0] + 0, y, 1.0), scatter(x + 0)[0] * 2", &options));
    out[0] = out[1] = NULL;
    OK(kiln_kernel_call(outer, out, 2, in, 1, NULL));
    assert_equal(keep(out[0]), binary("multiply", x, kiln_arg_array(index_of(index_of(x, "0"), "::-1"))), 2);
    assert_equal(keep(out[1]), binary("multiply", index_of(x, "::-1, ::-1"), kiln_arg_int(2)), 3);
    kiln_kernel_free(outer);
    outer = NULL;
    options.n_kernels = 0;
    options.kernels = NULL;
    options.loop_prep = "int k = 0;";
    FAILS(kiln_expression_create(&outer, "x", "x", &options), KILN_ERROR_INVALID,
          "options.loop_prep was given");
    options.loop_prep = NULL;
    options.after_loop = ";";
    FAILS(kiln_expression_create(&outer, "x", "x", &options), KILN_ERROR_INVALID,
          "options.after_loop was given");
    assert_null(outer);
    drain();
}

static void values_are_named(void **state)
{
    static const int64_t shape[] = {3, 4};
    kiln_array *in[] = {range(KILN_FLOAT32, 2, shape)}, *traced[64];
    const kiln_arg arg = kiln_arg_array(in[0]);
    char *text = NULL;
    int n_out;
    (void)state;
    kiln_kernel *kernel = trace_of(in_two_kernels, in, 1, traced, &n_out);
    OK(kiln_kernel_explain(&text, kernel, NULL, 1, &arg, 1, NULL, "host"));
    if (!strstr(text, "reads x0 (48 bytes)") || !strstr(text, "writes out (48 bytes)") ||
        !strstr(text, "stored in between: doubled 1") || !strstr(text, "stored in between: node "))
        fail_msg("%s", text);
    free(text);
    kiln_kernel_free(kernel);
    drain();
}

static void inputs_at_any_time(void **state)
{
    static const int64_t shape[] = {4};
    kiln_trace *trace = NULL;
    kiln_kernel *kernel = NULL;
    kiln_array *x = NULL, *y = NULL, *unused = NULL, *out[4] = {NULL}, *data = range(KILN_FLOAT32, 1, shape);
    (void)state;
    OK(kiln_trace_begin(&trace, NULL));
    OK(kiln_trace_input(&x, trace, "T", KILN_FLOAT32, 1, shape));
    kiln_array *half = binary("multiply", keep(x), kiln_arg_float(0.5));
    OK(kiln_trace_input(&unused, trace, NULL, KILN_INT8, 0, NULL));
    keep(unused);
    OK(kiln_trace_input(&y, trace, "i", KILN_FLOAT32, 1, shape));
    kiln_array *sum = binary("add", half, kiln_arg_array(keep(y)));
    unary("sin", sum); /* nothing needs it */
    kiln_array *const results[] = {sum, x, sum, half};
    OK(kiln_trace_end(&kernel, trace, results, 4, NULL));
    kiln_trace_free(trace);
    assert_string_equal(kiln_kernel_name(kernel), "trace");
    assert_int_equal(kiln_kernel_n_in(kernel), 3);
    const kiln_arg in[] = {kiln_arg_array(data), kiln_arg_int(0), kiln_arg_array(data)};
    OK(kiln_kernel_call(kernel, out, 4, in, 3, NULL));
    for (int j = 0; j < 4; ++j)
        keep(out[j]);
    kiln_array *halves = binary("multiply", data, kiln_arg_float(0.5));
    assert_equal(out[0], binary("add", halves, kiln_arg_array(data)), 0);
    assert_equal(out[1], data, 1);
    assert_equal(out[2], out[0], 2);
    assert_equal(out[3], halves, 3);
    kiln_kernel_free(kernel);
    drain();
}

static void many_inputs(void **state)
{
    kiln_trace *trace = NULL;
    kiln_array *x = NULL, *one_more = NULL;
    (void)state;
    OK(kiln_trace_begin(&trace, "many"));
    for (int k = 0; k < 64; ++k) {
        OK(kiln_trace_input(&x, trace, k == 3 ? "x4" : NULL, KILN_FLOAT32, 0, NULL));
        keep(x);
    }
    FAILS(kiln_trace_input(&one_more, trace, NULL, KILN_FLOAT32, 0, NULL), KILN_ERROR_INVALID, "64 inputs");
    assert_null(one_more);
    kiln_trace_free(trace);
    drain();
}

/* ---- errors ---- */

static kiln_status call_with(const char *name, kiln_arg x, kiln_arg y, const kiln_call_options *options)
{
    const kiln_arg in[] = {x, y};
    kiln_array *out = NULL;
    kiln_status status = kiln_apply(&out, 1, name, in, 2, options);
    assert_null(out);
    return status;
}

static kiln_status run(kiln_kernel *kernel, int n_out, kiln_arg x, kiln_arg y,
                       const kiln_call_options *options)
{
    const kiln_arg in[] = {x, y};
    kiln_array *out[2] = {NULL};
    kiln_status status =
        kiln_kernel_call(kernel, out, n_out, in, kiln_kernel_n_in(kernel) < 2 ? 1 : 2, options);
    assert_null(out[0]);
    return status;
}

typedef struct fixture {
    kiln_trace *trace, *other;
    kiln_array *x, *y, *z, *data; /* y: of the other; z: of another shape */
} fixture;

static void begin(fixture *f)
{
    static const int64_t shape[] = {3, 4};
    memset(f, 0, sizeof *f);
    OK(kiln_trace_begin(&f->trace, "first_one"));
    OK(kiln_trace_begin(&f->other, "second_one"));
    OK(kiln_trace_input(&f->x, f->trace, "x", KILN_FLOAT32, 2, shape));
    OK(kiln_trace_input(&f->z, f->trace, "z", KILN_INT32, 1, shape));
    OK(kiln_trace_input(&f->y, f->other, "y", KILN_FLOAT32, 2, shape));
    keep(f->x);
    keep(f->y);
    keep(f->z);
    f->data = range(KILN_FLOAT32, 2, shape);
}

static void end(fixture *f)
{
    kiln_trace_free(f->trace);
    kiln_trace_free(f->other);
    drain();
}

static void arguments_that_are_refused(void **state)
{
    fixture f;
    (void)state;
    begin(&f);
    const kiln_arg x = kiln_arg_array(f.x), y = kiln_arg_array(f.y), z = kiln_arg_array(f.z),
                   data = kiln_arg_array(f.data), one = kiln_arg_int(1);
    float pair[2] = {1, 2};
    FAILS(call_with("add", x, y, NULL), KILN_ERROR_INVALID, "in[1] is an array of the trace 'second_one'");
    FAILS(call_with("add", x, data, NULL), KILN_ERROR_INVALID, "in[1] is an array with data");
    FAILS(call_with("add", data, x, NULL), KILN_ERROR_INVALID, "in[0] is an array with data");
    FAILS(run(split, 2, data, x, NULL), KILN_ERROR_INVALID, "in[0] is an array with data");
    FAILS(run(split, 2, x, y, NULL), KILN_ERROR_INVALID,
          "split: in[1] is an array of the trace 'second_one'");
    FAILS(call_with("add", x, kiln_arg_array(NULL), NULL), KILN_ERROR_INVALID, "in[1]: an array");
    FAILS(call_with("add", x, kiln_arg_struct(pair, sizeof pair), NULL), KILN_ERROR_INVALID,
          "in[1]: an array");
    FAILS(call_with("add", x, kiln_arg_none(), NULL), KILN_ERROR_INVALID, "in[1]: an array");
    FAILS(call_with("add", x, z, NULL), KILN_ERROR_SHAPE, "add: first_one: shapes (3, 4) and (3,)");
    FAILS(call_with("bitwise_and", x, one, NULL), KILN_ERROR_TYPE, "bitwise_and: no variant");
    FAILS(call_with("add", z, kiln_arg_int(INT64_MAX), NULL), KILN_ERROR_TYPE, "does not fit");
    FAILS(call_with("nothing", x, one, NULL), KILN_ERROR_NOT_FOUND, "'nothing'");
    FAILS(call_with("absolute", x, one, NULL), KILN_ERROR_NOT_FOUND, "'absolute'"); /* of expressions alone */
    FAILS(call_with(NULL, x, one, NULL), KILN_ERROR_INVALID, "name is NULL");
    FAILS(call_with("sum", x, one, NULL), KILN_ERROR_TYPE, "sum: no variant");
    FAILS(kiln_apply(NULL, 1, "add", (kiln_arg[]){x, x}, 2, NULL), KILN_ERROR_INVALID, "out is NULL");
    kiln_array *two[2] = {NULL};
    FAILS(kiln_apply(two, 2, "add", (kiln_arg[]){x, x}, 2, NULL), KILN_ERROR_INVALID, "2 output arguments");
    FAILS(kiln_apply(&f.data, 1, "add", (kiln_arg[]){x, x}, 2, NULL), KILN_ERROR_INVALID, "out[0]: an array");
    FAILS(kiln_kernel_call(doubled, &f.x, 1, &data, 1, NULL), KILN_ERROR_INVALID,
          "in[0] is an array with data");
    FAILS(run(writes, 1, x, x, NULL), KILN_ERROR_UNSUPPORTED, "'x' is raw and _non_const");
    FAILS(run(all_raw, 1, x, x, NULL), KILN_ERROR_INVALID, "every array is raw");
    FAILS(run(raw, 1, kiln_arg_float(1), x, NULL), KILN_ERROR_TYPE, "'x' is raw, and the texts index it");
    FAILS(run(record, 1, x, one, NULL), KILN_ERROR_UNSUPPORTED, "'p' is a struct");
    FAILS(run(split, 2, x, z, NULL), KILN_ERROR_TYPE, "type T");
    FAILS(run(split, 2, x, kiln_arg_complex(1, 1), NULL), KILN_ERROR_TYPE, "split");
    end(&f);
}

static void options_that_are_refused(void **state)
{
    static const int64_t shape[] = {3, 4};
    static const int axis = 0, wrong = 2, twice[] = {0, -2};
    fixture f;
    kiln_stream *stream = NULL;
    (void)state;
    begin(&f);
    OK(kiln_stream_create(&stream, KILN_DEVICE_HOST, 0));
    const kiln_arg x = kiln_arg_array(f.x);
    kiln_call_options o = KILN_CALL_OPTIONS_INIT;
    const kiln_call_options usual = KILN_CALL_OPTIONS_INIT;
#define REFUSED(member, given, words)                                                                        \
    do {                                                                                                     \
        o = usual;                                                                                           \
        o.member = given;                                                                                    \
        FAILS(call_with("add", x, x, &o), KILN_ERROR_INVALID, words);                                        \
        FAILS(run(split, 2, x, x, &o), KILN_ERROR_INVALID, words);                                           \
    } while (0)
    REFUSED(stream, stream, "options.stream");
    REFUSED(block, 64, "options.block");
    REFUSED(order, KILN_ORDER_KEEP, "options.order");
    REFUSED(size, 12, "options.size");
    REFUSED(flags, KILN_CALL_KEEPDIMS, "KILN_CALL_KEEPDIMS");
    REFUSED(flags, 64, "options.flags");
    REFUSED(axes, &axis, "options.axes");
    REFUSED(struct_size, 0, "struct_size");
    o = usual;
    o.shape = shape;
    o.ndim = 2;
    FAILS(call_with("add", x, x, &o), KILN_ERROR_INVALID, "options.shape");
    o = usual;
    o.flags = KILN_CALL_NO_COMPILE; /* nothing is compiled */
    kiln_array *sum = NULL;
    OK(kiln_apply(&sum, 1, "add", (kiln_arg[]){x, x}, 2, &o));
    keep(sum);
    o.axes = &wrong;
    o.n_axes = 1;
    sum = NULL;
    FAILS(kiln_apply(&sum, 1, "sum", &x, 1, &o), KILN_ERROR_INVALID, "axis 2");
    o.axes = twice;
    o.n_axes = 2;
    FAILS(kiln_apply(&sum, 1, "sum", &x, 1, &o), KILN_ERROR_INVALID, "axis -2");
    assert_null(sum);
    kiln_stream_free(stream);
    end(&f);
}

/* The same messages as for arrays with data. */
static void views_that_are_refused(void **state)
{
    static const int64_t shape[] = {5, 3}, small[] = {4};
    static const int twice[] = {0, 0};
    fixture f;
    (void)state;
    begin(&f);
    for (int k = 0; k < 2; ++k) {
        kiln_array *a = k ? f.x : f.data, *out = NULL;
        FAILS(kiln_array_slice(&out, a, 2, 0, 1, 1), KILN_ERROR_SHAPE, "kiln_array_slice: axis 2");
        FAILS(kiln_array_slice(&out, a, 1, 0, 1, 0), KILN_ERROR_INVALID, "step is 0");
        FAILS(kiln_array_select(&out, a, 1, 4), KILN_ERROR_SHAPE, "index 4");
        FAILS(kiln_array_index(&out, a, "3"), KILN_ERROR_SHAPE, "out of range");
        FAILS(kiln_array_index(&out, a, "1:2:"), KILN_OK, "");
        kiln_array_free(out);
        out = NULL;
        FAILS(kiln_array_index(&out, a, "0, 0, 0"), KILN_ERROR_SHAPE, "3 indices");
        FAILS(kiln_array_transpose(&out, a, twice), KILN_ERROR_SHAPE, "twice");
        FAILS(kiln_array_reshape(&out, a, 2, shape), KILN_ERROR_SHAPE, "cannot become");
        FAILS(kiln_array_broadcast_to(&out, a, 2, shape), KILN_ERROR_SHAPE, "cannot become");
        FAILS(kiln_array_broadcast_to(&out, a, 1, small), KILN_ERROR_SHAPE, "cannot become");
        FAILS(kiln_array_squeeze(&out, a, 0), KILN_ERROR_SHAPE, "extent 3");
        FAILS(kiln_array_expand_dims(&out, a, 3), KILN_ERROR_SHAPE, "axis 3");
        assert_null(out);
    }
    end(&f);
}

static void data_that_is_not_there(void **state)
{
    char bytes[48], *text = NULL;
    fixture f;
    kiln_array *out = NULL;
    (void)state;
    begin(&f);
    const kiln_arg x = kiln_arg_array(f.x);
    FAILS(kiln_array_to_host(f.x, bytes, sizeof bytes), KILN_ERROR_INVALID, "trace 'first_one'");
    FAILS(kiln_array_set_from_host(f.x, bytes, sizeof bytes), KILN_ERROR_INVALID, "trace 'first_one'");
    FAILS(kiln_array_fill(f.x, bytes), KILN_ERROR_INVALID, "trace 'first_one'");
    FAILS(kiln_array_save_npy(f.x, "nowhere.npy"), KILN_ERROR_INVALID, "trace 'first_one'");
    FAILS(kiln_array_to_string(&text, f.x, NULL), KILN_ERROR_INVALID, "trace 'first_one'");
    FAILS(kiln_array_to_device(&out, f.x, KILN_DEVICE_HOST), KILN_ERROR_INVALID, "trace 'first_one'");
    FAILS(kiln_kernel_prepare(doubled, NULL, 1, &x, 1, NULL, NULL), KILN_ERROR_INVALID, "trace 'first_one'");
    FAILS(kiln_kernel_explain(&text, doubled, NULL, 1, &x, 1, NULL, NULL), KILN_ERROR_INVALID,
          "trace 'first_one'");
    assert_null(kiln_array_data(f.x));
    end(&f);
}

static void the_trace_itself(void **state)
{
    static const int64_t shape[] = {3, -4};
    static const char long_name[] = "a234567890123456789012345678901234567890123456789012345678901234";
    fixture f;
    kiln_trace *trace = NULL;
    kiln_array *out = NULL;
    kiln_kernel *kernel = NULL;
    kiln_kernel_options options;
    const kiln_kernel_options usual = KILN_KERNEL_OPTIONS_INIT;
    (void)state;
    FAILS(kiln_trace_begin(NULL, "x"), KILN_ERROR_INVALID, "out is NULL");
    FAILS(kiln_trace_begin(&trace, "2x"), KILN_ERROR_INVALID, "'2x'");
    FAILS(kiln_trace_begin(&trace, ""), KILN_ERROR_INVALID, "''");
    FAILS(kiln_trace_begin(&trace, "a b"), KILN_ERROR_INVALID, "'a b'");
    FAILS(kiln_trace_begin(&trace, long_name), KILN_ERROR_INVALID, "63 characters");
    assert_null(trace);
    begin(&f);
    FAILS(kiln_trace_input(NULL, f.trace, "a", KILN_FLOAT32, 0, NULL), KILN_ERROR_INVALID, "out is NULL");
    FAILS(kiln_trace_input(&out, NULL, "a", KILN_FLOAT32, 0, NULL), KILN_ERROR_INVALID, "trace is NULL");
    FAILS(kiln_trace_input(&out, f.trace, "x", KILN_FLOAT32, 0, NULL), KILN_ERROR_INVALID, "already");
    FAILS(kiln_trace_input(&out, f.trace, "x y", KILN_FLOAT32, 0, NULL), KILN_ERROR_INVALID, "'x y'");
    FAILS(kiln_trace_input(&out, f.trace, "a", (kiln_dtype)99, 0, NULL), KILN_ERROR_TYPE, "99");
    FAILS(kiln_trace_input(&out, f.trace, "a", KILN_FLOAT32, 2, shape), KILN_ERROR_SHAPE, "negative");
    FAILS(kiln_trace_end(NULL, f.trace, &f.x, 1, NULL), KILN_ERROR_INVALID, "out is NULL");
    FAILS(kiln_trace_end(&kernel, NULL, &f.x, 1, NULL), KILN_ERROR_INVALID, "trace is NULL");
    FAILS(kiln_trace_end(&kernel, f.trace, NULL, 1, NULL), KILN_ERROR_INVALID, "results is NULL");
    FAILS(kiln_trace_end(&kernel, f.trace, &f.x, 0, NULL), KILN_ERROR_INVALID, "n_results: 0");
    FAILS(kiln_trace_end(&kernel, f.trace, &f.x, 65, NULL), KILN_ERROR_INVALID, "n_results: 65");
    FAILS(kiln_trace_end(&kernel, f.trace, &out, 1, NULL), KILN_ERROR_INVALID, "results[0] is NULL");
    FAILS(kiln_trace_end(&kernel, f.trace, &f.data, 1, NULL), KILN_ERROR_INVALID, "an array with data");
    FAILS(kiln_trace_end(&kernel, f.trace, &f.y, 1, NULL), KILN_ERROR_INVALID, "another trace");
#define OPTION_REFUSED(member, given, words)                                                                 \
    do {                                                                                                     \
        options = usual;                                                                                     \
        options.member = given;                                                                              \
        FAILS(kiln_trace_end(&kernel, f.trace, &f.x, 1, &options), KILN_ERROR_INVALID, words);               \
    } while (0)
    OPTION_REFUSED(reduce_type, "float32", "reduce_type");
    OPTION_REFUSED(loop_prep, "int k;", "options.loop_prep");
    OPTION_REFUSED(after_loop, "int k;", "options.after_loop");
    OPTION_REFUSED(kernels, &split, "options.kernels");
    OPTION_REFUSED(struct_size, 1000, "struct_size");
    assert_null(kernel);
    OK(kiln_trace_end(&kernel, f.trace, &f.x, 1, NULL)); /* none of these has ended it */
    FAILS(kiln_trace_end(&kernel, f.trace, &f.x, 1, NULL), KILN_ERROR_INVALID, "has ended");
    FAILS(kiln_trace_input(&out, f.trace, "a", KILN_FLOAT32, 0, NULL), KILN_ERROR_INVALID, "has ended");
    FAILS(call_with("add", kiln_arg_array(f.x), kiln_arg_int(1), NULL), KILN_ERROR_INVALID, "has ended");
    FAILS(kiln_array_transpose(&out, f.x, NULL), KILN_ERROR_INVALID, "has ended");
    FAILS(kiln_array_copy(&out, f.x), KILN_ERROR_INVALID, "has ended");
    assert_int_equal(kiln_array_ndim(f.x), 2);
    kiln_trace_free(f.other);
    f.other = NULL;
    FAILS(call_with("add", kiln_arg_array(f.y), kiln_arg_int(1), NULL), KILN_ERROR_INVALID, "has ended");
    kiln_trace_free(NULL);
    kiln_kernel_free(kernel);
    end(&f);
}

/* ---- memory that is not there ---- */

/* Calls until no allocation fails; each failure is one of memory, and changes nothing. */
#define UNTIL_IT_SUCCEEDS(call)                                                                              \
    do {                                                                                                     \
        kiln_status got = KILN_ERROR_MEMORY;                                                                 \
        unsigned long n = 0;                                                                                 \
        while (got != KILN_OK) {                                                                             \
            kn_alloc_fail_at(++n, 0);                                                                        \
            got = (call);                                                                                    \
            kn_alloc_fail_at(0, 0);                                                                          \
            assert_true(got == KILN_OK || got == KILN_ERROR_MEMORY);                                         \
        }                                                                                                    \
        assert_true(n > 1);                                                                                  \
    } while (0)

static void no_memory(void **state)
{
    static const int64_t shape[] = {3, 4};
    kiln_trace *trace = NULL;
    kiln_kernel *kernel = NULL;
    kiln_array *x = NULL, *transposed = NULL, *copy = NULL, *sum = NULL, *two[2] = {NULL}, *pair[2] = {NULL};
    (void)state;
    UNTIL_IT_SUCCEEDS(kiln_trace_begin(&trace, "thrifty"));
    UNTIL_IT_SUCCEEDS(kiln_trace_input(&x, trace, "x", KILN_FLOAT32, 2, shape));
    UNTIL_IT_SUCCEEDS(kiln_array_transpose(&transposed, x, NULL));
    UNTIL_IT_SUCCEEDS(kiln_array_copy(&copy, transposed));
    const kiln_arg in[] = {kiln_arg_array(copy), kiln_arg_float64(2)};
    UNTIL_IT_SUCCEEDS(kiln_apply(&sum, 1, "add", in, 2, NULL));
    const kiln_arg both[] = {kiln_arg_array(sum), kiln_arg_float(3)};
    UNTIL_IT_SUCCEEDS(kiln_kernel_call(split, two, 2, both, 2, NULL));
    UNTIL_IT_SUCCEEDS(kiln_kernel_call(formula, pair, 2, both, 2, NULL));
    kiln_array *const results[] = {two[0], two[1], pair[0], pair[1]};
    UNTIL_IT_SUCCEEDS(kiln_trace_end(&kernel, trace, results, 4, NULL));
    kiln_trace_free(trace);
    kiln_array *const all[] = {x, transposed, copy, sum, two[0], two[1], pair[0], pair[1]};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k)
        keep(all[k]);
    kiln_array *data = range(KILN_FLOAT32, 2, shape), *out[4] = {NULL};
    const kiln_arg given = kiln_arg_array(data);
    OK(kiln_kernel_call(kernel, out, 4, &given, 1, NULL));
    for (int j = 0; j < 4; ++j)
        keep(out[j]);
    kiln_array *plain = NULL, *by_kernel[2] = {NULL};
    OK(kiln_array_transpose(&plain, data, NULL));
    const kiln_arg then[] = {kiln_arg_array(binary("add", keep(plain), kiln_arg_float64(2))),
                             kiln_arg_float(3)};
    OK(kiln_kernel_call(formula, by_kernel, 2, then, 2, NULL));
    assert_equal(out[2], keep(by_kernel[0]), 2);
    assert_equal(out[3], keep(by_kernel[1]), 3);
    kiln_kernel_free(kernel);
    drain();
}

/* ---- long traces ---- */

static void a_long_chain(void **state)
{
    static const int64_t shape[] = {16};
    kiln_trace *trace = NULL;
    kiln_kernel *kernel = NULL;
    kiln_array *x = NULL, *next = NULL, *out = NULL, *data = range(KILN_FLOAT64, 1, shape);
    const kiln_arg given = kiln_arg_array(data);
    (void)state;
    OK(kiln_trace_begin(&trace, "chain"));
    OK(kiln_trace_input(&x, trace, "x", KILN_FLOAT64, 1, shape));
    for (int k = 0; k < 100; ++k) {
        const kiln_arg in[] = {kiln_arg_array(x), kiln_arg_int(k)};
        OK(kiln_apply(&next, 1, "add", in, 2, NULL));
        kiln_array_free(x); /* the trace has its node */
        x = next;
        next = NULL;
    }
    OK(kiln_trace_end(&kernel, trace, &x, 1, NULL));
    kiln_trace_free(trace);
    kiln_array_free(x);
    OK(kiln_kernel_call(kernel, &out, 1, &given, 1, NULL));
    assert_equal(keep(out), binary("add", data, kiln_arg_int(4950)), 0);
    kiln_kernel_free(kernel);
    drain();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic_is_recorded),
        cmocka_unit_test(reductions_are_recorded),
        cmocka_unit_test(kernels_are_recorded),
        cmocka_unit_test(conversions_are_recorded),
        cmocka_unit_test(views_are_recorded),
        cmocka_unit_test(views_at_random),
        cmocka_unit_test(other_arguments),
        cmocka_unit_test(views_of_numbers),
        cmocka_unit_test(a_trace_in_a_trace),
        cmocka_unit_test(expressions_in_expressions),
        cmocka_unit_test(kernels_of_their_own),
        cmocka_unit_test(values_are_named),
        cmocka_unit_test(inputs_at_any_time),
        cmocka_unit_test(many_inputs),
        cmocka_unit_test(computed_numbers),
        cmocka_unit_test(arguments_that_are_refused),
        cmocka_unit_test(options_that_are_refused),
        cmocka_unit_test(views_that_are_refused),
        cmocka_unit_test(data_that_is_not_there),
        cmocka_unit_test(the_trace_itself),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(operations_with_options),
        cmocka_unit_test(a_long_chain),
    };
    return cmocka_run_group_tests(tests, make_kernels, free_kernels);
}
