/* Programs over rows: when they are one kernel, and when one for each reduction and one for the maps. */
#include "fuse/fusion.h"
#include "schedule/kind.h"
#include "program/program.h"
#include "schedules/kinds.h"
#include "schedules/rowprog/row_space.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define S(...) ((const int64_t[]){__VA_ARGS__})

/* ---- the model ---- */

/* y = x - mean(x) of arrays (outer, length, run), over the middle axis. */
static kn_fusion centred(bool is_host, int64_t outer, int64_t length, int64_t run, int item)
{
    bool is_along = run == 1;
    kn_fusion f = {.is_host = is_host,
                   .rows = outer * run,
                   .length = length,
                   .piece = length,
                   .run = is_along ? outer : run,
                   .side = 1,
                   .blocks = outer * run,
                   .multiprocessors = 132,
                   .n_passes = 2,
                   .has_map = true,
                   .n_operands = 2};
    for (int o = 0; o < 2; ++o)
        f.operand[o] = (kn_fusion_operand){.item = item,
                                           .elements = outer * length * run,
                                           .passes = o == 0 ? 3 : 2,
                                           .is_output = o == 1,
                                           .moves = true,
                                           .is_along = is_along,
                                           .is_across = !is_along,
                                           .step = run * item};
    return f;
}

static bool is_split(kn_fusion f)
{
    kn_fusion_times times = kn_fusion_weigh(&f);
    assert_true(times.fused > 0 && times.split > 0);
    return kn_fusion_is_split(&times);
}

static void the_host_gathers_no_rows(void **state)
{
    (void)state;
    assert_true(is_split(centred(true, 1, 4096, 4096, 4)));
    assert_true(is_split(centred(true, 16, 112, 112 * 32, 4)));
    assert_true(is_split(centred(true, 1000, 4, 500, 4)));
    assert_true(is_split(centred(true, 1, 4000, 2000, 8)));
    assert_false(is_split(centred(true, 4096, 4096, 1, 4))); /* rows that lie along memory, and are held */
    assert_false(is_split(centred(true, 1, 8, 8, 4)));       /* another kernel costs more */
}

static void short_rows_of_the_host(void **state)
{
    (void)state;
    assert_true(is_split(centred(true, 1 << 20, 3, 1, 4)));
    assert_true(is_split(centred(true, 1 << 18, 8, 1, 4)));
    assert_false(is_split(centred(true, 1 << 14, 1000, 1, 4)));
}

/* Interiors of images: one kernel begins each of their short runs anew in every pass. */
static void rows_in_pieces(void **state)
{
    (void)state;
    kn_fusion f = centred(true, 512, 196, 1, 4);
    assert_false(is_split(f));
    f.piece = 14;
    assert_true(is_split(f));
    f = centred(true, 16, 1 << 16, 1, 4);
    f.piece = 1 << 12;
    assert_false(is_split(f));
}

static void few_rows_leave_threads_idle(void **state)
{
    (void)state;
    assert_true(is_split(centred(true, 1, 1 << 22, 1, 4)));
    assert_false(is_split(centred(true, 1 << 10, 1 << 12, 1, 4)));
}

static void cuda_loads_whole_sectors(void **state)
{
    (void)state;
    assert_true(is_split(centred(false, 1, 4096, 4096, 4)));
    assert_true(is_split(centred(false, 1, 4096, 4096, 2)));
    assert_false(is_split(centred(false, 4096, 4096, 1, 4)));
    assert_false(is_split(centred(false, 1, 256, 256, 4))); /* launches count */
    kn_fusion f = centred(false, 64, 4, 1 << 16, 4);
    assert_true(is_split(f));
    f.side = 8; /* eight rows of a warp fill a sector */
    assert_false(is_split(f));
    f.operand[1].is_across = false; /* unless results lie otherwise */
    assert_true(is_split(f));
    f = centred(false, 4096, 4096, 1, 4); /* one channel of four: sectors of the same row */
    f.operand[0].is_along = false;
    f.operand[0].step = 16;
    assert_false(is_split(f));
    kn_fusion_times one_of_four = kn_fusion_weigh(&f);
    f.operand[0].step = 4; /* rows that lie backwards are whole */
    assert_true(kn_fusion_weigh(&f).fused < one_of_four.fused);
    f.operand[0].step = 32;
    assert_true(is_split(f));
}

