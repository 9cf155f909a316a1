/* compile/hints.c - the table of known mistakes, one row each, in the order in which they are looked for. */
#include "compile/hints.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "base/caret.h"
#include "ops/numpy_name.h"
#include "ops/variant.h"

/* An error, and the place that a row's `find` makes of it. */
typedef struct place {
    const kn_compile_request *request;
    const char *text, *said;
    size_t at;            /* offset that the compiler names */
    size_t found, length; /* the part of the text that is meant */
} place;

typedef struct mistake {
    const char *said[4]; /* a compiler's message has one of these */
    /* Adjacent tokens of the line; `|` separates alternatives. */
    const char *tokens;
    bool (*find)(place *p, const struct mistake *row);
    const char *message;
} mistake;

/* ---- tokens ---- */

static size_t line_of(const char *text, size_t at)
{
    while (at > 0 && text[at - 1] != '\n')
        at--;
    return at;
}

/* True if the token is among "np|numpy", a list that ends with a blank or its text. */
static bool is_among(const char *token, size_t length, const char *list)
{
    while (*list && *list != ' ') {
        size_t n = strcspn(list, "| ");
        if (n == length && memcmp(token, list, n) == 0)
            return true;
        list += n + (list[n] == '|');
    }
    return false;
}

/* The length of the tokens at text that `tokens` describes; 0: others are there. */
static size_t match_tokens(const char *text, const char *tokens)
{
    size_t total = 0, length;
    while (*tokens) {
        if (kn_token_scan(text + total, &length) == KN_TOKEN_END || !is_among(text + total, length, tokens))
            return 0;
        total += length;
        tokens += strcspn(tokens, " ");
        tokens += *tokens == ' ';
    }
    return total;
}

/* Finds the tokens in the compiler's line: the last match up to its column, or else the first. */
static bool find_tokens(place *p, const mistake *row)
{
    size_t line = line_of(p->text, p->at), at = line, length;
    p->length = 0;
    while (p->text[at] && (at == line || p->text[at - 1] != '\n')) {
        size_t matched = match_tokens(p->text + at, row->tokens);
        if (matched && (at <= p->at || !p->length)) {
            p->found = at;
            p->length = matched;
        }
        kn_token_kind kind = kn_token_scan(p->text + at, &length);
        at += kind == KN_TOKEN_SPACE && memchr(p->text + at, '\n', length) ? strcspn(p->text + at, "\n") + 1
                                                                           : length;
    }
    return p->length > 0;
}

static bool find_here(place *p, const mistake *row)
{
    (void)row;
    p->found = p->at;
    return kn_token_scan(p->text + p->at, &p->length) != KN_TOKEN_END;
}

/* The whole line that the compiler names, without the blanks around it. */
static bool find_line(place *p, const mistake *row)
{
    size_t line = line_of(p->text, p->at);
    (void)row;
    p->found = line + strspn(p->text + line, " \t");
    p->length = strcspn(p->text + p->found, "\n");
    while (p->length > 0 && isspace((unsigned char)p->text[p->found + p->length - 1]))
        p->length--;
    return p->length > 0;
}

/* The name at or in front of where the compiler is, not one between brackets: some point to the assignment
 * behind it. */
static bool find_assigned(place *p, const mistake *row)
{
    size_t length;
    int depth = 0;
    (void)row;
    p->length = 0;
    for (size_t at = line_of(p->text, p->at); at <= p->at; at += length) {
        kn_token_kind kind = kn_token_scan(p->text + at, &length);
        if (kind == KN_TOKEN_END)
            break;
        depth += (p->text[at] == '[') - (p->text[at] == ']');
        if (kind == KN_TOKEN_NAME && depth == 0) {
            p->found = at;
            p->length = length;
        }
    }
    return p->length > 0;
}

/* The name in front of the bracket at or before which the compiler is; or else where it is. */
static bool find_subscripted(place *p, const mistake *row)
{
    size_t line = line_of(p->text, p->at), at = p->at;
    (void)row;
    at += strcspn(p->text + at, "[\n");
    while (at > line && !(p->text[at] == '[' && at > line && kn_is_name_char(p->text[at - 1])))
        at--;
    p->found = at;
    while (p->found > line && kn_is_name_char(p->text[p->found - 1]))
        p->found--;
    p->length = at - p->found;
    return p->length > 0;
}

/* Behind the last token in front of where the compiler is. It may be on a line above. */
static bool find_end_before(place *p, const mistake *row)
{
    size_t at = 0, length;
    (void)row;
    p->length = 0;
    for (kn_token_kind kind; at < p->at || p->length == 0; at += length) {
        kind = kn_token_scan(p->text + at, &length);
        if (kind == KN_TOKEN_END)
            break;
        if (kind != KN_TOKEN_SPACE) {
            p->found = at + length;
            p->length = 1;
        }
    }
    return p->length > 0;
}

