/* plan/spec.h - the specialisation: program x operands x schedule x target, and nothing else.
 * plan/spec_text.h writes and reads it. */
#ifndef KN_PLAN_SPEC_H
#define KN_PLAN_SPEC_H

#include "plan/schedule.h"

typedef enum kn_pass {
    KN_PASS_ARRAY = 1,  /* takes part in the broadcast */
    KN_PASS_SCALAR = 2, /* by value */
    KN_PASS_STRUCT = 3, /* a struct by value */
    KN_PASS_RAW = 4     /* a whole array, indexed by the snippet */
} kn_pass;

/* How one parameter of the program is bound. */
typedef struct kn_operand {
    kn_pass pass;
    kiln_dtype dtype;    /* KILN_DTYPE_NONE for a struct */
    int struct_size;     /* bytes */
    int raw_rank;        /* raw: axes */
    bool raw_contiguous; /* raw: known to be C-contiguous */
} kn_operand;

typedef struct kn_spec {
    const kn_program *program;
    kn_operand operand[KN_MAX_PARAMS]; /* n_in + n_out */
    int loop_rank; /* axes of the broadcast shape, where the texts index by them (KN_USES_PLACE); else 0 */
    kn_schedule schedule;
    kn_target target;
    const char *generator; /* identity of the code generator that reads it */
} kn_spec;

/* Array operands that take part in the space, in order. */
int kn_spec_count_arrays(const kn_spec *spec);
/* The same with their sizes, without addresses: their number. out has room for KN_MAX_PARAMS. */
int kn_spec_access(kn_access *out, const kn_spec *spec);

/* The type of parameter k in the generated source, and "const " for what the snippet may not change. */
const char *kn_spec_c_name(const kn_spec *spec, int k);
const char *kn_spec_constness(const kn_spec *spec, int k);

#endif