/* The time of one kernel is that of the multiprocessor with the most blocks. */
static void few_blocks_leave_multiprocessors_idle(void **state)
{
    (void)state;
    kn_fusion f = centred(false, 16, 1 << 16, 1, 4);
    assert_true(is_split(f));
    f.blocks = 132; /* clusters have the rows */
    assert_false(is_split(f));
    int64_t even = kn_fusion_weigh(&f).fused;
    f.blocks = 133; /* one multiprocessor has two */
    assert_true(kn_fusion_weigh(&f).fused > even);
    f.blocks = 132;
    f.is_exchanged = true;
    assert_true(kn_fusion_weigh(&f).fused > even);
    assert_false(is_split(centred(false, 16, 1 << 10, 1, 4))); /* a launch takes longer */
}

/* Elements that are loaded one by one cost instructions, by the space that threads have for them. */
static void single_elements_take_time(void **state)
{
    (void)state;
    kn_fusion f = centred(false, 16, 1 << 14, 1, 4);
    int64_t vectors = kn_fusion_weigh(&f).fused;
    f.is_single = true;
    int64_t single = kn_fusion_weigh(&f).fused;
    f.has_pieces = true;
    int64_t pieced = kn_fusion_weigh(&f).fused;
    f.slots = 4 * f.rows * f.length;
    int64_t few_used = kn_fusion_weigh(&f).fused;
    f.structs = 1;
    assert_true(kn_fusion_weigh(&f).fused > few_used && few_used > pieced);
    assert_true(pieced > single && single >= vectors);
}

/* A block that reads a row once for each pass waits each time. */
static void rows_that_are_read_again(void **state)
{
    (void)state;
    kn_fusion f = centred(false, 1, 1 << 14, 1, 1);
    f.operand[1].item = 4;
    assert_false(is_split(f));
    f.is_read_again = true;
    assert_true(is_split(f));
    f = centred(false, 1, 1 << 10, 1, 1);
    f.is_read_again = true;
    assert_false(is_split(f));
}

/* Several kernels of another form of the program read their input less often. */
static void cuda_spares_passes(void **state)
{
    (void)state;
    kn_fusion f = centred(false, 1, 65536, 1024, 4);
    f.n_passes = 3;
    f.operand[0].passes = 7;
    f.operand[1].passes = 4;
    kn_fusion_times three = kn_fusion_weigh(&f);
    f.spared = 1;
    kn_fusion_times two = kn_fusion_weigh(&f);
    assert_true(two.split < three.split && two.fused == three.fused);
    f.n_passes = 2;
    f.spared = 0;
    f.operand[0].passes = 3;
    f.operand[1].passes = 2;
    assert_int_equal(kn_fusion_weigh(&f).split, two.split);
}

/* Functions that one kernel computes once. */
static void functions_are_counted(void **state)
{
    (void)state;
    kn_fusion f = centred(true, 1 << 12, 64, 1, 4); /* in the caches */
    kn_fusion_times plain = kn_fusion_weigh(&f);
    f.functions[0] = f.functions[1] = f.all_functions = 1;
    kn_fusion_times costly = kn_fusion_weigh(&f);
    assert_true(costly.split - plain.split == 2 * (costly.fused - plain.fused));
}

/* ---- what is known of a program ---- */

/* y = e / sum(e), e = exp(x - max(x)): three passes over x, of which the last two compute exp. */
static kn_program *softmax(void)
{
    static const kn_stage_text stages[] = {
        {.kind = KN_MAP_EXPRESSION, .label = "m0", .reads = "x", .gives = "_v0", .body = "x"},
        {.kind = KN_REDUCE, .label = "r0", .reads = "_v0", .gives = "_r0", .body = "a > b ? a : b"},
        {.kind = KN_MAP_EXPRESSION, .label = "m1", .reads = "x, _r0", .gives = "_v1", .body = "exp(x - r0)"},
        {.kind = KN_REDUCE, .label = "r1", .reads = "_v1", .gives = "_r1", .body = "a + b", .identity = "0"},
        {.kind = KN_MAP, .label = "m2", .reads = "_v1, w, _r1", .body = "y = w * v1 / r1"}};
    const kn_program_text text = {.in = "float32 x, float32 w",
                                  .out = "float32 y",
                                  .values = "float32 _v0, float32 _r0, float32 _v1, float32 _r1",
                                  .stage = stages,
                                  .n_stages = 5,
                                  .reduced = 1};
    kn_program *program = NULL;
    assert_int_equal(kn_program_create(&program, &text), KILN_OK);
    return program;
}

