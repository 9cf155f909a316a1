/* Whatever a first call refuses, a call that is remembered refuses too: a table of bad calls, each made
 * before and after the good call that is nearest to it, in one thread and in several. */
#include <kiln/convenience.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>

#include <cmocka.h>

#include "array/array.h"
#include "ok.h"

enum { N = 6, THREADS = 4, ROUNDS = 40 };
enum { X, A, S, R, N_IN }; /* an array, a scalar, a struct, a raw array */

typedef struct pair {
    int64_t a, b;
} pair;

/* One call. Everything in it is good to begin with; a case spoils one thing. */
typedef struct attempt {
    kiln_kernel *kernel;
    kiln_array *out[1], **outs;
    kiln_arg in[N_IN], *ins;
    int n_in, n_out;
    kiln_call_options options;
} attempt;

/* The parts of attempts; they are only read once made. */
static struct {
    kiln_array *x, *dot, *z, *raw;                            /* good ones; dot: without axes */
    kiln_array *other_dtype, *other_shape, *read_only, *flat; /* outputs that are none; flat: stride 0 */
    kiln_array *placeholder;
} arrays;
static const pair values = {3, 4};

static kiln_array *wrap(void *data, kiln_dtype dtype, int ndim, int64_t extent, int64_t stride,
                        bool read_only)
{
    kiln_array_spec spec = KILN_ARRAY_SPEC_INIT;
    kiln_array *a = NULL;
    spec.dtype = dtype;
    spec.ndim = ndim;
    spec.shape = &extent;
    spec.strides = &stride;
    spec.device = KILN_DEVICE_HOST;
    spec.read_only = read_only;
    OK(kiln_array_wrap(&a, data, &spec, NULL, NULL));
    return a;
}

static int make_arrays(void **state)
{
    static _Alignas(64) double in[N] = {1, 2, 3, 4, 5, 6}, raw[N] = {10, 20, 30, 40, 50, 60}, out[N], dot = 1;
    const int64_t shape = N;
    (void)state;
    arrays.x = wrap(in, KILN_FLOAT64, 1, N, 8, false);
    arrays.dot = wrap(&dot, KILN_FLOAT64, 0, 1, 0, false);
    arrays.z = wrap(out, KILN_FLOAT64, 1, N, 8, false);
    arrays.raw = wrap(raw, KILN_FLOAT64, 1, N, 8, false);
    arrays.read_only = wrap(out, KILN_FLOAT64, 1, N, 8, true);
    arrays.other_dtype = wrap(out, KILN_INT64, 1, N, 8, false);
    arrays.other_shape = wrap(out, KILN_FLOAT64, 1, N - 1, 8, false);
    arrays.flat = wrap(out, KILN_FLOAT64, 1, N, 0, false);
    return kn_array_placeholder(&arrays.placeholder, KILN_FLOAT64, 1, &shape);
}

static int free_arrays(void **state)
{
    kiln_array *all[] = {arrays.x,           arrays.dot,       arrays.z,
                         arrays.raw,         arrays.read_only, arrays.other_dtype,
                         arrays.other_shape, arrays.flat,      arrays.placeholder};
    (void)state;
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k)
        kiln_array_free(all[k]);
    return 0;
}

static kiln_kernel *make_kernel(void)
{
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    kiln_kernel *kernel = NULL;
    options.preamble = "struct pair { int64 a, b; };";
    OK(kiln_elementwise_create(&kernel, "float64 x, float64 a, pair s, raw _non_const float64 r", "float64 z",
                               "z = x * a + s.a + s.b + r[0]", "bent", &options));
    return kernel;
}

static void make_good(attempt *t, kiln_kernel *kernel)
{
    *t = (attempt){.kernel = kernel, .out = {arrays.z}, .n_in = N_IN, .n_out = 1};
    t->in[X] = kiln_arg_array(arrays.x);
    t->in[A] = kiln_arg_float64(2);
    t->in[S] = kiln_arg_struct(&values, sizeof values);
    t->in[R] = kiln_arg_array(arrays.raw);
    t->options = (kiln_call_options)KILN_CALL_OPTIONS_INIT;
    t->options.stream = NULL;
}

/* ---- what can be wrong ---- */

static void without_array(attempt *t)
{
    t->in[X] = kiln_arg_array(NULL);
}

