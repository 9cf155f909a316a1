/* base/unload.c - tells the end of the process from an unloading of the library. */
#include "base/unload.h"

#include <stdatomic.h>
#include <stddef.h>

/* Handlers run before destructors where main() had begun when they were registered. A program that uses us
 * earlier, in a constructor, gets another chance. */
enum { WATCHES = 4 };

static atomic_bool has_exited;
static bool is_exit;

/* The function behind atexit(); named here because sanitizers have an atexit() of their own, which keeps a
 * handler when its code goes. */
extern int __cxa_atexit(void (*function)(void *), void *argument, void *dso);
extern void *__dso_handle;

static void note_exit(void *unused)
{
    (void)unused;
    atomic_store(&has_exited, true);
}

void kn_unload_watch(void)
{
    static atomic_int watches;
    if (atomic_load_explicit(&watches, memory_order_relaxed) < WATCHES &&
        atomic_fetch_add(&watches, 1) < WATCHES)
        __cxa_atexit(note_exit, NULL, &__dso_handle);
}

static void (*end_first)(void);

void kn_unload_on_exit(void (*end)(void))
{
    end_first = end;
}

static void run_end(void *unused)
{
    (void)unused;
    if (end_first)
        end_first();
}

void kn_unload_watch_library(void)
{
    static atomic_int watches;
    if (atomic_load_explicit(&watches, memory_order_relaxed) < WATCHES &&
        atomic_fetch_add(&watches, 1) < WATCHES)
        __cxa_atexit(run_end, NULL, &__dso_handle);
}

/* Without a priority it comes before all that have one, and before the handler is called because the library
 * goes. */
__attribute__((destructor)) static void look(void)
{
    is_exit = atomic_load(&has_exited);
}

bool kn_unload_is_exit(void)
{
    return is_exit;
}