/* The same, where a statement or the text ends there: the value in front of it is missing. */
static bool find_end_of_value(place *p, const mistake *row)
{
    size_t at = p->at + strspn(p->text + p->at, " \t\n");
    return (p->text[at] == ';' || !p->text[at]) && find_end_before(p, row);
}

/* ---- names ---- */

/* The word that the compiler quotes, if that line of the text has it. */
static bool find_name(place *p, const mistake *row)
{
    const char *quote = strchr(p->said, '\''), *end = quote ? strchr(quote + 1, '\'') : NULL;
    char name[KN_NEAREST_SIZE];
    if (!end || end - quote - 1 < 1 || end - quote > KN_NEAREST_SIZE || !kn_is_name_start(quote[1]))
        return false;
    snprintf(name, sizeof name, "%.*s", (int)(end - quote - 1), quote + 1);
    const mistake named = {{NULL}, name, NULL, NULL};
    (void)row;
    return find_tokens(p, &named);
}

/* Functions that NumPy calls otherwise. */
static const char *const synonyms[][2] = {{"arcsin", "asin"},    {"arccos", "acos"},   {"arctan", "atan"},
                                          {"arctan2", "atan2"},  {"arcsinh", "asinh"}, {"arccosh", "acosh"},
                                          {"arctanh", "atanh"},  {"power", "pow"},     {"absolute", "abs"},
                                          {"maximum", "max"},    {"minimum", "min"},   {"True", "true"},
                                          {"False", "false"},    {"ln", "log"},        {"float", "float32"},
                                          {"double", "float64"}, {"half", "float16"},  {"single", "float32"}};

/* Operations of expressions, and their spelling in a body. */
static const char *const written[][2] = {{"where", "condition ? x : y"},
                                         {"clip", "min(max(x, low), high)"},
                                         {"square", "x * x"},
                                         {"sign", "(x > 0) - (x < 0)"},
                                         {"reciprocal", "1 / x"},
                                         {"floor_divide", "floor(x / y)"},
                                         {"conjugate", "conj(x)"},
                                         {"deg2rad", "x * (M_PI / 180)"},
                                         {"radians", "x * (M_PI / 180)"},
                                         {"rad2deg", "x * (180 / M_PI)"},
                                         {"degrees", "x * (180 / M_PI)"}};

static const char *find_word(const char *const words[][2], size_t count, const char *name, size_t length)
{
    for (size_t k = 0; k < count; k++)
        if (strlen(words[k][0]) == length && memcmp(words[k][0], name, length) == 0)
            return words[k][1];
    return NULL;
}
#define FIND_WORD(words, name, length) find_word(words, sizeof(words) / sizeof *(words), name, length)

/* Names of the library itself are never suggested. */
static void consider_words(kn_nearest *n, const char *words)
{
    size_t length;
    for (kn_token_kind kind; (kind = kn_token_scan(words, &length)) != KN_TOKEN_END; words += length)
        if (kind == KN_TOKEN_NAME && strncmp(words, "kn_", 3) != 0 && strncmp(words, "__", 2) != 0)
            kn_nearest_consider(n, words, length);
}

/* Known names, and those that the text itself has. */
static void find_nearest(kn_nearest *n, const place *p)
{
    kn_str names = KN_STR_INIT;
    if (p->request->put_names)
        p->request->put_names(&names, p->request->about);
    consider_words(n, kn_str_text(&names));
    kn_str_free(&names);
    for (int t = 0; t < p->request->n_user_texts; t++)
        consider_words(n, p->request->user_texts[t]);
}

/* True if an operation of expressions has the name; *is_reduction says of which kind it is. */
static bool is_operation(bool *is_reduction, const char *name, size_t length)
{
    for (int k = 0; k < kn_operation_table_count; k++) {
        const kiln_operation *o = &kn_operation_table[k].definition;
        *is_reduction = o->reduce != NULL;
        if (strlen(o->name) == length && memcmp(o->name, name, length) == 0)
            return true;
    }
    return false;
}

/* Appends to "there is no function 'median'" or "'x' is not declared" the name that was meant, by meaning
 * where that is known; a name that is merely spelt alike would be a wrong one then. */
static void say_meant(char *out, size_t size, const place *p, bool is_call)
{
    const char *name = p->text + p->found, *other = FIND_WORD(synonyms, name, p->length),
               *text = is_call ? FIND_WORD(written, name, p->length) : NULL;
    kn_nearest n = kn_nearest_begin(name, p->length);
    bool is_reduction;
    if (!other && !text && !is_call)
        find_nearest(&n, p);
    if (other || n.best[0])
        snprintf(out, size, ": did you mean '%s'?", other ? other : n.best);
    else if (text)
        snprintf(out, size, " in a body: write %s", text);
    else if (is_call && is_operation(&is_reduction, name, p->length))
        snprintf(out, size, " in a body, which computes one element: it is %s, as expressions have it",
                 is_reduction ? "a reduction of arrays" : "an operation on arrays");
    else if (is_call && kn_numpy_has(name, p->length))
        snprintf(out, size, ": NumPy's is not there yet");
    else if (is_call) {
        find_nearest(&n, p);
        if (n.best[0])
            snprintf(out, size, ": did you mean '%s'?", n.best);
    }
}

