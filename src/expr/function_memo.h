/* expr/function_memo.h - calls of functions by name: which row is meant, and the kernels of calls that were
 * made before, by their row and their numbers, words and axes. Both are read without a lock. */
#ifndef KN_EXPR_FUNCTION_MEMO_H
#define KN_EXPR_FUNCTION_MEMO_H

#include "expr/composed_table.h"
#include "graph/graph.h"
#include "kernel/kernel.h"

/* The meaning of a row's parameter in a call. */
typedef enum kn_function_role {
    KN_ROLE_VALUE,
    KN_ROLE_DTYPE,
    KN_ROLE_WHOLE,
    KN_ROLE_WORD,
    KN_ROLE_ARRAYS,
    KN_ROLE_WHOLES,
    KN_ROLE_OPTION /* axis or keepdims, which the call's options have */
} kn_function_role;

typedef struct kn_function_row {
    const kn_composed *row;
    kn_composed_params of;
    kn_function_role role[KN_COMPOSED_PARAMS];
    int n_in; /* arguments of a call */
} kn_function_row;

/* The row of this name with so many arguments; NULL: there is none, or no memory. */
const kn_function_row *kn_function_row_find(const char *name, int n_in);
/* Row k; NULL beyond the last. */
const kn_function_row *kn_function_row_at(int k);

enum { KN_FUNCTION_WORDS = 40 };

/* A call: its key, and the arguments that its kernel gets. */
typedef struct kn_function_call {
    int64_t word[KN_FUNCTION_WORDS];
    int n_words;
    bool is_odd; /* it is not remembered: it is long, or wrong */
    kiln_arg in[KN_MAX_PARAMS];
    int n_in;
} kn_function_call;

void kn_function_call_read(kn_function_call *out, const kn_function_row *row, const kiln_arg *in,
                           const kiln_call_options *options);

/* The kernel of such a call; *views: its graph, if its results are views. NULL: none is remembered. It lives
 * as long as the library. */
kiln_kernel *kn_function_find(const kn_graph **views, const kn_function_call *call);
/* Remembers it, with a reference of its own; where there is no memory it does not. */
void kn_function_remember(const kn_function_call *call, kiln_kernel *kernel, const kn_graph *views);

#endif
