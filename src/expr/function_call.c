/* Functions of expressions called by name: the call is written as an expression, whose kernel is remembered
 * by its text. Arrays and numbers by value are its inputs; whole numbers, words, dtypes and axes stand in it.
 * A call like an earlier one finds the kernel by its row and these (function_memo.h). */
#include <kiln/expression.h>

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/sized.h"
#include "base/str.h"
#include "expr/function_memo.h"
#include "expr/graph_views.h"
#include "expr/inline.h"
#include "expr/names.h"
#include "kernel/kernel.h"
#include "kernel/sort.h"
#include "types/dtype.h"

/* A call as an expression. */
typedef struct written {
    kn_str params, text, key;
    kiln_arg in[KN_MAX_PARAMS];
    int n_in;
    bool is_first; /* no argument has been written yet */
} written;

/* Why there is no row of this name with so many arguments. */
static kiln_status refuse_row(const char *name, int n_in)
{
    kn_str expected = KN_STR_INIT;
    const kn_function_row *row;
    for (int k = 0; (row = kn_function_row_at(k)) != NULL; ++k)
        if (strcmp(row->row->name, name) == 0)
            kn_str_printf(&expected, "%s%d", expected.length > 0 ? " or " : "", row->n_in);
    kiln_status status = expected.length > 0
                             ? kn_error(KILN_ERROR_INVALID, "%s: n_in: %d was given; %s expected", name, n_in,
                                        kn_str_text(&expected))
                             : kn_error(KILN_ERROR_NOT_FOUND,
                                        "there is no function '%s'; one of kiln/ops.h was expected", name);
    kn_str_free(&expected);
    return status;
}

static void begin_argument(written *w, const char *name)
{
    kn_str_printf(&w->text, "%s%s=", w->is_first ? "" : ", ", name);
    w->is_first = false;
}

static kiln_status write_whole(written *w, const char *function, const char *name, const kiln_arg *in)
{
    if (in->kind == KILN_ARG_WEAK_INT && in->value.i == KILN_USUAL)
        return KILN_OK;
    if (in->kind != KILN_ARG_WEAK_INT && in->kind != KILN_ARG_WEAK_BOOL)
        return kn_error(KILN_ERROR_INVALID, "%s: %s: a whole number by value was expected (kiln_arg_int)",
                        function, name);
    begin_argument(w, name);
    kn_str_printf(&w->text, "%lld", (long long)in->value.i);
    return KILN_OK;
}

static kiln_status write_dtype(written *w, const char *function, const kiln_arg *in)
{
    if (in->kind == KILN_ARG_WEAK_INT && in->value.i == KILN_DTYPE_NONE)
        return KILN_OK;
    const kn_dtype_info *info = in->kind == KILN_ARG_WEAK_INT && in->value.i == (kiln_dtype)in->value.i
                                    ? kn_dtype_info_of((kiln_dtype)in->value.i)
                                    : NULL;
    if (!info)
        return kn_error(KILN_ERROR_INVALID,
                        "%s: dtype: a kiln_dtype as a whole number was expected (kiln_arg_int)", function);
    begin_argument(w, "dtype");
    kn_str_append(&w->text, info->name);
    return KILN_OK;
}

/* number: the place of a list's item; -1: the input is none. */
static kiln_status write_name(written *w, const char *function, const char *name, int number,
                              const kiln_arg *in)
{
    char digits[16] = "";
    if (number >= 0)
        snprintf(digits, sizeof digits, "%d", number);
    if (w->n_in == KN_MAX_PARAMS - 1)
        return kn_error(KILN_ERROR_INVALID, "%s: %s: more than %d arrays were given", function, name,
                        KN_MAX_PARAMS - 1);
    kn_str_printf(&w->text, "%s%s", name, digits);
    kn_str_printf(&w->params, "%s%s%s", w->n_in > 0 ? ", " : "", name, digits);
    w->in[w->n_in++] = *in;
    return KILN_OK;
}

