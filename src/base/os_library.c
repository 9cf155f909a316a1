#include "base/os.h"
#include "base/alloc.h"
#include "base/error.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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
    library->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library->handle) {
        *out = library;
        return KILN_OK;
    }
    reason = dlerror();
    kn_free(library);
    return kn_error(failure, "cannot load %s: %s", name, reason ? reason : "no reason given");
}

kiln_status kn_os_library_open(kn_library **out, const char *path)
{
    return open_path(out, path, path, KILN_ERROR_NOT_FOUND);
}

/* ---- from memory ---- */

static bool write_code(int fd, const void *data, size_t size)
{
    const char *p = data;
    while (size > 0) {
        ssize_t n = write(fd, p, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        size -= (size_t)n;
    }
    return true;
}

/* The loader takes two libraries of the same path for one, and descriptors are used again: so each path is
 * spelt differently, a serial number in "./" and "//" that mean nothing to the kernel. */
static void spell_path(char *out, int fd)
{
    static atomic_uint counter;
    unsigned serial = atomic_fetch_add(&counter, 1);
    char *p = out + sprintf(out, "/proc/self/fd/");
    for (; serial; serial >>= 1)
        p += sprintf(p, "%s", serial & 1 ? "./" : "//");
    sprintf(p, "%d", fd);
}

static kiln_status open_memory_file(kn_library **out, int fd, const void *data, size_t size, const char *name)
{
    char path[128];
    if (!write_code(fd, data, size))
        return kn_error(KILN_ERROR_IO, "cannot load %s: %s", name, strerror(errno));
    spell_path(path, fd);
    return open_path(out, path, name, KILN_ERROR_FORMAT);
}

/* Where the system forbids to run what is in memory, or /proc is not there. */
static kiln_status open_temporary_file(kn_library **out, const void *data, size_t size, const char *name)
{
    char path[PATH_MAX];
    const char *folder = kn_os_env("TMPDIR");
    kiln_status status;
    int fd;
    snprintf(path, sizeof path, "%s/kiln-XXXXXX", folder ? folder : "/tmp");
    fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        return kn_error(KILN_ERROR_IO, "cannot load %s: no temporary file in %s: %s", name,
                        folder ? folder : "/tmp", strerror(errno));
    if (write_code(fd, data, size))
        status = open_path(out, path, name, KILN_ERROR_FORMAT);
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
    if (size == 0)
        return kn_error(KILN_ERROR_FORMAT, "cannot load %s: it is empty", name);
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

void kn_os_library_close(kn_library *library)
{
    if (!library)
        return;
    dlclose(library->handle);
    kn_free(library);
}
