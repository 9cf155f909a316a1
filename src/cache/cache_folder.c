/* cache/cache_folder.c - the user's default cache folder. */
#include "cache/cache.h"
#include "cache/database.h"
#include "base/error.h"
#include "base/setting.h"
#include "base/shortage.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool kn_cache_folder_is_safe(char *real, const char *folder, bool make, char *reason, size_t size)
{
    struct stat info;
    if (make && stat(folder, &info) != 0 && kn_os_make_folders(folder, 0700) != KILN_OK) {
        snprintf(reason, size, "%s", kiln_error_message());
        return false;
    }
    return kn_os_folder_is_private(real, folder, reason, size);
}

/* The file system of a folder that may not be there yet. */
static bool lies_on_network(const char *path)
{
    char part[PATH_MAX];
    struct stat info;
    snprintf(part, sizeof part, "%s", path);
    while (stat(part, &info) != 0) {
        char *slash = strrchr(part, '/');
        if (!slash || slash == part)
            return kn_os_is_network_path("/");
        *slash = 0;
    }
    return kn_os_is_network_path(part);
}

/* /tmp is open to all: the folder there must be a real one, this user's and closed to others. */
static kiln_status node_local(char *out, size_t size)
{
    struct stat info;
    if ((size_t)snprintf(out, size, "/tmp/kiln-cache-%lu", (unsigned long)geteuid()) >= size)
        return kn_error(KILN_ERROR_INVALID, "size is %zu, too small for the cache's path", size);
    if (!kn_shortage_unless(mkdir(out, 0700) == 0 || errno == EEXIST))
        return kn_error(KILN_ERROR_NOT_FOUND, "no place for a cache: %s: %s", out, strerror(errno));
    if (lstat(out, &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != geteuid() || (info.st_mode & 077))
        return kn_error(KILN_ERROR_NOT_FOUND, "no place for a cache: %s is not this user's own folder", out);
    return KILN_OK;
}

kiln_status kn_cache_default_folder(char *out, size_t size)
{
    const char *own = kn_setting("KILN_CACHE_DIR"), *xdg = kn_os_env("XDG_CACHE_HOME"),
               *home = kn_os_env("HOME");
    char here[PATH_MAX];
    int length;
    bool is_below_here = own && own[0] != '/' && kn_shortage_unless(getcwd(here, sizeof here));
    if (is_below_here) /* the program may change its folder later */
        length = snprintf(out, size, "%s/%s", here, own);
    else if (own)
        length = snprintf(out, size, "%s", own);
    else if (xdg && xdg[0] == '/') /* relative ones are to be ignored, says the XDG specification */
        length = snprintf(out, size, "%s/kiln", xdg);
    else if (home && home[0] == '/')
        length = snprintf(out, size, "%s/.cache/kiln", home);
    else
        return kn_error(KILN_ERROR_NOT_FOUND,
                        "no place for a cache: none of KILN_CACHE_DIR, XDG_CACHE_HOME and HOME is set");
    if (length < 0 || (size_t)length >= size)
        return kn_error(KILN_ERROR_INVALID, "size is %zu, too small for the cache's path of %d characters",
                        size, length);
    return lies_on_network(out) ? node_local(out, size) : KILN_OK;
}
