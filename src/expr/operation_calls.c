/* Calls of operations and of the user's kernels in an expression. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "eager/operation.h"
#include "expr/call.h"
#include "expr/common_arguments.h"
#include "expr/inline.h"
#include "expr/names.h"
#include "expr/selected.h"
#include "kernel/kernel.h"

enum { SLOTS = KN_MAX_PARAMS + 3 };

/* A function that is called: an operation, a kernel, or a kernel with a graph. */
typedef struct callee {
    const kn_param *param;
    int n_min, n_max, n_out;
    uint64_t arities;
    bool is_reduction, takes_dtype;
    bool scans;            /* is_reduction: keeps its axes; without axis it scans one axis of all elements */
    const kn_graph *graph; /* of a kernel that has one: its nodes are added to the caller's graph */
    kiln_kernel *option_group;
} callee;

/* Lists the parameters in the order in which arguments are matched; returns how many may be positional. */
static int list_names(const char **name, int *n_names, const callee *f)
{
    int n = 0, n_places = f->is_reduction ? f->n_min : f->n_max;
    for (int k = 0; k < n_places; ++k)
        name[n++] = f->param[k].name;
    if (f->is_reduction) {
        name[n++] = "axis";
        if (!f->scans)
            name[n++] = "keepdims";
    }
    if (f->takes_dtype)
        name[n++] = "dtype";
    for (int k = n_places; k < f->n_max; ++k)
        name[n++] = f->param[k].name;
    *n_names = n;
    return n_places + f->is_reduction;
}

/* Moves the inputs to the front of slot, and counts the given ones. */
static kiln_status settle_inputs(int *n_in, kn_value *slot, const kn_parser *p, const kn_called *c,
                                 const callee *f)
{
    int n_places = f->is_reduction ? f->n_min : f->n_max;
    for (int k = n_places; k < f->n_max; ++k)
        slot[k] = slot[k + 2 - f->scans + f->takes_dtype];
    *n_in = 0;
    while (*n_in < f->n_max && slot[*n_in].kind != KN_VALUE_ABSENT)
        ++*n_in;
    for (int k = *n_in; k < f->n_max; ++k)
        if (slot[k].kind != KN_VALUE_ABSENT)
            return kn_call_need(p, c, &slot[*n_in], f->param[*n_in].name);
    if (f->arities >> *n_in & 1)
        return KILN_OK;
    if (*n_in < f->n_max)
        return kn_call_need(p, c, &slot[*n_in], f->param[*n_in].name);
    return kn_call_refuse(p, c, "another number of arguments was expected");
}
static kiln_status add_results(kn_value *out, kn_parser *p, const kn_graph *graph, const int *number,
                               const kn_node *call)
{
    kn_value tuple = {.kind = KN_VALUE_TUPLE,
                      .first = p->n_items,
                      .count = graph->n_out,
                      .at = call->at,
                      .length = call->length};
    kiln_status status = KILN_OK;
    for (int j = 0; j < graph->n_out && status == KILN_OK; ++j) {
        const kn_value one = {
            .kind = KN_VALUE_NODE, .node = number[graph->out[j]], .at = call->at, .length = call->length};
        *out = one;
        status = graph->n_out > 1 ? kn_parser_push_item(p, &one) : KILN_OK;
    }
    if (graph->n_out > 1)
        *out = tuple;
    return status;
}

static kiln_status add_graph(kn_value *out, kn_parser *p, const kn_graph *graph, kiln_kernel *option_group,
                             const kn_node *call)
{
    size_t bytes = (size_t)graph->n_nodes * sizeof(int);
    int *number = kn_malloc(bytes);
    kiln_status status =
        number ? kn_graph_inline(number, p->graph, graph, call->in, option_group, call->at, call->length)
               : kn_error_memory("a graph");
    if (status == KILN_OK)
        status = add_results(out, p, graph, number, call);
    kn_free(number);
    return status;
}

/* Without an axis all elements, in C order, are scanned as one axis. */
static kiln_status scan_flat(int *in, kn_node *node, kn_parser *p)
{
    int64_t all = -1;
    kn_value flat;
    kn_node reshape = {.kind = KN_NODE_RESHAPE,
                       .n_in = 1,
                       .in = in,
                       .n_axes = 1,
                       .extent = &all,
                       .at = node->at,
                       .length = node->length};
    kiln_status status = kn_parser_add(&flat, p, &reshape);
    if (status == KILN_OK)
        status = kn_parser_node(in, p, &flat);
    node->has_axes = true;
    node->n_axes = 1;
    node->axis[0] = 0;
    return status;
}

