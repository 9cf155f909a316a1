/* fuse/copied.h - copies of graphs in which nodes are replaced by others. */
#ifndef KN_FUSE_COPIED_H
#define KN_FUSE_COPIED_H

#include "graph/arena.h"
#include "graph/graph.h"
#include "graph/typed.h"

typedef struct kn_copied {
    kn_graph *out;
    const kn_graph *graph;
    const kn_typed *typed; /* by node of the graph */
    kn_arena *arena;
    int *number; /* by node of the graph: its number in the copy */
} kn_copied;

/* Puts other nodes, up to so many more than one, in place of a node; returns the number of the last one. */
typedef int kn_copied_put(kn_copied *c, int node);

/* Fills c->out, in the arena and the graph's memory. is_replaced: by node. False: no node is replaced, or
 * there is no memory (arena->failed). */
bool kn_copied_make(kn_copied *c, const bool *is_replaced, int most_added, kn_copied_put *put);

#endif
