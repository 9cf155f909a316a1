/* base/elf_dynamic.c - checks everything that the dynamic loader will read of a shared object.
 *
 * The loader trusts the file: an offset beyond the object ends the process, a relocation writes anywhere, and
 * tables that no linker writes end in an assertion. */
#include "base/elf_dynamic.h"

#include <stdbool.h>
#include <string.h>

enum { TAGS_MAX = 38, VERSIONS_MAX = 1 << 15, PAGE_MIN = 1 << 12, PAGE_MAX = 1 << 16 };
#ifndef DT_RELR
#define DT_RELRSZ 35
#define DT_RELR 36
#define DT_RELRENT 37
#endif

/* The dynamic section's entries by tag; those that count further down have places of their own. */
typedef struct dynamic {
    const kn_elf_object *object;
    uint64_t value[TAGS_MAX], gnu_hash, versym, verneed, n_verneed, verdef, n_verdef, n_relative;
    bool has[TAGS_MAX];
    const unsigned char *strings;
    unsigned last_version;
} dynamic;

/* ---- segments ---- */

static bool is_power_of_two(uint64_t n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

/* Segments are sorted by address, do not overlap, and each has the same offset in a page as its content in
 * the file. */
static bool are_loadable(const kn_elf_object *o)
{
    uint64_t end = 0, highest;
    int count = 0;
    for (unsigned i = 0; i < o->head.e_phnum; i++) {
        Elf64_Phdr s = kn_elf_segment(o, i);
        if (s.p_type != PT_LOAD)
            continue;
        if (s.p_vaddr < end || !(s.p_flags & PF_R) ||
            __builtin_add_overflow(s.p_vaddr, s.p_memsz, &highest) || highest >> 47 ||
            (s.p_align > 1 && (!is_power_of_two(s.p_align) || (s.p_vaddr - s.p_offset) % s.p_align != 0)))
            return false;
        end = highest;
        count++;
    }
    return count > 0;
}

/* size bytes at an address that is mapped from the file, or (in_memory) mapped at all, with these rights. */
static bool is_mapped(const kn_elf_object *o, uint64_t address, uint64_t size, bool in_memory,
                      unsigned rights)
{
    for (unsigned i = 0; i < o->head.e_phnum; i++) {
        Elf64_Phdr s = kn_elf_segment(o, i);
        uint64_t length = in_memory ? s.p_memsz : s.p_filesz;
        if (s.p_type == PT_LOAD && (s.p_flags & rights) == rights && address >= s.p_vaddr &&
            address - s.p_vaddr <= length && size <= length - (address - s.p_vaddr))
            return true;
    }
    return false;
}

/* The bytes of an address in the file; NULL if it does not have all of them. */
static const unsigned char *bytes_at(const kn_elf_object *o, uint64_t address, uint64_t count, uint64_t each)
{
    uint64_t size;
    if (__builtin_mul_overflow(count, each, &size))
        return NULL;
    for (unsigned i = 0; i < o->head.e_phnum; i++) {
        Elf64_Phdr s = kn_elf_segment(o, i);
        if (s.p_type == PT_LOAD && address >= s.p_vaddr && address - s.p_vaddr <= s.p_filesz &&
            size <= s.p_filesz - (address - s.p_vaddr))
            return o->data + s.p_offset + (address - s.p_vaddr);
    }
    return NULL;
}

static bool read_at(void *out, const kn_elf_object *o, uint64_t address, size_t size)
{
    const unsigned char *at = bytes_at(o, address, 1, size);
    if (at)
        memcpy(out, at, size);
    return at != NULL;
}

/* ELF notes: the loader follows the sizes that they give themselves. */
static bool are_notes(const kn_elf_object *o, const Elf64_Phdr *s)
{
    uint64_t at = 0, align = s->p_align == 8 ? 8 : 4;
    while (at < s->p_filesz) {
        Elf64_Nhdr note;
        if (s->p_filesz - at < sizeof note)
            return false;
        memcpy(&note, o->data + s->p_offset + at, sizeof note);
        uint64_t name = (at + sizeof note + note.n_namesz + align - 1) / align * align;
        at = (name + note.n_descsz + align - 1) / align * align;
        if (note.n_namesz > s->p_filesz || note.n_descsz > s->p_filesz)
            return false;
    }
    return true;
}

static bool is_good_segment(const kn_elf_object *o, const Elf64_Phdr *s)
{
    switch (s->p_type) {
    case PT_NOTE:
    case PT_GNU_PROPERTY:
        return s->p_filesz == s->p_memsz && is_mapped(o, s->p_vaddr, s->p_memsz, false, 0) && are_notes(o, s);
    case PT_GNU_RELRO:
        return (s->p_vaddr + s->p_memsz) % PAGE_MIN == 0 &&
               is_mapped(o, s->p_vaddr, s->p_memsz > PAGE_MAX ? s->p_memsz - PAGE_MAX : 0, true, PF_W);
    case PT_TLS:
        return s->p_filesz <= s->p_memsz && s->p_memsz < 1 << 30 &&
               (s->p_align == 0 || is_power_of_two(s->p_align)) &&
               is_mapped(o, s->p_vaddr, s->p_filesz, false, 0);
    case PT_INTERP:
        return false; /* a program */
    default:
        return true;
    }
}

/* ---- the dynamic section ---- */

/* One of each kind, but of those that make lists, and none that the loader would pass over: linkers write
 * neither. */
static bool take_entry(dynamic *d, const Elf64_Dyn *entry)
{
    const int64_t tag = entry->d_tag;
    const struct {
        int64_t tag;
        uint64_t *to;
    } further[] = {{DT_GNU_HASH, &d->gnu_hash},    {DT_VERSYM, &d->versym}, {DT_VERNEED, &d->verneed},
                   {DT_VERNEEDNUM, &d->n_verneed}, {DT_VERDEF, &d->verdef}, {DT_VERDEFNUM, &d->n_verdef},
                   {DT_RELACOUNT, &d->n_relative}};
    if (tag >= 0 && tag < TAGS_MAX) {
        bool is_again = d->has[tag] && tag != DT_NEEDED;
        d->value[tag] = entry->d_un.d_val;
        d->has[tag] = true;
        return !is_again;
    }
    for (size_t i = 0; i < sizeof further / sizeof *further; i++)
        if (tag == further[i].tag) {
            bool is_again = *further[i].to != 0;
            *further[i].to = entry->d_un.d_val;
            return !is_again;
        }
    return tag == DT_FLAGS_1 || tag == DT_AUXILIARY || tag == DT_FILTER ||
           (tag >= DT_LOPROC && tag <= DT_LOPROC + 255) || (tag >= DT_VALRNGLO && tag <= DT_ADDRRNGHI);
}

/* Calls take(d, entry) for each until DT_NULL, which has to be there. */
static bool each_entry(dynamic *d, bool (*take)(dynamic *, const Elf64_Dyn *))
{
    const kn_elf_object *o = d->object;
    for (unsigned i = 0; i < o->head.e_phnum; i++) {
        Elf64_Phdr s = kn_elf_segment(o, i);
        if (s.p_type != PT_DYNAMIC)
            continue;
        const unsigned char *at = bytes_at(o, s.p_vaddr, s.p_filesz, 1);
        if (at != o->data + s.p_offset || s.p_vaddr % sizeof(uint64_t) != 0)
            return false;
        for (uint64_t k = 0; k + 1 <= s.p_filesz / sizeof(Elf64_Dyn); k++) {
            Elf64_Dyn entry;
            memcpy(&entry, at + k * sizeof entry, sizeof entry);
            if (entry.d_tag == DT_NULL)
                return true;
            if (!take(d, &entry))
                return false;
        }
        return false;
    }
    return false;
}

static bool is_string(const dynamic *d, uint64_t offset)
{
    return offset < d->value[DT_STRSZ];
}

/* Names, and the pieces of the loader's own that no compiler of kernels writes. */
static bool is_good_entry(dynamic *d, const Elf64_Dyn *entry)
{
    switch (entry->d_tag) {
    case DT_NEEDED:
    case DT_SONAME:
    case DT_RPATH:
    case DT_RUNPATH:
    case DT_AUXILIARY:
    case DT_FILTER:
        return is_string(d, entry->d_un.d_val);
    case DT_INIT:
    case DT_FINI:
        return is_mapped(d->object, entry->d_un.d_val, 1, false, PF_X);
    case DT_REL:
    case DT_PREINIT_ARRAY:
        return false;
    default:
        return true;
    }
}

static bool has_strings(dynamic *d)
{
    uint64_t size = d->value[DT_STRSZ];
    if (!d->has[DT_STRTAB] || size == 0)
        return false;
    d->strings = bytes_at(d->object, d->value[DT_STRTAB], size, 1);
    return d->strings && d->strings[0] == 0 && d->strings[size - 1] == 0;
}

static bool is_needed_name(dynamic *d, const char *name)
{
    const kn_elf_object *o = d->object;
    for (unsigned i = 0; i < o->head.e_phnum; i++) {
        Elf64_Phdr s = kn_elf_segment(o, i);
        for (uint64_t k = 0; s.p_type == PT_DYNAMIC && k < s.p_filesz / sizeof(Elf64_Dyn); k++) {
            Elf64_Dyn entry;
            memcpy(&entry, o->data + s.p_offset + k * sizeof entry, sizeof entry);
            if (entry.d_tag == DT_NULL)
                break;
            if (entry.d_tag == DT_NEEDED && strcmp((const char *)d->strings + entry.d_un.d_val, name) == 0)
                return true;
        }
    }
    return false;
}

/* ---- versions ---- */

/* The versions that one library has to have. */
static bool are_good_needs(dynamic *d, uint64_t address, unsigned count)
{
    for (unsigned k = 0; k < count; k++) {
        Elf64_Vernaux aux;
        if (!read_at(&aux, d->object, address, sizeof aux))
            return false;
        unsigned version = aux.vna_other & 0x7fff;
        if (!is_string(d, aux.vna_name) || (k + 1 < count) != (aux.vna_next != 0))
            return false;
        d->last_version = version > d->last_version ? version : d->last_version;
        address += aux.vna_next;
    }
    return count > 0;
}

/* The versions that the object itself has. */
static bool are_good_definitions(dynamic *d)
{
    uint64_t address = d->verdef;
    for (uint64_t k = 0; k < d->n_verdef; k++) {
        Elf64_Verdef definition;
        Elf64_Verdaux aux;
        if (!read_at(&definition, d->object, address, sizeof definition))
            return false;
        if (!read_at(&aux, d->object, address + definition.vd_aux, sizeof aux))
            return false;
        unsigned version = definition.vd_ndx & 0x7fff;
        if (definition.vd_version != 1 || !is_string(d, aux.vda_name) ||
            (k + 1 < d->n_verdef) != (definition.vd_next != 0))
            return false;
        d->last_version = version > d->last_version ? version : d->last_version;
        address += definition.vd_next;
    }
    return true;
}

static bool are_good_versions(dynamic *d)
{
    uint64_t address = d->verneed;
    if ((!d->versym && (d->verneed || d->verdef)) || !d->verneed != !d->n_verneed ||
        !d->verdef != !d->n_verdef || d->n_verneed > VERSIONS_MAX || d->n_verdef > VERSIONS_MAX ||
        !are_good_definitions(d))
        return false;
    for (uint64_t k = 0; k < d->n_verneed; k++) {
        Elf64_Verneed need;
        if (!read_at(&need, d->object, address, sizeof need))
            return false;
        if (need.vn_version != 1 || !is_string(d, need.vn_file) ||
            !is_needed_name(d, (const char *)d->strings + need.vn_file) ||
            !are_good_needs(d, address + need.vn_aux, need.vn_cnt) ||
            (k + 1 < d->n_verneed) != (need.vn_next != 0))
            return false;
        address += need.vn_next;
    }
    return true;
}

/* ---- symbols ---- */

/* One that a hash or a relocation leads to. */
static bool is_good_symbol(const dynamic *d, uint64_t index)
{
    Elf64_Sym symbol;
    Elf64_Half version = 0;
    uint64_t before, address, where;
    if (__builtin_mul_overflow(index, sizeof symbol, &before) ||
        __builtin_add_overflow(d->value[DT_SYMTAB], before, &address) ||
        !read_at(&symbol, d->object, address, sizeof symbol))
        return false;
    if (d->versym && (__builtin_add_overflow(d->versym, index * sizeof version, &where) ||
                      !read_at(&version, d->object, where, sizeof version)))
        return false;
    if (!is_string(d, symbol.st_name) || (version & 0x7fff) > (d->last_version > 1 ? d->last_version : 1))
        return false;
    bool is_here = symbol.st_shndx != SHN_UNDEF && symbol.st_shndx != SHN_ABS;
    unsigned type = ELF64_ST_TYPE(symbol.st_info), binding = ELF64_ST_BIND(symbol.st_info);
    if (index != 0 && symbol.st_shndx == SHN_UNDEF && (binding == STB_LOCAL || symbol.st_name == 0))
        return false;
    if (!is_here || type == STT_TLS || type == STT_SECTION)
        return true;
    bool is_code = type == STT_FUNC || type == STT_GNU_IFUNC;
    return is_mapped(d->object, symbol.st_value, is_code ? 1 : 0, true, is_code ? PF_X : 0);
}

/* Each symbol belongs to one chain at most: more steps than symbols are a circle. */
static bool is_good_old_hash(const dynamic *d)
{
    uint32_t head[2], steps = 0, index;
    if (!read_at(head, d->object, d->value[DT_HASH], sizeof head))
        return false;
    const unsigned char *at =
        bytes_at(d->object, d->value[DT_HASH] + sizeof head, (uint64_t)head[0] + head[1], sizeof index);
    if (!at || head[0] == 0)
        return false;
    for (uint32_t bucket = 0; bucket < head[0]; bucket++) {
        memcpy(&index, at + (size_t)bucket * sizeof index, sizeof index);
        for (; index != 0; memcpy(&index, at + ((size_t)head[0] + index) * sizeof index, sizeof index))
            if (index >= head[1] || steps++ >= head[1] || !is_good_symbol(d, index))
                return false;
    }
    return true;
}

/* From a bucket's first symbol on, until the hash that is marked as the last. */
static bool is_good_chain(const dynamic *d, uint64_t chains, uint32_t first, uint32_t index)
{
    uint32_t hash = 0;
    for (; !(hash & 1); index++) {
        uint64_t at = chains + (uint64_t)(index - first) * sizeof hash;
        if (!read_at(&hash, d->object, at, sizeof hash) || !is_good_symbol(d, index))
            return false;
    }
    return true;
}

static bool is_good_gnu_hash(const dynamic *d)
{
    struct {
        uint32_t buckets, first, words, shift;
    } head;
    const unsigned char *at;
    if (!read_at(&head, d->object, d->gnu_hash, sizeof head))
        return false;
    uint64_t buckets = d->gnu_hash + sizeof head + (uint64_t)head.words * sizeof(uint64_t);
    if (head.buckets == 0 || !is_power_of_two(head.words) || head.shift >= 32 ||
        !bytes_at(d->object, d->gnu_hash + sizeof head, head.words, sizeof(uint64_t)) ||
        !(at = bytes_at(d->object, buckets, head.buckets, sizeof(uint32_t))))
        return false;
    for (uint32_t b = 0; b < head.buckets; b++) {
        uint32_t index;
        memcpy(&index, at + (size_t)b * sizeof index, sizeof index);
        if (index != 0 &&
            (index < head.first ||
             !is_good_chain(d, buckets + (uint64_t)head.buckets * sizeof index, head.first, index)))
            return false;
    }
    return true;
}

static bool are_good_hashes(const dynamic *d)
{
    return d->has[DT_SYMTAB] && (!d->has[DT_SYMENT] || d->value[DT_SYMENT] == sizeof(Elf64_Sym)) &&
           (d->has[DT_HASH] || d->gnu_hash) && (!d->has[DT_HASH] || is_good_old_hash(d)) &&
           (!d->gnu_hash || is_good_gnu_hash(d));
}

/* ---- relocations ---- */

/* Relocations that linkers write for shared objects, each of 8 bytes at least; and the two kinds that are
 * checked further. */
#if defined(__x86_64__)
enum { ADDS_BASE = R_X86_64_RELATIVE, CALLS = R_X86_64_IRELATIVE };
static const int types[] = {R_X86_64_64,       R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT,
                            R_X86_64_RELATIVE, R_X86_64_DTPMOD64, R_X86_64_DTPOFF64,
                            R_X86_64_TPOFF64,  R_X86_64_TLSDESC,  R_X86_64_IRELATIVE};
#elif defined(__aarch64__)
enum { ADDS_BASE = R_AARCH64_RELATIVE, CALLS = R_AARCH64_IRELATIVE };
static const int types[] = {R_AARCH64_ABS64,     R_AARCH64_GLOB_DAT,   R_AARCH64_JUMP_SLOT,
                            R_AARCH64_RELATIVE,  R_AARCH64_TLS_DTPMOD, R_AARCH64_TLS_DTPREL,
                            R_AARCH64_TLS_TPREL, R_AARCH64_TLSDESC,    R_AARCH64_IRELATIVE};
#else
#error "which relocations shared objects have on this machine"
#endif

static bool is_known_type(int type)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i] == type)
            return true;
    return false;
}

