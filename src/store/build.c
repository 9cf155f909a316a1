/* Code and source of a compile job, loaded nowhere. */
#include "store/build.h"
#include "base/error.h"
#include "store/search.h"

kiln_status kn_build_code(kn_blob *out, const kn_build_request *request, kn_build_info *info)
{
    kn_build_info unused = {0};
    kn_code_search search;
    kn_code *code = NULL;
    kiln_status status = kn_search_begin(&search, request, NULL, info ? info : &unused);
    if (status == KILN_OK)
        status = kn_search_find(&search, &code);
    kn_search_log(&search);
    if (status == KILN_OK)
        status = kn_search_end(&search, code);
    if (status == KILN_OK && !kn_blob_copy(out, code->code.data, code->code.size))
        status = kn_error_memory(request->job->name);
    return status;
}

kiln_status kn_build_source(kn_str *out, const kn_compile_job *job)
{
    kn_compile_request compile = {.target = job->target, .name = job->name};
    return job->write(out, &compile, job);
}
