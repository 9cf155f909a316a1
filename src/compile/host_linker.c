/* compile/host_linker.c - a shared object out of the host compiler's relocatable one, without a linker.
 *
 * Of the time of a small compile, a fourth is spent by g++ to start a linker, and by that to begin and end. A
 * kernel that calls no library, and has constants alone, needs little of it: its sections one behind the
 * other, the distances between them, and the table of names that the loader looks into. */
#include "compile/host_linker.h"

#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/elf.h"
#include "base/error.h"
#include "compile/host_compiler_line.h"

enum { PAGE = 4096, SEGMENTS = 4, ENTRIES = 6 /* of the dynamic section */, WORDS_OF_HASH = 3 };

static const char section_names[] = "\0.shstrtab";

/* Offsets in the object that is made, which are addresses up to the dynamic section. */
typedef struct link {
    kn_elf_object from;
    Elf64_Shdr names; /* the table of symbols, and its strings */
    const unsigned char *symbols;
    uint64_t n_symbols;
    uint64_t *place; /* of each section; 0: it is left out */
    unsigned char *bytes;
    uint64_t table, hash, strings, strings_size, end, dynamic, n_exported, headers, size;
} link;

static uint64_t round_up(uint64_t at, uint64_t to)
{
    return (at + to - 1) / to * to;
}

static Elf64_Sym symbol_of(const link *l, uint64_t index)
{
    Elf64_Sym symbol;
    memcpy(&symbol, l->symbols + index * sizeof symbol, sizeof symbol);
    return symbol;
}

static const char *name_of(const link *l, const Elf64_Sym *symbol)
{
    return (const char *)l->from.data + l->names.sh_offset + symbol->st_name;
}

/* ---- what goes in ---- */

static bool has_content(const Elf64_Shdr *s)
{
    return s->sh_flags & SHF_ALLOC && s->sh_size > 0 && s->sh_type != SHT_NOTE;
}

static bool is_constant(const Elf64_Shdr *s)
{
    return s->sh_type == SHT_PROGBITS && !(s->sh_flags & (SHF_WRITE | SHF_TLS | SHF_COMPRESSED)) &&
           s->sh_addralign <= PAGE;
}

static bool find_symbols(link *l)
{
    for (uint64_t i = 1; i < l->from.sections; i++) {
        Elf64_Shdr s = kn_elf_section(&l->from, i);
        if (s.sh_type != SHT_SYMTAB)
            continue;
        l->names = kn_elf_section(&l->from, s.sh_link);
        l->symbols = l->from.data + s.sh_offset;
        l->n_symbols = s.sh_size / sizeof(Elf64_Sym);
    }
    return l->symbols != NULL;
}

/* True if the symbol is in a section that goes in. */
static bool is_defined(const link *l, const Elf64_Sym *symbol)
{
    if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= l->from.sections)
        return false;
    Elf64_Shdr s = kn_elf_section(&l->from, symbol->st_shndx);
    return has_content(&s) && symbol->st_value <= s.sh_size;
}

static bool is_exported(const link *l, const Elf64_Sym *symbol)
{
    return ELF64_ST_BIND(symbol->st_info) != STB_LOCAL && symbol->st_other == STV_DEFAULT &&
           is_defined(l, symbol);
}

/* ---- where it goes ---- */

static bool lay_out(link *l)
{
    l->strings_size = 1;
    for (uint64_t i = 1; i < l->n_symbols; i++) {
        Elf64_Sym symbol = symbol_of(l, i);
        if (!is_exported(l, &symbol))
            continue;
        l->n_exported++;
        l->strings_size += strlen(name_of(l, &symbol)) + 1;
    }
    l->table = sizeof(Elf64_Ehdr) + SEGMENTS * sizeof(Elf64_Phdr);
    l->hash = l->table + (1 + l->n_exported) * sizeof(Elf64_Sym);
    l->strings = l->hash + (WORDS_OF_HASH + 1 + l->n_exported) * sizeof(uint32_t);
    uint64_t at = l->strings + l->strings_size;
    for (uint64_t i = 1; i < l->from.sections; i++) {
        Elf64_Shdr s = kn_elf_section(&l->from, i);
        if (!has_content(&s))
            continue;
        if (!is_constant(&s))
            return false;
        l->place[i] = at = round_up(at, s.sh_addralign > 0 ? s.sh_addralign : 1);
        at += s.sh_size;
    }
    l->end = at;
    l->dynamic = round_up(at, sizeof(Elf64_Dyn));
    l->headers = round_up(l->dynamic + ENTRIES * sizeof(Elf64_Dyn) + sizeof section_names, 8);
    l->size = l->headers + 2 * sizeof(Elf64_Shdr);
    return l->n_exported > 0;
}

/* ---- its bytes ---- */

static void put(link *l, uint64_t at, const void *from, size_t size)
{
    memcpy(l->bytes + at, from, size);
}

/* One chain has all symbols. */
static void put_symbols(link *l)
{
    uint64_t string = 1, index = 1;
    uint32_t count = (uint32_t)(1 + l->n_exported), head[WORDS_OF_HASH] = {1, count, count - 1};
    for (uint64_t i = 1; i < l->n_symbols; i++) {
        Elf64_Sym symbol = symbol_of(l, i);
        if (!is_exported(l, &symbol))
            continue;
        const char *name = name_of(l, &symbol);
        uint32_t next = (uint32_t)index - 1;
        symbol.st_value += l->place[symbol.st_shndx];
        symbol.st_shndx = 1; /* it is here: loaders ask no more */
        symbol.st_name = (Elf64_Word)string;
        put(l, l->table + index * sizeof symbol, &symbol, sizeof symbol);
        put(l, l->hash + (WORDS_OF_HASH + index) * sizeof next, &next, sizeof next);
        put(l, l->strings + string, name, strlen(name) + 1);
        string += strlen(name) + 1;
        index++;
    }
    put(l, l->hash, head, sizeof head);
}

