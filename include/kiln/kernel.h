/*
 * kiln/kernel.h - kernels defined by C strings.
 *
 *     kiln_kernel *k = NULL;
 *     kiln_elementwise_create(&k, "T x, T y", "T z", "z = (x - y) * (x - y)", "squared", NULL);
 *     kiln_array *z = NULL;                                  // NULL: allocated by the call
 *     kiln_arg in[] = {kiln_arg_array(x), kiln_arg_float(5)};
 *     kiln_kernel_call(k, &z, 1, in, 2, NULL);               // broadcasts as NumPy does
 *     kiln_array_free(z);
 *     kiln_kernel_free(k);
 *
 * docs/language.md (`kiln help language`) is the manual of what follows, with examples.
 *
 * Signatures are CuPy's: comma-separated "[raw] [_non_const] type name", where type is a dtype's
 * name, one capital letter (a placeholder, the same type wherever it stands; inside the body it is
 * the name of that type), or the name of a struct that the preamble declares. Names are NumPy's:
 * `float` and `int` are float64 and int64, whatever they are in the body. In the body `i` is the
 * C-order index of the element and `n` the number of elements, unless a parameter has that name;
 * `i`, `_ind`, and names that begin with `_` or `kn_` are reserved. Inputs are constants, outputs
 * references: where the body does not assign an output, or reads it first, it has its old value,
 * which is zero where the call allocated the output. That costs a fill of such an output, unless
 * the text shows that each element is assigned; a text that includes headers does not show it.
 * In an expression what a kernel leaves is zero, wherever the result is stored.
 * `continue` and `return` end the element. A raw array x is
 * indexed by x[k], its kth element in C order, or by as many integers as it has axes: x[list],
 * x(j, k), x[_ind.get()]; x.size(), x.shape() and x.strides() describe it, as _ind.size() and
 * _ind.shape() do the loop, where _ind.get() is the index along each axis. One without axes is its
 * element, at index 0; a scalar given for a raw parameter is a number. float16 and
 * bfloat16 convert to float and back, and so C++ cannot choose a type for `x > 0 ? x : 0` where x
 * is one of them, as in CuPy: `x > 0 ? x : (T)0` stays in T, `x > 0 ? +x : 0` is a float.
 *
 * Within a kernel what is computed of float16 and bfloat16 stays float32. It is rounded by a cast
 * to such a dtype, in a variable of its type (`T t = x * y`), in an output, and where another
 * kernel reads it: in bodies, maps of reductions, expressions and traces alike.
 * KILN_KERNEL_ROUND_EACH and the environment's KILN_ROUND=each round every operation, as NumPy
 * does.
 *
 * Arithmetic is C++'s, but integers never trap and never depend on the target: x / 0 and x % 0 are
 * 0, the least integer by -1 is itself and leaves 0, sums and products wrap, and a shift by a
 * negative count or by all the bits of its left operand leaves no bit (0, or -1 for a negative
 * number by >>), all as in NumPy; a quotient is cut towards zero and a remainder has the
 * sign of x, as in C++. This holds for the operators / % << >> and their assignments in the body,
 * the preamble, loop_prep, after_loop, and macros defined there (unless one of the texts has an #if
 * or #elif, which could not evaluate them). What headers and options bring in is C++ as it stands,
 * raw modules too. To divide a bit-field in place, write s.bits = s.bits / y. What a float beyond
 * an integer's range, or a NaN, becomes in a cast is the processor's business, as in NumPy: it
 * never traps, and may differ between targets.
 *
 * A kernel is immutable and may be used by any number of threads.
 */
#ifndef KILN_KERNEL_H
#define KILN_KERNEL_H

#include <kiln/arg.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- simplest: a body and its arrays in one call ---- */

/* kiln_elementwise_create and kiln_kernel_call in one, with no options. The kernel is remembered by
 * its texts: a second call with the same texts finds it. */
KILN_NODISCARD KILN_API kiln_status kiln_map(kiln_array **out, int n_out, const char *in_params,
                                             const char *out_params, const char *body,
                                             const kiln_arg *in, int n_in);

/* ---- options of a kernel (NULL: none) ---- */

/* A kernel; its members are the library's. */
typedef struct kiln_kernel kiln_kernel;

