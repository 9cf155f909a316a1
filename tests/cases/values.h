/* values.h - one call over plain arrays of chosen values, for cases whose expectation is a table or needs no
 * layouts.
 *
 *     values v = VALUES_INIT;
 *     values_in(&v, KILN_FLOAT16, bits);        // n elements; read by values_run alone
 *     values_out(&v, KILN_BOOL, less);          // n elements, written by values_run
 *     values_run(&v, "T x", "bool less", "less = x < T(1)", n);
 */
#ifndef CASES_VALUES_H
#define CASES_VALUES_H

#include "cases.h"

enum { VALUES_OPERANDS = 20 };

typedef struct values {
    int n_in, n_out;
    kiln_dtype in_dtype[VALUES_OPERANDS], out_dtype[VALUES_OPERANDS];
    const void *in[VALUES_OPERANDS];
    void *out[VALUES_OPERANDS];
} values;
#define VALUES_INIT {0, 0, {KILN_DTYPE_NONE}, {KILN_DTYPE_NONE}, {NULL}, {NULL}}

void values_in(values *v, kiln_dtype dtype, const void *data);
void values_out(values *v, kiln_dtype dtype, void *data);
/* Runs the kernel on the device of the stages and fetches the results; false after trouble. */
bool values_run(values *v, const char *in, const char *out, const char *body, int64_t n);

#endif
