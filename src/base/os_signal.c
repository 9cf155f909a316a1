/* base/os_signal.c - keeps the signals SIGXFSZ and SIGPIPE of writes from ending the process. */
#include "base/os.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

/* The signals that the system sends to the thread that writes: beyond `ulimit -f`, and to a pipe that nobody
 * reads. */
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

/* One that came meanwhile is taken back; one that waited before is the application's. errno is kept: callers
 * say why a write failed. */
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
