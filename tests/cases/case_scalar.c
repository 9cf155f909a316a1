/* Scalars by value: weak and typed, of every dtype, promoted, refused; structs. */
#include "cases.h"

#include <math.h>
#include <string.h>

static void scaled(const element *e)
{
    set_out(e, 0, in_number(e, 0).re * in_number(e, 1).re + in_number(e, 2).re);
}

/* Weak scalars take the dtype that the arrays settle. */
static void weak(void)
{
    for (int d = KILN_INT8; d <= KILN_FLOAT64; ++d) {
        if (!is_run_here((size_t)d, 4))
            continue;
        stage *s = STAGE("T x, T y, T w", "T z", "z = x * y + w");
        stage_in(s, (kiln_dtype)d, "1003", "C", FILL_SMALL);
        stage_real(s, kiln_arg_int(3), (kiln_dtype)d, 3);
        stage_real(s, dtype_is_float((kiln_dtype)d) ? kiln_arg_float(0.5) : kiln_arg_bool(true),
                   (kiln_dtype)d, dtype_is_float((kiln_dtype)d) ? 0.5 : 1);
        stage_out_fresh(s, (kiln_dtype)d);
        stage_check(s, scaled, NULL);
        stage_free(s);
    }
}

static void typed(void)
{
    float three = 3;
    int16_t two = 2;
    stage *s = STAGE("T x, T y, T w", "T z", "z = x * y + w");
    stage_in(s, KILN_FLOAT32, "9,31", "F", FILL_SMALL);
    stage_scalar(s, kiln_arg_typed(KILN_FLOAT32, &three), KILN_FLOAT32, &three);
    stage_real(s, kiln_arg_typed(KILN_INT16, &two), KILN_FLOAT32, 2);
    stage_out_fresh(s, KILN_FLOAT32);
    stage_check(s, scaled, NULL);
    stage_free(s);
}

/* Where no array settles the type, scalars promote as NumPy has it, and the result has no axes. */
static void scalars_alone(void)
{
    int16_t three = 3;
    float half = 0.5f;
    static const kiln_dtype expected[] = {KILN_FLOAT32, KILN_INT64, KILN_FLOAT64, KILN_INT16};
    for (int c = 0; c < 4; ++c) {
        kiln_dtype d = expected[c];
        stage *s = STAGE("T x, T y, T w", "T z", "z = x * y + w");
        kiln_arg first = c == 1 || c == 2 ? kiln_arg_int(3) : kiln_arg_typed(KILN_INT16, &three);
        kiln_arg second = c == 0   ? kiln_arg_typed(KILN_FLOAT32, &half)
                          : c == 2 ? kiln_arg_float(0.5)
                                   : kiln_arg_int(7);
        stage_real(s, first, d, 3);
        stage_real(s, second, d, c == 0 || c == 2 ? 0.5 : 7);
        stage_real(s, kiln_arg_int(2), d, 2);
        stage_out_fresh(s, d);
        stage_check(s, scaled, NULL);
        stage_free(s);
    }
}

static void concrete(const element *e)
{
    OUT(float, 0) = IN(float, 0) * (float)IN(double, 1) + (float)IN(int32_t, 2) + (float)IN(uint8_t, 3);
}

static void concrete_parameters(void)
{
    stage *s =
        STAGE("float32 x, float64 s, int32 k, uint8 small", "float32 z", "z = x * (float)s + k + small");
    stage_in(s, KILN_FLOAT32, "1003", "C", FILL_SMALL);
    stage_real(s, kiln_arg_int(2), KILN_FLOAT64, 2);
    stage_real(s, kiln_arg_float(-7.0), KILN_INT32, -7);
    stage_real(s, kiln_arg_uint(255), KILN_UINT8, 255);
    stage_out(s, KILN_FLOAT32, "1003", "C");
    stage_check(s, concrete, NULL);
    stage_free(s);
}

