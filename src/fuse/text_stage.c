/* The stages of a group's program, level by level. */
#include "fuse/text_parts.h"

#include <stdio.h>
#include <string.h>

/* Marks all uses that the marked ones need, down to leaves, results of reductions and stored values. */
static void mark_needed(kn_text_writer *w)
{
    const kn_use **list = kn_text_take(w, (size_t)(w->group->n_uses + 1) * sizeof *list);
    int count = 0;
    for (const kn_use *u = w->group->first_use; list && u; u = u->after)
        list[count++] = u;
    while (count-- > 0) {
        const kn_use *u = list[count];
        if (!w->needed[u->number] || u->leaf || u->is_own_reduction || w->given[u->number][0])
            continue;
        /* a reciprocal replaces its divisor */
        int n_in = kn_text_is_quotient(w, u) && w->divides[u->in[1]->number] ? 1 : u->n_in;
        for (int k = 0; k < n_in; ++k)
            w->needed[u->in[k]->number] = true;
    }
}

static void clear_needed(kn_text_writer *w)
{
    memset(w->needed, 0, (size_t)w->group->n_uses);
    memset(w->name, 0, (size_t)w->group->n_uses * sizeof *w->name);
    w->reads = 0;
}

/* Marks the inputs of a reduction's map. Scalars that only its post reads are marked with the post. */
static void need_inputs(kn_text_writer *w, const kn_text_reduction *f)
{
    for (int k = 0; k < f->use->n_in; ++k)
        w->needed[f->use->in[k]->number] = true;
}

/* True for a root with one element per result. A root that is stored for each element, though constant
 * along the reduction axes, has those axes. */
static bool root_is_reduced(const kn_text_writer *w, int r)
{
    const kn_group *g = w->group;
    uint64_t along = 0;
    for (int a = 0; a < kn_text_typed_of(w, g->root_use[r])->ndim; ++a)
        if (g->root_use[r]->map[a].to >= 0)
            along |= UINT64_C(1) << g->root_use[r]->map[a].to;
    uint64_t reduced = 0;
    for (int a = 0; a < g->ndim; ++a)
        reduced |= g->reduced >> a & 1 && g->extent[a] != 1 ? UINT64_C(1) << a : 0;
    return g->is_settled && (along & reduced) == 0 && (reduced != 0 || !g->root_use[r]->is_all);
}

/* Marks the needs of the stage that ends in the reductions of `level`; above the last level, of the stage
 * that stores the roots of `over`. False: nothing is needed. */
static bool need_for(kn_text_writer *w, int level, kn_over over)
{
    bool any = false;
    clear_needed(w);
    for (const kn_text_reduction *f = w->reductions; f; f = f->next)
        if (f->level == level) {
            need_inputs(w, f);
            any = true;
        }
    for (int r = 0; level > w->group->n_levels && r < w->group->n_roots; ++r)
        if (root_is_reduced(w, r) == (over == KN_OVER_RESULTS)) {
            w->needed[w->group->root_use[r]->number] = true;
            any = true;
        }
    mark_needed(w);
    return any;
}

static bool may_be_given(const kn_text_writer *w, const kn_use *u)
{
    const kn_op *op = w->op[u->number];
    return u->is_all && !u->leaf && !u->is_own_reduction && op && op->is_costly;
}

/* A costly value that several stages need is stored by the first of them, if later stages read it itself
 * and not only its inputs. Beside a scan it is computed again: the map in front of that gives one value. */
static void find_given_values(kn_text_writer *w)
{
    int last = w->group->is_scan ? 0 : w->group->n_levels + 1;
    for (int level = 1; level <= last; ++level) {
        need_for(w, level, KN_OVER_ALL);
        for (const kn_use *u = w->group->first_use; u; u = u->after)
            if (w->needed[u->number] && w->first[u->number] < 0)
                w->first[u->number] = level;
    }
    for (int level = 2; level <= last; ++level) {
        for (const kn_use *u = w->group->first_use; u; u = u->after)
            if (may_be_given(w, u) && w->first[u->number] == level - 1)
                snprintf(w->given[u->number], KN_TEXT_NAME, "e%d", u->number);
        need_for(w, level, KN_OVER_ALL);
        for (const kn_use *u = w->group->first_use; u; u = u->after)
            w->again[u->number] |= w->needed[u->number] && w->given[u->number][0];
    }
    memset(w->given, 0, (size_t)w->group->n_uses * sizeof *w->given);
}

