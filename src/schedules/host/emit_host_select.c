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
    kn_put_host_rows(w, true, KN_SCAN_MAP, KN_SCAN_POST);
}

const kn_recipe kn_recipe_host_select = {.template_name = "schedules/host/host_select.cpp",
                                         .fill = fill_host_select,
                                         .parts = "schedules/host/host_sort_parts.cpp",
                                         .preludes = "kn_await"};
