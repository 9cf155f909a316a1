/* emit_reduce.c - fills the templates reduce_*.cu. Loads, the map and the reduction of an element are the
 * same for all of them; only the address of an element differs. */
#include "codegen/writer.h"

#include <string.h>

#include "schedules/reduce/reduce_space.h"
#include "schedules/reduce/reduce_kinds.h"

enum { MAP, REDUCE, POST }; /* the stages */
enum { NAMED_ITEMS = 4 };   /* of a thread of reduce_lanes, at least */
enum {
    COPIES_UNROLLED = 8
}; /* of elements of less than four bytes, whose loads are waited for; half of others */
enum { FULL_THREADS = 512 }; /* of a multiprocessor that multiplies: two blocks take turns */
/* The same of large blocks of structs of floats, and of integers, which are double numbers in variances. */
enum {
    LONG_STRUCTS_BLOCK = 256,
    FLOAT_STRUCTS = 768,
    HALF_STRUCTS = 1024,
    INTEGER_STRUCTS = 512,
    DEEP_STRUCTS = 512
};
enum { HALF = 2 /* bytes */, SINGLE_HALVES = 1536 /* threads of a multiprocessor */ };

/* ---- places ---- */

/* True if the map reads it; other inputs are read once per result. */
static bool is_mapped(const kn_writer *w, int k)
{
    const kn_stage *map = &w->program->stage[MAP];
    bool is = false;
    for (int v = 0; v < map->n_read; ++v)
        is = is || map->value[v] == k;
    return is;
}

/* One element, not of a vector. */
static void place_single(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part_with(w, out, "at", k, "place=%s", "kn_from");
}

/* Dense operands: rows begin anywhere, and vectors at the first boundary inside them. */
static bool reads_vectors(const kn_writer *w, int k)
{
    return !kn_is_output(w, k) && is_mapped(w, k) &&
           (kn_access_of(w, k) == KN_VECTOR || kn_access_of(w, k) == KN_DENSE);
}

/* The kind puts gathered vectors together where they are used. */
static bool joins_late(const kn_writer *w)
{
    return w->recipe->gathered_preludes != NULL;
}

/* Vectors that lie backward, of such kinds. */
static bool is_backward(const kn_writer *w, int k)
{
    return kn_access_of(w, k) == KN_STAGED && joins_late(w);
}

/* Vectors that may be unaligned. */
static bool gathers_vectors(const kn_writer *w, int k)
{
    return kn_array_of(w, k) >= 0 && !kn_is_output(w, k) && is_mapped(w, k) &&
           (kn_access_of(w, k) == KN_GATHER || is_backward(w, k)) && w->spec->schedule.vector > 1;
}

static bool gathers_some(const kn_writer *w)
{
    bool some = false;
    for (int k = 0; k < w->program->n_in; ++k)
        some = some || gathers_vectors(w, k);
    return some;
}

static void put_end(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part(w, out, "end", k);
}

/* Element kn_e of a staged input. Weights, which all results share, are not staged. */
static void place_staged(const kn_writer *w, kn_str *out, int k)
{
    if (kn_access_of(w, k) == KN_STAGED)
        kn_put_part(w, out, "staged", k);
    else
        kn_put_part_with(w, out, "read", k, "offset=%s", kn_text_by(w, put_end, k));
}

/* ---- loads ---- */

bool kn_reduce_names_broadcast(const kn_schedule *s)
{
    return kn_reduce_lanes_config_of(s)->items >= NAMED_ITEMS;
}

/* True if some of the inputs that are loaded may be broadcast along an axis on which others are contiguous.
 * Those that the schedule calls broadcast are loaded element by element; it calls all of them so if some are
 * gathered, and of most kernels of reduce_lanes. */
static bool may_repeat(const kn_writer *w)
{
    int arrays = 0;
    if (gathers_some(w) ||
        (w->recipe == &kn_recipe_reduce_lanes && kn_reduce_names_broadcast(&w->spec->schedule)))
        return false;
    for (int k = 0; k < w->program->n_in; ++k)
        arrays += kn_array_of(w, k) >= 0 && is_mapped(w, k) && kn_access_of(w, k) != KN_BROADCAST;
    return arrays > 1;
}

