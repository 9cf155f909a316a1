/* plan/spec.h - the specialisation: program x operands x schedule x target, and nothing else.
 *
 * Its one serialised form is a single line of key="value" pairs with C escapes in the values. The line is at
 * once the key material of the cache, the line of a record, the input of a bake and what `explain` shows;
 * kn_spec_parse(kn_spec_format(s)) is s.
 */
#ifndef KN_PLAN_SPEC_H
#define KN_PLAN_SPEC_H

#include "base/str.h"
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

/* Appends the line, without a newline. */
void kn_spec_format(kn_str *out, const kn_spec *spec);

/* What kn_spec_parse made: the program and the generator's name are its own. */
typedef struct kn_parsed_spec {
    kn_spec spec;
    kn_program *program;
    char *generator;
} kn_parsed_spec;
/* KILN_ERROR_FORMAT with the key at fault. */
kiln_status kn_spec_parse(kn_parsed_spec *out, const char *line);
void kn_parsed_spec_free(kn_parsed_spec *parsed);

/* Array operands that take part in the space, in order. */
int kn_spec_count_arrays(const kn_spec *spec);
/* The same with their sizes, without addresses: their number. out has room for KN_MAX_PARAMS. */
int kn_spec_access(kn_access *out, const kn_spec *spec);

/* The type of parameter k in the generated source, and "const " for what the snippet may not change. */
const char *kn_spec_c_name(const kn_spec *spec, int k);
const char *kn_spec_constness(const kn_spec *spec, int k);

#endif
