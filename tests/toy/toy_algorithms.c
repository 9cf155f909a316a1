/* Algorithms from outside the library: called, as nodes of graphs, in traces; their buffers; errors on each
 * way. On the host. */
#include <kiln/kiln.h>

#include "base/alloc.h"
#include "kernel/algorithm.h"
#include "toy_algorithms.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../ok.h"

enum { COUNT = 5300, ITEM = sizeof(int32_t) };

/* Two of three above zero. */
static int32_t number(int64_t k)
{
    return (int32_t)(k % 3 == 0 ? -k % 7 : k % 11 + 1);
}

static kiln_array *numbers(int64_t count)
{
    kiln_array *x = NULL;
    int32_t *value = malloc((size_t)count * ITEM + 1);
    assert_non_null(value);
    for (int64_t k = 0; k < count; ++k)
        value[k] = number(k);
    OK(kiln_array_from_host(&x, value, KILN_INT32, 1, &count, KILN_DEVICE_HOST));
    free(value);
    return x;
}

static kiln_kernel *scan(void)
{
    kiln_kernel *kernel = NULL;
    OK(toy_scan_create(&kernel));
    return kernel;
}

static kiln_kernel *selection(toy_select what)
{
    kiln_kernel *kernel = NULL;
    OK(toy_select_create(&kernel, what));
    return kernel;
}

/* first + step * k of the numbers: what a view of them has. */
static void assert_scanned(const kiln_array *y, int64_t count, int64_t first, int64_t step, int32_t added)
{
    int32_t sum = 0, *got = malloc((size_t)count * ITEM + 1);
    assert_non_null(got);
    assert_int_equal(kiln_array_size(y), count);
    OK(kiln_array_to_host(y, got, (size_t)count * ITEM));
    for (int64_t k = 0; k < count; ++k) {
        if (got[k] != sum + added)
            fail_msg("element %lld: %d, not %d", (long long)k, got[k], sum + added);
        sum += number(first + step * k);
    }
    free(got);
}

/* The chosen ones of so many numbers, and what stands behind them: nothing, or zeros. */
static void assert_selected(const kiln_array *y, int64_t count, int64_t capacity)
{
    int64_t found = 0, size = kiln_array_size(y);
    int32_t *got = malloc((size_t)size * ITEM + 1);
    assert_non_null(got);
    OK(kiln_array_to_host(y, got, (size_t)size * ITEM));
    for (int64_t k = 0; k < count; ++k)
        if (number(k) > 0) {
            assert_true(found < size);
            assert_int_equal(got[found++], number(k));
        }
    assert_int_equal(size, capacity < 0 ? found : capacity);
    for (int64_t k = found; k < size; ++k)
        assert_int_equal(got[k], 0);
    free(got);
}

static int64_t survivor_of(int64_t count)
{
    int64_t found = 0;
    for (int64_t k = 0; k < count; ++k)
        found += number(k) > 0;
    return found;
}

static int64_t value_of(const kiln_array *count)
{
    int64_t value = -1;
    OK(kiln_array_to_host(count, &value, sizeof value));
    return value;
}

static kiln_status call1(kiln_array **out, kiln_kernel *kernel, const kiln_array *x)
{
    const kiln_arg in = kiln_arg_array(x);
    return kiln_kernel_call(kernel, out, 1, &in, 1, NULL);
}

/* ---- calls ---- */

static void scans(void **state)
{
    static const int64_t counts[] = {0, 1, 2, TOY_CHUNK - 1, TOY_CHUNK, TOY_CHUNK + 1, COUNT};
    kiln_kernel *kernel = scan();
    (void)state;
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; ++c) {
        kiln_array *x = numbers(counts[c]);
        for (int turn = 0; turn < 2; ++turn) {
            kiln_array *y = NULL;
            OK(call1(&y, kernel, x));
            assert_scanned(y, counts[c], 0, 1, 0);
            kiln_array_free(y);
        }
        kiln_array_free(x);
    }
    kiln_kernel_free(kernel);
}

