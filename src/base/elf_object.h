/* base/elf_object.h - an ELF object as its checks see it. */
#ifndef KN_BASE_ELF_OBJECT_H
#define KN_BASE_ELF_OBJECT_H

#include <kiln/base.h>

#include <elf.h>
#include <stdbool.h>

typedef enum kn_elf_kind {
    KN_ELF_SHARED_OBJECT, /* of this machine, for dlopen */
    KN_ELF_RELOCATABLE,   /* of this machine, as compilers write them */
    KN_ELF_CUBIN          /* executable or relocatable */
} kn_elf_kind;

typedef struct kn_elf_object {
    const unsigned char *data;
    size_t size;
    kn_elf_kind kind;
    const char *name;
    Elf64_Ehdr head;
    uint64_t sections; /* more than the header can count are possible */
} kn_elf_object;

/* True if count things of that size lie within the object. Neither sum nor product can overflow. */
bool kn_elf_is_within(const kn_elf_object *object, uint64_t offset, uint64_t count, uint64_t each);
Elf64_Phdr kn_elf_segment(const kn_elf_object *object, unsigned i);
Elf64_Shdr kn_elf_section(const kn_elf_object *object, uint64_t i);
/* KILN_ERROR_FORMAT: "NAME is damaged: what". */
kiln_status kn_elf_damaged(const kn_elf_object *object, const char *what);

#endif
