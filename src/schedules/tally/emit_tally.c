/* emit_tally.c - tally.cu, and the words that both targets' templates have. */
#include "codegen/writer.h"

#include <string.h>

#include "program/cost.h"
#include "schedule/tally.h"
#include "schedules/scan/row_elements.h"
#include "schedules/tally/tally_kinds.h"

enum {
    MOST_IN_FLIGHT = 16, /* elements of a thread */
    LEAST_IN_FLIGHT = 8,
    FEW_IN_FLIGHT = 4,
    BYTES_IN_FLIGHT = 64,
    VECTOR_BYTES = 16
};

void kn_put_tally_names(kn_writer *w)
{
    const kn_stage *s = &w->program->stage[KN_TALLY_TALLY];
    int bin = s->value[0], value = s->value[1], bins = s->value[2];
    kn_put_part(w, &w->slot[KN_SLOT_LOADS], "declaration", bin);
    kn_put_part(w, &w->slot[KN_SLOT_LOADS], "declaration", value);
    kn_put_value(w, &w->slot[KN_SLOT_INDEX], bin);
    kn_put_value(w, &w->slot[KN_SLOT_MAPPED], value);
    kn_put_type(w, &w->slot[KN_SLOT_TYPE], bins);
    kn_put_function(w, &w->slot[KN_SLOT_REDUCE], KN_TALLY_TALLY);
    kn_str_printf(&w->slot[KN_SLOT_IDENTITY], "kn_%s_identity", s->label);
    kn_str_append(&w->slot[KN_SLOT_RESULT], w->program->param[bins].name);
}

/* Unsigned integers, but for what depends on the sign. */
static const char *word_of(const char *atomic, const kn_dtype_info *info)
{
    bool is_compared = !strcmp(atomic, "atomicMin") || !strcmp(atomic, "atomicMax");
    return is_compared || info->kind == KN_KIND_FLOAT ? info->c_name
           : info->size == 4                          ? "unsigned"
                                                      : "unsigned long long";
}

/* Sums of 8 bytes, by two atomic functions in shared memory. */
static bool is_in_halves(const kn_writer *w)
{
    const kn_stage *s = &w->program->stage[KN_TALLY_TALLY];
    kiln_dtype dtype = w->spec->operand[s->value[2]].dtype;
    const char *atomic = kn_tally_atomic(s->body, dtype);
    const kn_dtype_info *info = kn_dtype_info_of(dtype);
    return atomic && !strcmp(atomic, "atomicAdd") && info->size == 8 && info->kind != KN_KIND_FLOAT;
}

/* The part that asks whether a value is wanted: most change nothing of the smallest or largest so far. */
static const char *part_of_wanted(const char *atomic)
{
    return !strcmp(atomic, "atomicMin") ? "lesser" : !strcmp(atomic, "atomicMax") ? "greater" : "any";
}

/* True if bins in memory are looked at before they are changed, or texts read other arrays, as those of fixed
 * sums do at their bin. */
static bool reads_bins(const kn_writer *w, const char *atomic)
{
    bool reads = false;
    for (int k = 0; k < kn_param_count(w) && atomic; ++k)
        reads = reads || (w->program->param[k].is_raw && !kn_is_output(w, k));
    return reads || (atomic && strcmp(part_of_wanted(atomic), "any") != 0);
}

bool kn_tally_is_count(const kn_writer *w)
{
    const kn_stage *s = &w->program->stage[KN_TALLY_TALLY];
    const char *atomic = kn_tally_atomic(s->body, w->spec->operand[s->value[2]].dtype);
    return atomic && !strcmp(atomic, "atomicAdd") && !strcmp(w->program->stage[KN_TALLY_VALUE].body, "1");
}

