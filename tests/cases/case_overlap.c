/* Outputs that share memory with inputs: the result is that of inputs copied first. Outputs whose elements
 * share memory are refused. */
#include "cases.h"

#include <stdio.h>

static void doubled_plus(const element *e)
{
    set_out(e, 0, in_number(e, 0).re * 2 + 1);
}

/* z in the buffer of x. */
static void in_buffer(const char *shape_x, const char *x, const char *shape_z, const char *z)
{
    stage *s = STAGE("float32 x", "float32 z", "z = x * 2 + 1");
    stage_in(s, KILN_FLOAT32, shape_x, x, FILL_SMALL);
    stage_out_shared(s, 0, KILN_FLOAT32, shape_z, z);
    stage_check(s, doubled_plus, NULL);
    stage_free(s);
}

/* x in the buffer of z, where z is the larger one. */
static void from_buffer(const char *shape_z, const char *z, const char *shape_x, const char *x)
{
    stage *s = STAGE("float32 x", "float32 z", "z = x * 2 + 1");
    stage_out(s, KILN_FLOAT32, shape_z, z);
    stage_in_shared(s, 0, KILN_FLOAT32, shape_x, x);
    stage_check(s, doubled_plus, NULL);
    stage_free(s);
}

static void in_place(void)
{
    in_buffer("1003", "C", "1003", "C");
    in_buffer("9,31", "F", "9,31", "F");
    in_buffer("100", "/0", "100", "/0");
    in_buffer("100", "-0", "100", "-0");
}

static void at_offset(void)
{
    for (int shift = -20; shift <= 20; shift += 3) {
        char at[16];
        snprintf(at, sizeof at, "@%d", shift);
        in_buffer("5000", "C", "5000", at);
    }
    in_buffer("50000", "C", "50000", "@1");
    in_buffer("50000", "C", "50000", "@-1");
}

static void reversed(void)
{
    in_buffer("1000", "C", "1000", "-0 @999");
    in_buffer("1000", "C", "1000", "-0 @997");
    in_buffer("1000", "-0", "1000", "@-999");
    in_buffer("31,33", "C", "31,33", "-* @1022");
    in_buffer("31,33", "C", "31,33", "-1 @32");
}

static void transposed(void)
{
    in_buffer("33,33", "C", "33,33", "F");
    in_buffer("100,100", "F", "100,100", "C");
    in_buffer("9,7,9", "C", "9,7,9", "P2,1,0");
    in_buffer("64,32", "C", "64,32", "F");
}

static void stepped(void)
{
    in_buffer("1000", "/0", "1000", "/0 @1"); /* interleaved: no byte in common */
    in_buffer("1000", "/0", "1000", "@0");
    in_buffer("500", "/0x4", "500", "/0x3");
    in_buffer("500", "/0x3 -0", "500", "/0x2 @-1400");
}

static void broadcast_from_itself(void)
{
    from_buffer("40,33", "C", "1,33", "@0");
    from_buffer("40,33", "C", "1,33", "@660");
    from_buffer("40,33", "C", "", "@1319");
    from_buffer("40,33", "C", "", "@0");
    from_buffer("40,33", "F", "40,1", "@40");
    from_buffer("1000", "C", "1", "@500");
    from_buffer("40,33", "C", "40,33", "=0 @33");
}

static void sum_expected(const element *e)
{
    set_out(e, 0, in_number(e, 0).re + in_number(e, 1).re);
}

/* Three views of one buffer, one of which fits exactly. */
static void two_inputs(void)
{
    static const char *const places[][3] = {
        {"@0", "@0", "@1"}, {"@1", "@0", "@1"}, {"@-1", "@1", "@0"}, {"-0 @999", "@0", "@0"}};
    for (size_t p = 0; p < sizeof places / sizeof places[0]; ++p) {
        stage *s = STAGE("float32 x, float32 y", "float32 z", "z = x + y");
        stage_out(s, KILN_FLOAT32, "1000", "C");
        stage_in_shared(s, 0, KILN_FLOAT32, "1000", places[p][0]);
        stage_in_shared(s, 0, KILN_FLOAT32, "1000", places[p][1]);
        stage_check(s, sum_expected, NULL);
        stage_free(s);
    }
}

