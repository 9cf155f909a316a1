/*
 * kiln/operation.h - operations by name: kernels for every dtype, in one table.
 *
 *     kiln_array *mean = NULL;
 *     kiln_arg photo = kiln_arg_array(x);                          // uint8
 *     kiln_operation_call(&mean, 1, "mean", &photo, 1, NULL);      // float64, of all elements
 *
 *     kiln_operation area = KILN_OPERATION_INIT;
 *     area.name = "area";
 *     area.in_params = "T w, T h";
 *     area.out_params = "T z";
 *     area.types = "ff->f dd->d";
 *     area.map = "z = w * h";
 *     kiln_operation_register(&area);                              // and now "area" is one of them
 *
 * An operation is a name and variants, tried in order: the first to whose dtypes all inputs can be
 * cast safely (kiln_dtype_can_cast) computes. A number passed by value is weak, as in NumPy 2: it
 * takes the dtype that the arrays beside it ask for. What is there, beside what callers register:
 *
 * reductions: sum prod nansum, min max nanmin nanmax ptp, argmin argmax (the first of equal ones,
 *   in C order of the reduced axes), all any count_nonzero, mean, var std, norm_1 norm_2 norm_inf,
 *   softmax_sum (the sum of exp(x - max(x)), in one pass);
 * scans: cumsum cumprod cummin cummax logcumsumexp;
 * elementwise: NumPy's functions under its names, of arithmetic, exponents, angles, rounding,
 *   order, truth and bits; divmod, modf and frexp have two results. kiln/ops.h, which is generated
 *   from the table, lists them all;
 * special functions, under SciPy's names: erf erfc erfcx erfinv erfcinv, gamma gammaln digamma
 *   polygamma zeta, expit logit log_expit, ndtr ndtri log_ndtr, i0 i0e i1 i1e j0 j1 y0 y1, entr
 *   rel_entr kl_div xlogy xlog1py. Dtypes are SciPy's, but 16-bit floats stay as they are.
 *
 * Results are NumPy's in dtype and, apart from rounding, in value: sums of small integers are int64
 * or uint64, a NaN is the least and the greatest of all unless the name begins with nan, complex
 * numbers are in order of their real parts, then of their imaginary ones, and reducing nothing is
 * KILN_ERROR_INVALID where there is no value for it. float16 and bfloat16 are computed and
 * summed in float32, and a call rounds its result once.
 * var and std take the degrees of freedom to be taken off (NumPy's ddof) as a second, scalar
 * argument: kiln_args(x, 1). They go over the elements once, by the formula of Chan, Golub and
 * LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances", 1979, so
 * that nothing cancels. Where NumPy raises and a kernel cannot: an integer to the power of a
 * negative one is 0, or 1 or -1 for a base of these. A whole number by value that the dtype of the
 * arrays beside it cannot hold is refused; comparisons and quotients, whose dtypes it does not
 * change, take it as it is, logical operations take the truth of any number, and a bound of clip
 * beyond the dtype's end is that end; a number that is clipped itself has the dtype which it has
 * alone, clip(5, x, 100) int64. (NumPy's where wraps such a number without a word.) The
 * condition of where may be of any dtype. A number by value beyond a floating dtype is an infinity
 * of that dtype, for operations, expressions and kernels alike, as in NumPy 2. sum, prod and
 * nansum of booleans may be stored in booleans: whether any is true, and whether all are.
 *
 * An operation of two inputs and one result, a registered one too, has NumPy's methods of ufuncs,
 * reduce, accumulate, outer and at: in expressions, and by kiln_apply_with (kiln/expression.h).
 *
 * All functions are thread-safe. Option structs and errors are those of kiln/kernel.h.
 */
#ifndef KILN_OPERATION_H
#define KILN_OPERATION_H

