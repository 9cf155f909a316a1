/* compile/compile.c - the one interface over the compilers: a table, indexed by back end. */
#include "compile/compile.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/nvtx.h"
#include "compile/compiler.h"

static const kn_compiler *const compilers[] = {
    [KN_HOST] = &kn_compiler_host,
    [KN_CUDA] = &kn_compiler_nvrtc,
};

static const kn_compiler *compiler_of(kn_backend_kind backend)
{
    size_t n = sizeof compilers / sizeof *compilers;
    return (size_t)backend < n ? compilers[backend] : NULL;
}

static kiln_status check_request(const kn_compile_request *request)
{
    if (!compiler_of(request->target.backend))
        return kn_error(KILN_ERROR_INTERNAL, "compile: back end %d has no compiler",
                        (int)request->target.backend);
    if (!request->source || !request->name)
        return kn_error(KILN_ERROR_INTERNAL, "compile: source and name must be given");
    return KILN_OK;
}

static kiln_status check_result(const kn_compile_result *result)
{
    const kn_compile_reads *reads = &result->reads;
    if (reads->files.failed || reads->folders.failed || reads->system_folders.failed ||
        result->warnings.failed)
        return kn_error_memory("what a compiler said");
    return kn_str_status(&result->log, "a compiler's log");
}

kiln_status kn_compile(kn_compile_result *out, const kn_compile_request *request)
{
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    kiln_status status = check_request(request);
    const bool is_ranged = status == KILN_OK && kn_range_begin("compile", request->name);
    if (status == KILN_OK)
        status = compiler_of(request->target.backend)->compile(&result, request);
    kn_range_end(is_ranged);
    if (status == KILN_OK)
        kn_compile_take_warnings(&result.warnings, request, &result.log);
    if (status == KILN_OK)
        status = check_result(&result);
    if (status != KILN_OK) {
        kn_compile_result_free(&result);
        return status;
    }
    *out = result;
    return KILN_OK;
}

kiln_status kn_compile_list_headers(kn_str *out, const kn_compile_request *request)
{
    kn_error_state before;
    kn_error_save(&before);
    compiler_of(request->target.backend)->list_headers(out, request);
    kn_error_restore(&before);
    return kn_str_status(out, "the names of headers");
}

void kn_compile_result_free(kn_compile_result *result)
{
    if (!result)
        return;
    kn_blob_free(&result->code);
    kn_str_free(&result->log);
    kn_str_free(&result->warnings);
    kn_str_free(&result->reads.files);
    kn_str_free(&result->reads.folders);
    kn_str_free(&result->reads.system_folders);
    for (int i = 0; i < result->n_lowered_names; i++)
        kn_free(result->lowered_names[i]);
    kn_free(result->lowered_names);
    *result = (kn_compile_result)KN_COMPILE_RESULT_INIT;
}

/* ---- the compilers ---- */

const char *kn_compile_identity(kn_backend_kind backend)
{
    const kn_compiler *compiler = compiler_of(backend);
    return compiler ? compiler->place()->identity : "";
}

kiln_status kn_compile_look(kn_backend_kind backend)
{
    const kn_compiler *compiler = compiler_of(backend);
    const kn_compiler_place *place = compiler ? compiler->place() : NULL;
    return place && place->is_unknown ? kn_compiler_missing(place) : KILN_OK;
}

const char *kn_compile_location(kn_backend_kind backend)
{
    const kn_compiler *compiler = compiler_of(backend);
    return compiler ? compiler->place()->location : "there is no compiler for this back end";
}

kiln_status kn_compile_version(kn_backend_kind backend, kn_str *out)
{
    const kn_compiler *compiler = compiler_of(backend);
    if (!compiler)
        return kn_error(KILN_ERROR_INTERNAL, "compile: back end %d has no compiler", (int)backend);
    return compiler->version(out);
}
