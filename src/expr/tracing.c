/* Traces: operations on arrays of a trace become nodes of its graph. Each is added to a temporary graph
 * first, where dtypes and shapes are checked, so that a failure leaves the trace unchanged. */
#include <kiln/trace.h>

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "array/array.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"
#include "expr/expression.h"
#include "graph/infer.h"
#include "expr/inline.h"
#include "expr/names.h"
#include "program/program.h"
#include "base/caret.h"
#include "types/number.h"

struct kiln_trace {
    kn_recorder recorder;  /* first, since arrays of the trace point to it */
    atomic_int references; /* the caller's, and one for each array */
    kn_graph *graph;       /* NULL: the trace has ended or was abandoned. Inputs are at their places */
    int n_in;
    char *name, *input[KN_MAX_PARAMS];
};

static kiln_trace *trace_of(const kiln_array *array)
{
    return (kiln_trace *)(void *)array->recorder;
}

/* ---- what one call is ---- */

typedef struct recording {
    const char *name; /* the name of the function, for messages */
    /* One of the two: a node, without its inputs and `index`; or a graph. */
    const kn_node *node;
    const kn_graph *graph;
    kiln_kernel *option_group; /* of the graph */
    int n_in, n_out;
    const kiln_arg *in;
    const kiln_dtype *cast; /* dtypes to which inputs are cast before; NULL: none */
} recording;

/* A number of a dtype, as an equal weak number. */
static kiln_arg weak_number(const kiln_arg *arg)
{
    if (arg->kind != KILN_ARG_TYPED)
        return *arg;
    kn_number x = kn_number_load(arg->value.bytes, (kiln_dtype)arg->dtype);
    return x.kind == KN_KIND_BOOL    ? kiln_arg_bool(x.i != 0)
           : x.kind == KN_KIND_INT   ? kiln_arg_int(x.i)
           : x.kind == KN_KIND_UINT  ? kiln_arg_uint(x.u)
           : x.kind == KN_KIND_FLOAT ? kiln_arg_float(x.re)
                                     : kiln_arg_complex(x.re, x.im);
}

static kiln_status add_cast(int *number, kn_graph *g, kiln_dtype dtype)
{
    int read = *number;
    const kn_node cast = {.kind = KN_NODE_CAST, .n_in = 1, .in = &read, .dtype = dtype};
    return kn_graph_add(number, g, &cast);
}

static kiln_dtype dtype_of(const kiln_arg *arg)
{
    return arg->kind == KILN_ARG_ARRAY ? arg->value.array->dtype : KILN_DTYPE_NONE;
}

static kiln_status add_operand(int *out, kn_graph *g, const recording *r, int k, bool is_alone)
{
    const kiln_arg *arg = &r->in[k];
    kn_node node = {.kind = KN_NODE_INPUT, .index = k};
    kiln_status status = KILN_OK;
    if (arg->kind == KILN_ARG_ARRAY && !is_alone) {
        *out = arg->value.array->node;
    } else {
        if (arg->kind != KILN_ARG_ARRAY)
            node = (kn_node){.kind = KN_NODE_NUMBER, .number = weak_number(arg)};
        status = kn_graph_add(out, g, &node);
    }
    if (status == KILN_OK && arg->kind == KILN_ARG_TYPED)
        status = add_cast(out, g, (kiln_dtype)arg->dtype);
    if (status == KILN_OK && r->cast && dtype_of(arg) != r->cast[k]) /* a cast to the same dtype would
                                                                        round */
        status = add_cast(out, g, r->cast[k]);
    return status;
}

static kiln_status add_graph(int *out, kn_graph *g, const kn_graph *from, kiln_kernel *option_group,
                             const int *in)
{
    int *number = kn_malloc((size_t)from->n_nodes * sizeof *number);
    kiln_status status =
        number ? kn_graph_inline(number, g, from, in, option_group, 0, 0) : kn_error_memory("a trace");
    for (int j = 0; j < from->n_out && status == KILN_OK; ++j)
        out[j] = number[from->out[j]];
    kn_free(number);
    return status;
}

/* out[j]: the node of output j. is_alone: the arrays are inputs of a graph that has nothing else. */
static kiln_status add_recording(int *out, kn_graph *g, const recording *r, bool is_alone)
{
    int in[KN_MAX_PARAMS];
    kiln_status status = KILN_OK;
    for (int k = 0; k < r->n_in && status == KILN_OK; ++k)
        status = add_operand(&in[k], g, r, k, is_alone);
    if (status != KILN_OK)
        return status;
    if (r->graph)
        return add_graph(out, g, r->graph, r->option_group, in);
    kn_node node = *r->node;
    node.in = in;
    node.n_in = r->n_in;
    for (int j = 0; j < r->n_out && status == KILN_OK; ++j) {
        node.index = j;
        status = kn_graph_add(&out[j], g, &node);
    }
    return status;
}

