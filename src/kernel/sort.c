/* kernel/sort.c - sorts by keys: a radix sort of 8 bits a pass, by an algorithm of steps.
 *
 * Keys become unsigned integers (src/codegen/prelude/both_sort.cpp), while all their digits are counted. A
 * pass gives each element its place among those of its row, ordered stably by one digit. Passes go from the
 * last digit of the last key to the first one; elements are indices until then. The last pass computes the
 * body of an element at its place. */
#include <string.h>

#include <kiln/sort.h>
#include "base/alloc.h"
#include "base/error.h"
#include "kernel/algorithm.h"
#include "program/program.h"
#include "schedule/sort_tile.h"
#include "space/shape.h"
#include "types/dtype.h"

enum {
    MOST_KEYS = 16,
    PARTS = 2, /* of a key: complex128 has 128 bits */
    DIRECT = 0,
    BY_ORDER = 1,          /* the first key that is sorted by, and those before it */
    INT32_EXTENT = 1 << 30 /* elements of a row, up to which words of 32 bits hold their number */
};

typedef struct sort_key {
    kn_param type; /* of the key: a dtype, or a placeholder */
    kiln_kernel *count[PARTS][2];
} sort_key;

typedef struct sorting {
    kn_program *signature; /* the user's parameters */
    sort_key key[MOST_KEYS];
    int n_keys;
    kiln_kernel *first, *middle, *last[2]; /* passes; last: DIRECT, if it is the only one */
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
    if (in[k].is_number && !param->is_raw)
        return kn_error(KILN_ERROR_TYPE, "%s: '%s' is a number here; an array was expected", p->name,
                        param->name);
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

static kiln_status describe(kn_described *out, const void *context, int j, const kn_described *in)
{
    const sorting *s = context;
    const kn_program *p = s->signature;
    kiln_status status = find_shape(&out->ndim, out->shape, s, in);
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
    int keys[2], orders[2], counts, words;
    int from; /* the buffer of keys, and of orders, that the next pass reads */
    bool has_order;
    size_t counts_size, words_size;
} lowering;

static kiln_status find_axis(lowering *l)
{
    const kiln_call_options *o = l->call->options;
    int axis = -1;
    if (o && o->axes && o->n_axes != 1)
        return kn_error(KILN_ERROR_INVALID, "%s: options.axes: %d were given; a sort has one axis",
                        l->s->signature->name, o->n_axes);
    if (o && o->axes)
        axis = o->axes[0];
    if (axis < -l->ndim || axis >= l->ndim)
        return kn_error(KILN_ERROR_SHAPE, "%s: options.axes: axis %d was given, but there are %d axes",
                        l->s->signature->name, axis, l->ndim);
    l->axis = axis < 0 ? axis + l->ndim : axis;
    return KILN_OK;
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

static kiln_status bind_user_output(kn_lowered_part *part, int at, int j, const lowering *l)
{
    const kn_program *p = l->s->signature;
    const kn_source source = {.kind = KN_FROM_OUTPUT, .index = j};
    const kiln_array *given = l->call->out ? l->call->out[j] : NULL;
    kiln_dtype dtype = kn_described_dtype(p, param_of(l->s, p->n_in + j), l->in);
    int64_t shape[KILN_MAX_NDIM], dense[KILN_MAX_NDIM], moved[KILN_MAX_NDIM];
    int at_axis = 0;
    for (int a = 0; a < l->ndim; ++a) /* in the order of the result's axes */
        shape[a] = a == l->axis ? l->length : l->shape[at_axis++];
    kn_shape_c_strides(l->ndim, shape, (int64_t)kiln_dtype_size(dtype), dense);
    move_axis(moved, given ? given->strides : dense, l);
    return kn_lowered_bind(part, at, l->call, &source, dtype, l->ndim, l->shape, moved);
}

static kiln_status bind_buffer(kn_lowered_part *part, int at, const lowering *l, int buffer, kiln_dtype dtype)
{
    const kn_source source = {.kind = KN_FROM_BUFFER, .index = buffer};
    return kn_lowered_bind(part, at, l->call, &source, dtype, l->ndim, l->shape, NULL);
}

/* Words of a pass, or all counts: a dense array of one axis. */
static kiln_status bind_words(kn_lowered_part *part, int at, const lowering *l, int buffer, int64_t first,
                              int64_t count)
{
    const kn_source source = {
        .kind = KN_FROM_BUFFER, .index = buffer, .shift = first * (int64_t)kiln_dtype_size(l->word)};
    return kn_lowered_bind(part, at, l->call, &source, l->word, 1, &count, NULL);
}

static kiln_status clear(kn_device *device, const void *const *value, void *stream)
{
    static const unsigned char zero = 0;
    int64_t bytes;
    memcpy(&bytes, value[1], sizeof bytes);
    return device->backend->fill(device, (void *)(uintptr_t)value[0], &zero, 1, (size_t)bytes, stream);
}

static kiln_status add_clear(lowering *l, int buffer, size_t bytes)
{
    kn_lowered_part *part;
    const kiln_arg number = kiln_arg_int64((int64_t)bytes);
    kiln_status status = kn_lowered_add_function(&part, l->out, "clear", clear, 2);
    if (status == KILN_OK)
        status = bind_words(part, 0, l, buffer, 0, (int64_t)(bytes / kiln_dtype_size(l->word)));
    if (status == KILN_OK)
        kn_lowered_bind_number(part, 1, KILN_INT64, &number);
    return status;
}

static const int last_axis = -1;

static kiln_status add_part(kn_lowered_part **out, lowering *l, const kiln_kernel *kernel)
{
    kiln_status status = kn_lowered_add_kernel(out, l->out, kernel);
    if (status == KILN_OK) {
        kn_lowered_set_shape(*out, l->ndim, l->shape);
        (*out)->options.axes = &last_axis;
        (*out)->options.n_axes = 1;
    }
    return status;
}

/* Binds the parameters from `at` on to the user's inputs; *at: behind them. */
static kiln_status bind_user_inputs(kn_lowered_part *part, int *at, const lowering *l)
{
    kiln_status status = KILN_OK;
    for (int k = 0; k < l->s->signature->n_in && status == KILN_OK; ++k)
        status = bind_user_input(part, (*at)++, k, l);
    return status;
}

/* The keys of all elements, and the counts of their digits. */
static kiln_status add_count(lowering *l, const sort_key *key, int part_of_key, kiln_dtype bits)
{
    kn_lowered_part *part;
    int at = 0, digits = (int)kiln_dtype_size(bits);
    kiln_status status = add_clear(l, l->counts, l->counts_size);
    if (status == KILN_OK)
        status = add_part(&part, l, key->count[part_of_key][l->has_order ? BY_ORDER : DIRECT]);
    if (status == KILN_OK && l->has_order)
        status = bind_buffer(part, at++, l, l->orders[l->from], l->order);
    if (status == KILN_OK)
        status = bind_user_inputs(part, &at, l);
    if (status == KILN_OK)
        status = bind_buffer(part, at++, l, l->keys[l->from], bits);
    return status == KILN_OK ? bind_words(part, at, l, l->counts, 0, digits * l->rows * KN_SORT_DIGITS)
                             : status;
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
    const int64_t counts = l->rows * KN_SORT_DIGITS;
    kn_lowered_part *part;
    int at = 0;
    kiln_status status = add_clear(l, l->words, l->words_size);
    if (status == KILN_OK)
        status = add_part(&part, l, kernel);
    if (status == KILN_OK)
        status = bind_buffer(part, at++, l, l->keys[l->from], bits);
    if (status == KILN_OK && l->has_order)
        status = bind_buffer(part, at++, l, l->orders[l->from], l->order);
    if (status == KILN_OK)
        status = bind_words(part, at++, l, l->counts, digit * counts, counts);
    if (status != KILN_OK)
        return status;
    kn_lowered_bind_number(part, at++, KILN_INT32, &shift);
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
    return status == KILN_OK
               ? bind_words(part, at, l, l->words, 0, (int64_t)(l->words_size / kiln_dtype_size(l->word)))
               : status;
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

/* Sorts by key k, the last ones first. */
static kiln_status add_key(lowering *l, int k)
{
    kiln_dtype key = key_dtype(l->s, k, l->in), bits = bits_of(key);
    kiln_status status = KILN_OK;
    for (int part = parts_of(key) - 1; part >= 0 && status == KILN_OK; --part) {
        int digits = (int)kiln_dtype_size(bits);
        status = add_count(l, &l->s->key[k], part, bits);
        for (int d = 0; d < digits && status == KILN_OK; ++d)
            status = add_pass(l, d, bits, k == 0 && part == 0 && d == digits - 1);
    }
    return status;
}

static kiln_status add_buffers(lowering *l)
{
    size_t key = 1, order = kiln_dtype_size(l->order), word = kiln_dtype_size(l->word);
    for (int k = 0; k < l->s->n_keys; ++k) {
        size_t size = kiln_dtype_size(bits_of(key_dtype(l->s, k, l->in)));
        key = size > key ? size : key;
    }
    int64_t tile = kn_sort_tile((int)(key + order)), tiles = (l->length + tile - 1) / tile;
    size_t elements = (size_t)(l->rows * l->length);
    l->counts_size = key * (size_t)l->rows * KN_SORT_DIGITS * word;
    l->words_size = (size_t)(l->rows * tiles) * KN_SORT_DIGITS * word;
    kiln_status status = kn_lowered_add_buffer(&l->counts, l->out, l->counts_size);
    if (status == KILN_OK)
        status = kn_lowered_add_buffer(&l->words, l->out, l->words_size);
    for (int b = 0; b < 2 && status == KILN_OK; ++b) {
        status = kn_lowered_add_buffer(&l->keys[b], l->out, elements * key);
        if (status == KILN_OK)
            status = kn_lowered_add_buffer(&l->orders[b], l->out, elements * order);
    }
    return status;
}

static kiln_status lower_call(lowering *l)
{
    int64_t shape[KILN_MAX_NDIM];
    kiln_status status = find_shape(&l->ndim, shape, l->s, l->in);
    if (status == KILN_OK)
        status = find_axis(l);
    if (status != KILN_OK || kn_shape_size(l->ndim, shape) == 0)
        return status;
    move_axis(l->shape, shape, l);
    l->length = l->shape[l->ndim - 1];
    l->rows = kn_shape_size(l->ndim, shape) / l->length;
    l->order = l->length <= UINT32_MAX ? KILN_UINT32 : KILN_INT64;
    l->word = l->length < INT32_EXTENT ? KILN_UINT32 : KILN_UINT64;
    status = add_buffers(l);
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
        return kn_error_memory(bytes, "a sort");
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
            for (int by = DIRECT; by <= BY_ORDER; ++by)
                kiln_kernel_free(s->key[k].count[part][by]);
    kiln_kernel_free(s->first);
    kiln_kernel_free(s->middle);
    kiln_kernel_free(s->last[DIRECT]);
    kiln_kernel_free(s->last[BY_ORDER]);
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

/* A function of the elements that the text names: its parameters, and the elements, at `at` for inputs and at
 * `to` for outputs. */
static void put_elements(kn_str *params, kn_str *elements, const kn_program *p, const char *text, int end,
                         const char *at, const char *to)
{
    for (int k = 0; k < end; ++k) {
        bool is_output = k >= p->n_in;
        if ((p->param[k].is_raw && !is_output) || !kn_text_has_word(text, p->param[k].name))
            continue;
        kn_str_printf(params, "%sauto &%s, ", is_output ? "" : "const ", p->param[k].name);
        kn_str_printf(elements, "%s[i - _J + %s], ", p->param[k].name, is_output ? to : at);
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
    kn_program *program = NULL;
    kiln_status status = kn_program_create(&program, &text);
    if (status != KILN_OK)
        return status;
    program->left_outputs = 0;
    return kn_kernel_create(out, program);
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
            return kn_error_memory(each[k].length, "a sort's texts");
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

static kiln_status make_count(const making *m, int k, int part, int by)
{
    const kn_program *p = m->s->signature;
    texts t = {.in = KN_STR_INIT};
    const char *reads = "";
    if (by == BY_ORDER) {
        kn_str inner = KN_STR_INIT;
        kn_str_printf(&t.in, "%c _order, ", m->letter.order);
        put_key(&t, m, k, part);
        put_elements(&t.params, &t.elements, p, m->keys[k].key, p->n_in, "_order", "");
        kn_str_printf(&inner, "[&](%sint) { return %s; }(%s0)", kn_str_text(&t.params), kn_str_text(&t.key),
                      kn_str_text(&t.elements));
        kn_str_free(&t.key);
        t.key = inner;
        reads = "_order";
    } else {
        put_key(&t, m, k, part);
        put_reads(&t.reads, p, m->keys[k].key);
        reads = kn_str_text(&t.reads);
    }
    put_params(&t.in, p, 0, p->n_in, by == BY_ORDER);
    kn_str_printf(&t.outs, "%c _keys, raw %c _counts", m->letter.key, m->letter.word);
    kn_str_printf(&t.values, "%c _kn_key", m->letter.key);
    const kn_stage_text stages[] = {
        {.kind = KN_MAP_EXPRESSION,
         .label = "key",
         .reads = reads,
         .gives = "_kn_key",
         .body = kn_str_text(&t.key)},
        {.kind = KN_COUNT, .label = "count", .reads = "_kn_key", .gives = "_counts", .body = ""},
        {.kind = KN_MAP, .label = "put", .reads = "_kn_key", .gives = "_keys", .body = "_keys = kn_key"}};
    kiln_status status = check(&t);
    if (status == KILN_OK)
        status = make_kernel(&m->s->key[k].count[part][by], m, kn_str_text(&t.in), kn_str_text(&t.outs),
                             kn_str_text(&t.values), stages);
    return finish(&t, status);
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
        kn_str_append(&t->in, ", ");
        put_params(&t->in, p, 0, p->n_in, true);
        put_params(&t->outs, p, p->n_in, p->n_in + p->n_out, true);
    } else {
        kn_str_printf(&t->outs, "raw %c _keys, raw %c _orders", m->letter.key, m->letter.order);
    }
    kn_str_printf(&t->outs, ", raw %c _words", m->letter.word);
    kn_str_printf(&t->reads, "_kn_to%s%s", is_last ? "" : ", _key", has_order ? ", _order" : "");
    const kn_stage_text stages[] = {{.kind = KN_MAP_EXPRESSION,
                                     .label = "bits",
                                     .reads = "_key, _shift",
                                     .gives = "_kn_digit",
                                     .body = "(unsigned)(_key >> _shift)"},
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

static kiln_status make_inner(kiln_kernel **out, const making *m, bool has_order)
{
    texts t = {.in = KN_STR_INIT};
    kn_str_printf(&t.put, "_keys[i - _J + kn_to] = _key; _orders[i - _J + kn_to] = %s",
                  has_order ? "_order" : "_J");
    return finish(&t, make_pass(out, m, &t, has_order, false));
}

static kiln_status make_last(kiln_kernel **out, const making *m, bool has_order)
{
    const kn_program *p = m->s->signature;
    texts t = {.in = KN_STR_INIT};
    const char *at = has_order ? "_order" : "_J";
    put_elements(&t.params, &t.elements, p, m->body, p->n_in + p->n_out, at, "kn_to");
    kn_str_printf(&t.put, "[&](%sconst long long i) {\n%s;\n}(%s%s)", kn_str_text(&t.params), m->body,
                  kn_str_text(&t.elements), at);
    return finish(&t, make_pass(out, m, &t, has_order, true));
}

static kiln_status make_kernels(const making *m)
{
    sorting *s = m->s;
    kiln_status status = make_inner(&s->first, m, false);
    if (status == KILN_OK)
        status = make_inner(&s->middle, m, true);
    for (int by = DIRECT; by <= BY_ORDER && status == KILN_OK; ++by)
        status = make_last(&s->last[by], m, by == BY_ORDER);
    for (int k = 0; k < s->n_keys; ++k)
        for (int part = 0; part < PARTS; ++part)
            for (int by = DIRECT; by <= BY_ORDER && status == KILN_OK; ++by)
                status = make_count(m, k, part, by);
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
        return kn_error_memory(sizeof *s, "a sort");
    making m = {.s = s, .name = name, .body = body, .keys = keys, .options = &o};
    status = make_sorting(&m, in_params, out_params, n_keys, &o);
    if (status != KILN_OK) {
        release(s);
        return status;
    }
    return make_prototype(out, s);
}
