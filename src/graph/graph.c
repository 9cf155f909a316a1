/* The graph of an expression: its nodes, each there once, and its results. */
#include "graph/graph.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/map.h"
#include "base/str.h"
#include "graph/constant_folding.h"
#include "base/lock.h"
#include "eager/operation.h"
#include "program/assigned.h"
#include "base/caret.h"

/* ---- making and freeing ---- */

static void free_node(kn_node *node)
{
    kn_free(node->in);
    kn_free(node->name);
    kn_free(node->subscript);
    kn_free(node->extent);
    kiln_kernel_free(node->kernel);
    kiln_kernel_free(node->option_group);
}

void kn_graph_free(kn_graph *graph)
{
    if (!graph)
        return;
    for (int k = 0; k < graph->n_nodes; ++k)
        free_node(&graph->node[k]);
    for (int k = 0; k < graph->n_in; ++k)
        kn_free(graph->input[k]);
    for (int k = 0; k < graph->n_out; ++k)
        kn_free(graph->output[k]);
    kn_map_free(graph->known, NULL);
    kn_free(graph->node);
    kn_free(graph->input);
    kn_free(graph->output);
    kn_free(graph->out);
    kn_free(graph->text);
    kn_free(graph->name);
    kn_free(graph);
}

kiln_status kn_graph_create(kn_graph **out, const char *name, const char *text)
{
    kn_graph *graph = kn_calloc(1, sizeof *graph);
    if (!graph)
        return kn_error_memory("a graph");
    graph->name = kn_strdup(name);
    graph->text = kn_strdup(text);
    graph->known = kn_map_create();
    if (!graph->name || !graph->text || !graph->known) {
        kn_graph_free(graph);
        return kn_error_memory("a graph");
    }
    *out = graph;
    return KILN_OK;
}

