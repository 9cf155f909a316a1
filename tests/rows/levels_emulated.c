/* levels_emulated - random reductions in both tiers, by the kernels that a GPU would run: the baseline
 * one, launch by launch, gives the bits of the optimised one. Functions that neither commute nor associate
 * are among those that combine, so another order shows.
 *
 * usage: levels_emulated [COUNT [SEED]] [TARGET]    TARGET, "cuda:0" or "host": that device computes both */
#include "drawn.h"
#include "emulated.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kiln/expression.h>
#include <kiln/kernel.h>
#include <kiln/operation.h>

enum { MOST_AXES = 4, MOST_INPUTS = 2, MOST_ELEMENTS = 1 << 17 };
enum { LAYOUTS = 8, LAYOUTS_ON_HOST = 2 /* of a text, which the host compiles for each kind of them */ };

static uint64_t state;
/* NULL: kernels are emulated. */
static const char *target;
static bool is_host; /* whose compilers contract nothing across texts */

static uint64_t draw(uint64_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
}

/* ---- what is computed ---- */

typedef struct text {
    const char *in, *out, *map, *reduce, *post, *identity, *reduce_type, *preamble;
    int n_in, n_out;
    bool is_contracted; /* products of the map meet sums: there is no baseline tier */
} text;

#define SELECTION                                                                                            \
    "struct best { float value; long long at; };\n"                                                          \
    "__device__ best better(const best a, const best b) { return a.value > b.value ? a : b; }"
#define SUMS "struct sums { float sum, most; };"
#define ADDED "sums{a.sum + b.sum, kn_greatest(a.most, b.most)}"
/* Products that nothing is contracted with. */
#define JOINED "sums{kn_add(a.sum, b.sum), kn_multiply_add(a.most, 0.7f, kn_multiply(b.most, 0.3f))}"
#define ADDED_RESULTS "y = a.sum * 2 + 1; z = a.most"
/* Structs combined without arithmetic: another order gives other bits, too. */
#define MIXTURE                                                                                              \
    "struct mixture { unsigned word; };\n"                                                                   \
    "__device__ mixture mixed(const mixture a, const mixture b) { return {(a.word << 3 | a.word >> 29) ^ "   \
    "b.word}; }"
/* For integers, which have nothing to contract: another order gives other bits. */
#define UNEVEN "a * 3 ^ b >> 1"

static const text texts[] = {
    {"T x", "T y", "x", "a + b", "y = a", "0", "", "", 1, 1, false},
    {"T x", "float32 y", "x * x", "static_cast<float>(a + b)", "y = a", "0", "float32", "", 1, 1, false},
    {"T x", "T y", "x * x", "a + b", "y = sqrt((float)a)", "0", "", "", 1, 1, false},
    {"T x, T y", "float32 z", "x * y", "a + b", "z = a * 2 + 1", "0", "float32", "", 2, 1, false},
    {"T x", "float64 y", "x", "a * b", "y = a + 1", "1", "float64", "", 1, 1, false},
    {"T x", "T y", "x", "a > b ? a : b", "y = a", "", "", "", 1, 1, false},
    {"T x, T y", "uint32 z", "(unsigned)(int)x + 5 * (unsigned)(int)y", UNEVEN, "z = a", "0", "uint32", "", 2,
     1, false},
    {"T x", "uint64 y", "(unsigned long long)(long long)x", UNEVEN, "y = a", "0", "uint64", "", 1, 1, false},
    {"T x", "uint32 y, T z", "(unsigned)(int)x + (unsigned)_J", UNEVEN, "y = a; z = (T)(a % 100)", "0",
     "uint32", "", 1, 2, false},
    {"T x", "int64 y, float32 z", "best{(float)x, _J}", "better(a, b)", "y = a.at; z = a.value", "", "best",
     SELECTION, 1, 2, false},
    {"T x", "uint32 y", "mixture{(unsigned)(int)x}", "mixed(a, b)", "y = a.word", "", "mixture", MIXTURE, 1,
     1, false},
    {"T x", "float32 y, float32 z", "sums{(float)x - 1, abs((float)x * 1.0f)}", ADDED, ADDED_RESULTS, "",
     "sums", SUMS, 1, 2, false},
    {"T x, T y", "complex64 z", "complex<float>{(float)x, (float)y}", "a + b", "z = a * 2.0f", "0",
     "complex64", "", 2, 1, false},
    {"T x", "float32 y, float32 z", "sums{(float)x * (float)x, (float)x}", ADDED, ADDED_RESULTS, "", "sums",
     SUMS, 1, 2, true},
    {"T x", "complex64 z", "complex<float>{(float)x, 1.0f} * 3.0f", "a + b", "z = a", "0", "complex64", "", 1,
     1, false},
    {"T x, T y", "complex64 z", "complex<float>{1 + (float)x * 0.01f, (float)y * 0.01f}", "a * b", "z = a",
     "1", "complex64", "", 2, 1, false},
    {"T x", "complex128 z", "complex<double>{(double)x, 1.0} * complex<double>{0.1, (double)x}", "a + b",
     "z = a", "0", "complex128", "", 1, 1, false},
    {"T x", "float32 y, float32 z", "sums{(float)x * (float)x, (float)x}", JOINED, ADDED_RESULTS, "", "sums",
     SUMS, 1, 2, false},
    /* operations, by their names */
    {"argmin", "int64 y", "argmin", NULL, "", "", "", "", 1, 1, false},
    {"argmax", "int64 y", "argmax", NULL, "", "", "", "", 1, 1, false},
    {"ptp", "T y", "ptp", NULL, "", "", "", "", 1, 1, false},
    {"var", "U y", "var", NULL, "", "", "", "", 1, 1, false},
    {"std", "U y", "std", NULL, "", "", "", "", 1, 1, false}};
