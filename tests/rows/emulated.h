/* emulated.h - calls by the kernels that a GPU would run, on the processor. */
#ifndef ROWS_EMULATED_H
#define ROWS_EMULATED_H

#include "kernel/kernel.h"

/* kiln_kernel_call with host arrays, computed by the emulated kernel for `architecture`. Outputs that are not
 * given are allocated by a call on the host, whose results are then overwritten. */
kiln_status emulated_call(const char *architecture, kiln_kernel *kernel, kiln_array **out, int n_out,
                          const kiln_arg *in, int n_in, const kiln_call_options *options);
/* Reductions are computed by their baseline tier, if it keeps the optimised one's order; how many were. */
extern bool emulated_baseline;
extern int emulated_baselines;
/* The kind of the last program's optimised tier. */
extern const char *emulated_kind;
/* The kernels of the last call of an expression. */
extern int emulated_steps;

#endif
