/* space/shape.c - strides, contiguity, byte ranges and broadcasting of shapes. */
#include "space/shape.h"
#include <inttypes.h>

int64_t kn_shape_size(int ndim, const int64_t *shape)
{
    int64_t size = 1;
    bool is_empty = false;
    for (int k = 0; k < ndim; k++) {
        if (shape[k] == 0)
            is_empty = true;
        /* As in NumPy, the other extents must fit even where one is zero: strides are made of them. */
        else if (shape[k] < 0 || __builtin_mul_overflow(size, shape[k], &size))
            return -1;
    }
    return is_empty ? 0 : size;
}

static int64_t at_least_one(int64_t extent)
{
    return extent > 1 ? extent : 1;
}

void kn_shape_c_strides(int ndim, const int64_t *shape, int64_t item_size, int64_t *strides)
{
    int64_t stride = item_size;
    for (int k = ndim - 1; k >= 0; k--) {
        strides[k] = stride;
        stride *= at_least_one(shape[k]);
    }
}

void kn_shape_new_strides(int ndim, const int64_t *shape, int64_t item_size, int64_t *strides)
{
    kn_shape_c_strides(ndim, shape, item_size, strides);
    if (kn_shape_size(ndim, shape) == 0)
        for (int k = 0; k < ndim; k++)
            strides[k] = 0;
}

void kn_shape_f_strides(int ndim, const int64_t *shape, int64_t item_size, int64_t *strides)
{
    int64_t stride = item_size;
    for (int k = 0; k < ndim; k++) {
        strides[k] = stride;
        stride *= at_least_one(shape[k]);
    }
}

/* Axis k counts `step` steps from `first`. Strides of axes of extent 1 mean nothing; an array without
 * elements has every order. */
static bool is_contiguous(int ndim, const int64_t *shape, const int64_t *strides, int64_t item_size,
                          int first, int step)
{
    int64_t expected = item_size;
    bool matches = true;
    for (int k = first, count = 0; count < ndim; k += step, count++) {
        if (shape[k] == 0)
            return true;
        if (shape[k] != 1 && strides[k] != expected)
            matches = false;
        expected = matches ? expected * shape[k] : expected;
    }
    return matches;
}

bool kn_shape_is_c_contiguous(int ndim, const int64_t *shape, const int64_t *strides, int64_t item_size)
{
    return is_contiguous(ndim, shape, strides, item_size, ndim - 1, -1);
}

bool kn_shape_is_f_contiguous(int ndim, const int64_t *shape, const int64_t *strides, int64_t item_size)
{
    return is_contiguous(ndim, shape, strides, item_size, 0, 1);
}

static void add_saturated(int64_t *sum, int64_t a, int64_t b)
{
    int64_t product, bound = (a < 0) != (b < 0) ? INT64_MIN : INT64_MAX;
    if (__builtin_mul_overflow(a, b, &product) || __builtin_add_overflow(*sum, product, sum))
        *sum = bound;
}

void kn_shape_byte_range(int ndim, const int64_t *shape, const int64_t *strides, int64_t item_size,
                         int64_t *low, int64_t *high)
{
    *low = *high = 0;
    for (int k = 0; k < ndim; k++)
        if (shape[k] == 0) {
            *low = *high = 0;
            return;
        } else {
            add_saturated(strides[k] < 0 ? low : high, shape[k] - 1, strides[k]);
        }
    add_saturated(high, 1, item_size);
}

void kn_shape_format(kn_str *out, int ndim, const int64_t *shape)
{
    kn_str_append(out, "(");
    for (int k = 0; k < ndim; k++)
        kn_str_printf(out, "%s%" PRId64, k ? ", " : "", shape[k]);
    kn_str_append(out, ndim == 1 ? ",)" : ")");
}

bool kn_shape_broadcast(int *a_ndim, int64_t *a, int b_ndim, const int64_t *b)
{
    int ndim = *a_ndim > b_ndim ? *a_ndim : b_ndim;
    int64_t shape[KILN_MAX_NDIM];
    if (ndim > KILN_MAX_NDIM)
        return false;
    for (int k = 1; k <= ndim; k++) { /* counted from the innermost axis */
        int64_t ea = k <= *a_ndim ? a[*a_ndim - k] : 1, eb = k <= b_ndim ? b[b_ndim - k] : 1;
        if (ea != eb && ea != 1 && eb != 1)
            return false;
        shape[ndim - k] = ea == 1 ? eb : ea;
    }
    for (int k = 0; k < ndim; k++)
        a[k] = shape[k];
    *a_ndim = ndim;
    return true;
}
