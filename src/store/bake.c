/* Compiles one row of a bundle from the text of its specialisation. */
#include "store/bake.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "store/bundle_label.h"
#include "store/code_search.h"
#include "store/compile_job.h"
#include "codegen/codegen.h"
#include "schedules/spec_text.h"

#define PTX_PREFIX "compute_"

kiln_status kn_bake_target_parse(kn_bake_target *out, const char *text)
{
    const size_t prefix = sizeof PTX_PREFIX - 1;
    char name[32];
    out->format = KN_CODE_BINARY;
    if (strncmp(text, PTX_PREFIX, prefix) != 0)
        return kn_target_parse(&out->target, text);
    out->format = KN_CODE_PTX;
    snprintf(name, sizeof name, "sm_%s", text + prefix);
    return kn_target_parse(&out->target, name);
}

void kn_bake_target_format(const kn_bake_target *target, char *out, size_t size)
{
    const char *name = target->target.architecture;
    if (target->format == KN_CODE_PTX)
        snprintf(out, size, PTX_PREFIX "%s", name + strlen("sm_"));
    else
        snprintf(out, size, "%s", name);
}

/* ---- the compile job ---- */

typedef struct wanted {
    const kn_bake_target *target;
    const char *const *folders;
    int n_folders;
    kn_parsed_spec parsed;
    kn_compile_job job;
} wanted;

/* Reads the key of a wanted kernel. It names no generator: the rest tells if a module needs one. */
static kiln_status parse(wanted *w, const char *portable)
{
    kn_str line = KN_STR_INIT;
    kiln_status status = kn_spec_make_line(&line, portable, &w->target->target, kn_codegen_generator());
    if (status == KILN_OK)
        status = kn_spec_parse(&w->parsed, kn_str_text(&line));
    if (status == KILN_OK && w->parsed.kind == KN_SPEC_MODULE && !kn_module_wants_types(&w->parsed.module))
        w->parsed.module.generator = NULL;
    kn_str_free(&line);
    return status;
}

static kiln_status make_job(wanted *w)
{
    if (w->parsed.kind == KN_SPEC_MODULE)
        return kn_compile_job_of_module(&w->job, &w->parsed.module, w->folders, w->n_folders);
    return kn_compile_job_of_program(&w->job, &w->parsed.spec);
}

/* The text that is written has to be the text that was read: else no call would find it. */
static kiln_status check_text(const wanted *w, const char *portable)
{
    kn_str again = KN_STR_INIT;
    kiln_status status = kn_spec_make_portable(&again, kn_str_text(&w->job.what));
    if (status == KILN_OK && strcmp(kn_str_text(&again), portable) != 0)
        status = kn_error(KILN_ERROR_FORMAT,
                          "%s: the specialisation is not written as this library writes it: record it anew",
                          w->job.name);
    kn_str_free(&again);
    return status;
}

/* ---- the row ---- */

/* NVRTC makes PTX for an architecture that it does not know, which nobody asked for. */
static kiln_status check_format(const kn_code *code, const wanted *w)
{
    const kn_target *target = &w->target->target;
    if (kn_code_format_of(&code->code) == w->target->format)
        return KILN_OK;
    return kn_error(KILN_ERROR_UNSUPPORTED, "%s: the compiler (%s) does not know %s", w->job.name,
                    kn_compile_location(target->backend), target->architecture);
}

static kiln_status fill_label(kn_bundle_row *out, const wanted *w)
{
    kn_bundle_label label = {.target = w->target->target, .format = w->target->format};
    kn_str text = KN_STR_INIT;
    bool is_module = w->parsed.kind == KN_SPEC_MODULE;
    const char *generator = is_module ? w->parsed.module.generator : w->parsed.spec.generator;
    kn_bundle_label_set_kind(&label, kn_str_text(&w->job.what));
    snprintf(label.generator, sizeof label.generator, "%s", generator ? generator : "");
    snprintf(label.compiler, sizeof label.compiler, "%s", kn_compile_identity(w->target->target.backend));
    kn_bundle_label_write(&text, &label);
    kiln_status status = kn_str_status(&text, "a bundle's label");
    out->label = (kn_blob){text.data, text.length};
    return status;
}

static kiln_status fill_row(kn_bundle_row *out, wanted *w, const char *portable)
{
    kn_code code = {0};
    unsigned flags = w->target->format == KN_CODE_PTX ? KN_COMPILE_TO_PTX : 0;
    kiln_status status = make_job(w);
    if (status == KILN_OK)
        status = check_text(w, portable);
    if (status == KILN_OK)
        status = kn_build_compile(&code, &w->job, flags);
    if (status == KILN_OK)
        status = check_format(&code, w);
    out->code = code.code;
    out->aux = code.dependencies;
    if (status == KILN_OK)
        status = fill_label(out, w);
    if (status == KILN_OK && !kn_blob_copy(&out->what, portable, strlen(portable)))
        status = kn_error_memory("a bundle's key");
    return status;
}

kiln_status kn_bake(kn_bundle_row *out, const char *portable, const kn_bake_target *target,
                    const char *const *folders, int n_folders)
{
    wanted w = {.target = target, .folders = folders, .n_folders = n_folders};
    kiln_status status = parse(&w, portable);
    if (status != KILN_OK)
        return status;
    *out = (kn_bundle_row)KN_BUNDLE_ROW_INIT;
    status = fill_row(out, &w, portable);
    if (status != KILN_OK)
        kn_bundle_row_free(out);
    kn_compile_job_free(&w.job);
    kn_parsed_spec_free(&w.parsed);
    return status;
}

/* ---- code that is there ---- */

kiln_status kn_bake_pack(kn_bundle_row *out, const kn_compile_job *job, const char *generator,
                         const kn_blob *code, const kn_str *dependencies)
{
    kn_bundle_label label = {.target = job->target, .format = kn_code_format_of(code)};
    kn_str text = KN_STR_INIT, key = KN_STR_INIT;
    kn_bundle_label_set_kind(&label, kn_str_text(&job->what));
    snprintf(label.generator, sizeof label.generator, "%s", generator);
    snprintf(label.compiler, sizeof label.compiler, "%s", kn_compile_identity(job->target.backend));
    kn_bundle_label_write(&text, &label);
    kiln_status status = kn_spec_make_portable(&key, kn_str_text(&job->what));
    if (status == KILN_OK)
        status = kn_str_status(&text, "a bundle's label");
    *out = (kn_bundle_row){.label = {text.data, text.length}, .what = {key.data, key.length}};
    if (status == KILN_OK && !(kn_blob_copy(&out->code, code->data, code->size) &&
                               kn_blob_copy(&out->aux, kn_str_text(dependencies), dependencies->length)))
        status = kn_error_memory(job->name);
    if (status != KILN_OK)
        kn_bundle_row_free(out);
    return status;
}