enum {
    /* approximate division, square root and functions; denormals may be flushed */
    KILN_KERNEL_FAST_MATH = 1,
    KILN_KERNEL_NO_FMA = 2, /* a*b+c is rounded twice; on the host g++ before 14 always does so */
    /* Each index of a raw operand is checked, and a call waits for its kernel: where one was
     * outside, and in its place read or wrote nothing of the array, KILN_ERROR_INVALID names
     * kernel, operand, index and bound. Of several the first that came; of calls of one kernel
     * at the same time any. In a capture it is not reported. The environment's KILN_CHECK=1 sets
     * this for all kernels. */
    KILN_KERNEL_CHECK = 4,
    /* Each operation on 16-bit floats is rounded to their dtype, as NumPy and calls one by one do,
     * rather than what is cast, declared, stored and read by another kernel alone. In a body + - *
     * / and functions of 16-bit numbers, and of integers beside them, give 16-bit numbers then; +x
     * is a float32. The environment's KILN_ROUND=each sets this for all kernels that are made, of
     * expressions and traces too; KILN_ROUND=stored, and none, is the default. */
    KILN_KERNEL_ROUND_EACH = 8,
    KILN_KERNEL_EXCLUSIVE = 16, /* kiln_scan_create alone: of the elements before each one */
    KILN_KERNEL_REVERSED = 32,  /* kiln_scan_create alone: from the last element to the first */
    /* kiln_histogram_create, and sums by keys and `add_at` of kiln_expression_create: sums of
     * floats may be added in the order in which they arrive, by atomic functions: sooner done for
     * many bins, and other bits on each run. */
    KILN_KERNEL_ANY_ORDER = 64
};

/* Options of a kernel besides its texts; the default is all zero. */
typedef struct kiln_kernel_options {
    size_t struct_size;
    unsigned flags;         /* KILN_KERNEL_* */
    const char *preamble;   /* declarations in front of the kernel; NULL: none */
    const char *loop_prep;  /* statements run once in each thread, before its elements */
    const char *after_loop; /* ... after its elements */
    /* Given to the compiler as they are, for instance "-DWIDTH=3" or "-Ifolder" (from the working
     * directory); for the host alone also "-Lfolder" and "-lname", a library that has functions
     * which the texts declare. A kernel keeps the code that it has called; one made after a header,
     * or any file that the compiler read, has changed has the new text. */
    const char *const *compile_options;
    int n_compile_options;
    const char *const *header_names; /* headers that an #include finds in memory */
    const char *const *header_texts; /* what each of them holds */
    int n_headers;                   /* how many */
    /* reductions and scans alone: the type in which values are combined, a dtype's name, a
     * placeholder or a struct of the preamble ("pair", "pair<T>" of a template, of which T is a
     * placeholder).
     * NULL: that of the first output, float32 for float16 and bfloat16 */
    const char *reduce_type;
    /* kiln_expression_create alone: n_kernels kernels that the expression calls by their names,
     * elementwise ones, reductions and expressions. It keeps a reference to those that it uses. */
    struct kiln_kernel *const *kernels;
    int n_kernels;
} kiln_kernel_options;
#define KILN_KERNEL_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(kiln_kernel_options), 0, NULL, NULL, NULL, NULL, 0, NULL, NULL, 0, NULL, NULL, 0    \
    }

/* ---- kernels: defined once, called many times ---- */

/* Parses and checks the definition; compiles nothing. All strings are copied. name must be a C
 * identifier; NULL: "kernel". KILN_ERROR_SYNTAX, with the text and a caret, for a signature or
 * snippet that does not parse; KILN_ERROR_INVALID for reserved names, and for an output that the
 * body cannot assign. */
KILN_NODISCARD KILN_API kiln_status kiln_elementwise_create(kiln_kernel **out,
                                                            const char *in_params,
                                                            const char *out_params,
                                                            const char *body, const char *name,
                                                            const kiln_kernel_options *options);

