#include "fuse/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "fuse/op.h"
#include "types/caret.h"
#include "types/number.h"

/* Names in the texts, a letter and a number: x arrays and s scalars that are read, y results, t what is computed,
 * e what later stages have from earlier ones, v what is reduced, r what came of it, c what is computed of that once
 * for all reduced elements, q and p what they are divided by, w structs, f namespaces. */
enum { NAME = 32 };

/* One reduction of the group; several of a level are folded as one struct. */
typedef struct fold {
    struct fold *next;
    const kn_use *use;
    const kn_op *op;
    int level, index; /* among those of its level */
    int space;        /* of the namespace of its preamble; -1: none */
} fold;

/* A namespace: the preamble of an operation's variant. */
typedef struct space {
    struct space *next;
    const kn_op *op;
    const kn_node *node;
    const kn_typed *typed;
    int number;
} space;

typedef struct stage {
    kn_str body, reads, gives, identity;
    char label[NAME];
    kn_stage_kind kind;
    kn_over over;
} stage;

typedef struct writer {
    const kn_group *group;
    const kn_lower_state *state;
    const kiln_kernel_options *options;
    kn_text *out;
    int room;
    kiln_status status;
    kn_str in, outs, values, preamble;
    stage stage[KN_MAX_STAGES];
    int n_stages;
    const kn_op **op; /* by node */
    int *space_of;    /* by node */
    fold *folds;
    space *spaces;
    int n_spaces;
    bool has_sizes;     /* the preamble declares kn_single */
    char (*name)[NAME]; /* by use, in the stage that is being written; "": not yet */
    char (*kept)[NAME]; /* by use: the value that an earlier stage gave; "": none */
    int *first;         /* by use: the first stage that needs it, -1 none; */
    bool *again;        /* a later one does too */
    bool *divides;      /* by use: its reciprocal has been given */
    bool *needed;       /* by use, in this stage */
    uint64_t reads;     /* parameters (bits) that this stage mentions */
} writer;

static const kn_node *node_of(const writer *w, const kn_use *u)
{
    return &w->state->graph->node[u->node];
}

static const kn_typed *typed_of(const writer *w, const kn_use *u)
{
    return &w->state->typed[u->node];
}

static void *take(writer *w, size_t size)
{
    void *out = kn_arena_take(w->state->arena, size);
    if (!out && w->status == KILN_OK)
        w->status = kn_error_memory(size, "a lowered expression");
    return out;
}

/* ---- parameters ---- */

static int add_param(writer *w, const kn_text_param *p)
{
    kn_text *t = w->out;
    for (int k = 0; k < t->n_in; ++k)
        if (t->in[k].leaf == p->leaf && t->in[k].input == p->input && t->in[k].dtype == p->dtype &&
            memcmp(&t->in[k].number, &p->number, sizeof p->number) == 0)
            return k;
    if (t->n_in + w->group->n_roots >= KN_MAX_PARAMS) {
        if (w->status == KILN_OK)
            w->status = kn_error(KILN_ERROR_UNSUPPORTED,
                                 "%s: a kernel of the expression needs more than %d parameters",
                                 w->state->graph->name, KN_MAX_PARAMS);
        return 0;
    }
    t->in[t->n_in] = *p;
    kn_str_printf(&w->in, "%s%s %c%d", t->n_in > 0 ? ", " : "", kiln_dtype_name(p->dtype),
                  p->leaf ? 'x' : 's', t->n_in);
    return t->n_in++;
}

/* "x3": its name, where the stage that is being written mentions it. */
static const char *mention(writer *w, const kn_text_param *p)
{
    char *name = take(w, NAME);
    int k = add_param(w, p);
    if (!name)
        return "";
    w->reads |= UINT64_C(1) << k;
    snprintf(name, NAME, "%c%d", p->leaf ? 'x' : 's', k);
    return name;
}

/* ---- numbers and casts ---- */

static void put_float(kn_str *out, double value, bool is_narrow)
{
    char text[40];
    if (isnan(value) || isinf(value)) {
        kn_str_printf(out, "(%s%s)", value < 0 ? "-" : "", isnan(value) ? "NAN" : "INFINITY");
        return;
    }
    snprintf(text, sizeof text, is_narrow ? "%.9g" : "%.17g", value);
    bool is_whole = !strpbrk(text, ".e");
    kn_str_printf(out, "%s%s%s%s%s", text[0] == '-' ? "(" : "", text, is_whole ? ".0" : "",
                  is_narrow ? "f" : "", text[0] == '-' ? ")" : "");
}

static void put_integer(kn_str *out, const kiln_arg *number, kiln_dtype dtype)
{
    bool is_plain = dtype == KILN_INT32 || dtype == KILN_INT64;
    if (!is_plain)
        kn_str_printf(out, "((%s)", kn_computed_name(dtype));
    if (number->kind == KILN_ARG_WEAK_UINT)
        kn_str_printf(out, "%lluull", (unsigned long long)number->value.u);
    else if (number->value.i == INT64_MIN)
        kn_str_append(out, "(-9223372036854775807ll - 1)");
    else
        kn_str_printf(out, "%s%lld%s%s", number->value.i < 0 ? "(" : "", (long long)number->value.i,
                      dtype == KILN_INT32 ? "" : "ll", number->value.i < 0 ? ")" : "");
    kn_str_append(out, is_plain ? "" : ")");
}

static double real_of(const kiln_arg *number)
{
    switch (number->kind) {
    case KILN_ARG_WEAK_BOOL:
    case KILN_ARG_WEAK_INT:
        return (double)number->value.i;
    case KILN_ARG_WEAK_UINT:
        return (double)number->value.u;
    default:
        return number->value.d[0];
    }
}

static void put_number(kn_str *out, const kiln_arg *number, kiln_dtype dtype)
{
    const kn_dtype_info *info = kn_dtype_info_of(kn_computed_dtype(dtype));
    double im = number->kind == KILN_ARG_WEAK_COMPLEX ? number->value.d[1] : 0;
    bool is_integer = number->kind == KILN_ARG_WEAK_INT || number->kind == KILN_ARG_WEAK_UINT ||
                      number->kind == KILN_ARG_WEAK_BOOL;
    if (info->kind == KN_KIND_BOOL) {
        kn_str_append(out, real_of(number) != 0 || im != 0 ? "true" : "false");
    } else if (info->kind == KN_KIND_COMPLEX) {
        kn_str_printf(out, "%s(", info->c_name);
        put_float(out, real_of(number), info->size == 8);
        kn_str_append(out, ", ");
        put_float(out, im, info->size == 8);
        kn_str_append(out, ")");
    } else if (info->kind == KN_KIND_FLOAT || !is_integer) {
        put_float(out, real_of(number), info->size == 4);
    } else {
        put_integer(out, number, dtype);
    }
}