static void scans_with_steps(void **state)
{
    kiln_kernel *kernel = scan();
    kiln_array *x = numbers(COUNT), *back = NULL, *wide = NULL, *y = NULL, *fresh = NULL;
    const int64_t shape[] = {2 * COUNT / 2};
    (void)state;
    OK(kiln_array_index(&back, x, "::-2"));
    OK(kiln_array_zeros(&wide, KILN_INT32, 1, shape, KILN_DEVICE_HOST));
    OK(kiln_array_index(&y, wide, "1::2"));
    OK(call1(&y, kernel, back));
    assert_scanned(y, COUNT / 2, COUNT - 1, -2, 0);
    OK(call1(&fresh, kernel, back));
    assert_scanned(fresh, COUNT / 2, COUNT - 1, -2, 0);
    kiln_array *all[] = {x, back, wide, y, fresh};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k)
        kiln_array_free(all[k]);
    kiln_kernel_free(kernel);
}

/* Memory that is written over is copied first, as for any kernel. */
static void scans_in_place(void **state)
{
    kiln_kernel *kernel = scan();
    kiln_array *x = numbers(COUNT), *same = x;
    (void)state;
    OK(call1(&same, kernel, x));
    assert_scanned(x, COUNT, 0, 1, 0);
    kiln_array_free(x);
    kiln_kernel_free(kernel);
}

static void selects(void **state)
{
    static const int64_t counts[] = {0, 1, 2, TOY_CHUNK, COUNT};
    kiln_kernel *kernel = selection(TOY_SELECT), *compact = selection(TOY_COMPACT);
    (void)state;
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; ++c) {
        kiln_array *x = numbers(counts[c]), *out[2] = {NULL, NULL}, *alone = NULL;
        const kiln_arg in = kiln_arg_array(x);
        OK(kiln_kernel_call(kernel, out, 2, &in, 1, NULL));
        assert_selected(out[0], counts[c], -1);
        assert_int_equal(value_of(out[1]), survivor_of(counts[c]));
        assert_true(kiln_array_is_c_contiguous(out[0]));
        OK(call1(&alone, compact, x));
        assert_selected(alone, counts[c], -1);
        kiln_array_free(x);
        kiln_array_free(out[0]);
        kiln_array_free(out[1]);
        kiln_array_free(alone);
    }
    kiln_kernel_free(kernel);
    kiln_kernel_free(compact);
}

/* An array for as many as there may be stays as it is, and nobody waits for the count. */
static void selects_into_arrays(void **state)
{
    kiln_kernel *kernel = selection(TOY_SELECT);
    const int64_t shape[] = {COUNT};
    kiln_array *x = numbers(COUNT), *out[2] = {NULL, NULL};
    const kiln_arg in = kiln_arg_array(x);
    (void)state;
    OK(kiln_array_ones(&out[0], KILN_INT32, 1, shape, KILN_DEVICE_HOST));
    OK(kiln_kernel_call(kernel, out, 2, &in, 1, NULL));
    assert_selected(out[0], COUNT, COUNT);
    assert_int_equal(value_of(out[1]), survivor_of(COUNT));
    kiln_array_free(x);
    kiln_array_free(out[0]);
    kiln_array_free(out[1]);
    kiln_kernel_free(kernel);
}

static void *scan_many(void *kernel)
{
    kiln_array *x = numbers(COUNT);
    for (int turn = 0; turn < 10; ++turn) {
        kiln_array *y = NULL;
        OK(call1(&y, kernel, x));
        assert_scanned(y, COUNT, 0, 1, 0);
        kiln_array_free(y);
    }
    kiln_array_free(x);
    return NULL;
}

