/* compile.c - the one interface over the compilers: a table, indexed by back end. */
#include "compile/compiler.h"

#include "base/alloc.h"
#include "base/error.h"

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

kiln_status kn_compile(kn_compile_result *out, const kn_compile_request *request)
{
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    kiln_status status = check_request(request);
    if (status == KILN_OK)
        status = compiler_of(request->target.backend)->compile(&result, request);
    if (status == KILN_OK)
        status = kn_str_status(&result.log, "a compiler's log");
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
    for (int i = 0; i < result->n_lowered_names; i++)
        kn_free(result->lowered_names[i]);
    kn_free(result->lowered_names);
    *result = (kn_compile_result)KN_COMPILE_RESULT_INIT;
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

/* Spaces may stand between the sign and the word; a comment that mentions one costs some speed and nothing
 * else. */
static bool mentions_include(const char *text)
{
    for (const char *p = strchr(text, '#'); p; p = strchr(p + 1, '#')) {
        const char *word = p + 1 + strspn(p + 1, " \t");
        if (strncmp(word, "include", 7) == 0)
            return true;
    }
    return false;
}

static bool is_include_option(const char *option)
{
    return strncmp(option, "-I", 2) == 0 || strncmp(option, "-include", 8) == 0 ||
           strncmp(option, "--pre-include", 13) == 0 || strncmp(option, "--include-path", 14) == 0;
}

bool kn_compile_has_includes(const kn_compile_request *request)
{
    for (int i = 0; i < request->n_options; i++)
        if (is_include_option(request->options[i]))
            return true;
    return mentions_include(request->source);
}
