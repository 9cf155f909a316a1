/* The code that runs on each device from 7.5 to 12.1, against a table written by hand. */
#include "base/target.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static kn_target target(const char *name)
{
    kn_target t;
    if (kn_target_parse(&t, name) != KILN_OK)
        fail_msg("%s: %s", name, kiln_error_message());
    return t;
}

static int fit(const char *made_for, kn_code_format form, const char *device)
{
    kn_target code = target(made_for), t = target(device);
    return kn_target_fit(&code, form, &t);
}

static const char *const devices[] = {"sm_75", "sm_80",  "sm_86",  "sm_87",  "sm_88",  "sm_89",
                                      "sm_90", "sm_100", "sm_103", "sm_110", "sm_120", "sm_121"};
enum { DEVICES = sizeof devices / sizeof *devices };

/* By device, in the order above: 1 where the code runs. */
static const struct row {
    const char *made_for, *cubin, *ptx;
} rows[] = {
    {"sm_75", "100000000000", "111111111111"},   {"sm_80", "011001000000", "011111111111"},
    {"sm_86", "001001000000", "001111111111"},   {"sm_87", "000100000000", "000111111111"},
    {"sm_88", "000010000000", "000011111111"},   {"sm_89", "000001000000", "000001111111"},
    {"sm_90", "000000100000", "000000111111"},   {"sm_90a", "000000100000", "000000100000"},
    {"sm_100", "000000011000", "000000011111"},  {"sm_100a", "000000010000", "000000010000"},
    {"sm_100f", "000000011000", "000000011000"}, {"sm_103", "000000001000", "000000001111"},
    {"sm_103a", "000000001000", "000000001000"}, {"sm_103f", "000000001000", "000000001000"},
    {"sm_110", "000000000100", "000000000111"},  {"sm_110a", "000000000100", "000000000100"},
    {"sm_110f", "000000000100", "000000000100"}, {"sm_120", "000000000011", "000000000011"},
    {"sm_120a", "000000000010", "000000000010"}, {"sm_120f", "000000000011", "000000000011"},
    {"sm_121", "000000000001", "000000000001"},  {"sm_121a", "000000000001", "000000000001"},
    {"sm_121f", "000000000001", "000000000001"},
};
enum { ROWS = sizeof rows / sizeof *rows };

static void code_runs_where_nvidia_says(void **state)
{
    (void)state;
    for (int r = 0; r < ROWS; r++)
        for (int d = 0; d < DEVICES; d++) {
            if ((fit(rows[r].made_for, KN_CODE_BINARY, devices[d]) > 0) != (rows[r].cubin[d] == '1'))
                fail_msg("a cubin for %s on %s", rows[r].made_for, devices[d]);
            if ((fit(rows[r].made_for, KN_CODE_PTX, devices[d]) > 0) != (rows[r].ptx[d] == '1'))
                fail_msg("PTX for %s on %s", rows[r].made_for, devices[d]);
        }
}

/* No two candidates are equal, so that the choice does not depend on their order. */
static void candidates_differ(void **state)
{
    (void)state;
    for (int d = 0; d < DEVICES; d++)
        for (int a = 0; a < 2 * ROWS; a++)
            for (int b = 0; b < a; b++) {
                int one = fit(rows[a / 2].made_for, (kn_code_format)(a % 2), devices[d]),
                    other = fit(rows[b / 2].made_for, (kn_code_format)(b % 2), devices[d]);
                assert_true(one == 0 || one != other);
            }
}

static void the_nearest_is_best(void **state)
{
    static const struct {
        const char *device;
        const char *better, *worse;
        kn_code_format better_form, worse_form;
    } pairs[] = {
        {"sm_90", "sm_90a", "sm_90", KN_CODE_BINARY, KN_CODE_BINARY},
        {"sm_90", "sm_90", "sm_90a", KN_CODE_BINARY, KN_CODE_PTX},
        {"sm_89", "sm_86", "sm_80", KN_CODE_BINARY, KN_CODE_BINARY},
        {"sm_89", "sm_80", "sm_89", KN_CODE_BINARY, KN_CODE_PTX},
        {"sm_103", "sm_103", "sm_100f", KN_CODE_BINARY, KN_CODE_BINARY},
        {"sm_103", "sm_100f", "sm_100", KN_CODE_BINARY, KN_CODE_BINARY},
        {"sm_103", "sm_103a", "sm_103f", KN_CODE_BINARY, KN_CODE_BINARY},
        {"sm_121", "sm_120", "sm_121", KN_CODE_BINARY, KN_CODE_PTX},
        {"sm_121", "sm_120", "sm_90", KN_CODE_PTX, KN_CODE_PTX},
    };
    (void)state;
    for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++)
        if (fit(pairs[p].better, pairs[p].better_form, pairs[p].device) <=
            fit(pairs[p].worse, pairs[p].worse_form, pairs[p].device))
            fail_msg("%s: %s rather than %s", pairs[p].device, pairs[p].worse, pairs[p].better);
}

