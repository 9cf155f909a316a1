/* program/extreme.c - tells from its texts whether a program finds the place of an extreme. */
#include "program/extreme.h"

#include <stdio.h>
#include <string.h>

enum { TEXT = 256 };

/* The length of what the text begins with, if that is `form`, in which "#" stands for a number; else 0. */
static size_t form_length(const char *text, const char *form)
{
    const char *at = text;
    for (; *form; ++form) {
        if (*form != '#') {
            if (*at++ != *form)
                return 0;
            continue;
        }
        size_t digits = strspn(at, "0123456789");
        if (digits == 0)
            return 0;
        at += digits;
    }
    return (size_t)(at - text);
}

/* The text, but for numbers, is `form`. */
static bool has_form(const char *text, const char *form)
{
    size_t length = form_length(text, form);
    return length > 0 && text[length] == '\0';
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

static const char *const texts[] = {[KN_GREATEST] = KN_PLACE_TEXT("<="), [KN_LEAST] = KN_PLACE_TEXT(">=")};

static size_t length_of_any(const char *text, const char *const *forms, size_t count)
{
    size_t length = 0;
    for (size_t k = 0; k < count && length == 0; ++k)
        length = form_length(text, forms[k]);
    return length;
}

/* The length of "typedef float T;" at the text; 0: it is another line. */
static size_t type_length(const char *text)
{
    static const char word[] = "typedef ", letters[] = "abcdefghijklmnopqrstuvwxyz_0123456789 ",
                      end[] = "T;\n";
    size_t length = strlen(word);
    if (strncmp(text, word, length) != 0)
        return 0;
    length += strspn(text + length, letters);
    return strncmp(text + length, end, strlen(end)) == 0 ? length + strlen(end) : 0;
}

bool kn_program_finds_places(const kn_program *p)
{
    static const char function[] =
        "__device__ __forceinline__ best fold(const best a, const best b, const bool _follows) {\n"
        "    (void)_follows;\n    return better(a, b, _follows);\n}\n";
    static const char *const around[] = {"namespace f# {\n", "}\n", "\n", "typedef f#::best w#;\n", function};
    bool has_one = false;
    for (const char *at = p->preamble; *at;) {
        size_t own = length_of_any(at, texts + KN_GREATEST, 2), length = own > 0 ? own : type_length(at);
        if (length == 0)
            length = length_of_any(at, around, sizeof around / sizeof *around);
        if (length == 0)
            return false;
        has_one = has_one || own > 0;
        at += length;
    }
    return has_one;
}

size_t kn_place_length(const char *text)
{
    static const char *const forms[] = {"(_index)_J", "_follows", "a.at",
                                        "long long t#;\n{\nusing namespace f#;\nt# = r#.at;\n}\n"};
    return length_of_any(text, forms, sizeof forms / sizeof *forms);
}

kn_extreme kn_body_is_place(const kn_program *p)
{
    if (p->n_in != 1 || p->n_stages != 3 || p->stage[1].kind != KN_REDUCE || p->param[0].is_raw ||
        p->param[0].type != KN_TYPE_DTYPE || !takes_input(p))
        return KN_NO_EXTREME;
    for (int k = KN_GREATEST; k <= KN_LEAST; ++k)
        if (strstr(p->preamble, texts[k]))
            return (kn_extreme)k;
    return KN_NO_EXTREME;
}