static void every_dtype_expected(const element *e)
{
    memcpy(e->out[0], e->in[0], kiln_dtype_size(e->in_dtype[0]));
}

static void every_dtype(void)
{
    for (int d = KILN_BOOL; kiln_dtype_size((kiln_dtype)d) > 0; ++d) {
        if (!is_run_here(100 + (size_t)d, 4))
            continue;
        unsigned char value[16] = {0};
        dice roll = {case_seed()};
        stage *s = STAGE("T x", "T z", "z = x");
        element_fill(value, (kiln_dtype)d, FILL_POSITIVE, 0, &roll);
        stage_scalar(s, kiln_arg_typed((kiln_dtype)d, value), (kiln_dtype)d, value);
        stage_out(s, (kiln_dtype)d, "70", "/0");
        stage_check(s, every_dtype_expected, NULL);
        stage_free(s);
    }
}

static void complex_expected(const element *e)
{
    number x = in_number(e, 0), y = in_number(e, 1);
    number_store(e->out[0], e->out_dtype[0], (number){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re});
}

static void complex_scalars(void)
{
    float pair[2] = {2, -1};
    stage *s = STAGE("T x, T y", "T z", "z = x * y");
    stage_in(s, KILN_COMPLEX64, "301", "C", FILL_SMALL);
    stage_scalar(s, kiln_arg_complex(2, -1), KILN_COMPLEX64, pair);
    stage_out_fresh(s, KILN_COMPLEX64);
    stage_check(s, complex_expected, NULL);
    stage_free(s);
}

static void refuse(const char *in, kiln_dtype x, kiln_arg arg, kiln_status status, const char *words)
{
    stage *s = STAGE(in, "T z", "z = x + y");
    stage_in(s, x, "10", "C", FILL_SMALL);
    stage_real(s, arg, KILN_FLOAT64, 0);
    stage_out_fresh(s, x);
    stage_refuse(s, status, words);
    stage_free(s);
}

/* A value that the settled dtype cannot hold is an error, as in NumPy 2. */
static void values_that_do_not_fit(void)
{
    double half = 0.5;
    int64_t wide = 7;
    refuse("T x, T y", KILN_INT8, kiln_arg_int(300), KILN_ERROR_TYPE, "'y'|300|int8");
    refuse("T x, T y", KILN_UINT16, kiln_arg_int(-1), KILN_ERROR_TYPE, "'y'|-1|uint16");
    refuse("T x, T y", KILN_INT32, kiln_arg_float(0.5), KILN_ERROR_TYPE, "'y'|0.5|int32");
    refuse("T x, T y", KILN_FLOAT32, kiln_arg_complex(1, 2), KILN_ERROR_TYPE, "'y'|float32");
    refuse("T x, T y", KILN_FLOAT32, kiln_arg_typed(KILN_FLOAT64, &half), KILN_ERROR_TYPE,
           "'y'|float64|float32");
    refuse("T x, int32 y", KILN_FLOAT32, kiln_arg_typed(KILN_INT64, &wide), KILN_ERROR_TYPE,
           "'y'|int64|int32");
    refuse("T x, bool y", KILN_FLOAT32, kiln_arg_int(2), KILN_ERROR_TYPE, "'y'|2|bool");
}

/* An array without axes is strong: it binds the placeholder as any array does. */
static void array_without_axes_is_strong(void)
{
    stage *s = STAGE("T x, T y", "T z", "z = x + y");
    stage_in(s, KILN_FLOAT32, "10", "C", FILL_SMALL);
    stage_in(s, KILN_FLOAT64, "", "C", FILL_SMALL);
    stage_out_fresh(s, KILN_FLOAT32);
    stage_refuse(s, KILN_ERROR_TYPE, "type T|float32|'x'|float64|'y'");
    stage_free(s);
}

static void swept(const element *e)
{
    OUT(float, 0) = IN(float, 0) + IN(float, 1);
}