static kiln_status write_input(written *w, const char *function, const char *name, const kiln_arg *in)
{
    if (in->kind == KILN_ARG_NONE)
        return KILN_OK;
    begin_argument(w, name);
    return write_name(w, function, name, -1, in);
}

/* A list is a struct of its items. */
static kiln_status count_items(size_t *out, const char *function, const char *name, const kiln_arg *in,
                               size_t size)
{
    *out = in->kind == KILN_ARG_STRUCT ? in->value.pod.size / size : 0;
    return in->kind == KILN_ARG_STRUCT && (in->value.pod.data || *out == 0) && in->value.pod.size % size == 0
               ? KILN_OK
               : kn_error(KILN_ERROR_INVALID, "%s: %s: a list was expected (kiln_arg_struct of its items)",
                          function, name);
}

static kiln_status write_arrays(written *w, const char *function, const char *name, const kiln_arg *in)
{
    const kiln_arg *item = in->value.pod.data;
    size_t count;
    if (in->kind == KILN_ARG_ARRAY) /* what lies along its first axis */
        return write_input(w, function, name, in);
    kiln_status status = count_items(&count, function, name, in, sizeof *item);
    if (status != KILN_OK)
        return status;
    begin_argument(w, name);
    kn_str_append(&w->text, "[");
    for (size_t k = 0; k < count && status == KILN_OK; ++k) {
        kn_str_append(&w->text, k > 0 ? ", " : "");
        status = write_name(w, function, name, (int)k, &item[k]);
    }
    kn_str_append(&w->text, "]");
    return status;
}

/* One number is no list. */
static kiln_status write_wholes(written *w, const char *function, const char *name, const kiln_arg *in)
{
    size_t count;
    if (in->kind == KILN_ARG_WEAK_INT || in->kind == KILN_ARG_NONE)
        return in->kind == KILN_ARG_NONE ? KILN_OK : write_whole(w, function, name, in);
    kiln_status status = count_items(&count, function, name, in, sizeof(int64_t));
    if (status != KILN_OK)
        return status;
    begin_argument(w, name);
    kn_str_append(&w->text, "[");
    for (size_t k = 0; k < count; ++k)
        kn_str_printf(&w->text, "%s%lld", k > 0 ? ", " : "",
                      (long long)((const int64_t *)in->value.pod.data)[k]);
    kn_str_append(&w->text, "]");
    return KILN_OK;
}

/* A word is a struct of its letters. */
static kiln_status write_word(written *w, const char *function, const char *name, const kiln_arg *in)
{
    const char *letters = in->value.pod.data;
    if (in->kind == KILN_ARG_NONE || (in->kind == KILN_ARG_STRUCT && !letters))
        return KILN_OK;
    const size_t length = in->kind == KILN_ARG_STRUCT ? in->value.pod.size : 0;
    for (size_t k = 0; k < length; ++k)
        if (!letters[k] || (!isalnum((unsigned char)letters[k]) && !strchr("_,.-> ", letters[k])))
            return kn_error(KILN_ERROR_INVALID,
                            "%s: %s: a word was expected; it has another character than "
                            "letters, digits and _ , . - >",
                            function, name);
    if (length == 0)
        return kn_error(KILN_ERROR_INVALID, "%s: %s: a word was expected (kiln_arg_struct of its letters)",
                        function, name);
    begin_argument(w, name);
    kn_str_printf(&w->text, "'%.*s'", (int)length, letters);
    return KILN_OK;
}

/* Axes that a row does not have are written, too, so that the function's own error refuses them. is_over_all:
 * without axes it is all of them, where the function would take another. */