static void several_threads(void **state)
{
    kiln_kernel *kernel = scan();
    pthread_t thread[4];
    (void)state;
    for (int t = 0; t < 4; ++t)
        assert_int_equal(pthread_create(&thread[t], NULL, scan_many, kernel), 0);
    for (int t = 0; t < 4; ++t)
        assert_int_equal(pthread_join(thread[t], NULL), 0);
    kiln_kernel_free(kernel);
}

/* ---- buffers ---- */

typedef struct blocks {
    size_t size[16];
    int taken, given, live, most;
} blocks;

static void count_blocks(kiln_device device, void *pointer, size_t bytes, bool freed, void *user)
{
    blocks *b = user;
    (void)device, (void)pointer;
    b->live += freed ? -1 : 1;
    b->most = b->live > b->most ? b->live : b->most;
    if (freed)
        ++b->given;
    else
        b->size[b->taken++ % 16] = bytes;
}

/* They come from the pool when the first step needs them, and go back behind the last. */
static void buffers(void **state)
{
    kiln_kernel *kernel = scan(), *compact = selection(TOY_COMPACT);
    kiln_array *x = numbers(COUNT), *y = NULL, *z = NULL;
    blocks b = {.taken = 0}, c = {.taken = 0};
    const size_t sums = (COUNT + TOY_CHUNK - 1) / TOY_CHUNK * ITEM;
    (void)state;
    OK(call1(&y, kernel, x));
    kiln_memory_set_hook(count_blocks, &b);
    OK(call1(&y, kernel, x));
    kiln_memory_set_hook(count_blocks, &c);
    OK(call1(&z, compact, x));
    kiln_memory_set_hook(NULL, NULL);
    assert_int_equal(b.taken, 2);
    assert_int_equal(b.given, 2);
    assert_in_range(b.size[0], sums, sums + 64);
    assert_in_range(b.size[1], sums, sums + 64);
    assert_int_equal(c.taken, 6); /* the result, its count, flags, places and the scan's two */
    assert_int_equal(c.given, 5);
    assert_int_equal(c.most, 5); /* the scan's sums are gone before the last step */
    kiln_array_free(x);
    kiln_array_free(y);
    kiln_array_free(z);
    kiln_kernel_free(kernel);
    kiln_kernel_free(compact);
}

/* ---- errors ---- */

static void refused_arguments(void **state)
{
    kiln_kernel *kernel = scan();
    const int64_t shape[] = {3, 4}, four[] = {4}, five[] = {5};
    const int axes[] = {0};
    kiln_array *flat = numbers(4), *square = NULL, *truth = NULL, *y = NULL, *wide = NULL, *longer = NULL;
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    kiln_arg in = kiln_arg_int(3);
    (void)state;
    OK(kiln_array_zeros(&square, KILN_INT32, 2, shape, KILN_DEVICE_HOST));
    OK(kiln_array_zeros(&truth, KILN_BOOL, 1, four, KILN_DEVICE_HOST));
    OK(kiln_array_zeros(&wide, KILN_INT64, 1, four, KILN_DEVICE_HOST));
    OK(kiln_array_zeros(&longer, KILN_INT32, 1, five, KILN_DEVICE_HOST));
    FAILS(kiln_kernel_call(kernel, &y, 1, &in, 1, NULL), KILN_ERROR_SHAPE, "toy_scan: 'x' has 0 axes");
    FAILS(call1(&y, kernel, square), KILN_ERROR_SHAPE, "toy_scan: 'x' has 2 axes");
    FAILS(call1(&y, kernel, truth), KILN_ERROR_TYPE, "toy_scan: 'x' is bool");
    assert_null(y);
    FAILS(call1(&wide, kernel, flat), KILN_ERROR_TYPE,
          "output 'y' is an array of int64, but the result is int32");
    FAILS(call1(&longer, kernel, flat), KILN_ERROR_SHAPE,
          "output 'y' has shape (5,), but the result has (4,)");
    in = kiln_arg_array(flat);
    options.axes = axes, options.n_axes = 1;
    FAILS(kiln_kernel_call(kernel, &y, 1, &in, 1, &options), KILN_ERROR_INVALID, "options.axes was given");
    options = (kiln_call_options)KILN_CALL_OPTIONS_INIT;
    options.size = 7;
    FAILS(kiln_kernel_call(kernel, &y, 1, &in, 1, &options), KILN_ERROR_INVALID, "options.size was given");
    options = (kiln_call_options)KILN_CALL_OPTIONS_INIT;
    options.flags = KILN_CALL_KEEPDIMS;
    FAILS(kiln_kernel_call(kernel, &y, 1, &in, 1, &options), KILN_ERROR_INVALID, "KEEPDIMS was given");
    options = (kiln_call_options)KILN_CALL_OPTIONS_INIT;
    options.shape = four, options.ndim = 1;
    FAILS(kiln_kernel_call(kernel, &y, 1, &in, 1, &options), KILN_ERROR_INVALID, "options.shape was given");
    assert_null(y);
    kiln_array *all[] = {flat, square, truth, wide, longer};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k)
        kiln_array_free(all[k]);
    kiln_kernel_free(kernel);
}

