#include "plan/mentions.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "types/caret.h"

/* The words and operators of a text, blanks and comments left out. */
typedef struct token {
    const char *text;
    size_t length;
    bool is_name;
} token;
typedef struct tokens {
    token *list;
    size_t count;
} tokens;

static bool is_in(const token *t, const char *const *list, size_t count)
{
    for (size_t k = 0; k < count; ++k)
        if (strlen(list[k]) == t->length && memcmp(t->text, list[k], t->length) == 0)
            return true;
    return false;
}
#define IS_IN(t, list) is_in(t, list, sizeof(list) / sizeof((list)[0]))

/* The longest operator that stands at text. */
static size_t operator_length(const char *text)
{
    static const char *const longer[] = {
        "<<=", ">>=", "->*", "...", "==", "!=", "<=", ">=", "&&", "||", "++", "--",
        "<<",  ">>",  "->",  "::",  "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="};
    for (size_t k = 0; k < sizeof longer / sizeof longer[0]; ++k)
        if (strncmp(text, longer[k], strlen(longer[k])) == 0)
            return strlen(longer[k]);
    return 1;
}

static size_t split(token *out, const char *text)
{
    size_t count = 0, length;
    for (kn_token_kind kind; (kind = kn_token_scan(text, &length)) != KN_TOKEN_END; text += length) {
        if (kind == KN_TOKEN_SPACE)
            continue;
        if (kind == KN_TOKEN_OTHER)
            length = operator_length(text);
        if (out)
            out[count] = (token){text, length, kind == KN_TOKEN_NAME};
        ++count;
    }
    return count;
}

static kiln_status tokens_make(tokens *out, const char *text)
{
    size_t count = split(NULL, text);
    token *list = kn_calloc(count + 1, sizeof *list);
    if (!list)
        return kn_error_memory((count + 1) * sizeof *list, "the words of a text");
    *out = (tokens){list, split(list, text)};
    return KILN_OK;
}

static const token *at(const tokens *t, size_t k)
{
    static const token none = {"", 0, false};
    return k < t->count ? &t->list[k] : &none; /* k - 1 of the first is beyond the end as well */
}

static bool is(const token *t, const char *text)
{
    return is_in(t, &text, 1);
}

/* Whether token k is this name, and not that of a member of something else. */
static bool names(const tokens *t, size_t k, const char *name)
{
    static const char *const members[] = {".", "->", "::"};
    return t->list[k].is_name && is(&t->list[k], name) && !IS_IN(at(t, k - 1), members);
}

/* ---- macros ---- */

/* How much of the text the preprocessor may change. */
typedef enum macros { NO_MACROS, SEEN_MACROS, HIDDEN_MACROS } macros;

/* Options that define nothing. */
static bool is_plain_option(const char *option)
{
    static const char *const plain[] = {"-std=", "--std=", "-O", "-I", "-f", "-m", "--use_fast_math"};
    for (size_t k = 0; k < sizeof plain / sizeof plain[0]; ++k)
        if (strncmp(option, plain[k], strlen(plain[k])) == 0)
            return true;
    return false;
}

/* Inside a stage they may stand anywhere, and so count as hidden. */
static macros find_macros(const kn_program *p)
{
    size_t length;
    macros found = NO_MACROS;
    for (int k = 0; k < p->n_options; ++k)
        if (!is_plain_option(p->option[k]))
            return HIDDEN_MACROS;
    for (const char *text = p->preamble; kn_token_scan(text, &length) != KN_TOKEN_END; text += length)
        if (*text == '#')
            found = SEEN_MACROS;
    if (found == SEEN_MACROS && kn_text_has_word(p->preamble, "include"))
        return HIDDEN_MACROS;
    for (int s = 0; s < p->n_stages; ++s)
        for (const char *text = p->stage[s].body; kn_token_scan(text, &length) != KN_TOKEN_END;
             text += length)
            if (*text == '#' || *text == '\\')
                return HIDDEN_MACROS;
    return found;
}

/* ---- outputs ---- */

/* Operators whose operands are read. Those of one '&' may take an address, and those that shift may be a
 * stream's. */
static const char *const reading[] = {"==", "!=", "<=", ">=", "<",  ">", "+", "-",
                                      "*",  "/",  "%",  "&&", "||", "|", "^"};

static const char *const updating[] = {
    "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="}; /* their right operands are */

