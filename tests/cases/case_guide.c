/* The elementwise kernels that CuPy's user guide shows, in C, with the same results. */
#include "cases.h"

#include <math.h>

static void squared_diff(const element *e)
{
    set_out(e, 0, (in_number(e, 0).re - in_number(e, 1).re) * (in_number(e, 0).re - in_number(e, 1).re));
}

/* Arrays that broadcast, then a scalar, then an output of one's own. */
static void the_first_kernel(void)
{
    stage *s = STAGE("float32 x, float32 y", "float32 z", "z = (x - y) * (x - y)");
    stage_in(s, KILN_FLOAT32, "2,5", "C", FILL_COUNT);
    stage_in(s, KILN_FLOAT32, "5", "C", FILL_COUNT);
    stage_out_fresh(s, KILN_FLOAT32);
    stage_check(s, squared_diff, NULL);
    stage_free(s);
    s = STAGE("float32 x, float32 y", "float32 z", "z = (x - y) * (x - y)");
    stage_in(s, KILN_FLOAT32, "2,5", "C", FILL_COUNT);
    stage_real(s, kiln_arg_int(5), KILN_FLOAT32, 5);
    stage_out(s, KILN_FLOAT32, "2,5", "C");
    stage_check(s, squared_diff, NULL);
    stage_free(s);
}

static void type_generic(void)
{
    static const kiln_dtype dtypes[] = {KILN_FLOAT32, KILN_FLOAT64, KILN_INT64, KILN_FLOAT16};
    for (int d = 0; d < 4; ++d) {
        stage *s = STAGE("T x, T y", "T z", "z = (x - y) * (x - y)");
        stage_in(s, dtypes[d], "2,5", "C", FILL_COUNT);
        stage_in(s, dtypes[d], "5", "C", FILL_COUNT);
        stage_out_fresh(s, dtypes[d]);
        stage_check(s, squared_diff, NULL);
        stage_free(s);
    }
}

static void type_of_the_body(void)
{
    stage *s = STAGE("T x, T y", "T z", "T diff = x - y;\nz = diff * diff;");
    stage_in(s, KILN_FLOAT64, "2,5", "C", FILL_COUNT);
    stage_in(s, KILN_FLOAT64, "5", "C", FILL_COUNT);
    stage_out_fresh(s, KILN_FLOAT64);
    stage_check(s, squared_diff, NULL);
    stage_free(s);
}

/* "Super generic": the output's type is its own, so that the output has to be given. */
static void several_placeholders(void)
{
    stage *s = STAGE("X x, Y y", "Z z", "z = (x - y) * (x - y)");
    stage_in(s, KILN_INT32, "2,5", "C", FILL_COUNT);
    stage_in(s, KILN_FLOAT32, "5", "C", FILL_COUNT);
    stage_out(s, KILN_FLOAT64, "2,5", "C");
    stage_check(s, squared_diff, NULL);
    stage_free(s);
    s = STAGE("X x, Y y", "Z z", "z = (x - y) * (x - y)");
    stage_in(s, KILN_INT32, "2,5", "C", FILL_COUNT);
    stage_in(s, KILN_FLOAT32, "5", "C", FILL_COUNT);
    stage_out_fresh(s, KILN_FLOAT64);
    stage_refuse(s, KILN_ERROR_TYPE, "output 'z'|type Z|pass an output array");
    stage_free(s);
}

static void add_reverse(const element *e)
{
    OUT(float, 0) = IN(float, 0) + *(const float *)raw_in(e, 1, e->n - e->i - 1);
}

static void raw_argument(void)
{
    stage *s = STAGE("T x, raw T y", "T z", "z = x + y[_ind.size() - i - 1]");
    stage_in(s, KILN_FLOAT32, "5", "C", FILL_COUNT);
    stage_raw(s, false, KILN_FLOAT32, "5", "C", FILL_COUNT);
    stage_out_fresh(s, KILN_FLOAT32);
    stage_check(s, add_reverse, NULL);
    stage_free(s);
}

/* Several results of one pass. */
static void polar(const element *e)
{
    OUT(double, 0) = sqrt(IN(double, 0) * IN(double, 0) + IN(double, 1) * IN(double, 1));
    OUT(double, 1) = atan2(IN(double, 1), IN(double, 0));
}

static void two_outputs(void)
{
    stage *s = STAGE("T x, T y", "T radius, T angle", "radius = sqrt(x * x + y * y); angle = atan2(y, x)");
    stage_in(s, KILN_FLOAT64, "100,7", "C", FILL_POSITIVE);
    stage_in(s, KILN_FLOAT64, "100,7", "F", FILL_POSITIVE);
    stage_out_fresh(s, KILN_FLOAT64);
    stage_out_fresh(s, KILN_FLOAT64);
    stage_tolerate(s, 1e-15);
    stage_check(s, polar, NULL);
    stage_free(s);
}

static void escape_time(const element *e)
{
    double re = IN(double, 0), im = IN(double, 1), x = 0, y = 0;
    int32_t steps = 0;
    while (steps < IN(int32_t, 2) && x * x + y * y <= 4) {
        double next = x * x - y * y + re;
        y = 2 * x * y + im;
        x = next;
        ++steps;
    }
    OUT(int32_t, 0) = steps;
}

/* A loop of its own in each element; without contraction the counts are the same everywhere. */
static void loops(void)
{
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    options.flags = KILN_KERNEL_NO_FMA;
    stage *s = stage_create("float64 re, float64 im, int32 limit", "int32 steps",
                            "double x = 0, y = 0;\nint k = 0;\nwhile (k < limit && x * x + y * y <= 4) {\n   "
                            " double next = x * x - y * y + re;\n"
                            "    y = 2 * x * y + im;\n    x = next;\n    ++k;\n}\nsteps = k;",
                            &options, case_seed());
    stage_in(s, KILN_FLOAT64, "1,60", "C", FILL_SMALL);
    stage_in(s, KILN_FLOAT64, "50,1", "C", FILL_SMALL);
    stage_real(s, kiln_arg_int(200), KILN_INT32, 200);
    stage_out_fresh(s, KILN_INT32);
    stage_check(s, escape_time, NULL);
    stage_free(s);
}

const test_case guide_cases[] = {
    {"the_first_kernel", the_first_kernel, 0},
    {"type_generic", type_generic, 0},
    {"type_of_the_body", type_of_the_body, 0},
    {"several_placeholders", several_placeholders, 0},
    {"raw_argument", raw_argument, 0},
    {"two_outputs", two_outputs, 0},
    {"loops", loops, 0},
    {NULL, NULL, 0},
};
