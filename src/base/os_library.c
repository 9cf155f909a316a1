/* base/os_library.c - loads shared libraries from files and from memory. */
#include "base/os.h"
#include "base/alloc.h"
#include "base/elf.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/shortage.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct kn_library {
    void *handle;
};

static kiln_status open_path(kn_library **out, const char *path, const char *name, kiln_status failure)
{
    kn_library *library = kn_calloc(1, sizeof *library);
    const char *reason;
    if (!library)
        return kn_error_memory(name);
    kn_lock_enter_loader();
    library->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    kn_lock_leave_loader();
    if (library->handle) {
        *out = library;
        return KILN_OK;
    }
    reason = dlerror();
    kn_free(library);
    if (!reason)
        reason = "no reason given";
    if (kn_shortage_note_words(reason))
        failure = KILN_ERROR_IO;
    if (strncmp(reason, path, strlen(path)) == 0 && strncmp(reason + strlen(path), ": ", 2) == 0)
        reason += strlen(path) + 2; /* the message names the library already */
    kn_error(failure, "cannot load %s: %s", name, reason);
    kn_error_set_log(reason);
    return failure;
}

kiln_status kn_os_library_open(kn_library **out, const char *path)
{
    return open_path(out, path, path, KILN_ERROR_NOT_FOUND);
}

/* ---- from memory ---- */

/* The loader takes two objects of the same path for one, and descriptors and temporary names are reused.
 * Other copies of this library, and other programs' code, may be in the same process: so each path is spelt
 * in a unique way, by 128 random bits as "./" and "//", which mean nothing to the kernel. */
enum { SPELLING = 2 * 128 };

/* "folder/name", spelt as no other; false where it is too long. */
static bool spell_path(char *out, size_t size, const char *folder, const char *name)
{
    kn_hash serial;
    size_t at = strlen(folder) + 1;
    if (at + SPELLING + strlen(name) + 1 > size)
        return false;
    kn_os_make_nonce(&serial);
    memcpy(out, folder, at - 1);
    out[at - 1] = '/';
    for (int bit = 0; bit < SPELLING / 2; bit++) {
        out[at++] = serial.bytes[bit / 8] >> bit % 8 & 1 ? '.' : '/';
        out[at++] = '/';
    }
    strcpy(out + at, name);
    return true;
}

/* Nothing has been loaded from the path before, so an object that does not bear it is another one, which the
 * loader found by the number of its file. */
static bool is_loaded_from(const kn_library *library, const char *path)
{
    struct link_map *map = NULL;
    return dlinfo(library->handle, RTLD_DI_LINKMAP, &map) == 0 && strcmp(map->l_name, path) == 0;
}

static kiln_status open_spelt(kn_library **out, const char *path, const char *name)
{
    kn_library *library = NULL;
    kiln_status status = open_path(&library, path, name, KILN_ERROR_FORMAT);
    if (library && !is_loaded_from(library, path)) {
        kn_os_library_close(library);
        return kn_error(KILN_ERROR_IO,
                        "cannot load %s: its file has the number of another object that is loaded", name);
    }
    *out = library;
    return status;
}

static kiln_status open_memory_file(kn_library **out, int fd, const void *data, size_t size, const char *name)
{
    char path[SPELLING + 64], number[16];
    if (!kn_os_write_full(fd, data, size))
        return kn_error(KILN_ERROR_IO, "cannot load %s: %s", name, strerror(errno));
    snprintf(number, sizeof number, "%d", fd);
    spell_path(path, sizeof path, "/proc/self/fd", number);
    return open_spelt(out, path, name);
}

/* ---- from a file that is there while it is loaded ---- */

static kiln_status write_object(const char *path, const void *data, size_t size)
{
    int fd = kn_os_open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600), reason = 0;
    if (fd < 0 || !kn_os_write_full(fd, data, size))
        reason = errno;
    if (fd >= 0)
        close(fd);
    return reason ? kn_error(KILN_ERROR_IO, "%s", strerror(reason)) : KILN_OK;
}

/* Opens it in a private folder, where no other user can replace it. */
static kiln_status open_in_folder(kn_library **out, const char *parent, const void *data, size_t size,
                                  const char *name)
{
    char folder[PATH_MAX - SPELLING - 16], path[PATH_MAX];
    kiln_status status = kn_os_make_temporary_folder_in(folder, sizeof folder, parent, "kiln-load-");
    if (status != KILN_OK)
        return status;
    status = spell_path(path, sizeof path, folder, "object")
                 ? write_object(path, data, size)
                 : kn_error(KILN_ERROR_IO, "its name is too long");
    if (status == KILN_OK)
        status = open_spelt(out, path, name);
    kn_os_remove_folder(folder);
    return status;
}

/* True if another place may help: an object that the loader refuses for its content, it refuses in every
 * place. */
static bool is_about_place(kiln_status status)
{
    static const char *const reasons[] = {"failed to map segment", "cannot open shared object file"};
    for (size_t i = 0; status == KILN_ERROR_FORMAT && i < sizeof reasons / sizeof *reasons; i++)
        if (strncmp(kiln_error_log(), reasons[i], strlen(reasons[i])) == 0)
            return true;
    return status != KILN_OK && status != KILN_ERROR_FORMAT && status != KILN_ERROR_MEMORY;
}

