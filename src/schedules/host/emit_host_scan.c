/* emit_host_scan.c - host_scan.cpp. */
#include <stdio.h>
#include <string.h>

#include "codegen/writer.h"
#include "schedules/host/host_kinds.h"
#include "schedules/scan/scan_kinds.h"

/* The texts of scans by name, and the shortest others. */
static const struct {
    const char *text;
    kn_host_scan_way way;
} ways[] = {{"a + b", KN_HOST_SCAN_BY_SUM},
            {"a >= b || kn_is_nan(a) ? a : b", KN_HOST_SCAN_BY_GREATEST},
            {"a <= b || kn_is_nan(a) ? a : b", KN_HOST_SCAN_BY_LEAST},
            {"max(a, b)", KN_HOST_SCAN_BY_GREATEST},
            {"min(a, b)", KN_HOST_SCAN_BY_LEAST}};

/* True if it is the text, which expressions cast to the type of what is scanned. */
static bool is_text(const char *body, const char *text, const char *c_name)
{
    char cast[96];
    snprintf(cast, sizeof cast, "static_cast<%s>(%s)", c_name, text);
    return strcmp(body, text) == 0 || strcmp(body, cast) == 0;
}

kn_host_scan_way kn_host_scan_way_of(const kn_spec *spec)
{
    const kiln_dtype dtype = kn_spec_value_dtype(spec, kn_spec_reduced_value(spec));
    const kn_dtype_info *info = dtype ? kn_dtype_info_of(dtype) : NULL;
    if (!info || (info->kind != KN_KIND_INT && info->kind != KN_KIND_UINT) || info->size < 4 ||
        kn_host_scan_config_of(&spec->schedule)->across)
        return KN_HOST_SCAN_BY_TEXT;
    for (size_t k = 0; k < sizeof ways / sizeof *ways; ++k)
        if (is_text(spec->program->stage[KN_SCAN_SCAN].body, ways[k].text, info->c_name))
            return ways[k].way;
    return KN_HOST_SCAN_BY_TEXT;
}

/* Neighbour kn_k from kn_from on. */
static void put_neighbour(const kn_writer *w, kn_str *out, int k)
{
    char access = kn_access_of(w, k);
    kn_put_part(w, out, access == KN_BROADCAST ? "one" : access == KN_DENSE ? "dense" : "stepped", k);
}

/* The places of the neighbours of each array, and bytes from one to the next. */
static void put_pointers(kn_writer *w, enum kn_slot_id slot, int stage)
{
    for (int k = 0; k < kn_param_count(w); ++k) {
        if (!kn_scan_is_of_stage(w, stage, k))
            continue;
        kn_put_part(w, &w->slot[slot],
                    kn_access_of(w, k) == KN_BROADCAST ? "broadcast_element" : "run_pointer", k);
        if (kn_access_of(w, k) == KN_GATHER)
            kn_put_part(w, &w->slot[slot], "run_step", k);
    }
}

static void fill_host_scan(kn_writer *w)
{
    kn_str *lanes = &w->slot[KN_SLOT_LANES];
    kn_host_scan_way way = kn_host_scan_way_of(w->spec);
    if (way == KN_HOST_SCAN_BY_TEXT)
        kn_put_part(w, lanes, "no_lanes", KN_NO_VALUE);
    else
        kn_put_part_with(w, lanes, "lanes", KN_NO_VALUE, "way=%d sum=%d greatest=%d", (int)way,
                         KN_HOST_SCAN_BY_SUM, KN_HOST_SCAN_BY_GREATEST);
    kn_put_scan_names(w);
    put_pointers(w, KN_SLOT_POINTERS, KN_SCAN_MAP);
    put_pointers(w, KN_SLOT_FROM, KN_SCAN_POST);
    kn_put_map_at(w, &w->slot[KN_SLOT_SINGLE], KN_SCAN_MAP, put_neighbour, "neighbour");
    kn_put_map_at(w, &w->slot[KN_SLOT_STORES], KN_SCAN_POST, put_neighbour, "neighbour");
}

KN_CONFIG_TABLE(kn_host_scan_config, KN_HOST_SCAN_CONFIG);
const kn_recipe kn_recipe_host_scan = {.template_name = "schedules/host/host_scan.cpp",
                                       .fill = fill_host_scan,
                                       .parts = "schedules/host/host_scan_parts.cpp",
                                       .preludes = "kn_await",
                                       .repeats_stages = true};
