/* fuse/held.h - variances in programs whose maps read the same elements: by the mean and the squares of the
 * distances from it. A kernel that holds its rows reduces two numbers then, where the moments that one
 * reading wants are a struct: four words to exchange, and a division, for each step between threads. */
#ifndef KN_FUSE_HELD_H
#define KN_FUSE_HELD_H

#include "graph/arena.h"
#include "graph/typed.h"

/* *out: a copy of the graph, with more nodes, in the arena and the graph's memory. flags: the expression's.
 * False: nothing is replaced, or there is no memory (arena->failed). */
bool kn_held_make(kn_graph *out, const kn_graph *graph, const kn_typed *typed, unsigned flags,
                  kn_arena *arena);

#endif
