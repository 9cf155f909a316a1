/* graph/graph.h - an expression as a graph of nodes, before the dtypes and shapes of its arguments are
 * known. A node reads nodes with lower numbers, and equal nodes are one. The parser (parse.c) and traces
 * (tracing.c) make graphs, which are immutable afterwards. infer.h finds dtypes and shapes for a call's
 * arguments, lower.h makes programs. */
#ifndef KN_GRAPH_GRAPH_H
#define KN_GRAPH_GRAPH_H

#include <kiln/kernel.h>
#include <kiln/operation.h>
#include "array/traced.h"
#include "ops/variant.h"

struct kn_map;
struct kn_computed_numbers;

typedef enum kn_node_kind {
    KN_NODE_INPUT,     /* argument `index` of the kernel */
    KN_NODE_NUMBER,    /* `number`: one that stands in the text, weak as Python's */
    KN_NODE_CALL,      /* output `index` of the operation `name`, built in or registered */
    KN_NODE_KERNEL,    /* output `index` of `kernel`, which the user defined by strings */
    KN_NODE_CAST,      /* to `dtype` */
    KN_NODE_SLICE,     /* `subscript` gives the change of each axis */
    KN_NODE_TRANSPOSE, /* axes in another order, or two of them along one: `index` is a kn_turn */
    KN_NODE_RESHAPE,   /* to `extent[n_axes]`, one of which may be -1; KN_EXTENT_READ: the next of in[1 ..] */
    KN_NODE_EXTENT,    /* the extent of axis `axis[0]` of the input; n_axes 0: its number of elements; a weak
                       integer */
    KN_NODE_NDIM,      /* the number of axes of the input, or of bytes of an element; a weak integer */
    KN_NODE_ARANGE,    /* start, stop, step: three nodes that are numbers */
    KN_NODE_BROADCAST, /* to `extent[n_axes]`, KN_EXTENT_READ as in RESHAPE */
    KN_NODE_WINDOWS,   /* all windows: `axis` has pairs of an axis and a number of elements, whose axes come
                          behind the others */
    KN_NODE_STRIPS, /* in[0], combined by strips of rows for the reduction that reads these: `extent[0]` take
                       the place of the first n_axes axes; in `dtype`. Lowerings alone have it
                       (fuse/strips.h) */
    KN_NODE_LIKE    /* in[0], broadcast to the shape of in[1], which is not read; in `dtype` or, if that is
                    KILN_DTYPE_NONE, in that of in[index]; KN_LIKE_ALL:
                    broadcast with all, in the common dtype of in[1 ..]; KN_LIKE_DTYPES: in the shape of
                    in[1], in the common dtype of in[1 ..], among which no number is weak; has_axes: in[0]
                    has that shape already */
} kn_node_kind;

enum { KN_LIKE_ALL = -1, KN_LIKE_DTYPES = -2 };

/* `index` of a KN_NODE_ARANGE: a stop below 0 is refused; of a KN_NODE_NDIM: what is measured. */
enum { KN_RANGE_COUNTED = 1, KN_MEASURE_AXES = 0, KN_MEASURE_BYTES = 1 };

enum { KN_EXTENT_READ = -2 };

/* The meaning of `axis` of a KN_NODE_TRANSPOSE. */
typedef enum kn_turn {
    KN_TURN_LIST,    /* axis a of the result is axis `axis[a]` of the input; n_axes 0: reversed */
    KN_TURN_SWAP,    /* two axes */
    KN_TURN_MOVE,    /* the first half of the axes, to where the second half says */
    KN_TURN_ROLL,    /* one axis, in front of another or of the end */
    KN_TURN_DIAGONAL /* two axes, and an offset: they become the last axis */
} kn_turn;

/* The layout of a result that a call allocates: NumPy's order. */
typedef enum kn_result_order {
    KN_RESULT_USUAL, /* as the call's options say */
    KN_RESULT_C,
    KN_RESULT_FORTRAN,
    KN_RESULT_KEEP, /* of the inputs */
    KN_RESULT_ANY   /* Fortran's where all inputs have that alone, else C's */
} kn_result_order;

typedef enum kn_masked {
    KN_NOT_MASKED,
    KN_MASKED,     /* booleans, of the same shape */
    KN_MASKED_LAST /* of the last axes */
} kn_masked;

