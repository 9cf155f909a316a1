/* emit_row.c - fills the templates row_*.cu with the levels of a program, each a loop over the items of a
 * row. */
#include <string.h>

#include "schedules/rowprog/row_stages.h"
#include "schedules/rowprog/rowprog_kinds.h"

enum {
    EARLY = 32, /* bytes of a thread for inputs that are first needed behind a reduction, to be loaded with
                   the others, at most */
    RESIDENT = 1024,      /* threads of a multiprocessor that registers have to suffice for, where blocks have
                        strips */
    MANY_RESIDENT = 1536, /* the same of programs with one reduction at most whose threads hold */
    FEW_HELD = 112        /* bytes, at most: bench/results/rows.md */
};

/* The multi-pass kernel finds items by places, the others by the numbers of elements. */
static bool goes_by_places(const kn_writer *w)
{
    return w->recipe == &kn_recipe_row_multipass;
}

/* A block has several rows, one after the other, and combines columns. */
static bool has_strips(const kn_writer *w)
{
    return w->recipe == &kn_recipe_row_strips;
}

/* A part of the row is staged in shared memory, as it was loaded; each level computes again what it needs of
 * that part. */
static bool is_staged(const kn_writer *w)
{
    return w->recipe == &kn_recipe_row_long || w->recipe == &kn_recipe_row_columns;
}

static bool is_unaligned(const kn_writer *w)
{
    return !goes_by_places(w) && kn_row_config_of(&w->spec->schedule)->fit == KN_ROW_UNALIGNED;
}

/* Rows lie along two axes: items are found by the piece that they are in. */
static bool has_pieces(const kn_writer *w)
{
    return !goes_by_places(w) && !kn_has_columns(w) && kn_row_config_of(&w->spec->schedule)->pieces;
}

/* An input that is broadcast along a held row: one element, loaded once. */
static bool is_broadcast(const kn_writer *w, int k)
{
    return !goes_by_places(w) && !kn_has_columns(w) && k < w->program->n_in && kn_is_wide_array(w, k) &&
           kn_access_of(w, k) == KN_BROADCAST;
}

/* Registers hold inputs alone. */
static bool recomputes(const kn_writer *w)
{
    return goes_by_places(w) || (w->recipe == &kn_recipe_row_long &&
                                 kn_row_config_of(&w->spec->schedule)->fit == KN_ROW_FULL_INPUTS);
}

/* True if items have a member for it. */
static bool is_of_items(const kn_writer *w, int k)
{
    return kn_is_wide_array(w, k) && !is_broadcast(w, k);
}

/* True for inputs whose elements are taken out of their words where they are read: kn_unpack says why. */
static bool is_unpacked(const kn_writer *w, int k)
{
    return (w->recipe == &kn_recipe_row_long || has_strips(w)) && k < w->program->n_in && is_of_items(w, k) &&
           w->spec->schedule.vector > 1 &&
           (w->spec->operand[k].dtype == KILN_BFLOAT16 ||
            (has_strips(w) && w->spec->operand[k].dtype == KILN_FLOAT16));
}

/* ---- items ---- */

static void place_in_item(const kn_writer *w, kn_str *out, int k)
{
    if (is_broadcast(w, k))
        kn_put_part(w, out, "broadcast", k);
    else if (kn_is_wide_array(w, k))
        kn_put_part(w, out, is_unpacked(w, k) ? "lane_unpacked" : "lane", k);
    else
        kn_place_of_row(w, out, k);
}

/* The address of an item. Vectors of a held row are counted from its first element. */
static void put_item_address(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part(w, out,
                goes_by_places(w)                                      ? "place"
                : has_pieces(w)                                        ? "bytes_of_pieces"
                : kn_access_of(w, k) == KN_GATHER || kn_has_columns(w) ? "bytes_of_row"
                                                                       : "elements_of_row",
                k);
}

/* Single elements may be unaligned. */
static bool is_single(const kn_writer *w)
{
    return w->spec->schedule.vector == 1;
}

/* One element for a whole vector. */
static bool is_repeated(const kn_writer *w, int k)
{
    char access = kn_access_of(w, k);
    return access == KN_BROADCAST || (has_pieces(w) && access == KN_STAGED);
}

/* The kind of load is chosen here: two possible loads into the same registers would wait for each other. */
static void put_load(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part_with(w, out,
                     is_single(w)        ? "load_single"
                     : is_repeated(w, k) ? "load_repeated"
                                         : "load",
                     k, "from=%s", kn_text_by(w, put_item_address, k));
}

