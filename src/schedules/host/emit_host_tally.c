/* emit_host_tally.c - host_tally.cpp. */
#include "codegen/writer.h"

#include "schedules/host/host_kinds.h"
#include "schedules/tally/tally_kinds.h"

static void fill_host_tally(kn_writer *w)
{
    kn_put_tally_names(w);
    kn_str_append(&w->slot[KN_SLOT_IS_COUNT], kn_tally_is_count(w) ? "1" : "0");
    kn_put_host_rows(w, kn_host_tally_config_of(&w->spec->schedule)->one_axis, KN_TALLY_BIN, KN_TALLY_VALUE);
}

KN_CONFIG_TABLE(kn_host_tally_config, KN_HOST_TALLY_CONFIG);
const kn_recipe kn_recipe_host_tally = {.template_name = "schedules/host/host_tally.cpp",
                                        .fill = fill_host_tally,
                                        .parts = "schedules/host/host_sort_parts.cpp"};