kiln_status kn_graph_error(const kn_graph *graph, const kn_node *node, kiln_status status, const char *format,
                           ...)
{
    char message[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return graph->text[0]
               ? kn_error_at(status, graph->text, node->at, node->length, "%s: %s", graph->name, message)
               : kn_error(status, "%s: %s", graph->name, message);
}

kiln_status kn_graph_refuse_number(const kn_graph *graph, const kn_node *node)
{
    static const char before[] = "parameter '" KN_COMPUTED_NUMBER "': ";
    char message[200];
    snprintf(message, sizeof message, "%s", kiln_error_message() + sizeof before - 1);
    return kn_graph_error(graph, node, KILN_ERROR_TYPE, "%s", message);
}

/* Makes space for one more item of a list that doubles when it is full. */
static bool grow(void *list, int count, size_t item)
{
    void *old, *grown;
    if (count & (count - 1) || count == 1)
        return true;
    memcpy(&old, list, sizeof old);
    grown = kn_realloc(old, (count ? 2 * (size_t)count : 2) * item);
    if (grown)
        memcpy(list, &grown, sizeof grown);
    return grown != NULL;
}

/* ---- equal nodes ---- */

/* The whole node except its place in the text. */
static void put_key(kn_str *key, const kn_node *node)
{
    const int fields[] = {node->kind,   node->n_in,         node->index,        node->is_operator,
                          node->dtype,  node->n_subscripts, node->has_axes,     node->keepdims,
                          node->n_axes, (int)node->masked,  (int)node->casting, (int)node->order};
    kn_str_append_n(key, (const char *)fields, sizeof fields);
    kn_str_append_n(key, (const char *)node->in, (size_t)node->n_in * sizeof *node->in);
    if (node->kind == KN_NODE_NUMBER) {
        const kiln_arg *number = &node->number;
        kn_str_append_n(key, (const char *)&number->kind, sizeof number->kind);
        kn_str_append_n(key, (const char *)number->value.bytes, sizeof number->value.bytes);
    }
    kn_str_append_n(key, (const char *)&node->kernel, sizeof node->kernel);
    kn_str_append_n(key, (const char *)&node->option_group, sizeof node->option_group);
    for (int k = 0; k < node->n_subscripts; ++k) {
        const int64_t numbers[] = {node->subscript[k].kind, node->subscript[k].start, node->subscript[k].stop,
                                   node->subscript[k].step};
        kn_str_append_n(key, (const char *)numbers, sizeof numbers);
    }
    if (node->extent)
        kn_str_append_n(key, (const char *)node->extent, (size_t)node->n_axes * sizeof *node->extent);
    else
        kn_str_append_n(key, (const char *)node->axis, (size_t)node->n_axes * sizeof *node->axis);
    kn_str_append(key, node->name ? node->name : "");
}

static bool copy_list(void *to, const void *from, size_t bytes)
{
    void *copy = bytes ? kn_malloc(bytes) : NULL;
    if (copy)
        memcpy(copy, from, bytes);
    memcpy(to, &copy, sizeof copy);
    return !bytes || copy;
}

/* A list that could not be copied is NULL, so that the copy can be freed. */
static bool copy_node(kn_node *to, const kn_node *from)
{
    *to = *from;
    bool is_whole = copy_list(&to->in, from->in, (size_t)from->n_in * sizeof *from->in);
    is_whole &=
        copy_list(&to->subscript, from->subscript, (size_t)from->n_subscripts * sizeof *from->subscript);
    is_whole &=
        copy_list(&to->extent, from->extent, from->extent ? (size_t)from->n_axes * sizeof *from->extent : 0);
    is_whole &= copy_list(&to->name, from->name, from->name ? strlen(from->name) + 1 : 0);
    kiln_kernel_retain(to->kernel);
    kiln_kernel_retain(to->option_group);
    return is_whole;
}

static kiln_status append(int *out, kn_graph *graph, const kn_node *node, const kn_str *key)
{
    kn_node copy;
    int number = graph->n_nodes;
    if (number >= KN_MAX_NODES)
        return kn_graph_error(graph, node, KILN_ERROR_INVALID, "more than %d different values are too many",
                              KN_MAX_NODES);
    if (!grow(&graph->node, number, sizeof *graph->node))
        return kn_error_memory("a graph");
    bool is_made = copy_node(&copy, node);
    if (!is_made || (graph->known && !kn_map_put(graph->known, kn_str_text(key), key->length,
                                                 (void *)(intptr_t)(number + 1)))) {
        free_node(&copy);
        return kn_error_memory("a graph");
    }
    graph->node[graph->n_nodes++] = copy;
    graph->has_kernels |= node->kind == KN_NODE_KERNEL;
    *out = number;
    return KILN_OK;
}

static kiln_status find_or_append(int *out, kn_graph *graph, const kn_node *node)
{
    kn_str key = KN_STR_INIT;
    put_key(&key, node);
    kiln_status status = kn_str_status(&key, "a graph");
    intptr_t known =
        status == KILN_OK ? (intptr_t)kn_map_get(graph->known, kn_str_text(&key), key.length) : 0;
    if (known)
        *out = (int)known - 1;
    else if (status == KILN_OK)
        status = append(out, graph, node, &key);
    kn_str_free(&key);
    return status;
}

/* ---- numbers of numbers ---- */

/* True if the node contains no array and no number of a dtype, and no call can give it one. */
static bool may_be_weak(const kn_graph *graph, const kn_node *node)
{
    for (int k = 0; k < node->n_in; ++k) {
        const kn_node *in = &graph->node[node->in[k]];
        bool is_number = in->kind == KN_NODE_INPUT || in->kind == KN_NODE_NUMBER ||
                         in->kind == KN_NODE_EXTENT || in->kind == KN_NODE_NDIM;
        if (!is_number && !in->is_operator)
            return false;
    }
    return true;
}

static bool are_numbers(const kn_graph *graph, const kn_node *node)
{
    bool all = node->n_in == 1 || node->n_in == 2;
    for (int k = 0; k < node->n_in && all; ++k)
        all = graph->node[node->in[k]].kind == KN_NODE_NUMBER;
    return all;
}

static kiln_status fold_constants(kn_node *constant, const kn_graph *graph, const kn_node *node)
{
    kiln_arg in[2], result;
    for (int k = 0; k < node->n_in; ++k)
        in[k] = graph->node[node->in[k]].number;
    const char *why = node->kind == KN_NODE_CAST ? kn_constant_fold_cast(&result, node->dtype, in)
                                                 : kn_constant_fold(&result, node->name, in, node->n_in);
    if (why)
        return kn_graph_error(graph, node, KILN_ERROR_INVALID, "there is no number for %s", why);
    if (result.kind != KILN_ARG_NONE)
        *constant =
            (kn_node){.kind = KN_NODE_NUMBER, .number = result, .at = node->at, .length = node->length};
    return KILN_OK;
}

kiln_status kn_graph_add(int *out, kn_graph *graph, const kn_node *node)
{
    kn_node settled = *node;
    kiln_status status = KILN_OK;
    if (node->kind == KN_NODE_CALL && !may_be_weak(graph, node))
        settled.is_operator = false;
    if (settled.is_operator && are_numbers(graph, node))
        status = fold_constants(&settled, graph, node);
    return status == KILN_OK ? find_or_append(out, graph, &settled) : status;
}

const kn_algorithm *kn_node_algorithm(const kn_node *node)
{
    return node->kind == KN_NODE_KERNEL ? node->kernel->algorithm : NULL;
}

bool kn_node_reads_raw(const kn_node *node, int k)
{
    return node->kind == KN_NODE_KERNEL && node->kernel->program->param[k].is_raw;
}

bool kn_node_reads_extent(const kn_node *node, int k)
{
    const bool reads_behind = node->kind == KN_NODE_RESHAPE || node->kind == KN_NODE_BROADCAST;
    return node->kind == KN_NODE_ARANGE || (reads_behind && k > 0);
}

/* ---- inputs and results ---- */

static bool is_name(const char *name, size_t length)
{
    bool is = length > 0 && length < KN_NAME_MAX && kn_is_name_start(name[0]);
    for (size_t k = 1; k < length && is; ++k)
        is = kn_is_name_char(name[k]);
    return is;
}

static bool is_taken(const kn_graph *graph, const char *name, size_t length)
{
    bool is = false;
    for (int k = 0; k < graph->n_in && !is; ++k)
        is = strlen(graph->input[k]) == length && memcmp(graph->input[k], name, length) == 0;
    for (int k = 0; k < graph->n_out && !is; ++k)
        is = strlen(graph->output[k]) == length && memcmp(graph->output[k], name, length) == 0;
    return is;
}

static kiln_status add_input(kn_graph *graph, const char *names, size_t at, size_t length)
{
    kn_node node = {.kind = KN_NODE_INPUT, .index = graph->n_in};
    const char *what = names[at] ? "a name was expected" : "another name was expected after the comma";
    int number;
    if (!is_name(names + at, length))
        return kn_error_at(KILN_ERROR_SYNTAX, names, at, length ? length : 1, "params: %s",
                           length < KN_NAME_MAX ? what : "a name has at most 63 characters");
    if (is_taken(graph, names + at, length))
        return kn_error_at(KILN_ERROR_INVALID, names, at, length, "params: '%.*s' is there twice",
                           (int)length, names + at);
    if (graph->n_in == KN_MAX_PARAMS)
        return kn_error_at(KILN_ERROR_INVALID, names, at, length, "params: at most %d names were expected",
                           KN_MAX_PARAMS);
    char *name = kn_strndup(names + at, length);
    if (!name || !grow(&graph->input, graph->n_in, sizeof *graph->input)) {
        kn_free(name);
        return kn_error_memory("the name of an input");
    }
    graph->input[graph->n_in++] = name;
    return kn_graph_add(&number, graph, &node);
}

kiln_status kn_graph_set_inputs(kn_graph *graph, const char *names)
{
    static const char blanks[] = " \t\r\n";
    size_t at = strspn(names, blanks);
    kiln_status status = KILN_OK;
    for (bool more = names[at] != 0; more && status == KILN_OK;) {
        size_t length = strcspn(names + at, ", \t\r\n");
        status = add_input(graph, names, at, length);
        at += length;
        at += strspn(names + at, blanks);
        more = names[at] != 0;
        if (status == KILN_OK && more && names[at] != ',')
            return kn_error_at(KILN_ERROR_SYNTAX, names, at, 1, "params: a comma was expected between names");
        at += more;
        at += strspn(names + at, blanks);
    }
    return status;
}

kiln_status kn_graph_add_result(kn_graph *graph, int node, const char *name)
{
    char made[24] = "out";
    size_t length = name ? strnlen(name, KN_NAME_MAX) : 0;
    bool is_usable = name && is_name(name, length) && name[0] != '_' && strncmp(name, "kn_", 3) != 0 &&
                     !is_taken(graph, name, length);
    for (int k = 1; !is_usable && is_taken(graph, made, strlen(made)); ++k)
        snprintf(made, sizeof made, "out%d", k);
    if (graph->n_out == KN_MAX_PARAMS)
        return kn_graph_error(graph, &graph->node[node], KILN_ERROR_INVALID, "there are more results than %d",
                              KN_MAX_PARAMS);
    char *copy = kn_strdup(is_usable ? name : made);
    if (!copy || !grow(&graph->output, graph->n_out, sizeof *graph->output) ||
        !grow(&graph->out, graph->n_out, sizeof *graph->out)) {
        kn_free(copy);
        return kn_error_memory("the name of a result");
    }
    graph->output[graph->n_out] = copy;
    graph->out[graph->n_out++] = node;
    return KILN_OK;
}

/* ---- what results need ---- */

/* *number: the new number of each node; -1 if it is dropped. */
static int find_needed(int *number, const kn_graph *graph)
{
    int count = 0;
    for (int k = 0; k < graph->n_nodes; ++k)
        number[k] = k < graph->n_in ? 0 : -1;
    for (int k = 0; k < graph->n_out; ++k)
        number[graph->out[k]] = 0;
    for (int k = graph->n_nodes; k-- > 0;)
        for (int i = 0; i < graph->node[k].n_in && number[k] == 0; ++i)
            number[graph->node[k].in[i]] = 0;
    for (int k = 0; k < graph->n_nodes; ++k)
        number[k] = number[k] == 0 ? count++ : -1;
    return count;
}

kiln_status kn_graph_prune(kn_graph *graph)
{
    size_t bytes = ((size_t)graph->n_nodes + 1) * sizeof(int);
    int *number = kn_malloc(bytes);
    if (!number)
        return kn_error_memory("a graph");
    int count = find_needed(number, graph);
    graph->has_kernels = false;
    for (int k = 0; k < graph->n_nodes; ++k) {
        kn_node *node = &graph->node[k];
        for (int i = 0; i < node->n_in; ++i)
            node->in[i] = number[node->in[i]];
        if (number[k] < 0)
            free_node(node);
        else
            graph->node[number[k]] = *node;
        graph->has_kernels |= number[k] >= 0 && node->kind == KN_NODE_KERNEL;
    }
    for (int k = 0; k < graph->n_out; ++k)
        graph->out[k] = number[graph->out[k]];
    graph->n_nodes = count;
    kn_map_free(graph->known, NULL);
    graph->known = NULL;
    kn_free(number);
    return KILN_OK;
}

/* ---- results ---- */

static bool is_read_elsewhere(const kn_graph *graph, int result)
{
    int node = graph->out[result];
    bool is = node < graph->n_in;
    for (int n = 0; n < graph->n_nodes && !is; ++n)
        for (int k = 0; k < graph->node[n].n_in; ++k)
            is = is || graph->node[n].in[k] == node;
    for (int j = 0; j < result; ++j)
        is = is || graph->out[j] == node;
    return is;
}

/* *out: one of the definitions of this name may leave its output unassigned. */
static kiln_status find_left_by_name(bool *out, const kn_node *node)
{
    kn_param param[KN_MAX_PARAMS];
    const kiln_operation *d;
    kiln_status status = KILN_OK;
    uint64_t left = 0;
    int n_in, n_out;
    kn_lock_take(KN_LOCK_OPERATIONS);
    for (int k = 0; (d = kn_operation_at(k)) != NULL && status == KILN_OK; ++k) {
        const char *text = d->reduce ? d->post : d->map;
        if (strcmp(d->name, node->name) != 0 || !text)
            continue;
        status = kn_operation_params(param, &n_in, &n_out, d);
        if (status == KILN_OK)
            status = kn_text_find_left(&left, text, param + n_in, n_out);
        *out |= left >> node->index & 1;
    }
    kn_lock_give(KN_LOCK_OPERATIONS);
    return status;
}

/* True if elements of the node may be left unassigned. A given array's old contents are no result. */
static kiln_status find_left(bool *out, const kn_node *node)
{
    *out = node->kind == KN_NODE_KERNEL && node->kernel->program->left_outputs >> node->index & 1;
    return node->kind == KN_NODE_CALL ? find_left_by_name(out, node) : KILN_OK;
}

kiln_status kn_graph_separate_results(kn_graph *graph)
{
    kiln_status status = KILN_OK;
    for (int j = 0; j < graph->n_out && status == KILN_OK; ++j) {
        int from = graph->out[j];
        kn_subscript whole = {.kind = KN_SUBSCRIPT_REST};
        const kn_node same = {.kind = KN_NODE_SLICE,
                              .n_in = 1,
                              .in = &from,
                              .subscript = &whole,
                              .n_subscripts = 1,
                              .order = graph->node[from].order};
        const kn_str no_key = KN_STR_INIT;
        bool is_left = false;
        status = find_left(&is_left, &graph->node[from]);
        if (status == KILN_OK && (is_left || is_read_elsewhere(graph, j)))
            status = append(&graph->out[j], graph, &same, &no_key);
    }
    return status;
}
