/* emit_host.c - fills host_flat.cpp, or host_streamed.cpp if results are stored past the caches: one loop
 * over a contiguous range. */
#include "codegen/writer.h"

#include <stdio.h>

#include "program/cost.h"
#include "program/pure.h"
#include "schedules/host/host_kinds.h"

enum {
    DEEP_CHAIN = 6,            /* functions for each element, from which on the loop is made wider */
    STREAMED_BYTES = 16 << 20, /* of results, from which on they are stored past the caches */
    STREAMED_PIECE = 1 << 10,  /* of results that are computed before they are stored */
    STREAMED_RUN = 256,        /* fewest bytes of contiguous results */
    STREAMED_MOST = 4,         /* results: each has a buffer */
    LEAST_VECTOR = 16,         /* bytes; */
    WIDEST = 16,               /* of an element, and */
    NARROW = 4,                /* below which vectors have many */
    MOST_WHOLE = 4096,         /* elements of a row that is computed in whole vectors */
    LEAST_SINGLE = 5,          /* elements from one to the next, which is no power of two */
    MOST_WIDENED = 8           /* operands that are converted before the loop: each has a buffer */
};
_Static_assert(KN_MAX_PARAMS <= 64, "kn_loop_nest_rows has a bit for each operand");

/* Compilers do not vectorise loops that copy structs, so structs of one member are read by bits. */
static bool is_copied_by_bits(const kn_writer *w, int k)
{
    kiln_dtype dtype = w->spec->operand[k].dtype;
    return kn_array_of(w, k) >= 0 && (dtype == KILN_FLOAT16 || dtype == KILN_BFLOAT16);
}

static int step_between(const kn_writer *w)
{
    return kn_host_config_of(&w->spec->schedule)->step;
}

/* The number of k among the operands that are interleaved in one array, with the parameter of the first of
 * them in *first; -1: k is not interleaved, and *first is k. */
static int interleaved_number(const kn_writer *w, int k, int *first)
{
    *first = k;
    return kn_array_of(w, k) < 0 ? -1 : kn_interleaved_number(w->spec, k, step_between(w), first);
}

/* k has a pointer of its own. Interleaved operands have that of the first. */
static bool has_pointer(const kn_writer *w, int k)
{
    int first;
    return kn_array_of(w, k) >= 0 && interleaved_number(w, k, &first) <= 0;
}

static bool is_interleaved(const kn_writer *w, int k)
{
    return w->recipe == &kn_recipe_host_interleaved && kn_access_of(w, k) == KN_STAGED;
}

/* Bytes at one place: of an element, or of all interleaved elements there. */
static int place_size(const kn_writer *w, int k)
{
    return kn_item_size(w, k) * (is_interleaved(w, k) ? step_between(w) : 1);
}

/* Elements from one of k to the next, along the loop. */
static int step_of(const kn_writer *w, int k)
{
    char access = kn_access_of(w, k);
    bool is_stepped = access == KN_GATHER || (access == KN_STAGED && !is_interleaved(w, k));
    int step = access == KN_BROADCAST ? 0
               : access == KN_VECTOR  ? kn_host_config_of(&w->spec->schedule)->other_step
               : is_stepped           ? step_between(w)
                                      : 1;
    return step == KN_HOST_BACKWARD ? -1 : step;
}

/* A part of host_parts.cpp for operand k; number: of the operand in the loop nest. */
static void put_part(const kn_writer *w, kn_str *out, const char *part, int k, int number)
{
    char word[32];
    int first, lane = interleaved_number(w, k, &first), size = place_size(w, k);
    snprintf(word, sizeof word, "kn_word_%d", size);
    kn_put_part_with(w, out, part, k, "place=%s bytes=%d first=%s lane=%d step=%d number=%d",
                     is_interleaved(w, k) ? word : kn_storage(w, k), size, w->program->param[first].name,
                     lane, step_of(w, k), number);
}

/* Interleaved inputs are read as one word; interleaved results are variables until all of them are stored. */
static void place_interleaved(const kn_writer *w, kn_str *out, int k)
{
    put_part(w, out, kn_is_output(w, k) ? "lane_variable" : "lane_of_word", k, 0);
}

static void place_plain(const kn_writer *w, kn_str *out, int k)
{
    int first, step = step_of(w, k);
    bool is_first = interleaved_number(w, k, &first) <= 0;
    const char *same = kn_is_output(w, k) ? "one" : "hoisted";
    put_part(w, out, step == 0 ? same : step == 1 ? "dense" : is_first ? "stepped" : "stepped_lane", k, 0);
}

