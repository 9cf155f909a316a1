/* fuse/group.h - what one kernel computes of a graph: some nodes that are stored (roots), and all that they
 * need and that is not read from memory.
 *
 * A group has a space, whose axes are those of its largest root and, where only results of reductions are
 * stored, those that are reduced besides. A node is used at a place that follows from the element of the
 * space: along each of its own axes at start + step * (index along an axis of the space). Views cost nothing
 * that way: they change the places at which what is in front of them is used. A node may be used at several
 * places (x[1:] - x[:-1]).
 *
 * Reductions of a group have their reduced axes in common: a reduction is part of it where its results are
 * used as the space's kept axes have them, and its reduced axes are the others. What does not fit is computed
 * by another kernel first, and stored in a room between them. */
#ifndef KN_FUSE_GROUP_H
#define KN_FUSE_GROUP_H

#include "graph/arena.h"
#include "array/array.h"
#include "graph/infer.h"

/* Along one axis of a node: start + step * index along axis `to` of the space; to -1: start. */
typedef struct kn_axis_map {
    int to;
    int64_t start, step;
} kn_axis_map;

/* A node that is a view of something in memory, or of a range, whose element numbers are affine as well. */
typedef enum kn_base_kind { KN_BASE_NONE, KN_BASE_INPUT, KN_BASE_BUFFER, KN_BASE_RANGE } kn_base_kind;
typedef struct kn_base {
    kn_base_kind kind;
    int node;        /* the input, the node of the room, the range */
    int64_t shift;   /* of its first element: bytes; of a range elements */
    int64_t *stride; /* along each axis of the viewing node: bytes; of a range elements */
} kn_base;

/* What is read from memory, or numbered, along the axes of the space. */
typedef struct kn_leaf {
    struct kn_leaf *next;
    kn_base_kind kind;
    int node, number; /* of the leaves of its group */
    int64_t shift, stride[KILN_MAX_NDIM];
} kn_leaf;

/* A node at a place. */
typedef struct kn_use {
    struct kn_use *next, *after; /* of the same node; in the order of nodes */
    int node, number;
    kn_axis_map *map;
    kn_leaf *leaf;      /* NULL: it is computed */
    struct kn_use **in; /* the uses of what it reads */
    int n_in;
    bool is_own_reduction;   /* a reduction of this group */
    bool is_single; /* a reduction of one element each: what its map gives, handed to its post */
    bool is_all;    /* it differs along the reduced axes */
    int level;      /* reductions of this group that it comes behind, one waiting for the other */
} kn_use;

/* Nodes, each of them once, that are taken out from high ones to low ones. */
typedef struct kn_node_queue {
    int *heap, n_heap;
    int *taken, n_taken; /* those taken out, in that order */
    bool *is_in;         /* by node: was put in */
} kn_node_queue;

/* What building groups needs in between. */
typedef struct kn_group_scratch {
    kn_use **use; /* by node: a list; all NULL between two builds */
    kn_node_queue queue, other;
    int *asked, n_asked;
    bool *is_asked; /* by node */
    int *view;      /* by node: a slice, transpose, reshape or broadcast of it; -1 */
    int *next_view; /* by node: another one of the same; -1 */
    int64_t work;   /* uses made by all builds so far */
} kn_group_scratch;

/* What all groups of a lowering share. */
typedef struct kn_lower_state {
    const kn_graph *graph;
    const kn_typed *typed;
    kiln_array *const *array; /* by input; NULL: a scalar */
    kn_arena *arena;
    kn_base *base;  /* by node */
    bool is_host;   /* the target is */
    bool *is_buffered;  /* by node: computed by a kernel before it is used */
    bool *is_raw;   /* by node: a kernel of the user's reads it as a whole, in its own dtype */
    bool *is_opaque;  /* by node: its texts do not mix with others (op.h): it has a kernel of its own */
    unsigned flags; /* of the expression's options */
    kn_group_scratch *scratch;
} kn_lower_state;