#include <kiln/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Variants of an operation that have their texts in common. */
typedef struct kiln_operation {
    size_t struct_size;
    const char *name; /* a C identifier */
    /* signatures as kiln_elementwise_create and kiln_reduction_create take them, without structs */
    const char *in_params, *out_params;
    /* The variants, in the order in which they are tried, separated by blanks: a letter for each
     * input, "->", a letter for each output: "bb->b ff->f". Letters are NumPy's: ? bool, bhil and
     * BHIL int8 to int64 and uint8 to uint64, e float16, E bfloat16, f float32, d float64, F
     * complex64, D complex128. A placeholder of the signatures is the type of its letter, in the
     * preamble too. (Until C23 a string has no ??- in it: "?\?->?" says that of two booleans.) */
    const char *types;
    /* The body of an elementwise operation; of a reduction, the expression of the inputs. NULL: the
     * operation has no meaning for these dtypes, and calls with them are KILN_ERROR_TYPE. */
    const char *map;
    const char *reduce;      /* NULL: elementwise, and so are these: */
    const char *post;        /* of a reduction: required */
    const char *identity;    /* NULL: none */
    const char *reduce_type; /* as in kiln_kernel_options */
    const char *preamble;    /* NULL: none */
    /* As in kiln_kernel_options: how its kernels are compiled. An operation that says one of these
     * shares no kernel with others in expressions and traces. */
    unsigned flags; /* KILN_KERNEL_* */
    const char *loop_prep, *after_loop;
    const char *const *compile_options;
    int n_compile_options;
    const char *const *header_names;
    const char *const *header_texts;
    int n_headers;
} kiln_operation;
#define KILN_OPERATION_INIT                                                                        \
    {                                                                                              \
        sizeof(kiln_operation), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0,     \
            NULL, NULL, NULL, 0, NULL, NULL, 0                                                     \
    }

/* Adds an operation, or variants to one: they are tried after those that are there. The definition
 * is copied, and checked as far as that goes without a compiler. An error names the member:
 * KILN_ERROR_INVALID (NULL, struct_size, a name that is no identifier, another number of outputs
 * or another kind than the operation has, reserved names), KILN_ERROR_SYNTAX, KILN_ERROR_TYPE
 * (types that do not fit the signatures, or would never be chosen, since a variant before them
 * takes these dtypes), KILN_ERROR_MEMORY. After an error nothing is added. */
KILN_NODISCARD KILN_API kiln_status kiln_operation_register(const kiln_operation *definition);

/* kiln_kernel_call by name. Inputs are broadcast and cast, and reductions reduce options->axes. out
 * as for kiln_kernel_call; a given array may have any dtype of the same kind as the result's, or of
 * one above it (NumPy's casting="same_kind"). KILN_ERROR_NOT_FOUND for a name that no operation
 * has; KILN_ERROR_TYPE where no variant takes the inputs, for an output of a lower kind, and for an
 * array where a scalar is wanted; else the errors of kiln_kernel_call. */
KILN_NODISCARD KILN_API kiln_status kiln_operation_call(kiln_array **out, int n_out,
                                                        const char *name, const kiln_arg *in,
                                                        int n_in, const kiln_call_options *options);

/* The same, by the name that says what is done: kiln_apply(&z, 1, "add", in, 2, NULL).
 * kiln/ops.h has a function for each operation of the table, kiln_add(&z, x, y), and operators
 * for C++. */
KILN_NODISCARD KILN_API kiln_status kiln_apply(kiln_array **out, int n_out, const char *name,
                                               const kiln_arg *in, int n_in,
                                               const kiln_call_options *options);

/* The kernel that inputs of these dtypes get: for kiln_kernel_prepare, _source and _explain, or to
 * save calls the search. It lives as long as the library, and is not to be freed. *out is unchanged
 * on failure; errors as for kiln_operation_call. */
KILN_NODISCARD KILN_API kiln_status kiln_operation_kernel(kiln_kernel **out, const char *name,
                                                          const kiln_dtype *in, int n_in);

/* The number of definitions, and the definition at an index below it: built-in ones before
 * registered ones, in the order of registration. Definitions of one name are one operation. The
 * texts live as long as the library. KILN_ERROR_INVALID for an index out of range, and if
 * out->struct_size is not set. */
KILN_API int kiln_operation_count(void);
KILN_NODISCARD KILN_API kiln_status kiln_operation_at(kiln_operation *out, int index);

#ifdef __cplusplus
}
#endif
#endif
