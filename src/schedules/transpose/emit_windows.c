/* emit_windows.c - fills windows.cu. */
#include "codegen/writer.h"
#include "schedules/transpose/transpose_kinds.h"

#include <stdio.h>

enum { WINDOWS_THREADS = 1536 /* threads of a multiprocessor for which registers are left */ };

/* The fastest axis is shorter than a vector: a vector's elements continue along the second axis. */
static bool has_short_rows(const kn_writer *w)
{
    return kn_transpose_config_of(&w->spec->schedule)->narrow_axis;
}

/* The number of staged operands before this one. */
static int staged_before(const kn_writer *w, int k)
{
    int before = 0;
    for (int j = 0; j < k; ++j)
        before += kn_array_of(w, j) >= 0 && kn_access_of(w, j) == KN_STAGED;
    return before;
}

/* Reads the operand's tile by the part, at the place of the first one's and this much behind it. */
static void put_take(const kn_writer *w, kn_str *out, const char *part, int k)
{
    kn_str *beside = kn_text(w);
    if (staged_before(w, k) > 0)
        kn_put_part(w, beside, "beside", k);
    kn_put_part_with(w, out, part, k, "beside=%s", kn_str_text(beside));
}

/* A single element: the staged operand's is read from shared memory. */
static void place_windowed(const kn_writer *w, kn_str *out, int k)
{
    if (kn_access_of(w, k) == KN_STAGED)
        put_take(w, out, "take", k);
    else
        kn_place_located(w, out, k);
}

static void put_lanes(const kn_writer *w, kn_str *out)
{
    kn_str *lane = kn_text(w), *ends = kn_text(w), *words = kn_text(w);
    kn_put_gather_lane(w, lane);
    kn_put_part(w, ends, has_short_rows(w) ? "short_row_ends" : "row_ends", KN_NO_VALUE);
    kn_put_words_of_lanes(w, words);
    kn_put_part_with(w, out, "gather_lanes", KN_NO_VALUE, "lane=%s row_ends=%s words=%s", kn_str_text(lane),
                     kn_str_text(ends), kn_str_text(words));
}

/* The other operands are read as contiguous ranges, or element by element. */
static void put_windows_gather(const kn_writer *w, kn_str *out)
{
    kn_str *are_runs = kn_text(w), *runs = kn_text(w), *lanes = kn_text(w);
    bool has_index = w->program->uses & KN_USES_INDEX;
    if (!kn_gathers(w) && !has_index)
        return;
    if (!has_index)
        kn_put_all_runs(w, are_runs);
    kn_put_gathers(w, runs, "kn_load_unaligned", NULL);
    put_lanes(w, lanes);
    kn_put_part_with(w, out, are_runs->length > 0 ? "gather_runs_or_lanes" : "lanes_alone", KN_NO_VALUE,
                     "are_runs=%s runs=%s lanes=%s", kn_str_text(are_runs), kn_str_text(runs),
                     kn_str_text(lanes));
    kn_put_lanes_of_words(w, out);
}

/* The first staged operand has slots of its own, a second one a tile behind it. */
static void put_staged(kn_writer *w, int k)
{
    const char *name = w->program->param[k].name;
    put_take(w, &w->slot[KN_SLOT_GATHER], has_short_rows(w) ? "take_rows" : "take_run", k);
    if (staged_before(w, k) > 0) {
        kn_put_part_with(w, &w->slot[KN_SLOT_TILES], "next_window", k, "number=%d", staged_before(w, k));
        return;
    }
    kn_str_printf(&w->slot[KN_SLOT_STAGED], "%d", kn_array_of(w, k));
    kn_str_printf(&w->slot[KN_SLOT_STAGED_SIZE], "%d", kn_item_size(w, k));
    kn_str_printf(&w->slot[KN_SLOT_STAGED_FROM], "kn.%s_", name);
}

/* The other operands are loaded as usual. */
static void put_windows(kn_writer *w)
{
    kn_put_blocks(w, WINDOWS_THREADS);
    for (int k = 0; k < kn_param_count(w); ++k) {
        const char *name = w->program->param[k].name;
        if (kn_array_of(w, k) < 0)
            continue;
        int size = kn_item_size(w, k);
        if (kn_access_of(w, k) == KN_STAGED) {
            put_staged(w, k);
        } else if (kn_is_output(w, k) && w->slot[KN_SLOT_RESULT_SIZE].length == 0) {
            kn_str_printf(&w->slot[KN_SLOT_RESULT_FROM], "(char *)kn.%s_ + kn_slot_at.at[%d]", name,
                          kn_array_of(w, k));
            kn_str_printf(&w->slot[KN_SLOT_RESULT_SIZE], "%d", size);
        }
    }
}

static void fill_windows(kn_writer *w)
{
    char index[64];
    snprintf(index, sizeof index, "kn.start + kn_here.at[%d]", w->spec->n_arrays);
    put_windows(w);
    kn_put_call(w, &w->slot[KN_SLOT_SINGLE], place_windowed, index);
    kn_put_vectors(w);
    put_windows_gather(w, &w->slot[KN_SLOT_GATHER]);
    kn_put_call(w, &w->slot[KN_SLOT_LANE], kn_place_lane, "kn_i[kn_k]");
}

/* A vector may cross the end of a row, so the operand has to be contiguous along the next axis too. */
static void put_run_condition(kn_str *out, int array, int size)
{
    kn_str_printf(out, " && (kn_axis_p2.stride[%d] == %d * (int)kn_axis_p.extent || kn_axis_p2.extent == 1)",
                  array, size);
}

const kn_recipe kn_recipe_windows = {.template_name = "schedules/transpose/windows.cu",
                                     .fill = fill_windows,
                                     .fast_axis = "kn_axis_p",
                                     .preludes = "kn_gather",
                                     .takes_staged = true,
                                     .vectors_are_whole = true,
                                     .put_run_condition = put_run_condition,
                                     .parts = "schedules/transpose/transpose_parts.cu"};