/* ---- recording it ---- */

static kiln_status infer(kn_typed **typed, int *out, const kiln_trace *t, const recording *r)
{
    kn_argument argument[KN_MAX_PARAMS];
    kn_graph *alone = NULL;
    kiln_status status = kn_graph_create(&alone, t->name, "");
    for (int k = 0; k < r->n_in; ++k) {
        const kiln_array *a = r->in[k].kind == KILN_ARG_ARRAY ? r->in[k].value.array : NULL;
        if (a)
            argument[k] = (kn_argument){.dtype = a->dtype, .ndim = a->ndim, .shape = a->shape};
    }
    if (status == KILN_OK)
        status = add_recording(out, alone, r, true);
    if (status == KILN_OK)
        status = kn_graph_infer_most(typed, alone, argument);
    kn_graph_free(alone);
    return status;
}

static kiln_status make_array(kiln_array **out, const kn_typed *typed)
{
    return kn_array_placeholder(out, typed->dtype, typed->ndim, typed->shape);
}

static void bind_array(kiln_array *array, kiln_trace *t, int node)
{
    array->recorder = &t->recorder;
    array->node = node;
    atomic_fetch_add_explicit(&t->references, 1, memory_order_relaxed);
}

static kiln_status record(kiln_array **out, kiln_trace *t, const recording *r)
{
    kiln_array *made[KN_MAX_PARAMS] = {NULL};
    int node[KN_MAX_PARAMS];
    kn_typed *typed = NULL;
    kiln_status status = infer(&typed, node, t, r);
    for (int j = 0; j < r->n_out && status == KILN_OK; ++j)
        status = make_array(&made[j], &typed[node[j]]);
    if (status == KILN_OK)
        status = add_recording(node, t->graph, r, false);
    kn_free(typed);
    for (int j = 0; j < r->n_out; ++j)
        if (status == KILN_OK) {
            bind_array(made[j], t, node[j]);
            out[j] = made[j];
        } else {
            kiln_array_free(made[j]);
        }
    return status == KILN_OK || strstr(kiln_error_message(), r->name) ? status
                                                                      : kn_error_context("%s", r->name);
}

static kiln_status check_open(const kiln_trace *t, const char *what)
{
    return t->graph ? KILN_OK
                    : kn_error(KILN_ERROR_INVALID,
                               "%s: the trace '%s' has ended, and records nothing any more", what, t->name);
}

/* ---- views ---- */

static kiln_status record_view(kiln_array **out, const kiln_array *array, const char *name,
                               const kn_node *node)
{
    const kiln_arg in = kiln_arg_array(array);
    const recording r = {.name = name, .node = node, .n_in = 1, .n_out = 1, .in = &in};
    kiln_status status = check_open(trace_of(array), name);
    return status == KILN_OK ? record(out, trace_of(array), &r) : status;
}

static kiln_status record_index(kiln_array **out, const kiln_array *array, const kn_subscript *subscript,
                                int n_subscripts)
{
    kn_subscript list[KN_SUBSCRIPTS_CAPACITY];
    memcpy(list, subscript, (size_t)n_subscripts * sizeof *list);
    const kn_node node = {.kind = KN_NODE_SLICE, .subscript = list, .n_subscripts = n_subscripts};
    return record_view(out, array, "kiln_array_index", &node);
}

static kiln_status record_transpose(kiln_array **out, const kiln_array *array, const int *axes)
{
    kn_node node = {.kind = KN_NODE_TRANSPOSE, .n_axes = axes ? array->ndim : 0};
    for (int a = 0; a < node.n_axes; ++a)
        node.axis[a] = axes[a];
    return record_view(out, array, "kiln_array_transpose", &node);
}

/* Records a change of shape, given by extents. */
static kiln_status record_shape(kiln_array **out, const kiln_array *array, const char *name,
                                kn_node_kind kind, int ndim, const int64_t *shape)
{
    int64_t extent[KILN_MAX_NDIM + 1];
    for (int a = 0; a < ndim; ++a)
        extent[a] = shape[a];
    const kn_node node = {.kind = kind, .n_axes = ndim, .extent = extent};
    return record_view(out, array, name, &node);
}