static bool is_half(const kn_spec *spec, int k)
{
    const kn_operand *o = &spec->operand[k];
    return o->pass == KN_PASS_ARRAY && o->dtype == KILN_FLOAT16 && o->seen == KILN_FLOAT32;
}

/* True if halves are converted apart from the loop. Those that a body may leave unassigned, or indexes by
 * itself, stay where they are. */
static bool has_widened(const kn_spec *spec)
{
    int halves = 0, raw = 0;
    for (int k = 0; k < spec->program->n_in + spec->program->n_out; ++k) {
        halves += is_half(spec, k);
        raw += spec->operand[k].pass == KN_PASS_RAW;
    }
    return halves > 0 && halves <= MOST_WIDENED && raw == 0 && kn_body_is_pure(spec->program);
}

/* Float16 that the program sees as float32: whole ranges of it are converted before the loop and behind it,
 * by instructions that compilers put into no loop by themselves. */
static bool is_widened(const kn_writer *w, int k)
{
    return is_half(w->spec, k) && step_of(w, k) == 1 && !is_interleaved(w, k) && has_widened(w->spec);
}

/* Complex numbers that lie apart, from which compilers load vectors only if the step is a power of two. */
static bool is_picked(const kn_spec *spec, int k)
{
    const kn_operand *o = &spec->operand[k];
    const kn_host_config *config = kn_host_config_of(&spec->schedule);
    char access = o->array < 0 ? KN_DENSE : spec->schedule.access[o->array];
    int step = access == KN_VECTOR ? config->other_step : config->step;
    return k < spec->program->n_in && kn_dtype_is_complex(o->dtype) && access != KN_DENSE &&
           access != KN_BROADCAST && (step & (step - 1)) != 0;
}

static bool has_picked(const kn_spec *spec)
{
    bool has = false;
    for (int k = 0; k < spec->program->n_in; ++k)
        has = has || is_picked(spec, k);
    return has;
}

/* Elements that lie so far apart that compilers load them one by one. */
static bool has_singles(const kn_writer *w)
{
    bool has = false;
    for (int k = 0; k < kn_param_count(w); ++k) {
        int step = kn_array_of(w, k) < 0 ? 1 : step_of(w, k);
        has = has || (step >= LEAST_SINGLE && (step & (step - 1)) != 0);
    }
    return has;
}

static void place_in_run(const kn_writer *w, kn_str *out, int k)
{
    (is_interleaved(w, k) ? place_interleaved : place_plain)(w, out, k);
}

static void place_in_line(const kn_writer *w, kn_str *out, int k)
{
    if (is_interleaved(w, k))
        place_interleaved(w, out, k);
    else if (is_widened(w, k) || kn_is_output(w, k))
        put_part(w, out, is_widened(w, k) ? "wide" : "held", k, 0);
    else if (is_picked(w->spec, k))
        put_part(w, out, "picked", k, 0);
    else if (is_copied_by_bits(w, k))
        kn_put_part_with(w, out, "by_bits", k, "element=%s", kn_text_by(w, place_plain, k));
    else
        place_plain(w, out, k);
}

/* The variables of interleaved results. A body may leave or read them, so they are initialised from
 * memory. */
static void put_lanes_before(kn_writer *w, kn_str *out)
{
    const char *part = kn_body_is_pure(w->program) ? "declare_lane" : "load_lane";
    for (int k = w->program->n_in, first; k < kn_param_count(w); ++k)
        if (interleaved_number(w, k, &first) >= 0)
            put_part(w, out, part, k, 0);
}

/* Joins these variables in words. */
static void put_words_after(kn_writer *w, kn_str *out, bool in_line)
{
    kn_str *lanes = kn_text(w);
    for (int k = w->program->n_in; k < kn_param_count(w); ++k) {
        int first, number = interleaved_number(w, k, &first);
        if (number < 0)
            continue;
        kn_str_append(lanes, number > 0 ? ", " : "");
        put_part(w, lanes, "lane_variable", k, 0);
        if (number + 1 < step_between(w))
            continue;
        kn_put_part_with(w, out, in_line ? "join_held" : "join", first, "bytes=%d lanes=%s",
                         place_size(w, first), kn_str_text(lanes));
        kn_str_clear(lanes);
    }
}

