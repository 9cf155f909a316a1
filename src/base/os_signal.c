/* base/os_signal.c - keeps the signals SIGXFSZ and SIGPIPE of writes from ending the process. */
#include "base/os.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

/* The signals for a thread that writes: beyond `ulimit -f`, and to a pipe without a reader. */
static const int signals[] = {SIGXFSZ, SIGPIPE};
enum { SIGNALS = sizeof signals / sizeof *signals };

void kn_os_guard_writes(kn_os_guard *guard)
{
    sigset_t pending, ours;
    sigemptyset(&ours);
    for (int i = 0; i < SIGNALS; i++)
        sigaddset(&ours, signals[i]);
    pthread_sigmask(SIG_BLOCK, &ours, &guard->before);
    sigpending(&pending);
    for (int i = 0; i < SIGNALS; i++)
        guard->was_pending[i] = sigismember(&pending, signals[i]) == 1;
}

/* A signal that came meanwhile is discarded; one that was pending before stays the application's. errno is
 * unchanged, since callers report why a write failed. */
static void take_back(int which)
{
    const struct timespec no_wait = {0, 0};
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, which);
    sigtimedwait(&one, NULL, &no_wait);
}

void kn_os_unguard_writes(kn_os_guard *guard)
{
    int reason = errno;
    sigset_t pending;
    sigpending(&pending);
    for (int i = 0; i < SIGNALS; i++)
        if (!guard->was_pending[i] && sigismember(&pending, signals[i]) == 1)
            take_back(signals[i]);
    pthread_sigmask(SIG_SETMASK, &guard->before, NULL);
    errno = reason;
}
