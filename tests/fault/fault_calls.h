/* fault_calls.h - calls of the system, the nth of which fails (the linker's --wrap). For one source of a
 * program: it has the wrapped functions. */
#ifndef FAULT_CALLS_H
#define FAULT_CALLS_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* The names of the calls, and the one whose calls are counted, since threads call others meanwhile; NULL: all
 * are. */
static const char *names[32], *failing;
static int n_names;
static atomic_long made, fail_at;

/* True if this is the call that fails; errno is the reason that the system would give. */
static bool fails(const char *name, int reason)
{
    if ((failing && strcmp(name, failing) != 0) || atomic_fetch_add(&made, 1) + 1 != atomic_load(&fail_at))
        return false;
    errno = reason;
    return true;
}

#define LIST(name)                                                                                           \
    __attribute__((constructor)) static void list_##name(void)                                               \
    {                                                                                                        \
        names[n_names++] = #name;                                                                            \
    }

#define WRAP(type, name, failure, reason, parameters, arguments)                                             \
    LIST(name)                                                                                               \
    type __real_##name parameters;                                                                           \
    type __wrap_##name parameters;                                                                           \
    type __wrap_##name parameters                                                                            \
    {                                                                                                        \
        return fails(#name, reason) ? failure : __real_##name arguments;                                     \
    }

WRAP(int, pipe2, -1, EMFILE, (int *ends, int flags), (ends, flags))
WRAP(int, posix_spawn, EAGAIN, EAGAIN,
     (pid_t * pid, const char *path, const posix_spawn_file_actions_t *files,
      const posix_spawnattr_t *attributes, char *const *argv, char *const *environment),
     (pid, path, files, attributes, argv, environment))
WRAP(int, pthread_create, EAGAIN, EAGAIN,
     (pthread_t * thread, const pthread_attr_t *attributes, void *(*start)(void *), void *user),
     (thread, attributes, start, user))

LIST(open)
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    va_list args;
    mode_t mode = 0;
    va_start(args, flags);
    if (flags & O_CREAT)
        mode = va_arg(args, mode_t);
    va_end(args);
    return fails("open", EMFILE) ? -1 : __real_open(path, flags, mode);
}

#endif
