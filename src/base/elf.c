/* base/elf.c - checks that an ELF object is whole: headers, segments, sections, tables. */
#include "base/elf.h"
#include "base/elf_dynamic.h"
#include "base/error.h"

#include <stddef.h>
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

static kiln_status not_whole(const kn_elf_object *o, const char *what)
{
    return kn_error(KILN_ERROR_FORMAT, "%s is not whole: %s the end of its %zu bytes", o->name, what,
                    o->size);
}

static kiln_status not_fit(const kn_elf_object *o, const char *what)
{
    static const char *const kinds[] = {[KN_ELF_SHARED_OBJECT] = "shared object for this machine",
                                        [KN_ELF_RELOCATABLE] = "relocatable object for this machine",
                                        [KN_ELF_CUBIN] = "cubin"};
    return kn_error(KILN_ERROR_FORMAT, "%s is no %s: %s", o->name, kinds[o->kind], what);
}

static bool is_native_order(unsigned char order)
{
    const uint16_t one = 1;
    return order == (*(const unsigned char *)&one ? ELFDATA2LSB : ELFDATA2MSB);
}

static bool is_of_kind(const kn_elf_object *o)
{
    const unsigned type = o->head.e_type;
    return type == ET_DYN    ? o->kind == KN_ELF_SHARED_OBJECT
           : type == ET_REL  ? o->kind != KN_ELF_SHARED_OBJECT
           : type == ET_EXEC ? o->kind == KN_ELF_CUBIN
                             : false;
}

static kiln_status check_head(kn_elf_object *o)
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
    if (!is_of_kind(o))
        return not_fit(o, "its type is another");
    if ((head->e_phnum && head->e_phentsize != sizeof(Elf64_Phdr)) ||
        (head->e_shoff && head->e_shentsize != sizeof(Elf64_Shdr)))
        return not_fit(o, "its tables have entries of another size");
    if (o->kind == KN_ELF_SHARED_OBJECT && head->e_phnum == 0)
        return not_fit(o, "it has no segments");
    return KILN_OK;
}

static kiln_status check_segments(const kn_elf_object *o)
{
    if (!kn_elf_is_within(o, o->head.e_phoff, o->head.e_phnum, sizeof(Elf64_Phdr)))
        return not_whole(o, "its segments' headers go over");
    for (unsigned i = 0; i < o->head.e_phnum; i++) {
        Elf64_Phdr segment = kn_elf_segment(o, i);
        if (!kn_elf_is_within(o, segment.p_offset, segment.p_filesz, 1))
            return not_whole(o, "a segment goes over");
        if (segment.p_type == PT_LOAD && segment.p_filesz > segment.p_memsz)
            return not_fit(o, "a segment is larger in the file than in memory");
    }
    return KILN_OK;
}

/* The number of sections; the first section's size holds it if the header's field is too small. */
static kiln_status count_sections(kn_elf_object *o)
{
    Elf64_Shdr first;
    o->sections = o->head.e_shoff ? o->head.e_shnum : 0;
    if (!o->head.e_shoff || o->head.e_shnum)
        return KILN_OK;
    if (!kn_elf_is_within(o, o->head.e_shoff, 1, sizeof first))
        return not_whole(o, "its sections' headers go over");
    memcpy(&first, o->data + o->head.e_shoff, sizeof first);
    o->sections = first.sh_size;
    return KILN_OK;
}

/* Processor-specific types (in cubins: shared and global memory) may have no bytes in the file. */
static bool has_bytes(const Elf64_Shdr *section)
{
    return section->sh_type != SHT_NULL && section->sh_type != SHT_NOBITS && section->sh_type < SHT_LOPROC;
}

/* Loaders do not map by sections, but linkers write their headers last: if these are complete, so is the
 * rest. */
static kiln_status check_section_headers(const kn_elf_object *o)
{
    if (!o->head.e_shoff || o->sections < 2)
        return not_whole(o, "its sections' headers go over");
    if (!kn_elf_is_within(o, o->head.e_shoff, o->sections, sizeof(Elf64_Shdr)))
        return not_whole(o, "its sections' headers go over");
    for (uint64_t i = 1; i < o->sections; i++) {
        Elf64_Shdr section = kn_elf_section(o, i);
        if (section.sh_type == SHT_NULL)
            return kn_elf_damaged(o, "the header of a section is empty");
        if (has_bytes(&section) && !kn_elf_is_within(o, section.sh_offset, section.sh_size, 1))
            return not_whole(o, "a section goes over");
    }
    return KILN_OK;
}