static const char ALONG[] = "kn.axis[0]", BESIDE[] = "kn.axis[kn.reduction_rank]";

/* "true" or a condition: a vector lies along the axis, or is one element that is repeated. */
static kn_str *is_along_text(const kn_writer *w, int k, const char *axis)
{
    kn_str *text = kn_text(w);
    if (may_repeat(w))
        kn_put_part_with(w, text, "is_along", k, "along=%s", axis);
    else
        kn_str_append(text, "true");
    return text;
}

static void place_loaded_from(const kn_writer *w, kn_str *out, int k, const char *axis)
{
    if (reads_vectors(w, k))
        kn_put_part_with(w, out, "loaded_lane", k, "is_along=%s", kn_str_text(is_along_text(w, k, axis)));
    else
        kn_put_part(w, out,
                    !gathers_vectors(w, k) ? "loaded"
                    : joins_late(w)        ? "run_lane"
                                           : "gathered_lane",
                    k);
}

static void place_loaded(const kn_writer *w, kn_str *out, int k)
{
    place_loaded_from(w, out, k, ALONG);
}

static void place_loaded_beside(const kn_writer *w, kn_str *out, int k)
{
    place_loaded_from(w, out, k, BESIDE);
}

/* Addresses of items and of their elements, by parts with offsets in bytes from the start of an operand.
 * Where items lie along one axis, a pointer goes from each to the next: a product of 64 bits for each item
 * would take more instructions than the rest of a single element. */
typedef struct places {
    const char *item, *lane;
    const char *axis;           /* along which the elements of an item lie */
    kn_place_writer loaded;     /* element kn_k of item kn_u, which has been loaded */
    bool has_base;              /* a single input that is read by vectors has a base address for all */
    const char *pointer, *step; /* to a thread's first item, and from there on; NULL: there is none */
} places;

static const places along = {"item_along", "lane_along", ALONG, place_loaded, false, NULL, NULL},
                    beside = {"item_beside", "lane_beside", BESIDE, place_loaded_beside, false, NULL, NULL},
                    with_base = {"item_along", "lane_with_base", ALONG,      place_loaded,
                                 true,         "pointer_along",  "next_item"},
                    down_rows = {"item_beside", "lane_beside",  BESIDE,         place_loaded_beside,
                                 false,         "pointer_down", "next_row_down"},
                    each_row = {"item_beside", "lane_beside",    BESIDE,    place_loaded_beside,
                                false,         "pointer_beside", "next_row"};

/* The load of an item at a pointer, which then goes to the next one. */
static void put_load_at(kn_writer *w, const places *from, int k)
{
    kn_put_part(w, &w->slot[KN_SLOT_POINTERS], from->pointer, k);
    kn_put_part_with(w, &w->slot[KN_SLOT_LOADS], reads_vectors(w, k) ? "load_vector_at" : "load_at", k,
                     "is_along=%s", kn_str_text(is_along_text(w, k, from->axis)));
    kn_put_part(w, &w->slot[KN_SLOT_STEP_LOADS], from->step, k);
}

static void put_load(kn_writer *w, const places *from, int k)
{
    const char *part = reads_vectors(w, k)
                           ? (joins_late(w) && gathers_some(w) ? "load_vector_now" : "load_vector")
                       : is_backward(w, k)     ? "gather_backward"
                       : gathers_vectors(w, k) ? (joins_late(w) ? "load_run" : "gather_vector")
                                               : "load_element";
    kn_str *offset = kn_text(w);
    kn_put_part(w, offset, from->item, k);
    kn_put_part_with(w, &w->slot[KN_SLOT_LOADS], part, k, "offset=%s is_along=%s", kn_str_text(offset),
                     kn_str_text(is_along_text(w, k, from->axis)));
}

/* Registers for the items of a thread, and the load of one item. */
static void put_loads(kn_writer *w, const places *from)
{
    for (int k = 0; k < w->program->n_in; ++k) {
        if (kn_array_of(w, k) < 0 || !is_mapped(w, k))
            continue;
        bool is_vector = reads_vectors(w, k);
        kn_put_part(w, &w->slot[KN_SLOT_PACKS],
                    is_vector               ? "vectors"
                    : gathers_vectors(w, k) ? (joins_late(w) ? "runs" : "gathered_vectors")
                                            : "elements",
                    k);
        if (is_vector && from->has_base && !may_repeat(w)) {
            kn_put_part(w, &w->slot[KN_SLOT_POINTERS], "base", k);
            kn_put_part(w, &w->slot[KN_SLOT_LOADS], "load_from_base", k);
        } else if (from->pointer)
            put_load_at(w, from, k);
        else
            put_load(w, from, k);
    }
}

