/* stage_functions.c - a program's stages as functions of the source, and calls of them. */
#include "codegen/divisor.h"
#include "codegen/writer.h"
#include "schedule/contraction.h"

#include <stdio.h>
#include <string.h>

static bool is_param(const kn_writer *w, int value)
{
    return value < kn_param_count(w);
}

/* Raw operands and constant scalars are no arguments: the body sees them by name. */
static bool is_argument(const kn_writer *w, int value)
{
    if (!is_param(w, value))
        return true;
    kn_pass pass = w->spec->operand[value].pass;
    return pass == KN_PASS_ARRAY || (pass != KN_PASS_RAW && w->program->param[value].is_non_const);
}

const char *kn_count_name(const kn_writer *w)
{
    for (int k = 0; k < kn_param_count(w) + w->program->n_values; ++k)
        if (strcmp(kn_value_name(&w->program->param[k]), "n") == 0)
            return "kn_n";
    return "n";
}

/* Its rank is a constant only if the texts use the index along each axis. */
void kn_put_indexer(const kn_writer *w, kn_str *out, const char *index)
{
    kn_put_part_with(w, out, w->program->uses & KN_USES_PLACE ? "indexer_of_rank" : "indexer", KN_NO_VALUE,
                     "rank=%d count=%s index=%s", w->spec->loop_rank, kn_count_name(w), index);
}

void kn_put_user_text(const kn_writer *w, kn_str *out, int text, const char *label, bool is_statement)
{
    kn_put_part_with(w, out, is_statement ? "user_statement" : "user_expression", KN_NO_VALUE,
                     "kernel=%s separator=%s label=%s text=%s", w->program->name, label[0] ? "." : "", label,
                     kn_str_text(&w->user[text]));
}

/* ---- functions ---- */

/* The one stage of an elementwise program has no label. */
void kn_put_function(const kn_writer *w, kn_str *out, int stage)
{
    const char *label = w->program->stage[stage].label;
    kn_str_printf(out, "kn_%s", label[0] ? label : "element");
}

/* A stage over results has no index along the reduction axes. */
static bool has_index(const kn_writer *w, const kn_stage *s, unsigned which)
{
    return w->program->uses & which && s->over == KN_OVER_ALL;
}

/* Compilers do not inline functions that are called at several places, and loops around the calls are not
 * vectorised. */
static const char *inlining(const kn_writer *w)
{
    return w->recipe->repeats_stages ? " __attribute__((always_inline))" : "";
}

static void put_parameters(const kn_writer *w, kn_str *out, int stage)
{
    const kn_stage *s = &w->program->stage[stage];
    const char *separator = "";
    for (int v = 0; v < s->n_read + s->n_given; ++v) {
        int k = s->value[v];
        bool is_given = v >= s->n_read;
        if (!is_argument(w, k))
            continue;
        kn_str_printf(out, "%s%s", separator,
                      is_given         ? ""
                      : is_param(w, k) ? kn_spec_constness(w->spec, k)
                                       : "const ");
        bool is_divisor = !is_given && kn_is_divisor(w, k);
        if (is_divisor)
            kn_str_append(out, "auto");
        else
            kn_put_type(w, out, k);
        kn_str_printf(out, " %s%s", is_given || is_divisor ? "&" : "", kn_value_name(&w->program->param[k]));
        separator = ", ";
    }
    if (has_index(w, s, KN_USES_INDEX)) {
        kn_str_printf(out, "%sconst long long i", separator);
        separator = ", ";
    }
    if (has_index(w, s, KN_USES_REDUCTION_INDEX))
        kn_str_printf(out, "%sconst long long _J", separator);
}

/* "const auto kn_element = [&](const float x, float &z, const long long i) {": a map, or an expression, which
 * is alone on its lines, in brackets, and is converted to the value's type. */
static void put_map_function(const kn_writer *w, kn_str *out, int stage)
{
    const kn_stage *s = &w->program->stage[stage];
    bool is_expression = s->kind == KN_MAP_EXPRESSION;
    kn_str *indexer = kn_text(w), *type = kn_text(w), *user = kn_text(w);
    if (kn_text_has_word(s->body, "_ind"))
        kn_put_indexer(w, indexer, "i");
    if (is_expression)
        kn_put_type(w, type, s->value[s->n_read]);
    kn_put_user_text(w, user, KN_TEXT_STAGE + stage, s->label, !is_expression);
    kn_put_part_with(
        w, out,
        is_expression                         ? "map_expression"
        : w->program->uses & KN_USES_CONTINUE ? "map_with_continue"
                                              : "map",
        KN_NO_VALUE, "function=%s parameters=%s inlining=%s indexer=%s given=%s value_type=%s user=%s",
        kn_text_by(w, kn_put_function, stage), kn_text_by(w, put_parameters, stage), inlining(w),
        kn_str_text(indexer), is_expression ? kn_value_name(&w->program->param[s->value[s->n_read]]) : "",
        kn_str_text(type), kn_str_text(user));
}

