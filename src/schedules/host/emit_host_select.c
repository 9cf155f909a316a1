/* emit_host_select.c - host_select.cpp. */
#include "codegen/writer.h"

#include "schedules/host/host_kinds.h"
#include "schedules/scan/scan_kinds.h"

static void fill_host_select(kn_writer *w)
{
    const kn_stage *scan = &w->program->stage[KN_SCAN_SCAN];
    kn_put_part(w, &w->slot[KN_SLOT_LOADS], "declaration", scan->value[0]);
    kn_put_value(w, &w->slot[KN_SLOT_MAPPED], scan->value[0]);
    kn_put_value(w, &w->slot[KN_SLOT_RESULT], scan->value[1]);
    for (int k = w->program->n_in; k < kn_param_count(w) - 1 && w->program->param[k].is_raw; ++k) {
        kn_put_part(w, &w->slot[KN_SLOT_UNTIL], "capacity", k);
        kn_put_part(w, &w->slot[KN_SLOT_TOGETHER], "within", k);
    }
    if (w->program->uses & KN_USES_REDUCTION_INDEX && w->program->uses & KN_USES_SIZES) {
        kn_str *index = kn_text(w);
        kn_put_reduction_index(w, index, "in_row");
        kn_put_part_with(w, &w->slot[KN_SLOT_TOGETHER], "not_last", KN_NO_VALUE, "index=%s",
                         kn_str_text(index));
    }
    kn_put_host_rows(w, true, KN_SCAN_MAP, KN_SCAN_POST);
}

const kn_recipe kn_recipe_host_select = {.template_name = "schedules/host/host_select.cpp",
                                         .fill = fill_host_select,
                                         .parts = "schedules/host/host_sort_parts.cpp",
                                         .preludes = "kn_await"};
