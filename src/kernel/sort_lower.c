/* The steps of a call of a sort. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "kernel/sort_parts.h"
#include "schedule/sort_tile.h"
#include "space/shape.h"
#include "types/dtype.h"

const kn_param *kn_sort_param_of(const kn_sorting *s, int k)
{
    return &s->signature->param[k];
}

static kiln_status check_input(const kn_sorting *s, int k, const kn_described *in)
{
    const kn_program *p = s->signature;
    const kn_param *param = kn_sort_param_of(s, k);
    kiln_dtype expected = kn_described_dtype(p, param, in);
    if (in[k].is_number || in[k].dtype == expected)
        return KILN_OK;
    return kn_error(KILN_ERROR_TYPE, "%s: '%s' is %s here, but an array of %s was given", p->name,
                    param->name, kiln_dtype_name(expected), kiln_dtype_name(in[k].dtype));
}

kiln_status kn_sort_find_shape(int *ndim, int64_t *shape, const kn_sorting *s, const kn_described *in)
{
    const kn_program *p = s->signature;
    *ndim = 0;
    for (int k = 0; k < p->n_in; ++k) {
        kiln_status status = check_input(s, k, in);
        if (status != KILN_OK)
            return status;
        if (!kn_sort_param_of(s, k)->is_raw && !kn_shape_broadcast(ndim, shape, in[k].ndim, in[k].shape))
            return kn_error(KILN_ERROR_SHAPE, "%s: '%s' does not broadcast against the arguments before it",
                            p->name, kn_sort_param_of(s, k)->name);
    }
    return *ndim > 0 ? KILN_OK
                     : kn_error(KILN_ERROR_SHAPE,
                                "%s: the inputs have no axes; an axis to sort along was expected", p->name);
}

kiln_status kn_sort_find_axis(int *out, const kn_sorting *s, int ndim, int axis)
{
    if (axis < -ndim || axis >= ndim)
        return kn_error(KILN_ERROR_SHAPE, "%s: %s: axis %d was given, but there are %d axes",
                        s->signature->name, s->along.has_axis ? "axis" : "options.axes", axis, ndim);
    *out = axis < 0 ? axis + ndim : axis;
    return KILN_OK;
}

/* ---- lowering ---- */

enum {
    MOST_MOVED_BYTES = 16, /* of an element: what is moved, together */
    MOST_QUICK = 1 << 27,  /* bytes of the buffers of quick steps, which the best ones may do without */
    STATE =
        32, /* words behind those of a pass's tiles, which begin at lines: the last one is the pass's state */
    INT32_EXTENT = 1 << 30 /* elements of a row, up to which words of 32 bits hold their number */
};

/* A call's rows lie along the last axis of its views, wherever they are in memory. */
typedef struct lowering {
    kn_lowered *out;
    const kn_sorting *s;
    const kn_lowering_call *call;
    kn_described *in;
    int ndim, axis;
    int64_t shape[KILN_MAX_NDIM]; /* of the views */
    int64_t rows, length;
    kiln_dtype order, word; /* of indices along a row, and of counts */
    int keys[2], orders[2], words, moved[KN_MOST_MOVED][2];
    int number[KN_MAX_PARAMS]; /* by input: its buffer, if it is a number */
    int from;                  /* the buffer of keys, and of orders, that the next pass reads */
    bool has_order;
    /* In `words`, for each digit: the counts of all, then the words that a pass has for its tiles. */
    int64_t counts, tile_words;
    int digits; /* of the key that is being sorted by */
} lowering;

static kiln_status settle_axis(lowering *l)
{
    const kiln_call_options *o = l->call->options;
    const kn_sorting *s = l->s;
    if (o && o->axes && s->along.has_axis)
        return kn_error(KILN_ERROR_INVALID,
                        "%s: options.axes was given, but the kernel has an axis of its own",
                        s->signature->name);
    if (o && o->axes && o->n_axes != 1)
        return kn_error(KILN_ERROR_INVALID, "%s: options.axes: %d were given; a sort has one axis",
                        s->signature->name, o->n_axes);
    return kn_sort_find_axis(&l->axis, s, l->ndim,
                             s->along.has_axis ? s->along.axis
                             : o && o->axes    ? o->axes[0]
                                               : -1);
}

static kiln_dtype number_dtype(const lowering *l, int k)
{
    return kn_described_dtype(l->s->signature, kn_sort_param_of(l->s, k), l->in);
}

/* A number, which has been put into a buffer of its own: an element that is broadcast. */
static kiln_status bind_number(kn_lowered_part *part, int at, int k, const lowering *l)
{
    static const int64_t strides[KILN_MAX_NDIM] = {0};
    const kn_source source = {.kind = KN_FROM_BUFFER, .index = l->number[k]};
    return kn_lowered_bind(part, at, l->call, &source, number_dtype(l, k), l->ndim, l->shape, strides);
}

/* value: a buffer, the number that is put there, and its bytes, of which devices fill four at a time. */
static kiln_status put_number(kn_device *device, const void *const *value, void *stream)
{
    char *to = (char *)(uintptr_t)value[0];
    const char *from = value[1];
    kiln_status status = KILN_OK;
    int64_t bytes;
    memcpy(&bytes, value[2], sizeof bytes);
    const size_t word = bytes < 4 ? (size_t)bytes : 4;
    for (size_t done = 0; done < (size_t)bytes && status == KILN_OK; done += word)
        status = device->backend->fill(device, to + done, from + done, word, 1, stream);
    return status;
}

