/* Raw operands: whole arrays that the snippet indexes by itself, linearly or by several indices, whatever
 * their strides; `_ind`. */
#include "cases.h"

#include <stdlib.h>

static const char *const layouts[] = {"C", "F", "-*", "/1 -0", "P1,0 /0x3"};
enum { LAYOUTS = sizeof layouts / sizeof layouts[0] };

static void reversed(const element *e)
{
    OUT(float, 0) = IN(float, 0) + *(const float *)raw_in(e, 1, e->n - e->i - 1);
}

static void linear(void)
{
    for (int l = 0; l < LAYOUTS; ++l) {
        stage *s = STAGE("T x, raw T y", "T z", "z = x + y[_ind.size() - i - 1]");
        stage_in(s, KILN_FLOAT32, "9,31", l % 2 ? "C" : "F", FILL_SMALL);
        stage_raw(s, false, KILN_FLOAT32, "9,31", layouts[l], FILL_SMALL);
        stage_out(s, KILN_FLOAT32, "9,31", layouts[LAYOUTS - 1 - l]);
        stage_check(s, reversed, NULL);
        stage_free(s);
    }
}

static void gathered(const element *e)
{
    OUT(double, 0) = *(const double *)raw_in(e, 0, IN(int32_t, 1));
}

/* The raw array has a shape of its own, which takes no part in the broadcast. */
static void gather(void)
{
    for (int l = 0; l < LAYOUTS; ++l) {
        stage *s = STAGE("raw T table, int32 index", "T z", "z = table[index]");
        stage_raw(s, false, KILN_FLOAT64, "40,25", layouts[l], FILL_SMALL);
        stage_in(s, KILN_INT32, "1000", l % 2 ? "C" : "-0", FILL_COUNT);
        stage_out(s, KILN_FLOAT64, "1000", "C");
        stage_check(s, gathered, NULL);
        stage_free(s);
    }
}

static void transposed(const element *e)
{
    int64_t row = e->i % 37, column = e->i / 37;
    OUT(int16_t, 0) = *(const int16_t *)raw_in(e, 0, row * 23 + column);
    OUT(int16_t, 1) = *(const int16_t *)raw_in(e, 0, row * 23 + column);
}

static void several_indices(void)
{
    for (int l = 0; l < LAYOUTS; ++l) {
        stage *s = STAGE("raw int16 x", "int16 z, int16 w",
                         "const long long at[] = {i % 37, i / 37};\nz = x[at];\nw = x(i % 37, i / 37)");
        stage_raw(s, false, KILN_INT16, "37,23", layouts[l], FILL_SMALL);
        stage_out(s, KILN_INT16, "23,37", "C");
        stage_out(s, KILN_INT16, "23,37", "F");
        stage_check(s, transposed, NULL);
        stage_free(s);
    }
}

static void placed(const element *e)
{
    OUT(int64_t, 0) =
        e->index[0] * 10000 + e->index[1] * 100 + e->index[2] + *(const int64_t *)raw_in(e, 0, e->i);
    OUT(int64_t, 1) = e->n * 10 + 5;
}

static void multi_index(void)
{
    static const char *const cubes[] = {"C", "F", "P1,2,0 -1", "/2"};
    for (int l = 0; l < 4; ++l) {
        stage *s = STAGE("raw int64 x", "int64 z, int64 w",
                         "const auto at = _ind.get();\nz = at[0] * 10000 + at[1] * 100 + at[2] + x[at];\nw = "
                         "_ind.size() * 10 + _ind.shape()[1]");
        stage_raw(s, false, KILN_INT64, "7,5,9", cubes[l], FILL_SMALL);
        stage_out(s, KILN_INT64, "7,5,9", cubes[3 - l]);
        stage_out(s, KILN_INT64, "7,5,9", "C");
        stage_check(s, placed, NULL);
        stage_free(s);
    }
}

static void measured(const element *e)
{
    OUT(int64_t, 0) = 1000 * 7 + 5;
}

