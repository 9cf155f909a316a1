/* Programs over rows: which of them read a row once, what a level needs of what came before, and what is
 * refused. */
#include "program/program.h"
#include "schedules/rowprog/row_space.h"
#include "schedules/choose.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define S(...) ((const int64_t[]){__VA_ARGS__})

/* y = e / sum(e), e = exp(x - max(x)), of float32 or of any dtype. */
static kn_program *softmax_of(bool is_generic)
{
    static const kn_stage_text stages[] = {
        {.kind = KN_MAP_EXPRESSION, .label = "m0", .reads = "x", .gives = "_v0", .body = "x"},
        {.kind = KN_REDUCE, .label = "r0", .reads = "_v0", .gives = "_r0", .body = "a > b ? a : b"},
        {.kind = KN_MAP_EXPRESSION, .label = "m1", .reads = "x, _r0", .gives = "_v1", .body = "exp(x - r0)"},
        {.kind = KN_REDUCE, .label = "r1", .reads = "_v1", .gives = "_r1", .body = "a + b", .identity = "0"},
        {.kind = KN_MAP, .label = "m2", .reads = "_v1, _r1", .body = "y = v1 / r1"}};
    const kn_program_text text = {.in = is_generic ? "T x" : "float32 x",
                                  .out = is_generic ? "T y" : "float32 y",
                                  .values = "float32 _v0, float32 _r0, float32 _v1, float32 _r1",
                                  .stage = stages,
                                  .n_stages = 5,
                                  .reduced = 1};
    kn_program *program = NULL;
    assert_int_equal(kn_program_create(&program, &text), KILN_OK);
    return program;
}

static kn_program *softmax(void)
{
    return softmax_of(false);
}

/* A call of it: rows of `length` elements, `step` elements apart, for that target. */
static bool is_held(int64_t rows, int64_t length, int64_t step, const char *target_name)
{
    kn_program *program = softmax();
    kn_target target;
    kn_space space;
    const int64_t *shape = S(rows, length), *in = S(4 * length * step, 4 * step), *out = S(4 * length, 4);
    const kn_view view[] = {{shape, in, 2, false}, {shape, out, 2, true}};
    const kn_access access[] = {{4, 4096, false}, {4, 8192, true}};
    assert_int_equal(kn_target_parse(&target, target_name), KILN_OK);
    kn_space_make(&space, 2, shape, 2, view, 2, 0);
    kn_schedule schedule;
    kn_launch_params params;
    assert_int_equal(kn_schedule_choose(&schedule, &params, program, &space, access, 2, &target, 0), KILN_OK);
    kn_program_free(program);
    return !schedule.kind->reads_again;
}

static void rows_that_are_read_once(void **state)
{
    (void)state;
    assert_true(is_held(100, 7, 1, "sm_90"));
    assert_true(is_held(100, 32768, 1, "sm_90"));
    assert_true(is_held(100, 32768, 2, "sm_90"));
    assert_true(is_held(100, 1 << 19, 1, "sm_90"));
    assert_false(is_held(100, 1 << 20, 1, "sm_90"));
    assert_true(is_held(100, 1 << 18, 1, "sm_120"));
    assert_false(is_held(100, 1 << 19, 1, "sm_120")); /* clusters of eight at most */
    assert_true(is_held(100, 1 << 16, 1, "sm_80"));
    assert_false(is_held(100, 1 << 17, 1, "sm_80")); /* no clusters */
    assert_false(is_held(100, 1 << 16, 1, "sm_75"));
    assert_true(is_held(100, 1 << 20, 1, "host"));
}

/* The schedule of rows of float16; of the results one is written for each element, or the last one of a row
 * stays. */
static kn_schedule chosen_for_halves(int64_t length, bool is_written)
{
    kn_program *program = softmax_of(true);
    kn_target target;
    kn_space space;
    const int64_t *shape = S(100, length), *in = S(2 * length, 2), *out = S(2 * length, is_written ? 2 : 0);
    const kn_view view[] = {{shape, in, 2, false}, {shape, out, 2, true}};
    const kn_access access[] = {{2, 4096, false}, {2, 8192, true}};
    assert_int_equal(kn_target_parse(&target, "sm_90"), KILN_OK);
    kn_space_make(&space, 2, shape, 2, view, 2, 0);
    const kn_choice choice = {
        .program = program, .space = &space, .access = access, .count = 2, .target = &target};
    assert_int_equal(kn_row_writes(&choice), is_written);
    kn_schedule schedule;
    kn_launch_params params;
    assert_int_equal(kn_schedule_choose(&schedule, &params, program, &space, access, 2, &target, 0), KILN_OK);
    kn_program_free(program);
    return schedule;
}

/* Narrow rows that are written are better held by several blocks. */
static void rows_that_are_written(void **state)
{
    (void)state;
    assert_string_equal(chosen_for_halves(30720, true).kind->name, "row_long");
    assert_string_equal(chosen_for_halves(30720, false).kind->name, "row_block");
}

