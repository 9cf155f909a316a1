/* emit_sort_place.c - sort_place.cu, and sort_place_quick.cu, its baseline tier. */
#include "codegen/writer.h"

#include "program/cost.h"
#include "schedule/sort_tile.h"
#include "schedules/scan/row_elements.h"
#include "schedules/scan/scan_kinds.h"
#include "schedules/sort/sort_kinds.h"

enum { THREADS = 1024, THREADS_OF_WIDE = 1024 /* of a multiprocessor */ };

static const kn_row_elements *elements_of(const kn_writer *w)
{
    return kn_row_elements_of(kn_sort_place_config_of(&w->spec->schedule)->one_axis);
}

/* Results are stored where they are; inputs are in shared memory, in the order of digits. */
static void put_sorted(const kn_writer *w, kn_str *out, int k)
{
    if (kn_is_output(w, k))
        elements_of(w)->put(w, out, k);
    else
        kn_put_part(w, out, "sorted", k);
}

static void put_places(kn_writer *w)
{
    int operands = kn_layout_space_operands(w->spec);
    kn_put_part_with(w, &w->slot[KN_SLOT_LOCATE], "go_to_row", KN_NO_VALUE, "operands=%d", operands);
    kn_put_way_along(w, KN_SLOT_FROM, elements_of(w));
}

/* *first: bytes of an element in shared memory so far. */
static void put_operand(kn_writer *w, int k, int *first)
{
    if (kn_is_output(w, k))
        return;
    /* The operand beside a pair's key is loaded when its place is known: it needs no registers before. */
    const bool is_late =
        w->spec->schedule.block == KN_SORT_PAIRS_BLOCK && !kn_scan_is_of_stage(w, KN_SORT_KEY, k);
    if (!is_late)
        kn_put_item_load(w, elements_of(w), k);
    if (kn_scan_is_of_stage(w, KN_SORT_PUT, k)) {
        kn_put_part_with(w, &w->slot[KN_SLOT_TILES], "sorted_tile", k, "first=%d", *first);
        *first += kn_item_size(w, k);
        kn_put_part_with(w, &w->slot[KN_SLOT_PACKS], "sort_item", k, "place=%s",
                         kn_text_by(w, is_late ? elements_of(w)->put : kn_put_item, k));
    }
}

/* Keys of 16-bit floats are more instructions (a pass of 2^27 float16 takes 641 us, and 707 if they
 * are found again; H200). */
static bool is_half(const kn_writer *w, int k)
{
    const kn_dtype_info *info = kn_dtype_info_of(w->spec->operand[k].dtype);
    return info->kind == KN_KIND_FLOAT && info->size < 4;
}

/* Digits of elements that lie in shared memory are computed again, if that is less than to hold them. */
static bool finds_again(const kn_writer *w)
{
    bool finds = !kn_sort_place_config_of(&w->spec->schedule)->numbers &&
                 kn_cost_stage_functions(w->program, KN_SORT_KEY) == 0;
    for (int k = 0; k < kn_param_count(w); ++k)
        if (kn_scan_is_of_stage(w, KN_SORT_KEY, k))
            finds = finds && kn_scan_is_of_stage(w, KN_SORT_PUT, k) && !is_half(w, k);
    return finds;
}

static void put_digits(kn_writer *w, const kn_row_elements *elements)
{
    const bool finds = finds_again(w);
    kn_str_append(&w->slot[KN_SLOT_TOGETHER], finds ? "1" : "0");
    if (!finds) {
        kn_str_append(&w->slot[KN_SLOT_INDEX], "kn_digit_of[kn_s]");
        return;
    }
    kn_str_append(&w->slot[KN_SLOT_GATHER], kn_str_text(&w->slot[KN_SLOT_LOADS]));
    kn_put_map_at(w, &w->slot[KN_SLOT_GATHER], KN_SORT_KEY, put_sorted, elements->offset);
    kn_str_printf(&w->slot[KN_SLOT_INDEX], "(unsigned)%s & 255", kn_str_text(&w->slot[KN_SLOT_MAPPED]));
}

