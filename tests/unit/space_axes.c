/* Questions of kinds about a space's axes, and how they put them together, against values worked out by
 * hand. */
#include "space/space.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Three axes, two operands: 2 x 3 x 5, one in C order of 4 bytes, one of 1 byte, reversed and spread. */
static kn_space *make(void)
{
    static const int64_t stride[2][3] = {{60, 20, 4}, {-1, 0, 7}};
    kn_space *space = calloc(1, sizeof *space);
    assert_non_null(space);
    space->ndim = 3;
    space->n_operands = 2;
    space->indices = KN_WITH_INDEX;
    space->size = 30;
    space->n_reduction_axes = 1;
    memcpy(space->extent, (int64_t[]){2, 3, 5}, 3 * sizeof(int64_t));
    space->offset[0] = 100;
    space->offset[1] = -9;
    for (int o = 0; o < 2; ++o)
        memcpy(space->stride[o], stride[o], sizeof stride[o]);
    return space;
}

static void reach(void **state)
{
    kn_space *s = make();
    (void)state;
    assert_int_equal(kn_space_reach(s, 0, 0), 60 + 40 + 16);
    assert_int_equal(kn_space_reach(s, 0, 1), 40 + 16);
    assert_int_equal(kn_space_reach(s, 0, 2), 16);
    assert_int_equal(kn_space_reach(s, 0, 3), 0);
    assert_int_equal(kn_space_reach(s, 1, 0), 1 + 0 + 28);
    assert_int_equal(kn_space_reach(s, 1, 1), 28);
    free(s);
}

/* The axis that adds most to the operand that reaches furthest, once the limit is passed, not before. */
static void axis_beyond(void **state)
{
    kn_space *s = make();
    (void)state;
    assert_int_equal(kn_space_axis_beyond(s, 116), -1);
    assert_int_equal(kn_space_axis_beyond(s, 115), 0);
    s->stride[0][0] = 10; /* 10 + 40 + 16 */
    assert_int_equal(kn_space_axis_beyond(s, 66), -1);
    assert_int_equal(kn_space_axis_beyond(s, 65), 1);
    s->stride[1][2] = -20; /* 1 + 0 + 80 */
    assert_int_equal(kn_space_axis_beyond(s, 81), -1);
    assert_int_equal(kn_space_axis_beyond(s, 80), 2);
    s->extent[2] = 1; /* 50 */
    assert_int_equal(kn_space_axis_beyond(s, 49), 1);
    s->stride[0][0] = 40; /* as much as the next */
    assert_int_equal(kn_space_axis_beyond(s, 0), 0);
    free(s);
}

static void nearest_axis(void **state)
{
    kn_space *s = make();
    (void)state;
    assert_int_equal(kn_space_nearest_axis(s, 0, -1, -1), 1);
    assert_int_equal(kn_space_nearest_axis(s, 0, 1, -1), 0);
    assert_int_equal(kn_space_nearest_axis(s, 0, -1, 1), 0);
    assert_int_equal(kn_space_nearest_axis(s, 0, 1, 0), -1);
    assert_int_equal(kn_space_nearest_axis(s, 0, 0, 1), -1);
    assert_int_equal(kn_space_nearest_axis(s, 1, -1, -1), 0); /* a step of 1, backwards; the other is none */
    assert_int_equal(kn_space_nearest_axis(s, 1, 0, -1), -1);
    s->stride[0][0] = -20;
    assert_int_equal(kn_space_nearest_axis(s, 0, -1, -1), 0); /* equal: the first */
    s->stride[0][0] = 1;
    assert_int_equal(kn_space_nearest_axis(s, 0, -1, -1), 0);
    free(s);
}

static void splits(void **state)
{
    kn_space *s = make(), *half = calloc(2, sizeof *half);
    (void)state;
    assert_non_null(half);
    assert_true(kn_space_split(s, 2, 1, &half[0], &half[1]));
    assert_true(half[0].extent[2] == 2 && half[1].extent[2] == 3);
    assert_true(half[0].size == 12 && half[1].size == 18);
    assert_true(half[0].offset[0] == 100 && half[0].offset[1] == -9);
    assert_true(half[1].offset[0] == 108 && half[1].offset[1] == 5);
    for (int h = 0; h < 2; ++h) {
        assert_true(half[h].ndim == 3 && half[h].n_operands == 2 && half[h].indices == KN_WITH_INDEX);
        assert_int_equal(half[h].n_reduction_axes, 1);
        assert_true(half[h].extent[0] == 2 && half[h].extent[1] == 3);
        for (int o = 0; o < 2; ++o)
            assert_memory_equal(half[h].stride[o], s->stride[o], 3 * sizeof(int64_t));
    }
    assert_true(kn_space_split(s, 0, 1, &half[0], &half[1]));
    assert_true(half[0].extent[0] == 1 && half[1].offset[0] == 160 && half[1].offset[1] == -10);
    s->extent[2] = 9;
    s->size = 54;
    assert_true(kn_space_split(s, 2, 4, &half[0], &half[1]));
    assert_true(half[0].extent[2] == 4 && half[1].extent[2] == 5);
    s->extent[2] = 15;
    s->size = 90;
    assert_true(kn_space_split(s, 2, 4, &half[0], &half[1]));
    assert_true(half[0].extent[2] == 4 && half[1].extent[2] == 11 && half[1].size == 66);
    assert_false(kn_space_split(s, 2, 8, &half[0], &half[1])); /* the middle is 7 */
    s->extent[0] = 1;
    assert_false(kn_space_split(s, 0, 1, &half[0], &half[1]));
    s->extent[0] = 2;
    s->size = 0;
    assert_false(kn_space_split(s, 2, 1, &half[0], &half[1]));
    free(s);
    free(half);
}

