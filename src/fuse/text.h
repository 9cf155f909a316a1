/* fuse/text.h - writes a group as a program: the texts of its stages, and the sources of its parameters. */
#ifndef KN_FUSE_TEXT_H
#define KN_FUSE_TEXT_H

#include "fuse/group_text.h"

/* out->program is the caller's to free. *stored: a node that must be stored first, and then there is no
 * program; -1: none. */
kiln_status kn_text_write(kn_text *out, int *stored, const kn_group *group, const kn_lower_state *state,
                          const char *name, const kiln_kernel_options *options);

#endif
