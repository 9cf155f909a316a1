/* expr/common_arguments.h - arguments that functions have in common: out, where, dtype, casting and order. */
#ifndef KN_EXPR_COMMON_ARGUMENTS_H
#define KN_EXPR_COMMON_ARGUMENTS_H

#include "expr/parser.h"

enum { KN_COMMON_OUT, KN_COMMON_WHERE, KN_COMMON_DTYPE, KN_COMMON_CASTING, KN_COMMON_ORDER, KN_COMMONS };

/* Those of one call. */
typedef struct kn_common {
    kn_value slot[KN_COMMONS]; /* KN_VALUE_ABSENT: not given */
    unsigned takes;            /* bits of those that the function has, and its rules (common_arguments.c) */
    kn_casting casting;
    kn_result_order order;
    kiln_dtype of_node; /* of an elementwise operation's node: dtype and casting */
    kn_casting casting_of_node;
} kn_common;

/* True if the call has one of them, which is no parameter of the function's own. */
bool kn_common_is_given(const kn_parser *p, const kn_called *c);
/* Takes them out of the call's arguments, and casts arguments where dtype says how. */
kiln_status kn_common_take(kn_common *out, kn_parser *p, kn_called *c);
/* The result under them. A name that is given as out is the result's from then on. */
kiln_status kn_common_finish(kn_value *value, kn_parser *p, const kn_called *c, const kn_common *common);
/* The node of an elementwise operation gets dtype and casting. */
static inline void kn_common_set(kn_node *node, const kn_called *c)
{
    if (c->common) {
        node->dtype = c->common->of_node;
        node->casting = c->common->casting_of_node;
    }
}

#endif