static void write_axes(written *w, const kiln_call_options *o, bool is_over_all)
{
    if (!o->axes && is_over_all) {
        begin_argument(w, "axis");
        kn_str_append(&w->text, "None");
    }
    if (o->axes) {
        begin_argument(w, "axis");
        kn_str_append(&w->text, o->n_axes == 1 ? "" : "(");
        for (int a = 0; a < o->n_axes; ++a)
            kn_str_printf(&w->text, "%s%d", a > 0 ? ", " : "", o->axes[a]);
        kn_str_append(&w->text, o->n_axes == 1 ? "" : ")");
    }
    if (o->flags & KILN_CALL_KEEPDIMS) {
        begin_argument(w, "keepdims");
        kn_str_append(&w->text, "1");
    }
}

static kiln_status write_argument(written *w, const kn_function_row *row, int k, const kiln_arg *in)
{
    const char *function = row->row->name, *name = row->of.name[k];
    switch (row->role[k]) {
    case KN_ROLE_VALUE:
        return write_input(w, function, name, in);
    case KN_ROLE_DTYPE:
        return write_dtype(w, function, in);
    case KN_ROLE_WHOLE:
        return write_whole(w, function, name, in);
    case KN_ROLE_WORD:
        return write_word(w, function, name, in);
    case KN_ROLE_ARRAYS:
        return write_arrays(w, function, name, in);
    case KN_ROLE_WHOLES:
        return write_wholes(w, function, name, in);
    case KN_ROLE_OPTION:
        break;
    }
    return KILN_OK;
}

static kiln_status write_call(written *w, const kn_function_row *row, const kiln_arg *in,
                              const kiln_call_options *o)
{
    kiln_status status = KILN_OK;
    kn_str_printf(&w->text, "%s(", row->row->name);
    for (int k = 0, given = 0; k < row->of.count && status == KILN_OK; ++k)
        if (row->role[k] != KN_ROLE_OPTION)
            status = write_argument(w, row, k, &in[given++]);
    write_axes(w, o, false);
    kn_str_append(&w->text, ")");
    kn_str_printf(&w->key, "function %s: %s", kn_str_text(&w->params), kn_str_text(&w->text));
    if (status == KILN_OK)
        status = kn_str_status(&w->params, "the inputs of a function");
    return status == KILN_OK ? kn_str_status(&w->text, "the call of a function") : status;
}

static kiln_status make(kiln_kernel **out, const void *of)
{
    const written *w = of;
    return kiln_expression_create(out, kn_str_text(&w->params), kn_str_text(&w->text), NULL);
}

/* Views cost nothing, where the arrays have storage and no array is given for a result. */
static bool can_be_views(kiln_array *const *out, int n_out, const kn_graph *graph, const kiln_arg *in,
                         const kiln_call_options *o)
{
    bool can = out && n_out == graph->n_out && o->order == KILN_ORDER_C;
    for (int j = 0; j < n_out && can; ++j)
        can = !out[j];
    for (int k = 0; k < graph->n_in && can; ++k)
        can = in[k].kind == KILN_ARG_ARRAY && in[k].value.array && !in[k].value.array->recorder;
    return can;
}

static kiln_status call_kernel(kiln_array **out, int n_out, kiln_kernel *kernel, const kn_graph *views,
                               const kiln_arg *in, int n_in, kiln_call_options *o)
{
    if (views && n_in == views->n_in && can_be_views(out, n_out, views, in, o))
        return kn_graph_take_views(out, views, in);
    o->axes = NULL;
    o->n_axes = 0;
    o->flags &= ~(unsigned)KILN_CALL_KEEPDIMS;
    return kiln_kernel_call(kernel, out, n_out, in, n_in, o);
}

