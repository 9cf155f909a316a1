/* bench_data.c - the arrays of a row: random inputs, views, and the check of sampled results. */
#include "bench.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SETS = 256 };

#define HASH                                                                                                 \
    "unsigned int h = (unsigned int)i * 2654435761u + seed; h ^= h >> 15; h *= 2246822519u; h ^= h >> 13; "

/* ---- random contents ---- */

uint32_t bench_bits_at(int64_t index)
{
    uint32_t h = (uint32_t)index * 2654435761u + 0x9e3779b9u;
    h ^= h >> 15;
    h *= 2246822519u;
    return h ^ h >> 13;
}

/* The value that the kernels below make of an index, for the seed of the first set's first operand. */
double bench_random_at(kiln_dtype dtype, int64_t index)
{
    double value = (double)(bench_bits_at(index) >> 8) * 0x1p-22 - 2;
    if (dtype != KILN_FLOAT16)
        return value;
    int exponent;
    frexp(value, &exponent);
    double step = ldexp(1, (exponent < -13 ? -13 : exponent) - 11);
    return nearbyint(value / step) * step;
}

static bool define_random(bench *b)
{
    if (!b->random &&
        !bench_check(b, kiln_elementwise_create(&b->random, "uint32 seed", "T x",
                                                HASH "x = (h >> 8) * 2.384185791015625e-07f - 2.0f",
                                                "bench_random", NULL)))
        return false;
    if (!b->random_bytes &&
        !bench_check(b, kiln_elementwise_create(&b->random_bytes, "uint32 seed", "T x",
                                                HASH "x = (T)(h >> 24)", "bench_random_bytes", NULL)))
        return false;
    return b->random_below ||
           bench_check(b, kiln_elementwise_create(&b->random_below, "uint32 seed, uint32 below", "T x",
                                                  HASH "x = (T)(h % below)", "bench_random_below", NULL));
}

/* Floats in [-2, 2), bytes over their whole range, integers below `below`, where that is not 0. */
static bool fill(bench *b, kiln_array *array, unsigned seed, unsigned below)
{
    uint32_t value = 0x9e3779b9u * (seed + 1), end = below;
    kiln_arg in[] = {kiln_arg_typed(KILN_UINT32, &value), kiln_arg_typed(KILN_UINT32, &end)};
    bool is_byte = kiln_dtype_size(kiln_array_dtype(array)) == 1;
    if (!define_random(b))
        return false;
    kiln_kernel *random = below ? b->random_below : is_byte ? b->random_bytes : b->random;
    return bench_check(b, kiln_kernel_call(random, &array, 1, in, below ? 2 : 1, NULL));
}

static void release(void *array)
{
    kiln_array_free(array);
}

/* The same memory as elements of half the size, one axis longer: complex numbers as pairs. */
static bool fill_pairs(bench *b, kiln_array *array, unsigned seed)
{
    int64_t shape[1] = {2 * kiln_array_size(array)};
    kiln_array *pairs = NULL;
    kiln_array_spec spec = KILN_ARRAY_SPEC_INIT;
    spec.dtype = kiln_array_dtype(array) == KILN_COMPLEX64 ? KILN_FLOAT32 : KILN_FLOAT64;
    spec.ndim = 1;
    spec.shape = shape;
    spec.device = b->device;
    kiln_array_retain(array);
    kiln_status status = kiln_array_wrap(&pairs, kiln_array_data(array), &spec, release, array);
    if (status != KILN_OK)
        kiln_array_free(array);
    bool ok = bench_check(b, status) && fill(b, pairs, seed, 0);
    kiln_array_free(pairs);
    return ok;
}

static bool fill_any(bench *b, kiln_array *array, unsigned seed, int below)
{
    kiln_dtype dtype = kiln_array_dtype(array);
    bool is_complex = dtype == KILN_COMPLEX64 || dtype == KILN_COMPLEX128;
    return is_complex ? fill_pairs(b, array, seed) : fill(b, array, seed, (unsigned)below);
}

/* ---- arrays and views ---- */

int bench_row_inputs(const bench_row *row)
{
    return row->n_operands - 1 - row->n_more;
}