static bool is_given(const kn_text_writer *w, const kn_use *u, int level)
{
    return may_be_given(w, u) && w->needed[u->number] && w->first[u->number] == level && w->again[u->number];
}

/* Reserves values of the program, of which there are as many as parameters. False: the value is computed
 * again instead. */
static bool take_values(kn_text_writer *w, int count)
{
    if (w->n_values + count > KN_MAX_PARAMS)
        return false;
    w->n_values += count;
    return true;
}

static void put_reads(kn_text_writer *w, kn_text_stage *s, const char *values)
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

/* Lists the program's values that this stage reads. */
static void find_own_reads(kn_text_writer *w, kn_str *values)
{
    const char *separator = "";
    kn_text_find_divisors(w);
    for (int l = 0; l < w->group->n_levels; ++l) {
        bool any = false;
        for (const kn_use *u = w->group->first_use; u; u = u->after)
            any |=
                w->needed[u->number] && !w->given[u->number][0] && u->is_own_reduction && u->level == l + 1;
        if (any) {
            kn_str_printf(values, "%s_r%d", separator, l);
            separator = ", ";
        }
    }
    for (const kn_use *u = w->group->first_use; u; u = u->after)
        if (w->needed[u->number] && w->given[u->number][0]) {
            kn_str_printf(values, "%s_%s", separator, w->given[u->number]);
            separator = ", ";
        }
    for (const kn_use *u = w->group->first_use; u; u = u->after)
        if (w->divides[u->number] && w->divisor[u->number]) {
            kn_str_printf(values, "%s_q%d, _p%d", separator, u->number, u->number);
            separator = ", ";
        }
}

static void put_uses(kn_text_writer *w, kn_text_stage *s)
{
    for (const kn_use *u = w->group->first_use; u; u = u->after)
        if (w->needed[u->number])
            kn_text_put_use(w, &s->body, u);
}

static kn_text_stage *new_stage(kn_text_writer *w, kn_stage_kind kind, kn_over over, char letter, int number)
{
    kn_text_stage *s = &w->stage[w->n_stages++];
    s->kind = kind;
    s->over = over;
    snprintf(s->label, KN_TEXT_NAME, "%c%d", letter, number);
    return s;
}

static void put_value_declaration(kn_text_writer *w, const char *type, const char *name)
{
    kn_str_printf(&w->values, "%s%s _%s", w->values.length > 0 ? ", " : "", type, name);
}

