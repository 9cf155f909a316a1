/* kn_host_sort_keys and kn_host_sort_words against qsort: keys of all sizes, few and many, all alike, in
 * order, with zeros and NaN, which keep the order in which they come; short and long rows, and bytes behind
 * the last one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/target.h"
#include "device/host_sort.h"

enum { TURNS = 300, SHORT = 700, LONG = 200000, GUARD = 64 };

static uint64_t state_of_dice = 1;

static uint64_t dice(uint64_t sides)
{
    state_of_dice = state_of_dice * 6364136223846793005u + 1442695040888963407u;
    return (state_of_dice >> 20 ^ state_of_dice >> 44) % sides;
}

/* A key, and what it is sorted by: a class of equal ones, then its place. */
typedef struct placed {
    uint64_t by, key;
    int64_t at;
} placed;

static int compare(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    return x->by != y->by ? (x->by > y->by) - (x->by < y->by) : (x->at > y->at) - (x->at < y->at);
}

static uint64_t get(const void *keys, int size, int64_t k)
{
    return size == 4 ? ((const uint32_t *)keys)[k] : ((const uint64_t *)keys)[k];
}

static void put(void *keys, int size, int64_t k, uint64_t key)
{
    if (size == 4)
        ((uint32_t *)keys)[k] = (uint32_t)key;
    else
        ((uint64_t *)keys)[k] = key;
}

static void draw(void *keys, int size, int64_t count, uint64_t infinity)
{
    const uint64_t all = size == 4 ? UINT32_MAX : UINT64_MAX;
    const int way = (int)dice(6);
    const int64_t alike = 1 + (int64_t)dice(3);
    for (int64_t k = 0; k < count; ++k) {
        uint64_t key = way == 0   ? dice(3)
                       : way == 1 ? (uint64_t)k
                       : way == 2 ? (uint64_t)((count - k) / alike)
                       : way == 3 ? dice(1000)
                       : way == 4 ? 7 + (uint64_t)(dice((uint64_t)count) == 0)
                                  : state_of_dice * 3 + dice(all);
        if (infinity && dice(3) == 0)
            key = dice(2) ? infinity + dice(2) : all - dice(3);
        put(keys, size, k, key & all);
    }
}

static void check_row(const void *from, const void *to, int size, int64_t first, int64_t n, uint64_t infinity)
{
    placed *all = malloc((size_t)(n + 1) * sizeof *all);
    assert_non_null(all);
    for (int64_t k = 0; k < n; ++k) {
        const uint64_t key = get(from, size, first + k);
        const bool is_zero = infinity && key == infinity + 1, is_nan = infinity && key >= 2 * infinity + 2;
        all[k] = (placed){is_zero ? infinity : is_nan ? UINT64_MAX : key, key, k};
    }
    qsort(all, (size_t)n, sizeof *all, compare);
    for (int64_t k = 0; k < n; ++k)
        if (get(to, size, first + k) != all[k].key)
            fail_msg("%d bytes, %lld keys, infinity %llx: key %lld is %llx, not %llx", size, (long long)n,
                     (unsigned long long)infinity, (long long)k, (unsigned long long)get(to, size, first + k),
                     (unsigned long long)all[k].key);
    free(all);
}

static void sort_once(int size, int vector, int64_t rows, int64_t length)
{
    const uint64_t bits = size == 4 ? 0x7f800000u : UINT64_C(0x7ff0000000000000);
    const uint64_t infinity = dice(2) ? bits : 0;
    const size_t bytes = (size_t)(rows * length * size);
    char *from = malloc(bytes + GUARD), *to = malloc(bytes + GUARD), *beside = malloc(bytes + GUARD);
    char *copy = malloc(bytes + GUARD), guard[GUARD];
    assert_true(from && to && beside && copy);
    memset(guard, 'g', GUARD);
    memset(to + bytes, 'g', GUARD);
    memset(beside + bytes, 'g', GUARD);
    draw(from, size, rows * length, infinity);
    memcpy(copy, from, bytes);
    const kn_host_keys keys = {from, to, infinity ? beside : from, rows, length, size, vector, infinity};
    kn_host_sort_keys(&keys);
    for (int64_t row = 0; row < rows; ++row)
        check_row(copy, to, size, row * length, length, infinity);
    assert_memory_equal(to + bytes, guard, GUARD);
    assert_memory_equal(beside + bytes, guard, GUARD);
    assert_true(infinity == 0 || memcmp(from, copy, bytes) == 0);
    free(from);
    free(to);
    free(beside);
    free(copy);
}

static void keys_are_sorted(void **state)
{
    kn_target host;
    (void)state;
    kn_target_host(&host);
    for (int size = 4; size <= 8; size += 4) {
        const int widest = kn_host_sort_vectors(host.architecture, size);
        if (widest == 0)
            skip();
        for (int vector = 32; vector <= widest; vector *= 2) {
            for (int turn = 0; turn < TURNS; ++turn)
                sort_once(size, vector, 1 + (int64_t)dice(5), (int64_t)dice(SHORT));
            for (int turn = 0; turn < 4; ++turn)
                sort_once(size, vector, 1 + turn / 3, LONG / 3 + (int64_t)dice(LONG * 2 / 3));
        }
    }
}