static void sizes_and_shapes(void)
{
    stage *s = STAGE(
        "raw float32 x", "int64 z",
        "z = x.size() * 0 + 1000 * x.shape()[0] + x.shape()[1] + (x.strides()[1] != 4) + (x.size() != 35)");
    stage_raw(s, false, KILN_FLOAT32, "7,5", "C", FILL_SMALL);
    stage_out(s, KILN_INT64, "10", "C");
    stage_check(s, measured, NULL);
    stage_free(s);
}

static void scattered(const element *e)
{
    *(float *)raw_out(e, 0, (e->i * 7) % e->n) = IN(float, 0) + 1;
}

static void raw_output(void)
{
    for (int l = 0; l < LAYOUTS; ++l) {
        stage *s = STAGE("float32 x", "raw float32 z", "z[(i * 7) % n] = x + 1");
        stage_in(s, KILN_FLOAT32, "9,31", l % 2 ? "C" : "F", FILL_SMALL);
        stage_raw(s, true, KILN_FLOAT32, "9,31", layouts[l], FILL_SMALL);
        stage_check(s, scattered, NULL);
        stage_free(s);
    }
}

static void doubled(const element *e)
{
    *(float *)raw_out(e, 0, 2 * e->i) = 2 * *(const float *)raw_in(e, 0, e->i);
}

static void all_raw(void)
{
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    options.size = 100;
    for (int l = 0; l < 3; ++l) {
        stage *s = STAGE("raw float32 x", "raw float32 z", "z[2 * i] = 2 * x[i]");
        stage_raw(s, false, KILN_FLOAT32, "10,10", layouts[l], FILL_SMALL);
        stage_raw(s, true, KILN_FLOAT32, "10,20", layouts[l], FILL_SMALL);
        stage_check(s, doubled, &options);
        stage_free(s);
    }
}

static void smoothed(const element *e)
{
    float left = e->i > 0 ? *(const float *)raw_in(e, 0, e->i - 1) : 0,
          right = e->i < e->n - 1 ? *(const float *)raw_in(e, 0, e->i + 1) : 0;
    OUT(float, 0) = left + 2 * *(const float *)raw_in(e, 0, e->i) + right;
}

static void stencil(void)
{
    stage *s = STAGE("raw T x", "T z",
                     "T left = i > 0 ? x[i - 1] : T(0), right = i < n - 1 ? x[i + 1] : T(0);\nz = left + 2 * "
                     "x[i] + right");
    stage_raw(s, false, KILN_FLOAT32, "5000", "C", FILL_SMALL);
    stage_out(s, KILN_FLOAT32, "5000", "+1");
    stage_check(s, smoothed, NULL);
    stage_free(s);
}

static void flags_counted(const element *e)
{
    OUT(int32_t, 0) = *(const unsigned char *)raw_in(e, 0, e->i) != 0;
    *(unsigned char *)raw_out(e, 1, e->n - 1 - e->i) = *(const unsigned char *)raw_in(e, 0, e->i) == 0;
}

/* Bytes other than 0 and 1 are true here too. */
static void raw_bool(void)
{
    stage *s = STAGE("raw bool x", "int32 z, raw bool w", "z = x[i] + 0; w[n - 1 - i] = !x[i]");
    stage_raw(s, false, KILN_BOOL, "1000", "/0", FILL_BYTES);
    stage_out(s, KILN_INT32, "1000", "C");
    stage_raw(s, true, KILN_BOOL, "1000", "C", FILL_SMALL);
    stage_check(s, flags_counted, NULL);
    stage_free(s);
}

static void same_value(const element *e)
{
    OUT(float, 0) = *(const float *)raw_in(e, 0, e->i);
}

/* The argument block has as many axes as each raw array. */
static void ranks(void)
{
    for (int ndim = 0; ndim <= 64; ndim = ndim < 10 ? ndim + 1 : ndim * 2) {
        int64_t shape[KILN_MAX_NDIM] = {0}, size = 1;
        layout l;
        if (ndim > KILN_MAX_NDIM)
            break;
        layout_plain(&l, ndim);
        for (int a = 0; a < ndim; ++a) {
            shape[a] = a < 8 ? 2 : 1;
            size *= shape[a];
            l.order[a] = ndim - 1 - a;
        }
        stage *s = STAGE("raw T x", "T z", "z = x[i]");
        int k = stage_place(s, false, KILN_FLOAT32, ndim, shape, &l, FILL_SMALL, -1);
        stage_make_raw(s, k);
        layout_plain(&l, 1);
        stage_place(s, true, KILN_FLOAT32, 1, &size, &l, FILL_SMALL, -1);
        stage_check(s, same_value, NULL);
        stage_free(s);
    }
}

