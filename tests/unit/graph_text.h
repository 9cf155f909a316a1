/* graph_text.h - a graph as text, for tests: its results, each written out, by their names. */
#ifndef GRAPH_TEXT_H
#define GRAPH_TEXT_H

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "graph/graph.h"
#include "kernel/kernel.h"
#include "types/dtype.h"

static void graph_text_node(kn_str *out, const kn_graph *g, int k);

static void graph_text_bound(kn_str *out, int64_t bound)
{
    if (bound != KILN_SLICE_NONE)
        kn_str_printf(out, "%lld", (long long)bound);
}

static void graph_text_number(kn_str *out, const kiln_arg *number)
{
    if (number->kind == KILN_ARG_WEAK_BOOL)
        kn_str_append(out, number->value.i ? "True" : "False");
    else if (number->kind == KILN_ARG_WEAK_INT)
        kn_str_printf(out, "%lld", (long long)number->value.i);
    else if (number->kind == KILN_ARG_WEAK_UINT)
        kn_str_printf(out, "%lluu", (unsigned long long)number->value.u);
    else if (number->kind == KILN_ARG_WEAK_FLOAT)
        kn_str_printf(out, "%.17gf", number->value.d[0]);
    else
        kn_str_printf(out, "%.17g%+.17gj", number->value.d[0], number->value.d[1]);
}

static void graph_text_subscripts(kn_str *out, const kn_node *node)
{
    static const char *const words[] = {"",     "",     "None", "...",  "one",
                                        "ones", "flip", "fill", "part", "array"};
    for (int s = 0; s < node->n_subscripts; ++s) {
        const kn_subscript *subscript = &node->subscript[s];
        kn_str_append(out, s > 0 ? "," : "[");
        kn_str_append(out, words[subscript->kind]);
        if (subscript->kind == KN_SUBSCRIPT_FILL || subscript->kind == KN_SUBSCRIPT_PART)
            kn_str_printf(out, " %lld of %lld", (long long)subscript->start, (long long)subscript->stop);
        if (subscript->kind == KN_SUBSCRIPT_INDEX || subscript->kind == KN_SUBSCRIPT_SLICE)
            graph_text_bound(out, subscript->start);
        if (subscript->kind != KN_SUBSCRIPT_SLICE)
            continue;
        kn_str_append(out, ":");
        graph_text_bound(out, subscript->stop);
        if (subscript->step != KILN_SLICE_NONE)
            kn_str_printf(out, ":%lld", (long long)subscript->step);
    }
    kn_str_append(out, "]");
}

static void graph_text_axes(kn_str *out, const kn_node *node)
{
    kn_str_append(out, "<");
    for (int a = 0; a < node->n_axes; ++a)
        if (node->extent)
            kn_str_printf(out, "%s%lld", a > 0 ? "," : "", (long long)node->extent[a]);
        else
            kn_str_printf(out, "%s%d", a > 0 ? "," : "", node->axis[a]);
    kn_str_append(out, node->keepdims ? " kept>" : ">");
}

static void graph_text_name(kn_str *out, const kn_node *node)
{
    static const char *const names[] = {
        [KN_NODE_TRANSPOSE] = "transpose", [KN_NODE_RESHAPE] = "reshape", [KN_NODE_EXTENT] = "extent",
        [KN_NODE_NDIM] = "ndim",           [KN_NODE_ARANGE] = "arange",   [KN_NODE_BROADCAST] = "broadcast",
        [KN_NODE_WINDOWS] = "windows",     [KN_NODE_LIKE] = "like"};
    if (node->kind == KN_NODE_CALL)
        kn_str_append(out, node->name);
    else if (node->kind == KN_NODE_KERNEL)
        kn_str_append(out, node->kernel->program->name);
    else if (node->kind == KN_NODE_CAST)
        kn_str_append(out, kiln_dtype_name(node->dtype));
    else
        kn_str_append(out, names[node->kind]);
    if (node->kind == KN_NODE_LIKE && (node->dtype || node->index == 0))
        kn_str_printf(out, ".%s", node->dtype ? kiln_dtype_name(node->dtype) : "x");
    if (node->is_operator)
        kn_str_append(out, "'");
    if ((node->kind == KN_NODE_CALL || node->kind == KN_NODE_KERNEL) && node->index > 0)
        kn_str_printf(out, ".%d", node->index);
    if (node->has_axes || node->n_axes > 0 || node->keepdims)
        graph_text_axes(out, node);
}

static void graph_text_node(kn_str *out, const kn_graph *g, int k)
{
    const kn_node *node = &g->node[k];
    if (node->kind == KN_NODE_INPUT) {
        kn_str_append(out, g->input[node->index]);
    } else if (node->kind == KN_NODE_NUMBER) {
        graph_text_number(out, &node->number);
    } else if (node->kind == KN_NODE_SLICE) {
        graph_text_node(out, g, node->in[0]);
        graph_text_subscripts(out, node);
    } else {
        graph_text_name(out, node);
        for (int i = 0; i < node->n_in; ++i) {
            kn_str_append(out, i > 0 ? ", " : "(");
            graph_text_node(out, g, node->in[i]);
        }
        kn_str_append(out, ")");
    }
}

/* "out = add'(x, 2)": an apostrophe behind what keeps weak numbers weak, axes in <>. */
static void graph_text(kn_str *out, const kn_graph *g)
{
    for (int r = 0; r < g->n_out; ++r) {
        kn_str_printf(out, "%s%s = ", r > 0 ? "; " : "", g->output[r]);
        graph_text_node(out, g, g->out[r]);
    }
}

#endif
