/* fuse/text.h - a group as a program: its stages' texts, and where each parameter is from. */
#ifndef KN_FUSE_TEXT_H
#define KN_FUSE_TEXT_H

#include "fuse/group_text.h"

/* What a text is written with: out->program is the caller's to free. *room: a node that has to be computed
 * by itself first; then there is no program. -1: there is none. */
kiln_status kn_text_write(kn_text *out, int *stored, const kn_group *group, const kn_lower_state *state,
                          const char *name, const kiln_kernel_options *options);

#endif
