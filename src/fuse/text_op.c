/* The operations of a group, equal ones shared, and the namespaces of their preambles. */
#include "fuse/text_parts.h"

#include <string.h>

#include "fuse/number_text.h"

static bool same_operation(const kn_node *a, const kn_typed *ta, const kn_node *b, const kn_typed *tb)
{
    if (a->kind != b->kind || a->kernel != b->kernel || ta->definition != tb->definition ||
        ta->variant.n_in != tb->variant.n_in || ta->variant.n_out != tb->variant.n_out)
        return false;
    size_t count = (size_t)ta->variant.n_in + (size_t)ta->variant.n_out;
    if (a->kernel)
        return memcmp(ta->param, tb->param, sizeof ta->param) == 0;
    return memcmp(ta->variant.dtype, tb->variant.dtype, count * sizeof *ta->variant.dtype) == 0;
}

/* Puts the preamble of an operation into a namespace, with its types, and its reduce expression as a
 * function. */
static void put_space(kn_text_writer *w, const kn_text_space *s)
{
    const kn_op *op = s->op;
    kn_str *out = &w->preamble, type = KN_STR_INIT;
    kn_str_printf(out, "namespace f%d {\n", s->number);
    for (int k = 0; k < op->n_in + op->n_out; ++k) {
        bool is_first = op->param[k].type == KN_TYPE_PLACEHOLDER;
        for (int j = 0; j < k && is_first; ++j)
            is_first = op->param[j].type != KN_TYPE_PLACEHOLDER ||
                       op->param[j].placeholder != op->param[k].placeholder;
        if (is_first)
            kn_str_printf(out, "typedef %s %c;\n", kn_op_type(op, k), op->param[k].placeholder);
    }
    kn_str_append(out, op->preamble);
    kn_str_append(out, "\n");
    if (op->reduce) {
        if (op->value == KILN_DTYPE_NONE)
            kn_str_append(&type, op->value_struct);
        else
            kn_op_put_value_type(&type, op, "");
        kn_str_printf(out,
                      "__device__ __forceinline__ %s fold(const %s a, const %s b, const bool _follows) {\n"
                      "    (void)_follows;\n    return %s;\n}\n",
                      kn_str_text(&type), kn_str_text(&type), kn_str_text(&type), op->reduce);
        if (op->identity)
            kn_str_printf(out, "__device__ __forceinline__ %s none() { return %s; }\n", kn_str_text(&type),
                          op->identity);
    }
    kn_str_append(out, "}\n");
    out->failed |= type.failed;
    kn_str_free(&type);
}

static int find_space(kn_text_writer *w, const kn_use *u, const kn_op *op)
{
    const kn_node *n = kn_text_node_of(w, u);
    const kn_typed *t = kn_text_typed_of(w, u);
    if (!op->preamble)
        return -1;
    for (const kn_text_space *s = w->spaces; s; s = s->next)
        if (same_operation(s->node, s->typed, n, t))
            return s->number;
    kn_text_space *s = kn_text_take(w, sizeof *s);
    if (!s)
        return -1;
    *s = (kn_text_space){w->spaces, op, n, t, w->n_spaces++};
    w->spaces = s;
    put_space(w, s);
    return s->number;
}

/* The element itself, through views. */
static const kn_use *source_of(const kn_text_writer *w, const kn_use *u)
{
    for (;;) {
        kn_node_kind kind = kn_text_node_of(w, u)->kind;
        bool is_view = kind == KN_NODE_SLICE || kind == KN_NODE_TRANSPOSE || kind == KN_NODE_RESHAPE ||
                       kind == KN_NODE_BROADCAST;
        if (!is_view || u->leaf || u->n_in != 1)
            return u;
        u = u->in[0];
    }
}

/* A call of the operation that is computed here in float32. */
static bool is_call(const kn_text_writer *w, const kn_use *u, const char *name)
{
    const kn_node *n = kn_text_node_of(w, u);
    return n->kind == KN_NODE_CALL && !u->leaf && u->n_unrolled == 0 && strcmp(n->name, name) == 0 &&
           kn_computed_dtype(kn_text_typed_of(w, u)->dtype) == KILN_FLOAT32;
}