static kiln_status add_number(lowering *l, int k)
{
    kiln_dtype dtype = number_dtype(l, k);
    const kiln_arg bytes = kiln_arg_int64((int64_t)kiln_dtype_size(dtype));
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_buffer(&l->number[k], l->out, kiln_dtype_size(dtype));
    if (status == KILN_OK)
        status = kn_lowered_add_function(&part, l->out, "number", put_number, 3);
    if (status == KILN_OK)
        status = bind_number(part, 0, k, l);
    if (status != KILN_OK)
        return status;
    part->binding.operand[1] = (kn_operand){.pass = KN_PASS_SCALAR, .seen = dtype, .dtype = dtype};
    part->source[1] = (kn_source){.kind = KN_FROM_INPUT, .index = k};
    kn_lowered_bind_number(part, 2, KILN_INT64, &bytes);
    return KILN_OK;
}

/* Passes find elements by their index: a number becomes an array. */
static kiln_status add_numbers(lowering *l)
{
    kiln_status status = KILN_OK;
    for (int k = 0; k < l->s->signature->n_in && status == KILN_OK; ++k)
        if (l->call->in[k].kind != KILN_ARG_ARRAY && !kn_sort_param_of(l->s, k)->is_raw)
            status = add_number(l, k);
    return status;
}

/* Moves the sorted axis behind the others. */
static void move_axis(int64_t *to, const int64_t *from, const lowering *l)
{
    int at = 0;
    for (int a = 0; a < l->ndim; ++a)
        if (a != l->axis)
            to[at++] = from[a];
    to[at] = from[l->axis];
}

static kiln_status bind_user_input(kn_lowered_part *part, int at, int k, const lowering *l)
{
    const kn_source source = {.kind = KN_FROM_INPUT, .index = k};
    int64_t strides[KILN_MAX_NDIM] = {0}, moved[KILN_MAX_NDIM];
    if (l->call->in[k].kind != KILN_ARG_ARRAY && !kn_sort_param_of(l->s, k)->is_raw)
        return bind_number(part, at, k, l);
    if (l->call->in[k].kind != KILN_ARG_ARRAY) {
        part->binding.operand[at] =
            (kn_operand){.pass = KN_PASS_SCALAR,
                         .dtype = kn_described_dtype(l->s->signature, kn_sort_param_of(l->s, k), l->in)};
        part->source[at] = source;
        return KILN_OK;
    }
    const kiln_array *a = l->call->in[k].value.array;
    if (kn_sort_param_of(l->s, k)->is_raw)
        return kn_lowered_bind(part, at, l->call, &source, a->dtype, a->ndim, a->shape, a->strides);
    for (int d = 0; d < a->ndim; ++d)
        strides[l->ndim - a->ndim + d] = a->shape[d] == 1 ? 0 : a->strides[d];
    move_axis(moved, strides, l);
    return kn_lowered_bind(part, at, l->call, &source, a->dtype, l->ndim, l->shape, moved);
}

/* Along the axis: passes never store those behind them. */
static int64_t results(const lowering *l)
{
    return l->s->along.count == KN_SORT_ALL ? l->length : l->s->along.count;
}

/* The number of results, which the last pass of such a sort has. */
static void bind_results(kn_lowered_part *part, int *at, const lowering *l)
{
    if (l->s->along.count != KN_SORT_ALL)
        kn_lowered_bind_integer(part, (*at)++, l->s->along.count);
}

static kiln_status bind_output_as(kn_lowered_part *part, int at, int j, const lowering *l, kiln_dtype dtype)
{
    const kn_source source = {.kind = KN_FROM_OUTPUT, .index = j};
    const kiln_array *given = l->call->out ? l->call->out[j] : NULL;
    int64_t shape[KILN_MAX_NDIM], dense[KILN_MAX_NDIM], moved[KILN_MAX_NDIM];
    int at_axis = 0;
    for (int a = 0; a < l->ndim; ++a) /* in the order of the result's axes */
        shape[a] = a == l->axis ? results(l) : l->shape[at_axis++];
    kn_shape_c_strides(l->ndim, shape, (int64_t)kiln_dtype_size(dtype), dense);
    move_axis(moved, given ? given->strides : dense, l);
    return kn_lowered_bind(part, at, l->call, &source, dtype, l->ndim, l->shape, moved);
}

static kiln_status bind_user_output(kn_lowered_part *part, int at, int j, const lowering *l)
{
    const kn_program *p = l->s->signature;
    return bind_output_as(part, at, j, l, kn_described_dtype(p, kn_sort_param_of(l->s, p->n_in + j), l->in));
}

static kiln_status bind_buffer(kn_lowered_part *part, int at, const lowering *l, int buffer, kiln_dtype dtype)
{
    const kn_source source = {.kind = KN_FROM_BUFFER, .index = buffer};
    return kn_lowered_bind(part, at, l->call, &source, dtype, l->ndim, l->shape, NULL);
}

/* Counts, or words of a pass: a dense array of one axis. */
static kiln_status bind_words(kn_lowered_part *part, int at, const lowering *l, int64_t first, int64_t count)
{
    const kn_source source = {
        .kind = KN_FROM_BUFFER, .index = l->words, .shift = first * (int64_t)kiln_dtype_size(l->word)};
    return kn_lowered_bind(part, at, l->call, &source, l->word, 1, &count, NULL);
}

static kiln_status bind_counts(kn_lowered_part *part, int at, const lowering *l, int digit, int digits)
{
    return bind_words(part, at, l, digit * l->counts, digits * l->counts);
}

/* Behind the words of tiles a pass has others, of which the last one says whether it is left out. */
static kiln_status bind_tile_words(kn_lowered_part *part, int at, const lowering *l, int digit)
{
    const int64_t words = l->tile_words + STATE;
    return bind_words(part, at, l, l->digits * l->counts + digit * words, words);
}

/* A pass's digit, and how many passes behind it bring elements from one buffer to the other: of two such,
 * whose digits all elements share, neither need move any. One row's alone are asked. */
