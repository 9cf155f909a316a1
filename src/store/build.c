#include "store/build.h"
#include "base/error.h"
#include "store/search.h"

kiln_status kn_build_code(kn_blob *out, const kn_build_request *request, kn_build_info *info)
{
    kn_build_info unused = {0};
    kn_build_job job;
    kn_code *code = NULL;
    kiln_status status = kn_build_begin(&job, request, NULL, info ? info : &unused);
    if (status == KILN_OK)
        status = kn_build_find_code(&job, &code);
    kn_build_log(&job);
    if (status == KILN_OK)
        status = kn_build_end(&job, code);
    if (status == KILN_OK && !kn_blob_copy(out, code->code.data, code->code.size))
        status = kn_error_memory(code->code.size, request->subject->name);
    return status;
}

kiln_status kn_build_source(kn_str *out, const kn_subject *subject)
{
    kn_compile_request compile = {.target = subject->target, .name = subject->name};
    return subject->write(out, &compile, subject);
}
