/* reals.c - texts that divide no integers: their operators need no guards. The prelude of the guards is 2 ms
 * of NVRTC's 40 for a flat kernel with one division (bench/results/first_use.md). */
#include <string.h>

#include "codegen/writer.h"
#include "base/caret.h"

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

static bool is_real(kiln_dtype dtype)
{
    return dtype != KILN_DTYPE_NONE && kn_dtype_info_of(dtype)->kind >= KN_KIND_FLOAT;
}

/* A type of reals: a placeholder, or a name. */
static bool is_real_type(const kn_writer *w, const char *text, size_t length)
{
    for (int k = 0; k < kn_param_count(w) && length == 1; ++k)
        if (w->program->param[k].type == KN_TYPE_PLACEHOLDER && w->program->param[k].placeholder == *text)
            return is_real(w->spec->operand[k].seen);
    return is_word(text, length, "float") || is_word(text, length, "double") ||
           is_real(kn_dtype_find(text, length));
}

static bool is_real_operand(const kn_writer *w, const char *text, size_t length)
{
    for (int k = 0; k < kn_param_count(w); ++k)
        if (is_word(text, length, w->program->param[k].name))
            return is_real(w->spec->operand[k].seen) && w->spec->operand[k].pass != KN_PASS_RAW;
    return false;
}

/* A function of one real with a real result. */
static bool is_real_function(const char *text, size_t length)
{
    static const char *const names[] = {"exp",  "log",  "sqrt", "rsqrt", "sin",  "cos",   "tan",  "sinh",
                                        "cosh", "tanh", "fabs", "erf",   "erfc", "expm1", "log1p"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; ++k)
        if (is_word(text, length, names[k]) ||
            (text[length - 1] == 'f' && is_word(text, length - 1, names[k])))
            return true;
    return false;
}

typedef struct reader {
    const kn_writer *w;
    const char *local[8]; /* declared so far */
    size_t local_length[8];
    int n_locals;
    bool after_type;      /* the token before names one */
    bool expects_operand; /* a division, then nothing but brackets and signs */
} reader;

static bool is_local(const reader *r, const char *text, size_t length)
{
    for (int k = 0; k < r->n_locals; ++k)
        if (r->local_length[k] == length && memcmp(r->local[k], text, length) == 0)
            return true;
    return false;
}

static bool read_name(reader *r, const char *text, size_t length)
{
    bool is_type = is_real_type(r->w, text, length);
    if (r->after_type && !is_type) { /* T q, and not (T)q */
        if (r->n_locals == sizeof r->local / sizeof r->local[0])
            return false;
        r->local[r->n_locals] = text;
        r->local_length[r->n_locals++] = length;
        return true;
    }
    return is_type || is_word(text, length, "const") || is_local(r, text, length) ||
           is_real_operand(r->w, text, length) || is_real_function(text, length);
}

/* A text is accepted only if it has plain statements, and each of its names is a real, a type of reals, or a
 * function from reals to reals. Its integers are then literals, and a divisor begins with a name, so that it
 * is none of them. */
bool kn_divides_reals(const kn_writer *w, const char *text)
{
    reader r = {.w = w};
    size_t length;
    if (w->program->preamble[0])
        return false;
    for (kn_token_kind kind; (kind = kn_token_scan(text, &length)) != KN_TOKEN_END; text += length) {
        if (kind == KN_TOKEN_SPACE)
            continue;
        if (kind == KN_TOKEN_NUMBER && r.expects_operand)
            return false;
        if (kind == KN_TOKEN_NAME && !read_name(&r, text, length))
            return false;
        if (kind == KN_TOKEN_LITERAL || kind == KN_TOKEN_OPEN ||
            (kind == KN_TOKEN_OTHER && (!strchr("+-*/=();", *text) || (*text == '=' && text[1] == '='))))
            return false;
        r.after_type = kind == KN_TOKEN_NAME && is_real_type(w, text, length);
        if (kind != KN_TOKEN_OTHER || !strchr("(+-=", *text))
            r.expects_operand = kind == KN_TOKEN_OTHER && *text == '/';
    }
    return true;
}
