/* kn_host_find_places and kn_host_part_rows against qsort: keys of all sizes, few and many, all alike, in
 * order, random, many equal ones; short and long rows, several places of each, elements at odd addresses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/target.h"
#include "device/host_select.h"
#include "device/host_sort.h"

enum { TURNS = 80, SHORT = 3000, LONG = 200000, MOST_ROWS = 4, MOST_PLACES = 3 };

static uint64_t state_of_dice;

static uint64_t dice(uint64_t sides)
{
    state_of_dice = state_of_dice * 6364136223846793005u + 1442695040888963407u;
    return (state_of_dice >> 20 ^ state_of_dice >> 44) % sides;
}

static uint64_t get(const void *keys, int size, int64_t k)
{
    uint64_t key = 0;
    memcpy(&key, (const char *)keys + k * size, (size_t)size);
    return key;
}

static void draw(void *keys, int size, int64_t count)
{
    const int way = (int)dice(6);
    const uint64_t usual = state_of_dice * 5;
    for (int64_t k = 0; k < count; ++k) {
        const uint64_t key = way == 0   ? usual
                             : way == 1 ? (uint64_t)k
                             : way == 2 ? (uint64_t)(count - k)
                             : way == 3 ? dice(1000)
                             : way == 4 ? dice(50) ? usual : dice(UINT64_MAX)
                                        : state_of_dice * 3 + dice(UINT64_MAX);
        memcpy((char *)keys + k * size, &key, (size_t)size);
    }
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

typedef struct rows {
    int size;
    int64_t rows, length, places;
    bool has_vectors;
    void *keys, *beside;
    uint32_t place[MOST_ROWS * MOST_PLACES], rank[MOST_ROWS * MOST_PLACES], total[MOST_ROWS * MOST_PLACES];
    uint64_t key[MOST_ROWS * MOST_PLACES];
} rows;

static void check_places(const rows *r)
{
    uint64_t *sorted = malloc((size_t)r->length * sizeof *sorted);
    assert_non_null(sorted);
    for (int64_t to = 0; to < r->rows * r->places; ++to) {
        const int64_t row = to % r->rows, place = r->place[to];
        int64_t first = place, last = place + 1;
        for (int64_t k = 0; k < r->length; ++k)
            sorted[k] = get(r->keys, r->size, row * r->length + k);
        qsort(sorted, (size_t)r->length, sizeof *sorted, compare);
        while (first > 0 && sorted[first - 1] == sorted[place])
            --first;
        while (last < r->length && sorted[last] == sorted[place])
            ++last;
        if (r->key[to] != sorted[place] || r->rank[to] != place - first || r->total[to] != last - first)
            fail_msg("%d bytes, %lld keys, place %lld: %llx, %u of %u, not %llx, %lld of %lld", r->size,
                     (long long)r->length, (long long)place, (unsigned long long)r->key[to], r->rank[to],
                     r->total[to], (unsigned long long)sorted[place], (long long)(place - first),
                     (long long)(last - first));
    }
    free(sorted);
}

/* Where element k of a row belongs. */
static int64_t place_of(const rows *r, int64_t row, int64_t k, int64_t *side, int64_t kth)
{
    const uint64_t key = get(r->keys, r->size, row * r->length + k);
    const int64_t first = kth - r->rank[row];
    if (key < r->key[row])
        return side[0]++;
    return key == r->key[row] ? first + side[1]++ : first + r->total[row] + side[2]++;
}

static void check_partition(rows *r)
{
    const int64_t kth = r->place[0], stored = dice(2) ? r->length : kth + 1, odd = (int64_t)dice(2);
    const size_t bytes = (size_t)(r->rows * r->length) * (size_t)r->size;
    char *elements = malloc(bytes + 1), *to = malloc(bytes + 1);
    int64_t *at = malloc((size_t)(r->rows * r->length) * sizeof *at);
    assert_true(elements && to && at);
    for (size_t k = 0; k < bytes; ++k)
        elements[(size_t)odd + k] = (char)dice(256);
    const bool has_to = dice(3) > 0, has_at = !has_to || dice(2);
    const kn_host_partition of = {.keys = r->keys,
                                  .rows = r->rows,
                                  .length = r->length,
                                  .key_size = r->size,
                                  .has_vectors = r->has_vectors,
                                  .key = r->key,
                                  .rank = r->rank,
                                  .total = r->total,
                                  .kth = kth,
                                  .stored = stored,
                                  .element = elements + odd,
                                  .to = has_to ? to + odd : NULL,
                                  .at = has_at ? at : NULL};
    kn_host_part_rows(&of);
    for (int64_t row = 0; row < r->rows; ++row) {
        int64_t side[3] = {0, 0, 0};
        for (int64_t k = 0; k < r->length; ++k) {
            const int64_t place = place_of(r, row, k, side, kth), put = row * stored + place;
            if (place >= stored)
                continue;
            if (has_at)
                assert_int_equal(at[put], k);
            if (has_to)
                assert_memory_equal(to + odd + put * r->size,
                                    elements + odd + (row * r->length + k) * r->size, (size_t)r->size);
        }
    }
    free(elements);
    free(to);
    free(at);
}

static void check_rows(int size, int64_t longest)
{
    rows r = {.size = size, .rows = 1 + (int64_t)dice(MOST_ROWS), .places = 1 + (int64_t)dice(MOST_PLACES)};
    kn_target host;
    kn_target_host(&host);
    r.has_vectors = kn_host_sort_vectors(host.architecture, size) == 64 && dice(4) > 0;
    r.length = 1 + (int64_t)dice((uint64_t)longest);
    r.keys = malloc((size_t)(r.rows * r.length * size));
    r.beside = malloc((size_t)(r.rows * r.length * size));
    assert_true(r.keys && r.beside);
    draw(r.keys, size, r.rows * r.length);
    for (int64_t to = 0; to < r.rows * r.places; ++to) /* those of the first place are the same in all rows */
        r.place[to] = to > 0 && to < r.rows ? r.place[0]
                      : dice(3)             ? (uint32_t)dice((uint64_t)r.length)
                                            : (uint32_t)(dice(2) * (uint64_t)(r.length - 1));
    const kn_host_places of = {.keys = r.keys,
                               .beside = r.beside,
                               .rows = r.rows,
                               .length = r.length,
                               .places = r.places,
                               .key_size = size,
                               .has_vectors = r.has_vectors,
                               .place = r.place,
                               .key = r.key,
                               .rank = r.rank,
                               .total = r.total};
    kn_host_find_places(&of);
    check_places(&r);
    check_partition(&r);
    free(r.keys);
    free(r.beside);
}

static void random_rows(void **state)
{
    (void)state;
    for (int turn = 0; turn < TURNS; ++turn) {
        state_of_dice = (uint64_t)turn;
        check_rows(1 << dice(4), turn % 40 == 0 ? LONG : SHORT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
