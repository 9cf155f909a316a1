/*
 * kiln/convenience.h - argument lists without the constructors, for C11 (and a little for C++);
 * plain functions underneath.
 *
 *     kiln_array *z = NULL;
 *     if (kiln_call(kernel, kiln_outs(&z), kiln_args(x, 0.5, 3)) != KILN_OK)
 *         fprintf(stderr, "%s\n", kiln_error_message());
 *     kiln_launch(function, kiln_dims(64, 1, 1), kiln_dims(256, 1, 1),
 *                 kiln_typed_args(x, n, 0.5f), NULL);
 *
 * kiln_args makes each argument what kiln/arg.h calls it: an array for a kiln_array *, a weak
 * scalar for a number (0.5f as well as 0.5: neither widens an array), and what a kiln_arg_*
 * constructor gives stays as it is: kiln_args(x, kiln_arg_typed(...)). In C11 `true` is an int,
 * which is as good. kiln_typed_args keeps the type that C has for each number, as a function of a
 * raw module wants it. 1 to 16 arguments; for none there is kiln_no_args. The lists live to the end
 * of the block in which they stand; they own nothing. Errors and thread safety are those of the
 * functions called. C99 has the functions, not the macros.
 */
#ifndef KILN_CONVENIENCE_H
#define KILN_CONVENIENCE_H

#include <kiln/kernel.h>
#include <kiln/module.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The most arguments, or outputs, of a list. */
#define KILN_LIST_MAX 16

/* Arguments one behind the other; read during the call alone. */
typedef struct kiln_arg_list {
    const kiln_arg *args; /* count of them */
    int count;            /* of them */
} kiln_arg_list;

/* Where the outputs are; what stands there when the call begins is as for kiln_kernel_call. */
typedef struct kiln_out_list {
    kiln_array **const *outs; /* the address of each of count arrays */
    int count;                /* of them */
} kiln_out_list;

/* The array pointers of a list; NULL, which calls refuse, if one of them is NULL. */
static inline kiln_array **kiln_priv_outs(kiln_array **array, kiln_out_list outs)
{
    for (int k = 0; k < outs.count && k < KILN_LIST_MAX; ++k) {
        if (!outs.outs || !outs.outs[k])
            return NULL;
        array[k] = *outs.outs[k];
    }
    return array;
}

static inline kiln_status kiln_priv_outs_put(kiln_out_list outs, kiln_array *const *array,
                                             kiln_status status)
{
    for (int k = 0; array && k < outs.count && k < KILN_LIST_MAX; ++k)
        *outs.outs[k] = array[k];
    return status;
}

/* kiln_kernel_call with lists and options (NULL: the defaults). */
KILN_NODISCARD static inline kiln_status kiln_call_with(kiln_kernel *kernel, kiln_out_list outs,
                                                        kiln_arg_list args,
                                                        const kiln_call_options *options)
{
    kiln_array *array[KILN_LIST_MAX], **out = kiln_priv_outs(array, outs);
    return kiln_priv_outs_put(
        outs, out, kiln_kernel_call(kernel, out, outs.count, args.args, args.count, options));
}

/* kiln_map_call with lists and options (NULL: the defaults). */
KILN_NODISCARD static inline kiln_status kiln_map_with(kiln_out_list outs, const char *in_params,
                                                       const char *out_params, const char *body,
                                                       kiln_arg_list args,
                                                       const kiln_call_options *options)
{
    kiln_array *array[KILN_LIST_MAX], **out = kiln_priv_outs(array, outs);
    return kiln_priv_outs_put(outs, out,
                              kiln_map_call(out, outs.count, in_params, out_params, body, args.args,
                                            args.count, options));
}

/* kiln_kernel_call with lists. */
KILN_NODISCARD static inline kiln_status kiln_call(kiln_kernel *kernel, kiln_out_list outs,
                                                   kiln_arg_list args)
{
    return kiln_call_with(kernel, outs, args, NULL);
}

/* kiln_function_launch with a list. */
KILN_NODISCARD static inline kiln_status kiln_launch(kiln_function *function, kiln_dim3 grid,
                                                     kiln_dim3 block, kiln_arg_list args,
                                                     const kiln_launch_options *options)
{
    return kiln_function_launch(function, grid, block, args.args, args.count, options);
}

static inline kiln_arg_list kiln_priv_no_args(void)
{
    kiln_arg_list list = {NULL, 0};
    return list;
}
/* A list without arguments. */
#define kiln_no_args kiln_priv_no_args()

