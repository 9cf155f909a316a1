/* graph/op.h - what a node computes, as texts: those of an operation's row, or of a kernel that the user
 * defined. */
#ifndef KN_GRAPH_OP_H
#define KN_GRAPH_OP_H

#include "base/str.h"
#include "graph/arena.h"
#include "graph/infer.h"

/* What stands for float16 and bfloat16 in an operation's texts. */
typedef enum kn_halves {
    KN_HALVES_WIDE,  /* float32 */
    KN_HALVES_NAMED, /* the texts name the type: float32 still, but what is converted to it is rounded */
    KN_HALVES_EACH   /* the type itself: a kernel that rounds each operation */
} kn_halves;

typedef struct kn_op {
    const char *name;
    int n_in, n_out;
    const kn_param *param;      /* inputs, then outputs */
    const kiln_dtype *dtype;    /* of each, as it is computed: float32 where it is float16 or bfloat16 */
    const kiln_dtype *declared; /* of each, as it is in memory */
    kn_halves halves;
    const char *map;                      /* statements; of a reduction an expression */
    const char *reduce, *post, *identity; /* reduce NULL: elementwise */
    const char *preamble;
    kiln_dtype value;         /* what is reduced; KILN_DTYPE_NONE: */
    const char *value_struct; /* a struct of the preamble */
    bool is_costly;           /* its map calls functions or divides */
} kn_op;

/* The dtype in which values of this one are computed. */
kiln_dtype kn_computed_dtype(kiln_dtype dtype);
/* "float": its name in the source. */
const char *kn_computed_name(kiln_dtype dtype);

/* Whether a node's texts do not mix with others, so that it has a kernel of its own: they mention the index
 * of an element, how many there are or an array as a whole, leave an element early, have texts around the
 * loop or options of the compiler, or are no map and no reduction. flags: those of the expression. */
bool kn_op_is_alone(const kn_node *node, const kn_typed *typed, unsigned flags);
/* Whether they do not for these dtypes: they look at the bits of 16-bit floats, refer to
 * them, or reduce in their type. */
bool kn_op_shows_halves(const kn_node *node, const kn_typed *typed);

/* *out lives in the arena. squares: the node is the second power of what it reads. flags: those of the
 * expression. Errors: KILN_ERROR_MEMORY. */
kiln_status kn_op_find(const kn_op **out, kn_arena *arena, const kn_node *node, const kn_typed *typed,
                       bool squares, unsigned flags);

/* The type of parameter k in the texts. */
const char *kn_op_type(const kn_op *op, int k);
/* The same for the variable that an output is assigned to. */
const char *kn_op_output_type(const kn_op *op, int k);
/* Appends what stands for input k in the texts: a value in the dtype in which it is computed, as one of its
 * type. */
void kn_op_put_input(kn_str *out, const kn_op *op, int k, const char *value);

/* Appends a text with the names of parameters replaced by those in `name` (NULL: as they are), placeholders
 * by their types, and a and b, where a and b are given, by these. */
void kn_op_put(kn_str *out, const kn_op *op, const char *text, const char *const *name, const char *a,
               const char *b);
/* "z = EXPR": the expression, where the text (a map's or a post's) is nothing but that. NULL. */
const char *kn_op_expression(const kn_op *op, const char *text);
/* The type of what is reduced: "float", "f3::best" where the preamble stands in namespace `space`. */
void kn_op_put_value_type(kn_str *out, const kn_op *op, const char *space);

#endif