/* A number for the order of words: NaN last, zeros are equal. */
static uint64_t order_of(const kn_host_words *w, uint16_t word)
{
    const uint16_t size = word & 0x7fff;
    if (w->is_float && size > w->infinity)
        return UINT64_MAX;
    const int64_t number = w->is_float                            ? word >> 15 ? -(int64_t)size : size
                           : w->is_signed && w->element_size == 1 ? (int8_t)word
                           : w->is_signed                         ? (int16_t)word
                                                                  : word;
    return (uint64_t)((w->is_descending ? -number : number) + (1 << 20));
}

static uint16_t word_of(const void *row, const kn_host_words *w, int64_t k)
{
    uint16_t word = 0;
    memcpy(&word, (const char *)row + k * w->element_size, (size_t)w->element_size);
    return word;
}

/* `all`: memory for a row. */
static void check_words(const kn_host_words *w, placed *all)
{
    for (int64_t row = 0; row < w->rows; ++row) {
        const int64_t at = row * w->length * w->element_size;
        for (int64_t k = 0; k < w->length; ++k) {
            const uint16_t word = word_of((const char *)w->from + at, w, k);
            all[k] = (placed){order_of(w, word), word, k};
        }
        qsort(all, (size_t)w->length, sizeof *all, compare);
        for (int64_t k = 0; k < w->length; ++k)
            assert_int_equal(word_of((const char *)w->to + at, w, k), all[k].key);
    }
}

static void draw_words(char *to, const kn_host_words *w)
{
    const uint64_t sides = dice(2) ? 1 << 16 : 1 + dice(5), way = dice(4), scale = 1 + dice(9);
    for (int64_t k = 0; k < w->rows * w->length; ++k) {
        const uint64_t special[] = {0, 0x8000, 0x7fff, 0xffff, w->infinity, w->infinity + 1u};
        const uint64_t rank =
            (uint64_t)k * 65536 / (uint64_t)(w->rows * w->length); /* of floats, NaN first */
        const uint16_t word = (uint16_t)(way == 2   ? rank >> 15 ? rank ^ 0x8000 : ~rank
                                         : way == 0 ? (uint64_t)k / scale
                                         : way == 1 ? 0xffff - (uint64_t)k / scale
                                         : dice(9)  ? dice(sides)
                                                    : special[dice(6)]);
        memcpy(to + k * w->element_size, &word, (size_t)w->element_size);
    }
}

static void sort_words_once(int size, int vector, int64_t rows, int64_t length)
{
    const size_t odd = (size_t)dice(2), bytes = (size_t)(rows * length * size);
    char *from = malloc(bytes + 1), *to = malloc(bytes + 1 + GUARD), guard[GUARD];
    placed *all = malloc((size_t)(length + 1) * sizeof *all);
    kn_host_words w = {
        .from = from + odd, .to = to + odd, .rows = rows, .length = length, .element_size = size};
    w.vector_size = vector;
    w.memory = malloc((size_t)kn_host_words_memory(&w) + 1);
    assert_true(from && to && all && w.memory);
    w.is_float = size == 2 && dice(2);
    w.is_signed = dice(2);
    w.is_descending = dice(2);
    w.infinity = dice(2) ? 0x7c00 : 0x7f80;
    memset(guard, 'g', GUARD);
    memset(to + odd + bytes, 'g', GUARD);
    draw_words(from + odd, &w);
    kn_host_sort_words(&w);
    check_words(&w, all);
    assert_memory_equal(to + odd + bytes, guard, GUARD);
    free(from);
    free(to);
    free(all);
    free(w.memory);
}

static void words_are_sorted(void **state)
{
    kn_target host;
    (void)state;
    kn_target_host(&host);
    const int vector = kn_host_sort_vectors(host.architecture, 4);
    for (int turn = 0; turn < 60; ++turn)
        if (turn % 2 == 0 || vector != 0)
            sort_words_once(1 + turn % 2, vector, 1 + (int64_t)dice(3),
                            (int64_t)dice(turn % 16 > 1 ? SHORT : KN_HOST_WORDS_ROW));
    for (int turn = 0; turn < 8; ++turn)
        sort_words_once(1 + turn % 2, 0, 1 + turn / 7, KN_HOST_WORDS_ROW + (int64_t)dice(LONG));
}

static void others_are_refused(void **state)
{
    (void)state;
    assert_int_equal(kn_host_sort_vectors("x86-64-v2", 4), 0);
    assert_int_equal(kn_host_sort_vectors("armv8-a", 8), 0);
    assert_int_equal(kn_host_sort_vectors("x86-64-v4", 2), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(keys_are_sorted), cmocka_unit_test(words_are_sorted),
                                       cmocka_unit_test(others_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
