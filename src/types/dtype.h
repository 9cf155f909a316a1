/* types/dtype.h - the one table of dtypes. */
#ifndef KN_TYPES_DTYPE_H
#define KN_TYPES_DTYPE_H

#include <kiln/arg.h>
#include <kiln/dtype.h>

typedef enum kn_dtype_kind {
    KN_KIND_BOOL,
    KN_KIND_INT,
    KN_KIND_UINT,
    KN_KIND_FLOAT,
    KN_KIND_COMPLEX
} kn_dtype_kind;

typedef struct kn_dtype_info {
    kiln_dtype dtype;
    const char *name; /* "float32" */
    char letter;      /* NumPy's, in the types of operations; 'E': bfloat16 */
    kn_dtype_kind kind;
    uint8_t size, align; /* bytes */
    const char *npy;     /* ".npy" descr, "<f4"; NULL: none (bfloat16, which files hold as "<V2") */
    /* the type in generated code, both targets: "float", "long long", "float16", "complex<float>" ... */
    const char *c_name;
    const char *storage; /* the type in memory there: "unsigned char" for bool, else c_name */
    uint8_t dlpack_code; /* DLDataTypeCode */
} kn_dtype_info;

/* One behind the last dtype of the table, for arrays that have an entry for each. Loops go from KILN_BOOL on
 * as long as there is a row. */
enum { KN_DTYPE_END = 16 };

/* NULL for a value that is no dtype. */
const kn_dtype_info *kn_dtype_info_of(kiln_dtype dtype);
/* By name or alias ("float32", "float"), without codes such as "f4"; KILN_DTYPE_NONE where there is none.
 * Sets no error. */
kiln_dtype kn_dtype_find(const char *name, size_t length);

/* KILN_DTYPE_NONE where there is none. */
kiln_dtype kn_dtype_of_letter(char letter);

/* The dtype of so many bytes (1, 2, 4, 8, 16), for elements that are moved as bits: one binary per size. */
kiln_dtype kn_dtype_of_bits(int size);

/* Classes of dtypes by the preludes that they need in generated code. */
bool kn_dtype_is_half(kiln_dtype dtype); /* float16 or bfloat16 */
bool kn_dtype_is_complex(kiln_dtype dtype);

/* Conversions of single values on the host, correctly rounded to nearest even. */
uint16_t kn_half_from_double(double value);
double kn_half_to_double(uint16_t bits);
uint16_t kn_bfloat16_from_double(double value);
double kn_bfloat16_to_double(uint16_t bits);

/* The dtype a weak scalar takes alone: bool, int64, uint64 (above INT64_MAX), float64, complex128. */
kiln_dtype kn_weak_dtype(const kiln_arg *arg);
/* True if a dtype holds a weak number by NumPy's conversions (kn_scalar_convert): whole numbers within an
 * integer's range, and any number for other kinds of dtypes. */
bool kn_weak_fits(const kiln_arg *arg, kiln_dtype dtype);
/* A bound of NumPy's clip, and the dtype of the bounded values. */
typedef struct kn_bound {
    int side; /* -1: the lower one, 1: the upper one, 0: no bound */
    kiln_dtype of;
} kn_bound;
#define KN_NO_BOUND ((kn_bound){0, KILN_DTYPE_NONE})
/* True if a weak whole number bounds nothing: it lies at the end of an integer dtype, or beyond it. */
bool kn_bound_is_open(kn_bound bound, const kiln_arg *number);
/* The number that dtype is compared with: the end of dtype where the bound is open, else *number. */
kiln_arg kn_bound_number(kn_bound bound, const kiln_arg *number, kiln_dtype dtype);
/* The class of a weak number, 0 to 15, by which dtypes can hold it: the bits that it takes, and its sign. */
unsigned kn_weak_class(const kiln_arg *arg);
/* A whole number of that class; a dtype that holds it holds all numbers of the class. */
kiln_arg kn_weak_of_class(unsigned number_class);
/* The common dtype of several that lie so many bytes apart, as numpy.result_type finds it: integers promote
 * with the floats, not with each other first (int16, uint16 and float32 have float32). Those that are
 * KILN_DTYPE_NONE do not count; of none it is that. */
kiln_dtype kn_promote_all(const kiln_dtype *dtype, size_t apart, int count);

/* NumPy 2: the dtype of an array of `dtype` combined with a weak scalar of this kind. */
kiln_dtype kn_weak_promote(kiln_dtype dtype, kiln_arg_kind weak);
/* The common dtype of the scalars whose bits are set, of 64 at most: typed ones together, then weak ones. */
kiln_dtype kn_promote_scalars(const kiln_arg *in, uint64_t counted, int count);

/* Writes the scalar argument (weak or typed) as one element of dtype at out. KILN_ERROR_TYPE, naming
 * `parameter`, the value and the dtype, where the value does not fit: an integer out of range, a non-integral
 * float for an integer, a complex value for a real dtype. Floats round, beyond the range to infinity. Typed
 * scalars must have exactly this dtype unless the conversion is safe. */
kiln_status kn_scalar_store(void *out, kiln_dtype dtype, const kiln_arg *arg, const char *parameter);
/* The same as NumPy's operations have it: a bool is whether a weak number is not 0. */
kiln_status kn_scalar_convert(void *out, kiln_dtype dtype, const kiln_arg *arg, const char *parameter);

#endif