static void other_widths(void)
{
    static const kiln_dtype dtypes[] = {KILN_UINT8, KILN_INT16, KILN_INT32, KILN_INT64};
    for (int x = 0; x < 4; ++x)
        for (int z = 0; z <= x; ++z) {
            stage *s = STAGE("T x", "U z", "z = x * 2 + 1");
            stage_in(s, dtypes[x], "1000", "+40", FILL_POSITIVE);
            stage_out_shared(s, 0, dtypes[z], "1000", "@0");
            stage_check(s, doubled_plus, NULL);
            stage_free(s);
        }
}

static void conditional(const element *e)
{
    if (IN(float, 0) > 0)
        OUT(float, 0) = IN(float, 0) + 1;
}

/* Elements that are not assigned keep what was in the output before. */
static void conditional_store(void)
{
    static const char *const places[] = {"@0", "@1", "@-3", "-0 @999"};
    for (int p = 0; p < 4; ++p) {
        stage *s = STAGE("float32 x", "float32 z", "if (x > 0) z = x + 1");
        stage_in(s, KILN_FLOAT32, "1000", "C", FILL_SMALL);
        stage_out_shared(s, 0, KILN_FLOAT32, "1000", places[p]);
        stage_check(s, conditional, NULL);
        stage_free(s);
    }
}

static void counted(const element *e)
{
    OUT(float, 0) = IN(float, 0) + 1;
    OUT(float, 1) = IN(float, 0) - 1;
}

static void two_outputs(void)
{
    stage *s = STAGE("float32 x", "float32 z, float32 w", "z = x + 1; w = x - 1");
    stage_in(s, KILN_FLOAT32, "1000", "/0", FILL_SMALL);
    stage_out_shared(s, 0, KILN_FLOAT32, "1000", "/0");
    stage_out_shared(s, 0, KILN_FLOAT32, "1000", "/0 @1");
    stage_check(s, counted, NULL);
    stage_free(s);
}

/* One kernel, the same layout and alignment each time: what is remembered of a call that needed no copies
 * must not spare those that do, nor the other way round. */
static void remembered(void)
{
    static const char *const places[] = {"", "@16", "@0", "", "@-16", "@32", "@0", "@-32", ""};
    kiln_kernel *kernel = NULL;
    succeeded(
        kiln_elementwise_create(&kernel, "float32 x", "float32 z", "z = x * 2 + 1", "overlapping", NULL),
        "create");
    for (size_t p = 0; p < sizeof places / sizeof places[0] && !in_trouble(); ++p) {
        stage *s = stage_over(kernel, case_seed() + p);
        stage_in(s, KILN_FLOAT32, "3000", "C", FILL_SMALL);
        if (places[p][0])
            stage_out_shared(s, 0, KILN_FLOAT32, "3000", places[p]);
        else
            stage_out(s, KILN_FLOAT32, "3000", "C");
        stage_check(s, doubled_plus, NULL);
        stage_free(s);
    }
    kiln_kernel_free(kernel);
}

static void three_weighed(const element *e)
{
    set_out(e, 0, in_number(e, 0).re + in_number(e, 1).re * 16 + in_number(e, 2).re * 256);
}

/* Inputs that are views of one array: these calls differ only in the distances between the views. */
static void one_array(kiln_kernel *kernel, const char *second, const char *third, const char *z)
{
    stage *s = stage_over(kernel, 7);
    stage_in(s, KILN_FLOAT32, "39,64", "/0 +1024", FILL_SMALL);
    stage_fill_around(s, 0, FILL_SMALL);
    stage_in_shared(s, 0, KILN_FLOAT32, "39,64", second);
    stage_in_shared(s, 0, KILN_FLOAT32, "39,64", third);
    stage_out(s, KILN_FLOAT32, "39,64", z);
    stage_check(s, three_weighed, NULL);
    stage_free(s);
}

