/* row_stages.c - the stages of a row program, level by level. */
#include "schedules/rowprog/row_stages.h"

#include <string.h>

static bool is_own(const kn_writer *w, int value)
{
    return value >= kn_param_count(w);
}

/* True for stages that are called for each element: reductions are loops of their own, and columns are
 * combined behind the calls. */
static bool is_over_all(const kn_stage *s)
{
    return s->kind != KN_REDUCE && s->kind != KN_COLUMNS && s->over == KN_OVER_ALL;
}

bool kn_has_columns(const kn_writer *w)
{
    return w->recipe->has_rows_beside;
}

bool kn_is_wide_array(const kn_writer *w, int k)
{
    return !is_own(w, k) && kn_array_of(w, k) >= 0 && kn_row_is_wide(w->program, k);
}

/* ---- levels ---- */

static int level_end(const kn_program *p, int stage)
{
    while (stage < p->n_stages && p->stage[stage].kind != KN_REDUCE)
        ++stage;
    return stage;
}

static uint32_t recomputed_stages(const kn_writer *w, const kn_level *level)
{
    bool wanted[2 * KN_MAX_PARAMS] = {false};
    if (!level->is_last)
        wanted[w->program->stage[level->end].value[0]] = true;
    for (int k = w->program->n_in; k < kn_param_count(w) && level->is_last; ++k)
        wanted[k] = kn_is_wide_array(w, k);
    return kn_row_stages_for(w->program, wanted);
}

kn_level kn_level_from(const kn_writer *w, int begin, bool is_recomputed)
{
    const kn_program *p = w->program;
    int end = level_end(p, begin);
    kn_level level = {begin, end, 0, is_recomputed, end == p->n_stages, false};
    for (int s = begin; s < end && !is_recomputed; ++s)
        level.stages |= (uint32_t)is_over_all(&p->stage[s]) << s;
    if (is_recomputed)
        level.stages = recomputed_stages(w, &level);
    return level;
}

bool kn_level_reads(const kn_writer *w, const kn_level *level, int value)
{
    bool reads = false;
    for (int s = 0; s < w->program->n_stages; ++s)
        for (int v = 0; v < w->program->stage[s].n_read; ++v)
            reads = reads || (level->stages >> s & 1 && w->program->stage[s].value[v] == value);
    return reads;
}

bool kn_level_gives(const kn_writer *w, const kn_level *level, int value)
{
    bool gives = false;
    for (int s = 0; s < w->program->n_stages; ++s)
        gives = gives || (level->stages >> s & 1 && kn_stage_gives(&w->program->stage[s], value));
    return gives;
}

bool kn_level_stores(const kn_writer *w, const kn_level *level, int k)
{
    return kn_is_wide_array(w, k) && kn_level_gives(w, level, k) && (!level->is_recomputed || level->is_last);
}

bool kn_is_held_value(const kn_writer *w, int value)
{
    int s = 0;
    while (s < w->program->n_stages && !kn_stage_gives(&w->program->stage[s], value))
        ++s;
    return kn_row_is_wide(w->program, value) &&
           kn_row_is_read(w->program, value, level_end(w->program, s) + 1);
}

/* ---- an element ---- */

/* True if a thread has one of it for each of its columns. */
static bool is_of_columns(const kn_writer *w, int value)
{
    return kn_has_columns(w) && !kn_row_is_wide(w->program, value);
}

void kn_put_row_value(const kn_writer *w, kn_str *out, int value)
{
    kn_put_value(w, out, value);
    kn_str_append(out, is_of_columns(w, value) ? "_of" : "");
}

void kn_put_declaration(const kn_writer *w, kn_str *out, int value)
{
    kn_put_part(w, out, is_of_columns(w, value) ? "declaration_of_rows" : "declaration", value);
}

/* The values of this column that stages (bits) read or give. */
static void put_column_values(const kn_writer *w, kn_str *out, uint32_t stages)
{
    const kn_level all = {.stages = stages};
    for (int k = kn_param_count(w); k < kn_param_count(w) + w->program->n_values; ++k)
        if (is_of_columns(w, k) && (kn_level_reads(w, &all, k) || kn_level_gives(w, &all, k)))
            kn_put_part(w, out, w->is_cuda ? "value_of_row" : "value_of_row_beside", k);
}

/* Statements for a row: they are repeated for each of a thread's rows. */
static void put_for_rows(const kn_writer *w, kn_str *out, kn_str *lines)
{
    if (kn_has_columns(w))
        kn_put_part_with(w, out, w->is_cuda ? "rows" : "rows_beside", KN_NO_VALUE, "lines=%s",
                         kn_str_text(lines));
    else
        kn_str_append(out, kn_str_text(lines));
}

/* A value that no later level needs is a variable; others are members of the item. */
static void put_own_value(const kn_writer *w, kn_str *out, const kn_level *level, const kn_element_places *at,
                          int value)
{
    if (level->is_recomputed || !kn_is_held_value(w, value))
        kn_put_declaration(w, out, value);
    else
        kn_put_part_with(w, out, "stored_value", value, "in_front=%s behind=%s", at->in_front, at->behind);
}

static void put_own_values(const kn_writer *w, kn_str *out, const kn_level *level,
                           const kn_element_places *at)
{
    int reduced = level->is_last ? -1 : w->program->stage[level->end].value[0];
    for (int k = kn_param_count(w); k < kn_param_count(w) + w->program->n_values; ++k)
        if (kn_row_is_wide(w->program, k) &&
            (k == reduced || kn_level_reads(w, level, k) || kn_level_gives(w, level, k)))
            put_own_value(w, out, level, at, k);
}