/* The type that a level reduces, declared in the preamble if it is a struct. */
static const char *level_type(kn_text_writer *w, int level)
{
    char *name = kn_text_take(w, KN_TEXT_NAME);
    const kn_text_reduction *only = NULL;
    int count = kn_text_reductions_of_level(w, level);
    for (const kn_text_reduction *f = w->reductions; f; f = f->next)
        only = f->level == level ? f : only;
    if (!name || !only)
        return "";
    if (count == 1 && only->op->value != KILN_DTYPE_NONE)
        return kiln_dtype_name(only->op->value);
    snprintf(name, KN_TEXT_NAME, "w%d", level - 1);
    kn_str_printf(&w->preamble, count == 1 ? "typedef " : "struct %s {\ntypedef int joined;\n", name);
    for (int index = 0; index < count; ++index)
        for (const kn_text_reduction *f = w->reductions; f; f = f->next) {
            char in_space[KN_TEXT_NAME];
            if (f->level != level || f->index != index)
                continue;
            snprintf(in_space, KN_TEXT_NAME, "f%d", f->space);
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

/* True for the unchanged result of a reduction. */
static bool is_plain_result(const kn_text_writer *w, const kn_use *u)
{
    const kn_op *op = w->op[u->number];
    const char *post = u->is_own_reduction ? kn_op_expression(op, op->post) : NULL;
    if (!post)
        return false;
    post += strspn(post, " ");
    return post[0] == 'a' && post[1 + strspn(post + 1, " ;")] == '\0';
}

/* True for a map that reduces its input unchanged. */
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

static bool is_hoistable(const kn_text_writer *w, const kn_use *u)
{
    return !u->is_all && u->level > 0 && !u->leaf && !kn_is_number(w->state, u->node) &&
           !w->given[u->number][0];
}

/* Marks values that are constant along the reduction axes and that elements of this stage read. */
static void find_hoisted(const kn_text_writer *w, bool *hoisted, int level)
{
    memset(hoisted, 0, (size_t)w->group->n_uses);
    for (const kn_use *u = w->group->first_use; u; u = u->after)
        for (int k = 0; k < u->n_in && w->needed[u->number] && u->is_all && !w->given[u->number][0]; ++k)
            hoisted[u->in[k]->number] |= is_hoistable(w, u->in[k]) && !(k == 1 && kn_text_is_quotient(w, u));
    for (const kn_text_reduction *f = w->reductions; f; f = f->next)
        for (int k = 0; k < f->use->n_in && f->level == level; ++k)
            hoisted[f->use->in[k]->number] |= is_hoistable(w, f->use->in[k]);
    for (int r = 0; r < w->group->n_roots && level > w->group->n_levels; ++r)
        if (!root_is_reduced(w, r))
            hoisted[w->group->root_use[r]->number] |= is_hoistable(w, w->group->root_use[r]);
}

/* Appends "c7 = t7;", and for a divisor d its reciprocal: x / d becomes x * q * p, where p is 1 unless d
 * is so small or large that 1 / d is no normal number. */
static void put_hoisted(kn_text_writer *w, kn_text_stage *s, const kn_use *u, bool is_value, bool is_divisor)
{
    const char *separator = s->gives.length > 0 ? ", " : "", *name = w->name[u->number];
    int n = u->number;
    if (is_value) {
        char c[KN_TEXT_NAME];
        snprintf(c, KN_TEXT_NAME, "c%d", n);
        kn_str_printf(&s->body, "%s = %s;\n", c, name);
        kn_str_printf(&s->gives, "%s_%s", separator, c);
        put_value_declaration(w, kiln_dtype_name(kn_computed_dtype(kn_text_typed_of(w, u)->dtype)), c);
        memcpy(w->given[n], c, KN_TEXT_NAME);
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

/* Writes the stage that computes hoisted values before that of `level`, if there are any. */
static void write_hoisted(kn_text_writer *w, int level)
{
    size_t count = (size_t)w->group->n_uses + 1;
    bool *hoisted = kn_text_take(w, count), *divisor = kn_text_take(w, count), any = false;
    kn_str own = KN_STR_INIT;
    if (!hoisted || !divisor || !w->group->is_settled || w->group->is_scan ||
        !need_for(w, level, KN_OVER_ALL))
        return;
    find_hoisted(w, hoisted, level);
    kn_text_find_divisors(w);
    for (const kn_use *u = w->group->first_use; u; u = u->after) {
        int n = u->number;
        divisor[n] = !w->divides[n] && w->divisor[n] && take_values(w, 2);
        hoisted[n] = hoisted[n] && !is_plain_result(w, u) && take_values(w, 1);
        any = any || hoisted[n] || divisor[n];
    }
    if (!any)
        return;
    clear_needed(w);
    for (size_t n = 0; n + 1 < count; ++n)
        w->needed[n] = hoisted[n] || divisor[n];
    mark_needed(w);
    find_own_reads(w, &own);
    kn_text_stage *s = new_stage(w, KN_MAP, KN_OVER_RESULTS, 'c', level);
    put_uses(w, s);
    for (const kn_use *u = w->group->first_use; u; u = u->after)
        if (hoisted[u->number] || divisor[u->number])
            put_hoisted(w, s, u, hoisted[u->number], divisor[u->number]);
    put_reads(w, s, kn_str_text(&own));
    s->body.failed |= own.failed;
    kn_str_free(&own);
}

/* True if the level reduces only this value. */
static bool is_reduced_itself(const kn_text_writer *w, const kn_use *u, int level)
{
    for (const kn_text_reduction *f = w->reductions; f; f = f->next)
        if (f->level == level)
            return kn_text_reductions_of_level(w, level) == 1 && f->use->in[0] == u && is_plain_map(f->op) &&
                   f->op->value == kn_computed_dtype(kn_text_typed_of(w, u)->dtype);
    return false;
}

/* Writes the map before the reductions of a level. */
static void write_map(kn_text_writer *w, int level)
{
    kn_str own = KN_STR_INIT;
    char v[KN_TEXT_NAME], part[2 * KN_TEXT_NAME];
    need_for(w, level, KN_OVER_ALL);
    find_own_reads(w, &own);
    kn_text_stage *s = new_stage(w, KN_MAP, KN_OVER_ALL, 'm', level - 1);
    put_uses(w, s);
    snprintf(v, KN_TEXT_NAME, "v%d", level - 1);
    kn_str_printf(&s->gives, "_%s", v);
    int count = kn_text_reductions_of_level(w, level);
    const char *type = level_type(w, level);
    put_value_declaration(w, type, v);
    for (int index = 0; index < count; ++index)
        for (const kn_text_reduction *f = w->reductions; f; f = f->next)
            if (f->level == level && f->index == index) {
                snprintf(part, sizeof part, count == 1 ? "%s" : "%s_%d", v, index);
                kn_text_put_mapped(w, &s->body, f, f->op->map, part, count == 1);
            }
    if (count > 1) {
        kn_str_printf(&s->body, "%s = %s{", v, type);
        for (int index = 0; index < count; ++index)
            kn_str_printf(&s->body, "%s%s_%d", index > 0 ? ", " : "", v, index);
        kn_str_append(&s->body, "};\n");
    }
    for (const kn_use *u = w->group->first_use; u; u = u->after)
        if (is_given(w, u, level) && !w->given[u->number][0]) {
            char e[KN_TEXT_NAME];
            if (is_reduced_itself(w, u, level)) { /* the value has that name already */
                memcpy(w->given[u->number], v, KN_TEXT_NAME);
                continue;
            }
            if (!take_values(w, 1))
                break;
            snprintf(e, KN_TEXT_NAME, "e%d", u->number);
            kn_str_printf(&s->body, "%s = %s;\n", e, w->name[u->number]);
            kn_str_printf(&s->gives, ", _%s", e);
            put_value_declaration(w, kiln_dtype_name(kn_computed_dtype(kn_text_typed_of(w, u)->dtype)), e);
            memcpy(w->given[u->number], e, KN_TEXT_NAME);
        }
    put_reads(w, s, kn_str_text(&own));
    s->body.failed |= own.failed;
    kn_str_free(&own);
}

static void write_reduce(kn_text_writer *w, int level)
{
    kn_stage_kind kind = w->group->is_scan ? KN_SCAN : KN_REDUCE;
    kn_text_stage *s = new_stage(w, kind, KN_OVER_ALL, 'r', level - 1);
    int count = kn_text_reductions_of_level(w, level);
    bool has_identity = true;
    char r[KN_TEXT_NAME], a[KN_TEXT_NAME], b[KN_TEXT_NAME];
    snprintf(r, KN_TEXT_NAME, "r%d", level - 1);
    kn_str_printf(&s->reads, "_v%d", level - 1);
    kn_str_printf(&s->gives, "_%s", r);
    char type[KN_TEXT_NAME];
    for (const kn_text_reduction *f = w->reductions; f; f = f->next) {
        has_identity &= f->level != level || f->op->identity;
        if (f->level != level)
            continue;
        if (count == 1 && f->op->value != KILN_DTYPE_NONE)
            snprintf(type, KN_TEXT_NAME, "%s", kiln_dtype_name(f->op->value));
        else
            snprintf(type, KN_TEXT_NAME, "w%d", level - 1);
    }
    put_value_declaration(w, type, r);
    for (int index = 0; index < count; ++index)
        for (const kn_text_reduction *f = w->reductions; f; f = f->next) {
            if (f->level != level || f->index != index)
                continue;
            snprintf(a, KN_TEXT_NAME, count > 1 ? "a.f%d" : "a", index);
            snprintf(b, KN_TEXT_NAME, count > 1 ? "b.f%d" : "b", index);
            const char *before = count == 1 ? "" : index == 0 ? "{" : ", ";
            kn_str_printf(&s->body, "%s%s", index == 0 && count > 1 ? type : "", before);
            kn_text_put_reduction(f, &s->body, false, a, b,
                                  kn_text_has_word(f->op->reduce, "_follows") ? "_follows" : "false");
            if (has_identity) {
                kn_str_printf(&s->identity, "%s%s", index == 0 && count > 1 ? type : "", before);
                kn_text_put_reduction(f, &s->identity, true, "a", "b", "false");
            }
        }
    kn_str_append(&s->body, count > 1 ? "}" : "");
    kn_str_append(&s->identity, count > 1 && has_identity ? "}" : "");
}

/* Writes the stage that stores the roots with an element for each element of the space, or those with one
 * per result. */
static void write_stores(kn_text_writer *w, kn_over over)
{
    const kn_group *g = w->group;
    kn_str own = KN_STR_INIT;
    if (!need_for(w, g->n_levels + 1, over))
        return;
    find_own_reads(w, &own);
    kn_text_stage *s = new_stage(w, KN_MAP, over, over == KN_OVER_RESULTS ? 'k' : 'm', g->n_levels);
    if (!g->is_settled) /* the only stage */
        s->label[0] = '\0';
    put_uses(w, s);
    const char *separator = "";
    for (int r = 0; r < g->n_roots; ++r) {
        if (root_is_reduced(w, r) != (over == KN_OVER_RESULTS))
            continue;
        bool is_combined = kn_is_strips(w->state, g->root[r]);
        kn_str_printf(&s->body, "%c%d = %s;\n", is_combined ? 'z' : 'y', r,
                      kn_text_operand(w, g->root_use[r], kn_computed_dtype(w->state->typed[g->root[r]].dtype),
                                      KN_NO_BOUND));
        kn_str_printf(&s->gives, is_combined ? "%s_z%d" : "%sy%d", separator, r);
        separator = ", ";
    }
    put_reads(w, s, kn_str_text(&own));
    s->body.failed |= own.failed;
    kn_str_free(&own);
}

/* The operation of the reduction that reads the strips: the node behind them (strips.h). NULL: no memory, and
 * w->status says so. */
static const kn_op *find_combining(kn_text_writer *w, int strips)
{
    const kn_op *op = NULL;
    kiln_status status = kn_op_find(&op, w->state->arena, &w->state->graph->node[strips + 1],
                                    &w->state->typed[strips + 1], NULL, 0);
    if (status != KILN_OK && w->status == KILN_OK)
        w->status = status;
    return op;
}

/* Writes the stages that combine columns by strips of rows, which come last. */
static void write_columns(kn_text_writer *w)
{
    for (int r = 0; r < w->group->n_roots; ++r) {
        int root = w->group->root[r];
        const kn_text_reduction f = {.op = kn_is_strips(w->state, root) ? find_combining(w, root) : NULL,
                                     .space = -1};
        if (!f.op)
            continue;
        char z[KN_TEXT_NAME];
        snprintf(z, KN_TEXT_NAME, "z%d", r);
        put_value_declaration(w, kiln_dtype_name(w->state->typed[root].dtype), z);
        kn_text_stage *s = new_stage(w, KN_COLUMNS, KN_OVER_ALL, 'l', r);
        kn_str_printf(&s->reads, "_%s", z);
        kn_str_printf(&s->gives, "y%d", r);
        kn_text_put_reduction(&f, &s->body, false, "a", "b", "false");
    }
}

void kn_text_write_stages(kn_text_writer *w)
{
    w->n_values = 2 * w->group->n_levels;
    find_given_values(w);
    for (int level = 1; level <= w->group->n_levels; ++level) {
        write_hoisted(w, level);
        write_map(w, level);
        write_reduce(w, level);
    }
    write_hoisted(w, w->group->n_levels + 1);
    write_stores(w, KN_OVER_ALL);
    write_stores(w, KN_OVER_RESULTS);
    write_columns(w);
    for (int r = 0; r < w->group->n_roots; ++r)
        kn_str_printf(&w->outs, "%s%s%s y%d", r > 0 ? ", " : "",
                      kn_is_strips(w->state, w->group->root[r]) ? "raw " : "",
                      kiln_dtype_name(kn_computed_dtype(w->state->typed[w->group->root[r]].dtype)), r);
}