/* True if the address is in a table of functions that are called when the object is loaded or unloaded. */
static bool is_call(const dynamic *d, uint64_t address)
{
    return address - d->value[DT_INIT_ARRAY] < d->value[DT_INIT_ARRAYSZ] ||
           address - d->value[DT_FINI_ARRAY] < d->value[DT_FINI_ARRAYSZ];
}

static bool is_good_place(const dynamic *d, uint64_t address)
{
    bool writes_code = d->has[DT_TEXTREL] || d->value[DT_FLAGS] & DF_TEXTREL;
    return is_mapped(d->object, address, sizeof(uint64_t), true, writes_code ? 0 : PF_W);
}

static bool is_good_relocation(const dynamic *d, const Elf64_Rela *r)
{
    int type = (int)ELF64_R_TYPE(r->r_info);
    if (!is_known_type(type) || !is_good_place(d, r->r_offset) || !is_good_symbol(d, ELF64_R_SYM(r->r_info)))
        return false;
    if (type == CALLS || (type == ADDS_BASE && is_call(d, r->r_offset)))
        return is_mapped(d->object, (uint64_t)r->r_addend, 1, false, PF_X);
    return type != ADDS_BASE || is_mapped(d->object, (uint64_t)r->r_addend, 0, true, 0);
}