/* The neighbours of a null array must not make it look like an array without axes. */
static void take_dot(attempt *t)
{
    t->in[X] = kiln_arg_array(arrays.dot);
    t->out[0] = NULL;
}

static void dressed_up_null(attempt *t)
{
    take_dot(t);
    t->in[X] = kiln_arg_array(NULL);
    t->in[X].dtype = KILN_FLOAT64;
}

static void without_raw(attempt *t)
{
    t->in[R] = kiln_arg_array(NULL);
}

static void placeholder_in(attempt *t)
{
    t->in[X] = kiln_arg_array(arrays.placeholder);
}

static void placeholder_raw(attempt *t)
{
    t->in[R] = kiln_arg_array(arrays.placeholder);
}

static void placeholder_out(attempt *t)
{
    t->out[0] = arrays.placeholder;
}

static void read_only_raw(attempt *t)
{
    t->in[R] = kiln_arg_array(arrays.read_only);
}

static void struct_at_null(attempt *t)
{
    t->in[S] = kiln_arg_struct(NULL, sizeof values);
}

static void struct_of_none(attempt *t)
{
    t->in[S] = kiln_arg_struct(&values, 0);
}

static void struct_of_all(attempt *t)
{
    t->in[S] = kiln_arg_struct(&values, SIZE_MAX);
}

/* Sizes that are equal once their upper bits are gone. */
static void struct_of_many(attempt *t)
{
    t->in[S] = kiln_arg_struct(&values, sizeof values | (size_t)1 << 48);
}

static void struct_of_more(attempt *t)
{
    t->in[S] = kiln_arg_struct(&values, sizeof values | (size_t)1 << 32);
}

static void struct_of_page(attempt *t)
{
    t->in[S] = kiln_arg_struct(&values, 4097);
}

static void scalar_for_struct(attempt *t)
{
    t->in[S] = kiln_arg_int(1);
}

static void struct_for_scalar(attempt *t)
{
    t->in[A] = kiln_arg_struct(&values, sizeof values);
}

static void set_dtype(attempt *t, int32_t dtype)
{
    t->in[A].dtype = dtype;
}

static void negative_dtype(attempt *t)
{
    set_dtype(t, -1);
}

static void least_dtype(attempt *t)
{
    set_dtype(t, INT32_MIN);
}

static void dtype_beyond(attempt *t)
{
    set_dtype(t, KILN_FLOAT64 | 1 << 24);
}

static void dtype_of_none(attempt *t)
{
    set_dtype(t, 99);
}

static void no_kind(attempt *t)
{
    t->in[A].kind = KILN_ARG_NONE;
}

static void kind_beyond(attempt *t)
{
    t->in[A].kind = KILN_ARG_STRUCT + 1;
}

static void negative_kind(attempt *t)
{
    t->in[A].kind = -1;
}

/* A kind whose upper bits are the dtype of the good one. */
static void kind_and_dtype(attempt *t)
{
    t->in[A].kind = KILN_ARG_TYPED | KILN_FLOAT64 << 8;
    t->in[A].dtype = 0;
}

static void unsafe_scalar(attempt *t)
{
    const double value[2] = {1, 0};
    t->in[A] = kiln_arg_typed(KILN_COMPLEX128, value);
}

static void typed_at_null(attempt *t)
{
    t->in[A] = kiln_arg_typed(KILN_FLOAT64, NULL);
}

static void take_complex(attempt *t)
{
    t->in[A] = kiln_arg_complex(1, 0);
}

static void read_only_out(attempt *t)
{
    t->out[0] = arrays.read_only;
}

static void flat_out(attempt *t)
{
    t->out[0] = arrays.flat;
}

static void dtype_of_out(attempt *t)
{
    t->out[0] = arrays.other_dtype;
}

static void shape_of_out(attempt *t)
{
    t->out[0] = arrays.other_shape;
}

static void dtype_of_in(attempt *t)
{
    t->in[X] = kiln_arg_array(arrays.other_dtype);
}

static void no_outs(attempt *t)
{
    t->outs = NULL;
}

static void no_ins(attempt *t)
{
    t->ins = NULL;
}

static void fewer_ins(attempt *t)
{
    t->n_in = N_IN - 1;
}

static void negative_ins(attempt *t)
{
    t->n_in = -1;
}

static void more_outs(attempt *t)
{
    t->n_out = 2;
}

