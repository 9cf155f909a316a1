/* program/macros.h - how far the preprocessor may change a program's texts. */
#ifndef KN_PROGRAM_MACROS_H
#define KN_PROGRAM_MACROS_H

#include "program/stages.h"

/* The texts that a macro may change: none, those that the preamble shows, or more. A macro inside a stage may
 * be used anywhere, and counts as hidden. */
typedef enum kn_macros { KN_MACROS_NONE, KN_MACROS_SEEN, KN_MACROS_HIDDEN } kn_macros;
kn_macros kn_macros_find(const kn_program *program);

/* True if macros may change the control flow of a text, or where it has a name. */
bool kn_macros_may_change(const kn_program *program, const char *name);

#endif
