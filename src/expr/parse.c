/* Expression strings: statements, operators by precedence, subscripts and calls. kiln/expression.h describes
 * the language. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/os.h"
#include "expr/call.h"
#include "expr/composed.h"
#include "expr/functions.h"
#include "expr/grids.h"
#include "expr/indexing.h"
#include "expr/lists.h"
#include "expr/names.h"
#include "expr/parser.h"
#include "program/program.h"

/* The depth of nesting up to which the stack is not checked. Threads may have small stacks, so functions that
 * are rarely needed have frames of their own. */
enum { DEPTH_FREE = 8 };
#define OWN_FRAME __attribute__((noinline))

static kiln_status parse_value(kn_value *out, kn_parser *p, int power);
static kiln_status parse_list(kn_value *out, bool *is_joined, kn_parser *p);

static const char *text_at(const kn_parser *p, size_t at)
{
    return p->word.text + at;
}

static kiln_status refuse_here(const kn_parser *p, const char *message)
{
    return kn_parser_refuse(p, p->word.at, p->word.length, "%s", message);
}

static kiln_status next(kn_parser *p)
{
    return kn_lexer_next(&p->word);
}

static bool at(const kn_parser *p, const char *word)
{
    return kn_lexer_at(&p->word, word);
}

static kiln_status take(kn_parser *p, const char *word, const char *message)
{
    return at(p, word) ? next(p) : refuse_here(p, message);
}

static kiln_status enter(kn_parser *p)
{
    if (++p->depth <= DEPTH_FREE)
        return KILN_OK;
    if (!p->floor)
        p->floor = kn_os_stack_floor();
    return kn_os_stack_is_low(p->floor)
               ? kn_parser_refuse(p, p->word.at, p->word.length,
                                  "%d values inside one another are too many for this thread's stack; a "
                                  "larger stack was expected, or names for some of the values",
                                  p->depth)
               : KILN_OK;
}

/* ---- operators ---- */

/* Python's operators, the loosest first; `hint`: for operators that have no meaning here. */
typedef struct operator_row {
    const char *word, *operation, *hint;
    int power;
} operator_row;
enum { COMPARES = 4, UNARY = 11 };
#define AND_HINT "use & between comparisons, in brackets: (x > 0) & (x < 1), or logical_and(x, y)"
#define OR_HINT "use | between comparisons, in brackets: (x < 0) | (x > 1), or logical_or(x, y)"
static const char product_name[] = "matmul"; /* a function */
static const char place_hint[] = "no value has an assignment inside: write x = x + y as a statement";
static const operator_row operators[] = {
    {"if", NULL, "write where(condition, x, y) for x if condition else y", 0},
    {":=", NULL, "write the assignment as a statement of its own: y = ...; ...", 0},
    {"->", NULL, "this operator has no meaning in an expression", 0},
    {"+=", NULL, place_hint, 0},
    {"-=", NULL, place_hint, 0},
    {"*=", NULL, place_hint, 0},
    {"/=", NULL, place_hint, 0},
    {"%=", NULL, place_hint, 0},
    {"&=", NULL, place_hint, 0},
    {"|=", NULL, place_hint, 0},
    {"^=", NULL, place_hint, 0},
    {"@=", NULL, place_hint, 0},
    {"**=", NULL, place_hint, 0},
    {"//=", NULL, place_hint, 0},
    {"<<=", NULL, place_hint, 0},
    {">>=", NULL, place_hint, 0},
    {"or", NULL, OR_HINT, 1},
    {"||", NULL, OR_HINT, 1},
    {"and", NULL, AND_HINT, 2},
    {"&&", NULL, AND_HINT, 2},
    {"in", NULL, "write any(x == y) for membership", COMPARES},
    {"is", NULL, "write x == y", COMPARES},
    {"not", NULL, "write ~(x > 0), or logical_not(x)", COMPARES},
    {"<", "less", NULL, COMPARES},
    {"<=", "less_equal", NULL, COMPARES},
    {">", "greater", NULL, COMPARES},
    {">=", "greater_equal", NULL, COMPARES},
    {"==", "equal", NULL, COMPARES},
    {"!=", "not_equal", NULL, COMPARES},
    {"|", "bitwise_or", NULL, 5},
    {"^", "bitwise_xor", NULL, 6},
    {"&", "bitwise_and", NULL, 7},
    {"<<", "left_shift", NULL, 8},
    {">>", "right_shift", NULL, 8},
    {"+", "add", NULL, 9},
    {"-", "subtract", NULL, 9},
    {"*", "multiply", NULL, 10},
    {"/", "divide", NULL, 10},
    {"//", "floor_divide", NULL, 10},
    {"%", "remainder", NULL, 10},
    {"@", product_name, NULL, 10},
    {"**", "power", NULL, UNARY + 1},
};
static const operator_row signs_in_front[] = {
    {"-", "negative", NULL, UNARY},
    {"+", "positive", NULL, UNARY},
    {"~", "invert", NULL, UNARY},
    {"not", NULL, "write ~(x > 0), or logical_not(x)", UNARY},
    {"!", NULL, "write ~(x > 0), or logical_not(x)", UNARY},
    {"lambda", NULL, "functions are kernels: options.kernels", UNARY},
    {"*", NULL, "a value was expected", UNARY},
    {"**", NULL, "a value was expected", UNARY},
};

static const operator_row *find_operator(const kn_parser *p, const operator_row *row, size_t count)
{
    for (size_t k = 0; k < count; ++k)
        if (at(p, row[k].word))
            return &row[k];
    return NULL;
}
#define FIND(p, rows) find_operator(p, rows, sizeof rows / sizeof rows[0])

/* ---- calls ---- */

