/* schedule/contraction.c - contraction across the texts of a reduction. */
#include "schedule/contraction.h"

#include <string.h>

#include "base/caret.h"
#include "base/str.h"
#include "program/tokens.h"
#include "types/dtype.h"

enum { REDUCE = 1 }; /* the stage of a reduction */

/* The operator of a text "a + b" or "a * b"; 0. It needs no memory: the source depends on it. */
static char operator_of(const char *text)
{
    char found[3] = "";
    size_t count = 0, length;
    for (kn_token_kind kind; (kind = kn_token_scan(text, &length)) != KN_TOKEN_END; text += length) {
        if (kind == KN_TOKEN_SPACE)
            continue;
        if (length != 1 || count == sizeof found)
            return 0;
        found[count++] = *text;
    }
    return count == sizeof found && found[0] == 'a' && found[2] == 'b' ? found[1] : 0;
}

const char *kn_contraction_function(const kn_spec *spec, int stage)
{
    static const struct {
        char operator;
        const char *of_floats, *of_doubles;
    } functions[] = {{'+', "__fadd_rn", "__dadd_rn"}, {'*', "__fmul_rn", "__dmul_rn"}};
    const kn_stage *s = &spec->program->stage[stage];
    if (spec->target.backend != KN_CUDA || s->kind != KN_REDUCE || strcmp(spec->program->pattern, "mrk") != 0)
        return NULL;
    kiln_dtype dtype = kn_spec_value_dtype(spec, s->value[s->n_read]);
    char operator= operator_of(s->body);
    for (size_t k = 0; k < sizeof functions / sizeof functions[0]; ++k)
        if (functions[k].operator== operator)
            return dtype == KILN_FLOAT32   ? functions[k].of_floats
                   : dtype == KILN_FLOAT64 ? functions[k].of_doubles
                                           : NULL;
    return NULL;
}

/* True if a name, in front of a bracket, is that of a function which the tokens before it declare. */
static bool is_declared(const kn_tokens *tokens, size_t k)
{
    const kn_token *name = kn_token_at(tokens, k);
    for (size_t j = 1; j <= k; ++j) {
        const kn_token *t = kn_token_at(tokens, j), *before = kn_token_at(tokens, j - 1);
        if (t->length == name->length && memcmp(t->text, name->text, t->length) == 0 && before->is_name &&
            !kn_token_is(before, "return") && !kn_token_is(before, "else"))
            return true;
    }
    return false;
}

/* True if the texts select and compare: they add and multiply nothing, and call no functions but some that
 * select, and their own. */
static bool selects(const char *preamble, const char *body)
{
    static const char *const arithmetic[] = {"+", "-", "*", "/", "++", "--", "+=", "-=", "*=", "/=", "#"};
    static const char *const selecting[] = {"min",         "max",       "fmin",  "fmax", "kn_least",
                                            "kn_greatest", "kn_is_nan", "isnan", "if",   "for",
                                            "while",       "switch",    "return"};
    kn_tokens tokens;
    kn_str text = KN_STR_INIT;
    kn_str_printf(&text, "%s\n%s", preamble, body);
    bool is_good = kn_str_status(&text, "the texts of a reduction") == KILN_OK &&
                   kn_tokens_make(&tokens, kn_str_text(&text)) == KILN_OK;
    if (is_good) {
        for (size_t k = 0; k < tokens.count && is_good; ++k) {
            const kn_token *t = kn_token_at(&tokens, k);
            bool is_call = t->is_name && kn_token_is(kn_token_at(&tokens, k + 1), "(");
            is_good = !KN_TOKEN_IS_IN(t, arithmetic) &&
                      (!is_call || KN_TOKEN_IS_IN(t, selecting) || is_declared(&tokens, k));
        }
        kn_tokens_free(&tokens);
    }
    kn_str_free(&text);
    return is_good;
}

/* Integers have nothing to contract, and 16-bit floats are rounded between two operations. A struct's
 * functions stand in the preamble. */
bool kn_contraction_is_safe(const kn_spec *spec)
{
    const kn_program *p = spec->program;
    const kn_stage *s = &p->stage[REDUCE];
    if (p->flags & KILN_KERNEL_FAST_MATH || p->n_options > 0)
        return false;
    if (p->flags & KILN_KERNEL_NO_FMA || kn_contraction_function(spec, REDUCE))
        return true;
    kiln_dtype dtype = kn_spec_value_dtype(spec, s->value[s->n_read]);
    const kn_dtype_info *info = dtype == KILN_DTYPE_NONE ? NULL : kn_dtype_info_of(dtype);
    bool is_exact = info && (info->kind == KN_KIND_FLOAT ? info->size == 2 : info->kind != KN_KIND_COMPLEX);
    return is_exact || selects(p->preamble, s->body);
}
