/* fuse/group.h - the part of a graph that one kernel computes: some nodes that are stored (roots), and all
 * nodes that they need up to what is read from memory.
 *
 * A group has a space: the axes of its largest root and, if only results of reductions are stored, the
 * reduction axes too. A place says at which element a node is used, given the index in the space: start +
 * step * index, along each axis of the node. Views cost nothing: they only change the places of their
 * inputs. A node may be used at several places (x[1:] - x[:-1]).
 *
 * All reductions of a group have the same reduction axes. A reduction is part of the group if its results
 * are used with the space's output axes as they are, and its reduction axes are all other axes of the
 * space. A scan is part of the group if it is used with the space's own index along all axes, and the group
 * has no other scan or reduction: the axes along which it scans count as reduction axes. A reduction of few
 * elements that is read by such a reduction, element by element, has no loop: it uses its
 * input at a place for each of them (the distances of k-means). Any other is computed by an earlier kernel,
 * into a buffer between the two. */
#ifndef KN_FUSE_GROUP_H
#define KN_FUSE_GROUP_H

#include "graph/arena.h"
#include "array/array.h"
#include "graph/infer.h"

/* The index along one axis of a node: start + step * (index along axis `to` of the space); to -1: start. */
typedef struct kn_axis_map {
    int to;
    int64_t start, step;
} kn_axis_map;

/* The memory, or the range, that a node is a view of. The elements of a range are affine in the index too. */
typedef enum kn_base_kind { KN_BASE_NONE, KN_BASE_INPUT, KN_BASE_BUFFER, KN_BASE_RANGE } kn_base_kind;
typedef struct kn_base {
    kn_base_kind kind;
    int node;        /* the input, the stored node, the range */
    int64_t shift;   /* offset of the first element: in bytes; for a range in elements */
    int64_t *stride; /* along each axis of the node: in bytes; for a range in elements */
} kn_base;

/* An input of a group, read from memory or counted (a range), with its strides along the axes of the
 * space. */
typedef struct kn_leaf {
    struct kn_leaf *next;
    kn_base_kind kind;
    int node, number; /* number: among the leaves of the group */
    int64_t shift, stride[KILN_MAX_NDIM];
} kn_leaf;

/* A node, used at one place. */
typedef struct kn_use {
    struct kn_use *next, *after; /* next: use of the same node; after: in the order of nodes */
    int node, number;
    kn_axis_map *map;
    kn_leaf *leaf;      /* NULL: it is computed */
    struct kn_use **in; /* the uses of its inputs */
    int n_in;
    bool is_own_reduction; /* a reduction, or the scan, that this group computes */
    int n_unrolled;        /* a reduction without a loop: the elements of a result; `in` has the inputs of
                              each of them. 0: it is none */
    bool is_all;           /* it varies along the reduction axes */
    int level;             /* the number of this group's reductions on the longest chain below it */
} kn_use;

/* A set of nodes, taken out from the highest to the lowest, each once. */
typedef struct kn_node_queue {
    int *heap, n_heap;
    int *taken, n_taken; /* the nodes taken out so far, in that order */
    bool *is_in;         /* by node: it was put in */
} kn_node_queue;

/* The working memory of builds. */
typedef struct kn_group_scratch {
    kn_use **use; /* by node: the list of its uses; all NULL between two builds */
    kn_node_queue queue, other;
    int *asked, n_asked;
    bool *is_asked; /* by node */
    int *view;      /* by node: the first slice, transpose, reshape or broadcast of it; -1 */
    int *next_view; /* by node: the next such view of the same node; -1 */
    int64_t work;   /* uses made by all builds so far */
} kn_group_scratch;

/* The state that all groups of a lowering share. */
typedef struct kn_lower_state {
    const kn_graph *graph;
    const kn_typed *typed;
    kiln_array *const *array; /* by input; NULL for a scalar */
    kn_arena *arena;
    kn_base *base;      /* by node */
    kn_base *layout;    /* by node (kn_layouts_find); NULL: no result of a reduction is stored yet */
    bool is_host;       /* the target is the host */
    bool *is_buffered;  /* by node: it is stored in a buffer */
    bool *is_raw;       /* by node: it is read as a whole array by a kernel of the user's, or is narrow
                          and read by an algorithm: in its own dtype */
    bool *is_opaque;    /* by node: its texts cannot be fused with others (op.h), so it has a kernel of its
                          own */
    bool *is_of_result; /* by node: it is stored in place of a reduction, from which alone it follows */
    bool *is_terms;     /* by node: a reduction that is a map, of its few elements (use_unrolled) */
    unsigned flags;     /* the expression's options */
    kn_group_scratch *scratch;
} kn_lower_state;

