/* program/signature.c - the parser of signatures: one function per production of the grammar in
 * signature.h. */
#include "program/signature.h"
#include "base/caret.h"
#include "types/dtype.h"
#include "base/error.h"
#include "base/str.h"
#include <stdio.h>
#include <string.h>

typedef struct parser {
    const char *text, *which, *preamble;
    size_t at;
    kn_param *param;
    int count, capacity;
    bool are_values; /* of a program's own */
} parser;

typedef struct word {
    size_t at, length;
} word;

/* Names that generated code cannot give to a parameter: C++17's keywords and alternative tokens. Sorted by
 * nothing, searched once a parameter. */
static const char *const keywords[] = {
    "alignas",   "alignof",  "and",      "and_eq",    "asm",          "auto",          "bitand",
    "bitor",     "bool",     "break",    "case",      "catch",        "char",          "char16_t",
    "char32_t",  "class",    "compl",    "const",     "const_cast",   "constexpr",     "continue",
    "decltype",  "default",  "delete",   "do",        "double",       "dynamic_cast",  "else",
    "enum",      "explicit", "export",   "extern",    "false",        "float",         "for",
    "friend",    "goto",     "if",       "inline",    "int",          "long",          "mutable",
    "namespace", "new",      "noexcept", "not",       "not_eq",       "nullptr",       "operator",
    "or",        "or_eq",    "private",  "protected", "public",       "register",      "reinterpret_cast",
    "return",    "short",    "signed",   "sizeof",    "static",       "static_assert", "static_cast",
    "struct",    "switch",   "template", "this",      "thread_local", "throw",         "true",
    "try",       "typedef",  "typeid",   "typename",  "union",        "unsigned",      "using",
    "virtual",   "void",     "volatile", "wchar_t",   "while",        "xor",           "xor_eq",
};

static void skip_blanks(parser *p)
{
    p->at += strspn(p->text + p->at, " \t\r\n");
}

static word take_word(parser *p)
{
    word w = {p->at, 0};
    if (kn_is_name_start(p->text[p->at]))
        while (kn_is_name_char(p->text[p->at + w.length]))
            w.length++;
    p->at += w.length;
    skip_blanks(p);
    return w;
}

static bool word_is(const parser *p, word w, const char *text)
{
    return w.length == strlen(text) && !memcmp(p->text + w.at, text, w.length);
}

__attribute__((format(printf, 4, 5))) static kiln_status fail(const parser *p, kiln_status status, word w,
                                                              const char *format, ...)
{
    kn_str message = KN_STR_INIT;
    va_list arguments;
    va_start(arguments, format);
    kn_str_vprintf(&message, format, arguments);
    va_end(arguments);
    kn_error_at(status, p->text, w.at, w.length ? w.length : 1, "%s signature: %s", p->which,
                kn_str_text(&message));
    kn_str_free(&message);
    return status;
}

/* The word at the parser, for messages: a word, one character, or the end. */
static const char *seen(const parser *p, char out[24])
{
    size_t n = 0;
    while (n < 16 && kn_is_name_char(p->text[p->at + n]))
        n++;
    if (p->text[p->at])
        snprintf(out, 24, "'%.*s'", (int)(n ? n : 1), p->text + p->at);
    else
        snprintf(out, 24, "the end");
    return out;
}

static kiln_status copy_word(const parser *p, word w, char out[KN_NAME_MAX])
{
    if (w.length >= KN_NAME_MAX)
        return fail(p, KILN_ERROR_SYNTAX, w, "a name of %zu characters; at most %d are possible", w.length,
                    KN_NAME_MAX - 1);
    memcpy(out, p->text + w.at, w.length);
    out[w.length] = '\0';
    return KILN_OK;
}

/* ---- type ---- */

static bool is_placeholder(const parser *p, word w)
{
    return w.length == 1 && p->text[w.at] >= 'A' && p->text[w.at] <= 'Z';
}

static bool is_one_of(const char *text, size_t length, const char *const *list)
{
    for (; *list; ++list)
        if (strlen(*list) == length && !memcmp(*list, text, length))
            return true;
    return false;
}

/* The text behind blanks and comments. */
static const char *skip_space(const char *text)
{
    size_t length;
    while (kn_token_scan(text, &length) == KN_TOKEN_SPACE)
        text += length;
    return text;
}

/* True if the text declares a struct or its like of this name outside all braces: "struct S {", "struct S;",
 * "} S;". A template's "<class S>" is none. */
