/* cli_program.c - commands that are programs of their own, kiln-NAME: beside this one, else on PATH. */
#include "cli.h"
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { NAME = 32 };

/* "FOLDER/kiln-NAME", where this program is; the name alone where nobody knows. */
static const char *find_program(char path[PATH_MAX], const char *name)
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - NAME);
    const char *slash = length > 0 ? memrchr(path, '/', (size_t)length) : NULL;
    size_t folder = slash ? (size_t)(slash + 1 - path) : 0;
    snprintf(path + folder, NAME, "kiln-%s", name);
    if (folder && access(path, X_OK) != 0)
        memmove(path, path + folder, strlen(path + folder) + 1);
    return path;
}

int cli_program_start(const char *name, char **argv)
{
    char path[PATH_MAX];
    execvp(find_program(path, name), argv);
    return cli_complain(
        "kiln %s: this is a program of its own, kiln-%s, which lies beside kiln or on PATH, and could not "
        "be started: %s",
        name, name, strerror(errno));
}

bool cli_program_read(char *out, size_t size, const char *name, const char *word)
{
    char path[PATH_MAX], *argv[] = {path, (char *)(uintptr_t)word, NULL};
    int ends[2], status = 1;
    size_t used = 0;
    ssize_t got = 0;
    pid_t pid;
    posix_spawn_file_actions_t actions;
    out[0] = 0;
    if (pipe(ends) != 0)
        return false;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    bool ok = posix_spawnp(&pid, find_program(path, name), &actions, NULL, argv, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    while (ok && used + 1 < size && (got = read(ends[0], out + used, size - 1 - used)) > 0)
        used += (size_t)got;
    close(ends[0]);
    out[used] = 0;
    return ok && waitpid(pid, &status, 0) == pid && status == 0;
}