static void bind_digit(kn_lowered_part *part, int *at, const lowering *l, int digit, bool ends_in_results)
{
    const kiln_arg shift = kiln_arg_int32(8 * digit);
    const int rest = l->digits - 1 - ends_in_results - digit;
    const kiln_arg behind = kiln_arg_int32(l->rows == 1 && rest > 0 ? rest : 0);
    kn_lowered_bind_number(part, (*at)++, KILN_INT32, &shift);
    kn_lowered_bind_number(part, (*at)++, KILN_INT32, &behind);
}

/* The counts and words of a key's digits, at once. Tasks of the host leave words to later ones, and look
 * at no others. */
static kiln_status add_clear(lowering *l, int digits)
{
    const bool is_host = l->call->target->backend == KN_HOST;
    const int64_t words = digits * (l->counts + (is_host ? 0 : l->tile_words + STATE));
    const kn_source first = {.kind = KN_FROM_BUFFER, .index = l->words};
    l->digits = digits;
    return kn_lowered_add_fill(l->out, l->call, &first, 0,
                               words * (int64_t)(kiln_dtype_size(l->word) / sizeof(uint32_t)));
}

static kiln_status add_part(kn_lowered_part **out, lowering *l, const kiln_kernel *kernel)
{
    return kn_lowered_add_along(out, l->out, kernel, l->ndim, l->shape);
}

/* Binds the parameters from `at` on to the user's inputs; *at: behind them. */
static kiln_status bind_user_inputs(kn_lowered_part *part, int *at, const lowering *l)
{
    kiln_status status = KILN_OK;
    for (int k = 0; k < l->s->signature->n_in && status == KILN_OK; ++k)
        status = bind_user_input(part, (*at)++, k, l);
    return status;
}

/* A parameter that is never read, and says the dtype of keys: the first of the words. */
static kiln_status bind_type(kn_lowered_part *part, int at, const lowering *l, kiln_dtype bits)
{
    const kn_source source = {.kind = KN_FROM_BUFFER, .index = l->words};
    const int64_t one = 1;
    return kn_lowered_bind(part, at, l->call, &source, bits, 1, &one, NULL);
}

/* The counts of the digits of all keys, and these themselves, unless the elements are moved. */
static kiln_status add_count(lowering *l, const kiln_kernel *kernel, kiln_dtype bits)
{
    const bool has_keys = kernel != l->s->count_moved;
    kn_lowered_part *part;
    int at = 0, digits = (int)kiln_dtype_size(bits);
    kiln_status status = add_clear(l, digits);
    if (status == KILN_OK)
        status = add_part(&part, l, kernel);
    if (status == KILN_OK && l->has_order)
        status = bind_buffer(part, at++, l, l->orders[l->from], l->order);
    if (status == KILN_OK && !has_keys)
        status = bind_type(part, at++, l, bits);
    if (status == KILN_OK)
        status = bind_user_inputs(part, &at, l);
    if (status == KILN_OK && has_keys)
        status = bind_buffer(part, at++, l, l->keys[l->from], bits);
    return status == KILN_OK ? bind_counts(part, at, l, 0, digits) : status;
}

/* The parameters of a pass: keys, orders if there are some, counts, the digit's first bit, the passes behind
 * it; then, if it is the last one of results, the user's inputs and outputs, else keys and orders; words. */
static kiln_status add_pass(lowering *l, int digit, kiln_dtype bits, bool ends_in_results)
{
    const kn_sorting *s = l->s;
    const bool is_last = ends_in_results && digit == l->digits - 1;
    const kiln_kernel *kernel = is_last        ? s->last[l->has_order ? KN_BY_ORDER : KN_BY_NOTHING]
                                : l->has_order ? s->middle
                                               : s->first;
    kn_lowered_part *part;
    int at = 0;
    kiln_status status = add_part(&part, l, kernel);
    if (status == KILN_OK)
        status = bind_buffer(part, at++, l, l->keys[l->from], bits);
    if (status == KILN_OK && l->has_order)
        status = bind_buffer(part, at++, l, l->orders[l->from], l->order);
    if (status == KILN_OK)
        status = bind_counts(part, at++, l, digit, 1);
    if (status != KILN_OK)
        return status;
    bind_digit(part, &at, l, digit, ends_in_results);
    if (is_last)
        bind_results(part, &at, l);
    if (is_last)
        status = bind_user_inputs(part, &at, l);
    for (int j = 0; is_last && j < s->signature->n_out && status == KILN_OK; ++j)
        status = bind_user_output(part, at++, j, l);
    if (!is_last && status == KILN_OK)
        status = bind_buffer(part, at++, l, l->keys[!l->from], bits);
    if (!is_last && status == KILN_OK)
        status = bind_buffer(part, at++, l, l->orders[!l->from], l->order);
    l->from = !l->from;
    l->has_order = true;
    return status == KILN_OK ? bind_tile_words(part, at, l, digit) : status;
}

static kiln_dtype key_dtype(const kn_sorting *s, int k, const kn_described *in)
{
    return kn_described_dtype(s->signature, &s->key[k].type, in);
}

static int parts_of(kiln_dtype key)
{
    return kiln_dtype_size(key) > 8 ? 2 : 1;
}

static kiln_dtype bits_of(kiln_dtype key)
{
    static const kiln_dtype by_size[] = {
        [1] = KILN_UINT8, [2] = KILN_UINT16, [4] = KILN_UINT32, [8] = KILN_UINT64};
    size_t size = kiln_dtype_size(key);
    return by_size[size < 8 ? size : 8];
}

/* The bytes of an element that is moved; 0: elements are found by their index. */
static int moved_bytes(const lowering *l)
{
    int bytes = 0;
    for (int m = 0; m < l->s->n_moved; ++m)
        bytes += (int)kiln_dtype_size(l->in[l->s->moved[m]].dtype);
    return bytes <= MOST_MOVED_BYTES && parts_of(key_dtype(l->s, 0, l->in)) == 1 ? bytes : 0;
}

int kn_sort_moved_number(const kn_sorting *s, int k)
{
    for (int m = 0; m < s->n_moved; ++m)
        if (s->moved[m] == k)
            return m;
    return -1;
}