/* Misalignment at a place, in elements, of the first input that is contiguous along the axis. The address of
 * a broadcast input says nothing about it. */
static void put_off(const kn_writer *w, kn_str *out, const char *axis, const char *part)
{
    for (int k = 0; k < w->program->n_in; ++k) {
        if (!reads_vectors(w, k))
            continue;
        if (may_repeat(w))
            kn_str_printf(out, "%s.stride[%d] != 0 ? ", axis, kn_array_of(w, k));
        kn_put_part_with(w, out, part, k, "mask=%d", w->spec->schedule.vector - 1);
        if (!may_repeat(w))
            return;
        kn_str_append(out, " : ");
    }
    kn_str_append(out, "0");
}

static void put_stage(kn_writer *w)
{
    for (int k = 0; k < w->program->n_in; ++k)
        if (kn_access_of(w, k) == KN_STAGED && is_mapped(w, k))
            kn_put_part(w, &w->slot[KN_SLOT_STAGE], "stage", k);
}

/* ---- the reduction ---- */

/* The function by which a thread adds an element to its partial value. If elements come in the order of
 * `_J`, the text of the reduction is told so (`_follows`). */
static void put_next(kn_writer *w)
{
    const char *function = kn_str_text(&w->slot[KN_SLOT_REDUCE]);
    kn_str_append(&w->slot[KN_SLOT_NEXT], w->spec->schedule.order ? "kn_next" : function);
    if (w->spec->schedule.order)
        kn_put_part_with(w, &w->slot[KN_SLOT_ELEMENT], "next", KN_NO_VALUE, "value_type=%s function=%s",
                         kn_str_text(&w->slot[KN_SLOT_TYPE]), function);
}

/* Sums of few narrow terms have half of their bits: registers for more threads, and half of the instructions.
 */
static void put_reduced_type(const kn_writer *w, kn_str *out, int result)
{
    const kn_schedule *s = &w->spec->schedule;
    const kn_reduce_columns_config *columns = kn_reduce_columns_config_of(s);
    bool is_half = w->recipe == &kn_recipe_reduce_columns && columns->half_width;
    if (is_half)
        kn_str_append(out, kn_spec_value_dtype(w->spec, result) == KILN_INT64 ? "int" : "unsigned");
    else
        kn_put_type(w, out, result);
}

/* The type, the function and the identity of the reduction. */
static void put_names(kn_writer *w)
{
    const kn_stage *reduce = &w->program->stage[REDUCE];
    put_reduced_type(w, &w->slot[KN_SLOT_TYPE], reduce->value[1]);
    kn_put_value(w, &w->slot[KN_SLOT_MAPPED], reduce->value[0]);
    kn_put_value(w, &w->slot[KN_SLOT_RESULT], reduce->value[1]);
    kn_put_function(w, &w->slot[KN_SLOT_REDUCE], REDUCE);
    put_next(w);
    if (reduce->identity[0])
        kn_put_part_with(w, &w->slot[KN_SLOT_EMPTY], "empty", KN_NO_VALUE, "result=%s label=%s",
                         kn_str_text(&w->slot[KN_SLOT_RESULT]), reduce->label);
}

/* Maps one element: declares its variable and calls the stage. offset: the part with its place. */
static void put_mapped(const kn_writer *w, kn_str *out, kn_place_writer place, const char *offset)
{
    kn_put_part(w, out, "declaration", w->program->stage[REDUCE].value[0]);
    kn_put_map_at(w, out, MAP, place, offset);
}

