/* ops/variant.h - the variants of operations: reading their letters, and which of them takes given dtypes.
 */
#ifndef KN_OPS_VARIANT_H
#define KN_OPS_VARIANT_H

#include <kiln/operation.h>
#include "program/signature.h"

/* One variant of a definition. */
typedef struct kn_variant {
    const char *text; /* position in the definition's types: identifies it */
    size_t length;
    int n_in, n_out;
    kiln_dtype dtype[KN_MAX_PARAMS]; /* of the inputs, then of the outputs */
} kn_variant;

/* Reads the variant at *types, and moves behind it. False at the end. Invalid letters, and more of them than
 * parameters, give KILN_DTYPE_NONE; without "->", n_out is 0. */
bool kn_variant_next(kn_variant *out, const char **types);

/* Checks all variants of a definition against its parameters, inputs first: a letter for each, equal ones for
 * equal placeholders, that of its dtype for any other; none hidden by an earlier variant. KILN_ERROR_TYPE,
 * _SYNTAX. */
kiln_status kn_variants_check(const kiln_operation *definition, const kn_param *param, int n_in, int n_out);

/* The first variant to whose inputs these dtypes can be cast safely. numbers: bits of the inputs that are
 * weak numbers, which a parameter declared bool takes as truth values. */
bool kn_variant_find(kn_variant *out, const kiln_operation *definition, const kiln_dtype *in, int n_in,
                     uint64_t numbers);

/* The dtypes of arguments: weak numbers have the dtype that NumPy 2 gives them beside the others. A dtype is
 * KILN_DTYPE_NONE where the argument has none. */
void kn_argument_dtypes(kiln_dtype *out, const kiln_arg *in, const kiln_dtype *array, int n_in);

/* True if a result of `from` may be stored as `to`: NumPy's casting="same_kind". */
bool kn_dtype_may_store(kiln_dtype from, kiln_dtype to);

/* The conversions that are allowed: NumPy's casting. */
typedef enum kn_casting {
    KN_CASTING_UNSAFE,
    KN_CASTING_SAME_KIND,
    KN_CASTING_SAFE,
    KN_CASTING_EQUIV, /* none, as with NO: a dtype has one byte order here */
    KN_CASTING_NO
} kn_casting;

/* is_weak: `from` is what a number by value has alone, of which only the kind counts. */
bool kn_dtype_casts(kiln_dtype from, kiln_dtype to, kn_casting casting, bool is_weak);
/* "same_kind" */
const char *kn_casting_name(kn_casting casting);
/* The first variant all of whose results are `result`, and to whose inputs these dtypes may be cast. weak:
 * bits of the inputs that are numbers by value. */
bool kn_variant_find_result(kn_variant *out, const kiln_operation *definition, const kiln_dtype *in, int n_in,
                            uint64_t weak, kiln_dtype result, kn_casting casting);

/* "(float32, bool)" */
struct kn_str;
void kn_dtypes_format(struct kn_str *out, const kiln_dtype *dtype, int count);

/* Traits of an operation: its calls differ in these from those of other operations. */
enum {
    KN_OP_IN_C_ORDER = 1,  /* results that calls allocate are always in C order, as in NumPy */
    KN_OP_BOUNDS = 2,      /* the second input and the third bound the first, which has its own dtype */
    KN_OP_CONDITION = 4,   /* the first input has no part in the dtype of the result */
    KN_OP_TAKES_DTYPE = 8, /* dtype= in expressions: the dtype to reduce in */
    KN_OP_TRUTH = 16,      /* of booleans, into an array of booleans: a logical reduction */
    KN_OP_SCANS = 32       /* `reduce` scans: a result for each element; without axes of all in C order */
};

/* The built-in operations. All rows of a name have its traits. */
typedef struct kn_operation_row {
    kiln_operation definition;
    unsigned traits; /* KN_OP_* */
} kn_operation_row;
extern const kn_operation_row kn_operation_table[];
extern const int kn_operation_table_count;

/* In front of an operation's name: the names of its reduce and its accumulate (eager/operation_methods.h). */
#define KN_REDUCE_OF "kn_reduce_"
#define KN_ACCUMULATE_OF "kn_accumulate_"

/* Variants that are registered under a name of the table have the name's traits; what accumulates scans. */
unsigned kn_operation_traits(const char *name);
/* The same for a definition, without a search for those of the table. */
unsigned kn_operation_traits_of(const kiln_operation *definition);

#endif