typedef struct kn_group {
    int ndim;
    int64_t extent[KILN_MAX_NDIM];
    uint64_t reduced;          /* bits: the reduction axes */
    bool is_settled;           /* there are reductions, or a scan, and `reduced` is final */
    bool is_scan;              /* its only reduction is a scan, with a result for each element */
    bool is_too_large;         /* for one kernel: it must be cut, or these roots cannot share a kernel */
    bool is_opaque;            /* one kernel as the user defined it (opaque.h), without uses */
    int *spare;                /* of an opaque group, by output: the buffer of an output that is not a root */
    kiln_kernel *option_group; /* all roots have the same */
    int n_levels;
    int n_roots, *root;
    kn_use **root_use;
    kn_use *first_use; /* the list of all uses, from low nodes to high ones */
    int n_uses, n_leaves, n_scalars, n_reductions;
    bool has_unrolled; /* some use is a reduction without a loop, of more than one element */
    kn_leaf *leaf;
    kn_arena arena; /* uses, places and leaves of this group */
} kn_group;

/* The result of kn_group_build. */
typedef enum kn_group_result {
    KN_GROUP_DONE,
    KN_GROUP_REFUSED,      /* these roots cannot share a kernel */
    KN_GROUP_NEEDS_BUFFER, /* the nodes in scratch->asked must be stored first */
    KN_GROUP_TOO_LARGE,    /* complete, of a single root, but larger than a kernel should be */
    KN_GROUP_FAILED        /* no memory */
} kn_group_result;

/* The size of a group's kernel. */
typedef struct kn_group_size {
    int uses, leaves, params, levels, reductions; /* params: leaves, scalars and results */
} kn_group_size;
enum {
    KN_MANY_USES = 500,     /* the size of a part that is cut off a kernel that is too large, in uses:
                               compilers are slow on long texts */
    KN_MANY_LEAVES = 20,    /* the same in leaves */
    KN_MANY_LEVELS = 5,     /* the same in levels of reductions */
    KN_MANY_REDUCTIONS = 32 /* the same in reductions: all of one level are one struct */
};
kn_group_size kn_group_measure(const kn_group *group);
/* True if it is within the limits of a kernel. */
bool kn_group_size_fits(const kn_group_size *size);

/* Allocates the state's arrays by node; is_buffered is all false. False: no memory. */
bool kn_lower_state_make(kn_lower_state *state);
/* Sets state->base for all nodes. */
void kn_bases_find(kn_lower_state *state);
/* Marks a node as stored: it, and its views, are read from memory. A result of a reduction lies there in the
 * order of its inputs, as those that read it beside them do; other nodes in C order. like: strides in whose
 * order it lies instead; NULL. */
void kn_base_store(kn_lower_state *state, int node, const int64_t *like);
/* The dtype of a node in a temporary buffer. A 16-bit result of a reduction is float32 there, as it would
 * be within one kernel: results must not depend on extents and devices, which decide whether there are
 * two. */
kiln_dtype kn_buffer_dtype(const kn_lower_state *state, int node);
/* True for a number by value that each launch is given, rather than one written in the text. */
bool kn_is_handed(const kn_lower_state *state, int node);
/* True for a scan along axes of one element, which changes nothing but the dtype, or of no elements. */
bool kn_scans_singles(const kn_lower_state *state, int node);

/* The strides of each node (layout[n].stride) as an operation of its own would allocate it in the order of
 * its inputs (KILN_ORDER_KEEP). False: no memory. */
bool kn_layouts_find(kn_base *layout, const kn_lower_state *state);
/* Dense strides of such a shape in the order of `like` (NULL: C order), the smallest of which is `run`. */
void kn_dense_strides(int64_t *out, const kn_typed *typed, const int64_t *like, int64_t run);

/* True for strips of rows (fuse/strips.h): as a root they stand for the elements that are combined, and their
 * kernel has the axes of a strip as reduction axes. */
bool kn_is_strips(const kn_lower_state *state, int node);
/* Builds a group of these roots, the largest first. The work is linear in the uses that it finds, never in
 * all nodes of the graph. */
kn_group_result kn_group_build(kn_group *out, const kn_lower_state *state, const int *root, int n_roots);
/* The list of nodes to be stored, which each build starts anew. */
void kn_group_ask_nothing(const kn_lower_state *state);
void kn_group_ask(const kn_lower_state *state, int node);
void kn_group_free(kn_group *group);
/* True if two groups read a leaf in the same way. */
bool kn_groups_share(const kn_group *a, const kn_group *b);

/* True for a number by value: it is in no memory, but given to each launch or written in the text. */
bool kn_is_number(const kn_lower_state *state, int node);
/* The bound (of clip) that input k of a node is. */
kn_bound kn_lowered_bound(const kn_lower_state *state, int node, int k);

#endif