static void negative_outs(attempt *t)
{
    t->n_out = -1;
}

static void without_kernel(attempt *t)
{
    t->kernel = NULL;
}

static void struct_size_0(attempt *t)
{
    t->options.struct_size = 0;
}

static void struct_size_beyond(attempt *t)
{
    t->options.struct_size = sizeof t->options + 1;
}

static void unknown_flags(attempt *t)
{
    t->options.flags = 1u << 31;
}

static void unknown_order(attempt *t)
{
    t->options.order = (kiln_order)65536;
}

static void negative_block(attempt *t)
{
    t->options.block = -32;
}

static void negative_size(attempt *t)
{
    t->options.size = -1;
}

static void size_beside_array(attempt *t)
{
    t->options.size = N + 1;
}

enum {
    AT_VALUES = 1,
    AT_CALLS = 2
}; /* what prepare does not look at; what the convenience layer cannot say */

static const struct {
    const char *name;
    void (*spoil)(attempt *);
    void (*near)(attempt *); /* what makes the good call the nearest one; NULL: nothing */
    kiln_status status;
    int only;
    const char *words[3];
} cases[] = {
    {"array NULL", without_array, NULL, KILN_ERROR_INVALID, 0, {"'x'", "array is NULL"}},
    {"array NULL with a dtype", dressed_up_null, take_dot, KILN_ERROR_INVALID, 0, {"'x'", "array is NULL"}},
    {"raw array NULL", without_raw, NULL, KILN_ERROR_INVALID, 0, {"'r'", "array is NULL"}},
    {"placeholder", placeholder_in, NULL, KILN_ERROR_INVALID, 0, {"'x'", "placeholder"}},
    {"raw placeholder", placeholder_raw, NULL, KILN_ERROR_INVALID, 0, {"'r'", "placeholder"}},
    {"placeholder as output", placeholder_out, NULL, KILN_ERROR_INVALID, 0, {"'z'", "placeholder"}},
    {"struct NULL", struct_at_null, NULL, KILN_ERROR_INVALID, 0, {"'s'", "16 bytes", "1 to 4096"}},
    {"struct of 0", struct_of_none, NULL, KILN_ERROR_INVALID, 0, {"'s'", "0 bytes", "1 to 4096"}},
    {"struct of SIZE_MAX", struct_of_all, NULL, KILN_ERROR_INVALID, 0, {"'s'", "18446744073709551615 bytes"}},
    {"struct of 2^48 + 16", struct_of_many, NULL, KILN_ERROR_INVALID, 0, {"'s'", "281474976710672 bytes"}},
    {"struct of 2^32 + 16", struct_of_more, NULL, KILN_ERROR_INVALID, 0, {"'s'", "4294967312 bytes"}},
    {"struct of 4097", struct_of_page, NULL, KILN_ERROR_INVALID, 0, {"'s'", "4097 bytes", "1 to 4096"}},
    {"scalar for struct",
     scalar_for_struct,
     NULL,
     KILN_ERROR_TYPE,
     0,
     {"'s'", "kiln_arg_struct was expected"}},
    {"struct for scalar", struct_for_scalar, NULL, KILN_ERROR_TYPE, 0, {"'a'", "not a struct"}},
    {"dtype -1", negative_dtype, NULL, KILN_ERROR_TYPE, 0, {"'a'", "number -1", "no dtype"}},
    {"least dtype", least_dtype, NULL, KILN_ERROR_TYPE, 0, {"'a'", "number -2147483648", "no dtype"}},
    {"dtype and more", dtype_beyond, NULL, KILN_ERROR_TYPE, 0, {"'a'", "no dtype"}},
    {"dtype 99", dtype_of_none, NULL, KILN_ERROR_TYPE, 0, {"'a'", "number 99", "no dtype"}},
    {"kind 0", no_kind, NULL, KILN_ERROR_INVALID, 0, {"'a'", "kind 0", "kiln_arg_*"}},
    {"kind 9", kind_beyond, NULL, KILN_ERROR_INVALID, 0, {"'a'", "kind 9", "kiln_arg_*"}},
    {"kind -1", negative_kind, NULL, KILN_ERROR_INVALID, 0, {"'a'", "kind -1", "kiln_arg_*"}},
    {"kind with a dtype", kind_and_dtype, NULL, KILN_ERROR_INVALID, 0, {"'a'", "kiln_arg_*"}},
    {"typed scalar at NULL", typed_at_null, NULL, KILN_ERROR_INVALID, 0, {"'a'", "kind 0", "kiln_arg_*"}},
    {"unsafe scalar", unsafe_scalar, NULL, KILN_ERROR_TYPE, AT_VALUES, {"'a'", "complex128", "float64"}},
    {"complex for real", take_complex, NULL, KILN_ERROR_TYPE, AT_VALUES, {"'a'", "float64"}},
    {"read-only output", read_only_out, NULL, KILN_ERROR_INVALID, 0, {"'z'", "read-only"}},
    {"read-only raw", read_only_raw, NULL, KILN_ERROR_INVALID, 0, {"'r'", "_non_const", "read-only"}},
    {"output of stride 0", flat_out, NULL, KILN_ERROR_INVALID, 0, {"'z'", "stride 0"}},
    {"dtype of output", dtype_of_out, NULL, KILN_ERROR_TYPE, 0, {"'z'", "float64", "int64"}},
    {"shape of output", shape_of_out, NULL, KILN_ERROR_SHAPE, 0, {"'z'", "(5,)"}},
    {"dtype of input", dtype_of_in, NULL, KILN_ERROR_TYPE, 0, {"'x'", "float64", "int64"}},
    {"out NULL", no_outs, NULL, KILN_ERROR_INVALID, AT_VALUES, {"out is NULL"}},
    {"in NULL", no_ins, NULL, KILN_ERROR_INVALID, 0, {"in is NULL"}},
    {"3 inputs", fewer_ins, NULL, KILN_ERROR_INVALID, 0, {"3 input arguments", "4 expected"}},
    {"-1 inputs", negative_ins, NULL, KILN_ERROR_INVALID, 0, {"-1 input arguments", "4 expected"}},
    {"2 outputs", more_outs, NULL, KILN_ERROR_INVALID, AT_CALLS, {"2 output arguments", "1 expected"}},
    {"-1 outputs", negative_outs, NULL, KILN_ERROR_INVALID, 0, {"-1 output arguments", "1 expected"}},
    {"no kernel", without_kernel, NULL, KILN_ERROR_INVALID, 0, {"kernel is NULL"}},
    {"struct_size 0", struct_size_0, NULL, KILN_ERROR_INVALID, 0, {"struct_size", "KILN_CALL_OPTIONS_INIT"}},
    {"struct_size",
     struct_size_beyond,
     NULL,
     KILN_ERROR_INVALID,
     0,
     {"struct_size", "KILN_CALL_OPTIONS_INIT"}},
    {"flags", unknown_flags, NULL, KILN_ERROR_INVALID, 0, {"flags", "0x80000000", "KILN_CALL_*"}},
    {"order", unknown_order, NULL, KILN_ERROR_INVALID, 0, {"order", "65536", "KILN_ORDER_C"}},
    {"block", negative_block, NULL, KILN_ERROR_INVALID, 0, {"block", "-32", "0"}},
    {"size -1", negative_size, NULL, KILN_ERROR_INVALID, 0, {"size", "-1", "0 or more"}},
    {"size beside an array", size_beside_array, NULL, KILN_ERROR_INVALID, 0, {"size: 7", "'x'", "not raw"}},
};
enum { CASES = sizeof cases / sizeof *cases };

