#include "base/os.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Reads until every writer has closed the pipe. */
static void drain(int fd, kn_str *output)
{
    char piece[4096];
    for (;;) {
        ssize_t n = read(fd, piece, sizeof piece);
        if (n > 0)
            kn_str_append_n(output, piece, (size_t)n);
        else if (n == 0 || errno != EINTR)
            return;
    }
}

static int prepare_files(posix_spawn_file_actions_t *files, const char *folder, int out)
{
    int rc = posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDONLY, 0);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(files, out, 1);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(files, out, 2);
    if (rc == 0 && folder)
        rc = posix_spawn_file_actions_addchdir_np(files, folder);
    return rc;
}

/* What the application does with its signals is not the child's business. */
static int prepare_signals(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    int rc;
    sigemptyset(&none);
    sigfillset(&all);
    rc = posix_spawnattr_setsigmask(attributes, &none);
    if (rc == 0)
        rc = posix_spawnattr_setsigdefault(attributes, &all);
    if (rc == 0)
        rc = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    return rc;
}

static int spawn(pid_t *pid, const char *const *argv, const char *folder, int out)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int rc = posix_spawn_file_actions_init(&files);
    if (rc != 0)
        return rc;
    rc = posix_spawnattr_init(&attributes);
    if (rc == 0) {
        rc = prepare_files(&files, folder, out);
        if (rc == 0)
            rc = prepare_signals(&attributes);
        if (rc == 0)
            rc = posix_spawn(pid, argv[0], &files, &attributes, (char *const *)argv, kn_os_environment());
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return rc;
}

/* Where the application ignores SIGCHLD the system keeps no status: then it is taken for 0, and what the
 * program made shows the rest. */
static int wait_for(pid_t pid)
{
    int state;
    while (waitpid(pid, &state, 0) < 0)
        if (errno != EINTR)
            return 0;
    return WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
}

kiln_status kn_os_run(const char *const *argv, const char *folder, kn_str *output, int *exit_code)
{
    int ends[2], rc;
    pid_t pid;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return kn_error(KILN_ERROR_IO, "cannot run %s: %s", argv[0], strerror(errno));
    rc = spawn(&pid, argv, folder, ends[1]);
    close(ends[1]);
    if (rc == 0) {
        drain(ends[0], output);
        *exit_code = wait_for(pid);
    }
    close(ends[0]);
    if (rc != 0)
        return kn_error(rc == ENOENT ? KILN_ERROR_NOT_FOUND : KILN_ERROR_IO, "cannot run %s: %s", argv[0],
                        strerror(rc));
    return KILN_OK;
}
