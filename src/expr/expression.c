/* Kernels from expression strings. */
#include "expr/expression.h"

#include <kiln/expression.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "graph/computed_numbers.h"
#include "program/program.h"

static void free_expression(void *context)
{
    kn_expression *e = context;
    if (!e)
        return;
    free_expression(e->other);
    kn_computed_free(e->graph);
    kn_graph_free(e->graph);
    kn_program_free(e->texts);
    kn_free(e);
}

static void count_numbers(int *n_numbers, int *n_words, const void *context)
{
    const kn_computed_numbers *c = ((const kn_expression *)context)->graph->computed;
    *n_numbers = c->count;
    *n_words = c->n_words;
}

static kiln_status compute_numbers(kiln_arg *number, int64_t *word, const void *context, const kiln_arg *in)
{
    return kn_computed_compute(number, word, ((const kn_expression *)context)->graph, in);
}

static kiln_status refuse_number(const void *context, int number)
{
    const kn_graph *g = ((const kn_expression *)context)->graph;
    return kn_graph_refuse_number(g, &g->node[g->computed->number[number].node]);
}

static const kn_algorithm algorithm = {.lower = kn_lower,
                                       .free = free_expression,
                                       .count = count_numbers,
                                       .compute = compute_numbers,
                                       .refuse = refuse_number};

/* The texts of the options are copied into a program that holds them. The graph is taken over. */
static kiln_status make(kn_expression **out, kn_graph *graph, const kiln_kernel_options *options)
{
    kn_expression *e = kn_calloc(1, sizeof *e);
    if (!e) {
        kn_graph_free(graph);
        return kn_error_memory(sizeof *e, "an expression");
    }
    e->graph = graph;
    kiln_kernel_options o;
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
        free_expression(e);
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

/* other: taken over; NULL: there is one reading. */
static kiln_status make_kernel(kiln_kernel **out, kn_expression *e, kn_expression *other)
{
    const kn_graph *graph = e->graph;
    kn_program *prototype = NULL;
    e->other = other;
    kiln_status status = kn_prototype_create(&prototype, graph->name, (const char *const *)graph->input,
                                             graph->n_in, (const char *const *)graph->output, graph->n_out);
    if (status != KILN_OK) {
        free_expression(e);
        return status;
    }
    prototype->flags = e->options.flags;
    return kn_kernel_create_algorithm(out, prototype, &algorithm, e);
}

kiln_status kn_expression_kernel(kiln_kernel **out, kn_graph *graph, const kiln_kernel_options *options)
{
    kn_expression *e = NULL;
    kiln_status status = make(&e, graph, options);
    return status == KILN_OK ? make_kernel(out, e, NULL) : status;
}

/* Refuses texts around the loop, which an expression cannot use. */
static kiln_status check_options(const kiln_kernel_options *given)
{
    kiln_kernel_options o;
    kiln_status status = kn_program_read_options(&o, given);
    const char *refused = o.loop_prep ? "loop_prep" : o.after_loop ? "after_loop" : NULL;
    return status != KILN_OK || !refused
               ? status
               : kn_error(KILN_ERROR_INVALID,
                          "options.%s was given, which an expression has no use for: a kernel of "
                          "options.kernels may have it",
                          refused);
}

/* Where inputs may be masks or whole numbers, the text is read a second time, for the latter. Plans of calls
 * compute numbers of one reading alone. */
static kiln_status make_other(kn_expression **out, const kn_expression *e, const char *params,
                              const char *expression, const kiln_kernel_options *options)
{
    kn_graph *graph = NULL;
    kiln_status status = KILN_OK;
    if (e->graph->guessed_inputs && e->graph->computed->count == 0)
        status = kn_graph_parse(&graph, params, expression, e->graph->guessed_inputs, options);
    if (status == KILN_OK && graph)
        status = make(out, graph, options);
    if (status == KILN_OK && *out && (*out)->graph->computed->count > 0) {
        free_expression(*out);
        *out = NULL;
    }
    return status;
}

kiln_status kiln_expression_create(kiln_kernel **out, const char *params, const char *expression,
                                   const kiln_kernel_options *options)
{
    kn_graph *graph = NULL;
    kn_expression *e = NULL, *other = NULL;
    if (!out)
        return kn_error(KILN_ERROR_INVALID, "out is NULL; the address of a kiln_kernel * was expected");
    kiln_status status = check_options(options);
    if (status == KILN_OK)
        status = kn_graph_parse(&graph, params, expression, 0, options);
    if (status == KILN_OK)
        status = make(&e, graph, options);
    if (status == KILN_OK)
        status = make_other(&other, e, params, expression, options);
    if (status == KILN_OK)
        return make_kernel(out, e, other);
    free_expression(e);
    return status;
}
