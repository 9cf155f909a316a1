/* base/os_process.c - runs programs and collects their output. */
#include "base/os.h"
#include "base/error.h"
#include "base/shortage.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    OUTPUT_MAX = 8 << 20, /* a program that never stops writing must not fill the memory */
    LONGEST_PAUSE_US = 5000,
    SLICE_MS = 50 /* how often a program whose output stays open is asked whether it has ended */
};

/* A child process that is running. */
typedef struct child {
    pid_t pid;
    int output; /* the pipe's end to read from, not blocking */
    bool is_closed;
    double end_ms;
} child;

/* Reads all output that is there. */
static void drain(child *r, kn_str *output)
{
    char chunk[4096];
    for (;;) {
        ssize_t n = read(r->output, chunk, sizeof chunk);
        if (n > 0 && output->length < OUTPUT_MAX)
            kn_str_append_n(output, chunk, (size_t)n);
        if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
            r->is_closed = true;
        if (n == 0 || (n < 0 && errno != EINTR))
            return;
    }
}

/* in: -1: there is nothing to read. */
static int prepare_files(posix_spawn_file_actions_t *files, const char *folder, int in, int out)
{
    int rc = in < 0 ? posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDONLY, 0)
                    : posix_spawn_file_actions_adddup2(files, in, 0);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(files, out, 1);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(files, out, 2);
    if (rc == 0 && folder)
        rc = posix_spawn_file_actions_addchdir_np(files, folder);
    return rc;
}

/* A child begins with the default signal handlers and mask, whatever the application set. It leads a process
 * group, so that its own children can be ended with it. */
static int prepare_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    int rc;
    sigemptyset(&none);
    sigfillset(&all);
    rc = posix_spawnattr_setsigmask(attributes, &none);
    if (rc == 0)
        rc = posix_spawnattr_setsigdefault(attributes, &all);
    if (rc == 0)
        rc = posix_spawnattr_setpgroup(attributes, 0);
    if (rc == 0)
        rc = posix_spawnattr_setflags(attributes,
                                      POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    return rc;
}

