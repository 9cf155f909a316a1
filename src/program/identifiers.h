/* program/identifiers.h - how a program's texts use the name of a parameter, as far as words and operators
 * tell. Macros may do more than is seen: where some could, the answer is the careful one. */
#ifndef KN_PROGRAM_IDENTIFIERS_H
#define KN_PROGRAM_IDENTIFIERS_H

#include "program/stages.h"

/* Refuses (KILN_ERROR_INVALID, with the text and a caret) an output, or another value of a map, that its text
 * cannot assign: its name is not in the text, or only where a value is read. Raw outputs pass. */
kiln_status kn_identifiers_check_outputs(const kn_program *program);

/* *out: the raw parameters (bits) whose name is followed by '[', '(' or '.' somewhere. */
kiln_status kn_identifiers_find_indexed(uint64_t *out, const kn_program *program);

#endif
