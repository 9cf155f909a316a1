/* emit_scan.c - scan.cu. */
#include "codegen/writer.h"

#include "schedules/scan/scan_kinds.h"

static void put_offset(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part(w, out, "from_row", k);
}

/* Element kn_j of row kn_row, at kn_from. */
static void put_element(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part_with(w, out, "stepped", k, "offset=%s", kn_text_by(w, put_offset, k));
}

/* ---- the stages ---- */

/* The identity alone has a name; a scan that needs none may have none. */
static void put_identity(kn_writer *w, const kn_stage *scan)
{
    kn_str *out = &w->slot[KN_SLOT_IDENTITY];
    bool is_exclusive = scan->kind == KN_SCAN_EXCLUSIVE;
    kn_str_append(&w->slot[KN_SLOT_EXCLUSIVE], is_exclusive ? "1" : "0");
    if (is_exclusive)
        kn_str_printf(out, "kn_%s_identity", scan->label);
    else
        kn_str_append(out, "kn_scanned()");
}

void kn_put_scan_names(kn_writer *w)
{
    const kn_stage *scan = &w->program->stage[KN_SCAN_SCAN];
    kn_put_type(w, &w->slot[KN_SLOT_TYPE], scan->value[1]);
    kn_put_part(w, &w->slot[KN_SLOT_LOADS], "declaration", scan->value[0]);
    kn_put_value(w, &w->slot[KN_SLOT_MAPPED], scan->value[0]);
    kn_put_value(w, &w->slot[KN_SLOT_RESULT], scan->value[1]);
    kn_put_function(w, &w->slot[KN_SLOT_REDUCE], KN_SCAN_SCAN);
    put_identity(w, scan);
}

bool kn_scan_is_of_stage(const kn_writer *w, int stage, int k)
{
    const kn_stage *s = &w->program->stage[stage];
    bool is = false;
    for (int v = 0; v < s->n_read + s->n_given; ++v)
        is = is || s->value[v] == k;
    return is && kn_array_of(w, k) >= 0;
}

static void fill(kn_writer *w)
{
    kn_put_scan_names(w);
    kn_put_part_with(w, &w->slot[KN_SLOT_FROM], "from", KN_NO_VALUE, "operands=%d",
                     kn_layout_space_operands(w->spec));
    kn_put_map_at(w, &w->slot[KN_SLOT_SINGLE], KN_SCAN_MAP, put_element, "from_row");
    kn_put_map_at(w, &w->slot[KN_SLOT_STORES], KN_SCAN_POST, put_element, "from_row");
}

KN_CONFIG_TABLE(kn_scan_config, KN_SCAN_CONFIG);
const kn_recipe kn_recipe_scan = {.template_name = "schedules/scan/scan.cu",
                                  .fill = fill,
                                  .preludes = "kn_reduce_block kn_look_back",
                                  .parts = "schedules/scan/scan_parts.cu"};
