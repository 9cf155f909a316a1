/* The texts that compute a node, taken from its operation or kernel. */
#include "graph/op.h"

#include <string.h>

#include "base/error.h"
#include "kernel/kernel.h"
#include "eager/operation.h"
#include "base/caret.h"

kiln_dtype kn_computed_dtype(kiln_dtype dtype)
{
    return kn_dtype_is_half(dtype) ? KILN_FLOAT32 : dtype;
}

const char *kn_computed_name(kiln_dtype dtype)
{
    return kn_dtype_info_of(kn_computed_dtype(dtype))->c_name;
}

/* ---- words of a text ---- */

typedef struct words {
    const char *text; /* the rest of the text */
    const char *word;
    size_t length;
    bool is_member; /* the word follows '.', '->' or '::' */
    char was;       /* the first character of the previous word */
    kn_token_kind kind;
} words;

static bool next_word(words *w)
{
    const char *last = w->word;
    bool behind = last && w->kind == KN_TOKEN_OTHER &&
                  (last[0] == '.' || (last[0] == '>' && w->was == '-') || (last[0] == ':' && w->was == ':'));
    w->was = last ? last[0] : 0;
    bool was_space = w->word && w->kind == KN_TOKEN_SPACE;
    w->is_member = behind || (was_space && w->is_member);
    w->word = w->text;
    w->kind = kn_token_scan(w->text, &w->length);
    w->text += w->length;
    return w->kind != KN_TOKEN_END;
}

static bool is_word(const words *w, const char *name)
{
    return strlen(name) == w->length && memcmp(name, w->word, w->length) == 0;
}

/* True for a name that kernel texts use for values: a letter and digits, "t12", or with a suffix, "t12_h". */
static bool is_name_of_ours(const words *w)
{
    size_t at = 1;
    while (at < w->length && w->word[at] >= '0' && w->word[at] <= '9')
        ++at;
    bool is_whole = at == w->length || (w->word[0] == 't' && w->word[at] == '_');
    return at > 1 && is_whole && strchr("xtsyvrefwcqp", w->word[0]);
}

static bool is_param(const words *w, const kn_param *param, int count)
{
    bool is = false;
    for (int k = 0; k < count && !is; ++k)
        is = is_word(w, param[k].name);
    return is;
}

/* True if the text can be fused with others, in which other names replace the parameters. */
static bool mixes(const char *text, const kn_param *param, int count)
{
    static const char *const alone[] = {"i", "n", "_ind", "return", "continue", "break", "goto"};
    words w = {.text = text ? text : ""};
    while (next_word(&w)) {
        if (w.kind == KN_TOKEN_OTHER && (w.word[0] == '#' || w.word[0] == '\\'))
            return false;
        if (w.kind != KN_TOKEN_NAME || w.is_member || is_param(&w, param, count))
            continue;
        if (is_name_of_ours(&w))
            return false;
        for (size_t k = 0; k < sizeof alone / sizeof alone[0]; ++k)
            if (is_word(&w, alone[k]))
                return false;
    }
    return true;
}

/* ---- 16-bit floats ---- */

/* The parameters of an operation, and their dtypes in memory. */
typedef struct parameters {
    const kn_param *param;
    const kiln_dtype *dtype;
    int count;
} parameters;

/* The 16-bit float that a word of the text names; KILN_DTYPE_NONE: none. */
static kiln_dtype named_half(const words *w, const parameters *p)
{
    if (w->kind != KN_TOKEN_NAME || w->is_member)
        return KILN_DTYPE_NONE;
    if (is_word(w, "float16"))
        return KILN_FLOAT16;
    if (is_word(w, "bfloat16"))
        return KILN_BFLOAT16;
    for (int k = 0; k < p->count && w->length == 1; ++k)
        if (p->param[k].type == KN_TYPE_PLACEHOLDER && p->param[k].placeholder == w->word[0])
            return kn_dtype_is_half(p->dtype[k]) ? p->dtype[k] : KILN_DTYPE_NONE;
    return KILN_DTYPE_NONE;
}

