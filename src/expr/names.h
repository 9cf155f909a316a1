/* expr/names.h - the meanings of names in an expression: operations and their aliases, dtypes, constants; and
 * suggestions for unknown names. */
#ifndef KN_EXPR_NAMES_H
#define KN_EXPR_NAMES_H

#include "expr/parser.h"

/* The properties of an operation that the parser needs. */
typedef struct kn_known_operation {
    const char *name;              /* lives as long as the library */
    const kiln_operation *longest; /* the definition with the most inputs */
    uint64_t arities;              /* bits: the numbers of inputs that definitions take */
    int n_min, n_max, n_out;
    bool is_reduction, scans;
    bool gives_booleans; /* whatever it is given */
} kn_known_operation;

/* Finds an operation by its name or an alias of NumPy or Python: "abs" and "absolute", "acos", "pow". */
bool kn_find_operation(kn_known_operation *out, const char *name, size_t length);

/* True for NAME.reduce and others of NumPy's methods of ufuncs (method_functions.c). */
bool kn_is_method(const char *name, size_t length);

/* pi, inf, True ... */
bool kn_find_constant(kiln_arg *out, const char *name, size_t length);

/* A dtype's name; *is_python for those of Python's own types (int, float, complex, bool). */
bool kn_find_dtype(kiln_dtype *out, bool *is_python, const char *name, size_t length);

/* A hint to append to an error about an unknown name: for a function of NumPy "; write sum(x * y)" or that it
 * does not exist here; otherwise "; did you mean 'sqrt'?" for the nearest known name, or "". Returns out. */
const char *kn_suggest(char *out, size_t size, const kn_parser *p, const char *name, size_t length);

#endif
