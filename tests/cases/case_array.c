/* Arrays where kernels run: creation, strided transfers, copies and views of every dtype, against plain C. */
#include "cases.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 37, COLUMNS = 50, BYTES = ROWS * COLUMNS * 16 };

static void fill_random(unsigned char *data, kiln_dtype dtype)
{
    dice d = {case_seed() + (uint64_t)dtype};
    for (int k = 0; k < ROWS * COLUMNS; ++k)
        element_fill(data + (size_t)k * kiln_dtype_size(dtype), dtype, FILL_SMALL, k, &d);
}

/* The element that index text [i, j] of a view stands for, as a pair of affine maps. */
typedef struct view_case {
    const char *index;
    bool transposed;
    int rows, columns, row0, row_step, column0, column_step;
} view_case;

static const view_case views[] = {{":", false, ROWS, COLUMNS, 0, 1, 0, 1},
                                  {":", true, COLUMNS, ROWS, 0, 1, 0, 1},
                                  {"::-1, ::2", false, ROWS, COLUMNS / 2, ROWS - 1, -1, 0, 2},
                                  {"3:30:4, ::-3", true, 17, 7, 3, 4, COLUMNS - 1, -3}};

static void view_of(kiln_array **out, kiln_array *array, const view_case *v)
{
    kiln_array *part = NULL;
    if (!succeeded(kiln_array_index(&part, array, v->index), "kiln_array_index"))
        return;
    if (v->transposed)
        succeeded(kiln_array_transpose(out, part, NULL), "kiln_array_transpose");
    else
        *out = kiln_array_retain(part);
    kiln_array_free(part);
}

/* Where element (i, j) of the view is, counted in elements of the whole. */
static int place_of(const view_case *v, int i, int j)
{
    int row = v->row0 + v->row_step * (v->transposed ? j : i),
        column = v->column0 + v->column_step * (v->transposed ? i : j);
    return row * COLUMNS + column;
}

static void check_view(const unsigned char *got, const unsigned char *whole, const view_case *v, size_t item,
                       const char *what)
{
    for (int i = 0; i < v->rows; ++i)
        for (int j = 0; j < v->columns; ++j)
            if (!trouble_unless(!memcmp(got + (size_t)(i * v->columns + j) * item,
                                        whole + (size_t)place_of(v, i, j) * item, item),
                                "%s of [%s]%s: element (%d, %d) is wrong", what, v->index,
                                v->transposed ? ".T" : "", i, j))
                return;
}

/* Down, copied, and copied again through contiguous(), from every view. */
static void views_come_down(void)
{
    static unsigned char whole[BYTES], got[BYTES];
    const int64_t shape[2] = {ROWS, COLUMNS};
    for (int d = KILN_BOOL; kiln_dtype_size((kiln_dtype)d) > 0 && !in_trouble(); ++d) {
        size_t item = kiln_dtype_size((kiln_dtype)d);
        kiln_array *array = NULL;
        fill_random(whole, (kiln_dtype)d);
        if (!succeeded(kiln_array_from_host(&array, whole, (kiln_dtype)d, 2, shape, stage_device),
                       "kiln_array_from_host"))
            return;
        for (size_t v = 0; v < sizeof views / sizeof views[0] && !in_trouble(); ++v) {
            size_t bytes = (size_t)views[v].rows * (size_t)views[v].columns * item;
            kiln_array *view = NULL, *copy = NULL;
            view_of(&view, array, &views[v]);
            if (view && succeeded(kiln_array_to_host(view, got, bytes), "kiln_array_to_host"))
                check_view(got, whole, &views[v], item, "to_host");
            if (view && succeeded(kiln_array_copy(&copy, view), "kiln_array_copy")) {
                trouble_unless(kiln_array_is_c_contiguous(copy), "a copy is not C-ordered");
                succeeded(kiln_array_to_host(copy, got, bytes), "kiln_array_to_host");
                check_view(got, whole, &views[v], item, "copy");
            }
            kiln_array_free(copy);
            kiln_array_free(view);
        }
        kiln_array_free(array);
    }
}

/* Up into views: the elements beside them stay. */
static void views_go_up(void)
{
    static unsigned char whole[BYTES], expected[BYTES], got[BYTES], part[BYTES];
    const int64_t shape[2] = {ROWS, COLUMNS};
    static const kiln_dtype dtypes[] = {KILN_UINT8, KILN_FLOAT16, KILN_FLOAT32, KILN_INT64, KILN_COMPLEX128};
    for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; ++d)
        for (size_t v = 0; v < sizeof views / sizeof views[0] && !in_trouble(); ++v) {
            size_t item = kiln_dtype_size(dtypes[d]),
                   count = (size_t)views[v].rows * (size_t)views[v].columns;
            kiln_array *array = NULL, *view = NULL;
            fill_random(whole, dtypes[d]);
            memcpy(expected, whole, item * ROWS * COLUMNS);
            for (size_t k = 0; k < count * item; ++k)
                part[k] = (unsigned char)(k * 7 + 1);
            for (int i = 0; i < views[v].rows; ++i)
                for (int j = 0; j < views[v].columns; ++j)
                    memcpy(expected + (size_t)place_of(&views[v], i, j) * item,
                           part + (size_t)(i * views[v].columns + j) * item, item);
            succeeded(kiln_array_from_host(&array, whole, dtypes[d], 2, shape, stage_device),
                      "kiln_array_from_host");
            if (array)
                view_of(&view, array, &views[v]);
            if (view &&
                succeeded(kiln_array_set_from_host(view, part, count * item), "kiln_array_set_from_host") &&
                succeeded(kiln_array_to_host(array, got, item * ROWS * COLUMNS), "kiln_array_to_host"))
                trouble_unless(!memcmp(got, expected, item * ROWS * COLUMNS), "set_from_host into [%s] of %s",
                               views[v].index, kiln_dtype_name(dtypes[d]));
            kiln_array_free(view);
            kiln_array_free(array);
        }
}

