/* Attributes of arrays, and methods that are no functions of NumPy's, or differ from the function of their
 * name. */
#include "expr/functions.h"

#include <string.h>

#include "base/error.h"
#include "expr/call.h"
#include "expr/composed.h"

/* ---- attributes ---- */

static const struct {
    const char *name;
    kn_node_kind kind; /* where text is NULL */
    int index;
    const char *text;
} attributes[] = {{"T", KN_NODE_TRANSPOSE, 0, NULL},
                  {"flat", KN_NODE_INPUT, 0, "ravel(x)"},
                  {"imag", KN_NODE_INPUT, 0, "imag(x)"},
                  {"itemsize", KN_NODE_NDIM, KN_MEASURE_BYTES, NULL},
                  {"mT", KN_NODE_INPUT, 0, "swapaxes(x, -1, -2)"},
                  {"nbytes", KN_NODE_INPUT, 0, "size(x) * x.itemsize"},
                  {"ndim", KN_NODE_NDIM, KN_MEASURE_AXES, NULL},
                  {"real", KN_NODE_INPUT, 0, "real(x)"},
                  {"size", KN_NODE_EXTENT, 0, NULL}};

static kiln_status compute(kn_value *out, kn_parser *p, const kn_value *of, const char *text, size_t at,
                           size_t length)
{
    static const char *const name[] = {"x"};
    const kn_called c = {.name = "attribute", .name_length = 9, .at = at, .length = length};
    kn_value x = *of;
    return kn_compose(out, p, &c, text, name, &x, 1);
}

bool kn_parser_attribute(kiln_status *status, kn_value *out, kn_parser *p, const kn_value *of,
                         const char *name, size_t length, size_t at)
{
    int in = 0;
    kn_node node = {.n_in = 1, .in = &in, .at = at, .length = length};
    if (length == 5 && memcmp(name, "shape", length) == 0) {
        *out = (kn_value){.kind = KN_VALUE_SHAPE, .at = at, .length = length};
        *status = kn_parser_node(&out->node, p, of);
        return true;
    }
    for (size_t a = 0; a < sizeof attributes / sizeof attributes[0]; ++a) {
        if (strlen(attributes[a].name) != length || memcmp(attributes[a].name, name, length) != 0)
            continue;
        node.kind = attributes[a].kind;
        node.index = attributes[a].index;
        if (attributes[a].text) {
            *status = compute(out, p, of, attributes[a].text, at, length);
            return true;
        }
        *status = kn_parser_node(&in, p, of);
        if (*status == KILN_OK)
            *status = kn_parser_add(out, p, &node);
        return true;
    }
    return false;
}

/* ---- methods ---- */

/* x.item(), x.item(k), x.item(i, j): an element, as an array without axes. */
kiln_status kn_call_item(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"a", "k"};
    kn_value slot[2] = {{0}};
    if (c->count < 1 || !c->is_method)
        return kn_call_refuse(p, c, "a method of arrays: x.item(...) was expected");
    slot[0] = p->argument[c->first];
    if (c->count == 1)
        return kn_compose(out, p, c, "reshape(a, ())", names, slot, 1);
    slot[1] = p->argument[c->first + 1];
    if (c->count == 2 && slot[1].kind != KN_VALUE_TUPLE)
        return kn_compose(out, p, c, "ravel(a)[k]", names, slot, 2);
    kn_subscript subscript[KILN_MAX_NDIM];
    const kn_value *item = &p->argument[c->first + 1];
    const int count = c->count > 2 ? c->count - 1 : kn_parser_items(&item, p, &slot[1]);
    kiln_status status = KILN_OK;
    if (count > KILN_MAX_NDIM)
        return kn_call_refuse(p, c, "more indices were given than an array has axes");
    for (int k = 0; k < count && status == KILN_OK; ++k) {
        subscript[k] = (kn_subscript){.kind = KN_SUBSCRIPT_INDEX};
        status = kn_parser_whole(&subscript[k].start, p, &item[k], "index");
    }
    return status == KILN_OK ? kn_call_add_slice(out, p, c, &slot[0], subscript, count) : status;
}

/* x.fill(value): x has this value everywhere. */
kiln_status kn_call_fill(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"a", "value"};
    kn_value slot[2] = {{0}};
    kiln_status status = kn_call_match(slot, p, c, names, 2, 2, 2);
    return status == KILN_OK ? kn_compose(out, p, c, "full_like(a, value)", names, slot, 2) : status;
}

/* slice(stop), slice(start, stop, step=None), as an index, or as what delete and insert take. */
kiln_status kn_call_slice(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"start", "stop", "step"};
    const kn_value none = {.kind = KN_VALUE_NONE, .at = c->at, .length = c->length};
    kn_value slot[3] = {{0}};
    kiln_status status = kn_call_match(slot, p, c, names, 3, 3, 1);
    if (status == KILN_OK && slot[1].kind == KN_VALUE_ABSENT) {
        slot[1] = slot[0];
        slot[0] = none;
    }
    *out =
        (kn_value){.kind = KN_VALUE_SLICE, .first = p->n_items, .count = 3, .at = c->at, .length = c->length};
    for (int k = 0; k < 3 && status == KILN_OK; ++k) {
        const kn_value part = slot[k].kind == KN_VALUE_ABSENT ? none : slot[k];
        if (part.kind != KN_VALUE_NONE && !kn_parser_is_number(p, &part))
            return kn_parser_refuse(p, part.at, part.length,
                                    "%s: a whole number that stands in the expression, or None, was expected",
                                    names[k]);
        status = kn_parser_push_item(p, &part);
    }
    return status;
}

kiln_status kn_parser_slice(kn_subscript *out, const kn_parser *p, const kn_value *slice)
{
    kiln_status status = KILN_OK;
    *out = (kn_subscript){KN_SUBSCRIPT_SLICE, KILN_SLICE_NONE, KILN_SLICE_NONE, KILN_SLICE_NONE};
    int64_t *const part[] = {&out->start, &out->stop, &out->step};
    for (int k = 0; k < 3 && status == KILN_OK; ++k)
        if (p->item[slice->first + k].kind != KN_VALUE_NONE)
            status = kn_parser_whole(part[k], p, &p->item[slice->first + k], "slice");
    if (status == KILN_OK && out->step == 0)
        return kn_parser_refuse(p, slice->at, slice->length, "the step of a slice is 0");
    return status;
}
