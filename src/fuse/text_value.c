/* The text of each use: the operations of a group. */
#include "fuse/text_parts.h"

#include <stdio.h>
#include <string.h>

#include "fuse/number_text.h"
#include "program/assigned.h"
#include "base/caret.h"

/* The dtype of a node's operand k. */
static kiln_dtype operand_dtype(const kn_text_writer *w, const kn_use *u, int k)
{
    const kn_typed *t = kn_text_typed_of(w, u);
    return kn_text_node_of(w, u)->kind == KN_NODE_KERNEL ? t->param[k] : t->variant.dtype[k];
}

/* True if the operation's result is rounded before it is read. */
static bool is_rounded(const kn_text_writer *w, const kn_op *op, int index)
{
    return w->options && w->options->flags & KILN_KERNEL_ROUND_EACH &&
           kn_dtype_is_half(op->declared[op->n_in + index]);
}

static const char *input_of(kn_text_writer *w, const kn_use *u, const kn_op *op, int k)
{
    kn_str text = KN_STR_INIT;
    const kn_bound bound = kn_lowered_bound(w->state, u->node, k);
    kn_op_put_input(&text, op, k, kn_text_operand(w, u->in[k], operand_dtype(w, u, k), bound));
    return kn_text_keep(w, &text);
}

/* The names of an operation's parameters: operands, `to` for output number `index`, made-up ones for
 * unused outputs. left: bits of the outputs that start as zero. */
static const char **names_of(kn_text_writer *w, const kn_use *u, const kn_op *op, const char *to, int index,
                             uint64_t left, kn_str *declared)
{
    const char **name = kn_text_take(w, (size_t)(op->n_in + op->n_out) * sizeof *name);
    for (int k = 0; name && k < op->n_in; ++k)
        name[k] = op->reduce && !kn_is_number(w->state, kn_text_node_of(w, u)->in[k]) && to
                      ? NULL
                      : input_of(w, u, op, k);
    for (int j = 0; name && j < op->n_out; ++j) {
        char *other = j == index || !to ? NULL : kn_text_take(w, KN_TEXT_NAME);
        name[op->n_in + j] = to;
        if (!other)
            continue;
        snprintf(other, KN_TEXT_NAME, "%s_%d", to, j);
        name[op->n_in + j] = other;
        kn_str_printf(declared, "[[maybe_unused]] %s %s%s;\n", kn_op_output_type(op, op->n_in + j), other,
                      left >> j & 1 ? " = {}" : "");
    }
    return name;
}

bool kn_text_is_quotient(const kn_text_writer *w, const kn_use *u)
{
    const kn_op *op = w->op[u->number];
    if (!w->group->is_settled || !op || op->reduce || strcmp(op->name, "divide") != 0 || op->n_in != 2 ||
        is_rounded(w, op, 0))
        return false;
    return u->is_all && u->in[0]->is_all && !u->in[1]->is_all && u->in[1]->level > 0 &&
           op->dtype[0] == KILN_FLOAT32 && op->dtype[1] == KILN_FLOAT32 && op->dtype[2] == KILN_FLOAT32 &&
           kn_computed_dtype(kn_text_typed_of(w, u->in[1])->dtype) == KILN_FLOAT32;
}

void kn_text_find_divisors(kn_text_writer *w)
{
    memset(w->divisor, 0, (size_t)w->group->n_uses);
    for (const kn_use *u = w->group->first_use; u; u = u->after)
        if (w->needed[u->number] && !w->given[u->number][0] && kn_text_is_quotient(w, u))
            w->divisor[u->in[1]->number] = true;
}

/* Appends "const float t7 = (float)(float16)(x0 * t3);" up to the text; the caller appends the text and a
 * bracket. */
static void put_rounding(kn_str *out, const kn_op *op, int index)
{
    kn_str_printf(out, " (float)(%s)(", kn_dtype_info_of(op->declared[op->n_in + index])->c_name);
}

