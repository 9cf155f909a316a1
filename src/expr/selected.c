/* Reductions of x[mask]: sum(x[mask]) is sum(where(mask, x, 0)), one launch, and nothing is selected. A mask
 * of leading axes broadcasts against x where the axes of both are reversed. */
#include "expr/selected.h"

#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "expr/call.h"
#include "expr/composed.h"
#include "kernel/indexed.h"
#include "kernel/sort.h"
#include "program/program.h"

/* ---- whether x[array] is by a mask ---- */

typedef enum index_type { UNKNOWN, MASK, WHOLE } index_type;

static index_type type_of(kiln_dtype dtype)
{
    return dtype == KILN_BOOL ? MASK : dtype != KILN_DTYPE_NONE ? WHOLE : UNKNOWN;
}

static index_type find_type(const kn_graph *g, int number, int depth);

static index_type type_of_call(const kn_graph *g, const kn_node *node, int depth)
{
    static const char *const logical[] = {"bitwise_and", "bitwise_or", "bitwise_xor", "invert"};
    bool all_masks = true, is_logical = false;
    kn_known_operation known;
    if (kn_find_operation(&known, node->name, strlen(node->name)) && known.gives_booleans)
        return MASK;
    for (size_t k = 0; k < sizeof logical / sizeof logical[0]; ++k)
        is_logical = is_logical || strcmp(node->name, logical[k]) == 0;
    for (int k = 0; k < node->n_in; ++k) {
        const index_type in = find_type(g, node->in[k], depth + 1);
        if (in == WHOLE)
            return WHOLE;
        all_masks = all_masks && in == MASK;
    }
    return all_masks && is_logical ? MASK : UNKNOWN;
}

enum { DEEPEST = 16 };

static index_type find_type(const kn_graph *g, int number, int depth)
{
    const kn_node *node = &g->node[number];
    if (depth == DEEPEST)
        return UNKNOWN;
    switch (node->kind) {
    case KN_NODE_INPUT:
        return g->whole_inputs >> node->index & 1 ? WHOLE : UNKNOWN;
    case KN_NODE_NUMBER:
        return node->number.kind == KILN_ARG_WEAK_BOOL ? MASK : WHOLE;
    case KN_NODE_CALL:
        return type_of_call(g, node, depth);
    case KN_NODE_KERNEL:
        return kn_node_algorithm(node)
                   ? WHOLE
                   : type_of(node->kernel->program->param[node->kernel->program->n_in + node->index].dtype);
    case KN_NODE_CAST:
        return type_of(node->dtype);
    case KN_NODE_EXTENT:
    case KN_NODE_NDIM:
    case KN_NODE_ARANGE:
        return WHOLE;
    case KN_NODE_LIKE:
        if (node->index < 0)
            return UNKNOWN;
        return node->dtype ? type_of(node->dtype) : find_type(g, node->in[node->index], depth + 1);
    case KN_NODE_SLICE:
    case KN_NODE_TRANSPOSE:
    case KN_NODE_RESHAPE:
    case KN_NODE_BROADCAST:
    case KN_NODE_WINDOWS:
    case KN_NODE_STRIPS:
        break;
    }
    return find_type(g, node->in[0], depth + 1);
}

/* An input that may be either decides: its bit says that the other reading of the text is another. */
static void note_guess(kn_graph *g, int number, int depth)
{
    const kn_node *node = &g->node[number];
    if (node->kind == KN_NODE_INPUT && node->index < 64)
        g->guessed_inputs |= UINT64_C(1) << node->index;
    for (int k = 0; k < node->n_in && depth < DEEPEST; ++k)
        if (find_type(g, node->in[k], depth + 1) == UNKNOWN)
            note_guess(g, node->in[k], depth + 1);
}

bool kn_index_is_mask(kn_graph *g, int number)
{
    const index_type type = find_type(g, number, 0);
    if (type == UNKNOWN)
        note_guess(g, number, 0);
    return type != WHOLE;
}