/* The lanes of an item that has been loaded, by the part; item: the variable with its number. */
static void put_lanes(kn_writer *w, const places *from, const char *part, const char *item)
{
    kn_str *lane = kn_text(w), *out = &w->slot[KN_SLOT_LANES];
    put_mapped(w, lane, from->loaded, from->lane);
    for (int k = 0; k < w->program->n_in; ++k)
        if (gathers_vectors(w, k) && joins_late(w))
            kn_put_part(w, out, is_backward(w, k) ? "join_backward" : "join_vector", k);
    kn_put_part_with(w, out, part, KN_NO_VALUE, "value_type=%s lane=%s mapped=%s next=%s item=%s",
                     kn_str_text(&w->slot[KN_SLOT_TYPE]), kn_str_text(lane),
                     kn_str_text(&w->slot[KN_SLOT_MAPPED]), kn_str_text(&w->slot[KN_SLOT_NEXT]), item);
}

/* An element along the output axes, at kn_here, is a result, or an input that the last stage reads besides
 * the reduced value. */
static void fill_along(kn_writer *w, const places *from, const char *part, const char *item)
{
    put_names(w);
    put_loads(w, from);
    put_lanes(w, from, part, item);
    kn_put_map(w, &w->slot[KN_SLOT_STORES], POST, kn_place_located, "", "");
}

/* Elements in front of the first aligned vector of an unaligned row. */
static void put_until(kn_writer *w, bool is_unaligned)
{
    if (is_unaligned)
        put_off(w, &w->slot[KN_SLOT_UNTIL], "kn.axis[0]", "until");
    else
        kn_str_append(&w->slot[KN_SLOT_UNTIL], "0");
}

/* Element kn_j of a row along one axis. */
static void place_end(const kn_writer *w, kn_str *out, int k)
{
    if (reads_vectors(w, k) && !may_repeat(w))
        kn_put_part(w, out, "read_end", k);
    else
        kn_put_part_with(w, out, "read", k, "offset=%s", kn_text_by(w, put_end, k));
}

/* A gathered vector is put together behind its load, so that a branch between two loads would wait for the
 * first: all items in flight are found before any is loaded, and loaded without a condition. In place of
 * items behind the end the last one is loaded again. */
static void put_gathered(kn_writer *w, const char *first, const char *near)
{
    kn_str *go = kn_text(w), *loads = &w->slot[KN_SLOT_LOADS];
    kn_put_part_with(w, go, near, KN_NO_VALUE, "operands=%d", kn_layout_space_operands(w->spec));
    kn_put_part_with(w, &w->slot[KN_SLOT_PACKS], "gathered", KN_NO_VALUE, "first=%s go=%s loads=%s", first,
                     kn_str_text(go), kn_str_text(loads));
    kn_str_clear(loads);
}

/* The place of an item. */
static void put_from(kn_writer *w, const char *part, const char *near)
{
    if (gathers_some(w)) {
        put_gathered(w, "kn_first", near);
        kn_put_part(w, &w->slot[KN_SLOT_FROM], "from_of", KN_NO_VALUE);
    } else if (part) {
        kn_put_part_with(w, &w->slot[KN_SLOT_FROM], part, KN_NO_VALUE, "operands=%d",
                         kn_layout_space_operands(w->spec));
    }
}

/* Rows along one axis: the offset of item kn_item is a multiple of a vector. */
static void fill_rows(kn_writer *w)
{
    int axes = kn_reduce_rows_config_of(&w->spec->schedule)->reduction_axes;
    bool is_nested = axes != KN_REDUCE_ONE_AXIS;
    fill_along(w, is_nested || gathers_some(w) ? &along : &with_base, "combine_lanes", "kn_u");
    put_from(w, is_nested ? "from" : NULL, axes > KN_REDUCE_TWO_AXES ? "go_near_item" : "go_item");
    put_mapped(w, &w->slot[KN_SLOT_SINGLE], place_end, "end");
    put_until(w, w->spec->schedule.vector > 1 && !is_nested);
}

static void fill_lanes(kn_writer *w)
{
    bool is_unaligned = strchr(w->spec->schedule.access, KN_DENSE);
    fill_along(w, &along, "combine_lanes", "kn_m");
    if (gathers_some(w))
        put_gathered(w, "kn_begin_of[kn_u / kn_items]", "go_lane");
    put_mapped(w, &w->slot[KN_SLOT_SINGLE], place_single, "place");
    kn_str_append(&w->slot[KN_SLOT_UNALIGNED], is_unaligned ? "true" : "false");
    put_until(w, is_unaligned);
}

