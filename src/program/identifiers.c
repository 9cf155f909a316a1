/* program/identifiers.c - analyses how texts use the names of outputs and raw parameters. */
#include "program/identifiers.h"

#include <string.h>

#include "base/error.h"
#include "program/macros.h"
#include "program/tokens.h"
#include "base/caret.h"

/* ---- outputs ---- */

/* Operators whose operands are read. Those of one '&' may take an address, and those that shift may be a
 * stream's. */
static const char *const reading[] = {"==", "!=", "<=", ">=", "<",  ">", "+", "-",
                                      "*",  "/",  "%",  "&&", "||", "|", "^"};

static const char *const updating[] = {
    "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="}; /* their right operands are */

/* Tokens that may precede an operand of an operator that reads it. */
static const char *const before[] = {";", "{", "}", "(", ")", ",",      "[",
                                     "=", "?", ":", "!", "~", "return", "else"};

/* ... and behind its last one. */
static const char *const behind[] = {";", "}", ")", ",", "]", ":", "?"};

/* True if the name at k is in a place where a value is read, and nothing else is possible. */
static bool is_read(const kn_tokens *t, size_t k, bool is_argument, kn_macros m)
{
    const kn_token *previous = kn_token_at(t, k - 1), *next = kn_token_at(t, k + 1);
    if (m != KN_MACROS_NONE && (is_argument || kn_token_is(previous, ")")))
        return false; /* perhaps the argument of a macro, or behind one */
    bool follows = KN_TOKEN_IS_IN(previous, reading) || KN_TOKEN_IS_IN(previous, updating);
    if (KN_TOKEN_IS_IN(next, reading))
        return follows || !previous->length || KN_TOKEN_IS_IN(previous, before);
    return follows && (!next->length || KN_TOKEN_IS_IN(next, behind));
}

/* *first: the place of the name; t->count: not found. */
static bool may_assign(size_t *first, const kn_tokens *t, const char *name, kn_macros m)
{
    int depth = 0;
    *first = t->count;
    for (size_t k = 0; k < t->count; ++k) {
        depth += kn_token_is(&t->list[k], "(") - kn_token_is(&t->list[k], ")");
        if (!kn_token_names(t, k, name))
            continue;
        if (!is_read(t, k, depth > 0, m))
            return true;
        if (*first == t->count ||
            (kn_token_is(kn_token_at(t, k + 1), "==") && !kn_token_is(kn_token_at(t, *first + 1), "==")))
            *first = k;
    }
    return false;
}

static kiln_status refuse_output(const kn_program *p, const kn_stage *s, const kn_tokens *t, size_t first,
                                 const char *name)
{
    int line, column;
    bool is_named = first < t->count;
    size_t place = is_named ? (size_t)(t->list[first].text - s->body) : 0;
    kn_text_position(s->body, place, &line, &column);
    return kn_error_at(KILN_ERROR_INVALID, s->body, place, is_named ? strlen(name) : 1,
                       "%s: %s:%d:%d: output '%s' is never assigned: %s; '%s = ...' was expected", p->name,
                       s->label[0] ? s->label : "body", line, column, name,
                       !is_named                                      ? "the body does not name it"
                       : kn_token_is(kn_token_at(t, first + 1), "==") ? "'==' compares"
                                                                      : "its value is only read",
                       name);
}

/* Operators of the user's own may do anything with their operands. */
static bool has_operators(const kn_program *p)
{
    bool has = false;
    for (int t = 0; t < kn_program_texts(p); ++t)
        has = has || kn_text_has_word(p->text[t], "operator");
    return has;
}

static kiln_status check_stage(const kn_program *p, const kn_stage *s, kn_macros m)
{
    kn_tokens t = {NULL, 0};
    kiln_status status = kn_tokens_make(&t, s->body);
    for (int v = s->n_read; v < s->n_read + s->n_given && status == KILN_OK; ++v) {
        size_t first;
        const kn_param *param = &p->param[s->value[v]];
        const char *name = kn_value_name(param);
        if (param->is_raw || (m == KN_MACROS_SEEN && kn_text_has_word(p->preamble, name)))
            continue;
        if (!may_assign(&first, &t, name, m))
            status = refuse_output(p, s, &t, first, name);
    }
    kn_tokens_free(&t);
    return status;
}

kiln_status kn_identifiers_check_outputs(const kn_program *p)
{
    kn_macros m = kn_macros_find(p);
    kiln_status status = KILN_OK;
    if (m == KN_MACROS_HIDDEN || has_operators(p))
        return KILN_OK;
    for (int s = 0; s < p->n_stages && status == KILN_OK; ++s)
        if (p->stage[s].kind == KN_MAP)
            status = check_stage(p, &p->stage[s], m);
    return status;
}

/* ---- raw parameters ---- */

static uint64_t find_indexed(const kn_program *p, const kn_tokens *t)
{
    static const char *const uses[] = {"[", "(", "."};
    uint64_t found = 0;
    for (int k = 0; k < p->n_in + p->n_out; ++k)
        for (size_t j = 0; j < t->count && p->param[k].is_raw; ++j)
            if (kn_token_names(t, j, p->param[k].name) && KN_TOKEN_IS_IN(kn_token_at(t, j + 1), uses))
                found |= UINT64_C(1) << k;
    return found;
}

kiln_status kn_identifiers_find_indexed(uint64_t *out, const kn_program *p)
{
    *out = 0;
    for (int k = KN_TEXT_LOOP_PREP; k < kn_program_texts(p); ++k) {
        kn_tokens t = {NULL, 0};
        kiln_status status = kn_tokens_make(&t, p->text[k]);
        if (status != KILN_OK)
            return status;
        *out |= find_indexed(p, &t);
        kn_tokens_free(&t);
    }
    return KILN_OK;
}
