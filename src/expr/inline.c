/* Copies the graph of a called kernel into the graph of its caller. */
#include "expr/inline.h"

#include "base/alloc.h"
#include "base/error.h"
#include "kernel/kernel.h"

static int widest(const kn_graph *graph)
{
    int most = 0;
    for (int k = 0; k < graph->n_nodes; ++k)
        most = graph->node[k].n_in > most ? graph->node[k].n_in : most;
    return most;
}

kiln_status kn_graph_inline(int *number, kn_graph *to, const kn_graph *from, const int *in,
                            kiln_kernel *option_group, size_t at, size_t length)
{
    size_t bytes = ((size_t)widest(from) + 1) * sizeof(int);
    int *read = kn_malloc(bytes);
    kiln_status status = read ? KILN_OK : kn_error_memory("a graph");
    for (int k = 0; k < from->n_nodes && status == KILN_OK; ++k) {
        kn_node node = from->node[k];
        for (int i = 0; i < node.n_in; ++i)
            read[i] = number[node.in[i]];
        node.in = read;
        bool computes = node.kind == KN_NODE_CALL || node.kind == KN_NODE_KERNEL || node.kind == KN_NODE_CAST;
        if (computes && !node.option_group)
            node.option_group = option_group;
        node.at = at;
        node.length = length;
        if (node.kind == KN_NODE_INPUT)
            number[k] = in[node.index];
        else
            status = kn_graph_add(&number[k], to, &node);
    }
    kn_free(read);
    return status;
}

kiln_kernel *kn_expression_option_group(kiln_kernel *kernel)
{
    const kiln_kernel_options *o = &kn_expression_of(kernel)->options;
    return o->flags || o->preamble[0] || o->n_compile_options > 0 || o->n_headers > 0 ? kernel : NULL;
}

const kn_param *kn_kernel_refused(const kn_program *p)
{
    const kn_param *refused = NULL;
    for (int k = p->n_in + p->n_out; k-- > 0;)
        if (p->param[k].type == KN_TYPE_STRUCT ||
            (k < p->n_in && p->param[k].is_raw && p->param[k].is_non_const))
            refused = &p->param[k];
    return refused;
}
