/* kn_host_find_among against a loop over the others: keys of all sizes, few and many others, near each other
 * and far apart, alike, 0 and the greatest number among them; several threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/target.h"
#include "device/host_among.h"
#include "device/host_sort.h"

enum { TURNS = 200, MOST_KEYS = 2000, MANY_KEYS = 80000, MOST_OTHERS = 300, GUARD = 64 };

static uint64_t state_of_dice = 1;
static bool has_vectors;

static uint64_t dice(uint64_t sides)
{
    state_of_dice = state_of_dice * 6364136223846793005u + 1442695040888963407u;
    return (state_of_dice >> 20 ^ state_of_dice >> 44) % sides;
}

static uint64_t draw_key(int bits)
{
    const uint64_t high = dice(UINT64_C(1) << 32), key = high << 32 | dice(UINT64_C(1) << 32);
    const uint64_t own = key >> (64 - bits);
    return dice(16) == 0 ? 0 : dice(16) == 0 ? ~UINT64_C(0) : dice(4) == 0 ? ~own : own;
}

static void put(char *keys, int64_t k, int size, uint64_t key)
{
    memcpy(keys + (size_t)k * (size_t)size, &key, (size_t)size);
}

static bool is_among(const kn_host_among *a, int64_t k)
{
    const size_t size = (size_t)a->key_size;
    bool is_there = false;
    for (int64_t j = 0; j < a->others; ++j)
        is_there = is_there || memcmp((const char *)a->key + (size_t)k * size,
                                      (const char *)a->other + (size_t)j * size, size) == 0;
    return is_there;
}

static void check_turn(char *keys, char *others, bool *to)
{
    const int bits = 1 + (int)dice(64), size = 1 << dice(4);
    kn_host_among a = {.key = keys,
                       .other = others,
                       .to = to,
                       .keys = 1 + (int64_t)dice(dice(90) ? MOST_KEYS : MANY_KEYS),
                       .others = 1 + (int64_t)dice(dice(3) ? MOST_OTHERS : 17),
                       .key_size = size,
                       .has_vectors = has_vectors && dice(4) != 0};
    for (int64_t j = 0; j < a.others; ++j)
        put(others, j, size, draw_key(bits));
    for (int64_t k = 0; k < a.keys; ++k)
        put(keys, k, size, draw_key(bits));
    for (int64_t k = 0; k < a.keys; ++k)
        if (dice(3) == 0)
            memcpy(keys + k * size, others + (int64_t)dice((uint64_t)a.others) * size, (size_t)size);
    a.table_bytes = kn_host_among_bytes(a.keys, a.others, size);
    char *table = malloc(a.table_bytes + GUARD);
    assert_non_null(table);
    memset(table, 77, a.table_bytes + GUARD);
    a.table = table;
    to[a.keys] = true;
    kn_host_find_among(&a);
    for (int64_t k = 0; k < a.keys; ++k)
        assert_int_equal(to[k], is_among(&a, k));
    assert_true(to[a.keys]);
    for (int k = 0; k < GUARD; ++k)
        assert_int_equal(table[a.table_bytes + (size_t)k], 77);
    free(table);
}

static void finds_those_among_others(void **state)
{
    char *keys = malloc((size_t)MANY_KEYS * 8 + 8), *others = malloc((size_t)MOST_OTHERS * 8 + 8);
    bool *to = malloc(MANY_KEYS + 1);
    kn_target host;
    (void)state;
    kn_target_host(&host);
    has_vectors = kn_host_sort_vectors(host.architecture, 8) != 0;
    assert_true(keys && others && to);
    for (int turn = 0; turn < TURNS; ++turn)
        check_turn(keys, others, to);
    free(keys);
    free(others);
    free(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_those_among_others)};
    setenv("KILN_NUM_THREADS", "3", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