static kiln_status parse_argument(kn_parser *p)
{
    kn_value value;
    kn_lexer before = p->word;
    size_t key_length = 0;
    kiln_status status = KILN_OK;
    if (before.kind == KN_WORD_NAME) { /* a name in front of "=" names the argument */
        status = next(p);
        if (status == KILN_OK && at(p, "=")) {
            key_length = before.length;
            status = next(p);
        } else {
            p->word = before;
        }
    }
    if (status == KILN_OK)
        status = parse_value(&value, p, 0);
    if (status != KILN_OK)
        return status;
    value.key_at = before.at;
    value.key_length = key_length;
    return kn_parser_push_argument(p, &value);
}

/* Parses from the current bracket to its partner. `of`: the object of a method call; NULL: a function. */
OWN_FRAME static kiln_status parse_call(kn_value *out, kn_parser *p, size_t name_at, size_t name_length,
                                        const kn_value *of)
{
    kn_called c = {
        .name = text_at(p, name_at), .at = name_at, .name_length = name_length, .first = p->n_arguments};
    kiln_status status = next(p);
    c.is_method = of != NULL;
    if (status == KILN_OK && of) {
        kn_value self = *of;
        self.key_length = 0;
        status = kn_parser_push_argument(p, &self);
    }
    while (status == KILN_OK && !at(p, ")")) {
        status = parse_argument(p);
        if (status == KILN_OK && !at(p, ")"))
            status = take(p, ",", "a comma or ')' was expected");
    }
    if (status == KILN_OK)
        status = next(p);
    c.count = p->n_arguments - c.first;
    c.length = p->word.end - name_at;
    if (p->word.kind == KN_WORD_END || p->word.kind == KN_WORD_LINE)
        c.n_targets = name_at == p->targets.value_at ? p->targets.count : 0;
    if (status == KILN_OK)
        status = kn_parser_call(out, p, &c);
    p->n_arguments = c.first;
    return status;
}

/* ---- indexing ---- */

/* computed: NULL where a bound has to stand in the text. */
static kiln_status parse_bound(int64_t *out, kn_value *computed, kn_parser *p)
{
    kn_value value;
    *out = KILN_SLICE_NONE;
    if (at(p, ":") || at(p, ",") || at(p, "]"))
        return KILN_OK;
    kiln_status status = parse_value(&value, p, 0);
    if (status != KILN_OK || value.kind == KN_VALUE_NONE)
        return status;
    if (computed && value.kind == KN_VALUE_NODE && !kn_parser_is_number(p, &value)) {
        *computed = value;
        return KILN_OK;
    }
    if (kn_parser_is_number(p, &value) && p->graph->node[value.node].number.kind == KILN_ARG_WEAK_UINT)
        *out = INT64_MAX; /* beyond every extent */
    else
        status = kn_parser_whole(out, p, &value, "slice");
    if (*out == KILN_SLICE_NONE)
        *out = -INT64_MAX;
    return status;
}

static kiln_status parse_slice(kn_subscript *subscript, kn_value *stop, kn_parser *p, int64_t start)
{
    size_t begin = p->word.at;
    kiln_status status = next(p);
    *subscript = (kn_subscript){KN_SUBSCRIPT_SLICE, start, KILN_SLICE_NONE, KILN_SLICE_NONE};
    if (status == KILN_OK)
        status = parse_bound(&subscript->stop, stop, p);
    if (status == KILN_OK && at(p, ":")) {
        status = next(p);
        if (status == KILN_OK)
            status = parse_bound(&subscript->step, NULL, p);
    }
    if (status == KILN_OK && subscript->step == 0)
        return kn_parser_refuse(p, begin, p->word.end - begin, "the step of a slice is 0");
    return status;
}

/* Parses one item between the brackets, which may be an array. */
static kiln_status parse_subscript(kn_parser *p, kn_index_text *index)
{
    kn_subscript *subscript = &index->item[index->n_items];
    struct kn_bounds *bounds = &index->bounds[index->n_items];
    kn_value value;
    *subscript = (kn_subscript){.kind = KN_SUBSCRIPT_REST};
    if (at(p, "..."))
        return next(p);
    if (at(p, ":"))
        return parse_slice(subscript, &bounds->stop, p, KILN_SLICE_NONE);
    kiln_status status = parse_value(&value, p, 0);
    if (status != KILN_OK)
        return status;
    const bool is_slice = at(p, ":"), is_number = kn_parser_is_number(p, &value);
    if (value.kind == KN_VALUE_SLICE && !is_slice)
        return kn_parser_slice(subscript, p, &value);
    if (value.kind == KN_VALUE_NONE && !is_slice) {
        subscript->kind = KN_SUBSCRIPT_NEW;
        return KILN_OK;
    }
    if (is_slice && !is_number && value.kind == KN_VALUE_NODE) {
        bounds->start = value;
        return parse_slice(subscript, &bounds->stop, p, KILN_SLICE_NONE);
    }
    if (!is_slice && !is_number &&
        (value.kind == KN_VALUE_NODE || value.kind == KN_VALUE_TUPLE || value.kind == KN_VALUE_NONZERO)) {
        subscript->kind = KN_SUBSCRIPT_ARRAY;
        return kn_index_add_array(index, p, &value);
    }
    if ((value.kind != KN_VALUE_NONE && !is_number) ||
        (is_number && p->graph->node[value.node].number.kind == KILN_ARG_WEAK_BOOL))
        return kn_parser_refuse(
            p, value.at, value.length,
            "an index is a whole number, a slice of numbers that stand in the expression, "
            "None, ..., an array of whole numbers, or a mask");
    subscript->kind = KN_SUBSCRIPT_INDEX;
    subscript->start = KILN_SLICE_NONE;
    if (value.kind != KN_VALUE_NONE)
        status = kn_parser_whole(&subscript->start, p, &value, "index");
    return status == KILN_OK && is_slice ? parse_slice(subscript, &bounds->stop, p, subscript->start)
                                         : status;
}

