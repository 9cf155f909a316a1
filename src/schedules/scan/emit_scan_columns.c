/* emit_scan_columns.c - scan_columns.cu. */
#include "codegen/writer.h"

#include "schedules/scan/scan_kinds.h"

/* Bytes of element kn_d of the first of a thread's columns. */
static void put_address(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part(w, out, "column_address", k);
}

/* An operand that is no vector, or an index, moves from column to column too. */
static void put_far(const kn_writer *w, kn_str *out, const char *part, int k, int array, const char *start)
{
    kn_str place = KN_STR_INIT, across = KN_STR_INIT;
    kn_put_part_with(w, &place, "column_address", -1, "array=%d", array);
    kn_put_part_with(w, &across, "across", -1, "array=%d", array);
    kn_put_part_with(w, out, part, k, "place=%s across=%s start=%s", kn_str_text(&place),
                     kn_str_text(&across), start);
    out->failed = out->failed || place.failed || across.failed;
    kn_str_free(&place);
    kn_str_free(&across);
}

static void put_in_vector(const kn_writer *w, kn_str *out, int k)
{
    if (kn_access_of(w, k) == KN_VECTOR)
        kn_place_lane(w, out, k);
    else
        put_far(w, out, "in_column", k, kn_array_of(w, k), "");
}

static void put_call(kn_writer *w, enum kn_slot_id slot, int stage)
{
    kn_str index = KN_STR_INIT, reduction_index = KN_STR_INIT;
    put_far(w, &index, "column_index", -1, w->spec->n_arrays, "start");
    put_far(w, &reduction_index, "column_index", -1, kn_layout_space_operands(w->spec) - 1,
            "reduction_start");
    kn_put_map(w, &w->slot[slot], stage, put_in_vector, kn_str_text(&index), kn_str_text(&reduction_index));
    w->slot[slot].failed |= index.failed || reduction_index.failed;
    kn_str_free(&index);
    kn_str_free(&reduction_index);
}

static void put_operand(kn_writer *w, int k)
{
    if (kn_scan_is_of_stage(w, KN_SCAN_MAP, k)) {
        kn_put_part(w, &w->slot[KN_SLOT_STEP_PACKS], "deep_packs", k);
        kn_put_part_of(w, &w->slot[KN_SLOT_STEP_LOADS], "deep_load", k, "place=%s", put_address);
        kn_put_part(w, &w->slot[KN_SLOT_FROM], "of_deep", k);
    }
    if (kn_scan_is_of_stage(w, KN_SCAN_POST, k))
        kn_put_part_of(w, &w->slot[KN_SLOT_PACKS], "column_vector", k, "place=%s", put_address);
    if (kn_is_output(w, k))
        kn_put_part_of(w, &w->slot[KN_SLOT_STORES], "column_store", k, "place=%s", put_address);
}

static void fill(kn_writer *w)
{
    kn_put_scan_names(w);
    for (int k = 0; k < kn_param_count(w); ++k)
        if (kn_access_of(w, k) == KN_VECTOR)
            put_operand(w, k);
    put_call(w, KN_SLOT_LANE, KN_SCAN_MAP);
    put_call(w, KN_SLOT_LANES, KN_SCAN_POST);
}

const kn_recipe kn_recipe_scan_columns = {.template_name = "schedules/scan/scan_columns.cu",
                                          .fill = fill,
                                          .parts = "schedules/scan/scan_parts.cu",
                                          .preludes = "kn_reduce_block kn_look_back"};
