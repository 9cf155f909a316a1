/* emit_host_row_short.c - fills host_row_short.cpp: the levels of a program over elements of neighbouring
 * rows. */
#include "schedules/host/host_kinds.h"
#include "schedules/host/host_row_levels.h"

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

static void put_pointers(const kn_writer *w, kn_str *out, const kn_level *level)
{
    for (int k = 0; k < kn_param_count(w); ++k)
        if (kn_host_is_in_level(w, level, k) && !is_packed(w, k))
            kn_put_part(w, out, "pointer", k);
}

static const kn_element_places places = {place_in_rows, "", "_held[kn_j * kn_across + kn_k]",
                                         "kn_here.at[%d] + kn_j", "kn_j"};

/* ---- levels ---- */

static const kn_host_levels levels_of_tier[] = {
    {&places, put_in_rows, put_pointers, "reduce_rows", "last_pass", true},
    {&places, put_in_rows, put_pointers, "reduce_rows_quick", "last_pass", true}};

static const kn_host_levels *levels_of(const kn_writer *w)
{
    return &levels_of_tier[w->spec->schedule.baseline];
}

static void put_reduction(const kn_writer *w, kn_str *out, const kn_level *level)
{
    kn_host_put_reduction(w, out, level, levels_of(w));
}

static void put_last(const kn_writer *w, kn_str *out, const kn_level *level)
{
    kn_host_put_last(w, out, level, levels_of(w));
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
    kn_put_part(w, &w->slot[KN_SLOT_PACKS], w->spec->schedule.baseline ? "packing_quick" : "packing",
                KN_NO_VALUE);
    kn_host_put_held_values(w);
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
