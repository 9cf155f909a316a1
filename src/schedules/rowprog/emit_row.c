/* emit_row.c - fills the templates row_*.cu with the levels of a program, each a loop over the items of a
 * row. */
#include "schedules/rowprog/row_stages.h"
#include "schedules/rowprog/rowprog_kinds.h"

enum {
    EARLY = 32 /* bytes of a thread for inputs that are first needed behind a reduction, to be loaded with the
                  others, at most */
};

static const char *name_of(const kn_writer *w, int k)
{
    return w->program->param[k].name;
}

/* The multi-pass kernel finds items by places, the others by the numbers of elements. */
static bool goes_by_places(const kn_writer *w)
{
    return w->recipe == &kn_recipe_row_multipass;
}

/* A part of the row is staged in shared memory, as it was loaded; each level computes again what it needs of
 * that part. */
static bool is_staged(const kn_writer *w)
{
    return w->recipe == &kn_recipe_row_long || kn_has_columns(w);
}

static bool is_unaligned(const kn_writer *w)
{
    return !goes_by_places(w) && w->spec->schedule.variant % KN_ROW_NEARLY == KN_ROW_UNALIGNED;
}

/* An input that is broadcast along a held row: one element, loaded once. */
static bool is_broadcast(const kn_writer *w, int k)
{
    return !goes_by_places(w) && !kn_has_columns(w) && k < w->program->n_in && kn_is_wide_array(w, k) &&
           kn_access_of(w, k) == KN_BROADCAST;
}

/* True if items have a member for it. */
static bool is_of_items(const kn_writer *w, int k)
{
    return kn_is_wide_array(w, k) && !is_broadcast(w, k);
}

/* ---- items ---- */

static void place_in_item(const kn_writer *w, kn_str *out, int k)
{
    if (is_broadcast(w, k))
        kn_str_printf(out, "kn_%s_broadcast", name_of(w, k));
    else if (kn_is_wide_array(w, k))
        kn_str_printf(out, "kn_in.kn_%s_.at[kn_k]", name_of(w, k));
    else
        kn_place_of_row(w, out, k);
}

/* The address of an item: "(const float *)((const char *)kn.x_ + kn_from.at[0])". Vectors of a held row are
 * counted from its first element. */
static void put_item_address(const kn_writer *w, kn_str *out, int k)
{
    const char *qualifier = kn_is_output(w, k) ? "" : "const ", *name = name_of(w, k);
    char access = kn_access_of(w, k);
    int o = kn_array_of(w, k);
    if (goes_by_places(w))
        kn_str_printf(out, "(%s%s *)((%schar *)kn.%s_ + kn_from.at[%d])", qualifier, kn_storage(w, k),
                      qualifier, name, o);
    else if (access == KN_GATHER || kn_has_columns(w))
        kn_str_printf(out, "(%s%s *)(kn_%s_row + kn_j * kn.axis[0].stride[%d])", qualifier, kn_storage(w, k),
                      name, o);
    else
        kn_str_printf(out, "kn_%s_row + kn_j", name);
}

/* Single elements may be unaligned. */
static bool is_single(const kn_writer *w)
{
    return w->spec->schedule.vector == 1;
}

/* The kind of load is chosen here: two possible loads into the same registers would wait for each other. */
static void put_load(const kn_writer *w, kn_str *out, int k)
{
    kn_str_printf(out, "    kn_in.kn_%s_%s = ", name_of(w, k), is_single(w) ? ".at[0]" : "");
    if (is_single(w))
        kn_str_append(out, "*(");
    else
        kn_str_printf(out, "%s<%s, %d>(", kn_access_of(w, k) == KN_BROADCAST ? "kn_repeat" : "kn_load",
                      kn_storage(w, k), w->spec->schedule.vector);
    put_item_address(w, out, k);
    kn_str_append(out, ");\n");
}

static void put_mend(const kn_writer *w, kn_str *out, int k)
{
    if (is_unaligned(w))
        kn_str_printf(out, "    kn_mend<kn_is_unaligned>(kn_in.kn_%s_, kn_j, kn.length);\n", name_of(w, k));
}