/* The stride from row to row of a thread. */
static void put_column_step(const kn_writer *w, kn_str *out, int array)
{
    if (kn_has_columns(w))
        kn_put_part_with(w, out, "column", KN_NO_VALUE, "array=%d", array);
}

/* "kn.start + kn_here.at[2] + kn_e * kn.axis[0].stride[2]" */
static void put_index(const kn_writer *w, kn_str *out, const char *start, const char *place, int operand)
{
    kn_str_printf(out, "kn.%s + ", start);
    kn_str_printf(out, place, operand);
    kn_str_printf(out, " * kn.axis[0].stride[%d]", operand);
    put_column_step(w, out, operand);
}

static void put_call(const kn_writer *w, kn_str *out, int stage, const kn_element_places *at)
{
    kn_str *index = kn_text(w), *reduction_index = kn_text(w);
    put_index(w, index, "start", at->index, w->spec->n_arrays);
    if (w->spec->schedule.order && at->element)
        kn_str_printf(reduction_index, "(unsigned)%s", at->element);
    else
        put_index(w, reduction_index, "reduction_start", at->index, kn_layout_space_operands(w->spec) - 1);
    kn_put_map(w, out, stage, at->place, kn_str_text(index), kn_str_text(reduction_index));
}

void kn_put_level_stages(const kn_writer *w, kn_str *out, const kn_level *level, const kn_element_places *at)
{
    put_column_values(w, out, level->stages);
    put_own_values(w, out, level, at);
    for (int s = 0; s < w->program->n_stages; ++s)
        if (level->stages >> s & 1)
            put_call(w, out, s, at);
}

/* ---- what runs once for a row ---- */

static void put_column_of(const kn_writer *w, kn_str *out, int k)
{
    put_column_step(w, out, kn_array_of(w, k));
}

static void put_of_row(const kn_writer *w, kn_str *out, int k)
{
    if (!w->is_cuda && kn_has_columns(w) && kn_access_of(w, k) == KN_DENSE)
        kn_put_part(w, out, "dense_of_row", k);
    else
        kn_put_part_with(w, out, "of_row", k, "column=%s", kn_text_by(w, put_column_of, k));
}

void kn_place_of_row(const kn_writer *w, kn_str *out, int k)
{
    if (kn_is_output(w, k))
        kn_put_part(w, out, kn_has_columns(w) ? "result_of_row" : "result", k);
    else
        put_of_row(w, out, k);
}

static void put_level_of_row(const kn_writer *w, kn_str *out, const kn_level *level)
{
    for (int s = level->begin; s < level->end; ++s) {
        const kn_stage *stage = &w->program->stage[s];
        kn_str *lines = kn_text(w);
        if (stage->over == KN_OVER_ALL)
            continue;
        for (int v = stage->n_read; v < stage->n_read + stage->n_given; ++v)
            if (is_own(w, stage->value[v]))
                kn_put_declaration(w, out, stage->value[v]);
        put_column_values(w, lines, UINT32_C(1) << s);
        kn_put_map(w, lines, s, kn_place_of_row, "", "");
        put_for_rows(w, out, lines);
    }
}

static void put_level_empty(const kn_writer *w, kn_str *out, const kn_level *level)
{
    const kn_stage *s = &w->program->stage[level->end];
    if (!level->is_last && s->identity[0] && !kn_has_columns(w))
        kn_put_part_with(w, out, "empty", s->value[1], "label=%s", s->label);
}

void kn_put_levels(kn_writer *w, bool is_recomputed, kn_level_writer put_reduction, kn_level_writer put_last)
{
    kn_str *out = &w->slot[KN_SLOT_LEVELS];
    for (int begin = 0; begin <= w->program->n_stages;) {
        kn_level level = kn_level_from(w, begin, is_recomputed);
        put_level_of_row(w, out, &level);
        (level.is_last ? put_last : put_reduction)(w, out, &level);
        put_level_empty(w, out, &level);
        begin = level.end + 1;
    }
}

static void put_row_result(kn_writer *w, int k, const char *condition)
{
    kn_str *row = &w->slot[KN_SLOT_ROW], *load = kn_text(w), *store = kn_text(w), *place = kn_text(w);
    put_of_row(w, place, k);
    if (kn_has_columns(w))
        kn_put_part(w, row, "result_of_rows", k);
    kn_put_part_with(w, load, kn_has_columns(w) ? "load_result_of_row" : "load_result", k, "place=%s",
                     kn_str_text(place));
    kn_put_part_with(w, store, condition ? "store_result_if" : "store_result", k,
                     "condition=%s place=%s value=%s", condition, kn_str_text(place),
                     kn_text_by(w, kn_place_of_row, k));
    /* Where rows are not side by side the load declares the result, too. */
    if (w->is_cuda || !kn_has_columns(w) || w->program->left_outputs >> (k - w->program->n_in) & 1)
        put_for_rows(w, row, load);
    put_for_rows(w, &w->slot[KN_SLOT_STORES], store);
}

void kn_put_row_results(kn_writer *w, const char *condition)
{
    for (int k = w->program->n_in; k < kn_param_count(w); ++k)
        if (kn_array_of(w, k) >= 0 && !kn_is_wide_array(w, k))
            put_row_result(w, k, condition);
}
