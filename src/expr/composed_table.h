/* expr/composed_table.h - functions of expressions that are expressions themselves: a row each. */
#ifndef KN_EXPR_COMPOSED_TABLE_H
#define KN_EXPR_COMPOSED_TABLE_H

/* params: names, each with "#" where a number has to be whole, and "=VALUE" where it may be absent; a value
 * may read the parameters before it. Those behind "*" are given by name. Of several rows of one name the
 * first one that the arguments fit is taken. text: statements over the parameters; the last one is the value.
 * Formulas are NumPy's (its manual and the results it gives), so that dtypes and roundings are, too. */
typedef struct kn_composed {
    const char *name, *params, *text;
} kn_composed;

/* Row k; NULL beyond the last. */
const kn_composed *kn_composed_at(int k);

#endif