/* Compact relocations (RELR): an address, then words whose bits mark the 63 places behind it. */
static bool are_good_short_relocations(const dynamic *d)
{
    uint64_t count = d->value[DT_RELRSZ] / sizeof(uint64_t), place = 0;
    const unsigned char *at = bytes_at(d->object, d->value[DT_RELR], count, sizeof(uint64_t));
    if (!at || d->value[DT_RELRENT] != sizeof(uint64_t) || d->value[DT_RELRSZ] % sizeof(uint64_t) != 0)
        return false;
    for (uint64_t k = 0; k < count; k++) {
        uint64_t word;
        memcpy(&word, at + k * sizeof word, sizeof word);
        if (!(word & 1) && !is_good_place(d, word))
            return false;
        for (int bit = 1; bit < 64 && (word & 1); bit++)
            if (word >> bit & 1 && !is_good_place(d, place + (uint64_t)(bit - 1) * sizeof word))
                return false;
        place = word & 1 ? place + 63 * sizeof word : word + sizeof word;
    }
    return true;
}

static bool are_good_relocations(const dynamic *d, uint64_t address, uint64_t size, uint64_t n_relative)
{
    uint64_t count = size / sizeof(Elf64_Rela);
    const unsigned char *at = bytes_at(d->object, address, count, sizeof(Elf64_Rela));
    if (!at || size % sizeof(Elf64_Rela) != 0 || n_relative > count)
        return false;
    for (uint64_t k = 0; k < count; k++) {
        Elf64_Rela r;
        memcpy(&r, at + k * sizeof r, sizeof r);
        if (!is_good_relocation(d, &r) || (k < n_relative && (int)ELF64_R_TYPE(r.r_info) != ADDS_BASE))
            return false;
    }
    return true;
}