static kiln_status record_reshape(kiln_array **out, const kiln_array *array, int ndim, const int64_t *shape)
{
    return record_shape(out, array, "kiln_array_reshape", KN_NODE_RESHAPE, ndim, shape);
}

static kiln_status record_broadcast_to(kiln_array **out, const kiln_array *array, int ndim,
                                       const int64_t *shape)
{
    return record_shape(out, array, "kiln_array_broadcast_to", KN_NODE_BROADCAST, ndim, shape);
}

/* Arrays of a trace are never written to, so a copy is another array for the same value. */
static kiln_status record_copy(kiln_array **out, const kiln_array *array)
{
    kiln_status status = check_open(trace_of(array), "kiln_array_copy");
    if (status == KILN_OK)
        status = kn_array_placeholder(out, array->dtype, array->ndim, array->shape);
    if (status == KILN_OK)
        bind_array(*out, trace_of(array), array->node);
    return status;
}

static kiln_status record_astype(kiln_array **out, const kiln_array *array, kiln_dtype dtype)
{
    const kn_node node = {.kind = KN_NODE_CAST, .dtype = dtype};
    return record_view(out, array, "kiln_array_astype", &node);
}

/* ---- calls ---- */

static kiln_status check_input(const kiln_trace *t, const char *name, int k, const kiln_arg *arg)
{
    const kiln_array *a = arg->kind == KILN_ARG_ARRAY ? arg->value.array : NULL;
    bool is_number = (arg->kind >= KILN_ARG_WEAK_BOOL && arg->kind <= KILN_ARG_WEAK_COMPLEX) ||
                     (arg->kind == KILN_ARG_TYPED && kn_dtype_info_of((kiln_dtype)arg->dtype));
    if (is_number || (a && a->recorder == &t->recorder))
        return KILN_OK;
    if (a && a->recorder)
        return kn_error(
            KILN_ERROR_INVALID,
            "%s: in[%d] is an array of the trace '%s', others are of '%s': one trace was expected", name, k,
            a->recorder->name, t->name);
    if (a)
        return kn_error(KILN_ERROR_INVALID,
                        "%s: in[%d] is an array with data, others are of the trace '%s': give it to the "
                        "kernel, by kiln_trace_input",
                        name, k, t->name);
    return kn_error(KILN_ERROR_INVALID, "%s: in[%d]: an array of the trace '%s', or a number, was expected",
                    name, k, t->name);
}

static kiln_status check_arguments(const kiln_trace *t, const char *name, kiln_array *const *out, int n_out,
                                   const kiln_arg *in, int n_in)
{
    kiln_status status = check_open(t, name);
    for (int k = 0; k < n_in && status == KILN_OK; ++k)
        status = check_input(t, name, k, &in[k]);
    if (status == KILN_OK && !out)
        return kn_error(KILN_ERROR_INVALID, "%s: out is NULL", name);
    for (int j = 0; j < n_out && status == KILN_OK; ++j)
        if (out[j])
            status = kn_error(
                KILN_ERROR_INVALID,
                "%s: out[%d]: an array was given, but a trace makes its results: NULL was expected", name, j);
    return status;
}

/* Axes become part of the node. KILN_CALL_NO_COMPILE holds anyway: recording compiles nothing. */
static kiln_status read_options(kn_node *node, const char *name, const kiln_call_options *given)
{
    kiln_call_options o;
    kiln_status status = kn_call_options_read(&o, given);
    if (status != KILN_OK)
        return status;
    const char *refused = o.stream                  ? "stream"
                          : o.block > 0             ? "block"
                          : o.order != KILN_ORDER_C ? "order"
                          : o.size > 0              ? "size"
                          : o.shape                 ? "shape"
                                                    : NULL;
    if (refused)
        return kn_error(KILN_ERROR_INVALID,
                        "%s: options.%s was given: a trace does not run; say it where its kernel is called",
                        name, refused);
    node->keepdims = o.flags & KILN_CALL_KEEPDIMS;
    node->has_axes = o.axes != NULL;
    node->n_axes = o.axes ? o.n_axes : 0;
    for (int a = 0; a < node->n_axes; ++a)
        node->axis[a] = o.axes[a];
    return KILN_OK;
}

/* Refuses options of a reduction for an operation that is none. */
static kiln_status check_reduces(const kn_node *node, const char *name, bool is_reduction)
{
    if (is_reduction || !(node->has_axes || node->keepdims))
        return KILN_OK;
    return kn_error(KILN_ERROR_INVALID,
                    "%s: options.%s was given, but it is no reduction, and has no axes to reduce", name,
                    node->has_axes ? "axes" : "flags: KILN_CALL_KEEPDIMS");
}

