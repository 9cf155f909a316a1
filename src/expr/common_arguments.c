/* Arguments that functions have in common, with NumPy's meaning: out, where, dtype, casting and order. */
#include "expr/common_arguments.h"

#include <stdio.h>
#include <string.h>

#include "eager/operation.h"
#include "expr/call.h"
#include "expr/composed.h"
#include "expr/promised_arguments.h"

static const char *const words[KN_COMMONS] = {"out", "where", "dtype", "casting", "order"};

#define BIT(what) (1u << KN_COMMON_##what)

/* Behind the bits of the arguments: what dtype casts, and rules that differ. */
enum {
    DTYPE_OF_FIRST = 1 << KN_COMMONS, /* the first argument */
    DTYPE_OF_ALL = DTYPE_OF_FIRST << 1,
    DTYPE_OF_ITEMS = DTYPE_OF_FIRST << 2, /* those of a list, the first argument */
    DTYPE_OF_RESULT = DTYPE_OF_FIRST << 3,
    ROUNDS_DOWN = DTYPE_OF_FIRST << 4,    /* a result that becomes whole numbers is rounded down before */
    IS_ELEMENTWISE = DTYPE_OF_FIRST << 5, /* what is computed is broadcast to out */
    STORES_ALL = DTYPE_OF_FIRST << 6,     /* out is cast to whatever it is */
    READS_IN_ORDER = DTYPE_OF_FIRST << 7, /* order is that of the argument's elements */
    OF_UFUNC = BIT(OUT) | BIT(WHERE) | BIT(DTYPE) | BIT(CASTING) | BIT(ORDER),
    OF_JOIN = BIT(OUT) | BIT(DTYPE) | BIT(CASTING) | DTYPE_OF_ITEMS,
    OF_NEW = BIT(OUT) | BIT(ORDER),
    OF_PRODUCT = BIT(OUT) | BIT(DTYPE) | BIT(CASTING) | BIT(ORDER) | DTYPE_OF_ALL,
    OF_SCAN = BIT(OUT) | BIT(DTYPE) | DTYPE_OF_FIRST,
    OF_RANGE = BIT(OUT) | BIT(DTYPE) | DTYPE_OF_RESULT
};

/* Functions that are no elementwise operations, which have all of them; others have out. */
static const struct {
    const char *name;
    unsigned takes;
} functions[] = {{"array", OF_NEW},
                 {"asarray", OF_NEW},
                 {"clip", OF_UFUNC | IS_ELEMENTWISE},
                 {"concat", OF_JOIN},
                 {"concatenate", OF_JOIN},
                 {"copy", OF_NEW},
                 {"copyto", BIT(OUT) | BIT(CASTING)},
                 {"corrcoef", OF_RANGE},
                 {"cov", OF_RANGE},
                 {"cumulative_prod", OF_SCAN},
                 {"cumulative_sum", OF_SCAN},
                 {"empty", OF_NEW},
                 {"empty_like", OF_NEW},
                 {"eye", OF_NEW},
                 {"full", OF_NEW},
                 {"full_like", OF_NEW},
                 {"geomspace", OF_RANGE},
                 {"hstack", OF_JOIN},
                 {"linspace", OF_RANGE | ROUNDS_DOWN},
                 {"logspace", OF_RANGE},
                 {"matmul", OF_PRODUCT},
                 {"matvec", OF_PRODUCT},
                 {"mean", BIT(OUT) | STORES_ALL},
                 {"nancumprod", OF_SCAN},
                 {"nancumsum", OF_SCAN},
                 {"nanmean", OF_SCAN | STORES_ALL},
                 {"nanprod", OF_SCAN},
                 {"nanstd", OF_SCAN | STORES_ALL},
                 {"nansum", OF_SCAN},
                 {"nanvar", OF_SCAN | STORES_ALL},
                 {"ones", OF_NEW},
                 {"ones_like", OF_NEW},
                 {"flatten", OF_NEW | READS_IN_ORDER},
                 {"ravel", OF_NEW | READS_IN_ORDER},
                 {"reshape", OF_NEW | READS_IN_ORDER},
                 {"row_stack", OF_JOIN},
                 {"stack", OF_JOIN},
                 {"std", BIT(OUT) | STORES_ALL},
                 {"trace", OF_SCAN},
                 {"var", BIT(OUT) | STORES_ALL},
                 {"vecdot", OF_PRODUCT},
                 {"vecmat", OF_PRODUCT},
                 {"vstack", OF_JOIN},
                 {"zeros", OF_NEW},
                 {"zeros_like", OF_NEW}};

