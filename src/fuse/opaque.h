/* fuse/opaque.h - kernels of the user's, and registered operations, whose texts cannot be fused with
 * others: each is a kernel of its own, as it was defined, over arrays in memory. Its group has no uses;
 * its leaves are the array inputs, with strides along their own axes. */
#ifndef KN_FUSE_OPAQUE_H
#define KN_FUSE_OPAQUE_H

#include "fuse/text.h"

/* Sets is_opaque of all nodes. */
void kn_opaque_find(kn_lower_state *state);

/* The group of a root, or the inputs that must be stored first, as kn_group_build returns them. */
kn_group_result kn_opaque_build(kn_group *out, const kn_lower_state *state, int root);
/* Adds a root that is another output of the same call. False: it is not, or there is no memory. */
bool kn_opaque_joins(kn_group *group, const kn_lower_state *state, int root);
/* The root that is output j; -1: none. */
int kn_opaque_root(const kn_group *group, const kn_lower_state *state, int j);

/* The program, and the source of each input. *kernel: the owner of the program; NULL: out->program is the
 * caller's to free. */
kiln_status kn_opaque_write(kn_text *out, const kiln_kernel **kernel, const kn_group *group,
                            const kn_lower_state *state);

#endif
