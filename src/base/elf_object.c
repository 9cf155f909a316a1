/* base/elf_object.c - checks of bounds and the message of a damaged ELF object. */
#include "base/elf_object.h"
#include "base/error.h"

#include <string.h>

bool kn_elf_is_within(const kn_elf_object *o, uint64_t offset, uint64_t count, uint64_t each)
{
    return offset <= o->size && (each == 0 || count <= (o->size - offset) / each);
}

Elf64_Phdr kn_elf_segment(const kn_elf_object *o, unsigned i)
{
    Elf64_Phdr segment;
    memcpy(&segment, o->data + o->head.e_phoff + i * sizeof segment, sizeof segment);
    return segment;
}

Elf64_Shdr kn_elf_section(const kn_elf_object *o, uint64_t i)
{
    Elf64_Shdr section;
    memcpy(&section, o->data + o->head.e_shoff + i * sizeof section, sizeof section);
    return section;
}

kiln_status kn_elf_damaged(const kn_elf_object *o, const char *what)
{
    return kn_error(KILN_ERROR_FORMAT, "%s is damaged: %s", o->name, what);
}
