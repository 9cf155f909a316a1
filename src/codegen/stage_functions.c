/* stages.c - a program's stages as functions of the source, and calls of them. */
#include "codegen/divisor.h"
#include "codegen/writer.h"

#include <string.h>

static bool is_param(const kn_writer *w, int value)
{
    return value < kn_param_count(w);
}

/* What the program indexes by itself, or has by one value for all elements, is no argument. */
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

/* Its rank is known only where the texts ask for the index along each axis. */
void kn_put_indexer(const kn_writer *w, kn_str *out, const char *index)
{
    const char *count = kn_count_name(w);
    if (w->program->uses & KN_USES_PLACE)
        kn_str_printf(out, "const kn_indexer_of<%d> _ind = {%s, (int)kn.logical_rank, kn.logical, %s};\n",
                      w->spec->loop_rank, count, index);
    else
        kn_str_printf(out, "const kn_indexer _ind = {%s, (int)kn.logical_rank, kn.logical};\n", count);
}

void kn_put_type(const kn_writer *w, kn_str *out, int value)
{
    const kn_param *p = &w->program->param[value];
    if (is_param(w, value))
        kn_str_append(out, kn_spec_c_name(w->spec, value));
    else if (p->type == KN_TYPE_STRUCT)
        kn_str_append(out, p->struct_name);
    else if (p->type == KN_TYPE_PLACEHOLDER && !kn_spec_widens(w->spec, value))
        kn_str_append_n(out, &p->placeholder, 1);
    else
        kn_str_append(out, kn_dtype_info_of(kn_spec_value_dtype(w->spec, value))->c_name);
}

void kn_put_value(const kn_writer *w, kn_str *out, int value)
{
    kn_str_printf(out, "kn_value_%s", kn_value_name(&w->program->param[value]));
}

void kn_put_user_text(const kn_writer *w, kn_str *out, int text, const char *label, const char *end)
{
    kn_str_printf(out, "#line 1 \"%s%s%s\"\n%s\n%s#line 0\n", w->program->name, label[0] ? "." : "", label,
                  kn_str_text(&w->user[text]), end);
}

/* ---- functions ---- */

/* The one stage of an elementwise program has no label. */
void kn_put_function(const kn_writer *w, kn_str *out, int stage)
{
    const char *label = w->program->stage[stage].label;
    kn_str_printf(out, "kn_%s", label[0] ? label : "element");
}

/* What runs once for all reduced elements has no index among them. */
static bool has_index(const kn_writer *w, const kn_stage *s, unsigned which)
{
    return w->program->uses & which && s->over == KN_OVER_ALL;
}

/* Compilers leave what is called at several places alone, and loops around it are no vectors then. */
static const char *inlining(const kn_writer *w)
{
    return w->recipe->repeats_stages ? " __attribute__((always_inline))" : "";
}

/* "const auto kn_element = [&](const float x, float &z, const long long i) {" */
static void put_parameters(const kn_writer *w, kn_str *out, int stage)
{
    const kn_stage *s = &w->program->stage[stage];
    const char *separator = "";
    kn_str_append(out, "const auto ");
    kn_put_function(w, out, stage);
    kn_str_append(out, " = [&](");
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
    kn_str_printf(out, ")%s {\n", inlining(w));
    if (kn_text_has_word(s->body, "_ind")) {
        kn_str_append(out, "    ");
        kn_put_indexer(w, out, "i");
    }
}

static void put_map_function(const kn_writer *w, kn_str *out, int stage)
{
    bool loop = w->program->uses & KN_USES_CONTINUE;
    put_parameters(w, out, stage);
    kn_str_append(out, loop ? "    do {\n" : "");
    kn_put_user_text(w, out, KN_TEXT_STAGE + stage, w->program->stage[stage].label, ";\n");
    kn_str_append(out, loop ? "    } while (0);\n" : "");
    kn_str_append(out, "};\n");
}

/* The expression stands alone on its lines, and in brackets: what it gives has the value's type. */
static void put_yield_function(const kn_writer *w, kn_str *out, int stage)
{
    const kn_stage *s = &w->program->stage[stage];
    int given = s->value[s->n_read];
    put_parameters(w, out, stage);
    kn_str_printf(out, "    %s = static_cast<", kn_value_name(&w->program->param[given]));
    kn_put_type(w, out, given);
    kn_str_append(out, ">(\n");
    kn_put_user_text(w, out, KN_TEXT_STAGE + stage, s->label, "");
    kn_str_append(out, "    );\n};\n");
}

