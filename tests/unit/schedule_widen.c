/* Copies of short runs become copies of wider elements where these divide all that is copied, and nothing
 * else does. */
#include "program/program.h"
#include "schedule/widen.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { ADDRESS = 1 << 20, A = 40, B = 50 };

typedef struct scene {
    kn_program *program;
    kn_spec spec;
    kn_space space;
    kn_access access[2];
} scene;

/* Positions of so many channels, rows and columns exchanged. */
static void start(scene *s, const char *in, const char *out, const char *body, kiln_dtype dtype,
                  int64_t channels)
{
    const int64_t item = (int64_t)kiln_dtype_size(dtype), shape[3] = {B, A, channels},
                  x[3] = {channels * item, B * channels * item, item},
                  y[3] = {A * channels * item, channels * item, item};
    const kn_view view[2] = {{shape, x, 3, false}, {shape, y, 3, true}};
    memset(s, 0, sizeof *s);
    assert_int_equal(kn_program_elementwise(&s->program, in, out, body, "k", NULL), KILN_OK);
    s->spec.program = s->program;
    for (int k = 0; k < 2; ++k) {
        s->spec.operand[k] = (kn_operand){.pass = KN_PASS_ARRAY, .dtype = dtype};
        s->access[k] = (kn_access){(int)item, ADDRESS, k == 1};
    }
    s->spec.n_arrays = kn_operands_settle(s->spec.operand, 2);
    kn_space_make(&s->space, 3, shape, 0, view, 2, 0);
}

/* Runs of `left` elements of `dtype`. */
static void assert_elements(scene *s, kiln_dtype dtype, int64_t left)
{
    int size = (int)kiln_dtype_size(dtype), inner = s->space.ndim - 1;
    kn_spec_widen(&s->spec, &s->space, s->access);
    assert_int_equal(s->space.ndim, left == 1 ? 2 : 3);
    assert_int_equal(s->space.size, A * B * left);
    for (int k = 0; k < 2; ++k) {
        assert_int_equal(s->spec.operand[k].dtype, dtype);
        assert_int_equal(s->spec.operand[k].seen, dtype);
        assert_int_equal(s->access[k].item_size, size);
        if (left > 1)
            assert_int_equal(s->space.stride[k][inner], size);
    }
    if (left > 1)
        assert_int_equal(s->space.extent[inner], left);
    kn_program_free(s->program);
}

static void positions_are_elements(void **state)
{
    static const struct {
        kiln_dtype dtype;
        int channels;
        kiln_dtype wide;
        int left;
    } rows[] = {{KILN_UINT8, 2, KILN_UINT16, 1},          {KILN_UINT8, 3, KILN_UINT8, 3},
                {KILN_BOOL, 4, KILN_UINT32, 1},           {KILN_INT8, 6, KILN_UINT16, 3},
                {KILN_UINT8, 8, KILN_UINT64, 1},          {KILN_UINT8, 12, KILN_UINT32, 3},
                {KILN_UINT8, 16, KILN_COMPLEX128, 1},     {KILN_FLOAT16, 5, KILN_FLOAT16, 5},
                {KILN_BFLOAT16, 2, KILN_UINT32, 1},       {KILN_FLOAT32, 2, KILN_UINT64, 1},
                {KILN_FLOAT32, 6, KILN_UINT64, 3},        {KILN_FLOAT32, 16, KILN_COMPLEX128, 4},
                {KILN_FLOAT64, 2, KILN_COMPLEX128, 1},    {KILN_COMPLEX64, 3, KILN_COMPLEX64, 3},
                {KILN_COMPLEX128, 3, KILN_COMPLEX128, 3}, {KILN_UINT8, 17, KILN_UINT8, 17},
                {KILN_UINT8, 32, KILN_UINT8, 32}};
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; ++r) {
        scene s;
        start(&s, "T x", "T y", r % 2 ? "y = x" : " y=x ; // all", rows[r].dtype, rows[r].channels);
        assert_elements(&s, rows[r].wide, rows[r].left);
    }
}

static void other_programs_stay(void **state)
{
    static const struct {
        const char *in, *out, *body;
    } rows[] = {{"T x", "T y", "y = -x"},       {"T x", "T y", "y = x + 0"},
                {"T x", "U y", "y = x"},        {"float32 x", "float32 y", "y = x"},
                {"T x", "T y", "y = x; y = x"}, {"T x", "T y", "y = (x)"},
                {"T x", "T y", "if (n) y = x"}};
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; ++r) {
        scene s;
        start(&s, rows[r].in, rows[r].out, rows[r].body, KILN_FLOAT32, 4);
        assert_elements(&s, KILN_FLOAT32, 4);
    }
}

/* Addresses and steps decide, of either array; so does a dtype that is converted. */
static void what_is_off_stays(void **state)
{
    (void)state;
    for (int k = 0; k < 2; ++k) {
        scene s;
        start(&s, "T x", "T y", "y = x", KILN_UINT8, 4);
        s.access[k].address += 2;
        assert_elements(&s, KILN_UINT16, 2);
        start(&s, "T x", "T y", "y = x", KILN_UINT8, 4);
        s.access[k].address += 1;
        assert_elements(&s, KILN_UINT8, 4);
        start(&s, "T x", "T y", "y = x", KILN_UINT8, 4);
        s.space.stride[k][0] += 2;
        assert_elements(&s, KILN_UINT16, 2);
        start(&s, "T x", "T y", "y = x", KILN_UINT8, 4);
        s.space.stride[k][2] = -1;
        kn_spec_widen(&s.spec, &s.space, s.access);
        assert_int_equal(s.access[0].item_size, 1);
        kn_program_free(s.program);
        start(&s, "T x", "T y", "y = x", KILN_UINT8, 4);
        s.spec.operand[k].seen = KILN_INT8;
        kn_spec_widen(&s.spec, &s.space, s.access);
        assert_int_equal(s.access[0].item_size, 1);
        kn_program_free(s.program);
    }
}

/* Halves that a program sees as float32 are moved as they are, unless something is computed of them. */
static void copies_of_halves_convert_nothing(void **state)
{
    static const kiln_dtype halves[] = {KILN_FLOAT16, KILN_BFLOAT16};
    (void)state;
    for (int h = 0; h < 2; ++h)
        for (int other = 0; other < 3; ++other) {
            scene s;
            start(&s, "float32 x", "float32 y", other == 1 ? "y = x + 0" : "y = x", halves[h], 5);
            for (int k = 0; k < 2; ++k)
                s.spec.operand[k].seen = KILN_FLOAT32;
            s.spec.operand[1].dtype = other == 2 ? halves[!h] : halves[h];
            kn_spec_widen(&s.spec, &s.space, s.access);
            for (int k = 0; k < 2; ++k)
                assert_int_equal(s.spec.operand[k].seen, other ? KILN_FLOAT32 : halves[h]);
            kn_program_free(s.program);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_of_halves_convert_nothing), cmocka_unit_test(positions_are_elements),
        cmocka_unit_test(other_programs_stay), cmocka_unit_test(what_is_off_stays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
