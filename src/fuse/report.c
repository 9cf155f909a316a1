/* Explains a lowering to people. */
#include "fuse/report.h"

#include "graph/op.h"
#include "base/alloc.h"
#include "base/caret.h"
#include "base/error.h"

/* Bytes of the elements along the axes of the space, each element counted once. */
static double bytes_along(const kn_group *g, const int64_t *stride, int item)
{
    double bytes = item;
    for (int a = 0; a < g->ndim; ++a)
        if (stride[a] != 0)
            bytes *= (double)g->extent[a];
    return bytes;
}

static size_t item_of_node(const kn_lower_state *s, int node)
{
    return kiln_dtype_size(s->is_buffered[node] ? kn_buffer_dtype(s, node) : s->typed[node].dtype);
}

static double bytes_of_node(const kn_lower_state *s, int node)
{
    double bytes = (double)item_of_node(s, node);
    for (int a = 0; a < s->typed[node].ndim; ++a)
        bytes *= (double)s->typed[node].shape[a];
    return s->typed[node].is_scalar ? 0 : bytes;
}

static int item_of_leaf(const kn_lower_state *s, const kn_leaf *leaf)
{
    return (int)item_of_node(s, leaf->node);
}

static double bytes_of_group(const kn_lower_state *s, const kn_group *g)
{
    double bytes = 0;
    const kn_node *opaque = g->is_opaque ? &s->graph->node[g->root[0]] : NULL;
    for (int k = 0; opaque && k < opaque->n_in; ++k)
        bytes += bytes_of_node(s, opaque->in[k]);
    for (const kn_leaf *leaf = g->leaf; leaf && !opaque; leaf = leaf->next)
        bytes += leaf->kind == KN_BASE_RANGE ? 0 : bytes_along(g, leaf->stride, item_of_leaf(s, leaf));
    for (int r = 0; r < g->n_roots; ++r)
        bytes += bytes_of_node(s, g->root[r]);
    return bytes;
}

/* Extends a range by the word before or behind it, and the blanks between. */
static void add_word(size_t *begin, size_t *end, const char *text, bool is_left)
{
    while (is_left && *begin > 0 && text[*begin - 1] == ' ')
        --*begin;
    while (is_left && *begin > 0 && kn_is_name_char(text[*begin - 1]))
        --*begin;
    while (!is_left && text[*end] == ' ')
        ++*end;
    while (!is_left && kn_is_name_char(text[*end]))
        ++*end;
}

/* The most characters of an expression that are shown for a node. */
enum { LONGEST = 400 };

/* Extends the range from an operator to its operands, within one statement. */
static void add_operands(size_t *begin, size_t *end, const kn_graph *g, const kn_node *n)
{
    size_t first = *begin, last = *end;
    for (int k = 0; k < n->n_in; ++k) {
        const kn_node *in = &g->node[n->in[k]];
        if (in->kind == KN_NODE_INPUT) /* an input has no place of its own: it may be named anywhere */
            add_word(&first, &last, g->text, k == 0 && n->n_in > 1);
        if (in->length == 0)
            continue;
        first = in->at < first ? in->at : first;
        last = in->at + in->length > last ? in->at + in->length : last;
    }
    for (size_t k = first; k < last && last - first <= LONGEST; ++k)
        if (g->text[k] == ';' || g->text[k] == '\n')
            return;
    if (last - first > LONGEST)
        return;
    *begin = first;
    *end = last;
}

/* The node's text, on one line; for a trace, which has no text, the function and a number. */
static void put_node(kn_str *out, const kn_lower_state *s, int node)
{
    const kn_node *n = &s->graph->node[node];
    if (n->kind == KN_NODE_INPUT) {
        kn_str_append(out, s->graph->input[n->index]);
        return;
    }
    for (int j = 0; j < s->graph->n_out; ++j)
        if (s->graph->out[j] == node) {
            kn_str_append(out, s->graph->output[j]);
            return;
        }
    if (n->length == 0) {
        const char *name = n->name ? n->name : n->kernel ? kiln_kernel_name(n->kernel) : "node";
        kn_str_printf(out, "%s %d", name, node);
        return;
    }
    size_t begin = n->at, end = n->at + n->length;
    if (n->is_operator)
        add_operands(&begin, &end, s->graph, n);
    bool is_cut = end - begin > LONGEST;
    for (size_t k = begin; k < (is_cut ? begin + LONGEST : end); ++k)
        kn_str_append_n(out, s->graph->text[k] == '\n' ? " " : &s->graph->text[k], 1);
    if (is_cut)
        kn_str_append(out, " ...");
}

static bool are_of_one(const kn_text *text, int a, int b)
{
    const kn_leaf *one = text->in[a].leaf, *other = text->in[b].leaf;
    return one && other && one->kind == other->kind && one->node == other->node;
}

