/*
 * kiln/trace.h - chains of operations recorded once, and run as the fewest kernels that the data
 * allows.
 *
 *     #include <kiln/ops.h>
 *
 *     const int64_t shape[] = {64, 768};
 *     const kiln_axes last = kiln_axis(-1, true);
 *     kiln_trace *trace = NULL;
 *     kiln_array *a = NULL, *mean = NULL, *apart = NULL;
 *     kiln_trace_begin(&trace, "centred");
 *     kiln_trace_input(&a, trace, "a", KILN_FLOAT32, 2, shape);
 *     kiln_mean(&mean, a, &last);                       // recorded, not run
 *     kiln_subtract(&apart, a, mean);
 *     kiln_trace_end(&kernel, trace, &apart, 1, NULL);  // kernel: as any other
 *     kiln_trace_free(trace);
 *     kiln_kernel_call(kernel, &z, 1, &in[0], 1, NULL); // one launch
 *
 * Between begin and end, calls with an array of the trace are recorded: kiln_apply and the
 * functions of kiln/ops.h, kiln_kernel_call of kernels that strings define (elementwise ones and
 * reductions, without struct parameters and raw ones that they may write to) and of kernels of
 * expressions and traces, the views of kiln/array.h, copies and astype. They give arrays of the
 * trace, with the dtypes and shapes that the same calls give outside, and fail where those would
 * for their arguments; a call that fails leaves the trace as it was. Kernels whose texts or options
 * cannot share a kernel with others (kiln/expression.h says which) are launched by themselves.
 * Arrays of a trace have no data: what would read or write it is KILN_ERROR_INVALID, and they count
 * as C-ordered. Numbers by value are constants of the kernel. Refused inside a trace
 * (KILN_ERROR_INVALID): arrays with data, and arrays of another trace, beside those of the trace;
 * output arrays that are given; a stream, block, order, size or shape among the options. All other
 * calls run as they always do.
 *
 * float16 and bfloat16 are rounded as in expressions: by casts, in results, and where another
 * kernel reads them; with KILN_KERNEL_ROUND_EACH among the options of kiln_trace_end, or
 * KILN_ROUND=each, by each operation, as the calls do outside of a trace.
 *
 * The kernel takes the inputs in the order in which they were made, as arrays or numbers of any
 * dtypes and shapes, not only those of the trace, for which the recorded calls have a meaning.
 * What was said stays as it was said: axes (a negative one counts from the end), indices and
 * slices, the extents of a reshape (-1 for one of them) or of a broadcast, numbers, and dtypes of
 * kernels.
 *
 * A trace, and the arrays of it, belong to one thread at a time; several traces may be open.
 */
#ifndef KILN_TRACE_H
#define KILN_TRACE_H

#include <kiln/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A recording. */
typedef struct kiln_trace kiln_trace;

/* Starts a trace. name becomes the kernel's: a C identifier; NULL: "trace". The trace is the
 * caller's, for kiln_trace_free. KILN_ERROR_INVALID, _MEMORY. */
KILN_NODISCARD KILN_API kiln_status kiln_trace_begin(kiln_trace **out, const char *name);

/* The next input of the kernel, at any time before the end. name, a C identifier, is its name in
 * messages and reports; NULL: one is made up. The array is the caller's. KILN_ERROR_INVALID (a name
 * that is none or there already, more than 64 inputs, a trace that has ended), _TYPE, _SHAPE,
 * _MEMORY. */
KILN_NODISCARD KILN_API kiln_status kiln_trace_input(kiln_array **out, kiln_trace *trace,
                                                     const char *name, kiln_dtype dtype, int ndim,
                                                     const int64_t *shape);

/* Makes a kernel of what was recorded: its outputs are the n_results arrays of the trace, 1 to 64,
 * in this order; what they do not need is left out. Of options, flags, preamble, compile_options
 * and headers are taken, for all of its code. Calls of it fail where those of the recorded
 * functions would. After that the trace has ended: its arrays can still be asked for dtype and
 * shape, and freed. On failure it goes on. KILN_ERROR_INVALID (NULL, an array that is none of the
 * trace, a trace that has ended, other options), _MEMORY, and the errors of the options. */
KILN_NODISCARD KILN_API kiln_status kiln_trace_end(kiln_kernel **out, kiln_trace *trace,
                                                   kiln_array *const *results, int n_results,
                                                   const kiln_kernel_options *options);

/* Gives the trace back; one that has not ended is abandoned. Its arrays are to be freed as any
 * others, before or after. NULL is taken. */
KILN_API void kiln_trace_free(kiln_trace *trace);

#ifdef __cplusplus
}
#endif
#endif