static kiln_status check_operation(const char *name, int n_out, const kn_node *node)
{
    kn_known_operation operation;
    if (!kn_find_operation(&operation, name, strlen(name)) || strcmp(operation.name, name) != 0)
        return kn_error(
            KILN_ERROR_NOT_FOUND,
            "there is no operation '%s'; one of the table or of kiln_operation_register was expected", name);
    if (n_out != operation.n_out)
        return kn_error(KILN_ERROR_INVALID, "%s: %d output argument%s given, %d expected", name, n_out,
                        n_out == 1 ? " was" : "s were", operation.n_out);
    return check_reduces(node, name, operation.is_reduction);
}

/* cast NULL: inputs keep their dtypes. */
static kiln_status apply(kiln_array **out, int n_out, const char *name, const kiln_arg *in, int n_in,
                         const kiln_call_options *options, const kiln_dtype *cast)
{
    kiln_trace *t = (kiln_trace *)(void *)kn_array_find_recorder(out, n_out, in, n_in);
    char own[KN_NAME_MAX];
    kn_node node = {.kind = KN_NODE_CALL, .name = own};
    snprintf(own, sizeof own, "%s", name);
    kiln_status status = read_options(&node, name, options);
    if (status == KILN_OK)
        status = check_operation(name, n_out, &node);
    if (status == KILN_OK)
        status = check_arguments(t, name, out, n_out, in, n_in);
    const recording r = {.name = name, .node = &node, .n_in = n_in, .n_out = n_out, .in = in, .cast = cast};
    return status == KILN_OK ? record(out, t, &r) : status;
}

static kiln_status record_apply(kiln_array **out, int n_out, const char *name, const kiln_arg *in, int n_in,
                                const kiln_call_options *options)
{
    return apply(out, n_out, name, in, n_in, options, NULL);
}

/* Records the kernel of an operation's variant as a call of the operation, with all inputs cast to its
 * dtypes. Whole numbers must fit. */
static kiln_status call_variant(kiln_array **out, const kn_program *p, const kiln_arg *in,
                                const kiln_call_options *options)
{
    kiln_dtype cast[KN_MAX_PARAMS];
    unsigned char element[16];
    kiln_status status = KILN_OK;
    for (int k = 0; k < p->n_in && status == KILN_OK; ++k) {
        cast[k] = p->param[k].dtype;
        if (in[k].kind != KILN_ARG_ARRAY)
            status = kn_scalar_convert(element, cast[k], &in[k], p->param[k].name);
    }
    return status == KILN_OK ? apply(out, p->n_out, p->name, in, p->n_in, options, cast) : status;
}

static kiln_status check_kernel(const kn_program *p)
{
    const kn_param *param = kn_kernel_refused(p);
    return param
               ? kn_error(KILN_ERROR_UNSUPPORTED,
                          "%s: its parameter '%s' is %s: such a kernel cannot be called in a trace", p->name,
                          param->name,
                          param->type == KN_TYPE_STRUCT ? "a struct"
                                                        : "raw and _non_const, an array that it may write to")
               : KILN_OK;
}

static kiln_status record_call(kiln_array **out, int n_out, kiln_kernel *kernel, const kiln_arg *in, int n_in,
                               const kiln_call_options *options)
{
    kiln_trace *t = (kiln_trace *)(void *)kn_array_find_recorder(out, n_out, in, n_in);
    const kn_program *p = kernel->program;
    const kn_expression *e = kn_expression_of(kernel);
    kn_node node = {.kind = KN_NODE_KERNEL, .kernel = kernel};
    if (p->casts)
        return call_variant(out, p, in, options);
    kiln_status status = read_options(&node, p->name, options);
    if (status == KILN_OK)
        status = check_reduces(&node, p->name, p->reduced == KN_REDUCED_BY_CALL);
    if (status == KILN_OK)
        status = check_arguments(t, p->name, out, n_out, in, n_in);
    if (status == KILN_OK && !e)
        status = check_kernel(p);
    const recording r = {.name = p->name,
                         .node = &node,
                         .graph = e ? e->graph : NULL,
                         .option_group = e ? kn_expression_option_group(kernel) : NULL,
                         .n_in = n_in,
                         .n_out = n_out,
                         .in = in};
    return status == KILN_OK ? record(out, t, &r) : status;
}

