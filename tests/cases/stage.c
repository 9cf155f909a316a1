#include "stage_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 256 }; /* bytes around each view; a multiple of every alignment */

kiln_device stage_device = KILN_DEVICE_HOST;
kiln_status (*stage_call)(kiln_kernel *kernel, kiln_array **out, int n_out, const kiln_arg *in, int n_in,
                          const kiln_call_options *options) = kiln_kernel_call;

stage *stage_over(kiln_kernel *kernel, uint64_t seed)
{
    stage *s = calloc(1, sizeof *s);
    if (!s)
        abort();
    s->dice.state = seed;
    s->kernel = kernel;
    s->n_in = kernel ? kiln_kernel_n_in(kernel) : 0;
    s->n_out = kernel ? kiln_kernel_n_out(kernel) : 0;
    return s;
}

stage *stage_create(const char *in, const char *out, const char *body, const kiln_kernel_options *options,
                    uint64_t seed)
{
    kiln_kernel *kernel = NULL;
    succeeded(kiln_elementwise_create(&kernel, in, out, body, "case_kernel", options),
              "kiln_elementwise_create");
    stage *s = stage_over(kernel, seed);
    s->owns_kernel = true;
    return s;
}

void stage_leave_unfilled(stage *s)
{
    s->is_unfilled = true;
}

void stage_free_copies(buffer *b)
{
    free(b->before);
    free(b->expected);
    free(b->after);
}

void stage_free(stage *s)
{
    if (!s)
        return;
    for (int k = 0; k < s->n_operands; ++k)
        kiln_array_free(s->operand[k].array);
    for (int b = 0; b < s->n_buffers; ++b) {
        kiln_array_free(s->buffer[b].array);
        stage_free_copies(&s->buffer[b]);
    }
    for (int j = 0; j < s->n_out; ++j)
        if (stage_output(s, j) && stage_output(s, j)->is_fresh)
            kiln_array_free(s->out[j]);
    if (s->owns_kernel)
        kiln_kernel_free(s->kernel);
    free(s);
}

operand *stage_output(stage *s, int j)
{
    for (int k = 0; k < s->n_operands; ++k)
        if (s->operand[k].is_output && j-- == 0)
            return &s->operand[k];
    return NULL;
}

static int count_operands(const stage *s, bool outputs)
{
    int count = 0;
    for (int k = 0; k < s->n_operands; ++k)
        count += s->operand[k].is_output == outputs;
    return count;
}

/* ---- buffers ---- */

static void fill_view(stage *s, const operand *o, fill how)
{
    int64_t index[KILN_MAX_NDIM] = {0}, at = o->at, count = !s->is_unfilled;
    for (int a = 0; a < o->ndim; ++a)
        count *= o->shape[a];
    for (int64_t i = 0; i < count; ++i) {
        element_fill(s->buffer[o->buffer].before + at, o->dtype, how, i, &s->dice);
        for (int a = o->ndim; a-- > 0;) {
            at += o->stride[a];
            if (++index[a] < o->shape[a])
                break;
            at -= o->stride[a] * o->shape[a];
            index[a] = 0;
        }
    }
}

static int add_buffer(stage *s, size_t size)
{
    buffer *b = &s->buffer[s->n_buffers];
    b->size = (size + 7) / 8 * 8;
    b->before = malloc(b->size);
    b->expected = malloc(b->size);
    b->after = malloc(b->size);
    if (!b->before || !b->expected || !b->after)
        abort();
    for (size_t k = 0; k < b->size && !s->is_unfilled; k += 8) {
        uint64_t bits = dice_bits(&s->dice);
        memcpy(b->before + k, &bits, 8);
    }
    const int64_t shape[1] = {(int64_t)b->size};
    succeeded(kiln_array_empty(&b->array, KILN_UINT8, 1, shape, stage_device), "kiln_array_empty");
    return s->n_buffers++;
}

/* The view as kiln sees it: foreign memory inside the buffer. */
static void wrap_view(stage *s, operand *o)
{
    kiln_array_spec spec = KILN_ARRAY_SPEC_INIT;
    buffer *b = &s->buffer[o->buffer];
    spec.dtype = o->dtype;
    spec.ndim = o->ndim;
    spec.shape = o->shape;
    spec.strides = o->stride;
    spec.device = stage_device;
    if (!in_trouble())
        succeeded(kiln_array_wrap(&o->array, (char *)kiln_array_data(b->array) + o->at, &spec, NULL, NULL),
                  "kiln_array_wrap");
}

