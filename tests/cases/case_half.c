/* float16 and bfloat16: arithmetic, comparisons and functions of every value, infinities, NaNs, zeros and
 * subnormals included, against double precision. */
#include "values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ALL = 65536, PARTNERS = 3, PAIRS = ALL * PARTNERS };

static const kiln_dtype dtypes[] = {KILN_FLOAT16, KILN_BFLOAT16};

/* Every value, each with some partners: special ones, itself, close ones and any. */
static void fill_pairs(uint16_t *x, uint16_t *y, kiln_dtype dtype)
{
    static const double special[] = {
        0, -0.0, 1, -1, 3, -0.3333, 1e-7, -6e4, 65504, (double)INFINITY, -(double)INFINITY, (double)NAN};
    enum { SPECIALS = sizeof special / sizeof special[0] };
    dice d = {case_seed()};
    for (int k = 0; k < PAIRS; ++k) {
        x[k] = (uint16_t)(k / PARTNERS);
        y[k] = (uint16_t)dice_bits(&d);
        if (k % PARTNERS == 0)
            number_store(&y[k], dtype, number_real(special[dice_between(&d, 0, SPECIALS - 1)]));
        else if (k % PARTNERS == 1 && dice_one_in(&d, 8))
            y[k] = x[k];
        else if (k % PARTNERS == 1) /* of about the same size */
            y[k] = (uint16_t)((x[k] & 0x7c00) | (y[k] & 0x83ff));
    }
}

/* By a table: every value is wanted many times. */
static double value_of(const uint16_t *at, kiln_dtype dtype)
{
    static double table[ALL];
    static kiln_dtype of;
    if (of != dtype)
        for (int k = 0; k < ALL; ++k) {
            const uint16_t bits = (uint16_t)k;
            table[k] = number_load(&bits, dtype).re;
        }
    of = dtype;
    return table[*at];
}

/* Rounded once, from a result that is exact or precise enough for that. */
static bool expect(const uint16_t *got, double wanted, kiln_dtype dtype, const char *what, const uint16_t *x,
                   const uint16_t *y)
{
    uint16_t rounded;
    number_store(&rounded, dtype, number_real(wanted));
    return trouble_unless(elements_agree(got, &rounded, dtype, 0), "%s %s of %s and %s is %s, not %s",
                          kiln_dtype_name(dtype), what, element_text(x, dtype),
                          y ? element_text(y, dtype) : "nothing", element_text(got, dtype),
                          element_text(&rounded, dtype));
}

typedef struct half_data {
    uint16_t x[PAIRS], y[PAIRS], result[6][PAIRS];
    unsigned char truth[6][PAIRS];
    float single[4][PAIRS];
} half_data;

static void arithmetic_of(half_data *h, kiln_dtype dtype)
{
    values v = VALUES_INIT;
    fill_pairs(h->x, h->y, dtype);
    values_in(&v, dtype, h->x);
    values_in(&v, dtype, h->y);
    for (int j = 0; j < 6; ++j)
        values_out(&v, dtype, h->result[j]);
    if (!values_run(&v, "T x, T y", "T sum, T difference, T product, T quotient, T negative, T magnitude",
                    "sum = x + y; difference = x - y; product = x * y; quotient = x / y; negative = -x; "
                    "magnitude = abs(x)",
                    PAIRS))
        return;
    for (int k = 0; k < PAIRS; ++k) {
        const uint16_t *a = &h->x[k], *b = &h->y[k];
        double x = value_of(a, dtype), y = value_of(b, dtype);
        if (!expect(&h->result[0][k], x + y, dtype, "sum", a, b) ||
            !expect(&h->result[1][k], x - y, dtype, "difference", a, b) ||
            !expect(&h->result[2][k], x * y, dtype, "product", a, b) ||
            !expect(&h->result[3][k], x / y, dtype, "quotient", a, b) ||
            !expect(&h->result[4][k], -x, dtype, "negative", a, NULL) ||
            !expect(&h->result[5][k], fabs(x), dtype, "magnitude", a, NULL))
            return;
    }
}

static void for_both(void (*check)(half_data *, kiln_dtype))
{
    half_data *h = malloc(sizeof *h);
    for (int d = 0; d < 2 && !in_trouble(); ++d)
        check(h, dtypes[d]);
    free(h);
}

static void arithmetic(void)
{
    for_both(arithmetic_of);
}