enum { TEXTS = sizeof texts / sizeof texts[0], PLACES = TEXTS - 5 /* of the operations */ };

static const kiln_dtype dtypes[] = {KILN_FLOAT32, KILN_FLOAT32, KILN_FLOAT32, KILN_FLOAT16,
                                    KILN_INT8,    KILN_FLOAT64, KILN_INT32};
enum { DTYPES = sizeof dtypes / sizeof dtypes[0] };

/* ---- arrays ---- */

typedef struct input {
    kiln_array *array;
    void *memory;
    int64_t size, shift; /* bytes of the memory, and of those in front of the array */
    int64_t shape[MOST_AXES], strides[MOST_AXES];
    kiln_array_spec spec;
} input;

/* Numbers of a few bits, so that float16 and int8 hold them, and sums of float32 round. */
static void put(void *at, kiln_dtype dtype)
{
    int64_t whole = (int64_t)draw(100) - 40;
    float single = (float)whole / 7;
    double wide = (double)whole / 7;
    int8_t byte = (int8_t)whole;
    int32_t word = (int32_t)whole * 12345;
    uint16_t half = (uint16_t)(0x3800 + draw(0x800) + (draw(2) << 15));
    const void *from = dtype == KILN_FLOAT32   ? (const void *)&single
                       : dtype == KILN_FLOAT64 ? (const void *)&wide
                       : dtype == KILN_INT8    ? (const void *)&byte
                       : dtype == KILN_INT32   ? (const void *)&word
                                               : (const void *)&half;
    memcpy(at, from, kiln_dtype_size(dtype));
}

/* Axes in any order in memory, perhaps with gaps between rows, perhaps beginning anywhere. */
static void make(input *x, kiln_dtype dtype, int ndim, const int64_t *shape)
{
    int64_t item = (int64_t)kiln_dtype_size(dtype), *strides = x->strides, run = item;
    int64_t gap = draw(4) == 0 ? (int64_t)draw(3) * item : 0, shift = draw(4) == 0 ? item : 0;
    int order[MOST_AXES];
    for (int a = 0; a < ndim; ++a)
        order[a] = a;
    for (int a = 0; a < ndim && draw(3) == 0; ++a) {
        int other = (int)draw((uint64_t)ndim), before = order[a];
        order[a] = order[other];
        order[other] = before;
    }
    for (int k = ndim; k-- > 0;) {
        strides[order[k]] = run;
        run = run * shape[order[k]] + (k == ndim - 1 ? gap : 0);
    }
    x->memory = aligned_alloc(64, (size_t)(run + shift) / 64 * 64 + 64);
    for (int64_t at = shift; at + item <= run + shift; at += item)
        put((char *)x->memory + at, dtype);
    memcpy(x->shape, shape, (size_t)ndim * sizeof *shape);
    x->size = run + shift;
    x->shift = shift;
    x->spec = (kiln_array_spec)KILN_ARRAY_SPEC_INIT;
    x->spec.dtype = dtype;
    x->spec.ndim = ndim;
    x->spec.shape = x->shape;
    x->spec.strides = strides;
    x->spec.device = KILN_DEVICE_HOST;
    if (kiln_array_wrap(&x->array, (char *)x->memory + shift, &x->spec, NULL, NULL) != KILN_OK)
        exit(1);
}

