/* emit_host_tally.c - host_tally.cpp. */
#include "codegen/writer.h"

#include "schedules/host/host_kinds.h"
#include "schedules/tally/tally_kinds.h"

static bool is_one_axis(const kn_writer *w)
{
    return kn_host_tally_config_of(&w->spec->schedule)->one_axis;
}

static void put_element(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part(w, out,
                !is_one_axis(w)                  ? "anywhere"
                : kn_access_of(w, k) == KN_DENSE ? "dense"
                                                 : "stepped",
                k);
}

static void fill_host_tally(kn_writer *w)
{
    const char *offset = is_one_axis(w) ? "in_row" : "from_row";
    kn_put_tally_names(w);
    if (is_one_axis(w))
        kn_put_part_with(w, &w->slot[KN_SLOT_LOCATE], "move_in_row", -1, "operands=%d",
                         kn_layout_space_operands(w->spec));
    else
        kn_put_part(w, &w->slot[KN_SLOT_FROM], "go_along", -1);
    for (int k = 0; k < kn_param_count(w) && is_one_axis(w); ++k)
        if (kn_array_of(w, k) >= 0)
            kn_put_part(w, &w->slot[KN_SLOT_POINTERS], "run_pointer", k);
    kn_put_map_at(w, &w->slot[KN_SLOT_SINGLE], KN_TALLY_BIN, put_element, offset);
    kn_put_map_at(w, &w->slot[KN_SLOT_STORES], KN_TALLY_VALUE, put_element, offset);
}

KN_CONFIG_TABLE(kn_host_tally_config, KN_HOST_TALLY_CONFIG);
const kn_recipe kn_recipe_host_tally = {.template_name = "schedules/host/host_tally.cpp",
                                        .fill = fill_host_tally,
                                        .parts = "schedules/host/host_sort_parts.cpp"};