/* Elements that a reduction without a loop reads are a parameter each: together they are one array. */
static bool is_first_of(const kn_text *text, int k)
{
    int first = 0;
    while (!are_of_one(text, first, k))
        ++first;
    return first == k;
}

static double bytes_of_leaves(const kn_lower_state *s, const kn_group *g, const kn_text *text, int k)
{
    double bytes = 0;
    for (int other = k; other < text->n_in; ++other)
        if (other == k || (g->has_unrolled && are_of_one(text, k, other)))
            bytes += bytes_along(g, text->in[other].leaf->stride, item_of_leaf(s, text->in[other].leaf));
    return bytes;
}

void kn_report_part(kn_str *out, const kn_lower_state *s, const kn_group *g, const kn_text *text,
                    const kn_program *program)
{
    const char *before = "reads";
    kn_str_printf(out, "%s:", program->name);
    for (int k = 0; k < text->n_in; ++k) {
        const kn_leaf *leaf = text->in[k].leaf;
        if (!leaf || (g->has_unrolled && !is_first_of(text, k)))
            continue;
        kn_str_printf(out, " %s ", before);
        put_node(out, s, leaf->node);
        kn_str_printf(out, " (%.0f bytes)",
                      g->is_opaque ? bytes_of_node(s, s->graph->node[g->root[0]].in[k])
                                   : bytes_of_leaves(s, g, text, k));
        before = "and";
    }
    before = "writes";
    for (int r = 0; r < g->n_roots; ++r) {
        kn_str_printf(out, "%s %s ", r == 0 && text->n_in > 0 ? ";" : "", before);
        put_node(out, s, g->root[r]);
        kn_str_printf(out, " (%.0f bytes)", bytes_of_node(s, g->root[r]));
        before = " and";
    }
}

enum { MICROSECOND = 1000000 /* in picoseconds */ };

void kn_report_times(kn_str *out, const kn_fusion_times *t)
{
    if (t->fused > 0)
        kn_str_printf(out, "; one kernel: about %.0f us, several: %.0f", (double)t->fused / MICROSECOND,
                      (double)t->split / MICROSECOND);
}

void kn_report_group(kn_moved *moved, const kn_lower_state *s, const kn_group *group)
{
    ++moved->n_kernels;
    moved->bytes += bytes_of_group(s, group);
}

double kn_report_alone(const kn_lower_state *s)
{
    double bytes = 0;
    for (int n = 0; n < s->graph->n_nodes; ++n) {
        const kn_node *node = &s->graph->node[n];
        if (node->kind != KN_NODE_CALL && node->kind != KN_NODE_KERNEL && node->kind != KN_NODE_CAST)
            continue;
        bytes += bytes_of_node(s, n);
        for (int k = 0; k < node->n_in; ++k)
            bytes += bytes_of_node(s, node->in[k]);
    }
    return bytes;
}

static kiln_status store_reason(kn_stored *out, const kn_lower_state *s, int node, const char *reason,
                                const kn_fusion_times *times)
{
    kn_str what = KN_STR_INIT, why = KN_STR_INIT;
    put_node(&what, s, node);
    kn_str_append(&why, reason);
    kn_report_times(&why, times);
    out->what = kn_str_take(&what, "a lowered expression");
    out->why = kn_str_take(&why, "a lowered expression");
    return out->what && out->why ? KILN_OK : KILN_ERROR_MEMORY;
}

kiln_status kn_report_stored(kn_lowered *out, const kn_lower_state *s, const int *buffer_of,
                             const kn_why *why, const kn_fusion_times *times)
{
    static const char *const reasons[] = {
        [KN_WHY_PLACE] = "what reads it needs all of it, or its elements at other places than it has them",
        [KN_WHY_LONG] = "the kernel would be too large",
        [KN_WHY_ROWS] =
            "one kernel would read its inputs once for each reduction, or leave most of the device idle",
        [KN_WHY_MOVES] = "by a model of what each way moves several kernels take less",
        [KN_WHY_READER] = "what reads the values behind it computes them",
        [KN_WHY_ALONE] = "its texts, or its options, cannot stand beside others",
        [KN_WHY_RANGE] = "where it is read there is no index to count by, or dividing for one takes longer",
        [KN_WHY_LAYOUT] = "one kernel would gather it: it lies along another axis than other inputs",
        [KN_WHY_STRIPS] = ("a kernel over rows combines their columns by strips of rows, and another one the "
                           "strips")};
    kiln_status status = KILN_OK;
    out->stored = kn_calloc((size_t)out->n_buffers + 1, sizeof *out->stored);
    if (!out->stored)
        return kn_error_memory("a lowered expression");
    out->n_stored = out->n_buffers;
    for (int n = 0; n < s->graph->n_nodes && status == KILN_OK; ++n)
        if (why[n] != KN_WHY_NONE && s->is_buffered[n])
            status = store_reason(&out->stored[buffer_of[n]], s, n, reasons[why[n]], &times[n]);
    return status;
}
