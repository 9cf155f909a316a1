/* fuse/text_parts.h - between the files that write a group's text (text.c, text_*.c): the writer, and what
 * each of them does for the others. */
#ifndef KN_FUSE_TEXT_PARTS_H
#define KN_FUSE_TEXT_PARTS_H

#include "fuse/group_text.h"
#include "graph/op.h"

/* Names in the texts, a letter and a number: x arrays and s scalars that are read, y results, t what is
 * computed, e what later stages have from earlier ones, v what is reduced, r what came of it, c what is
 * computed of that once for all reduced elements, q and p what they are divided by, w structs, f
 * namespaces. */
enum { KN_TEXT_NAME = 32 };

/* One reduction of the group; several of a level are folded as one struct. */
typedef struct kn_text_reduction {
    struct kn_text_reduction *next;
    const kn_use *use;
    const kn_op *op;
    int level, index; /* among those of its level */
    int space;        /* of the namespace of its preamble; -1: none */
} kn_text_reduction;

/* A namespace: the preamble of an operation's variant. */
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
    int room;
    kiln_status status;
    kn_str in, outs, values, preamble;
    kn_text_stage stage[KN_MAX_STAGES];
    int n_stages;
    const kn_op **op; /* by use */
    int *space_of;    /* by use */
    kn_text_reduction *reductions;
    kn_text_space *spaces;
    int n_spaces;
    bool has_sizes;             /* the preamble declares kn_single */
    char (*name)[KN_TEXT_NAME]; /* by use, in the stage that is being written; "": not yet */
    char (*given)[KN_TEXT_NAME]; /* by use: the value that an earlier stage gave; "": none */
    int *first;                 /* by use: the first stage that needs it, -1 none; */
    bool *again;                /* a later one reads it, where it is kept */
    int n_values;                 /* values that are kept, and what levels fold and give */
    bool *divides;              /* by use: its reciprocal has been given */
    bool *divisor;              /* by use, in this stage: a quotient has it (kn_text_find_divisors) */
    bool *needed;               /* by use, in this stage */
    uint64_t reads;             /* parameters (bits) that this stage mentions */
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

/* Zeroed, in the arena; NULL, and the writer's status says so. */
void *kn_text_take(kn_text_writer *w, size_t size);
/* A text in the arena, and the string freed; "" where there is no memory. */
const char *kn_text_keep(kn_text_writer *w, kn_str *text);
/* "x3": the name of a parameter, where the stage that is being written mentions it. */
const char *kn_text_param_name(kn_text_writer *w, const kn_text_param *p);
/* A use as a value of a dtype, or as a bound of such: "t12", "((float)t12)", "0.5f". In the arena. */
const char *kn_text_operand(kn_text_writer *w, const kn_use *u, kiln_dtype dtype, kn_bound bound);
/* Gives it a name in this stage: the letter and its number. */
void kn_text_name_use(kn_text_writer *w, const kn_use *u, char letter);
void kn_text_put_range(kn_text_writer *w, kn_str *out, const kn_use *u);
/* Whether a range is better read from memory than computed. */
bool kn_text_is_better_read(const kn_text_writer *w, const kn_leaf *leaf);

/* ---- text_op.c ---- */

/* The operations of all uses, and the namespaces of their preambles. */
void kn_text_find_ops(kn_text_writer *w);

/* ---- text_value.c ---- */

/* A quotient of float32 numbers whose divisor is the same for all reduced elements: it is multiplied by
 * what the divisor gives once. */
bool kn_text_is_quotient(const kn_text_writer *w, const kn_use *u);
/* Marks the divisors of this stage's quotients. */
void kn_text_find_divisors(kn_text_writer *w);
const kn_text_reduction *kn_text_reduction_of(const kn_text_writer *w, const kn_use *u);
int kn_text_reductions_of_level(const kn_text_writer *w, int level);
/* One value to be folded: "v0 = x * x;" */
void kn_text_put_mapped(kn_text_writer *w, kn_str *out, const kn_text_reduction *f, const char *text,
                        const char *to, bool is_declared);
/* What a stage needs for a use: a declaration, or its name alone. */
void kn_text_put_use(kn_text_writer *w, kn_str *out, const kn_use *u);

/* ---- text_stage.c ---- */

/* All stages, with what each reads and gives. */
void kn_text_write_stages(kn_text_writer *w);

#endif