/* A step that fails, and a count that cannot be, leave neither results nor buffers behind. */
static void failing_steps(void **state)
{
    static const struct {
        toy_select what;
        kiln_status status;
        const char *text;
    } rows[] = {{TOY_WRONG_FUNCTION, KILN_ERROR_UNSUPPORTED, "toy_select: this function fails"},
                {TOY_WRONG_COUNT, KILN_ERROR_INTERNAL, "output 0 was given 5301 elements of 5300 at most"}};
    kiln_array *x = numbers(COUNT), *wide = NULL, *steps = NULL, *y = NULL;
    const int64_t shape[] = {2 * COUNT};
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; ++r) {
        kiln_kernel *kernel = selection(rows[r].what);
        blocks b = {.taken = 0};
        kiln_memory_set_hook(count_blocks, &b);
        FAILS(call1(&y, kernel, x), rows[r].status, rows[r].text);
        kiln_memory_set_hook(NULL, NULL);
        assert_null(y);
        assert_true(b.taken > 0);
        assert_int_equal(b.live, 0);
        kiln_kernel_free(kernel);
    }
    kiln_kernel *kernel = selection(TOY_COMPACT);
    OK(kiln_array_zeros(&wide, KILN_INT32, 1, shape, KILN_DEVICE_HOST));
    OK(kiln_array_index(&steps, wide, "::2"));
    FAILS(call1(&steps, kernel, x), KILN_ERROR_UNSUPPORTED, "'y' has steps");
    kiln_kernel_free(kernel);
    kiln_array_free(wide);
    kiln_array_free(steps);
    kiln_array_free(x);
}

/* Each allocation fails once: of the kernel, of the plan, of the call. */
static void failing_allocations(void **state)
{
    kiln_array *x = numbers(COUNT);
    int failures = 0;
    bool is_done = false;
    (void)state;
    for (unsigned long nth = 1; !is_done; ++nth) {
        kiln_kernel *kernel = NULL;
        kiln_array *y = NULL;
        kn_alloc_fail_at(nth, 0);
        kiln_status status = toy_select_create(&kernel, TOY_COMPACT);
        if (status == KILN_OK)
            status = call1(&y, kernel, x);
        is_done = kn_alloc_fail_at(0, 0) < nth;
        assert_true(status == KILN_OK || status == KILN_ERROR_MEMORY);
        failures += status != KILN_OK;
        if (status == KILN_OK)
            assert_selected(y, COUNT, -1);
        else
            assert_null(y);
        kiln_array_free(y);
        kiln_kernel_free(kernel);
        assert_true(nth < 2000);
    }
    assert_true(failures > 40);
    kiln_array_free(x);
}

/* ---- graphs ---- */

