/* Functions of expressions that are random numbers: each is a node of a kernel, whose inputs are a key, the
 * numbers of elements, and the distribution's parameters. */
#include "expr/call.h"

#include <math.h>

#include "base/error.h"
#include "kernel/random.h"
#include "kernel/root.h"

enum { KEY, AT, PARAMS, ENDPOINT = PARAMS + KN_LAW_PARAMS, DTYPE, SLOTS };

/* Names in the order of the slots; endpoint belongs to integers alone. */
static int list_names(const char **name, int *slot, const kn_law *law)
{
    int n = 0;
    for (int s = KEY; s < SLOTS; ++s) {
        const bool is_there = s < PARAMS || s == DTYPE ||
                              (s == ENDPOINT ? law->sort == KN_LAW_INTEGERS : s - PARAMS < law->n_params);
        if (!is_there)
            continue;
        name[n] = s == KEY        ? "key"
                  : s == AT       ? "i"
                  : s == ENDPOINT ? "endpoint"
                  : s == DTYPE    ? "dtype"
                                  : law->param[s - PARAMS].name;
        slot[n++] = s;
    }
    return n;
}

static kiln_status read_options(kn_law_use *use, const kn_parser *p, const kn_value *value)
{
    int64_t closed = 0;
    kiln_status status = KILN_OK;
    use->dtype = kn_law_usual_dtype(use->law);
    if (kn_call_is_given(&value[ENDPOINT]))
        status = kn_parser_whole(&closed, p, &value[ENDPOINT], "endpoint");
    use->is_closed = closed != 0;
    if (status != KILN_OK || !kn_call_is_given(&value[DTYPE]))
        return status;
    if (value[DTYPE].kind != KN_VALUE_DTYPE)
        return kn_parser_refuse(p, value[DTYPE].at, value[DTYPE].length,
                                "dtype: a dtype was expected: float32");
    use->dtype = value[DTYPE].dtype;
    return kn_call_check(p, &value[DTYPE], kn_law_check_dtype(use->law, use->dtype));
}

/* A parameter that was given; numbers are looked at. */
static kiln_status read_param(kiln_arg *number, kn_value *value, kn_parser *p, const kn_called *c,
                              const kn_law_use *use, int k)
{
    const kn_law_param *param = &use->law->param[k];
    kiln_status status = KILN_OK;
    *number = kiln_arg_none();
    number->kind = KILN_ARG_ARRAY;
    if (!kn_call_is_given(value)) {
        if (isnan(param->usual))
            return kn_call_need(p, c, value, param->name);
        return kn_parser_number(value, p, kiln_arg_int((int64_t)param->usual), c->at, c->length);
    }
    if (kn_parser_is_number(p, value)) {
        *number = p->graph->node[value->node].number;
        status = kn_call_check(p, value, kn_law_check(use, k, number));
    }
    return status;
}

/* NAME(key, i, its parameters, dtype=...) */
kiln_status kn_call_random(kn_value *out, kn_parser *p, const kn_called *c, const struct kn_law *law)
{
    const char *name[SLOTS];
    int slot[SLOTS], in[PARAMS + KN_LAW_PARAMS];
    kn_value given[SLOTS] = {{0}}, value[SLOTS] = {{0}};
    kiln_arg number[KN_LAW_PARAMS];
    kn_law_use use = {.law = law};
    kiln_kernel *kernel = NULL;
    const int n = list_names(name, slot, law);
    kiln_status status = kn_call_match(given, p, c, name, n, PARAMS + law->n_params, 0);
    for (int k = 0; k < n; ++k)
        value[slot[k]] = given[k];
    for (int s = KEY; s <= AT && status == KILN_OK; ++s)
        status = kn_call_need(p, c, &value[s], name[s]);
    if (status == KILN_OK)
        status = read_options(&use, p, value);
    for (int k = 0; k < law->n_params && status == KILN_OK; ++k)
        status = read_param(&number[k], &value[PARAMS + k], p, c, &use, k);
    if (status == KILN_OK)
        status =
            kn_call_check(p, &(kn_value){.at = c->at, .length = c->length}, kn_law_check_range(&use, number));
    for (int s = KEY; s < PARAMS + law->n_params && status == KILN_OK; ++s)
        status = kn_parser_node(&in[s], p, &value[s]);
    if (status == KILN_OK)
        status = kn_law_kernel(&kernel, &use);
    return status == KILN_OK ? kn_call_add_kernel(out, p, c, kernel, in, PARAMS + law->n_params, 1) : status;
}

/* permuted_index(key, i, n): the element at i of a permutation of n things. */
kiln_status kn_call_permuted_index(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"key", "i", "n"};
    enum { COUNT = sizeof names / sizeof names[0] };
    kn_value slot[COUNT] = {{0}};
    kiln_kernel *kernel = NULL;
    int in[COUNT];
    kiln_status status = kn_call_match(slot, p, c, names, COUNT, COUNT, COUNT);
    for (int k = 0; k < COUNT && status == KILN_OK; ++k)
        status = kn_parser_node(&in[k], p, &slot[k]);
    if (status == KILN_OK)
        status = kn_permuted_kernel(&kernel);
    return status == KILN_OK ? kn_call_add_kernel(out, p, c, kernel, in, COUNT, 1) : status;
}

/* root_of(cov): multivariate_normal's text calls it. */
kiln_status kn_call_root(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"cov"};
    kn_value slot = {0};
    kiln_kernel *kernel = NULL;
    int in;
    kiln_status status = kn_call_match(&slot, p, c, names, 1, 1, 1);
    if (status == KILN_OK)
        status = kn_parser_node(&in, p, &slot);
    if (status == KILN_OK)
        status = kn_root_find(&kernel);
    return status == KILN_OK ? kn_call_add_kernel(out, p, c, kernel, &in, 1, 1) : status;
}
