/* program/tokens.h - the words and operators of a text, blanks and comments left out. */
#ifndef KN_PROGRAM_TOKENS_H
#define KN_PROGRAM_TOKENS_H

#include <kiln/base.h>

typedef struct kn_token {
    const char *text;
    size_t length;
    bool is_name;
} kn_token;
typedef struct kn_tokens {
    kn_token *list;
    size_t count;
} kn_tokens;

/* They point into the text. Freed by kn_tokens_free. */
kiln_status kn_tokens_make(kn_tokens *out, const char *text);
void kn_tokens_free(kn_tokens *tokens);

/* Token k; an empty one beyond either end. */
const kn_token *kn_token_at(const kn_tokens *tokens, size_t k);
bool kn_token_is(const kn_token *token, const char *text);
bool kn_token_is_in(const kn_token *token, const char *const *list, size_t count);
#define KN_TOKEN_IS_IN(token, list) kn_token_is_in(token, list, sizeof(list) / sizeof((list)[0]))
/* True if token k is this name, and not that of a member of something else. */
bool kn_token_names(const kn_tokens *tokens, size_t k, const char *name);

#endif
