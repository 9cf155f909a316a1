/* base/elf_dynamic.h - shared objects as the dynamic loader reads them. */
#ifndef KN_BASE_ELF_DYNAMIC_H
#define KN_BASE_ELF_DYNAMIC_H

#include "base/elf_object.h"

/* Checks all that the loader of shared objects follows before any code of theirs runs: segments in order, the
 * dynamic section, tables of strings, symbols, hashes, versions and relocations. Headers, segments and
 * sections have been found within the object. */
kiln_status kn_elf_check_dynamic(const kn_elf_object *object);

#endif