static kiln_status parse_subscripts(kn_index_text *index, kn_parser *p)
{
    bool has_rest = false;
    index->at = p->word.at;
    kiln_status status = next(p);
    if (status == KILN_OK && at(p, "]"))
        return kn_parser_refuse(p, index->at, p->word.at + 1 - index->at, "an index was expected");
    while (status == KILN_OK && !at(p, "]")) {
        if (index->n_items == KN_INDEX_ITEMS)
            return refuse_here(p, "too many indices");
        size_t item = p->word.at;
        status = parse_subscript(p, index);
        if (status == KILN_OK && index->item[index->n_items].kind == KN_SUBSCRIPT_REST) {
            if (has_rest)
                return kn_parser_refuse(p, item, 3, "an index has one ... at most");
            has_rest = true;
        }
        ++index->n_items;
        if (status == KILN_OK && !at(p, "]"))
            status = take(p, ",", "a comma or ']' was expected");
    }
    if (status == KILN_OK)
        status = next(p);
    index->length = p->word.end - index->at;
    return status;
}

/* Picks the item of a tuple, or the extent of a shape. */
static kiln_status pick(kn_value *out, kn_parser *p, const kn_value *of, const kn_index_text *index)
{
    bool is_one = index->n_items == 1 && index->item[0].kind == KN_SUBSCRIPT_INDEX;
    int64_t k = is_one ? index->item[0].start : 0;
    if (!is_one)
        return kn_parser_refuse(p, index->at, index->length, "one whole number was expected");
    if (of->kind == KN_VALUE_SHAPE)
        return kn_parser_extent(out, p, of->node, k, of->at, p->word.end - of->at);
    if (of->kind == KN_VALUE_NONZERO)
        return kn_nonzero_item(out, p, of, k);
    if (k < -of->count || k >= of->count)
        return kn_parser_refuse(p, index->at, index->length, "index %lld of a tuple of %d", (long long)k,
                                of->count);
    *out = p->item[of->first + (k < 0 ? k + of->count : k)];
    return KILN_OK;
}

OWN_FRAME static kiln_status parse_index(kn_value *out, kn_parser *p, const kn_value *of)
{
    kn_index_text *index = kn_calloc(1, sizeof *index);
    if (!index)
        return kn_error_memory("an index");
    kn_value array = *of;
    kiln_status status = parse_subscripts(index, p);
    const bool is_item = index->n_items == 1 && index->item[0].kind == KN_SUBSCRIPT_INDEX;
    if (status == KILN_OK && of->kind == KN_VALUE_TUPLE && of->is_list && !is_item) {
        status = kn_list_value(&array, p);
        of = &array;
    }
    if (status == KILN_OK && of->kind == KN_VALUE_NODE) {
        array = *of;
        of = &array;
        status = kn_index_take_computed(&array, p, index);
    }
    if (status == KILN_OK)
        status = of->kind == KN_VALUE_TUPLE || of->kind == KN_VALUE_SHAPE || of->kind == KN_VALUE_NONZERO
                     ? pick(out, p, of, index)
                     : kn_index_read(out, p, of, index);
    kn_free(index);
    return status;
}

/* ---- values ---- */

OWN_FRAME static kiln_status parse_attribute(kn_value *out, kn_parser *p, const kn_value *of)
{
    kn_known_operation operation;
    char hint[128];
    kiln_status status = next(p);
    if (status == KILN_OK && p->word.kind != KN_WORD_NAME)
        return refuse_here(p, "the name of an attribute was expected");
    size_t begin = p->word.at, length = p->word.length;
    if (status == KILN_OK)
        status = next(p);
    if (status != KILN_OK)
        return status;
    if (at(p, "("))
        return parse_call(out, p, begin, length, of);
    if (kn_parser_attribute(&status, out, p, of, text_at(p, begin), length, begin))
        return status;
    if (kn_find_operation(&operation, text_at(p, begin), length))
        return kn_parser_refuse(p, begin, length, "'%.*s' is a method: %.*s(...) was expected", (int)length,
                                text_at(p, begin), (int)length, text_at(p, begin));
    return kn_parser_refuse(p, begin, length, "there is no attribute '%.*s'%s", (int)length,
                            text_at(p, begin), kn_suggest(hint, sizeof hint, p, text_at(p, begin), length));
}

static kiln_status parse_behind(kn_value *out, kn_parser *p)
{
    kiln_status status = KILN_OK;
    while (status == KILN_OK) {
        kn_value of = *out;
        if (at(p, "."))
            status = parse_attribute(out, p, &of);
        else if (at(p, "["))
            status = parse_index(out, p, &of);
        else if (at(p, "("))
            return refuse_here(p, "this value cannot be called; an operator was expected");
        else
            break;
    }
    return status;
}

/* Hints for words of Python and C++ that were read as names. */
static const char *word_hint(const char *name, size_t length)
{
    static const char no_statement[] = "an expression has no statements but assignments: where(condition, x, "
                                       "y) chooses, and operations go over all "
                                       "elements";
    static const char *const words[] = {"if",     "elif",   "for",  "while", "def",
                                        "return", "import", "from", "with"};
    for (size_t k = 0; k < sizeof words / sizeof words[0]; ++k)
        if (strlen(words[k]) == length && memcmp(words[k], name, length) == 0)
            return no_statement;
    return NULL;
}