/* ---- reductions ---- */

/* float32 at least, in which parts of means are added up; the mean. */
#define MEAN                                                                                                 \
    "z = zeros_like(mean(x)) + zeros(1, dtype=float32)[0]; n = count_nonzero(broadcast_to(m, x.shape)); "    \
    "c = sum(w + z) / n; "
#define VARIANCE MEAN "d = where(m, x - c, z); v = sum(real(d * conj(d))) / maximum(n - ddof, 0); "

/* By name, what is computed of x and a mask m. `other`, of elements that are not selected, leaves the others
 * and their dtype as they are, and the reduction goes on; `better`: true if `a` is the one of two; `result`
 * is all there is to compute, of x, m, `w`, which is 0 where nothing is selected, and ddof. */
static const struct {
    const char *name, *other, *better, *result;
} rows[] = {{"all", "True", NULL, NULL},
            {"any", "False", NULL, NULL},
            {"count_nonzero", "False", NULL, NULL},
            {"max", "False", "a.value >= b.value || kn_is_nan(a.value)", NULL},
            {"mean", "False", NULL, MEAN "full_like(mean(x), c)"},
            {"min", "False", "a.value <= b.value || kn_is_nan(a.value)", NULL},
            {"nanmax", "False", "a.value >= b.value || kn_is_nan(b.value)", NULL},
            {"nanmin", "False", "a.value <= b.value || kn_is_nan(b.value)", NULL},
            {"nansum", "False", NULL, NULL},
            {"norm_1", "False", NULL, NULL},
            {"norm_2", "False", NULL, NULL},
            {"prod", "True", NULL, NULL},
            {"std", "False", NULL, VARIANCE "full_like(std(x), sqrt(v))"},
            {"sum", "False", NULL, NULL},
            {"var", "False", NULL, VARIANCE "full_like(var(x), v)"}};
enum { ROWS = sizeof rows / sizeof rows[0] };

static int find_row(const char *name)
{
    int row = 0;
    while (row < ROWS && strcmp(rows[row].name, name) != 0)
        ++row;
    return row;
}

static kiln_status make_best(kiln_kernel **out, const void *row)
{
    const int r = *(const int *)row;
    kn_str reduce = KN_STR_INIT;
    kiln_kernel_options o = KILN_KERNEL_OPTIONS_INIT;
    o.preamble = "struct kn_chosen { T value; bool is_there; };";
    o.reduce_type = "kn_chosen";
    kn_str_printf(&reduce, "!b.is_there ? a : !a.is_there || !(%s) ? b : a", rows[r].better);
    kiln_status status = kn_str_status(&reduce, "the texts of a reduction");
    /* NaN, which integers have none of, where nothing is selected. */
    if (status == KILN_OK)
        status = kiln_reduction_create(out, "T x, bool m", "T y", "kn_chosen{x, m}", kn_str_text(&reduce),
                                       "y = a.is_there || (T)0.5f == (T)0 ? a.value : (T)NAN",
                                       "kn_chosen{(T)0, false}", rows[r].name, &o);
    kn_str_free(&reduce);
    return status;
}

/* The greatest or the least: a reduction of pairs, which says whether an element is selected. */
static kiln_status reduce_to_best(kn_value *out, kn_parser *p, const kn_called *c, int row, const int *in)
{
    kn_str key = KN_STR_INIT;
    kiln_kernel *kernel = NULL;
    kn_str_printf(&key, "selected %s", rows[row].name);
    kiln_status status = kn_kernel_remembered(&kernel, &key, make_best, &row);
    kn_str_free(&key);
    return status == KILN_OK ? kn_call_add_kernel(out, p, c, kernel, in, 2, 1) : status;
}