/* The parameters of a pass that moves elements: counts, the digit's first bit, the passes behind it, inputs,
 * the user's outputs or buffers, words. */
static kiln_status add_move(lowering *l, int digit, bool is_last)
{
    const kn_sorting *s = l->s;
    const kn_program *p = s->signature;
    kn_lowered_part *part;
    int at = 0;
    kiln_status status = add_part(&part, l, s->move[is_last]);
    if (status == KILN_OK)
        status = bind_counts(part, at++, l, digit, 1);
    if (status != KILN_OK)
        return status;
    bind_digit(part, &at, l, digit, true);
    if (is_last)
        bind_results(part, &at, l);
    for (int k = 0; k < p->n_in && status == KILN_OK; ++k, ++at) {
        int m = kn_sort_moved_number(s, k);
        status = m >= 0 && digit > 0 ? bind_buffer(part, at, l, l->moved[m][l->from], l->in[k].dtype)
                                     : bind_user_input(part, at, k, l);
    }
    for (int j = 0; is_last && j < p->n_out && status == KILN_OK; ++j)
        status = bind_user_output(part, at++, j, l);
    for (int m = 0; !is_last && m < s->n_moved && status == KILN_OK; ++m)
        status = bind_buffer(part, at++, l, l->moved[m][!l->from], l->in[s->moved[m]].dtype);
    l->from = !l->from;
    return status == KILN_OK ? bind_tile_words(part, at, l, digit) : status;
}

static kiln_status add_moves(lowering *l)
{
    kiln_dtype bits = bits_of(key_dtype(l->s, 0, l->in));
    int digits = (int)kiln_dtype_size(bits);
    kiln_status status = add_count(l, l->s->count_moved, bits);
    for (int d = 0; d < digits && status == KILN_OK; ++d)
        status = add_move(l, d, d == digits - 1);
    return status;
}

enum {
    FEWEST_WANTED = 64,
    LONGEST_OF_ONE = 1 << 22, /* of a row that one block reads, unless many blocks have one each */
    BLOCKS_OF_LONG = 128
};

int kn_sort_most_wanted(const kn_sorting *s)
{
    int most = FEWEST_WANTED;
    while (most < KN_SORT_TOP && most < s->along.count)
        most *= 2;
    return s->along.count > 0 && s->along.count <= most ? most : 0;
}

static bool are_rows_short(const lowering *l)
{
    return l->s->rank && l->call->target->backend == KN_CUDA && l->length <= KN_SORT_ROW &&
           parts_of(key_dtype(l->s, 0, l->in)) == 1;
}

/* The first elements of a longer row, which a block finds too. */
static bool are_few_wanted(const lowering *l)
{
    return l->s->rank && l->call->target->backend == KN_CUDA && kn_sort_most_wanted(l->s) > 0 &&
           (l->length <= LONGEST_OF_ONE || l->rows >= BLOCKS_OF_LONG) && l->length <= INT32_MAX &&
           parts_of(key_dtype(l->s, 0, l->in)) == 1;
}

/* The parameters of a sort of short rows: the dtype of keys, the user's inputs and outputs. */
static kiln_status add_rank(lowering *l)
{
    kn_lowered_part *part;
    int at = 0;
    kiln_status status = kn_lowered_add_buffer(&l->words, l->out, sizeof(uint64_t));
    if (status == KILN_OK)
        status = add_part(&part, l, l->s->rank);
    if (status == KILN_OK)
        status = bind_type(part, at++, l, bits_of(key_dtype(l->s, 0, l->in)));
    if (status != KILN_OK)
        return status;
    bind_results(part, &at, l);
    status = bind_user_inputs(part, &at, l);
    for (int j = 0; j < l->s->signature->n_out && status == KILN_OK; ++j)
        status = bind_user_output(part, at++, j, l);
    return status;
}

/* ---- elements that are their own keys, on the host (device/host_sort.h) ---- */

static const kn_dtype_info *alone(const lowering *l)
{
    return kn_dtype_info_of(l->in[0].dtype);
}

static bool are_keys_alone(const lowering *l)
{
    const kn_target *target = l->call->target;
    return l->s->exact && l->s->along.count == KN_SORT_ALL && target->backend == KN_HOST &&
           alone(l)->kind != KN_KIND_COMPLEX &&
           kn_host_sort_vectors(target->architecture, (int)kiln_dtype_size(l->in[0].dtype)) != 0;
}

/* value: keys, sorted keys, memory beside them; rows, their length, bytes of a key and of a
 * vector, infinity. */
static kiln_status sort_keys(kn_device *device, const void *const *value, void *stream)
{
    (void)device, (void)stream;
    int64_t number[5];
    kn_step_integers(number, 5, value + 3);
    const kn_host_keys keys = {.from = value[0],
                               .to = (void *)(uintptr_t)value[1],
                               .beside = (void *)(uintptr_t)value[2],
                               .rows = number[0],
                               .length = number[1],
                               .key_size = (int)number[2],
                               .vector_size = (int)number[3],
                               .infinity = (uint64_t)number[4]};
    kn_host_sort_keys(&keys);
    return KILN_OK;
}

static int64_t infinity_of(const kn_dtype_info *info)
{
    return info->kind != KN_KIND_FLOAT ? 0
           : info->size == 4           ? INT64_C(0x7f800000)
                                       : INT64_C(0x7ff0000000000000);
}

