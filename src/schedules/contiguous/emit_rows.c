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

/* Inputs that are one element of each row, beside others that are gathered: `part` for each of them. */
static void put_repeated(const kn_writer *w, kn_str *out, const char *part)
{
    for (int k = 0; k < kn_param_count(w); ++k)
        if (kn_array_of(w, k) >= 0 && kn_access_of(w, k) == KN_BROADCAST)
            kn_put_part(w, out, part, k);
}

/* Lanes of one row, and those of the next row behind its end, by `function`. */
static void put_gather_two_rows(const kn_writer *w, kn_str *out, const char *function, bool with_step)
{
    kn_put_gathers(w, out, function, with_step ? "crossing_stride" : "crossing");
    put_repeated(w, out, "repeat_crossing");
    if (w->program->uses & KN_USES_INDEX)
        kn_put_part(w, out, "indices_of_two_rows", KN_NO_VALUE);
}

/* Lanes in many short rows: each lane is located. */
static void put_gather_across(const kn_writer *w, kn_str *out)
{
    kn_str *lane = kn_text(w);
    kn_put_gather_lane(w, lane);
    put_repeated(w, lane, "repeat_lane");
    kn_put_part_with(w, out, gathers_of(w) == KN_ROWS_PASSED ? "gather_passing" : "gather_across",
                     KN_NO_VALUE, "lane=%s", kn_str_text(lane));
    kn_put_words_of_lanes(w, out);
}

/* Elements of one row, or of this row and the next, one by one. */
static void put_gather_in_or_over(const kn_writer *w, kn_str *out)
{
    kn_str *in_row = kn_text(w), *crossing = kn_text(w);
    kn_put_gather_known(w, in_row, gathers_of(w) == KN_ROWS_RUNS);
    put_repeated(w, in_row, "repeat_in_row");
    put_gather_two_rows(w, crossing, "kn_gather_crossing", true);
    kn_put_part_with(w, out, "in_row_or_crossing", KN_NO_VALUE, "in_row=%s crossing=%s", kn_str_text(in_row),
                     kn_str_text(crossing));
}

