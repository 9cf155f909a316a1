/* host_row_levels.c - writes the levels of the host's row programs: pointers, the stages of an element, and
 * the loop of the kind's own part. */
#include "schedules/host/host_row_levels.h"

#include "schedules/host/host_kinds.h"
#include "schedules/host/kind_host_row.h"

void kn_host_put_loops(kn_writer *w, const kn_field *loops)
{
    static const kn_field call = KN_FIELD(kn_call, KN_HOST_CALL);
    kn_put_part_with(w, &w->slot[KN_SLOT_LOOPS], "loops", KN_NO_VALUE, "call=%s loops=%s", call.declaration,
                     loops->declaration);
}

bool kn_host_is_in_level(const kn_writer *w, const kn_level *level, int k)
{
    return kn_is_wide_array(w, k) && (kn_level_reads(w, level, k) || kn_level_gives(w, level, k));
}

/* Results that this level does not store are variables. */
static void put_results(const kn_writer *w, kn_str *out, const kn_level *level, const kn_host_levels *by)
{
    for (int k = w->program->n_in; k < kn_param_count(w); ++k) {
        if (!kn_host_is_in_level(w, level, k))
            continue;
        bool is_variable = kn_level_gives(w, level, k) && !kn_level_stores(w, level, k);
        kn_put_part_with(w, out, is_variable ? "result_variable" : "result_here", k, "element=%s",
                         kn_text_by(w, by->put_element, k));
    }
}

static void put_element(const kn_writer *w, kn_str *out, const kn_level *level, const kn_host_levels *by)
{
    put_results(w, out, level, by);
    kn_put_level_stages(w, out, level, by->places);
}

void kn_host_put_reduction(const kn_writer *w, kn_str *out, const kn_level *level, const kn_host_levels *by)
{
    int result = w->program->stage[level->end].value[1];
    kn_str *pointers = kn_text(w), *element = kn_text(w);
    by->put_pointers(w, pointers, level);
    put_element(w, element, level, by);
    if (!by->declares)
        kn_put_declaration(w, out, result);
    kn_put_part_with(
        w, out, by->reduction, result,
        "level=%d both=%d sides=%d operands=%d pointers=%s element=%s reduced=%s function=%s follows=%d",
        level->end, KN_HOST_ROW_BOTH, KN_HOST_ROW_SIDES, kn_layout_space_operands(w->spec),
        kn_str_text(pointers), kn_str_text(element),
        kn_text_by(w, kn_put_value, w->program->stage[level->end].value[0]),
        kn_text_by(w, kn_put_function, level->end), w->spec->schedule.order);
}

void kn_host_put_last(const kn_writer *w, kn_str *out, const kn_level *level, const kn_host_levels *by)
{
    kn_str *pointers = kn_text(w), *element = kn_text(w);
    if (level->stages == 0)
        return;
    by->put_pointers(w, pointers, level);
    put_element(w, element, level, by);
    kn_put_part_with(w, out, by->last, KN_NO_VALUE, "pointers=%s element=%s", kn_str_text(pointers),
                     kn_str_text(element));
}

void kn_host_put_held_values(kn_writer *w)
{
    for (int k = kn_param_count(w); k < kn_param_count(w) + w->program->n_values; ++k)
        if (kn_is_held_value(w, k))
            kn_put_part(w, &w->slot[KN_SLOT_ITEM], "held_value", k);
}