static void say_unknown(kn_hint *out, const place *p)
{
    char meant[160] = "";
    bool is_call = p->text[p->found + p->length] == '(';
    say_meant(meant, sizeof meant, p, is_call);
    snprintf(out->message, sizeof out->message, "%s'%.*s'%s%s", is_call ? "there is no function " : "",
             (int)p->length, p->text + p->found, is_call ? "" : " is not declared", meant);
}

/* ---- the table ---- */

#define UNKNOWN                                                                                              \
    "was not declared in this scope", "use of undeclared identifier", "is undefined", "unknown type name"
#define NO_SEMICOLON "expected ';'", "expected ',' or ';'", "expected a ';'", "expected initializer"

/* A row without a message is one for which words are found. */
static const mistake mistakes[] = {
    {{"*"}, "* *", find_tokens, "C++ has no operator '**': write x * x, or pow(x, 2.5)"},
    {{"indirection"}, "* *", find_tokens, "C++ has no operator '**': write x * x, or pow(x, 2.5)"},
    {{UNKNOWN},
     "np|numpy|cp|cupy|jnp|torch|math .",
     find_tokens,
     "functions have no module in front of them: sqrt(x), not np.sqrt(x)"},
    {{"'std'"},
     "std : :",
     find_tokens,
     "functions have no namespace in front of them: sqrt(x), not std::sqrt(x)"},
    {{"expected '('", "expected a '('"},
     "if|while|for|switch",
     find_tokens,
     "C++ has brackets around a condition, and no colon behind it: if (x > 0) y = 1; a choice between two "
     "values is "
     "condition ? this : that"},
    {{"operator^", "invalid operands to binary expression", "must have integral", "no operator '^'"},
     "^",
     find_tokens,
     "C++'s ^ is of bits, and no power: write x * x, or pow(x, 2.5)"},
    {{"for array subscript", "subscripted value is not", "must have pointer-to-object type",
      "no operator '[]'"},
     NULL,
     find_subscripted,
     "it is one element: with `raw` in front of its type in the signature it is the whole array, as in raw T "
     "x and "
     "x[0]"},
    {{NO_SEMICOLON}, "if", find_tokens, "a choice between two values is written condition ? this : that"},
    {{NO_SEMICOLON}, NULL, find_end_before, "a ';' is missing here"},
    {{"operands to '?:'", "conditional expression is ambiguous", "ambiguous '?'"},
     "?",
     find_tokens,
     "the two sides of '?:' have different types, and either could become the other: cast one, as in "
     "x > 0 ? x : float16(1.5)"},
    {{"assignment of read-only", "with const-qualified type", "must be a modifiable lvalue",
      "returns a const value"},
     NULL,
     find_assigned,
     "an input, or another constant, cannot be assigned: assign a variable of your own, or an output"},
    {{"a raw array is indexed by"},
     NULL,
     find_line,
     "a raw operand is indexed by one number, as in x[k], or by as many as it has axes, as in x(r, c)"},
    {{"a raw array that is indexed by"},
     NULL,
     find_line,
     "a raw operand that is indexed by _ind.get() needs as many axes as the loop"},
    {{"expected primary-expression", "expected expression", "expected an expression"},
     NULL,
     find_end_of_value,
     "a value is missing here"},
    {{"kn_raw<", "kn_checked<"},
     NULL,
     find_here,
     "a raw operand has elements, as in x[i], and no value of its own"},
    {{"of non-class type", "is not a structure or union", "must have class type"},
     NULL,
     find_here,
     "a number has no members: write sqrt(x), not x.sqrt()"},
    {{UNKNOWN}, NULL, find_name, NULL},
};

static bool is_said(const mistake *row, const char *said)
{
    for (size_t k = 0; k < sizeof row->said / sizeof *row->said && row->said[k]; k++)
        if (strstr(said, row->said[k]))
            return true;
    return false;
}

bool kn_hint_find(kn_hint *out, const kn_compile_request *request, const char *text, size_t at,
                  const char *said)
{
    place p = {.request = request, .text = text, .said = said, .at = at};
    for (const mistake *row = mistakes; row < mistakes + sizeof mistakes / sizeof *mistakes; row++) {
        if (!is_said(row, said) || !row->find(&p, row))
            continue;
        if (row->message)
            snprintf(out->message, sizeof out->message, "%s", row->message);
        else
            say_unknown(out, &p);
        out->at = p.found;
        out->length = p.length;
        return true;
    }
    return false;
}