/* One element. */
static void put_element(kn_writer *w, kn_str *out, bool in_line, const char *index)
{
    put_lanes_before(w, out);
    kn_put_call(w, out, in_line ? place_in_line : place_in_run, index);
    put_words_after(w, out, in_line);
}

/* Operands of the loop nest: the pointers, and last the index (kind_host.c). */
static int count_loop_operands(const kn_writer *w)
{
    int count = w->program->uses & KN_USES_INDEX ? 1 : 0;
    for (int k = 0; k < kn_param_count(w); ++k)
        count += has_pointer(w, k);
    return count;
}

/* Pointers move from row to row, each by its own step. */
static void put_host_pointers(kn_writer *w)
{
    kn_str *out = &w->slot[KN_SLOT_POINTERS], *next = &w->slot[KN_SLOT_NEXT];
    bool counts = w->recipe == &kn_recipe_host_runs || w->recipe == &kn_recipe_host_interleaved;
    int number = 0;
    kn_put_part_with(w, next, "next_row", KN_NO_VALUE, "operands=%d", count_loop_operands(w));
    for (int k = 0; k < kn_param_count(w); ++k) {
        if (!has_pointer(w, k))
            continue;
        int step = step_of(w, k);
        put_part(w, out,
                 is_interleaved(w, k) ? "pointer_to_words"
                 : step == 0          ? "pointer_to_one"
                 : step == 1          ? "pointer"
                                      : "pointer_stepped",
                 k, 0);
        put_part(w, next, "next_pointer", k, number++);
    }
    if (!(w->program->uses & KN_USES_INDEX))
        return;
    kn_put_part(w, out, counts ? "start" : "indices", KN_NO_VALUE);
    kn_put_part_with(w, next, counts ? "next_start" : "next_indices", KN_NO_VALUE, "number=%d", number);
}

static bool is_hoisted(const kn_writer *w, int k)
{
    return kn_array_of(w, k) >= 0 && !kn_is_output(w, k) && !is_interleaved(w, k) && step_of(w, k) == 0;
}

static void put_hoisted(kn_writer *w)
{
    for (int k = 0; k < w->program->n_in; ++k)
        if (is_hoisted(w, k))
            put_part(w, &w->slot[KN_SLOT_STAGE], "hoist", k, 0);
}

/* Elements are independent, unless the body indexes arrays by itself. */
static void put_independent(kn_writer *w)
{
    bool raw = false;
    for (int k = 0; k < kn_param_count(w); ++k)
        raw = raw || w->spec->operand[k].pass == KN_PASS_RAW;
    if (!raw)
        kn_put_part(w, &w->slot[KN_SLOT_INDEPENDENT], "independent", KN_NO_VALUE);
}

/* The operations of a chain of functions wait for each other, so several vectors have to be in flight. gcc
 * chooses the width by the smallest type in the loop: with one variable of a byte it takes four vectors of
 * float32. */
static void put_lanes(kn_writer *w)
{
    if (kn_cost_functions(w->program) < DEEP_CHAIN)
        return;
    kn_put_part(w, &w->slot[KN_SLOT_POINTERS], "lanes", KN_NO_VALUE);
    kn_put_part(w, &w->slot[KN_SLOT_SINGLE], "count_lanes", KN_NO_VALUE);
    kn_put_part(w, &w->slot[KN_SLOT_AFTER_LOOP], "keep_lanes", KN_NO_VALUE);
}

/* The number of results if the kernel is bound by memory, interleaved ones counted as one; 0: they are stored
 * as usual. A body that indexes arrays by itself keeps its order. */
static int count_streamed(const kn_spec *spec)
{
    int count = 0;
    for (int k = 0; k < spec->program->n_in + spec->program->n_out; ++k) {
        int first;
        if (spec->operand[k].pass == KN_PASS_RAW)
            return 0;
        count += k >= spec->program->n_in && spec->operand[k].pass == KN_PASS_ARRAY &&
                 kn_interleaved_number(spec, k, kn_host_config_of(&spec->schedule)->step, &first) <= 0;
    }
    return kn_cost_functions(spec->program) == 0 && count <= STREAMED_MOST ? count : 0;
}

/* The loop goes over a range piece by piece. */
static bool has_pieces(const kn_spec *spec)
{
    return count_streamed(spec) > 0 || has_widened(spec) || has_picked(spec);
}

/* Inputs are prefetched. */
static void put_asking(kn_writer *w)
{
    for (int k = 0, number = 0; k < w->program->n_in; ++k) {
        if (!has_pointer(w, k))
            continue;
        if (step_of(w, k) > 0)
            put_part(w, &w->slot[KN_SLOT_LOADS], step_of(w, k) == 1 ? "ask" : "ask_stepped", k, number);
        ++number;
    }
}