/* ---- the trace ---- */

static void free_trace(kiln_trace *t)
{
    kn_graph_free(t->graph);
    for (int k = 0; k < t->n_in; ++k)
        kn_free(t->input[k]);
    kn_free(t->name);
    kn_free(t);
}

static void release(kn_recorder *recorder)
{
    kiln_trace *t = (kiln_trace *)(void *)recorder;
    if (atomic_fetch_sub_explicit(&t->references, 1, memory_order_acq_rel) == 1)
        free_trace(t);
}

static const kn_recording functions = {record_index,        record_transpose, record_reshape,
                                       record_broadcast_to, record_copy,      record_astype,
                                       record_apply,        record_call,      release};

static bool is_identifier(const char *name)
{
    size_t length = strnlen(name, KN_NAME_MAX);
    bool is = length > 0 && length < KN_NAME_MAX && kn_is_name_start(name[0]);
    for (size_t k = 1; k < length && is; ++k)
        is = kn_is_name_char(name[k]);
    return is;
}

static kiln_status check_name(const char *function, const char *name)
{
    return is_identifier(name)
               ? KILN_OK
               : kn_error(KILN_ERROR_INVALID,
                          "%s: name: '%s' was given; a C identifier of at most %d characters was expected",
                          function, name, KN_NAME_MAX - 1);
}

kiln_status kiln_trace_begin(kiln_trace **out, const char *name)
{
    if (!out)
        return kn_error(KILN_ERROR_INVALID, "out is NULL; the address of a kiln_trace * was expected");
    name = name ? name : "trace";
    kiln_status status = check_name("kiln_trace_begin", name);
    if (status != KILN_OK)
        return status;
    kiln_trace *t = kn_calloc(1, sizeof *t);
    if (!t)
        return kn_error_memory("a trace");
    atomic_init(&t->references, 1);
    t->name = kn_strdup(name);
    status = t->name ? kn_graph_create(&t->graph, name, "") : kn_error_memory("a trace");
    if (status != KILN_OK) {
        free_trace(t);
        return status;
    }
    t->recorder = (kn_recorder){&functions, t->name};
    *out = t;
    return KILN_OK;
}

static bool is_taken(const kiln_trace *t, const char *name)
{
    bool is = false;
    for (int k = 0; k < t->n_in && !is; ++k)
        is = strcmp(t->input[k], name) == 0;
    return is;
}

/* made: memory for a name that is composed. */
static kiln_status choose_name(const char **out, char made[24], const kiln_trace *t, const char *given)
{
    *out = given ? given : made;
    for (int k = t->n_in; !given;) {
        snprintf(made, 24, "x%d", k++);
        if (!is_taken(t, made))
            return KILN_OK;
    }
    kiln_status status = check_name("kiln_trace_input", given);
    if (status == KILN_OK && is_taken(t, given))
        return kn_error(KILN_ERROR_INVALID,
                        "kiln_trace_input: name: the trace '%s' has an input '%s' already", t->name, given);
    return status;
}

static kiln_status add_input(kiln_array *array, kiln_trace *t, const char *name)
{
    const kn_node input = {.kind = KN_NODE_INPUT, .index = t->n_in};
    int node;
    char *copy = kn_strdup(name);
    if (!copy)
        return kn_error_memory("the name of an input");
    kiln_status status = kn_graph_add(&node, t->graph, &input);
    if (status != KILN_OK) {
        kn_free(copy);
        return status;
    }
    t->input[t->n_in++] = copy;
    bind_array(array, t, node);
    return KILN_OK;
}

kiln_status kiln_trace_input(kiln_array **out, kiln_trace *trace, const char *name, kiln_dtype dtype,
                             int ndim, const int64_t *shape)
{
    char made[24];
    kiln_array *array = NULL;
    if (!out || !trace)
        return kn_error(KILN_ERROR_INVALID, "kiln_trace_input: %s is NULL", out ? "trace" : "out");
    kiln_status status = check_open(trace, "kiln_trace_input");
    if (status == KILN_OK && trace->n_in == KN_MAX_PARAMS)
        return kn_error(KILN_ERROR_INVALID,
                        "kiln_trace_input: the trace '%s' has %d inputs, and cannot have more", trace->name,
                        KN_MAX_PARAMS);
    if (status == KILN_OK)
        status = choose_name(&name, made, trace, name);
    if (status == KILN_OK)
        status = kn_array_placeholder(&array, dtype, ndim, shape);
    if (status == KILN_OK)
        status = add_input(array, trace, name);
    if (status == KILN_OK)
        *out = array;
    else
        kiln_array_free(array);
    return status;
}

