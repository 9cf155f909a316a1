#include "own_cache.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

static char folder[] = "/tmp/kiln-tests-XXXXXX";

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info, (void)type, (void)at;
    return remove(path);
}

static void remove_folder(void)
{
    nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

void use_own_cache(void)
{
    if (getenv("KILN_CACHE_DIR") || !mkdtemp(folder))
        return;
    setenv("KILN_CACHE_DIR", folder, 1);
    atexit(remove_folder);
}
