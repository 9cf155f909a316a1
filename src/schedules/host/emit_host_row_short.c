/* emit_host_row_short.c - fills host_row_short.cpp: the levels of a program over elements of neighbouring
 * rows. */
#include "schedules/rowprog/row_stages.h"

#include "schedules/host/host_kinds.h"

static bool is_in_level(const kn_writer *w, const kn_level *level, int k)
{
    return kn_is_wide_array(w, k) && (kn_level_reads(w, level, k) || kn_level_gives(w, level, k));
}

/* The operand goes through a tile, since its elements of neighbouring rows are not contiguous. */
static bool is_packed(const kn_writer *w, int k)
{
    return kn_is_wide_array(w, k) && kn_access_of(w, k) == KN_GATHER;
}

/* ---- an element ---- */

static void put_in_rows(const kn_writer *w, kn_str *out, int k)
{
    char access = kn_access_of(w, k);
    kn_put_part(w, out, access == KN_DENSE ? "dense" : access == KN_BROADCAST ? "one" : "packed", k);
}

static void place_in_rows(const kn_writer *w, kn_str *out, int k)
{
    if (!kn_is_wide_array(w, k))
        kn_place_of_row(w, out, k);
    else if (kn_is_output(w, k))
        kn_put_part(w, out, "now", k);
    else
        put_in_rows(w, out, k);
}

/* Results that this level does not store are variables. */
static void put_results(const kn_writer *w, kn_str *out, const kn_level *level)
{
    for (int k = w->program->n_in; k < kn_param_count(w); ++k) {
        if (!is_in_level(w, level, k))
            continue;
        bool is_variable = kn_level_gives(w, level, k) && !kn_level_stores(w, level, k);
        kn_put_part_of(w, out, is_variable ? "result_variable" : "result_here", k, "element=%s", put_in_rows);
    }
}

static void put_pointers(const kn_writer *w, kn_str *out, const kn_level *level)
{
    for (int k = 0; k < kn_param_count(w); ++k)
        if (is_in_level(w, level, k) && !is_packed(w, k))
            kn_put_part(w, out, "pointer", k);
}

static const kn_element_places places = {place_in_rows, "", "_held[kn_j * kn_across + kn_k]",
                                         "kn_here.at[%d] + kn_j", "kn_j"};

/* ---- levels ---- */

static void put_element(const kn_writer *w, kn_str *out, const kn_level *level)
{
    put_results(w, out, level);
    kn_put_level_stages(w, out, level, &places);
}

static void put_reduction(const kn_writer *w, kn_str *out, const kn_level *level)
{
    int result = w->program->stage[level->end].value[1];
    kn_str pointers = KN_STR_INIT, element = KN_STR_INIT, reduced = KN_STR_INIT, function = KN_STR_INIT;
    put_pointers(w, &pointers, level);
    put_element(w, &element, level);
    kn_put_reduced_value(w, &reduced, level);
    kn_put_function(w, &function, level->end);
    kn_put_declaration(w, out, result);
    kn_put_part_with(w, out, "reduce_rows", result, "level=%d pointers=%s element=%s reduced=%s function=%s",
                     level->end, kn_str_text(&pointers), kn_str_text(&element), kn_str_text(&reduced),
                     kn_str_text(&function));
    out->failed = out->failed || pointers.failed || element.failed || reduced.failed || function.failed;
    kn_str_free(&pointers);
    kn_str_free(&element);
    kn_str_free(&reduced);
    kn_str_free(&function);
}

static void put_last(const kn_writer *w, kn_str *out, const kn_level *level)
{
    kn_str pointers = KN_STR_INIT, element = KN_STR_INIT;
    if (level->stages == 0)
        return;
    put_pointers(w, &pointers, level);
    put_element(w, &element, level);
    kn_put_part_with(w, out, "last_pass", -1, "pointers=%s element=%s", kn_str_text(&pointers),
                     kn_str_text(&element));
    out->failed = out->failed || pointers.failed || element.failed;
    kn_str_free(&pointers);
    kn_str_free(&element);
}

/* The program's own values that a later level needs: on the thread's stack. */
static void put_held_values(kn_writer *w)
{
    for (int k = kn_param_count(w); k < kn_param_count(w) + w->program->n_values; ++k)
        if (kn_is_held_value(w, k))
            kn_put_part(w, &w->slot[KN_SLOT_ITEM], "held_value", k);
}

/* A body may leave or read a result, so its tile is filled from memory too. */
static void put_tiles(kn_writer *w)
{
    for (int k = 0; k < kn_param_count(w); ++k) {
        if (!is_packed(w, k))
            continue;
        kn_put_part(w, &w->slot[KN_SLOT_ITEM], "tile", k);
        if (!kn_is_output(w, k) || w->program->left_outputs >> (k - w->program->n_in) & 1)
            kn_put_part(w, &w->slot[KN_SLOT_ROW], "pack", k);
        if (kn_is_output(w, k))
            kn_put_part(w, &w->slot[KN_SLOT_STORES], "unpack", k);
    }
}

static void fill(kn_writer *w)
{
    put_held_values(w);
    put_tiles(w);
    kn_put_row_results(w, NULL);
    kn_put_levels(w, false, put_reduction, put_last);
}

const kn_recipe kn_recipe_host_row_short = {.template_name = "schedules/host/host_row_short.cpp",
                                            .fill = fill,
                                            .preludes = "kn_line",
                                            .parts = "schedules/host/host_row_short_parts.cpp",
                                            .more_parts = "schedules/rowprog/row_stage_parts.cpp",
                                            .has_rows_beside = true,
                                            .repeats_stages = true};
