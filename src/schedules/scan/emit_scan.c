/* emit_scan.c - scan.cu. */
#include "codegen/writer.h"

#include "schedules/scan/scan_kinds.h"

static bool is_one_row(const kn_writer *w)
{
    return kn_scan_config_of(&w->spec->schedule)->one_row;
}

/* ---- where an element is ---- */

/* Element kn_j of row kn_row: in a row that is known, or at kn_from. */
static void put_in_row(const kn_writer *w, kn_str *out, int k)
{
    const char *qualifier = kn_is_output(w, k) ? "" : "const ", *name = w->program->param[k].name;
    int o = kn_array_of(w, k);
    if (kn_access_of(w, k) == KN_DENSE) {
        kn_str_printf(out, "kn_%s_row[kn_j]", name);
        return;
    }
    kn_str_printf(out, "*(%s%s *)((%schar *)kn.%s_ + ", qualifier, kn_storage(w, k), qualifier, name);
    if (is_one_row(w))
        kn_str_printf(out, "kn_here.at[%d] + (kn_first + kn_j) * kn.axis[0].stride[%d])", o, o);
    else
        kn_str_printf(out, "kn_from.at[%d])", o);
}

/* "kn.start + kn_from.at[2]" */
static void put_index(const kn_writer *w, kn_str *out, const char *start, int operand)
{
    if (is_one_row(w))
        kn_str_printf(out, "kn.%s + kn_here.at[%d] + (kn_first + kn_j) * kn.axis[0].stride[%d]", start,
                      operand, operand);
    else
        kn_str_printf(out, "kn.%s + kn_from.at[%d]", start, operand);
}

static void put_pointers(kn_writer *w)
{
    for (int k = 0; k < kn_param_count(w); ++k) {
        const char *qualifier = kn_is_output(w, k) ? "" : "const ", *name = w->program->param[k].name;
        if (kn_access_of(w, k) == KN_DENSE)
            kn_str_printf(&w->slot[KN_SLOT_POINTERS],
                          "%s%s *const kn_%s_row = (%s%s *)((%schar *)kn.%s_ + kn_here.at[%d]) + kn_first;\n",
                          qualifier, kn_storage(w, k), name, qualifier, kn_storage(w, k), qualifier, name,
                          kn_array_of(w, k));
    }
}

static void put_from(kn_writer *w)
{
    if (is_one_row(w))
        return;
    int operands = kn_layout_space_operands(w->spec);
    kn_str_printf(&w->slot[KN_SLOT_FROM],
                  "kn_place kn_from = {};\n"
                  "kn_go_to_result<%d>(kn_from, kn, kn.reduction_rank, (unsigned)(kn_first_row + kn_row));\n"
                  "kn_go_along<%d>(kn_from, kn, kn_first + kn_j);\n",
                  operands, operands);
}

/* ---- the stages ---- */

static void put_call(kn_writer *w, enum kn_slot_id slot, int stage)
{
    kn_str index = KN_STR_INIT, reduction_index = KN_STR_INIT;
    put_index(w, &index, "start", w->spec->n_arrays);
    put_index(w, &reduction_index, "reduction_start", kn_layout_space_operands(w->spec) - 1);
    kn_put_map(w, &w->slot[slot], stage, put_in_row, kn_str_text(&index), kn_str_text(&reduction_index));
    w->slot[slot].failed |= index.failed || reduction_index.failed;
    kn_str_free(&index);
    kn_str_free(&reduction_index);
}

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

static void fill(kn_writer *w)
{
    kn_put_scan_names(w);
    put_pointers(w);
    put_from(w);
    put_call(w, KN_SLOT_SINGLE, KN_SCAN_MAP);
    put_call(w, KN_SLOT_STORES, KN_SCAN_POST);
}

KN_CONFIG_TABLE(kn_scan_config, KN_SCAN_CONFIG);
const kn_recipe kn_recipe_scan = {
    .template_name = "schedules/scan/scan.cu", .fill = fill, .preludes = "kn_reduce_block kn_look_back"};