static kiln_kernel *expression(const char *text, kiln_kernel *const *kernels, int n_kernels)
{
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    kiln_kernel *kernel = NULL;
    options.kernels = kernels;
    options.n_kernels = n_kernels;
    OK(kiln_expression_create(&kernel, "x", text, &options));
    return kernel;
}

/* Its inputs are computed first, its readers afterwards; it is a node between two kernels. */
static void nodes_of_graphs(void **state)
{
    kiln_kernel *kernel = scan(), *e = expression("toy_scan(x * 2 - x) + 5", &kernel, 1),
                *twice =
                    expression("a = toy_scan(x[::2]); toy_scan(a) - toy_scan(a) + a, sum(a)", &kernel, 1);
    kiln_array *x = numbers(COUNT), *y = NULL, *out[2] = {NULL, NULL}, *flat = NULL;
    const int64_t shape[] = {2, COUNT / 2};
    const kiln_arg in = kiln_arg_array(x);
    char *text = NULL;
    (void)state;
    OK(call1(&y, e, x));
    assert_scanned(y, COUNT, 0, 1, 5);
    OK(kiln_kernel_call(twice, out, 2, &in, 1, NULL));
    assert_scanned(out[0], COUNT / 2, 0, 2, 0);
    OK(kiln_kernel_explain(&text, e, NULL, 1, &in, 1, NULL, "host"));
    assert_non_null(strstr(text, "toy_sums"));
    assert_non_null(strstr(text, "toy_offsets"));
    assert_non_null(strstr(text, "toy_elements"));
    free(text);
    OK(kiln_array_reshape(&flat, x, 2, shape));
    kiln_array_free(y);
    y = NULL;
    FAILS(call1(&y, e, flat), KILN_ERROR_SHAPE, "toy_scan: 'x' has 2 axes");
    assert_non_null(strstr(kiln_error_message(), "^"));
    kiln_array *all[] = {x, flat, out[0], out[1]};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k)
        kiln_array_free(all[k]);
    kiln_kernel_free(e);
    kiln_kernel_free(twice);
    kiln_kernel_free(kernel);
}

/* Twice each number that survives, in an array of its own. */
static void assert_doubled(const kiln_array *y)
{
    int32_t got[COUNT];
    int64_t found = 0;
    assert_int_equal(kiln_array_size(y), survivor_of(COUNT));
    OK(kiln_array_to_host(y, got, (size_t)kiln_array_size(y) * ITEM));
    for (int64_t k = 0; k < COUNT; ++k)
        if (number(k) > 0)
            assert_int_equal(got[found++], 2 * number(k));
}

/* An expression that computes from a result that is as long as the data says is two calls. */
static void computed_from_late_results(void **state)
{
    kiln_kernel *kernel = selection(TOY_SELECT),
                *twice = expression("y, n = toy_select(x); y * 2, len(y) + n", &kernel, 1),
                *deep =
                    expression("y = toy_select(x)[0]; z = toy_select(y - 5)[0]; z + 5 - len(y)", &kernel, 1);
    kiln_array *x = numbers(COUNT), *out[2] = {NULL, NULL}, *y = NULL;
    const kiln_arg in = kiln_arg_array(x);
    char *text = NULL;
    int64_t above = 0;
    kiln_call_options o = KILN_CALL_OPTIONS_INIT;
    kiln_prepare_options targets = KILN_PREPARE_OPTIONS_INIT;
    (void)state;
    o.flags = KILN_CALL_NO_COMPILE;
    targets.target = "host";
    OK(kiln_kernel_prepare(twice, NULL, 2, &in, 1, NULL, &targets));
    for (int turn = 0; turn < 2; ++turn) {
        OK(kiln_kernel_call(twice, out, 2, &in, 1, &o));
        assert_doubled(out[0]);
        assert_int_equal(value_of(out[1]), 2 * survivor_of(COUNT));
        kiln_array_free(out[0]);
        kiln_array_free(out[1]);
        out[0] = out[1] = NULL;
    }
    OK(kiln_kernel_explain(&text, twice, NULL, 2, &in, 1, NULL, "host"));
    assert_non_null(strstr(text, "toy_kept"));
    assert_non_null(strstr(text, "# a second call, with what the first one has found"));
    free(text);
    OK(kiln_kernel_record(&text, twice, NULL, 2, &in, 1, NULL));
    assert_non_null(strstr(text, "toy_kept"));
    assert_non_null(strstr(text, "* 2"));
    free(text);
    OK(call1(&y, deep, x));
    for (int64_t k = 0; k < COUNT; ++k)
        above += number(k) > 5;
    assert_int_equal(kiln_array_size(y), above);
    kiln_array_free(x);
    kiln_array_free(y);
    kiln_kernel *all[] = {kernel, twice, deep};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k)
        kiln_kernel_free(all[k]);
}