/* Result k; `number` operands of the loop nest are in front of it. */
static void put_streamed_result(kn_writer *w, int k, int number)
{
    int size = place_size(w, k);
    kn_put_part_with(w, &w->slot[KN_SLOT_POINTERS], "streams_result", k,
                     "number=%d bytes=%d fewest=%d fewest_in_run=%d", number, size, STREAMED_BYTES / size,
                     STREAMED_RUN / size);
    put_part(w, &w->slot[KN_SLOT_PACKS], "held_lines", k, 0);
    put_part(w, &w->slot[KN_SLOT_STEP_PACKS], "go_on", k, 0);
    put_part(w, &w->slot[KN_SLOT_STAGE], "held_result", k, 0);
    put_part(w, &w->slot[KN_SLOT_LOADS], "take", k, 0);
    if (!kn_body_is_pure(w->program) &&
        !is_interleaved(w, k)) /* it may leave a result as it is, or read it */
        put_part(w, &w->slot[KN_SLOT_LOADS], "load_held", k, 0);
    put_part(w, &w->slot[KN_SLOT_STORES], "end_held", k, 0);
}

/* Before the loop over a piece, and behind it. */
static void put_widened(kn_writer *w, int k, int piece)
{
    if (!is_widened(w, k))
        return;
    kn_put_part_with(w, &w->slot[KN_SLOT_PACKS], "wide_piece", k, "capacity=%d", piece + 8);
    if (kn_is_output(w, k))
        kn_put_part(w, &w->slot[KN_SLOT_NARROW], "narrow", k);
    else
        kn_put_part(w, &w->slot[KN_SLOT_WIDEN], "widen", k);
}

static void put_picked(kn_writer *w, int k, int piece)
{
    if (!is_picked(w->spec, k))
        return;
    bool is_single = kn_item_size(w, k) == 8;
    kn_put_part_with(w, &w->slot[KN_SLOT_PACKS], "picked_piece", k, "capacity=%d align=%d word=%s", piece,
                     is_single ? 4 : 8, is_single ? "" : "vector_size(16), ");
    int first, lane = interleaved_number(w, k, &first);
    kn_put_part_with(w, &w->slot[KN_SLOT_WIDEN], "pick", k, "first=%s step=%d lane=%d",
                     w->program->param[first].name, step_of(w, k), lane > 0 ? lane : 0);
}

static void put_streamed(kn_writer *w, const char *index)
{
    int largest = 1;
    kn_put_part_with(w, &w->slot[KN_SLOT_POINTERS], "streams", KN_NO_VALUE, "streams=%s",
                     count_streamed(w->spec) > 0 ? "KN_STREAMS" : "false");
    for (int k = 0, number = 0; k < kn_param_count(w); ++k) {
        if (!has_pointer(w, k))
            continue;
        if (kn_is_output(w, k)) {
            put_streamed_result(w, k, number);
            largest = place_size(w, k) > largest ? place_size(w, k) : largest;
        }
        ++number;
    }
    kn_str_printf(&w->slot[KN_SLOT_ORDER], "%d", STREAMED_PIECE / largest);
    kn_str_append(&w->slot[KN_SLOT_UNTIL],
                  has_widened(w->spec) || has_picked(w->spec) ? "true" : "kn_streams");
    for (int k = 0; k < kn_param_count(w); ++k) {
        put_widened(w, k, STREAMED_PIECE / largest);
        put_picked(w, k, STREAMED_PIECE / largest);
    }
    put_asking(w);
    put_element(w, &w->slot[KN_SLOT_SINGLE], true, index);
}

/* Elements may be computed twice, and are no words of several, nor in buffers. */
static bool has_plain_elements(const kn_writer *w)
{
    bool are_plain = kn_body_is_repeatable(w->program) && w->recipe != &kn_recipe_host_interleaved &&
                     !has_widened(w->spec) && !has_picked(w->spec) &&
                     kn_cost_functions(w->program) < DEEP_CHAIN;
    for (int k = 0; k < kn_param_count(w); ++k)
        are_plain = are_plain && w->spec->operand[k].pass != KN_PASS_RAW;
    return are_plain;
}