static void programs_are_described(void **state)
{
    kn_program *p = softmax();
    const int64_t *shape = S(5, 7, 11), *strides = S(4 * 77, 4, 4 * 7), *row = S(0, 4, 0);
    const kn_view view[] = {{shape, strides, 3, false}, {shape, row, 3, false}, {shape, strides, 3, true}};
    kn_spec spec = {.program = p, .n_arrays = 3};
    kn_space space;
    kn_fusion f;
    (void)state;
    for (int k = 0; k < 3; ++k)
        spec.operand[k] = (kn_operand){.pass = KN_PASS_ARRAY, .dtype = KILN_FLOAT32, .array = k};
    spec.schedule.kind = &kn_kind_row_block;
    assert_int_equal(kn_target_parse(&spec.target, "sm_90"), KILN_OK);
    kn_space_make(&space, 3, shape, 4, view, 3, 0); /* the last axis is reduced, whose strides are 28 */
    assert_true(kn_fusion_describe(&f, &spec, &space));
    assert_false(f.is_host);
    assert_int_equal(f.rows, 35);
    assert_int_equal(f.length, 11);
    assert_int_equal(f.piece, 11);
    assert_int_equal(f.run, 7);
    assert_int_equal(f.side, 1);
    assert_int_equal(f.n_passes, 3);
    assert_true(f.has_map);
    assert_int_equal(f.functions[0], 0);
    assert_int_equal(f.functions[1], 1);
    assert_int_equal(f.functions[2], 1);
    assert_int_equal(f.all_functions, 1);
    assert_int_equal(f.operand[0].passes, 7);
    assert_int_equal(f.operand[1].passes, 4);
    assert_int_equal(f.operand[2].passes, 4);
    assert_int_equal(f.operand[0].elements, 385);
    assert_int_equal(f.operand[1].elements, 7);
    assert_true(f.operand[0].moves && f.operand[0].is_across && !f.operand[0].is_along);
    assert_int_equal(f.operand[0].step, 28);
    assert_true(!f.operand[1].moves && f.operand[2].is_output);

    spec.schedule.block = 32;
    kn_row_config_in(&spec.schedule)->items = 2;
    spec.schedule.vector = 1;
    const kn_launch_params none = {{0}};
    const kn_part part = {&spec, NULL, &none, &space, &space, NULL};
    assert_int_equal(kn_fusion_place(&f, &part), KILN_OK);
    assert_int_equal(f.blocks, 35); /* a warp for each row */
    assert_int_equal(f.slots, 35 * 32 * 2);
    assert_int_equal(f.multiprocessors, spec.target.multiprocessors);
    assert_true(f.is_single && !f.has_pieces && !f.is_exchanged && !f.is_read_again);
    f.is_host = true;
    f.blocks = 0;
    assert_int_equal(kn_fusion_place(&f, &part), KILN_OK);
    assert_int_equal(f.blocks, 0); /* nothing to add */

    spec.schedule.kind =
        &kn_kind_row_lanes; /* 11 elements, two a thread: eight lanes a row, four rows a warp */
    kn_row_config_in(&spec.schedule)->items = 2;
    spec.schedule.vector = 1;
    assert_true(kn_fusion_describe(&f, &spec, &space));
    assert_int_equal(f.side, 4);
    space.size = 0;
    assert_false(kn_fusion_describe(&f, &spec, &space));
    kn_space_make(&space, 3, shape, 0, view, 3, 0);
    assert_false(kn_fusion_describe(&f, &spec, &space));
    kn_program_free(p);
}