/* The integers of a list may be of any type, and the list may be braces. */
static void integer_lists(void)
{
    static const char *const bodies[] = {
        "const ptrdiff_t at[] = {(ptrdiff_t)(i % 37), (ptrdiff_t)(i / 37)}; z = x[at]; w = x[{i % 37, i / "
        "37}]",
        "unsigned char at[2]; at[0] = i % 37; at[1] = i / 37; z = x[at]; w = x[{(short)at[0], (short)at[1]}]",
        "typedef decltype(x)::index_t index; const index at[decltype(x)::ndim] = {(index)(i % 37), (index)(i "
        "/ 37)};\n"
        "static_assert(sizeof at / sizeof at[0] == 2, \"\"); auto y = x; z = x[at]; w = y[at]",
        "const unsigned long long at[] = {(unsigned long long)(i % 37), (unsigned long long)(i / 37)};\n"
        "const ptrdiff_t *shape = x.shape(), *strides = x.strides(); z = x[at];\n"
        "w = *(const int16 *)((const char *)x.data() + at[0] * strides[0] + at[1] * strides[1]) * (shape[1] "
        "== 23)"};
    for (size_t b = 0; b < sizeof bodies / sizeof bodies[0]; ++b) {
        stage *s = STAGE("raw int16 x", "int16 z, int16 w", bodies[b]);
        stage_raw(s, false, KILN_INT16, "37,23", layouts[b % LAYOUTS], FILL_SMALL);
        stage_out(s, KILN_INT16, "23,37", "C");
        stage_out(s, KILN_INT16, "23,37", "F");
        stage_check(s, transposed, NULL);
        stage_free(s);
    }
}

static void place_listed(const element *e)
{
    OUT(int64_t, 0) = e->index[0] * 100 + e->index[2] + *(const int64_t *)raw_in(e, 0, e->i);
}

/* The index of the loop as the array of numbers that it is. */
static void index_as_array(void)
{
    static const char *const bodies[] = {
        "const ptrdiff_t *at = _ind.get(); z = at[0] * 100 + at[2] + x[_ind.get()]",
        "const ptrdiff_t (&at)[3] = _ind.get(); z = at[0] * 100 + at[_ind.ndim - 1] + x[at]",
        "long long k = 2; z = _ind.get()[0] * 100 + _ind.get()[k] + x(_ind.get()[0], _ind.get()[1], "
        "_ind.get()[2])"};
    for (size_t b = 0; b < sizeof bodies / sizeof bodies[0]; ++b) {
        stage *s = STAGE("raw int64 x", "int64 z", bodies[b]);
        stage_raw(s, false, KILN_INT64, "7,5,9", layouts[b], FILL_SMALL);
        stage_out(s, KILN_INT64, "7,5,9", "C");
        stage_check(s, place_listed, NULL);
        stage_free(s);
    }
}

/* As many numbers as axes, or the compiler says so. */
static void other_ranks(void)
{
    static const struct {
        const char *body, *shape;
    } wrong[] = {{"const int at[] = {0, 1, 2}; z = x[at]", "4,5"},
                 {"const int at[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}; z = x[at]", "4,5"},
                 {"const int at[] = {0}; z = x[at]", "4,5"},
                 {"z = x(i)", "4,5"},
                 {"z = x(i, 0, 0)", "4,5"},
                 {"z = x[{0, 1}]", "20"},
                 {"z = x[_ind.get()]", "4,5"},
                 {"z = x[_ind.get()]", "4,5,1,1"}};
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; ++k) {
        stage *s = STAGE("raw float32 x", "float32 z", wrong[k].body);
        stage_raw(s, false, KILN_FLOAT32, wrong[k].shape, "C", FILL_SMALL);
        stage_out(s, KILN_FLOAT32, "3,4,5", "C");
        stage_refuse(s, KILN_ERROR_COMPILE, "as many|axes");
        stage_free(s);
    }
}

