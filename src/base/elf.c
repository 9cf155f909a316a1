#include "base/elf.h"
#include "base/error.h"

#include <elf.h>
#include <string.h>

#ifndef EM_CUDA
#define EM_CUDA 190
#endif

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#else
#define MACHINE EM_NONE /* not known: any will do, dlopen decides */
#endif

/* What is looked at. */
typedef struct object {
    const unsigned char *data;
    size_t size;
    kn_elf_kind kind;
    const char *name;
    Elf64_Ehdr head;
    uint64_t sections;
} object;

/* Neither sum nor product can overflow. */
static bool is_within(const object *o, uint64_t offset, uint64_t count, uint64_t each)
{
    return offset <= o->size && (each == 0 || count <= (o->size - offset) / each);
}

static kiln_status not_whole(const object *o, const char *what)
{
    return kn_error(KILN_ERROR_FORMAT, "%s is not whole: %s the end of its %zu bytes", o->name, what,
                    o->size);
}

static kiln_status not_fit(const object *o, const char *what)
{
    return kn_error(KILN_ERROR_FORMAT, "%s is no %s: %s", o->name,
                    o->kind == KN_ELF_CUBIN ? "cubin" : "shared object for this machine", what);
}

static bool is_native_order(unsigned char order)
{
    const uint16_t one = 1;
    return order == (*(const unsigned char *)&one ? ELFDATA2LSB : ELFDATA2MSB);
}

static kiln_status check_head(object *o)
{
    Elf64_Ehdr *head = &o->head;
    unsigned machine = o->kind == KN_ELF_CUBIN ? EM_CUDA : MACHINE;
    if (o->size < SELFMAG || memcmp(o->data, ELFMAG, SELFMAG) != 0)
        return not_fit(o, "it is not an ELF object");
    if (o->size < sizeof *head)
        return not_whole(o, "its header goes over");
    memcpy(head, o->data, sizeof *head);
    if (head->e_ident[EI_CLASS] != ELFCLASS64 || !is_native_order(head->e_ident[EI_DATA]))
        return not_fit(o, "its class or byte order is another");
    if (machine != EM_NONE && head->e_machine != machine)
        return not_fit(o, "it was made for another machine");
    if (o->kind == KN_ELF_CUBIN ? head->e_type != ET_EXEC && head->e_type != ET_REL : head->e_type != ET_DYN)
        return not_fit(o, "its type is another");
    if ((head->e_phnum && head->e_phentsize != sizeof(Elf64_Phdr)) ||
        (head->e_shoff && head->e_shentsize != sizeof(Elf64_Shdr)))
        return not_fit(o, "its tables have entries of another size");
    if (o->kind == KN_ELF_SHARED_OBJECT && head->e_phnum == 0)
        return not_fit(o, "it has no segments");
    return KILN_OK;
}

static kiln_status check_segments(const object *o)
{
    if (!is_within(o, o->head.e_phoff, o->head.e_phnum, sizeof(Elf64_Phdr)))
        return not_whole(o, "its segments' headers go over");
    for (unsigned i = 0; i < o->head.e_phnum; i++) {
        Elf64_Phdr segment;
        memcpy(&segment, o->data + o->head.e_phoff + i * sizeof segment, sizeof segment);
        if (!is_within(o, segment.p_offset, segment.p_filesz, 1))
            return not_whole(o, "a segment goes over");
        if (segment.p_type == PT_LOAD && segment.p_filesz > segment.p_memsz)
            return not_fit(o, "a segment is larger in the file than in memory");
    }
    return KILN_OK;
}

/* Where there are more than the header can count, the first section's size counts them. */
static kiln_status count_sections(object *o)
{
    Elf64_Shdr first;
    o->sections = o->head.e_shoff ? o->head.e_shnum : 0;
    if (!o->head.e_shoff || o->head.e_shnum)
        return KILN_OK;
    if (!is_within(o, o->head.e_shoff, 1, sizeof first))
        return not_whole(o, "its sections' headers go over");
    memcpy(&first, o->data + o->head.e_shoff, sizeof first);
    o->sections = first.sh_size;
    return KILN_OK;
}

/* No loader maps by sections, but linkers write their headers last: where these are there, so is the rest.
 * Types of a processor's own (in cubins: shared and global memory) may stand for no bytes of the file. */
static kiln_status check_sections(const object *o)
{
    if (!is_within(o, o->head.e_shoff, o->sections, sizeof(Elf64_Shdr)))
        return not_whole(o, "its sections' headers go over");
    for (uint64_t i = 1; i < o->sections; i++) {
        Elf64_Shdr section;
        memcpy(&section, o->data + o->head.e_shoff + i * sizeof section, sizeof section);
        if (section.sh_type != SHT_NULL && section.sh_type != SHT_NOBITS && section.sh_type < SHT_LOPROC &&
            !is_within(o, section.sh_offset, section.sh_size, 1))
            return not_whole(o, "a section goes over");
    }
    return KILN_OK;
}

kiln_status kn_elf_check(const void *data, size_t size, kn_elf_kind kind, const char *name)
{
    object o = {.data = data, .size = size, .kind = kind, .name = name};
    kiln_status status = check_head(&o);
    if (status == KILN_OK)
        status = check_segments(&o);
    if (status == KILN_OK)
        status = count_sections(&o);
    if (status == KILN_OK)
        status = check_sections(&o);
    return status;
}
