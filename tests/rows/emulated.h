/* emulated.h - calls by the kernels that a GPU would run, on the processor. */
#ifndef ROWS_EMULATED_H
#define ROWS_EMULATED_H

#include "kernel/kernel.h"

/* As kiln_kernel_call, of host arrays, by the kernel for `architecture`. Outputs that are not given come from
 * a call on the host, overwritten. */
kiln_status emulated_call(const char *architecture, kiln_kernel *kernel, kiln_array **out, int n_out,
                          const kiln_arg *in, int n_in, const kiln_call_options *options);
/* The kernels of the last call of an expression. */
extern int emulated_steps;

#endif
