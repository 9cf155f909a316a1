/* expr/names.h - what names in an expression mean: operations and their other names, dtypes, constants; and
 * what may have been meant by one that means nothing. */
#ifndef KN_EXPR_NAMES_H
#define KN_EXPR_NAMES_H

#include "expr/parser.h"

/* An operation, as far as its text has to know. */
typedef struct kn_known_operation {
    const char *name;              /* lives as long as the library */
    const kiln_operation *longest; /* the definition with the most inputs */
    uint64_t arities;              /* numbers of inputs (bits) that definitions take */
    int n_min, n_max, n_out;
    bool is_reduction;
} kn_known_operation;

/* By its name or another that NumPy or Python's mathematics has for it: "abs" and "absolute", "acos",
 * "pow". */
bool kn_find_operation(kn_known_operation *out, const char *name, size_t length);

/* pi, inf, True ... */
bool kn_find_constant(kiln_arg *out, const char *name, size_t length);

/* A dtype's name; *is_python for those of Python's own types (int, float, complex, bool). */
bool kn_find_dtype(kiln_dtype *out, bool *is_python, const char *name, size_t length);

/* The names of functions that are no operations, one at an index; NULL beyond the last. */
extern const char *const kn_other_functions[];

/* What to say behind a name that means nothing: for a function of NumPy "; write sum(x * y)" or that it is
 * not there yet, else "; did you mean 'sqrt'?" for the nearest of all names that do, "" where none is near.
 * Returns out. */
const char *kn_suggest(char *out, size_t size, const kn_parser *p, const char *name, size_t length);

#endif
