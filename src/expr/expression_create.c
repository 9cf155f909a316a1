/* Kernels of expression strings. */
#include <kiln/expression.h>

#include "base/error.h"
#include "expr/expression.h"
#include "program/program.h"

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

/* Where inputs may be masks or whole numbers, the text is read a second time, for the latter. */
static kiln_status make_other(kn_expression **out, const kn_expression *e, const char *params,
                              const char *expression, const kiln_kernel_options *options)
{
    kn_graph *graph = NULL;
    kiln_status status = KILN_OK;
    if (e->graph->guessed_inputs)
        status = kn_graph_parse(&graph, params, expression, e->graph->guessed_inputs, options);
    if (status == KILN_OK && graph)
        status = kn_expression_make(out, graph, options);
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
        status = kn_expression_make(&e, graph, options);
    if (status == KILN_OK)
        status = make_other(&other, e, params, expression, options);
    if (status == KILN_OK)
        return kn_expression_kernel_of(out, e, other);
    kn_expression_free(e);
    return status;
}
