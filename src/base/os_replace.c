/* base/os_replace.c - files that are replaced as a whole: by arrays, bundles, sources and all that the
 * command writes.
 *
 * * The new content is written to a file beside the old one, under a name that nobody can know beforehand,
 * and takes its place when it is whole: readers see the old file or the new one, writers do not meet, and
 * what lies in the folder already is neither followed nor lost. */
#include "base/os.h"
#include "base/error.h"
#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS_MAX = 40, PERMISSIONS = 0777 };

void kn_os_make_nonce(kn_hash *out)
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

/* ---- the file that a path means ---- */

typedef struct place {
    char path[PATH_MAX]; /* without a link at its end */
    int descriptor;      /* the descriptor behind /dev/stdout and its like; -1 */
    bool is_there;
    struct stat before;
} place;

/* 3 of "/dev/fd/3"; -1: it is no such name. To open it would begin the file anew that it is redirected to. */
static int descriptor_of(const char *path)
{
    static const struct {
        const char *name;
        int number; /* negative: digits follow */
    } names[] = {
        {"/dev/stdin", 0}, {"/dev/stdout", 1}, {"/dev/stderr", 2}, {"/dev/fd/", -1}, {"/proc/self/fd/", -1}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i].name);
        const char *rest = path + length;
        if (strncmp(path, names[i].name, length) != 0)
            continue;
        if (names[i].number >= 0 && !*rest)
            return names[i].number;
        if (names[i].number < 0 && *rest && strlen(rest) < 8 && strspn(rest, "0123456789") == strlen(rest))
            return atoi(rest);
    }
    return -1;
}