static void comparisons_of(half_data *h, kiln_dtype dtype)
{
    values v = VALUES_INIT;
    fill_pairs(h->x, h->y, dtype);
    values_in(&v, dtype, h->x);
    values_in(&v, dtype, h->y);
    for (int j = 0; j < 6; ++j)
        values_out(&v, KILN_BOOL, h->truth[j]);
    if (!values_run(&v, "T x, T y", "bool lt, bool le, bool gt, bool ge, bool eq, bool ne",
                    "lt = x < y; le = x <= y; gt = x > y; ge = x >= y; eq = x == y; ne = x != y", PAIRS))
        return;
    for (int k = 0; k < PAIRS; ++k) {
        double x = value_of(&h->x[k], dtype), y = value_of(&h->y[k], dtype);
        const bool wanted[] = {x<y, x <= y, x> y, x >= y, x == y, x != y};
        for (int j = 0; j < 6; ++j)
            if (!trouble_unless(h->truth[j][k] == wanted[j], "%s: comparison %d of %s and %s is %d",
                                kiln_dtype_name(dtype), j, element_text(&h->x[k], dtype),
                                element_text(&h->y[k], dtype), h->truth[j][k]))
                return;
    }
}

static void comparisons(void)
{
    for_both(comparisons_of);
}

/* Within one unit in the last place of the dtype; special results exactly. */
static bool expect_near(const uint16_t *got, double wanted, kiln_dtype dtype, const char *what,
                        const uint16_t *x)
{
    uint16_t rounded;
    number_store(&rounded, dtype, number_real(wanted));
    int apart = (got[0] & 0x7fff) - (rounded & 0x7fff);
    bool is_near = apart >= -1 && apart <= 1 && ((got[0] ^ rounded) & 0x8000) == 0;
    if (isnan(wanted) || isinf(wanted) || wanted == 0)
        is_near = elements_agree(got, &rounded, dtype, 0);
    return trouble_unless(is_near, "%s %s of %s is %s, not %s", kiln_dtype_name(dtype), what,
                          element_text(x, dtype), element_text(got, dtype), element_text(&rounded, dtype));
}

static void functions_of(half_data *h, kiln_dtype dtype)
{
    values v = VALUES_INIT;
    for (int k = 0; k < ALL; ++k)
        h->x[k] = (uint16_t)k;
    values_in(&v, dtype, h->x);
    for (int j = 0; j < 6; ++j)
        values_out(&v, dtype, h->result[j]);
    if (!values_run(&v, "T x", "T root, T power, T logarithm, T sine, T tangent, T lower",
                    "root = sqrt(x); power = exp(x); logarithm = log(x); sine = sin(x); tangent = tanh(x); "
                    "lower = floor(x)",
                    ALL))
        return;
    for (int k = 0; k < ALL; ++k) {
        const uint16_t *a = &h->x[k];
        double x = value_of(a, dtype);
        if (!expect(&h->result[0][k], sqrt(x), dtype, "sqrt", a, NULL) ||
            !expect_near(&h->result[1][k], exp(x), dtype, "exp", a) ||
            !expect_near(&h->result[2][k], log(x), dtype, "log", a) ||
            !expect_near(&h->result[3][k], sin(x), dtype, "sin", a) ||
            !expect_near(&h->result[4][k], tanh(x), dtype, "tanh", a) ||
            !expect(&h->result[5][k], floor(x), dtype, "floor", a, NULL))
            return;
    }
}

static void functions(void)
{
    for_both(functions_of);
}

/* With float32 the result is float32, and with a literal of C's, too. */
static void mixed_of(half_data *h, kiln_dtype dtype)
{
    values v = VALUES_INIT;
    dice d = {case_seed()};
    fill_pairs(h->x, h->y, dtype);
    for (int k = 0; k < ALL; ++k)
        h->single[0][k] = (float)dice_between(&d, -4096, 4096) / 16;
    for (int k = 0; k < ALL; ++k)
        h->x[k] = (uint16_t)k;
    values_in(&v, dtype, h->x);
    values_in(&v, KILN_FLOAT32, h->single[0]);
    for (int j = 1; j < 4; ++j)
        values_out(&v, KILN_FLOAT32, h->single[j]);
    if (!values_run(&v, "T x, float32 y", "float32 sum, float32 product, float32 halved",
                    "sum = x + y; product = x * y; halved = x * 0.5f", ALL))
        return;
    for (int k = 0; k < ALL; ++k) {
        float x = (float)value_of(&h->x[k], dtype), y = h->single[0][k];
        const float wanted[] = {x + y, x * y, x * 0.5f};
        for (int j = 0; j < 3; ++j)
            if (!trouble_unless(elements_agree(&h->single[1 + j][k], &wanted[j], KILN_FLOAT32, 0),
                                "%s %s with float32 %g: %g, not %g", kiln_dtype_name(dtype),
                                element_text(&h->x[k], dtype), (double)y, (double)h->single[1 + j][k],
                                (double)wanted[j]))
                return;
    }
}

static void mixed(void)
{
    for_both(mixed_of);
}

const test_case half_cases[] = {
    {"arithmetic", arithmetic, 0},
    {"comparisons", comparisons, 0},
    {"functions", functions, 0},
    {"mixed_with_float32", mixed, 0},
    {NULL, NULL, 0},
};