/* A reduction: `map`, an expression of the inputs, gives a value for each element of their
 * broadcast shape; `reduce`, an expression of `a` and `b`, makes one value of two, and in the end
 * one of all along the reduced axes of the call; `post`, statements, assigns the outputs from that
 * value, `a`. The reduce expression has to be associative and commutative, apart from rounding: the
 * order in which elements meet is kiln's, and always the same for the same input, layout and
 * target. identity, an expression, is the result where there is nothing to reduce; it may name
 * inputs that are given by value. NULL: then there is none, and reducing nothing is
 * KILN_ERROR_INVALID. In map, `_J` is the C-order index among the
 * reduced axes, `i` that in the whole shape; everywhere `_in_ind.size()` is the number of elements
 * that are read, `_out_ind.size()` that of the results, and `_index` a signed type that holds every
 * `_J` of the call: int, or long long where the call has more elements than an int counts. In
 * reduce, the bool `_follows` is true where each `_J` of `b` is known to be greater than all of
 * `a`: then no indices need to be compared. Where a and b are structs, choose with `if` which one
 * to return, or choose member by member: g++ does not vectorise `c ? a : b`, and the host takes 20
 * times as long. Texts and errors are otherwise those of kiln_elementwise_create. The 2-norm of
 * rows:
 *
 *     kiln_reduction_create(&k, "T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm", NULL);
 */
KILN_NODISCARD KILN_API kiln_status kiln_reduction_create(kiln_kernel **out, const char *in_params,
                                                          const char *out_params, const char *map,
                                                          const char *reduce, const char *post,
                                                          const char *identity, const char *name,
                                                          const kiln_kernel_options *options);

/* A scan: each result is what `scan`, an expression of `a` and `b`, makes of the mapped elements
 * from the first one up to this one, or, with KILN_KERNEL_EXCLUSIVE, up to the one before it. The
 * elements stand along the axes of the call (kiln_call_options.axes; several, or all by default,
 * in C order; NULL: all), and begin with the last one where KILN_KERNEL_REVERSED is set. `a` is of
 * the earlier elements: the expression has to be associative, and need not be commutative. The
 * outputs have the inputs' broadcast shape. `post`, statements, assigns them from `a`, and may read
 * the element's inputs. identity is what comes before the first element, which only an exclusive
 * scan needs: KILN_ERROR_INVALID where it is NULL there. How elements are grouped is kiln's, by
 * their index and the layout alone: the bits are the same on every run, whatever the expression;
 * of whole numbers the quick form groups otherwise, which an associative expression does not show.
 * In map and post, `_J` is the C-order index among the scanned axes; map may be computed twice for
 * an element. Otherwise texts and errors are those of kiln_reduction_create.
 * Balances of accounts in the rows of an array, y = 1.01 y + x:
 *
 *     options.preamble = "struct map { float m, c; };";
 *     options.reduce_type = "map";
 *     kiln_scan_create(&k, "float32 x", "float32 y", "map{1.01f, x}",
 *                      "map{a.m * b.m, a.c * b.m + b.c}", "y = a.c", NULL, "balance", &options);
 */
KILN_NODISCARD KILN_API kiln_status kiln_scan_create(kiln_kernel **out, const char *in_params,
                                                     const char *out_params, const char *map,
                                                     const char *scan, const char *post,
                                                     const char *identity, const char *name,
                                                     const kiln_kernel_options *options);

/* A selection: of the elements of the inputs' broadcast shape, in C order, those for which `keep`,
 * an expression of the inputs, holds. `body`, statements, assigns the outputs for one of them, from
 * the inputs and `i`, its C-order index. The kernel has one output more than out_params, the last:
 * `count`, an int64 without axes, the number of selected elements. Each other output that a call
 * allocates has one axis of so many elements; the call waits for the count. An output that is given
 * has one axis, too, of any extent: the first elements are written, as many as are selected and as
 * every output holds, and nothing waits. So a capture takes calls that are given all outputs.
 * Elements stay in their order; `keep` may be computed twice for one. Texts and errors are
 * otherwise those of kiln_elementwise_create. Values above a threshold, and their places:
 *
 *     kiln_select_create(&k, "T x, T above", "T y, int64 at", "x > above", "y = x; at = i",
 *                        "peaks", NULL);
 *     kiln_array *out[3] = {NULL, NULL, NULL};               // y, at, count
 *     kiln_kernel_call(k, out, 3, in, 2, NULL);
 */
KILN_NODISCARD KILN_API kiln_status kiln_select_create(kiln_kernel **out, const char *in_params,
                                                       const char *out_params, const char *keep,
                                                       const char *body, const char *name,
                                                       const kiln_kernel_options *options);

/* kiln_select_create and kiln_kernel_call in one, with no options. The kernel is remembered by its
 * texts: a second call with the same texts finds it. */