static bool declares_struct(const char *text, char letter)
{
    static const char *const keys[] = {"struct", "class", "union", "enum", NULL};
    bool is_head = false; /* behind one of these words, before the name that it declares */
    int braces = 0, parentheses = 0;
    size_t length;
    for (kn_token_kind kind; (kind = kn_token_scan(text, &length)) != KN_TOKEN_END; text += length) {
        if (kind == KN_TOKEN_NAME && is_one_of(text, length, keys)) {
            is_head = true;
        } else if (kind == KN_TOKEN_NAME && length == 1 && *text == letter && braces == 0 && is_head) {
            const char *next = skip_space(text + 1);
            if (parentheses == 0 && (strchr("{:;", *next) || !strncmp(next, "final", 5)))
                return *next != '\0';
        } else if (kind == KN_TOKEN_OTHER) {
            braces += (*text == '{') - (*text == '}');
            parentheses += (*text == '(') - (*text == ')');
            is_head = *text == '}' || (is_head && !strchr("{;,>=", *text));
        }
    }
    return false;
}

/* True if the type goes on behind its name: "pair<T>", "shapes::point". */
static bool take_rest_of_struct(parser *p, word *w)
{
    size_t at = w->at + w->length, open = 0;
    while (!strncmp(p->text + at, "::", 2) && kn_is_name_start(p->text[at + 2]))
        for (at += 2; kn_is_name_char(p->text[at]);)
            at++;
    size_t end = at, next = at + strspn(p->text + at, " ");
    if (p->text[next] == '<')
        for (at = next; p->text[at] && (open || at == next); at++)
            open += (size_t)(p->text[at] == '<') - (size_t)(p->text[at] == '>');
    if (open)
        return false;
    w->length = (p->text[next] == '<' ? at : end) - w->at;
    p->at = w->at + w->length;
    skip_blanks(p);
    return true;
}

/* NumPy's names have NumPy's meaning: messages add the meaning in C. */
static const kn_c_name *find_c_name(const parser *p, word w)
{
    static const kn_c_name names[] = {{"float", "float32"}, {"int", "int32"}, {"uint", "uint32"}};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strlen(names[k].name) == w.length && memcmp(names[k].name, p->text + w.at, w.length) == 0)
            return &names[k];
    return NULL;
}

static kiln_status parse_type(parser *p, kn_param *param)
{
    char found[24];
    word w = take_word(p);
    if (!w.length)
        return fail(p, KILN_ERROR_SYNTAX, w, "expected a type, found %s", seen(p, found));
    if (is_placeholder(p, w)) {
        param->type = KN_TYPE_PLACEHOLDER;
        param->placeholder = p->text[w.at];
        if (p->preamble && declares_struct(p->preamble, param->placeholder))
            return fail(p, KILN_ERROR_INVALID, w,
                        "'%c' is one capital letter, and so a placeholder for a dtype, but the preamble "
                        "declares a type "
                        "of that name; give that type a longer name",
                        param->placeholder);
        return KILN_OK;
    }
    param->dtype = kn_dtype_find(p->text + w.at, w.length);
    param->type = KN_TYPE_DTYPE;
    param->c_name = find_c_name(p, w);
    if (param->dtype)
        return KILN_OK;
    char name[KN_NAME_MAX];
    kiln_status status = copy_word(p, w, name);
    if (!status && !take_rest_of_struct(p, &w))
        return fail(p, KILN_ERROR_SYNTAX, w, "'<' of the type '%s' has no '>'", name);
    if (!status)
        status = copy_word(p, w, param->struct_name);
    if (status)
        return status;
    param->type = KN_TYPE_STRUCT;
    if (p->preamble && (kn_text_has_word(p->preamble, name) || kn_text_has_word(p->preamble, "include")))
        return KILN_OK;
    return fail(p, KILN_ERROR_SYNTAX, w,
                "unknown type '%s': neither a dtype, nor one capital letter, nor a struct of the preamble",
                name);
}

/* ---- name ---- */

