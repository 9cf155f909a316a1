/* Functions of expressions whose text depends on dtypes and axes: an algorithm of one step, the kernel of the
 * text for the arguments of a call. */
#include "expr/shaped.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "expr/expression.h"
#include "graph/infer.h"
#include "kernel/algorithm.h"
#include "kernel/sort.h"

/* A kernel that some call needed: lowered parts refer to it. */
typedef struct used {
    struct used *next;
    kiln_kernel *kernel;
} used;

typedef kiln_status (*parser)(kn_graph **out, const char *params, const char *text, uint64_t whole_inputs,
                              const kiln_kernel_options *options);

typedef struct shaped {
    parser parse;
    kn_shaped_writer write;
    kn_shaped_own own;
    int n_in;
    char name[32], params[KN_MAX_PARAMS * 5];
    _Atomic(used *) first;
} shaped;

/* ---- the kernel of a text ---- */

typedef struct texts {
    parser parse;
    const char *params, *text;
} texts;

static kiln_status make_expression(kiln_kernel **out, const void *of)
{
    const texts *t = of;
    kn_graph *graph = NULL;
    kiln_status status = t->parse(&graph, t->params, t->text, 0, NULL);
    return status == KILN_OK ? kn_expression_kernel(out, graph, NULL) : status;
}

static kiln_status find_expression(kiln_kernel **out, const shaped *s, const kn_described *in,
                                   bool is_on_host)
{
    kn_shaped_own own = s->own;
    kn_str text = KN_STR_INIT, key = KN_STR_INIT;
    kiln_status status = KILN_OK;
    own.is_on_host = is_on_host;
    for (int k = 0; k < s->n_in && status == KILN_OK; ++k)
        if (in[k].is_number)
            status = kn_error(KILN_ERROR_TYPE, "%s: argument %d is a number here; an array was expected",
                              s->name, k);
    if (status == KILN_OK)
        status = s->write(&text, &own, in);
    if (status == KILN_OK)
        status = kn_str_status(&text, "the text of a function");
    kn_str_printf(&key, "shaped %s: %s", s->params, kn_str_text(&text));
    const texts t = {s->parse, s->params, kn_str_text(&text)};
    if (status == KILN_OK)
        status = kn_kernel_remembered(out, &key, make_expression, &t);
    kn_str_free(&text);
    kn_str_free(&key);
    return status;
}

/* Keeps the kernel as long as the function's; takes the reference over. */
static kiln_status keep(shaped *s, kiln_kernel *kernel)
{
    used *mine = NULL, *first = atomic_load(&s->first);
    for (const used *u = first; u; u = u->next)
        if (u->kernel == kernel) {
            kiln_kernel_free(kernel);
            return KILN_OK;
        }
    mine = kn_malloc(sizeof *mine);
    if (!mine) {
        kiln_kernel_free(kernel);
        return kn_error_memory("a kernel");
    }
    mine->kernel = kernel;
    mine->next = first;
    while (!atomic_compare_exchange_weak(&s->first, &mine->next, mine))
        ;
    return KILN_OK;
}

/* ---- results ---- */

static kiln_status describe_all(kn_described *out, const kiln_kernel *kernel, int j, const kn_described *in)
{
    const kn_graph *graph = ((const kn_expression *)kernel->context)->graph;
    kn_argument *argument = kn_calloc((size_t)graph->n_in + 1, sizeof *argument);
    kn_typed *typed = NULL;
    if (!argument)
        return kn_error_memory("the arguments of a call");
    for (int k = 0; k < graph->n_in; ++k)
        argument[k] = (kn_argument){.dtype = in[k].dtype, .ndim = in[k].ndim, .shape = in[k].shape};
    kiln_status status = kn_graph_infer(&typed, graph, argument);
    if (status == KILN_OK) {
        const kn_typed *result = &typed[graph->out[j]];
        *out = (kn_described){.dtype = result->dtype, .ndim = result->ndim, .is_late = result->is_late};
        if (result->ndim > 0)
            memcpy(out->shape, result->shape, (size_t)result->ndim * sizeof *result->shape);
    }
    kn_free(typed);
    kn_free(argument);
    return status;
}

static kiln_status describe(kn_described *out, const void *context, int j, const kn_described *in)
{
    kiln_kernel *kernel = NULL;
    kiln_status status = find_expression(&kernel, context, in, false);
    if (status == KILN_OK)
        status = describe_all(out, kernel, j, in);
    kiln_kernel_free(kernel);
    return status;
}

