/* schedule/contraction.c - contraction across the texts of a reduction. */
#include "schedule/contraction.h"

#include <string.h>

#include "base/caret.h"
#include "base/str.h"
#include "program/tokens.h"
#include "schedule/kind.h"
#include "types/dtype.h"

enum { REDUCE = 1 }; /* the stage of a reduction, or of a scan */

/* The operator of a text of three characters and blanks, "a + b" or "a * b"; 0. It needs no memory: the
 * source depends on it. */
static char operator_of(const char *text, size_t end)
{
    char found[3] = "";
    size_t count = 0, length;
    for (size_t at = 0; at < end; at += length) {
        kn_token_kind kind = kn_token_scan(text + at, &length);
        if (kind == KN_TOKEN_SPACE)
            continue;
        if (length != 1 || count == sizeof found)
            return 0;
        found[count++] = text[at];
    }
    return count == sizeof found && found[0] == 'a' && found[2] == 'b' ? found[1] : 0;
}

/* The same of one that is converted to the type which it has, as expressions write it:
 * "static_cast<float>(a + b)". */
static char operator_of_cast(const char *text, const char *type)
{
    static const char cast[] = "static_cast<";
    size_t length = strlen(text), before = sizeof cast - 1 + strlen(type) + 2; /* ">(" */
    if (length <= before || strncmp(text, cast, sizeof cast - 1) != 0 || text[length - 1] != ')' ||
        strncmp(text + sizeof cast - 1, type, strlen(type)) != 0 || strncmp(text + before - 2, ">(", 2) != 0)
        return operator_of(text, length);
    return operator_of(text + before, length - before - 1);
}

