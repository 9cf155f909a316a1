/* codegen.c - writes the parts that every kernel has, and expands the template of its kind. */
#include "codegen/codegen.h"

#include <stdio.h>
#include <string.h>

#include "base/caret.h"
#include "base/error.h"
#include "codegen/prelude.h"
#include "codegen/templates.h"
#include "codegen/divisor.h"
#include "codegen/writer.h"
#include "program/draws.h"
#include "program/operators.h"
#include "schedule/contraction.h"

enum { MOST_DRAWN = 4 /* blocks of random numbers that a thread keeps, of six registers or more each */ };

void kn_codegen_entry(char *out, size_t size, const kn_program *program)
{
    snprintf(out, size, "kiln_%s", program->name);
}

/* ---- what every kernel has ---- */

static bool is_checked(const kn_writer *w)
{
    return w->program->flags & KILN_KERNEL_CHECK;
}

/* A checked operand reports its number. */
static void put_raw(const kn_writer *w, kn_str *out, int k)
{
    const kn_operand *o = &w->spec->operand[k];
    kn_put_part_with(w, out, is_checked(w) ? "checked" : "raw", k,
                     "constness=%s c_name=%s raw_rank=%d is_contiguous=%s number=%d",
                     kn_spec_constness(w->spec, k), kn_spec_c_name(w->spec, k), o->raw_rank,
                     o->raw_contiguous ? "true" : "false", k);
}

/* The size of the argument block as launch fills it: a kind's field whose declaration has another size would
 * move all members behind it. */
static void put_layout_check(kn_writer *w)
{
    if (w->layout)
        kn_put_part_with(w, &w->slot[KN_SLOT_VALUES], "layout_check", KN_NO_VALUE, "bytes=%d",
                         w->layout->size);
}

static void put_values(kn_writer *w)
{
    kn_str *out = &w->slot[KN_SLOT_VALUES];
    put_layout_check(w);
    if (w->program->uses & KN_USES_COUNT)
        kn_put_part_with(w, out, "count", KN_NO_VALUE, "count=%s", kn_count_name(w));
    if (w->program->uses & KN_USES_SIZES)
        kn_put_part(w, out, "sizes", KN_NO_VALUE);
    if (w->program->uses & KN_USES_INDEXER_OUTSIDE)
        kn_put_indexer(w, out, "0");
    for (int k = 0; k < w->n_drawn; ++k)
        kn_put_part_with(w, out, "drawn", KN_NO_VALUE, "number=%d", k);
    for (int k = 0; k < kn_param_count(w); ++k) {
        kn_pass pass = w->spec->operand[k].pass;
        if (pass == KN_PASS_RAW)
            put_raw(w, out, k);
        else if (pass != KN_PASS_ARRAY && !w->program->param[k].is_non_const)
            kn_put_part_with(w, out, "value", k, "c_name=%s is_set=%s", kn_spec_c_name(w->spec, k),
                             kn_is_bool(w, k) ? " != 0" : "");
    }
}

static void put_typedefs(const kn_writer *w, kn_str *out)
{
    for (int k = 0; k < kn_param_count(w); ++k) {
        const char letter[] = {w->program->param[k].placeholder, '\0'};
        bool seen = w->program->param[k].type != KN_TYPE_PLACEHOLDER;
        for (int j = 0; j < k && !seen; ++j)
            seen = w->program->param[j].type == KN_TYPE_PLACEHOLDER &&
                   w->program->param[j].placeholder == letter[0];
        if (!seen)
            kn_put_part_with(w, out, "typedef", k, "c_name=%s as=%s", kn_spec_c_name(w->spec, k), letter);
    }
    static const char *const index_types[] = {
        [0] = "long long", [8] = "signed char", [16] = "short", [32] = "int", [64] = "long long"};
    if (w->program->uses & KN_USES_INDEX_TYPE)
        kn_put_part_with(w, out, "typedef", KN_NO_VALUE, "c_name=%s as=%s",
                         index_types[w->spec->schedule.index], "_index");
}