static bool make_base(bench *b, bench_set *set, const bench_row *row, int k, unsigned seed)
{
    const bench_operand *o = &row->operand[k];
    int64_t shape[BENCH_MAX_NDIM];
    if (o->shares) {
        set->base[k] = kiln_array_retain(set->base[o->shares - 1]);
        return true;
    }
    int ndim = bench_shape_read(shape, o->shape, b->scale);
    if (o->window)
        shape[0] = (shape[0] - 1) * o->step + o->window;
    return bench_check(b, kiln_array_empty(&set->base[k], o->dtype, ndim, shape, b->device)) &&
           (k >= bench_row_inputs(row) || fill_any(b, set->base[k], seed, o->below));
}

/* Overlapping windows over the vector: foreign memory to kiln. */
static bool make_windows(bench *b, kiln_array **out, kiln_array *base, const bench_operand *o)
{
    int64_t item = (int64_t)kiln_dtype_size(o->dtype);
    int64_t shape[] = {(kiln_array_size(base) - o->window) / o->step + 1, o->window},
            strides[] = {o->step * item, item};
    kiln_array_spec spec = KILN_ARRAY_SPEC_INIT;
    spec.dtype = o->dtype;
    spec.ndim = 2;
    spec.shape = shape;
    spec.strides = strides;
    spec.device = b->device;
    kiln_array_retain(base);
    kiln_status status = kiln_array_wrap(out, kiln_array_data(base), &spec, release, base);
    if (status != KILN_OK)
        kiln_array_free(base);
    return bench_check(b, status);
}

bool bench_view_make(bench *b, kiln_array **out, kiln_array *base, const bench_operand *o)
{
    if (o->window)
        return make_windows(b, out, base, o);
    int axes[BENCH_MAX_NDIM];
    kiln_array *turned = NULL;
    kiln_status status = KILN_OK;
    if (*o->axes && bench_axes_read(axes, o->axes))
        status = kiln_array_transpose(&turned, base, axes);
    else
        turned = kiln_array_retain(base);
    if (status == KILN_OK && *o->index)
        status = kiln_array_index(out, turned, o->index);
    else if (status == KILN_OK)
        *out = kiln_array_retain(turned);
    kiln_array_free(turned);
    return bench_check(b, status);
}

static bool make_set(bench *b, bench_set *set, const bench_row *row, unsigned seed)
{
    for (int k = 0; k < row->n_operands; k++)
        if (!make_base(b, set, row, k, seed * BENCH_MAX_OPERANDS + (unsigned)k) ||
            !bench_view_make(b, &set->array[k], set->base[k], &row->operand[k]))
            return false;
    return true;
}

static double bytes_moved(const bench_set *set, const bench_row *row)
{
    double bytes = 0;
    for (int k = 0; k < row->n_operands; k++) {
        bool is_input = k < bench_row_inputs(row);
        if (!is_input || !row->operand[k].shares)
            bytes += (double)kiln_array_nbytes(is_input ? set->base[k] : set->array[k]);
    }
    return bytes;
}

static bool make_spare(bench *b, bench_set *set, double bytes)
{
    int64_t shape[1] = {(int64_t)bytes};
    return bench_check(b, kiln_array_empty(&set->spare, KILN_UINT8, 1, shape, b->device));
}

/* Enough sets that twice the last-level cache passes before one comes again. */
static int sets_needed(const bench *b, double bytes)
{
    double cache = b->properties.l2_cache_size ? (double)b->properties.l2_cache_size : 64e6;
    double sets = ceil(2 * cache / bytes);
    return sets < 1 ? 1 : sets > MAX_SETS ? MAX_SETS : (int)sets;
}

static bool make_sets(bench *b, bench_data *data, const bench_row *row, bool has_spare)
{
    for (int s = 0; s < data->n_sets; s++) {
        if (!make_set(b, &data->set[s], row, (unsigned)s))
            return false;
        if (s == 0) {
            data->bytes = bytes_moved(&data->set[0], row);
            data->elements = kiln_array_size(data->set[0].array[row->n_operands - 1]);
            data->n_sets = row->is_small ? sets_needed(b, data->bytes) : 1;
        }
        if (has_spare && !make_spare(b, &data->set[s], data->bytes))
            return false;
    }
    return true;
}

bool bench_data_make(bench *b, bench_data *out, const bench_row *row, bool has_spare)
{
    *out = (bench_data){.n_sets = 1};
    out->set = calloc(MAX_SETS, sizeof *out->set);
    if (!out->set)
        return bench_fail(b, "out of memory");
    return make_sets(b, out, row, has_spare) && bench_check(b, kiln_stream_synchronize(b->stream));
}