/* Passes of sorts say how many come behind them. */
static void put_rest(kn_writer *w)
{
    const kn_stage *s = &w->program->stage[KN_SORT_SORT];
    const bool has_rest = s->n_read > 2;
    kn_str_append(&w->slot[KN_SLOT_EXCLUSIVE], has_rest ? "1" : "0");
    if (w->spec->schedule.baseline)
        return;
    kn_str_append(&w->slot[KN_SLOT_UNTIL], has_rest ? w->program->param[s->value[2]].name : "0");
}

static void put_buffer(kn_writer *w)
{
    const kn_sort_place_config *config = kn_sort_place_config_of(&w->spec->schedule);
    if (config->dynamic)
        kn_put_part(w, &w->slot[KN_SLOT_TILES], "dynamic_buffer", KN_NO_VALUE);
    else
        kn_put_part_with(w, &w->slot[KN_SLOT_TILES], "static_buffer", KN_NO_VALUE, "size=%d",
                         config->bytes + config->numbers * (int)sizeof(uint16_t));
}

static void put_numbers(kn_writer *w, int first)
{
    const bool has_numbers = kn_sort_place_config_of(&w->spec->schedule)->numbers;
    /* Elements that are moved themselves fit so many threads' registers, which hides more waiting (a pass
     * over 2^26 keys of 8 bytes in programs of their own, H200: 706 us by 512 threads, 516 by 1,024); passes
     * that have numbers too become slower (H100). */
    if (w->spec->schedule.block != KN_SORT_BLOCK)
        kn_put_blocks(w, w->spec->schedule.block == KN_SORT_KEYS_BLOCK ? KN_SORT_KEYS_THREADS
                                                                       : KN_SORT_PAIRS_THREADS);
    else if (!has_numbers)
        kn_put_blocks(w, kn_sort_place_config_of(&w->spec->schedule)->items == KN_SORT_ITEMS
                             ? THREADS
                             : THREADS_OF_WIDE);
    if (has_numbers) {
        kn_put_part_with(w, &w->slot[KN_SLOT_TILES], "number_tile", KN_NO_VALUE, "first=%d", first);
        kn_put_part(w, &w->slot[KN_SLOT_PACKS], "sort_number", KN_NO_VALUE);
    }
    kn_str_append(&w->slot[KN_SLOT_ROW_UNROLL], has_numbers ? "4" : "");
    kn_str_append(&w->slot[KN_SLOT_SINGLE], has_numbers ? "kn_number_of[kn_s]" : "0");
}

static const char *choose_template(const kn_spec *spec)
{
    return spec->schedule.baseline ? "schedules/sort/sort_place_quick.cu" : "schedules/sort/sort_place.cu";
}

static void fill(kn_writer *w)
{
    const kn_row_elements *elements = elements_of(w);
    int first = 0;
    kn_put_sort_names(w);
    put_rest(w);
    if (w->spec->schedule.baseline) {
        kn_put_sort_maps(w, elements->one_axis);
        return;
    }
    put_places(w);
    put_buffer(w);
    kn_put_row_pointers(w);
    for (int k = 0; k < kn_param_count(w); ++k)
        if (kn_array_of(w, k) >= 0)
            put_operand(w, k, &first);
    put_numbers(w, first);
    put_digits(w, elements);
    kn_put_map_at(w, &w->slot[KN_SLOT_LANE], KN_SORT_KEY, kn_put_item, elements->offset);
    kn_put_map_at(w, &w->slot[KN_SLOT_STORES], KN_SORT_PUT, put_sorted, elements->offset);
}

KN_CONFIG_TABLE(kn_sort_place_config, KN_SORT_PLACE_CONFIG);

const kn_recipe kn_recipe_sort_place = {.choose_template = choose_template,
                                        .fill = fill,
                                        .parts = "schedules/sort/sort_parts.cu",
                                        .preludes = "kn_reduce_block kn_look_back kn_sort_places",
                                        .quick_preludes = "kn_reduce_block kn_take_ticket"};
