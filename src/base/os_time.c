/* base/os_time.c - the monotonic clock, and sleeping. */
#include "base/cancel.h"
#include "base/os.h"

#include <time.h>

double kn_os_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

int64_t kn_os_unix_seconds(void)
{
    return (int64_t)time(NULL);
}

void kn_os_sleep_us(int us)
{
    KN_UNCANCELLED;
    struct timespec time = {us / 1000000, us % 1000000 * 1000L};
    (void)nanosleep(&time, NULL);
}
