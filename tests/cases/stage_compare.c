/* The expectation of a stage, element by element, and the comparison of every byte. */
#include "stage_parts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the broadcast shape, worked out naively ---- */

static void join_shape(stage *s, const operand *o)
{
    int ndim = s->ndim > o->ndim ? s->ndim : o->ndim;
    int64_t joined[KILN_MAX_NDIM];
    for (int k = 1; k <= ndim; ++k) {
        int64_t a = k <= s->ndim ? s->shape[s->ndim - k] : 1, b = k <= o->ndim ? o->shape[o->ndim - k] : 1;
        trouble_unless(a == b || a == 1 || b == 1, "the case itself is wrong: its shapes do not broadcast");
        joined[ndim - k] = a == 1 ? b : a;
    }
    memcpy(s->shape, joined, (size_t)ndim * sizeof *joined);
    s->ndim = ndim;
}

/* An array that the call allocated: here it has the broadcast shape and a buffer of its own. */
static void take_fresh(stage *s, operand *o, kiln_array *array)
{
    int64_t run = (int64_t)kiln_dtype_size(o->dtype);
    if (o->buffer < 0)
        o->buffer = s->n_buffers++;
    buffer *b = &s->buffer[o->buffer];
    o->ndim = s->ndim;
    memcpy(o->shape, s->shape, sizeof s->shape);
    for (int a = s->ndim; a-- > 0; run *= s->shape[a])
        o->stride[a] = run;
    bool same = kiln_array_dtype(array) == o->dtype && kiln_array_ndim(array) == s->ndim &&
                !memcmp(kiln_array_shape(array), s->shape, (size_t)s->ndim * sizeof *s->shape);
    if (!trouble_unless(same,
                        "an allocated output has %s and %d axes, or another shape than the broadcast one",
                        kiln_dtype_name(kiln_array_dtype(array)), kiln_array_ndim(array)))
        return;
    o->at = 0;
    b->size = kiln_array_nbytes(array);
    stage_free_copies(b);
    b->before = malloc(b->size + 1);
    b->expected = calloc(1, b->size + 1);
    b->after = malloc(b->size + 1);
    if (!b->before || !b->expected || !b->after)
        abort();
    succeeded(kiln_array_to_host(array, b->after, b->size), "kiln_array_to_host of an allocated output");
    memcpy(b->expected, b->after, b->size);
    memcpy(b->before, b->after, b->size);
}

void stage_broadcast(stage *s, int64_t size)
{
    s->ndim = size > 0 ? 1 : 0;
    s->shape[0] = size;
    for (int k = 0; k < s->n_operands; ++k)
        if (!s->operand[k].is_scalar && !s->operand[k].is_fresh && !s->operand[k].is_raw)
            join_shape(s, &s->operand[k]);
    for (int j = 0; j < s->n_out; ++j)
        if (stage_output(s, j)->is_fresh)
            take_fresh(s, stage_output(s, j), s->out[j]);
}

/* ---- the walk ---- */

/* All operands, side by side along the broadcast shape. */
typedef struct cursor {
    const stage *s;
    int64_t index[KILN_MAX_NDIM];
    int64_t at[STAGE_OPERANDS], step[STAGE_OPERANDS][KILN_MAX_NDIM];
} cursor;

static void cursor_start(cursor *w, const stage *s)
{
    memset(w, 0, sizeof *w);
    w->s = s;
    for (int k = 0; k < s->n_operands; ++k) {
        const operand *o = &s->operand[k];
        w->at[k] = o->at;
        for (int a = 0; !o->is_scalar && !o->is_raw && a < o->ndim; ++a)
            w->step[k][s->ndim - o->ndim + a] = o->shape[a] == 1 ? 0 : o->stride[a];
    }
}

static void cursor_advance(cursor *w)
{
    for (int a = w->s->ndim; a-- > 0;) {
        bool inside = ++w->index[a] < w->s->shape[a];
        for (int k = 0; k < w->s->n_operands; ++k)
            w->at[k] += inside ? w->step[k][a] : -w->step[k][a] * (w->s->shape[a] - 1);
        if (inside)
            return;
        w->index[a] = 0;
    }
}

static int64_t count_elements(const stage *s)
{
    int64_t count = 1;
    for (int a = 0; a < s->ndim; ++a)
        count *= s->shape[a];
    return count;
}

static void place_element(element *e, const cursor *w)
{
    int n_in = 0, n_out = 0;
    for (int k = 0; k < w->s->n_operands; ++k) {
        const operand *o = &w->s->operand[k];
        if (o->is_output)
            e->out[n_out++] = w->s->buffer[o->buffer].expected + w->at[k];
        else
            e->in[n_in++] = o->is_scalar ? o->scalar : w->s->buffer[o->buffer].before + w->at[k];
    }
}

static void start_element(element *e, const cursor *w)
{
    int n_in = 0, n_out = 0;
    *e = (element){.n = count_elements(w->s), .index = w->index, .ndim = w->s->ndim};
    for (int k = 0; k < w->s->n_operands; ++k) {
        const operand *o = &w->s->operand[k];
        *(o->is_output ? &e->out_operand[n_out] : &e->in_operand[n_in]) = o;
        if (o->is_output)
            e->out_dtype[n_out++] = o->dtype;
        else
            e->in_dtype[n_in++] = o->dtype;
    }
}