/* One that came after this library: what is known of its number. */
static void newer_devices_take_what_is_promised(void **state)
{
    kn_target newer, newest;
    (void)state;
    kn_target_cuda(&newer, 12, 3);
    kn_target_cuda(&newest, 14, 0);
    const struct {
        const char *made_for;
        kn_code_format form;
        bool on_newer, on_newest;
    } expected[] = {{"sm_120", KN_CODE_BINARY, true, false},   {"sm_121f", KN_CODE_BINARY, true, false},
                    {"sm_121a", KN_CODE_BINARY, false, false}, {"sm_110", KN_CODE_BINARY, false, false},
                    {"sm_90", KN_CODE_PTX, true, true},        {"sm_90a", KN_CODE_PTX, false, false}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        kn_target code = target(expected[i].made_for);
        assert_int_equal(kn_target_fit(&code, expected[i].form, &newer) > 0, expected[i].on_newer);
        assert_int_equal(kn_target_fit(&code, expected[i].form, &newest) > 0, expected[i].on_newest);
    }
}

/* A name with a suffix is for another machine: nothing else passes for it. */
static void names_with_a_suffix_are_exact(void **state)
{
    (void)state;
    assert_true(fit("sm_90a", KN_CODE_BINARY, "sm_90a") > 0);
    assert_int_equal(fit("sm_90", KN_CODE_BINARY, "sm_90a"), 0);
    assert_int_equal(fit("sm_100f", KN_CODE_BINARY, "sm_100a"), 0);
}

static void processors_run_what_lesser_ones_run(void **state)
{
    static const char *const intel[] = {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"};
    (void)state;
    for (int made = 0; made < 4; made++)
        for (int at = 0; at < 4; at++) {
            assert_int_equal(fit(intel[made], KN_CODE_BINARY, intel[at]) > 0, made <= at);
            assert_int_equal(fit(intel[made], KN_CODE_PTX, intel[at]), 0);
            if (made > 0 && made <= at)
                assert_true(fit(intel[made], KN_CODE_BINARY, intel[at]) >
                            fit(intel[made - 1], KN_CODE_BINARY, intel[at]));
        }
    assert_true(fit("armv8-a", KN_CODE_BINARY, "armv8.2-a") > 0);
    assert_int_equal(fit("armv8.2-a", KN_CODE_BINARY, "armv8-a"), 0);
    assert_int_equal(fit("x86-64", KN_CODE_BINARY, "armv8.2-a"), 0);
    assert_int_equal(fit("armv8-a", KN_CODE_BINARY, "x86-64-v4"), 0);
    assert_int_equal(fit("sm_90", KN_CODE_BINARY, "x86-64-v4"), 0);
    assert_int_equal(fit("x86-64", KN_CODE_BINARY, "sm_90"), 0);
}

static void all_known_targets_are_told(void **state)
{
    kn_target t;
    int n = 0;
    (void)state;
    for (; kn_target_known(&t, n); n++) {
        if (n < DEVICES)
            assert_string_equal(t.architecture, devices[n]);
        else
            assert_int_equal(t.backend, KN_HOST);
    }
    assert_int_equal(n, DEVICES + 6);
    assert_false(kn_target_known(&t, -1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_runs_where_nvidia_says),
        cmocka_unit_test(candidates_differ),
        cmocka_unit_test(the_nearest_is_best),
        cmocka_unit_test(newer_devices_take_what_is_promised),
        cmocka_unit_test(names_with_a_suffix_are_exact),
        cmocka_unit_test(processors_run_what_lesser_ones_run),
        cmocka_unit_test(all_known_targets_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