static void sum_of_four(const element *e)
{
    OUT(double, 0) = IN(double, 0) + 3 * IN(double, 1);
}

/* An array without axes is its element, whatever the index; a scalar is a number. */
static void without_axes(void)
{
    stage *s = STAGE("T x, raw T y", "T z", "z = x + y[0] + y[i] + y");
    stage_in(s, KILN_FLOAT64, "9,31", "F", FILL_SMALL);
    stage_raw(s, false, KILN_FLOAT64, "", "C", FILL_SMALL);
    stage_out(s, KILN_FLOAT64, "9,31", "C");
    stage_check(s, sum_of_four, NULL);
    stage_free(s);
    static const kiln_dtype dtypes[] = {KILN_FLOAT64, KILN_INT32, KILN_BOOL};
    for (int d = 0; d < 3; ++d) {
        const double value = d == 2 ? 1 : 7;
        s = STAGE("float64 x, raw S y", "float64 z", "z = x + y * 3");
        stage_in(s, KILN_FLOAT64, "300", "C", FILL_SMALL);
        const unsigned char one = 1;
        const int32_t seven = 7;
        const void *bytes[] = {&value, &seven, &one};
        stage_real(s, kiln_arg_typed(dtypes[d], bytes[d]), KILN_FLOAT64, value);
        stage_out(s, KILN_FLOAT64, "300", "C");
        stage_check(s, sum_of_four, NULL);
        stage_free(s);
    }
}

static void counted_down(const element *e)
{
    OUT(float, 0) = IN(float, 0) + (float)(e->n * 2 + 9 - e->i);
}

/* `_ind` is there for the whole thread, and for each element. */
static void around_the_loop(void)
{
    static const char *const bodies[] = {"z = x + twice + axis - i", "z = x + 2 * _ind.size() + axis - i",
                                         "z = x + twice + axis - (_ind.get()[0] * axis + _ind.get()[1])"};
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    options.loop_prep = "const long long twice = 2 * _ind.size(), axis = _ind.shape()[1];";
    options.after_loop = "(void)(_ind.size() + twice);";
    for (int l = 0; l < 3; ++l) {
        stage *s = stage_create("float32 x", "float32 z", bodies[l], &options, case_seed());
        stage_in(s, KILN_FLOAT32, "31,9", layouts[l], FILL_SMALL);
        stage_out(s, KILN_FLOAT32, "31,9", l == 1 ? "F" : "C");
        stage_check(s, counted_down, NULL);
        stage_free(s);
    }
}

static void clipped(const element *e)
{
    int32_t n = IN(int32_t, 1), k = (int32_t)(e->i % 50) - 5;
    OUT(float, 0) = *(const float *)raw_in(e, 0, k < 0 ? 0 : k >= n ? n - 1 : k);
}

/* A parameter that is called n is meant by that name; `_ind` counts all the same. */
static void parameter_named_n(void)
{
    for (int l = 0; l < 2; ++l) {
        stage *s =
            STAGE("raw float32 x, int32 n", "float32 z",
                  l ? "int k = i % 50 - 5; z = x[k < 0 ? 0 : k >= n ? n - 1 : k] + (_ind.size() != 1000)"
                    : "int k = i % 50 - 5; z = x[k < 0 ? 0 : k >= n ? n - 1 : k]");
        stage_raw(s, false, KILN_FLOAT32, "40", "-0", FILL_SMALL);
        if (l)
            stage_real(s, kiln_arg_int(40), KILN_INT32, 40);
        else
            stage_in(s, KILN_INT32, "1000", "C", FILL_COUNT);
        stage_out(s, KILN_FLOAT32, "1000", "C");
        if (l)
            stage_check(s, clipped, NULL);
        stage_free(s);
    }
}

