/* program/macros.h - how far the preprocessor may change a program's texts. */
#ifndef KN_PROGRAM_MACROS_H
#define KN_PROGRAM_MACROS_H

#include "program/stages.h"

/* How much of the texts it may change: nothing, as much as the preamble shows, or more than is seen. Inside a
 * stage macros may stand anywhere, and so count as hidden. */
typedef enum kn_macros { KN_MACROS_NONE, KN_MACROS_SEEN, KN_MACROS_HIDDEN } kn_macros;
kn_macros kn_macros_find(const kn_program *program);

/* Whether macros may change the control flow of a text, or where it has a name. */
bool kn_macros_may_change(const kn_program *program, const char *name);

#endif
