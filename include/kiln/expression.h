/*
 * kiln/expression.h - kernels from expressions in NumPy's syntax.
 *
 *     kiln_kernel *f = NULL;
 *     kiln_expression_create(&f, "x, g",
 *                            "m = mean(x, axis=-1, keepdims=True)\n"
 *                            "d = x - m\n"
 *                            "d / sqrt(mean(d*d, axis=-1, keepdims=True) + 1e-5) * g", NULL);
 *     kiln_arg args[] = {kiln_arg_array(x), kiln_arg_array(y)};
 *     kiln_array *normal = NULL;
 *     kiln_kernel_call(f, &normal, 1, args, 2, NULL);        // one launch, where rows fit
 *     kiln_kernel_free(f);
 *
 * The result is a kernel like any other: kiln_kernel_call, _prepare, _source, _explain and
 * _launches take it, and a second call with the same dtypes and layouts finds its plan. Inputs are
 * arrays, typed scalars and weak ones, of any dtypes and of shapes that broadcast; dtypes and
 * shapes of the results are exactly those of the operations (kiln/operation.h) called one by one,
 * and so NumPy 2's. A scalar is handed to each launch: another value compiles nothing. Other shapes
 * of the same ranks mostly find code that is there: over random ones an expression of one kernel
 * comes to 8 binaries at most on the host and 56 on a GPU, where long rows and short ones differ.
 * Expressions of any size are computed: what no kernel can hold is split.
 *
 * Statements are separated by newlines or semicolons; a newline inside brackets is a blank, and
 * "#" begins a comment. All but the last give names to values ("m = ...", "low, high = a, b"); a
 * name may be given again. The last one is the result, or, with commas, several results; it may be
 * an assignment. What no result needs is not computed, what is written twice is computed once.
 *
 *   text       := { statement ( newline | ";" ) } statement
 *   statement  := [ name { "," name } "=" ] list
 *   statement  := name "[" index { "," index } "]" [ operator ] "=" list
 *   list       := value { "," value } [ "," ]
 *   value      := number | name | "(" list ")" | "[" list "]" | sign value | value operator value
 *   value      := function "(" arguments ")" | value "." method "(" arguments ")"
 *   value      := value "." attribute | value "[" index { "," index } "]"
 *   index      := [ whole ] ":" [ whole ] [ ":" [ whole ] ] | whole | "None" | "..." | value
 *
 * Where a value is expected, a list or a tuple of numbers is an array of NumPy's dtype, add(x, [1,
 * 2.5]), and one of arrays is their stack; array(list, dtype) says the dtype.
 *
 * An index may have arrays: whole numbers, or masks; a list of numbers is one, x[[0, 2]]. Shapes,
 * and the order of axes, are NumPy's for every mixture (kiln/index.h). What x[mask] has can be a
 * result, or be reduced, and what else is computed from it takes a call of its own (below).
 * x[...] = y, x[...] += y and x += y give the name x to a changed copy of its dtype, by NumPy's
 * rule of casting; as the result of a call for x itself it is changed in place. So do copyto,
 * fill_diagonal, place, put, put_along_axis and putmask, which may be statements.
 *
 * Operators, the loosest first, as in Python: < <= > >= == != | ^ & << >> + - * / // % @ (matmul)
 * and, in front of a value, - + ~, then **, which is taken from the right. "and", "or", "not",
 * chains of comparisons and "if" have no meaning for arrays; the error says what to write instead.
 *
 * Numbers are Python's: 3, 0xff, 1_000, 2.5e-3, 1j, and the names pi, e, inf, nan, True, False.
 * Whole numbers have 64 bits. Operators on numbers alone are computed as Python does (2 / 3 is a
 * float, 7 // 2 and 2 ** 3 are whole, 1 / 0 is refused), and what comes of it is weak as they are:
 * it takes the dtype of the arrays that it meets, as kiln/operation.h has it, and is refused where
 * that cannot hold it. So it is with inputs by value: each call computes its numbers as Python
 * does, and with s = 5 uint8's x + (s - 10) is refused, while clip(x, s - 10, 100) has no lower
 * bound. (What int, float, complex and bool make of a function's result, int(sqrt(s)), is known to
 * the device alone, and wraps there.) A function makes a number of a dtype of it, as NumPy's do:
 * with x of float32, x * 2 ** 0.5 is float32 and x * sqrt(2) float64.
 *
 * float16 and bfloat16 are computed in float32, and rounded by casts, in results, and where another
 * kernel reads them (kiln/kernel.h): with x of float16 300, x * x == inf is False, and
 * float16(x * x) == inf True. With KILN_KERNEL_ROUND_EACH or KILN_ROUND=each both are True, as in
 * NumPy.
 *
 * Functions, each with or without "np." in front, and as methods, x.sum(axis=0):
 * - all operations, those that were registered too, by their names and by NumPy's other ones
 *   (absolute, acos, amax, conj, mod, pow ...). Arguments go by place or by name. Reductions take
 *   axis (a whole number, a tuple of them, None for all) and keepdims; var and std take ddof.
 *   where=, a mask that broadcasts to x, leaves elements out of sum, prod, max, min, mean, var,
 *   std, all, any, nansum, nanmax and nanmin; initial= is one more element of sums, products and
 *   extremes, without which the latter take no mask.
 * - elementwise ones take out=, where=, dtype=, casting= and order=, as NumPy's do; every function
 *   takes out=. The name that is given as out is the result's from there on: "add(x, y, out=z,
 *   where=m); z * 2". A new array may be given, too: divide(x, y, out=zeros_like(x), where=y != 0).
 *   Without out, elements that where leaves out are 0. dtype= is the dtype of the results, in which
 *   is computed; order= says how an array lies that the call allocates for the result.
 * - NumPy's methods of ufuncs, of operations of two inputs, those that were registered too:
 *   add.reduce(x, axis=1), add.accumulate(x), subtract.outer(x, y), and divide.at(x, indices, y),
 *   which may be a statement. Along axis 0 where none is given. Reductions and scans take operands
 *   in any order, and so only operations of the table whose results do not depend on it (add,
 *   multiply, extremes, logical and bitwise ones, gcd, lcm, hypot, logaddexp), and those that
 *   callers register; at combines one value after the other.
 * - x.astype(float32), astype(x, dtype), and float32(x) of any dtype's name. int(x), float(x),
 *   complex(x) and bool(x) make weak numbers of numbers: x * float(sqrt(2)) is float32, too.
 * - reshape(x, shape), x.reshape(2, -1), ravel, transpose(x, axes), x.T, expand_dims, squeeze,
 *   x[1:, ::2, 0, None, ..., -1]. Bounds and axes are numbers that stand in the text; an extent of
 *   reshape may be computed from those of arrays. Of inputs these are views, and cost nothing.
 *   Bounds and indices may be computed, x[n // 2:] and x[n, i], whose elements are read, and are
 *   assigned, by their places: views they are not.
 * - zeros_like(x), ones_like, full_like(x, value), zeros(shape), ones, full(shape, value), each
 *   with dtype=, and broadcast_to(x, shape); a shape is numbers and extents, or y.shape. sum, prod,
 *   mean, var and std take dtype=, in which they are computed.
 * - swapaxes, moveaxis, rollaxis, flip, rot90, diagonal, atleast_1d to atleast_3d, split and its
 *   relatives (hsplit along axis 1): views. concatenate, stack, vstack, hstack, dstack and
 *   column_stack of lists of arrays, append, roll, repeat, tile and pad (all of NumPy's modes): a
 *   launch each, but for pads by what an axis has. Axes and counts stand in the text.
 * - functions that are expressions of these, as NumPy has them: isclose, allclose, outer, eye,
 *   identity, tri, tril, triu, vander, meshgrid, mgrid[0:3, 0:1:5j] and ogrid, cov and corrcoef
 *   (of two axes), ediff1d, fliplr, flipud, nanprod, nanargmax and nanargmin (0 where all are
 *   NaN), trace, average (weights of the same axes), gradient (a distance or places for each axis;
 *   several axes, or "dy, dx = gradient(f)", give as many results) and unwrap along the last axis
 *   if none is given, windows such as hanning, interp, convolve, select, choose, insert, delete,
 *   sliding_window_view, einsum, matmul and others: docs/numpy.md lists them. Sums of products are
 *   direct. kiln/ops.h has them in C.
 * - random numbers (kiln/random.h), normal(key, at, loc, scale) and NumPy's other distributions:
 *   of a key, a whole number from 0 on, and the numbers of elements, arange(n). dtype= says of what
 *   kind. choice, dirichlet, permutation and shuffle are expressions of them.
 * - x.shape[0], x.size, x.ndim, x.itemsize, x.nbytes, len(x): weak whole numbers, which are known
 *   once a call's arrays are. arange(stop), arange(start, stop, step, dtype=...) of numbers and
 *   such extents: int64, or float64 where one of them is a float.
 * - attributes and methods of NumPy's arrays, x.mT, x.real, x.sum(axis=0), x.item(3): docs/numpy.md
 *   lists them. x.sort(), x.partition(k), x.fill(v), x.put(i, v) and x.resize(shape) give the name
 *   x its new value.
 * - kernels of options->kernels, by kiln_kernel_name: elementwise ones, and reductions with axis
 *   and keepdims. Their parameters may be raw (but not _non_const too), and no structs. Dtypes are
 *   settled as in a call of the kernel: arrays have those that are declared, numbers are converted.
 *   One with several outputs gives a tuple: "low, high = bounds(x)", or bounds(x)[0]. They come
 *   before functions of the same name. Kernels of expressions and traces are functions as well:
 *   what they compute becomes part of this one. What cannot share a kernel is launched by itself
 *   in between: kernels with raw parameters, with loop_prep, after_loop, flags, headers or options
 *   of the compiler (but KILN_KERNEL_ROUND_EACH in an expression that has it), whose texts use
 *   i, n or _ind or leave an element early, or look at the bits of 16-bit floats, and what comes of
 *   expressions that were made with options of their own, which they keep.
 *
 * What is computed from arrays of as many elements as the data says (x[x > 0] - 1, unique(x) * 2,
 * nonzero(x)[0], but for reductions of x[mask]) takes a call of its own: the first part of the
 * expression runs, the call waits for the numbers of elements, and the rest runs. So does what has
 * a shape that depends on an element: arange(max(x)), zeros((n, 2)) of an array n without axes,
 * repeat(x, counts), bincount(x). A capture cannot record such a call, a trace has no arrays of the
 * latter shapes, and kiln_kernel_prepare and its like take as many elements as there may be, for
 * the latter as many as the largest array has. A number that is given by value, of which a shape is
 * made, is part of what a call is remembered by: nothing waits.
 *
 * params names the inputs in the order in which calls give them: "x, g"; "" for none. Names are
 * made of ASCII letters, digits and "_", 63 at most, and hide constants and functions of the same
 * name where they are not called. Of options flags and kernels matter; preamble, headers and
 * compile_options reach the fused code too; loop_prep and after_loop are refused.
 */