static bool has_halves(const parameters *p)
{
    bool has = false;
    for (int k = 0; k < p->count; ++k)
        has = has || kn_dtype_is_half(p->dtype[k]);
    return has;
}

static bool names_halves(const char *text, const parameters *p)
{
    words w = {.text = text ? text : ""};
    while (next_word(&w))
        if (named_half(&w, p) != KILN_DTYPE_NONE)
            return true;
    return false;
}

/* "__half", "__bfloat16_as_ushort" */
static bool is_name_of_cuda(const words *w)
{
    static const char *const part[] = {"half", "bfloat16"};
    char name[64] = "";
    if (w->kind != KN_TOKEN_NAME || w->length < 2 || w->length >= sizeof name ||
        memcmp(w->word, "__", 2) != 0)
        return false;
    memcpy(name, w->word, w->length);
    return strstr(name, part[0]) || strstr(name, part[1]);
}

/* True for a text that depends on the type of 16-bit floats: it uses bits, sizes, references or pointers. */
static bool shows_halves(const char *text, const parameters *p)
{
    words w = {.text = text ? text : ""};
    bool was_type = false;
    while (next_word(&w)) {
        if (w.kind == KN_TOKEN_SPACE)
            continue;
        if (is_word(&w, "bits") || is_word(&w, "nextafter") || is_word(&w, "sizeof") || is_name_of_cuda(&w) ||
            (was_type && (w.word[0] == '&' || w.word[0] == '*')))
            return true;
        was_type = named_half(&w, p) != KILN_DTYPE_NONE;
    }
    return false;
}

/* True for a text with divisions or calls of functions; casts to a parameter's type are not calls. */
static bool is_costly(const char *text)
{
    words w = {.text = text};
    size_t name = 0;
    bool is_call = false;
    while (next_word(&w)) {
        if (w.kind == KN_TOKEN_SPACE)
            continue;
        if (w.kind == KN_TOKEN_OTHER &&
            (w.word[0] == '/' || w.word[0] == '%' || (w.word[0] == '(' && name > 1)))
            is_call = true;
        name = w.kind == KN_TOKEN_NAME ? w.length : 0;
    }
    return is_call;
}

static const char *rounded_name(kiln_dtype half)
{
    return half == KILN_FLOAT16 ? "kn_rounded_to<float16>" : "kn_rounded_to<bfloat16>";
}

const char *kn_op_type(const kn_op *op, int k)
{
    if (!kn_dtype_is_half(op->declared[k]) || op->halves == KN_HALVES_WIDE)
        return kn_computed_name(op->declared[k]);
    return op->halves == KN_HALVES_NAMED ? rounded_name(op->declared[k])
                                         : kn_dtype_info_of(op->declared[k])->c_name;
}

const char *kn_op_output_type(const kn_op *op, int k)
{
    return op->halves == KN_HALVES_EACH ? kn_op_type(op, k) : kn_computed_name(op->declared[k]);
}

void kn_op_put_input(kn_str *out, const kn_op *op, int k, const char *value)
{
    if (!kn_dtype_is_half(op->declared[k]) || op->halves == KN_HALVES_WIDE)
        kn_str_append(out, value);
    else if (op->halves == KN_HALVES_NAMED)
        kn_str_printf(out, "kn_unrounded{%s}", value);
    else
        kn_str_printf(out, "((%s)%s)", kn_op_type(op, k), value);
}

void kn_op_put(kn_str *out, const kn_op *op, const char *text, const char *const *name, const char *a,
               const char *b)
{
    words w = {.text = text};
    const parameters p = {op->param, op->declared, op->n_in + op->n_out};
    while (next_word(&w)) {
        const char *put = NULL;
        kiln_dtype half = op->halves == KN_HALVES_NAMED ? named_half(&w, &p) : KILN_DTYPE_NONE;
        if (w.kind == KN_TOKEN_NAME && !w.is_member) {
            for (int k = 0; k < op->n_in + op->n_out && !put; ++k) {
                if (name && name[k] && is_word(&w, op->param[k].name))
                    put = name[k];
                else if (w.length == 1 && op->param[k].type == KN_TYPE_PLACEHOLDER &&
                         op->param[k].placeholder == w.word[0])
                    put = kn_op_type(op, k);
            }
            if (!put && half != KILN_DTYPE_NONE)
                put = rounded_name(half);
            if (!put && a && is_word(&w, "a"))
                put = a;
            if (!put && b && is_word(&w, "b"))
                put = b;
        }
        if (put)
            kn_str_append(out, put);
        else
            kn_str_append_n(out, w.word, w.length);
    }
}