static void put_store(const kn_writer *w, kn_str *out, int k)
{
    bool is_whole = goes_by_places(w) || kn_has_columns(w);
    kn_str_append(out, goes_by_places(w) ? "    " : "    if (kn_is_here)\n        ");
    kn_str_append(out, is_single(w) ? "*(" : is_whole ? "kn_store(" : "kn_store_item<kn_is_unaligned>(");
    put_item_address(w, out, k);
    kn_str_printf(out, is_single(w) ? ") = kn_in.kn_%s_.at[0]" : ", kn_in.kn_%s_", name_of(w, k));
    kn_str_append(out, is_single(w) ? ";\n" : is_whole ? ");\n" : ", kn_j, kn.length);\n");
}

/* ---- levels ---- */

/* Bytes that a thread would hold of inputs that are read only behind the first reduction. */
static int late_bytes(const kn_writer *w)
{
    const kn_schedule *s = &w->spec->schedule;
    int bytes = 0;
    for (int k = 0; k < w->program->n_in; ++k)
        if (is_of_items(w, k) && !kn_row_is_early(w->program, k))
            bytes += s->vector * s->per_thread * kn_item_size(w, k);
    return bytes;
}

/* True for inputs that are loaded at the start, all of them before any is used. The others are loaded item by
 * item, by the first level that needs them. */
static bool is_early(const kn_writer *w, int k)
{
    return kn_row_is_early(w->program, k) || (!is_staged(w) && late_bytes(w) <= EARLY);
}

static bool is_loaded_in(const kn_writer *w, const kn_level *level, int k)
{
    int first = kn_row_first_read(w->program, k);
    if (k >= w->program->n_in || !is_of_items(w, k) || !kn_level_reads(w, level, k))
        return false;
    return level->is_recomputed || (!is_early(w, k) && first >= level->begin && first < level->end);
}

static void put_early(const kn_writer *w, kn_str *out, void (*put)(const kn_writer *w, kn_str *out, int k))
{
    kn_str_append(out, "kn_load_items([&](kn_item &kn_in, const int kn_j) {\n");
    for (int k = 0; k < w->program->n_in; ++k)
        if (is_of_items(w, k) && is_early(w, k))
            put(w, out, k);
    kn_str_append(out, "});\n");
}

static const char *item_parameters(const kn_writer *w)
{
    return goes_by_places(w) ? "[&](kn_item &kn_in, const kn_place &kn_from"
                             : "[&](kn_item &kn_in, const int kn_j";
}

/* True for inputs that are staged: early ones that are not broadcast. */
static bool is_copied(const kn_writer *w, int k)
{
    return is_of_items(w, k) && is_early(w, k) && kn_access_of(w, k) != KN_BROADCAST;
}

static void put_level_loads(const kn_writer *w, kn_str *out, const kn_level *level)
{
    bool from_stage = is_staged(w) && level->is_recomputed;
    kn_str_printf(out, "%s%s) {\n", item_parameters(w), from_stage ? ", const int kn_slot" : "");
    for (int k = 0; k < w->program->n_in; ++k) {
        if (!is_loaded_in(w, level, k))
            continue;
        if (from_stage && is_copied(w, k))
            kn_str_printf(out, "    kn_in.kn_%s_ = kn_%s_staged[kn_slot];\n", name_of(w, k), name_of(w, k));
        else
            put_load(w, out, k);
    }
    kn_str_append(out, "}, ");
}

/* A result that the text does not assign keeps its value: results are loaded first. The compiler drops the
 * load if all are assigned. */
