/* Operations by name: the table is sound, definitions of callers are checked and used, by several threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>

#include "eager/operation.h"
#include "program/program.h"
#include "ok.h"

static kiln_array *floats(int count, const float *value)
{
    kiln_array *a = NULL;
    const int64_t shape[] = {count};
    OK(kiln_array_from_host(&a, value, KILN_FLOAT32, 1, shape, KILN_DEVICE_HOST));
    return a;
}

/* Each variant is found by its own dtypes, and is a program. */
static void the_table_is_sound(void **state)
{
    (void)state;
    for (int k = 0; k < kn_operation_table_count; ++k) {
        const kiln_operation *d = &kn_operation_table[k].definition;
        const char *types = d->types;
        kn_param param[KN_MAX_PARAMS];
        kn_variant v, found;
        int n_in, n_out, n_variants = 0;
        OK(kn_operation_params(param, &n_in, &n_out, d));
        if (kn_variants_check(d, param, n_in, n_out) != KILN_OK)
            fail_msg("%s: %s", d->name, kiln_error_message());
        for (; kn_variant_next(&v, &types); ++n_variants) {
            kn_program *program = NULL;
            const kiln_operation *by = kn_operation_find(&found, d->name, v.dtype, n_in);
            if (by != d || found.text != v.text)
                fail_msg("%s %.*s is never chosen", d->name, (int)v.length, v.text);
            if (d->map)
                OK(kn_operation_program(&program, d, &v));
            kn_program_free(program);
        }
        assert_true(n_variants > 0);
    }
}