const char *kn_contraction_function(const kn_spec *spec, int stage)
{
    static const struct {
        kiln_dtype dtype;
        const char *type, *add, *multiply;
    } functions[] = {{KILN_FLOAT32, "float", "__fadd_rn", "__fmul_rn"},
                     {KILN_FLOAT64, "double", "__dadd_rn", "__dmul_rn"},
                     {KILN_COMPLEX64, "complex<float>", "kn_add", "kn_multiply"},
                     {KILN_COMPLEX128, "complex<double>", "kn_add", "kn_multiply"}};
    const kn_stage *s = &spec->program->stage[stage];
    const char *pattern = spec->program->pattern;
    bool combines = s->kind == KN_REDUCE ? strcmp(pattern, "mrk") == 0
                                         : s->kind == KN_SCAN && strcmp(pattern, "msm") == 0;
    if (spec->target.backend != KN_CUDA || !combines || spec->schedule.kind->contracts)
        return NULL;
    kiln_dtype dtype = kn_spec_value_dtype(spec, s->value[s->n_read]);
    for (size_t k = 0; k < sizeof functions / sizeof functions[0]; ++k) {
        char sign = functions[k].dtype == dtype ? operator_of_cast(s->body, functions[k].type) : 0;
        if (sign == '+' || sign == '*')
            return sign == '+' ? functions[k].add : functions[k].multiply;
    }
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

/* True for a product with one, as expressions convert a number to a float: it has no rounding. */
static bool is_times_one(const kn_tokens *tokens, size_t k)
{
    static const char *const ones[] = {"1.0f", "1.0"};
    return kn_token_is(kn_token_at(tokens, k), "*") && KN_TOKEN_IS_IN(kn_token_at(tokens, k + 1), ones);
}

/* The token behind the bracket that ends what the bracket at k begins. */
static size_t find_end(const kn_tokens *tokens, size_t k)
{
    int depth = 0;
    do {
        depth += kn_token_is(kn_token_at(tokens, k), "(") - kn_token_is(kn_token_at(tokens, k), ")");
        ++k;
    } while (depth > 0 && k < tokens->count);
    return k;
}

/* True if the texts select, compare and, if they may, add: they multiply nothing, and call no functions but
 * some that select, those that are never contracted, and their own. What kn_no_product has between its
 * brackets adds no product; the library's own texts say so. */
static bool selects(const char *preamble, const char *map, const char *reduce, bool may_add, bool has_abs)
{
    static const char *const products[] = {"*", "/", "*=", "/=", "#"};
    static const char *const sums[] = {"+", "-", "++", "--", "+=", "-="};
    static const char *const absolute[] = {"abs", "fabs"};
    static const char *const selecting[] = {"min",
                                            "max",
                                            "fmin",
                                            "fmax",
                                            "kn_least",
                                            "kn_greatest",
                                            "kn_is_nan",
                                            "isnan",
                                            "if",
                                            "for",
                                            "while",
                                            "switch",
                                            "return",
                                            "kn_add",
                                            "kn_subtract",
                                            "kn_multiply",
                                            "kn_multiply_add",
                                            "kn_joined_moments",
                                            "kn_mean_of_moments",
                                            "kn_squares_of_moments"};
    kn_tokens tokens;
    kn_str text = KN_STR_INIT;
    kn_str_printf(&text, "%s\n%s\n%s", preamble, map, reduce);
    bool is_good = kn_str_status(&text, "the texts of a reduction") == KILN_OK &&
                   kn_tokens_make(&tokens, kn_str_text(&text)) == KILN_OK;
    if (is_good) {
        for (size_t k = 0; k < tokens.count && is_good; ++k) {
            if (kn_token_is(kn_token_at(&tokens, k), "kn_no_product"))
                k = find_end(&tokens, k + 1);
            const kn_token *t = kn_token_at(&tokens, k);
            bool is_call = t->is_name && kn_token_is(kn_token_at(&tokens, k + 1), "(");
            bool is_line = kn_token_is(t, "#") && kn_token_is(kn_token_at(&tokens, k + 1), "line");
            is_good = (!KN_TOKEN_IS_IN(t, products) || is_line || is_times_one(&tokens, k)) &&
                      (may_add || !KN_TOKEN_IS_IN(t, sums)) &&
                      (!is_call || KN_TOKEN_IS_IN(t, selecting) || (has_abs && KN_TOKEN_IS_IN(t, absolute)) ||
                       is_declared(&tokens, k));
        }
        kn_tokens_free(&tokens);
    }
    kn_str_free(&text);
    return is_good;
}

static bool is_complex(const kn_dtype_info *info)
{
    return info && info->kind == KN_KIND_COMPLEX;
}

static const kn_dtype_info *info_of_value(const kn_spec *spec, int value)
{
    kiln_dtype dtype = kn_spec_value_dtype(spec, value);
    return dtype == KILN_DTYPE_NONE ? NULL : kn_dtype_info_of(dtype);
}

/* True if the map's inputs are real: absolute values of those are no products. */
static bool are_inputs_real(const kn_spec *spec)
{
    const kn_stage *map = &spec->program->stage[0];
    bool are = true;
    for (int v = 0; v < map->n_read; ++v)
        are = are && !is_complex(info_of_value(spec, map->value[v]));
    return are;
}

/* Integers have nothing to contract, and 16-bit floats are rounded between two operations. Elsewhere a
 * product has to meet a sum: none does where what combines only selects, or where map and it only add. A
 * struct's functions stand in the preamble. */
bool kn_contraction_is_safe(const kn_spec *spec)
{
    const kn_program *p = spec->program;
    const kn_stage *s = &p->stage[REDUCE];
    if (p->flags & KILN_KERNEL_FAST_MATH || p->n_options > 0)
        return false;
    if (p->flags & KILN_KERNEL_NO_FMA || kn_contraction_function(spec, REDUCE))
        return true;
    const kn_dtype_info *info = info_of_value(spec, s->value[s->n_read]);
    bool is_exact = info && (info->kind == KN_KIND_FLOAT ? info->size == 2 : !is_complex(info));
    return is_exact || selects(p->preamble, "", s->body, false, false) ||
           selects(p->preamble, p->stage[0].body, s->body, true, are_inputs_real(spec));
}

bool kn_contraction_is_off(const kn_spec *spec)
{
    const kn_program *p = spec->program;
    return p->flags & KILN_KERNEL_NO_FMA ||
           (spec->target.backend == KN_CUDA && strcmp(p->pattern, "msm") == 0 &&
            !(p->flags & KILN_KERNEL_FAST_MATH) && p->n_options == 0 && !kn_spec_combines_whole(spec) &&
            !kn_contraction_is_safe(spec));
}
