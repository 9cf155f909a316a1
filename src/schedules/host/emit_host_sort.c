/* emit_host_sort.c - host_sort_count.cpp and host_sort_place.cpp, and the rows of them and of tallies. */
#include "codegen/writer.h"

#include "schedules/host/host_kinds.h"
#include "schedules/scan/scan_kinds.h"
#include "schedules/sort/sort_kinds.h"

static void put_in_row(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part(w, out, kn_access_of(w, k) == KN_DENSE ? "dense" : "stepped", k);
}

static void put_anywhere(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part(w, out, "anywhere", k);
}

/* Rows of one axis have a pointer for each operand; others are gone along. */
void kn_put_host_rows(kn_writer *w, bool one_axis, int single, int stores)
{
    const char *offset = one_axis ? "in_row" : "from_row";
    void (*put)(const kn_writer *, kn_str *, int) = one_axis ? put_in_row : put_anywhere;
    if (one_axis)
        kn_put_part_with(w, &w->slot[KN_SLOT_LOCATE], "move_in_row", KN_NO_VALUE, "operands=%d",
                         kn_layout_space_operands(w->spec));
    else
        kn_put_part(w, &w->slot[KN_SLOT_FROM], "go_along", KN_NO_VALUE);
    for (int k = 0; k < kn_param_count(w) && one_axis; ++k)
        if (kn_array_of(w, k) >= 0)
            kn_put_part(w, &w->slot[KN_SLOT_POINTERS], "run_pointer", k);
    kn_put_map_at(w, &w->slot[KN_SLOT_SINGLE], single, put, offset);
    kn_put_map_at(w, &w->slot[KN_SLOT_STORES], stores, put, offset);
}

static void fill_host_sort(kn_writer *w)
{
    kn_put_sort_names(w);
    kn_put_host_rows(w, kn_host_sort_config_of(&w->spec->schedule)->one_axis, KN_SORT_KEY, KN_SORT_PUT);
}

KN_CONFIG_TABLE(kn_host_sort_config, KN_HOST_SORT_CONFIG);
const kn_recipe kn_recipe_host_sort_count = {.template_name = "schedules/host/host_sort_count.cpp",
                                             .fill = fill_host_sort,
                                             .parts = "schedules/host/host_sort_parts.cpp"};
const kn_recipe kn_recipe_host_sort_place = {.template_name = "schedules/host/host_sort_place.cpp",
                                             .fill = fill_host_sort,
                                             .parts = "schedules/host/host_sort_parts.cpp",
                                             .preludes = "kn_await"};