static kiln_status add_sort_keys(lowering *l, kiln_dtype bits)
{
    const int64_t size = (int64_t)kiln_dtype_size(bits), infinity = infinity_of(alone(l));
    const int64_t vector = kn_host_sort_vectors(l->call->target->architecture, (int)size);
    const int64_t number[] = {l->rows, l->length, size, vector, infinity};
    /* Keys that are equal only if they are the same need not stay as they were. */
    const int buffer[] = {l->keys[0], l->keys[1], infinity ? l->orders[0] : l->keys[0]};
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_function(&part, l->out, "sort_keys", sort_keys, 8);
    for (int k = 0; k < 3 && status == KILN_OK; ++k)
        status = bind_buffer(part, k, l, buffer[k], bits);
    if (status == KILN_OK)
        kn_lowered_bind_integers(part, 3, 5, number);
    return status;
}

static kiln_status add_alone(lowering *l)
{
    const kiln_dtype bits = bits_of(l->in[0].dtype);
    const size_t bytes = (size_t)(l->rows * l->length) * kiln_dtype_size(bits);
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_buffer(&l->keys[0], l->out, bytes);
    if (status == KILN_OK)
        status = kn_lowered_add_buffer(&l->keys[1], l->out, bytes);
    if (status == KILN_OK && infinity_of(alone(l)))
        status = kn_lowered_add_buffer(&l->orders[0], l->out, bytes);
    if (status == KILN_OK)
        status = kn_lowered_add_kernel(&part, l->out, l->s->exact);
    if (status == KILN_OK)
        status = bind_user_input(part, 0, 0, l);
    if (status == KILN_OK)
        status = bind_buffer(part, 1, l, l->keys[0], bits);
    if (status == KILN_OK)
        status = add_sort_keys(l, bits);
    if (status == KILN_OK)
        status = kn_lowered_add_kernel(&part, l->out, l->s->element);
    if (status == KILN_OK)
        status = bind_buffer(part, 0, l, l->keys[1], bits);
    return status == KILN_OK ? bind_user_output(part, 1, 0, l) : status;
}

/* ---- bytes that are their own keys, on CUDA: their counts say the result ---- */

enum { EIGHT = 8 };

static bool are_bytes_counted(const lowering *l)
{
    const kn_dtype_kind kind = alone(l)->kind;
    return l->s->exact && l->s->along.count == KN_SORT_ALL && l->call->target->backend == KN_CUDA &&
           kiln_dtype_size(l->in[0].dtype) == 1 &&
           (kind == KN_KIND_INT || kind == KN_KIND_UINT || kind == KN_KIND_BOOL);
}

/* The bits in which an element differs from its key. */
static int key_bits(const lowering *l)
{
    return (l->s->is_descending ? 0xff : 0) ^ (alone(l)->kind == KN_KIND_INT ? 0x80 : 0);
}

/* Words of eight results, where these lie side by side in one row. */
static int64_t count_words(const lowering *l)
{
    const kiln_array *given = l->call->out ? l->call->out[0] : NULL;
    const bool is_dense = !given || l->length < 2 || given->strides[l->axis] == 1;
    const bool is_aligned = !given || (uintptr_t)given->data % EIGHT == 0;
    return l->rows == 1 && is_dense && is_aligned ? l->length / EIGHT : 0;
}

static kiln_status bind_starts(kn_lowered_part *part, int at, const lowering *l)
{
    const int64_t shape[] = {l->rows, KN_SORT_DIGITS};
    const kn_source source = {.kind = KN_FROM_BUFFER, .index = l->keys[0]};
    return kn_lowered_bind(part, at, l->call, &source, l->word, 2, shape, NULL);
}

static kiln_status add_starts(lowering *l)
{
    const int64_t shape[] = {l->rows, KN_SORT_DIGITS};
    const kn_source source = {.kind = KN_FROM_BUFFER, .index = l->words};
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_along(&part, l->out, l->s->starts, 2, shape);
    if (status == KILN_OK)
        status = kn_lowered_bind(part, 0, l->call, &source, l->word, 2, shape, NULL);
    return status == KILN_OK ? bind_starts(part, 1, l) : status;
}

static kiln_status bind_bytes(kn_lowered_part *part, const lowering *l)
{
    const kn_source source = {.kind = KN_FROM_BUFFER, .index = l->keys[0]};
    const kiln_arg bits = kiln_arg_int32(key_bits(l));
    kiln_status status = kn_lowered_bind(part, 0, l->call, &source, l->word, 1, &l->counts, NULL);
    kn_lowered_bind_number(part, 1, KILN_INT32, &bits);
    return status;
}

static kiln_status add_eight_bytes(lowering *l, int64_t words)
{
    const kn_source results = {.kind = KN_FROM_OUTPUT, .index = 0};
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_kernel(&part, l->out, l->s->eight_bytes);
    if (status == KILN_OK)
        status = bind_bytes(part, l);
    return status == KILN_OK ? kn_lowered_bind(part, 2, l->call, &results, KILN_UINT64, 1, &words, NULL)
                             : status;
}

/* Results from the first one on that no word has. */
static kiln_status add_single_bytes(lowering *l, int64_t first)
{
    const int64_t left = l->length - first;
    const kn_source rest = {.kind = KN_FROM_OUTPUT, .index = 0, .shift = first};
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_kernel(&part, l->out, l->s->byte);
    if (status == KILN_OK)
        status = bind_bytes(part, l);
    if (status != KILN_OK)
        return status;
    kn_lowered_bind_integer(part, 2, l->length);
    kn_lowered_bind_integer(part, 3, first);
    return first > 0 ? kn_lowered_bind(part, 4, l->call, &rest, KILN_UINT8, 1, &left, NULL)
                     : bind_output_as(part, 4, 0, l, KILN_UINT8);
}

static kiln_status add_bytes(lowering *l)
{
    const int64_t words = count_words(l);
    const size_t bytes = (size_t)l->rows * KN_SORT_DIGITS * kiln_dtype_size(l->word);
    l->counts = l->rows * KN_SORT_DIGITS;
    l->tile_words = 0; /* no pass follows */
    kiln_status status = kn_lowered_add_buffer(&l->words, l->out, bytes + STATE * kiln_dtype_size(l->word));
    if (status == KILN_OK)
        status = kn_lowered_add_buffer(&l->keys[0], l->out, bytes);
    if (status == KILN_OK)
        status = add_count(l, l->s->count_moved, KILN_UINT8);
    if (status == KILN_OK)
        status = add_starts(l);
    if (status == KILN_OK && words > 0)
        status = add_eight_bytes(l, words);
    return status == KILN_OK && words * EIGHT < l->length ? add_single_bytes(l, words * EIGHT) : status;
}

