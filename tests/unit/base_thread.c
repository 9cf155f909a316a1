/* Threads that end at once, started by several others: each of them runs, and what one of those that start
 * them knows of its own is still there when it looks (the sanitizers of the dev preset see it). */
#include "base/thread.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { STARTERS = 4, THREADS = 250 };
static atomic_int runs, refused;

static void count(void *user)
{
    (void)user;
    atomic_fetch_add(&runs, 1);
}

static void *start_some(void *user)
{
    (void)user;
    for (int k = 0; k < THREADS; ++k)
        if (kn_thread_start(count, NULL) != 0)
            atomic_fetch_add(&refused, 1);
    return NULL;
}

static void short_threads_are_started_side_by_side(void **state)
{
    (void)state;
    pthread_t starter[STARTERS];
    for (int k = 0; k < STARTERS; ++k)
        assert_int_equal(pthread_create(&starter[k], NULL, start_some, NULL), 0);
    for (int k = 0; k < STARTERS; ++k)
        assert_int_equal(pthread_join(starter[k], NULL), 0);
    kn_thread_join_all();
    assert_int_equal(atomic_load(&runs) + atomic_load(&refused), STARTERS * THREADS);
    assert_int_equal(atomic_load(&refused), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(short_threads_are_started_side_by_side)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
