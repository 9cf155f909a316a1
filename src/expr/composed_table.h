/* expr/composed_table.h - functions of expressions that are expressions themselves: a row each. */
#ifndef KN_EXPR_COMPOSED_TABLE_H
#define KN_EXPR_COMPOSED_TABLE_H

#include <stdbool.h>

/* params: names, each with "#" where a number has to be whole, "$" where a word is expected, "@" for a list
 * of arrays and "%" for one of whole numbers, and "=VALUE" where it may be absent; a value may read the
 * parameters before it. Those behind "*" are given by name; those behind ";" as well, and in expressions
 * alone. Of several rows of one name the first one that the arguments fit is taken. text: statements over the
 * parameters; the last one is the value. "{NAME? A {else} B}" in it is A where the argument is true, NAME!
 * where it is given, NAME=WORD? where it is that word, and otherwise B. Formulas are NumPy's (its manual and
 * the results it gives), so that dtypes and roundings are, too. NULL: the function is one of functions.c or
 * function_table.c, and the row says its parameters in C. kiln_function_call and kiln/ops.h (tools/ops.c)
 * follow from the rows: there "axis" without "#" and "keepdims" are the axes of a call, and "dtype" is a
 * dtype. */
typedef struct kn_composed {
    const char *name, *params, *text;
} kn_composed;

/* Row k; NULL beyond the last. */
const kn_composed *kn_composed_at(int k);

enum { KN_COMPOSED_PARAMS = 10, KN_COMPOSED_WORD = 16 };

typedef enum kn_composed_kind {
    KN_OF_VALUE, /* an array, or a number by value */
    KN_OF_WHOLE,
    KN_OF_WORD,
    KN_OF_ARRAYS,
    KN_OF_WHOLES
} kn_composed_kind;

/* The parameters that `params` lists. */
typedef struct kn_composed_params {
    char name[KN_COMPOSED_PARAMS][KN_COMPOSED_WORD];
    char value[KN_COMPOSED_PARAMS][KN_COMPOSED_WORD]; /* "": it has to be given */
    kn_composed_kind kind[KN_COMPOSED_PARAMS];
    int count, n_places; /* how many calls in C have, and may be given without a name */
    int n_names;         /* how many there are */
} kn_composed_params;

void kn_composed_read(kn_composed_params *out, const char *params);
/* The row's name behind kiln_ and kiln::, which is another where the language has it already. */
const char *kn_composed_name_in_c(const kn_composed *row);
/* The number of values of a row's text. */
int kn_composed_results(const kn_composed *row);

#endif