/* ---- elements of 16 bits, and integers of 8, that are their own keys ---- */

static int words_vectors(const lowering *l)
{
    return kn_host_sort_vectors(l->call->target->architecture, (int)sizeof(uint32_t));
}

static bool are_words(const lowering *l)
{
    const size_t size = kiln_dtype_size(l->in[0].dtype);
    return (size == 2 && (l->length >= KN_HOST_WORDS_ROW || words_vectors(l) != 0)) ||
           (size == 1 && l->length >= KN_HOST_BYTES_ROW && alone(l)->kind != KN_KIND_FLOAT);
}

/* Long rows that lie one after the other, and results likewise. */
static bool are_words_alone(const lowering *l)
{
    const kiln_array *x = l->call->in[0].value.array, *given = l->call->out ? l->call->out[0] : NULL;
    int64_t dense[KILN_MAX_NDIM];
    if (!l->s->exact || l->s->along.count != KN_SORT_ALL || l->call->target->backend != KN_HOST ||
        !are_words(l) || l->length > UINT32_MAX || x->ndim != l->ndim || l->axis != l->ndim - 1)
        return false;
    kn_shape_c_strides(l->ndim, l->shape, (int64_t)kiln_dtype_size(l->in[0].dtype), dense);
    return memcmp(dense, x->strides, (size_t)l->ndim * sizeof *dense) == 0 &&
           (!given || memcmp(dense, given->strides, (size_t)l->ndim * sizeof *dense) == 0);
}

/* value: elements, sorted ones, memory; rows, their length, KN_KIND_*, the bits of infinity, the order, bytes
 * of an element and of a vector. */
static kiln_status sort_words(kn_device *device, const void *const *value, void *stream)
{
    (void)device, (void)stream;
    int64_t number[7];
    kn_step_integers(number, 7, value + 3);
    const kn_host_words words = {.from = value[0],
                                 .to = (void *)(uintptr_t)value[1],
                                 .memory = (void *)(uintptr_t)value[2],
                                 .rows = number[0],
                                 .length = number[1],
                                 .is_signed = number[2] == KN_KIND_INT,
                                 .is_float = number[2] == KN_KIND_FLOAT,
                                 .infinity = (uint16_t)number[3],
                                 .is_descending = number[4] != 0,
                                 .element_size = (int)number[5],
                                 .vector_size = (int)number[6]};
    kn_host_sort_words(&words);
    return KILN_OK;
}

static kiln_status add_words(lowering *l)
{
    const int64_t number[] = {l->rows,
                              l->length,
                              alone(l)->kind,
                              l->in[0].dtype == KILN_BFLOAT16 ? 0x7f80 : 0x7c00,
                              l->s->is_descending,
                              (int64_t)kiln_dtype_size(l->in[0].dtype),
                              words_vectors(l)};
    const kn_host_words size = {
        .rows = l->rows, .length = l->length, .element_size = (int)kiln_dtype_size(l->in[0].dtype)};
    const int64_t bytes = kn_host_words_memory(&size), words = bytes / (int64_t)sizeof(uint32_t);
    int memory = 0;
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_buffer(&memory, l->out, (size_t)bytes);
    const kn_source source = {.kind = KN_FROM_BUFFER, .index = memory};
    if (status == KILN_OK)
        status = kn_lowered_add_function(&part, l->out, "sort_words", sort_words, 10);
    if (status == KILN_OK)
        status = bind_user_input(part, 0, 0, l);
    if (status == KILN_OK)
        status = bind_user_output(part, 1, 0, l);
    if (status == KILN_OK)
        status = kn_lowered_bind(part, 2, l->call, &source, KILN_UINT32, 1, &words, NULL);
    if (status == KILN_OK)
        kn_lowered_bind_integers(part, 3, 7, number);
    return status;
}

/* Sorts by key k, the last ones first. */
static kiln_status add_key(lowering *l, int k)
{
    kiln_dtype key = key_dtype(l->s, k, l->in), bits = bits_of(key);
    kiln_status status = KILN_OK;
    for (int part = parts_of(key) - 1; part >= 0 && status == KILN_OK; --part) {
        int digits = (int)kiln_dtype_size(bits);
        status = add_count(l, l->s->key[k].count[part][l->has_order ? KN_BY_ORDER : KN_BY_NOTHING], bits);
        for (int d = 0; d < digits && status == KILN_OK; ++d)
            status = add_pass(l, d, bits, k == 0 && part == 0);
    }
    return status;
}

/* The bytes of the widest key. */
static size_t key_bytes(const lowering *l)
{
    size_t bytes = 1;
    for (int k = 0; k < l->s->n_keys; ++k) {
        const size_t size = kiln_dtype_size(bits_of(key_dtype(l->s, k, l->in)));
        bytes = size > bytes ? size : bytes;
    }
    return bytes;
}

/* Counts and words of each pass over elements of so many bytes; returns the bytes of all. */
static size_t set_words(lowering *l, int moved)
{
    const int64_t tile = kn_sort_tile(moved), tiles = (l->length + tile - 1) / tile;
    l->counts = l->rows * KN_SORT_DIGITS;
    l->tile_words = l->rows * tiles * KN_SORT_DIGITS;
    return key_bytes(l) * (size_t)(l->counts + l->tile_words + STATE) * kiln_dtype_size(l->word);
}

