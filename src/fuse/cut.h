/* fuse/cut.h - nodes that are stored so that no kernel becomes too large for compilers.
 *
 * Nodes are gone through in their order. Each has an upper bound of what a kernel of it would have: the sum
 * of what it reads. Where that is too much a group of the node alone is built and measured; if it really is
 * too large, a node in it is stored. So no group is ever much larger than a kernel may be, and the work is
 * that of the nodes, times a constant. */
#ifndef KN_FUSE_CUT_H
#define KN_FUSE_CUT_H

#include "fuse/group.h"

/* Where a group that is too large is cut: a node of it; -1: nowhere. */
int kn_cut_choose(const kn_lower_state *state, const kn_group *group);

/* Called with each node that has to be stored, and why: its group is too large, or kn_group_build asked for
 * it. It stores the node (kn_base_store). */
typedef void (*kn_cut_store)(void *user, int node, bool is_too_large, const kn_group *by);

/* False: no memory. */
bool kn_cuts_find(const kn_lower_state *state, kn_cut_store store, void *user);

#endif