/* The index of a reduction has two names in CuPy. */
static void put_reduction_index_name(const kn_writer *w, kn_str *out)
{
    for (int t = KN_TEXT_STAGE; t < kn_program_texts(w->program); ++t)
        if (kn_text_has_word(w->program->text[t], "_j")) {
            kn_str_append(out, "#define _j _J\n");
            return;
        }
}

/* A struct of another size than the caller's would move all members behind it. */
static void put_struct_checks(const kn_writer *w, kn_str *out)
{
    for (int k = 0; k < kn_param_count(w); ++k)
        if (w->spec->operand[k].pass == KN_PASS_STRUCT)
            kn_put_part_with(w, out, "struct_check", k, "c_name=%s bytes=%d", kn_spec_c_name(w->spec, k),
                             w->spec->operand[k].struct_size);
}

/* Launch asks how large the program's struct is by the size of this object. */
static void put_value_symbol(const kn_writer *w, kn_str *out)
{
    int value = kn_spec_reduced_value(w->spec);
    if (!w->spec->schedule.kind->has_workspace || value < 0 ||
        kn_spec_value_dtype(w->spec, value) != KILN_DTYPE_NONE)
        return;
    kn_put_part_with(w, out, w->is_cuda ? "value_symbol_cuda" : "value_symbol_host", KN_NO_VALUE,
                     "value_type=%s symbol=%s", kn_text_by(w, kn_put_type, value), KN_VALUE_SYMBOL);
}

static void put_contraction_functions(const kn_writer *w, kn_str *out)
{
    for (int s = 0; s < w->program->n_stages; ++s) {
        const char *function = kn_contraction_function(w->spec, s);
        kn_str_printf(out, "%s ", function ? function : "");
    }
}

/* Inputs whose vectors begin anywhere, or lie backward. */
static bool gathers_input(const kn_writer *w)
{
    bool some = false;
    for (int k = 0; k < w->program->n_in; ++k)
        some = some || (kn_array_of(w, k) >= 0 &&
                        (kn_access_of(w, k) == KN_GATHER || kn_access_of(w, k) == KN_STAGED));
    return some && w->spec->schedule.vector > 1;
}

/* The preludes are chosen by the words of the user's texts, of the operands' types, and of what stands in
 * place of a text. */
static kiln_status put_head(kn_writer *w)
{
    kn_str *types = kn_text(w), *out = &w->slot[KN_SLOT_HEAD];
    for (int k = 0; k < kn_param_count(w); ++k)
        kn_str_printf(types, "%s %s %s %s ", kn_spec_c_name(w->spec, k),
                      w->spec->operand[k].seen != w->spec->operand[k].dtype ? kn_storage(w, k) : "",
                      kn_is_extended(w, k) ? "kn_extended" : "",
                      w->spec->operand[k].pass != KN_PASS_RAW ? ""
                      : is_checked(w)                         ? "kn_checked kn_raw"
                                                              : "kn_raw");
    if (kn_spec_rounds_each(w->spec))
        kn_str_append(types, "float16 bfloat16 kn_by kn_real ");
    bool is_wide = w->spec->schedule.kind->has_wide_axes; /* such kernels gather by themselves */
    const char *preludes = w->spec->schedule.baseline ? w->recipe->quick_preludes : w->recipe->preludes;
    kn_str_printf(types, "%s ", preludes ? preludes : "");
    if (w->recipe->staged_preludes && strchr(w->spec->schedule.access, KN_STAGED))
        kn_str_printf(types, "%s ", w->recipe->staged_preludes);
    if (w->recipe->gathered_preludes && gathers_input(w))
        kn_str_printf(types, "%s ", w->recipe->gathered_preludes);
    if (w->recipe->single_preludes && w->recipe->has_singles(w))
        kn_str_printf(types, "%s ", w->recipe->single_preludes);
    if (is_wide && w->spec->schedule.vector > 1 && kn_gathers(w) &&
        !strchr(w->spec->schedule.access, KN_STAGED))
        kn_str_append(types, "kn_gather ");
    if (w->is_cuda)
        kn_str_printf(types, "%s %s %s ", kn_has_divisors(w) ? "kn_divisor" : "",
                      kn_gathers(w) && !is_wide && !w->recipe->has_places_alone ? "kn_gather" : "",
                      !is_wide && strpbrk(w->spec->schedule.access, "vs") ? "kn_load_along" : "");
    const kn_program *p = w->program;
    const char *texts[KN_TEXT_STAGE + 2 * KN_MAX_STAGES + 1];
    int n_texts = kn_program_texts(p);
    for (int v = 0; v < p->n_values; ++v) {
        kn_put_type(w, types, p->n_in + p->n_out + v);
        kn_str_append(types, " ");
    }
    put_contraction_functions(w, types);
    for (int t = 0; t < n_texts; ++t)
        texts[t] = kn_str_text(&w->user[t]);
    texts[n_texts++] = kn_str_text(types);
    kn_str_printf(out, "// %s: %s\n\n", p->name, w->spec->schedule.kind->name);
    kiln_status status = kn_prelude_append(out, w->spec->target.backend, texts, n_texts, w->failed);
    if (status == KILN_OK && kn_spec_rounds_each(w->spec)) /* behind all functions whose results it rounds */
        status = kn_template_read(out, "codegen/shared/rounded.cpp");
    put_typedefs(w, out);
    if (p->preamble[0])
        kn_put_user_text(w, out, KN_TEXT_PREAMBLE, "preamble", false);
    put_reduction_index_name(w, out);
    put_struct_checks(w, out);
    put_value_symbol(w, out);
    return status;
}