/* A result of an expression is as long as the data says. */
static void late_results_of_graphs(void **state)
{
    kiln_kernel *kernel = selection(TOY_SELECT),
                *both = expression("y, n = toy_select(x * 1); y, n * 2", &kernel, 1),
                *first = expression("toy_select(x)[0]", &kernel, 1),
                *second = expression("toy_select(x)[1] + 1", &kernel, 1);
    kiln_array *x = numbers(COUNT), *out[2] = {NULL, NULL}, *y = NULL, *n = NULL;
    const kiln_arg in = kiln_arg_array(x);
    (void)state;
    for (int turn = 0; turn < 2; ++turn) {
        OK(kiln_kernel_call(both, out, 2, &in, 1, NULL));
        assert_selected(out[0], COUNT, -1);
        assert_int_equal(value_of(out[1]), 2 * survivor_of(COUNT));
        kiln_array_free(out[0]);
        kiln_array_free(out[1]);
        out[0] = out[1] = NULL;
    }
    OK(call1(&y, first, x));
    assert_selected(y, COUNT, -1);
    OK(call1(&n, second, x));
    assert_int_equal(value_of(n), survivor_of(COUNT) + 1);
    kiln_array_free(x);
    kiln_array_free(y);
    kiln_array_free(n);
    kiln_kernel *all[] = {kernel, both, first, second};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k)
        kiln_kernel_free(all[k]);
}

/* ---- an expression as a step ---- */

/* One part: the kernel that is the context, from x and the number 3 where it takes one, to y. */
static kiln_status lower_wrapped(kn_lowered *out, const void *context, const kn_lowering_call *call)
{
    const kn_source from = {.kind = KN_FROM_INPUT}, to = {.kind = KN_FROM_OUTPUT};
    const kiln_kernel *inner = context;
    const kiln_array *x = call->in[0].value.array;
    const kiln_arg three = kiln_arg_int(3);
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_kernel(&part, out, inner);
    if (status == KILN_OK)
        status = kn_lowered_bind(part, 0, call, &from, x->dtype, x->ndim, x->shape, x->strides);
    if (status == KILN_OK && kiln_kernel_n_in(inner) > 1)
        kn_lowered_bind_number(part, 1, KILN_INT32, &three);
    return status == KILN_OK
               ? kn_lowered_bind(part, kiln_kernel_n_in(inner), call, &to, x->dtype, x->ndim, x->shape, NULL)
               : status;
}

/* The same with the number that the call is given. */
static kiln_status lower_given(kn_lowered *out, const void *context, const kn_lowering_call *call)
{
    kiln_status status = lower_wrapped(out, context, call);
    if (status == KILN_OK)
        out->part[0].source[1] = (kn_source){.kind = KN_FROM_INPUT, .index = 1};
    return status;
}

static kiln_status describe_wrapped(kn_described *out, const void *context, int j, const kn_described *in)
{
    (void)context, (void)j;
    *out = *in;
    return KILN_OK;
}

static void free_wrapped(void *context)
{
    kiln_kernel_free(context);
}

