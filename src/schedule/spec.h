/* schedule/spec.h - the specialisation: program x operands x schedule x target, and nothing else; and that of
 * a raw module, which is the user's own text. schedules/spec_text.h writes and reads both. */
#ifndef KN_SCHEDULE_SPEC_H
#define KN_SCHEDULE_SPEC_H

#include <kiln/module.h>
#include "schedule/schedule.h"

typedef enum kn_pass {
    KN_PASS_ARRAY = 1,  /* takes part in the broadcast */
    KN_PASS_SCALAR = 2, /* by value */
    KN_PASS_STRUCT = 3, /* a struct by value */
    KN_PASS_RAW = 4     /* a whole array, indexed by the snippet */
} kn_pass;

/* The binding of one parameter of the program. */
typedef struct kn_operand {
    kn_pass pass;
    kiln_dtype dtype;    /* in memory, or of the value that is passed; KILN_DTYPE_NONE for a struct */
    int struct_size;     /* bytes */
    int raw_rank;        /* raw: axes */
    bool raw_contiguous; /* raw: known to be C-contiguous */
    kiln_dtype seen;     /* in which the program sees it: an array is converted at each load and store */
    int array;           /* an array's number among the operands of the space; -1: not an array */
} kn_operand;

typedef struct kn_spec {
    const kn_program *program;
    kn_operand operand[KN_MAX_PARAMS]; /* n_in + n_out */
    int n_arrays;                      /* that take part in the space */
    int loop_rank; /* axes of the broadcast shape, where the texts index by them (KN_USES_PLACE); else 0 */
    kn_schedule schedule;
    kn_target target;
    const char *generator; /* identity of the code generator that reads it */
} kn_spec;

/* Settles the members that follow from passing and dtypes: numbers the arrays, in the order of the
 * parameters, and sets `seen` where none is given. Returns the number of arrays. */
int kn_operands_settle(kn_operand *operand, int count);
/* Their sizes by array number, without addresses. out has a capacity of KN_MAX_PARAMS. */
void kn_spec_access(kn_access *out, const kn_spec *spec);

/* The type of parameter k in the generated source, and "const " where the snippet may not change it. */
const char *kn_spec_c_name(const kn_spec *spec, int k);
const char *kn_spec_constness(const kn_spec *spec, int k);

/* The dtype of a value of the program's own, or KILN_DTYPE_NONE where it is a struct; and whether that is
 * float32 because it was declared as float16 or bfloat16. */
kiln_dtype kn_spec_value_dtype(const kn_spec *spec, int value);
bool kn_spec_widens(const kn_spec *spec, int value);
/* True if each operation on 16-bit floats is rounded: the user asked for it (KILN_KERNEL_ROUND_EACH), and
 * some operand, value or text has them. Other kernels have the code that they have without. */
bool kn_spec_rounds_each(const kn_spec *spec);
/* The value that the program's first reduce stage, or scan, gives; -1 where nothing is combined. */
int kn_spec_reduced_value(const kn_spec *spec);
/* True if that is a whole number, or a truth value. */
bool kn_spec_combines_whole(const kn_spec *spec);

/* A raw module, as far as its code depends on it. The contents of folders stand in its code's dependency
 * file. */
typedef struct kn_module_spec {
    const char *name, *source;
    const char *generator; /* NULL: nothing can reach <kiln/types.h>, which the generator writes */
    kn_target target;
    unsigned flags; /* KILN_MODULE_FAST_MATH, _NO_FMA */
    const char *const *option, *const *header_name, *const *header_text, *const *expression;
    int n_options, n_headers, n_expressions;
    bool has_folders; /* folders for headers, whose names do not matter */
} kn_module_spec;

#endif
