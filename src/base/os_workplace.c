/* base/os_workplace.c - private folders that do not outlive their process for long.
 *
 * The kernel releases a lock when its process dies, however it dies: a folder whose lock is free and that is
 * older than making and locking one takes is abandoned. A process number in the name would not do: containers
 * that share a /tmp count processes apart. */
#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MIN_AGE_S = 60, MAX_DEPTH = 64, MAX_LOOKED_AT = 20000 };

static const char prefix[] = "kiln-work-";

static int open_folder(int parent, const char *name)
{
    return kn_os_open_at(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

kiln_status kn_os_workplace_make(kn_os_workplace *out)
{
    out->fd = -1;
    kiln_status status = kn_os_make_temporary_folder_named(out->path, sizeof out->path, prefix);
    if (status == KILN_OK)
        out->fd = open_folder(AT_FDCWD, out->path);
    if (out->fd >= 0)
        (void)flock(out->fd, LOCK_EX | LOCK_NB); /* without it: removed too early, or never */
    return status;
}

/* ---- removing ---- */

static void remove_below(int parent, const char *name, int depth);

/* Takes fd over. */
static void empty_folder(int fd, int depth)
{
    DIR *folder = fdopendir(fd);
    if (!folder) {
        close(fd);
        return;
    }
    for (struct dirent *item = readdir(folder); item; item = readdir(folder)) {
        if (strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0)
            continue;
        if (unlinkat(fd, item->d_name, 0) != 0 && (errno == EISDIR || errno == EPERM))
            remove_below(fd, item->d_name, depth + 1);
    }
    closedir(folder);
}

static void remove_below(int parent, const char *name, int depth)
{
    int fd = depth < MAX_DEPTH ? open_folder(parent, name) : -1;
    if (fd < 0)
        return;
    empty_folder(fd, depth);
    (void)unlinkat(parent, name, AT_REMOVEDIR);
}

/* A forked child may share the open folder: unlocking says more than closing would. */
void kn_os_workplace_remove(kn_os_workplace *workplace)
{
    remove_below(AT_FDCWD, workplace->path, 0);
    if (workplace->fd >= 0) {
        (void)flock(workplace->fd, LOCK_UN);
        close(workplace->fd);
    }
    workplace->fd = -1;
}

/* ---- sweeping ---- */

/* True for a folder of this user's that no other user can have written to, and that is not in use. */
static bool is_abandoned(int fd)
{
    struct stat info;
    if (fstat(fd, &info) != 0 || info.st_uid != geteuid() || (info.st_mode & 077) != 0)
        return false;
    time_t age = time(NULL) - info.st_mtime;
    return age >= MIN_AGE_S && flock(fd, LOCK_EX | LOCK_NB) == 0;
}

static void sweep_one(int parent, const char *name)
{
    int fd = open_folder(parent, name);
    if (fd >= 0 && is_abandoned(fd)) {
        empty_folder(fd, 0);
        (void)unlinkat(parent, name, AT_REMOVEDIR);
    } else if (fd >= 0) {
        close(fd);
    }
}

void kn_os_workplace_sweep(const kn_os_workplace *beside)
{
    char path[sizeof beside->path];
    int looked_at = 0;
    snprintf(path, sizeof path, "%.*s", (int)(strrchr(beside->path, '/') - beside->path), beside->path);
    DIR *parent = kn_os_open_folder(path);
    if (!parent)
        return;
    for (struct dirent *item = readdir(parent); item && looked_at < MAX_LOOKED_AT; item = readdir(parent)) {
        looked_at++;
        if (strncmp(item->d_name, prefix, sizeof prefix - 1) == 0)
            sweep_one(dirfd(parent), item->d_name);
    }
    closedir(parent);
}
