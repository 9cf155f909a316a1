/* The argument block against structs that the compiler lays out, and division by multiplication. */
#include "schedules/choose.h"
#include "schedule/layout.h"
#include "program/program.h"
#include "schedules/transpose/tile_sides.h"
#include "schedules/kinds.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void assert_divides(uint32_t extent, uint32_t n)
{
    kn_divider d = kn_divider_make(extent);
    if (kn_divider_apply(&d, n) != n / extent)
        fail_msg("%u / %u is %u, %u came", n, extent, n / extent, kn_divider_apply(&d, n));
}

/* Where quotients change, and the largest number. */
static void assert_divides_around(uint32_t extent)
{
    const uint32_t limit = UINT32_C(0x7fffffff);
    for (uint64_t multiple = extent; multiple <= limit; multiple = multiple * 3 + extent)
        for (int off = -1; off <= 1; ++off)
            assert_divides(extent, (uint32_t)(multiple / extent * extent + (uint64_t)off) & limit);
    for (uint32_t k = 0; k < 3; ++k) {
        assert_divides(extent, limit - k);
        assert_divides(extent, k);
        assert_divides(extent, limit / extent * extent - k * (extent > 1));
    }
}

static void division(void **state)
{
    (void)state;
    for (uint32_t extent = 1; extent <= 1000; ++extent)
        for (uint32_t n = 0; n <= 3000; ++n)
            assert_divides(extent, n);
    for (uint32_t extent = 1; extent < 100000; ++extent)
        assert_divides_around(extent);
    for (int bit = 0; bit < 31; ++bit)
        for (int off = -2; off <= 2; ++off)
            if ((int64_t)(UINT32_C(1) << bit) + off > 0)
                assert_divides_around((UINT32_C(1) << bit) + (uint32_t)off);
    uint64_t dice = 5;
    for (int turn = 0; turn < 200000; ++turn) {
        dice = dice * UINT64_C(6364136223846793005) + 1442695040888963407u;
        uint32_t extent = (uint32_t)(dice >> 33) >> (dice & 31);
        assert_divides(extent ? extent : 1, (uint32_t)(dice >> 20) & UINT32_C(0x7fffffff));
    }
}

/* Divisions of a tile: numbers below 1,024 by sides up to 512. */
static void small_division(void **state)
{
    (void)state;
    for (int by = 1; by <= 512; ++by) {
        kn_tile_params shape = {.p = {by, 1, -1}, .q = {1, by, -1}, .across = true};
        kn_tile t = kn_tile_make(&shape);
        assert_true(t.p == (uint32_t)by && t.q == (uint32_t)by && t.across == 1);
        for (uint32_t n = 0; n < 1024; ++n)
            if ((n * t.p_reciprocal) >> 20 != n / (uint32_t)by ||
                (n * t.row_reciprocal) >> 20 != n / (uint32_t)by || (n * t.q_reciprocal) >> 20 != n ||
                (n * t.across_reciprocal) >> 20 != n)
                fail_msg("%u / %d", n, by);
        shape.p = (kn_tile_side){1, by, 0};
        t = kn_tile_make(&shape);
        assert_int_equal(t.across, by);
        for (uint32_t n = 0; n < 1024; ++n)
            assert_int_equal((n * t.across_reciprocal) >> 20, n / (uint32_t)by);
    }
}

/* ---- offsets ---- */

static kn_program *program(const char *in, const char *out, const char *body)
{
    kn_program *p = NULL;
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    options.preamble = "struct pair { int a; };";
    assert_int_equal(kn_program_elementwise(&p, in, out, body, "k", &options), KILN_OK);
    return p;
}

static void settle(kn_spec *s)
{
    s->n_arrays = kn_operands_settle(s->operand, s->program->n_in + s->program->n_out);
}

static kn_spec host_spec(const kn_program *p, const kn_kind *kind)
{
    kn_spec s;
    memset(&s, 0, sizeof s);
    s.program = p;
    s.schedule = (kn_schedule){.kind = kind, .rank = kind == &kn_kind_host_runs ? 0 : 8};
    kn_target_host(&s.target);
    for (int k = 0; k < p->n_in + p->n_out; ++k)
        s.operand[k] = (kn_operand){.pass = KN_PASS_ARRAY, .dtype = KILN_FLOAT32};
    settle(&s);
    return s;
}