static void put_reduce_part(const kn_writer *w, kn_str *out, const char *part, int stage, int text,
                            const char *suffix)
{
    const kn_stage *s = &w->program->stage[stage];
    kn_str *label = kn_text(w), *user = kn_text(w);
    const char *function = suffix[0] ? NULL : kn_contraction_function(w->spec, stage);
    kn_str_printf(label, "%s%s", s->label, suffix);
    if (function)
        kn_put_part_with(w, user, "uncontracted", KN_NO_VALUE, "function=%s", function);
    else
        kn_put_user_text(w, user, text, kn_str_text(label), true);
    kn_put_part_with(w, out, part, KN_NO_VALUE, "label=%s value_type=%s inlining=%s user=%s", s->label,
                     kn_text_by(w, kn_put_type, s->value[s->n_read]), inlining(w), kn_str_text(user));
}

static void put_reduce_function(const kn_writer *w, kn_str *out, int stage)
{
    put_reduce_part(w, out, "reduce", stage, KN_TEXT_STAGE + stage, "");
    if (w->program->stage[stage].identity[0])
        put_reduce_part(w, out, "identity", stage, KN_TEXT_STAGE + w->program->n_stages + stage, ".identity");
}

void kn_put_stages(kn_writer *w)
{
    static void (*const put[KN_STAGE_KINDS])(const kn_writer *w, kn_str *out,
                                             int stage) = {[KN_MAP] = put_map_function,
                                                           [KN_MAP_EXPRESSION] = put_map_function,
                                                           [KN_REDUCE] = put_reduce_function,
                                                           [KN_SCAN] = put_reduce_function,
                                                           [KN_SCAN_EXCLUSIVE] = put_reduce_function,
                                                           [KN_TALLY] = put_reduce_function,
                                                           [KN_COLUMNS] = put_reduce_function};
    for (int s = 0; s < w->program->n_stages; ++s)
        if (put[w->program->stage[s].kind]) /* the others have no text of the user */
            put[w->program->stage[s].kind](w, &w->slot[KN_SLOT_ELEMENT], s);
}

/* ---- calls ---- */

/* The operand's place has another dtype than the program sees. */
static bool is_cast(const kn_writer *w, int k)
{
    const kn_operand *o = &w->spec->operand[k];
    return o->seen != o->dtype && !(w->recipe->is_seen_place && w->recipe->is_seen_place(w, k));
}

/* Such operands, and booleans: those are bytes, and normalised. */
static bool is_converted(const kn_writer *w, int k)
{
    return is_cast(w, k) || w->spec->operand[k].seen == KILN_BOOL;
}

bool kn_is_extended(const kn_writer *w, int k)
{
    const kn_operand *o = &w->spec->operand[k];
    return w->is_cuda && o->dtype == KILN_INT8 && o->seen == o->dtype && w->spec->schedule.vector > 1 &&
           !kn_is_output(w, k);
}

/* A bool of the host that numbers of eight bytes stand beside. */
static bool is_beside_wide(const kn_writer *w, int k)
{
    bool is_beside = false;
    for (int j = 0; j < kn_param_count(w); ++j) {
        kiln_dtype seen = w->spec->operand[j].seen;
        is_beside =
            is_beside || (kn_array_of(w, j) >= 0 && seen != KILN_DTYPE_NONE && kiln_dtype_size(seen) == 8 &&
                          kn_dtype_info_of(seen)->kind <= KN_KIND_FLOAT);
    }
    return is_beside && !w->is_cuda && w->spec->operand[k].dtype == KILN_BOOL;
}

/* The element as the program sees it. */
static void put_seen(const kn_writer *w, kn_str *out, kn_place_writer place, int k)
{
    const kn_operand *o = &w->spec->operand[k];
    bool is_bit = o->dtype == KILN_BOOL || o->seen == KILN_BOOL, has_cast = is_cast(w, k);
    bool is_byte = kn_is_extended(w, k), is_set = is_beside_wide(w, k);
    /* Bits of 1 or 0: compilers vectorise no condition that is converted to a number, and make branches of
     * one that selects it, wherever they make no vectors. */
    bool is_single = o->seen == KILN_FLOAT32,
         is_masked = is_bit && has_cast && !w->is_cuda && (is_single || o->seen == KILN_FLOAT64);
    if (is_masked)
        kn_str_append(out, is_single ? "__builtin_bit_cast(float, -(int)("
                                     : "__builtin_bit_cast(double, -(long long)(");
    else if (has_cast)
        kn_str_printf(out, "static_cast<%s>(", kn_spec_c_name(w->spec, k));
    kn_str_append(out, is_byte ? "kn_extended(" : is_set ? "kn_is_set(" : "");
    place(w, out, k);
    kn_str_append(out, is_set ? ")" : is_bit ? " != 0" : "");
    if (is_masked)
        kn_str_append(out, is_single ? ") & 0x3f800000" : ") & 0x3ff0000000000000");
    kn_str_append(out, has_cast || is_byte ? ")" : "");
}