/* What else may stand in front of an operand of an operator that reads it. */
static const char *const before[] = {";", "{", "}", "(", ")", ",",      "[",
                                     "=", "?", ":", "!", "~", "return", "else"};

/* ... and behind its last one. */
static const char *const behind[] = {";", "}", ")", ",", "]", ":", "?"};

/* Whether the name at k stands where a value is read, and nothing can be made of it but that. */
static bool is_read(const tokens *t, size_t k, bool is_argument, macros m)
{
    const token *previous = at(t, k - 1), *next = at(t, k + 1);
    if (m != NO_MACROS && (is_argument || is(previous, ")")))
        return false; /* perhaps the argument of a macro, or behind one */
    bool follows = IS_IN(previous, reading) || IS_IN(previous, updating);
    if (IS_IN(next, reading))
        return follows || !previous->length || IS_IN(previous, before);
    return follows && (!next->length || IS_IN(next, behind));
}

/* *first: where the name stands; t->count where it does not. */
static bool may_assign(size_t *first, const tokens *t, const char *name, macros m)
{
    int depth = 0;
    *first = t->count;
    for (size_t k = 0; k < t->count; ++k) {
        depth += is(&t->list[k], "(") - is(&t->list[k], ")");
        if (!names(t, k, name))
            continue;
        if (!is_read(t, k, depth > 0, m))
            return true;
        if (*first == t->count || (is(at(t, k + 1), "==") && !is(at(t, *first + 1), "==")))
            *first = k;
    }
    return false;
}

static kiln_status refuse_output(const kn_program *p, const kn_stage *s, const tokens *t, size_t first,
                                 const char *name)
{
    int line, column;
    bool mentioned = first < t->count;
    size_t place = mentioned ? (size_t)(t->list[first].text - s->body) : 0;
    kn_text_position(s->body, place, &line, &column);
    return kn_error_at(KILN_ERROR_INVALID, s->body, place, mentioned ? strlen(name) : 1,
                       "%s: %s:%d:%d: output '%s' is never assigned: %s; '%s = ...' was expected", p->name,
                       s->label[0] ? s->label : "body", line, column, name,
                       !mentioned                   ? "the body does not mention it"
                       : is(at(t, first + 1), "==") ? "'==' compares"
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

static kiln_status check_stage(const kn_program *p, const kn_stage *s, macros m)
{
    tokens t = {NULL, 0};
    kiln_status status = tokens_make(&t, s->body);
    for (int v = s->n_read; v < s->n_read + s->n_given && status == KILN_OK; ++v) {
        size_t first;
        const kn_param *param = &p->param[s->value[v]];
        const char *name = kn_value_name(param);
        if (param->is_raw || (m == SEEN_MACROS && kn_text_has_word(p->preamble, name)))
            continue;
        if (!may_assign(&first, &t, name, m))
            status = refuse_output(p, s, &t, first, name);
    }
    kn_free(t.list);
    return status;
}

kiln_status kn_mentions_check_outputs(const kn_program *p)
{
    macros m = find_macros(p);
    kiln_status status = KILN_OK;
    if (m == HIDDEN_MACROS || has_operators(p))
        return KILN_OK;
    for (int s = 0; s < p->n_stages && status == KILN_OK; ++s)
        if (p->stage[s].kind == KN_MAP)
            status = check_stage(p, &p->stage[s], m);
    return status;
}

/* ---- raw parameters ---- */

static uint64_t find_indexed(const kn_program *p, const tokens *t)
{
    static const char *const uses[] = {"[", "(", "."};
    uint64_t found = 0;
    for (int k = 0; k < p->n_in + p->n_out; ++k)
        for (size_t j = 0; j < t->count && p->param[k].is_raw; ++j)
            if (names(t, j, p->param[k].name) && IS_IN(at(t, j + 1), uses))
                found |= UINT64_C(1) << k;
    return found;
}

kiln_status kn_mentions_find_indexed(uint64_t *out, const kn_program *p)
{
    *out = 0;
    for (int k = KN_TEXT_LOOP_PREP; k < kn_program_texts(p); ++k) {
        tokens t = {NULL, 0};
        kiln_status status = tokens_make(&t, p->text[k]);
        if (status != KILN_OK)
            return status;
        *out |= find_indexed(p, &t);
        kn_free(t.list);
    }
    return KILN_OK;
}