static void axes_put_together(void **state)
{
    kn_space *s = make(), *to = calloc(1, sizeof *to);
    (void)state;
    assert_non_null(to);
    to->ndim = 77;
    to->n_reduction_axes = 5;
    kn_space_start(to, s);
    assert_true(to->n_operands == 2 && to->indices == KN_WITH_INDEX && to->size == 30 && to->ndim == 77);
    assert_int_equal(to->n_reduction_axes, 0);
    assert_true(to->offset[0] == 100 && to->offset[1] == -9);
    kn_space_put_axis(to, 0, s, 2, 1);
    kn_space_put_axis(to, 1, s, 2, 2);
    kn_space_put_axis(to, 2, s, 1, 3);
    kn_space_put_axis(to, 3, s, -1, 9);
    assert_memory_equal(to->extent, ((int64_t[]){5, 3, 1, 1}), 4 * sizeof(int64_t));
    assert_memory_equal(to->stride[0], ((int64_t[]){4, 8, 60, 0}), 4 * sizeof(int64_t));
    assert_memory_equal(to->stride[1], ((int64_t[]){7, 14, 0, 0}), 4 * sizeof(int64_t));
    free(s);
    free(to);
}

/* Without results the first input that moves along both axes orders them; one that is broadcast along one
 * of them says nothing. */
static void order_by_inputs(void **state)
{
    static const int64_t shape[] = {8, 16}, first[][2] = {{4, 0}, {0, 4}, {0, 0}},
                         second[][2] = {{4, 32}, {64, 4}};
    kn_space *s = calloc(1, sizeof *s);
    (void)state;
    assert_non_null(s);
    for (int f = 0; f < 3; ++f)
        for (int g = 0; g < 2; ++g) {
            const kn_view view[] = {{shape, first[f], 2, false}, {shape, second[g], 2, false}};
            kn_space_make(s, 2, shape, 0, view, 2, false);
            if (f == 2) { /* one run */
                assert_true(s->ndim == 1 && s->extent[0] == 128 && s->stride[1][0] == 4);
                continue;
            }
            assert_true(s->ndim == 2 && s->extent[0] == (g == 0 ? 16 : 8) &&
                        s->extent[1] == (g == 0 ? 8 : 16));
            assert_true(s->stride[1][0] == (g == 0 ? 32 : 64) && s->stride[1][1] == 4);
        }
    free(s);
}

/* As many operands as a space holds. */
static void most_operands(void **state)
{
    static const int64_t shape[] = {3, 4}, strides[] = {16, 4}, still[] = {0, 4};
    kn_view view[KN_MAX_PARAMS];
    kn_space *s = calloc(1, sizeof *s);
    (void)state;
    assert_non_null(s);
    for (int k = 0; k < KN_MAX_PARAMS; ++k)
        view[k] = (kn_view){shape, k == 7 ? still : strides, 2, k == KN_MAX_PARAMS - 1};
    kn_space_make(s, 2, shape, 0, view, KN_MAX_PARAMS, KN_WITH_INDEX);
    assert_true(s->ndim == 2 && s->n_operands == KN_MAX_PARAMS + 1);
    for (int k = 0; k < KN_MAX_PARAMS; ++k)
        assert_true(s->stride[k][0] == (k == 7 ? 0 : 16) && s->stride[k][1] == 4);
    assert_true(s->stride[KN_MAX_PARAMS][0] == 4 && s->stride[KN_MAX_PARAMS][1] == 1);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reach),
        cmocka_unit_test(most_operands),
        cmocka_unit_test(order_by_inputs),
        cmocka_unit_test(axis_beyond),
        cmocka_unit_test(nearest_axis),
        cmocka_unit_test(splits),
        cmocka_unit_test(axes_put_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