/* Threads whose operator has an atomic function share bins; others have bins of their own. */
static void put_operator(kn_writer *w)
{
    const kn_stage *s = &w->program->stage[KN_TALLY_TALLY];
    kiln_dtype dtype = w->spec->operand[s->value[2]].dtype;
    const char *atomic = kn_tally_atomic(s->body, dtype);
    const kn_dtype_info *info = kn_dtype_info_of(dtype);
    bool is_sum = atomic && !strcmp(atomic, "atomicAdd");
    bool is_count = kn_tally_is_count(w);
    if (atomic) {
        kn_str wanted = KN_STR_INIT;
        kn_put_part(w, &wanted, part_of_wanted(atomic), KN_NO_VALUE);
        if (strcmp(part_of_wanted(atomic), "any") != 0)
            kn_put_part(w, &w->slot[KN_SLOT_GATHER], "seen", KN_NO_VALUE);
        kn_put_part_with(w, &w->slot[KN_SLOT_TALLY], "by_atomics", KN_NO_VALUE,
                         "function=%s in_shared=%s word=%s wanted=%s", atomic,
                         is_in_halves(w) ? "kn_add_halves" : atomic, word_of(atomic, info),
                         kn_str_text(&wanted));
        kn_str_free(&wanted);
        kn_put_part_with(w, &w->slot[KN_SLOT_COUNTED], "by_plain", KN_NO_VALUE, "in_shared=%s word=%s",
                         is_in_halves(w) ? "kn_add_halves" : atomic, word_of(atomic, info));
    } else {
        kn_put_part(w, &w->slot[KN_SLOT_COUNTED], "by_nothing", KN_NO_VALUE);
        kn_put_part_with(w, &w->slot[KN_SLOT_TALLY], "by_threads", KN_NO_VALUE, "reduce=%s",
                         kn_str_text(&w->slot[KN_SLOT_REDUCE]));
    }
    kn_str_append(&w->slot[KN_SLOT_TOGETHER], reads_bins(w, atomic) ? "1" : "0");
    kn_str_append(&w->slot[KN_SLOT_IS_ATOMIC], atomic ? "1" : "0");
    kn_str_append(&w->slot[KN_SLOT_IS_COUNT], is_count ? "1" : "0");
    kn_str_append(&w->slot[KN_SLOT_IS_SUM], is_sum && !is_count ? "1" : "0");
}

static bool is_dense(const kn_writer *w, int k)
{
    return kn_array_of(w, k) >= 0 && kn_access_of(w, k) == KN_DENSE;
}

/* Elements whose loads a thread waits for together, a power of two. Texts that call functions are long, and
 * so are sums in halves: each element has a copy of them. */
static int in_flight(const kn_writer *w)
{
    int bytes = 0;
    for (int k = 0; k < kn_param_count(w); ++k)
        bytes += kn_array_of(w, k) >= 0 ? kn_item_size(w, k) : 0;
    if (kn_cost_functions(w->program) > 0 || is_in_halves(w))
        return FEW_IN_FLIGHT;
    return bytes > BYTES_IN_FLIGHT / MOST_IN_FLIGHT ? LEAST_IN_FLIGHT : MOST_IN_FLIGHT;
}

/* Elements of a vector. Where the order matters it must not depend on addresses: single ones. */
static int width(const kn_writer *w, bool is_atomic)
{
    int largest = 0;
    for (int k = 0; k < kn_param_count(w); ++k)
        if (is_dense(w, k) && kn_item_size(w, k) > largest)
            largest = kn_item_size(w, k);
    int wide = largest > 0 && is_atomic ? VECTOR_BYTES / largest : 1;
    return wide < in_flight(w) ? wide : in_flight(w);
}