static void definitions_are_checked(void **state)
{
    const kiln_operation good = {.struct_size = sizeof good,
                                 .name = "halved",
                                 .in_params = "T x",
                                 .out_params = "T y",
                                 .types = "f->f",
                                 .map = "y = x / 2"};
    const kiln_operation sums = {.struct_size = sizeof sums,
                                 .name = "longest",
                                 .in_params = "T x",
                                 .out_params = "T y",
                                 .types = "f->f",
                                 .map = "x",
                                 .reduce = "a > b ? a : b",
                                 .post = "y = a"};
    const struct {
        const kiln_operation *of;
        size_t member;
        const char *text;
        kiln_status status;
        const char *words;
    } bad[] = {
#define MEMBER(m) offsetof(kiln_operation, m)
        {&good, MEMBER(name), NULL, KILN_ERROR_INVALID, "name is NULL"},
        {&good, MEMBER(name), "two words", KILN_ERROR_INVALID, "two words"},
        {&good, MEMBER(in_params), NULL, KILN_ERROR_INVALID, "in_params is NULL"},
        {&good, MEMBER(in_params), "T x T", KILN_ERROR_SYNTAX, "input"},
        {&good, MEMBER(in_params), "state x", KILN_ERROR_SYNTAX, "state"},
        {&good, MEMBER(in_params), "T x, T z", KILN_ERROR_SYNTAX, "types: 'f->f' has 1 letters"},
        {&good, MEMBER(in_params), "float64 x", KILN_ERROR_TYPE,
         "makes 'x' float32, which is declared float64"},
        {&good, MEMBER(out_params), NULL, KILN_ERROR_INVALID, "out_params is NULL"},
        {&good, MEMBER(out_params), "T x", KILN_ERROR_INVALID, "'x'"},
        {&good, MEMBER(types), NULL, KILN_ERROR_INVALID, "types is NULL"},
        {&good, MEMBER(types), "  ", KILN_ERROR_SYNTAX, "has no variants"},
        {&good, MEMBER(types), "f", KILN_ERROR_SYNTAX, "types: 'f' has 1 letters before"},
        {&good, MEMBER(types), "f->ff", KILN_ERROR_SYNTAX, "and 2 behind it"},
        {&good, MEMBER(types), "d->d z->z", KILN_ERROR_SYNTAX, "the letter of 'x' is no dtype"},
        {&good, MEMBER(types), "f->d", KILN_ERROR_TYPE, "makes 'y' float64, which is declared float32"},
        {&good, MEMBER(types), "f->f f->f", KILN_ERROR_TYPE, "would never be chosen"},
        {&good, MEMBER(types), "d->d f->f", KILN_ERROR_TYPE, "'d->d' before it takes"},
        {&good, MEMBER(map), "y = (x", KILN_ERROR_SYNTAX, "halved"},
        {&good, MEMBER(map), "x == y", KILN_ERROR_INVALID, "never assigned"},
        {&good, MEMBER(post), "y = a", KILN_ERROR_INVALID, "post: \"y = a\" was given, but reduce is NULL"},
        {&good, MEMBER(identity), "0", KILN_ERROR_INVALID, "identity: \"0\" was given"},
        {&good, MEMBER(reduce_type), "T", KILN_ERROR_INVALID, "reduce_type: \"T\" was given"},
        {&sums, MEMBER(post), NULL, KILN_ERROR_INVALID, "post is NULL"},
        {&sums, MEMBER(reduce), "(a + b", KILN_ERROR_SYNTAX, "reduce"},
        {&sums, MEMBER(reduce_type), "pair", KILN_ERROR_SYNTAX, "pair"},
        {&sums, MEMBER(preamble), "struct {", KILN_ERROR_SYNTAX, "preamble"},
        {&good, MEMBER(name), "sum", KILN_ERROR_INVALID, "reduce: the operation 'sum' is a reduction"},
        {&sums, MEMBER(name), "max", KILN_ERROR_TYPE, "'f->f', which is there, takes these dtypes"},
        {&sums, MEMBER(out_params), "T y, T z", KILN_ERROR_SYNTAX, "types"},
    };
    int before = kiln_operation_count();
    (void)state;
    for (size_t b = 0; b < sizeof bad / sizeof bad[0]; ++b) {
        kiln_operation d = *bad[b].of;
        memcpy((char *)&d + bad[b].member, &bad[b].text, sizeof bad[b].text);
        kiln_status got = kiln_operation_register(&d);
        if (got != bad[b].status)
            fail_msg("case %zu gave %d: %s", b, (int)got, kiln_error_message());
        if (!strstr(kiln_error_message(), bad[b].words))
            fail_msg("case %zu: %s", b, kiln_error_message());
    }
    kiln_operation d = good;
    d.struct_size = 0;
    FAILS(kiln_operation_register(&d), KILN_ERROR_INVALID, "struct_size: 0");
    FAILS(kiln_operation_register(NULL), KILN_ERROR_INVALID, "definition is NULL");
    assert_int_equal(kiln_operation_count(), before);
}

/* A definition of fewer members, as an older program has it; its texts are copied, and variants added. */
static void callers_add_operations(void **state)
{
    const float value[] = {3, 4};
    char name[] = "area", types[] = "ff->f";
    kiln_operation d = {.struct_size = offsetof(kiln_operation, reduce),
                        .name = name,
                        .in_params = "T w, T h",
                        .out_params = "T z",
                        .types = types,
                        .map = "z = w * h",
                        .reduce = "not read"};
    kiln_array *x = floats(2, value), *z = NULL, *whole = NULL;
    const int64_t one = 1;
    const int64_t nine = 9;
    (void)state;
    OK(kiln_operation_register(&d));
    memset(name, 'x', 4);
    memset(types, 'x', 5);
    const kiln_arg in[] = {kiln_arg_array(x), kiln_arg_float(0.5)};
    OK(kiln_operation_call(&z, 1, "area", in, 2, NULL));
    assert_int_equal(kiln_array_dtype(z), KILN_FLOAT32);
    assert_true(((const float *)kiln_array_data(z))[1] == 2);
    kiln_array_free(z);
    z = NULL;

    OK(kiln_array_from_host(&whole, &nine, KILN_INT64, 1, &one, KILN_DEVICE_HOST));
    const kiln_arg wholes[] = {kiln_arg_array(whole), kiln_arg_int(2)};
    FAILS(kiln_operation_call(&z, 1, "area", wholes, 2, NULL), KILN_ERROR_TYPE,
          "area: no variant takes (int64, int64); there are: ff->f");
    kiln_operation more = KILN_OPERATION_INIT;
    more.name = "area";
    more.in_params = "T w, T h";
    more.out_params = "T z";
    more.types = "ll->l";
    more.map = "z = w * h";
    OK(kiln_operation_register(&more));
    FAILS(kiln_operation_register(&more), KILN_ERROR_TYPE, "'ll->l', which is there");
    OK(kiln_operation_call(&z, 1, "area", wholes, 2, NULL));
    assert_int_equal(*(const int64_t *)kiln_array_data(z), 18);
    kiln_array_free(z);

    more.out_params = "T z, T y";
    more.types = "dd->dd";
    more.map = "z = w; y = h";
    FAILS(kiln_operation_register(&more), KILN_ERROR_INVALID,
          "out_params: \"T z, T y\": the operation 'area'");
    kiln_array_free(x);
    kiln_array_free(whole);
}