static inline kiln_arg kiln_priv_same(kiln_arg arg)
{
    return arg;
}

#ifdef __cplusplus
}
#endif

#ifdef __cplusplus

/* Converts a value to an argument, for kiln_call. */
inline kiln_arg kiln_priv_arg_of(const kiln_arg &arg)
{
    return arg;
}
inline kiln_arg kiln_priv_arg_of(const kiln_array *array)
{
    return kiln_arg_array(array);
}
inline kiln_arg kiln_priv_arg_of(bool value)
{
    return kiln_arg_bool(value);
}
inline kiln_arg kiln_priv_arg_of(int value)
{
    return kiln_arg_int(value);
}
inline kiln_arg kiln_priv_arg_of(long value)
{
    return kiln_arg_int(value);
}
inline kiln_arg kiln_priv_arg_of(long long value)
{
    return kiln_arg_int(value);
}
inline kiln_arg kiln_priv_arg_of(unsigned value)
{
    return kiln_arg_uint(value);
}
inline kiln_arg kiln_priv_arg_of(unsigned long value)
{
    return kiln_arg_uint(value);
}
inline kiln_arg kiln_priv_arg_of(unsigned long long value)
{
    return kiln_arg_uint(value);
}
inline kiln_arg kiln_priv_arg_of(float value)
{
    return kiln_arg_float(static_cast<double>(value));
}
inline kiln_arg kiln_priv_arg_of(double value)
{
    return kiln_arg_float(value);
}

/* kiln_call(kernel, &z, x, 0.5, 3): one output, any number of arguments. */
template <class... Values>
KILN_NODISCARD inline kiln_status kiln_call(kiln_kernel *kernel, kiln_array **out,
                                            const Values &...values)
{
    const kiln_arg args[sizeof...(values) + 1] = {kiln_priv_arg_of(values)..., kiln_arg_int(0)};
    return kiln_kernel_call(kernel, out, 1, args, static_cast<int>(sizeof...(values)), NULL);
}

#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L

#ifndef __STDC_NO_COMPLEX__
static inline kiln_arg kiln_priv_weak_complex(double _Complex value)
{
    double parts[2];
    memcpy(parts, &value, sizeof parts);
    return kiln_arg_complex(parts[0], parts[1]);
}
static inline kiln_arg kiln_priv_single_complex(float _Complex value)
{
    return kiln_arg_typed(KILN_COMPLEX64, &value);
}
static inline kiln_arg kiln_priv_double_complex(double _Complex value)
{
    return kiln_arg_typed(KILN_COMPLEX128, &value);
}
#define KILN_PRIV_COMPLEX(single, twice) , float _Complex : single, double _Complex : twice
#else
#define KILN_PRIV_COMPLEX(single, twice)
#endif

/* One argument of kiln_args. */
#define KILN_PRIV_ARG(x)                                                                           \
    _Generic((x), kiln_arg                                                                         \
             : kiln_priv_same, kiln_array *                                                       \
             : kiln_arg_array, const kiln_array *                                                  \
             : kiln_arg_array, bool                                                                \
             : kiln_arg_bool, char                                                                 \
             : kiln_arg_int, signed char                                                           \
             : kiln_arg_int, short                                                                 \
             : kiln_arg_int, int                                                                   \
             : kiln_arg_int, long                                                                  \
             : kiln_arg_int, long long                                                             \
             : kiln_arg_int, unsigned char                                                         \
             : kiln_arg_uint, unsigned short                                                       \
             : kiln_arg_uint, unsigned                                                             \
             : kiln_arg_uint, unsigned long                                                        \
             : kiln_arg_uint, unsigned long long                                                   \
             : kiln_arg_uint, float                                                                \
             : kiln_arg_float, double                                                              \
             : kiln_arg_float KILN_PRIV_COMPLEX(kiln_priv_weak_complex, kiln_priv_weak_complex))(x)

/* One argument of kiln_typed_args. long is 64 bits wide wherever kiln runs; char is signed or not
 * as in C there. */
