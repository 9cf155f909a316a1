/* program/assigned.h - whether a text assigns an output on every way through it. */
#ifndef KN_PROGRAM_ASSIGNED_H
#define KN_PROGRAM_ASSIGNED_H

#include "program/stages.h"

/* The values among the first `count` (bits) that running the statements of `text` may leave unassigned, or
 * reads before it assigns them. Where the text leaves this open they count. KILN_ERROR_MEMORY. */
kiln_status kn_text_find_left(uint64_t *out, const char *text, const kn_param *value, int count);

/* The outputs (bits) that some element may leave unassigned, or read before it assigns them. */
kiln_status kn_program_find_left(uint64_t *out, const kn_program *program);

#endif
