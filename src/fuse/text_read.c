/* The inputs of a group's text: parameters, numbers, ranges. */
#include "fuse/text_parts.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "fuse/number_text.h"

void *kn_text_take(kn_text_writer *w, size_t size)
{
    void *out = kn_arena_take(w->state->arena, size);
    if (!out && w->status == KILN_OK)
        w->status = kn_error_memory("a lowered expression");
    return out;
}

static int add_param(kn_text_writer *w, const kn_text_param *p)
{
    kn_text *t = w->out;
    for (int k = 0; k < t->n_in; ++k)
        if (t->in[k].leaf == p->leaf && t->in[k].input == p->input && t->in[k].dtype == p->dtype &&
            t->in[k].bound.side == p->bound.side && t->in[k].bound.of == p->bound.of &&
            memcmp(&t->in[k].number, &p->number, sizeof p->number) == 0)
            return k;
    if (t->n_in + w->group->n_roots >= KN_MAX_PARAMS) {
        if (w->status == KILN_OK)
            w->status = kn_error(KILN_ERROR_UNSUPPORTED,
                                 "%s: a kernel of the expression needs more than %d parameters",
                                 w->state->graph->name, KN_MAX_PARAMS);
        return 0;
    }
    t->in[t->n_in] = *p;
    kn_str_printf(&w->in, "%s%s %c%d", t->n_in > 0 ? ", " : "", kiln_dtype_name(p->dtype),
                  p->leaf ? 'x' : 's', t->n_in);
    return t->n_in++;
}

const char *kn_text_param_name(kn_text_writer *w, const kn_text_param *p)
{
    char *name = kn_text_take(w, KN_TEXT_NAME);
    int k = add_param(w, p);
    if (!name)
        return "";
    w->reads |= UINT64_C(1) << k;
    snprintf(name, KN_TEXT_NAME, "%c%d", p->leaf ? 'x' : 's', k);
    return name;
}

/* Adjacent axes of the program's space along which an index counts without gaps, by `step` from one
 * element to the next. */
typedef struct counted {
    int64_t step, inside, count; /* inside: elements along the axes inside of these; count: along these */
    bool is_one;                 /* the index does not move along any other axis */
    bool is_outermost;
} counted;

/* The count of a range along the axes in `among`. */
static counted count_along(const kn_text_writer *w, const kn_leaf *leaf, uint64_t among)
{
    const kn_group *g = w->group;
    counted c = {0, 1, 1, true, true};
    bool is_over = false;
    for (int k = g->ndim; k-- > 0;) {
        int axis = w->out->order[k];
        int64_t stride = leaf->stride[axis], extent = g->extent[axis];
        if (extent == 1)
            continue;
        if (!(among >> axis & 1)) {
            c.is_one = c.is_one && stride == 0;
        } else if (stride == 0 && c.step == 0) {
            c.inside *= extent;
        } else if (stride == 0) {
            is_over = true;
            c.is_outermost = false;
        } else {
            c.step = c.step == 0 ? stride : c.step;
            c.is_one = c.is_one && !is_over && stride == c.step * c.count;
            c.count *= extent;
        }
    }
    return c;
}

/* The name of a whole number that follows from the shapes: "s7". */
static const char *whole(kn_text_writer *w, int64_t number)
{
    const kn_text_param p = {.input = -1, .number = kiln_arg_int(number), .dtype = KILN_INT64};
    return kn_text_param_name(w, &p);
}

/* The index of a range's element: from the index among the reduction axes, from the program's own index,
 * or from the index along each axis, which needs more divisions. */
static void put_range_index(kn_text_writer *w, kn_str *out, const kn_leaf *leaf)
{
    const kn_group *g = w->group;
    const counted row = count_along(w, leaf, g->reduced), own = count_along(w, leaf, ~UINT64_C(0));
    bool is_of_row = g->is_settled && row.is_one && row.step != 0;
    const counted *c = is_of_row ? &row : &own;
    const char *index = is_of_row ? "_J" : "i";
    if (!c->is_one) {
        kn_str_printf(out, "(%s", whole(w, leaf->shift));
        for (int k = 0; k < g->ndim; ++k)
            if (leaf->stride[w->out->order[k]] != 0)
                kn_str_printf(out, " + %s * _ind.get()[%d]", whole(w, leaf->stride[w->out->order[k]]), k);
        kn_str_append(out, ")");
        return;
    }
    bool is_plain = leaf->shift == 0 && c->step == 1;
    kn_str_append(out, "(");
    if (!is_plain)
        kn_str_printf(out, "%s + %s * ", whole(w, leaf->shift), whole(w, c->step));
    if (c->step == 0)
        kn_str_append(out, "0");
    else if (c->inside == 1 && c->is_outermost)
        kn_str_append(out, index);
    else if (c->inside == 1)
        kn_str_printf(out, "(%s %% %s)", index, whole(w, c->count));
    else if (c->is_outermost)
        kn_str_printf(out, "(%s / %s)", index, whole(w, c->inside));
    else
        kn_str_printf(out, "(%s / %s %% %s)", index, whole(w, c->inside), whole(w, c->count));
    kn_str_append(out, ")");
}