/* A call that is not remembered yet. */
static kiln_status call_first(kiln_array **out, int n_out, const kn_function_row *row, const kiln_arg *in,
                              kiln_call_options *o, const kn_function_call *call)
{
    written w = {.params = KN_STR_INIT, .text = KN_STR_INIT, .key = KN_STR_INIT, .is_first = true};
    const kn_graph *views = NULL;
    kiln_kernel *kernel = NULL;
    kiln_status status = write_call(&w, row, in, o);
    if (status == KILN_OK)
        status = kn_kernel_remembered(&kernel, &w.key, make, &w);
    if (status == KILN_OK) {
        const kn_expression *e = kn_expression_of(kernel);
        views = !e->other && kn_graph_is_views(e->graph) ? e->graph : NULL;
        kn_function_remember(call, kernel, views);
        status = call_kernel(out, n_out, kernel, views, w.in, w.n_in, o);
    }
    kiln_kernel_free(kernel);
    kn_str_free(&w.params);
    kn_str_free(&w.text);
    kn_str_free(&w.key);
    return status;
}

kiln_status kiln_function_call(kiln_array **out, int n_out, const char *name, const kiln_arg *in, int n_in,
                               const kiln_call_options *options)
{
    kn_function_call call;
    kiln_call_options o;
    const kn_graph *views;
    if (!name || (n_in > 0 && !in))
        return kn_error(KILN_ERROR_INVALID, "kiln_function_call: %s is NULL", name ? "in" : "name");
    kiln_status status = kn_call_options_read(&o, options);
    if (status != KILN_OK)
        return status;
    if (!kn_function_row_at(0))
        return kn_error_memory("the table of functions");
    const kn_function_row *row = kn_function_row_find(name, n_in);
    if (!row)
        return refuse_row(name, n_in);
    kn_function_call_read(&call, row, in, &o);
    kiln_kernel *kernel = kn_function_find(&views, &call);
    return kernel ? call_kernel(out, n_out, kernel, views, call.in, call.n_in, &o)
                  : call_first(out, n_out, row, in, &o, &call);
}

/* ---- operations with a mask, a dtype, a casting or an initial number ---- */

static kiln_status check_counts(const char *name, kiln_array *const *out, int n_out, const kiln_arg *in,
                                int n_in)
{
    if (!name || !out || (n_in > 0 && !in))
        return kn_error(KILN_ERROR_INVALID, "kiln_apply_with: %s is NULL",
                        !name  ? "name"
                        : !out ? "out"
                               : "in");
    return n_in >= 0 && n_in <= KN_MAX_PARAMS / 2 && n_out > 0 && n_out <= KN_MAX_PARAMS / 4
               ? KILN_OK
               : kn_error(KILN_ERROR_INVALID,
                          "%s: %d inputs and %d results were given; 0 to %d and 1 to %d were expected", name,
                          n_in, n_out, KN_MAX_PARAMS / 2, KN_MAX_PARAMS / 4);
}

static kiln_status write_casting(written *w, const char *name, const char *casting)
{
    if (!casting)
        return KILN_OK;
    for (int k = 0; k <= KN_CASTING_NO; ++k)
        if (strcmp(casting, kn_casting_name((kn_casting)k)) == 0) {
            begin_argument(w, "casting");
            kn_str_printf(&w->text, "'%s'", casting);
            return KILN_OK;
        }
    return kn_error(KILN_ERROR_INVALID,
                    "%s: casting: \"%s\" was given; \"no\", \"equiv\", \"safe\", \"same_kind\" or "
                    "\"unsafe\" was expected",
                    name, casting);
}

/* The arrays of results, of which a mask leaves elements as they are. */
static kiln_status write_outs(written *w, const char *name, kiln_array *const *out, int n_out)
{
    kiln_status status = KILN_OK;
    begin_argument(w, "out");
    kn_str_append(&w->text, n_out > 1 ? "(" : "");
    for (int j = 0; j < n_out && status == KILN_OK; ++j) {
        const kiln_arg given = kiln_arg_array(out[j]);
        kn_str_append(&w->text, j > 0 ? ", " : "");
        if (out[j])
            status = write_name(w, name, "z", j, &given);
        else
            kn_str_append(&w->text, "None");
    }
    kn_str_append(&w->text, n_out > 1 ? ")" : "");
    return status;
}

