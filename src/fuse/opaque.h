/* fuse/opaque.h - a kernel of the user's, or an operation that was registered, whose texts do not mix with
 * others: a kernel of its own, as it was defined, over what lies in memory. Its group has no uses; the leaves
 * are the inputs that are arrays, their strides along the inputs' own axes. */
#ifndef KN_FUSE_OPAQUE_H
#define KN_FUSE_OPAQUE_H

#include "fuse/text.h"

/* Sets is_opaque of all nodes. */
void kn_opaque_find(kn_lower_state *state);

/* The group of a root, or the inputs that have to be stored first, as kn_group_build has them. */
kn_group_result kn_opaque_build(kn_group *out, const kn_lower_state *state, int root);
/* Adds a root that is another output of the same call; false: it is none, or there is no memory. */
bool kn_opaque_joins(kn_group *group, const kn_lower_state *state, int root);
/* Which of the roots is output j; -1: none. */
int kn_opaque_root(const kn_group *group, const kn_lower_state *state, int j);

/* The program, and where each input is from. *kernel: whose program it is; NULL: out->program is the caller's
 * to free. */
kiln_status kn_opaque_write(kn_text *out, const kiln_kernel **kernel, const kn_group *group,
                          const kn_lower_state *state);

#endif