static void refusals(void)
{
    stage *s = STAGE("raw float32 x", "raw float32 z", "z[i] = x[i]");
    stage_raw(s, false, KILN_FLOAT32, "10", "C", FILL_SMALL);
    stage_raw(s, true, KILN_FLOAT32, "10", "C", FILL_SMALL);
    stage_refuse(s, KILN_ERROR_INVALID, "every array is raw|size");
    stage_free(s);
    s = STAGE("raw float32 x", "float32 z", "z = x[i]");
    stage_real(s, kiln_arg_float(1), KILN_FLOAT32, 1);
    stage_out(s, KILN_FLOAT32, "10", "C");
    stage_refuse(s, KILN_ERROR_TYPE, "'x' is raw|index it|an array was expected|scalar was given");
    stage_free(s);
    s = STAGE("float32 x", "raw float32 z", "z[i] = x");
    stage_in(s, KILN_FLOAT32, "10", "C", FILL_SMALL);
    stage_out_fresh(s, KILN_FLOAT32);
    stage_refuse(s, KILN_ERROR_INVALID,
                 "output 'z' is raw|nothing says its shape|pass an array|options.size");
    stage_free(s);
}

/* Outputs that nobody passes, of the shape that the options ask for: what the elements say of it as well. */
static void check_sized(const kiln_call_options *options, int ndim, const int64_t *shape, kiln_array *x)
{
    static float back[2][24];
    kiln_kernel *kernel = NULL;
    kiln_array *out[2] = {NULL};
    kiln_arg in = kiln_arg_array(x);
    size_t count = 1;
    for (int a = 0; a < ndim; ++a)
        count *= (size_t)shape[a];
    if (succeeded(kiln_elementwise_create(&kernel, "raw float32 x", "raw float32 z, float32 w",
                                          "z[n - 1 - i] = 2 * x[i] + z.size() + z.ndim; w = _ind.size()",
                                          "sized", NULL),
                  "create") &&
        succeeded(kiln_kernel_prepare(kernel, out, 2, &in, 1, options, NULL), "kiln_kernel_prepare") &&
        succeeded(kiln_kernel_call(kernel, out, 2, &in, 1, options), "kiln_kernel_call"))
        for (int j = 0; j < 2; ++j) {
            trouble_unless(kiln_array_ndim(out[j]) == ndim &&
                               !memcmp(kiln_array_shape(out[j]), shape, (size_t)ndim * sizeof *shape) &&
                               kiln_array_is_c_contiguous(out[j]),
                           "output %d has another shape", j);
            succeeded(kiln_array_to_host(out[j], back[j], count * sizeof **back), "kiln_array_to_host");
        }
    for (size_t i = 0; i < count && !in_trouble(); ++i)
        trouble_unless(back[0][count - 1 - i] == (float)(2 * i + count + (size_t)ndim) &&
                           back[1][i] == (float)count,
                       "element %zu: %g, %g", i, (double)back[0][count - 1 - i], (double)back[1][i]);
    kiln_array_free(out[0]);
    kiln_array_free(out[1]);
    kiln_kernel_free(kernel);
}

static void sizes_without_arrays(void)
{
    static const int64_t shapes[][3] = {{24}, {0}, {1}, {2, 3, 4}, {2, 0, 4}, {0, 0}, {3, 8}};
    static const int ndims[] = {1, 1, 1, 3, 3, 2, 2, 0};
    const int64_t size = 24;
    kiln_array *x = NULL;
    succeeded(kiln_array_arange(&x, 0, (double)size, 1, KILN_FLOAT32, stage_device), "kiln_array_arange");
    for (size_t k = 0; k < sizeof ndims / sizeof *ndims && !in_trouble(); ++k) {
        kiln_call_options options = KILN_CALL_OPTIONS_INIT;
        options.shape = shapes[ndims[k] ? k : 0];
        options.ndim = ndims[k];
        check_sized(&options, ndims[k], options.shape, x);
    }
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    options.size = size;
    check_sized(&options, 1, &size, x);
    kiln_array_free(x);
}

/* Scalars alone say no shape either. */
static void sizes_of_scalars(void)
{
    const int64_t shape[] = {2, 0};
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    kiln_kernel *kernel = NULL;
    kiln_array *z = NULL;
    kiln_arg in = kiln_arg_float(1);
    options.shape = shape;
    succeeded(kiln_elementwise_create(&kernel, "float32 x", "float32 z", "z = x + i", "counted", NULL),
              "create");
    for (options.ndim = 0; options.ndim < 3 && !in_trouble(); ++options.ndim) {
        z = NULL;
        succeeded(kiln_kernel_call(kernel, &z, 1, &in, 1, &options), "kiln_kernel_call");
        trouble_unless(kiln_array_ndim(z) == options.ndim && kiln_array_size(z) == (options.ndim == 0   ? 1
                                                                                    : options.ndim == 1 ? 2
                                                                                                        : 0),
                       "%d axes, %lld elements", kiln_array_ndim(z), (long long)kiln_array_size(z));
        kiln_array_free(z);
    }
    kiln_kernel_free(kernel);
}

