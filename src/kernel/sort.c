/* kernel/sort.c - sorts by keys: a radix sort of 8 bits a pass, by an algorithm of steps.
 *
 * Keys become unsigned integers (src/codegen/prelude/both_sort.cpp), while all their digits are counted. A
 * pass gives each element its place among those of its row, ordered stably by one digit. Passes go from the
 * last digit of the last key to the first one; elements are indices until then. The last pass computes the
 * body of an element at its place. Small elements that have one key, and whose body asks for no index, are
 * moved themselves, and their keys computed again in each pass.
 *
 * A call has quick steps, too (kn_lowering_call.is_quick): a map of the key, passes without the user's texts,
 * and a map of the body. These passes are the same for all sorts, so that the maps alone are compiled. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "kernel/algorithm.h"
#include "kernel/sort.h"
#include "program/program.h"
#include "schedule/sort_tile.h"
#include "space/shape.h"
#include "types/dtype.h"

enum {
    MOST_KEYS = 16,
    MOST_MOVED = 4, /* inputs that are moved, and their bytes together */
    MOST_MOVED_BYTES = 16,
    PARTS = 2, /* of a key: complex128 has 128 bits */
    DIRECT = 0,
    BY_ORDER = 1,          /* the first key that is sorted by, and those before it */
    MOST_QUICK = 1 << 27,  /* bytes of the buffers of quick steps, which the best ones may do without */
    INT32_EXTENT = 1 << 30 /* elements of a row, up to which words of 32 bits hold their number */
};

typedef struct sort_key {
    kn_param type; /* of the key: a dtype, or a placeholder */
    kiln_kernel *count[PARTS][2];
    kiln_kernel *map[PARTS][2]; /* quick steps: the keys alone, and where there are none before, orders */
} sort_key;

typedef struct sorting {
    kn_program *signature; /* the user's parameters */
    sort_key key[MOST_KEYS];
    int n_keys;
    kn_sort_along along;
    /* Inputs that the key and the body name; none: there are too many, or `i` is wanted. */
    int moved[MOST_MOVED], n_moved;
    kiln_kernel *rank; /* a short row at once (CUDA); NULL: there are several keys */
    /* Keys that are the elements alone (host): to keys, and back from sorted ones. NULL: they are not. */
    kiln_kernel *exact, *element;
    bool is_descending; /* of these */
    kiln_kernel *count_moved;
    kiln_kernel *move[2];                  /* passes that move the inputs: to buffers; the last one */
    kiln_kernel *first, *middle, *last[2]; /* passes; last: DIRECT, if it is the only one */
    kiln_kernel *digits, *put;             /* quick steps: the counts of keys; the body of each element */
} sorting;

/* ---- arguments ---- */

static const kn_param *param_of(const sorting *s, int k)
{
    return &s->signature->param[k];
}

static kiln_status check_input(const sorting *s, int k, const kn_described *in)
{
    const kn_program *p = s->signature;
    const kn_param *param = param_of(s, k);
    kiln_dtype expected = kn_described_dtype(p, param, in);
    if (in[k].is_number || in[k].dtype == expected)
        return KILN_OK;
    return kn_error(KILN_ERROR_TYPE, "%s: '%s' is %s here, but an array of %s was given", p->name,
                    param->name, kiln_dtype_name(expected), kiln_dtype_name(in[k].dtype));
}

/* The shape that the inputs broadcast to. */
static kiln_status find_shape(int *ndim, int64_t *shape, const sorting *s, const kn_described *in)
{
    const kn_program *p = s->signature;
    *ndim = 0;
    for (int k = 0; k < p->n_in; ++k) {
        kiln_status status = check_input(s, k, in);
        if (status != KILN_OK)
            return status;
        if (!param_of(s, k)->is_raw && !kn_shape_broadcast(ndim, shape, in[k].ndim, in[k].shape))
            return kn_error(KILN_ERROR_SHAPE, "%s: '%s' does not broadcast against the arguments before it",
                            p->name, param_of(s, k)->name);
    }
    return *ndim > 0 ? KILN_OK
                     : kn_error(KILN_ERROR_SHAPE,
                                "%s: the inputs have no axes; an axis to sort along was expected", p->name);
}

/* *out: counted from the first axis. */
static kiln_status find_axis(int *out, const sorting *s, int ndim, int axis)
{
    if (axis < -ndim || axis >= ndim)
        return kn_error(KILN_ERROR_SHAPE, "%s: %s: axis %d was given, but there are %d axes",
                        s->signature->name, s->along.has_axis ? "axis" : "options.axes", axis, ndim);
    *out = axis < 0 ? axis + ndim : axis;
    return KILN_OK;
}

/* The extent of results along the axis of a sort by name. */
static kiln_status cut_shape(int ndim, int64_t *shape, const sorting *s)
{
    int axis = 0;
    if (!s->along.has_axis)
        return KILN_OK;
    kiln_status status = find_axis(&axis, s, ndim, s->along.axis);
    if (status == KILN_OK && shape[axis] < s->along.least)
        return kn_error(KILN_ERROR_SHAPE, "%s: %s asks for %lld elements, but axis %d has %lld",
                        s->signature->name, s->along.asked, (long long)s->along.least, axis,
                        (long long)shape[axis]);
    if (status == KILN_OK && s->along.count != KN_SORT_ALL)
        shape[axis] = s->along.count;
    return status;
}

static kiln_status describe(kn_described *out, const void *context, int j, const kn_described *in)
{
    const sorting *s = context;
    const kn_program *p = s->signature;
    kiln_status status = find_shape(&out->ndim, out->shape, s, in);
    if (status == KILN_OK)
        status = cut_shape(out->ndim, out->shape, s);
    out->dtype = kn_described_dtype(p, param_of(s, p->n_in + j), in);
    if (status == KILN_OK && !out->dtype)
        return kn_error(KILN_ERROR_TYPE, "%s: output '%s': no input settles type %c", p->name,
                        param_of(s, p->n_in + j)->name, param_of(s, p->n_in + j)->placeholder);
    return status;
}

/* ---- lowering ---- */