static void put_item(const kn_writer *w, kn_str *out, const kn_level *level)
{
    static const kn_element_places held = {place_in_item, "kn_in.", "[kn_k]", "kn_here.at[%d] + kn_e",
                                           "kn_e"},
                                   recomputed = {place_in_item, "", "", "kn_from.at[%d] + kn_k", NULL};
    int vector = w->spec->schedule.vector;
    for (int k = 0; k < w->program->n_in; ++k)
        if (is_loaded_in(w, level, k))
            put_mend(w, out, k);
    for (int k = w->program->n_in; k < kn_param_count(w); ++k)
        if (kn_is_wide_array(w, k) && kn_level_gives(w, level, k))
            put_load(w, out, k);
    kn_str_printf(out, "#pragma unroll\n    for (int kn_k = 0; kn_k < %d; ++kn_k) {\n", vector);
    bool uses_index = w->program->uses & (KN_USES_INDEX | KN_USES_REDUCTION_INDEX);
    if (uses_index && kn_has_columns(w))
        kn_str_append(out, "const int kn_e = kn_j;\n");
    else if (uses_index && !goes_by_places(w))
        kn_str_printf(out, "const int kn_e = kn_row_element<kn_is_unaligned, %d>(kn_j, kn_k, kn.length);\n",
                      vector);
    kn_put_level_stages(w, out, level, goes_by_places(w) ? &recomputed : &held);
    if (!level->is_last) {
        kn_str_append(out, "kn_side[kn_k] = ");
        kn_put_reduced_value(w, out, level);
        kn_str_append(out, ";\n");
    }
    kn_str_append(out, "    }\n");
    for (int k = w->program->n_in; k < kn_param_count(w); ++k)
        if (kn_level_stores(w, level, k))
            put_store(w, out, k);
}

/* The loads of an item, and its computation. */
static void put_items(const kn_writer *w, kn_str *out, const kn_level *level)
{
    put_level_loads(w, out, level);
    kn_str_append(out, item_parameters(w));
    if (!level->is_last) {
        kn_str_append(out, ", ");
        kn_put_type(w, out, w->program->stage[level->end].value[1]);
        kn_str_printf(out, " (&kn_side)[%d]", w->spec->schedule.vector);
    }
    kn_str_append(out, ") {\n");
    put_item(w, out, level);
    kn_str_append(out, "}");
}

/* The same for held items and for staged ones, if there are any. */
static void put_all_items(const kn_writer *w, kn_str *out, const kn_level *level)
{
    put_items(w, out, level);
    if (!is_staged(w))
        return;
    kn_level staged = kn_level_from(w, level->begin, true);
    kn_str_append(out, ", ");
    put_items(w, out, &staged);
}

static void put_reduction(const kn_writer *w, kn_str *out, const kn_level *level)
{
    int result = w->program->stage[level->end].value[1];
    kn_put_declaration(w, out, result);
    kn_str_append(out, "kn_reduce_items(");
    kn_put_row_value(w, out, result);
    kn_str_printf(out, ", kn_number<%d>(), ", level->end);
    put_all_items(w, out, level);
    kn_str_append(out, ", ");
    kn_put_function(w, out, level->end);
    kn_str_append(out, ");\n");
}

static void put_last(const kn_writer *w, kn_str *out, const kn_level *level)
{
    kn_level staged = kn_level_from(w, level->begin, true);
    if (level->stages == 0 && (!is_staged(w) || staged.stages == 0))
        return;
    kn_str_append(out, "kn_each_item(");
    put_all_items(w, out, level);
    kn_str_append(out, ");\n");
}

static void put_levels(kn_writer *w)
{
    kn_str *out = &w->slot[KN_SLOT_LEVELS];
    if (!goes_by_places(w))
        put_early(w, out, put_load);
    if (is_unaligned(w))
        put_early(w, out, put_mend);
    kn_put_levels(w, goes_by_places(w), put_reduction, put_last);
}

/* ---- the rest ---- */

/* Vectors of arrays, and the program's own values that later levels need. */
static void put_item_members(kn_writer *w)
{
    kn_str *out = &w->slot[KN_SLOT_ITEM];
    int vector = w->spec->schedule.vector;
    for (int k = 0; k < kn_param_count(w); ++k)
        if (is_of_items(w, k))
            kn_str_printf(out, "kn_pack<%s, %d> kn_%s_;\n", kn_storage(w, k), vector, name_of(w, k));
    for (int k = kn_param_count(w); k < kn_param_count(w) + w->program->n_values && !goes_by_places(w); ++k) {
        if (!kn_is_held_value(w, k))
            continue;
        kn_put_type(w, out, k);
        kn_str_append(out, " ");
        kn_put_value(w, out, k);
        kn_str_printf(out, "[%d];\n", vector);
    }
}

