/* emit_scan_rows.c - scan_rows.cu, and scan_rows_quick.cu and scan_rows_ordered.cu, its baseline tier. */
#include "codegen/writer.h"

#include "schedules/scan/scan_kinds.h"

/* Operands whose elements are neighbours: vectors of theirs are aligned (KN_VECTOR), or begin anywhere
 * (KN_DENSE). */
static bool is_contiguous(const kn_writer *w, int k)
{
    return kn_access_of(w, k) == KN_VECTOR || kn_access_of(w, k) == KN_DENSE;
}

/* Those that are loaded as vectors; results that begin anywhere are not. */
static bool is_loaded(const kn_writer *w, int k)
{
    return kn_access_of(w, k) == KN_VECTOR || (kn_access_of(w, k) == KN_DENSE && !kn_is_output(w, k));
}

static void put_offset(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part(w, out, "in_row", k);
}

static void put_in_row(const kn_writer *w, kn_str *out, int k)
{
    if (is_contiguous(w, k))
        kn_put_part(w, out, "dense", k);
    else
        kn_put_part_with(w, out, "stepped", k, "offset=%s", kn_text_by(w, put_offset, k));
}

static void put_in_vector(const kn_writer *w, kn_str *out, int k)
{
    if (is_loaded(w, k))
        kn_place_lane(w, out, k);
    else
        put_in_row(w, out, k);
}

/* The first operand with aligned vectors says where these begin in a row. */
static void put_misalignment(kn_writer *w)
{
    kn_str *out = &w->slot[KN_SLOT_OFF];
    for (int k = 0; k < kn_param_count(w) && out->length == 0; ++k)
        if (kn_access_of(w, k) == KN_VECTOR && w->spec->schedule.vector > 1)
            kn_put_part(w, out, "row_misalignment", k);
    if (out->length == 0)
        kn_str_append(out, "0u");
}

static void put_operand(kn_writer *w, int k)
{
    bool is_aligned = kn_access_of(w, k) == KN_VECTOR;
    if (is_contiguous(w, k))
        kn_put_part(w, &w->slot[KN_SLOT_POINTERS], "row_pointer", k);
    if (!is_loaded(w, k) || w->spec->schedule.baseline)
        return;
    if (kn_scan_is_of_stage(w, KN_SCAN_MAP, k)) {
        kn_put_part(w, &w->slot[KN_SLOT_STEP_PACKS], "round_packs", k);
        kn_put_part(w, &w->slot[KN_SLOT_STEP_LOADS], is_aligned ? "round_load" : "round_load_unaligned", k);
        kn_put_part(w, &w->slot[KN_SLOT_FROM], "of_round", k);
    }
    if (kn_scan_is_of_stage(w, KN_SCAN_POST, k))
        kn_put_part(w, &w->slot[KN_SLOT_PACKS], is_aligned ? "row_vector" : "row_vector_unaligned", k);
    if (kn_is_output(w, k))
        kn_put_part(w, &w->slot[KN_SLOT_STORES], "row_store", k);
}

enum { THREADS = 1280 }; /* of a multiprocessor, for which registers have to suffice */

static const char *choose_template(const kn_spec *spec)
{
    if (!spec->schedule.baseline)
        return "schedules/scan/scan_rows.cu";
    return kn_spec_combines_whole(spec) ? "schedules/scan/scan_rows_quick.cu"
                                        : "schedules/scan/scan_rows_ordered.cu";
}

static void fill(kn_writer *w)
{
    const kn_stage *scan = &w->program->stage[KN_SCAN_SCAN];
    const bool is_baseline = w->spec->schedule.baseline;
    kn_put_scan_names(w);
    if (!is_baseline && w->program->param[scan->value[1]].type != KN_TYPE_STRUCT)
        kn_put_blocks(w, THREADS);
    if (!is_baseline || !kn_spec_combines_whole(w->spec))
        put_misalignment(w);
    for (int k = 0; k < kn_param_count(w); ++k)
        if (kn_array_of(w, k) >= 0)
            put_operand(w, k);
    kn_put_map_at(w, &w->slot[KN_SLOT_SINGLE], KN_SCAN_MAP, put_in_row, "in_row");
    kn_put_map_at(w, &w->slot[KN_SLOT_POST], KN_SCAN_POST, put_in_row, "in_row");
    if (is_baseline)
        return;
    kn_put_map_at(w, &w->slot[KN_SLOT_LANE], KN_SCAN_MAP, put_in_vector, "in_row");
    kn_put_map_at(w, &w->slot[KN_SLOT_LANES], KN_SCAN_POST, put_in_vector, "in_row");
}

KN_CONFIG_TABLE(kn_scan_rows_config, KN_SCAN_ROWS_CONFIG);

const kn_recipe kn_recipe_scan_rows = {.choose_template = choose_template,
                                       .fill = fill,
                                       .parts = "schedules/scan/scan_parts.cu",
                                       .preludes = "kn_reduce_block kn_look_back kn_gather",
                                       .quick_preludes = "kn_reduce_block kn_take_ticket"};