typedef struct kn_node {
    kn_node_kind kind;
    int n_in, *in;     /* the nodes that it reads */
    size_t at, length; /* its place in the graph's text, for messages */
    int index;         /* INPUT, CALL, KERNEL, TRANSPOSE, ARANGE, NDIM */
    kiln_arg number;   /* NUMBER: KILN_ARG_WEAK_* */
    char *name;        /* CALL */
    /* CALL: an operator of Python's, whose result of weak numbers is weak. A function of NumPy's has no
     * weak results: 2 / 3 * x is float32 if x is, sqrt(2) * x is float64. CAST: float(), int() and so on,
     * whose result of any number by value is weak. */
    bool is_operator;
    kn_masked masked;    /* CALL of where: of x[mask], reduced; in[0] has to be a mask of in[1] */
    kiln_kernel *kernel; /* KERNEL: the graph holds a reference, as to */
    /* CALL, KERNEL, CAST: the kernel of an expression with its own options that contained the node. Nodes
     * are fused only within one option group, whose kernels are made with its options. NULL: the graph's */
    kiln_kernel *option_group;
    kiln_dtype dtype;        /* CAST, LIKE; CALL: of all results of an elementwise operation, or NONE */
    kn_casting casting;      /* CAST, LIKE: of in[0]; CALL: of inputs */
    kn_result_order order;   /* of a node that is a result */
    kn_subscript *subscript; /* SLICE */
    int n_subscripts;
    /* CALL, KERNEL of reductions: the reduction axes as written; has_axes false: all */
    bool has_axes, keepdims;
    int n_axes;
    int axis[KILN_MAX_NDIM]; /* CALL, KERNEL, TRANSPOSE, EXTENT, WINDOWS */
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
    /* Bits of inputs, of which the text may mean other things by their dtypes: those that were taken for
     * masks of x[mask], and that are to be taken for whole numbers (expr/selected.h). */
    uint64_t guessed_inputs, whole_inputs;
    struct kn_map *known; /* the numbers of nodes, by their contents; NULL for a pruned graph */
    struct kn_computed_numbers *computed; /* see computed_numbers.h, which frees them; NULL until they are
                                             needed */
} kn_graph;

enum { KN_MAX_NODES = 1 << 24 /* a node takes less than 1 KiB */ };

/* name: an identifier. text: the text that contains the nodes' places; "": none. */
kiln_status kn_graph_create(kn_graph **out, const char *name, const char *text);
void kn_graph_free(kn_graph *graph);

/* The number of a node equal to *node, or of a new one, a copy of it with its lists. Operators on numbers
 * are folded (Python's rules). *out is unchanged on failure: KILN_ERROR_MEMORY; KILN_ERROR_INVALID for too
 * many nodes, and for numbers without a result. */
kiln_status kn_graph_add(int *out, kn_graph *graph, const kn_node *node);

/* "x, g": names of inputs, ASCII identifiers of any kind ("i", "T" and "double" too); the nodes 0 to n_in - 1
 * are these. Comes first. KILN_ERROR_SYNTAX, _INVALID (a name twice, or too long; too many), _MEMORY. */
kiln_status kn_graph_set_inputs(kn_graph *graph, const char *names);
/* name: a wish. NULL, and a name that is taken, reserved or too long, gets a made-up one. */
kiln_status kn_graph_add_result(kn_graph *graph, int node, const char *name);

/* The algorithm of the node's kernel; NULL: it has none. */
const struct kn_algorithm *kn_node_algorithm(const kn_node *node);

/* True if the node's input k is a raw parameter of its kernel: a whole array, which takes no part in
 * broadcasting. */
bool kn_node_reads_raw(const kn_node *node, int k);

/* True if the node's input k is a number that its shape depends on. */
bool kn_node_reads_extent(const kn_node *node, int k);

/* Drops the nodes that no result needs, and renumbers the others in the same order; inputs stay. Nothing
 * can be added afterwards. */
kiln_status kn_graph_prune(kn_graph *graph);

/* For a pruned graph: makes each result a node of its own, which no other node reads and which is assigned
 * for each element; it is a view of the former result. */
kiln_status kn_graph_separate_results(kn_graph *graph);

/* Sets an error about a node, with its place in the text if there is one. */
kiln_status kn_graph_error(const kn_graph *graph, const kn_node *node, kiln_status status, const char *format,
                           ...) __attribute__((format(printf, 4, 5)));

/* Rewrites an error of kn_scalar_store or kn_scalar_convert so that it names the node instead of the
 * parameter KN_COMPUTED_NUMBER. */
kiln_status kn_graph_refuse_number(const kn_graph *graph, const kn_node *node);

/* Parses an expression string (the language: kiln/expression.h). KILN_ERROR_SYNTAX, with the text and a
 * caret; KILN_ERROR_INVALID, _MEMORY. options->kernels may be called by their names. */
kiln_status kn_graph_parse(kn_graph **out, const char *params, const char *text, uint64_t whole_inputs,
                           const kiln_kernel_options *options);

#endif