/* Values are no part of what is compiled or remembered. */
static void many_values(void)
{
    kiln_call_info info = KILN_CALL_INFO_INIT;
    kiln_kernel *kernel = NULL;
    succeeded(
        kiln_elementwise_create(&kernel, "float32 x, float32 y", "float32 z", "z = x + y", "sweep", NULL),
        "create");
    for (int v = 0; v < 50 && !in_trouble(); ++v) {
        stage *s = stage_over(kernel, case_seed());
        stage_in(s, KILN_FLOAT32, "1000", "C", FILL_SMALL);
        stage_real(s, kiln_arg_float(v * 0.25), KILN_FLOAT32, v * 0.25);
        stage_out(s, KILN_FLOAT32, "1000", "C");
        stage_check(s, swept, NULL);
        KILN_IGNORE(kiln_kernel_last_call(&info));
        trouble_unless(v == 0 || info.origin == KILN_ORIGIN_MEMORY,
                       "value %d: origin %d, memory was expected", v, (int)info.origin);
        stage_free(s);
    }
    kiln_kernel_free(kernel);
}

typedef struct plan_of_axes {
    float origin[2];
    double scale;
    unsigned char kind;
} plan_of_axes;

static void struct_expected(const element *e)
{
    const plan_of_axes *p = e->in[1];
    OUT(float, 0) =
        (IN(float, 0) - p->origin[0]) * (float)p->scale + (float)(p->kind * IN(int32_t, 2)) + p->origin[1];
}

static void structs(void)
{
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    options.preamble = "struct plane { float origin[2]; double scale; unsigned char kind; };";
    static const char *const layouts[] = {"C", "/0", "+1"};
    plan_of_axes p = {{0.5f, 1.5f}, 2, 200};
    for (int l = 0; l < 3; ++l) {
        stage *s = stage_create("float32 x, plane p, int32 k", "float32 z",
                                "z = (x - p.origin[0]) * (float)p.scale + p.kind * k + p.origin[1]", &options,
                                case_seed());
        stage_in(s, KILN_FLOAT32, "1003", layouts[l], FILL_SMALL);
        stage_struct(s, &p, sizeof p);
        stage_real(s, kiln_arg_int(5), KILN_INT32, 5);
        stage_out(s, KILN_FLOAT32, "1003", "C");
        stage_check(s, struct_expected, NULL);
        stage_free(s);
    }
}

/* A struct of another size than the preamble's cannot be right. */
static void struct_of_another_size(void)
{
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    plan_of_axes p = {{0.5f, 1.5f}, 2, 200};
    options.preamble = "struct plane { float origin[2]; double scale; unsigned char kind; };";
    stage *s = stage_create("float32 x, plane p", "float32 z", "z = x + p.kind", &options, case_seed());
    stage_in(s, KILN_FLOAT32, "10", "C", FILL_SMALL);
    stage_struct(s, &p, sizeof p - 4);
    stage_out(s, KILN_FLOAT32, "10", "C");
    stage_refuse(s, KILN_ERROR_COMPILE, "'p' was given with 20 bytes");
    stage_free(s);
}

static void half_of(const element *e)
{
    OUT(uint64_t, 0) = IN(uint64_t, 0) / 2;
}

static void int_half_of(const element *e)
{
    OUT(int64_t, 0) = IN(int64_t, 0) / 2;
}

/* A weak integer alone is int64, beyond its range uint64: the same kernel, one after the other. */
static void beyond_int64(void)
{
    kiln_kernel *kernel = NULL;
    static const uint64_t values[] = {5, UINT64_C(1) << 63, 7, UINT64_MAX};
    succeeded(kiln_elementwise_create(&kernel, "T x", "T z", "z = x / 2", "halves", NULL), "create");
    for (int v = 0; v < 4 && !in_trouble(); ++v) {
        bool wide = values[v] > INT64_MAX;
        stage *s = stage_over(kernel, case_seed());
        stage_scalar(s, kiln_arg_uint(values[v]), wide ? KILN_UINT64 : KILN_INT64, &values[v]);
        stage_out_fresh(s, wide ? KILN_UINT64 : KILN_INT64);
        stage_check(s, wide ? half_of : int_half_of, NULL);
        stage_free(s);
    }
    kiln_kernel_free(kernel);
}