/* A table of strings begins and ends with NUL. */
static bool is_string_table(const kn_elf_object *o, uint64_t i)
{
    if (i == 0 || i >= o->sections)
        return false;
    Elf64_Shdr s = kn_elf_section(o, i);
    return s.sh_type == SHT_STRTAB && s.sh_size > 0 && o->data[s.sh_offset] == 0 &&
           o->data[s.sh_offset + s.sh_size - 1] == 0;
}

static kiln_status check_section_names(const kn_elf_object *o)
{
    uint64_t names = o->head.e_shstrndx == SHN_XINDEX ? kn_elf_section(o, 0).sh_link : o->head.e_shstrndx;
    if (!is_string_table(o, names))
        return kn_elf_damaged(o, "the names of its sections are not there");
    Elf64_Shdr table = kn_elf_section(o, names);
    for (uint64_t i = 1; i < o->sections; i++) {
        Elf64_Shdr section = kn_elf_section(o, i);
        if (section.sh_name >= table.sh_size)
            return kn_elf_damaged(o, "the name of a section lies outside of their names");
    }
    return KILN_OK;
}

static bool is_good_symbol(const kn_elf_object *o, const Elf64_Shdr *table, uint64_t index, uint64_t names)
{
    Elf64_Sym symbol;
    memcpy(&symbol, o->data + table->sh_offset + index * sizeof symbol, sizeof symbol);
    return symbol.st_name < names && (symbol.st_shndx < o->sections || symbol.st_shndx >= SHN_LORESERVE);
}

static bool are_good_symbols(const kn_elf_object *o, const Elf64_Shdr *table)
{
    if (table->sh_entsize != sizeof(Elf64_Sym) || table->sh_size % sizeof(Elf64_Sym) != 0 ||
        !is_string_table(o, table->sh_link))
        return false;
    uint64_t names = kn_elf_section(o, table->sh_link).sh_size;
    for (uint64_t k = 0; k < table->sh_size / sizeof(Elf64_Sym); k++)
        if (!is_good_symbol(o, table, k, names))
            return false;
    return true;
}

/* Checks relocations: the symbols that they name, and the section that they change. */
static bool are_good_relocations(const kn_elf_object *o, const Elf64_Shdr *table)
{
    uint64_t size = table->sh_type == SHT_RELA ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel), info;
    if (table->sh_entsize != size || table->sh_size % size != 0 || table->sh_link >= o->sections ||
        table->sh_info >= o->sections)
        return false;
    Elf64_Shdr symbols = kn_elf_section(o, table->sh_link);
    uint64_t count = table->sh_link ? symbols.sh_size / sizeof(Elf64_Sym) : 1;
    for (uint64_t at = 0; at < table->sh_size; at += size) {
        memcpy(&info, o->data + table->sh_offset + at + offsetof(Elf64_Rela, r_info), sizeof info);
        if (ELF64_R_SYM(info) >= count)
            return false;
    }
    return true;
}

/* Checks that the contents of sections fit their types. */
static kiln_status check_sections(const kn_elf_object *o)
{
    kiln_status status = check_section_headers(o);
    if (status == KILN_OK)
        status = check_section_names(o);
    for (uint64_t i = 1; i < o->sections && status == KILN_OK; i++) {
        Elf64_Shdr s = kn_elf_section(o, i);
        if ((s.sh_type == SHT_SYMTAB || s.sh_type == SHT_DYNSYM) && !are_good_symbols(o, &s))
            status = kn_elf_damaged(o, "a table of symbols is none");
        if ((s.sh_type == SHT_RELA || s.sh_type == SHT_REL) && !are_good_relocations(o, &s))
            status = kn_elf_damaged(o, "a table of relocations is none");
    }
    return status;
}

kiln_status kn_elf_open(kn_elf_object *out, const void *data, size_t size, kn_elf_kind kind, const char *name)
{
    *out = (kn_elf_object){.data = data, .size = size, .kind = kind, .name = name};
    kiln_status status = check_head(out);
    if (status == KILN_OK)
        status = check_segments(out);
    if (status == KILN_OK)
        status = count_sections(out);
    if (status == KILN_OK)
        status = check_sections(out);
    if (status == KILN_OK && kind == KN_ELF_SHARED_OBJECT)
        status = kn_elf_check_dynamic(out);
    return status;
}

kiln_status kn_elf_check(const void *data, size_t size, kn_elf_kind kind, const char *name)
{
    kn_elf_object object;
    return kn_elf_open(&object, data, size, kind, name);
}
