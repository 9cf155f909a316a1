/* Atomics of the host preludes, from threads that all want the same words. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

typedef struct counters {
    int i, least, most, bits_or, bits_and, bits_xor;
    unsigned int u, wrapped, unwrapped;
    long long l;
    unsigned long long ul, taken;
    float f, f_least, f_most;
    double d, d_most;
    uint16_t h, b;
} counters;

void kiln_hammer(counters *c, int thread, int rounds);
void kiln_read_halves(const counters *c, float out[2]);
int kiln_exchange(int *p, int x);

enum { THREADS = 4, ROUNDS = 20000, TOTAL = THREADS * ROUNDS };

typedef struct work {
    counters *shared;
    int thread;
} work;

static void *run(void *given)
{
    work *w = given;
    kiln_hammer(w->shared, w->thread, ROUNDS);
    return NULL;
}

static void test_nothing_is_lost(void **state)
{
    (void)state;
    counters c = {.bits_and = -1};
    pthread_t threads[THREADS];
    work works[THREADS];
    for (int k = 0; k < THREADS; ++k) {
        works[k] = (work){&c, k};
        assert_int_equal(pthread_create(&threads[k], NULL, run, &works[k]), 0);
    }
    for (int k = 0; k < THREADS; ++k)
        pthread_join(threads[k], NULL);

    int xored = 0;
    for (int k = 0; k < TOTAL; ++k)
        xored ^= k;
    float halves[2];
    kiln_read_halves(&c, halves);
    assert_int_equal(c.i, TOTAL);
    assert_int_equal(c.least, 1 - TOTAL);
    assert_int_equal(c.most, TOTAL - 1);
    assert_int_equal(c.bits_or, 15);
    assert_int_equal(c.bits_and, ~15);
    assert_int_equal(c.bits_xor, xored);
    assert_int_equal(c.u, TOTAL);
    assert_int_equal(c.wrapped, TOTAL % 7);
    assert_int_equal(c.unwrapped, (7 - TOTAL % 7) % 7);
    assert_true(c.l == -TOTAL && c.ul == 3ull * TOTAL && c.taken == TOTAL);
    assert_true(c.f == TOTAL && c.d == TOTAL / 2.0);
    assert_true(c.f_least == 1 - TOTAL && c.f_most == TOTAL - 1 && c.d_most == TOTAL - 1);
    assert_true(halves[0] == 8 * THREADS && halves[1] == 8 * THREADS);
}

static void test_exchange(void **state)
{
    (void)state;
    int x = 5;
    assert_int_equal(kiln_exchange(&x, 9), 5);
    assert_int_equal(x, 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing_is_lost),
                                       cmocka_unit_test(test_exchange)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