/* ---- the end ---- */

static kiln_status set_inputs(kn_graph *g, const kiln_trace *t)
{
    kn_str names = KN_STR_INIT;
    for (int k = 0; k < t->n_in; ++k)
        kn_str_printf(&names, "%s%s", k > 0 ? ", " : "", t->input[k]);
    kiln_status status = kn_str_status(&names, "the names of inputs");
    if (status == KILN_OK)
        status = kn_graph_set_inputs(g, kn_str_text(&names));
    kn_str_free(&names);
    return status;
}

static kiln_status copy_nodes(kn_graph *g, const kiln_trace *t, kiln_array *const *results, int n_results)
{
    int in[KN_MAX_PARAMS], *number = kn_malloc((size_t)t->graph->n_nodes * sizeof *number);
    for (int k = 0; k < t->n_in; ++k)
        in[k] = k;
    kiln_status status =
        number ? kn_graph_inline(number, g, t->graph, in, NULL, 0, 0) : kn_error_memory("a trace");
    for (int j = 0; j < n_results && status == KILN_OK; ++j)
        status = kn_graph_add_result(g, number[results[j]->node], NULL);
    kn_free(number);
    return status;
}

static kiln_status make_graph(kn_graph **out, const kiln_trace *t, kiln_array *const *results, int n_results)
{
    kn_graph *g = NULL;
    kiln_status status = kn_graph_create(&g, t->name, "");
    if (status == KILN_OK)
        status = set_inputs(g, t);
    if (status == KILN_OK)
        status = copy_nodes(g, t, results, n_results);
    if (status == KILN_OK)
        status = kn_graph_prune(g);
    if (status == KILN_OK)
        *out = g;
    else
        kn_graph_free(g);
    return status;
}

static kiln_status check_end(kiln_kernel **out, const kiln_trace *t, kiln_array *const *results,
                             int n_results)
{
    if (!out || !t)
        return kn_error(KILN_ERROR_INVALID, "kiln_trace_end: %s is NULL", out ? "trace" : "out");
    kiln_status status = check_open(t, "kiln_trace_end");
    if (status != KILN_OK)
        return status;
    if (!results || n_results < 1 || n_results > KN_MAX_PARAMS)
        return kn_error(
            KILN_ERROR_INVALID,
            "kiln_trace_end: n_results: %d was given, and results is %s; 1 to %d arrays were expected",
            n_results, results ? "an array" : "NULL", KN_MAX_PARAMS);
    for (int j = 0; j < n_results; ++j)
        if (!results[j] || results[j]->recorder != &t->recorder)
            return kn_error(KILN_ERROR_INVALID,
                            "kiln_trace_end: results[%d] is %s; an array of the trace '%s' was "
                            "expected",
                            j,
                            !results[j]            ? "NULL"
                            : results[j]->recorder ? "an array of another trace"
                                                   : "an array with data",
                            t->name);
    return KILN_OK;
}

/* Refuses options that the code of a trace cannot have. */
static kiln_status check_options(const kiln_kernel_options *given)
{
    kiln_kernel_options o;
    kiln_status status = kn_program_read_options(&o, given);
    const char *refused = o.loop_prep                ? "loop_prep"
                          : o.after_loop             ? "after_loop"
                          : o.kernels || o.n_kernels ? "kernels"
                                                     : NULL;
    if (status != KILN_OK || !refused)
        return status;
    return kn_error(KILN_ERROR_INVALID, "kiln_trace_end: options.%s was given, which a trace has no use for",
                    refused);
}

kiln_status kiln_trace_end(kiln_kernel **out, kiln_trace *trace, kiln_array *const *results, int n_results,
                           const kiln_kernel_options *options)
{
    kn_graph *graph = NULL;
    kiln_status status = check_end(out, trace, results, n_results);
    if (status == KILN_OK)
        status = check_options(options);
    if (status == KILN_OK)
        status = make_graph(&graph, trace, results, n_results);
    if (status == KILN_OK)
        status = kn_expression_kernel(out, graph, options);
    if (status != KILN_OK)
        return status;
    kn_graph_free(trace->graph);
    trace->graph = NULL;
    return KILN_OK;
}

void kiln_trace_free(kiln_trace *trace)
{
    if (!trace)
        return;
    kn_graph_free(trace->graph);
    trace->graph = NULL;
    release(&trace->recorder);
}