const char *kn_op_expression(const kn_op *op, const char *text)
{
    words w = {.text = text};
    int depth = 0;
    if (op->n_out != 1)
        return NULL;
    do
        if (!next_word(&w))
            return NULL;
    while (w.kind == KN_TOKEN_SPACE);
    if (w.kind != KN_TOKEN_NAME || !is_word(&w, op->param[op->n_in].name))
        return NULL;
    do
        if (!next_word(&w))
            return NULL;
    while (w.kind == KN_TOKEN_SPACE);
    if (w.kind != KN_TOKEN_OTHER || w.word[0] != '=' || w.text[0] == '=')
        return NULL;
    const char *expression = w.text;
    while (next_word(&w)) {
        if (w.kind == KN_TOKEN_OPEN || (w.kind == KN_TOKEN_NAME && is_word(&w, op->param[op->n_in].name)))
            return NULL;
        if (w.kind != KN_TOKEN_OTHER)
            continue;
        depth += w.word[0] == '(' || w.word[0] == '[';
        depth -= w.word[0] == ')' || w.word[0] == ']';
        if (strchr(";{}", w.word[0]) || (w.word[0] == ',' && depth == 0))
            return NULL;
    }
    return expression;
}

void kn_op_put_value_type(kn_str *out, const kn_op *op, const char *space)
{
    if (op->value != KILN_DTYPE_NONE)
        kn_str_append(out, kn_computed_name(op->value));
    else
        kn_str_printf(out, "%s::%s", space, op->value_struct);
}

/* ---- of a row, of a kernel ---- */

static kiln_status no_memory(void)
{
    return kn_error_memory("an operation of an expression");
}

static const kiln_dtype *computed_dtypes(kn_arena *arena, const kiln_dtype *dtype, int count)
{
    kiln_dtype *out = kn_arena_take(arena, (size_t)(count + 1) * sizeof *out);
    for (int k = 0; out && k < count; ++k)
        out[k] = kn_computed_dtype(dtype[k]);
    return out;
}

static void settle_value(kn_op *op, const char *reduce_type)
{
    op->value = op->dtype[op->n_in];
    if (!reduce_type)
        return;
    op->value = kn_computed_dtype(kn_dtype_find(reduce_type, strlen(reduce_type)));
    for (int k = 0; k < op->n_in + op->n_out && !reduce_type[1]; ++k)
        if (op->param[k].type == KN_TYPE_PLACEHOLDER && op->param[k].placeholder == reduce_type[0])
            op->value = op->dtype[k];
    op->value_struct = reduce_type;
}

static bool row_is_alone(const kiln_operation *d)
{
    kn_param param[KN_MAX_PARAMS];
    int n_in, n_out;
    if (kn_operation_params(param, &n_in, &n_out, d) != KILN_OK)
        return false;
    int count = n_in + n_out;
    return !mixes(d->map, param, count) || !mixes(d->reduce, param, count) || !mixes(d->post, param, count) ||
           !mixes(d->identity, param, count) || (d->preamble && strchr(d->preamble, '#')) ||
           (d->reduce_type && strpbrk(d->reduce_type, "<:")) || d->flags || d->loop_prep || d->after_loop ||
           d->n_compile_options > 0 || d->n_headers > 0;
}