static void inputs_at_offsets(void)
{
    kiln_kernel *kernel = NULL;
    if (!succeeded(kiln_elementwise_create(&kernel, "T a, T b, T c", "T z", "z = a + b * (T)16 + c * (T)256",
                                           "case_kernel", NULL),
                   "kiln_elementwise_create"))
        return;
    for (int twice = 0; twice < 2; ++twice) {
        one_array(kernel, "/0 @-128", "/0 @-256", "C");
        one_array(kernel, "/0 @-256", "/0 @-128", "C");
        one_array(kernel, "/0 @-128", "/0 @-384", "C");
        one_array(kernel, "/0 @-1024", "/0 @-128", "C");
        one_array(kernel, "/0 @-1", "/0 @-129", "C");
        one_array(kernel, "/0 @1", "/0 @-1", "C");
        one_array(kernel, "/0 @-16", "/0 @-32", "C");
    }
    kiln_kernel_free(kernel);
}

static void transposed_pair(const element *e)
{
    double x = in_number(e, 0).re, y = in_number(e, 1).re, c = in_number(e, 2).re;
    set_out(e, 0, x * c - y);
    set_out(e, 1, x + y * c);
}

/* Results in each other's gaps; in the other order, and with a gap of their own, they are no pairs. */
static void interleaved_results(void)
{
    static const char *const second[] = {"/1 @1", "/1 @-1", "/1 @3"};
    kiln_kernel *kernel = NULL;
    if (!succeeded(kiln_elementwise_create(&kernel, "T x, T y, T c", "T u, T v",
                                           "u = x * c - y; v = x + y * c", "case_kernel", NULL),
                   "kiln_elementwise_create"))
        return;
    for (int in = 0; in < 3; ++in)
        for (int out = 0; out < 2; ++out) {
            stage *s = stage_over(kernel, 7);
            stage_in(s, KILN_FLOAT32, "7,32", "/1", FILL_SMALL);
            stage_fill_around(s, 0, FILL_SMALL);
            stage_in_shared(s, 0, KILN_FLOAT32, "7,32", second[in]);
            stage_in(s, KILN_FLOAT32, "32", "C", FILL_SMALL);
            stage_out(s, KILN_FLOAT32, "7,32", "/1");
            stage_out_shared(s, 3, KILN_FLOAT32, "7,32", second[out]);
            stage_check(s, transposed_pair, NULL);
            stage_free(s);
        }
    kiln_kernel_free(kernel);
}

static void stride_zero_outputs(void)
{
    stage *s = STAGE("float32 x", "float32 z", "z = x * 2 + 1");
    stage_in(s, KILN_FLOAT32, "9,31", "C", FILL_SMALL);
    stage_out(s, KILN_FLOAT32, "9,31", "=1");
    stage_refuse(s, KILN_ERROR_INVALID, "output 'z'|stride 0|axis 1|31");
    stage_free(s);
}

const test_case overlap_cases[] = {
    {"in_place", in_place, 0},
    {"shifted", at_offset, 0},
    {"reversed", reversed, 0},
    {"transposed", transposed, 0},
    {"stepped", stepped, 0},
    {"broadcast_from_itself", broadcast_from_itself, 0},
    {"two_inputs", two_inputs, 0},
    {"other_widths", other_widths, 0},
    {"conditional_store", conditional_store, 0},
    {"two_outputs", two_outputs, 0},
    {"remembered", remembered, 0},
    {"shifted_inputs", inputs_at_offsets, 0},
    {"woven_results", interleaved_results, 0},
    {"stride_zero_outputs", stride_zero_outputs, 0},
    {NULL, NULL, 0},
};