static void put_cast(kn_str *out, const char *name, kiln_dtype from_dtype, kiln_dtype to_dtype)
{
    const kn_dtype_info *from = kn_dtype_info_of(kn_computed_dtype(from_dtype)),
                        *to = kn_dtype_info_of(kn_computed_dtype(to_dtype));
    if (from == to)
        kn_str_append(out, name);
    else if (to->kind == KN_KIND_BOOL && from->kind == KN_KIND_COMPLEX)
        kn_str_printf(out, "(%s.re != 0 || %s.im != 0)", name, name);
    else if (to->kind == KN_KIND_BOOL)
        kn_str_printf(out, "(%s != 0)", name);
    else if (from->kind == KN_KIND_COMPLEX && to->kind != KN_KIND_COMPLEX)
        kn_str_printf(out, "((%s)%s.re)", to->c_name, name);
    else if (to->kind == KN_KIND_COMPLEX)
        kn_str_printf(out, "%s(%s)", to->c_name, name);
    else
        kn_str_printf(out, "((%s)%s)", to->c_name, name);
}

/* ---- what is read ---- */

/* Axes of the program's space that are neighbours in its order, and along which an index counts up as they are counted:
 * by `step` from one element to the next. */
typedef struct counted {
    int64_t step, inside, count; /* elements along the axes inside of these, along these */
    bool is_one;                 /* there are no other axes along which it moves */
    bool is_outermost;
} counted;

/* Of a range, among the axes in `among`. */
static counted count_along(const writer *w, const kn_leaf *leaf, uint64_t among)
{
    const kn_group *g = w->group;
    counted c = {0, 1, 1, true, true};
    bool is_over = false;
    for (int k = g->ndim; k-- > 0;) {
        int axis = w->out->order[k];
        int64_t stride = leaf->stride[axis], extent = g->extent[axis];
        if (extent == 1)
            continue;
        if (!(among >> axis & 1)) {
            c.is_one = c.is_one && stride == 0;
        } else if (stride == 0 && c.step == 0) {
            c.inside *= extent;
        } else if (stride == 0) {
            is_over = true;
            c.is_outermost = false;
        } else {
            c.step = c.step == 0 ? stride : c.step;
            c.is_one = c.is_one && !is_over && stride == c.step * c.count;
            c.count *= extent;
        }
    }
    return c;
}

/* "s7": a whole number that the shapes say. */
static const char *whole(writer *w, int64_t number)
{
    const kn_text_param p = {NULL, -1, kiln_arg_int(number), KILN_INT64};
    return mention(w, &p);
}

/* The index of a range's element: of that among the reduced axes, of the program's own index, or of the index along
 * each axis, which takes more divisions. */
static void put_range_index(writer *w, kn_str *out, const kn_leaf *leaf)
{
    const kn_group *g = w->group;
    const counted row = count_along(w, leaf, g->reduced), own = count_along(w, leaf, ~UINT64_C(0));
    bool is_of_row = g->is_settled && row.is_one && row.step != 0;
    const counted *c = is_of_row ? &row : &own;
    const char *index = is_of_row ? "_J" : "i";
    if (!c->is_one) {
        kn_str_printf(out, "(%s", whole(w, leaf->shift));
        for (int k = 0; k < g->ndim; ++k)
            if (leaf->stride[w->out->order[k]] != 0)
                kn_str_printf(out, " + %s * _ind.get()[%d]", whole(w, leaf->stride[w->out->order[k]]), k);
        kn_str_append(out, ")");
        return;
    }
    bool is_plain = leaf->shift == 0 && c->step == 1;
    kn_str_append(out, "(");
    if (!is_plain)
        kn_str_printf(out, "%s + %s * ", whole(w, leaf->shift), whole(w, c->step));
    if (c->step == 0)
        kn_str_append(out, "0");
    else if (c->inside == 1 && c->is_outermost)
        kn_str_append(out, index);
    else if (c->inside == 1)
        kn_str_printf(out, "(%s %% %s)", index, whole(w, c->count));
    else if (c->is_outermost)
        kn_str_printf(out, "(%s / %s)", index, whole(w, c->inside));
    else
        kn_str_printf(out, "(%s / %s %% %s)", index, whole(w, c->inside), whole(w, c->count));
    kn_str_append(out, ")");
}

/* A number as a half holds it. */
static kiln_arg rounded(const kiln_arg *number, kiln_dtype half)
{
    unsigned char element[2];
    if (kn_scalar_convert(element, half, number, "number") != KILN_OK)
        return *number;
    return kiln_arg_float(kn_number_load(element, half).re);
}

/* What node `in` of a range or a number is, as one of dtype. A half has the value that it holds, in float32. */
static void put_scalar(writer *w, kn_str *out, int node, kiln_dtype dtype)
{
    const kn_node *n = &w->state->graph->node[node];
    const kn_typed *t = &w->state->typed[node];
    const kn_dtype_kind kind = kn_dtype_info_of(dtype)->kind;
    const bool is_half = kn_dtype_is_half(dtype);
    const kiln_arg number =
        is_half && t->number.kind != KILN_ARG_NONE ? rounded(&t->number, dtype) : t->number;
    if (n->kind == KN_NODE_NUMBER) {
        put_number(out, &number, dtype);
    } else if (number.kind != KILN_ARG_NONE) {
        const kn_text_param p = {NULL, -1, number, kn_computed_dtype(dtype)};
        kn_str_append(out, mention(w, &p));
    } else if (is_half && t->is_weak) {
        const kn_text_param p = {NULL, n->index, kiln_arg_make(KILN_ARG_NONE), dtype};
        kn_str_printf(out, "((float)%s)", mention(w, &p));
    } else {
        bool is_cut =
            t->dtype == KILN_FLOAT64 && (kind == KN_KIND_INT || kind == KN_KIND_UINT); /* in a cast */
        kiln_dtype own = t->is_weak && !is_cut ? dtype : kn_computed_dtype(t->dtype);
        const kn_text_param p = {NULL, n->index, kiln_arg_make(KILN_ARG_NONE), own};
        put_cast(out, mention(w, &p), own, dtype);
    }
}

static bool is_number(const writer *w, int node)
{
    return kn_is_number(w->state, node);
}

/* A text in the arena, and the string freed; "" where there is no memory. */
static const char *keep(writer *w, kn_str *text)
{
    char *copy = text->failed ? NULL : take(w, text->length + 1);
    if (copy && text->length > 0)
        memcpy(copy, text->data, text->length);
    if (!copy && w->status == KILN_OK)
        w->status = kn_str_status(text, "a lowered expression");
    kn_str_free(text);
    return copy ? copy : "";
}

/* A use as a value of a dtype: "t12", "((float)t12)", "0.5f". In the arena. */
static const char *operand(writer *w, const kn_use *u, kiln_dtype dtype)
{
    kn_str text = KN_STR_INIT;
    if (is_number(w, u->node))
        put_scalar(w, &text, u->node, dtype);
    else
        put_cast(&text, w->name[u->number], typed_of(w, u)->dtype, dtype);
    return keep(w, &text);
}