/* A block that assigns the node's output. */
static void put_block(kn_text_writer *w, kn_str *out, const kn_use *u, const char *text, const char *a)
{
    const kn_op *op = w->op[u->number];
    int index = kn_text_node_of(w, u)->index, in_space = w->space_of[u->number];
    bool rounds = is_rounded(w, op, index);
    char to[KN_TEXT_NAME];
    kn_str others = KN_STR_INIT;
    uint64_t left = 0;
    if (kn_text_find_left(&left, text, op->param + op->n_in, op->n_out) != KILN_OK)
        out->failed = true;
    snprintf(to, sizeof to, rounds ? "t%d_h" : "t%d", u->number);
    const char **name = names_of(w, u, op, to, index, left, &others);
    if (name) {
        kn_str_printf(out, "%s %s%s;\n%s{\n", kn_op_output_type(op, op->n_in + index), to,
                      left >> index & 1 ? " = {}" : "", kn_str_text(&others));
        if (in_space >= 0)
            kn_str_printf(out, "using namespace f%d;\n", in_space);
        kn_op_put(out, op, text, name, a, NULL);
        kn_str_append(out, ";\n}\n");
    }
    if (rounds) {
        kn_str_printf(out, "const float %s =", w->name[u->number]);
        put_rounding(out, op, index);
        kn_str_printf(out, "%s);\n", to);
    }
    out->failed |= others.failed;
    kn_str_free(&others);
}

/* Appends an output of an operation: "const float t7 = x0 * t3;", or a block. a: the reduced value; NULL:
 * none. */
static void put_operation(kn_text_writer *w, kn_str *out, const kn_use *u, const char *text, const char *a)
{
    const kn_op *op = w->op[u->number];
    int index = kn_text_node_of(w, u)->index;
    const char *expression = w->space_of[u->number] < 0 ? kn_op_expression(op, text) : NULL;
    bool is_quotient = kn_text_is_quotient(w, u) && w->divides[u->in[1]->number];
    bool rounds = is_rounded(w, op, index);
    kn_text_name_use(w, u, 't');
    if (!is_quotient && !expression) {
        put_block(w, out, u, text, a);
        return;
    }
    const char *to = w->name[u->number], **name = names_of(w, u, op, to, index, 0, NULL);
    if (name && is_quotient) {
        kn_str_printf(out, "const float %s = %s * q%d * p%d;\n", to, name[0], u->in[1]->number,
                      u->in[1]->number);
    } else if (name) {
        kn_str_printf(out, "const %s %s =", kn_computed_name(op->dtype[op->n_in + index]), to);
        if (rounds)
            put_rounding(out, op, index);
        kn_op_put(out, op, expression, name, a, NULL);
        kn_str_append(out, rounds ? ");\n" : ";\n");
    }
}

/* The unrounded source of a 16-bit float: rounded to float32 before, it would be rounded twice. */
static const char *source_of_half(kn_text_writer *w, const kn_use *from, kiln_dtype half)
{
    const kn_typed *t = kn_text_typed_of(w, from);
    const char *text = kn_text_operand(w, from, t->is_weak ? half : t->dtype, KN_NO_BOUND);
    kn_str real = KN_STR_INIT;
    if (t->is_weak || kn_dtype_info_of(t->dtype)->kind != KN_KIND_COMPLEX)
        return text;
    kn_str_printf(&real, "%s.re", text);
    return kn_text_keep(w, &real);
}

static void put_conversion(kn_text_writer *w, kn_str *out, const kn_use *u)
{
    const kn_typed *t = kn_text_typed_of(w, u);
    bool is_half = kn_dtype_is_half(t->dtype);
    const char *from = is_half ? source_of_half(w, u->in[0], t->dtype)
                               : kn_text_operand(w, u->in[0], t->dtype, KN_NO_BOUND),
               *name = kn_dtype_info_of(t->dtype)->c_name;
    kn_text_name_use(w, u, 't');
    kn_str_printf(out, "const %s %s = ", kn_computed_name(t->dtype), w->name[u->number]);
    if (is_half) /* the explicit cast rounds */
        kn_str_printf(out, "(float)(%s)%s;\n", name, from);
    else
        kn_str_printf(out, "%s;\n", from);
}

const kn_text_reduction *kn_text_reduction_of(const kn_text_writer *w, const kn_use *u)
{
    for (const kn_text_reduction *f = w->reductions; f; f = f->next)
        if (f->use == u || (f->use->level == u->level && f->op->reduce && w->op[u->number] == f->op &&
                            memcmp(f->use->in, u->in, (size_t)u->n_in * sizeof *u->in) == 0))
            return f;
    return NULL;
}

int kn_text_reductions_of_level(const kn_text_writer *w, int level)
{
    int count = 0;
    for (const kn_text_reduction *f = w->reductions; f; f = f->next)
        count += f->level == level;
    return count;
}

/* The number of elements of a reduction, as the operation table writes it: a quotient of two sizes. Here
 * the call knows the number. */
