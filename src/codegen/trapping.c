/* trapping.c - texts that make no integer of a number. Without floating-point exceptions, which nobody asks
 * for, g++ makes vectors of more conditions; but it then takes (float)(int)x for trunc(x), whose zeros have
 * signs. */
#include <string.h>

#include "codegen/codegen.h"
#include "base/caret.h"
#include "types/dtype.h"

/* Words that are integer types, or may be; functions that give one. Names that begin like "int8", and those
 * that begin as `_index` does, besides. */
static const char *const words[] = {"unsigned", "signed", "long",      "short",  "char",    "auto",
                                    "size_t",   "lrint",  "lround",    "llrint", "llround", "ilogb",
                                    "decltype", "enum",   "ptrdiff_t", "wchar_t"};

static int param_count(const kn_spec *spec)
{
    return spec->program->n_in + spec->program->n_out;
}

static bool is_integer(kiln_dtype dtype)
{
    int kind = dtype == KILN_DTYPE_NONE ? KN_KIND_BOOL : kn_dtype_info_of(dtype)->kind;
    return kind == KN_KIND_INT || kind == KN_KIND_UINT;
}

static bool is_integer_word(const kn_spec *spec, const char *text, size_t length)
{
    for (size_t k = 0; k < sizeof words / sizeof words[0]; ++k)
        if (strlen(words[k]) == length && memcmp(text, words[k], length) == 0)
            return true;
    for (int k = 0; k < param_count(spec) && length == 1; ++k)
        if (spec->program->param[k].type == KN_TYPE_PLACEHOLDER &&
            spec->program->param[k].placeholder == *text)
            return is_integer(spec->operand[k].seen);
    return strncmp(text, "int", 3) == 0 || strncmp(text, "uint", 4) == 0 || *text == '_';
}

/* Macros and headers may say anything. */
static bool is_clear(const kn_spec *spec, const char *text)
{
    size_t length;
    for (const char *at = text;; at += length) {
        kn_token_kind kind = kn_token_scan(at, &length);
        if (kind == KN_TOKEN_END)
            return true;
        if (kind == KN_TOKEN_OPEN || (kind == KN_TOKEN_OTHER && *at == '#') ||
            (kind == KN_TOKEN_NAME && is_integer_word(spec, at, length)))
            return false;
    }
}

bool kn_codegen_truncates_nothing(const kn_spec *spec)
{
    const kn_program *p = spec->program;
    bool is = p->n_options == 0 && p->n_headers == 0;
    for (int k = p->n_in; k < param_count(spec); ++k)
        is = is && p->param[k].type != KN_TYPE_STRUCT && !is_integer(spec->operand[k].seen);
    for (int v = 0; v < p->n_values; ++v)
        is = is && !is_integer(kn_spec_value_dtype(spec, param_count(spec) + v));
    for (int t = 0; t < kn_program_texts(p) && is; ++t)
        is = is_clear(spec, p->text[t]);
    return is;
}