/* ---- what is computed ---- */

static void name_use(writer *w, const kn_use *u, char letter)
{
    snprintf(w->name[u->number], NAME, "%c%d", letter, u->number);
}

/* The dtype that a node has its k-th operand in. */
static kiln_dtype operand_dtype(const writer *w, const kn_use *u, int k)
{
    const kn_typed *t = typed_of(w, u);
    return node_of(w, u)->kind == KN_NODE_KERNEL ? t->param[k] : t->variant.dtype[k];
}

/* The names that stand for an operation's parameters: operands, and `to` for its output number `index`, others for
 * those that nobody asks for. */
static const char **names_of(writer *w, const kn_use *u, const kn_op *op, const char *to, int index,
                             kn_str *declared)
{
    const char **name = take(w, (size_t)(op->n_in + op->n_out) * sizeof *name);
    for (int k = 0; name && k < op->n_in; ++k)
        name[k] = op->reduce && !is_number(w, node_of(w, u)->in[k]) && to
                      ? NULL
                      : operand(w, u->in[k], operand_dtype(w, u, k));
    for (int j = 0; name && j < op->n_out; ++j) {
        char *other = j == index || !to ? NULL : take(w, NAME);
        name[op->n_in + j] = to;
        if (!other)
            continue;
        snprintf(other, NAME, "%s_%d", to, j);
        name[op->n_in + j] = other;
        kn_str_printf(declared, "%s %s;\n", kn_computed_name(op->dtype[op->n_in + j]), other);
    }
    return name;
}

/* A quotient of float32 numbers whose divisor is the same for all reduced elements: it is multiplied by what the
 * divisor gives once. */
static bool is_quotient(const writer *w, const kn_use *u)
{
    const kn_op *op = w->op[u->node];
    if (!w->group->is_settled || !op || op->reduce || strcmp(op->name, "divide") != 0 || op->n_in != 2)
        return false;
    return u->is_all && u->in[0]->is_all && !u->in[1]->is_all && u->in[1]->level > 0 &&
           op->dtype[0] == KILN_FLOAT32 && op->dtype[1] == KILN_FLOAT32 && op->dtype[2] == KILN_FLOAT32 &&
           kn_computed_dtype(typed_of(w, u->in[1])->dtype) == KILN_FLOAT32;
}

/* Whether a quotient of this stage has the divisor. */
static bool is_divided_by(const writer *w, const kn_use *divisor)
{
    bool is = false;
    for (const kn_use *u = w->group->first_use; u; u = u->after)
        is = is ||
             (w->needed[u->number] && !w->kept[u->number][0] && is_quotient(w, u) && u->in[1] == divisor);
    return is;
}

/* A node's output of an operation: "const float t7 = x0 * t3;", or a block. a: what is reduced; NULL. */
static void put_operation(writer *w, kn_str *out, const kn_use *u, const char *text, const char *a)
{
    const kn_op *op = w->op[u->node];
    const kn_node *n = node_of(w, u);
    int index = n->index;
    kn_str others = KN_STR_INIT;
    name_use(w, u, 't');
    const char *to = w->name[u->number], *expression = kn_op_expression(op, text),
               *type = kn_computed_name(op->dtype[op->n_in + index]);
    const char **name = names_of(w, u, op, to, index, &others);
    int in_space = w->space_of[u->node];
    if (name && is_quotient(w, u) && w->divides[u->in[1]->number]) {
        kn_str_printf(out, "const float %s = %s * q%d * p%d;\n", to, name[0], u->in[1]->number,
                      u->in[1]->number);
    } else if (name && expression && in_space < 0) {
        kn_str_printf(out, "const %s %s =", type, to);
        kn_op_put(out, op, expression, name, a, NULL);
        kn_str_append(out, ";\n");
    } else if (name) {
        kn_str_printf(out, "%s %s;\n%s{\n", type, to, kn_str_text(&others));
        if (in_space >= 0)
            kn_str_printf(out, "using namespace f%d;\n", in_space);
        kn_op_put(out, op, text, name, a, NULL);
        kn_str_append(out, ";\n}\n");
    }
    out->failed |= others.failed;
    kn_str_free(&others);
}

static void put_conversion(writer *w, kn_str *out, const kn_use *u)
{
    const kn_typed *t = typed_of(w, u);
    const char *from = operand(w, u->in[0], kn_computed_dtype(t->dtype)),
               *name = kn_dtype_info_of(t->dtype)->c_name;
    name_use(w, u, 't');
    kn_str_printf(out, "const %s %s = ", kn_computed_name(t->dtype), w->name[u->number]);
    if (kn_dtype_is_half(t->dtype)) /* said in so many words, it rounds */
        kn_str_printf(out, "(float)(%s)%s;\n", name, from);
    else
        kn_str_printf(out, "%s;\n", from);
}

static const fold *fold_of(const writer *w, const kn_use *u)
{
    for (const fold *f = w->folds; f; f = f->next)
        if (f->use == u || (f->use->level == u->level && f->op->reduce && w->op[u->node] == f->op &&
                            memcmp(f->use->in, u->in, (size_t)u->n_in * sizeof *u->in) == 0))
            return f;
    return NULL;
}

static int folds_of_level(const writer *w, int level)
{
    int count = 0;
    for (const fold *f = w->folds; f; f = f->next)
        count += f->level == level;
    return count;
}

/* How many elements a reduction has, as the table writes it: two sizes divided by one another. Here it is a number
 * that the call knows. */
#define COUNT "(_in_ind.size() / _out_ind.size())"
static char *replace_count(writer *w, const char *text)
{
    const kn_group *g = w->group;
    size_t room = strlen(text) + NAME;
    char *copy = take(w, room);
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
    const kn_text_param p = {NULL, -1, kiln_arg_int(count), KILN_INT64};
    snprintf(copy, room, "%.*s%s%s", (int)(at - text), text, mention(w, &p), at + strlen(COUNT));
    return copy;
}

static void put_result_of_fold(writer *w, kn_str *out, const kn_use *u)
{
    const fold *f = fold_of(w, u);
    char *a = take(w, NAME);
    if (!f || !a)
        return;
    snprintf(a, NAME, folds_of_level(w, f->level) > 1 ? "r%d.f%d" : "r%d", f->level - 1, f->index);
    char *post = replace_count(w, f->op->post);
    if (post)
        put_operation(w, out, u, post, a);
}

