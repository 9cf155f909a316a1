/* emit_host_sort.c - host_sort_count.cpp and host_sort_place.cpp. */
#include "codegen/writer.h"

#include "schedules/host/host_kinds.h"
#include "schedules/scan/elements.h"
#include "schedules/scan/scan_kinds.h"
#include "schedules/sort/sort_kinds.h"

static void put_element(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part(w, out,
                !kn_elements_are_in_row(w)       ? "anywhere"
                : kn_access_of(w, k) == KN_DENSE ? "dense"
                                                 : "stepped",
                k);
}

static void fill_host_sort(kn_writer *w)
{
    const char *offset = kn_elements_offset(w);
    kn_put_sort_names(w);
    if (kn_elements_are_in_row(w))
        kn_put_part_with(w, &w->slot[KN_SLOT_LOCATE], "move_in_row", -1, "operands=%d",
                         kn_layout_space_operands(w->spec));
    else
        kn_put_part(w, &w->slot[KN_SLOT_FROM], "go_along", -1);
    for (int k = 0; k < kn_param_count(w) && kn_elements_are_in_row(w); ++k)
        if (kn_array_of(w, k) >= 0)
            kn_put_part(w, &w->slot[KN_SLOT_POINTERS], "run_pointer", k);
    kn_put_map_at(w, &w->slot[KN_SLOT_SINGLE], KN_SORT_KEY, put_element, offset);
    kn_put_map_at(w, &w->slot[KN_SLOT_STORES], KN_SORT_PUT, put_element, offset);
}

KN_CONFIG_TABLE(kn_host_sort_config, KN_HOST_SORT_CONFIG);
const kn_recipe kn_recipe_host_sort_count = {.template_name = "schedules/host/host_sort_count.cpp",
                                             .fill = fill_host_sort,
                                             .parts = "schedules/host/host_sort_parts.cpp"};
const kn_recipe kn_recipe_host_sort_place = {.template_name = "schedules/host/host_sort_place.cpp",
                                             .fill = fill_host_sort,
                                             .parts = "schedules/host/host_sort_parts.cpp"};