static kiln_status refuse_name(const kn_parser *p, size_t begin, size_t length)
{
    kn_known_operation operation;
    char hint[128];
    const char *name = text_at(p, begin), *word = word_hint(name, length);
    if (word)
        return kn_parser_refuse(p, begin, length, "%s", word);
    if (kn_find_operation(&operation, name, length))
        return kn_parser_refuse(p, begin, length, "'%.*s' is a function: %.*s(...) was expected", (int)length,
                                name, (int)length, name);
    return kn_parser_refuse(p, begin, length, "there is no name '%.*s'%s", (int)length, name,
                            kn_suggest(hint, sizeof hint, p, name, length));
}

/* A name that is not called: a variable, else a constant, a dtype or None. */
OWN_FRAME static kiln_status read_name(kn_value *out, kn_parser *p, size_t begin, size_t length)
{
    const char *name = text_at(p, begin);
    const kn_variable *variable = kn_parser_find(p, name, length);
    kiln_arg number;
    *out = (kn_value){.at = begin, .length = length};
    if (variable) {
        *out = variable->value;
        out->at = begin;
        out->length = length;
        out->variable = 1 + (int)(variable - p->variable);
        return KILN_OK;
    }
    if (kn_find_constant(&number, name, length))
        return kn_parser_number(out, p, number, begin, length);
    if ((length == 4 && memcmp(name, "None", 4) == 0) || (length == 7 && memcmp(name, "newaxis", 7) == 0)) {
        out->kind = KN_VALUE_NONE;
        return KILN_OK;
    }
    if (!kn_find_dtype(&out->dtype, &out->is_python, name, length))
        return refuse_name(p, begin, length);
    out->kind = KN_VALUE_DTYPE;
    return KILN_OK;
}

/* A slice of a grid, whose parts become arguments; at the stop where it has none. */
static kiln_status parse_grid_slice(kn_parser *p)
{
    kiln_status status = KILN_OK;
    for (int k = 0; k < KN_GRID_PARTS && status == KILN_OK; ++k) {
        kn_value part = {.kind = KN_VALUE_ABSENT, .at = p->word.at, .length = p->word.length};
        const bool is_there = k == 0 || at(p, ":");
        if (k == 1 && !is_there)
            return refuse_here(p, "a slice was expected, start:stop or start:stop:step");
        if (k > 0 && is_there)
            status = next(p);
        if (status == KILN_OK && is_there && !at(p, ":") && !at(p, ",") && !at(p, "]"))
            status = parse_value(&part, p, 0);
        if (status == KILN_OK)
            status = kn_parser_push_argument(p, &part);
    }
    return status;
}

/* mgrid[start:stop:step, ...], and ogrid likewise, from the bracket on. */
OWN_FRAME static kiln_status parse_grid(kn_value *out, kn_parser *p, size_t begin, size_t length,
                                        bool is_open)
{
    kn_called c = {.name = text_at(p, begin), .at = begin, .name_length = length, .first = p->n_arguments};
    bool is_one = true;
    kiln_status status = next(p);
    if (status == KILN_OK && at(p, "]"))
        return refuse_here(p, "a slice was expected, start:stop or start:stop:step");
    while (status == KILN_OK && !at(p, "]")) {
        status = parse_grid_slice(p);
        is_one = is_one && at(p, "]");
        if (status == KILN_OK && !at(p, "]"))
            status = take(p, ",", "a comma or ']' was expected");
    }
    c.length = p->word.end - begin;
    if (status == KILN_OK)
        status = next(p);
    c.count = p->n_arguments - c.first;
    if (status == KILN_OK)
        status = kn_grid_add(out, p, &c, is_open, is_one);
    p->n_arguments = c.first;
    return status;
}

/* Skips "np." in front of a name. */
static kiln_status skip_module(kn_parser *p)
{
    bool is_module =
        (at(p, "np") && !kn_parser_find(p, "np", 2)) || (at(p, "numpy") && !kn_parser_find(p, "numpy", 5));
    kn_lexer before = p->word;
    if (!is_module)
        return KILN_OK;
    kiln_status status = next(p);
    if (status != KILN_OK)
        return status;
    if (!at(p, ".")) {
        p->word = before;
        return KILN_OK;
    }
    status = next(p);
    return status == KILN_OK && p->word.kind != KN_WORD_NAME
               ? refuse_here(p, "a name of NumPy's was expected")
               : status;
}

/* Behind the name of an operation ".reduce", or another of NumPy's methods of ufuncs, makes one name with
 * it. */
static kiln_status read_method(size_t *length, kn_parser *p, size_t begin)
{
    kn_known_operation operation;
    const kn_lexer before = p->word;
    if (!at(p, ".") || kn_parser_find(p, text_at(p, begin), *length) ||
        !kn_find_operation(&operation, text_at(p, begin), *length))
        return KILN_OK;
    kiln_status status = next(p);
    const size_t end = p->word.at + p->word.length;
    const bool is_method = status == KILN_OK && kn_is_method(text_at(p, begin), end - begin);
    if (is_method)
        status = next(p);
    if (is_method && at(p, "("))
        *length = end - begin;
    else
        p->word = before;
    return status;
}

static kiln_status parse_name(kn_value *out, kn_parser *p)
{
    kiln_status status = skip_module(p);
    size_t begin = p->word.at, length = p->word.length;
    if (status == KILN_OK)
        status = next(p);
    if (status == KILN_OK)
        status = read_method(&length, p, begin);
    if (status != KILN_OK)
        return status;
    bool is_open;
    if (at(p, "[") && kn_grid_is(&is_open, text_at(p, begin), length) &&
        !kn_parser_find(p, text_at(p, begin), length))
        return parse_grid(out, p, begin, length, is_open);
    return at(p, "(") ? parse_call(out, p, begin, length, NULL) : read_name(out, p, begin, length);
}