static bool have_relocations(const dynamic *d)
{
    if (d->has[DT_RELA] != d->has[DT_RELASZ] || d->has[DT_JMPREL] != d->has[DT_PLTRELSZ] ||
        (d->has[DT_RELA] && (!d->has[DT_RELAENT] || d->value[DT_RELAENT] != sizeof(Elf64_Rela))) ||
        (d->has[DT_JMPREL] && d->value[DT_PLTREL] != DT_RELA))
        return false;
    if (d->has[DT_PLTGOT] && !is_mapped(d->object, d->value[DT_PLTGOT], 0, true, 0))
        return false;
    return (!d->has[DT_RELR] || are_good_short_relocations(d)) &&
           (!d->has[DT_RELA] ||
            are_good_relocations(d, d->value[DT_RELA], d->value[DT_RELASZ], d->n_relative)) &&
           (!d->has[DT_JMPREL] || are_good_relocations(d, d->value[DT_JMPREL], d->value[DT_PLTRELSZ], 0));
}

/* ---- functions called at loading and unloading ---- */

/* Their places in the file hold addresses, to which the relocations add where the object lies. */
static bool are_good_calls(const dynamic *d, int table, int size)
{
    if (d->has[table] != d->has[size])
        return false;
    if (!d->has[table])
        return true;
    uint64_t bytes = d->value[size], address = d->value[table];
    return bytes % sizeof(uint64_t) == 0 && address % sizeof(uint64_t) == 0 &&
           (bytes == 0 || is_mapped(d->object, address, bytes, false, PF_W));
}

