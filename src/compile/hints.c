/* hints.c - the mistakes that are known, one row each, in the order in which they are looked for. */
#include "compile/hints.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "types/caret.h"

enum { NAME_SIZE = 64 };

/* What is known of an error, and what a row's `find` makes of it. */
typedef struct place {
    const kn_compile_request *request;
    const char *text, *said;
    size_t at;            /* where the compiler is */
    size_t found, length; /* what is meant */
} place;

typedef struct mistake {
    const char *said[4]; /* one of these is in what a compiler says */
    /* Tokens of the line, one directly behind the other; `|` stands between those that may stand in one
     * place. */
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

/* Whether the token is among "np|numpy", a list that ends with a blank or its text. */
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

/* The length of what `tokens` calls for at text; 0 where it does not stand there. */
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

/* The tokens stand in the compiler's line: the last place up to where it is, or else the first. */
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

/* All of the compiler's line but the blanks around it. */
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

/* ... where what stands there ends a statement or the text: the value in front of it is what is missing. */
static bool find_end_of_value(place *p, const mistake *row)
{
    size_t at = p->at + strspn(p->text + p->at, " \t\n");
    return (p->text[at] == ';' || !p->text[at]) && find_end_before(p, row);
}

/* ---- names ---- */

/* The word that the compiler has in quotes, where the text has it in that line. */
static bool find_name(place *p, const mistake *row)
{
    const char *quote = strchr(p->said, '\''), *end = quote ? strchr(quote + 1, '\'') : NULL;
    char name[NAME_SIZE];
    if (!end || end - quote - 1 < 1 || end - quote > NAME_SIZE || !kn_is_name_start(quote[1]))
        return false;
    snprintf(name, sizeof name, "%.*s", (int)(end - quote - 1), quote + 1);
    const mistake named = {{NULL}, name, NULL, NULL};
    (void)row;
    return find_tokens(p, &named);
}

/* How far one name is from another: a letter more or less, or two in the wrong order, count 2, another letter
 * 3, and another case of a letter 1. */
static int distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    int row[3][NAME_SIZE + 1];
    for (size_t j = 0; j <= b_length; j++)
        row[0][j] = 2 * (int)j;
    for (size_t i = 1; i <= a_length; i++) {
        int *here = row[i % 3], *before = row[(i - 1) % 3];
        const int *before_that = row[(i + 1) % 3];
        here[0] = 2 * (int)i;
        for (size_t j = 1; j <= b_length; j++) {
            char x = a[i - 1], y = b[j - 1];
            int cost = x == y ? 0 : tolower((unsigned char)x) == tolower((unsigned char)y) ? 1 : 3;
            here[j] = before[j - 1] + cost;
            if (before[j] + 2 < here[j])
                here[j] = before[j] + 2;
            if (here[j - 1] + 2 < here[j])
                here[j] = here[j - 1] + 2;
            bool is_turned = i > 1 && j > 1 && x == b[j - 2] && a[i - 2] == y;
            if (is_turned && before_that[j - 2] + 2 < here[j])
                here[j] = before_that[j - 2] + 2;
        }
    }
    return row[a_length % 3][b_length];
}

typedef struct nearest {
    const char *name;
    size_t length;
    int distance; /* of the nearest so far, which is at `best` */
    char best[NAME_SIZE];
} nearest;

static void consider(nearest *n, const char *name, size_t length)
{
    bool is_own = n->length == length && memcmp(n->name, name, length) == 0;
    bool is_internal = strncmp(name, "kn_", 3) == 0 || strncmp(name, "__", 2) == 0;
    if (length >= NAME_SIZE || is_own || is_internal)
        return;
    int found = distance(n->name, n->length, name, length);
    if (found >= n->distance)
        return;
    n->distance = found;
    snprintf(n->best, sizeof n->best, "%.*s", (int)length, name);
}

/* Functions that NumPy calls otherwise. */
static const char *const synonyms[][2] = {{"arcsin", "asin"},    {"arccos", "acos"},   {"arctan", "atan"},
                                          {"arctan2", "atan2"},  {"arcsinh", "asinh"}, {"arccosh", "acosh"},
                                          {"arctanh", "atanh"},  {"power", "pow"},     {"absolute", "abs"},
                                          {"maximum", "max"},    {"minimum", "min"},   {"True", "true"},
                                          {"False", "false"},    {"ln", "log"},        {"float", "float32"},
                                          {"double", "float64"}, {"half", "float16"},  {"single", "float32"}};

static void consider_words(nearest *n, const char *words)
{
    size_t length;
    for (kn_token_kind kind; (kind = kn_token_scan(words, &length)) != KN_TOKEN_END; words += length)
        if (kind == KN_TOKEN_NAME)
            consider(n, words, length);
}

/* Known names, and those that the text itself has. As much may differ as the name has letters, up to 6. */
static void find_nearest(nearest *n, const place *p)
{
    kn_str names = KN_STR_INIT;
    n->distance = (n->length < 6 ? (int)n->length : 6) + 1;
    for (size_t k = 0; k < sizeof synonyms / sizeof *synonyms; k++)
        if (strlen(synonyms[k][0]) == n->length && memcmp(synonyms[k][0], n->name, n->length) == 0) {
            snprintf(n->best, sizeof n->best, "%s", synonyms[k][1]);
            return;
        }
    if (p->request->put_names)
        p->request->put_names(&names, p->request->about);
    consider_words(n, kn_str_text(&names));
    kn_str_free(&names);
    for (int t = 0; t < p->request->n_user_texts; t++)
        consider_words(n, p->request->user_texts[t]);
}

static void say_unknown(kn_hint *out, const place *p)
{
    nearest n = {.name = p->text + p->found, .length = p->length};
    bool is_call = p->text[p->found + p->length] == '(';
    find_nearest(&n, p);
    snprintf(out->message, sizeof out->message, "%s'%.*s'%s%s%s%s", is_call ? "there is no function " : "",
             (int)n.length, n.name, is_call ? "" : " is not declared", n.best[0] ? ": did you mean '" : "",
             n.best, n.best[0] ? "'?" : "");
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
