/* Functions of expressions that join, choose, edit and multiply arrays: each thing that they refuse. What
 * they compute: tests/numpy/check_composed.py. */
#include <kiln/kiln.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ok.h"

/* x: (2, 3), y: (4), s: without axes; n: a number by value. */
static kiln_status compute(const char *text)
{
    static const int64_t shape[] = {2, 3}, four = 4;
    kiln_array *x = NULL, *y = NULL, *s = NULL, *out[4] = {NULL, NULL, NULL, NULL};
    kiln_kernel *kernel = NULL;
    OK(kiln_array_zeros(&x, KILN_FLOAT32, 2, shape, KILN_DEVICE_HOST));
    OK(kiln_array_zeros(&y, KILN_INT32, 1, &four, KILN_DEVICE_HOST));
    OK(kiln_array_zeros(&s, KILN_FLOAT64, 0, NULL, KILN_DEVICE_HOST));
    const kiln_arg in[] = {kiln_arg_array(x), kiln_arg_array(y), kiln_arg_array(s), kiln_arg_int(3)};
    kiln_status status = kiln_expression_create(&kernel, "x, y, s, n", text, NULL);
    if (status == KILN_OK)
        status = kiln_kernel_call(kernel, out, 1, in, 4, NULL);
    for (int k = 0; k < 4; ++k)
        kiln_array_free(out[k]);
    kiln_kernel_free(kernel);
    kiln_array_free(x);
    kiln_array_free(y);
    kiln_array_free(s);
    return status;
}