/* One value to be folded: "v0 = x * x;" */
static void put_mapped(writer *w, kn_str *out, const fold *f, const char *text, const char *to,
                       bool is_declared)
{
    kn_str type = KN_STR_INIT;
    char name[NAME];
    snprintf(name, NAME, "f%d", f->space);
    kn_op_put_value_type(&type, f->op, name);
    const char **names = names_of(w, f->use, f->op, NULL, 0, NULL);
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

/* The text of a reduction that has one element for each result. */
static const char *single_text(writer *w, const kn_use *u, const char *text)
{
    kn_str out = KN_STR_INIT;
    size_t length;
    int64_t count = 1;
    for (int a = 0; a < typed_of(w, u)->ndim; ++a)
        count *= typed_of(w, u)->shape[a];
    const kn_text_param results = {NULL, -1, kiln_arg_int(count), KILN_INT64};
    const char *ratio = strstr(text, COUNT);
    for (kn_token_kind kind; (kind = kn_token_scan(text, &length)) != KN_TOKEN_END; text += length) {
        bool is_name = kind == KN_TOKEN_NAME;
        if (text == ratio) {
            kn_str_append(&out, "1");
            length = strlen(COUNT);
        } else if (is_name && length == 2 && memcmp(text, "_J", length) == 0) {
            kn_str_append(&out, "0ll");
        } else if (is_name && ((length == 7 && memcmp(text, "_in_ind", length) == 0) ||
                               (length == 8 && memcmp(text, "_out_ind", length) == 0))) {
            if (!w->has_sizes)
                kn_str_append(&w->preamble, "struct kn_single {\n    long long count;\n"
                                            "    __device__ long long size() const { return count; }\n};\n");
            w->has_sizes = true;
            kn_str_printf(&out, "kn_single{%s}", mention(w, &results));
        } else {
            kn_str_append_n(&out, text, length);
        }
    }
    return keep(w, &out);
}

static void put_single(writer *w, kn_str *out, const kn_use *u)
{
    const kn_op *op = w->op[u->node];
    const fold one = {.use = u, .op = op, .space = w->space_of[u->node]};
    char value[NAME];
    snprintf(value, NAME, "t%d_v", u->number);
    put_mapped(w, out, &one, single_text(w, u, op->map), value, false);
    put_operation(w, out, u, single_text(w, u, op->post), value);
}

static void put_range(writer *w, kn_str *out, const kn_use *u)
{
    const kn_node *n = &w->state->graph->node[u->leaf->node];
    kiln_dtype dtype = w->state->typed[u->leaf->node].dtype;
    const char *type = kn_computed_name(dtype);
    kn_str start = KN_STR_INIT, step = KN_STR_INIT;
    put_scalar(w, &start, n->in[0], kn_computed_dtype(dtype));
    put_scalar(w, &step, n->in[2], kn_computed_dtype(dtype));
    name_use(w, u, 't');
    kn_str_printf(out, "const %s %s = %s + (%s)", type, w->name[u->number], kn_str_text(&start), type);
    put_range_index(w, out, u->leaf);
    kn_str_printf(out, " * %s;\n", kn_str_text(&step));
    out->failed |= start.failed || step.failed;
    kn_str_free(&start);
    kn_str_free(&step);
}

static void put_use(writer *w, kn_str *out, const kn_use *u)
{
    const kn_node *n = node_of(w, u);
    if (w->kept[u->number][0]) {
        memcpy(w->name[u->number], w->kept[u->number], NAME);
    } else if (u->leaf && u->leaf->kind == KN_BASE_RANGE) {
        put_range(w, out, u);
    } else if (u->leaf) {
        const kn_text_param p = {u->leaf, -1, kiln_arg_make(KILN_ARG_NONE),
                                 kn_computed_dtype(w->state->typed[u->leaf->node].dtype)};
        snprintf(w->name[u->number], NAME, "%s", mention(w, &p));
    } else if (is_number(w, u->node)) {
        return;
    } else if (u->is_fold) {
        put_result_of_fold(w, out, u);
    } else if (u->is_single) {
        put_single(w, out, u);
    } else if (n->kind == KN_NODE_CALL || n->kind == KN_NODE_KERNEL) {
        put_operation(w, out, u, w->op[u->node]->map, NULL);
    } else if (n->kind == KN_NODE_CAST || (n->kind == KN_NODE_LIKE && n->index == 1) ||
               is_number(w, n->in[0])) { /* or a view of a number, which has no name */
        put_conversion(w, out, u);
    } else {
        memcpy(w->name[u->number], w->name[u->in[0]->number], NAME);
    }
}

/* ---- stages ---- */

/* Marks all that has to be written for what is marked: down to leaves, results of reductions and kept values. */
static void mark_needed(writer *w)
{
    const kn_use **list = take(w, (size_t)(w->group->n_uses + 1) * sizeof *list);
    int count = 0;
    for (const kn_use *u = w->group->first_use; list && u; u = u->after)
        list[count++] = u;
    while (count-- > 0) {
        const kn_use *u = list[count];
        if (!w->needed[u->number] || u->leaf || u->is_fold || w->kept[u->number][0])
            continue;
        /* a divisor is there by its reciprocal */
        int n_in = is_quotient(w, u) && w->divides[u->in[1]->number] ? 1 : u->n_in;
        for (int k = 0; k < n_in; ++k)
            w->needed[u->in[k]->number] = true;
    }
}

static void clear_needed(writer *w)
{
    memset(w->needed, 0, (size_t)w->group->n_uses);
    memset(w->name, 0, (size_t)w->group->n_uses * sizeof *w->name);
    w->reads = 0;
}

/* What a reduction's map reads; scalars that its post alone reads are asked for there. */
static void need_inputs(writer *w, const fold *f)
{
    for (int k = 0; k < f->use->n_in; ++k)
        w->needed[f->use->in[k]->number] = true;
}

/* A root that is stored for each element, though it is the same along the reduced axes, has those axes. */
static bool root_is_kept(const writer *w, int r)
{
    const kn_group *g = w->group;
    uint64_t along = 0;
    for (int a = 0; a < w->state->typed[g->root[r]].ndim; ++a)
        if (g->root_use[r]->map[a].to >= 0)
            along |= UINT64_C(1) << g->root_use[r]->map[a].to;
    uint64_t reduced = 0;
    for (int a = 0; a < g->ndim; ++a)
        reduced |= g->reduced >> a & 1 && g->extent[a] != 1 ? UINT64_C(1) << a : 0;
    return g->is_settled && (along & reduced) == 0 && (reduced != 0 || !g->root_use[r]->is_all);
}

/* What the stage that ends in reductions of `level` needs; above all levels: the one that stores all (or kept) roots.
 * False: nothing. */
static bool need_for(writer *w, int level, kn_over over)
{
    bool any = false;
    clear_needed(w);
    for (const fold *f = w->folds; f; f = f->next)
        if (f->level == level) {
            need_inputs(w, f);
            any = true;
        }
    for (int r = 0; level > w->group->n_levels && r < w->group->n_roots; ++r)
        if (root_is_kept(w, r) == (over == KN_OVER_KEPT)) {
            w->needed[w->group->root_use[r]->number] = true;
            any = true;
        }
    mark_needed(w);
    return any;
}

/* What is costly, and what several stages need, is given by the first of them. */
static void find_kept_values(writer *w)
{
    for (int level = 1; level <= w->group->n_levels + 1; ++level) {
        need_for(w, level, KN_OVER_ALL);
        for (const kn_use *u = w->group->first_use; u; u = u->after) {
            if (!w->needed[u->number])
                continue;
            w->again[u->number] = w->first[u->number] >= 0;
            if (w->first[u->number] < 0)
                w->first[u->number] = level;
        }
    }
}

static bool is_given(const writer *w, const kn_use *u, int level)
{
    const kn_op *op = w->op[u->node];
    return u->is_all && !u->leaf && !u->is_fold && op && op->is_costly && w->needed[u->number] &&
           w->first[u->number] == level && w->again[u->number];
}

static void put_reads(writer *w, stage *s, const char *values)
{
    const char *separator = "";
    for (int k = 0; k < w->out->n_in; ++k)
        if (w->reads >> k & 1) {
            kn_str_printf(&s->reads, "%s%c%d", separator, w->out->in[k].leaf ? 'x' : 's', k);
            separator = ", ";
        }
    if (values[0])
        kn_str_printf(&s->reads, "%s%s", separator, values);
}

/* The program's own values that a stage's uses are from. */
static void find_own_reads(const writer *w, kn_str *values)
{
    const char *separator = "";
    for (int l = 0; l < w->group->n_levels; ++l) {
        bool any = false;
        for (const kn_use *u = w->group->first_use; u; u = u->after)
            any |= w->needed[u->number] && !w->kept[u->number][0] && u->is_fold && u->level == l + 1;
        if (any) {
            kn_str_printf(values, "%s_r%d", separator, l);
            separator = ", ";
        }
    }
    for (const kn_use *u = w->group->first_use; u; u = u->after)
        if (w->needed[u->number] && w->kept[u->number][0]) {
            kn_str_printf(values, "%s_%s", separator, w->kept[u->number]);
            separator = ", ";
        }
    for (const kn_use *u = w->group->first_use; u; u = u->after)
        if (w->divides[u->number] && is_divided_by(w, u)) {
            kn_str_printf(values, "%s_q%d, _p%d", separator, u->number, u->number);
            separator = ", ";
        }
}

static void put_uses(writer *w, stage *s)
{
    for (const kn_use *u = w->group->first_use; u; u = u->after)
        if (w->needed[u->number])
            put_use(w, &s->body, u);
}

static stage *new_stage(writer *w, kn_stage_kind kind, kn_over over, char letter, int number)
{
    stage *s = &w->stage[w->n_stages++];
    s->kind = kind;
    s->over = over;
    snprintf(s->label, NAME, "%c%d", letter, number);
    return s;
}

static void put_value_declaration(writer *w, const char *type, const char *name)
{
    kn_str_printf(&w->values, "%s%s _%s", w->values.length > 0 ? ", " : "", type, name);
}

/* The type of what a level folds, declared in the preamble where it is a struct. */
static const char *level_type(writer *w, int level)
{
    char *name = take(w, NAME);
    const fold *only = NULL;
    int count = folds_of_level(w, level);
    for (const fold *f = w->folds; f; f = f->next)
        only = f->level == level ? f : only;
    if (!name || !only)
        return "";
    if (count == 1 && only->op->value != KILN_DTYPE_NONE)
        return kiln_dtype_name(only->op->value);
    snprintf(name, NAME, "w%d", level - 1);
    kn_str_printf(&w->preamble, count == 1 ? "typedef " : "struct %s {\n", name);
    for (int index = 0; index < count; ++index)
        for (const fold *f = w->folds; f; f = f->next) {
            char in_space[NAME];
            if (f->level != level || f->index != index)
                continue;
            snprintf(in_space, NAME, "f%d", f->space);
            kn_op_put_value_type(&w->preamble, f->op, in_space);
            if (count > 1)
                kn_str_printf(&w->preamble, " f%d;\n", index);
        }
    if (count == 1)
        kn_str_printf(&w->preamble, " %s;\n", name);
    else
        kn_str_append(&w->preamble, "};\n");
    return name;
}

/* ---- what is computed once for all reduced elements ---- */

/* What a reduction gives, and nothing is computed of it. */
static bool is_plain_result(const writer *w, const kn_use *u)
{
    const kn_op *op = w->op[u->node];
    const char *post = u->is_fold ? kn_op_expression(op, op->post) : NULL;
    if (!post)
        return false;
    post += strspn(post, " ");
    return post[0] == 'a' && post[1 + strspn(post + 1, " ;")] == '\0';
}

/* The same of a map: what is reduced is what it reads. */
static bool is_plain_map(const kn_op *op)
{
    const char *map = op->map + strspn(op->map, " ");
    const kn_param *x = &op->param[0];
    size_t length = strlen(x->name);
    if (map[0] == '(' && map[1] == op->param[op->n_in].placeholder && map[2] == ')')
        map += 3;
    return op->n_in == 1 && strncmp(map, x->name, length) == 0 &&
           map[length + strspn(map + length, " ")] == '\0';
}

static bool is_computed_once(const writer *w, const kn_use *u)
{
    return !u->is_all && u->level > 0 && !u->leaf && !is_number(w, u->node) && !w->kept[u->number][0];
}

/* Marks what elements of this stage read of that: needed is what the stage needs. */
static void find_once(const writer *w, bool *once, int level)
{
    memset(once, 0, (size_t)w->group->n_uses);
    for (const kn_use *u = w->group->first_use; u; u = u->after)
        for (int k = 0; k < u->n_in && w->needed[u->number] && u->is_all && !w->kept[u->number][0]; ++k)
            once[u->in[k]->number] |= is_computed_once(w, u->in[k]) && !(k == 1 && is_quotient(w, u));
    for (const fold *f = w->folds; f; f = f->next)
        for (int k = 0; k < f->use->n_in && f->level == level; ++k)
            once[f->use->in[k]->number] |= is_computed_once(w, f->use->in[k]);
    for (int r = 0; r < w->group->n_roots && level > w->group->n_levels; ++r)
        if (!root_is_kept(w, r))
            once[w->group->root_use[r]->number] |= is_computed_once(w, w->group->root_use[r]);
}

/* "c7 = t7;", and of a divisor d its reciprocal: x / d is x * q * p, where p is 1 but for d so small or large that
 * 1 / d would not be a normal number. */
static void put_once(writer *w, stage *s, const kn_use *u, bool is_value, bool is_divisor)
{
    const char *separator = s->gives.length > 0 ? ", " : "", *name = w->name[u->number];
    int n = u->number;
    if (is_value) {
        char c[NAME];
        snprintf(c, NAME, "c%d", n);
        kn_str_printf(&s->body, "%s = %s;\n", c, name);
        kn_str_printf(&s->gives, "%s_%s", separator, c);
        put_value_declaration(w, kiln_dtype_name(kn_computed_dtype(typed_of(w, u)->dtype)), c);
        memcpy(w->kept[n], c, NAME);
        separator = ", ";
    }
    if (!is_divisor)
        return;
    kn_str_printf(&s->body,
                  "p%d = fabs(%s) < 0x1p-100f ? 0x1p100f : fabs(%s) > 0x1p100f ? 0x1p-100f : 1.0f;\n"
                  "q%d = 1.0f / (%s * p%d);\n",
                  n, name, name, n, name, n);
    kn_str_printf(&s->gives, "%s_q%d, _p%d", separator, n, n);
    kn_str_printf(&w->values, "%sfloat32 _q%d, float32 _p%d", w->values.length > 0 ? ", " : "", n, n);
    w->divides[n] = true;
}

/* The stage in front of that of `level`, where there is something for it. */
static void write_once(writer *w, int level)
{
    size_t count = (size_t)w->group->n_uses + 1;
    bool *once = take(w, count), *divisor = take(w, count), any = false;
    kn_str own = KN_STR_INIT;
    if (!once || !divisor || !w->group->is_settled || !need_for(w, level, KN_OVER_ALL))
        return;
    find_once(w, once, level);
    for (const kn_use *u = w->group->first_use; u; u = u->after) {
        int n = u->number;
        divisor[n] = !w->divides[n] && is_divided_by(w, u);
        once[n] = once[n] && !is_plain_result(w, u);
        any = any || once[n] || divisor[n];
    }
    if (!any)
        return;
    clear_needed(w);
    for (size_t n = 0; n + 1 < count; ++n)
        w->needed[n] = once[n] || divisor[n];
    mark_needed(w);
    find_own_reads(w, &own);
    stage *s = new_stage(w, KN_MAP, KN_OVER_KEPT, 'c', level);
    put_uses(w, s);
    for (const kn_use *u = w->group->first_use; u; u = u->after)
        if (once[u->number] || divisor[u->number])
            put_once(w, s, u, once[u->number], divisor[u->number]);
    put_reads(w, s, kn_str_text(&own));
    s->body.failed |= own.failed;
    kn_str_free(&own);
}

/* Whether the one value that a level reduces is this. */
static bool is_reduced_itself(const writer *w, const kn_use *u, int level)
{
    for (const fold *f = w->folds; f; f = f->next)
        if (f->level == level)
            return folds_of_level(w, level) == 1 && f->use->in[0] == u && is_plain_map(f->op) &&
                   f->op->value == kn_computed_dtype(typed_of(w, u)->dtype);
    return false;
}

/* The map in front of the reductions of a level. */
static void write_map(writer *w, int level)
{
    kn_str own = KN_STR_INIT;
    char v[NAME], part[2 * NAME];
    need_for(w, level, KN_OVER_ALL);
    find_own_reads(w, &own);
    stage *s = new_stage(w, KN_MAP, KN_OVER_ALL, 'm', level - 1);
    put_uses(w, s);
    snprintf(v, NAME, "v%d", level - 1);
    kn_str_printf(&s->gives, "_%s", v);
    int count = folds_of_level(w, level);
    const char *type = level_type(w, level);
    put_value_declaration(w, type, v);
    for (int index = 0; index < count; ++index)
        for (const fold *f = w->folds; f; f = f->next)
            if (f->level == level && f->index == index) {
                snprintf(part, sizeof part, count == 1 ? "%s" : "%s_%d", v, index);
                put_mapped(w, &s->body, f, f->op->map, part, count == 1);
            }
    if (count > 1) {
        kn_str_printf(&s->body, "%s = %s{", v, type);
        for (int index = 0; index < count; ++index)
            kn_str_printf(&s->body, "%s%s_%d", index > 0 ? ", " : "", v, index);
        kn_str_append(&s->body, "};\n");
    }
    for (const kn_use *u = w->group->first_use; u; u = u->after)
        if (is_given(w, u, level) && !w->kept[u->number][0]) {
            char e[NAME];
            if (is_reduced_itself(w, u, level)) { /* the value has the name already */
                memcpy(w->kept[u->number], v, NAME);
                continue;
            }
            snprintf(e, NAME, "e%d", u->number);
            kn_str_printf(&s->body, "%s = %s;\n", e, w->name[u->number]);
            kn_str_printf(&s->gives, ", _%s", e);
            put_value_declaration(w, kiln_dtype_name(kn_computed_dtype(typed_of(w, u)->dtype)), e);
            memcpy(w->kept[u->number], e, NAME);
        }
    put_reads(w, s, kn_str_text(&own));
    s->body.failed |= own.failed;
    kn_str_free(&own);
}

/* One fold's expression of a and b, or what nothing yields. */
static void put_fold_text(const fold *f, kn_str *out, bool is_identity, const char *a, const char *b)
{
    bool is_dtype = f->op->value != KILN_DTYPE_NONE;
    if (f->space >= 0 && is_identity)
        kn_str_printf(out, "f%d::none()", f->space);
    else if (f->space >= 0)
        kn_str_printf(out, "f%d::fold(%s, %s, %s)", f->space, a, b,
                      kn_text_has_word(f->op->reduce, "_follows") ? "_follows" : "false");
    else {
        kn_str_printf(out, is_dtype ? "static_cast<%s>(" : "(",
                      is_dtype ? kn_computed_name(f->op->value) : "");
        kn_op_put(out, f->op, is_identity ? f->op->identity : f->op->reduce, NULL, a, b);
        kn_str_append(out, ")");
    }
}

static void write_reduce(writer *w, int level)
{
    stage *s = new_stage(w, KN_REDUCE, KN_OVER_ALL, 'r', level - 1);
    int count = folds_of_level(w, level);
    bool has_identity = true;
    char r[NAME], a[NAME], b[NAME];
    snprintf(r, NAME, "r%d", level - 1);
    kn_str_printf(&s->reads, "_v%d", level - 1);
    kn_str_printf(&s->gives, "_%s", r);
    char type[NAME];
    for (const fold *f = w->folds; f; f = f->next) {
        has_identity &= f->level != level || f->op->identity;
        if (f->level != level)
            continue;
        if (count == 1 && f->op->value != KILN_DTYPE_NONE)
            snprintf(type, NAME, "%s", kiln_dtype_name(f->op->value));
        else
            snprintf(type, NAME, "w%d", level - 1);
    }
    put_value_declaration(w, type, r);
    for (int index = 0; index < count; ++index)
        for (const fold *f = w->folds; f; f = f->next) {
            if (f->level != level || f->index != index)
                continue;
            snprintf(a, NAME, count > 1 ? "a.f%d" : "a", index);
            snprintf(b, NAME, count > 1 ? "b.f%d" : "b", index);
            const char *before = count == 1 ? "" : index == 0 ? "{" : ", ";
            kn_str_printf(&s->body, "%s%s", index == 0 && count > 1 ? type : "", before);
            put_fold_text(f, &s->body, false, a, b);
            if (has_identity) {
                kn_str_printf(&s->identity, "%s%s", index == 0 && count > 1 ? type : "", before);
                put_fold_text(f, &s->identity, true, "a", "b");
            }
        }
    kn_str_append(&s->body, count > 1 ? "}" : "");
    kn_str_append(&s->identity, count > 1 && has_identity ? "}" : "");
}

/* The stage that stores the roots which differ along the reduced axes, or those that do not. */
static void write_stores(writer *w, kn_over over)
{
    const kn_group *g = w->group;
    kn_str own = KN_STR_INIT;
    if (!need_for(w, g->n_levels + 1, over))
        return;
    find_own_reads(w, &own);
    stage *s = new_stage(w, KN_MAP, over, over == KN_OVER_KEPT ? 'k' : 'm', g->n_levels);
    if (g->n_levels == 0)
        s->label[0] = '\0';
    put_uses(w, s);
    const char *separator = "";
    for (int r = 0; r < g->n_roots; ++r) {
        if (root_is_kept(w, r) != (over == KN_OVER_KEPT))
            continue;
        kn_str_printf(&s->body, "y%d = %s;\n", r,
                      operand(w, g->root_use[r], kn_computed_dtype(w->state->typed[g->root[r]].dtype)));
        kn_str_printf(&s->gives, "%sy%d", separator, r);
        separator = ", ";
    }
    put_reads(w, s, kn_str_text(&own));
    s->body.failed |= own.failed;
    kn_str_free(&own);
}

/* ---- operations ---- */

static bool same_subject(const kn_node *a, const kn_typed *ta, const kn_node *b, const kn_typed *tb)
{
    if (a->kind != b->kind || a->kernel != b->kernel || ta->definition != tb->definition ||
        ta->variant.n_in != tb->variant.n_in || ta->variant.n_out != tb->variant.n_out)
        return false;
    size_t count = (size_t)ta->variant.n_in + (size_t)ta->variant.n_out;
    if (a->kernel)
        return memcmp(ta->param, tb->param, sizeof ta->param) == 0;
    return memcmp(ta->variant.dtype, tb->variant.dtype, count * sizeof *ta->variant.dtype) == 0;
}

/* The preamble of an operation in a namespace, with its types, and its fold as a function. */
static void put_space(writer *w, const space *s)
{
    const kn_op *op = s->op;
    kn_str *out = &w->preamble, type = KN_STR_INIT;
    kn_str_printf(out, "namespace f%d {\n", s->number);
    for (int k = 0; k < op->n_in + op->n_out; ++k) {
        bool is_first = op->param[k].type == KN_TYPE_PLACEHOLDER;
        for (int j = 0; j < k && is_first; ++j)
            is_first = op->param[j].type != KN_TYPE_PLACEHOLDER ||
                       op->param[j].placeholder != op->param[k].placeholder;
        if (is_first)
            kn_str_printf(out, "typedef %s %c;\n", kn_computed_name(op->dtype[k]), op->param[k].placeholder);
    }
    kn_str_append(out, op->preamble);
    kn_str_append(out, "\n");
    if (op->reduce) {
        if (op->value == KILN_DTYPE_NONE)
            kn_str_append(&type, op->value_struct);
        else
            kn_op_put_value_type(&type, op, "");
        kn_str_printf(out,
                      "__device__ __forceinline__ %s fold(const %s a, const %s b, const bool _follows) {\n"
                      "    (void)_follows;\n    return %s;\n}\n",
                      kn_str_text(&type), kn_str_text(&type), kn_str_text(&type), op->reduce);
        if (op->identity)
            kn_str_printf(out, "__device__ __forceinline__ %s none() { return %s; }\n", kn_str_text(&type),
                          op->identity);
    }
    kn_str_append(out, "}\n");
    out->failed |= type.failed;
    kn_str_free(&type);
}

static int find_space(writer *w, const kn_use *u, const kn_op *op)
{
    const kn_node *n = node_of(w, u);
    const kn_typed *t = typed_of(w, u);
    if (!op->preamble)
        return -1;
    for (const space *s = w->spaces; s; s = s->next)
        if (same_subject(s->node, s->typed, n, t))
            return s->number;
    space *s = take(w, sizeof *s);
    if (!s)
        return -1;
    *s = (space){w->spaces, op, n, t, w->n_spaces++};
    w->spaces = s;
    put_space(w, s);
    return s->number;
}

/* x ** 2, with the number in the text. */
static bool is_square(const writer *w, const kn_use *u)
{
    const kn_node *n = node_of(w, u);
    if (n->kind != KN_NODE_CALL || n->n_in != 2 || strcmp(n->name, "power") != 0)
        return false;
    const kn_node *by = &w->state->graph->node[n->in[1]];
    return by->kind == KN_NODE_NUMBER && real_of(&by->number) == 2 &&
           by->number.kind != KILN_ARG_WEAK_COMPLEX;
}

/* One op for equal subjects: folds are told apart by it. */
static const kn_op *find_op(writer *w, const kn_use *u)
{
    const kn_op *op = NULL;
    for (const kn_use *v = w->group->first_use; v != u; v = v->after)
        if (w->op[v->node] && is_square(w, v) == is_square(w, u) &&
            same_subject(node_of(w, v), typed_of(w, v), node_of(w, u), typed_of(w, u)))
            return w->op[v->node];
    kiln_status status = kn_op_find(&op, w->state->arena, node_of(w, u), typed_of(w, u), is_square(w, u));
    if (status != KILN_OK && w->status == KILN_OK)
        w->status = status;
    return op;
}

static void find_ops(writer *w)
{
    for (const kn_use *u = w->group->first_use; u && w->status == KILN_OK; u = u->after) {
        kn_node_kind kind = node_of(w, u)->kind;
        if (u->leaf || (kind != KN_NODE_CALL && kind != KN_NODE_KERNEL))
            continue;
        if (!w->op[u->node])
            w->op[u->node] = find_op(w, u);
        if (w->op[u->node])
            w->space_of[u->node] = find_space(w, u, w->op[u->node]);
    }
}

static void find_folds(writer *w)
{
    for (const kn_use *u = w->group->first_use; u; u = u->after) {
        if (!u->is_fold || fold_of(w, u))
            continue;
        fold *f = take(w, sizeof *f);
        if (!f)
            return;
        *f = (fold){w->folds, u, w->op[u->node], u->level, folds_of_level(w, u->level), w->space_of[u->node]};
        w->folds = f;
    }
}

/* ---- the program ---- */

/* Kept axes first; where nothing is reduced, in the order in which a range goes along them. */
static void order_axes(writer *w)
{
    const kn_group *g = w->group;
    kn_text *t = w->out;
    const kn_leaf *range = NULL;
    for (int reduced = 0; reduced < 2; ++reduced)
        for (int a = 0; a < g->ndim; ++a)
            if ((int)(g->reduced >> a & 1) == reduced)
                t->order[(reduced ? t->n_kept + t->n_reduced++ : t->n_kept++)] = a;
    for (const kn_leaf *l = g->leaf; l; l = l->next)
        range = l->kind == KN_BASE_RANGE ? l : range;
    for (int k = 1; range && !g->is_settled && k < g->ndim; ++k)
        for (int q = k; q > 0 && range->stride[t->order[q]] > range->stride[t->order[q - 1]]; --q) {
            int other = t->order[q];
            t->order[q] = t->order[q - 1];
            t->order[q - 1] = other;
        }
}

/* Elements from which on the host a table is worth its kernel, and reads of each of its numbers. */
enum { MANY_ELEMENTS = 1 << 15, MANY_READS = 16 };

/* Whether a range is better read: on the host a division takes longer than all else that is done with an element. */
static bool is_better_read(const writer *w, const kn_leaf *leaf)
{
    const kn_group *g = w->group;
    const kn_typed *range = &w->state->typed[leaf->node];
    int64_t size = 1;
    for (int a = 0; a < g->ndim; ++a)
        size *= g->extent[a];
    const counted row = count_along(w, leaf, g->reduced), own = count_along(w, leaf, ~UINT64_C(0));
    bool divides = !(g->is_settled && row.is_one && row.step != 0) && own.step != 0 &&
                   !(own.is_one && own.inside == 1 && own.is_outermost);
    return w->state->is_host && divides && size >= MANY_ELEMENTS && range->shape[0] <= size / MANY_READS;
}

/* What no stage can mention where it would be: a range in front of what runs once a result; and what is better read. */
static int find_room(const writer *w)
{
    for (const kn_use *u = w->group->first_use; u; u = u->after) {
        bool is_range = u->leaf && u->leaf->kind == KN_BASE_RANGE;
        if (is_range && ((w->group->is_settled && !u->is_all) || is_better_read(w, u->leaf)))
            return u->leaf->node;
    }
    return -1;
}

static void write_stages(writer *w)
{
    for (int level = 1; level <= w->group->n_levels; ++level) {
        write_once(w, level);
        write_map(w, level);
        write_reduce(w, level);
    }
    write_once(w, w->group->n_levels + 1);
    write_stores(w, KN_OVER_ALL);
    write_stores(w, KN_OVER_KEPT);
    for (int r = 0; r < w->group->n_roots; ++r)
        kn_str_printf(&w->outs, "%s%s y%d", r > 0 ? ", " : "",
                      kiln_dtype_name(kn_computed_dtype(w->state->typed[w->group->root[r]].dtype)), r);
}

static kiln_status create_program(writer *w, const char *name)
{
    kn_stage_text texts[KN_MAX_STAGES];
    kiln_kernel_options o = KILN_KERNEL_OPTIONS_INIT;
    kiln_status status = w->status;
    const kn_str *const strs[] = {&w->in, &w->outs, &w->values, &w->preamble};
    if (w->options)
        memcpy(&o, w->options, w->options->struct_size);
    o.kernels = NULL;
    o.n_kernels = 0;
    o.preamble = kn_str_text(&w->preamble);
    for (size_t k = 0; k < sizeof strs / sizeof strs[0] && status == KILN_OK; ++k)
        status = kn_str_status(strs[k], "a lowered expression");
    for (int s = 0; s < w->n_stages && status == KILN_OK; ++s) {
        const stage *from = &w->stage[s];
        texts[s] = (kn_stage_text){.kind = from->kind,
                                   .over = from->over,
                                   .label = from->label,
                                   .body = kn_str_text(&from->body),
                                   .identity = kn_str_text(&from->identity),
                                   .reads = kn_str_text(&from->reads),
                                   .gives = kn_str_text(&from->gives)};
        if (from->body.failed || from->reads.failed || from->gives.failed || from->identity.failed)
            status = kn_error_memory(from->body.length, "a lowered expression");
    }
    const kn_program_text text = {.name = name,
                                  .in = kn_str_text(&w->in),
                                  .out = kn_str_text(&w->outs),
                                  .values = kn_str_text(&w->values),
                                  .stage = texts,
                                  .n_stages = w->n_stages,
                                  .reduced = w->out->n_reduced,
                                  .casts = true,
                                  .is_sound = true,
                                  .options = &o};
    return status == KILN_OK ? kn_program_create(&w->out->program, &text) : status;
}

static void free_writer(writer *w)
{
    kn_str_free(&w->in);
    kn_str_free(&w->outs);
    kn_str_free(&w->values);
    kn_str_free(&w->preamble);
    for (int s = 0; s < w->n_stages; ++s) {
        kn_str_free(&w->stage[s].body);
        kn_str_free(&w->stage[s].reads);
        kn_str_free(&w->stage[s].gives);
        kn_str_free(&w->stage[s].identity);
    }
}

kiln_status kn_text_write(kn_text *out, int *room, const kn_group *g, const kn_lower_state *s,
                          const char *name, const kiln_kernel_options *options)
{
    size_t uses = (size_t)g->n_uses + 1, nodes = (size_t)s->graph->n_nodes;
    writer *w = kn_arena_take(s->arena, sizeof *w);
    memset(out, 0, sizeof *out);
    *room = -1;
    if (!w)
        return kn_error_memory(sizeof *w, "a lowered expression");
    w->group = g;
    w->state = s;
    w->options = options;
    w->out = out;
    w->op = take(w, nodes * sizeof *w->op);
    w->space_of = take(w, nodes * sizeof *w->space_of);
    w->name = take(w, uses * sizeof *w->name);
    w->kept = take(w, uses * sizeof *w->kept);
    w->first = take(w, uses * sizeof *w->first);
    w->again = take(w, uses);
    w->divides = take(w, uses);
    w->needed = take(w, uses);
    if (w->status != KILN_OK)
        return w->status;
    order_axes(w);
    *room = find_room(w);
    if (*room >= 0)
        return KILN_OK;
    memset(w->space_of, 0xff, nodes * sizeof *w->space_of);
    memset(w->first, 0xff, uses * sizeof *w->first);
    if (options && options->preamble)
        kn_str_append(&w->preamble, options->preamble);
    find_ops(w);
    if (w->status == KILN_OK)
        find_folds(w);
    if (w->status == KILN_OK) {
        find_kept_values(w);
        write_stages(w);
    }
    kiln_status status = create_program(w, name);
    free_writer(w);
    return status;
}