/* ---- a case ---- */

typedef struct problem {
    const text *text;
    kiln_dtype dtype;
    int ndim, n_axes, axes[MOST_AXES];
    int64_t shape[MOST_AXES];
} problem;

/* Axes as people have them: pictures of few channels, tables of few or of many columns, reduced in front, at
 * the end or at both. */
static void draw_usual_shape(problem *p)
{
    const bool is_narrow = draw(2);
    p->ndim = 3;
    p->shape[0] = 1 + (int64_t)draw(is_narrow ? 150 : 6);
    p->shape[1] = 1 + (int64_t)draw(is_narrow ? 40 : 900);
    p->shape[2] = 1 + (int64_t)draw(is_narrow ? 60 : 200);
    p->n_axes = 0;
    for (int a = (int)draw(2); a < p->ndim; a += 1 + (int)draw(2))
        p->axes[p->n_axes++] = a;
}

/* Rows of bytes that begin at other places of a vector each, and have more elements beside their vectors than
 * vectors. */
static void take_uneven_rows(problem *p)
{
    p->text = &texts[1];
    p->dtype = KILN_INT8;
    p->ndim = 2;
    p->shape[0] = 59;
    p->shape[1] = 143 + 2 * (int64_t)draw(20);
    p->n_axes = 1;
    p->axes[0] = 1;
}

/* Extents from 1 to those of rows that several blocks share. */
static void draw_shape(problem *p)
{
    int64_t left = MOST_ELEMENTS >> draw(12);
    p->ndim = 1 + (int)draw(MOST_AXES);
    for (int a = 0; a < p->ndim; ++a) {
        p->shape[a] =
            a + 1 == p->ndim || draw(4) == 0 ? left : 1 + (int64_t)draw(draw(2) ? 8 : (uint64_t)left);
        p->shape[a] -= p->shape[a] > 8 && draw(3) == 0 ? (int64_t)draw(5) : 0;
        left = left / p->shape[a] > 0 ? left / p->shape[a] : 1;
    }
    for (int a = p->ndim - 1; a > 0; --a) { /* long axes anywhere */
        int other = (int)draw((uint64_t)a + 1);
        int64_t before = p->shape[a];
        p->shape[a] = p->shape[other];
        p->shape[other] = before;
    }
    p->n_axes = 0;
    for (int a = 0; a < p->ndim; ++a)
        if (draw(2) || (a + 1 == p->ndim && p->n_axes == 0))
            p->axes[p->n_axes++] = a;
}

static void describe(const problem *p)
{
    printf("%s: %s: %s of %s, shape", emulated_kind, p->text->map,
           p->text->reduce ? p->text->reduce : "the operation", kiln_dtype_name(p->dtype));
    for (int a = 0; a < p->ndim; ++a)
        printf(" %lld", (long long)p->shape[a]);
    printf(", axes");
    for (int a = 0; a < p->n_axes; ++a)
        printf(" %d", p->axes[a]);
    printf("\n");
}

/* An operation as an expression, whose kernel is new. */
static kiln_status create_expression(kiln_kernel **out, const problem *p)
{
    char expression[100];
    int length = snprintf(expression, sizeof expression, "%s(x, axis=(", p->text->map);
    for (int a = 0; a < p->n_axes; ++a)
        length += snprintf(expression + length, sizeof expression - (size_t)length, "%d, ", p->axes[a]);
    snprintf(expression + length, sizeof expression - (size_t)length, "))");
    return kiln_expression_create(out, "x", expression, NULL);
}

static kiln_status create(kiln_kernel **out, const problem *p)
{
    const text *t = p->text;
    if (!t->reduce && target)
        return create_expression(out, p);
    if (!t->reduce)
        return kiln_operation_kernel(out, t->map, &p->dtype, 1);
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    options.preamble = t->preamble[0] ? t->preamble : NULL;
    options.reduce_type = t->reduce_type[0] ? t->reduce_type : NULL;
    return kiln_reduction_create(out, t->in, t->out, t->map, t->reduce, t->post,
                                 t->identity[0] ? t->identity : NULL, "drawn", &options);
}