static void check_numbers(kiln_array *array, kiln_dtype dtype, double start, double step, const char *what)
{
    static unsigned char got[BYTES], expected[16];
    if (in_trouble() ||
        !succeeded(kiln_array_to_host(array, got, kiln_array_nbytes(array)), "kiln_array_to_host"))
        return;
    for (int64_t k = 0; k < kiln_array_size(array); ++k) {
        number_store(expected, dtype, number_real(start + step * (double)k));
        if (!trouble_unless(
                !memcmp(got + (size_t)k * kiln_dtype_size(dtype), expected, kiln_dtype_size(dtype)),
                "%s of %s: element %d is %s", what, kiln_dtype_name(dtype), (int)k,
                element_text(got + (size_t)k * kiln_dtype_size(dtype), dtype)))
            return;
    }
}

static void created(void)
{
    const int64_t shape[2] = {5, 7};
    for (int d = KILN_BOOL; kiln_dtype_size((kiln_dtype)d) > 0 && !in_trouble(); ++d) {
        kiln_dtype dtype = (kiln_dtype)d;
        unsigned char value[16] = {0};
        kiln_array *zeros = NULL, *ones = NULL, *full = NULL, *range = NULL;
        number_store(value, dtype, number_real(3));
        succeeded(kiln_array_zeros(&zeros, dtype, 2, shape, stage_device), "kiln_array_zeros");
        succeeded(kiln_array_ones(&ones, dtype, 2, shape, stage_device), "kiln_array_ones");
        succeeded(kiln_array_full(&full, dtype, 2, shape, value, stage_device), "kiln_array_full");
        check_numbers(zeros, dtype, 0, 0, "zeros");
        check_numbers(ones, dtype, 1, 0, "ones");
        check_numbers(full, dtype, 3, 0, "full");
        if (dtype != KILN_BOOL) {
            succeeded(kiln_array_arange(&range, 2, 60, 3, dtype, stage_device), "kiln_array_arange");
            check_numbers(range, dtype, 2, 3, "arange");
        }
        kiln_array_free(zeros);
        kiln_array_free(ones);
        kiln_array_free(full);
        kiln_array_free(range);
    }
}

/* To the other side and back, from a strided view. */
static void between_devices(void)
{
    float whole[ROWS * COLUMNS], got[ROWS * COLUMNS];
    const int64_t shape[2] = {ROWS, COLUMNS};
    kiln_array *array = NULL, *transposed = NULL, *host = NULL, *back = NULL;
    for (int k = 0; k < ROWS * COLUMNS; ++k)
        whole[k] = (float)k;
    if (succeeded(kiln_array_from_host(&array, whole, KILN_FLOAT32, 2, shape, stage_device),
                  "kiln_array_from_host") &&
        succeeded(kiln_array_transpose(&transposed, array, NULL), "kiln_array_transpose") &&
        succeeded(kiln_array_to_device(&host, transposed, KILN_DEVICE_HOST), "kiln_array_to_device") &&
        succeeded(kiln_array_to_device(&back, host, stage_device), "kiln_array_to_device") &&
        succeeded(kiln_array_to_host(back, got, sizeof got), "kiln_array_to_host"))
        for (int k = 0; k < ROWS * COLUMNS; ++k)
            if (!trouble_unless(got[k] == whole[k % ROWS * COLUMNS + k / ROWS], "element %d is %g", k,
                                (double)got[k]))
                break;
    kiln_array_free(array);
    kiln_array_free(transposed);
    kiln_array_free(host);
    kiln_array_free(back);
}

/* Arrays of the host and of a CUDA device do not meet in one call. */
static void mixed_devices(void)
{
    const int64_t shape[1] = {10};
    kiln_array *here = NULL, *there = NULL, *z = NULL;
    kiln_kernel *kernel = NULL;
    succeeded(kiln_elementwise_create(&kernel, "T x, T y", "T z", "z = x + y", "mixed", NULL), "create");
    succeeded(kiln_array_zeros(&here, KILN_FLOAT32, 1, shape, KILN_DEVICE_HOST), "kiln_array_zeros");
    succeeded(kiln_array_zeros(&there, KILN_FLOAT32, 1, shape, stage_device), "kiln_array_zeros");
    if (!in_trouble()) {
        const kiln_arg in[] = {kiln_arg_array(here), kiln_arg_array(there)};
        refused(kiln_kernel_call(kernel, &z, 1, in, 2, NULL), KILN_ERROR_INVALID,
                "mixed|'y' is on cuda|host");
    }
    kiln_array_free(here);
    kiln_array_free(there);
    kiln_kernel_free(kernel);
}

const test_case array_cases[] = {
    {"views_come_down", views_come_down, 0},
    {"views_go_up", views_go_up, 0},
    {"created", created, 0},
    {"between_devices", between_devices, 0},
    {"mixed_devices", mixed_devices, CASE_CUDA},
    {NULL, NULL, 0},
};