static kiln_status add_step(kn_lowered *out, const kiln_kernel *kernel, const kn_lowering_call *call,
                            const kn_described *in)
{
    const int n_in = kernel->program->n_in, n_out = kernel->program->n_out;
    kn_lowered_part *part = NULL;
    kn_described result;
    kiln_status status = kn_lowered_add_kernel(&part, out, kernel);
    for (int k = 0; k < n_in && status == KILN_OK; ++k)
        status = kn_lowered_bind_input(part, k, call, k, in[k].dtype);
    for (int j = 0; j < n_out && status == KILN_OK; ++j) {
        status = describe_all(&result, kernel, j, in);
        if (status == KILN_OK)
            status = kn_lowered_bind_output(part, n_in + j, call, j, result.dtype, result.ndim, result.shape);
    }
    return status;
}

static kiln_status lower(kn_lowered *out, const void *context, const kn_lowering_call *call)
{
    shaped *s = (shaped *)(uintptr_t)context; /* its list of kernels grows */
    kiln_kernel *kernel = NULL;
    kn_described *in = kn_calloc((size_t)s->n_in + 1, sizeof *in);
    if (!in)
        return kn_error_memory("the arguments of a call");
    kn_describe_arguments(in, call->in, s->n_in);
    kiln_status status = find_expression(&kernel, s, in, call->target->backend == KN_HOST);
    if (status == KILN_OK)
        status = keep(s, kernel);
    if (status == KILN_OK)
        status = add_step(out, kernel, call, in);
    kn_free(in);
    return status;
}

static void free_shaped(void *context)
{
    shaped *s = context;
    used *next = s ? atomic_load(&s->first) : NULL;
    for (used *u = next; u; u = next) {
        next = u->next;
        kiln_kernel_free(u->kernel);
        kn_free(u);
    }
    kn_free(s);
}

static const kn_algorithm algorithm = {.describe = describe, .lower = lower, .free = free_shaped};

/* ---- the function's kernel ---- */

static kiln_status make(kiln_kernel **out, const void *of)
{
    char names[KN_MAX_PARAMS][16];
    const char *in[KN_MAX_PARAMS];
    const int n_out = 1 + ((const shaped *)of)->own.more;
    kn_program *prototype = NULL;
    shaped *s = kn_calloc(1, sizeof *s);
    if (!s)
        return kn_error_memory("a kernel");
    const shaped *from = of;
    s->parse = from->parse;
    s->write = from->write;
    s->own = from->own;
    s->n_in = from->n_in;
    memcpy(s->name, from->name, sizeof s->name);
    memcpy(s->params, from->params, sizeof s->params);
    for (int k = 0; k < s->n_in + n_out; ++k) {
        snprintf(names[k], sizeof names[k], k < s->n_in ? "x%d" : "y%d", k < s->n_in ? k : k - s->n_in);
        in[k] = names[k];
    }
    kiln_status status = kn_prototype_create(&prototype, s->name, in, s->n_in, in + s->n_in, n_out);
    if (status == KILN_OK)
        return kn_kernel_create_algorithm(out, prototype, &algorithm, s);
    kn_free(s);
    return status;
}

static kiln_status read_array(int *out, kn_parser *p, const kn_value *in)
{
    kn_value array = *in;
    kiln_status status = p->array(&array, p);
    return status == KILN_OK ? kn_parser_node(out, p, &array) : status;
}

kiln_status kn_call_shaped(kn_value *out, kn_parser *p, const kn_called *c, kn_shaped_writer write,
                           const kn_shaped_own *own, const kn_value *in, int n_in)
{
    int node[KN_MAX_PARAMS];
    kiln_kernel *kernel = NULL;
    kn_str key = KN_STR_INIT;
    shaped s = {.parse = p->parse, .write = write, .own = *own, .n_in = n_in};
    kiln_status status = KILN_OK;
    snprintf(s.name, sizeof s.name, "%.*s", (int)c->name_length, c->name);
    kn_str_printf(&key, "%s %d %d %d", s.name, n_in, own->which, own->more);
    for (int k = 0; k < own->count; ++k)
        kn_str_printf(&key, " %lld", (long long)own->number[k]);
    for (size_t w = 0; w < sizeof own->word / sizeof own->word[0]; ++w)
        kn_str_printf(&key, " '%s'", own->word[w]);
    for (int k = 0; k < n_in && status == KILN_OK; ++k) {
        const size_t length = strlen(s.params);
        snprintf(s.params + length, sizeof s.params - length, "%sx%d", k > 0 ? "," : "", k);
        status = read_array(&node[k], p, &in[k]);
    }
    if (status == KILN_OK)
        status = kn_kernel_remembered(&kernel, &key, make, &s);
    kn_str_free(&key);
    return status == KILN_OK ? kn_call_add_kernel(out, p, c, kernel, node, n_in, 1 + own->more) : status;
}
