/* program/cost.c - counts the expensive functions that a text calls. */
#include "program/cost.h"

#include <string.h>

#include "base/caret.h"

enum { LOOP_COST = 8 };

/* Also with an f behind, for float32. */
static const char *const functions[] = {"acos", "acosh", "asin", "asinh", "atan",  "atan2", "atanh",  "cbrt",
                                        "cos",  "cosh",  "erf",  "erfc",  "exp",   "exp10", "exp2",   "expm1",
                                        "fmod", "hypot", "log",  "log10", "log1p", "log2",  "lgamma", "pow",
                                        "sin",  "sinh",  "tan",  "tanh",  "tgamma"};

static bool is_function(const char *word, size_t length)
{
    for (size_t f = 0; f < sizeof functions / sizeof functions[0]; ++f) {
        size_t own = strlen(functions[f]);
        if (strncmp(word, functions[f], own) == 0 &&
            (length == own || (length == own + 1 && word[own] == 'f')))
            return true;
    }
    return false;
}

static bool is_loop(const char *word, size_t length)
{
    return (length == 3 && strncmp(word, "for", 3) == 0) || (length == 5 && strncmp(word, "while", 5) == 0);
}

static int count_functions(const char *text)
{
    int count = 0, each = 1;
    size_t length;
    for (const char *c = text; *c; c += length) {
        if (kn_token_scan(c, &length) != KN_TOKEN_NAME)
            continue;
        if (is_loop(c, length))
            each = LOOP_COST;
        if (c[length + strspn(c + length, " ")] == '(' && is_function(c, length))
            count += each;
    }
    return count;
}

int kn_cost_stage_functions(const kn_program *program, int stage)
{
    return count_functions(program->stage[stage].body);
}

int kn_cost_functions(const kn_program *program)
{
    int count = 0;
    for (int s = 0; s < program->n_stages; ++s)
        count += kn_cost_stage_functions(program, s);
    return count;
}
