/* emit_output_bound.c - fills output_bound.cu. */
#include "codegen/divisor.h"
#include "codegen/writer.h"
#include "schedules/contiguous/kind_output_bound.h"
#include "schedules/contiguous/contiguous_kinds.h"

enum {
    FULL_THREADS = 1024 /* threads of a multiprocessor for which registers are left */
};

static int vector_of(const kn_writer *w)
{
    return w->spec->schedule.vector;
}

static const kn_output_bound_config *config_of(const kn_writer *w)
{
    return kn_output_bound_config_of(&w->spec->schedule);
}

static bool is_one_row(const kn_writer *w)
{
    return config_of(w)->one_row;
}

/* The operand has one value for all vectors of a thread. */
static bool is_hoisted(const kn_writer *w, int k)
{
    return is_one_row(w) && kn_access_of(w, k) == KN_BROADCAST;
}

/* Elements between two vectors of a thread. */
static int elements_apart(const kn_writer *w)
{
    return KN_OUTPUT_BOUND_WARP * vector_of(w);
}

/* The place of vector kn_u of an operand: within one row the vectors are a fixed distance apart. */
static void put_place(const kn_writer *w, kn_str *out, int k)
{
    int step = kn_access_of(w, k) == KN_BROADCAST ? 0 : kn_item_size(w, k);
    kn_put_part_with(w, out, is_one_row(w) ? "place_in_row" : "place_of_vector", k, "distance=%d",
                     step * elements_apart(w));
}

static void put_pointer(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part_with(w, out, "pointer", k, "place=%s", kn_text_by(w, put_place, k));
}

/* Results are loaded too, since not every body assigns them. */
static void put_load(kn_writer *w, int k)
{
    char access = kn_access_of(w, k);
    kn_put_part_with(w, &w->slot[KN_SLOT_LOADS],
                     is_hoisted(w, k)         ? "load_hoisted"
                     : access == KN_BROADCAST ? "load_broadcast"
                     : access == KN_GATHER    ? "gather_each"
                                              : "load_each",
                     k, "pointer=%s", kn_text_by(w, put_pointer, k));
}

/* If vectors are located one by one, some of the last warp may lie beyond the end. */
static void put_store(kn_writer *w, int k)
{
    kn_str *out = &w->slot[KN_SLOT_STORES], *condition = kn_text(w);
    if (!is_one_row(w))
        kn_put_part_with(w, condition, "within", KN_NO_VALUE, "elements=%d", elements_apart(w));
    kn_put_part_with(w, out, "store_each", k, "condition=%s function=%s pointer=%s", kn_str_text(condition),
                     config_of(w)->streamed ? "kn_store_streaming" : "kn_store",
                     kn_text_by(w, put_pointer, k));
}

static void place_lane(const kn_writer *w, kn_str *out, int k)
{
    if (kn_is_divisor(w, k))
        kn_put_part_with(w, out, "divisor", k, "subscript=%s", is_hoisted(w, k) ? "" : "[kn_u]");
    else
        kn_put_part(w, out,
                    is_hoisted(w, k)                     ? "hoisted"
                    : kn_access_of(w, k) == KN_BROADCAST ? "lane_broadcast"
                                                         : "lane_of_vector",
                    k);
}

/* Element kn_k of vector kn_u, in memory. */
static void place_single(const kn_writer *w, kn_str *out, int k)
{
    if (kn_access_of(w, k) == KN_BROADCAST)
        kn_place_located(w, out, k);
    else
        kn_put_part_with(w, out, is_one_row(w) ? "single_in_row" : "single", k, "distance=%d",
                         elements_apart(w) * kn_item_size(w, k));
}

/* Runs if a quotient was out of the range of kn_divisor's reciprocals: computes the thread's elements again,
 * one by one, in place of its stores. The body is pure and does not use the index. */
static void put_again(kn_writer *w)
{
    kn_str *out = &w->slot[KN_SLOT_SINGLE], *located = kn_text(w), *call = kn_text(w);
    if (!is_one_row(w))
        kn_put_part_with(w, located, "locate_again", KN_NO_VALUE, "elements=%d", elements_apart(w));
    kn_put_call(w, call, place_single, "0");
    kn_put_part_with(w, out, "again", KN_NO_VALUE, "all=%d located=%s call=%s",
                     config_of(w)->vectors * vector_of(w), kn_str_text(located), kn_str_text(call));
}

static void put_places(kn_writer *w)
{
    kn_str *out = &w->slot[KN_SLOT_FROM];
    if (is_one_row(w)) {
        kn_put_part(w, out, "one_place", KN_NO_VALUE);
        return;
    }
    kn_put_part(w, out, "places", KN_NO_VALUE);
    for (int u = 0; u < config_of(w)->vectors; ++u)
        kn_put_part_with(w, out, "place_of_each", KN_NO_VALUE, "number=%d elements=%d", u,
                         u * elements_apart(w));
}

/* The first threads prefetch a line each. */
static void put_prefetch(kn_writer *w)
{
    for (int k = 0; k < kn_param_count(w); ++k)
        if (kn_array_of(w, k) >= 0 && kn_array_of(w, k) == config_of(w)->resident - 1)
            kn_put_part(w, &w->slot[KN_SLOT_STAGE], "prefetch", k);
}

static void fill_output_bound(kn_writer *w)
{
    kn_str *index = kn_text(w);
    kn_put_blocks(w, FULL_THREADS);
    put_prefetch(w);
    put_places(w);
    for (int k = 0; k < kn_param_count(w); ++k) {
        if (kn_array_of(w, k) < 0)
            continue;
        put_load(w, k);
        if (kn_is_output(w, k))
            put_store(w, k);
    }
    kn_put_part_with(w, index, is_one_row(w) ? "index_in_row" : "index_of_vector", KN_NO_VALUE, "elements=%d",
                     elements_apart(w));
    kn_put_call(w, &w->slot[KN_SLOT_LANE], place_lane, kn_str_text(index));
    if (kn_has_divisors(w)) {
        kn_put_part(w, &w->slot[KN_SLOT_FROM], "dividends", KN_NO_VALUE);
        kn_put_part(w, &w->slot[KN_SLOT_RESULT], "are_near", KN_NO_VALUE);
        put_again(w);
    }
}

KN_CONFIG_TABLE(kn_output_bound_config, KN_OUTPUT_BOUND_CONFIG);
const kn_recipe kn_recipe_output_bound = {.template_name = "schedules/contiguous/output_bound.cu",
                                          .fill = fill_output_bound,
                                          .takes_divisors = true,
                                          .parts = "schedules/contiguous/contiguous_parts.cu"};
