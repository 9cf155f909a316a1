/* fuse/cut.h - stores nodes so that no kernel becomes too large for compilers.
 *
 * Nodes are visited in their order. The upper bound of a node's kernel is the sum of its inputs' bounds.
 * Where it is too high, the group of the node alone is built and measured; if that is too large, a node in
 * it is stored. No group becomes much larger than a kernel may be, and the work is linear in the nodes. */
#ifndef KN_FUSE_CUT_H
#define KN_FUSE_CUT_H

#include "fuse/group.h"

/* The node at which a group that is too large is cut; -1: none. */
int kn_cut_choose(const kn_lower_state *state, const kn_group *group);

/* Called with each node that must be stored, and the reason: its group is too large, or kn_group_build
 * asked for it. The function stores the node (kn_base_store). */
typedef void (*kn_cut_store)(void *user, int node, bool is_too_large, const kn_group *by);

/* False: no memory. */
bool kn_cuts_find(const kn_lower_state *state, kn_cut_store store, void *user);

#endif