static kiln_status write_with(written *w, const char *name, kiln_array *const *out, int n_out,
                              const kiln_apply_options *with, bool is_elementwise)
{
    const kiln_arg dtype = kiln_arg_int(with->dtype);
    kiln_status status = write_dtype(w, name, &dtype);
    if (status == KILN_OK)
        status = write_casting(w, name, with->casting);
    if (status == KILN_OK && with->where)
        status = write_input(w, name, "where", with->where);
    if (status == KILN_OK && with->initial)
        status = write_input(w, name, "initial", with->initial);
    bool has_out = false;
    for (int j = 0; j < n_out; ++j)
        has_out = has_out || out[j];
    if (status == KILN_OK && is_elementwise && has_out && (with->where || with->casting))
        status = write_outs(w, name, out, n_out);
    return status;
}

static kiln_status apply_written(written *w, kiln_array **out, int n_out, kiln_call_options *o,
                                 bool is_over_all)
{
    kiln_kernel *kernel = NULL;
    write_axes(w, o, is_over_all);
    kn_str_append(&w->text, ")");
    kn_str_printf(&w->key, "applied %s: %s", kn_str_text(&w->params), kn_str_text(&w->text));
    kiln_status status = kn_str_status(&w->params, "the inputs of a function");
    if (status == KILN_OK)
        status = kn_str_status(&w->text, "the call of a function");
    if (status == KILN_OK)
        status = kn_kernel_remembered(&kernel, &w->key, make, w);
    if (status == KILN_OK)
        status = call_kernel(out, n_out, kernel, NULL, w->in, w->n_in, o);
    kiln_kernel_free(kernel);
    return status;
}

/* An operation, or, with a point between them, one and a method of ufuncs. */
static kiln_status find_applied(kn_known_operation *out, const char *name, bool *is_method)
{
    *is_method = kn_is_method(name, strlen(name));
    return kn_find_operation(out, name, *is_method ? strcspn(name, ".") : strlen(name))
               ? KILN_OK
               : kn_error(KILN_ERROR_NOT_FOUND, "there is no operation '%s'", name);
}

kiln_status kiln_apply_with(kiln_array **out, int n_out, const char *name, const kiln_arg *in, int n_in,
                            const kiln_apply_options *given, const kiln_call_options *options)
{
    kiln_apply_options with = KILN_APPLY_OPTIONS_INIT;
    kn_known_operation operation;
    kiln_call_options o;
    written w = {.params = KN_STR_INIT, .text = KN_STR_INIT, .key = KN_STR_INIT, .is_first = true};
    bool is_method = false;
    kiln_status status = check_counts(name, out, n_out, in, n_in);
    if (status == KILN_OK)
        status = find_applied(&operation, name, &is_method);
    if (!given && !is_method)
        return kiln_apply(out, n_out, name, in, n_in, options);
    if (status == KILN_OK && given)
        status = kn_sized_read(&with, sizeof with, given, "with", "KILN_APPLY_OPTIONS_INIT");
    if (status == KILN_OK)
        status = kn_call_options_read(&o, options);
    kn_str_printf(&w.text, "%s(", status == KILN_OK ? name : "");
    for (int k = 0; k < n_in && status == KILN_OK; ++k) {
        kn_str_append(&w.text, k > 0 ? ", " : "");
        status = write_name(&w, name, "a", k, &in[k]);
        w.is_first = false;
    }
    if (status == KILN_OK)
        status = write_with(&w, name, out, n_out, &with, !operation.is_reduction && !is_method);
    if (status == KILN_OK)
        status = apply_written(&w, out, n_out, &o, is_method && strcmp(strchr(name, '.'), ".reduce") == 0);
    kn_str_free(&w.params);
    kn_str_free(&w.text);
    kn_str_free(&w.key);
    return status;
}
