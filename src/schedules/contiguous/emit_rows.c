/* emit_rows.c - fills rows.cu. */
#include "codegen/writer.h"
#include "schedule/choice.h"
#include "program/cost.h"
#include "schedules/contiguous/kind_rows.h"
#include "schedules/contiguous/contiguous_kinds.h"

enum {
    FULL_THREADS =
        2048 /* threads of a multiprocessor for which registers are left if small elements are gathered */
};

static int gathers_of(const kn_writer *w)
{
    return kn_rows_config_of(&w->spec->schedule)->gathers;
}

/* Lanes of one row, and those of the next row behind its end, by `function`. */
static void put_gather_two_rows(const kn_writer *w, kn_str *out, const char *function, bool with_step)
{
    kn_put_gathers(w, out, function, with_step ? "crossing_stride" : "crossing");
    if (w->program->uses & KN_USES_INDEX)
        kn_put_part(w, out, "indices_of_two_rows", KN_NO_VALUE);
}

/* Lanes in many short rows: each lane is located. */
static void put_gather_across(const kn_writer *w, kn_str *out)
{
    kn_str *lane = kn_text(w);
    kn_put_gather_lane(w, lane);
    kn_put_part_with(w, out, gathers_of(w) == KN_ROWS_PASSED ? "gather_passing" : "gather_across",
                     KN_NO_VALUE, "lane=%s", kn_str_text(lane));
    kn_put_words_of_lanes(w, out);
}

/* Elements of one row, or of this row and the next, one by one. */
static void put_gather_in_or_over(const kn_writer *w, kn_str *out)
{
    kn_str *in_row = kn_text(w), *crossing = kn_text(w);
    kn_put_gather_known(w, in_row, gathers_of(w) == KN_ROWS_RUNS);
    put_gather_two_rows(w, crossing, "kn_gather_crossing", true);
    kn_put_part_with(w, out, "in_row_or_crossing", KN_NO_VALUE, "in_row=%s crossing=%s", kn_str_text(in_row),
                     kn_str_text(crossing));
}

/* The gathered operands of a thread, in the one way that the schedule says. In rows that are not
 * long some lanes of a warp cross the row's end: all lanes take that path, so that the warp does not
 * diverge. */
static void put_gather(const kn_writer *w, kn_str *out)
{
    if (gathers_of(w) == KN_ROWS_SHORT || gathers_of(w) == KN_ROWS_PASSED) {
        put_gather_across(w, out);
        return;
    }
    kn_put_part(w, out, "left_of_row", KN_NO_VALUE);
    if (gathers_of(w) == KN_ROWS_CROSSED || gathers_of(w) == KN_ROWS_REPEATED ||
        gathers_of(w) == KN_ROWS_STEPPED) {
        kn_put_part(w, out, "next_row", KN_NO_VALUE);
        put_gather_two_rows(w, out,
                            gathers_of(w) == KN_ROWS_CROSSED    ? "kn_load_crossing"
                            : gathers_of(w) == KN_ROWS_REPEATED ? "kn_repeat_crossing"
                                                                : "kn_gather_crossing",
                            gathers_of(w) == KN_ROWS_STEPPED);
    } else {
        put_gather_in_or_over(w, out);
    }
}

/* ---- spread elements ---- */

/* A result's elements, those of before in place of what the text does not assign. */
static void put_spread_result(kn_writer *w, int k)
{
    kn_str *result = kn_text(w);
    bool is_dense = kn_access_of(w, k) == KN_DENSE;
    kn_put_part(w, result, is_dense ? "dense_result" : "located_result", k);
    if (!is_dense) {
        kn_put_part(w, &w->slot[KN_SLOT_PACKS], "places_of_results", k);
        kn_put_part(w, &w->slot[KN_SLOT_LOADS], "place_of_result", k);
    }
    kn_put_part_with(w, &w->slot[KN_SLOT_LOADS], "load_result", k, "result=%s", kn_str_text(result));
    kn_put_part_with(w, &w->slot[KN_SLOT_STORES], "store_result", k, "result=%s", kn_str_text(result));
}

static void fill_spread(kn_writer *w)
{
    for (int k = 0; k < kn_param_count(w); ++k) {
        if (kn_array_of(w, k) < 0)
            continue;
        kn_put_part(w, &w->slot[KN_SLOT_PACKS], "pack", k);
        if (kn_is_output(w, k))
            put_spread_result(w, k);
    }
    kn_str_append(&w->slot[KN_SLOT_FROM],
                  gathers_of(w) == KN_ROWS_SPREAD_ROWS ? "kn_locate_in_rows" : "kn_locate");
    kn_put_gather_lane(w, &w->slot[KN_SLOT_LOADS]);
    kn_put_call(w, &w->slot[KN_SLOT_LANE], kn_place_lane, "");
    kn_put_single(w);
}

static bool is_spread(const kn_spec *spec)
{
    return kn_rows_config_of(&spec->schedule)->gathers >= KN_ROWS_SPREAD;
}

static const char *template_of_rows(const kn_spec *spec)
{
    return is_spread(spec) ? "schedules/contiguous/rows_spread.cu" : "schedules/contiguous/rows.cu";
}

static void fill_rows(kn_writer *w)
{
    if (is_spread(w->spec)) {
        fill_spread(w);
        return;
    }
    if (kn_are_some_packed_in_words(w) && kn_cost_functions(w->program) == 0)
        kn_put_blocks(w, FULL_THREADS); /* the paths that need more registers are rare */
    kn_str_printf(&w->slot[KN_SLOT_RASTER_WIDTH], "%d", KN_RASTER_WIDTH);
    kn_put_single(w);
    kn_fill_located(w, put_gather);
}

KN_CONFIG_TABLE(kn_rows_config, KN_ROWS_CONFIG);
const kn_recipe kn_recipe_rows = {.template_name = "schedules/contiguous/rows.cu",
                                  .choose_template = template_of_rows,
                                  .fill = fill_rows,
                                  .fast_axis = "kn.axis[0]",
                                  .parts = "schedules/contiguous/contiguous_parts.cu"};
