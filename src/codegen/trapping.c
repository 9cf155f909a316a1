/* trapping.c - finds texts that convert no number to an integer and back. Without floating-point exceptions,
 * which kiln does not use, g++ vectorises more conditions; but it then replaces (float)(int)x by trunc(x),
 * whose zeros have signs. After a text has converted to integers, everything that follows has to be integers
 * too: by the words of integer types, numbers, and the names that kiln itself gives. */
#include <string.h>

#include "codegen/codegen.h"
#include "base/caret.h"
#include "program/extreme.h"
#include "types/dtype.h"

enum { MOST_NODES = 256 };

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

/* The parameter of that name; -1: there is none. */
static int param_of(const kn_spec *spec, const char *text, size_t length)
{
    for (int k = 0; k < param_count(spec); ++k) {
        const char *name = spec->program->param[k].name;
        if (strlen(name) == length && memcmp(name, text, length) == 0)
            return k;
    }
    return -1;
}

static bool is_integer_name(const kn_spec *spec, const char *text, size_t length)
{
    int k = param_of(spec, text, length);
    return k >= spec->program->n_in && is_integer(spec->operand[k].seen);
}

/* An input, "t12", which is what expressions call their nodes, or a word that makes no number. */
static bool is_harmless(const kn_spec *spec, const char *text, size_t length)
{
    int k = param_of(spec, text, length);
    size_t digits = 1;
    if (k >= 0 && k < spec->program->n_in)
        return true;
    while (digits < length && text[digits] >= '0' && text[digits] <= '9')
        ++digits;
    return (*text == 't' && length > 1 && digits == length) || (length == 5 && memcmp(text, "const", 5) == 0);
}

static bool is_whole_number(const char *text, size_t length)
{
    bool is_hexadecimal = length > 1 && (text[1] | 32) == 'x';
    for (size_t k = 0; k < length; ++k)
        if (text[k] == '.' || (!is_hexadecimal && ((text[k] | 32) == 'e' || (text[k] | 32) == 'f')))
            return false;
    return true;
}

/* Nodes of an expression that are integers which no float was converted to, or bools: a bit for each. */
typedef struct whole_nodes {
    uint64_t bits[MOST_NODES / 64];
} whole_nodes;

/* The number of a node, "t12"; -1: the name is another, or its number is too large. */
static int node_of(const char *text, size_t length)
{
    int number = 0;
    if (*text != 't' || length < 2)
        return -1;
    for (size_t k = 1; k < length && number >= 0; ++k)
        number = text[k] < '0' || text[k] > '9' || number >= MOST_NODES ? -1 : 10 * number + text[k] - '0';
    return number < MOST_NODES ? number : -1;
}

/* A word of a statement that is a bool or an integer, or makes one of such. */
static bool is_whole_name(const kn_spec *spec, const whole_nodes *nodes, const char *text, size_t length)
{
    static const char *const others[] = {"const", "bool",     "true",   "false", "kn_either",
                                         "char",  "unsigned", "signed", "short", "long"};
    int k = param_of(spec, text, length), node = node_of(text, length);
    if (k >= 0)
        return is_integer(spec->operand[k].seen) || spec->operand[k].seen == KILN_BOOL;
    if (node >= 0)
        return nodes->bits[node / 64] >> node % 64 & 1;
    for (size_t w = 0; w < sizeof others / sizeof others[0]; ++w)
        if (strlen(others[w]) == length && memcmp(others[w], text, length) == 0)
            return true;
    return strncmp(text, "int", 3) == 0 || strncmp(text, "uint", 4) == 0;
}

/* True for marks that no declaration of a node has. */
static bool is_other_statement(char mark)
{
    return mark == '#' || mark == '{' || mark == '}' || mark == '/';
}

/* The length of the statement at the text if it declares a node that is an integer of integers; else 0. A
 * node that is a bool, of whatever, is noted too. */
