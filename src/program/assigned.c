/* program/assigned.c - whether each way through a text assigns an output.
 *
 * * One pass over the statements for each output: whether it is assigned by now. Assignments count where a
 * statement begins with one; an assignment that may not run (in loops, cases) does not count behind it. All
 * other use of the output before is a read. */
#include "program/assigned.h"

#include <string.h>

#include "program/macros.h"
#include "program/tokens.h"

enum { MOST_NESTED = 64 };

typedef struct reader {
    const kn_tokens *t;
    size_t at;
    const char *name; /* of the output */
    bool is_raw;      /* it is assigned as name[i] */
    bool is_left;     /* found: an end is reached, or the output is read, before it is assigned */
    int nested, loops, switches;
    bool at_switch; /* whether it was assigned where the innermost switch began */
} reader;

static const kn_token *here(const reader *r)
{
    return kn_token_at(r->t, r->at);
}

static bool is_here(const reader *r, const char *word)
{
    return kn_token_is(here(r), word);
}

static int step_of(const kn_token *t)
{
    static const char *const opening[] = {"(", "[", "{"}, *const closing[] = {")", "]", "}"};
    return KN_TOKEN_IS_IN(t, opening) - KN_TOKEN_IS_IN(t, closing);
}

/* ---- expressions ---- */

/* Tokens of "x" or "x[k]" in front of "=", at k; 0. */
static size_t assigned_length(const reader *r, size_t k)
{
    if (!kn_token_at(r->t, k)->is_name)
        return 0;
    size_t length =
        kn_token_is(kn_token_at(r->t, k + 1), "[") && kn_token_is(kn_token_at(r->t, k + 3), "]") ? 4 : 1;
    return kn_token_is(kn_token_at(r->t, k + length), "=") ? length : 0;
}

static bool is_output(const reader *r, size_t k, size_t length)
{
    return kn_token_names(r->t, k, r->name) &&
           (r->is_raw ? length == 4 && kn_token_is(kn_token_at(r->t, k + 2), "i") : length == 1);
}

/* True if the expression is a call that writes through the pointer to the output, and does so always. */
static bool writes_by_pointer(const reader *r, size_t begin, size_t end)
{
    static const char *const writers[] = {"sincos", "sincosf", "sincospi", "sincospif", "modf",
                                          "modff",  "frexp",   "frexpf",   "remquo",    "remquof"},
                             *const choosing[] = {"?", "&&", "||", "[", "{", "and", "or"},
                             *const behind[] = {",", ")"};
    bool has_call = false, writes = false;
    for (size_t k = begin; k < end; ++k) {
        if (KN_TOKEN_IS_IN(kn_token_at(r->t, k), choosing))
            return false;
        has_call = has_call || (KN_TOKEN_IS_IN(kn_token_at(r->t, k), writers) &&
                                kn_token_is(kn_token_at(r->t, k + 1), "("));
        writes =
            writes || (has_call && kn_token_is(kn_token_at(r->t, k), "&") &&
                       kn_token_is(kn_token_at(r->t, k - 1), ",") && kn_token_names(r->t, k + 1, r->name) &&
                       KN_TOKEN_IS_IN(kn_token_at(r->t, k + 2), behind));
    }
    return writes && !r->is_raw;
}

/* True if the output is assigned behind the expression. */
static bool read_expression(reader *r, size_t begin, size_t end, bool assigned)
{
    int assignments = 0, uses = 0;
    size_t length;
    if (assigned)
        return true;
    for (size_t k = begin; k < end && (length = assigned_length(r, k)) > 0; k += length + 1)
        assignments += is_output(r, k, length);
    for (size_t k = begin; k < end; ++k) {
        uses += kn_token_names(r->t, k, r->name);
        r->is_left |= kn_token_is(kn_token_at(r->t, k), "(") && kn_token_is(kn_token_at(r->t, k + 1), "{");
    }
    if (uses == 1 && assignments == 0 && writes_by_pointer(r, begin, end))
        return true;
    r->is_left |= uses > assignments;
    return assignments > 0;
}

