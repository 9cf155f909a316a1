/* compile.c - the one interface over the compilers: a table, indexed by back end. */
#include "compile/compiler.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/os.h"
#include "compile/compiler_sources.h"

#include <stdio.h>
#include <string.h>

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
        return kn_error_memory(0, "what a compiler said");
    return kn_str_status(&result->log, "a compiler's log");
}

kiln_status kn_compile(kn_compile_result *out, const kn_compile_request *request)
{
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    kiln_status status = check_request(request);
    if (status == KILN_OK)
        status = compiler_of(request->target.backend)->compile(&result, request);
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

/* ---- identities ---- */

static const char *const file_variables[] = {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH",
                                             "SDKROOT"},
                         *const code_variables[] = {
                             "GCC_EXEC_PREFIX", "COMPILER_PATH",        "LD_RUN_PATH", "LDEMULATION",
                             "GNUTARGET",       "CCC_OVERRIDE_OPTIONS", "GCC_ROOT",    "COMPILER_OPTIONS"};

void kn_compile_environment_hash(char hex[33], kn_environment_part part)
{
    bool is_of_files = part == KN_ENVIRONMENT_OF_FILES;
    const char *const *names = is_of_files ? file_variables : code_variables;
    size_t n = is_of_files ? sizeof file_variables / sizeof *names : sizeof code_variables / sizeof *names;
    kn_hash parts[16] = {{{0}}};
    for (size_t i = 0; i < n; i++) {
        const char *value = kn_os_env(names[i]);
        if (value)
            parts[i] = kn_hash_128(value, strlen(value));
    }
    kn_hash all = kn_hash_128(parts, sizeof parts);
    kn_hash_hex(&all, hex);
}

void kn_compile_make_identity(kn_compiler_place *place, const char *name, const char *build,
                              const kn_str *text)
{
    kn_hash parts[3] = {kn_hash_128(kn_str_text(text), text->length),
                        kn_hash_128(KN_COMPILER_SOURCES, strlen(KN_COMPILER_SOURCES)),
                        kn_hash_128(name, strlen(name))};
    kn_hash all = kn_hash_128(parts, sizeof parts);
    char hex[33];
    kn_hash_hex(&all, hex);
    /* A name is for people: what is cut of it is in the hash. */
    snprintf(place->identity, sizeof place->identity, "%.40s %.140s %s", name, build, hex);
}

const char *kn_compile_identity(kn_backend_kind backend)
{
    const kn_compiler *compiler = compiler_of(backend);
    return compiler ? compiler->place()->identity : "";
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