/* An operation's kernel is the library's. */
static void release(kiln_kernel *kernel, const problem *p)
{
    if (p->text->reduce || target)
        kiln_kernel_free(kernel);
}

static kiln_dtype dtype_of_result(const problem *p, int j)
{
    static const struct {
        const char *name;
        kiln_dtype dtype;
    } known[] = {{"float32", KILN_FLOAT32},      {"float64", KILN_FLOAT64}, {"uint32", KILN_UINT32},
                 {"uint64", KILN_UINT64},        {"int64", KILN_INT64},     {"complex64", KILN_COMPLEX64},
                 {"complex128", KILN_COMPLEX128}};
    bool is_whole = p->dtype == KILN_INT8 || p->dtype == KILN_INT32;
    const char *at = p->text->out;
    for (; j > 0; --j)
        at = strchr(at, ',') + 2;
    for (size_t k = 0; k < sizeof known / sizeof known[0]; ++k)
        if (strncmp(at, known[k].name, strlen(known[k].name)) == 0)
            return known[k].dtype;
    return at[0] == 'U' && is_whole ? KILN_FLOAT64 : p->dtype;
}

/* An array for a result, filled with bytes that no result has. */
static kiln_array *make_result(const problem *p, int j)
{
    kiln_array *result = NULL;
    int64_t shape[MOST_AXES];
    int ndim = 0;
    for (int a = 0, k = 0; a < p->ndim; ++a)
        if (k < p->n_axes && p->axes[k] == a)
            ++k;
        else
            shape[ndim++] = p->shape[a];
    if (kiln_array_empty(&result, dtype_of_result(p, j), ndim, shape, KILN_DEVICE_HOST) != KILN_OK)
        exit(1);
    memset(kiln_array_data(result), 0x5b, kiln_array_nbytes(result));
    return result;
}

/* The input on the device, in the same layout. */
static kiln_status move(kiln_array **buffer, kiln_array **moved, const input *x, kiln_device device)
{
    kiln_array *bytes = NULL;
    kiln_array_spec spec = x->spec, all = KILN_ARRAY_SPEC_INIT;
    all.dtype = KILN_UINT8;
    all.ndim = 1;
    all.shape = &x->size;
    all.device = KILN_DEVICE_HOST;
    kiln_status status = kiln_array_wrap(&bytes, x->memory, &all, NULL, NULL);
    if (status == KILN_OK)
        status = kiln_array_to_device(buffer, bytes, device);
    spec.device = device;
    if (status == KILN_OK)
        status = kiln_array_wrap(moved, (char *)kiln_array_data(*buffer) + x->shift, &spec, NULL, NULL);
    kiln_array_free(bytes);
    return status;
}

/* The target's own call: by the baseline tier, which calls ask for by the mode, or by the optimised one. A
 * kernel remembers the plan of its first call. */
static kiln_status call_target(const problem *p, bool is_baseline, kiln_array **out, const input *x,
                               const kiln_call_options *options)
{
    kiln_device device;
    kiln_call_info info = KILN_CALL_INFO_INIT;
    kiln_array *buffer[MOST_INPUTS] = {NULL}, *moved[MOST_INPUTS] = {NULL}, *result[2] = {NULL};
    kiln_arg arg[MOST_INPUTS];
    kiln_kernel *kernel = NULL;
    kiln_status status = create(&kernel, p);
    if (status == KILN_OK)
        status = kiln_device_parse(&device, target);
    for (int k = 0; k < p->text->n_in && status == KILN_OK; ++k) {
        status = move(&buffer[k], &moved[k], &x[k], device);
        arg[k] = kiln_arg_array(moved[k]);
    }
    if (status == KILN_OK)
        status = kiln_set_forms(is_baseline ? KILN_FORMS_QUICK : KILN_FORMS_BEST);
    if (status == KILN_OK)
        status = kiln_kernel_call(kernel, result, p->text->n_out, arg, p->text->n_in, options);
    if (status == KILN_OK)
        status = kiln_kernel_last_call(&info);
    emulated_baselines += is_baseline && info.form == KILN_FORM_QUICK;
    for (int j = 0; j < p->text->n_out && status == KILN_OK; ++j) {
        kiln_array_free(out[j]);
        status = kiln_array_to_device(&out[j], result[j], KILN_DEVICE_HOST);
    }
    for (int k = 0; k < 2; ++k) {
        kiln_array_free(moved[k]);
        kiln_array_free(buffer[k]);
        kiln_array_free(result[k]);
    }
    release(kernel, p);
    return status;
}