#ifndef KILN_EXPRESSION_H
#define KILN_EXPRESSION_H

#include <kiln/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Parses and checks the expression; compiles nothing. All strings are copied, and the kernels that
 * it uses are retained. The kernel's outputs are the results, in their order. *out, to be given to
 * kiln_kernel_free, is unchanged on failure. A kernel is immutable and may be used by any number of
 * threads. Errors, with the text and a caret under the place: KILN_ERROR_SYNTAX for what does not
 * parse, names that mean nothing (with the nearest that does), arguments that are missing, too many
 * or unknown, axes and bounds that are no whole numbers; KILN_ERROR_INVALID for numbers without a
 * result (1 / 0), a name twice in params, more than 64 inputs or results, more than 16,384
 * different values, wrong options and NULL. KILN_ERROR_MEMORY.
 *
 * A call refuses, with a caret as well: dtypes that an operation has no meaning for, and numbers
 * that do not fit theirs (KILN_ERROR_TYPE), shapes that do not broadcast, indices out of range
 * (KILN_ERROR_SHAPE), axes out of range, nothing to reduce where there is no identity, and shapes
 * that would depend on values (KILN_ERROR_INVALID); else the errors of kiln_kernel_call. */
KILN_NODISCARD KILN_API kiln_status kiln_expression_create(kiln_kernel **out, const char *params,
                                                           const char *expression,
                                                           const kiln_kernel_options *options);

