/* base/elf.h - checks that an object is complete. Loaders map as much as the headers state: of a truncated
 * file the process dies by SIGBUS, and the CUDA driver, which gets no size, reads beyond the object's memory.
 */
#ifndef KN_BASE_ELF_H
#define KN_BASE_ELF_H

#include "base/elf_object.h"

/* KILN_ERROR_FORMAT naming the damage. Checks class, byte order, machine, type, that headers, segments and
 * sections lie within size bytes, that tables of names, symbols and relocations have valid contents, and of a
 * shared object all that the loader follows; reads nothing outside of them. Machine code and pointers are not
 * checked. */
kiln_status kn_elf_check(const void *data, size_t size, kn_elf_kind kind, const char *name);
/* The same, and gives the object: data and name are to stay. */
kiln_status kn_elf_open(kn_elf_object *out, const void *data, size_t size, kn_elf_kind kind,
                        const char *name);

#endif