static void flat_block(void **state)
{
    struct block {
        long long size;
        kn_loop_nest_rows rows;
        const float *x;
        signed char small;
        double wide;
        short narrow;
        _Alignas(16) char pair[5];
        _Alignas(16) char complex_wide[16];
        float *z;
    };
    kn_program *p =
        program("T x, int8 small, float64 wide, int16 narrow, pair q, complex128 w", "T z", "z = x");
    kn_spec s = host_spec(p, &kn_kind_host_runs);
    static const kiln_dtype dtypes[] = {KILN_FLOAT32, KILN_INT8,       KILN_FLOAT64,
                                        KILN_INT16,   KILN_DTYPE_NONE, KILN_COMPLEX128};
    static const size_t at[] = {offsetof(struct block, x),    offsetof(struct block, small),
                                offsetof(struct block, wide), offsetof(struct block, narrow),
                                offsetof(struct block, pair), offsetof(struct block, complex_wide),
                                offsetof(struct block, z)};
    kn_layout l;
    (void)state;
    for (int k = 1; k < 6; ++k)
        s.operand[k] = (kn_operand){.pass = k == 4 ? KN_PASS_STRUCT : KN_PASS_SCALAR,
                                    .dtype = dtypes[k],
                                    .struct_size = k == 4 ? 5 : 0};
    assert_int_equal(kn_layout_make(&l, &s), KILN_OK);
    for (int k = 0; k < 7; ++k)
        assert_int_equal(l.param_at[k], at[k]);
    assert_int_equal(l.size, sizeof(struct block));
    assert_int_equal(l.align, _Alignof(struct block));
    assert_int_equal(l.size_at, 0);
    assert_true(l.n_at == -1 && l.start_at == -1 && l.rank_at == -1 && l.axes_at == -1 && l.logical_at == -1);
    kn_program_free(p);
}

static void strided_block(void **state)
{
    struct axis {
        unsigned extent, magic, shift, unused;
        long long stride[3];
    };
    struct block {
        long long size, n, start;
        kn_loop_nest_rows rows;
        const float *x;
        struct {
            const signed char *data;
            long long size;
            int rank, unused;
            long long extents[4], strides[4];
        } raw;
        float *z;
        _Alignas(8) unsigned rank;
        unsigned unused;
        struct axis axis[8];
        _Alignas(8) unsigned logical_rank;
        unsigned logical_unused;
        long long logical[KILN_MAX_NDIM];
    };
    kn_program *p = program("T x, raw int8 r", "T z", "z = x + r[_ind.size() - 1 - i]");
    kn_spec s = host_spec(p, &kn_kind_host_indices);
    kn_layout l;
    (void)state;
    s.operand[1] = (kn_operand){.pass = KN_PASS_RAW, .dtype = KILN_INT8, .raw_rank = 4};
    settle(&s);
    assert_int_equal(kn_layout_make(&l, &s), KILN_OK);
    assert_int_equal(kn_layout_space_operands(&s), 3);
    assert_int_equal(l.n_at, offsetof(struct block, n));
    assert_int_equal(l.start_at, offsetof(struct block, start));
    assert_int_equal(l.param_at[0], offsetof(struct block, x));
    assert_int_equal(l.param_at[1], offsetof(struct block, raw));
    assert_int_equal(l.param_at[2], offsetof(struct block, z));
    assert_int_equal(l.rank_at, offsetof(struct block, rank));
    assert_int_equal(l.axes_at, offsetof(struct block, axis));
    assert_int_equal(l.axis_size, sizeof(struct axis));
    assert_int_equal(l.logical_rank_at, offsetof(struct block, logical_rank));
    assert_int_equal(l.logical_at, offsetof(struct block, logical));
    assert_int_equal(l.size, sizeof(struct block));
    kn_program_free(p);
}

static void too_large_a_block(void **state)
{
    kn_program *p = program("pair a, pair b, pair c, pair d, pair e, pair f, pair g, pair h", "T z", "z = 1");
    kn_spec s = host_spec(p, &kn_kind_host_runs);
    kn_layout l;
    (void)state;
    for (int k = 0; k < 8; ++k)
        s.operand[k] = (kn_operand){.pass = KN_PASS_STRUCT, .struct_size = 4096};
    assert_int_equal(kn_layout_make(&l, &s), KILN_ERROR_INVALID);
    assert_non_null(strstr(kiln_error_message(), "k: "));
    assert_non_null(strstr(kiln_error_message(), "32764"));
    s.operand[7].struct_size = 4096 - 128;
    assert_int_equal(kn_layout_make(&l, &s), KILN_OK);
    kn_program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(division),      cmocka_unit_test(small_division),    cmocka_unit_test(flat_block),
        cmocka_unit_test(strided_block), cmocka_unit_test(too_large_a_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