/* Calls in both tiers; 1: they differ. */
static int compare(const problem *p, kiln_kernel *kernel, const kiln_arg *in, const input *x)
{
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    kiln_array *out[2][2] = {{NULL, NULL}, {NULL, NULL}};
    int differs = 0;
    if (p->text->reduce || !target) { /* an expression has them in its text */
        options.axes = p->axes;
        options.n_axes = p->n_axes;
    }
    for (int k = 0; k < 2; ++k) {
        emulated_baseline = k;
        for (int j = 0; j < p->text->n_out; ++j)
            out[k][j] = make_result(p, j);
        if ((target ? call_target(p, k, out[k], x, &options)
                    : emulated_call("sm_90", kernel, out[k], p->text->n_out, in, p->text->n_in, &options)) !=
            KILN_OK) {
            printf("FAILED: %s\n", kiln_error_message());
            differs = 1;
        }
    }
    for (int j = 0; j < p->text->n_out; ++j) {
        if (!differs &&
            memcmp(kiln_array_data(out[0][j]), kiln_array_data(out[1][j]), kiln_array_nbytes(out[0][j])) != 0)
            differs = printf("FAILED: result %d differs\n", j) > 0;
        kiln_array_free(out[0][j]);
        kiln_array_free(out[1][j]);
    }
    return differs;
}

static int run(const problem *p)
{
    kiln_kernel *kernel = NULL;
    input x[MOST_INPUTS];
    kiln_arg in[MOST_INPUTS];
    int failed = 0, before = emulated_baselines;
    for (int k = 0; k < p->text->n_in; ++k) {
        make(&x[k], p->dtype, p->ndim, p->shape);
        in[k] = kiln_arg_array(x[k].array);
    }
    if (create(&kernel, p) != KILN_OK)
        failed = printf("FAILED: %s\n", kiln_error_message());
    else
        failed = compare(p, kernel, in, x);
    bool is_contracted = p->text->is_contracted && !is_host;
    if (!failed && is_contracted && emulated_baselines > before)
        failed = printf("FAILED: a baseline tier of products and sums\n") > 0;
    if (!failed && !is_contracted && emulated_baselines == before)
        printf("without a list of levels: ");
    if (failed || (!is_contracted && emulated_baselines == before))
        describe(p);
    release(kernel, p);
    for (int k = 0; k < p->text->n_in; ++k) {
        kiln_array_free(x[k].array);
        free(x[k].memory);
    }
    return failed;
}

int main(int argc, char **argv)
{
    bool has_target = argc > 1 && !isdigit((unsigned char)argv[argc - 1][0]);
    target = has_target ? argv[--argc] : NULL;
    is_host = target && strcmp(target, "host") == 0;
    long count = drawn_count(argc, argv, 1000, is_host ? 16 : 3);
    int failed = 0;
    state = drawn_state(argc, argv);
    if (draw(4) > 0)
        setenv("KILN_KINDS", "-fewest", 0); /* kinds take few elements, too */
    problem p = {.text = NULL};
    for (long k = 0; k < count; ++k) {
        if (k % (is_host ? LAYOUTS_ON_HOST : LAYOUTS) == 0) {
            do
                p.text = &texts[draw(TEXTS)];
            while (target && (p.text == &texts[PLACES] || p.text == &texts[PLACES + 1])); /* of one axis */
            p.dtype = dtypes[draw(DTYPES)];
        }
        if (draw(2))
            draw_shape(&p);
        else
            draw_usual_shape(&p);
        failed += run(&p);
    }
    take_uneven_rows(&p);
    failed += run(&p);
    printf("%ld reductions, %d of them by levels, %d failed\n", count + 1, emulated_baselines, failed);
    bool are_few = count >= 16 && emulated_baselines < count / 2;
    return failed > 0 || are_few;
}
