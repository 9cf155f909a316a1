/* Functions of expressions that are expressions themselves. The nodes of a row's text are added in place of
 * the call, so that they fuse with what stands around them as if they had been written there. */
#include "expr/composed.h"

#include <string.h>

#include "base/error.h"
#include "base/map.h"
#include "expr/call.h"
#include "expr/composed_table.h"
#include "expr/lists.h"

/* A number of which only its truth counts: beside True dtypes stay that 1 would change. */
static kiln_status read_whole(kn_value *value, kn_parser *p, const kn_composed_params *of, int k)
{
    int64_t whole = 0;
    kiln_status status = kn_parser_whole(&whole, p, value, of->name[k]);
    if (status != KILN_OK || (strcmp(of->value[k], "True") != 0 && strcmp(of->value[k], "False") != 0))
        return status;
    return kn_parser_number(value, p, kiln_arg_bool(whole != 0), value->at, value->length);
}

/* slot: the arguments of the row's parameters, in their order. */
static kiln_status match(kn_value *slot, kn_parser *p, const kn_called *c, const kn_composed_params *of)
{
    const char *name[KN_COMPOSED_PARAMS];
    for (int k = 0; k < of->count; ++k)
        name[k] = of->name[k];
    kiln_status status = kn_call_match(slot, p, c, name, of->count, of->n_places, 0);
    for (int k = 0; k < of->count && status == KILN_OK; ++k) {
        const kn_value *item;
        const bool has_items = kn_parser_items(&item, p, &slot[k]) > 0;
        if (slot[k].is_list && of->kind[k] == KN_OF_VALUE && has_items &&
            (item->is_list || kn_parser_is_number(p, item))) /* else arrays, which the text joins */
            status = kn_list_array(&slot[k], p);
        if (!of->value[k][0] && status == KILN_OK)
            status = kn_call_need(p, c, &slot[k], of->name[k]);
        if (status == KILN_OK && of->kind[k] == KN_OF_WHOLE && kn_parser_is_number(p, &slot[k]))
            status = read_whole(&slot[k], p, of, k);
    }
    return status;
}

/* ---- calls ---- */

/* The values of a text's names; usual: the texts of those that are absent. */
typedef struct named {
    const char *const *name, *const *usual;
    kn_value *slot;
    int count;
} named;

/* The names of the text are its parameters and its own: the caller's variables and kernels are out of
 * sight. */
static kiln_status read_text(kn_value *out, kn_parser *p, const char *text, const named *of)
{
    struct kn_map *names = p->names;
    const int n_variables = p->n_variables, n_kernels = p->n_kernels;
    kiln_status status = KILN_OK;
    p->names = NULL;
    p->n_kernels = 0;
    for (int k = 0; k < of->count && status == KILN_OK; ++k) {
        if (of->slot[k].kind == KN_VALUE_ABSENT && of->usual)
            status = p->read(&of->slot[k], p, of->usual[k]);
        if (status == KILN_OK && of->slot[k].kind != KN_VALUE_ABSENT)
            status = kn_parser_assign(p, of->name[k], strlen(of->name[k]), &of->slot[k]);
    }
    if (status == KILN_OK)
        status = p->read(out, p, text);
    kn_map_free(p->names, NULL);
    p->names = names;
    p->n_variables = n_variables;
    p->n_kernels = n_kernels;
    return status;
}

static kiln_status read_at_call(kn_value *out, kn_parser *p, const kn_called *c, const char *text,
                                const named *of)
{
    const kn_called *outer = p->composed;
    if (!outer)
        p->composed = c;
    kiln_status status = read_text(out, p, text, of);
    p->composed = outer;
    out->at = c->at;
    out->length = c->length;
    out->variable = 0;
    return status;
}

kiln_status kn_compose(kn_value *out, kn_parser *p, const kn_called *c, const char *text,
                       const char *const *name, kn_value *slot, int count)
{
    return read_at_call(out, p, c, text, &(named){name, NULL, slot, count});
}

static kiln_status call(kn_value *out, kn_parser *p, const kn_called *c, const kn_composed *row,
                        const kn_composed_params *of, kn_value *slot)
{
    const char *name[KN_COMPOSED_PARAMS], *usual[KN_COMPOSED_PARAMS];
    for (int k = 0; k < of->count; ++k) {
        name[k] = of->name[k];
        usual[k] = of->value[k];
    }
    return read_at_call(out, p, c, row->text, &(named){name, usual, slot, of->count});
}

bool kn_call_composed(kiln_status *status, kn_value *out, kn_parser *p, const kn_called *c)
{
    const kn_composed *row;
    bool is_there = false;
    for (int k = 0; (row = kn_composed_at(k)) != NULL; ++k) {
        if (!row->text || !kn_call_is(c, row->name))
            continue;
        kn_value slot[KN_COMPOSED_PARAMS] = {{0}};
        kn_composed_params of;
        kn_composed_read(&of, row->params);
        is_there = true;
        *status = match(slot, p, c, &of);
        if (*status == KILN_OK)
            *status = call(out, p, c, row, &of, slot);
        else if (*status != KILN_ERROR_MEMORY) /* other arguments may be those of another row */
            continue;
        return true;
    }
    return is_there;
}