static const char *why_reserved(const char *name)
{
    static const char *const own_names[] = {"_ind",     "_index",     "_j",    "_in_ind", "_out_ind",
                                            "_follows", "_non_const", "_wide", NULL};
    if (!strcmp(name, "i"))
        return "it is the index of the element";
    if (is_one_of(name, strlen(name), own_names))
        return "the texts have a meaning for it";
    if (name[0] == '_' && (name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z')))
        return "names that begin with '__', or '_' and a capital letter, are";
    if (!strncmp(name, "_kn_", 4))
        return "names that begin with '_kn_' are";
    if (!strncmp(name, "kn_", 3))
        return "names that begin with 'kn_' are";
    if (!strcmp(name, "kn"))
        return "generated code calls its arguments so";
    if (kn_dtype_find(name, strlen(name)))
        return "it is the name of a dtype";
    for (size_t k = 0; k < sizeof keywords / sizeof keywords[0]; k++)
        if (!strcmp(name, keywords[k]))
            return "it is a word of C++";
    return NULL;
}

static kiln_status check_name(const parser *p, word w, const char *name)
{
    const char *why = p->are_values && name[0] == '_' ? NULL : why_reserved(name);
    if (why)
        return fail(p, KILN_ERROR_INVALID, w, "'%s' is reserved: %s", name, why);
    for (int k = 0; k < p->count; k++)
        if (!strcmp(p->param[k].name, name))
            return fail(p, KILN_ERROR_INVALID, w, "'%s' is the name of two parameters", name);
    return KILN_OK;
}

static kiln_status parse_name(parser *p, kn_param *param)
{
    char found[24];
    word w = take_word(p);
    if (!w.length)
        return fail(p, KILN_ERROR_SYNTAX, w, "expected the parameter's name, found %s", seen(p, found));
    kiln_status status = copy_word(p, w, param->name);
    return status ? status : check_name(p, w, param->name);
}

/* ---- parameter ---- */

static kiln_status parse_qualifiers(parser *p, kn_param *param)
{
    for (;;) {
        size_t before = p->at;
        word w = take_word(p);
        bool *flag = word_is(p, w, "raw")                      ? &param->is_raw
                     : word_is(p, w, "_non_const")             ? &param->is_non_const
                     : p->are_values && word_is(p, w, "_wide") ? &param->is_wide
                                                               : NULL;
        if (!flag) {
            p->at = before;
            return KILN_OK;
        }
        if (*flag)
            return fail(p, KILN_ERROR_SYNTAX, w, "'%.*s' stands twice", (int)w.length, p->text + w.at);
        *flag = true;
    }
}

static kiln_status parse_parameter(parser *p)
{
    kn_param param;
    memset(&param, 0, sizeof param); /* compared and hashed whole by others */
    param.is_value = p->are_values;
    if (p->count == p->capacity)
        return fail(p, KILN_ERROR_INVALID, (word){p->at, 1}, "more than %d parameters", p->capacity);
    kiln_status status = parse_qualifiers(p, &param);
    if (!status)
        status = parse_type(p, &param);
    if (!status)
        status = parse_name(p, &param);
    if (!status)
        p->param[p->count++] = param;
    return status;
}

/* Inside the body a placeholder is the name of a type, and so cannot be a parameter's name too. */
static kiln_status check_placeholders(const parser *p)
{
    for (int a = 0; a < p->count; a++)
        for (int b = 0; b < p->count; b++)
            if (p->param[a].type == KN_TYPE_PLACEHOLDER && p->param[b].name[0] == p->param[a].placeholder &&
                !p->param[b].name[1])
                return kn_error(KILN_ERROR_INVALID,
                                "%s signature: '%s' is a type (of '%s') and a parameter's name", p->which,
                                p->param[b].name, p->param[a].name);
    return KILN_OK;
}

static kiln_status parse_all(parser *p)
{
    char found[24];
    skip_blanks(p);
    if (!p->text[p->at])
        return KILN_OK;
    for (;;) {
        kiln_status status = parse_parameter(p);
        if (status)
            return status;
        if (!p->text[p->at])
            return check_placeholders(p);
        if (p->text[p->at] != ',')
            return fail(p, KILN_ERROR_SYNTAX, (word){p->at, 1}, "expected ',' after '%s', found %s",
                        p->param[p->count - 1].name, seen(p, found));
        p->at++;
        skip_blanks(p);
    }
}

kiln_status kn_signature_parse(kn_param *param, int first, int capacity, int *count, const char *text,
                               const char *which, const char *preamble)
{
    parser p = {.text = text,
                .which = which,
                .preamble = preamble,
                .param = param,
                .count = first,
                .capacity = capacity};
    kiln_status status = parse_all(&p);
    if (!status)
        *count = p.count - first;
    return status;
}

kiln_status kn_signature_parse_values(kn_param *param, int first, int capacity, int *count, const char *text,
                                      const char *preamble)
{
    parser p = {.text = text,
                .which = "value",
                .preamble = preamble,
                .param = param,
                .count = first,
                .capacity = capacity,
                .are_values = true};
    kiln_status status = parse_all(&p);
    if (!status)
        *count = p.count - first;
    return status;
}

void kn_param_format(struct kn_str *out, const kn_param *param)
{
    const char placeholder[2] = {param->placeholder, '\0'};
    kn_str_printf(out, "%s%s%s%s %s", param->is_raw ? "raw " : "", param->is_non_const ? "_non_const " : "",
                  param->is_wide ? "_wide " : "",
                  param->type == KN_TYPE_DTYPE         ? kiln_dtype_name(param->dtype)
                  : param->type == KN_TYPE_PLACEHOLDER ? placeholder
                                                       : param->struct_name,
                  param->name);
}

char kn_free_letter(char from, const kn_param *param, int count, const char *const *texts)
{
    for (int letter = (unsigned char)from; letter <= 'Z'; ++letter) {
        const char word[] = {(char)letter, '\0'};
        bool is_taken = false;
        for (int k = 0; k < count; ++k)
            is_taken = is_taken || (param[k].type == KN_TYPE_PLACEHOLDER && param[k].placeholder == letter);
        for (int t = 0; texts[t]; ++t)
            is_taken = is_taken || kn_text_has_word(texts[t], word);
        if (!is_taken)
            return (char)letter;
    }
    return '\0';
}