/* The usual value of a function's whole number. */
#define KILN_USUAL INT64_MIN

/* A function that is an expression of others, by name: kiln_function_call(&y, 1, "tril", in, 2,
 * NULL); kiln/ops.h has each with its parameters: kiln_tril(&y, x, -1). in: all of its arguments in
 * order, but for axis and keepdims, which are those of options. Behind them may stand those that
 * functions of kiln/ops.h do without, all of them, as NumPy's come: retstep and axis of linspace.
 * A number that has to be whole is given by value (kiln_arg_int), or is KILN_USUAL; a dtype is
 * given as a whole number, or is KILN_DTYPE_NONE; a word is kiln_arg_struct of its letters, a list
 * of arrays or of whole numbers that of its kiln_args or int64_ts, and an array may stand for a
 * list of what lies along its first axis; kiln_arg_none() stands for what may be absent. Arrays of
 * a trace are recorded. Kernels are remembered by name, numbers, words, dtypes and axes. Results
 * that are views in NumPy (flip, swapaxes, diagonal ...) are views, where no array is given for
 * them. KILN_ERROR_NOT_FOUND for a name that none has; KILN_ERROR_INVALID for NULL, another number
 * of arguments, and an argument that is no whole number, word or list; else the errors of
 * kiln_expression_create and kiln_kernel_call. */