/* Rows that are parts of a vector: one load for each. */
static void put_gather_pieces(const kn_writer *w, kn_str *out)
{
    int length = kn_rows_config_of(&w->spec->schedule)->interleaved;
    kn_str *loads = kn_text(w);
    for (int k = 0; k < kn_param_count(w); ++k)
        if (kn_array_of(w, k) >= 0 && kn_access_of(w, k) == KN_GATHER)
            kn_put_part_with(w, loads, "load_piece", k, "length=%d", length);
    kn_put_part_with(w, out, "gather_pieces", KN_NO_VALUE, "length=%d loads=%s", length, kn_str_text(loads));
    kn_put_words_of_lanes(w, out);
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
    if (gathers_of(w) == KN_ROWS_PIECES) {
        put_gather_pieces(w, out);
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

/* ---- interleaved inputs ---- */

static int interleaved_of(const kn_writer *w)
{
    return kn_rows_config_of(&w->spec->schedule)->interleaved;
}

static bool is_backward(const kn_writer *w)
{
    return kn_rows_config_of(&w->spec->schedule)->backward;
}

/* The words in which a thread's part of them is loaded: the largest that divide it. */
static int word_of(const kn_writer *w, int k)
{
    int bytes = interleaved_of(w) * w->spec->schedule.vector * kn_item_size(w, k), word = kn_item_size(w, k);
    while (word < w->spec->target.vector_bytes && bytes % (2 * word) == 0)
        word *= 2;
    return word;
}

/* Interleaved inputs are loaded by the first of them, and repeated ones where others are gathered. False:
 * the operand is neither. */
static bool load_own(kn_writer *w, int k)
{
    int first = k;
    if (kn_access_of(w, k) == KN_BROADCAST) {
        kn_put_part(w, &w->slot[KN_SLOT_PACKS], "pack", k);
        return true;
    }
    if (kn_access_of(w, k) != KN_STAGED)
        return false;
    if (kn_interleaved_number(w->spec, k, interleaved_of(w), &first) == 0)
        kn_put_part_with(w, &w->slot[KN_SLOT_LOADS], "load_interleaved", k, "elements=%d word=%d before=%d",
                         interleaved_of(w) * w->spec->schedule.vector, word_of(w, k),
                         is_backward(w) ? (interleaved_of(w) - 1) * kn_item_size(w, k) : 0);
    return true;
}

static void place_lane(const kn_writer *w, kn_str *out, int k)
{
    int first = k;
    if (kn_access_of(w, k) != KN_STAGED) {
        kn_place_lane(w, out, k);
        return;
    }
    int number = kn_interleaved_number(w->spec, k, interleaved_of(w), &first);
    kn_put_part_with(w, out, "lane_interleaved", first, "step=%d number=%d", interleaved_of(w),
                     is_backward(w) ? interleaved_of(w) - 1 - number : number);
}

/* ---- spread elements ---- */

/* A result's elements, those of before in place of what the text does not assign. */
static void put_spread_result(kn_writer *w, int k)
{
    bool is_dense = kn_access_of(w, k) == KN_DENSE;
    if (!is_dense) {
        kn_put_part(w, &w->slot[KN_SLOT_PACKS], "places_of_results", k);
        kn_put_part(w, &w->slot[KN_SLOT_LOADS], "place_of_result", k);
    }
    kn_put_part(w, &w->slot[KN_SLOT_LOADS], is_dense ? "load_dense_result" : "load_located_result", k);
    kn_put_part(w, &w->slot[KN_SLOT_STORES], is_dense ? "store_dense_result" : "store_located_result", k);
}

/* The number among the operands of the space whose place is an input's. */
static int place_number(const kn_writer *w, int k)
{
    int first = k;
    if (kn_rows_config_of(&w->spec->schedule)->alike)
        for (first = 0; kn_array_of(w, first) < 0;)
            ++first;
    return kn_array_of(w, first);
}

/* An input's element. */
static void put_spread_input(kn_writer *w, int k)
{
    kn_str *element = kn_text(w);
    bool is_run = kn_rows_config_of(&w->spec->schedule)->alike == 2;
    kn_put_part_with(w, element, is_run ? "spread_element_of_run" : "spread_element", k, "from=%d",
                     place_number(w, k));
    kn_put_part_with(w, &w->slot[KN_SLOT_LOADS], "load_spread", k, "element=%s", kn_str_text(element));
}

/* Neighbours are loaded by the first of them. */
static void put_neighbours(kn_writer *w, int k)
{
    int first = k, count = interleaved_of(w);
    bool are_vectors = count != 3;
    if (kn_interleaved_number(w->spec, k, count, &first) != 0)
        return;
    kn_put_part_with(w, &w->slot[KN_SLOT_PACKS], are_vectors ? "vectors_of_neighbours" : "neighbours", k,
                     "count=%d", count);
    kn_put_part_with(w, &w->slot[KN_SLOT_LOADS],
                     are_vectors ? "load_vector_of_neighbours" : "load_neighbours", k, "count=%d from=%d",
                     count, place_number(w, k));
}

static void place_spread_lane(const kn_writer *w, kn_str *out, int k)
{
    int first = k;
    if (kn_access_of(w, k) != KN_STAGED) {
        kn_place_lane(w, out, k);
        return;
    }
    int number = kn_interleaved_number(w->spec, k, interleaved_of(w), &first);
    kn_put_part_with(w, out, "lane_of_neighbours", first, "number=%d", number);
}

static void fill_spread(kn_writer *w)
{
    for (int k = 0; k < kn_param_count(w); ++k) {
        if (kn_array_of(w, k) < 0)
            continue;
        if (kn_access_of(w, k) == KN_STAGED) {
            put_neighbours(w, k);
            continue;
        }
        kn_put_part(w, &w->slot[KN_SLOT_PACKS], "pack", k);
        if (kn_is_output(w, k))
            put_spread_result(w, k);
        else
            put_spread_input(w, k);
    }
    if (gathers_of(w) > KN_ROWS_SPREAD)
        kn_str_printf(&w->slot[KN_SLOT_FROM], "kn_locate_in<%d>", gathers_of(w) - KN_ROWS_SPREAD_ROWS + 2);
    else
        kn_str_append(&w->slot[KN_SLOT_FROM], "kn_locate");
    kn_put_call(w, &w->slot[KN_SLOT_LANE], place_spread_lane, "");
    kn_put_single(w);
}

static bool is_spread(const kn_spec *spec)
{
    int gathers = kn_rows_config_of(&spec->schedule)->gathers;
    return gathers >= KN_ROWS_SPREAD && gathers <= KN_ROWS_SPREAD_MOST;
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
    kn_fill_located_by(w, put_gather, place_lane);
}

KN_CONFIG_TABLE(kn_rows_config, KN_ROWS_CONFIG);
const kn_recipe kn_recipe_rows = {.template_name = "schedules/contiguous/rows.cu",
                                  .choose_template = template_of_rows,
                                  .fill = fill_rows,
                                  .load = load_own,
                                  .staged_preludes = "kn_load_series",
                                  .fast_axis = "kn.axis[0]",
                                  .parts = "schedules/contiguous/contiguous_parts.cu"};
