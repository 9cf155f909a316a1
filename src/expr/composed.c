/* Functions of expressions that are expressions themselves. The nodes of a row's text are added in place of
 * the call, so that they fuse with what stands around them as if they had been written there. */
#include "expr/composed.h"

#include <string.h>

#include "base/error.h"
#include "base/map.h"
#include "base/str.h"
#include "expr/call.h"
#include "expr/composed_table.h"

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
    for (int k = 0; k < of->n_names; ++k)
        name[k] = of->name[k];
    kiln_status status = kn_call_match(slot, p, c, name, of->n_names, of->n_places, 0);
    for (int k = 0; k < of->n_names && status == KILN_OK; ++k) {
        const kn_value *item;
        const bool has_items = kn_parser_items(&item, p, &slot[k]) > 0;
        if (slot[k].is_list && of->kind[k] == KN_OF_VALUE && has_items &&
            (item->is_list || kn_parser_is_number(p, item))) /* else arrays, which the text joins */
            status = p->array(&slot[k], p);
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

/* ---- texts that depend on whether an argument is given, is true or is a word ---- */

typedef struct chosen {
    const kn_parser *p;
    const kn_composed_params *of;
    const kn_value *slot;
} chosen;

static bool is_usually(const char *usual, char kind, const char *word, size_t length)
{
    if (kind == '=')
        return strlen(usual) == length + 2 && memcmp(usual + 1, word, length) == 0;
    const bool is_none = strcmp(usual, "None") == 0, is_false = strcmp(usual, "False") == 0;
    return kind == '?' ? !is_none && !is_false && strcmp(usual, "0") != 0 : !is_none;
}

/* The condition NAME?, NAME! or NAME=WORD?; *length: of its text. */
static bool holds(size_t *length, const chosen *c, const char *text)
{
    const size_t name_length = strcspn(text, "?!=");
    const char kind = text[name_length], *word = text + name_length + 1;
    const size_t word_length = kind == '=' ? strcspn(word, "?") : 0;
    int k = 0;
    int64_t whole = 1;
    while (k + 1 < c->of->n_names &&
           (strlen(c->of->name[k]) != name_length || memcmp(c->of->name[k], text, name_length) != 0))
        ++k;
    const kn_value *value = &c->slot[k];
    *length = name_length + 1 + word_length + (kind == '=');
    if (value->kind == KN_VALUE_ABSENT)
        return is_usually(c->of->value[k], kind, word, word_length);
    if (kind == '=')
        return value->kind == KN_VALUE_WORD && value->length == word_length + 2 &&
               memcmp(value->word, word, word_length) == 0;
    if (kind == '?' && kn_parser_is_number(c->p, value) &&
        kn_parser_whole(&whole, c->p, value, "") == KILN_OK)
        return whole != 0;
    return value->kind != KN_VALUE_NONE;
}

/* Copies the text up to `end` or, in braces, to the one that closes them; returns what is behind it. */
static const char *put_chosen(kn_str *out, const chosen *c, const char *text, bool is_taken)
{
    static const char otherwise[] = "{else}";
    while (*text && *text != '}') {
        if (strncmp(text, otherwise, strlen(otherwise)) == 0)
            break;
        if (*text == '{') {
            size_t length;
            const bool is = holds(&length, c, text + 1);
            text = put_chosen(out, c, text + 1 + length, is_taken && is);
            if (*text == '{')
                text = put_chosen(out, c, text + strlen(otherwise), is_taken && !is);
            text += *text == '}';
        } else if (is_taken) {
            kn_str_append_n(out, text++, 1);
        } else {
            ++text;
        }
    }
    return text;
}

static kiln_status call(kn_value *out, kn_parser *p, const kn_called *c, const kn_composed *row,
                        const kn_composed_params *of, kn_value *slot)
{
    const char *name[KN_COMPOSED_PARAMS], *usual[KN_COMPOSED_PARAMS];
    const named values = {name, usual, slot, of->n_names};
    const chosen choice = {p, of, slot};
    kn_str text = KN_STR_INIT;
    for (int k = 0; k < of->n_names; ++k) {
        name[k] = of->name[k];
        usual[k] = of->value[k];
    }
    if (!strchr(row->text, '{'))
        return read_at_call(out, p, c, row->text, &values);
    put_chosen(&text, &choice, row->text, true);
    kiln_status status = kn_str_status(&text, "the text of a function");
    if (status == KILN_OK)
        status = read_at_call(out, p, c, kn_str_text(&text), &values);
    kn_str_free(&text);
    return status;
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