static void put_mend(const kn_writer *w, kn_str *out, int k)
{
    if (is_unaligned(w))
        kn_put_part(w, out, "mend", k);
}

static void put_store_of_item(const kn_writer *w, kn_str *out, int k)
{
    bool is_whole = goes_by_places(w) || kn_has_columns(w);
    kn_put_part_with(w, out,
                     is_single(w) ? "store_single"
                     : is_whole   ? "store_vector"
                                  : "store_item",
                     k, "to=%s", kn_text_by(w, put_item_address, k));
}

static void put_store(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part_with(w, out, goes_by_places(w) ? "store" : "store_here", k, "statement=%s",
                     kn_text_by(w, put_store_of_item, k));
}

/* ---- levels ---- */

/* Bytes that a thread would hold of inputs that are read only behind the first reduction. */
static int late_bytes(const kn_writer *w)
{
    const kn_schedule *s = &w->spec->schedule;
    int items = kn_row_config_of(s)->items, bytes = 0;
    for (int k = 0; k < w->program->n_in; ++k)
        if (is_of_items(w, k) && !kn_row_is_early(w->program, k))
            bytes += s->vector * items * kn_item_size(w, k);
    return bytes;
}

/* True for inputs that are loaded at the start, all of them before any is used. The others are loaded item by
 * item, by the first level that needs them. */
static bool is_early(const kn_writer *w, int k)
{
    return has_strips(w) || kn_row_is_early(w->program, k) || (!is_staged(w) && late_bytes(w) <= EARLY);
}

static bool is_loaded_in(const kn_writer *w, const kn_level *level, int k)
{
    int first = kn_row_first_read(w->program, k);
    if (k >= w->program->n_in || !is_of_items(w, k) || !kn_level_reads(w, level, k))
        return false;
    return goes_by_places(w) || level->is_from_stage ||
           (!is_early(w, k) && first >= level->begin && first < level->end);
}

static const char *parameters_of_item(const kn_writer *w)
{
    return goes_by_places(w) ? "item_of_places" : "item_of_row";
}

static void put_early(const kn_writer *w, kn_str *out, kn_place_writer put)
{
    kn_str *item = kn_text(w), *lines = kn_text(w);
    kn_put_part(w, item, parameters_of_item(w), KN_NO_VALUE);
    for (int k = 0; k < w->program->n_in; ++k)
        if (is_of_items(w, k) && is_early(w, k))
            put(w, lines, k);
    kn_put_part_with(w, out, "load_items", KN_NO_VALUE, "item=%s lines=%s", kn_str_text(item),
                     kn_str_text(lines));
}

/* True for inputs that are staged: early ones that are not broadcast. */
static bool is_copied(const kn_writer *w, int k)
{
    return is_of_items(w, k) && is_early(w, k) && kn_access_of(w, k) != KN_BROADCAST;
}

/* A function of an item: "[&](kn_item &kn_in, const int kn_j) { ... }". */
static void put_lambda(const kn_writer *w, kn_str *out, const char *more, kn_str *lines)
{
    kn_str *item = kn_text(w);
    kn_put_part(w, item, parameters_of_item(w), KN_NO_VALUE);
    kn_put_part_with(w, out, "lambda", KN_NO_VALUE, "item=%s more=%s lines=%s", kn_str_text(item), more,
                     kn_str_text(lines));
}

static void put_level_loads(const kn_writer *w, kn_str *out, const kn_level *level)
{
    bool from_stage = level->is_from_stage;
    kn_str *lines = kn_text(w);
    for (int k = 0; k < w->program->n_in; ++k) {
        if (!is_loaded_in(w, level, k))
            continue;
        if (from_stage && is_copied(w, k))
            kn_put_part(w, lines, "load_staged", k);
        else
            put_load(w, lines, k);
    }
    put_lambda(w, out, from_stage ? ", const int kn_slot" : "", lines);
}

/* Combines an element with what its column has so far: at the end of a program. */
static void put_columns(const kn_writer *w, kn_str *out)
{
    for (int s = 0; s < w->program->n_stages; ++s) {
        const kn_stage *stage = &w->program->stage[s];
        if (stage->kind == KN_COLUMNS)
            kn_put_part_with(w, out, "columns_element", stage->value[1], "value=%s function=%s",
                             kn_text_by(w, kn_put_row_value, stage->value[0]),
                             kn_text_by(w, kn_put_function, s));
    }
}