static bool program_is_alone(const kn_program *p, unsigned flags)
{
    int count = p->n_in + p->n_out;
    const unsigned shared = flags & KILN_KERNEL_ROUND_EACH;
    bool is_alone = p->loop_prep[0] || p->after_loop[0] || p->n_options > 0 || p->n_headers > 0 ||
                    (p->flags & ~shared) != 0 || strchr(p->preamble, '#');
    for (int k = 0; k < count; ++k)
        is_alone |= p->param[k].is_raw || p->param[k].is_non_const || p->param[k].type == KN_TYPE_STRUCT;
    for (int v = 0; v < p->n_values; ++v)
        is_alone |= strpbrk(p->param[count + v].struct_name, "<:") != NULL;
    for (int s = 0; s < p->n_stages && !is_alone; ++s)
        is_alone |=
            !mixes(p->stage[s].body, p->param, count) || !mixes(p->stage[s].identity, p->param, count);
    return is_alone || (strcmp(p->pattern, "m") != 0 && strcmp(p->pattern, "mrk") != 0);
}

bool kn_op_is_alone(const kn_node *node, const kn_typed *typed, unsigned flags)
{
    return node->kind == KN_NODE_KERNEL ? program_is_alone(node->kernel->program, flags)
                                        : node->kind == KN_NODE_CALL && row_is_alone(typed->definition);
}

/* The texts of built-in operations are written for float32. */
static bool is_own(const kiln_operation *d)
{
    const kn_operation_row *row = (const kn_operation_row *)(const void *)d;
    return row >= kn_operation_table && row < kn_operation_table + kn_operation_table_count;
}

/* True if a 16-bit type was asked for to reduce in. */
static bool reduces_in_half(const kn_param *value, const parameters *p)
{
    if (value->type == KN_TYPE_DTYPE)
        return kn_dtype_is_half(value->dtype) && !value->is_wide;
    for (int k = 0; k < p->count && value->type == KN_TYPE_PLACEHOLDER; ++k)
        if (p->param[k].type == KN_TYPE_PLACEHOLDER && p->param[k].placeholder == value->placeholder)
            return kn_dtype_is_half(p->dtype[k]) && !value->is_wide;
    return false;
}

bool kn_op_shows_halves(const kn_node *node, const kn_typed *typed)
{
    kn_param param[KN_MAX_PARAMS];
    int n_in = 0, n_out = 0;
    bool shows = false;
    if (node->kind == KN_NODE_KERNEL) {
        const kn_program *p = node->kernel->program;
        const parameters of = {p->param, typed->param, p->n_in + p->n_out};
        if ((p->flags & KILN_KERNEL_ROUND_EACH) || !has_halves(&of))
            return false;
        for (int v = 0; v < p->n_values; ++v)
            shows = shows || reduces_in_half(&p->param[of.count + v], &of);
        for (int t = 0; t < kn_program_texts(p); ++t)
            shows = shows || shows_halves(p->text[t], &of);
        return shows || kn_text_has_word(p->preamble, "float16") || kn_text_has_word(p->preamble, "bfloat16");
    }
    const kiln_operation *d = typed->definition;
    const parameters of = {param, typed->variant.dtype, typed->variant.n_in + typed->variant.n_out};
    if (node->kind != KN_NODE_CALL || is_own(d) || !has_halves(&of) ||
        kn_operation_params(param, &n_in, &n_out, d) != KILN_OK)
        return false;
    const char *const text[] = {d->map, d->reduce, d->post, d->identity, d->preamble};
    shows = d->reduce_type && names_halves(d->reduce_type, &of);
    for (size_t t = 0; t < sizeof text / sizeof text[0]; ++t)
        shows = shows || shows_halves(text[t], &of);
    const char *preamble = d->preamble ? d->preamble : "";
    return shows || kn_text_has_word(preamble, "float16") || kn_text_has_word(preamble, "bfloat16");
}