static void put_lines(kn_writer *w, enum kn_slot_id slot, int text, const char *label)
{
    if (kn_str_text(&w->user[text])[0])
        kn_put_user_text(w, &w->slot[slot], text, label, true);
}

/* Calls that draw random numbers share blocks with their thread's next ones, as long as registers suffice. */
static void number_draws(kn_writer *w, int t)
{
    kn_str *numbered = kn_text(w);
    if (!w->is_cuda || t == KN_TEXT_PREAMBLE)
        return;
    kn_draws_number(numbered, w->program, kn_str_text(&w->user[t]), &w->n_drawn, MOST_DRAWN);
    kn_str_clear(&w->user[t]);
    kn_str_append(&w->user[t], kn_str_text(numbered));
}

/* Division and shifts of integers have NumPy's results. */
static kiln_status guard_texts(kn_writer *w)
{
    const kn_program *p = w->program;
    bool in_macros = true;
    kiln_status status = KILN_OK;
    for (int t = 0; t < kn_program_texts(p); ++t)
        in_macros = in_macros && !kn_text_has_conditions(p->text[t]);
    for (int t = 0; t < kn_program_texts(p) && status == KILN_OK; ++t) {
        if (kn_divides_reals(w, p->text[t]))
            kn_str_append(&w->user[t], p->text[t]);
        else
            kn_operators_guard(&w->user[t], p->text[t], in_macros);
        number_draws(w, t);
        status = kn_str_status(&w->user[t], "generated source");
    }
    return status;
}

static void put_numbers(kn_writer *w)
{
    const kn_schedule *s = &w->spec->schedule;
    char entry[KN_NAME_MAX + 8];
    kn_codegen_entry(entry, sizeof entry, w->program);
    kn_str_append(&w->slot[KN_SLOT_ENTRY], entry);
    kn_str_printf(&w->slot[KN_SLOT_BLOCK], "%d", s->block);
    kn_str_printf(&w->slot[KN_SLOT_VECTOR], "%d", s->vector);
    kn_str_printf(&w->slot[KN_SLOT_RANK], "%d", s->rank);
    for (int n = 0; n < KN_MAX_CONFIG; ++n)
        kn_str_printf(&w->slot[KN_SLOT_CONFIG + n], "%d", s->config[n]);
    if (w->spec->target.waits_for_kernels)
        kn_put_part(w, &w->slot[KN_SLOT_WAIT], "wait", KN_NO_VALUE);
    kn_str_printf(&w->slot[KN_SLOT_OPERANDS], "%d", kn_layout_space_operands(w->spec));
}