/* Registers of large blocks of structs: as many blocks take turns as the launch has at a time. */
static void put_blocks_of_structs(kn_writer *w)
{
    const kn_schedule *s = &w->spec->schedule;
    bool are_floats = true;
    for (int k = 0; k < w->program->n_in; ++k)
        if (kn_array_of(w, k) >= 0)
            are_floats = are_floats && kn_dtype_info_of(w->spec->operand[k].seen)->kind >= KN_KIND_FLOAT;
    if (s->vector > 1 && s->block == LONG_STRUCTS_BLOCK &&
        kn_spec_value_dtype(w->spec, kn_spec_reduced_value(w->spec)) == KILN_DTYPE_NONE)
        kn_put_blocks(w, kn_reduce_has_half_vectors(w->spec) ? are_floats ? HALF_STRUCTS : INTEGER_STRUCTS
                         : kn_reduce_columns_config_of(s)->deep > 0 ? DEEP_STRUCTS
                         : are_floats                               ? FLOAT_STRUCTS
                                                                    : INTEGER_STRUCTS);
}

/* The only array of the map is of halves, which are loaded one by one. */
static bool has_single_halves(const kn_writer *w)
{
    int arrays = 0;
    bool are_halves = w->spec->schedule.vector == 1;
    for (int k = 0; k < w->program->n_in; ++k)
        if (kn_array_of(w, k) >= 0) {
            const kn_dtype_info *info = kn_dtype_info_of(w->spec->operand[k].dtype);
            are_halves = are_halves && info->kind == KN_KIND_FLOAT && info->size == HALF;
            ++arrays;
        }
    return are_halves && arrays == 1;
}

/* Where NVRTC is not told how many blocks are wanted, it leaves so few registers to single halves that each
 * is used as soon as it is loaded: one load is under way, not eight. */
static void put_blocks_of_columns(kn_writer *w)
{
    int axes = kn_reduce_columns_config_of(&w->spec->schedule)->reduction_axes;
    if (axes == KN_REDUCE_ONE_AXIS && has_single_halves(w) &&
        kn_spec_value_dtype(w->spec, kn_spec_reduced_value(w->spec)) != KILN_DTYPE_NONE)
        kn_put_blocks(w, SINGLE_HALVES);
    else
        put_blocks_of_structs(w);
}

static void fill_columns(kn_writer *w)
{
    put_blocks_of_columns(w);
    int axes = kn_reduce_columns_config_of(&w->spec->schedule)->reduction_axes;
    /* those of vectors take registers that other blocks need */
    bool has_pointers = axes == KN_REDUCE_ONE_AXIS && w->spec->schedule.vector == 1;
    fill_along(w, has_pointers ? &down_rows : &beside, "add_lanes", "kn_u");
    put_from(w, "from_row", axes > KN_REDUCE_TWO_AXES ? "go_near_row" : "go_row");
    put_mapped(w, &w->slot[KN_SLOT_SINGLE], place_single, "place");
    put_off(w, &w->slot[KN_SLOT_OFF], "kn.axis[kn.reduction_rank]", "off");
}

/* Result kn_k of a thread: an element of a vector that is stored whole, or a single element. Inputs that the
 * last stage reads are single elements. */
static void place_result(const kn_writer *w, kn_str *out, int k)
{
    bool is_vector = kn_is_output(w, k) && kn_access_of(w, k) == KN_VECTOR;
    kn_put_part(w, out, is_vector ? "result_lane" : "result", k);
}

/* Element kn_u of row kn_k. The rows were loaded as whole vectors; weights are the same for all rows. */
static void place_in_rows(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part(w, out, kn_access_of(w, k) == KN_STAGED ? "row_lane" : "loaded", k);
}

static void put_loads_of_rows(kn_writer *w)
{
    for (int k = 0; k < w->program->n_in; ++k) {
        bool is_vector = kn_access_of(w, k) == KN_STAGED;
        if (kn_array_of(w, k) < 0 || !is_mapped(w, k))
            continue;
        kn_put_part(w, &w->slot[KN_SLOT_PACKS], is_vector ? "row_vectors" : "row_elements", k);
        kn_put_part(w, &w->slot[KN_SLOT_LOADS], is_vector ? "load_row_vector" : "load_row_element", k);
    }
}

