/* compile/dependency_lookups.h - the table of names that a compiler can have looked for, and of the folders
 * that have them. */
#ifndef KN_COMPILE_DEPENDENCY_LOOKUPS_H
#define KN_COMPILE_DEPENDENCY_LOOKUPS_H

#include "compile/dependency_file.h"

/* A hash over that table. False without memory, and for a damaged dependency file. */
bool kn_dependency_hash_lookups(char hex[KN_HASH_DIGITS + 1], const kn_dependency_file *s);

#endif
