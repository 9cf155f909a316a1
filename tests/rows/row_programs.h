/* row_programs.h - programs of several stages over rows, as expressions are lowered to, and what they compute
 * in plain C and double precision. */
#ifndef ROWS_ROW_PROGRAMS_H
#define ROWS_ROW_PROGRAMS_H

#include "kernel/kernel.h"
#include "program/program.h"

enum { ROW_MAX_OPERANDS = 4, ROW_MAX_STAGES = 10 };

typedef struct row_program {
    const char *name, *in, *out, *values, *preamble;
    kn_stage_text stage[ROW_MAX_STAGES];
    /* Letters of inputs: 'x' has all elements, 'v' one for each of a row's, 'r' one for each row, 'm' is
     * boolean and has all, 's' is a number, 'n' has the C-order number of each. Of outputs: 'a' has all
     * elements, 'k' one for each row. */
    const char *inputs, *outputs;
    double least;              /* errors are relative to results of at least this */
    double coarse;             /* errors that its own arithmetic makes, whatever the dtype */
    bool is_float, is_integer; /* for dtypes of floating point alone, or of integers */
    /* in[k][j]: element j of a row, whatever the operand has; out[k][j] likewise, out[k][0] of 'k'. */
    void (*reference)(const double *const *in, int64_t n, double *const *out);
} row_program;

/* Ended by one without a name. */
extern const row_program row_programs[];
const row_program *row_program_find(const char *name);

/* reduced: the last axes that are, or KN_REDUCED_BY_CALL. NULL: kiln_error_message() says why. */
kiln_kernel *row_kernel(const row_program *program, int reduced);

#endif
