/* graph/op.h - the texts that compute a node: those of an operation's row, or of a kernel that the user
 * defined. */
#ifndef KN_GRAPH_OP_H
#define KN_GRAPH_OP_H

#include "base/str.h"
#include "graph/arena.h"
#include "graph/infer.h"

/* The type that replaces float16 and bfloat16 in an operation's texts. */
typedef enum kn_halves {
    KN_HALVES_WIDE,  /* float32 */
    KN_HALVES_NAMED, /* float32; conversions to the type, which the texts name, round */
    KN_HALVES_EACH   /* the type itself: the kernel rounds after each operation */
} kn_halves;

typedef struct kn_op {
    const char *name;
    int n_in, n_out;
    const kn_param *param;      /* inputs, then outputs */
    const kiln_dtype *dtype;    /* of each, as computed: float32 for float16 and bfloat16 */
    const kiln_dtype *declared; /* of each, in memory */
    kn_halves halves;
    const char *map;                      /* statements; of a reduction an expression */
    const char *reduce, *post, *identity; /* reduce NULL: elementwise */
    const char *preamble;
    kiln_dtype value;         /* the type that is reduced; KILN_DTYPE_NONE: */
    const char *value_struct; /* a struct of the preamble */
    bool is_costly;           /* its map calls functions or divides */
} kn_op;

/* The dtype in which values of a dtype are computed. */
kiln_dtype kn_computed_dtype(kiln_dtype dtype);
/* "float": its name in the source. */
const char *kn_computed_name(kiln_dtype dtype);

/* True if a node's texts cannot be fused with others, so that it needs a kernel of its own: they use the
 * index of an element, the number of elements or a whole array, leave an element early, have statements
 * around the loop or compiler options, or are neither a map, a reduction nor an operation's scan. flags:
 * those of the expression. */
bool kn_op_is_alone(const kn_node *node, const kn_typed *typed, unsigned flags);
/* True if the texts cannot be fused for these dtypes: they use the bits of 16-bit floats, references to
 * them, or reduce in their type. */
bool kn_op_shows_halves(const kn_node *node, const kn_typed *typed);

/* *out lives in the arena. map: the text that takes the place of the node's own; NULL: none. flags: those of
 * the expression. Errors: KILN_ERROR_MEMORY. */
kiln_status kn_op_find(const kn_op **out, kn_arena *arena, const kn_node *node, const kn_typed *typed,
                       const char *map, unsigned flags);

/* The type of parameter k in the texts. */
const char *kn_op_type(const kn_op *op, int k);
/* The type of the variable that an output is assigned to. */
const char *kn_op_output_type(const kn_op *op, int k);
/* Appends the text for input k: a value in the dtype that it is computed in, converted to the type in the
 * texts. */
void kn_op_put_input(kn_str *out, const kn_op *op, int k, const char *value);

/* Appends a text. `name` replaces the names of parameters (NULL: unchanged), types replace placeholders,
 * and `a` and `b` the operands, if given. */
void kn_op_put(kn_str *out, const kn_op *op, const char *text, const char *const *name, const char *a,
               const char *b);
/* The expression of a map or post text that is only "z = EXPR"; NULL: it is more. */
const char *kn_op_expression(const kn_op *op, const char *text);
/* Appends the type that is reduced: "float", or "f3::best" if the preamble is in namespace `space`. */
void kn_op_put_value_type(kn_str *out, const kn_op *op, const char *space);

#endif