static int find_word(const kn_parser *p, const kn_value *argument)
{
    const char *key = p->word.text + argument->key_at;
    for (int k = 0; k < KN_COMMONS && argument->key_length > 0; ++k)
        if (strlen(words[k]) == argument->key_length && memcmp(words[k], key, argument->key_length) == 0)
            return k;
    return KN_COMMONS;
}

/* ---- which of them a function has ---- */

/* Bits of the words that are parameters of the operation's own. */
static unsigned words_of_operation(const kn_known_operation *o)
{
    kn_param param[KN_MAX_PARAMS];
    int n_in = 0, n_out;
    unsigned bits = 0;
    if (kn_operation_params(param, &n_in, &n_out, o->longest) != KILN_OK)
        return 0;
    for (int k = 0; k < n_in; ++k)
        for (int w = 0; w < KN_COMMONS; ++w)
            bits |= (unsigned)(strcmp(param[k].name, words[w]) == 0) << w;
    return bits;
}

static unsigned words_taken(const kn_called *c)
{
    kn_known_operation o;
    unsigned takes = 0;
    for (size_t f = 0; f < sizeof functions / sizeof functions[0]; ++f)
        if (kn_call_is(c, functions[f].name))
            takes = functions[f].takes;
    if (!takes && kn_find_operation(&o, c->name, c->name_length) && !o.is_reduction)
        takes = (OF_UFUNC | IS_ELEMENTWISE) & ~words_of_operation(&o);
    return takes ? takes : BIT(OUT);
}

bool kn_common_is_given(const kn_parser *p, const kn_called *c)
{
    bool is_there = false;
    for (int k = 0; k < c->count && !is_there; ++k) {
        const kn_value *argument = &p->argument[c->first + k];
        is_there = find_word(p, argument) < KN_COMMONS || kn_promised_find(p, c, argument) >= 0;
    }
    return is_there;
}

/* ---- what they say ---- */

static kiln_status cast_arguments(kn_parser *p, const kn_called *c, const kn_common *common)
{
    const kiln_dtype dtype = common->slot[KN_COMMON_DTYPE].dtype;
    /* nanmean and its like convert without a rule */
    const kn_casting casting = common->takes & BIT(CASTING) ? common->casting : KN_CASTING_UNSAFE;
    const int count = common->takes & DTYPE_OF_ALL ? c->count : c->count > 0;
    kiln_status status = KILN_OK;
    for (int k = 0; k < count && status == KILN_OK; ++k) {
        kn_value value = p->argument[c->first + k];
        if (value.kind == KN_VALUE_TUPLE && common->takes & DTYPE_OF_ITEMS) {
            for (int i = 0; i < value.count && status == KILN_OK; ++i) {
                kn_value item = p->item[value.first + i];
                status = kn_call_cast_to(&item, p, c, dtype, casting, false);
                p->item[value.first + i] = item;
            }
        } else if ((value.kind == KN_VALUE_NODE || value.kind == KN_VALUE_TUPLE) &&
                   (value.key_length == 0 || k == 0)) {
            const kn_value before = value;
            status = kn_call_cast_to(&value, p, c, dtype, casting, false);
            value.key_at = before.key_at;
            value.key_length = before.key_length;
            p->argument[c->first + k] = value;
        }
    }
    return status;
}

static kiln_status read_words(kn_common *common, const kn_parser *p)
{
    static const char *const castings[] = {"unsafe", "same_kind", "safe", "equiv", "no", NULL},
                             *const orders[] = {"C", "F", "K", "A", NULL};
    static const kn_result_order order_of[] = {KN_RESULT_C, KN_RESULT_FORTRAN, KN_RESULT_KEEP, KN_RESULT_ANY};
    int casting = KN_CASTING_SAME_KIND, order = -1;
    const kn_value *slot = common->slot;
    kiln_status status = KILN_OK;
    if (slot[KN_COMMON_DTYPE].kind == KN_VALUE_NONE)
        common->slot[KN_COMMON_DTYPE].kind = KN_VALUE_ABSENT;
    if (slot[KN_COMMON_DTYPE].kind != KN_VALUE_ABSENT && slot[KN_COMMON_DTYPE].kind != KN_VALUE_DTYPE)
        return kn_parser_refuse(p, slot[KN_COMMON_DTYPE].at, slot[KN_COMMON_DTYPE].length,
                                "a dtype was expected, such as float32");
    status = kn_call_word(&casting, p, &slot[KN_COMMON_CASTING], castings, words[KN_COMMON_CASTING]);
    if (status == KILN_OK && slot[KN_COMMON_ORDER].kind != KN_VALUE_NONE)
        status = kn_call_word(&order, p, &slot[KN_COMMON_ORDER], orders, words[KN_COMMON_ORDER]);
    common->casting = (kn_casting)casting;
    common->order = order < 0 ? KN_RESULT_USUAL : order_of[order];
    return status;
}