/* Appends input `in` of a range, or a number that may be a bound, as a value of dtype. A 16-bit float is
 * its value in float32. */
static void put_scalar(kn_text_writer *w, kn_str *out, int node, kiln_dtype dtype, kn_bound bound)
{
    const kn_node *n = &w->state->graph->node[node];
    const kn_typed *t = &w->state->typed[node];
    const kn_dtype_kind kind = kn_dtype_info_of(dtype)->kind;
    const bool is_half = kn_dtype_is_half(dtype);
    const kiln_arg given = kn_bound_number(bound, &t->number, dtype),
                   number = is_half && given.kind != KILN_ARG_NONE ? kn_weak_rounded(&given, dtype) : given;
    if (n->kind == KN_NODE_NUMBER) {
        kn_put_number(out, &number, dtype);
    } else if (number.kind != KILN_ARG_NONE) {
        const kn_text_param p = {.input = -1, .number = number, .dtype = kn_computed_dtype(dtype)};
        kn_str_append(out, kn_text_param_name(w, &p));
    } else if (is_half && t->is_weak) {
        const kn_text_param p = {.input = t->from, .dtype = dtype, .bound = bound};
        kn_str_printf(out, "((float)%s)", kn_text_param_name(w, &p));
    } else {
        bool is_cut =
            t->dtype == KILN_FLOAT64 && (kind == KN_KIND_INT || kind == KN_KIND_UINT); /* in a cast */
        kiln_dtype own = t->is_weak && !is_cut ? dtype : kn_computed_dtype(t->dtype);
        const kn_text_param p = {
            .input = t->from, .dtype = own, .bound = t->is_weak && !is_cut ? bound : KN_NO_BOUND};
        kn_put_cast(out, kn_text_param_name(w, &p), own, dtype, w->state->is_host);
    }
}

const char *kn_text_keep(kn_text_writer *w, kn_str *text)
{
    char *copy = text->failed ? NULL : kn_text_take(w, text->length + 1);
    if (copy && text->length > 0)
        memcpy(copy, text->data, text->length);
    if (!copy && w->status == KILN_OK)
        w->status = kn_str_status(text, "a lowered expression");
    kn_str_free(text);
    return copy ? copy : "";
}

const char *kn_text_operand(kn_text_writer *w, const kn_use *u, kiln_dtype dtype, kn_bound bound)
{
    kn_str text = KN_STR_INIT;
    if (kn_is_number(w->state, u->node))
        put_scalar(w, &text, u->node, dtype, bound);
    else
        kn_put_cast(&text, w->name[u->number], kn_text_typed_of(w, u)->dtype, dtype, w->state->is_host);
    return kn_text_keep(w, &text);
}

void kn_text_name_use(kn_text_writer *w, const kn_use *u, char letter)
{
    snprintf(w->name[u->number], KN_TEXT_NAME, "%c%d", letter, u->number);
}

void kn_text_put_range(kn_text_writer *w, kn_str *out, const kn_use *u)
{
    const kn_node *n = &w->state->graph->node[u->leaf->node];
    kiln_dtype dtype = w->state->typed[u->leaf->node].dtype;
    const char *type = kn_computed_name(dtype);
    kn_str start = KN_STR_INIT, step = KN_STR_INIT;
    put_scalar(w, &start, n->in[0], kn_computed_dtype(dtype), KN_NO_BOUND);
    put_scalar(w, &step, n->in[2], kn_computed_dtype(dtype), KN_NO_BOUND);
    kn_text_name_use(w, u, 't');
    kn_str_printf(out, "const %s %s = %s + (%s)", type, w->name[u->number], kn_str_text(&start), type);
    put_range_index(w, out, u->leaf);
    kn_str_printf(out, " * %s;\n", kn_str_text(&step));
    out->failed |= start.failed || step.failed;
    kn_str_free(&start);
    kn_str_free(&step);
}

/* The least elements on the host for which a table of a range's numbers is worth its kernel, and the least
 * reads of each number. */
enum { MANY_ELEMENTS = 1 << 15, MANY_READS = 16 };

/* True if a range is faster to read: on the host the division takes longer than everything else that is
 * done with an element. */
bool kn_text_is_better_read(const kn_text_writer *w, const kn_leaf *leaf)
{
    const kn_group *g = w->group;
    const kn_typed *range = &w->state->typed[leaf->node];
    int64_t size = 1;
    for (int a = 0; a < g->ndim; ++a)
        size *= g->extent[a];
    const counted row = count_along(w, leaf, g->reduced), own = count_along(w, leaf, ~UINT64_C(0));
    bool divides = !(g->is_settled && row.is_one && row.step != 0) && own.step != 0 &&
                   !(own.is_one && own.inside == 1 && own.is_outermost);
    return w->state->is_host && divides && size >= MANY_ELEMENTS && range->shape[0] <= size / MANY_READS;
}