KILN_NODISCARD KILN_API kiln_status kiln_select(kiln_array **out, int n_out, const char *in_params,
                                                const char *out_params, const char *keep,
                                                const char *body, const kiln_arg *in, int n_in);

/* NumPy's nonzero: the indices (int64) along each axis of the elements of x that are not zero, in
 * C order; out: as many arrays as x has axes, 1 to 16. Waits for their number. KILN_ERROR_TYPE for
 * an x that is no array, KILN_ERROR_SHAPE for another number of axes. */
KILN_NODISCARD KILN_API kiln_status kiln_nonzero(kiln_array **out, kiln_arg x);

/* One more reference to the same kernel: returns kernel. NULL is taken. */
KILN_API kiln_kernel *kiln_kernel_retain(kiln_kernel *kernel);
/* Gives one reference back; NULL is taken. Work that is queued still runs. */
KILN_API void kiln_kernel_free(kiln_kernel *kernel);

/* The name that it was created with; lives as long as the kernel. */
KILN_API const char *kiln_kernel_name(const kiln_kernel *kernel);
KILN_API int kiln_kernel_n_in(const kiln_kernel *kernel);
KILN_API int kiln_kernel_n_out(const kiln_kernel *kernel);
/* The name of input or output k; "" where there is none. Lives as long as the kernel. */
KILN_API const char *kiln_kernel_in_name(const kiln_kernel *kernel, int k);
KILN_API const char *kiln_kernel_out_name(const kiln_kernel *kernel, int k);

/* ---- options of a call (NULL: the defaults) ---- */

/* The strides of outputs that a call allocates. */
typedef enum kiln_order {
    KILN_ORDER_C = 0, /* outputs that the call allocates are C-ordered */
    /* ... have the strides that NumPy gives its results for such inputs (order="K") */
    KILN_ORDER_KEEP = 1,
    KILN_ORDER_FORTRAN = 2, /* ... have their first axis innermost (order="F") */
    KILN_ORDER_ANY = 3      /* ... are as Fortran's if all arrays given are, else C-ordered ("A") */
} kiln_order;

enum {
    KILN_CALL_NO_COMPILE = 1, /* fail with KILN_ERROR_FORBIDDEN rather than compile */
    KILN_CALL_KEEPDIMS = 2,   /* results have extent 1 along reduced axes, rather than none */
    KILN_CALL_BEST = 4        /* wait for the best form (kiln_form) */
};

/* Options of one call; the default is all zero. */
typedef struct kiln_call_options {
    size_t struct_size;
    unsigned flags;      /* KILN_CALL_* */
    kiln_order order;    /* of outputs that the call allocates */
    kiln_stream *stream; /* NULL: the current stream */
    /* elements, where every array is raw; 0: from the arrays, or from shape. Beside arrays that
     * are not raw, such as an output that an earlier call made, as many as these have */
    int64_t size;
    /* threads a block: a multiple of 32 up to 1024; 0: kiln's choice. "host", which has no
     * blocks, ignores it */
    int block;
    /* ndim extents, where every array is raw, instead of size: they may be 0, for no elements at
     * all. Beside other arrays the shape to which these broadcast. NULL: none */
    const int64_t *shape;
    int ndim;
    /* reductions and scans: the axes of the inputs' broadcast shape that are reduced, or scanned,
     * negative ones from the last on; NULL: all of them. Not NULL with n_axes 0: none */
    const int *axes;
    int n_axes;
} kiln_call_options;
#define KILN_CALL_OPTIONS_INIT                                                                     \
    {                                                                                              \
        sizeof(kiln_call_options), 0, KILN_ORDER_C, NULL, 0, 0, NULL, 0, NULL, 0                   \
    }

/* ---- calls ---- */

/* Runs the kernel over the arrays, broadcast against each other; where every array is raw, over
 * options->size elements or options->shape. An out[j] that is not NULL is written in place. An
 * out[j] that is NULL is allocated with the broadcast shape (a raw one with options->size or
 * shape only), and is then the caller's; after a failure it is still NULL. Outputs, and arrays
 * for raw _non_const parameters, may not be read-only. Where an output partly overlaps an input,
 * the result is as if the input had been copied first; overlaps of raw operands are the caller's
 * business. All arrays of one call are on the host, or all are on CUDA devices. Errors:
 * KILN_ERROR_INVALID (counts, null), KILN_ERROR_TYPE, KILN_ERROR_SHAPE, KILN_ERROR_COMPILE,
 * KILN_ERROR_MEMORY, KILN_ERROR_DEVICE, KILN_ERROR_FORBIDDEN, KILN_ERROR_CAPTURE. Queued on the
 * stream; errors of the device may surface later. */
