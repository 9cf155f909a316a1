/* fuse/strips.h - finds the reductions over the first axes whose input other kernels have row by row, and has
 * them combine partial values: those of strips of rows, which a program over rows combines as it goes, so
 * that one reading serves both (KN_NODE_STRIPS). The node behind strips is the reduction that reads them. */
#ifndef KN_FUSE_STRIPS_H
#define KN_FUSE_STRIPS_H

#include "graph/arena.h"
#include "graph/graph.h"
#include "graph/typed.h"

/* Copies the graph, with such reductions in place of those that are not refused (by node; NULL: none is).
 * False: there are none, or no memory. Each node of strips has the number of the reduction in `graph` that it
 * is for (kn_node.index). */
bool kn_strips_make(kn_graph *out, const kn_graph *graph, const kn_typed *typed, unsigned flags,
                    const bool *refused, kn_arena *arena);

#endif
