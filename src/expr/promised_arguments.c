/* Arguments of NumPy's that promise or allow something on which no result depends here: sorts are stable,
 * what is computed is never stored in an input, and inputs that may have equal elements are taken as such. */
#include "expr/promised_arguments.h"

#include <stdio.h>
#include <string.h>

#include "expr/call.h"

/* words: those that NumPy takes beside None; NULL: a truth value. */
static const struct {
    const char *functions, *keyword;
    const char *const *words;
} rows[] = {
    {"argsort sort", "kind", (const char *const[]){"quicksort", "mergesort", "heapsort", "stable", NULL}},
    {"argsort sort", "stable", NULL},
    {"argpartition partition", "kind", (const char *const[]){"introselect", NULL}},
    {"isin", "kind", (const char *const[]){"sort", "table", NULL}},
    {"intersect1d isin setxor1d", "assume_unique", NULL},
    {"median nanmedian nanpercentile nanquantile percentile quantile", "overwrite_input", NULL},
    {"unique", "sorted", NULL},
    {"array asarray astype meshgrid nan_to_num reshape", "copy", NULL},
    {"einsum", "optimize", NULL}};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* True if the list, whose words have blanks between them, has this one. */
static bool has_word(const char *list, const char *word, size_t length)
{
    bool has = false;
    while (*list && !has) {
        const size_t own = strcspn(list, " ");
        has = own == length && memcmp(list, word, length) == 0;
        list += own + (list[own] == ' ');
    }
    return has;
}

int kn_promised_find(const kn_parser *p, const kn_called *c, const kn_value *argument)
{
    const char *key = p->word.text + argument->key_at;
    for (int k = 0; k < ROWS && argument->key_length > 0; ++k)
        if (strlen(rows[k].keyword) == argument->key_length &&
            memcmp(rows[k].keyword, key, argument->key_length) == 0 &&
            has_word(rows[k].functions, c->name, c->name_length))
            return k;
    return -1;
}

kiln_status kn_promised_check(const kn_parser *p, const kn_value *argument, int row)
{
    int64_t truth;
    int word;
    if (argument->kind == KN_VALUE_NONE)
        return KILN_OK;
    return rows[row].words ? kn_call_word(&word, p, argument, rows[row].words, rows[row].keyword)
                           : kn_parser_whole(&truth, p, argument, rows[row].keyword);
}

bool kn_promised_at(int k, const char **functions, const char **keyword)
{
    if (k >= ROWS)
        return false;
    *functions = rows[k].functions;
    *keyword = rows[k].keyword;
    return true;
}