/* ---- reductions that gather ---- */

/* A reduction of two arrays over the last of three axes, whose kernel reads as `access` says. */
static kn_program *reduced(kn_spec *spec, kn_space *space, kiln_dtype dtype, const char *access,
                           const int64_t *shape, const int64_t *x, const int64_t *y, const int64_t *result)
{
    const kn_view view[] = {{shape, x, 3, false}, {shape, y, 3, false}, {shape, result, 3, true}};
    kn_program *program = NULL;
    memset(spec, 0, sizeof *spec);
    assert_int_equal(
        kn_program_reduction(&program, "T x, T y", "T z", "x * y", "a + b", "z = a", "0", "k", NULL),
        KILN_OK);
    spec->program = program;
    for (int k = 0; k < 3; ++k)
        spec->operand[k] = (kn_operand){.pass = KN_PASS_ARRAY, .dtype = dtype};
    spec->n_arrays = kn_operands_settle(spec->operand, 3);
    memcpy(spec->schedule.access, access, strlen(access));
    kn_space_make(space, 3, shape, 4, view, 3, 0);
    return program;
}

/* is_apart: a reduction gathers several times its bytes; is_map: a map of its terms does not. */
typedef struct gathering {
    kiln_dtype dtype;
    const char *access;
    int64_t x[3], y[3], result[3];
    bool is_apart, is_map;
} gathering;

static void reductions_that_gather(void **state)
{
    static const int64_t shape[] = {64, 128, 256};
    static const char all[] = {KN_GATHER, KN_GATHER, KN_GATHER, 0},
                      some[] = {KN_GATHER, KN_DENSE, KN_GATHER, 0};
    enum { A = 4 * 128 * 256, B = 4 * 256 };
    static const gathering rows[] = {
        /* both along the last axis; along different ones; the same, but one is read by vectors */
        {KILN_FLOAT32, all, {A, B, 4}, {A, B, 4}, {512, 4, 0}, false, false},
        {KILN_FLOAT32, all, {A, B, 4}, {4, 64 * 256 * 4, 64 * 4}, {512, 4, 0}, true, true},
        {KILN_FLOAT32, some, {A, B, 4}, {4, 64 * 256 * 4, 64 * 4}, {512, 4, 0}, false, false},
        /* along the axis of the results, words and bytes */
        {KILN_FLOAT32, all, {A, 4, 512}, {A, 4, 512}, {512, 4, 0}, false, false},
        {KILN_UINT8, all, {A / 4, 1, 128}, {A / 4, 1, 128}, {128, 1, 0}, false, true},
        /* an input with fewer elements than there are results */
        {KILN_UINT8, all, {0, 0, 1}, {0, 1, 0}, {128, 1, 0}, false, false}};
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; ++r) {
        kn_spec spec;
        kn_space space;
        kn_program *program = reduced(&spec, &space, rows[r].dtype, rows[r].access, shape, rows[r].x,
                                      rows[r].y, rows[r].result);
        if (kn_fusion_gathers_apart(&spec, &space) != rows[r].is_apart ||
            kn_fusion_is_map_of_terms(&spec, &space) != rows[r].is_map)
            fail_msg("row %zu: %d %d", r, kn_fusion_gathers_apart(&spec, &space),
                     kn_fusion_is_map_of_terms(&spec, &space));
        space.size = 0;
        assert_false(kn_fusion_gathers_apart(&spec, &space) || kn_fusion_is_map_of_terms(&spec, &space));
        kn_program_free(program);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_host_gathers_no_rows),
        cmocka_unit_test(short_rows_of_the_host),
        cmocka_unit_test(rows_in_pieces),
        cmocka_unit_test(few_rows_leave_threads_idle),
        cmocka_unit_test(cuda_loads_whole_sectors),
        cmocka_unit_test(cuda_spares_passes),
        cmocka_unit_test(functions_are_counted),
        cmocka_unit_test(few_blocks_leave_multiprocessors_idle),
        cmocka_unit_test(single_elements_take_time),
        cmocka_unit_test(rows_that_are_read_again),
        cmocka_unit_test(programs_are_described),
        cmocka_unit_test(reductions_that_gather),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