/* ---- from the slots to the source ---- */

static void list_slots(const kn_writer *w, kn_slot *slots)
{
    const kn_config_table *config = w->spec->schedule.kind->config;
    static const struct {
        const char *name;
        bool is_offered;
    } known[] = {
#define KN_SLOT_NAME(id, name, offered) {#name, offered},
        KN_SLOTS(KN_SLOT_NAME)
#undef KN_SLOT_NAME
    };
    for (int s = 0; s < KN_SLOT_CONFIG; ++s)
        slots[s] = (kn_slot){known[s].name, kn_str_text(&w->slot[s]), known[s].is_offered};
    for (int n = 0; n < KN_MAX_CONFIG; ++n)
        slots[KN_SLOT_CONFIG + n] = (kn_slot){config && n < config->count ? config->number[n].name : "",
                                              kn_str_text(&w->slot[KN_SLOT_CONFIG + n]), true};
}

/* Fills a slot by a template of other slots. */
static kiln_status fill_by_template(kn_writer *w, kn_slot *slots, enum kn_slot_id slot, const char *name)
{
    kn_str text = KN_STR_INIT, *out = &w->slot[slot];
    kiln_status status = kn_template_read(&text, name);
    if (status == KILN_OK)
        status = kn_template_expand(out, kn_str_text(&text), slots, KN_SLOT_COUNT);
    if (status == KILN_OK)
        status = kn_str_status(out, "generated source");
    slots[slot].value = kn_str_text(out);
    kn_str_free(&text);
    return status;
}

/* Text without a slot in the template would be lost. */
static kiln_status check_all_used(const kn_slot *slots, const char *template_name)
{
    for (int s = 0; s < KN_SLOT_COUNT; ++s)
        if (slots[s].value[0] && !slots[s].is_used)
            return kn_error(KILN_ERROR_INTERNAL, "template %s: the slot '${%s}' is filled, but is not there",
                            template_name, slots[s].name);
    return KILN_OK;
}

/* "#line 0" marks the end of a user's text: the numbering of the generated file goes on there. */
static void restore_lines(kn_str *out, const char *text, const char *name, const char *suffix)
{
    for (int line = 1; *text; ++line) {
        size_t length = strcspn(text, "\n");
        if (length == 7 && memcmp(text, "#line 0", 7) == 0)
            kn_str_printf(out, "#line %d \"kiln_%s%s\"\n", line + 1, name, suffix);
        else
            kn_str_append_n(out, text, length + (text[length] == '\n'));
        text += length + (text[length] == '\n');
    }
}

static kiln_status check_texts(const kn_writer *w)
{
    kiln_status status = kn_texts_status(w->texts);
    for (int s = 0; s < KN_SLOT_COUNT && status == KILN_OK; ++s)
        status = kn_str_status(&w->slot[s], "generated source");
    return status;
}

/* The template that declares the axes of the argument block and iterates over them; NULL if kernels have
 * none, or, on the host, get contiguous ranges only. */
static const char *axes_template(const kn_writer *w)
{
    if (w->spec->schedule.rank == 0)
        return NULL;
    return w->spec->schedule.kind->has_wide_axes ? "codegen/shared/axes_wide.cpp"
           : w->is_cuda                          ? "codegen/shared/axes.cu"
                                                 : NULL;
}

/* The templates that several kinds share: the begin of a kernel, and the elements of a thread's vector. Only
 * the slots of those that the kind's template has count as used. */
static kiln_status fill_shared(kn_writer *w, kn_slot *slots, const char *text)
{
    kiln_status status = KILN_OK;
    if (axes_template(w))
        status = fill_by_template(w, slots, KN_SLOT_AXES, axes_template(w));
    if (status == KILN_OK && strstr(text, "${begin}"))
        status = fill_by_template(w, slots, KN_SLOT_BEGIN,
                                  w->is_cuda ? "codegen/shared/begin.cu" : "codegen/shared/begin.cpp");
    if (status == KILN_OK && strstr(text, "${elements}"))
        status = fill_by_template(w, slots, KN_SLOT_ELEMENTS, "codegen/shared/elements.cu");
    return status;
}