static void non_const_expected(const element *e)
{
    OUT(float, 0) = IN(float, 0) + (float)IN(int32_t, 1) * 2;
}

/* Each element starts from the value that was given. */
static void non_const_scalar(void)
{
    stage *s = STAGE("float32 x, _non_const int32 k", "float32 z", "k *= 2; z = x + k");
    stage_in(s, KILN_FLOAT32, "1003", "C", FILL_SMALL);
    stage_real(s, kiln_arg_int(5), KILN_INT32, 5);
    stage_out(s, KILN_FLOAT32, "1003", "C");
    stage_check(s, non_const_expected, NULL);
    stage_free(s);
}

/* Infinities and NaN as numbers of float64, beside which functions have overloads for doubles alone; ends of
 * dtypes. */
static void numbers_of_expressions(void)
{
    static const char text[] =
        "a = x // inf\nb = x % -inf\nc = x % nan + copysign(x, -inf)\nd = arctan2(x, inf)\n"
        "e = clip(astype(x, uint8), -5, 300)\nf = where(x, sign(x * 1j), 0)\n"
        "g = astype(x, float32) * 1e300\na, b, c, d, e, f, g";
    const float expected[][2] = {{0, 0},   {0, -INFINITY}, {NAN, NAN},     {0, 0},
                                 {0, 200}, {0, 0},         {NAN, INFINITY}};
    const double given[] = {0, 200};
    const int64_t shape[] = {2};
    kiln_kernel *f = NULL;
    kiln_array *x = NULL, *out[7] = {NULL};
    succeeded(kiln_array_from_host(&x, given, KILN_FLOAT64, 1, shape, stage_device), "x");
    const kiln_arg arg = kiln_arg_array(x);
    if (succeeded(kiln_expression_create(&f, "x", text, NULL), "kiln_expression_create"))
        succeeded(kiln_kernel_call(f, out, 7, &arg, 1, NULL), "a call");
    for (int j = 0; j < 7 && !in_trouble(); ++j) {
        unsigned char bytes[32];
        size_t size = kiln_dtype_size(kiln_array_dtype(out[j]));
        if (!succeeded(kiln_array_to_host(out[j], bytes, 2 * size), "a result"))
            break;
        for (size_t k = 0; k < 2; ++k) {
            number n = number_load(bytes + k * size, kiln_array_dtype(out[j]));
            double wanted = (double)expected[j][k];
            trouble_unless(n.re == wanted || (isnan(n.re) && isnan(wanted)), "result %d of %g: %g, not %g", j,
                           given[k], n.re, wanted);
            trouble_unless(j != 5 || n.im == (k == 1), "sign of %gi: %g%+gi", given[k], n.re, n.im);
        }
    }
    for (int j = 0; j < 7; ++j)
        kiln_array_free(out[j]);
    kiln_array_free(x);
    kiln_kernel_free(f);
}

const test_case scalar_cases[] = {
    {"numbers_of_expressions", numbers_of_expressions, 0},
    {"weak", weak, 0},
    {"typed", typed, 0},
    {"scalars_alone", scalars_alone, 0},
    {"concrete_parameters", concrete_parameters, 0},
    {"every_dtype", every_dtype, 0},
    {"complex_scalars", complex_scalars, 0},
    {"values_that_do_not_fit", values_that_do_not_fit, 0},
    {"array_without_axes_is_strong", array_without_axes_is_strong, 0},
    {"many_values", many_values, 0},
    {"structs", structs, 0},
    {"struct_of_another_size", struct_of_another_size, 0},
    {"beyond_int64", beyond_int64, 0},
    {"non_const_scalar", non_const_scalar, 0},
    {NULL, NULL, 0},
};