/* The same of "y = 1, z = 2". A declaration does not begin with an assignment. */
static bool read_list(reader *r, size_t begin, size_t end, bool assigned)
{
    int depth = 0;
    for (size_t k = begin; k < end && assigned_length(r, begin) > 0; ++k) {
        depth += step_of(kn_token_at(r->t, k));
        if (depth == 0 && kn_token_is(kn_token_at(r->t, k), ",")) {
            assigned = read_expression(r, begin, k, assigned);
            begin = k + 1;
        }
    }
    return read_expression(r, begin, end, assigned);
}

/* The end of the open brackets, or the first of `stops` outside of brackets. */
static size_t find_end(const reader *r, size_t k, const char *stop)
{
    for (int depth = 0; k < r->t->count; ++k) {
        const kn_token *t = kn_token_at(r->t, k);
        if (depth == 0 && (kn_token_is(t, stop) || step_of(t) < 0))
            return k;
        depth += step_of(t);
    }
    return k;
}

static bool read_to_semicolon(reader *r, bool assigned)
{
    size_t begin = r->at, end = find_end(r, begin, ";");
    r->at = end + kn_token_is(kn_token_at(r->t, end), ";");
    return read_list(r, begin, end, assigned);
}

/* "(...)": a condition. */
static bool read_condition(reader *r, bool assigned)
{
    size_t begin = r->at + 1, end = find_end(r, begin, ")");
    r->is_left |= !is_here(r, "(");
    r->at = end + 1;
    return read_expression(r, begin, end, assigned);
}

/* ---- statements: whether the output is assigned behind them ---- */

static bool read_statement(reader *r, bool assigned);

static bool read_block(reader *r, bool assigned)
{
    ++r->at;
    while (r->at < r->t->count && !is_here(r, "}") && !r->is_left)
        assigned = read_statement(r, assigned);
    ++r->at;
    return assigned;
}

static bool read_if(reader *r, bool assigned)
{
    ++r->at;
    r->at += is_here(r, "constexpr");
    assigned = read_condition(r, assigned);
    bool then = read_statement(r, assigned);
    if (!is_here(r, "else"))
        return then && assigned;
    ++r->at;
    return read_statement(r, assigned) && then;
}

static void read_looped(reader *r, bool assigned)
{
    ++r->loops;
    read_statement(r, assigned);
    --r->loops;
}

static bool read_for(reader *r, bool assigned)
{
    size_t begin = r->at + 2, end = find_end(r, begin, ")"), first = find_end(r, begin, ";");
    r->is_left |= !kn_token_is(kn_token_at(r->t, r->at + 1), "(");
    assigned = read_list(r, begin, first < end ? first : end, assigned);
    if (first < end)
        read_expression(r, first, end, assigned);
    r->at = end + 1;
    read_looped(r, assigned);
    return assigned;
}

static bool read_while(reader *r, bool assigned)
{
    ++r->at;
    assigned = read_condition(r, assigned);
    read_looped(r, assigned);
    return assigned;
}

static bool read_do(reader *r, bool assigned)
{
    ++r->at;
    read_looped(r, assigned);
    r->is_left |= !is_here(r, "while");
    return read_to_semicolon(r, assigned);
}

static bool read_switch(reader *r, bool assigned)
{
    bool outside = r->at_switch;
    ++r->at;
    r->at_switch = assigned = read_condition(r, assigned);
    ++r->switches;
    read_statement(r, assigned);
    --r->switches;
    r->at_switch = outside;
    return assigned;
}

static bool read_case(reader *r, bool assigned)
{
    (void)assigned;
    r->is_left |= r->switches == 0;
    r->at = find_end(r, r->at, ":") + 1;
    return r->at_switch;
}

/* Nothing comes behind it: that counts as assigned. */
static bool read_jump(reader *r, bool assigned)
{
    bool stays =
        (is_here(r, "continue") && r->loops > 0) || (is_here(r, "break") && r->loops + r->switches > 0);
    ++r->at;
    assigned = read_to_semicolon(r, assigned);
    r->is_left |= !stays && !assigned;
    return true;
}

/* A pragma takes its line. */
static bool read_pragma(reader *r, bool assigned)
{
    const char *end = strchr(here(r)->text, '\n');
    r->is_left |= !kn_token_is(kn_token_at(r->t, r->at + 1), "pragma");
    while (r->at < r->t->count && (!end || here(r)->text < end))
        ++r->at;
    return assigned;
}