static bool has_short_rows(const kn_spec *spec)
{
    return kn_reduce_threads_config_of(&spec->schedule)->narrow_row > 0;
}

/* Rows of a few elements have a template of their own, since their length is known to the compiler. */
static const char *template_of_threads(const kn_spec *spec)
{
    return has_short_rows(spec) ? "schedules/reduce/reduce_narrow.cu" : "schedules/reduce/reduce_threads.cu";
}

/* An element that the text does not assign keeps its value: the vector is loaded first. The compiler drops
 * the load if all are assigned. */
static void fill_threads(kn_writer *w)
{
    put_names(w);
    kn_put_part_with(w, &w->slot[KN_SLOT_FROM], "results_of_thread", KN_NO_VALUE, "operands=%d",
                     kn_layout_space_operands(w->spec));
    if (has_short_rows(w->spec)) {
        put_loads_of_rows(w);
        put_mapped(w, &w->slot[KN_SLOT_LANE], place_in_rows, "lane_in_rows");
    } else {
        bool is_one = kn_reduce_threads_config_of(&w->spec->schedule)->reduction_axes == KN_REDUCE_ONE_AXIS;
        put_loads(w, is_one ? &each_row : &beside);
        put_lanes(w, &beside, "add_lanes", "kn_u");
    }
    for (int k = w->program->n_in; k < kn_param_count(w); ++k)
        if (kn_array_of(w, k) >= 0 && kn_access_of(w, k) == KN_VECTOR) {
            kn_put_part(w, &w->slot[KN_SLOT_RESULTS], "result_vector", k);
            kn_put_part(w, &w->slot[KN_SLOT_STORES], "store", k);
        }
    kn_put_map(w, &w->slot[KN_SLOT_POST], POST, place_result, "", "");
}

/* ---- pairs of points ---- */

/* True for an element of a vector of coordinates. */
static bool is_coordinate(const kn_writer *w, int k)
{
    return kn_access_of(w, k) == KN_VECTOR || kn_access_of(w, k) == KN_DENSE;
}

static bool is_held(const kn_writer *w, int k)
{
    return kn_access_of(w, k) == KN_VECTOR || kn_access_of(w, k) == KN_BROADCAST;
}

/* Vectors are complete: the coordinates before this one, of the same letter, fill some of them. */
static int number_in_vector(const kn_writer *w, int k)
{
    int before = 0;
    for (int o = 0; o < kn_array_of(w, k) && is_coordinate(w, k); ++o)
        before += w->spec->schedule.access[o] == kn_access_of(w, k);
    return before % w->spec->schedule.vector;
}

/* The first coordinate of the vector that has operand k. */
static int first_in_vector(const kn_writer *w, int k)
{
    int array = kn_array_of(w, k) - number_in_vector(w, k), first = 0;
    while (kn_array_of(w, first) != array)
        ++first;
    return first;
}

static void place_of_point(const kn_writer *w, kn_str *out, int k)
{
    const char *part = is_held(w, k) ? (is_coordinate(w, k) ? "held_coordinate" : "held")
                                     : (is_coordinate(w, k) ? "loaded_coordinate" : "loaded_point");
    kn_put_part_with(w, out, part, first_in_vector(w, k), "number=%d", number_in_vector(w, k));
}

static void put_points(kn_writer *w)
{
    for (int k = 0; k < w->program->n_in; ++k) {
        bool is_vector = is_coordinate(w, k);
        if (kn_array_of(w, k) < 0 || first_in_vector(w, k) != k || !(is_vector || is_mapped(w, k)))
            continue;
        if (is_held(w, k)) {
            kn_put_part(w, &w->slot[KN_SLOT_PACKS], is_vector ? "held_vectors" : "held_elements", k);
            kn_put_part(w, &w->slot[KN_SLOT_INVARIANT], is_vector ? "hold_vector" : "hold_element", k);
        } else {
            kn_put_part(w, &w->slot[KN_SLOT_POINTERS], "next_point", k);
            kn_put_part(w, &w->slot[KN_SLOT_LOADS], is_vector ? "load_point_vector" : "load_point", k);
        }
    }
}