/* ---- ways to call ---- */

static kiln_status by_function(attempt *t)
{
    return kiln_kernel_call(t->kernel, t->outs, t->n_out, t->ins, t->n_in, &t->options);
}

static kiln_status by_lists(attempt *t)
{
    kiln_array **const list[] = {t->outs ? &t->outs[0] : NULL};
    return kiln_call_with(t->kernel, (kiln_out_list){list, t->n_out}, (kiln_arg_list){t->ins, t->n_in},
                          &t->options);
}

static kiln_status by_prepare(attempt *t)
{
    return kiln_kernel_prepare(t->kernel, t->outs, t->n_out, t->ins, t->n_in, &t->options, NULL);
}

typedef kiln_status (*caller)(attempt *);

static kiln_status call_with(attempt *t, caller call, int which, bool is_bad)
{
    if (cases[which].near)
        cases[which].near(t);
    t->outs = t->out;
    t->ins = t->in;
    if (is_bad)
        cases[which].spoil(t);
    return call(t);
}

static void call_well(kiln_kernel *kernel, int which)
{
    attempt t;
    make_good(&t, kernel);
    if (call_with(&t, by_function, which, false) != KILN_OK)
        fail_msg("%s: the good call: %s", cases[which].name, kiln_error_message());
    assert_true(*(double *)kiln_array_data(t.out[0]) == 1 * 2 + 3 + 4 + 10);
    if (t.out[0] != arrays.z)
        kiln_array_free(t.out[0]);
}