KILN_NODISCARD KILN_API kiln_status kiln_function_call(kiln_array **out, int n_out,
                                                       const char *name, const kiln_arg *in,
                                                       int n_in, const kiln_call_options *options);

/* Options of an operation that is called by name: what functions of NumPy take beside inputs. */
typedef struct kiln_apply_options {
    size_t struct_size;
    kiln_dtype dtype;    /* of the results, in which is computed; KILN_DTYPE_NONE: the usual one */
    const char *casting; /* "no", "equiv", "safe", "same_kind", "unsafe"; NULL: "same_kind" */
    const kiln_arg *where;   /* a mask, which broadcasts; NULL: all elements */
    const kiln_arg *initial; /* of sums, products and extremes: one more element; NULL: none */
} kiln_apply_options;
#define KILN_APPLY_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(kiln_apply_options), KILN_DTYPE_NONE, NULL, NULL, NULL                              \
    }

/* kiln_apply with these, as in expressions: z where m is true, else what z has been, is
 *
 *     kiln_apply_options with = KILN_APPLY_OPTIONS_INIT;
 *     with.where = &mask;
 *     kiln_apply_with(&z, 1, "add", in, 2, &with, NULL);
 *
 * Elements that a mask leaves out of an elementwise operation stay as they are in a given array,
 * and are 0 in one that the call allocates. with NULL: kiln_apply.
 *
 * NumPy's methods of ufuncs have names with a point: "area.reduce" and "area.accumulate" of x,
 * "area.outer" of x and y, "area.at" of x, an array of indices or one number, and y. Reductions are
 * over options->axes, or all axes, "accumulate" along one, or the first. "at" gives a changed copy,
 * and changes x in place where out is x, too.
 *
 * KILN_ERROR_NOT_FOUND for a name that no operation has; KILN_ERROR_INVALID for NULL, wrong counts
 * and a word that is no casting; KILN_ERROR_SYNTAX for what the operation does not take; else the
 * errors of kiln_expression_create and kiln_kernel_call. */
KILN_NODISCARD KILN_API kiln_status kiln_apply_with(kiln_array **out, int n_out, const char *name,
                                                    const kiln_arg *in, int n_in,
                                                    const kiln_apply_options *with,
                                                    const kiln_call_options *options);

#ifdef __cplusplus
}
#endif
#endif