static void place_in_own_buffer(stage *s, operand *o, const layout *l, fill how)
{
    int64_t low, high, item = (int64_t)kiln_dtype_size(o->dtype);
    view_range(o->ndim, o->shape, o->stride, item, &low, &high);
    o->at = GUARD + l->shift * item - low;
    o->buffer = add_buffer(s, (size_t)(high - low + l->shift * item + 2 * GUARD));
    fill_view(s, o, how);
}

static void place_in_shared_buffer(stage *s, operand *o, const layout *l, int owner)
{
    int64_t low, high, item = (int64_t)kiln_dtype_size(o->dtype);
    view_range(o->ndim, o->shape, o->stride, item, &low, &high);
    o->buffer = s->operand[owner].buffer;
    o->at = s->operand[owner].at + l->at * item;
    trouble_unless(o->at + low >= 0 && o->at + high <= (int64_t)s->buffer[o->buffer].size,
                   "the case itself is wrong: a view leaves the buffer it shares");
}

int stage_place(stage *s, bool is_output, kiln_dtype dtype, int ndim, const int64_t *shape, const layout *l,
                fill how, int owner)
{
    operand *o = &s->operand[s->n_operands];
    o->dtype = dtype;
    o->is_output = is_output;
    o->is_fresh = l == NULL;
    o->ndim = ndim;
    o->buffer = -1;
    if (l) {
        memcpy(o->shape, shape, (size_t)ndim * sizeof *shape);
        layout_strides(l, ndim, shape, (int64_t)kiln_dtype_size(dtype), o->stride);
        if (owner < 0)
            place_in_own_buffer(s, o, l, how);
        else
            place_in_shared_buffer(s, o, l, owner);
        wrap_view(s, o);
    }
    int number = count_operands(s, is_output);
    if (is_output)
        s->out[number] = o->array;
    else
        s->in[number] = kiln_arg_array(o->array);
    return s->n_operands++;
}

void stage_fill_around(stage *s, int operand, fill how)
{
    const struct operand *o = &s->operand[operand];
    buffer *b = &s->buffer[o->buffer];
    size_t item = kiln_dtype_size(o->dtype);
    for (size_t at = (size_t)o->at % item; at + item <= b->size && !s->is_unfilled; at += item)
        element_fill(b->before + at, o->dtype, how, (int64_t)at, &s->dice);
}

static int place_text(stage *s, bool is_output, kiln_dtype dtype, const char *shape_text,
                      const char *layout_text, fill how, int owner)
{
    int64_t shape[KILN_MAX_NDIM];
    layout l;
    int ndim = shape_from_text(shape, shape_text);
    layout_from_text(&l, layout_text, ndim);
    return stage_place(s, is_output, dtype, ndim, shape, &l, how, owner);
}

int stage_in(stage *s, kiln_dtype dtype, const char *shape, const char *layout_text, fill how)
{
    return place_text(s, false, dtype, shape, layout_text, how, -1);
}

int stage_out(stage *s, kiln_dtype dtype, const char *shape, const char *layout_text)
{
    return place_text(s, true, dtype, shape, layout_text, FILL_SMALL, -1);
}

int stage_out_fresh(stage *s, kiln_dtype dtype)
{
    return stage_place(s, true, dtype, 0, NULL, NULL, FILL_SMALL, -1);
}

int stage_in_shared(stage *s, int owner, kiln_dtype dtype, const char *shape, const char *layout_text)
{
    return place_text(s, false, dtype, shape, layout_text, FILL_SMALL, owner);
}

int stage_out_shared(stage *s, int owner, kiln_dtype dtype, const char *shape, const char *layout_text)
{
    return place_text(s, true, dtype, shape, layout_text, FILL_SMALL, owner);
}

int stage_raw(stage *s, bool is_output, kiln_dtype dtype, const char *shape, const char *layout_text,
              fill how)
{
    int k = place_text(s, is_output, dtype, shape, layout_text, how, -1);
    stage_make_raw(s, k);
    return k;
}

void stage_make_raw(stage *s, int operand)
{
    s->operand[operand].is_raw = true;
}

/* ---- scalars ---- */