static kiln_status op_of_row(kn_op *op, kn_arena *arena, const kiln_operation *d, const kn_variant *v)
{
    int n_in, n_out;
    kn_param *param = kn_arena_take(arena, (size_t)(v->n_in + v->n_out + 1) * sizeof *param);
    kn_param all[KN_MAX_PARAMS];
    op->declared = v->dtype;
    op->dtype = computed_dtypes(arena, v->dtype, v->n_in + v->n_out);
    if (!param || !op->dtype)
        return no_memory();
    kiln_status status = kn_operation_params(all, &n_in, &n_out, d);
    if (status != KILN_OK)
        return status;
    memcpy(param, all, (size_t)(n_in + n_out) * sizeof *param);
    op->name = d->name;
    op->n_in = n_in;
    op->n_out = n_out;
    op->param = param;
    op->map = d->map;
    op->reduce = d->reduce;
    op->post = d->post;
    op->identity = d->identity && d->identity[0] ? d->identity : NULL;
    op->preamble = d->preamble && d->preamble[0] ? d->preamble : NULL;
    settle_value(op, d->reduce_type);
    return KILN_OK;
}

/* The program of a kernel is one map, or a reduction. */
static kiln_status op_of_kernel(kn_op *op, kn_arena *arena, const kn_program *p, const kn_typed *typed)
{
    op->declared = typed->param;
    op->dtype = computed_dtypes(arena, typed->param, p->n_in + p->n_out);
    if (!op->dtype)
        return no_memory();
    op->name = p->name;
    op->n_in = p->n_in;
    op->n_out = p->n_out;
    op->param = p->param;
    op->map = p->n_stages > 0 ? p->stage[0].body : "";
    op->preamble = p->preamble[0] ? p->preamble : NULL;
    if (strcmp(p->pattern, "m") == 0)
        return KILN_OK;
    const kn_param *value = &p->param[p->stage[1].value[p->stage[1].n_read]];
    op->reduce = p->stage[1].body;
    op->identity = p->stage[1].identity[0] ? p->stage[1].identity : NULL;
    op->post = p->stage[2].body;
    op->value = value->type == KN_TYPE_DTYPE ? kn_computed_dtype(value->dtype) : KILN_DTYPE_NONE;
    op->value_struct = value->struct_name;
    for (int k = 0; k < op->n_in + op->n_out && value->type == KN_TYPE_PLACEHOLDER; ++k)
        if (op->param[k].type == KN_TYPE_PLACEHOLDER && op->param[k].placeholder == value->placeholder)
            op->value = op->dtype[k];
    return KILN_OK;
}

static void settle_halves(kn_op *op, const kn_node *node, const kn_typed *typed)
{
    const char *const text[] = {op->map, op->reduce, op->post, op->identity, op->preamble};
    const parameters p = {op->param, op->declared, op->n_in + op->n_out};
    if (!has_halves(&p))
        return;
    if (node->kind == KN_NODE_CALL && is_own(typed->definition)) {
        /* A neighbour is one of the type's. */
        op->halves = kn_text_has_word(op->map, "nextafter") ? KN_HALVES_EACH : op->halves;
        return;
    }
    for (size_t t = 0; t < sizeof text / sizeof text[0]; ++t)
        op->halves = names_halves(text[t], &p) ? KN_HALVES_NAMED : op->halves;
    if (node->kind == KN_NODE_KERNEL && node->kernel->program->flags & KILN_KERNEL_ROUND_EACH)
        op->halves = KN_HALVES_EACH;
}

kiln_status kn_op_find(const kn_op **out, kn_arena *arena, const kn_node *node, const kn_typed *typed,
                       const char *map, unsigned flags)
{
    kn_op *op = kn_arena_take(arena, sizeof *op);
    if (!op)
        return no_memory();
    kiln_status status = node->kind == KN_NODE_KERNEL
                             ? op_of_kernel(op, arena, node->kernel->program, typed)
                             : op_of_row(op, arena, typed->definition, &typed->variant);
    if (status != KILN_OK)
        return status;
    settle_halves(op, node, typed);
    if (node->kind == KN_NODE_CALL && kn_dtype_is_half(typed->dtype) && !(flags & KILN_KERNEL_ROUND_EACH) &&
        strcmp(op->map, "y = exp(x)") == 0)
        op->map = "y = kn_narrow_exp(x)";
    op->map = map ? map : op->map;
    op->is_costly = op->map && is_costly(op->map);
    *out = op;
    return KILN_OK;
}