static void set_node(kn_common *common)
{
    const bool has_dtype = common->slot[KN_COMMON_DTYPE].kind == KN_VALUE_DTYPE;
    common->of_node = has_dtype ? common->slot[KN_COMMON_DTYPE].dtype : KILN_DTYPE_NONE;
    if (has_dtype || common->slot[KN_COMMON_CASTING].kind != KN_VALUE_ABSENT)
        common->casting_of_node = common->casting;
}

kiln_status kn_common_take(kn_common *out, kn_parser *p, kn_called *c)
{
    int left = 0;
    kiln_status status = KILN_OK;
    *out = (kn_common){.takes = words_taken(c)};
    for (int k = 0; k < c->count && status == KILN_OK; ++k) {
        const kn_value argument = p->argument[c->first + k];
        const int word = find_word(p, &argument), promise = kn_promised_find(p, c, &argument);
        if (promise >= 0)
            status = kn_promised_check(p, &argument, promise);
        else if (word == KN_COMMONS || !(out->takes >> word & 1))
            p->argument[c->first + left++] = argument;
        else if (out->slot[word].kind != KN_VALUE_ABSENT)
            return kn_parser_refuse(p, argument.at, argument.length, "%.*s: '%s' is given twice",
                                    (int)c->name_length, c->name, words[word]);
        else
            out->slot[word] = argument;
    }
    c->count = left;
    if (status == KILN_OK)
        status = read_words(out, p);
    if (status == KILN_OK && out->takes & IS_ELEMENTWISE)
        set_node(out);
    const bool casts = out->takes & (DTYPE_OF_FIRST | DTYPE_OF_ALL | DTYPE_OF_ITEMS);
    return status == KILN_OK && casts && out->slot[KN_COMMON_DTYPE].kind == KN_VALUE_DTYPE
               ? cast_arguments(p, c, out)
               : status;
}

/* ---- results ---- */

/* A view of what has a name: the name's elements would have to change with it. */
static bool is_named_view(const kn_parser *p, int number)
{
    const kn_node *node = &p->graph->node[number];
    while (node->kind == KN_NODE_SLICE || node->kind == KN_NODE_TRANSPOSE || node->kind == KN_NODE_RESHAPE ||
           node->kind == KN_NODE_BROADCAST || node->kind == KN_NODE_WINDOWS) {
        number = node->in[0];
        node = &p->graph->node[number];
    }
    bool is = node->kind == KN_NODE_INPUT;
    for (int v = 0; v < p->n_variables && !is && node->kind != KN_NODE_NUMBER; ++v)
        is = p->variable[v].value.kind == KN_VALUE_NODE && p->variable[v].value.node == number;
    return is;
}

static kiln_status check_target(kn_parser *p, const kn_value *target)
{
    int node = 0;
    kiln_status status = kn_parser_node(&node, p, target);
    if (status == KILN_OK && !target->variable && is_named_view(p, node))
        return kn_parser_refuse(p, target->at, target->length,
                                "out: a name or a new array was expected; x[...] = y changes a part of x");
    return status;
}

/* In the shape and the dtype of out. */
static kiln_status put_into(kn_value *value, kn_parser *p, const kn_called *c, const kn_common *common,
                            const kn_value *target)
{
    int in[2] = {0, 0};
    const kn_node node = {
        .kind = KN_NODE_LIKE,
        .n_in = 2,
        .in = in,
        .index = 1,
        .casting = common->takes & STORES_ALL ? KN_CASTING_UNSAFE : common->casting,
        .has_axes = !(common->takes & IS_ELEMENTWISE),
        .at = c->at,
        .length = c->length,
    };
    kiln_status status = kn_parser_node(&in[0], p, value);
    if (status == KILN_OK)
        status = kn_parser_node(&in[1], p, target);
    return status == KILN_OK ? kn_parser_add(value, p, &node) : status;
}

static bool is_true(const kn_parser *p, const kn_value *value)
{
    const kiln_arg *number = kn_parser_is_number(p, value) ? &p->graph->node[value->node].number : NULL;
    return number && number->kind == KILN_ARG_WEAK_BOOL && number->value.i;
}

