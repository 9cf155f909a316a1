/* fuse/direct.h - reductions that read another's result beside each element, replaced by ones that do not:
 * sum(exp(x - max(x))) by softmax_sum(x), mean((x - mean(x))**2) by var(x). Both reductions then need one
 * reading of x where they are kernels of their own. */
#ifndef KN_FUSE_DIRECT_H
#define KN_FUSE_DIRECT_H

#include "graph/arena.h"
#include "graph/typed.h"

/* *out: a copy of the graph, whose nodes have the same numbers, in the arena and the graph's memory. flags:
 * the expression's. False: nothing is replaced, or there is no memory (arena->failed). */
bool kn_direct_make(kn_graph *out, const kn_graph *graph, const kn_typed *typed, unsigned flags,
                    kn_arena *arena);

#endif
