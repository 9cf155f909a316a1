/* Code in bundles may come from an earlier library: its argument blocks have to be those of today, or their
 * number another one. */
#include "plan/kind.h"
#include "plan/layout.h"
#include "plan/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"

/* The blocks of all kinds as they were when the number was given out. Where the test fails, fields have
 * changed: count KN_ARGUMENT_BLOCKS up (bundles of before are passed over then), and put the new hash
 * here. */
static const struct {
    int number;
    const char *hash;
} blocks = {4, "0ea2f7e3ccd010da9fdc5c2539a7af45"};

static void put_block(kn_str *out, kn_spec *s)
{
    kn_layout l;
    assert_int_equal(kn_layout_make(&l, s), KILN_OK);
    kn_str_printf(out, "%s %d %d %d %d\n", s->schedule.kind->name, s->schedule.vector, s->schedule.form,
                  s->schedule.rank, l.size);
    kn_layout_declare(out, s);
    for (const int *at = (const int *)&l; at < (const int *)(&l + 1); at++)
        kn_str_printf(out, " %d", *at);
    kn_str_append(out, "\n");
}

static kn_spec spec_of(const kn_program *p, const char *target)
{
    static const struct {
        kn_pass pass;
        kiln_dtype dtype;
        int struct_size, raw_rank;
    } operands[] = {{KN_PASS_ARRAY, KILN_FLOAT16, 0, 0},    {KN_PASS_SCALAR, KILN_INT8, 0, 0},
                    {KN_PASS_SCALAR, KILN_COMPLEX64, 0, 0}, {KN_PASS_STRUCT, KILN_DTYPE_NONE, 20, 0},
                    {KN_PASS_RAW, KILN_INT32, 0, 3},        {KN_PASS_ARRAY, KILN_FLOAT64, 0, 0}};
    kn_spec s;
    memset(&s, 0, sizeof s);
    s.program = p;
    assert_int_equal(kn_target_parse(&s.target, target), KILN_OK);
    for (int k = 0; k < 6; k++)
        s.operand[k] = (kn_operand){.pass = operands[k].pass,
                                    .dtype = operands[k].dtype,
                                    .struct_size = operands[k].struct_size,
                                    .raw_rank = operands[k].raw_rank};
    s.n_arrays = kn_operands_settle(s.operand, 6);
    return s;
}

/* A block of each shape that a kind's may have. */
static void put_kind(kn_str *out, const kn_program *p, const kn_kind *kind, const char *target)
{
    kn_spec s = spec_of(p, target);
    for (int vector = 1; vector <= 4; vector += 3)
        for (int form = 0; form < 4; form++)
            for (int rank = 0; rank <= 3; rank += 3) {
                s.schedule =
                    (kn_schedule){.kind = kind, .vector = vector, .form = form, .rank = rank, .block = 128};
                put_block(out, &s);
            }
}

static void blocks_are_those_of_their_number(void **state)
{
    static const char *const targets[] = {"sm_90", "x86-64-v3"}, *const bodies[] = {
                                                                     "z = x", "z = i + n + _ind.size()"};
    kn_str all = KN_STR_INIT;
    char hex[33];
    int kinds = 0;
    (void)state;
    for (int t = 0; t < 2; t++)
        for (int b = 0; b < 2; b++) {
            kn_program *p = NULL;
            kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
            options.preamble = "struct pair { int a[5]; };";
            assert_int_equal(kn_program_elementwise(&p,
                                                    "float16 x, int8 small, complex64 w, pair q, raw int32 r",
                                                    "float64 z", bodies[b], "k", &options),
                             KILN_OK);
            for (const kn_kind *const *kind = kn_kinds_of(t ? KN_HOST : KN_CUDA); *kind; kind++, kinds++)
                put_kind(&all, p, *kind, targets[t]);
            kn_program_free(p);
        }
    assert_false(all.failed);
    assert_true(kinds >= 2 * 19);
    kn_hash hash = kn_hash_128(all.data, all.length);
    kn_hash_hex(&hash, hex);
    kn_str_free(&all);
    if (blocks.number != KN_ARGUMENT_BLOCKS || strcmp(hex, blocks.hash) != 0)
        fail_msg("the argument blocks number %d have the hash %s; number %d had %s", KN_ARGUMENT_BLOCKS, hex,
                 blocks.number, blocks.hash);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(blocks_are_those_of_their_number)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