static const struct {
    const char *word;
    bool (*read)(reader *r, bool assigned);
} statements[] = {{"{", read_block},       {"if", read_if},        {"for", read_for},
                  {"while", read_while},   {"do", read_do},        {"switch", read_switch},
                  {"case", read_case},     {"default", read_case}, {"return", read_jump},
                  {"continue", read_jump}, {"break", read_jump},   {"#", read_pragma}};

static bool read_statement(reader *r, bool assigned)
{
    bool (*read)(reader *, bool) = read_to_semicolon;
    for (size_t k = 0; k < sizeof statements / sizeof statements[0]; ++k)
        if (is_here(r, statements[k].word))
            read = statements[k].read;
    r->is_left |= ++r->nested > MOST_NESTED || is_here(r, "else") || is_here(r, "}");
    bool is_label =
        here(r)->is_name && read == read_to_semicolon && kn_token_is(kn_token_at(r->t, r->at + 1), ":");
    r->is_left |= is_label;
    assigned = r->is_left ? false : read(r, assigned);
    --r->nested;
    return assigned;
}

/* ---- texts ---- */

/* Words after which the next statement to run is not the next in the text. */
static bool has_unknown(const kn_tokens *t)
{
    static const char *const unknown[] = {"goto", "asm",   "__asm__",   "__asm",
                                          "try",  "throw", "co_return", "exit"};
    for (size_t k = 0; k < t->count; ++k)
        if (KN_TOKEN_IS_IN(&t->list[k], unknown))
            return true;
    return false;
}

/* True if the text has an `i` of its own. */
static bool has_own_index(const kn_tokens *t)
{
    static const char *const giving[] = {"=", "(", "{"}, *const plain[] = {"return", "case", "and",
                                                                           "or",     "not",  "else"};
    for (size_t k = 0; k < t->count; ++k) {
        const kn_token *before = kn_token_at(t, k - 1);
        bool is_declared = (before->is_name && !KN_TOKEN_IS_IN(before, plain)) || kn_token_is(before, "auto");
        if (kn_token_names(t, k, "i") && (is_declared || KN_TOKEN_IS_IN(kn_token_at(t, k + 1), giving)))
            return true;
        if (kn_token_is(&t->list[k], "auto") && kn_token_is(kn_token_at(t, k + 1), "["))
            return true;
    }
    return false;
}

static bool is_left(const kn_tokens *t, const kn_param *value)
{
    reader r = {.t = t, .name = kn_value_name(value), .is_raw = value->is_raw};
    bool assigned = false;
    if (r.is_raw && has_own_index(t))
        return true;
    while (r.at < t->count && !r.is_left)
        assigned = read_statement(&r, assigned);
    return r.is_left || !assigned;
}

kiln_status kn_text_find_left(uint64_t *out, const char *text, const kn_param *value, int count)
{
    kn_tokens t = {NULL, 0};
    kiln_status status = kn_tokens_make(&t, text);
    if (status != KILN_OK)
        return status;
    bool is_unknown = has_unknown(&t);
    *out = 0;
    for (int k = 0; k < count; ++k)
        if (is_unknown || is_left(&t, &value[k]))
            *out |= UINT64_C(1) << k;
    kn_tokens_free(&t);
    return KILN_OK;
}

kiln_status kn_program_find_left(uint64_t *out, const kn_program *p)
{
    uint64_t all = p->n_out < 64 ? (UINT64_C(1) << p->n_out) - 1 : UINT64_MAX, left;
    *out = all;
    for (int s = 0; s < p->n_stages; ++s) {
        if (p->stage[s].kind != KN_MAP)
            continue;
        kiln_status status = kn_text_find_left(&left, p->stage[s].body, p->param + p->n_in, p->n_out);
        if (status != KILN_OK)
            return status;
        *out &= left;
    }
    for (int j = 0; j < p->n_out; ++j)
        if (kn_macros_may_change(p, p->param[p->n_in + j].name))
            *out |= UINT64_C(1) << j;
    return KILN_OK;
}