/* ---- the sections say the same ---- */

static bool is_relocated(const dynamic *d, const Elf64_Shdr *s)
{
    return (s->sh_addr == d->value[DT_JMPREL] && s->sh_size <= d->value[DT_PLTRELSZ]) ||
           (s->sh_addr >= d->value[DT_RELA] && s->sh_addr - d->value[DT_RELA] <= d->value[DT_RELASZ] &&
            s->sh_size <= d->value[DT_RELASZ] - (s->sh_addr - d->value[DT_RELA]));
}

static bool agrees(const dynamic *d, const Elf64_Shdr *s)
{
    switch (s->sh_type) {
    case SHT_RELA:
        return s->sh_size == 0 || is_relocated(d, s);
    case SHT_DYNSYM:
        return s->sh_addr == d->value[DT_SYMTAB];
    case SHT_HASH:
        return s->sh_addr == d->value[DT_HASH];
    case SHT_GNU_HASH:
        return s->sh_addr == d->gnu_hash;
    case SHT_GNU_versym:
        return s->sh_addr == d->versym;
    case SHT_GNU_verneed:
        return s->sh_addr == d->verneed && s->sh_info == d->n_verneed;
    case SHT_GNU_verdef:
        return s->sh_addr == d->verdef && s->sh_info == d->n_verdef;
    case SHT_INIT_ARRAY:
        return s->sh_addr == d->value[DT_INIT_ARRAY] && s->sh_size == d->value[DT_INIT_ARRAYSZ];
    case SHT_FINI_ARRAY:
        return s->sh_addr == d->value[DT_FINI_ARRAY] && s->sh_size == d->value[DT_FINI_ARRAYSZ];
    default:
        return true;
    }
}

