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

kiln_status kiln_expression_create(kiln_kernel **out, const char *params, const char *expression,
                                   const kiln_kernel_options *options)
{
    kn_graph *graph = NULL;
    if (!out)
        return kn_error(KILN_ERROR_INVALID, "out is NULL; the address of a kiln_kernel * was expected");
    kiln_status status = check_options(options);
    if (status == KILN_OK)
        status = kn_graph_parse(&graph, params, expression, options);
    return status == KILN_OK ? kn_expression_kernel(out, graph, options) : status;
}