/* A reduction with a struct of its own, whose members are of the variant's types. */
static void callers_add_reductions(void **state)
{
    const float value[] = {3, -4, 9, 1};
    const kiln_operation d = {.struct_size = sizeof d,
                              .name = "extent",
                              .in_params = "T x",
                              .out_params = "T low, U width",
                              .types = "f->fd d->dd",
                              .map = "ends{x, x}",
                              .reduce = "both(a, b)",
                              .post = "low = a.low; width = (U)a.high - a.low",
                              .reduce_type = "ends",
                              .preamble =
                                  "struct ends { T low, high; };\n__device__ ends both(ends a, ends b) {\n"
                                  "return {min(a.low, b.low), max(a.high, b.high)}; }"};
    kiln_array *x = floats(4, value), *out[2] = {NULL, NULL};
    const kiln_arg in = kiln_arg_array(x);
    (void)state;
    OK(kiln_operation_register(&d));
    OK(kiln_operation_call(out, 2, "extent", &in, 1, NULL));
    assert_true(*(const float *)kiln_array_data(out[0]) == -4);
    assert_int_equal(kiln_array_dtype(out[1]), KILN_FLOAT64);
    assert_true(*(const double *)kiln_array_data(out[1]) == 13);
    kiln_array_free(out[0]);
    kiln_array_free(out[1]);
    kiln_array_free(x);
}