static kiln_status parse_text(kn_value *out, kn_parser *p)
{
    size_t begin = p->word.at, length = p->word.length;
    bool is_python;
    const char *text = text_at(p, begin) + 1;
    *out = (kn_value){.kind = KN_VALUE_DTYPE, .at = begin, .length = length};
    if (kn_find_dtype(&out->dtype, &is_python, text, length - 2))
        return next(p);
    out->kind = KN_VALUE_WORD;
    out->word = text;
    return next(p);
}

static kiln_status parse_brackets(kn_value *out, kn_parser *p, const char *close)
{
    size_t begin = p->word.at;
    kn_value empty = {.kind = KN_VALUE_TUPLE, .at = begin};
    bool is_joined = true; /* by commas, or empty */
    kiln_status status = next(p);
    if (status != KILN_OK)
        return status;
    *out = empty;
    if (!at(p, close))
        status = parse_list(out, &is_joined, p);
    if (status == KILN_OK)
        status = take(p, close, *close == ')' ? "')' was expected" : "']' was expected");
    if (status == KILN_OK && *close == ']' &&
        !is_joined) { /* [0] is a list of one item, and so is [[0, 1]] */
        kn_value item = *out;
        *out = empty;
        out->first = p->n_items;
        out->count = 1;
        status = kn_parser_push_item(p, &item);
    }
    if (is_joined || *close == ']') /* ([0, 1]) is the list itself */
        out->is_list = *close == ']';
    out->at = begin;
    out->length = p->word.end - begin;
    return status;
}

static kiln_status parse_primary(kn_value *out, kn_parser *p)
{
    size_t begin = p->word.at, length = p->word.length;
    kiln_arg number = p->word.number;
    kiln_status status;
    if (p->word.kind == KN_WORD_NAME) {
        status = parse_name(out, p);
    } else if (p->word.kind == KN_WORD_NUMBER) {
        status = next(p);
        if (status == KILN_OK)
            status = kn_parser_number(out, p, number, begin, length);
    } else if (p->word.kind == KN_WORD_TEXT) {
        status = parse_text(out, p);
    } else if (at(p, "(") || at(p, "[")) {
        status = parse_brackets(out, p, at(p, "(") ? ")" : "]");
    } else {
        return refuse_here(p, p->word.kind == KN_WORD_END ? "the expression ends where a value was expected"
                                                          : "a value was expected");
    }
    return status == KILN_OK ? parse_behind(out, p) : status;
}

static kiln_status parse_front(kn_value *out, kn_parser *p)
{
    const operator_row *sign = FIND(p, signs_in_front);
    size_t begin = p->word.at, length = p->word.length;
    kn_value operand;
    if (!sign)
        return parse_primary(out, p);
    if (sign->hint)
        return refuse_here(p, sign->hint);
    kiln_status status = next(p);
    if (status == KILN_OK)
        status = parse_value(&operand, p, UNARY);
    return status == KILN_OK ? kn_parser_operator(out, p, sign->operation, &operand, 1, begin, length)
                             : status;
}

/* A call of the function, whose arguments the operands are. */
static kiln_status call_with(kn_value *out, kn_parser *p, const char *function, const kn_value *in,
                             size_t begin, size_t length)
{
    const kn_called c = {.name = function,
                         .name_length = strlen(function),
                         .at = begin,
                         .length = length,
                         .first = p->n_arguments,
                         .count = 2};
    kiln_status status = kn_parser_push_argument(p, &in[0]);
    if (status == KILN_OK)
        status = kn_parser_push_argument(p, &in[1]);
    if (status == KILN_OK)
        status = kn_parser_call(out, p, &c);
    p->n_arguments = c.first;
    return status;
}

/* Parses one operator and its right operand. */
static kiln_status parse_operator(kn_value *left, kn_parser *p, const operator_row *row)
{
    size_t begin = p->word.at, length = p->word.length;
    kn_value in[2] = {*left};
    kiln_status status = row->hint ? refuse_here(p, row->hint) : next(p);
    if (status == KILN_OK) /* powers associate to the right, and may have a sign there: 2**-3**2 */
        status = parse_value(&in[1], p, row->power > UNARY ? UNARY : row->power + 1);
    if (status == KILN_OK)
        status = row->operation == product_name
                     ? call_with(left, p, product_name, in, begin, length)
                     : kn_parser_operator(left, p, row->operation, in, 2, begin, length);
    const operator_row *then = FIND(p, operators);
    if (status == KILN_OK && row->power == COMPARES && then && then->power == COMPARES && !then->hint)
        return refuse_here(p, "a chain of comparisons has no meaning for arrays: write (x < y) & (y < z)");
    return status;
}

/* Parses operators that bind at least this tightly. */
static kiln_status parse_value(kn_value *out, kn_parser *p, int power)
{
    size_t begin = p->word.at;
    kiln_status status = enter(p);
    if (status == KILN_OK)
        status = parse_front(out, p);
    while (status == KILN_OK) {
        const operator_row *row = FIND(p, operators);
        if (!row || row->power < power)
            break;
        status = parse_operator(out, p, row);
    }
    --p->depth;
    if (status == KILN_OK) { /* the whole range, for messages */
        out->at = begin;
        out->length = p->word.end - begin;
    }
    return status;
}

