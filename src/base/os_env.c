/* base/os_env.c - environment variables, and none where a set-user-ID program must not trust them. */
#include "base/os.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define USUAL_PATH "/usr/bin:/bin"

/* A program with rights that its caller lacks (set-user-ID and the like) must not follow the caller's
 * environment: then no variable is set, and programs are searched in the system's folders. */
const char *kn_os_env(const char *name)
{
    const char *value = secure_getenv(name);
    if (!value && getauxval(AT_SECURE) && !strcmp(name, "PATH"))
        return USUAL_PATH;
    return value && *value ? value : NULL;
}

/* Compilers look for their parts where variables tell them to. */
char **kn_os_environment(void)
{
    static char *const clean[] = {(char *)"PATH=" USUAL_PATH, (char *)"LC_ALL=C", NULL};
    return getauxval(AT_SECURE) ? (char **)clean : environ;
}