/* The stages of an element, and the value that the level reduces. */
static void put_element(const kn_writer *w, kn_str *out, const kn_level *level)
{
    static const kn_element_places held = {place_in_item, "kn_in.", "[kn_k]", "kn_here.at[%d] + kn_e",
                                           "kn_e"},
                                   recomputed = {place_in_item, "", "", "kn_from.at[%d] + kn_k", NULL};
    if (w->program->uses & (KN_USES_INDEX | KN_USES_REDUCTION_INDEX) && !goes_by_places(w))
        kn_put_part(w, out, kn_has_columns(w) ? "element_of_columns" : "element", KN_NO_VALUE);
    kn_put_level_stages(w, out, level, goes_by_places(w) ? &recomputed : &held);
    if (!level->is_last)
        kn_put_part(w, out, "reduced_element", w->program->stage[level->end].value[0]);
    else
        put_columns(w, out);
}

/* A result that the text does not assign keeps its value: results are loaded first. The compiler drops the
 * load if all are assigned. */
static void put_item(const kn_writer *w, kn_str *out, const kn_level *level)
{
    kn_str *before = kn_text(w), *lines = kn_text(w), *stores = kn_text(w);
    for (int k = 0; k < kn_param_count(w); ++k) {
        if (k < w->program->n_in && is_loaded_in(w, level, k))
            put_mend(w, before, k);
        if (is_unpacked(w, k) && kn_level_reads(w, level, k))
            kn_put_part(w, before, "unpack", k);
        if (kn_is_output(w, k) && kn_is_wide_array(w, k) && kn_level_gives(w, level, k))
            put_load(w, before, k);
        if (kn_is_output(w, k) && kn_level_stores(w, level, k))
            put_store(w, stores, k);
    }
    put_element(w, lines, level);
    kn_put_part_with(w, out, "item", KN_NO_VALUE, "before=%s lines=%s stores=%s", kn_str_text(before),
                     kn_str_text(lines), kn_str_text(stores));
}

/* The loads of an item, and its computation. */
static void put_items(const kn_writer *w, kn_str *out, const kn_level *level)
{
    kn_str *side = kn_text(w), *lines = kn_text(w);
    put_level_loads(w, out, level);
    kn_str_append(out, ", ");
    if (!level->is_last)
        kn_put_part(w, side, "side", w->program->stage[level->end].value[1]);
    put_item(w, lines, level);
    put_lambda(w, out, kn_str_text(side), lines);
}

/* The same for held items and for staged ones, if there are any. */
static void put_all_items(const kn_writer *w, kn_str *out, const kn_level *level)
{
    put_items(w, out, level);
    if (!is_staged(w))
        return;
    kn_level staged = kn_level_from(w, level->begin, true);
    staged.is_from_stage = true;
    kn_str_append(out, ", ");
    put_items(w, out, &staged);
}

static void put_reduction(const kn_writer *w, kn_str *out, const kn_level *level)
{
    int result = w->program->stage[level->end].value[1];
    kn_str *items = kn_text(w);
    kn_put_declaration(w, out, result);
    put_all_items(w, items, level);
    kn_put_part_with(w, out, "reduce_items", KN_NO_VALUE, "to=%s stage=%d items=%s function=%s",
                     kn_text_by(w, kn_put_row_value, result), level->end, kn_str_text(items),
                     kn_text_by(w, kn_put_function, level->end));
}

static void put_last(const kn_writer *w, kn_str *out, const kn_level *level)
{
    kn_level staged = kn_level_from(w, level->begin, true);
    kn_str *items = kn_text(w);
    if (level->stages == 0 && (!is_staged(w) || staged.stages == 0))
        return;
    put_all_items(w, items, level);
    kn_put_part_with(w, out, "each_item", KN_NO_VALUE, "items=%s", kn_str_text(items));
}

static void put_levels(kn_writer *w)
{
    kn_str *out = &w->slot[KN_SLOT_LEVELS];
    if (!goes_by_places(w) && !has_strips(w))
        put_early(w, out, put_load);
    if (is_unaligned(w))
        put_early(w, out, put_mend);
    kn_put_levels(w, recomputes(w), put_reduction, put_last);
}

/* ---- the rest ---- */

/* Vectors of arrays, and the program's own values that later levels need. */
static void put_item_members(kn_writer *w)
{
    kn_str *out = &w->slot[KN_SLOT_ITEM];
    for (int k = 0; k < kn_param_count(w); ++k)
        if (is_of_items(w, k))
            kn_put_part(w, out, "member", k);
    for (int k = kn_param_count(w); k < kn_param_count(w) + w->program->n_values && !recomputes(w); ++k)
        if (kn_is_held_value(w, k))
            kn_put_part(w, out, "held_value", k);
    for (int s = 0; s < w->program->n_stages; ++s)
        if (w->program->stage[s].kind == KN_COLUMNS)
            kn_put_part_with(w, out, "columns_member", w->program->stage[s].value[1], "value_type=%s",
                             kn_text_by(w, kn_put_type, w->program->stage[s].value[0]));
}