/* Parses a value, or a tuple if there are commas. */
static kiln_status parse_list(kn_value *out, bool *is_joined, kn_parser *p)
{
    int start = p->n_arguments;
    kn_value value;
    kiln_status status = parse_value(out, p, 0);
    *is_joined = status == KILN_OK && at(p, ",");
    if (!*is_joined)
        return status;
    kn_value tuple = {.kind = KN_VALUE_TUPLE, .at = out->at};
    status = kn_parser_push_argument(p, out);
    while (status == KILN_OK && at(p, ",")) {
        status = next(p);
        bool is_end = p->word.kind == KN_WORD_END || p->word.kind == KN_WORD_LINE || at(p, ")") || at(p, "]");
        if (status != KILN_OK || is_end)
            break;
        status = parse_value(&value, p, 0);
        if (status == KILN_OK)
            status = kn_parser_push_argument(p, &value);
    }
    tuple.first = p->n_items;
    tuple.count = p->n_arguments - start;
    tuple.length = p->word.end - tuple.at;
    for (int k = start; k < p->n_arguments && status == KILN_OK; ++k)
        status = kn_parser_push_item(p, &p->argument[k]);
    p->n_arguments = start;
    *out = tuple;
    return status;
}

/* ---- statements ---- */

static bool is_reserved(const char *name, size_t length)
{
    static const char *const words[] = {"True",   "False", "None", "and", "or",  "not", "if",   "else",
                                        "lambda", "is",    "in",   "for", "def", "del", "while"};
    for (size_t w = 0; w < sizeof words / sizeof words[0]; ++w)
        if (strlen(words[w]) == length && memcmp(words[w], name, length) == 0)
            return true;
    return false;
}

/* True for "a, b =" at the current word; the lexer does not move. */
static kiln_status find_targets(bool *is_assignment, int *n_targets, kn_parser *p)
{
    kn_lexer before = p->word;
    kiln_status status = KILN_OK;
    *n_targets = 0;
    while (status == KILN_OK && p->word.kind == KN_WORD_NAME) {
        ++*n_targets;
        status = next(p);
        if (status != KILN_OK || !at(p, ","))
            break;
        status = next(p);
    }
    *is_assignment = status == KILN_OK && *n_targets > 0 && at(p, "=");
    p->word = before;
    return KILN_OK; /* reading the value finds the error again */
}

static kiln_status assign_one(kn_parser *p, const kn_lexer *name, const kn_value *value)
{
    if (is_reserved(name->text + name->at, name->length))
        return kn_parser_refuse(p, name->at, name->length, "'%.*s' is no name for a value", (int)name->length,
                                name->text + name->at);
    return kn_parser_assign(p, name->text + name->at, name->length, value);
}

/* The parts along the first axis of an array, or the extents of one, which has as many axes: a tuple. */
OWN_FRAME static kiln_status unpack(kn_value *out, kn_parser *p, const kn_value *value, int count)
{
    const kn_called c = {.name = "names", .name_length = 5, .at = value->at, .length = value->length};
    int in = value->node;
    kn_value item = {0}, of = {0};
    kn_node transposed = {.kind = KN_NODE_TRANSPOSE,
                          .n_in = 1,
                          .in = &in,
                          .n_axes = count,
                          .at = value->at,
                          .length = value->length};
    kiln_status status = KILN_OK;
    if (count > KILN_MAX_NDIM)
        return kn_parser_refuse(p, value->at, value->length, "%d names are too many", count);
    for (int k = 0; k < count; ++k)
        transposed.axis[k] = k;
    if (value->kind == KN_VALUE_SHAPE)
        status = kn_parser_add(&of, p, &transposed);
    *out = (kn_value){.kind = KN_VALUE_TUPLE,
                      .first = p->n_items,
                      .count = count,
                      .at = value->at,
                      .length = value->length};
    for (int k = 0; k < count && status == KILN_OK; ++k) {
        status = value->kind == KN_VALUE_SHAPE
                     ? kn_parser_extent(&item, p, of.node, k, value->at, value->length)
                     : kn_call_add_part(&item, p, &c, value,
                                        (kn_subscript){KN_SUBSCRIPT_PART, k, count, KN_PARTS_OF_ONE}, 0);
        if (status == KILN_OK)
            status = kn_parser_push_item(p, &item);
    }
    return status;
}

/* Assigns the value, or its items, to the names at `targets`. */
static kiln_status assign(kn_parser *p, kn_lexer targets, int n_targets, const kn_value *value)
{
    if (n_targets == 1)
        return assign_one(p, &targets, value);
    kn_value found = {0};
    if (value->kind == KN_VALUE_NONZERO) {
        kiln_status status = kn_nonzero_items(&found, p, value, n_targets);
        return status == KILN_OK ? assign(p, targets, n_targets, &found) : status;
    }
    const bool is_array = value->kind == KN_VALUE_NODE && !kn_parser_is_number(p, value);
    if (is_array || value->kind == KN_VALUE_SHAPE) {
        kiln_status status = unpack(&found, p, value, n_targets);
        return status == KILN_OK ? assign(p, targets, n_targets, &found) : status;
    }
    if (value->kind != KN_VALUE_TUPLE || value->count != n_targets)
        return kn_parser_refuse(p, value->at, value->length, "%d values were expected, for %d names",
                                n_targets, n_targets);
    kiln_status status = KILN_OK;
    for (int k = 0; k < n_targets && status == KILN_OK; ++k) {
        kn_value item = p->item[value->first + k];
        status = assign_one(p, &targets, &item);
        for (int word = 0; word < 2 && status == KILN_OK; ++word)
            status = kn_lexer_next(&targets);
    }
    return status;
}

/* True for "x[...] =", or an operator with "=", at the current word; the lexer does not move. */
static bool is_element_assignment(kn_parser *p)
{
    const kn_lexer before = p->word;
    int depth = 0;
    kiln_status status = p->word.kind == KN_WORD_NAME ? next(p) : KILN_ERROR_SYNTAX;
    if (status == KILN_OK && !at(p, "["))
        status = KILN_ERROR_SYNTAX;
    while (status == KILN_OK && p->word.kind != KN_WORD_END && p->word.kind != KN_WORD_LINE) {
        depth += (at(p, "[") || at(p, "(")) - (at(p, "]") || at(p, ")"));
        status = next(p);
        if (depth == 0)
            break;
    }
    const operator_row *row = status == KILN_OK ? FIND(p, operators) : NULL;
    const bool is = status == KILN_OK && depth == 0 && (at(p, "=") || (row && row->hint == place_hint));
    p->word = before;
    return is;
}