static int spawn(pid_t *pid, const kn_os_command *command, int in, int out)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    char *const *argv = (char *const *)command->argv;
    char *const *environment =
        command->environment ? (char *const *)command->environment : kn_os_environment();
    int rc = posix_spawn_file_actions_init(&files);
    if (rc != 0)
        return rc;
    rc = posix_spawnattr_init(&attributes);
    if (rc == 0) {
        rc = prepare_files(&files, command->folder, in, out);
        if (rc == 0)
            rc = prepare_attributes(&attributes);
        if (rc == 0)
            rc = posix_spawn(pid, argv[0], &files, &attributes, argv, environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return rc;
}

/* ---- waiting ---- */

typedef enum child_state { RUNNING, ENDED, LOST } child_state;

/* An ended child is left as it is, so that its number, and its group's, still are its own. Where the
 * application ignores SIGCHLD, or waits for any child, the system keeps no status: LOST. */
static child_state look(pid_t pid)
{
    siginfo_t info;
    info.si_pid = 0;
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
        if (errno != EINTR)
            return LOST;
    return info.si_pid == pid ? ENDED : RUNNING;
}

/* While the output is open its end wakes us up; a program that has closed it mostly ends at once. */
static void pause_for(child *r, int *pause_us)
{
    if (!r->is_closed) {
        struct pollfd item = {r->output, POLLIN, 0};
        double left = r->end_ms - kn_os_now_ms();
        (void)poll(&item, 1, left > SLICE_MS ? SLICE_MS : left > 1 ? (int)left : 1);
        return;
    }
    struct timespec time = {0, *pause_us * 1000L};
    (void)nanosleep(&time, NULL);
    *pause_us = *pause_us * 2 < LONGEST_PAUSE_US ? *pause_us * 2 : LONGEST_PAUSE_US;
}

static atomic_bool is_stopped; /* kn_os_stop_commands */

void kn_os_stop_commands(void)
{
    atomic_store(&is_stopped, true);
}

static child_state wait_for_end(child *r, kn_str *output)
{
    int pause_us = 20;
    for (;;) {
        drain(r, output);
        /* While its output is open it runs, unless it left that to a child: asking costs little. */
        child_state state = look(r->pid);
        if (state != RUNNING || kn_os_now_ms() >= r->end_ms || atomic_load(&is_stopped))
            return state;
        pause_for(r, &pause_us);
    }
}

/* The status of a child that has ended or is ended here, with the rest of its group. A lost status counts as
 * 0: the program's output shows more. */
static int finish(child *r, child_state state, kn_str *output)
{
    int status;
    if (state != LOST)
        (void)kill(-r->pid, SIGKILL);
    drain(r, output);
    while (waitpid(r->pid, &status, 0) < 0)
        if (errno != EINTR)
            return 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static kiln_status check_time(const kn_os_command *command, child_state state)
{
    if (state != RUNNING)
        return KILN_OK;
    if (atomic_load(&is_stopped))
        return kn_error(KILN_ERROR_IO, "%s was stopped, for the process ends", command->argv[0]);
    return kn_error(KILN_ERROR_IO, "%s had not ended after %g s and was stopped", command->argv[0],
                    command->timeout_ms * 1e-3);
}

static kiln_status fail_to_run(const kn_os_command *command, int reason)
{
    kn_shortage_note(reason);
    return kn_error(reason == ENOENT ? KILN_ERROR_NOT_FOUND : KILN_ERROR_IO, "cannot run %s: %s",
                    command->argv[0], strerror(reason));
}

/* in: the end of a pipe from which it reads; -1: there is nothing to read. */
static kiln_status begin(child *r, const kn_os_command *command, int in)
{
    int ends[2];
    if (!kn_os_open_pipe(ends))
        return kn_error(KILN_ERROR_IO, "cannot run %s: %s", command->argv[0], strerror(errno));
    r->output = ends[0];
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    int rc = spawn(&r->pid, command, in, ends[1]);
    close(ends[1]);
    if (rc == 0)
        return KILN_OK;
    close(ends[0]);
    return fail_to_run(command, rc);
}

static kiln_status end(child *r, const kn_os_command *command, kn_str *output, int *exit_code)
{
    child_state state = wait_for_end(r, output);
    *exit_code = finish(r, state, output);
    close(r->output);
    return check_time(command, state);
}

kiln_status kn_os_run_command(const kn_os_command *command, kn_str *output, int *exit_code)
{
    child r = {.end_ms = kn_os_now_ms() + command->timeout_ms};
    kiln_status status = begin(&r, command, -1);
    return status == KILN_OK ? end(&r, command, output, exit_code) : status;
}

kiln_status kn_os_begin_command(kn_os_begun *out, const kn_os_command *command)
{
    int ends[2];
    child r = {.pid = 0};
    if (!kn_os_open_pipe(ends))
        return kn_error(KILN_ERROR_IO, "cannot run %s: %s", command->argv[0], strerror(errno));
    kiln_status status = begin(&r, command, ends[0]);
    close(ends[0]);
    if (status != KILN_OK)
        close(ends[1]);
    *out = (kn_os_begun){r.pid, ends[1], r.output};
    return status;
}

/* A program that has ended reads nothing: its status says why. */
static void write_all(int to, const char *text, size_t size)
{
    kn_os_guard guard;
    kn_os_guard_writes(&guard);
    for (ssize_t n = 0; size > 0; text += n, size -= (size_t)n) {
        n = write(to, text, size);
        if (n < 0 && errno != EINTR)
            break;
        n = n < 0 ? 0 : n;
    }
    kn_os_unguard_writes(&guard);
}

kiln_status kn_os_end_command(kn_os_begun *begun, const kn_os_command *command, const void *input,
                              size_t size, kn_str *output, int *exit_code)
{
    child r = {.pid = begun->pid, .output = begun->output, .end_ms = kn_os_now_ms() + command->timeout_ms};
    write_all(begun->input, input, size);
    close(begun->input);
    return end(&r, command, output, exit_code);
}

void kn_os_abandon_command(kn_os_begun *begun)
{
    kn_str none = KN_STR_INIT;
    child r = {.pid = begun->pid, .output = begun->output};
    close(begun->input);
    (void)finish(&r, RUNNING, &none);
    close(begun->output);
    kn_str_free(&none);
}

void kn_os_forget_command(kn_os_begun *begun)
{
    close(begun->input);
    close(begun->output);
}

kiln_status kn_os_run(const char *const *argv, const char *folder, kn_str *output, int *exit_code)
{
    kn_os_command command = {argv, folder, NULL, KN_OS_USUAL_TIMEOUT_MS};
    return kn_os_run_command(&command, output, exit_code);
}