/* Elements that a mask leaves out are those of out, or zero. */
static kiln_status select(kn_value *value, kn_parser *p, const kn_called *c, const kn_common *common,
                          const kn_value *target)
{
    static const char *const names[] = {"m", "v", "z"};
    kn_value slot[] = {common->slot[KN_COMMON_WHERE], *value, {0}};
    if (slot[0].kind == KN_VALUE_ABSENT || is_true(p, &slot[0]))
        return KILN_OK;
    kiln_status status = kn_call_cast_to(&slot[0], p, c, KILN_BOOL, KN_CASTING_SAFE, false);
    if (target)
        slot[2] = *target;
    else if (status == KILN_OK)
        status = kn_parser_number(&slot[2], p, kiln_arg_bool(false), c->at, c->length);
    if (status == KILN_OK)
        status = kn_compose(value, p, c, "where(m, v, z)", names, slot, 3);
    return status == KILN_OK && target ? put_into(value, p, c, common, target) : status;
}

kiln_status kn_call_copyto(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"dst", "src", "where"};
    kn_value slot[3] = {{0}};
    const kn_common usual = {.casting = KN_CASTING_SAME_KIND}, *given = c->common ? c->common : &usual;
    kn_common common = {.takes = IS_ELEMENTWISE, .casting = given->casting};
    kiln_status status = kn_call_match(slot, p, c, names, 3, 2, 2);
    *out = slot[1];
    common.slot[KN_COMMON_WHERE] = slot[2];
    if (status == KILN_OK)
        status = put_into(out, p, c, &common, &slot[0]);
    return status == KILN_OK ? select(out, p, c, &common, &slot[0]) : status;
}

/* The same node, which lies in this order if it is a result. */
static kiln_status set_order(kn_value *value, kn_parser *p, const kn_called *c, kn_result_order order)
{
    if (order == KN_RESULT_USUAL || value->kind != KN_VALUE_NODE)
        return KILN_OK;
    kn_node node = p->graph->node[value->node];
    node.order = order;
    node.at = c->at;
    node.length = c->length;
    return kn_parser_add(value, p, &node);
}

/* target: NULL or what was given as out. */
static kiln_status finish(kn_value *value, kn_parser *p, const kn_called *c, const kn_common *common,
                          const kn_value *target)
{
    kiln_status status = target ? check_target(p, target) : KILN_OK;
    if (status == KILN_OK && target)
        status = put_into(value, p, c, common, target);
    if (status == KILN_OK)
        status = select(value, p, c, common, target);
    if (status == KILN_OK && !target && !(common->takes & READS_IN_ORDER))
        status = set_order(value, p, c, common->order);
    if (status != KILN_OK || !target || !target->variable)
        return status;
    return kn_parser_give(value, p, target->variable);
}

/* The results in `dtype`; of several, which a step stands behind, the first. */
static kiln_status cast_result(kn_value *value, kn_parser *p, const kn_called *c, const kn_common *common)
{
    static const char *const name[] = {"r"};
    const kn_value *dtype = &common->slot[KN_COMMON_DTYPE];
    const bool is_tuple = value->kind == KN_VALUE_TUPLE;
    kn_value one = is_tuple ? p->item[value->first] : *value;
    kiln_status status = KILN_OK;
    if (!(common->takes & DTYPE_OF_RESULT) || dtype->kind != KN_VALUE_DTYPE)
        return KILN_OK;
    const kn_dtype_kind kind = kn_dtype_info_of(dtype->dtype)->kind;
    if (common->takes & ROUNDS_DOWN && (kind == KN_KIND_INT || kind == KN_KIND_UINT)) {
        kn_value rounded = one;
        status = kn_compose(&one, p, c, "floor(r)", name, &rounded, 1);
    }
    if (status == KILN_OK)
        status = kn_call_cast(&one, p, c, dtype);
    if (is_tuple)
        p->item[value->first] = one;
    else
        *value = one;
    return status;
}

kiln_status kn_common_finish(kn_value *value, kn_parser *p, const kn_called *c, const kn_common *common)
{
    const kn_value *out = &common->slot[KN_COMMON_OUT], *target;
    const int n_values = value->kind == KN_VALUE_TUPLE ? value->count : 1,
              n_targets = kn_call_is_given(out) ? kn_parser_items(&target, p, out) : 0;
    kiln_status status = cast_result(value, p, c, common);
    if (status == KILN_OK && kn_call_is_given(out) && n_targets != n_values)
        return kn_parser_refuse(p, out->at, out->length, "out: %s",
                                n_values == 1 ? "one name was expected"
                                              : "a tuple of as many names as there are results was expected");
    for (int k = 0; k < n_values && status == KILN_OK; ++k) {
        kn_value one = value->kind == KN_VALUE_TUPLE ? p->item[value->first + k] : *value, into = {0};
        if (n_targets > 0) {
            kn_parser_items(&target, p, out);
            into = target[k];
        }
        status = finish(&one, p, c, common, kn_call_is_given(&into) ? &into : NULL);
        if (value->kind == KN_VALUE_TUPLE)
            p->item[value->first + k] = one;
        else
            *value = one;
    }
    return status;
}