static void values_of_elements_and_of_rows(void **state)
{
    kn_program *p = softmax();
    enum { X, Y, V0, R0, V1, R1 };
    (void)state;
    assert_true(kn_row_is_wide(p, X) && kn_row_is_wide(p, Y) && kn_row_is_wide(p, V0) &&
                kn_row_is_wide(p, V1));
    assert_false(kn_row_is_wide(p, R0) || kn_row_is_wide(p, R1));
    assert_true(kn_row_is_early(p, X));
    assert_false(kn_row_is_early(p, Y));
    assert_int_equal(kn_row_first_read(p, X), 0);
    assert_int_equal(kn_row_first_read(p, V1), 3);
    assert_true(kn_row_is_read(p, V1, 4));
    assert_false(kn_row_is_read(p, V0, 2));
    kn_program_free(p);
}

/* Elements of rows of float16 that a thread holds where a struct with these members is reduced. */
static int held_beside(const char *members)
{
    char preamble[200];
    snprintf(preamble, sizeof preamble, "struct w0 {\ntypedef int joined;\n%s};\n", members);
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    options.preamble = preamble;
    static const kn_stage_text stages[] = {
        {.kind = KN_MAP_EXPRESSION, .label = "m0", .reads = "x", .gives = "_v0", .body = "w0{x, x}"},
        {.kind = KN_REDUCE, .label = "r0", .reads = "_v0", .gives = "_r0", .body = "a"},
        {.kind = KN_MAP, .label = "m1", .reads = "x, _r0", .gives = "y", .body = "y = x - r0.f0"}};
    const kn_program_text text = {.in = "float16 x",
                                  .out = "float16 y",
                                  .values = "w0 _v0, w0 _r0",
                                  .stage = stages,
                                  .n_stages = 3,
                                  .reduced = 1,
                                  .options = &options};
    kn_program *program = NULL;
    kn_target target;
    kn_space space;
    const int64_t *shape = S(100, 768), *strides = S(2 * 768, 2);
    const kn_view view[] = {{shape, strides, 2, false}, {shape, strides, 2, true}};
    const kn_access access[] = {{2, 4096, false}, {2, 8192, true}};
    assert_int_equal(kn_program_create(&program, &text), KILN_OK);
    assert_int_equal(kn_target_parse(&target, "sm_90"), KILN_OK);
    kn_space_make(&space, 2, shape, 2, view, 2, 0);
    const kn_choice choice = {
        .program = program, .space = &space, .access = access, .count = 2, .target = &target};
    const int held = kn_row_most_held(&choice);
    kn_program_free(program);
    return held;
}

/* Structs of numbers leave the registers that are theirs; others are taken for larger ones. */
static void structs_are_as_large_as_their_numbers(void **state)
{
    (void)state;
    assert_int_equal(held_beside("float f0;\nfloat f1;\n"), 32);
    assert_int_equal(held_beside("double f0;\ndouble f1;\n"), held_beside("f0::moments f0;\n"));
    assert_true(held_beside("float f0;\nf0::moments f1;\n") < 32);
}

/* Rows side by side: a tile whose stages compute functions is in registers, where it fits them. */
static void tiles_with_functions_are_held(void **state)
{
    kn_program *program = softmax();
    kn_target target;
    kn_space space;
    const int64_t *shape = S(1 << 17, 123), *strides = S(4, 4 << 17);
    const kn_view view[] = {{shape, strides, 2, false}, {shape, strides, 2, true}};
    const kn_access access[] = {{4, 4096, false}, {4, 8192, true}};
    kn_schedule schedule;
    kn_launch_params params;
    (void)state;
    assert_int_equal(kn_target_parse(&target, "sm_90"), KILN_OK);
    kn_space_make(&space, 2, shape, 2, view, 2, 0);
    assert_int_equal(kn_schedule_choose(&schedule, &params, program, &space, access, 2, &target, 0), KILN_OK);
    assert_string_equal(schedule.kind->name, "row_columns");
    assert_int_equal(kn_row_config_of(&schedule)->items, 8);
    kn_program_free(program);
}

static void warps_are_powers_of_two(void **state)
{
    (void)state;
    assert_int_equal(kn_row_warps(32), 1);
    assert_int_equal(kn_row_warps(96), 4);
    assert_int_equal(kn_row_warps(1024), 32);
}

/* A stage that runs once a row has no element of an output over all, either. */
static void results_of_elements_are_none_of_rows(void **state)
{
    static const kn_stage_text stages[] = {
        {.kind = KN_MAP, .label = "m0", .reads = "x", .gives = "y", .body = "y = x"},
        {.kind = KN_MAP,
         .over = KN_OVER_RESULTS,
         .label = "k0",
         .reads = "y",
         .gives = "z",
         .body = "z = y"}};
    const kn_program_text text = {
        .in = "float32 x", .out = "float32 y, float32 z", .stage = stages, .n_stages = 2, .reduced = 1};
    kn_program *program = NULL;
    (void)state;
    assert_int_equal(kn_program_create(&program, &text), KILN_ERROR_INVALID);
    assert_non_null(
        strstr(kiln_error_message(), "stage 'k0' runs once for all reduced elements, but reads 'y'"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_that_are_read_once),
        cmocka_unit_test(rows_that_are_written),
        cmocka_unit_test(values_of_elements_and_of_rows),
        cmocka_unit_test(structs_are_as_large_as_their_numbers),
        cmocka_unit_test(tiles_with_functions_are_held),
        cmocka_unit_test(warps_are_powers_of_two),
        cmocka_unit_test(results_of_elements_are_none_of_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