static void put_reduce_function(const kn_writer *w, kn_str *out, int stage)
{
    const kn_stage *s = &w->program->stage[stage];
    kn_str type = KN_STR_INIT, label = KN_STR_INIT;
    kn_put_type(w, &type, s->value[s->n_read]);
    const char *name = kn_str_text(&type);
    kn_str_printf(
        out,
        "const auto kn_%s = [&](const %s a, const %s b, const bool _follows = false)%s -> %s {\n    return\n",
        s->label, name, name, inlining(w), name);
    kn_put_user_text(w, out, KN_TEXT_STAGE + stage, s->label, ";\n");
    kn_str_append(out, "};\n");
    if (s->identity[0]) {
        kn_str_printf(&label, "%s.identity", s->label);
        kn_str_printf(out, "const %s kn_%s_identity =\n", name, s->label);
        kn_put_user_text(w, out, KN_TEXT_STAGE + w->program->n_stages + stage, kn_str_text(&label), ";\n");
    }
    out->failed = out->failed || type.failed || label.failed;
    kn_str_free(&type);
    kn_str_free(&label);
}

void kn_put_stages(kn_writer *w)
{
    static void (*const put[KN_STAGE_KINDS])(const kn_writer *w, kn_str *out,
                                             int stage) = {[KN_MAP] = put_map_function,
                                                           [KN_MAP_EXPRESSION] = put_yield_function,
                                                           [KN_REDUCE] = put_reduce_function};
    for (int s = 0; s < w->program->n_stages; ++s)
        put[w->program->stage[s].kind](w, &w->slot[KN_SLOT_ELEMENT], s);
}

/* ---- calls ---- */

/* Whether the operand's place has another dtype than the program sees. */
static bool is_cast(const kn_writer *w, int k)
{
    const kn_operand *o = &w->spec->operand[k];
    return o->seen != o->dtype && !(w->recipe->is_seen_place && w->recipe->is_seen_place(w, k));
}

/* What lies in memory as another dtype, booleans among them: those are bytes, and normalised. */
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

/* The element as the program sees it. */
static void put_seen(const kn_writer *w, kn_str *out, kn_place_writer place, int k)
{
    const kn_operand *o = &w->spec->operand[k];
    bool is_bit = o->dtype == KILN_BOOL || o->seen == KILN_BOOL, has_cast = is_cast(w, k);
    bool is_byte = kn_is_extended(w, k);
    /* Compilers make no vectors of a condition that becomes a number, but of one that chooses. */
    bool is_chosen =
        is_bit && has_cast && !w->is_cuda && (o->seen == KILN_FLOAT32 || o->seen == KILN_FLOAT64);
    if (has_cast)
        kn_str_printf(out, "static_cast<%s>(", kn_spec_c_name(w->spec, k));
    kn_str_append(out, is_byte ? "kn_extended(" : "");
    place(w, out, k);
    kn_str_append(out, is_bit ? " != 0" : "");
    kn_str_append(out, is_chosen ? o->seen == KILN_FLOAT32 ? " ? 1.0f : 0.0f" : " ? 1.0 : 0.0" : "");
    kn_str_append(out, has_cast || is_byte ? ")" : "");
}

/* A result that is converted comes in as a variable, and goes back when the stage is done. */
static void put_back(const kn_writer *w, kn_str *before, kn_str *after, kn_place_writer place, int k)
{
    const kn_operand *o = &w->spec->operand[k];
    const char *name = w->program->param[k].name;
    kn_str_printf(before, "%s kn_%s_seen = ", kn_spec_c_name(w->spec, k), name);
    put_seen(w, before, place, k);
    kn_str_append(before, ";\n");
    place(w, after, k);
    if (o->seen == o->dtype)
        kn_str_printf(after, " = kn_%s_seen;\n", name);
    else if (o->dtype == KILN_BOOL)
        kn_str_printf(after, " = kn_%s_seen != 0;\n", name);
    else
        kn_str_printf(after, " = static_cast<%s>(kn_%s_seen);\n", kn_storage(w, k), name);
}

/* One argument; what has to be done before and after the call as well. */
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
                const char *fold_index)
{
    const kn_stage *s = &w->program->stage[stage];
    kn_str before = KN_STR_INIT, call = KN_STR_INIT, after = KN_STR_INIT;
    const char *separator = "";
    for (int v = 0; v < s->n_read + s->n_given; ++v) {
        if (!is_argument(w, s->value[v]))
            continue;
        kn_str_append(&call, separator);
        put_argument(w, &before, &call, &after, place, s->value[v]);
        separator = ", ";
    }
    if (has_index(w, s, KN_USES_INDEX)) {
        kn_str_printf(&call, "%s%s", separator, index);
        separator = ", ";
    }
    if (has_index(w, s, KN_USES_REDUCTION_INDEX))
        kn_str_printf(&call, "%s%s", separator, fold_index);
    kn_str_append(out, kn_str_text(&before));
    kn_put_function(w, out, stage);
    kn_str_printf(out, "(%s);\n%s", kn_str_text(&call), kn_str_text(&after));
    out->failed = out->failed || before.failed || call.failed || after.failed;
    kn_str_free(&before);
    kn_str_free(&call);
    kn_str_free(&after);
}

void kn_put_call(const kn_writer *w, kn_str *out, kn_place_writer place, const char *index)
{
    kn_put_map(w, out, 0, place, index, NULL);
}