static kiln_status add_buffers(lowering *l)
{
    const size_t key = key_bytes(l), order = kiln_dtype_size(l->order),
                 elements = (size_t)(l->rows * l->length);
    const int moved = l->call->is_quick ? 0 : moved_bytes(l);
    kiln_status status =
        kn_lowered_add_buffer(&l->words, l->out, set_words(l, moved ? moved : (int)(key + order)));
    for (int b = 0; b < 2 && status == KILN_OK; ++b) {
        for (int m = 0; moved && m < l->s->n_moved && status == KILN_OK; ++m)
            status = kn_lowered_add_buffer(&l->moved[m][b], l->out,
                                           elements * kiln_dtype_size(l->in[l->s->moved[m]].dtype));
        if (status == KILN_OK && !moved)
            status = kn_lowered_add_buffer(&l->keys[b], l->out, elements * key);
        if (status == KILN_OK && !moved)
            status = kn_lowered_add_buffer(&l->orders[b], l->out, elements * order);
    }
    return status;
}

/* ---- quick steps ---- */

/* Their memory is no burden: not of very many elements, nor of very many short rows. */
static bool has_quick(lowering *l)
{
    const size_t each = key_bytes(l) + kiln_dtype_size(l->order), elements = (size_t)(l->rows * l->length);
    return l->call->target->backend == KN_CUDA && l->s->put &&
           2 * each * elements + set_words(l, (int)each) <= MOST_QUICK;
}

/* Orders of quick steps are C-order indices of all elements. The parameters of a map of keys: orders if there
 * are some, the user's inputs; keys, and orders where there were none. */
static kiln_status add_key_map(lowering *l, const kiln_kernel *map, kiln_dtype bits)
{
    kn_lowered_part *part;
    int at = 0;
    kiln_status status = kn_lowered_add_kernel(&part, l->out, map);
    if (status == KILN_OK && l->has_order)
        status = bind_buffer(part, at++, l, l->orders[l->from], l->order);
    if (status == KILN_OK)
        status = bind_user_inputs(part, &at, l);
    if (status == KILN_OK)
        status = bind_buffer(part, at++, l, l->keys[l->from], bits);
    if (status == KILN_OK && !l->has_order)
        status = bind_buffer(part, at, l, l->orders[l->from], l->order);
    l->has_order = true;
    return status;
}

static kiln_status add_digits(lowering *l, kiln_dtype bits)
{
    const int digits = (int)kiln_dtype_size(bits);
    kn_lowered_part *part;
    kiln_status status = add_clear(l, digits);
    if (status == KILN_OK)
        status = add_part(&part, l, l->s->digits);
    if (status == KILN_OK)
        status = bind_buffer(part, 0, l, l->keys[l->from], bits);
    return status == KILN_OK ? bind_counts(part, 1, l, 0, digits) : status;
}

static kiln_status add_quick_key(lowering *l, int k)
{
    const kiln_dtype key = key_dtype(l->s, k, l->in), bits = bits_of(key);
    kiln_status status = KILN_OK;
    for (int part = parts_of(key) - 1; part >= 0 && status == KILN_OK; --part) {
        status = add_key_map(l, l->s->key[k].map[part][l->has_order ? KN_BY_ORDER : KN_BY_NOTHING], bits);
        if (status == KILN_OK)
            status = add_digits(l, bits);
        for (int d = 0; d < (int)kiln_dtype_size(bits) && status == KILN_OK; ++d)
            status = add_pass(l, d, bits, false);
    }
    return status;
}

/* The parameters of the last map: orders, the length of rows, how many results there are if not all, the
 * user's. */
static kiln_status add_put(lowering *l)
{
    const kiln_arg length = kiln_arg_uint32((uint32_t)l->length);
    kn_lowered_part *part;
    int at = 0;
    kiln_status status = kn_lowered_add_kernel(&part, l->out, l->s->put);
    if (status == KILN_OK)
        status = bind_buffer(part, at++, l, l->orders[l->from], l->order);
    if (status != KILN_OK)
        return status;
    kn_lowered_bind_number(part, at++, KILN_UINT32, &length);
    bind_results(part, &at, l);
    status = bind_user_inputs(part, &at, l);
    for (int j = 0; j < l->s->signature->n_out && status == KILN_OK; ++j)
        status = bind_user_output(part, at++, j, l);
    return status;
}

static kiln_status add_quick(lowering *l)
{
    kiln_status status = add_buffers(l);
    for (int k = l->s->n_keys - 1; k >= 0 && status == KILN_OK; --k)
        status = add_quick_key(l, k);
    return status == KILN_OK ? add_put(l) : status;
}

/* ---- the order of elements by their keys, on the host (device/host_find_order.h) ---- */

static int key_arrays(const lowering *l)
{
    int arrays = 0;
    for (int k = 0; k < l->s->n_keys; ++k)
        arrays += parts_of(key_dtype(l->s, k, l->in));
    return arrays;
}

static bool is_order_found(const lowering *l)
{
    const kn_target *target = l->call->target;
    return l->s->put && target->backend == KN_HOST && kn_host_sort_vectors(target->architecture, 8) != 0 &&
           l->rows * l->length <= UINT32_MAX && key_arrays(l) <= KN_HOST_ORDER_KEYS;
}

enum { ORDER_ARRAYS = KN_HOST_ORDER_KEYS + 3, ORDER_NUMBERS = 4 + KN_HOST_ORDER_KEYS };

/* value: keys, of which the last ones may be missing, orders, memory twice; rows, their length, arrays of
 * keys, bytes of a vector and of each key. */