static void call_badly(kiln_kernel *kernel, caller call, int which, const char *when)
{
    attempt t;
    make_good(&t, kernel);
    kiln_status status = call_with(&t, call, which, true);
    if (status != cases[which].status)
        fail_msg("%s, %s: status %d: %s", cases[which].name, when, (int)status, kiln_error_message());
    for (int w = 0; w < 3 && cases[which].words[w]; ++w)
        if (!strstr(kiln_error_message(), cases[which].words[w]))
            fail_msg("%s, %s: '%s' is missing in: %s", cases[which].name, when, cases[which].words[w],
                     kiln_error_message());
}

static void refuse_all(caller call, int leave_out)
{
    for (int k = 0; k < CASES; ++k) {
        if (cases[k].only & leave_out)
            continue;
        kiln_kernel *kernel = make_kernel();
        call_badly(kernel, call, k, "fresh");
        call_well(kernel, k);
        call_badly(kernel, call, k, "remembered");
        call_well(kernel, k);
        kiln_kernel_free(kernel);
    }
}

static void functions_refuse(void **state)
{
    (void)state;
    refuse_all(by_function, 0);
}

static void lists_refuse(void **state)
{
    (void)state;
    refuse_all(by_lists, AT_CALLS);
}

static void preparations_refuse(void **state)
{
    (void)state;
    refuse_all(by_prepare, AT_VALUES);
}

/* ---- several threads and one kernel ---- */

static atomic_int wrong;

static void *call_again_and_again(void *kernel)
{
    for (int round = 0; round < ROUNDS; ++round)
        for (int k = 0; k < CASES; ++k) {
            attempt bad, good;
            make_good(&bad, kernel);
            make_good(&good, kernel);
            good.out[0] = NULL; /* threads share no output */
            wrong += call_with(&good, by_function, k, false) != KILN_OK;
            wrong += call_with(&bad, by_function, k, true) != cases[k].status;
            kiln_array_free(good.out[0]);
        }
    return NULL;
}

static void threads_refuse(void **state)
{
    pthread_t thread[THREADS];
    kiln_kernel *kernel = make_kernel();
    (void)state;
    for (int k = 0; k < THREADS; ++k)
        assert_int_equal(pthread_create(&thread[k], NULL, call_again_and_again, kernel), 0);
    for (int k = 0; k < THREADS; ++k)
        pthread_join(thread[k], NULL);
    assert_int_equal(wrong, 0);
    kiln_kernel_free(kernel);
}

/* ---- what is no part of an argument ---- */

/* The dtype beside a weak scalar means nothing: neither does it choose another plan. */
static void fields_that_do_not_count(void **state)
{
    kiln_kernel *kernel = NULL;
    kiln_array *z = NULL;
    kiln_arg huge = kiln_arg_uint(UINT64_MAX), small = kiln_arg_uint(1);
    (void)state;
    OK(kiln_elementwise_create(&kernel, "T a", "T z", "z = a", "itself", NULL));
    OK(kiln_kernel_call(kernel, &z, 1, &huge, 1, NULL));
    assert_int_equal(kiln_array_dtype(z), KILN_UINT64);
    kiln_array_free(z);
    for (int bit = 0; bit < 31; ++bit) {
        z = NULL;
        small.dtype = 1 << bit;
        OK(kiln_kernel_call(kernel, &z, 1, &small, 1, NULL));
        assert_int_equal(kiln_array_dtype(z), KILN_INT64);
        kiln_array_free(z);
    }
    kiln_kernel_free(kernel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_refuse),         cmocka_unit_test(lists_refuse),
        cmocka_unit_test(preparations_refuse),      cmocka_unit_test(threads_refuse),
        cmocka_unit_test(fields_that_do_not_count),
    };
    return cmocka_run_group_tests(tests, make_arrays, free_arrays);
}