/* True if a warp has the operand's rows in shared memory. */
static bool is_of_rows(const kn_writer *w, int k)
{
    return w->recipe == &kn_recipe_row_lanes && kn_is_wide_array(w, k) && kn_access_of(w, k) == KN_STAGED;
}

static void put_rows_from(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part(w, out, "rows_from", k);
}

/* Pointers to the row in each array: to elements for vectors, else to bytes. */
static void put_row_pointers(kn_writer *w)
{
    kn_str *out = &w->slot[KN_SLOT_ROW];
    if (w->recipe == &kn_recipe_row_lanes && strchr(w->spec->schedule.access, KN_STAGED))
        kn_put_part(w, out, "own_row", KN_NO_VALUE);
    for (int k = 0; k < kn_param_count(w) && !goes_by_places(w); ++k) {
        if (has_strips(w) && !kn_is_output(w, k)) {
            if (is_broadcast(w, k))
                kn_put_part(w, out, "broadcast_asked", k);
            continue;
        }
        if (is_of_rows(w, k)) {
            kn_put_part(w, out, "row_staged", k);
            continue;
        }
        bool is_bytes =
            kn_access_of(w, k) == KN_GATHER || kn_has_columns(w) || (has_pieces(w) && !is_broadcast(w, k));
        if (kn_is_wide_array(w, k))
            kn_put_part_with(w, out, "row", k, "row_type=%s", is_bytes ? "char" : kn_storage(w, k));
        if (is_broadcast(w, k))
            kn_put_part(w, out, "broadcast_input", k);
    }
}

/* Misalignment of a row, in elements: that of the first array that is not broadcast along it. */
static void put_off(kn_writer *w)
{
    int k = 0;
    while (k < kn_param_count(w) && !(kn_is_wide_array(w, k) && kn_access_of(w, k) == KN_VECTOR))
        ++k;
    if (is_unaligned(w) && k < kn_param_count(w))
        kn_put_part_with(w, &w->slot[KN_SLOT_OFF], "off", k, "mask=%d", w->spec->schedule.vector - 1);
    else
        kn_str_append(&w->slot[KN_SLOT_OFF], "0");
}

/* The staged inputs of a thread, one behind the other in shared memory. */
static void put_stages_of_inputs(kn_writer *w)
{
    int bytes = 0;
    for (int k = 0; k < w->program->n_in; ++k) {
        if (!is_copied(w, k))
            continue;
        kn_put_part_with(w, &w->slot[KN_SLOT_ROW], "staged_input", k, "bytes=%d", bytes);
        kn_put_part_with(w, &w->slot[KN_SLOT_STAGE], is_repeated(w, k) ? "stage_repeated" : "stage_item", k,
                         "from=%s", kn_text_by(w, put_item_address, k));
        bytes += w->spec->schedule.vector * kn_item_size(w, k);
    }
}

static void fill(kn_writer *w)
{
    put_item_members(w);
    put_row_pointers(w);
    kn_put_row_results(w, "kn_is_first");
    put_levels(w);
}

/* A part for the rows of each input, or of each result, that a warp has in shared memory. */
static void put_copies(const kn_writer *w, kn_str *out, const char *part, bool are_results)
{
    const kn_row_config *config = kn_row_config_of(&w->spec->schedule);
    for (int k = 0; k < kn_param_count(w); ++k)
        if (is_of_rows(w, k) && kn_is_output(w, k) == are_results)
            kn_put_part_with(w, out, part, k, "items=%d turns=%d rows=%s", config->items, config->turns,
                             kn_text_by(w, put_rows_from, k));
}

static void fill_lanes(kn_writer *w)
{
    kn_str *before = &w->slot[KN_SLOT_STAGE], *behind = &w->slot[KN_SLOT_UNSTAGE];
    fill(w);
    if (!strchr(w->spec->schedule.access, KN_STAGED))
        return;
    kn_put_part(w, before, "rows_of_warp", KN_NO_VALUE);
    put_copies(w, before, "rows_staged", false);
    put_copies(w, before, "rows_staged", true);
    put_copies(w, before, "stage_rows", false);
    kn_put_part(w, before, "warp_waits", KN_NO_VALUE);
    kn_put_part(w, behind, "warp_waits", KN_NO_VALUE);
    put_copies(w, behind, "unstage_rows", true);
}