static kiln_status find_order(kn_device *device, const void *const *value, void *stream)
{
    (void)device, (void)stream;
    int64_t number[ORDER_NUMBERS];
    kn_step_integers(number, ORDER_NUMBERS, value + ORDER_ARRAYS);
    kn_host_order order = {.order = (uint32_t *)(uintptr_t)value[KN_HOST_ORDER_KEYS],
                           .from = (uint64_t *)(uintptr_t)value[KN_HOST_ORDER_KEYS + 1],
                           .to = (uint64_t *)(uintptr_t)value[KN_HOST_ORDER_KEYS + 2],
                           .rows = number[0],
                           .length = number[1],
                           .keys = (int)number[2],
                           .vector_size = (int)number[3]};
    for (int k = 0; k < order.keys; ++k) {
        order.key[k] = value[k];
        order.key_size[k] = (int)number[4 + k];
    }
    kn_host_find_order(&order);
    return KILN_OK;
}

/* Keys of the elements as they lie, and their numbers. */
static kiln_status add_key_array(lowering *l, int k, int part, int *buffer, kiln_dtype bits)
{
    const size_t elements = (size_t)(l->rows * l->length);
    kiln_status status = kn_lowered_add_buffer(buffer, l->out, elements * kiln_dtype_size(bits));
    l->keys[0] = *buffer;
    l->has_order = false;
    return status == KILN_OK ? add_key_map(l, l->s->key[k].map[part][KN_BY_NOTHING], bits) : status;
}

static kiln_status add_order_step(lowering *l, const int *buffer, const kiln_dtype *bits, int arrays)
{
    int64_t number[ORDER_NUMBERS] = {l->rows, l->length, arrays,
                                     kn_host_sort_vectors(l->call->target->architecture, 8)};
    kn_lowered_part *part;
    int memory[2];
    const size_t elements = (size_t)(l->rows * l->length);
    kiln_status status = kn_lowered_add_buffer(&memory[0], l->out, elements * sizeof(uint64_t));
    if (status == KILN_OK)
        status = kn_lowered_add_buffer(&memory[1], l->out, elements * sizeof(uint64_t));
    if (status == KILN_OK)
        status =
            kn_lowered_add_function(&part, l->out, "find_order", find_order, ORDER_ARRAYS + ORDER_NUMBERS);
    for (int k = 0; k < KN_HOST_ORDER_KEYS && status == KILN_OK; ++k) {
        const int at = k < arrays ? k : 0;
        number[4 + k] = (int64_t)kiln_dtype_size(bits[at]);
        status = bind_buffer(part, k, l, buffer[at], bits[at]);
    }
    if (status == KILN_OK)
        status = bind_buffer(part, KN_HOST_ORDER_KEYS, l, l->orders[0], l->order);
    for (int b = 0; b < 2 && status == KILN_OK; ++b)
        status = bind_buffer(part, KN_HOST_ORDER_KEYS + 1 + b, l, memory[b], KILN_UINT64);
    if (status == KILN_OK)
        kn_lowered_bind_integers(part, ORDER_ARRAYS, ORDER_NUMBERS, number);
    return status;
}

static kiln_status add_find_order(lowering *l)
{
    int buffer[KN_HOST_ORDER_KEYS] = {0}, arrays = 0;
    kiln_dtype bits[KN_HOST_ORDER_KEYS] = {KILN_DTYPE_NONE};
    kiln_status status = kn_lowered_add_buffer(&l->orders[0], l->out,
                                               (size_t)(l->rows * l->length) * kiln_dtype_size(l->order));
    for (int k = 0; k < l->s->n_keys; ++k) {
        const kiln_dtype key = key_dtype(l->s, k, l->in);
        for (int part = 0; part < parts_of(key) && status == KILN_OK; ++part, ++arrays) {
            bits[arrays] = bits_of(key);
            status = add_key_array(l, k, part, &buffer[arrays], bits[arrays]);
        }
    }
    if (status == KILN_OK)
        status = add_order_step(l, buffer, bits, arrays);
    return status == KILN_OK ? add_put(l) : status;
}

static kiln_status lower_call(lowering *l)
{
    int64_t shape[KILN_MAX_NDIM];
    kiln_status status = kn_sort_find_shape(&l->ndim, shape, l->s, l->in);
    if (status == KILN_OK)
        status = settle_axis(l);
    if (status != KILN_OK || kn_shape_size(l->ndim, shape) == 0 || l->s->along.count == 0)
        return status;
    move_axis(l->shape, shape, l);
    l->length = l->shape[l->ndim - 1];
    l->rows = kn_shape_size(l->ndim, shape) / l->length;
    l->order = l->length <= UINT32_MAX ? KILN_UINT32 : KILN_INT64;
    l->word = l->length < INT32_EXTENT ? KILN_UINT32 : KILN_UINT64;
    l->out->has_quick = has_quick(l);
    status = add_numbers(l);
    if (status == KILN_OK && l->call->is_quick && l->out->has_quick)
        return add_quick(l);
    if (status == KILN_OK && (are_rows_short(l) || are_few_wanted(l)))
        return add_rank(l);
    if (status == KILN_OK && are_keys_alone(l))
        return add_alone(l);
    if (status == KILN_OK && are_words_alone(l))
        return add_words(l);
    if (status == KILN_OK && are_bytes_counted(l))
        return add_bytes(l);
    if (status == KILN_OK && is_order_found(l))
        return add_find_order(l);
    if (status == KILN_OK)
        status = add_buffers(l);
    if (status == KILN_OK && moved_bytes(l))
        return add_moves(l);
    for (int k = l->s->n_keys - 1; k >= 0 && status == KILN_OK; --k)
        status = add_key(l, k);
    return status;
}

kiln_status kn_sort_lower(kn_lowered *out, const void *context, const kn_lowering_call *call)
{
    lowering l = {.out = out, .s = context, .call = call};
    size_t bytes = (size_t)(l.s->signature->n_in + 1) * sizeof *l.in;
    l.in = kn_calloc(1, bytes);
    if (!l.in)
        return kn_error_memory("a sort");
    kn_describe_arguments(l.in, call->in, l.s->signature->n_in);
    kiln_status status = lower_call(&l);
    kn_free(l.in);
    return status;
}
