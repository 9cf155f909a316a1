/* graph/computed_numbers.h - numbers that a call computes from numbers given by value: s - 10. They are
 * Python numbers, as the given ones are, and known when a call has its arguments. Plans depend on their
 * classes only. */
#ifndef KN_GRAPH_COMPUTED_NUMBERS_H
#define KN_GRAPH_COMPUTED_NUMBERS_H

#include "graph/graph.h"

/* An operator or a cast that reads only numbers, if its inputs are given by value. */
typedef struct kn_computed {
    int node;
    uint64_t inputs; /* bits: the inputs that it depends on; 0: extents only */
    bool is_read;    /* a node reads it that is not a number itself */
    bool is_pinned; /* it depends on extents that only inference knows, or a shape depends on it: plans depend
                      on the values of its inputs */
} kn_computed;

typedef struct kn_computed_numbers {
    int count, n_words;
    kn_computed *number; /* in the order of their nodes */
    int *of_node;        /* by node: its index among them; -1: none */
    uint64_t pinned;     /* bits: the inputs whose values plans depend on */
} kn_computed_numbers;

/* Fills graph->computed of a graph that is complete. KILN_ERROR_MEMORY. */
kiln_status kn_computed_find(kn_graph *graph);
void kn_computed_free(kn_graph *graph);

/* Computes all of them for the inputs of a call; KILN_ARG_NONE for one that is no number for these. word:
 * n_words words, everything that a plan depends on besides the inputs' types; may be NULL.
 * KILN_ERROR_INVALID for Python's errors, with the node's place. */
kiln_status kn_computed_compute(kiln_arg *number, int64_t *word, const kn_graph *graph, const kiln_arg *in);

#endif