KILN_NODISCARD KILN_API kiln_status kiln_kernel_call(kiln_kernel *kernel, kiln_array **out,
                                                     int n_out, const kiln_arg *in, int n_in,
                                                     const kiln_call_options *options);

/* kiln_map with options of the call, of which size or shape is needed where every array is raw.
 * NULL: the defaults. */
KILN_NODISCARD KILN_API kiln_status kiln_map_call(kiln_array **out, int n_out,
                                                  const char *in_params, const char *out_params,
                                                  const char *body, const kiln_arg *in, int n_in,
                                                  const kiln_call_options *options);

/* ---- advanced: where calls found their code, and which forms of it they take ---- */

/* Where a call found its code. */
typedef enum kiln_origin {
    KILN_ORIGIN_NONE = 0,    /* there was nothing to run */
    KILN_ORIGIN_MEMORY = 1,  /* used before in this process */
    KILN_ORIGIN_DISK = 2,    /* found in the cache or a bundle */
    KILN_ORIGIN_COMPILER = 3 /* compiled now */
} kiln_origin;

/* Elementwise kernels that are in no cache are compiled twice: first in a quick form, one element
 * a thread for any layout (host: without vectors), with which the first calls run; then, by a
 * thread in the background, in the best form for the layout, which later calls take when it is
 * there. Both are cached. On the host reductions of numbers and programs over rows have a quick
 * form too, for their own layout. On CUDA most reductions have one for any layout, several
 * launches in the best form's order; those whose texts mix sums and products, as variances do,
 * have none. Others, and calls whose stream is being captured, wait for the best form, as do
 * calls with KILN_CALL_BEST and kiln_kernel_prepare. Where the best one may not or cannot be
 * compiled, the quick one serves, if it is in a cache or bundle; that is counted (<kiln/cache.h>)
 * and logged once. Both give the same bits. When the process ends what is not yet begun is left,
 * and a compile by NVRTC that runs is waited for. */
typedef enum kiln_form { KILN_FORM_NONE = 0, KILN_FORM_QUICK = 1, KILN_FORM_BEST = 2 } kiln_form;

/* The forms that calls use. (Inside the library a form is a tier: baseline or optimised.) */
typedef enum kiln_forms {
    KILN_FORMS_BOTH = 1, /* the quick form first, the best one when it is there */
    KILN_FORMS_BEST = 2, /* the best one alone: calls wait for it */
    KILN_FORMS_QUICK =
        3 /* the quick one alone, but for KILN_CALL_BEST: for tests, and what runs once */
} kiln_forms;

/* The forms of kernels that are called for the first time from now on, in all threads. Until it is
 * called those of the environment, KILN_FORMS=both|best|quick; both where it is not set. */
KILN_NODISCARD KILN_API kiln_status kiln_set_forms(kiln_forms forms);
/* Returns when no best form is still to come in this process: true; or after timeout_ms
 * milliseconds (negative: no limit), when some are: false. Thread-safe. */
KILN_API bool kiln_wait_for_best(int64_t timeout_ms);

/* The source of a call's code, and the time that finding it took. */
typedef struct kiln_call_info {
    size_t struct_size;
    kiln_origin origin; /* the most expensive of its kernels' */
    /* wall time of each step; 0 where it was not needed */
    double generate_ms, compile_ms, cache_ms, load_ms;
    size_t code_bytes;  /* of its binaries */
    kiln_device device; /* on which it ran */
    kiln_form form;     /* KILN_FORM_QUICK where some kernel of the call ran in it */
    int pending;        /* kernels of the call whose best form is still to come */
} kiln_call_info;
#define KILN_CALL_INFO_INIT                                                                        \
    {                                                                                              \
        sizeof(kiln_call_info), KILN_ORIGIN_NONE, 0, 0, 0, 0, 0, KILN_DEVICE_DEFAULT,              \
            KILN_FORM_NONE, 0                                                                      \
    }

