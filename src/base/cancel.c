/* base/cancel.c - holds off the cancellation of threads (pthread_cancel). */
#include "base/cancel.h"

#include <pthread.h>

static _Thread_local struct {
    int depth;
    int before; /* the application's state */
} held;

bool kn_cancel_hold(void)
{
    if (held.depth++ == 0)
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &held.before);
    return true;
}

void kn_cancel_release(const bool *is_held)
{
    (void)is_held;
    if (--held.depth == 0)
        pthread_setcancelstate(held.before, NULL);
}

void kn_cancel_forbid(void)
{
    kn_cancel_hold();
}
