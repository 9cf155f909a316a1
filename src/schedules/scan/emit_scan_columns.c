/* emit_scan_columns.c - scan_columns.cu. */
#include "codegen/writer.h"

#include "schedules/scan/scan_kinds.h"

static void put_address(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part(w, out, "vector_offset", k);
}

static void put_offset(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part(w, out, "column_offset", k);
}

static void put_in_vector(const kn_writer *w, kn_str *out, int k)
{
    if (kn_access_of(w, k) == KN_VECTOR)
        kn_place_lane(w, out, k);
    else
        kn_put_part_with(w, out, "stepped", k, "offset=%s", kn_text_by(w, put_offset, k));
}

static void put_operand(kn_writer *w, int k)
{
    if (kn_scan_is_of_stage(w, KN_SCAN_MAP, k)) {
        kn_put_part(w, &w->slot[KN_SLOT_STEP_PACKS], "round_packs", k);
        kn_put_part_with(w, &w->slot[KN_SLOT_STEP_LOADS], "column_load", k, "place=%s",
                         kn_text_by(w, put_address, k));
        kn_put_part(w, &w->slot[KN_SLOT_FROM], "of_round", k);
    }
    if (kn_scan_is_of_stage(w, KN_SCAN_POST, k))
        kn_put_part_with(w, &w->slot[KN_SLOT_PACKS], "column_vector", k, "place=%s",
                         kn_text_by(w, put_address, k));
    if (kn_is_output(w, k))
        kn_put_part_with(w, &w->slot[KN_SLOT_STORES], "column_store", k, "place=%s",
                         kn_text_by(w, put_address, k));
}

static void fill(kn_writer *w)
{
    kn_put_scan_names(w);
    for (int k = 0; k < kn_param_count(w); ++k)
        if (kn_access_of(w, k) == KN_VECTOR)
            put_operand(w, k);
    kn_put_map_at(w, &w->slot[KN_SLOT_LANE], KN_SCAN_MAP, put_in_vector, "column_offset");
    kn_put_map_at(w, &w->slot[KN_SLOT_LANES], KN_SCAN_POST, put_in_vector, "column_offset");
}

const kn_recipe kn_recipe_scan_columns = {.template_name = "schedules/scan/scan_columns.cu",
                                          .fill = fill,
                                          .parts = "schedules/scan/scan_parts.cu",
                                          .preludes = "kn_reduce_block kn_look_back"};