static kiln_status choose(kn_value *out, kn_parser *p, const kn_node *of, int row, const int *in,
                          kn_masked masked)
{
    int read[3] = {in[1], in[0]};
    char name[] = "where";
    kn_value other;
    const kn_node where = {.kind = KN_NODE_CALL,
                           .n_in = 3,
                           .in = read,
                           .name = name,
                           .masked = masked,
                           .at = of->at,
                           .length = of->length};
    kiln_status status = kn_parser_number(&other, p, kiln_arg_bool(strcmp(rows[row].other, "True") == 0),
                                          where.at, where.length);
    if (status == KILN_OK)
        status = kn_parser_node(&read[2], p, &other);
    return status == KILN_OK ? kn_parser_add(out, p, &where) : status;
}

/* x and the mask, their axes reversed unless all axes of x are the mask's. */
static kiln_status find_inputs(int *in, kn_parser *p, const kn_node *of, bool is_whole)
{
    kiln_status status = KILN_OK;
    for (int k = 0; k < 2 && status == KILN_OK; ++k) {
        int read = of->in[k];
        const kn_node reversed = {
            .kind = KN_NODE_TRANSPOSE, .n_in = 1, .in = &read, .at = of->at, .length = of->length};
        kn_value value;
        in[k] = read;
        if (is_whole)
            continue;
        status = kn_parser_add(&value, p, &reversed);
        if (status == KILN_OK)
            status = kn_parser_node(&in[k], p, &value);
    }
    return status;
}

/* A result of its own. *value: the elements of x, others where nothing is selected, with which the shapes of
 * x and the mask are checked. */
static kiln_status compute(kn_value *value, kn_parser *p, const kn_called *c, int row, int *in,
                           const kn_value *ddof)
{
    static const char *const names[] = {"x", "m", "w", "ddof"};
    kn_value part[4] = {{.kind = KN_VALUE_NODE, .node = in[0], .at = c->at, .length = c->length},
                        {.kind = KN_VALUE_NODE, .node = in[1], .at = c->at, .length = c->length},
                        *value,
                        *ddof};
    kiln_status status = KILN_OK;
    if (rows[row].better) {
        status = kn_parser_node(&in[0], p, value);
        return status == KILN_OK ? reduce_to_best(value, p, c, row, in) : status;
    }
    if (ddof->kind == KN_VALUE_ABSENT)
        status = kn_parser_number(&part[3], p, kiln_arg_int(0), c->at, c->length);
    return status == KILN_OK ? kn_compose(value, p, c, rows[row].result, names, part, 4) : status;
}

kiln_status kn_reduce_selected(kn_value *value, bool *is_done, kn_parser *p, const kn_called *c,
                               kn_node *reduction, const kn_value *ddof, bool has_dtype)
{
    const kn_node *node = value->kind == KN_VALUE_NODE ? &p->graph->node[value->node] : NULL;
    const int row = find_row(reduction->name);
    const bool is_first = reduction->n_axes == 1 && (reduction->axis[0] == 0 || reduction->axis[0] == -1);
    int in[2];
    *is_done = false;
    if (!node || node->kind != KN_NODE_KERNEL || !kn_indexed_is_alone(node->kernel) || row == ROWS ||
        reduction->keepdims || (reduction->has_axes && !is_first))
        return KILN_OK;
    const bool is_own = rows[row].better || rows[row].result;
    const kn_node of = *node; /* nodes may move */
    if ((has_dtype && is_own) || !kn_index_is_mask(p->graph, of.in[1]))
        return KILN_OK;
    int own[2] = {of.in[0], of.in[1]};
    kn_node selection = of;
    selection.in = own;
    kiln_status status = find_inputs(in, p, &selection, reduction->has_axes);
    const kn_masked masked = reduction->has_axes ? KN_MASKED : KN_MASKED_LAST;
    reduction->has_axes = false;
    reduction->n_axes = 0;
    if (status == KILN_OK)
        status = choose(value, p, &selection, row, in, masked);
    *is_done = is_own;
    return status == KILN_OK && is_own ? compute(value, p, c, row, in, ddof) : status;
}
