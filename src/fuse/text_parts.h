/* fuse/text_parts.h - the interface between text.c and text_*.c, which write a group's text. */
#ifndef KN_FUSE_TEXT_PARTS_H
#define KN_FUSE_TEXT_PARTS_H

#include "fuse/group_text.h"
#include "graph/op.h"

/* Names in the texts are a letter and a number: x arrays and s scalars that are read, y results, t
 * computed values, e values that an earlier stage stored, v reduced values, r results of reductions, c
 * values computed once per result, q and p reciprocals of divisors, w structs, f namespaces. */
enum { KN_TEXT_NAME = 32 };

/* One reduction of the group. Several of a level are reduced together, as one struct. */
typedef struct kn_text_reduction {
    struct kn_text_reduction *next;
    const kn_use *use;
    const kn_op *op;
    int level, index; /* index: among those of its level */
    int space;        /* the namespace of its preamble; -1: none */
} kn_text_reduction;

/* The namespace of the preamble of an operation's variant. */
typedef struct kn_text_space {
    struct kn_text_space *next;
    const kn_op *op;
    const kn_node *node;
    const kn_typed *typed;
    int number;
} kn_text_space;

typedef struct kn_text_stage {
    kn_str body, reads, gives, identity;
    char label[KN_TEXT_NAME];
    kn_stage_kind kind;
    kn_over over;
} kn_text_stage;

typedef struct kn_text_writer {
    const kn_group *group;
    const kn_lower_state *state;
    const kiln_kernel_options *options;
    kn_text *out;
    kiln_status status;
    kn_str in, outs, values, preamble;
    kn_text_stage stage[KN_MAX_STAGES];
    int n_stages;
    const kn_op **op;  /* by use */
    const char **text; /* by use: the text that takes the place of its operation's; NULL: none */
    int *space_of;     /* by use */
    kn_text_reduction *reductions;
    kn_text_space *spaces;
    int n_spaces;
    bool has_sizes;              /* the preamble declares kn_single */
    char (*name)[KN_TEXT_NAME];  /* by use, in the stage being written; "": not yet */
    char (*given)[KN_TEXT_NAME]; /* by use: the value that an earlier stage stored; "": none */
    int *first;                  /* by use: the first stage that needs it; -1: none */
    bool *again;                 /* by use: a later stage reads it too, if it is stored */
    int n_values;                /* values that stages store, those of reductions included */
    bool *divides;               /* by use: its reciprocal is stored */
    bool *divisor;               /* by use, in this stage: it divides a quotient (kn_text_find_divisors) */
    bool *needed;                /* by use, in this stage */
    uint64_t reads;              /* bits: the parameters that this stage uses */
} kn_text_writer;

static inline const kn_node *kn_text_node_of(const kn_text_writer *w, const kn_use *u)
{
    return &w->state->graph->node[u->node];
}

static inline const kn_typed *kn_text_typed_of(const kn_text_writer *w, const kn_use *u)
{
    return &w->state->typed[u->node];
}

/* ---- text_read.c ---- */

/* Zeroed memory of the arena. NULL: no memory, and w->status says so. */
void *kn_text_take(kn_text_writer *w, size_t size);
/* Moves a text into the arena and frees the string; "" without memory. */
const char *kn_text_keep(kn_text_writer *w, kn_str *text);
/* The name of a parameter, "x3"; marks it as used by the stage being written. */
const char *kn_text_param_name(kn_text_writer *w, const kn_text_param *p);
/* A use as a value of a dtype, or as a bound of it: "t12", "((float)t12)", "0.5f". In the arena. */
const char *kn_text_operand(kn_text_writer *w, const kn_use *u, kiln_dtype dtype, kn_bound bound);
/* Names a use in this stage: the letter and the use's number. */
void kn_text_name_use(kn_text_writer *w, const kn_use *u, char letter);
void kn_text_put_range(kn_text_writer *w, kn_str *out, const kn_use *u);
/* True if a range is faster to read from memory than to compute. */
bool kn_text_is_better_read(const kn_text_writer *w, const kn_leaf *leaf);

/* ---- text_op.c ---- */

/* Finds the operations of all uses, and the namespaces of their preambles. */
void kn_text_find_ops(kn_text_writer *w);

/* ---- text_value.c ---- */

/* True for a float32 quotient whose divisor is constant along the reduction axes: it becomes a product
 * with the divisor's reciprocal, which is computed once. */
bool kn_text_is_quotient(const kn_text_writer *w, const kn_use *u);
/* Marks the divisors of this stage's quotients. */
void kn_text_find_divisors(kn_text_writer *w);
const kn_text_reduction *kn_text_reduction_of(const kn_text_writer *w, const kn_use *u);
int kn_text_reductions_of_level(const kn_text_writer *w, int level);
/* Appends the value to be reduced: "v0 = x * x;" */
void kn_text_put_mapped(kn_text_writer *w, kn_str *out, const kn_text_reduction *f, const char *text,
                        const char *to, bool is_declared);
/* Appends a reduction's expression of a and b, or its identity. follows: whether b's elements are those
 * behind a's. */
void kn_text_put_reduction(const kn_text_reduction *f, kn_str *out, bool is_identity, const char *a,
                           const char *b, const char *follows);
/* Appends a use to the stage: a declaration, or only its name. */
void kn_text_put_use(kn_text_writer *w, kn_str *out, const kn_use *u);

/* ---- text_stage.c ---- */

/* Writes all stages, with the values that each reads and stores. */
void kn_text_write_stages(kn_text_writer *w);

#endif
