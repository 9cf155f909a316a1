/* graph/graph.h - an expression as a graph: what is computed from which arguments, before anything is known
 * of their dtypes and shapes. A node reads nodes with lower numbers. Equal nodes are one. Made by the parser
 * of expression strings (parse.c) or by recording calls (trace.c), immutable afterwards; infer.h gives nodes
 * dtypes and shapes for the arguments of a call, lower.h makes programs of them. */
#ifndef KN_GRAPH_GRAPH_H
#define KN_GRAPH_GRAPH_H

#include <kiln/kernel.h>
#include <kiln/operation.h>
#include "array/traced.h"

struct kn_map;
struct kn_computed_numbers;

typedef enum kn_node_kind {
    KN_NODE_INPUT,     /* argument `index` of the kernel */
    KN_NODE_NUMBER,    /* `number`: one that stands in the text, weak as Python's */
    KN_NODE_CALL,      /* output `index` of the operation `name`: of the table or registered */
    KN_NODE_KERNEL,    /* output `index` of `kernel`, which the user defined by strings */
    KN_NODE_CAST,      /* to `dtype` */
    KN_NODE_SLICE,     /* `step` says what becomes of each axis */
    KN_NODE_TRANSPOSE, /* axis a of the result is axis `axis[a]` of what is read; n_axes 0: turned round */
    KN_NODE_RESHAPE,   /* to `extent[n_axes]`, one of which may be -1; KN_EXTENT_READ: the next of in[1 ..] */
    KN_NODE_EXTENT, /* the extent of axis `axis[0]` of what is read, n_axes 0: its elements; a weak integer */
    KN_NODE_NDIM,   /* how many axes what is read has; a weak integer */
    KN_NODE_ARANGE, /* start, stop, step: three nodes that are weak numbers or extents */
    KN_NODE_BROADCAST, /* to `extent[n_axes]`, KN_EXTENT_READ as in RESHAPE */
    KN_NODE_LIKE /* in[0] broadcast to the shape of in[1], which is not read; in `dtype`, or, where that is
                        * KILN_DTYPE_NONE, in that of in[index] */
} kn_node_kind;

enum { KN_EXTENT_READ = -2 };

typedef struct kn_node {
    kn_node_kind kind;
    int n_in, *in;     /* the nodes that it reads */
    size_t at, length; /* where it stands in the graph's text, for messages */
    int index;         /* INPUT, CALL, KERNEL */
    kiln_arg number;   /* NUMBER: KILN_ARG_WEAK_* */
    char *name;        /* CALL */
    /* CALL: an operator of Python's: of weak numbers alone it makes a weak one. A function of NumPy's makes
     * none: 2 / 3 * x is float32 where x is, sqrt(2) * x is float64. CAST: float(), int() ..., which make a
     * weak number of any that is given by value. */
    bool is_operator;
    kiln_kernel *kernel; /* KERNEL: the graph holds a reference, as of */
    /* CALL, KERNEL, CAST: the kernel of an expression with options of its own that it was part of; only nodes
     * of one unit share a kernel, made with its options. NULL: the graph's */
    kiln_kernel *option_group;
    kiln_dtype dtype; /* CAST */
    kn_subscript *step;    /* SLICE */
    int n_subscripts;
    /* CALL, KERNEL of reductions: the axes that are reduced, as they were written; has_axes false: all */
    bool has_axes, keepdims;
    int n_axes;
    int axis[KILN_MAX_NDIM]; /* CALL, KERNEL, TRANSPOSE, EXTENT */
    int64_t *extent;         /* RESHAPE, BROADCAST: n_axes */
} kn_node;

typedef struct kn_graph {
    char *name;   /* of the kernel, an identifier */
    char *text;   /* the expression; "" for a trace */
    char **input; /* names */
    int n_in;
    kn_node *node;
    int n_nodes;
    int *out;      /* the nodes that are results */
    char **output; /* their names: identifiers, unlike each other and the inputs' */
    int n_out;
    bool has_kernels;
    struct kn_map *known; /* the numbers of nodes, by what they are; NULL once the graph is pruned */
    struct kn_computed_numbers *computed; /* computed_numbers.h, which frees them; NULL until it looks */
} kn_graph;

enum { KN_MAX_NODES = 1 << 24 /* what a node takes is less than 1 KiB */ };

/* name: an identifier. text: what the nodes' places are in; "": nowhere. */
kiln_status kn_graph_create(kn_graph **out, const char *name, const char *text);
void kn_graph_free(kn_graph *graph);

/* The number of an equal node that is there already, or of a new one: *node is copied, with its lists.
 * Operators on numbers are folded (Python's rules); casts that change nothing are not known here. *out is
 * unchanged on failure: KILN_ERROR_MEMORY; KILN_ERROR_INVALID for too many nodes, and for numbers without a
 * result. */
kiln_status kn_graph_add(int *out, kn_graph *graph, const kn_node *node);

/* "x, g": names of inputs, ASCII identifiers of any kind ("i", "T" and "double" too); the nodes 0 to n_in - 1
 * are these. Comes first. KILN_ERROR_SYNTAX, _INVALID (a name twice, or too long; too many), _MEMORY. */
kiln_status kn_graph_set_inputs(kn_graph *graph, const char *names);
/* name: a wish; NULL, and a name that is taken, reserved or too long, give one that is made up. */
kiln_status kn_graph_add_result(kn_graph *graph, int node, const char *name);

/* That of the node's kernel; NULL: it has none. */
const struct kn_algorithm *kn_node_algorithm(const kn_node *node);

/* Whether what a node reads k-th is a raw parameter of its kernel's: an array as a whole, which broadcasts
 * with no other. */
bool kn_node_reads_raw(const kn_node *node, int k);

/* Drops nodes that no result needs, and numbers the others anew, in the same order; inputs stay. Nothing is
 * added any more. */
kiln_status kn_graph_prune(kn_graph *graph);

/* Of a pruned graph: has each result be a node that nothing else reads, that is no other result and that is
 * assigned for each element, a view of what it was. */
kiln_status kn_graph_separate_results(kn_graph *graph);

/* An error about a node, with its place in the text where there is one. */
kiln_status kn_graph_error(const kn_graph *graph, const kn_node *node, kiln_status status, const char *format,
                           ...) __attribute__((format(printf, 4, 5)));

/* kn_scalar_store or kn_scalar_convert has refused a number for a parameter called KN_COMPUTED_NUMBER: the
 * same as an error about a node. */
kiln_status kn_graph_refuse_number(const kn_graph *graph, const kn_node *node);

/* parse.c: expression strings (the language: kiln/expression.h). KILN_ERROR_SYNTAX, with the text and a
 * caret; KILN_ERROR_INVALID, _MEMORY. options->kernels may be called by their names. */
kiln_status kn_graph_parse(kn_graph **out, const char *params, const char *text,
                           const kiln_kernel_options *options);

#endif