/* The source of the code of the calling thread's last successful kiln_kernel_call or _prepare. */
KILN_NODISCARD KILN_API kiln_status kiln_kernel_last_call(kiln_call_info *out);

/* ---- advanced: code made ready before a call ---- */

/* The properties of a call that its binary depends on, without data. */
typedef struct kiln_prepare_options {
    size_t struct_size;
    unsigned flags; /* KILN_PREPARE_* */
    /* "host", "cuda:0", or an architecture to compile for without a device: "sm_90"; NULL:
     * current device */
    const char *target;
} kiln_prepare_options;
#define KILN_PREPARE_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(kiln_prepare_options), 0, NULL                                                      \
    }
/* return at once, compile on another thread; the end of the process waits for it */
enum { KILN_PREPARE_BACKGROUND = 1 };

/* Compiles (or finds) and loads what kiln_kernel_call with these arguments needs, without running
 * it. Outputs may be NULL. */
KILN_NODISCARD KILN_API kiln_status kiln_kernel_prepare(kiln_kernel *kernel, kiln_array *const *out,
                                                        int n_out, const kiln_arg *in, int n_in,
                                                        const kiln_call_options *call,
                                                        const kiln_prepare_options *options);

/* ---- advanced: what a call would run, as text ---- */

/* The generated source for a call with these arguments and options (NULL: the defaults), allocated
 * with malloc: the caller frees it. Axes of a reduction are a matter of the options. target as in
 * kiln_prepare_options. Where every array is raw, and the options say neither size nor shape, the
 * call is supposed to have as many elements as the largest of them. Errors are those of the call,
 * but that nothing is compiled or run. */
KILN_NODISCARD KILN_API kiln_status kiln_kernel_source(char **out, kiln_kernel *kernel,
                                                       kiln_array *const *outs, int n_out,
                                                       const kiln_arg *in, int n_in,
                                                       const kiln_call_options *call,
                                                       const char *target);
/* The serialised specialisation (one line) for a call with these arguments and options; the same
 * ownership. */
KILN_NODISCARD KILN_API kiln_status kiln_kernel_explain(char **out, kiln_kernel *kernel,
                                                        kiln_array *const *outs, int n_out,
                                                        const kiln_arg *in, int n_in,
                                                        const kiln_call_options *call,
                                                        const char *target);

/* The launches of a call with these arguments and options: a line for each kernel, as key="value"
 * pairs: its elements, on CUDA the grid, threads a block and bytes of shared memory, the partial
 * results and counters, if it needs any, and the launch parameters of the schedule (sides of tiles,
 * extents of shared-memory tiles, block rasterisation), as its kind describes them (src/schedules).
 * Empty if there is nothing to launch. The same ownership. */
KILN_NODISCARD KILN_API kiln_status kiln_kernel_launches(char **out, kiln_kernel *kernel,
                                                         kiln_array *const *outs, int n_out,
                                                         const kiln_arg *in, int n_in,
                                                         const kiln_call_options *call,
                                                         const char *target);

/* The lines of a record (KILN_RECORD, <kiln/bundle.h>) for such a call: one for each specialisation
 * that it needs, with its targets. Uses no device and compiles nothing. Empty if there is nothing
 * to launch. The same ownership and errors. */
KILN_NODISCARD KILN_API kiln_status kiln_kernel_record(char **out, kiln_kernel *kernel,
                                                       kiln_array *const *outs, int n_out,
                                                       const kiln_arg *in, int n_in,
                                                       const kiln_call_options *call);

/* ---- advanced: code for other processes ---- */

/* The code that such a call needs, found or compiled now, as a bundle (<kiln/bundle.h>): one
 * process compiles, others are handed the bytes and attach them (kiln_bundle_attach_copy), on
 * devices of the same target. target as in kiln_prepare_options. The same ownership; errors of
 * kiln_kernel_prepare, and KILN_ERROR_UNSUPPORTED where the code was found as PTX of an earlier
 * device, and is a bundle's already. */
KILN_NODISCARD KILN_API kiln_status kiln_kernel_export(void **bytes, size_t *size,
                                                       kiln_kernel *kernel, kiln_array *const *outs,
                                                       int n_out, const kiln_arg *in, int n_in,
                                                       const kiln_call_options *call,
                                                       const char *target);

#ifdef __cplusplus
}
#endif
#endif
