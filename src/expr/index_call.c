/* x[...] called with a list of indices: it is written as an expression, whose kernel is remembered by its
 * text; arrays of the index are its inputs. */
#include <kiln/convenience.h>
#include <kiln/expression.h>
#include <kiln/index.h>

#include <string.h>

#include "array/array.h"
#include "base/error.h"
#include "base/str.h"
#include "expr/indexing.h"
#include "kernel/kernel.h"
#include "kernel/sort.h"

typedef struct written {
    kn_str params, text, key;
    kiln_arg in[KN_INDEX_ARRAYS + 2];
    int n_in, n_arrays;
} written;

static void free_written(written *w)
{
    kn_str_free(&w->params);
    kn_str_free(&w->text);
    kn_str_free(&w->key);
}

static void write_bound(kn_str *text, int64_t bound)
{
    if (bound != KILN_SLICE_NONE)
        kn_str_printf(text, "%lld", (long long)bound);
}

static kiln_status write_array(written *w, const char *function, const kiln_index *index, int k)
{
    if (!index->array)
        return kn_error(KILN_ERROR_INVALID, "%s: index[%d].array is NULL; an array was expected", function,
                        k);
    if (w->n_arrays == KN_INDEX_ARRAYS)
        return kn_error(KILN_ERROR_INVALID, "%s: index has more than %d arrays", function, KN_INDEX_ARRAYS);
    kn_str_printf(&w->text, "i%d", w->n_arrays);
    kn_str_printf(&w->params, ", i%d", w->n_arrays++);
    w->in[w->n_in++] = kiln_arg_array(index->array);
    return KILN_OK;
}

static kiln_status write_item(written *w, const char *function, const kiln_index *index, int k)
{
    switch (index->kind) {
    case KILN_INDEX_NUMBER:
        kn_str_printf(&w->text, "%lld", (long long)index->start);
        return KILN_OK;
    case KILN_INDEX_NEW_AXIS:
        kn_str_append(&w->text, "None");
        return KILN_OK;
    case KILN_INDEX_REST:
        kn_str_append(&w->text, "...");
        return KILN_OK;
    case KILN_INDEX_ARRAY:
        return write_array(w, function, index, k);
    case KILN_INDEX_SLICE:
        write_bound(&w->text, index->start);
        kn_str_append(&w->text, ":");
        write_bound(&w->text, index->stop);
        kn_str_append(&w->text, ":");
        write_bound(&w->text, index->step);
        return KILN_OK;
    }
    return kn_error(KILN_ERROR_INVALID, "%s: index[%d].kind: %d was given; KILN_INDEX_* was expected",
                    function, k, (int)index->kind);
}

static kiln_status check(const char *function, const void *array, const kiln_index *index, int n_index)
{
    if (!array)
        return kn_error(KILN_ERROR_INVALID, "%s: array is NULL", function);
    if (n_index < 0 || n_index > KN_INDEX_ITEMS || (n_index > 0 && !index))
        return kn_error(KILN_ERROR_INVALID,
                        "%s: n_index: %d was given, and index is %s; 0 to %d were expected", function,
                        n_index, index ? "an array" : "NULL", KN_INDEX_ITEMS);
    return KILN_OK;
}

/* The items, with commas between them. */
static kiln_status write_items(written *w, const char *function, const kiln_index *index, int n_index)
{
    kiln_status status = KILN_OK;
    for (int k = 0; k < n_index && status == KILN_OK; ++k) {
        kn_str_append(&w->text, k > 0 ? ", " : "");
        status = write_item(w, function, &index[k], k);
    }
    return status;
}

static bool has_arrays(const kiln_index *index, int n_index)
{
    bool has = false;
    for (int k = 0; k < n_index; ++k)
        has = has || index[k].kind == KILN_INDEX_ARRAY;
    return has;
}

static kiln_status make(kiln_kernel **out, const void *of)
{
    const written *w = of;
    return kiln_expression_create(out, kn_str_text(&w->params), kn_str_text(&w->text), NULL);
}

static kiln_status call(kiln_array **out, written *w)
{
    kiln_kernel *kernel = NULL;
    kn_str_printf(&w->key, "index %s: %s", kn_str_text(&w->params), kn_str_text(&w->text));
    kiln_status status = kn_str_status(&w->params, "the inputs of an index");
    if (status == KILN_OK)
        status = kn_str_status(&w->text, "the text of an index");
    if (status == KILN_OK)
        status = kn_kernel_remembered(&kernel, &w->key, make, w);
    if (status == KILN_OK)
        status = kiln_kernel_call(kernel, out, 1, w->in, w->n_in, NULL);
    kiln_kernel_free(kernel);
    return status;
}

