/* emit_host_row.c - fills host_row.cpp, or for the baseline tier host_row_quick.cpp: the levels of a program
 * over the contiguous ranges of a row. */
#include "schedules/host/host_kinds.h"
#include "schedules/host/host_row_levels.h"
#include "schedules/host/kind_host_row.h"

static bool is_multipass(const kn_writer *w)
{
    return kn_host_row_config_of(&w->spec->schedule)->multipass;
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

/* The address and the step of each array's range. */
static void put_run_pointers(const kn_writer *w, kn_str *out, const kn_level *level)
{
    for (int k = 0; k < kn_param_count(w); ++k) {
        if (!kn_host_is_in_level(w, level, k))
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

static const kn_host_levels levels_of_tier[] = {
    {&places, put_in_run, put_run_pointers, "reduce_row", "last_pass", false},
    {&places, put_in_run, put_run_pointers, "reduce_row_quick", "last_pass_quick", false}};
static const kn_field loops = KN_FIELD(kn_host_row_loops, KN_HOST_ROW_LOOPS);

static const kn_host_levels *levels_of(const kn_writer *w)
{
    return &levels_of_tier[w->spec->schedule.baseline];
}

static const char *choose_template(const kn_spec *spec)
{
    return spec->schedule.baseline ? "schedules/host/host_row_quick.cpp" : "schedules/host/host_row.cpp";
}

static void put_reduction(const kn_writer *w, kn_str *out, const kn_level *level)
{
    kn_host_put_reduction(w, out, level, levels_of(w));
}

static void put_last(const kn_writer *w, kn_str *out, const kn_level *level)
{
    kn_host_put_last(w, out, level, levels_of(w));
}

static void fill(kn_writer *w)
{
    if (!is_multipass(w)) /* else they are computed again in each pass */
        kn_host_put_held_values(w);
    if (w->spec->schedule.baseline)
        kn_host_put_loops(w, &loops);
    kn_put_row_results(w, NULL);
    kn_put_levels(w, is_multipass(w), put_reduction, put_last);
}

KN_CONFIG_TABLE(kn_host_row_config, KN_HOST_ROW_CONFIG);
const kn_recipe kn_recipe_host_row = {.choose_template = choose_template,
                                      .fill = fill,
                                      .preludes = "kn_line kn_singles",
                                      .parts = "schedules/host/host_row_parts.cpp",
                                      .more_parts = "schedules/rowprog/row_stage_parts.cpp",
                                      .repeats_stages = true};
