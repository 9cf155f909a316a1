/* Writes a group as a program. */
#include "fuse/text.h"

#include <string.h>

#include "base/error.h"
#include "fuse/text_parts.h"

static void find_reductions(kn_text_writer *w)
{
    for (const kn_use *u = w->group->first_use; u; u = u->after) {
        if (!u->is_own_reduction || kn_text_reduction_of(w, u))
            continue;
        kn_text_reduction *f = kn_text_take(w, sizeof *f);
        if (!f)
            return;
        *f = (kn_text_reduction){
            w->reductions,         u, w->op[u->number], u->level, kn_text_reductions_of_level(w, u->level),
            w->space_of[u->number]};
        w->reductions = f;
    }
}

/* Output axes first. Without reductions: in the order in which a range counts. */
static void order_axes(kn_text_writer *w)
{
    const kn_group *g = w->group;
    kn_text *t = w->out;
    const kn_leaf *range = NULL;
    for (int reduced = 0; reduced < 2; ++reduced)
        for (int a = 0; a < g->ndim; ++a)
            if ((int)(g->reduced >> a & 1) == reduced)
                t->order[(reduced ? t->n_output_axes + t->n_reduction_axes++ : t->n_output_axes++)] = a;
    for (const kn_leaf *l = g->leaf; l; l = l->next)
        range = l->kind == KN_BASE_RANGE ? l : range;
    for (int k = 1; range && !g->is_settled && k < g->ndim; ++k)
        for (int q = k; q > 0 && range->stride[t->order[q]] > range->stride[t->order[q - 1]]; --q) {
            int other = t->order[q];
            t->order[q] = t->order[q - 1];
            t->order[q - 1] = other;
        }
}

/* A node that must be in memory because no stage can compute it in place: a range in a stage that runs
 * once per result, or one that is faster to read. */
static int find_unmentionable(const kn_text_writer *w)
{
    for (const kn_use *u = w->group->first_use; u; u = u->after) {
        bool is_range = u->leaf && u->leaf->kind == KN_BASE_RANGE;
        if (is_range && ((w->group->is_settled && !u->is_all) || kn_text_is_better_read(w, u->leaf)))
            return u->leaf->node;
    }
    return -1;
}

/* True if the source has texts that round each operation; the text that this file writes rounds by itself. */
static bool has_each(const kn_text_writer *w)
{
    bool has = false;
    for (const kn_use *u = w->group->first_use; u; u = u->after)
        has = has || (w->op[u->number] && w->op[u->number]->halves == KN_HALVES_EACH);
    return has;
}

static kiln_status create_program(kn_text_writer *w, const char *name)
{
    kn_stage_text texts[KN_MAX_STAGES];
    kiln_kernel_options o = KILN_KERNEL_OPTIONS_INIT;
    kiln_status status = w->status;
    const kn_str *const strs[] = {&w->in, &w->outs, &w->values, &w->preamble};
    if (w->options)
        memcpy(&o, w->options, w->options->struct_size);
    if (!has_each(w))
        o.flags &= ~(unsigned)KILN_KERNEL_ROUND_EACH;
    o.kernels = NULL;
    o.n_kernels = 0;
    o.preamble = kn_str_text(&w->preamble);
    for (size_t k = 0; k < sizeof strs / sizeof strs[0] && status == KILN_OK; ++k)
        status = kn_str_status(strs[k], "a lowered expression");
    for (int s = 0; s < w->n_stages && status == KILN_OK; ++s) {
        const kn_text_stage *from = &w->stage[s];
        texts[s] = (kn_stage_text){.kind = from->kind,
                                   .over = from->over,
                                   .label = from->label,
                                   .body = kn_str_text(&from->body),
                                   .identity = kn_str_text(&from->identity),
                                   .reads = kn_str_text(&from->reads),
                                   .gives = kn_str_text(&from->gives)};
        if (from->body.failed || from->reads.failed || from->gives.failed || from->identity.failed)
            status = kn_error_memory("a lowered expression");
    }
    const kn_program_text text = {.name = name,
                                  .in = kn_str_text(&w->in),
                                  .out = kn_str_text(&w->outs),
                                  .values = kn_str_text(&w->values),
                                  .stage = texts,
                                  .n_stages = w->n_stages,
                                  .reduced = w->out->n_reduction_axes,
                                  .casts = true,
                                  .is_sound = true,
                                  .options = &o};
    return status == KILN_OK ? kn_program_create(&w->out->program, &text) : status;
}

static void free_writer(kn_text_writer *w)
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

kiln_status kn_text_write(kn_text *out, int *stored, const kn_group *g, const kn_lower_state *s,
                          const char *name, const kiln_kernel_options *options)
{
    size_t uses = (size_t)g->n_uses + 1;
    kn_text_writer *w = kn_arena_take(s->arena, sizeof *w);
    memset(out, 0, sizeof *out);
    *stored = -1;
    if (!w)
        return kn_error_memory("a lowered expression");
    w->group = g;
    w->state = s;
    w->options = options;
    w->out = out;
    w->op = kn_text_take(w, uses * sizeof *w->op);
    w->text = kn_text_take(w, uses * sizeof *w->text);
    w->space_of = kn_text_take(w, uses * sizeof *w->space_of);
    w->divisor = kn_text_take(w, uses);
    w->name = kn_text_take(w, uses * sizeof *w->name);
    w->given = kn_text_take(w, uses * sizeof *w->given);
    w->first = kn_text_take(w, uses * sizeof *w->first);
    w->again = kn_text_take(w, uses);
    w->divides = kn_text_take(w, uses);
    w->needed = kn_text_take(w, uses);
    if (w->status != KILN_OK)
        return w->status;
    order_axes(w);
    *stored = find_unmentionable(w);
    if (*stored >= 0)
        return KILN_OK;
    memset(w->space_of, 0xff, uses * sizeof *w->space_of);
    memset(w->first, 0xff, uses * sizeof *w->first);
    if (options && options->preamble)
        kn_str_append(&w->preamble, options->preamble);
    kn_text_find_ops(w);
    if (w->status == KILN_OK)
        find_reductions(w);
    if (w->status == KILN_OK)
        kn_text_write_stages(w);
    kiln_status status = create_program(w, name);
    free_writer(w);
    return status;
}
