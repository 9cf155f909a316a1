/* emit_host_scan.c - host_scan.cpp. */
#include "codegen/writer.h"

#include "schedules/host/host_kinds.h"
#include "schedules/scan/scan_kinds.h"

static bool is_of_stage(const kn_writer *w, int stage, int k)
{
    const kn_stage *s = &w->program->stage[stage];
    bool is = false;
    for (int v = 0; v < s->n_read + s->n_given; ++v)
        is = is || s->value[v] == k;
    return is && kn_array_of(w, k) >= 0;
}

/* ---- an element: neighbour kn_k from kn_from on ---- */

static void put_place(const kn_writer *w, kn_str *out, int k)
{
    const char *qualifier = kn_is_output(w, k) ? "" : "const ", *name = w->program->param[k].name;
    if (kn_access_of(w, k) == KN_BROADCAST)
        kn_str_printf(out, "kn_%s_one", name);
    else if (kn_access_of(w, k) == KN_DENSE)
        kn_str_printf(out, "kn_%s_run[kn_k]", name);
    else
        kn_str_printf(out, "*(%s%s *)((%schar *)kn_%s_run + kn_k * kn_%s_step)", qualifier, kn_storage(w, k),
                      qualifier, name, name);
}

static void put_index(kn_str *out, const char *start, int operand)
{
    kn_str_printf(out, "kn.%s + kn_from.at[%d] + kn_k * kn.axis[kn_inner].stride[%d]", start, operand,
                  operand);
}

/* Where the neighbours of each array lie, and bytes from one to the next. */
static void put_pointers(kn_writer *w, enum kn_slot_id slot, int stage)
{
    kn_str *out = &w->slot[slot];
    for (int k = 0; k < kn_param_count(w); ++k) {
        const char *qualifier = kn_is_output(w, k) ? "" : "const ", *name = w->program->param[k].name,
                   *type = kn_storage(w, k);
        int o = kn_array_of(w, k);
        if (!is_of_stage(w, stage, k))
            continue;
        if (kn_access_of(w, k) == KN_BROADCAST) {
            kn_str_printf(out, "const %s kn_%s_one = *(const %s *)((const char *)kn.%s_ + kn_from.at[%d]);\n",
                          type, name, type, name, o);
            continue;
        }
        kn_str_printf(out, "%s%s *const kn_%s_run = (%s%s *)((%schar *)kn.%s_ + kn_from.at[%d]);\n",
                      qualifier, type, name, qualifier, type, qualifier, name, o);
        if (kn_access_of(w, k) == KN_GATHER)
            kn_str_printf(out, "const long long kn_%s_step = kn.axis[kn_inner].stride[%d];\n", name, o);
    }
}

/* ---- the stages ---- */

static void put_call(kn_writer *w, enum kn_slot_id slot, int stage)
{
    kn_str index = KN_STR_INIT, reduction_index = KN_STR_INIT;
    put_index(&index, "start", w->spec->n_arrays);
    put_index(&reduction_index, "reduction_start", kn_layout_space_operands(w->spec) - 1);
    kn_put_map(w, &w->slot[slot], stage, put_place, kn_str_text(&index), kn_str_text(&reduction_index));
    w->slot[slot].failed |= index.failed || reduction_index.failed;
    kn_str_free(&index);
    kn_str_free(&reduction_index);
}

static void fill_host_scan(kn_writer *w)
{
    kn_put_scan_names(w);
    put_pointers(w, KN_SLOT_POINTERS, KN_SCAN_MAP);
    put_pointers(w, KN_SLOT_FROM, KN_SCAN_POST);
    put_call(w, KN_SLOT_SINGLE, KN_SCAN_MAP);
    put_call(w, KN_SLOT_STORES, KN_SCAN_POST);
}

KN_CONFIG_TABLE(kn_host_scan_config, KN_HOST_SCAN_CONFIG);
const kn_recipe kn_recipe_host_scan = {
    .template_name = "schedules/host/host_scan.cpp", .fill = fill_host_scan, .repeats_stages = true};
