#include "base/os.h"
#include "base/alloc.h"
#include "base/elf.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/lock.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

struct kn_library {
    void *handle;
};

static kiln_status open_path(kn_library **out, const char *path, const char *name, kiln_status failure)
{
    kn_library *library = kn_calloc(1, sizeof *library);
    const char *reason;
    if (!library)
        return kn_error_memory(sizeof *library, name);
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
    if (strncmp(reason, path, strlen(path)) == 0 && strncmp(reason + strlen(path), ": ", 2) == 0)
        reason += strlen(path) + 2; /* the name is said already, or is nobody's */
    kn_error(failure, "cannot load %s: %s", name, reason);
    kn_error_set_log(reason);
    return failure;
}

kiln_status kn_os_library_open(kn_library **out, const char *path)
{
    return open_path(out, path, path, KILN_ERROR_NOT_FOUND);
}

/* ---- from memory ---- */

/* The loader takes two objects for one where they have the same path, and descriptors and temporary names are
 * used again. Another copy of this library, which counts as we do, and other programs' code are in the same
 * process: so each path is spelt as nobody has spelt one before, 128 random bits in "./" and "//" that mean
 * nothing to the kernel. */
enum { SPELLING = 2 * 128 };

static void make_serial(kn_hash *out)
{
    static atomic_uint counter;
    struct {
        unsigned char random[16];
        double now;
        const void *copy; /* no other copy of the library has its counter there */
        uint64_t count, process;
    } seed;
    memset(&seed, 0, sizeof seed);
    if (getrandom(seed.random, sizeof seed.random, GRND_NONBLOCK) < 0)
        memset(seed.random, 0, sizeof seed.random); /* forbidden, or too early: the rest has to do */
    seed.now = kn_os_now_ms();
    seed.copy = &counter;
    seed.count = atomic_fetch_add(&counter, 1);
    seed.process = (uint64_t)getpid();
    *out = kn_hash_128(&seed, sizeof seed);
}

/* "folder/name", spelt as no other; false where it is too long. */
static bool spell_path(char *out, size_t size, const char *folder, const char *name)
{
    kn_hash serial;
    size_t at = strlen(folder) + 1;
    if (at + SPELLING + strlen(name) + 1 > size)
        return false;
    make_serial(&serial);
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

/* Where the system forbids to run what is in memory, or /proc is not there. */
static kiln_status open_temporary_file(kn_library **out, const void *data, size_t size, const char *name)
{
    static const char file[] = "kiln-XXXXXX";
    char path[PATH_MAX];
    const char *folder = kn_os_env("TMPDIR");
    kiln_status status;
    int fd;
    if (!folder)
        folder = "/tmp";
    if (!spell_path(path, sizeof path, folder, file))
        return kn_error(KILN_ERROR_IO, "cannot load %s: TMPDIR is too long", name);
    fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        return kn_error(KILN_ERROR_IO, "cannot load %s: no temporary file in %s: %s", name, folder,
                        strerror(errno));
    if (kn_os_write_full(fd, data, size))
        status = open_spelt(out, path, name);
    else
        status = kn_error(KILN_ERROR_IO, "cannot load %s: %s", name, strerror(errno));
    unlink(path);
    close(fd);
    return status;
}

kiln_status kn_os_library_open_memory(kn_library **out, const void *data, size_t size, const char *name)
{
    kiln_status status;
    char label[64]; /* what /proc/self/maps and debuggers show */
    int fd;
    if (kn_elf_check(data, size, KN_ELF_SHARED_OBJECT, name) != KILN_OK)
        return kn_error_context("cannot load %s", name);
    snprintf(label, sizeof label, "kiln-%s", name);
    fd = memfd_create(label, MFD_CLOEXEC);
    if (fd < 0)
        return open_temporary_file(out, data, size, name);
    status = open_memory_file(out, fd, data, size, name);
    close(fd);
    return status == KILN_OK || status == KILN_ERROR_MEMORY ? status
                                                            : open_temporary_file(out, data, size, name);
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