static void place_result_of_points(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part(w, out, "result_of_points", k);
}

static void fill_points(kn_writer *w)
{
    put_names(w);
    put_points(w);
    put_mapped(w, &w->slot[KN_SLOT_LANE], place_of_point, "lane_of_points");
    kn_put_map(w, &w->slot[KN_SLOT_POST], POST, place_result_of_points, "", "");
}

/* ---- a few results of each row ---- */

/* True for an input that all rows share, of which a thread has an item for each result. */
static bool is_shared(const kn_writer *w, int k)
{
    return kn_access_of(w, k) == KN_DENSE || kn_access_of(w, k) == KN_STAGED;
}

static void place_of_few(const kn_writer *w, kn_str *out, int k)
{
    if (is_shared(w, k))
        kn_put_part(w, out, reads_vectors(w, k) ? "shared_lane" : "shared", k);
    else
        kn_put_part_with(w, out, reads_vectors(w, k) ? "loaded_lane" : "loaded", k, "is_along=%s", "true");
}

static const places of_few = {"item_along", "lane_along", ALONG, place_of_few, false, NULL, NULL};

static void fill_few(kn_writer *w)
{
    put_names(w);
    for (int k = 0; k < w->program->n_in; ++k) {
        bool is_vector = reads_vectors(w, k);
        if (kn_array_of(w, k) < 0 || !is_mapped(w, k))
            continue;
        kn_str *offset = kn_text(w);
        kn_put_part(w, offset, of_few.item, k);
        kn_put_part(w, &w->slot[KN_SLOT_PACKS], is_vector ? "vectors" : "elements", k);
        kn_put_part_with(w, &w->slot[is_shared(w, k) ? KN_SLOT_STEP_LOADS : KN_SLOT_LOADS],
                         is_vector ? "load_vector" : "load_element", k, "offset=%s is_along=%s",
                         kn_str_text(offset), "true");
    }
    put_lanes(w, &of_few, "combine_lanes", "kn_m");
    kn_put_map(w, &w->slot[KN_SLOT_STORES], POST, kn_place_located, "", "");
}

/* ---- products ---- */

/* An operand that is broadcast along columns, or along rows; others have an element of each result. */
static void place_of_product(const kn_writer *w, kn_str *out, int k)
{
    char letter = kn_access_of(w, k);
    kn_put_part(w, out,
                letter == KN_VECTOR  ? "in_rows"
                : letter == KN_DENSE ? "in_columns"
                                     : "of_each_result",
                k);
}

static void place_result_of_product(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part(w, out, kn_is_output(w, k) ? "result_of_product" : "input_of_result", k);
}

static void fill_product(kn_writer *w)
{
    put_names(w);
    kn_put_blocks(w, FULL_THREADS);
    for (int k = 0; k < w->program->n_in; ++k) {
        bool is_row = kn_access_of(w, k) == KN_VECTOR;
        if (!is_mapped(w, k) || (!is_row && kn_access_of(w, k) != KN_DENSE))
            continue;
        kn_put_part_with(w, &w->slot[KN_SLOT_STAGE], "operand_tile", k, "side=%s", is_row ? "m" : "n");
        kn_put_part_with(w, &w->slot[KN_SLOT_LOADS], "stage_operand", k, "side=%s unroll=%d",
                         is_row ? "m" : "n", kn_item_size(w, k) < 4 ? COPIES_UNROLLED : COPIES_UNROLLED / 2);
        kn_put_part(w, &w->slot[KN_SLOT_PACKS], "fours", k);
        kn_put_part_with(w, &w->slot[KN_SLOT_FROM], "load_four", k, "side=%s place=%s", is_row ? "m" : "n",
                         is_row ? "y" : "x");
    }
    for (int k = w->program->n_in; k < kn_param_count(w); ++k)
        if (kn_array_of(w, k) >= 0) {
            kn_put_part(w, &w->slot[KN_SLOT_RESULTS], "four_results", k);
            kn_put_part(w, &w->slot[KN_SLOT_INVARIANT], "keep_result", k);
            kn_put_part(w, &w->slot[KN_SLOT_STORES], "store_four", k);
        }
    put_mapped(w, &w->slot[KN_SLOT_LANE], place_of_product, "lane_of_product");
    kn_put_map(w, &w->slot[KN_SLOT_POST], POST, place_result_of_product, "", "");
}