/* True if only sums of this kernel read it. */
static bool is_only_summed(const kn_text_writer *w, const kn_use *u)
{
    bool is_read = false, is_only = true;
    for (const kn_use *v = u->after; v; v = v->after)
        for (int k = 0; k < v->n_in; ++k)
            if (v->in[k] == u) {
                is_read = true;
                is_only = is_only && v->is_own_reduction && is_call(w, v, "sum");
            }
    for (int r = 0; r < w->group->n_roots; ++r)
        is_only = is_only && w->group->root_use[r] != u;
    return is_read && is_only;
}

/* The difference of an element and the greatest one of those that are reduced. */
static bool is_below_greatest(const kn_text_writer *w, const kn_use *u)
{
    if (!is_call(w, u, "subtract") || u->n_in != 2)
        return false;
    const kn_use *greatest = source_of(w, u->in[1]);
    return greatest->is_own_reduction && is_call(w, greatest, "max") && greatest->in[0] == u->in[0];
}

/* A number of an integer dtype as float32, divided by a constant of usual size: multiplied by its reciprocal,
 * and the product corrected, to the same bits. */
static bool is_whole_quotient(const kn_text_writer *w, const kn_use *u)
{
    static const double least = 0x1p-20, most = 0x1p20;
    if (!is_call(w, u, "divide") || u->n_in != 2 || kn_text_typed_of(w, u)->dtype != KILN_FLOAT32)
        return false;
    const kn_use *whole = source_of(w, u->in[0]);
    const kn_node *cast = kn_text_node_of(w, whole), *by = kn_text_node_of(w, u->in[1]);
    return cast->kind == KN_NODE_CAST && !whole->leaf && whole->n_in == 1 && by->kind == KN_NODE_NUMBER &&
           kn_text_typed_of(w, whole)->dtype == KILN_FLOAT32 &&
           kn_dtype_info_of(kn_text_typed_of(w, whole->in[0])->dtype)->kind < KN_KIND_FLOAT &&
           by->number.kind != KILN_ARG_WEAK_COMPLEX && kn_real_part(&by->number) >= least &&
           kn_real_part(&by->number) <= most;
}

/* The text that takes the place of an operation's own: a square is a product, as in NumPy; exponentials that
 * are only summed, one of them of 0, need no more accuracy than their sum has. */
static const char *other_text(const kn_text_writer *w, const kn_use *u)
{
    bool rounds = w->options && w->options->flags & KILN_KERNEL_ROUND_EACH;
    if (kn_node_is_square(w->state->graph, kn_text_node_of(w, u)))
        return "z = x * x";
    if (is_whole_quotient(w, u))
        return "z = kn_whole_quotient(x, y)";
    return !rounds && is_call(w, u, "exp") && is_below_greatest(w, u->in[0]) && is_only_summed(w, u)
               ? "y = kn_summed_exp(x)"
               : NULL;
}

/* The operation of a use, shared with equal ones: reductions are compared by its address. */
static const kn_op *find_op(kn_text_writer *w, const kn_use *u)
{
    const kn_op *op = NULL;
    const char *text = other_text(w, u);
    for (const kn_use *v = w->group->first_use; v != u; v = v->after)
        if (w->op[v->number] && w->text[v->number] == text &&
            same_operation(kn_text_node_of(w, v), kn_text_typed_of(w, v), kn_text_node_of(w, u),
                           kn_text_typed_of(w, u)))
            return w->op[v->number];
    kiln_status status = kn_op_find(&op, w->state->arena, kn_text_node_of(w, u), kn_text_typed_of(w, u), text,
                                    w->options ? w->options->flags : 0);
    if (status != KILN_OK && w->status == KILN_OK)
        w->status = status;
    w->text[u->number] = text;
    return op;
}

void kn_text_find_ops(kn_text_writer *w)
{
    for (const kn_use *u = w->group->first_use; u && w->status == KILN_OK; u = u->after) {
        kn_node_kind kind = kn_text_node_of(w, u)->kind;
        if (u->leaf || (kind != KN_NODE_CALL && kind != KN_NODE_KERNEL))
            continue;
        if (!w->op[u->number])
            w->op[u->number] = find_op(w, u);
        if (w->op[u->number])
            w->space_of[u->number] = find_space(w, u, w->op[u->number]);
    }
}