static kiln_status call_with(kn_value *out, kn_parser *p, const kn_called *c, const callee *f, kn_node node)
{
    kn_value slot[SLOTS] = {{0}};
    const char *name[SLOTS];
    int in[KN_MAX_PARAMS], n_names, n_places = list_names(name, &n_names, f);
    int n_reduced = f->is_reduction ? f->n_min : 0;
    kn_value dtype = {.kind = KN_VALUE_ABSENT};
    const kn_value absent = dtype;
    bool is_done = false;
    kiln_status status = kn_call_match(slot, p, c, name, n_names, n_places, 0);
    node.at = c->at;
    node.length = c->length;
    node.in = in;
    if (status == KILN_OK && f->is_reduction)
        status = kn_call_reduced(&node, p, &slot[n_reduced], f->scans ? &absent : &slot[n_reduced + 1]);
    if (status == KILN_OK && f->takes_dtype)
        dtype = slot[n_reduced + 2 - f->scans];
    if (status == KILN_OK)
        status = settle_inputs(&node.n_in, slot, p, c, f);
    if (status == KILN_OK && f->is_reduction && !f->scans && node.kind == KN_NODE_CALL && n_reduced == 1)
        status = kn_reduce_selected(&slot[0], &is_done, p, c, &node, node.n_in > 1 ? &slot[1] : &absent,
                                    kn_call_is_given(&dtype));
    if (is_done) {
        *out = slot[0];
        return status;
    }
    for (int k = 0; k < n_reduced && status == KILN_OK; ++k) /* a value computed in a dtype has that dtype */
        status = kn_call_cast(&slot[k], p, c, &dtype);
    for (int k = 0; k < node.n_in && status == KILN_OK; ++k)
        status = kn_parser_node(&in[k], p, &slot[k]);
    if (status == KILN_OK && f->scans && node.kind == KN_NODE_CALL && !node.has_axes)
        status = scan_flat(in, &node, p);
    if (status != KILN_OK)
        return status;
    status = f->graph ? add_graph(out, p, f->graph, f->option_group, &node)
                      : kn_call_add_outputs(out, p, &node, f->n_out);
    return status == KILN_OK ? kn_call_cast(out, p, c, &dtype) : status;
}

kiln_status kn_call_operation(kn_value *out, kn_parser *p, const kn_called *c, const kn_known_operation *o)
{
    kn_param param[KN_MAX_PARAMS];
    int n_in, n_out;
    char name[KN_NAME_MAX];
    kn_node node = {.kind = KN_NODE_CALL, .name = name};
    if (o->is_reduction && !o->scans && kn_call_has_where(p, c, o->name))
        return kn_call_reduced_where(out, p, c, o->name);
    kiln_status status = kn_operation_params(param, &n_in, &n_out, o->longest);
    callee f = {.param = param,
                .n_min = o->n_min,
                .n_max = o->n_max,
                .n_out = o->n_out,
                .arities = o->arities,
                .is_reduction = o->is_reduction,
                .scans = o->scans};
    f.takes_dtype = kn_operation_traits(o->name) & KN_OP_TAKES_DTYPE;
    snprintf(name, sizeof name, "%s", o->name);
    kn_common_set(&node, c);
    return status == KILN_OK ? call_with(out, p, c, &f, node) : status;
}

/* Refuses a kernel that is no function of values: one with structs, or that writes to anything but outputs.
 */
static kiln_status check_kernel(const kn_parser *p, const kn_called *c, const kn_program *program)
{
    const kn_param *param = kn_kernel_refused(program);
    if (!param)
        return KILN_OK;
    return kn_parser_refuse(
        p, c->at, c->length, "%s: its parameter '%s' is %s, which no expression has", program->name,
        param->name,
        param->type == KN_TYPE_STRUCT ? "a struct" : "raw and _non_const, an array that it may write to");
}

kiln_status kn_call_kernel(kn_value *out, kn_parser *p, const kn_called *c, kiln_kernel *kernel)
{
    const kn_program *program = kernel->program;
    callee f = {.param = program->param,
                .n_min = program->n_in,
                .n_max = program->n_in,
                .n_out = program->n_out,
                .arities = UINT64_C(1) << program->n_in,
                .is_reduction = program->reduced == KN_REDUCED_BY_CALL,
                .scans = kn_program_scans(program)};
    kn_node node = {.kind = KN_NODE_KERNEL, .kernel = kernel};
    const kn_expression *e = kn_expression_of(kernel);
    f.graph = e ? e->graph : NULL;
    f.option_group = e ? kn_expression_option_group(kernel) : NULL;
    kiln_status status = check_kernel(p, c, program);
    return status == KILN_OK ? call_with(out, p, c, &f, node) : status;
}