static size_t skip_whole(const kn_spec *spec, whole_nodes *nodes, const char *text)
{
    size_t length;
    int node = -1;
    bool is_whole = true, is_bool = strncmp(text, "const bool ", 11) == 0;
    const char *at = text;
    for (; *at != ';'; at += length) {
        kn_token_kind kind = kn_token_scan(at, &length);
        if (kind == KN_TOKEN_END || kind == KN_TOKEN_OPEN ||
            (kind == KN_TOKEN_OTHER && is_other_statement(*at)))
            return 0;
        if (node < 0 && kind == KN_TOKEN_NAME && node_of(at, length) >= 0)
            node = node_of(at, length);
        else if (kind == KN_TOKEN_NAME)
            is_whole = is_whole && is_whole_name(spec, nodes, at, length);
        is_whole = is_whole && (kind != KN_TOKEN_NUMBER || is_whole_number(at, length));
    }
    if (node >= 0 && strncmp(text, "const ", 6) == 0 && (is_bool || is_whole))
        nodes->bits[node / 64] |= UINT64_C(1) << node % 64;
    return node >= 0 && strncmp(text, "const ", 6) == 0 && is_whole ? (size_t)(at - text) : 0;
}

/* The length of a place at the text (program/extreme.h), whose node is a whole number; 0: there is none. */
static size_t skip_place(whole_nodes *nodes, const char *text)
{
    static const char declared[] = "long long ";
    size_t length = kn_place_length(text), digits = sizeof declared;
    if (length == 0 || strncmp(text, declared, sizeof declared - 1) != 0)
        return length;
    while (text[digits] != ';')
        ++digits;
    int node = node_of(text + sizeof declared - 1, digits - (sizeof declared - 1));
    if (node >= 0)
        nodes->bits[node / 64] |= UINT64_C(1) << node % 64;
    return length;
}

/* Macros and headers may say anything. *has_integers: a text has made them, this one or one before. */
static bool is_clear(const kn_spec *spec, const char *text, bool finds_places, bool *has_integers)
{
    whole_nodes nodes = {{0}};
    size_t length;
    int others = 0;
    bool begins = true;
    for (const char *at = text;; at += length) {
        length = finds_places ? skip_place(&nodes, at) : 0;
        begins = begins || length > 0;
        if (length > 0)
            continue;
        length = begins ? skip_whole(spec, &nodes, at) : 0;
        begins = false;
        if (length > 0)
            continue;
        kn_token_kind kind = kn_token_scan(at, &length);
        if (kind == KN_TOKEN_END)
            return true;
        if (kind == KN_TOKEN_OPEN || (kind == KN_TOKEN_OTHER && *at == '#'))
            return false;
        bool is_name = kind == KN_TOKEN_NAME;
        bool is_whole = is_name && (is_integer_word(spec, at, length) || is_integer_name(spec, at, length));
        *has_integers = *has_integers || is_whole;
        others += !is_whole && ((is_name && !is_harmless(spec, at, length)) ||
                                (kind == KN_TOKEN_NUMBER && !is_whole_number(at, length)));
        if (*has_integers && others > 0)
            return false;
        if (kind == KN_TOKEN_OTHER && strchr(";{}", *at))
            others = 0; /* of this statement: (float)(int)x has the float in front */
        begins = (kind == KN_TOKEN_OTHER && *at == ';') || (kind == KN_TOKEN_SPACE && at[length] == 'c');
    }
}

bool kn_codegen_truncates_nothing(const kn_spec *spec)
{
    const kn_program *p = spec->program;
    bool is = p->n_options == 0 && p->n_headers == 0, has_integers = false;
    for (int k = p->n_in; k < param_count(spec); ++k)
        is = is && p->param[k].type != KN_TYPE_STRUCT;
    for (int v = 0; v < p->n_values; ++v)
        is = is && !is_integer(kn_spec_value_dtype(spec, param_count(spec) + v));
    const bool finds_places = kn_program_finds_places(p);
    for (int t = finds_places ? KN_TEXT_LOOP_PREP : KN_TEXT_PREAMBLE; t < kn_program_texts(p) && is; ++t)
        is = is_clear(spec, p->text[t], finds_places, &has_integers);
    return is;
}