static void refuse_sizes(const kiln_call_options *options, kiln_status status, const char *words)
{
    stage *s = STAGE("raw float32 x", "raw float32 z", "z[i] = x[i]");
    int n_in;
    kiln_array *z = NULL;
    stage_raw(s, false, KILN_FLOAT32, "10", "C", FILL_SMALL);
    stage_out_fresh(s, KILN_FLOAT32);
    kiln_arg *in = stage_args(s, &n_in);
    refused(kiln_kernel_call(stage_kernel(s), &z, 1, in, n_in, options), status, words);
    refused(kiln_kernel_prepare(stage_kernel(s), &z, 1, in, n_in, options, NULL), status, words);
    trouble_unless(!z, "a refused call allocated its output");
    stage_free(s);
}

static void sizes_that_are_none(void)
{
    static const int64_t negative[] = {3, -1}, many[] = {INT64_MAX, 3};
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    refuse_sizes(&options, KILN_ERROR_INVALID, "output 'z' is raw|nothing says its shape|options.shape");
    options.size = -5;
    refuse_sizes(&options, KILN_ERROR_INVALID, "options.size: -5|0 or more");
    options.size = 10;
    options.shape = negative;
    refuse_sizes(&options, KILN_ERROR_INVALID, "options.size: 10|beside options.shape|one of the two");
    options.size = 0;
    options.ndim = 2;
    refuse_sizes(&options, KILN_ERROR_SHAPE, "options.shape|(3, -1)|negative");
    options.ndim = KILN_MAX_NDIM + 1;
    refuse_sizes(&options, KILN_ERROR_SHAPE, "options.shape|65 axes|0 to 64");
    options.ndim = -1;
    refuse_sizes(&options, KILN_ERROR_SHAPE, "options.shape|-1 axes|0 to 64");
    options.shape = many;
    options.ndim = 2;
    refuse_sizes(&options, KILN_ERROR_SHAPE, "options.shape|63 bits");
    options.shape = NULL;
    refuse_sizes(&options, KILN_ERROR_INVALID, "options.ndim: 2|options.shape is NULL");
}

/* Texts are asked for without options, and so without a size. */
static void texts_of_all_raw(void)
{
    kiln_kernel *kernel = NULL;
    kiln_array *x = NULL, *none = NULL;
    char *source = NULL, *line = NULL;
    succeeded(kiln_array_arange(&x, 0, 24, 1, KILN_FLOAT32, stage_device), "kiln_array_arange");
    succeeded(kiln_elementwise_create(&kernel, "raw float32 x", "raw float32 z", "z[i] = x[n - 1 - i]",
                                      "turned", NULL),
              "create");
    kiln_arg in = kiln_arg_array(x);
    if (succeeded(kiln_kernel_source(&source, kernel, &none, 1, &in, 1, NULL, case_target()),
                  "kiln_kernel_source"))
        trouble_unless(strstr(source, "z[i] = x[n - 1 - i]") != NULL, "the body is missing");
    if (succeeded(kiln_kernel_explain(&line, kernel, &none, 1, &in, 1, NULL, "sm_90"), "kiln_kernel_explain"))
        trouble_unless(strstr(line, "turned") != NULL, "%s", line);
    free(source);
    free(line);
    kiln_kernel_free(kernel);
    kiln_array_free(x);
}