static int64_t raw_offset(const operand *o, int64_t linear)
{
    int64_t at = 0;
    for (int a = o->ndim; a-- > 0; linear /= o->shape[a])
        at += linear % o->shape[a] * o->stride[a];
    return at;
}

const void *raw_in(const element *e, int k, int64_t linear)
{
    return (const char *)e->in[k] + raw_offset(e->in_operand[k], linear);
}

void *raw_out(const element *e, int j, int64_t linear)
{
    return (char *)e->out[j] + raw_offset(e->out_operand[j], linear);
}

void stage_expect(stage *s, expectation expect)
{
    cursor w;
    element e;
    if (in_trouble())
        return;
    cursor_start(&w, s);
    start_element(&e, &w);
    for (e.i = 0; e.i < e.n; ++e.i) {
        place_element(&e, &w);
        expect(&e);
        cursor_advance(&w);
    }
}

/* ---- comparison ---- */

static void format_index(char *out, size_t size, const cursor *w)
{
    size_t at = (size_t)snprintf(out, size, "(");
    for (int a = 0; a < w->s->ndim && at < size; ++a)
        at += (size_t)snprintf(out + at, size - at, "%s%" PRId64, a ? ", " : "", w->index[a]);
    if (at < size)
        snprintf(out + at, size - at, ")");
}

static void compare_element(const cursor *w, int k)
{
    const operand *o = &w->s->operand[k];
    const buffer *b = &w->s->buffer[o->buffer];
    char index[256];
    if (elements_agree(b->after + w->at[k], b->expected + w->at[k], o->dtype, w->s->tolerance)) {
        memcpy(b->expected + w->at[k], b->after + w->at[k], kiln_dtype_size(o->dtype));
        return;
    }
    format_index(index, sizeof index, w);
    trouble("operand %d (%s) at %s: %s came, %s was expected (before: %s)", k, kiln_dtype_name(o->dtype),
            index, element_text(b->after + w->at[k], o->dtype),
            element_text(b->expected + w->at[k], o->dtype), element_text(b->before + w->at[k], o->dtype));
}

static void compare_outputs(const stage *s)
{
    cursor w;
    int64_t count = count_elements(s);
    cursor_start(&w, s);
    for (int64_t i = 0; i < count && !in_trouble(); ++i) {
        for (int k = 0; k < s->n_operands; ++k)
            if (s->operand[k].is_output && !s->operand[k].is_raw)
                compare_element(&w, k);
        cursor_advance(&w);
    }
}

/* The number of right bytes at the beginning; all of them, mostly. */
static size_t same_bytes(const buffer *b)
{
    return memcmp(b->after, b->expected, b->size) == 0 ? b->size : 0;
}

bool stage_compare(stage *s)
{
    if (getenv("CASES_WITHOUT_VALUES"))
        return !in_trouble();
    if (!in_trouble())
        compare_outputs(s);
    for (int b = 0; b < s->n_buffers && !in_trouble(); ++b)
        for (size_t k = same_bytes(&s->buffer[b]); k < s->buffer[b].size; ++k)
            if (!trouble_unless(
                    s->buffer[b].after[k] == s->buffer[b].expected[k],
                    "buffer %d: byte %zu of %zu, which belongs to no output, changed from %d to %d", b, k,
                    s->buffer[b].size, s->buffer[b].expected[k], s->buffer[b].after[k]))
                break;
    if (!in_trouble())
        return true;
    char *description = stage_describe(s), text[8192];
    snprintf(text, sizeof text, "%s\n%s", trouble_text(), description);
    trouble_clear();
    trouble("%s", text);
    free(description);
    return false;
}

/* ---- description ---- */

static size_t put(char *out, size_t size, size_t at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static size_t put(char *out, size_t size, size_t at, const char *format, ...)
{
    va_list arguments;
    if (at >= size)
        return at;
    va_start(arguments, format);
    at += (size_t)vsnprintf(out + at, size - at, format, arguments);
    va_end(arguments);
    return at;
}

char *stage_describe(const stage *s)
{
    enum { SIZE = 6000 };
    char *out = calloc(1, SIZE);
    size_t at = 0;
    if (!out)
        abort();
    for (int k = 0; k < s->n_operands; ++k) {
        const operand *o = &s->operand[k];
        at = put(out, SIZE, at, "    operand %d: %s %s", k, o->is_output ? "output" : "input",
                 kiln_dtype_name(o->dtype));
        if (o->is_scalar && o->dtype != KILN_DTYPE_NONE)
            at = put(out, SIZE, at, " scalar %s", element_text(o->scalar, o->dtype));
        for (int a = 0; !o->is_scalar && a < o->ndim; ++a)
            at = put(out, SIZE, at, " %" PRId64 ":%" PRId64, o->shape[a], o->stride[a]);
        at = put(out, SIZE, at,
                 o->is_scalar  ? "\n"
                 : o->is_fresh ? " (allocated)\n"
                               : " (extent:stride), buffer %d + %" PRId64 "\n",
                 o->buffer, o->at);
    }
    return out;
}