static const struct {
    const char *text;
    kiln_status status;
    const char *message;
} refused[] = {
    {"block([])", KILN_ERROR_SYNTAX, "arrays: 0 lists inside one another were given; 1 to 8 were expected"},
    {"block(x)", KILN_ERROR_SYNTAX, "arrays: 0 lists inside one another were given; 1 to 8 were expected"},
    {"block([[x], x])", KILN_ERROR_SYNTAX, "lists of the same depth were expected"},
    {"block([x, [x]])", KILN_ERROR_SYNTAX, "lists of the same depth were expected"},
    {"insert(y, 5, s)", KILN_ERROR_INVALID, "insert: index 5 was given; axis 0 has 4 elements"},
    {"insert(y, -5, s)", KILN_ERROR_INVALID, "insert: index -5 was given; axis 0 has 4 elements"},
    {"insert(x, 0, y, 0)", KILN_ERROR_SHAPE, "values: axis 0 has 4 elements; 1 or 3 were expected"},
    {"insert(x, [0, 1], x, 0, 1)", KILN_ERROR_SYNTAX, "insert takes 4 arguments without names"},
    {"insert(x, 0, x, 2)", KILN_ERROR_SHAPE, "axis 2 was given; the array has 2"},
    {"insert(x, y, x)", KILN_ERROR_SHAPE, "(2, 3) cannot be broadcast to (4,)"},
    {"insert(y, y - 5, 1)", KILN_ERROR_INVALID, "indexed at 5, where 0 to 4 were expected"},
    {"insert(y, x, 1)", KILN_ERROR_SHAPE, "axes"},
    {"delete(y, slice(0, 4, 0))", KILN_ERROR_SYNTAX, "the step of a slice is 0"},
    {"delete(y, slice(s))", KILN_ERROR_SYNTAX, "stop: a whole number that stands in the expression"},
    {"eye(-1)", KILN_ERROR_SHAPE, "a length of -1 was given; one from 0 on was expected"},
    {"eye(2, -3)", KILN_ERROR_SHAPE, "a length of -3 was given"},
    {"identity(n - 5)", KILN_ERROR_SHAPE, "a length of -2 was given"},
    {"linspace(0, 1, -3)", KILN_ERROR_SHAPE, "a length of -3 was given"},
    {"logspace(0, 1, -3)", KILN_ERROR_SHAPE, "a length of -3 was given"},
    {"geomspace(1, 2, -3)", KILN_ERROR_SHAPE, "a length of -3 was given"},
    {"vander(y, -1)", KILN_ERROR_SHAPE, "a length of -1 was given"},
    {"fftfreq(-3)", KILN_ERROR_SHAPE, "a length of -3 was given"},
    {"resize(x, -1)", KILN_ERROR_SHAPE, "a length of -1 was given"},
    {"zeros(n - 5)", KILN_ERROR_SHAPE, "an extent of -2 was given"},
    {"zeros(s - 5)", KILN_ERROR_INVALID, "the shape would depend on a value"},
    {"zeros(sum(y) - 5)", KILN_ERROR_SHAPE, "an extent of -5 was given"},
    {"permutation(uint64(1), -2)", KILN_ERROR_SHAPE, "a length of -2 was given"},
    {"repeat(y, y - 1)", KILN_ERROR_SHAPE, "a length of -1 was given"},
    {"repeat(y, s)", KILN_ERROR_TYPE, "float64"},
    {"repeat(x, y)", KILN_ERROR_SHAPE, "cannot be broadcast to (6,)"},
    {"bincount(y - 2)", KILN_ERROR_SHAPE, "a length of -2 was given"},
    {"bincount(x)", KILN_ERROR_TYPE, "float32"},
    {"bincount(s != 0)", KILN_ERROR_SHAPE, "axes"},
    {"bincount(y, minlength=-1)", KILN_ERROR_SYNTAX, "minlength: -1 was given; at least 0 was expected"},
    {"unstack(x)", KILN_ERROR_SYNTAX, "as many names as there are parts were expected"},
    {"a, b, c = unstack(x); a", KILN_ERROR_SHAPE, "axis 0 has extent 2; as many names were expected, not 3"},
    {"quantile(x, 0.5, weights=x)", KILN_ERROR_SYNTAX, "weights: method='inverted_cdf' was expected"},
    {"quantile(x, 0.5, (0, 1), method='inverted_cdf', weights=x)", KILN_ERROR_SYNTAX,
     "axis: one axis, or none"},
    {"quantile(x, 1.5, 0, method='inverted_cdf', weights=x)", KILN_ERROR_SYNTAX, "1.5"},
    {"matmul(x, x, axes=[(0, 1)])", KILN_ERROR_SYNTAX, "axes: a list of three"},
    {"matmul(x, x, axes=[(0, 1, 2), 0, 1])", KILN_ERROR_SYNTAX, "an axis, or a pair of axes"},
    {"vecdot(y, y, axis=0, axes=[0, 0, ()])", KILN_ERROR_SYNTAX, "axis or axes were expected, not both"},
    {"add.reduceat(y, [4])", KILN_ERROR_INVALID, "indexed at 4, where 0 to 3 were expected"},
    {"add.reduceat(y, [-1])", KILN_ERROR_INVALID, "indexed at 4"},
    {"trim_zeros(x, axis=2)", KILN_ERROR_SHAPE, "axis 2"},
    {"x.item(1, 3)", KILN_ERROR_SHAPE, "3"},
    {"item(x)", KILN_ERROR_SYNTAX, "a method of arrays: x.item(...) was expected"},
    {"y += 0.5; y", KILN_ERROR_TYPE, "what is float64 is not made int32: casting is 'same_kind'"},
    {"y[1:] += 0.5; y", KILN_ERROR_TYPE, "casting is 'same_kind'"},
    {"y[[0, 1]] /= 2; y", KILN_ERROR_TYPE, "casting is 'same_kind'"},
    {"y += x[:, :1]; y", KILN_ERROR_TYPE, "casting is 'same_kind'"},
    {"x += x[None]; x", KILN_ERROR_SHAPE, "cannot be broadcast to (2, 3)"},
    {"q += 1; q", KILN_ERROR_SYNTAX, "there is no name 'q'"},
    {"x @= x; x", KILN_ERROR_SYNTAX, "write x = x @ y"},
    {"x[:, :1] @ x.T", KILN_ERROR_SHAPE, "matmul: 1 elements of the first array meet 3 of the second"},
    {"dot(x[:, :1], x)", KILN_ERROR_SHAPE, "dot: 1 elements"},
    {"inner(y[:1], y)", KILN_ERROR_SHAPE, "inner: 1 elements of the first array meet 4"},
    {"vdot(y[:1], y)", KILN_ERROR_SHAPE, "vdot: arrays of 1 and 4 elements were given"},
    {"vecdot(y, y[:1])", KILN_ERROR_SHAPE, "vecdot: 4 elements of the first array meet 1"},
    {"matvec(x, y[:1])", KILN_ERROR_SHAPE, "matvec: 3 elements"},
    {"vecmat(y[:1], x)", KILN_ERROR_SHAPE, "vecmat: 1 elements of the first array meet 2"},
    {"tensordot(x, x[:1], [[0], [0]])", KILN_ERROR_SHAPE, "tensordot: 2 elements of the first array meet 1"},
    {"interp(y, y[:1], y)", KILN_ERROR_SHAPE, "cannot become (1,)"},
    {"y[n::-1] = 1; y", KILN_ERROR_SYNTAX,
     "slices of what is assigned whose bounds a call computes go forward"},
    {"y[n::-1]", KILN_ERROR_SYNTAX, "a slice whose bounds a call computes goes forward"},
    {"y[s:]", KILN_ERROR_TYPE, "what is float64 is not made int64"},
    {"x[len(x)]", KILN_ERROR_INVALID, "2"},
    {"a, b, c = x; a", KILN_ERROR_SHAPE, "axis 0 has extent 2; as many names were expected, not 3"},
    {"a, b, c = x.shape; y * a", KILN_ERROR_SHAPE, "axes"},
    {"a, b = 3; y * a", KILN_ERROR_SYNTAX, "2 values were expected, for 2 names"},
    {"putmask(y, x, 1); y", KILN_ERROR_SHAPE, "cannot become (4,)"},
    {"delete(y, 4)", KILN_ERROR_INVALID, "delete: index 4 was given; axis 0 has 4 elements"},
    {"delete(x, x, 0)", KILN_ERROR_TYPE, "delete"},
    {"repeat(y, [1, 2])", KILN_ERROR_SHAPE, "repeats: 2 numbers were given; axis 0 has 4 elements"},
    {"repeat(y, [1, -2, 0, 0])", KILN_ERROR_SYNTAX, "repeats: -2 was given; one from 0 on was expected"},
    {"pad(x, 1, 'constant', constant_values=n)", KILN_ERROR_TYPE, "argument 1 is a number here"},
    {"pad(x, 1, 'linear_ramp', end_values=n)", KILN_ERROR_TYPE, "argument 1 is a number here"},
    {"pad(x, 1, 'mean', stat_length=0)", KILN_ERROR_SYNTAX, "stat_length: 0 was given; one from 1 on"},
    {"pad(x, ((1, 1), (1, 1), (1, 1)), 'mean')", KILN_ERROR_SHAPE,
     "3 pairs were given; the array has 2 axes"},
    {"pad(x[:0], 1, 'mean')", KILN_ERROR_SHAPE, "can be padded by a constant alone"},
    {"pad(x, 1, 'sideways')", KILN_ERROR_SYNTAX, "'linear_ramp', 'maximum'"},
    {"convolve(y, y, 'half')", KILN_ERROR_SYNTAX, "mode: 'full', 'same' or 'valid' was expected"},
    {"gradient(x, 1.0, x=y)", KILN_ERROR_SYNTAX, "x: dx or x were expected, not both"},
    {"gradient(x, edge_order=3)", KILN_ERROR_SYNTAX, "edge_order: 3 was given; 1 or 2 was expected"},
    {"gradient(x, axis=())", KILN_ERROR_SYNTAX, "axis: 0 were given; 1 to 64 were expected"},
    {"indices(())", KILN_ERROR_SYNTAX, "dimensions: 0 were given; 1 to 63 were expected"},
    {"resize(x, ())", KILN_ERROR_SYNTAX, "new_shape: 0 were given"},
    {"select([x > 0, x < 0], [x])", KILN_ERROR_SYNTAX, "as many as condlist has, 2, were expected"},
    {"choose(y, x)", KILN_ERROR_SHAPE, "do not broadcast"},
    {"choose(y, [1, 2], mode='turn')", KILN_ERROR_SYNTAX, "mode: 'raise', 'wrap' or 'clip' was expected"},
    {"trim_zeros(y, 'x')", KILN_ERROR_SYNTAX, "trim: 'fb', 'f', 'b' or 'bf' was expected"},
    {"packbits(y, bitorder='middle')", KILN_ERROR_SYNTAX, "bitorder: 'big' or 'little' was expected"},
    {"unpackbits(y, count=n)", KILN_ERROR_SYNTAX, "count: a whole number that stands in the expression"},
    {"sliding_window_view(x, 0)", KILN_ERROR_SYNTAX,
     "window_shape: 0 was given; 1 to 2147483647 were expected"},
    {"sliding_window_view(x, ())", KILN_ERROR_SYNTAX, "window_shape: 0 were given; 1 to 32 were expected"},
    {"sliding_window_view(x, 2, (0, 1))", KILN_ERROR_SYNTAX, "axis: 2 were given for 1 windows"},
    {"sliding_window_view(y, 5)", KILN_ERROR_SHAPE, "a window of 5 was given; axis -1 has room for 4"},
    {"sliding_window_view(y, 2, 1)", KILN_ERROR_SHAPE, "axis 1 was given; the array has 1"},
    {"ravel_multi_index((), [4])", KILN_ERROR_SYNTAX, "multi_index: 0 were given; 1 to 63 were expected"},
    {"ravel_multi_index([y], ())", KILN_ERROR_SYNTAX, "dims: 0 were given"},
    {"unravel_index(y, ())", KILN_ERROR_SYNTAX, "shape: 0 were given"},
    {"select((), [x])", KILN_ERROR_SYNTAX, "condlist: 0 were given"},
    {"select([x > 0], ())", KILN_ERROR_SYNTAX, "choicelist: 0 were given"},
    {"choose(y, ())", KILN_ERROR_SYNTAX, "choices: 0 were given"},
    {"multi_dot(())", KILN_ERROR_SYNTAX, "arrays: 0 were given"},
    {"tensordot(x, axes=1)", KILN_ERROR_SYNTAX, "tensordot: the argument 'b' is missing"},
    {"partition(y, 1.5)", KILN_ERROR_SYNTAX, "kth: a whole number"},
    {"partition(y, (1, x))", KILN_ERROR_SYNTAX, "kth: a whole number"},
    {"ravel_multi_index([y, y], [4])", KILN_ERROR_SYNTAX, "as many as multi_index has, 2, were expected"},
    {"ravel_multi_index([n, n], [4, 9], mode=('clip',))", KILN_ERROR_SYNTAX,
     "mode: 1 were given; as many as dims has, 2, were expected"},
    {"ravel_multi_index([n], [4], 'round')", KILN_ERROR_SYNTAX,
     "mode: 'raise', 'wrap' or 'clip' was expected"},
    {"ravel_multi_index([n], [4], order='K')", KILN_ERROR_SYNTAX, "order: 'C' or 'F' was expected"},
    {"ravel_multi_index([x, y[:3]], [4, 9])", KILN_ERROR_TYPE, "'i0' is float32 here; integers"},
    {"ravel_multi_index([arange(4), arange(4)], [4, 3])", KILN_ERROR_INVALID,
     "ravel_multi_index: index 1: 3 is out of range for axis 1 of extent 3"},
    {"ravel_multi_index([arange(4), -1], [4, 3])", KILN_ERROR_INVALID,
     "index 1: -1 is out of range for axis 1 of extent 3"},
    {"unravel_index(arange(4) - 1, (2, 3))[0]", KILN_ERROR_INVALID,
     "unravel_index: index 0: -1 is out of range for axis 0 of extent 6"},
    {"unravel_index(6, (2, 3))[0]", KILN_ERROR_INVALID, "index 0: 6 is out of range for axis 0 of extent 6"},
    {"unravel_index(x, (2, 3))[0]", KILN_ERROR_TYPE, "'indices' is float32 here; integers"},
    {"unravel_index(3, (2, 3), 'K')", KILN_ERROR_SYNTAX, "order: 'C' or 'F' was expected"},
    {"take(y, x)", KILN_ERROR_TYPE, "take: 'index' is float32 here; integers or truth values were expected"},
    {"take(x, x, axis=1)", KILN_ERROR_TYPE, ""},
    {"bincount(x, length=3)", KILN_ERROR_TYPE, "bincount: 'x' is of float32; whole numbers were expected"},
    {"segment_sum(y, s, 3)", KILN_ERROR_TYPE, "'key' is of float64; whole numbers were expected"},
    {"put(y, x, 1)", KILN_ERROR_TYPE, "'index' is of float32; whole numbers were expected"},
    {"choose(x, [x, 1], mode='wrap')", KILN_ERROR_TYPE, "float32"},
    {"choose(x, [x, 1], mode='clip')", KILN_ERROR_TYPE, "float32"},
    {"choose(x, [x, 1])", KILN_ERROR_TYPE, "'index' is float32 here"},
    {"histogram2d(y, y, [1, [3]])[0]", KILN_ERROR_SHAPE, "one axis of at least 2 was expected"},
    {"histogram2d(y, y, [2, 0])[0]", KILN_ERROR_SYNTAX, "bins: 0 was given; at least 1 was expected"},
    {"take_along_axis(x, x, 1)", KILN_ERROR_TYPE, "'index' is float32 here"},
    {"diag(reshape(x, (1, 2, 3)))", KILN_ERROR_SHAPE, "diag: v: 3 axes were given; 1 or 2 were expected"},
    {"diag(n)", KILN_ERROR_TYPE, "diag: argument 0 is a number here; an array was expected"},
    {"matmul(s, x)", KILN_ERROR_SHAPE, "matmul: an array without axes was given"},
    {"matmul(x, y)", KILN_ERROR_SHAPE, "matmul: 3 elements of the first array meet 4 of the second"},
    {"vecdot(s, y)", KILN_ERROR_SHAPE, "vecdot: an array without axes was given"},
    {"matvec(y, y)", KILN_ERROR_SHAPE, "matvec: a matrix and a vector were expected"},
    {"vecmat(y, y)", KILN_ERROR_SHAPE, "vecmat: a vector and a matrix were expected"},
    {"cross(y, y)", KILN_ERROR_SHAPE, ""},
    {"tensordot(x, y, 1)", KILN_ERROR_SHAPE, "tensordot: 3 elements of the first array meet 4"},
    {"tensordot(x, y, 2)", KILN_ERROR_SHAPE, "tensordot: axis 1 was given; array 1 has 1"},
    {"tensordot(x, y, -1)", KILN_ERROR_SYNTAX, "axes: -1 was given; 0 to 64 were expected"},
    {"tensordot(x, y, [0, 1, 2])", KILN_ERROR_SYNTAX, "axes: a number, or two lists, were expected"},
    {"tensordot(x, y, [[0], [0, 1]])", KILN_ERROR_SYNTAX, "axes: 1 and 2 were given"},
    {"einsum(x, 'ij')", KILN_ERROR_SYNTAX, "subscripts in quotes, and arrays, were expected"},
    {"einsum('i1,i', y, y)", KILN_ERROR_INVALID, "subscripts: 'i1,i' was given"},
    {"einsum('i->j', y)", KILN_ERROR_INVALID, "subscripts: 'i->j' was given"},
    {"histogramdd(x)", KILN_ERROR_SYNTAX, "sample: a list of arrays was expected, or a list of bins"},
    {"histogramdd(x, [2, 2])[0]", KILN_ERROR_SHAPE, "2 axes and 3 columns was given; a matrix of 2 columns"},
    {"histogramdd(y, [2, 2])[0]", KILN_ERROR_SHAPE, "1 axes and 1 columns was given; a matrix of 2 columns"},
    {"histogramdd([y], y)", KILN_ERROR_SYNTAX,
     "bins: a number, or a list of numbers and edges, was expected"},
    {"histogramdd([y], 0)", KILN_ERROR_SYNTAX, "bins: 0 was given; at least 1 was expected"},
    {"histogramdd([y], [x])[0]", KILN_ERROR_SHAPE, "the edges of column 0 have 2 axes and 2 elements"},
    {"histogramdd([y], [y[:1]])[0]", KILN_ERROR_SHAPE, "have 1 axes and 1 elements; one axis of at least 2"},
    {"histogramdd([y, y], [2, 2, 2])", KILN_ERROR_SYNTAX,
     "bins: 3 were given; as many as there are columns, 2"},
    {"histogramdd([y], 2, y)", KILN_ERROR_SYNTAX, "range: a list was expected"},
    {"histogramdd([y], 2, [(2, 1)])", KILN_ERROR_SYNTAX, "range: two finite numbers"},
    {"histogramdd([y], 2, [(1, inf)])", KILN_ERROR_SYNTAX, "range: two finite numbers"},
    {"histogramdd([y], [[0, 2]], [(1, 2)])", KILN_ERROR_SYNTAX,
     "range: was given beside the edges of column 0"},
    {"histogramdd([y, y, y], [40000, 40000, 4])[0]", KILN_ERROR_SHAPE, "at most 2147483647 in all"},
    {"unique(x, axis=2)", KILN_ERROR_SHAPE, "unique: axis: 2 was given"},
    {"unique(x, axis=-3)", KILN_ERROR_SHAPE, "unique: axis: -3 was given"},
    {"unique(x, True, axis=2)[1]", KILN_ERROR_SHAPE, "unique: axis: 2 was given"},
    {"unique(x, axis=y)", KILN_ERROR_SYNTAX, "axis"},
    {"unique(broadcast_to(y[0], [3, 257]), axis=0)", KILN_ERROR_SHAPE,
     "parts along axis 0 have 257 elements; 1 to 256 were expected"},
    {"einsum('..i', y)", KILN_ERROR_INVALID, "subscripts: '..i' was given"},
    {"einsum('...i...', y)", KILN_ERROR_INVALID, "subscripts: '...i...' was given"},
    {"einsum('...ij', y)", KILN_ERROR_INVALID, "subscripts: '...ij' was given"},
    {"einsum('...->', y)", KILN_ERROR_INVALID, "subscripts: '...->' was given"},
    {"einsum('...,...', y)", KILN_ERROR_INVALID, "operands: 1 were given; subscripts have 2"},
    {"einsum('i,i', y)", KILN_ERROR_INVALID, "operands: 1 were given; subscripts have 2"},
    {"einsum('ij', y)", KILN_ERROR_SHAPE, "operand 0 has 1 axes; its subscripts are 'ij'"},
    {"array_equal(n, y)", KILN_ERROR_TYPE, "argument 0 is a number here"},
};

static void each_is_refused(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof refused / sizeof refused[0]; ++k) {
        const kiln_status ended = compute(refused[k].text);
        if (ended != refused[k].status || !strstr(kiln_error_message(), refused[k].message))
            print_error("%s ended with %s: %s\n", refused[k].text, kiln_status_name(ended),
                        kiln_error_message());
        assert_int_equal(ended, refused[k].status);
        assert_non_null(strstr(kiln_error_message(), refused[k].message));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
