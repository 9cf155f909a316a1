/* Promotion, safe casts, weak scalars and conversions of values against tests/data/promotion.txt, which NumPy
 * made. */
#include "types/dtype.h"
#include "types/number.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

typedef struct row {
    char what[16], word[4][40];
} row;

static kiln_dtype dtype_of(const char *name)
{
    kiln_dtype d = KILN_DTYPE_NONE;
    assert_int_equal(kiln_dtype_from_name(&d, name), KILN_OK);
    return d;
}

/* Calls check for each row of a kind and returns how many there were. */
static int each_row(const char *what, void (*check)(const row *))
{
    char line[256];
    int count = 0;
    FILE *f = fopen(KILN_SOURCE_DIR "/tests/data/promotion.txt", "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        row r = {.what = ""};
        sscanf(line, "%15s %39s %39s %39s %39s", r.what, r.word[0], r.word[1], r.word[2], r.word[3]);
        if (!strcmp(r.what, what)) {
            check(&r);
            count++;
        }
    }
    fclose(f);
    return count;
}

static void check_promote(const row *r)
{
    kiln_dtype d;
    assert_int_equal(kiln_dtype_promote(&d, dtype_of(r->word[0]), dtype_of(r->word[1])), KILN_OK);
    if (strcmp(kiln_dtype_name(d), r->word[2]))
        fail_msg("%s with %s gives %s instead of %s", r->word[0], r->word[1], kiln_dtype_name(d), r->word[2]);
}

static void check_can_cast(const row *r)
{
    bool can = kiln_dtype_can_cast(dtype_of(r->word[0]), dtype_of(r->word[1]));
    if (can != (r->word[2][0] == '1'))
        fail_msg("casting %s to %s is %s", r->word[0], r->word[1], can ? "taken to be safe" : "refused");
}

static void check_weak(const row *r)
{
    static const struct {
        const char *name;
        kiln_arg_kind kind;
    } kinds[] = {{"bool", KILN_ARG_WEAK_BOOL},
                 {"int", KILN_ARG_WEAK_INT},
                 {"float", KILN_ARG_WEAK_FLOAT},
                 {"complex", KILN_ARG_WEAK_COMPLEX}};
    for (size_t k = 0; k < 4; k++)
        if (!strcmp(kinds[k].name, r->word[1])) {
            kiln_dtype d = kn_weak_promote(dtype_of(r->word[0]), kinds[k].kind);
            if (strcmp(kiln_dtype_name(d), r->word[2]))
                fail_msg("%s with a weak %s gives %s", r->word[0], r->word[1], kiln_dtype_name(d));
        }
}

static void from_hex(unsigned char *out, const char *hex)
{
    for (size_t k = 0; hex[2 * k]; k++) {
        const char digits[3] = {hex[2 * k], hex[2 * k + 1], 0};
        out[k] = (unsigned char)strtoul(digits, NULL, 16);
    }
}

static bool same(const unsigned char *a, const unsigned char *b, kiln_dtype dtype)
{
    kn_number x = kn_number_load(a, dtype), y = kn_number_load(b, dtype);
    /* The bits of nan are the processor's business. */
    return !memcmp(a, b, kiln_dtype_size(dtype)) ||
           (isnan(x.re) && isnan(y.re) && (x.im == y.im || isnan(x.im)));
}

/* Integers that wrap in NumPy are refused here: scalars have to fit. */
static void check_cast(const row *r)
{
    unsigned char from[16] = {0}, to[16] = {0}, expected[16] = {0};
    kiln_dtype target = dtype_of(r->word[1]);
    from_hex(from, r->word[2]);
    from_hex(expected, r->word[3]);
    kn_number x = kn_number_load(from, dtype_of(r->word[0])), back = kn_number_load(expected, target);
    bool wraps = x.kind <= KN_KIND_UINT && back.kind <= KN_KIND_UINT && (x.i != back.i || x.u != back.u);
    assert_int_equal(kn_number_store(to, target, &x), !wraps);
    if (!wraps && !same(to, expected, target))
        fail_msg("%s %s as %s is not %s", r->word[0], r->word[2], r->word[1], r->word[3]);
}

static void promotion_is_numpys(void **state)
{
    (void)state;
    assert_int_equal(each_row("promote", check_promote), 14 * 14);
}

/* numpy.result_type of several, which is not what promoting one by one gives, in any order. */
static void several_promote_as_numpys(void **state)
{
    static const struct {
        kiln_dtype of[3], common;
    } rows[] = {
        {{KILN_INT8, KILN_UINT8, KILN_FLOAT16}, KILN_FLOAT16},
        {{KILN_INT16, KILN_UINT16, KILN_FLOAT32}, KILN_FLOAT32},
        {{KILN_INT8, KILN_UINT16, KILN_FLOAT16}, KILN_FLOAT32},
        {{KILN_INT16, KILN_UINT16, KILN_COMPLEX64}, KILN_COMPLEX64},
        {{KILN_INT16, KILN_UINT16, KILN_BOOL}, KILN_INT32},
        {{KILN_INT64, KILN_UINT64, KILN_INT8}, KILN_FLOAT64},
        {{KILN_BOOL, KILN_DTYPE_NONE, KILN_BOOL}, KILN_BOOL},
        {{KILN_DTYPE_NONE, KILN_DTYPE_NONE, KILN_DTYPE_NONE}, KILN_DTYPE_NONE},
    };
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; ++r)
        for (size_t o = 0; o < sizeof orders / sizeof orders[0]; ++o) {
            const kiln_dtype *of = rows[r].of;
            const int *k = orders[o];
            const kiln_dtype ordered[] = {of[k[0]], of[k[1]], of[k[2]]};
            assert_int_equal(kn_promote_all(ordered, sizeof ordered[0], 3), rows[r].common);
        }
}

static void safe_casts_are_numpys(void **state)
{
    (void)state;
    assert_int_equal(each_row("can_cast", check_can_cast), 14 * 14);
}

static void weak_scalars_are_numpys(void **state)
{
    (void)state;
    assert_int_equal(each_row("weak", check_weak), 14 * 4);
}

static void conversions_are_numpys(void **state)
{
    (void)state;
    assert_true(each_row("cast", check_cast) > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(promotion_is_numpys),    cmocka_unit_test(several_promote_as_numpys),
        cmocka_unit_test(safe_casts_are_numpys),  cmocka_unit_test(weak_scalars_are_numpys),
        cmocka_unit_test(conversions_are_numpys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
