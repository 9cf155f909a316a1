/* Functions of expressions that sort: each is a node of a kernel that is remembered, whose axis is its own. */
#include "expr/call.h"

#include "kernel/sort.h"

/* sort(a, axis=-1): an axis of None means all elements, in C order, along one axis. */
static kiln_status read_one_axis(int *axis, kn_value *of, kn_parser *p, const kn_called *c,
                                 const kn_value *given)
{
    int64_t all = -1;
    int in;
    kn_node flat = {.kind = KN_NODE_RESHAPE,
                    .n_in = 1,
                    .in = &in,
                    .n_axes = 1,
                    .extent = &all,
                    .at = c->at,
                    .length = c->length};
    *axis = -1;
    if (given->kind == KN_VALUE_ABSENT)
        return KILN_OK;
    if (given->kind != KN_VALUE_NONE)
        return kn_call_axis(axis, p, given);
    kiln_status status = kn_parser_node(&in, p, of);
    return status == KILN_OK ? kn_parser_add(of, p, &flat) : status;
}

/* Adds the results of a kernel, which is freed: one value, or a tuple. */
static kiln_status add_kernel(kn_value *out, kn_parser *p, const kn_called *c, kiln_kernel *kernel,
                              const int *in, int n_in)
{
    const int n_out = kernel->program->n_out;
    int read[KN_MAX_PARAMS];
    kn_node node = {
        .kind = KN_NODE_KERNEL, .n_in = n_in, .in = read, .kernel = kernel, .at = c->at, .length = c->length};
    kn_value one,
        tuple = {
            .kind = KN_VALUE_TUPLE, .first = p->n_items, .count = n_out, .at = c->at, .length = c->length};
    kiln_status status = KILN_OK;
    for (int k = 0; k < n_in; ++k)
        read[k] = in[k];
    for (int j = 0; j < n_out && status == KILN_OK; ++j) {
        node.index = j;
        status = kn_parser_add(&one, p, &node);
        if (status == KILN_OK && n_out > 1)
            status = kn_parser_push_item(p, &one);
    }
    *out = n_out > 1 ? tuple : one;
    kiln_kernel_free(kernel);
    return status;
}

static kiln_status add_sort(kn_value *out, kn_parser *p, const kn_called *c, kn_named_sort *sort,
                            kn_value *of, const kn_value *axis)
{
    kiln_kernel *kernel = NULL;
    int in = 0;
    sort->along.has_axis = true;
    kiln_status status = read_one_axis(&sort->along.axis, of, p, c, axis);
    if (status == KILN_OK)
        status = kn_parser_node(&in, p, of);
    if (status == KILN_OK)
        status = kn_sort_find(&kernel, sort);
    return status == KILN_OK ? add_kernel(out, p, c, kernel, &in, 1) : status;
}

static kiln_status read_flag(bool *out, const kn_parser *p, const kn_value *value, const char *name)
{
    int64_t number = *out;
    kiln_status status = value->kind == KN_VALUE_ABSENT ? KILN_OK : kn_parser_whole(&number, p, value, name);
    *out = number != 0;
    return status;
}

/* sort(a, axis=-1, descending=False), argsort */
kiln_status kn_call_sort(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"a", "axis", "descending"};
    kn_named_sort sort = {.name = (kn_sort_name)c->which, .along.count = KN_SORT_ALL};
    kn_value slot[3] = {{0}};
    bool is_down = false;
    kiln_status status = kn_call_match(slot, p, c, names, 3, 2);
    if (status == KILN_OK)
        status = kn_call_need(p, c, &slot[0], names[0]);
    if (status == KILN_OK)
        status = read_flag(&is_down, p, &slot[2], names[2]);
    sort.flags = is_down ? KILN_SORT_DESCENDING : 0;
    return status == KILN_OK ? add_sort(out, p, c, &sort, &slot[0], &slot[1]) : status;
}

/* partition(a, kth, axis=-1), argpartition; kth: a number, or several */
kiln_status kn_call_partition(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"a", "kth", "axis"};
    kn_named_sort sort = {.name = (kn_sort_name)c->which, .along.count = KN_SORT_ALL};
    kn_value slot[3] = {{0}};
    const kn_value *item;
    kiln_status status = kn_call_match(slot, p, c, names, 3, 3);
    for (int k = 0; k < 2 && status == KILN_OK; ++k)
        status = kn_call_need(p, c, &slot[k], names[k]);
    int count = status == KILN_OK ? kn_parser_items(&item, p, &slot[1]) : 0;
    for (int k = 0; k < count && status == KILN_OK; ++k) {
        int64_t kth = 0;
        status = kn_parser_whole(&kth, p, &item[k], names[1]);
        kn_sort_set_place(&sort, kth);
    }
    return status == KILN_OK ? add_sort(out, p, c, &sort, &slot[0], &slot[2]) : status;
}

/* topk(x, k, axis=-1, largest=True): values and indices */
kiln_status kn_call_topk(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"x", "k", "axis", "largest"};
    kn_named_sort sort = {.name = KN_TOPK};
    kn_value slot[4] = {{0}};
    int64_t count = 0;
    bool is_down = true;
    kiln_status status = kn_call_match(slot, p, c, names, 4, 4);
    for (int k = 0; k < 2 && status == KILN_OK; ++k)
        status = kn_call_need(p, c, &slot[k], names[k]);
    if (status == KILN_OK)
        status = kn_parser_whole(&count, p, &slot[1], names[1]);
    if (status == KILN_OK && count < 0)
        return kn_parser_refuse(p, slot[1].at, slot[1].length,
                                "k: %lld was given; a number from 0 on was expected", (long long)count);
    if (status == KILN_OK)
        status = read_flag(&is_down, p, &slot[3], names[3]);
    if (status == KILN_OK)
        status = kn_sort_set_count(&sort, count);
    sort.flags = is_down ? KILN_SORT_DESCENDING : 0;
    return status == KILN_OK ? add_sort(out, p, c, &sort, &slot[0], &slot[2]) : status;
}

/* lexsort((least, ..., most important), axis=-1) */
kiln_status kn_call_lexsort(kn_value *out, kn_parser *p, const kn_called *c)
{
    static const char *const names[] = {"keys", "axis"};
    kn_value slot[2] = {{0}};
    const kn_value *item;
    kiln_kernel *kernel = NULL;
    int axis = -1, in[KN_MAX_PARAMS];
    kiln_status status = kn_call_match(slot, p, c, names, 2, 2);
    if (status == KILN_OK)
        status = kn_call_need(p, c, &slot[0], names[0]);
    if (status == KILN_OK && slot[0].kind != KN_VALUE_TUPLE)
        return kn_parser_refuse(
            p, slot[0].at, slot[0].length,
            "lexsort: keys: several in brackets were expected, the most important one last: "
            "lexsort((b, a))");
    if (status == KILN_OK && slot[1].kind != KN_VALUE_ABSENT)
        status = kn_call_axis(&axis, p, &slot[1]);
    int count = status == KILN_OK ? kn_parser_items(&item, p, &slot[0]) : 0;
    if (status == KILN_OK)
        status = kn_lexsort_find(&kernel, count, axis);
    for (int k = 0; k < count && status == KILN_OK; ++k)
        status = kn_parser_node(&in[k], p, &item[k]);
    if (status == KILN_OK)
        return add_kernel(out, p, c, kernel, in, count);
    kiln_kernel_free(kernel);
    return status;
}