static void fill_tile(kn_writer *w)
{
    put_names(w);
    put_stage(w);
    put_mapped(w, &w->slot[KN_SLOT_SINGLE], place_staged, "end");
    kn_put_map(w, &w->slot[KN_SLOT_STORES], POST, kn_place_located, "", "");
}

/* The slices of rows of a staged input, or an input that is read where it is; from a thread's first element
 * on. */
static void fill_slices(kn_writer *w)
{
    put_names(w);
    for (int k = 0; k < w->program->n_in; ++k) {
        bool is_staged = kn_access_of(w, k) == KN_STAGED;
        if (kn_array_of(w, k) < 0 || !is_mapped(w, k))
            continue;
        if (is_staged) {
            kn_put_part(w, &w->slot[KN_SLOT_STAGE], "slices", k);
            kn_put_part(w, &w->slot[KN_SLOT_LOADS], "stage_slices", k);
        }
        kn_put_part(w, &w->slot[KN_SLOT_POINTERS], is_staged ? "slice_pointer" : "across_pointer", k);
        kn_put_part(w, &w->slot[KN_SLOT_STEP_LOADS], is_staged ? "next_in_slice" : "next_across", k);
        kn_put_part(w, &w->slot[KN_SLOT_PACKS], "elements", k);
        kn_put_part(w, &w->slot[KN_SLOT_FROM], "load_at", k);
    }
    put_mapped(w, &w->slot[KN_SLOT_SINGLE], place_loaded, "in_slice");
    kn_put_map(w, &w->slot[KN_SLOT_STORES], POST, kn_place_located, "", "");
}

static void fill_levels(kn_writer *w)
{
    put_names(w);
    put_mapped(w, &w->slot[KN_SLOT_SINGLE], place_single, "place");
    kn_put_map(w, &w->slot[KN_SLOT_STORES], POST, kn_place_located, "", "");
}

KN_CONFIG_TABLE(kn_reduce_points_config, KN_REDUCE_POINTS_CONFIG);
KN_CONFIG_TABLE(kn_reduce_few_config, KN_REDUCE_FEW_CONFIG);
KN_CONFIG_TABLE(kn_reduce_product_config, KN_REDUCE_PRODUCT_CONFIG);
KN_CONFIG_TABLE(kn_reduce_columns_config, KN_REDUCE_COLUMNS_CONFIG);
KN_CONFIG_TABLE(kn_reduce_threads_config, KN_REDUCE_THREADS_CONFIG);
KN_CONFIG_TABLE(kn_reduce_tile_config, KN_REDUCE_TILE_CONFIG);
KN_CONFIG_TABLE(kn_reduce_lanes_config, KN_REDUCE_LANES_CONFIG);
KN_CONFIG_TABLE(kn_reduce_rows_config, KN_REDUCE_ROWS_CONFIG);

/* gathered: preludes of kinds that gather vectors. */
#define RECIPE(name, word, gathered)                                                                         \
    const kn_recipe kn_recipe_reduce_##name = {.template_name = "schedules/reduce/reduce_" #name ".cu",      \
                                               .fill = fill_##name,                                          \
                                               .preludes = word,                                             \
                                               .gathered_preludes = gathered,                                \
                                               .parts = "schedules/reduce/reduce_parts.cu"}
RECIPE(points, "kn_reduce_lanes", NULL);
RECIPE(few, "kn_reduce_lanes", NULL);
RECIPE(product, "kn_reduce_lanes", NULL);
RECIPE(rows, "kn_reduce_block", "kn_run");
RECIPE(lanes, "kn_reduce_lanes", "kn_run");
RECIPE(columns, "kn_reduce_lanes", NULL);
RECIPE(tile, "kn_stage", NULL);
RECIPE(slices, "kn_stage", NULL);
RECIPE(levels, NULL, NULL);
const kn_recipe kn_recipe_reduce_threads = {.template_name = "schedules/reduce/reduce_threads.cu",
                                            .choose_template = template_of_threads,
                                            .fill = fill_threads,
                                            .preludes = "kn_reduce_lanes",
                                            .parts = "schedules/reduce/reduce_parts.cu"};