/* Expands the template of the kind, with the shared ones in it. */
static kiln_status expand_all(kn_writer *w, kn_str *out)
{
    const kn_recipe *r = w->recipe;
    const char *name = r->choose_template ? r->choose_template(w->spec) : r->template_name;
    kn_slot slots[KN_SLOT_COUNT];
    kn_str text = KN_STR_INIT, expanded = KN_STR_INIT;
    kiln_status status = check_texts(w);
    list_slots(w, slots);
    if (status == KILN_OK)
        status = kn_template_read(&text, name);
    if (status == KILN_OK)
        status = fill_shared(w, slots, kn_str_text(&text));
    if (status == KILN_OK)
        status = kn_template_expand(&expanded, kn_str_text(&text), slots, KN_SLOT_COUNT);
    if (status == KILN_OK)
        status = kn_str_status(&expanded, "generated source");
    if (status == KILN_OK)
        status = check_all_used(slots, name);
    if (status == KILN_OK)
        restore_lines(out, kn_str_text(&expanded), w->program->name, w->is_cuda ? ".cu" : ".cpp");
    kn_str_free(&text);
    kn_str_free(&expanded);
    return status == KILN_OK ? kn_str_status(out, "generated source") : status;
}

static kiln_status write_source(kn_writer *w, kn_str *out)
{
    kiln_status status = guard_texts(w);
    if (status == KILN_OK)
        status = put_head(w);
    if (status != KILN_OK)
        return status;
    put_numbers(w);
    kn_layout_declare(&w->slot[KN_SLOT_FIELDS], w->spec);
    put_values(w);
    kn_put_stages(w);
    put_lines(w, KN_SLOT_LOOP_PREP, KN_TEXT_LOOP_PREP, "loop_prep");
    put_lines(w, KN_SLOT_AFTER_LOOP, KN_TEXT_AFTER_LOOP, "after_loop");
    if (w->is_cuda && w->spec->schedule.rank > 0 && !w->spec->schedule.kind->has_wide_axes)
        kn_put_locate(w);
    w->recipe->fill(w);
    return expand_all(w, out);
}

kiln_status kn_codegen_source(kn_str *out, const kn_spec *spec, const kn_failed_try *failed)
{
    kn_str user[KN_TEXT_STAGE + 2 * KN_MAX_STAGES] = {KN_STR_INIT};
    kn_layout layout;
    kn_writer_texts texts = {.status = KILN_OK};
    kn_writer w = {.spec = spec,
                   .program = spec->program,
                   .recipe = spec->schedule.kind->recipe,
                   .layout = kn_layout_make(&layout, spec) == KILN_OK ? &layout : NULL,
                   .is_cuda = spec->target.backend == KN_CUDA,
                   .failed = failed,
                   .user = user,
                   .texts = &texts};
    if (!w.recipe)
        return kn_error(KILN_ERROR_UNSUPPORTED, "there is no template for the schedule '%s'",
                        spec->schedule.kind->name);
    kiln_status status = write_source(&w, out);
    kn_texts_free(&texts);
    for (int s = 0; s < KN_SLOT_COUNT; ++s)
        kn_str_free(&w.slot[s]);
    for (int t = 0; t < kn_program_texts(spec->program); ++t)
        kn_str_free(&user[t]);
    return status;
}

void kn_codegen_names(kn_str *out, const kn_program *program)
{
    for (int v = 0; v < program->n_in + program->n_out + program->n_values; ++v)
        kn_str_printf(out, "%s ", kn_value_name(&program->param[v]));
    const kn_dtype_info *info;
    for (int d = KILN_BOOL; (info = kn_dtype_info_of((kiln_dtype)d)) != NULL; ++d)
        kn_str_printf(out, "%s ", info->name);
    kn_prelude_words(out);
}