static kiln_kernel *wrapped(const char *parameters, const char *text, int n_in, bool is_described)
{
    static const kn_algorithm given = {
        .describe = describe_wrapped, .lower = lower_given, .free = free_wrapped};
    static const kn_algorithm told = {
        .describe = describe_wrapped, .lower = lower_wrapped, .free = free_wrapped};
    static const kn_algorithm untold = {.lower = lower_wrapped, .free = free_wrapped};
    static const char *const names[] = {"x", "s"}, *const y = "y";
    kiln_kernel *inner = NULL, *kernel = NULL;
    kn_program *prototype = NULL;
    if (strchr(text, '='))
        OK(kiln_elementwise_create(&inner, parameters, "T y", text, "inner", NULL));
    else
        OK(kiln_expression_create(&inner, parameters, text, NULL));
    OK(kn_prototype_create(&prototype, "wrapped", names, n_in, &y, 1));
    OK(kn_kernel_create_algorithm(&kernel, prototype,
                                  n_in > 1       ? &given
                                  : is_described ? &told
                                                 : &untold,
                                  inner));
    return kernel;
}

static void expressions_as_steps(void **state)
{
    kiln_kernel *twice = wrapped("x", "x * 2 - x", 1, true), *plus = wrapped("x, s", "x + s", 1, true),
                *computed = wrapped("x, s", "x + (s - 1)", 1, true),
                *untold = wrapped("x", "x + 1", 1, false),
                *by_call = wrapped("T x, T s", "y = x + s", 2, true),
                *of_given = wrapped("x, s", "x + (s - 1)", 2, true),
                *late = wrapped("x", "unique(x) + 1", 1, true);
    kiln_kernel *in_scan = scan(), *both[] = {twice, in_scan, untold},
                *e = expression("toy_scan(wrapped(x))", both, 2),
                *refused = expression("wrapped(x) * 2", both + 2, 1);
    kiln_array *x = numbers(COUNT), *y = NULL, *z = NULL, *none = NULL;
    int32_t got[COUNT];
    (void)state;
    OK(call1(&y, e, x));
    assert_scanned(y, COUNT, 0, 1, 0);
    OK(call1(&z, plus, x));
    OK(kiln_array_to_host(z, got, sizeof got));
    for (int64_t k = 0; k < COUNT; ++k)
        assert_int_equal(got[k], number(k) + 3);
    kiln_arg in[] = {kiln_arg_array(x), kiln_arg_int(0)};
    for (int s = 5; s < 7; ++s) {
        in[1] = kiln_arg_int(s);
        OK(kiln_kernel_call(by_call, &z, 1, in, 2, NULL));
        OK(kiln_array_to_host(z, got, sizeof got));
        assert_int_equal(got[1], number(1) + s);
    }
    FAILS(kiln_kernel_call(of_given, &none, 1, in, 2, NULL), KILN_ERROR_UNSUPPORTED, "computes numbers");
    FAILS(call1(&none, computed, x), KILN_ERROR_UNSUPPORTED, "computes numbers of those that it is given");
    FAILS(call1(&none, late, x), KILN_ERROR_UNSUPPORTED, "is known only when a part of it has run");
    FAILS(call1(&none, refused, x), KILN_ERROR_UNSUPPORTED, "calls alone say what its results are");
    assert_null(none);
    kiln_array_free(x);
    kiln_array_free(y);
    kiln_array_free(z);
    kiln_kernel *all[] = {twice, plus, computed, untold, by_call, of_given, late, in_scan, e, refused};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k)
        kiln_kernel_free(all[k]);
}