#define COUNT "(_in_ind.size() / _out_ind.size())"

static char *replace_count(kn_text_writer *w, const char *text)
{
    const kn_group *g = w->group;
    size_t capacity = strlen(text) + KN_TEXT_NAME;
    char *copy = kn_text_take(w, capacity);
    const char *at = strstr(text, COUNT);
    int64_t count = 1;
    for (int a = 0; a < g->ndim; ++a)
        count *= g->reduced >> a & 1 ? g->extent[a] : 1;
    if (!copy)
        return NULL;
    if (!at) {
        memcpy(copy, text, strlen(text) + 1);
        return copy;
    }
    const kn_text_param p = {.input = -1, .number = kiln_arg_int(count), .dtype = KILN_INT64};
    snprintf(copy, capacity, "%.*s%s%s", (int)(at - text), text, kn_text_param_name(w, &p),
             at + strlen(COUNT));
    return copy;
}

static void put_reduction_result(kn_text_writer *w, kn_str *out, const kn_use *u)
{
    const kn_text_reduction *f = kn_text_reduction_of(w, u);
    char *a = kn_text_take(w, KN_TEXT_NAME);
    if (!f || !a)
        return;
    snprintf(a, KN_TEXT_NAME, kn_text_reductions_of_level(w, f->level) > 1 ? "r%d.f%d" : "r%d", f->level - 1,
             f->index);
    char *post = replace_count(w, f->op->post);
    if (post)
        put_operation(w, out, u, post, a);
}

void kn_text_put_mapped(kn_text_writer *w, kn_str *out, const kn_text_reduction *f, const char *text,
                        const char *to, bool is_declared)
{
    kn_str type = KN_STR_INIT;
    char name[KN_TEXT_NAME];
    snprintf(name, KN_TEXT_NAME, "f%d", f->space);
    kn_op_put_value_type(&type, f->op, name);
    const char **names = names_of(w, f->use, f->op, NULL, 0, 0, NULL);
    if (names) {
        if (!is_declared)
            kn_str_printf(out, "%s %s;\n", kn_str_text(&type), to);
        if (f->space >= 0)
            kn_str_printf(out, "{ using namespace %s; ", name);
        kn_str_printf(out, f->op->value == KILN_DTYPE_NONE ? "%s = " : "%s = static_cast<%s>(", to,
                      kn_str_text(&type));
        kn_op_put(out, f->op, text, names, NULL, NULL);
        kn_str_append(out, f->op->value == KILN_DTYPE_NONE ? ";" : ");");
        kn_str_append(out, f->space >= 0 ? " }\n" : "\n");
    }
    out->failed |= type.failed;
    kn_str_free(&type);
}

void kn_text_put_reduction(const kn_text_reduction *f, kn_str *out, bool is_identity, const char *a,
                           const char *b, const char *follows)
{
    bool is_dtype = f->op->value != KILN_DTYPE_NONE;
    if (f->space >= 0 && is_identity)
        kn_str_printf(out, "f%d::none()", f->space);
    else if (f->space >= 0)
        kn_str_printf(out, "f%d::fold(%s, %s, %s)", f->space, a, b, follows);
    else {
        kn_str_printf(out, is_dtype ? "static_cast<%s>(" : "(",
                      is_dtype ? kn_computed_name(f->op->value) : "");
        kn_op_put(out, f->op, is_identity ? f->op->identity : f->op->reduce, NULL, a, b);
        kn_str_append(out, ")");
    }
}

/* The text of a reduction without a loop, for one element of its result. */
static const char *unrolled_text(kn_text_writer *w, const kn_use *u, const char *text, int element)
{
    kn_str out = KN_STR_INIT;
    size_t length;
    int64_t count = 1;
    for (int a = 0; a < kn_text_typed_of(w, u)->ndim; ++a)
        count *= kn_text_typed_of(w, u)->shape[a];
    const char *ratio = strstr(text, COUNT);
    for (kn_token_kind kind; (kind = kn_token_scan(text, &length)) != KN_TOKEN_END; text += length) {
        bool is_name = kind == KN_TOKEN_NAME;
        bool is_in = is_name && length == 7 && memcmp(text, "_in_ind", length) == 0;
        if (text == ratio) {
            kn_str_printf(&out, "%d", u->n_unrolled);
            length = strlen(COUNT);
        } else if (is_name && length == 2 && memcmp(text, "_J", length) == 0) {
            kn_str_printf(&out, "%dll", element);
        } else if (is_in || (is_name && length == 8 && memcmp(text, "_out_ind", length) == 0)) {
            const kn_text_param size = {.input = -1,
                                        .number = kiln_arg_int(is_in ? count * u->n_unrolled : count),
                                        .dtype = KILN_INT64};
            if (!w->has_sizes)
                kn_str_append(&w->preamble, "struct kn_single {\n    long long count;\n"
                                            "    __device__ long long size() const { return count; }\n};\n");
            w->has_sizes = true;
            kn_str_printf(&out, "kn_single{%s}", kn_text_param_name(w, &size));
        } else {
            kn_str_append_n(&out, text, length);
        }
    }
    return kn_text_keep(w, &out);
}

