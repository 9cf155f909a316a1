/* base/os_file.c - reads and writes files, makes folders, finds programs. */
#include "base/os.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/shortage.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

static kiln_status system_error(const char *verb, const char *path)
{
    kiln_status status = errno == ENOENT ? KILN_ERROR_NOT_FOUND : KILN_ERROR_IO;
    return kn_error(status, "cannot %s %s: %s", verb, path, strerror(errno));
}

/* ---- reading ---- */

ssize_t kn_os_read_full(int fd, void *data, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t n = read(fd, (char *)data + done, size - done);
        if (n == 0)
            break;
        if (n > 0)
            done += (size_t)n;
        else if (errno != EINTR)
            return -1;
    }
    return (ssize_t)done;
}

/* The size that fstat tells is a first guess: pipes and /proc have none, and a file may grow meanwhile. */
static kiln_status read_all(kn_blob *blob, int fd, size_t guess, const char *path)
{
    size_t capacity = guess + 1;
    for (;;) {
        void *data = kn_realloc(blob->data, capacity);
        ssize_t n;
        if (!data)
            return kn_error_memory(path);
        blob->data = data;
        n = kn_os_read_full(fd, (char *)data + blob->size, capacity - blob->size);
        if (n < 0)
            return system_error("read", path);
        blob->size += (size_t)n;
        if (blob->size < capacity)
            return KILN_OK;
        capacity += capacity / 2 + 4096;
    }
}

/* Reads the file with that descriptor, which it closes; fd -1: it could not be opened. */
static kiln_status read_opened(kn_blob *out, int fd, const char *path, size_t limit, bool is_plain)
{
    kn_blob blob = KN_BLOB_INIT;
    struct stat info;
    kiln_status status = KILN_OK;
    if (fd < 0 || fstat(fd, &info) != 0)
        status = system_error("read", path);
    else if (is_plain && !S_ISREG(info.st_mode))
        status = kn_error(KILN_ERROR_IO, "cannot read %s: it is not a plain file", path);
    else if (info.st_size > 0 && (uint64_t)info.st_size > limit)
        status = kn_error(KILN_ERROR_IO, "cannot read %s: it has %lld bytes, at most %zu were expected", path,
                          (long long)info.st_size, limit);
    else
        status = read_all(&blob, fd, info.st_size > 0 ? (size_t)info.st_size : 0, path);
    if (fd >= 0)
        close(fd);
    if (status == KILN_OK)
        *out = blob;
    else
        kn_blob_free(&blob);
    return status;
}

kiln_status kn_os_read_file(kn_blob *out, const char *path)
{
    return read_opened(out, kn_os_open(path, O_RDONLY, 0), path, SIZE_MAX, false);
}

kiln_status kn_os_read_plain_file(kn_blob *out, const char *path, size_t limit, bool own_only)
{
    /* Without O_NONBLOCK, opening a pipe would wait for its writer. */
    int fd = kn_os_open(path, O_RDONLY | O_NONBLOCK | (own_only ? O_NOFOLLOW : 0), 0);
    return read_opened(out, fd, path, limit, true);
}

/* ---- writing ---- */

bool kn_os_write_full(int fd, const void *data, size_t size)
{
    const char *p = data;
    kn_os_guard guard;
    kn_os_guard_writes(&guard);
    while (size > 0) {
        ssize_t n = write(fd, p, size);
        if (n == 0 || (n < 0 && errno != EINTR))
            break;
        p += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    kn_os_unguard_writes(&guard);
    return size == 0;
}

/* ---- folders ---- */

static bool has_info(struct stat *out, const char *path)
{
    return kn_shortage_unless(stat(path, out) == 0);
}

bool kn_os_is_folder(const char *path)
{
    struct stat info;
    return has_info(&info, path) && S_ISDIR(info.st_mode);
}

bool kn_os_is_file(const char *path)
{
    struct stat info;
    return has_info(&info, path) && S_ISREG(info.st_mode);
}

kiln_status kn_os_make_folders(const char *path, unsigned mode)
{
    char part[PATH_MAX];
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof part)
        return kn_error(KILN_ERROR_INVALID, "a folder's name has %zu characters, not 1 to %d", length,
                        PATH_MAX - 1);
    memcpy(part, path, length + 1);
    for (size_t i = 1; i < length; i++) {
        if (part[i] != '/')
            continue;
        part[i] = 0;
        if (mkdir(part, 0755) != 0 && errno != EEXIST && !kn_os_is_folder(part))
            return system_error("make the folder", part);
        part[i] = '/';
    }
    if (mkdir(part, (mode_t)mode) != 0 && !kn_os_is_folder(part))
        return system_error("make the folder", path);
    return KILN_OK;
}