/* A call's rows lie along the last axis of its views, wherever they are in memory. */
typedef struct lowering {
    kn_lowered *out;
    const sorting *s;
    const kn_lowering_call *call;
    kn_described *in;
    int ndim, axis;
    int64_t shape[KILN_MAX_NDIM]; /* of the views */
    int64_t rows, length;
    kiln_dtype order, word; /* of indices along a row, and of counts */
    int keys[2], orders[2], words, moved[MOST_MOVED][2];
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
    const sorting *s = l->s;
    if (o && o->axes && s->along.has_axis)
        return kn_error(KILN_ERROR_INVALID,
                        "%s: options.axes was given, but the kernel has an axis of its own",
                        s->signature->name);
    if (o && o->axes && o->n_axes != 1)
        return kn_error(KILN_ERROR_INVALID, "%s: options.axes: %d were given; a sort has one axis",
                        s->signature->name, o->n_axes);
    return find_axis(&l->axis, s, l->ndim,
                     s->along.has_axis ? s->along.axis
                     : o && o->axes    ? o->axes[0]
                                       : -1);
}

static kiln_dtype number_dtype(const lowering *l, int k)
{
    return kn_described_dtype(l->s->signature, param_of(l->s, k), l->in);
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
        if (l->call->in[k].kind != KILN_ARG_ARRAY && !param_of(l->s, k)->is_raw)
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
    if (l->call->in[k].kind != KILN_ARG_ARRAY && !param_of(l->s, k)->is_raw)
        return bind_number(part, at, k, l);
    if (l->call->in[k].kind != KILN_ARG_ARRAY) {
        part->binding.operand[at] = (kn_operand){
            .pass = KN_PASS_SCALAR, .dtype = kn_described_dtype(l->s->signature, param_of(l->s, k), l->in)};
        part->source[at] = source;
        return KILN_OK;
    }
    const kiln_array *a = l->call->in[k].value.array;
    if (param_of(l->s, k)->is_raw)
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

static kiln_status bind_user_output(kn_lowered_part *part, int at, int j, const lowering *l)
{
    const kn_program *p = l->s->signature;
    const kn_source source = {.kind = KN_FROM_OUTPUT, .index = j};
    const kiln_array *given = l->call->out ? l->call->out[j] : NULL;
    kiln_dtype dtype = kn_described_dtype(p, param_of(l->s, p->n_in + j), l->in);
    int64_t shape[KILN_MAX_NDIM], dense[KILN_MAX_NDIM], moved[KILN_MAX_NDIM];
    int at_axis = 0;
    for (int a = 0; a < l->ndim; ++a) /* in the order of the result's axes */
        shape[a] = a == l->axis ? results(l) : l->shape[at_axis++];
    kn_shape_c_strides(l->ndim, shape, (int64_t)kiln_dtype_size(dtype), dense);
    move_axis(moved, given ? given->strides : dense, l);
    return kn_lowered_bind(part, at, l->call, &source, dtype, l->ndim, l->shape, moved);
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

static kiln_status bind_tile_words(kn_lowered_part *part, int at, const lowering *l, int digit)
{
    return bind_words(part, at, l, l->digits * l->counts + digit * l->tile_words, l->tile_words);
}

/* The counts and words of a key's digits, at once. Tasks of the host leave words to later ones, and look
 * at no others. */
static kiln_status add_clear(lowering *l, int digits)
{
    const bool is_host = l->call->target->backend == KN_HOST;
    const int64_t words = digits * (l->counts + (is_host ? 0 : l->tile_words));
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

/* The parameters of a pass: keys, orders if there are some, counts, the digit's first bit; then `last`: the
 * user's inputs and outputs, else keys and orders; words. */
static kiln_status add_pass(lowering *l, int digit, kiln_dtype bits, bool is_last)
{
    const sorting *s = l->s;
    const kiln_kernel *kernel = is_last        ? s->last[l->has_order ? BY_ORDER : DIRECT]
                                : l->has_order ? s->middle
                                               : s->first;
    const kiln_arg shift = kiln_arg_int32(8 * digit);
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
    kn_lowered_bind_number(part, at++, KILN_INT32, &shift);
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

static kiln_dtype key_dtype(const sorting *s, int k, const kn_described *in)
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

/* The number of an input among those that are moved; -1. */
static int moved_number(const sorting *s, int k)
{
    for (int m = 0; m < s->n_moved; ++m)
        if (s->moved[m] == k)
            return m;
    return -1;
}

/* The parameters of a pass that moves elements: counts, the digit's first bit, inputs, the user's outputs or
 * buffers, words. */
static kiln_status add_move(lowering *l, int digit, bool is_last)
{
    const sorting *s = l->s;
    const kn_program *p = s->signature;
    const kiln_arg shift = kiln_arg_int32(8 * digit);
    kn_lowered_part *part;
    int at = 0;
    kiln_status status = add_part(&part, l, s->move[is_last]);
    if (status == KILN_OK)
        status = bind_counts(part, at++, l, digit, 1);
    if (status != KILN_OK)
        return status;
    kn_lowered_bind_number(part, at++, KILN_INT32, &shift);
    if (is_last)
        bind_results(part, &at, l);
    for (int k = 0; k < p->n_in && status == KILN_OK; ++k, ++at) {
        int m = moved_number(s, k);
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

/* A bound of the elements of a row that are wanted, one of a few: each is a binary. 0: all, or many. */
static int most_wanted(const sorting *s)
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
    return l->s->rank && l->call->target->backend == KN_CUDA && most_wanted(l->s) > 0 &&
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
           kn_host_sorts_keys(target->architecture, (int)kiln_dtype_size(l->in[0].dtype));
}

/* value: keys, sorted keys, memory beside them; rows, their length, a key's bytes, infinity. */
static kiln_status sort_keys(kn_device *device, const void *const *value, void *stream)
{
    (void)device, (void)stream;
    int64_t number[4];
    kn_step_integers(number, 4, value + 3);
    const kn_host_keys keys = {.from = value[0],
                               .to = (void *)(uintptr_t)value[1],
                               .beside = (void *)(uintptr_t)value[2],
                               .rows = number[0],
                               .length = number[1],
                               .key_size = (int)number[2],
                               .infinity = (uint64_t)number[3]};
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
    const int64_t number[] = {l->rows, l->length, size, infinity};
    /* Keys that are equal only if they are the same need not stay as they were. */
    const int buffer[] = {l->keys[0], l->keys[1], infinity ? l->orders[0] : l->keys[0]};
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_function(&part, l->out, "sort_keys", sort_keys, 7);
    for (int k = 0; k < 3 && status == KILN_OK; ++k)
        status = bind_buffer(part, k, l, buffer[k], bits);
    if (status == KILN_OK)
        kn_lowered_bind_integers(part, 3, 4, number);
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

/* ---- elements of 16 bits that are their own keys ---- */

/* Long rows that lie one after the other, and results likewise. */
static bool are_words_alone(const lowering *l)
{
    const kiln_array *x = l->call->in[0].value.array, *given = l->call->out ? l->call->out[0] : NULL;
    int64_t dense[KILN_MAX_NDIM];
    if (!l->s->exact || l->s->along.count != KN_SORT_ALL || l->call->target->backend != KN_HOST ||
        kiln_dtype_size(l->in[0].dtype) != 2 || l->length < KN_HOST_WORDS_ROW || l->length > UINT32_MAX ||
        x->ndim != l->ndim || l->axis != l->ndim - 1)
        return false;
    kn_shape_c_strides(l->ndim, l->shape, (int64_t)sizeof(uint16_t), dense);
    return memcmp(dense, x->strides, (size_t)l->ndim * sizeof *dense) == 0 &&
           (!given || memcmp(dense, given->strides, (size_t)l->ndim * sizeof *dense) == 0);
}

/* value: elements, sorted ones, counts; rows, their length, KN_KIND_*, the bits of infinity, the order. */
static kiln_status sort_words(kn_device *device, const void *const *value, void *stream)
{
    (void)device, (void)stream;
    int64_t number[5];
    kn_step_integers(number, 5, value + 3);
    const kn_host_words words = {.from = value[0],
                                 .to = (void *)(uintptr_t)value[1],
                                 .counts = (uint32_t *)(uintptr_t)value[2],
                                 .rows = number[0],
                                 .length = number[1],
                                 .is_signed = number[2] == KN_KIND_INT,
                                 .is_float = number[2] == KN_KIND_FLOAT,
                                 .infinity = (uint16_t)number[3],
                                 .is_descending = number[4] != 0};
    kn_host_sort_words(&words);
    return KILN_OK;
}

static kiln_status add_words(lowering *l)
{
    const int64_t number[] = {l->rows, l->length, alone(l)->kind,
                              l->in[0].dtype == KILN_BFLOAT16 ? 0x7f80 : 0x7c00, l->s->is_descending},
                  words = KN_HOST_WORDS_BYTES / (int64_t)sizeof(uint32_t);
    int counts = 0;
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_buffer(&counts, l->out, KN_HOST_WORDS_BYTES);
    const kn_source source = {.kind = KN_FROM_BUFFER, .index = counts};
    if (status == KILN_OK)
        status = kn_lowered_add_function(&part, l->out, "sort_words", sort_words, 8);
    if (status == KILN_OK)
        status = bind_user_input(part, 0, 0, l);
    if (status == KILN_OK)
        status = bind_user_output(part, 1, 0, l);
    if (status == KILN_OK)
        status = kn_lowered_bind(part, 2, l->call, &source, KILN_UINT32, 1, &words, NULL);
    if (status == KILN_OK)
        kn_lowered_bind_integers(part, 3, 5, number);
    return status;
}

/* Sorts by key k, the last ones first. */
static kiln_status add_key(lowering *l, int k)
{
    kiln_dtype key = key_dtype(l->s, k, l->in), bits = bits_of(key);
    kiln_status status = KILN_OK;
    for (int part = parts_of(key) - 1; part >= 0 && status == KILN_OK; --part) {
        int digits = (int)kiln_dtype_size(bits);
        status = add_count(l, l->s->key[k].count[part][l->has_order ? BY_ORDER : DIRECT], bits);
        for (int d = 0; d < digits && status == KILN_OK; ++d)
            status = add_pass(l, d, bits, k == 0 && part == 0 && d == digits - 1);
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
    return key_bytes(l) * (size_t)(l->counts + l->tile_words) * kiln_dtype_size(l->word);
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
        status = add_key_map(l, l->s->key[k].map[part][l->has_order ? BY_ORDER : DIRECT], bits);
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

static kiln_status lower_call(lowering *l)
{
    int64_t shape[KILN_MAX_NDIM];
    kiln_status status = find_shape(&l->ndim, shape, l->s, l->in);
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
    if (status == KILN_OK)
        status = add_buffers(l);
    if (status == KILN_OK && moved_bytes(l))
        return add_moves(l);
    for (int k = l->s->n_keys - 1; k >= 0 && status == KILN_OK; --k)
        status = add_key(l, k);
    return status;
}

static kiln_status lower(kn_lowered *out, const void *context, const kn_lowering_call *call)
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

static void release(void *context)
{
    sorting *s = context;
    if (!s)
        return;
    for (int k = 0; k < s->n_keys; ++k)
        for (int part = 0; part < PARTS; ++part)
            for (int by = DIRECT; by <= BY_ORDER; ++by) {
                kiln_kernel_free(s->key[k].count[part][by]);
                kiln_kernel_free(s->key[k].map[part][by]);
            }
    kiln_kernel_free(s->rank);
    kiln_kernel_free(s->exact);
    kiln_kernel_free(s->element);
    kiln_kernel_free(s->count_moved);
    kiln_kernel_free(s->move[0]);
    kiln_kernel_free(s->move[1]);
    kiln_kernel_free(s->first);
    kiln_kernel_free(s->middle);
    kiln_kernel_free(s->last[DIRECT]);
    kiln_kernel_free(s->last[BY_ORDER]);
    kiln_kernel_free(s->digits);
    kiln_kernel_free(s->put);
    kn_program_free(s->signature);
    kn_free(s);
}

static const kn_algorithm algorithm = {
    .describe = describe, .lower = lower, .free = release, .takes_axes = true};

/* ---- texts ---- */

/* Placeholders of kiln's own, beside those of the user. */
typedef struct letters {
    char key, order, word;
} letters;

/* "float32 x, raw T w": all inputs, or outputs, raw ones for steps that find elements by their index. */
static void put_params(kn_str *out, const kn_program *p, int first, int end, bool are_raw)
{
    for (int k = first; k < end; ++k) {
        kn_param param = p->param[k];
        param.is_raw = param.is_raw || are_raw;
        kn_str_append(out, k > first ? ", " : "");
        kn_param_format(out, &param);
    }
}

/* The names of the inputs that are read element by element and that the text has. */
static void put_reads(kn_str *out, const kn_program *p, const char *text)
{
    const char *separator = "";
    for (int k = 0; k < p->n_in; ++k)
        if (!p->param[k].is_raw && kn_text_has_word(text, p->param[k].name)) {
            kn_str_printf(out, "%s%s", separator, p->param[k].name);
            separator = ", ";
        }
}

/* A function of the elements that the text names: its parameters, and the elements, at `at` for inputs, and
 * at their place for outputs. */
static void put_elements(kn_str *params, kn_str *elements, const kn_program *p, const char *text, int first,
                         int end, const char *at)
{
    for (int k = first; k < end; ++k) {
        bool is_output = k >= p->n_in;
        if ((p->param[k].is_raw && !is_output) || !kn_text_has_word(text, p->param[k].name))
            continue;
        kn_str_printf(params, "%sauto &%s, ", is_output ? "" : "const ", p->param[k].name);
        if (is_output)
            kn_str_printf(elements, "%s[kn_to], ", p->param[k].name);
        else
            kn_str_printf(elements, "%s[%s], ", p->param[k].name, at);
    }
}

/* ---- making ---- */

typedef struct making {
    sorting *s;
    const char *name, *body;
    const kiln_sort_key *keys;
    const kiln_kernel_options *options;
    letters letter;
} making;

/* The kernel of a map expression, a stage of that kind, and a map. */
static kiln_status make_kernel(kiln_kernel **out, const making *m, const char *in, const char *outs,
                               const char *values, const kn_stage_text *stages)
{
    const kn_program_text text = {.name = m->name,
                                  .in = in,
                                  .out = outs,
                                  .values = values,
                                  .stage = stages,
                                  .n_stages = 3,
                                  .reduced = KN_REDUCED_BY_CALL,
                                  .options = m->options};
    return kn_kernel_create_text(out, &text);
}

typedef struct texts {
    kn_str in, outs, values, key, put, reads, params, elements;
} texts;
enum { TEXTS = sizeof(texts) / sizeof(kn_str) };

static kiln_status finish(texts *t, kiln_status status)
{
    kn_str *each = (kn_str *)t;
    for (int k = 0; k < TEXTS; ++k)
        kn_str_free(&each[k]);
    return status;
}

static kiln_status check(const texts *t)
{
    const kn_str *each = (const kn_str *)t;
    for (int k = 0; k < TEXTS; ++k)
        if (each[k].failed)
            return kn_error_memory("a sort's texts");
    return KILN_OK;
}

static void put_key_type(kn_str *out, const kn_param *type)
{
    if (type->type == KN_TYPE_PLACEHOLDER)
        kn_str_printf(out, "%c", type->placeholder);
    else
        kn_str_append(out, kn_dtype_info_of(type->dtype)->c_name);
}

static void put_key(texts *t, const making *m, int k, int part)
{
    kn_str_printf(&t->key, "kn_sort_key<%d, %d>(static_cast<", (m->keys[k].flags & KILN_SORT_DESCENDING) != 0,
                  part);
    put_key_type(&t->key, &m->s->key[k].type);
    kn_str_printf(&t->key, ">(%s\n))", m->keys[k].key);
}

/* The key of the element at `at`. */
static void put_ordered_key(texts *t, const making *m, int k, int part, const char *at)
{
    const kn_program *p = m->s->signature;
    kn_str inner = KN_STR_INIT;
    put_key(t, m, k, part);
    put_elements(&t->params, &t->elements, p, m->keys[k].key, 0, p->n_in, at);
    kn_str_printf(&inner, "[&](%sint) { return %s; }(%s0)", kn_str_text(&t->params), kn_str_text(&t->key),
                  kn_str_text(&t->elements));
    inner.failed |= t->key.failed;
    kn_str_free(&t->key);
    t->key = inner;
}

static kiln_status make_count(kiln_kernel **out, const making *m, int k, int part, int by, bool has_keys)
{
    const kn_program *p = m->s->signature;
    texts t = {.in = KN_STR_INIT};
    const char *reads = "";
    if (by == BY_ORDER) {
        kn_str_printf(&t.in, "%c _order, ", m->letter.order);
        put_ordered_key(&t, m, k, part, "i - _J + _order");
        reads = "_order";
    } else {
        put_key(&t, m, k, part);
        put_reads(&t.reads, p, m->keys[k].key);
        reads = kn_str_text(&t.reads);
    }
    if (!has_keys)
        kn_str_printf(&t.in, "raw %c _type, ", m->letter.key);
    put_params(&t.in, p, 0, p->n_in, by == BY_ORDER);
    if (has_keys)
        kn_str_printf(&t.outs, "%c _keys, ", m->letter.key);
    kn_str_printf(&t.outs, "raw %c _counts", m->letter.word);
    kn_str_printf(&t.values, "%c _kn_key", m->letter.key);
    const kn_stage_text stages[] = {
        {.kind = KN_MAP_EXPRESSION,
         .label = "key",
         .reads = reads,
         .gives = "_kn_key",
         .body = kn_str_text(&t.key)},
        {.kind = KN_COUNT, .label = "count", .reads = "_kn_key", .gives = "_counts", .body = ""},
        {.kind = KN_MAP,
         .label = "put",
         .reads = has_keys ? "_kn_key" : "",
         .gives = has_keys ? "_keys" : "",
         .body = has_keys ? "_keys = kn_key" : ""}};
    kiln_status status = check(&t);
    if (status == KILN_OK)
        status =
            make_kernel(out, m, kn_str_text(&t.in), kn_str_text(&t.outs), kn_str_text(&t.values), stages);
    return finish(&t, status);
}

static bool has_results(const making *m)
{
    return m->s->along.count != KN_SORT_ALL;
}

static void put_results(kn_str *out, const making *m)
{
    kn_str_append(out, has_results(m) ? ", int64 _results" : "");
}

static const char place_along[] = "kn_to - (i - _J)";

/* The body at an element's place, if `along`, where that is along the axis, is one of the results: a call of
 * a function whose parameters have been written, and `i`, unless that is "". */
static void put_body(texts *t, const making *m, const char *along, const char *i, const char *at)
{
    if (has_results(m))
        kn_str_printf(&t->put, "if (%s < _results) ", along);
    kn_str_printf(&t->put, "[&](%s%s) {\n%s;\n}(%s%s)", kn_str_text(&t->params), i, m->body,
                  kn_str_text(&t->elements), at);
}

/* A pass that stores `put`, whose parameters are the user's too if it is the last one. */
static kiln_status make_pass(kiln_kernel **out, const making *m, texts *t, bool has_order, bool is_last)
{
    const kn_program *p = m->s->signature;
    kn_str_printf(&t->in, "%c _key, ", m->letter.key);
    if (has_order)
        kn_str_printf(&t->in, "%c _order, ", m->letter.order);
    kn_str_printf(&t->in, "raw %c _counts, int32 _shift", m->letter.word);
    if (is_last) {
        put_results(&t->in, m);
        kn_str_append(&t->in, ", ");
        put_params(&t->in, p, 0, p->n_in, true);
        put_params(&t->outs, p, p->n_in, p->n_in + p->n_out, true);
    } else {
        kn_str_printf(&t->outs, "raw %c _keys, raw %c _orders", m->letter.key, m->letter.order);
    }
    kn_str_printf(&t->outs, ", raw %c _words", m->letter.word);
    kn_str_printf(&t->reads, "_kn_to%s%s%s", is_last ? "" : ", _key", has_order ? ", _order" : "",
                  is_last && has_results(m) ? ", _results" : "");
    const kn_stage_text stages[] = {{.kind = KN_MAP_EXPRESSION,
                                     .label = "bits",
                                     .reads = "_key, _shift",
                                     .gives = "_kn_digit",
                                     .body = "kn_sort_low_bits(_key, _shift)"},
                                    {.kind = KN_PLACE,
                                     .label = "place",
                                     .reads = "_kn_digit, _counts",
                                     .gives = "_kn_to, _words",
                                     .body = ""},
                                    {.kind = KN_MAP,
                                     .label = "put",
                                     .reads = kn_str_text(&t->reads),
                                     .gives = "",
                                     .body = kn_str_text(&t->put)}};
    kiln_status status = check(t);
    return status == KILN_OK ? make_kernel(out, m, kn_str_text(&t->in), kn_str_text(&t->outs),
                                           "uint32 _kn_digit, int64 _kn_to", stages)
                             : status;
}

/* ---- what has none of the user's texts: the same kernels for all sorts, of which bundles have some ---- */

static const letters own_letters = {'K', 'O', 'W'};

static kiln_status make_inner(kiln_kernel **out, sorting *s, bool has_order)
{
    const making own = {.s = s, .name = "sort_pass", .letter = own_letters};
    texts t = {.in = KN_STR_INIT};
    kn_str_printf(&t.put, "_keys[kn_to] = _key; _orders[kn_to] = %s", has_order ? "_order" : "_J");
    return finish(&t, make_pass(out, &own, &t, has_order, false));
}

static kiln_status make_digits(kiln_kernel **out, sorting *s)
{
    const making own = {.s = s, .name = "sort_digits", .letter = own_letters};
    const kn_stage_text stages[] = {
        {.kind = KN_MAP_EXPRESSION, .label = "key", .reads = "_key", .gives = "_kn_key", .body = "_key"},
        {.kind = KN_COUNT, .label = "count", .reads = "_kn_key", .gives = "_counts", .body = ""},
        {.kind = KN_MAP, .label = "put", .reads = "", .gives = "", .body = ""}};
    return make_kernel(out, &own, "K _key", "raw W _counts", "K _kn_key", stages);
}

/* ---- quick steps ---- */

static kiln_status make_map(kiln_kernel **out, const making *m, const texts *t)
{
    const kn_program *p = m->s->signature;
    const kn_stage_text stage = {.kind = KN_MAP,
                                 .label = "",
                                 .reads = kn_str_text(&t->reads),
                                 .gives = kn_str_text(&t->values),
                                 .body = kn_str_text(&t->put)};
    const kn_program_text text = {.name = p->name,
                                  .in = kn_str_text(&t->in),
                                  .out = kn_str_text(&t->outs),
                                  .values = "",
                                  .stage = &stage,
                                  .n_stages = 1,
                                  .options = m->options};
    kiln_status status = check(t);
    return status == KILN_OK ? kn_kernel_create_text(out, &text) : status;
}

/* The keys of elements as they lie, with their places as orders, or in the order that there is. */
static kiln_status make_key_map(kiln_kernel **out, const making *m, int k, int part, int by)
{
    const kn_program *p = m->s->signature;
    texts t = {.in = KN_STR_INIT};
    if (by == BY_ORDER)
        kn_str_printf(&t.in, "%c _order, ", m->letter.order);
    put_params(&t.in, p, 0, p->n_in, by == BY_ORDER);
    kn_str_printf(&t.outs, "%c _keys", m->letter.key);
    kn_str_append(&t.values, "_keys");
    if (by == BY_ORDER) {
        put_ordered_key(&t, m, k, part, "_order");
        kn_str_append(&t.reads, "_order");
        kn_str_printf(&t.put, "_keys = %s", kn_str_text(&t.key));
    } else {
        put_key(&t, m, k, part);
        put_reads(&t.reads, p, m->keys[k].key);
        kn_str_printf(&t.outs, ", %c _orders", m->letter.order);
        kn_str_append(&t.values, ", _orders");
        kn_str_printf(&t.put, "_keys = %s; _orders = i", kn_str_text(&t.key));
    }
    return finish(&t, make_map(out, m, &t));
}

static kiln_status make_put(kiln_kernel **out, const making *m)
{
    const kn_program *p = m->s->signature;
    texts t = {.in = KN_STR_INIT};
    kn_str_printf(&t.in, "%c _order, uint32 _length", m->letter.order);
    put_results(&t.in, m);
    kn_str_append(&t.in, ", ");
    put_params(&t.in, p, 0, p->n_in, true);
    put_params(&t.outs, p, p->n_in, p->n_in + p->n_out, true);
    put_elements(&t.params, &t.elements, p, m->body, 0, p->n_in + p->n_out, "_order");
    kn_str_printf(&t.reads, "_order, _length%s", has_results(m) ? ", _results" : "");
    kn_str_append(&t.put, "const long long kn_to = i; ");
    if (kn_text_has_word(m->body, "i"))
        put_body(&t, m, "(unsigned)i % _length", "const long long i", "_order % _length");
    else
        put_body(&t, m, "(unsigned)i % _length", "int", "0");
    return finish(&t, make_map(out, m, &t));
}

/* Names of parameters that quick steps alone have. */
static bool has_name_of_quick(const kn_program *p)
{
    bool has = false;
    for (int k = 0; k < p->n_in + p->n_out; ++k)
        has = has || strcmp(p->param[k].name, "_length") == 0 || strcmp(p->param[k].name, "_orders") == 0;
    return has;
}

static kiln_status make_quick(const making *m)
{
    sorting *s = m->s;
    if (m->options->flags & KILN_KERNEL_CHECK || has_name_of_quick(s->signature))
        return KILN_OK; /* reports are those of the best steps */
    kiln_status status = make_digits(&s->digits, s);
    for (int k = 0; k < s->n_keys; ++k)
        for (int part = 0; part < PARTS; ++part)
            for (int by = DIRECT; by <= BY_ORDER && status == KILN_OK; ++by)
                status = make_key_map(&s->key[k].map[part][by], m, k, part, by);
    return status == KILN_OK ? make_put(&s->put, m) : status;
}

static kiln_status make_last(kiln_kernel **out, const making *m, bool has_order)
{
    const kn_program *p = m->s->signature;
    texts t = {.in = KN_STR_INIT};
    put_elements(&t.params, &t.elements, p, m->body, 0, p->n_in + p->n_out,
                 has_order ? "i - _J + _order" : "i - _J + _J");
    put_body(&t, m, place_along, "const long long i", has_order ? "_order" : "_J");
    return finish(&t, make_pass(out, m, &t, has_order, true));
}

/* A pass that moves elements. Inputs that are not moved are raw. */
static kiln_status make_move(const making *m, bool is_last)
{
    const kn_program *p = m->s->signature;
    texts t = {.in = KN_STR_INIT};
    kn_str key_reads = KN_STR_INIT;
    kn_str_printf(&t.in, "raw %c _counts, int32 _shift", m->letter.word);
    if (is_last)
        put_results(&t.in, m);
    for (int k = 0; k < p->n_in; ++k) {
        kn_param param = p->param[k];
        param.is_raw = moved_number(m->s, k) < 0;
        kn_str_append(&t.in, ", ");
        kn_param_format(&t.in, &param);
    }
    if (is_last) {
        put_params(&t.outs, p, p->n_in, p->n_in + p->n_out, true);
        put_elements(&t.params, &t.elements, p, m->body, p->n_in, p->n_in + p->n_out, "");
        put_body(&t, m, place_along, "int", "0");
    }
    for (int k = 0; k < m->s->n_moved && !is_last; ++k) {
        kn_param param = p->param[m->s->moved[k]];
        param.is_raw = true;
        kn_str_printf(&t.put, "_to%d[kn_to] = %s; ", k, param.name);
        snprintf(param.name, sizeof param.name, "_to%d", k);
        kn_str_append(&t.outs, k > 0 ? ", " : "");
        kn_param_format(&t.outs, &param);
    }
    kn_str_printf(&t.outs, ", raw %c _words", m->letter.word);
    put_key(&t, m, 0, 0);
    kn_str digit = KN_STR_INIT;
    kn_str_printf(&digit, "kn_sort_low_bits(%s, _shift)", kn_str_text(&t.key));
    put_reads(&key_reads, p, m->keys[0].key);
    kn_str_printf(&key_reads, "%s_shift", kn_str_text(&key_reads)[0] ? ", " : "");
    kn_str_append(&t.reads, is_last && has_results(m) ? "_kn_to, _results" : "_kn_to");
    for (int k = 0; k < m->s->n_moved; ++k)
        if (!is_last || kn_text_has_word(m->body, p->param[m->s->moved[k]].name))
            kn_str_printf(&t.reads, ", %s", p->param[m->s->moved[k]].name);
    const kn_stage_text stages[] = {{.kind = KN_MAP_EXPRESSION,
                                     .label = "bits",
                                     .reads = kn_str_text(&key_reads),
                                     .gives = "_kn_digit",
                                     .body = kn_str_text(&digit)},
                                    {.kind = KN_PLACE,
                                     .label = "place",
                                     .reads = "_kn_digit, _counts",
                                     .gives = "_kn_to, _words",
                                     .body = ""},
                                    {.kind = KN_MAP,
                                     .label = "put",
                                     .reads = kn_str_text(&t.reads),
                                     .gives = "",
                                     .body = kn_str_text(&t.put)}};
    kiln_status status = key_reads.failed || digit.failed ? kn_error_memory("a sort's texts") : check(&t);
    if (status == KILN_OK)
        status = make_kernel(&m->s->move[is_last], m, kn_str_text(&t.in), kn_str_text(&t.outs),
                             "uint32 _kn_digit, int64 _kn_to", stages);
    kn_str_free(&key_reads);
    kn_str_free(&digit);
    return finish(&t, status);
}

/* Inputs are read at the element that comes to a place, outputs stored there. */
static kiln_status make_rank(const making *m)
{
    const kn_program *p = m->s->signature;
    const int most = most_wanted(m->s);
    texts t = {.in = KN_STR_INIT};
    kn_str body_reads = KN_STR_INIT;
    char wanted[16] = "";
    if (most)
        snprintf(wanted, sizeof wanted, "%d", most);
    kn_str_printf(&t.in, "raw %c _type", m->letter.key);
    put_results(&t.in, m);
    kn_str_append(&t.in, ", ");
    put_params(&t.in, p, 0, p->n_in, false);
    put_params(&t.outs, p, p->n_in, p->n_in + p->n_out, true);
    put_elements(&t.params, &t.elements, p, m->body, p->n_in, p->n_in + p->n_out, "");
    put_body(&t, m, place_along, "const long long i", "_J");
    put_key(&t, m, 0, 0);
    put_reads(&t.reads, p, m->keys[0].key);
    put_reads(&body_reads, p, m->body);
    kn_str_printf(&body_reads, "%s_kn_to%s", kn_str_text(&body_reads)[0] ? ", " : "",
                  has_results(m) ? ", _results" : "");
    kn_str_printf(&t.values, "%c _kn_key, int64 _kn_to", m->letter.key);
    const kn_stage_text stages[] = {
        {.kind = KN_MAP_EXPRESSION,
         .label = "key",
         .reads = kn_str_text(&t.reads),
         .gives = "_kn_key",
         .body = kn_str_text(&t.key)},
        {.kind = KN_RANK, .label = "rank", .reads = "_kn_key", .gives = "_kn_to", .body = wanted},
        {.kind = KN_MAP,
         .label = "put",
         .reads = kn_str_text(&body_reads),
         .gives = "",
         .body = kn_str_text(&t.put)}};
    kiln_status status = body_reads.failed ? kn_error_memory("a sort's texts") : check(&t);
    if (status == KILN_OK)
        status = make_kernel(&m->s->rank, m, kn_str_text(&t.in), kn_str_text(&t.outs), kn_str_text(&t.values),
                             stages);
    kn_str_free(&body_reads);
    return finish(&t, status);
}

/* The inputs that the key and the body name are moved, if these are few. */
static kiln_status make_moves(const making *m)
{
    sorting *s = m->s;
    const kn_program *p = s->signature;
    if (s->n_keys != 1 || kn_text_has_word(m->body, "i") || kn_text_has_word(m->keys[0].key, "i"))
        return KILN_OK;
    for (int k = 0; k < p->n_in; ++k) {
        const char *name = p->param[k].name;
        if (p->param[k].is_raw ||
            (!kn_text_has_word(m->body, name) && !kn_text_has_word(m->keys[0].key, name)))
            continue;
        if (s->n_moved == MOST_MOVED) {
            s->n_moved = 0;
            return KILN_OK;
        }
        s->moved[s->n_moved++] = k;
    }
    if (s->n_moved == 0)
        return KILN_OK;
    kiln_status status = make_count(&s->count_moved, m, 0, 0, DIRECT, false);
    for (int is_last = 0; is_last < 2 && status == KILN_OK; ++is_last)
        status = make_move(m, is_last);
    return status;
}

static bool has_same_type(const kn_param *a, const kn_param *b)
{
    return a->type == b->type &&
           (a->type == KN_TYPE_PLACEHOLDER ? a->placeholder == b->placeholder : a->dtype == b->dtype);
}

/* One input, which is the key, and is stored as it is. */
static bool is_key_alone(const making *m)
{
    const kn_program *p = m->s->signature;
    kn_str body = KN_STR_INIT;
    if (m->s->n_keys != 1 || p->n_in != 1 || p->n_out != 1 || strcmp(m->keys[0].key, p->param[0].name) != 0)
        return false;
    kn_str_printf(&body, "%s = %s", p->param[1].name, p->param[0].name);
    bool is_alone = !body.failed && strcmp(m->body, kn_str_text(&body)) == 0;
    kn_str_free(&body);
    return is_alone && has_same_type(&p->param[0], &p->param[1]) &&
           has_same_type(&p->param[0], &m->s->key[0].type);
}

static kiln_status make_alone(const making *m)
{
    static const char *const to[] = {"key = kn_sort_exact<0, T>(x)", "key = kn_sort_exact<1, T>(x)"};
    static const char *const back[] = {"y = kn_sort_element<0, T>(key)", "y = kn_sort_element<1, T>(key)"};
    const bool is_down = m->keys[0].flags & KILN_SORT_DESCENDING;
    m->s->is_descending = is_down;
    kiln_status status = kiln_elementwise_create(&m->s->exact, "T x", "K key", to[is_down], "keys", NULL);
    return status == KILN_OK
               ? kiln_elementwise_create(&m->s->element, "K key", "T y", back[is_down], "elements", NULL)
               : status;
}

static kiln_status make_kernels(const making *m)
{
    sorting *s = m->s;
    kiln_status status = s->n_keys == 1 ? make_rank(m) : KILN_OK;
    if (status == KILN_OK && is_key_alone(m))
        status = make_alone(m);
    if (status == KILN_OK)
        status = make_moves(m);
    if (status == KILN_OK)
        status = make_inner(&s->first, s, false);
    if (status == KILN_OK)
        status = make_inner(&s->middle, s, true);
    if (status == KILN_OK)
        status = make_quick(m);
    for (int by = DIRECT; by <= BY_ORDER && status == KILN_OK; ++by)
        status = make_last(&s->last[by], m, by == BY_ORDER);
    for (int k = 0; k < s->n_keys; ++k)
        for (int part = 0; part < PARTS; ++part)
            for (int by = DIRECT; by <= BY_ORDER && status == KILN_OK; ++by)
                status = make_count(&s->key[k].count[part][by], m, k, part, by, true);
    return status;
}

/* The user's parameters, and the body: a program that is never run, which checks them. */
static kiln_status make_signature(making *m, const char *in_params, const char *out_params)
{
    return kn_program_elementwise(&m->s->signature, in_params, out_params, m->body, m->name, m->options);
}

static kiln_status check_params(const sorting *s)
{
    const kn_program *p = s->signature;
    int elements = 0;
    for (int k = 0; k < p->n_in + p->n_out; ++k) {
        const kn_param *param = &p->param[k];
        bool is_bad = param->type == KN_TYPE_STRUCT || param->is_non_const || (k >= p->n_in && param->is_raw);
        elements += k < p->n_in && !param->is_raw;
        if (is_bad)
            return kn_error(KILN_ERROR_INVALID,
                            "%s: '%s' is %s; a sort has inputs of a dtype, and outputs that are not raw",
                            p->name, param->name,
                            param->type == KN_TYPE_STRUCT ? "a struct"
                            : param->is_non_const         ? "_non_const"
                                                          : "a raw output");
    }
    return elements > 0
               ? KILN_OK
               : kn_error(KILN_ERROR_INVALID, "%s: no input has elements to be sorted; all are raw", p->name);
}

/* NULL: the type of the first input that is not raw. */
static kiln_status find_key_type(kn_param *out, const sorting *s, const kiln_sort_key *key, int k)
{
    const kn_program *p = s->signature;
    int first = 0;
    while (p->param[first].is_raw)
        ++first;
    *out = p->param[first];
    if (!key->type)
        return KILN_OK;
    for (int j = 0; j < p->n_in && key->type[0] && !key->type[1]; ++j)
        if (p->param[j].type == KN_TYPE_PLACEHOLDER && p->param[j].placeholder == key->type[0]) {
            *out = p->param[j];
            return KILN_OK;
        }
    out->type = KN_TYPE_DTYPE;
    out->dtype = kn_dtype_find(key->type, strlen(key->type));
    return out->dtype
               ? KILN_OK
               : kn_error(KILN_ERROR_TYPE,
                          "%s: keys[%d].type: '%s' was given; a dtype, or the placeholder of an input, was "
                          "expected",
                          p->name, k, key->type);
}

static kiln_status read_keys(making *m, int n_keys)
{
    kiln_status status = KILN_OK;
    for (int k = 0; k < n_keys && status == KILN_OK; ++k) {
        const kiln_sort_key *key = &m->keys[k];
        if (!key->key || !key->key[0])
            return kn_error(KILN_ERROR_INVALID, "%s: keys[%d].key is %s; an expression was expected", m->name,
                            k, key->key ? "empty" : "NULL");
        if (key->flags & ~(unsigned)KILN_SORT_DESCENDING)
            return kn_error(KILN_ERROR_INVALID,
                            "%s: keys[%d].flags: 0x%x was given; only KILN_SORT_DESCENDING (0x%x) is known",
                            m->name, k, key->flags, (unsigned)KILN_SORT_DESCENDING);
        status = find_key_type(&m->s->key[k].type, m->s, key, k);
    }
    m->s->n_keys = n_keys;
    return status;
}

static void choose_letters(making *m, const kiln_kernel_options *o)
{
    const char *texts[MOST_KEYS + 3] = {m->body, o->preamble ? o->preamble : ""};
    const kn_program *p = m->s->signature;
    for (int k = 0; k < m->s->n_keys; ++k)
        texts[2 + k] = m->keys[k].key;
    m->letter.key = kn_free_letter('A', p->param, p->n_in + p->n_out, texts);
    m->letter.order = kn_free_letter((char)(m->letter.key + 1), p->param, p->n_in + p->n_out, texts);
    m->letter.word = kn_free_letter((char)(m->letter.order + 1), p->param, p->n_in + p->n_out, texts);
}

static kiln_status make_sorting(making *m, const char *in_params, const char *out_params, int n_keys,
                                const kiln_kernel_options *o)
{
    kiln_status status = make_signature(m, in_params, out_params);
    if (status == KILN_OK)
        status = check_params(m->s);
    if (status == KILN_OK)
        status = read_keys(m, n_keys);
    if (status != KILN_OK)
        return status;
    choose_letters(m, o);
    return make_kernels(m);
}

static kiln_status make_prototype(kiln_kernel **out, sorting *s)
{
    const kn_program *p = s->signature;
    const char *names[KN_MAX_PARAMS];
    kn_program *prototype = NULL;
    for (int k = 0; k < p->n_in + p->n_out; ++k)
        names[k] = p->param[k].name;
    kiln_status status = kn_prototype_create(&prototype, p->name, names, p->n_in, names + p->n_in, p->n_out);
    if (status == KILN_OK)
        return kn_kernel_create_algorithm(out, prototype, &algorithm, s);
    release(s);
    return status;
}

kiln_status kiln_sort_create(kiln_kernel **out, const char *in_params, const char *out_params,
                             const kiln_sort_key *keys, int n_keys, const char *body, const char *name,
                             const kiln_kernel_options *options)
{
    return kn_sort_create(out, in_params, out_params, keys, n_keys, body, name, NULL, options);
}

kiln_status kn_sort_create(kiln_kernel **out, const char *in_params, const char *out_params,
                           const kiln_sort_key *keys, int n_keys, const char *body, const char *name,
                           const kn_sort_along *along, const kiln_kernel_options *options)
{
    kiln_kernel_options o;
    if (!out)
        return kn_error(KILN_ERROR_INVALID, "out is NULL; the address of a kiln_kernel * was expected");
    kiln_status status =
        kn_require_texts("in_params", in_params, "out_params", out_params, "body", body, NULL);
    if (status == KILN_OK)
        status = kn_program_read_own_options(&o, options);
    if (status != KILN_OK)
        return status;
    name = name ? name : "kernel";
    if (!keys || n_keys < 1 || n_keys > MOST_KEYS)
        return kn_error(KILN_ERROR_INVALID, "%s: keys: %d were given as %s; 1 to %d were expected", name,
                        n_keys, keys ? "an array" : "NULL", MOST_KEYS);
    sorting *s = kn_calloc(1, sizeof *s);
    if (!s)
        return kn_error_memory("a sort");
    s->along = along ? *along : (kn_sort_along){.count = KN_SORT_ALL};
    making m = {.s = s, .name = name, .body = body, .keys = keys, .options = &o};
    status = make_sorting(&m, in_params, out_params, n_keys, &o);
    if (status != KILN_OK) {
        release(s);
        return status;
    }
    return make_prototype(out, s);
}
