/* A call's code, as bytes for other processes. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/error.h"
#include "store/bake.h"
#include "store/build.h"
#include "kernel/inspected.h"

static kiln_status pack(kn_bundle_row *out, const kn_spec *spec, const kn_compile_job *job)
{
    kn_str dependencies = KN_STR_INIT;
    kn_blob code = KN_BLOB_INIT;
    kn_build_info info = {0};
    const kn_build_request request = {.job = job, .dependencies = &dependencies};
    kiln_status status = kn_build_code(&code, &request, &info);
    if (status == KILN_OK && info.waits_for_kernels != spec->target.waits_for_kernels)
        status =
            kn_error(KILN_ERROR_UNSUPPORTED,
                     "%s was found as PTX of an earlier device: hand on the bundle that has it", job->name);
    if (status == KILN_OK)
        status = kn_bake_pack(out, job, spec->generator, &code, &dependencies);
    kn_blob_free(&code);
    kn_str_free(&dependencies);
    return status;
}

static kiln_status add(kn_bundle_writer *writer, const kn_resolved *r)
{
    kn_compile_job job;
    kn_bundle_row row = KN_BUNDLE_ROW_INIT;
    if (kn_space_output_size(&r->space) == 0)
        return KILN_OK;
    kiln_status status = kn_compile_job_of_program(&job, &r->spec);
    if (status == KILN_OK)
        status = pack(&row, &r->spec, &job);
    if (status == KILN_OK)
        status = kn_bundle_writer_add(writer, &row);
    kn_bundle_row_free(&row);
    kn_compile_job_free(&job);
    return status;
}

kiln_status kiln_kernel_export(void **bytes, size_t *size, kiln_kernel *kernel, kiln_array *const *outs,
                               int n_out, const kiln_arg *in, int n_in, const kiln_call_options *call,
                               const char *target)
{
    KN_UNCANCELLED;
    kn_inspected inspected = KN_INSPECTED_INIT;
    if (!bytes || !size)
        return kn_error(KILN_ERROR_INVALID, "kiln_kernel_export: %s is NULL", bytes ? "size" : "bytes");
    kn_bundle_writer *writer = kn_bundle_writer_create();
    kiln_status status = writer ? kn_inspect(&inspected, kernel, outs, n_out, in, n_in, call, target, false)
                                : kn_error_memory("a bundle");
    for (const kn_inspected *one = &inspected; one; one = one->next)
        for (int p = 0; p < one->count && status == KILN_OK; p++)
            status = add(writer, one->resolved[p]);
    if (status == KILN_OK)
        status = kn_bundle_writer_hand_out(bytes, size, writer);
    kn_bundle_writer_free(writer);
    kn_inspected_free(&inspected);
    return status;
}
