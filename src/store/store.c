/* What stores share: code, counts, claims. */
#include "store/store.h"
#include "base/alloc.h"
#include "base/elf.h"
#include "base/error.h"
#include "base/setting.h"

#include <stdarg.h>
#include <string.h>

kn_code *kn_code_new(const kn_build_job *job)
{
    kn_code *code = kn_calloc(1, sizeof *code);
    if (!code)
        kn_error_memory(sizeof *code, job->subject->name);
    else
        code->waits_for_kernels = job->subject->target.waits_for_kernels;
    return code;
}

void kn_code_free(void *value)
{
    kn_code *code = value;
    if (!code)
        return;
    kn_blob_free(&code->code);
    kn_blob_free(&code->notes);
    kn_free(code);
}

bool kn_code_is_current(const kn_code *code, const kn_subject *subject)
{
    return kn_compile_dependencies_hold(code->notes.data, code->notes.size, subject->options,
                                        subject->n_options);
}

/* PTX, which the driver reads up to a NUL. */
static bool is_text(const kn_blob *code)
{
    return code->size > 0 && strnlen(code->data, code->size) >= code->size - 1;
}

kiln_status kn_code_check_whole(const kn_code *code, const kn_subject *subject)
{
    const kn_blob *c = &code->code;
    bool is_cuda = subject->target.backend == KN_CUDA;
    if (is_cuda && is_text(c))
        return KILN_OK;
    return kn_elf_check(c->data, c->size, is_cuda ? KN_ELF_CUBIN : KN_ELF_SHARED_OBJECT, subject->name);
}

void kn_store_add_place(kn_str *out, const char *path)
{
    kn_str_printf(out, "%s%s", out->length > 0 ? ", " : "", path);
}

void kn_store_add_refusal(kn_str *out, const char *format, ...)
{
    va_list args;
    kn_str_append(out, "; ");
    va_start(args, format);
    kn_str_vprintf(out, format, args);
    va_end(args);
}

void kn_store_count(kn_store_counts *counts, double ms)
{
    atomic_fetch_add(&counts->hits, 1);
    atomic_fetch_add(&counts->us, (unsigned long long)(ms * 1e3));
}

/* ---- one search a key ---- */

bool kn_build_is_forbidden(void)
{
    return kn_setting_is("KILN_COMPILE", "never");
}

static bool may_compile(const kn_build_job *job)
{
    return !(job->request->flags & (KN_BUILD_NO_COMPILE | KN_BUILD_FIND)) && !kn_build_is_forbidden();
}

/* A refusal that was meant for the thread that made the value, not for this one. */
static bool is_others_limit(const kn_build_job *job, kiln_status status)
{
    return (status == KILN_ERROR_FORBIDDEN && may_compile(job)) ||
           (status == KILN_ERROR_CAPTURE && !(job->request->flags & KN_BUILD_CAPTURING));
}

kiln_status kn_build_claim(kn_build_job *job, kn_once_table *table, const void *key, size_t key_size,
                           void **value, kn_once **claim, kn_code_of *code_of)
{
    kiln_status status;
    bool is_stale;
    do {
        status = kn_once_begin(table, key, key_size, !(job->request->flags & KN_BUILD_FIND), value, claim);
        is_stale = *value && code_of && !kn_code_is_current(code_of(*value), job->subject);
        if (is_stale)
            kn_once_forget(table, key, key_size, *value);
    } while (is_stale || (status != KILN_OK && is_others_limit(job, status)));
    return status;
}
