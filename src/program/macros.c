/* program/macros.c - looks for macros and directives that may change the meaning of a program's texts. */
#include "program/macros.h"

#include <string.h>

#include "base/caret.h"

/* Options that define nothing. */
static bool is_plain_option(const char *option)
{
    static const char *const plain[] = {"-std=", "--std=", "-O", "-I", "-f", "-m", "--use_fast_math"};
    for (size_t k = 0; k < sizeof plain / sizeof plain[0]; ++k)
        if (strncmp(option, plain[k], strlen(plain[k])) == 0)
            return true;
    return false;
}

/* Pragmas change nothing. */
static bool has_directives(const char *text)
{
    size_t length;
    for (; kn_token_scan(text, &length) != KN_TOKEN_END; text += length)
        if (*text == '\\' || (*text == '#' && strncmp(text + 1 + strspn(text + 1, " \t"), "pragma", 6) != 0))
            return true;
    return false;
}

kn_macros kn_macros_find(const kn_program *p)
{
    for (int k = 0; k < p->n_options; ++k)
        if (!is_plain_option(p->option[k]))
            return KN_MACROS_HIDDEN;
    kn_macros found =
        strchr(p->preamble, '#') && has_directives(p->preamble) ? KN_MACROS_SEEN : KN_MACROS_NONE;
    if (found == KN_MACROS_SEEN && kn_text_has_word(p->preamble, "include"))
        return KN_MACROS_HIDDEN;
    for (int s = 0; s < p->n_stages; ++s)
        if (has_directives(p->stage[s].body))
            return KN_MACROS_HIDDEN;
    return found;
}

/* True if a macro with this text, up to `end`, may change others. */
static bool may_change(const char *text, const char *end, const char *name)
{
    static const char *const words[] = {"if",     "else", "for",     "while",  "do",
                                        "switch", "case", "default", "return", "continue",
                                        "break",  "goto", "asm",     "try",    "throw"};
    size_t length;
    for (; text < end; text += length) {
        kn_token_kind kind = kn_token_scan(text, &length);
        if (kind == KN_TOKEN_END)
            return false;
        if (kind == KN_TOKEN_OTHER && strchr("{};", *text))
            return true;
        if (kind != KN_TOKEN_NAME)
            continue;
        if (strlen(name) == length && memcmp(text, name, length) == 0)
            return true;
        for (size_t k = 0; k < sizeof words / sizeof words[0]; ++k)
            if (strlen(words[k]) == length && memcmp(text, words[k], length) == 0)
                return true;
    }
    return false;
}

/* Behind the line, and those that a backslash at its end adds. */
static const char *line_end(const char *text)
{
    const char *end = text + strcspn(text, "\n");
    while (*end && end > text && end[-1] == '\\')
        end += 1 + strcspn(end + 1, "\n");
    return end;
}

bool kn_macros_may_change(const kn_program *p, const char *name)
{
    size_t length;
    for (int k = 0; k < p->n_options; ++k) {
        const char *o = p->option[k];
        bool defines = strncmp(o, "-D", 2) == 0 && o[2];
        if (!is_plain_option(o) && (!defines || may_change(o + 2, o + strlen(o), name)))
            return true;
    }
    for (int s = 0; s < p->n_stages; ++s)
        if (has_directives(p->stage[s].body))
            return true;
    for (const char *at = p->preamble; kn_token_scan(at, &length) != KN_TOKEN_END; at += length) {
        if (*at != '#')
            continue;
        at += 1 + strspn(at + 1, " \t");
        kn_token_scan(at, &length); /* the directive's own word */
        if (strncmp(at, "include", 7) == 0 || may_change(at + length, line_end(at), name))
            return true;
    }
    return false;
}