/* Pointers to the row in each array: to elements for vectors, else to bytes. */
static void put_row_pointers(kn_writer *w)
{
    for (int k = 0; k < kn_param_count(w) && !goes_by_places(w); ++k) {
        const char *qualifier = kn_is_output(w, k) ? "" : "const ";
        bool is_bytes = kn_access_of(w, k) == KN_GATHER || kn_has_columns(w);
        const char *type = is_bytes ? "char" : kn_storage(w, k);
        if (kn_is_wide_array(w, k))
            kn_str_printf(&w->slot[KN_SLOT_ROW],
                          "%s%s *const kn_%s_row = (%s%s *)((%schar *)kn.%s_ + kn_here.at[%d]);\n", qualifier,
                          type, name_of(w, k), qualifier, type, qualifier, name_of(w, k), kn_array_of(w, k));
        if (is_broadcast(w, k))
            kn_str_printf(&w->slot[KN_SLOT_ROW], "const %s kn_%s_broadcast = *kn_%s_row;\n", type,
                          name_of(w, k), name_of(w, k));
    }
}

/* Misalignment of a row, in elements: that of the first array that is not broadcast along it. */
static void put_off(kn_writer *w)
{
    int k = 0;
    while (k < kn_param_count(w) && !(kn_is_wide_array(w, k) && kn_access_of(w, k) == KN_VECTOR))
        ++k;
    if (is_unaligned(w) && k < kn_param_count(w))
        kn_str_printf(&w->slot[KN_SLOT_OFF], "(int)((unsigned long long)kn_%s_row / %d & %d)", name_of(w, k),
                      kn_item_size(w, k), w->spec->schedule.vector - 1);
    else
        kn_str_append(&w->slot[KN_SLOT_OFF], "0");
}

/* The staged inputs of a thread, one behind the other in shared memory. */
static void put_stages_of_inputs(kn_writer *w)
{
    kn_str *row = &w->slot[KN_SLOT_ROW], *stage = &w->slot[KN_SLOT_STAGE];
    int bytes = 0, vector = w->spec->schedule.vector;
    for (int k = 0; k < w->program->n_in; ++k) {
        const char *name = name_of(w, k), *type = kn_storage(w, k);
        if (!is_copied(w, k))
            continue;
        kn_str_printf(
            row,
            "kn_pack<%s, %d> *const kn_%s_staged = (kn_pack<%s, %d> *)(kn_buffer + (size_t)kn.staged * "
            "blockDim.x * %d);\n",
            type, vector, name, type, vector, bytes);
        kn_str_printf(stage, "kn_stage_item(kn_%s_staged[kn_slot], ", name);
        put_item_address(w, stage, k);
        kn_str_append(stage, ");\n");
        bytes += vector * kn_item_size(w, k);
    }
}

static void fill(kn_writer *w)
{
    put_item_members(w);
    put_row_pointers(w);
    kn_put_row_results(w, "kn_is_first");
    put_levels(w);
}

static void fill_block(kn_writer *w)
{
    fill(w);
    put_off(w);
}

static void fill_columns(kn_writer *w)
{
    fill(w);
    put_stages_of_inputs(w);
}

static void fill_long(kn_writer *w)
{
    fill(w);
    put_off(w);
    put_stages_of_inputs(w);
}

#define RECIPE(name, fills, words, beside)                                                                   \
    const kn_recipe kn_recipe_row_##name = {.template_name = "schedules/rowprog/row_" #name ".cu",           \
                                            .fill = fills,                                                   \
                                            .preludes = words,                                               \
                                            .has_rows_beside = beside};
RECIPE(columns, fill_columns, "kn_reduce_down", true)
RECIPE(lanes, fill, "kn_reduce_group", false)
RECIPE(block, fill_block, "kn_reduce_group", false)
RECIPE(long, fill_long, "kn_reduce_group", false)
RECIPE(multipass, fill, "kn_reduce_group", false)