typedef struct kn_group {
    int ndim;
    int64_t extent[KILN_MAX_NDIM];
    uint64_t reduced;  /* its axes (bits) */
    bool is_settled;   /* there are reductions, and `reduced` says over what */
    bool is_too_large; /* for a kernel: it has to be cut, or these roots do not go together */
    bool is_opaque;      /* a kernel as the user defined it (lone.h): there are no uses */
    int *spare;        /* of such: by output the room that it has where no root is that output */
    kiln_kernel *option_group; /* of its roots */
    int n_levels;
    int n_roots, *root;
    kn_use **root_use;
    kn_use *first_use; /* all, from low nodes to high ones */
    int n_uses, n_leaves, n_scalars, n_reductions;
    kn_leaf *leaf;
    kn_arena arena; /* its own: uses, places, leaves */
} kn_group;

/* What became of an attempt. */
typedef enum kn_group_result {
    KN_GROUP_DONE,
    KN_GROUP_REFUSED,   /* these roots do not go together */
    KN_GROUP_NEEDS_BUFFER,      /* scratch->asked: nodes that have to be computed by themselves */
    KN_GROUP_TOO_LARGE, /* all is found of a single root, and is more than a kernel should have */
    KN_GROUP_FAILED     /* no memory */
} kn_group_result;

/* What a kernel of a group has. */
typedef struct kn_group_size {
    int uses, leaves, params, levels, reductions; /* params: leaves, scalars and results */
} kn_group_size;
enum {
    KN_MANY_USES = 500,  /* where a kernel that is too large is cut: compilers take long over long texts */
    KN_MANY_LEAVES = 20, /* the same of what it reads */
    KN_MANY_LEVELS = 5,  /* the same of reductions that wait for one another */
    KN_MANY_REDUCTIONS = 32   /* the same of all reductions: those of a level are one struct */
};
kn_group_size kn_group_measure(const kn_group *group);
/* Whether it is no more than a kernel should have. */
bool kn_group_size_fits(const kn_group_size *size);

/* Takes the arrays of state that are kept by node; is_buffered is all false. False: no memory. */
bool kn_lower_state_make(kn_lower_state *state);
/* Sets state->base for all nodes. */
void kn_bases_find(kn_lower_state *state);
/* Has a node be stored, so that it, and views of it, are read from memory. */
void kn_base_store(kn_lower_state *state, int node);
/* The dtype of a node in a temporary buffer. A reduction's result of 16 bits is float32 there, as it would be
 * in one kernel with what reads it: whether there are two depends on extents and devices. */
kiln_dtype kn_buffer_dtype(const kn_lower_state *state, int node);
/* A number by value that is handed to each launch: it does not stand in the text. */
bool kn_is_handed(const kn_lower_state *state, int node);
/* A reduction of one element for each result, which is none. */
bool kn_reduces_singles(const kn_lower_state *state, int node);

/* How each node's elements would lie, were it computed by an operation of its own that keeps the order of
 * what it reads (KILN_ORDER_KEEP), views of it left aside: layout[n].stride, by node. False: no memory. */
bool kn_layouts_find(kn_base *layout, const kn_lower_state *state);

/* Fills *out from roots, the largest first. The work is that of the uses that are found: nothing goes over
 * all nodes. */
kn_group_result kn_group_build(kn_group *out, const kn_lower_state *state, const int *root, int n_roots);
/* What is asked for, which a build begins anew. */
void kn_group_ask_nothing(const kn_lower_state *state);
void kn_group_ask(const kn_lower_state *state, int node);
void kn_group_free(kn_group *group);
/* Whether two groups read something in the same way. */
bool kn_groups_share(const kn_group *a, const kn_group *b);

/* A number by value: it lies nowhere, and is handed to each launch, or stands in the text. */
bool kn_is_number(const kn_lower_state *state, int node);
/* Which bound what a node reads k-th is of its operation. */
kn_bound kn_lowered_bound(const kn_lower_state *state, int node, int k);
/* The broadcast shape of what a node reads. */
int kn_node_in_shape(int64_t *shape, const kn_lower_state *state, int node);

#endif