#define KILN_PRIV_TYPED_ARG(x)                                                                     \
    _Generic(                                                                                      \
        (x), kiln_arg                                                                              \
        : kiln_priv_same, kiln_array *                                                            \
        : kiln_arg_array, const kiln_array *                                                       \
        : kiln_arg_array, bool                                                                     \
        : kiln_arg_truth, char                                                                     \
        : kiln_arg_int8, signed char                                                               \
        : kiln_arg_int8, short                                                                     \
        : kiln_arg_int16, int                                                                      \
        : kiln_arg_int32, long                                                                     \
        : kiln_arg_int64, long long                                                                \
        : kiln_arg_int64, unsigned char                                                            \
        : kiln_arg_uint8, unsigned short                                                           \
        : kiln_arg_uint16, unsigned                                                                \
        : kiln_arg_uint32, unsigned long                                                           \
        : kiln_arg_uint64, unsigned long long                                                      \
        : kiln_arg_uint64, float                                                                   \
        : kiln_arg_float32, double                                                                 \
        : kiln_arg_float64 KILN_PRIV_COMPLEX(kiln_priv_single_complex, kiln_priv_double_complex))(x)

#define KILN_PRIV_NTH_17(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, ...) q
#define KILN_PRIV_COUNT(...)                                                                       \
    KILN_PRIV_NTH_17(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define KILN_PRIV_GLUE_(a, b) a##b
#define KILN_PRIV_GLUE(a, b) KILN_PRIV_GLUE_(a, b)
#define KILN_PRIV_EACH_1(f, x) f(x)
#define KILN_PRIV_EACH_2(f, x, ...) f(x), KILN_PRIV_EACH_1(f, __VA_ARGS__)
#define KILN_PRIV_EACH_3(f, x, ...) f(x), KILN_PRIV_EACH_2(f, __VA_ARGS__)
#define KILN_PRIV_EACH_4(f, x, ...) f(x), KILN_PRIV_EACH_3(f, __VA_ARGS__)
#define KILN_PRIV_EACH_5(f, x, ...) f(x), KILN_PRIV_EACH_4(f, __VA_ARGS__)
#define KILN_PRIV_EACH_6(f, x, ...) f(x), KILN_PRIV_EACH_5(f, __VA_ARGS__)
#define KILN_PRIV_EACH_7(f, x, ...) f(x), KILN_PRIV_EACH_6(f, __VA_ARGS__)
#define KILN_PRIV_EACH_8(f, x, ...) f(x), KILN_PRIV_EACH_7(f, __VA_ARGS__)
#define KILN_PRIV_EACH_9(f, x, ...) f(x), KILN_PRIV_EACH_8(f, __VA_ARGS__)
#define KILN_PRIV_EACH_10(f, x, ...) f(x), KILN_PRIV_EACH_9(f, __VA_ARGS__)
#define KILN_PRIV_EACH_11(f, x, ...) f(x), KILN_PRIV_EACH_10(f, __VA_ARGS__)
#define KILN_PRIV_EACH_12(f, x, ...) f(x), KILN_PRIV_EACH_11(f, __VA_ARGS__)
#define KILN_PRIV_EACH_13(f, x, ...) f(x), KILN_PRIV_EACH_12(f, __VA_ARGS__)
#define KILN_PRIV_EACH_14(f, x, ...) f(x), KILN_PRIV_EACH_13(f, __VA_ARGS__)
#define KILN_PRIV_EACH_15(f, x, ...) f(x), KILN_PRIV_EACH_14(f, __VA_ARGS__)
#define KILN_PRIV_EACH_16(f, x, ...) f(x), KILN_PRIV_EACH_15(f, __VA_ARGS__)
#define KILN_PRIV_EACH(f, ...)                                                                     \
    KILN_PRIV_GLUE(KILN_PRIV_EACH_, KILN_PRIV_COUNT(__VA_ARGS__))(f, __VA_ARGS__)
#define KILN_PRIV_ITSELF(x) x

/* A kiln_arg_list of arrays, numbers and arguments. */
#define kiln_args(...)                                                                             \
    ((kiln_arg_list){(const kiln_arg[]){KILN_PRIV_EACH(KILN_PRIV_ARG, __VA_ARGS__)},               \
                     KILN_PRIV_COUNT(__VA_ARGS__)})
/* The same, in which numbers keep the types that C has for them. */
#define kiln_typed_args(...)                                                                       \
    ((kiln_arg_list){(const kiln_arg[]){KILN_PRIV_EACH(KILN_PRIV_TYPED_ARG, __VA_ARGS__)},         \
                     KILN_PRIV_COUNT(__VA_ARGS__)})
/* Pointers to kiln_array *, one an output. */
#define kiln_outs(...)                                                                             \
    ((kiln_out_list){(kiln_array * *const[]){KILN_PRIV_EACH(KILN_PRIV_ITSELF, __VA_ARGS__)},       \
                     KILN_PRIV_COUNT(__VA_ARGS__)})

#endif
#endif
