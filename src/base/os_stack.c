/* base/os_stack.c - the end of the calling thread's stack, for functions that call themselves. */
#include "base/cancel.h"
#include "base/os.h"

#include <pthread.h>

/* RESERVE is for functions that are called on the way down, and for the report of an error; where nothing is
 * known of the stack, as on one that a program has made for a coroutine, it is taken to have a little more
 * than that. */
enum { RESERVE = 24 << 10, UNKNOWN = 56 << 10 };

uintptr_t kn_os_stack_floor(void)
{
    KN_UNCANCELLED;
    pthread_attr_t attributes;
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    uintptr_t floor = here > UNKNOWN ? here - UNKNOWN : 0;
    void *lowest = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return floor + RESERVE;
    if (pthread_attr_getstack(&attributes, &lowest, &size) == 0 && here >= (uintptr_t)lowest &&
        here - (uintptr_t)lowest < size)
        floor = (uintptr_t)lowest;
    pthread_attr_destroy(&attributes);
    return floor + RESERVE;
}

bool kn_os_stack_is_low(uintptr_t floor)
{
    return (uintptr_t)__builtin_frame_address(0) < floor;
}