/* x[...] = value and x[...] += value: x is the changed array from then on. */
OWN_FRAME static kiln_status parse_element_assignment(kn_value *out, kn_parser *p)
{
    const kn_lexer name = p->word;
    const kn_variable *x = kn_parser_find(p, text_at(p, name.at), name.length);
    kn_index_text *index = kn_calloc(1, sizeof *index);
    char operator[4] = "";
    bool is_joined;
    kn_value value, changed;
    kiln_status status = index ? KILN_OK : kn_error_memory("an index");
    const bool is_list = x && x->value.kind == KN_VALUE_TUPLE && x->value.is_list;
    if (status == KILN_OK && (!x || (x->value.kind != KN_VALUE_NODE && !is_list)))
        status = x ? refuse_here(p, "an array was expected in front of '['")
                   : refuse_name(p, name.at, name.length);
    kn_value of = status == KILN_OK && x ? x->value : (kn_value){.kind = KN_VALUE_ABSENT};
    if (status == KILN_OK && is_list)
        status = kn_list_value(&of, p);
    if (status == KILN_OK)
        status = next(p);
    if (status == KILN_OK)
        status = parse_subscripts(index, p);
    if (status == KILN_OK && !at(p, "=")) /* "+=" without its "=" */
        snprintf(operator, sizeof operator, "%.*s", (int)p->word.length - 1, text_at(p, p->word.at));
    if (status == KILN_OK)
        status = next(p);
    if (status == KILN_OK)
        status = parse_list(&value, &is_joined, p);
    if (status == KILN_OK)
        status = kn_index_assign(&changed, p, &of, index, operator, & value);
    if (status == KILN_OK)
        status = assign_one(p, &name, &changed);
    kn_free(index);
    *out = changed;
    return status;
}

/* True for a name and an operator with "=", at the current word; the lexer does not move. */
static bool is_augmented(kn_parser *p)
{
    const kn_lexer before = p->word;
    const bool is_name = p->word.kind == KN_WORD_NAME && next(p) == KILN_OK;
    const operator_row *row = is_name ? FIND(p, operators) : NULL;
    p->word = before;
    return row && row->hint == place_hint;
}

/* x -= value: of an array all elements change, and its dtype stays; a number is another one. */
OWN_FRAME static kiln_status parse_augmented(kn_value *out, kn_parser *p)
{
    const kn_lexer name = p->word;
    const kn_variable *x = kn_parser_find(p, text_at(p, name.at), name.length);
    kn_index_text *index = x ? kn_calloc(1, sizeof *index) : NULL;
    char operator[4] = "";
    bool is_joined;
    if (!x || !index)
        return x ? kn_error_memory("an index") : refuse_name(p, name.at, name.length);
    kn_value in[] = {x->value, {0}}, changed = in[0];
    kiln_status status = in[0].kind == KN_VALUE_TUPLE && in[0].is_list ? kn_list_value(&in[0], p) : KILN_OK;
    *index = (kn_index_text){.at = name.at, .length = name.length};
    if (status == KILN_OK)
        status = next(p);
    snprintf(operator, sizeof operator, "%.*s", (int)p->word.length - 1, text_at(p, p->word.at));
    const size_t at = p->word.at, length = p->word.length;
    if (status == KILN_OK)
        status = next(p);
    if (status == KILN_OK)
        status = parse_list(&in[1], &is_joined, p);
    const operator_row *row = operators;
    while (strcmp(row->word, operator) != 0 || !row->operation)
        ++row;
    if (status == KILN_OK && kn_parser_is_number(p, &in[0]))
        status = kn_parser_operator(&changed, p, row->operation, in, 2, at, length);
    else if (status == KILN_OK && row->operation == product_name)
        status = kn_parser_refuse(p, at, length, "write x = x @ y");
    else if (status == KILN_OK)
        status = kn_index_change(&changed, p, &in[0], index, operator, & in[1]);
    if (status == KILN_OK)
        status = assign_one(p, &name, &changed);
    kn_free(index);
    *out = changed;
    return status;
}

static kiln_status parse_statement(kn_value *out, bool *is_assignment, kn_parser *p)
{
    kn_lexer targets = p->word;
    bool is_joined;
    int n_targets;
    *is_assignment = true;
    if (is_element_assignment(p))
        return parse_element_assignment(out, p);
    if (is_augmented(p))
        return parse_augmented(out, p);
    kiln_status status = find_targets(is_assignment, &n_targets, p);
    while (status == KILN_OK && *is_assignment && !at(p, "="))
        status = next(p);
    if (status == KILN_OK && *is_assignment)
        status = next(p);
    const struct kn_targets outer = p->targets;
    p->targets = (struct kn_targets){p->word.at, *is_assignment ? n_targets : 0};
    if (status == KILN_OK)
        status = parse_list(out, &is_joined, p);
    p->targets = outer;
    if (status == KILN_OK && p->word.kind != KN_WORD_END && p->word.kind != KN_WORD_LINE)
        return refuse_here(p, at(p, "=")
                                  ? "one assignment a statement was expected, of names alone; == compares"
                                  : "an operator, or the end of the statement, was expected");
    if (status == KILN_OK && *is_assignment)
        status = assign(p, targets, n_targets, out);
    return status;
}