static void put_contents(link *l)
{
    for (uint64_t i = 1; i < l->from.sections; i++) {
        Elf64_Shdr s = kn_elf_section(&l->from, i);
        if (l->place[i])
            put(l, l->place[i], l->from.data + s.sh_offset, s.sh_size);
    }
}

/* Distances alone: they are the same wherever the object is loaded. */
static bool relocate(link *l, const Elf64_Rela *r, uint64_t place, uint64_t size)
{
    Elf64_Sym symbol = symbol_of(l, ELF64_R_SYM(r->r_info));
    const unsigned type = ELF64_R_TYPE(r->r_info);
    if ((type != R_X86_64_PC32 && type != R_X86_64_PLT32) || size < sizeof(int32_t) ||
        r->r_offset > size - sizeof(int32_t) || !is_defined(l, &symbol))
        return false;
    uint64_t to = l->place[symbol.st_shndx] + symbol.st_value + (uint64_t)r->r_addend;
    int64_t distance = (int64_t)(to - place - r->r_offset);
    int32_t word = (int32_t)distance;
    put(l, place + r->r_offset, &word, sizeof word);
    return word == distance;
}

static bool relocate_all(link *l)
{
    for (uint64_t i = 1; i < l->from.sections; i++) {
        Elf64_Shdr s = kn_elf_section(&l->from, i);
        if ((s.sh_type != SHT_RELA && s.sh_type != SHT_REL) || !l->place[s.sh_info])
            continue;
        Elf64_Shdr to = kn_elf_section(&l->from, s.sh_info);
        for (uint64_t at = 0; at < s.sh_size; at += sizeof(Elf64_Rela)) {
            Elf64_Rela r;
            if (s.sh_type == SHT_REL)
                return false;
            memcpy(&r, l->from.data + s.sh_offset + at, sizeof r);
            if (!relocate(l, &r, l->place[s.sh_info], to.sh_size))
                return false;
        }
    }
    return true;
}

/* The loader writes into the dynamic section, which has a page of its own in memory. */
static void put_headers(link *l)
{
    const uint64_t size = ENTRIES * sizeof(Elf64_Dyn), at = l->dynamic + PAGE;
    const Elf64_Phdr segments[SEGMENTS] = {{PT_LOAD, PF_R | PF_X, 0, 0, 0, l->end, l->end, PAGE},
                                           {PT_LOAD, PF_R | PF_W, l->dynamic, at, at, size, size, PAGE},
                                           {PT_DYNAMIC, PF_R | PF_W, l->dynamic, at, at, size, size, 8},
                                           {.p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W, .p_align = 16}};
    const Elf64_Dyn dynamic[ENTRIES] = {
        {DT_HASH, {l->hash}},      {DT_SYMTAB, {l->table}},       {DT_SYMENT, {sizeof(Elf64_Sym)}},
        {DT_STRTAB, {l->strings}}, {DT_STRSZ, {l->strings_size}}, {DT_NULL, {0}}};
    Elf64_Ehdr head = l->from.head;
    head.e_type = ET_DYN;
    head.e_phoff = sizeof head;
    head.e_phentsize = sizeof(Elf64_Phdr);
    head.e_phnum = SEGMENTS;
    head.e_shoff = l->headers;
    head.e_shnum = 2;
    head.e_shstrndx = 1;
    put(l, 0, &head, sizeof head);
    put(l, sizeof head, segments, sizeof segments);
    put(l, l->dynamic, dynamic, sizeof dynamic);
}

/* Nobody reads sections at run time, but by their headers, the last thing in the file, one sees that it is
 * whole. */
static void put_sections(link *l)
{
    const Elf64_Shdr names = {.sh_name = 1,
                              .sh_type = SHT_STRTAB,
                              .sh_offset = l->dynamic + ENTRIES * sizeof(Elf64_Dyn),
                              .sh_size = sizeof section_names,
                              .sh_addralign = 1};
    put(l, names.sh_offset, section_names, sizeof section_names);
    put(l, l->headers + sizeof names, &names, sizeof names);
}

bool kn_host_can_link(const kn_compile_request *request)
{
    return strncmp(request->target.architecture, "x86-64", 6) == 0 && kn_host_calls_no_library(request) &&
           !(request->flags & KN_COMPILE_USER_MODULE);
}

kiln_status kn_host_link(kn_blob *out, const kn_blob *object, const char *name)
{
    link l = {.bytes = NULL};
    if (kn_elf_open(&l.from, object->data, object->size, KN_ELF_RELOCATABLE, name) != KILN_OK ||
        l.from.head.e_machine != EM_X86_64 || !find_symbols(&l))
        return KILN_OK;
    l.place = kn_calloc(l.from.sections, sizeof *l.place);
    if (!l.place)
        return kn_error_memory(name);
    bool is_taken = lay_out(&l);
    l.bytes = is_taken ? kn_calloc(1, l.size) : NULL;
    kiln_status status = is_taken && !l.bytes ? kn_error_memory(name) : KILN_OK;
    if (l.bytes) {
        put_headers(&l);
        put_symbols(&l);
        put_contents(&l);
        put_sections(&l);
        is_taken = relocate_all(&l);
    }
    if (l.bytes && is_taken)
        *out = (kn_blob){l.bytes, l.size};
    else
        kn_free(l.bytes);
    kn_free(l.place);
    return status;
}