static void fill_block(kn_writer *w)
{
    fill(w);
    put_off(w);
}

/* Inputs come a row ahead, but those that are the same for all rows. */
static void put_asked_address(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part(w, out, kn_access_of(w, k) == KN_STAGED ? "asked_for_all" : "asked_elements", k);
}

static void put_asked(kn_writer *w, int k)
{
    if (is_broadcast(w, k)) {
        kn_put_part(w, &w->slot[KN_SLOT_STEP_PACKS], "asked_broadcast", k);
        kn_put_part(w, &w->slot[KN_SLOT_STEP_LOADS], "ask_broadcast", k);
        return;
    }
    bool is_same = kn_access_of(w, k) == KN_STAGED;
    kn_put_part_with(w, &w->slot[is_same ? KN_SLOT_INVARIANT : KN_SLOT_LOADS], "load", k, "from=%s",
                     kn_text_by(w, put_asked_address, k));
    if (!is_same)
        kn_put_part(w, &w->slot[KN_SLOT_LANE], "take", k);
}

/* Bytes that a thread holds: inputs, also those of the next row, and what it has combined. */
static int strip_bytes(const kn_writer *w)
{
    const kn_schedule *s = &w->spec->schedule;
    int bytes = 0;
    for (int k = 0; k < w->program->n_in; ++k)
        if (is_of_items(w, k))
            bytes += (kn_access_of(w, k) == KN_STAGED ? 1 : 2) * kn_item_size(w, k);
    for (int t = 0; t < w->program->n_stages; ++t)
        if (w->program->stage[t].kind == KN_COLUMNS)
            bytes += kn_item_size(w, w->program->stage[t].value[1]);
    return bytes * s->vector * kn_row_config_of(s)->items;
}

static int reductions_of(const kn_writer *w)
{
    int count = 0;
    for (int s = 0; s < w->program->n_stages; ++s)
        count += w->program->stage[s].kind == KN_REDUCE;
    return count;
}

static void fill_strips(kn_writer *w)
{
    fill(w);
    kn_put_blocks(w, strip_bytes(w) <= FEW_HELD && reductions_of(w) <= 1 ? MANY_RESIDENT : RESIDENT);
    for (int k = 0; k < w->program->n_in; ++k)
        if (kn_is_wide_array(w, k))
            put_asked(w, k);
    for (int s = 0; s < w->program->n_stages; ++s)
        if (w->program->stage[s].kind == KN_COLUMNS)
            kn_put_part_with(w, &w->slot[KN_SLOT_UNSTAGE], "store_columns", w->program->stage[s].value[1],
                             "value_type=%s", kn_text_by(w, kn_put_type, w->program->stage[s].value[0]));
}

static void fill_columns(kn_writer *w)
{
    fill(w);
    put_stages_of_inputs(w);
}

/* Blocks of a cluster that only read begin one after the other: then their loads do not all come while none
 * computes (bench/results/rows.md). */
static void put_writes_row(kn_writer *w)
{
    bool writes = false;
    for (int k = 0; k < kn_param_count(w); ++k)
        writes |= kn_is_output(w, k) && kn_is_wide_array(w, k) && kn_access_of(w, k) != KN_GATHER;
    kn_str_append(&w->slot[KN_SLOT_WRITES_ROW], writes ? "true" : "false");
}

static void fill_long(kn_writer *w)
{
    fill(w);
    put_writes_row(w);
    put_off(w);
    put_stages_of_inputs(w);
}

#define RECIPE(name, fills, words, staged, beside)                                                           \
    const kn_recipe kn_recipe_row_##name = {.template_name = "schedules/rowprog/row_" #name ".cu",           \
                                            .fill = fills,                                                   \
                                            .preludes = words,                                               \
                                            .staged_preludes = staged,                                       \
                                            .parts = "schedules/rowprog/row_parts.cu",                       \
                                            .more_parts = "schedules/rowprog/row_stage_parts.cpp",           \
                                            .has_rows_beside = beside};
RECIPE(beside, fill, "kn_reduce_down", NULL, true)
RECIPE(columns, fill_columns, "kn_reduce_down", NULL, true)
RECIPE(lanes, fill_lanes, "kn_reduce_group", "kn_copy_rows", false)
RECIPE(block, fill_block, "kn_reduce_group", NULL, false)
RECIPE(long, fill_long, "kn_reduce_group", NULL, false)
RECIPE(multipass, fill, "kn_reduce_group", NULL, false)
RECIPE(strips, fill_strips, "kn_reduce_threads_in_turn", NULL, false)
