/* kn_host_find_order against qsort: one key to four, of all sizes; few different keys, all alike, in order,
 * in reverse order, alike in their first bits or in all but these; short and long rows, and bytes behind the
 * last number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/target.h"
#include "device/host_find_order.h"
#include "device/host_sort.h"

enum { TURNS = 240, FEW = 30, SHORT = 700, MEDIUM = 20000, LONG = 150000, GUARD = 64 };

static uint64_t state_of_dice = 1;

static uint64_t dice(uint64_t sides)
{
    state_of_dice = state_of_dice * 6364136223846793005u + 1442695040888963407u;
    return (state_of_dice >> 20 ^ state_of_dice >> 44) % sides;
}

static uint64_t any(void)
{
    const uint64_t high = dice(UINT64_C(1) << 32);
    return high << 32 | dice(UINT64_C(1) << 32);
}

static uint64_t key_at(const kn_host_order *o, int key, uint32_t element)
{
    uint64_t value = 0;
    memcpy(&value, (const char *)o->key[key] + (size_t)element * (size_t)o->key_size[key],
           (size_t)o->key_size[key]);
    return value;
}

static const kn_host_order *compared;

static int compare(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    for (int key = 0; key < compared->keys; ++key) {
        const uint64_t p = key_at(compared, key, x), q = key_at(compared, key, y);
        if (p != q)
            return p < q ? -1 : 1;
    }
    return (x > y) - (x < y);
}

static void draw(char *keys, int size, int64_t count)
{
    const int way = (int)dice(8);
    const uint64_t base = any(), alike = 1 + dice(3), sides = UINT64_C(1) << dice(24);
    for (int64_t k = 0; k < count; ++k) {
        const uint64_t each[] = {base + dice(3),
                                 (uint64_t)k / alike,
                                 (uint64_t)(count - k) / alike,
                                 base + dice(sides),
                                 any(),
                                 base,
                                 (base & ~UINT64_C(0xffff)) +
                                     dice(40000), /* many alike in their first bits */
                                 base ^ dice(60) << 56 ^ dice(3)};
        memcpy(keys + k * size, &each[way], (size_t)size); /* the first bytes are the lowest here */
    }
}

static void order_once(int keys, int vector, int64_t rows, int64_t length)
{
    const int64_t n = rows * length;
    kn_host_order o = {.keys = keys, .vector_size = vector, .rows = rows, .length = length};
    char *memory[KN_HOST_ORDER_KEYS] = {NULL};
    for (int key = 0; key < keys; ++key) {
        o.key_size[key] = 1 << dice(4);
        o.key[key] = memory[key] = malloc((size_t)(n * o.key_size[key]) + 1);
        assert_non_null(memory[key]);
        draw(memory[key], o.key_size[key], n);
    }
    const size_t bytes = (size_t)n * sizeof(uint32_t);
    uint32_t *expected = malloc(bytes + 1);
    char guard[GUARD];
    o.order = malloc(bytes + GUARD);
    o.from = malloc(2 * bytes + GUARD);
    o.to = malloc(2 * bytes + GUARD);
    assert_true(expected && o.order && o.from && o.to);
    memset(guard, 'g', GUARD);
    memset((char *)o.order + bytes, 'g', GUARD);
    memset((char *)o.from + 2 * bytes, 'g', GUARD);
    memset((char *)o.to + 2 * bytes, 'g', GUARD);
    for (int64_t k = 0; k < n; ++k)
        expected[k] = o.order[k] = (uint32_t)k;
    compared = &o;
    for (int64_t row = 0; row < rows; ++row)
        qsort(expected + row * length, (size_t)length, sizeof *expected, compare);
    kn_host_find_order(&o);
    for (int64_t k = 0; k < n; ++k)
        if (o.order[k] != expected[k])
            fail_msg("%d keys, the first of %d bytes, %lld rows of %lld: place %lld has %u, not %u", keys,
                     o.key_size[0], (long long)rows, (long long)length, (long long)k, o.order[k],
                     expected[k]);
    assert_memory_equal((char *)o.order + bytes, guard, GUARD);
    assert_memory_equal((char *)o.from + 2 * bytes, guard, GUARD);
    assert_memory_equal((char *)o.to + 2 * bytes, guard, GUARD);
    for (int key = 0; key < keys; ++key)
        free(memory[key]);
    free(expected);
    free(o.order);
    free(o.from);
    free(o.to);
}

static void orders_are_found(void **state)
{
    kn_target host;
    (void)state;
    kn_target_host(&host);
    const int vector = kn_host_sort_vectors(host.architecture, 8);
    if (vector == 0)
        skip();
    for (int turn = 0; turn < TURNS; ++turn)
        order_once(1 + (int)dice(turn % 2 ? 1 : KN_HOST_ORDER_KEYS), vector, 1 + (int64_t)dice(5),
                   1 + (int64_t)dice(SHORT));
    for (int turn = 0; turn < TURNS; ++turn)
        order_once(1 + (int)dice(turn % 2 ? 1 : KN_HOST_ORDER_KEYS), vector, 1 + (int64_t)dice(40),
                   1 + (int64_t)dice(FEW));
    for (int turn = 0; turn < 16; ++turn)
        order_once(1 + turn % 2 * (int)dice(2), vector, 1, MEDIUM / 2 + (int64_t)dice(MEDIUM));
    for (int turn = 0; turn < 4; ++turn)
        order_once(1 + turn % 2, vector, 1 + turn / 3, LONG / 2 + (int64_t)dice(LONG));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(orders_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