static void free_set(bench_set *set)
{
    for (int k = 0; k < BENCH_MAX_OPERANDS; k++) {
        kiln_array_free(set->array[k]);
        kiln_array_free(set->base[k]);
    }
    kiln_array_free(set->spare);
}

void bench_data_free(bench_data *data)
{
    for (int s = 0; data->set && s < data->n_sets; s++)
        free_set(&data->set[s]);
    free(data->set);
    *data = (bench_data){0};
}

static bool define_expression(bench *b, kiln_kernel **out, const bench_row *row)
{
    char text[1024];
    const char *size = strchr(row->expression, '@');
    int64_t shape[BENCH_MAX_NDIM], elements = 1;
    int ndim = bench_shape_read(shape, row->operand[row->n_operands - 1].shape, b->scale);
    for (int axis = 0; axis < ndim; axis++)
        elements *= shape[axis];
    if (size)
        snprintf(text, sizeof text, "%.*s%lld%s", (int)(size - row->expression), row->expression,
                 (long long)elements, size + 1);
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    kiln_kernel *function = NULL;
    if (row->function && !bench_reduction_define(b, &function, row->function, "T x", "T y", "fold"))
        return false;
    options.kernels = &function;
    options.n_kernels = function != NULL;
    kiln_status status = kiln_expression_create(out, row->in, size ? text : row->expression, &options);
    kiln_kernel_free(function);
    return bench_check(b, status);
}

bool bench_row_define(bench *b, kiln_kernel **out, const bench_row *row)
{
    if (row->expression)
        return define_expression(b, out, row);
    if (row->bin)
        return bench_histogram_define(b, out, row);
    if (row->scans)
        return bench_scan_define(b, out, row);
    if (row->reduction)
        return bench_reduction_define(b, out, row->reduction, row->in, row->out, "bench_row");
    return bench_check(b, kiln_elementwise_create(out, row->in, row->out, row->body, "bench_row", NULL));
}

int bench_row_arguments(kiln_arg *in, const bench_row *row, const bench_set *set)
{
    int count = 0;
    for (int k = 0; k < bench_row_inputs(row); k++)
        in[count++] = kiln_arg_array(set->array[k]);
    for (int k = 0; k < row->n_scalars; k++)
        in[count++] = kiln_arg_float(row->scalar[k]);
    return count;
}

/* ---- reading elements ---- */

static double small_float(uint32_t bits, int exponent_bits, int fraction_bits)
{
    int bias = (1 << (exponent_bits - 1)) - 1;
    int exponent = (int)(bits >> fraction_bits & ((1u << exponent_bits) - 1));
    double fraction = (double)(bits & ((1u << fraction_bits) - 1)) / (double)(1 << fraction_bits);
    double sign = bits >> (exponent_bits + fraction_bits) & 1 ? -1 : 1;
    if (exponent == (1 << exponent_bits) - 1)
        return fraction == 0 ? sign * INFINITY : NAN;
    return sign * (exponent ? ldexp(1 + fraction, exponent - bias) : ldexp(fraction, 1 - bias));
}

static bench_value decode(kiln_dtype dtype, const void *bytes)
{
    union {
        unsigned char u1;
        signed char i1;
        uint16_t u2;
        int64_t i8;
        float f4[2];
        double f8[2];
    } v = {0};
    memcpy(&v, bytes, kiln_dtype_size(dtype));
    switch (dtype) {
    case KILN_BOOL:
    case KILN_UINT8:
        return (bench_value){v.u1, 0};
    case KILN_INT8:
        return (bench_value){v.i1, 0};
    case KILN_FLOAT16:
        return (bench_value){small_float(v.u2, 5, 10), 0};
    case KILN_BFLOAT16:
        return (bench_value){small_float(v.u2, 8, 7), 0};
    case KILN_INT64:
        return (bench_value){(double)v.i8, 0};
    case KILN_FLOAT32:
        return (bench_value){v.f4[0], 0};
    case KILN_COMPLEX64:
        return (bench_value){v.f4[0], v.f4[1]};
    default:
        return (bench_value){v.f8[0], dtype == KILN_COMPLEX128 ? v.f8[1] : 0};
    }
}