/* For systems that forbid to run code from memory, or have no /proc: loads from the first folder that can be
 * written to and run from. */
static kiln_status open_temporary_file(kn_library **out, const void *data, size_t size, const char *name,
                                       const char *no_memory)
{
    const char *folders[] = {kn_os_env("TMPDIR"), "/tmp", "/var/tmp", "/dev/shm",
                             kn_os_env("XDG_RUNTIME_DIR")};
    kn_str reasons = KN_STR_INIT;
    kiln_status status = KILN_ERROR_IO;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        if (!folders[i])
            continue;
        status = open_in_folder(out, folders[i], data, size, name);
        if (!is_about_place(status))
            break;
        kn_str_printf(&reasons, "; in %s: %s", folders[i], kiln_error_message());
    }
    if (status != KILN_OK && status != KILN_ERROR_MEMORY)
        status =
            kn_error(KILN_ERROR_IO,
                     "cannot load %s: neither from memory (%s) nor from a temporary file%s: mount /proc, or "
                     "let TMPDIR name a folder that can be written to and run from",
                     name, no_memory, kn_str_text(&reasons));
    kn_str_free(&reasons);
    return status;
}

kiln_status kn_os_library_open_memory(kn_library **out, const void *data, size_t size, const char *name)
{
    kiln_status status = KILN_ERROR_IO;
    char label[64], reason[512]; /* /proc/self/maps and debuggers show the label */
    int fd;
    if (kn_elf_check(data, size, KN_ELF_SHARED_OBJECT, name) != KILN_OK)
        return kn_error_context("cannot load %s", name);
    snprintf(label, sizeof label, "kiln-%s", name);
    fd = kn_os_open_memory(label);
    if (fd < 0) {
        snprintf(reason, sizeof reason, "memfd_create: %s", strerror(errno));
    } else {
        status = open_memory_file(out, fd, data, size, name);
        close(fd);
        if (is_about_place(status))
            snprintf(reason, sizeof reason, "%s",
                     access("/proc/self/fd", X_OK) == 0 ? kiln_error_message() : "/proc is not mounted");
    }
    return is_about_place(status) ? open_temporary_file(out, data, size, name, reason) : status;
}

void *kn_os_library_symbol(kn_library *library, const char *name)
{
    return dlsym(library->handle, name);
}

size_t kn_os_library_symbol_size(void *symbol)
{
    Dl_info info;
    ElfW(Sym) *entry = NULL;
    bool is_known = dladdr1(symbol, &info, (void **)&entry, RTLD_DL_SYMENT) && entry;
    return is_known && info.dli_saddr == symbol ? entry->st_size : 0;
}

void kn_os_library_close(kn_library *library)
{
    if (!library)
        return;
    kn_lock_enter_loader();
    dlclose(library->handle);
    kn_lock_leave_loader();
    kn_free(library);
}

void kn_os_library_pin_self(void)
{
    static const char here;
    Dl_info info;
    kn_lock_enter_loader();
    if (dladdr(&here, &info) && info.dli_fname)
        (void)dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    kn_lock_leave_loader();
}

/* The file that is mapped there, as the kernel knows it: wherever the process has gone since, and whatever
 * links led to it. False: /proc is not mounted, or a line is longer than a path. */
static bool find_mapped(char *out, size_t size, const void *at)
{
    kn_blob maps = KN_BLOB_INIT;
    bool is_found = false;
    if (kn_os_read_file(&maps, "/proc/self/maps") != KILN_OK)
        return false;
    const char *end = (const char *)maps.data + maps.size, *next;
    for (const char *line = maps.data; !is_found && line < end; line = next + 1) {
        unsigned long first, behind;
        char text[PATH_MAX + 128];
        next = memchr(line, '\n', (size_t)(end - line));
        if (!next)
            break;
        snprintf(text, sizeof text, "%.*s", (int)(next - line), line);
        const char *path = strchr(text, '/');
        is_found = path && sscanf(text, "%lx-%lx", &first, &behind) == 2 && (uintptr_t)at >= first &&
                   (uintptr_t)at < behind && (size_t)snprintf(out, size, "%s", path) < size;
    }
    kn_blob_free(&maps);
    return is_found;
}

bool kn_os_library_own_folder(char *out, size_t size, bool without_links)
{
    static const char here;
    Dl_info info;
    char name[PATH_MAX], file[PATH_MAX];
    kn_lock_enter_loader();
    bool is_known = dladdr(&here, &info) && info.dli_fname &&
                    (size_t)snprintf(name, sizeof name, "%s", info.dli_fname) < sizeof name;
    kn_lock_leave_loader();
    if (!is_known)
        return false;
    bool is_whole = name[0] == '/', is_found = false;
    if (!without_links)
        is_found = is_whole && (size_t)snprintf(file, sizeof file, "%s", name) < sizeof file;
    else
        is_found = is_whole ? realpath(name, file) != NULL : find_mapped(file, sizeof file, &here);
    if (!is_found || (size_t)snprintf(out, size, "%s", file) >= size)
        return false;
    *strrchr(out, '/') = '\0';
    return true;
}
