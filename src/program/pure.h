/* program/pure.h - bodies that may be computed once for each value of their input rather than once an
 * element. */
#ifndef KN_PROGRAM_PURE_H
#define KN_PROGRAM_PURE_H

#include "program/stages.h"

/* True if the program is one map whose results depend on the values of its inputs alone: it assigns each
 * output, reads none, and does nothing else. A text that leaves this open is not pure. */
bool kn_body_is_pure(const kn_program *program);

/* True if elements may be computed twice: it is pure, but may choose by conditions. */
bool kn_body_is_repeatable(const kn_program *program);

/* True if it is pure and assigns its only input, of the same type, to its only output: elements are moved. */
bool kn_body_is_copy(const kn_program *program);

/* The same of any two types: elements are moved where these are equal. */
bool kn_body_assigns(const kn_program *program);

/* True if one element costs more than a look into a table: it divides, or calls functions. */
bool kn_body_is_expensive(const kn_program *program);

#endif
