/* kn_host_assign against one store after the other: rows of all sizes, one value or one for each place,
 * places of 32 and 64 bits, from both ends, few and many, the same ones again; places outside, after which
 * nothing is stored. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "device/host_assign.h"

enum { TURNS = 300, MOST_ROWS = 5000, SHORT = 300, LONG = 70000, MOST_BYTES = 40, GUARD = 64 };

static uint64_t state_of_dice = 1;

static uint64_t dice(uint64_t sides)
{
    state_of_dice = state_of_dice * 6364136223846793005u + 1442695040888963407u;
    return (state_of_dice >> 33) % sides;
}

static void draw(char *bytes, size_t count)
{
    for (size_t k = 0; k < count; ++k)
        bytes[k] = (char)dice(256);
}

static void put_place(char *places, int64_t k, int64_t place, bool is_wide)
{
    if (is_wide)
        ((int64_t *)(void *)places)[k] = place;
    else
        ((int32_t *)(void *)places)[k] = (int32_t)place;
}

/* Draws the places, and stores the values at them; the first place outside, or 0. */
static int64_t store(char *to, char *places, const char *values, const kn_host_assignment *a, bool has_wrong)
{
    const int64_t wrong = has_wrong ? (int64_t)dice((uint64_t)a->count) : -1;
    const size_t size = (size_t)a->row_bytes;
    int64_t outside = 0;
    for (int64_t k = 0; k < a->count; ++k) {
        int64_t place = (int64_t)dice((uint64_t)a->rows), given = dice(4) ? place : place - a->rows;
        if (wrong == k || (wrong >= 0 && dice(1000) == 0)) {
            given = dice(2) ? a->rows + (int64_t)dice(3) : -a->rows - 1 - (int64_t)dice(3);
            outside = outside ? outside : given;
        }
        put_place(places, k, given, a->has_wide_places);
        if (wrong < 0)
            memcpy(to + (size_t)place * size, values + (a->is_one_value ? 0 : (size_t)k * size), size);
    }
    return outside;
}

static void check_turn(char *to, char *wanted, char *places, char *values)
{
    static const int64_t sizes[] = {1, 2, 4, 8, 16, 3, 12, 24, MOST_BYTES};
    int64_t outside = 0;
    kn_host_assignment a = {.to = to + GUARD,
                            .places = places,
                            .values = values,
                            .count = 1 + (int64_t)dice(dice(8) ? SHORT : LONG),
                            .rows = 1 + (int64_t)dice(MOST_ROWS),
                            .row_bytes = sizes[dice(sizeof sizes / sizeof sizes[0])],
                            .has_wide_places = dice(2) != 0,
                            .is_one_value = dice(4) == 0};
    const size_t bytes = (size_t)(a.rows * a.row_bytes) + 2 * (size_t)GUARD;
    draw(to, bytes);
    draw(values, (size_t)(a.count * a.row_bytes));
    memcpy(wanted, to, bytes);
    const int64_t first = store(wanted + GUARD, places, values, &a, dice(6) == 0);
    assert_int_equal(kn_host_assign(&outside, &a), first == 0);
    assert_int_equal(outside, first);
    assert_memory_equal(to, wanted, bytes);
}

static void stores_in_order(void **state)
{
    const size_t bytes = (size_t)MOST_ROWS * MOST_BYTES + 2 * (size_t)GUARD;
    char *to = malloc(bytes), *wanted = malloc(bytes), *places = malloc((size_t)LONG * sizeof(int64_t) + 8),
         *values = malloc((size_t)LONG * MOST_BYTES + MOST_BYTES);
    (void)state;
    assert_true(to && wanted && places && values);
    for (int turn = 0; turn < TURNS; ++turn)
        check_turn(to, wanted, places, values);
    free(to);
    free(wanted);
    free(places);
    free(values);
}

/* Rows of blocks, each compared with the row that its place says. */
static void check_rows(char *to, char *places, char *from)
{
    static const int64_t sizes[] = {1, 2, 4, 8, 16, 3, 24, MOST_BYTES};
    int64_t outside = 0, wrong = dice(6) ? -1 : 0;
    kn_host_gathering g = {.to = to + GUARD,
                           .from = from,
                           .places = places,
                           .blocks = 1 + (int64_t)dice(6),
                           .count = 1 + (int64_t)dice(SHORT),
                           .rows = 1 + (int64_t)dice(MOST_ROWS / 8),
                           .row_bytes = sizes[dice(sizeof sizes / sizeof sizes[0])],
                           .has_wide_places = dice(2) != 0};
    const size_t size = (size_t)g.row_bytes, bytes = (size_t)(g.blocks * g.count) * size;
    int64_t *const row = malloc((size_t)g.count * sizeof *row);
    assert_non_null(row);
    draw(from, (size_t)(g.blocks * g.rows) * size);
    memset(to, 77, bytes + 2 * (size_t)GUARD);
    wrong = wrong < 0 ? -1 : (int64_t)dice((uint64_t)g.count);
    for (int64_t k = 0; k < g.count; ++k) {
        row[k] = (int64_t)dice((uint64_t)g.rows);
        put_place(places, k, k == wrong ? g.rows + 1 : dice(3) ? row[k] : row[k] - g.rows, g.has_wide_places);
    }
    assert_int_equal(kn_host_gather(&outside, &g), wrong < 0);
    assert_int_equal(outside, wrong < 0 ? 0 : g.rows + 1);
    for (int64_t b = 0; b < g.blocks && wrong < 0; ++b)
        for (int64_t k = 0; k < g.count; ++k)
            assert_memory_equal(to + GUARD + (size_t)(b * g.count + k) * size,
                                from + (size_t)(b * g.rows + row[k]) * size, size);
    for (size_t k = 0; k < (size_t)GUARD; ++k)
        assert_true(to[k] == 77 && to[(size_t)GUARD + bytes + k] == 77);
    free(row);
}

static void reads_rows(void **state)
{
    const size_t bytes = (size_t)MOST_ROWS * MOST_BYTES + 2 * (size_t)GUARD;
    char *to = malloc(bytes), *places = malloc((size_t)SHORT * sizeof(int64_t) + 8), *from = malloc(bytes);
    (void)state;
    assert_true(to && places && from);
    for (int turn = 0; turn < TURNS; ++turn)
        check_rows(to, places, from);
    free(to);
    free(places);
    free(from);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(stores_in_order), cmocka_unit_test(reads_rows)};
    setenv("KILN_NUM_THREADS", "3", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
