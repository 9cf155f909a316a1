/* base/os_identity.c - the identity of an ELF file: its GNU build id, else a hash of its content. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/os.h"
#include "base/error.h"
#include "base/hash.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The parts of program headers of both classes that matter here. */
typedef struct segment {
    uint32_t type;
    uint64_t offset, size, align;
} segment;

enum { NOTES_MAX = 64 * 1024, BUILD_ID_MAX = 64 };

static bool read_at(int fd, void *data, size_t size, uint64_t offset)
{
    size_t done = 0;
    if (offset > INT64_MAX - size)
        return false;
    while (done < size) {
        ssize_t n = pread(fd, (char *)data + done, size - done, (off_t)(offset + done));
        if (n > 0)
            done += (size_t)n;
        else if (n == 0 || errno != EINTR)
            return false;
    }
    return true;
}

static bool read_segment(int fd, segment *out, uint64_t offset, bool is_64)
{
    Elf64_Phdr wide;
    Elf32_Phdr narrow;
    if (is_64) {
        if (!read_at(fd, &wide, sizeof wide, offset))
            return false;
        *out = (segment){wide.p_type, wide.p_offset, wide.p_filesz, wide.p_align};
        return true;
    }
    if (!read_at(fd, &narrow, sizeof narrow, offset))
        return false;
    *out = (segment){narrow.p_type, narrow.p_offset, narrow.p_filesz, narrow.p_align};
    return true;
}

static size_t round_up(size_t value, size_t align)
{
    return (value + align - 1) / align * align;
}

/* The GNU build id among the ELF notes of one segment: its length in bytes, or 0. */
static size_t build_id_of_notes(const unsigned char *notes, size_t size, size_t align, unsigned char *out)
{
    size_t at = 0;
    while (at + sizeof(Elf64_Nhdr) <= size) {
        Elf64_Nhdr head; /* the same in both classes */
        size_t name, data;
        memcpy(&head, notes + at, sizeof head);
        if (head.n_namesz > size || head.n_descsz > size)
            return 0;
        name = at + sizeof head;
        data = name + round_up(head.n_namesz, align);
        if (data > size || head.n_descsz > size - data)
            return 0;
        if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && !memcmp(notes + name, "GNU", 4) &&
            head.n_descsz > 0 && head.n_descsz <= BUILD_ID_MAX) {
            memcpy(out, notes + data, head.n_descsz);
            return head.n_descsz;
        }
        at = data + round_up(head.n_descsz, align);
    }
    return 0;
}

static size_t build_id_of_segment(int fd, const segment *s, unsigned char *out)
{
    unsigned char notes[4096];
    /* The build id is among the first notes. */
    size_t size = s->size < sizeof notes ? (size_t)s->size : sizeof notes;
    if (s->type != PT_NOTE || s->size > NOTES_MAX || !read_at(fd, notes, size, s->offset))
        return 0;
    return build_id_of_notes(notes, size, s->align == 8 ? 8 : 4, out);
}

static bool is_native_order(const unsigned char *ident)
{
    const uint16_t one = 1;
    return ident[EI_DATA] == (*(const unsigned char *)&one ? ELFDATA2LSB : ELFDATA2MSB);
}

/* The place of the program headers; false for a file that is no ELF file of this byte order. */
static bool read_header(int fd, bool *is_64, uint64_t *offset, unsigned *size, unsigned *count)
{
    Elf64_Ehdr wide;
    Elf32_Ehdr narrow;
    unsigned char ident[EI_NIDENT];
    if (!read_at(fd, ident, sizeof ident, 0) || memcmp(ident, ELFMAG, SELFMAG) != 0 ||
        !is_native_order(ident))
        return false;
    *is_64 = ident[EI_CLASS] == ELFCLASS64;
    if (*is_64 && read_at(fd, &wide, sizeof wide, 0)) {
        *offset = wide.e_phoff, *size = wide.e_phentsize, *count = wide.e_phnum;
        return *size >= sizeof(Elf64_Phdr);
    }
    if (!*is_64 && read_at(fd, &narrow, sizeof narrow, 0)) {
        *offset = narrow.e_phoff, *size = narrow.e_phentsize, *count = narrow.e_phnum;
        return *size >= sizeof(Elf32_Phdr);
    }
    return false;
}

static size_t read_build_id(int fd, unsigned char *out)
{
    uint64_t offset;
    unsigned size, count;
    bool is_64;
    size_t length = 0;
    if (!read_header(fd, &is_64, &offset, &size, &count))
        return 0;
    for (unsigned i = 0; i < count && length == 0; i++) {
        segment s;
        if (!read_segment(fd, &s, offset + (uint64_t)i * size, is_64))
            return 0;
        length = build_id_of_segment(fd, &s, out);
    }
    return length;
}

/* The hash of the whole content, read in chunks. */
static bool hash_content(int fd, unsigned char out[16])
{
    unsigned char chunk[32 * 1024];
    XXH3_state_t state;
    XXH128_canonical_t canonical;
    off_t at = 0;
    XXH3_128bits_reset(&state);
    for (;;) {
        ssize_t n = pread(fd, chunk, sizeof chunk, at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        if (n == 0)
            break;
        XXH3_128bits_update(&state, chunk, (size_t)n);
        at += n;
    }
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&state));
    memcpy(out, canonical.digest, 16);
    return true;
}

kiln_status kn_os_file_identity(char *out, size_t size, const char *path)
{
    unsigned char id[BUILD_ID_MAX];
    kiln_status status = KILN_OK;
    size_t length = 0;
    struct stat info;
    int fd = kn_os_open(path, O_RDONLY | O_NONBLOCK, 0);
    if (fd < 0 || fstat(fd, &info) != 0)
        status = kn_error(errno == ENOENT ? KILN_ERROR_NOT_FOUND : KILN_ERROR_IO, "cannot read %s: %s", path,
                          strerror(errno));
    else if (!S_ISREG(info.st_mode))
        status = kn_error(KILN_ERROR_IO, "cannot read %s: not a plain file", path);
    else if ((length = read_build_id(fd, id)) == 0) {
        if (hash_content(fd, id))
            length = 16;
        else
            status = kn_error(KILN_ERROR_IO, "cannot read %s: %s", path, strerror(errno));
    }
    if (fd >= 0)
        close(fd);
    if (status == KILN_OK && length * 2 >= size)
        status = kn_error(KILN_ERROR_INVALID, "an identity of %zu characters needs more than %zu bytes",
                          length * 2, size);
    for (size_t i = 0; status == KILN_OK && i < length; i++)
        snprintf(out + 2 * i, 3, "%02x", id[i]);
    return status;
}
