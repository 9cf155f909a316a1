/* program/extreme.c - tells from its texts whether a program finds the place of an extreme. */
#include "program/extreme.h"

#include <stdio.h>
#include <string.h>

enum { TEXT = 256 };

/* The text, but for numbers, is `form`, in which "#" stands for one. */
static bool has_form(const char *text, const char *form)
{
    for (; *form; ++form) {
        if (*form != '#') {
            if (*text++ != *form)
                return false;
            continue;
        }
        size_t digits = strspn(text, "0123456789");
        if (digits == 0)
            return false;
        text += digits;
    }
    return *text == '\0';
}

/* Expressions write the operation's texts in a namespace, and its struct to a variable. */
static bool takes_input(const kn_program *p)
{
    char own[TEXT], fused[TEXT];
    const char *map = p->stage[0].body, *reduce = p->stage[1].body, *x = p->param[0].name;
    snprintf(own, sizeof own, "best{%s, (_index)_J}", x);
    snprintf(fused, sizeof fused, "{ using namespace f#; v# = best{%s, (_index)_J}; }\n", x);
    return (strcmp(map, own) == 0 && strcmp(reduce, "better(a, b, _follows)") == 0) ||
           (has_form(map, fused) && has_form(reduce, "f#::fold(a, b, _follows)"));
}

kn_extreme kn_body_is_place(const kn_program *p)
{
    static const char *const texts[] = {
        [KN_GREATEST] = KN_PLACE_TEXT("<="), [KN_LEAST] = KN_PLACE_TEXT(">=")};
    if (p->n_in != 1 || p->n_stages != 3 || p->stage[1].kind != KN_REDUCE || p->param[0].is_raw ||
        p->param[0].type != KN_TYPE_DTYPE || !takes_input(p))
        return KN_NO_EXTREME;
    for (int k = KN_GREATEST; k <= KN_LEAST; ++k)
        if (strstr(p->preamble, texts[k]))
            return (kn_extreme)k;
    return KN_NO_EXTREME;
}