static void calls_are_checked(void **state)
{
    const float value[] = {1, 2};
    char longer[200];
    kiln_array *x = floats(2, value), *y = NULL, *wrong = NULL;
    const int64_t shape[] = {1};
    const kiln_arg in[] = {kiln_arg_array(x), kiln_arg_float(1), kiln_arg_float(1)};
    const kiln_arg none[] = {kiln_arg_array(NULL)}, strange[] = {kiln_arg_none()},
                   pod[] = {kiln_arg_struct(value, 8)}, both[] = {kiln_arg_array(x), kiln_arg_array(x)};
    (void)state;
    memset(longer, 'a', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    FAILS(kiln_operation_call(&y, 1, "summ", in, 1, NULL), KILN_ERROR_NOT_FOUND, "no operation 'summ'");
    FAILS(kiln_operation_call(&y, 1, longer, in, 1, NULL), KILN_ERROR_NOT_FOUND, "no operation 'aaa");
    FAILS(kiln_operation_call(&y, 1, NULL, in, 1, NULL), KILN_ERROR_INVALID, "name is NULL");
    FAILS(kiln_operation_call(&y, 1, "sum", in, 2, NULL), KILN_ERROR_TYPE,
          "sum: no variant takes (float32, float32)");
    FAILS(kiln_operation_call(&y, 1, "var", in, 3, NULL), KILN_ERROR_TYPE, "var: no variant takes");
    FAILS(kiln_operation_call(&y, 1, "sum", in, 0, NULL), KILN_ERROR_TYPE, "sum: no variant takes ()");
    FAILS(kiln_operation_call(&y, 1, "sum", in, -1, NULL), KILN_ERROR_INVALID, "n_in: -1");
    FAILS(kiln_operation_call(&y, 1, "sum", NULL, 1, NULL), KILN_ERROR_INVALID, "in is NULL");
    FAILS(kiln_operation_call(&y, 1, "sum", none, 1, NULL), KILN_ERROR_INVALID,
          "sum: in[0]: the array is NULL");
    FAILS(kiln_operation_call(&y, 1, "sum", strange, 1, NULL), KILN_ERROR_INVALID,
          "sum: in[0]: an array or a number");
    FAILS(kiln_operation_call(&y, 1, "sum", pod, 1, NULL), KILN_ERROR_INVALID, "a struct was given");
    FAILS(kiln_operation_call(&y, 2, "sum", in, 1, NULL), KILN_ERROR_INVALID,
          "sum: 2 output arguments were given");
    FAILS(kiln_operation_call(NULL, 1, "sum", in, 1, NULL), KILN_ERROR_INVALID, "sum: out is NULL");
    FAILS(kiln_operation_call(&y, 1, "var", both, 2, NULL), KILN_ERROR_TYPE, "var: 'ddof' is one number");
    OK(kiln_array_zeros(&wrong, KILN_INT32, 0, shape, KILN_DEVICE_HOST));
    FAILS(kiln_operation_call(&wrong, 1, "sum", in, 1, NULL), KILN_ERROR_TYPE,
          "sum: out[0]: the result is float32, which an array of int32 does not hold");
    assert_null(y);
    kiln_array_free(x);
    kiln_array_free(wrong);
}

static void kernels_are_reused(void **state)
{
    const kiln_dtype one = KILN_UINT8, two[] = {KILN_FLOAT32, KILN_FLOAT64}, none = KILN_DTYPE_NONE;
    kiln_kernel *first = NULL, *second = NULL;
    (void)state;
    OK(kiln_operation_kernel(&first, "mean", &one, 1));
    assert_string_equal(kiln_kernel_name(first), "mean");
    OK(kiln_operation_kernel(&second, "mean", &one, 1));
    assert_ptr_equal(first, second);
    OK(kiln_operation_kernel(&first, "var", two, 2));
    assert_int_equal(kiln_kernel_n_in(first), 2);
    second = first;
    FAILS(kiln_operation_kernel(&second, "mean", &none, 1), KILN_ERROR_TYPE, "mean: in[0]: 0 is no dtype");
    FAILS(kiln_operation_kernel(&second, "men", &one, 1), KILN_ERROR_NOT_FOUND, "'men'");
    FAILS(kiln_operation_kernel(&second, "mean", NULL, 1), KILN_ERROR_INVALID, "in is NULL");
    FAILS(kiln_operation_kernel(NULL, "mean", &one, 1), KILN_ERROR_INVALID, "out is NULL");
    assert_ptr_equal(first, second);
}

static void operations_are_listed(void **state)
{
    kiln_operation d = KILN_OPERATION_INIT;
    bool has_sum = false;
    (void)state;
    for (int k = 0; k < kiln_operation_count(); ++k) {
        OK(kiln_operation_at(&d, k));
        has_sum = has_sum || (strcmp(d.name, "sum") == 0 && strcmp(d.reduce, "a + b") == 0);
    }
    assert_true(has_sum);
    FAILS(kiln_operation_at(&d, -1), KILN_ERROR_INVALID, "index: -1");
    FAILS(kiln_operation_at(&d, kiln_operation_count()), KILN_ERROR_INVALID, "index: ");
    FAILS(kiln_operation_at(NULL, 0), KILN_ERROR_INVALID, "kiln_operation_at: out is NULL");
    d.struct_size = offsetof(kiln_operation, in_params);
    d.in_params = "kept";
    OK(kiln_operation_at(&d, 0));
    assert_string_equal(d.in_params, "kept");
    assert_int_equal(d.struct_size, offsetof(kiln_operation, in_params));
}

/* ---- threads ---- */

enum { THREADS = 4, EACH = 12 };

typedef struct worker {
    pthread_t thread;
    int index, registered, refused;
    const char *fault;
} worker;

/* All threads register the same names: one of them succeeds with each. They look up kernels of all. */
static void *register_and_find(void *of)
{
    worker *w = of;
    const kiln_dtype in = KILN_FLOAT32;
    for (int k = 0; k < EACH; ++k) {
        char name[] = "shared_a";
        name[7] = (char)('a' + (k + w->index * 3) % EACH);
        kiln_operation d = KILN_OPERATION_INIT;
        d.name = name;
        d.in_params = "T x";
        d.out_params = "T y";
        d.types = "f->f";
        d.map = "y = x";
        kiln_status status = kiln_operation_register(&d);
        kiln_kernel *kernel = NULL, *again = NULL;
        w->registered += status == KILN_OK;
        w->refused += status == KILN_ERROR_TYPE;
        if (kiln_operation_kernel(&kernel, name, &in, 1) != KILN_OK ||
            kiln_operation_kernel(&again, name, &in, 1) != KILN_OK || kernel != again ||
            strcmp(kiln_kernel_name(kernel), name) != 0)
            w->fault = "a kernel is not the operation's";
    }
    return NULL;
}

static void threads_register(void **state)
{
    worker workers[THREADS];
    int registered = 0, refused = 0, before = kiln_operation_count();
    (void)state;
    for (int t = 0; t < THREADS; ++t) {
        workers[t] = (worker){.index = t};
        assert_int_equal(pthread_create(&workers[t].thread, NULL, register_and_find, &workers[t]), 0);
    }
    for (int t = 0; t < THREADS; ++t) {
        pthread_join(workers[t].thread, NULL);
        registered += workers[t].registered;
        refused += workers[t].refused;
        if (workers[t].fault)
            fail_msg("%s", workers[t].fault);
    }
    assert_int_equal(registered, EACH);
    assert_int_equal(refused, (THREADS - 1) * EACH);
    assert_int_equal(kiln_operation_count(), before + EACH);
}

/* KILN_ORDER_KEEP of a Fortran-ordered array: sums keep its order, places are C-ordered as NumPy's are. */
static void places_are_in_c_order(void **state)
{
    const struct {
        const char *name;
        int64_t stride[2];
    } list[] = {{"sum", {4, 12}}, {"max", {4, 12}}, {"argmin", {32, 8}}, {"argmax", {32, 8}}};
    const float value[24] = {1};
    const int64_t shape[] = {2, 3, 4}, stride[] = {4, 8, 24};
    kiln_array_spec spec = KILN_ARRAY_SPEC_INIT;
    kiln_array *x = NULL;
    const int axes[] = {0};
    (void)state;
    spec.dtype = KILN_FLOAT32;
    spec.ndim = 3;
    spec.shape = shape;
    spec.strides = stride;
    spec.device = KILN_DEVICE_HOST;
    OK(kiln_array_wrap(&x, (void *)(uintptr_t)value, &spec, NULL, NULL));
    for (size_t k = 0; k < sizeof list / sizeof list[0]; ++k) {
        kiln_call_options o = KILN_CALL_OPTIONS_INIT;
        kiln_arg in = kiln_arg_array(x);
        kiln_array *out = NULL;
        o.order = KILN_ORDER_KEEP;
        o.axes = axes;
        o.n_axes = 1;
        OK(kiln_apply(&out, 1, list[k].name, &in, 1, &o));
        if (memcmp(kiln_array_strides(out), list[k].stride, sizeof list[k].stride) != 0)
            fail_msg("%s: strides %lld, %lld", list[k].name, (long long)kiln_array_strides(out)[0],
                     (long long)kiln_array_strides(out)[1]);
        kiln_array_free(out);
    }
    kiln_array_free(x);
}

/* A scan of a number has one element, also in a given array; of another shape, that is refused. */
static void numbers_are_scanned(void **state)
{
    static const struct {
        int ndim;
        int64_t shape[2];
        bool fits;
    } list[] = {{1, {1}, true}, {1, {2}, false}, {1, {0}, false}, {0, {0}, false}, {2, {1, 1}, false}};
    const float number = 3;
    const kiln_arg in = kiln_arg_float32(number);
    kiln_array *made = NULL;
    (void)state;
    OK(kiln_operation_call(&made, 1, "cumsum", &in, 1, NULL));
    assert_int_equal(kiln_array_ndim(made), 1);
    assert_int_equal(kiln_array_size(made), 1);
    assert_true(*(const float *)kiln_array_data(made) == number);
    kiln_array_free(made);
    for (size_t k = 0; k < sizeof list / sizeof list[0]; ++k) {
        kiln_array *given = NULL;
        OK(kiln_array_zeros(&given, KILN_FLOAT32, list[k].ndim, list[k].shape, KILN_DEVICE_HOST));
        if (list[k].fits) {
            OK(kiln_operation_call(&given, 1, "cumsum", &in, 1, NULL));
            assert_true(*(const float *)kiln_array_data(given) == number);
        } else
            FAILS(kiln_operation_call(&given, 1, "cumsum", &in, 1, NULL), KILN_ERROR_SHAPE,
                  "without axes the result has one axis of 1");
        kiln_array_free(given);
    }
}

/* An operation has the options of a kernel, too; its reduce type may be a template's, and its names begin
 * with an underscore. */
static void operations_have_options(void **state)
{
    static const char *const options[] = {"-DFACTOR=3"}, *const names[] = {"best.h"},
                             *const texts[] = {"template <class T> struct best_ { T value; int64_t at; };\n"};
    const float values[] = {1, 7, 5};
    kiln_array *x = floats(3, values), *out[2] = {NULL};
    kiln_arg in = kiln_arg_array(x);
    kiln_operation d = KILN_OPERATION_INIT;
    float best;
    int64_t at;
    (void)state;
    d.name = "best_of";
    d.in_params = "T _x";
    d.out_params = "T y, int64 at";
    d.types = "f->fl d->dl";
    d.map = "best_<T>{_x * FACTOR, _j}";
    d.reduce = "a.value >= b.value ? a : b";
    d.post = "y = a.value; at = a.at";
    d.reduce_type = "best_<T>";
    d.preamble = "#include \"best.h\"";
    d.compile_options = options;
    d.n_compile_options = 1;
    d.header_names = names;
    d.header_texts = texts;
    FAILS((d.n_headers = -1, kiln_operation_register(&d)), KILN_ERROR_INVALID, "header_names: -1");
    FAILS((d.n_headers = 1, d.header_texts = NULL, kiln_operation_register(&d)), KILN_ERROR_INVALID,
          "header_texts");
    d.header_texts = texts;
    FAILS((d.flags = 1u << 30, kiln_operation_register(&d)), KILN_ERROR_INVALID, "flags");
    d.flags = 0;
    OK(kiln_operation_register(&d));
    OK(kiln_apply(out, 2, "best_of", &in, 1, NULL));
    OK(kiln_array_to_host(out[0], &best, sizeof best));
    OK(kiln_array_to_host(out[1], &at, sizeof at));
    assert_true(best == 21 && at == 1);
    for (int k = 0; k < 2; k++)
        kiln_array_free(out[k]);
    kiln_array_free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_sound),     cmocka_unit_test(definitions_are_checked),
        cmocka_unit_test(callers_add_operations), cmocka_unit_test(callers_add_reductions),
        cmocka_unit_test(calls_are_checked),      cmocka_unit_test(kernels_are_reused),
        cmocka_unit_test(operations_are_listed),  cmocka_unit_test(threads_register),
        cmocka_unit_test(places_are_in_c_order),  cmocka_unit_test(operations_have_options),
        cmocka_unit_test(numbers_are_scanned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