static kiln_status get_view(kiln_array **out, const kiln_array *array, const kiln_index *index, int n_index)
{
    written w = {.params = KN_STR_INIT, .text = KN_STR_INIT, .key = KN_STR_INIT};
    kiln_status status = write_items(&w, "kiln_array_get", index, n_index);
    if (status == KILN_OK)
        status = kn_str_status(&w.text, "the text of an index");
    if (status == KILN_OK)
        status = kiln_array_index(out, array, kn_str_text(&w.text));
    free_written(&w);
    return status;
}

kiln_status kiln_array_get(kiln_array **out, const kiln_array *array, const kiln_index *index, int n_index)
{
    static const char function[] = "kiln_array_get";
    written w = {.params = KN_STR_INIT, .text = KN_STR_INIT, .key = KN_STR_INIT, .n_in = 1};
    kiln_array *result = NULL;
    kiln_status status = check(function, array, index, n_index);
    if (status == KILN_OK && !out)
        return kn_error(KILN_ERROR_INVALID, "%s: out is NULL", function);
    if (status != KILN_OK || !has_arrays(index, n_index))
        return status == KILN_OK ? get_view(out, array, index, n_index) : status;
    w.in[0] = kiln_arg_array((kiln_array *)(uintptr_t)array);
    kn_str_append(&w.params, "x");
    kn_str_append(&w.text, "x[");
    status = write_items(&w, function, index, n_index);
    kn_str_append(&w.text, "]");
    if (status == KILN_OK)
        status = call(&result, &w);
    if (status == KILN_OK)
        *out = result;
    free_written(&w);
    return status;
}

/* x[...] = v, or with an operator. The array of a trace stands for the result from then on. */
static kiln_status assign(kiln_array *array, const char *function, const kiln_index *index, int n_index,
                          const char *op, kiln_arg value)
{
    written w = {.params = KN_STR_INIT, .text = KN_STR_INIT, .key = KN_STR_INIT, .n_in = 2};
    kiln_array *result = array->recorder ? NULL : array;
    w.in[0] = kiln_arg_array(array);
    w.in[1] = value;
    kn_str_append(&w.params, "x, v");
    kn_str_append(&w.text, "x[");
    kiln_status status = write_items(&w, function, index, n_index);
    kn_str_printf(&w.text, n_index > 0 ? "] %s= v" : "...] %s= v", op);
    if (status == KILN_OK)
        status = call(&result, &w);
    if (status == KILN_OK && array->recorder) {
        const int32_t node = array->node;
        array->node = result->node;
        result->node = node;
        kiln_array_free(result);
    }
    free_written(&w);
    return status;
}

kiln_status kiln_array_set(kiln_array *array, const kiln_index *index, int n_index, kiln_arg value)
{
    static const char function[] = "kiln_array_set";
    kiln_array *view = NULL;
    kiln_status status = check(function, array, index, n_index);
    if (status != KILN_OK || array->recorder || has_arrays(index, n_index))
        return status == KILN_OK ? assign(array, function, index, n_index, "", value) : status;
    status = get_view(&view, array, index, n_index);
    if (status == KILN_OK)
        status = value.kind == KILN_ARG_ARRAY ? kiln_array_assign(view, value.value.array)
                                              : kiln_map(&view, 1, "T v", "T y", "y = v", &value, 1);
    kiln_array_free(view);
    return status;
}

kiln_status kiln_array_update(kiln_array *array, const kiln_index *index, int n_index, const char *op,
                              kiln_arg value)
{
    static const char function[] = "kiln_array_update", *const ops[] = {"+",  "-", "*", "/", "//", "%",
                                                                        "**", "&", "|", "^", "<<", ">>"};
    bool is_known = false;
    kiln_status status = check(function, array, index, n_index);
    for (size_t k = 0; op && k < sizeof ops / sizeof ops[0]; ++k)
        is_known = is_known || strcmp(op, ops[k]) == 0;
    if (status == KILN_OK && !is_known)
        return kn_error(KILN_ERROR_INVALID,
                        "%s: op: %s was given; one of + - * / // %% ** & | ^ << >> was expected", function,
                        op ? op : "NULL");
    return status == KILN_OK ? assign(array, function, index, n_index, op, value) : status;
}