/* A reduction without a loop: the elements of its result one after the other. */
static void put_unrolled(kn_text_writer *w, kn_str *out, const kn_use *u)
{
    const kn_op *op = w->op[u->number];
    const int n_in = u->n_in / u->n_unrolled;
    char all[KN_TEXT_NAME], next[KN_TEXT_NAME];
    snprintf(all, KN_TEXT_NAME, "t%d_v", u->number);
    for (int e = 0; e < u->n_unrolled; ++e) {
        kn_use element = *u;
        element.in = u->in + (ptrdiff_t)e * n_in;
        element.n_in = n_in;
        const kn_text_reduction one = {.use = &element, .op = op, .space = w->space_of[u->number]};
        snprintf(next, KN_TEXT_NAME, "t%d_v%d", u->number, e);
        kn_text_put_mapped(w, out, &one, unrolled_text(w, u, op->map, e), e == 0 ? all : next, false);
        if (e == 0)
            continue;
        kn_str_printf(out, "%s = ", all);
        kn_text_put_reduction(&one, out, false, all, next, "true");
        kn_str_append(out, ";\n");
    }
    put_operation(w, out, u, unrolled_text(w, u, op->post, 0), all);
}

/* A cast that changes nothing: to the dtype that the operand has. 16-bit floats have it where they are read
 * from memory; computed ones are float32, which the cast rounds. */
static bool is_cast_to_itself(const kn_text_writer *w, const kn_use *u)
{
    const kn_typed *to = kn_text_typed_of(w, u);
    const kn_node *n = kn_text_node_of(w, u);
    const bool is_cast = n->kind == KN_NODE_CAST || (n->kind == KN_NODE_LIKE && n->index == KN_LIKE_DTYPES);
    if (!is_cast || kn_is_number(w->state, u->in[0]->node))
        return false;
    const kn_typed *from = kn_text_typed_of(w, u->in[0]);
    bool is_read = u->in[0]->leaf && u->in[0]->leaf->kind != KN_BASE_RANGE;
    return !from->is_weak && from->dtype == to->dtype && (is_read || !kn_dtype_is_half(to->dtype));
}

void kn_text_put_use(kn_text_writer *w, kn_str *out, const kn_use *u)
{
    const kn_node *n = kn_text_node_of(w, u);
    if (w->given[u->number][0]) {
        memcpy(w->name[u->number], w->given[u->number], KN_TEXT_NAME);
    } else if (u->leaf && u->leaf->kind == KN_BASE_RANGE) {
        kn_text_put_range(w, out, u);
    } else if (u->leaf) {
        const kn_text_param p = {
            .leaf = u->leaf, .input = -1, .dtype = kn_computed_dtype(w->state->typed[u->leaf->node].dtype)};
        snprintf(w->name[u->number], KN_TEXT_NAME, "%s", kn_text_param_name(w, &p));
    } else if (kn_is_number(w->state, u->node)) {
        return;
    } else if (u->is_own_reduction) {
        put_reduction_result(w, out, u);
    } else if (u->n_unrolled > 0) {
        put_unrolled(w, out, u);
    } else if (n->kind == KN_NODE_CALL || n->kind == KN_NODE_KERNEL) {
        put_operation(w, out, u, w->op[u->number]->map, NULL);
    } else if (is_cast_to_itself(w, u)) {
        memcpy(w->name[u->number], w->name[u->in[0]->number], KN_TEXT_NAME);
    } else if (n->kind == KN_NODE_CAST || (n->kind == KN_NODE_LIKE && n->index != 0) ||
               kn_is_number(w->state, n->in[0])) { /* or a view of a number, which has no name */
        put_conversion(w, out, u);
    } else {
        memcpy(w->name[u->number], w->name[u->in[0]->number], KN_TEXT_NAME);
    }
}