int stage_scalar(stage *s, kiln_arg arg, kiln_dtype dtype, const void *value)
{
    operand *o = &s->operand[s->n_operands];
    o->dtype = dtype;
    o->is_scalar = true;
    o->buffer = -1;
    if (dtype != KILN_DTYPE_NONE)
        value = memcpy(o->scalar_bytes, value, kiln_dtype_size(dtype));
    o->scalar = value;
    s->in[count_operands(s, false)] = arg;
    return s->n_operands++;
}

int stage_real(stage *s, kiln_arg arg, kiln_dtype dtype, double value)
{
    unsigned char bytes[16];
    number_store(bytes, dtype, number_real(value));
    return stage_scalar(s, arg, dtype, bytes);
}

int stage_struct(stage *s, const void *data, size_t size)
{
    return stage_scalar(s, kiln_arg_struct(data, size), KILN_DTYPE_NONE, data);
}

void stage_tolerate(stage *s, double tolerance)
{
    s->tolerance = tolerance;
}

/* ---- calls ---- */

kiln_kernel *stage_kernel(stage *s)
{
    return s->kernel;
}

kiln_arg *stage_args(stage *s, int *n_in)
{
    *n_in = s->n_in;
    return s->in;
}

kiln_array **stage_outs(stage *s, int *n_out)
{
    *n_out = s->n_out;
    return s->out;
}

/* Buffers without an array stand for outputs that the call allocates. */
static void upload(stage *s)
{
    for (int b = 0; b < s->n_buffers && !in_trouble(); ++b) {
        if (!s->buffer[b].array)
            continue;
        memcpy(s->buffer[b].expected, s->buffer[b].before, s->buffer[b].size);
        succeeded(kiln_array_set_from_host(s->buffer[b].array, s->buffer[b].before, s->buffer[b].size),
                  "kiln_array_set_from_host");
    }
}

static void download(stage *s)
{
    for (int b = 0; b < s->n_buffers && !in_trouble(); ++b)
        if (s->buffer[b].array)
            succeeded(kiln_array_to_host(s->buffer[b].array, s->buffer[b].after, s->buffer[b].size),
                      "kiln_array_to_host");
}

static void check_counts(const stage *s)
{
    trouble_unless(count_operands(s, false) == s->n_in && count_operands(s, true) == s->n_out,
                   "the case itself is wrong: it has other operands than the kernel has parameters");
}

/* Fresh outputs of an earlier check go. */
static void drop_fresh(stage *s)
{
    for (int j = 0; j < s->n_out; ++j)
        if (stage_output(s, j) && stage_output(s, j)->is_fresh) {
            kiln_array_free(s->out[j]);
            s->out[j] = NULL;
        }
}

bool stage_run(stage *s, const kiln_call_options *options)
{
    check_counts(s);
    drop_fresh(s);
    upload(s);
    if (in_trouble())
        return false;
    if (!succeeded(stage_call(s->kernel, s->out, s->n_out, s->in, s->n_in, options), "kiln_kernel_call"))
        return false;
    if (options && options->stream)
        succeeded(kiln_stream_synchronize(options->stream), "kiln_stream_synchronize");
    download(s);
    return !in_trouble();
}

bool stage_check(stage *s, expectation expect, const kiln_call_options *options)
{
    if (!stage_run(s, options))
        return false;
    stage_broadcast(s, options ? options->size : 0);
    stage_expect(s, expect);
    return stage_compare(s);
}

void stage_refuse(stage *s, kiln_status status, const char *words)
{
    upload(s);
    if (in_trouble() || !s->kernel)
        return;
    refused(kiln_kernel_call(s->kernel, s->out, s->n_out, s->in, s->n_in, NULL), status, words);
    download(s);
    for (int b = 0; b < s->n_buffers; ++b)
        trouble_unless(!memcmp(s->buffer[b].before, s->buffer[b].after, s->buffer[b].size),
                       "the refused call changed memory");
    for (int j = 0; j < s->n_out; ++j)
        trouble_unless(!stage_output(s, j) || !stage_output(s, j)->is_fresh || !s->out[j],
                       "the refused call left an output allocated");
}

char *stage_explain(stage *s, const char *target)
{
    char *line = NULL;
    if (!in_trouble())
        succeeded(kiln_kernel_explain(&line, s->kernel, s->out, s->n_out, s->in, s->n_in, NULL, target),
                  "kiln_kernel_explain");
    if (line)
        return line;
    line = calloc(1, 1);
    if (!line)
        abort();
    return line;
}