static void size_beside_arrays(void)
{
    stage *s = STAGE("float32 x", "float32 z", "z = x");
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    int n_in, n_out;
    options.size = 5;
    stage_in(s, KILN_FLOAT32, "10", "C", FILL_SMALL);
    stage_out(s, KILN_FLOAT32, "10", "C");
    kiln_arg *in = stage_args(s, &n_in);
    kiln_array **out = stage_outs(s, &n_out);
    refused(kiln_kernel_call(stage_kernel(s), out, n_out, in, n_in, &options), KILN_ERROR_INVALID,
            "size: 5|'x'|not raw|(10,)|leave the option out");
    options.size = 0;
    options.shape = (const int64_t[]){10, 1};
    options.ndim = 2;
    refused(kiln_kernel_call(stage_kernel(s), out, n_out, in, n_in, &options), KILN_ERROR_INVALID,
            "shape: (10, 1)|'x'|not raw|(10,)|leave the option out");
    refused(kiln_kernel_prepare(stage_kernel(s), out, n_out, in, n_in, &options, NULL), KILN_ERROR_INVALID,
            "shape: (10, 1)|'x'|not raw|(10,)|leave the option out");
    options.ndim = 1;
    succeeded(kiln_kernel_call(stage_kernel(s), out, n_out, in, n_in, &options), "the shape they have");
    stage_free(s);
}

/* The second call of a loop says the size as the first one did, and has its output by then. */
static void size_said_again(void)
{
    const int64_t shape[] = {2, 3};
    kiln_array *x = NULL, *y = NULL, *z = NULL;
    kiln_kernel *kernel = NULL;
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    succeeded(kiln_array_arange(&x, 0, 6, 1, KILN_FLOAT32, stage_device), "kiln_array_arange");
    succeeded(
        kiln_elementwise_create(&kernel, "raw float32 x", "float32 z", "z = x[n - 1 - i]", "again", NULL),
        "create");
    const kiln_arg in = kiln_arg_array(x);
    options.size = 6;
    for (int k = 0; k < 3 && !in_trouble(); ++k)
        succeeded(kiln_kernel_call(kernel, &z, 1, &in, 1, &options), "one of three calls");
    options.size = 5;
    refused(kiln_kernel_call(kernel, &z, 1, &in, 1, &options), KILN_ERROR_INVALID,
            "size: 5|'z'|not raw|(6,)");
    options.size = 6;
    succeeded(kiln_array_zeros(&y, KILN_FLOAT32, 2, shape, stage_device), "kiln_array_zeros");
    succeeded(kiln_kernel_call(kernel, &y, 1, &in, 1, &options), "two axes of six elements");
    options.size = 0;
    options.shape = shape;
    options.ndim = 2;
    succeeded(kiln_kernel_call(kernel, &y, 1, &in, 1, &options), "the shape that it has");
    refused(kiln_kernel_call(kernel, &z, 1, &in, 1, &options), KILN_ERROR_INVALID,
            "shape: (2, 3)|'z'|not raw|(6,)");
    float values[6] = {0};
    if (!in_trouble() && succeeded(kiln_array_to_host(y, values, sizeof values), "y"))
        trouble_unless(values[0] == 5 && values[5] == 0, "%g ... %g", (double)values[0], (double)values[5]);
    kiln_array_free(x);
    kiln_array_free(y);
    kiln_array_free(z);
    kiln_kernel_free(kernel);
}

const test_case raw_cases[] = {
    {"linear", linear, 0},
    {"gather", gather, 0},
    {"several_indices", several_indices, 0},
    {"multi_index", multi_index, 0},
    {"sizes_and_shapes", sizes_and_shapes, 0},
    {"raw_output", raw_output, 0},
    {"all_raw", all_raw, 0},
    {"sizes_without_arrays", sizes_without_arrays, 0},
    {"sizes_of_scalars", sizes_of_scalars, 0},
    {"texts_of_all_raw", texts_of_all_raw, 0},
    {"sizes_that_are_none", sizes_that_are_none, 0},
    {"stencil", stencil, 0},
    {"raw_bool", raw_bool, 0},
    {"ranks", ranks, 0},
    {"integer_lists", integer_lists, 0},
    {"index_as_array", index_as_array, 0},
    {"other_ranks", other_ranks, 0},
    {"without_axes", without_axes, 0},
    {"around_the_loop", around_the_loop, 0},
    {"parameter_named_n", parameter_named_n, 0},
    {"refusals", refusals, 0},
    {"size_beside_arrays", size_beside_arrays, 0},
    {"size_said_again", size_said_again, 0},
    {NULL, NULL, 0},
};