bool bench_array_read(bench *b, bench_value *out, const kiln_array *array)
{
    size_t size = kiln_dtype_size(kiln_array_dtype(array)), bytes = kiln_array_nbytes(array);
    unsigned char *data = malloc(bytes ? bytes : 1);
    if (!data)
        return bench_fail(b, "out of memory");
    bool ok = bench_check(b, kiln_array_to_host(array, data, bytes));
    for (int64_t k = 0; k < kiln_array_size(array) && ok; k++)
        out[k] = decode(kiln_array_dtype(array), data + (size_t)k * size);
    free(data);
    return ok;
}

bool bench_element_read(bench *b, bench_value *out, kiln_array *array, const int64_t *index, int ndim)
{
    const int64_t *shape = kiln_array_shape(array), *strides = kiln_array_strides(array);
    unsigned char *address = kiln_array_data(array);
    int own = kiln_array_ndim(array);
    for (int axis = 0; axis < own; axis++)
        address += shape[axis] == 1 ? 0 : index[ndim - own + axis] * strides[axis];
    kiln_array *one = NULL;
    kiln_array_spec spec = KILN_ARRAY_SPEC_INIT;
    spec.dtype = kiln_array_dtype(array);
    spec.device = b->device;
    *out = (bench_value){0, 0};
    bool ok =
        bench_check(b, kiln_array_wrap(&one, address, &spec, NULL, NULL)) && bench_array_read(b, out, one);
    kiln_array_free(one);
    return ok;
}

/* ---- the check ---- */

void bench_index_split(int64_t *index, int64_t at, const int64_t *shape, int ndim)
{
    for (int axis = ndim - 1; axis >= 0; axis--) {
        index[axis] = at % shape[axis];
        at /= shape[axis];
    }
}

double bench_tolerance(kiln_dtype dtype)
{
    switch (dtype) {
    case KILN_FLOAT16:
        return 2e-3;
    case KILN_BFLOAT16:
        return 1.6e-2;
    case KILN_FLOAT32:
    case KILN_COMPLEX64:
        return 1e-5;
    case KILN_FLOAT64:
    case KILN_COMPLEX128:
        return 1e-12;
    default:
        return 0;
    }
}

static bool check_value(bench *b, const bench_row *row, bench_value got, bench_value want, int64_t at)
{
    double off = hypot(got.re - want.re, got.im - want.im), size = hypot(want.re, want.im);
    if (off <= bench_tolerance(row->operand[row->n_operands - 1].dtype) * fmax(1, size))
        return true;
    return bench_fail(b, "wrong result: element %lld is %.9g%+.9gi, expected %.9g%+.9gi", (long long)at,
                      got.re, got.im, want.re, want.im);
}

static bool check_element(bench *b, const bench_data *data, const bench_row *row, int64_t at)
{
    const bench_set *set = &data->set[0];
    int result = row->n_operands - 1, ndim = kiln_array_ndim(set->array[result]);
    int64_t index[BENCH_MAX_NDIM];
    bench_value value[BENCH_MAX_OPERANDS] = {{0}};
    bench_index_split(index, at, kiln_array_shape(set->array[result]), ndim);
    for (int k = 0; k <= result; k++)
        if (!bench_element_read(b, &value[k], set->array[k], index, ndim))
            return false;
    if (row->first_reference &&
        !check_value(b, row, value[result - 1], row->first_reference(value, at, data->elements), at))
        return false;
    return check_value(b, row, value[result], row->reference(value, at, data->elements), at);
}

/* The first and the last element, and others at random. */
bool bench_data_check(bench *b, bench_data *data, const bench_row *row)
{
    uint64_t state = 88172645463325252u;
    bool ok = true;
    if (row->along)
        return bench_along_check(b, data, row);
    if (row->is_order)
        return bench_order_check(b, data);
    if (row->bin)
        return bench_histogram_check(b, data, row);
    if (row->scans)
        return bench_scan_check(b, data, row);
    if (row->reduction)
        return bench_reduction_check(b, data, row);
    data->checked = BENCH_SAMPLES;
    for (int s = 0; s < BENCH_SAMPLES && ok; s++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        int64_t at = (int64_t)(state % (uint64_t)data->elements);
        ok = check_element(b, data, row, s == 0 ? 0 : s == 1 ? data->elements - 1 : at);
    }
    return ok;
}
