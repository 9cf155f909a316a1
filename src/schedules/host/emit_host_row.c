/* emit_host_row.c - fills host_row.cpp: the levels of a program over the contiguous ranges of a row. */
#include "schedules/rowprog/row_stages.h"

#include "schedules/host/kind_host_row.h"
#include "schedules/host/host_kinds.h"

static bool is_multipass(const kn_writer *w)
{
    return w->spec->schedule.variant == KN_HOST_ROW_MULTIPASS;
}

static bool is_in_level(const kn_writer *w, const kn_level *level, int k)
{
    return kn_is_wide_array(w, k) && (kn_level_reads(w, level, k) || kn_level_gives(w, level, k));
}

/* ---- an element ---- */

static void put_in_run(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part(w, out, kn_access_of(w, k) == KN_DENSE ? "dense" : "stepped", k);
}

static void place_in_run(const kn_writer *w, kn_str *out, int k)
{
    if (!kn_is_wide_array(w, k))
        kn_place_of_row(w, out, k);
    else if (kn_is_output(w, k))
        kn_put_part(w, out, "now", k);
    else if (kn_access_of(w, k) == KN_BROADCAST)
        kn_put_part(w, out, "one", k);
    else
        put_in_run(w, out, k);
}

/* Results that this level does not store are variables. */
static void put_results(const kn_writer *w, kn_str *out, const kn_level *level)
{
    for (int k = w->program->n_in; k < kn_param_count(w); ++k) {
        if (!is_in_level(w, level, k))
            continue;
        bool is_variable = kn_level_gives(w, level, k) && !kn_level_stores(w, level, k);
        kn_put_part_of(w, out, is_variable ? "result_variable" : "result_here", k, "element=%s", put_in_run);
    }
}

/* The address and the step of each array's range. */
static void put_run_pointers(const kn_writer *w, kn_str *out, const kn_level *level)
{
    for (int k = 0; k < kn_param_count(w); ++k) {
        if (!is_in_level(w, level, k))
            continue;
        if (kn_access_of(w, k) == KN_BROADCAST && !kn_is_output(w, k)) {
            kn_put_part(w, out, "broadcast_element", k);
            continue;
        }
        kn_put_part(w, out, "run_pointer", k);
        if (kn_access_of(w, k) != KN_DENSE)
            kn_put_part(w, out, "run_step", k);
    }
}

static const kn_element_places places = {place_in_run, "", "_held[kn_base + kn_j]", "kn_from.at[%d] + kn_j",
                                         "kn_j"};

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
    put_run_pointers(w, &pointers, level);
    put_element(w, &element, level);
    kn_put_reduced_value(w, &reduced, level);
    kn_put_function(w, &function, level->end);
    kn_put_declaration(w, out, result);
    kn_put_part_with(w, out, "reduce_row", result, "pointers=%s element=%s reduced=%s function=%s",
                     kn_str_text(&pointers), kn_str_text(&element), kn_str_text(&reduced),
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
    put_run_pointers(w, &pointers, level);
    put_element(w, &element, level);
    kn_put_part_with(w, out, "last_pass", -1, "pointers=%s element=%s", kn_str_text(&pointers),
                     kn_str_text(&element));
    out->failed = out->failed || pointers.failed || element.failed;
    kn_str_free(&pointers);
    kn_str_free(&element);
}

/* The program's own values that a later level needs: on the thread's stack, as many as a row has elements. */
static void put_held_values(kn_writer *w)
{
    for (int k = kn_param_count(w); k < kn_param_count(w) + w->program->n_values && !is_multipass(w); ++k)
        if (kn_is_held_value(w, k))
            kn_put_part(w, &w->slot[KN_SLOT_ITEM], "held_value", k);
}

static void fill(kn_writer *w)
{
    put_held_values(w);
    kn_put_row_results(w, NULL);
    kn_put_levels(w, is_multipass(w), put_reduction, put_last);
}

const kn_recipe kn_recipe_host_row = {.template_name = "schedules/host/host_row.cpp",
                                      .fill = fill,
                                      .preludes = "kn_line",
                                      .parts = "schedules/host/host_row_parts.cpp",
                                      .more_parts = "schedules/rowprog/row_stage_parts.cpp",
                                      .repeats_stages = true};
