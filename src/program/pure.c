/* program/pure.c - tells from a text whether a body is pure, a copy, or expensive. */
#include "program/pure.h"

#include <string.h>

#include "program/cost.h"
#include "base/caret.h"

/* Words with which a body does not run straight through, or does more than it assigns. */
static const char *const others[] = {"if",    "else",    "for",      "while",  "do",     "switch",
                                     "case",  "return",  "continue", "break",  "goto",   "try",
                                     "throw", "asm",     "static",   "extern", "new",    "delete",
                                     "clock", "clock64", "printf",   "assert", "malloc", "free"};

static bool is_other(const char *word, size_t length)
{
    for (size_t k = 0; k < sizeof others / sizeof others[0]; ++k)
        if (strlen(others[k]) == length && strncmp(word, others[k], length) == 0)
            return true;
    return length >= 2 && word[0] == '_';
}

/* The output of that name; -1. */
static int output_of(const kn_program *p, const char *word, size_t length)
{
    for (int k = p->n_in; k < p->n_in + p->n_out; ++k)
        if (strlen(p->param[k].name) == length && strncmp(word, p->param[k].name, length) == 0)
            return k - p->n_in;
    return -1;
}

static const char *after_spaces(const char *at)
{
    size_t length;
    while (kn_token_scan(at, &length) == KN_TOKEN_SPACE)
        at += length;
    return at;
}

/* Straight through, without the characters of `without`, each output standing where a statement begins, in
 * front of "=". */
static bool assigns_all(const kn_program *p, const char *text, const char *without)
{
    uint64_t assigned = 0;
    bool begins = true;
    size_t length;
    for (const char *at = text;; at += length) {
        kn_token_kind kind = kn_token_scan(at, &length);
        if (kind == KN_TOKEN_END)
            return assigned == (p->n_out < 64 ? (UINT64_C(1) << p->n_out) - 1 : UINT64_MAX);
        if (kind == KN_TOKEN_SPACE)
            continue;
        if (kind == KN_TOKEN_LITERAL || kind == KN_TOKEN_OPEN ||
            (kind == KN_TOKEN_OTHER && strchr(without, *at)))
            return false;
        int output = kind == KN_TOKEN_NAME ? output_of(p, at, length) : -1;
        const char *next = after_spaces(at + length);
        if (kind == KN_TOKEN_NAME && is_other(at, length))
            return false;
        if (output >= 0 && (!begins || next[0] != '=' || next[1] == '='))
            return false;
        assigned |= output >= 0 ? UINT64_C(1) << output : 0;
        begins = kind == KN_TOKEN_OTHER && *at == ';';
    }
}

static bool is_pure_without(const kn_program *p, const char *without)
{
    const unsigned none = KN_USES_INDEX | KN_USES_INDEXER | KN_USES_CONTINUE | KN_USES_PLACE |
                          KN_USES_INDEXER_OUTSIDE | KN_USES_REDUCTION_INDEX | KN_USES_SIZES;
    if (strcmp(p->pattern, "m") != 0 || p->uses & none || p->preamble[0] || p->text[KN_TEXT_LOOP_PREP][0] ||
        p->text[KN_TEXT_AFTER_LOOP][0] || p->n_out > 63 || p->n_options > 0)
        return false;
    for (int k = 0; k < p->n_in + p->n_out; ++k)
        if (p->param[k].is_raw || p->param[k].is_non_const)
            return false;
    return assigns_all(p, p->stage[0].body, without);
}

bool kn_body_is_pure(const kn_program *p)
{
    return is_pure_without(p, "{}#?[]&|\\");
}

bool kn_body_is_repeatable(const kn_program *p)
{
    return is_pure_without(p, "{}#[]\\");
}

/* The text behind the name at `at`, spaces skipped; NULL: another text is there. */
static const char *after_name(const char *at, const char *name)
{
    size_t length;
    return at && kn_token_scan(at, &length) == KN_TOKEN_NAME && strlen(name) == length &&
                   strncmp(at, name, length) == 0
               ? after_spaces(at + length)
               : NULL;
}

bool kn_body_is_copy(const kn_program *p)
{
    return kn_body_assigns(p) && p->param[0].type == KN_TYPE_PLACEHOLDER &&
           p->param[1].type == KN_TYPE_PLACEHOLDER && p->param[0].placeholder == p->param[1].placeholder;
}

bool kn_body_assigns(const kn_program *p)
{
    if (p->n_in != 1 || p->n_out != 1 || !kn_body_is_pure(p))
        return false;
    const char *at = after_name(after_spaces(p->stage[0].body), p->param[1].name);
    if (!at || *at != '=')
        return false;
    at = after_name(after_spaces(at + 1), p->param[0].name);
    if (at && *at == ';')
        at = after_spaces(at + 1);
    return at && *at == '\0';
}

bool kn_body_is_expensive(const kn_program *p)
{
    size_t length;
    if (kn_cost_functions(p) > 0)
        return true;
    for (const char *at = p->stage[0].body;; at += length) {
        kn_token_kind kind = kn_token_scan(at, &length);
        if (kind == KN_TOKEN_END)
            return false;
        if (kind == KN_TOKEN_OTHER && (*at == '/' || *at == '%'))
            return true;
    }
}
