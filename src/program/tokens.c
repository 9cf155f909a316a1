/* program/tokens.c - splits a text into words and operators. */
#include "program/tokens.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/caret.h"

bool kn_token_is_in(const kn_token *t, const char *const *list, size_t count)
{
    for (size_t k = 0; k < count; ++k)
        if (strlen(list[k]) == t->length && memcmp(t->text, list[k], t->length) == 0)
            return true;
    return false;
}

bool kn_token_is(const kn_token *t, const char *text)
{
    return kn_token_is_in(t, &text, 1);
}

/* The length of the longest operator at text. */
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

static size_t split(kn_token *out, const char *text)
{
    size_t count = 0, length;
    for (kn_token_kind kind; (kind = kn_token_scan(text, &length)) != KN_TOKEN_END; text += length) {
        if (kind == KN_TOKEN_SPACE)
            continue;
        if (kind == KN_TOKEN_OTHER)
            length = operator_length(text);
        if (out)
            out[count] = (kn_token){text, length, kind == KN_TOKEN_NAME};
        ++count;
    }
    return count;
}

kiln_status kn_tokens_make(kn_tokens *out, const char *text)
{
    size_t count = split(NULL, text);
    kn_token *list = kn_calloc(count + 1, sizeof *list);
    if (!list)
        return kn_error_memory("the words of a text");
    *out = (kn_tokens){list, split(list, text)};
    return KILN_OK;
}

void kn_tokens_free(kn_tokens *tokens)
{
    kn_free(tokens->list);
    *tokens = (kn_tokens){NULL, 0};
}

const kn_token *kn_token_at(const kn_tokens *t, size_t k)
{
    static const kn_token none = {"", 0, false};
    return k < t->count ? &t->list[k] : &none; /* k - 1 of the first is beyond the end as well */
}

bool kn_token_names(const kn_tokens *t, size_t k, const char *name)
{
    static const char *const members[] = {".", "->", "::"};
    return kn_token_at(t, k)->is_name && kn_token_is(kn_token_at(t, k), name) &&
           !KN_TOKEN_IS_IN(kn_token_at(t, k - 1), members);
}