/* In a trace a result has as many elements as there may be; calls of the trace know better. */
static void traces_of_late_results(kiln_array *real)
{
    kiln_kernel *kernel = selection(TOY_SELECT), *traced = NULL,
                *same = expression("y = toy_select(x)[0]; y + y - y", &kernel, 1),
                *twice = expression("x * 2", NULL, 0);
    kiln_trace *trace = NULL;
    kiln_array *x = NULL, *y = NULL, *z = NULL, *got = NULL;
    const int64_t shape[] = {7};
    OK(kiln_trace_begin(&trace, "traced"));
    OK(kiln_trace_input(&x, trace, "x", KILN_INT32, 1, shape));
    OK(call1(&y, same, x));
    assert_int_equal(kiln_array_size(y), 7);
    OK(call1(&z, twice, y));
    OK(kiln_trace_end(&traced, trace, &z, 1, NULL));
    kiln_trace_free(trace);
    OK(call1(&got, traced, real));
    assert_doubled(got);
    kiln_array *arrays[] = {x, y, z, got};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; ++k)
        kiln_array_free(arrays[k]);
    kiln_kernel *all[] = {kernel, same, twice, traced};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k)
        kiln_kernel_free(all[k]);
}

static void traces(void **state)
{
    kiln_kernel *kernel = scan(), *traced = NULL;
    kiln_trace *trace = NULL;
    kiln_array *x = NULL, *y = NULL, *real = numbers(COUNT), *got = NULL;
    const int64_t shape[] = {7};
    (void)state;
    OK(kiln_trace_begin(&trace, "traced"));
    OK(kiln_trace_input(&x, trace, "x", KILN_INT32, 1, shape));
    OK(call1(&y, kernel, x));
    OK(kiln_trace_end(&traced, trace, &y, 1, NULL));
    kiln_trace_free(trace);
    OK(call1(&got, traced, real));
    assert_scanned(got, COUNT, 0, 1, 0);
    kiln_array_free(x);
    kiln_array_free(y);
    traces_of_late_results(real);
    kiln_array_free(real);
    kiln_array_free(got);
    kiln_kernel_free(kernel);
    kiln_kernel_free(traced);
}

/* ---- without a run ---- */

static void looked_at(void **state)
{
    kiln_kernel *kernel = selection(TOY_SELECT);
    kiln_array *x = numbers(COUNT);
    const kiln_arg in = kiln_arg_array(x);
    char *text = NULL;
    int lines = 0;
    void *bytes = NULL;
    size_t size = 0;
    (void)state;
    OK(kiln_kernel_explain(&text, kernel, NULL, 2, &in, 1, NULL, "host"));
    assert_non_null(strstr(text, "# toy_clear: a function\n# toy_flags\n"));
    free(text);
    OK(kiln_kernel_record(&text, kernel, NULL, 2, &in, 1, NULL));
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; ++at)
        ++lines;
    assert_true(lines >= 5);
    free(text);
    OK(kiln_kernel_source(&text, kernel, NULL, 2, &in, 1, NULL, "sm_90"));
    assert_non_null(strstr(text, "toy_kept"));
    free(text);
    OK(kiln_kernel_prepare(kernel, NULL, 2, &in, 1, NULL, NULL));
    OK(kiln_kernel_export(&bytes, &size, kernel, NULL, 2, &in, 1, NULL, "host"));
    assert_true(size > 0);
    free(bytes);
    kiln_array_free(x);
    kiln_kernel_free(kernel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scans),
        cmocka_unit_test(scans_with_steps),
        cmocka_unit_test(scans_in_place),
        cmocka_unit_test(selects),
        cmocka_unit_test(selects_into_arrays),
        cmocka_unit_test(several_threads),
        cmocka_unit_test(buffers),
        cmocka_unit_test(refused_arguments),
        cmocka_unit_test(failing_steps),
        cmocka_unit_test(failing_allocations),
        cmocka_unit_test(nodes_of_graphs),
        cmocka_unit_test(late_results_of_graphs),
        cmocka_unit_test(computed_from_late_results),
        cmocka_unit_test(expressions_as_steps),
        cmocka_unit_test(traces),
        cmocka_unit_test(looked_at),
    };
    setenv("KILN_TARGET", "host", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
