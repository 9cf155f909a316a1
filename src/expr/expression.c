/* Kernels of graphs. */
#include "expr/expression.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "expr/apart.h"
#include "graph/computed_numbers.h"
#include "program/program.h"

void kn_expression_free(void *context)
{
    kn_expression *e = context;
    if (!e)
        return;
    kn_expression_free(e->other);
    kn_computed_free(e->graph);
    kn_graph_free(e->graph);
    kn_program_free(e->texts);
    kn_free(e);
}

/* There is space for either reading. */
static void count_numbers(int *n_numbers, int *n_words, const void *context)
{
    const kn_expression *e = context;
    const kn_computed_numbers *c = e->graph->computed, *other = e->other ? e->other->graph->computed : c;
    *n_numbers = c->count > other->count ? c->count : other->count;
    *n_words = c->n_words > other->n_words ? c->n_words : other->n_words;
}

/* The inputs' dtypes, which are in the key of a plan, say which reading it is. */
static kiln_status compute_numbers(kiln_arg *number, int64_t *word, const void *context, const kiln_arg *in)
{
    const kn_graph *graph = kn_lower_reading(context, in)->graph;
    int n_numbers, n_words;
    count_numbers(&n_numbers, &n_words, context);
    for (int w = graph->computed->n_words; word && w < n_words; ++w)
        word[w] = 0;
    return kn_computed_compute(number, word, graph, in);
}

static kiln_status refuse_number(const void *context, int number, const kiln_arg *in)
{
    const kn_graph *g = kn_lower_reading(context, in)->graph;
    return kn_graph_refuse_number(g, &g->node[g->computed->number[number].node]);
}

static kiln_status lower(kn_lowered *out, const void *context, const kn_lowering_call *call)
{
    const kn_expression *reading = kn_lower_reading(context, call->in);
    const kiln_status status = kn_lower(out, reading, call);
    return status == KILN_ERROR_UNSUPPORTED ? kn_take_apart(out, reading, call, status, kn_expression_kernel)
                                            : status;
}

static const kn_algorithm algorithm = {.lower = lower,
                                       .free = kn_expression_free,
                                       .count = count_numbers,
                                       .compute = compute_numbers,
                                       .refuse = refuse_number};

const kn_expression *kn_expression_of(const kiln_kernel *kernel)
{
    return kernel->algorithm == &algorithm ? kernel->context : NULL;
}

kiln_status kn_expression_make(kn_expression **out, kn_graph *graph, const kiln_kernel_options *options)
{
    kn_expression *e = kn_calloc(1, sizeof *e);
    if (!e) {
        kn_graph_free(graph);
        return kn_error_memory("an expression");
    }
    e->graph = graph;
    kiln_kernel_options o = KILN_KERNEL_OPTIONS_INIT;
    kiln_status status = kn_graph_separate_results(graph);
    if (status == KILN_OK)
        status = kn_computed_find(graph);
    if (status == KILN_OK)
        status = kn_program_read_options(&o, options);
    if (status == KILN_OK)
        status = kn_kernel_settle_rounding(&o.flags);
    o.flags &= ~(unsigned)KILN_KERNEL_ANY_ORDER; /* its nodes have kernels that know */
    o.kernels = NULL;
    o.n_kernels = 0;
    if (status == KILN_OK)
        status = kn_program_elementwise(&e->texts, "", "bool y", "y = true", graph->name, &o);
    if (status != KILN_OK) {
        kn_expression_free(e);
        return status;
    }
    e->options = o;
    e->options.preamble = e->texts->preamble;
    e->options.loop_prep = e->options.after_loop = NULL;
    e->options.compile_options = (const char *const *)e->texts->option;
    e->options.header_names = (const char *const *)e->texts->header_name;
    e->options.header_texts = (const char *const *)e->texts->header_text;
    *out = e;
    return KILN_OK;
}

kiln_status kn_expression_kernel_of(kiln_kernel **out, kn_expression *e, kn_expression *other)
{
    const kn_graph *graph = e->graph;
    kn_program *prototype = NULL;
    e->other = other;
    kiln_status status = kn_prototype_create(&prototype, graph->name, (const char *const *)graph->input,
                                             graph->n_in, (const char *const *)graph->output, graph->n_out);
    if (status != KILN_OK) {
        kn_expression_free(e);
        return status;
    }
    prototype->flags = e->options.flags;
    return kn_kernel_create_algorithm(out, prototype, &algorithm, e);
}

kiln_status kn_expression_kernel(kiln_kernel **out, kn_graph *graph, const kiln_kernel_options *options)
{
    kn_expression *e = NULL;
    kiln_status status = kn_expression_make(&e, graph, options);
    return status == KILN_OK ? kn_expression_kernel_of(out, e, NULL) : status;
}
