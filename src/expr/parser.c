/* Values, variables and nodes, as all files of the parser use them. */
#include "expr/parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/map.h"
#include "graph/constant_folding.h"
#include "base/caret.h"

kiln_status kn_parser_refuse(const kn_parser *p, size_t at, size_t length, const char *format, ...)
{
    char message[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (p->composed) {
        const kn_called *c = p->composed;
        return kn_error_at(KILN_ERROR_SYNTAX, p->graph->text, c->at, c->length, "%s: %.*s: %s",
                           p->graph->name, (int)c->name_length, c->name, message);
    }
    return kn_error_at(KILN_ERROR_SYNTAX, p->graph->text, at, length ? length : 1, "%s: %s", p->graph->name,
                       message);
}

/* ---- lists ---- */

static kiln_status push(kn_value **list, int *count, int *capacity, const kn_value *value)
{
    if (!kn_grow(list, capacity, *count, sizeof **list))
        return kn_error_memory("the values of an expression");
    (*list)[(*count)++] = *value;
    return KILN_OK;
}

kiln_status kn_parser_push_item(kn_parser *p, const kn_value *value)
{
    return push(&p->item, &p->n_items, &p->item_capacity, value);
}

kiln_status kn_parser_push_argument(kn_parser *p, const kn_value *value)
{
    return push(&p->argument, &p->n_arguments, &p->argument_capacity, value);
}

const kn_variable *kn_parser_find(const kn_parser *p, const char *name, size_t length)
{
    intptr_t number = p->names ? (intptr_t)kn_map_get(p->names, name, length) : 0;
    return number ? &p->variable[number - 1] : NULL;
}

static bool put_name(kn_parser *p, const char *name, size_t length)
{
    if (!p->names)
        p->names = kn_map_create();
    return p->names && kn_map_put(p->names, name, length, (void *)(intptr_t)(p->n_variables + 1));
}

kiln_status kn_parser_assign(kn_parser *p, const char *name, size_t length, const kn_value *value)
{
    const kn_variable *found = kn_parser_find(p, name, length);
    if (!found && (!kn_grow(&p->variable, &p->variable_capacity, p->n_variables, sizeof *p->variable) ||
                   !put_name(p, name, length)))
        return kn_error_memory("the names of an expression");
    kn_variable *v = &p->variable[found ? found - p->variable : p->n_variables++];
    *v = (kn_variable){.length = length, .name = name, .value = *value};
    v->value.key_length = 0;
    return KILN_OK;
}

kiln_status kn_parser_give(kn_value *value, kn_parser *p, int variable)
{
    const kn_variable name = p->variable[variable - 1];
    value->variable = variable;
    p->n_given++;
    return kn_parser_assign(p, name.name, name.length, value);
}

void kn_parser_free(kn_parser *p)
{
    kn_map_free(p->names, NULL);
    kn_free(p->variable);
    kn_free(p->item);
    kn_free(p->argument);
}

/* ---- what values are ---- */

kiln_status kn_parser_node(int *out, kn_parser *p, const kn_value *value)
{
    static const char *const what[] = {
        [KN_VALUE_ABSENT] = "nothing",
        [KN_VALUE_NONE] = "None",
        [KN_VALUE_DTYPE] = "a dtype",
        [KN_VALUE_WORD] = "a word",
        [KN_VALUE_SHAPE] = "a shape",
        [KN_VALUE_NONZERO] =
            "the results of nonzero: i, j = nonzero(x), nonzero(x)[0] and x[nonzero(x)] are arrays"};
    if (value->kind == KN_VALUE_TUPLE) {
        kn_value array = *value;
        kiln_status status = p->array(&array, p);
        *out = array.node;
        return status;
    }
    if (value->kind != KN_VALUE_NODE)
        return kn_parser_refuse(p, value->at, value->length, "an array or a number was expected, not %s",
                                what[value->kind]);
    *out = value->node;
    return KILN_OK;
}

bool kn_parser_is_number(const kn_parser *p, const kn_value *value)
{
    return value->kind == KN_VALUE_NODE && p->graph->node[value->node].kind == KN_NODE_NUMBER;
}

kiln_status kn_parser_whole(int64_t *out, const kn_parser *p, const kn_value *value, const char *what)
{
    if (kn_parser_is_number(p, value) && kn_weak_to_int64(out, &p->graph->node[value->node].number))
        return KILN_OK;
    return kn_parser_refuse(p, value->at, value->length,
                            "%s: a whole number that stands in the expression was expected", what);
}

int kn_parser_items(const kn_value **first, const kn_parser *p, const kn_value *value)
{
    *first = value->kind == KN_VALUE_TUPLE ? p->item + value->first : value;
    return value->kind == KN_VALUE_TUPLE ? value->count : 1;
}

/* ---- nodes ---- */

kiln_status kn_parser_add(kn_value *out, kn_parser *p, const kn_node *node)
{
    int number = 0;
    kn_node placed = *node;
    if (p->composed) {
        placed.at = p->composed->at;
        placed.length = p->composed->length;
    }
    kiln_status status = kn_graph_add(&number, p->graph, &placed);
    if (status == KILN_OK)
        *out = (kn_value){.kind = KN_VALUE_NODE, .node = number, .at = node->at, .length = node->length};
    return status;
}

kiln_status kn_parser_number(kn_value *out, kn_parser *p, kiln_arg number, size_t at, size_t length)
{
    kn_node node = {.kind = KN_NODE_NUMBER, .number = number, .at = at, .length = length};
    return kn_parser_add(out, p, &node);
}

kiln_status kn_parser_operator(kn_value *out, kn_parser *p, const char *name, const kn_value *in, int n_in,
                               size_t at, size_t length)
{
    int read[2] = {0, 0};
    char copy[24];
    kn_node node = {.kind = KN_NODE_CALL,
                    .n_in = n_in,
                    .in = read,
                    .name = copy,
                    .is_operator = true,
                    .at = at,
                    .length = length};
    kiln_status status = KILN_OK;
    snprintf(copy, sizeof copy, "%s", name);
    for (int k = 0; k < n_in && status == KILN_OK; ++k)
        status = kn_parser_node(&read[k], p, &in[k]);
    return status == KILN_OK ? kn_parser_add(out, p, &node) : status;
}