/* A converted result is a variable during the call, and is stored afterwards. */
static void put_back(const kn_writer *w, kn_str *before, kn_str *after, kn_place_writer place, int k)
{
    const kn_operand *o = &w->spec->operand[k];
    kn_str *seen = kn_text(w);
    put_seen(w, seen, place, k);
    kn_put_part_with(w, before, "seen", k, "c_name=%s seen=%s", kn_spec_c_name(w->spec, k),
                     kn_str_text(seen));
    kn_put_part_with(w, after,
                     o->seen == o->dtype     ? "put_back"
                     : o->dtype == KILN_BOOL ? "put_back_bool"
                                             : "put_back_converted",
                     k, "place=%s", kn_text_by(w, place, k));
}

/* One argument, with its statements before and after the call. */
static void put_argument(const kn_writer *w, kn_str *before, kn_str *call, kn_str *after,
                         kn_place_writer place, int k)
{
    const char *name = w->program->param[k].name;
    if (!is_param(w, k)) {
        kn_put_value(w, call, k);
    } else if (kn_array_of(w, k) < 0) {
        kn_str_printf(call, "kn.%s_%s", name, kn_is_bool(w, k) ? " != 0" : "");
    } else if (!kn_is_output(w, k)) {
        put_seen(w, call, place, k);
    } else if (is_converted(w, k)) {
        kn_str_printf(call, "kn_%s_seen", name);
        put_back(w, before, after, place, k);
    } else {
        place(w, call, k);
    }
}

void kn_put_map(const kn_writer *w, kn_str *out, int stage, kn_place_writer place, const char *index,
                const char *reduction_index)
{
    const kn_stage *s = &w->program->stage[stage];
    kn_str *before = kn_text(w), *arguments = kn_text(w), *after = kn_text(w);
    const char *separator = "";
    for (int v = 0; v < s->n_read + s->n_given; ++v) {
        if (!is_argument(w, s->value[v]))
            continue;
        kn_str_append(arguments, separator);
        put_argument(w, before, arguments, after, place, s->value[v]);
        separator = ", ";
    }
    if (has_index(w, s, KN_USES_INDEX)) {
        kn_str_printf(arguments, "%s%s", separator, index);
        separator = ", ";
    }
    if (has_index(w, s, KN_USES_REDUCTION_INDEX))
        kn_str_printf(arguments, "%s%s", separator, reduction_index);
    kn_put_part_with(w, out, "call", KN_NO_VALUE, "before=%s function=%s arguments=%s after=%s",
                     kn_str_text(before), kn_text_by(w, kn_put_function, stage), kn_str_text(arguments),
                     kn_str_text(after));
}

static void put_index_at(const kn_writer *w, kn_str *out, const char *start, const char *part, int operand)
{
    kn_str *offset = kn_text(w);
    kn_put_part_with(w, offset, part, KN_NO_VALUE, "array=%d", operand);
    kn_put_part_with(w, out, "index", KN_NO_VALUE, "start=%s offset=%s", start, kn_str_text(offset));
}

void kn_put_reduction_index(const kn_writer *w, kn_str *out, const char *offset)
{
    put_index_at(w, out, "reduction_start", offset, kn_layout_space_operands(w->spec) - 1);
}

void kn_put_map_at(const kn_writer *w, kn_str *out, int stage, kn_place_writer place, const char *offset)
{
    kn_str *index = kn_text(w), *reduction_index = kn_text(w);
    put_index_at(w, index, "start", offset, w->spec->n_arrays);
    kn_put_reduction_index(w, reduction_index, offset);
    kn_put_map(w, out, stage, place, kn_str_text(index), kn_str_text(reduction_index));
}

void kn_put_call(const kn_writer *w, kn_str *out, kn_place_writer place, const char *index)
{
    kn_put_map(w, out, 0, place, index, NULL);
}

void kn_put_single(kn_writer *w)
{
    char index[64];
    snprintf(index, sizeof index, "kn.start + kn_here.at[%d]", w->spec->n_arrays);
    kn_put_call(w, &w->slot[KN_SLOT_SINGLE], kn_place_located, index);
}
