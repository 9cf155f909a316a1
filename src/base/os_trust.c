/* base/os_trust.c - whether others can change the file at a path: code that is found there will be run. */
#include "base/os.h"
#include "base/shortage.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_own_or_roots(const struct stat *info)
{
    return info->st_uid == geteuid() || info->st_uid == 0;
}

/* The group's bits also show rights from an access list. */
static bool others_may_write(const struct stat *info)
{
    return info->st_mode & (S_IWGRP | S_IWOTH);
}

static void put_cause(const char *path, char *reason, size_t size)
{
    kn_shortage_note(errno);
    snprintf(reason, size, "%s: %s", path, strerror(errno));
}

/* One folder on the way, its name without links. In one with the sticky bit others may make entries of their
 * own, but they can neither rename nor remove ours. */
static bool is_safe_step(const char *path, bool is_last, char *reason, size_t size)
{
    struct stat info;
    if (lstat(path, &info) != 0)
        put_cause(path, reason, size);
    else if (!S_ISDIR(info.st_mode))
        snprintf(reason, size, "%s is not a folder", path);
    else if (!is_own_or_roots(&info))
        snprintf(reason, size,
                 "%s belongs to another user (%lu), whose code would be run: use another folder", path,
                 (unsigned long)info.st_uid);
    else if (others_may_write(&info) && (is_last || !(info.st_mode & S_ISVTX)))
        snprintf(
            reason, size,
            "other users may write to %s (mode %04o), and their code would be run: chmod go-w it, or use "
            "another folder",
            path, (unsigned)info.st_mode & 07777);
    else
        return true;
    return false;
}

/* Checks from the root downward, so that a safe folder stays safe: other users cannot exchange its entries.
 */
static bool is_safe_way(char *path, char *reason, size_t size)
{
    if (!is_safe_step("/", path[1] == 0, reason, size))
        return false;
    for (char *p = path + 1; *p;) {
        char *end = p + strcspn(p, "/");
        const char after = *end;
        *end = 0;
        if (!is_safe_step(path, after == 0, reason, size))
            return false;
        *end = after;
        p = end + (after != 0);
    }
    return true;
}

bool kn_os_folder_is_private(char *real, const char *folder, char *reason, size_t size)
{
    if (!realpath(folder, real)) {
        if (errno == ENOTDIR)
            snprintf(reason, size, "%s is not a folder", folder);
        else
            put_cause(folder, reason, size);
        return false;
    }
    return is_safe_way(real, reason, size);
}

bool kn_os_file_is_private(const char *path, unsigned allowed, char *reason, size_t size)
{
    struct stat info;
    if (lstat(path, &info) != 0) {
        if ((allowed & KN_OS_MAY_BE_MISSING) && errno == ENOENT)
            return true;
        put_cause(path, reason, size);
    } else if (!S_ISREG(info.st_mode))
        snprintf(reason, size, "%s is not a plain file", path);
    else if (!is_own_or_roots(&info))
        snprintf(reason, size, "%s belongs to another user (%lu): remove it, or use another folder", path,
                 (unsigned long)info.st_uid);
    else if (others_may_write(&info))
        snprintf(reason, size, "other users may write to %s (mode %04o): remove it, or use another folder",
                 path, (unsigned)info.st_mode & 07777);
    else if (info.st_nlink > 1 && !(allowed & KN_OS_MAY_BE_LINKED))
        snprintf(reason, size, "%s has %lu names (hard links): remove it, or use another folder", path,
                 (unsigned long)info.st_nlink);
    else
        return true;
    return false;
}