/* KILN_ERROR_INVALID or KILN_ERROR_IO; KILN_ERROR_FORBIDDEN where others could exchange the folder for one of
 * theirs: compilers write there code that will be run. The path is without links, whose targets might be
 * changed. */
kiln_status kn_os_make_temporary_folder_in(char *out, size_t size, const char *parent, const char *prefix)
{
    char path[PATH_MAX], real[PATH_MAX], reason[256];
    if ((size_t)snprintf(path, sizeof path, "%s/%sXXXXXX", parent, prefix) >= sizeof path)
        return kn_error(KILN_ERROR_INVALID, "the name of the temporary folder TMPDIR=%s is too long", parent);
    if (!mkdtemp(path))
        return kn_error(KILN_ERROR_IO, "cannot make a folder in %s: %s", parent, strerror(errno));
    if (!kn_os_folder_is_private(real, path, reason, sizeof reason)) {
        rmdir(path);
        return kn_error(KILN_ERROR_FORBIDDEN, "no place for temporary files (TMPDIR): %s", reason);
    }
    if ((size_t)snprintf(out, size, "%s", real) < size)
        return KILN_OK;
    rmdir(path);
    return kn_error(KILN_ERROR_INVALID, "the name of the temporary folder TMPDIR=%s is too long", parent);
}

kiln_status kn_os_make_temporary_folder_named(char *out, size_t size, const char *prefix)
{
    const char *told = kn_os_env("TMPDIR");
    kiln_status status = kn_os_make_temporary_folder_in(out, size, told ? told : "/tmp", prefix);
    return status == KILN_ERROR_FORBIDDEN && told ? kn_os_make_temporary_folder_in(out, size, "/tmp", prefix)
                                                  : status;
}

kiln_status kn_os_make_temporary_folder(char *out, size_t size)
{
    return kn_os_make_temporary_folder_named(out, size, "kiln-");
}

void kn_os_remove_folder(const char *path)
{
    DIR *folder = kn_os_open_folder(path);
    struct dirent *item;
    if (!folder)
        return;
    while ((item = readdir(folder)) != NULL)
        if (strcmp(item->d_name, ".") != 0 && strcmp(item->d_name, "..") != 0)
            unlinkat(dirfd(folder), item->d_name, 0);
    closedir(folder);
    rmdir(path);
}

/* ---- where a path lies ---- */

bool kn_os_is_network_path(const char *path)
{
    /* Magic numbers of statfs(2) and of the file systems' own sources. */
    static const unsigned long network[] = {
        0x6969,     /* NFS */
        0x517b,     /* SMB */
        0xff534d42, /* CIFS */
        0xfe534d42, /* SMB2 */
        0x0bd00bd0, /* Lustre */
        0x47504653, /* GPFS */
        0x19830326, /* BeeGFS */
        0x00c36400, /* Ceph */
        0x01021997, /* 9p */
        0x5346414f, /* AFS */
        0x6b414653, /* kAFS */
        0x013111a8, /* IBRIX */
        0xaad7aaea, /* PanFS */
        0x7461636f, /* OCFS2 */
        0x01161970, /* GFS2 */
        0x73757245, /* Coda */
    };
    struct statfs info;
    if (statfs(path, &info) != 0)
        return false;
    for (size_t i = 0; i < sizeof network / sizeof *network; i++)
        if (((unsigned long)info.f_type & 0xffffffffUL) == network[i])
            return true;
    return false;
}

static bool is_program(const char *path)
{
    return kn_os_is_file(path) && access(path, X_OK) == 0;
}

kiln_status kn_os_find_program(char *out, size_t size, const char *name)
{
    const char *path = kn_os_env("PATH");
    if (strchr(name, '/')) {
        if (is_program(name) && (size_t)snprintf(out, size, "%s", name) < size)
            return KILN_OK;
        return kn_error(KILN_ERROR_NOT_FOUND, "%s is not a program", name);
    }
    for (const char *p = path ? path : "/usr/bin:/bin"; *p; p += strcspn(p, ":"), p += *p == ':') {
        int length = (int)strcspn(p, ":");
        /* An empty entry means the working directory: not a place to run programs from. */
        if (length && (size_t)snprintf(out, size, "%.*s/%s", length, p, name) < size && is_program(out))
            return KILN_OK;
    }
    return kn_error(KILN_ERROR_NOT_FOUND, "%s is not on PATH", name);
}
