/* graph/computed_numbers.h - numbers that a call computes of those that it is given by value: s - 10. They
 * are Python's, as the given ones are, and known once a call has its arguments. Plans depend on their
 * classes. */
#ifndef KN_GRAPH_COMPUTED_NUMBERS_H
#define KN_GRAPH_COMPUTED_NUMBERS_H

#include "graph/graph.h"

/* An operator or a cast that reads nothing but numbers, where its inputs are given by value. */
typedef struct kn_computed {
    int node;
    uint64_t inputs; /* (bits) of which it is computed; 0: of extents alone */
    bool is_read;    /* other nodes read it than such that are numbers whenever it is one */
    bool
        is_pinned; /* of extents, too, that inference alone knows: plans depend on the values of its inputs */
} kn_computed;

typedef struct kn_computed_numbers {
    int count, n_words;
    kn_computed *number; /* in the order of their nodes */
    int *of_node;        /* by node: its place among them; -1 */
    uint64_t pinned;     /* inputs (bits) whose values plans depend on */
} kn_computed_numbers;

/* Of a graph to which nothing is added any more: graph->computed. KILN_ERROR_MEMORY. */
kiln_status kn_computed_find(kn_graph *graph);
void kn_computed_free(kn_graph *graph);

/* All of them for the inputs of a call; of kind KILN_ARG_NONE where one is no number for these. word:
 * n_words, all that a plan depends on beside what the inputs are; may be NULL. Errors of Python's:
 * KILN_ERROR_INVALID, with the node's place. */
kiln_status kn_computed_compute(kiln_arg *number, int64_t *word, const kn_graph *graph, const kiln_arg *in);

#endif