/* One link further; false with errno, 0 where there was none. */
static bool follow_link(char *path)
{
    char target[PATH_MAX];
    ssize_t length = readlink(path, target, sizeof target);
    const char *slash = strrchr(path, '/');
    errno = 0;
    if (length < 0)
        return false;
    size_t at = slash && target[0] != '/' ? (size_t)(slash - path) + 1 : 0;
    if (at + (size_t)length >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(path + at, target, (size_t)length);
    path[at + (size_t)length] = 0;
    return true;
}

/* The file behind symbolic links, which stay, also where the last of them leads nowhere yet. False with
 * errno. */
static bool find_place(place *out, const char *path)
{
    int links = 0;
    out->is_there = false;
    if (snprintf(out->path, sizeof out->path, "%s", path) >= (int)sizeof out->path) {
        errno = ENAMETOOLONG;
        return false;
    }
    do
        out->descriptor = descriptor_of(out->path);
    while (out->descriptor < 0 && follow_link(out->path) && ++links < LINKS_MAX);
    if (out->descriptor >= 0)
        return true;
    if (links == LINKS_MAX)
        errno = ELOOP;
    if (errno != 0)
        return false;
    out->is_there = stat(out->path, &out->before) == 0;
    return out->is_there || errno == ENOENT;
}

/* ---- writing ---- */

/* Closes it in any case; errno is that of the first failure. */
static bool close_written(int fd, bool is_written)
{
    int reason = errno;
    if (close(fd) != 0 && is_written)
        return false;
    errno = reason;
    return is_written;
}

/* Writes a pipe, a device, or a file that may only be written where it lies. */
static bool write_in_place(const char *path, int flags, const void *data, size_t size)
{
    int fd = kn_os_open(path, O_WRONLY | O_NOCTTY | flags, 0);
    return fd >= 0 && close_written(fd, kn_os_write_full(fd, data, size));
}

static bool write_to_descriptor(int descriptor, const void *data, size_t size)
{
    int fd = kn_os_copy_descriptor(descriptor);
    return fd >= 0 && close_written(fd, kn_os_write_full(fd, data, size));
}

/* A new file in the folder of path, its name in name; -1 with errno. */
static int create_beside(const char *path, char *name, size_t size, unsigned mode)
{
    const char *slash = strrchr(path, '/');
    char hex[2 * sizeof(kn_hash) + 1];
    kn_hash nonce;
    kn_os_make_nonce(&nonce);
    kn_hash_hex(&nonce, hex);
    if ((size_t)snprintf(name, size, "%.*s.kiln-%s", slash ? (int)(slash - path) + 1 : 0, path, hex) >=
        size) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return kn_os_open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
}

/* The owner and the permissions of the file that is replaced. */
static bool take_over(int fd, const struct stat *before)
{
    struct stat own;
    if (fstat(fd, &own) != 0)
        return false;
    if ((own.st_uid != before->st_uid || own.st_gid != before->st_gid) &&
        fchown(fd, before->st_uid, before->st_gid) != 0)
        return false;
    return fchmod(fd, before->st_mode & PERMISSIONS) == 0;
}

/* Writes the folder to the disk, so that the name leads to the new file after a power failure. File systems
 * that cannot do so (of a network) are left as they are. */
static void sync_folder(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    int fd = kn_os_open(folder, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return;
    (void)fsync(fd);
    close(fd);
}

typedef enum outcome { WRITTEN, REFUSED, NOT_BESIDE } outcome;

/* REFUSED with errno; NOT_BESIDE where no other file can take this one's place: the folder may not be written
 * to, the owner would change, or the file is a mount of its own. */
static outcome write_beside(const place *to, const void *data, size_t size, bool is_durable)
{
    char name[PATH_MAX];
    int fd = create_beside(to->path, name, sizeof name, to->is_there ? 0600 : 0666);
    outcome result = REFUSED;
    if (fd < 0)
        return to->is_there ? NOT_BESIDE : REFUSED;
    if (to->is_there && !take_over(fd, &to->before)) {
        close(fd);
        result = NOT_BESIDE;
    } else if (close_written(fd, kn_os_write_full(fd, data, size) && (!is_durable || fsync(fd) == 0)))
        result = rename(name, to->path) == 0      ? WRITTEN
                 : to->is_there && errno == EBUSY ? NOT_BESIDE
                                                  : REFUSED;
    int reason = errno;
    if (result != WRITTEN)
        unlink(name);
    else if (is_durable)
        sync_folder(to->path);
    errno = reason;
    return result;
}

static bool replace(const place *to, const void *data, size_t size, bool is_durable)
{
    if (to->descriptor >= 0)
        return write_to_descriptor(to->descriptor, data, size);
    if (to->is_there && S_ISDIR(to->before.st_mode)) {
        errno = EISDIR;
        return false;
    }
    if (to->is_there && !S_ISREG(to->before.st_mode))
        return write_in_place(to->path, 0, data, size);
    if (to->is_there && faccessat(AT_FDCWD, to->path, W_OK, AT_EACCESS) != 0)
        return false; /* a rename would not ask */
    outcome result = write_beside(to, data, size, is_durable);
    return result == NOT_BESIDE ? write_in_place(to->path, O_TRUNC | O_NOFOLLOW, data, size)
                                : result == WRITTEN;
}

kiln_status kn_os_replace_file(const char *path, const void *data, size_t size, bool is_durable)
{
    place to;
    if (find_place(&to, path) && replace(&to, data, size, is_durable))
        return KILN_OK;
    return kn_error(errno == ENOENT ? KILN_ERROR_NOT_FOUND : KILN_ERROR_IO, "cannot write %s: %s", path,
                    strerror(errno));
}

kiln_status kn_os_write_file(const char *path, const void *data, size_t size)
{
    return kn_os_replace_file(path, data, size, true);
}

kiln_status kiln_file_write(const char *path, const void *data, size_t size, unsigned flags)
{
    if (!path || (!data && size > 0))
        return kn_error(KILN_ERROR_INVALID, "kiln_file_write: %s is NULL", path ? "data" : "path");
    if (flags & ~(unsigned)KILN_FILE_DURABLE)
        return kn_error(KILN_ERROR_INVALID, "kiln_file_write: flags is 0x%x; expected 0 or KILN_FILE_DURABLE",
                        flags);
    return kn_os_replace_file(path, data, size, flags & KILN_FILE_DURABLE);
}