/* Bytes of the narrowest operand along the range; 0: rows are left to the compiler, since elements are
 * equally wide: few of them are left behind its vectors. So are those with elements that lie apart and do not
 * fill the range: a vector of them would read beyond its last one, so compilers make none of a fixed number.
 */
static int narrowest_of_row(const kn_writer *w)
{
    int narrowest = WIDEST, widest = 0;
    for (int k = 0; k < kn_param_count(w); ++k) {
        if (kn_array_of(w, k) < 0 || step_of(w, k) == 0)
            continue;
        if (step_of(w, k) > 1 && kn_access_of(w, k) != KN_STAGED)
            return 0;
        int size = kn_item_size(w, k);
        narrowest = size < narrowest ? size : narrowest;
        widest = size > widest ? size : widest;
    }
    return has_plain_elements(w) && (narrowest < widest || narrowest < NARROW) ? narrowest : 0;
}

/* Bytes from an element of the operand to the next along the range, or twice as many, since it may go back;
 * 0: it is no array, or the one of another operand. */
static int bytes_of_step(const kn_writer *w, int k)
{
    int first;
    if (kn_array_of(w, k) < 0 || interleaved_number(w, k, &first) > 0)
        return 0;
    return kn_item_size(w, k) * (step_of(w, k) < 0 ? 2 : step_of(w, k));
}

/* Results and inputs have no byte in common along the row. */
static void put_apart(const kn_writer *w, kn_str *out)
{
    for (int o = w->program->n_in; o < kn_param_count(w); ++o)
        for (int k = 0; k < w->program->n_in; ++k) {
            int own = bytes_of_step(w, k), bytes = kn_item_size(w, o);
            if (own > 0)
                kn_put_part_with(w, out, "are_apart", o, "first=%s bytes=%d", w->program->param[k].name,
                                 bytes > own ? bytes : own);
        }
}

static void put_whole_vectors(kn_writer *w)
{
    int narrowest = narrowest_of_row(w);
    if (narrowest == 0)
        return;
    int fewest = narrowest < LEAST_VECTOR / 2 ? LEAST_VECTOR / narrowest : 2;
    kn_str *apart = kn_text(w);
    put_apart(w, apart);
    kn_put_part_with(w, &w->slot[KN_SLOT_ROW], "whole_vectors", KN_NO_VALUE,
                     "item=%d fewest=%d most=%d apart=%s element=%s", narrowest, fewest, MOST_WHOLE,
                     kn_str_text(apart), kn_str_text(&w->slot[KN_SLOT_SINGLE]));
}

/* One loop over a contiguous range. If the logical index does not count up along it, `start` is the address
 * of all indices. */
static void fill_host(kn_writer *w)
{
    put_host_pointers(w);
    put_hoisted(w);
    put_independent(w);
    const char *index = w->recipe == &kn_recipe_host_indices ? "kn_indices[kn_at]" : "kn_start + kn_at";
    if (has_pieces(w->spec))
        put_streamed(w, index);
    else
        put_element(w, &w->slot[KN_SLOT_SINGLE], false, index);
    put_whole_vectors(w);
    put_lanes(w);
}

static const char *choose_template(const kn_spec *spec)
{
    return has_pieces(spec) ? "schedules/host/host_streamed.cpp" : "schedules/host/host_flat.cpp";
}

KN_CONFIG_TABLE(kn_host_config, KN_HOST_CONFIG);
#define RECIPE(name, word)                                                                                   \
    const kn_recipe kn_recipe_host_##name = {.choose_template = choose_template,                             \
                                             .fill = fill_host,                                              \
                                             .is_seen_place = is_widened,                                    \
                                             .has_singles = has_singles,                                     \
                                             .single_preludes = "kn_singles",                                \
                                             .preludes = word,                                               \
                                             .parts = "schedules/host/host_parts.cpp"}
/* Compilers make vectors of loops that store the parts of complex numbers, none of loops that store
 * structs. */
#define BY_PARTS "kn_by_parts kn_by_vectors"
RECIPE(runs, BY_PARTS);
RECIPE(interleaved, BY_PARTS " kn_interleaved");
RECIPE(indices, BY_PARTS);

static void fill_quick(kn_writer *w)
{
    put_host_pointers(w);
    kn_put_call(w, &w->slot[KN_SLOT_SINGLE], kn_place_flat, "kn_indices[kn_at]");
}

const kn_recipe kn_recipe_host_quick = {.template_name = "schedules/host/host_flat.cpp",
                                        .fill = fill_quick,
                                        .parts = "schedules/host/host_parts.cpp"};