/* Vectors begin where the first operand's do. */
static void put_loads(kn_writer *w, const kn_row_elements *elements)
{
    kn_str first = KN_STR_INIT;
    for (int k = 0; k < kn_param_count(w); ++k) {
        if (kn_array_of(w, k) < 0)
            continue;
        kn_put_part(w, &w->slot[KN_SLOT_STEP_PACKS], "item_packs", k);
        kn_put_part_with(w, &w->slot[KN_SLOT_STEP_LOADS], "tally_load", k, "is_single=%s place=%s",
                         is_dense(w, k) ? "!kn_is_alike" : "true", kn_text_by(w, elements->put, k));
        if (!is_dense(w, k))
            continue;
        kn_put_part(w, &w->slot[KN_SLOT_PACKS], "wide_load", k);
        if (first.length > 0) {
            kn_str_append(&w->slot[KN_SLOT_UNALIGNED], " && kn_before == ");
            kn_put_part(w, &w->slot[KN_SLOT_UNALIGNED], "before", k);
        } else {
            kn_put_part(w, &first, "before", k);
        }
    }
    kn_str_append(&w->slot[KN_SLOT_FIRST], first.length > 0 ? kn_str_text(&first) : "0");
    kn_str_free(&first);
}

static void fill(kn_writer *w)
{
    const kn_row_elements *elements = kn_row_elements_of(kn_tally_config_of(&w->spec->schedule)->one_axis);
    const kn_stage *s = &w->program->stage[KN_TALLY_TALLY];
    bool is_atomic = kn_tally_atomic(s->body, w->spec->operand[s->value[2]].dtype) != NULL;
    kn_put_tally_names(w);
    /* Parts are as many as three blocks a multiprocessor, which have to run at a time: of two, a third of the
     * parts would come when the others are done. */
    if (is_atomic)
        kn_put_blocks(w, 3 * KN_TALLY_BLOCK);
    kn_str_printf(&w->slot[KN_SLOT_DEPTH], "%d", in_flight(w));
    kn_str_printf(&w->slot[KN_SLOT_WIDE], "%d", width(w, is_atomic));
    put_operator(w);
    kn_put_row_pointers(w);
    put_loads(w, elements);
    kn_put_way_along(w, KN_SLOT_FROM, elements);
    kn_put_map_at(w, &w->slot[KN_SLOT_LANE], KN_TALLY_BIN, kn_put_item, elements->offset);
    kn_put_map_at(w, &w->slot[KN_SLOT_LANE], KN_TALLY_VALUE, kn_put_item, elements->offset);
}

enum { TURN = 32 /* elements of a thread, between two looks at bins of 16 bits */ };

static void fill_halves(kn_writer *w)
{
    const kn_row_elements *elements = kn_row_elements_of(kn_tally_config_of(&w->spec->schedule)->one_axis);
    const kn_stage *s = &w->program->stage[KN_TALLY_TALLY];
    kn_put_part(w, &w->slot[KN_SLOT_LOADS], "declaration", s->value[0]);
    kn_put_value(w, &w->slot[KN_SLOT_INDEX], s->value[0]);
    kn_put_type(w, &w->slot[KN_SLOT_TYPE], s->value[2]);
    kn_str_append(&w->slot[KN_SLOT_RESULT], w->program->param[s->value[2]].name);
    kn_str_printf(&w->slot[KN_SLOT_DEPTH], "%d", TURN);
    kn_put_row_pointers(w);
    kn_put_way_along(w, KN_SLOT_FROM, elements);
    for (int k = 0; k < kn_param_count(w); ++k)
        if (kn_array_of(w, k) >= 0)
            kn_put_item_load(w, elements, k);
    kn_put_map_at(w, &w->slot[KN_SLOT_LANE], KN_TALLY_BIN, kn_put_item, elements->offset);
}

KN_CONFIG_TABLE(kn_tally_config, KN_TALLY_CONFIG);

const kn_recipe kn_recipe_tally = {.template_name = "schedules/tally/tally.cu",
                                   .fill = fill,
                                   .parts = "schedules/tally/tally_parts.cu",
                                   .more_parts = "schedules/scan/scan_parts.cu",
                                   .preludes = "kn_reduce_block kn_look_back"};

const kn_recipe kn_recipe_tally_halves = {.template_name = "schedules/tally/tally_halves.cu",
                                          .fill = fill_halves,
                                          .parts = "schedules/tally/tally_parts.cu",
                                          .more_parts = "schedules/scan/scan_parts.cu",
                                          .preludes = "kn_reduce_block kn_look_back"};