/* Names the result of the last statement after the variables that it reads or assigns. */
static kiln_status add_result(kn_parser *p, const kn_value *value, const kn_lexer *target)
{
    char name[KN_NAME_MAX + 1] = "";
    int node;
    const kn_variable *v = value->variable ? &p->variable[value->variable - 1] : NULL;
    if (target)
        snprintf(name, sizeof name, "%.*s", (int)target->length, target->text + target->at);
    else if (v)
        snprintf(name, sizeof name, "%.*s", (int)v->length, v->name);
    kiln_status status = kn_parser_node(&node, p, value);
    return status == KILN_OK ? kn_graph_add_result(p->graph, node, name[0] ? name : NULL) : status;
}

static kiln_status add_results(kn_parser *p, const kn_value *value, kn_lexer target, bool is_assignment)
{
    const kn_value *item;
    int count = kn_parser_items(&item, p, value);
    kiln_status status = KILN_OK;
    bool names_each = is_assignment && (count == 1 || value->kind == KN_VALUE_TUPLE);
    if (count == 0)
        return kn_parser_refuse(p, value->at, value->length, "a result was expected");
    for (int k = 0; k < count && status == KILN_OK; ++k) {
        status = add_result(p, &item[k], names_each && target.kind == KN_WORD_NAME ? &target : NULL);
        for (int word = 0; word < 2 && names_each && status == KILN_OK && k + 1 < count; ++word)
            status = kn_lexer_next(&target);
    }
    return status;
}

static kiln_status skip_lines(kn_parser *p)
{
    kiln_status status = KILN_OK;
    while (status == KILN_OK && p->word.kind == KN_WORD_LINE)
        status = next(p);
    return status;
}

/* The value of the last statement, which begins at *start. */
static kiln_status parse_statements(kn_value *out, kn_lexer *start, bool *is_assignment, kn_parser *p)
{
    kiln_status status = skip_lines(p);
    *is_assignment = false;
    if (status == KILN_OK && p->word.kind == KN_WORD_END)
        return refuse_here(p, "an expression was expected");
    while (status == KILN_OK && p->word.kind != KN_WORD_END) {
        *start = p->word;
        const int n_given = p->n_given;
        status = parse_statement(out, is_assignment, p);
        if (status == KILN_OK)
            status = skip_lines(p);
        if (status == KILN_OK && p->word.kind != KN_WORD_END && !*is_assignment && p->n_given == n_given)
            return kn_parser_refuse(
                p, out->at, out->length,
                "nothing uses this value: name = ... was expected, or the last statement");
    }
    return status;
}

static kiln_status read_text(kn_value *out, kn_parser *p, const char *text)
{
    const kn_lexer before = p->word;
    kn_lexer start;
    bool is_assignment;
    kiln_status status = kn_lexer_start(&p->word, text);
    if (status == KILN_OK)
        status = parse_statements(out, &start, &is_assignment, p);
    p->word = before;
    return status;
}

static kiln_status parse_all(kn_parser *p)
{
    kn_value value;
    kn_lexer start = p->word;
    bool is_assignment;
    kiln_status status = parse_statements(&value, &start, &is_assignment, p);
    return status == KILN_OK ? add_results(p, &value, start, is_assignment) : status;
}

/* ---- the whole ---- */

static kiln_status add_inputs(kn_parser *p, const char *params)
{
    kiln_status status = kn_graph_set_inputs(p->graph, params);
    for (int k = 0; k < p->graph->n_in && status == KILN_OK; ++k) {
        const kn_value value = {.kind = KN_VALUE_NODE, .node = k};
        status = kn_parser_assign(p, p->graph->input[k], strlen(p->graph->input[k]), &value);
    }
    return status;
}

static kiln_status take_kernels(kn_parser *p, const kiln_kernel_options *o)
{
    if (o->n_kernels < 0 || (o->n_kernels > 0 && !o->kernels))
        return kn_error(KILN_ERROR_INVALID, "options.n_kernels: %d was given, and kernels is %s",
                        o->n_kernels, o->kernels ? "an array" : "NULL");
    for (int k = 0; k < o->n_kernels; ++k)
        if (!o->kernels[k])
            return kn_error(KILN_ERROR_INVALID, "options.kernels[%d] is NULL; a kiln_kernel was expected", k);
    p->kernel = o->kernels;
    p->n_kernels = o->n_kernels;
    return KILN_OK;
}

static kiln_status parse(kn_parser *p, const char *params, const kiln_kernel_options *o)
{
    kiln_status status = take_kernels(p, o);
    if (status == KILN_OK)
        status = add_inputs(p, params);
    if (status == KILN_OK)
        status = kn_lexer_start(&p->word, p->graph->text);
    if (status == KILN_OK)
        status = parse_all(p);
    return status == KILN_OK ? kn_graph_prune(p->graph) : status;
}

kiln_status kn_graph_parse(kn_graph **out, const char *params, const char *text, uint64_t whole_inputs,
                           const kiln_kernel_options *options)
{
    kiln_kernel_options o;
    kn_parser p = {.read = read_text,
                   .parse = kn_graph_parse,
                   .array = kn_list_value,
                   .function_name = kn_function_name};
    kiln_status status = kn_require_texts("expression", text, "params", params, NULL);
    if (status != KILN_OK)
        return kn_error_context("expression");
    status = kn_program_read_options(&o, options);
    if (status == KILN_OK)
        status = kn_graph_create(&p.graph, "expression", text);
    if (status != KILN_OK)
        return status;
    p.flags = o.flags;
    p.graph->whole_inputs = whole_inputs;
    status = parse(&p, params, &o);
    kn_parser_free(&p);
    if (status == KILN_OK)
        *out = p.graph;
    else
        kn_graph_free(p.graph);
    return status;
}
