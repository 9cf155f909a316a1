/* kiln/expression.h - kernels from expressions in NumPy's syntax. */
#ifndef KILN_EXPRESSION_H
#define KILN_EXPRESSION_H
#include <kiln/kernel.h>
#ifdef __cplusplus
extern "C" {
#endif
KILN_API kiln_status kiln_expression_create(kiln_kernel **out, const char *params, const char *expression,
                                            const kiln_kernel_options *options);
#ifdef __cplusplus
}
#endif
#endif
