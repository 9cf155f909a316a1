/* program/draws.c - finds calls that draw random numbers, by words. */
#include "program/draws.h"

#include <string.h>

#include "base/caret.h"
#include "program/macros.h"
#include "program/tokens.h"

/* Those of kernel/random_table.c that begin with words of the block that neighbours share; its unit test
 * compares both. The last two are kiln's own. */
static const char *const names[] = {"exponential",     "geometric",       "gumbel",
                                    "integers",        "laplace",         "logistic",
                                    "lognormal",       "normal",          "pareto",
                                    "random",          "random_bits",     "random_power",
                                    "rayleigh",        "standard_cauchy", "standard_exponential",
                                    "standard_normal", "triangular",      "uniform",
                                    "weibull",         "kn_random_short", "kn_random_integers_to"};

const char *kn_draw_name(int k)
{
    return k >= 0 && (size_t)k < sizeof names / sizeof names[0] ? names[k] : NULL;
}

/* The bracket that opens the arguments of the call at token k, behind those of its template; 0: none. */
static size_t opens_at(const kn_tokens *t, size_t k)
{
    static const char *const within[] = {"<", "::", ","};
    int depth = 0;
    if (kn_token_is(kn_token_at(t, k + 1), "(") || !kn_token_is(kn_token_at(t, k + 1), "<"))
        return kn_token_is(kn_token_at(t, k + 1), "(") ? k + 1 : 0;
    for (++k; k < t->count; ++k) {
        const kn_token *token = kn_token_at(t, k);
        depth += kn_token_is(token, "<") - kn_token_is(token, ">");
        if (depth == 0)
            return kn_token_is(kn_token_at(t, k + 1), "(") ? k + 1 : 0;
        if (!token->is_name && !KN_TOKEN_IS_IN(token, within) && !kn_token_is(token, ">") &&
            kn_token_scan(token->text, &(size_t){0}) != KN_TOKEN_NUMBER)
            return 0;
    }
    return 0;
}

/* The same where token k is one of the names. A call that says kn_alone shares nothing. */
static size_t draws_at(const kn_tokens *t, size_t k)
{
    static const char *const members[] = {".", "->", "::"};
    const kn_token *before = kn_token_at(t, k - 1);
    if (!kn_token_at(t, k)->is_name || !KN_TOKEN_IS_IN(kn_token_at(t, k), names) ||
        KN_TOKEN_IS_IN(before, members) || (before->is_name && !kn_token_is(before, "return")))
        return 0;
    const size_t open = opens_at(t, k);
    return open > 0 && !kn_token_is(kn_token_at(t, open + 1), "kn_alone") ? open : 0;
}

/* True if some text uses the name for something else than a call, as a variable's declaration does. */
static bool is_used_otherwise(const kn_program *p, const char *name)
{
    bool is = false;
    for (int text = KN_TEXT_PREAMBLE + 1; text < kn_program_texts(p) && !is; ++text) {
        kn_tokens t;
        if (!kn_text_has_word(p->text[text], name))
            continue;
        if (kn_tokens_make(&t, p->text[text]) != KILN_OK)
            return true;
        for (size_t k = 0; k < t.count && !is; ++k)
            is = kn_token_names(&t, k, name) && draws_at(&t, k) == 0 &&
                 !(opens_at(&t, k) > 0 && kn_token_is(kn_token_at(&t, opens_at(&t, k) + 1), "kn_alone"));
        kn_tokens_free(&t);
    }
    return is;
}

/* True if the name may be something of the program's own. */
static bool is_hidden(const kn_program *p, const char *name)
{
    if (kn_text_has_word(p->preamble, name))
        return true;
    for (int k = 0; k < p->n_in + p->n_out + p->n_values; ++k)
        if (strcmp(kn_value_name(&p->param[k]), name) == 0)
            return true;
    return is_used_otherwise(p, name);
}

static bool may_draw(const kn_program *p, const char *text)
{
    bool may = false;
    for (size_t k = 0; k < sizeof names / sizeof names[0] && !may; ++k)
        may = kn_text_has_word(text, names[k]) && !is_hidden(p, names[k]);
    return may && kn_macros_find(p) != KN_MACROS_HIDDEN && p->n_options == 0;
}

static bool draws(const kn_program *p, const kn_tokens *t, size_t k, size_t *open)
{
    char name[32] = "";
    *open = draws_at(t, k);
    if (*open > 0)
        memcpy(name, kn_token_at(t, k)->text, kn_token_at(t, k)->length);
    return *open > 0 && !is_hidden(p, name);
}

bool kn_text_draws(const kn_program *p, const char *text)
{
    kn_tokens t;
    size_t open;
    bool found = false;
    if (!may_draw(p, text) || kn_tokens_make(&t, text) != KILN_OK)
        return false;
    for (size_t k = 0; k < t.count && !found; ++k)
        found = draws(p, &t, k, &open);
    kn_tokens_free(&t);
    return found;
}

void kn_draws_number(kn_str *out, const kn_program *p, const char *text, int *count, int most)
{
    kn_tokens t;
    size_t open;
    if (!may_draw(p, text) || kn_tokens_make(&t, text) != KILN_OK) {
        kn_str_append(out, text);
        return;
    }
    for (size_t k = 0; k < t.count && *count < most; ++k)
        if (draws(p, &t, k, &open)) {
            const char *key = kn_token_at(&t, open)->text + 1;
            kn_str_append_n(out, text, (size_t)(key - text));
            kn_str_printf(out, "kn_drawn_%d = ", (*count)++);
            text = key;
        }
    kn_str_append(out, text);
    kn_tokens_free(&t);
}