kiln_status kn_elf_check_dynamic(const kn_elf_object *object)
{
    dynamic d = {.object = object};
    if (!are_loadable(object))
        return kn_elf_damaged(object, "its segments cannot be mapped as they are");
    for (unsigned i = 0; i < object->head.e_phnum; i++) {
        Elf64_Phdr s = kn_elf_segment(object, i);
        if (!is_good_segment(object, &s))
            return kn_elf_damaged(object, "a segment lies outside of what is mapped");
    }
    if (!each_entry(&d, take_entry) || !has_strings(&d) || !each_entry(&d, is_good_entry))
        return kn_elf_damaged(object, "its dynamic section is none");
    for (uint64_t i = 1; i < object->sections; i++) {
        Elf64_Shdr s = kn_elf_section(object, i);
        if (s.sh_flags & SHF_ALLOC && !agrees(&d, &s))
            return kn_elf_damaged(object, "its sections and its dynamic section say different things");
    }
    if (!are_good_versions(&d))
        return kn_elf_damaged(object, "its versions of symbols lead out of it");
    if (!are_good_hashes(&d))
        return kn_elf_damaged(object, "its symbols, or what they are found by, lead out of it");
    if (!have_relocations(&d))
        return kn_elf_damaged(object, "its relocations lead out of it");
    if (!are_good_calls(&d, DT_INIT_ARRAY, DT_INIT_ARRAYSZ) ||
        !are_good_calls(&d, DT_FINI_ARRAY, DT_FINI_ARRAYSZ))
        return kn_elf_damaged(object, "what it calls when it is loaded leads out of it");
    return KILN_OK;
}
