/* Functions that stores and searches share: code, refusals, counts, flights. */
#include "store/code_search.h"
#include "base/alloc.h"
#include "base/elf.h"
#include "base/error.h"
#include "base/setting.h"

#include <stdarg.h>
#include <string.h>

kiln_origin kn_store_origin(unsigned roles)
{
    if (roles & KN_STORE_OWNS)
        return KILN_ORIGIN_MEMORY;
    return roles & KN_STORE_MAKES ? KILN_ORIGIN_COMPILER : KILN_ORIGIN_DISK;
}

const kn_compile_job *kn_search_job(const kn_code_search *search)
{
    return search->job;
}

bool kn_search_may_keep(const kn_code_search *search)
{
    return search->is_proven;
}

kn_code *kn_code_new(const kn_code_search *search)
{
    kn_code *code = kn_calloc(1, sizeof *code);
    if (!code)
        kn_error_memory(search->job->name);
    else
        code->waits_for_kernels = search->job->target.waits_for_kernels;
    return code;
}

void kn_code_free(void *value)
{
    kn_code *code = value;
    if (!code)
        return;
    kn_blob_free(&code->code);
    kn_blob_free(&code->dependencies);
    kn_free(code);
}

bool kn_code_is_current(const kn_code *code, const kn_compile_job *job)
{
    return kn_compile_dependencies_hold(code->dependencies.data, code->dependencies.size, job->options,
                                        job->n_options);
}

/* PTX, which the driver reads up to a NUL. */
static bool is_text(const kn_blob *code)
{
    return code->size > 0 && strnlen(code->data, code->size) >= code->size - 1;
}

kiln_status kn_code_check_whole(const kn_code *code, const kn_compile_job *job)
{
    const kn_blob *c = &code->code;
    bool is_cuda = job->target.backend == KN_CUDA;
    if (is_cuda && is_text(c))
        return KILN_OK;
    return kn_elf_check(c->data, c->size, is_cuda ? KN_ELF_CUBIN : KN_ELF_SHARED_OBJECT, job->name);
}

void kn_store_add_place(kn_str *out, const char *path)
{
    kn_str_printf(out, "%s%s", out->length > 0 ? ", " : "", path);
}

static void add_refusal(kn_str *out, const char *format, va_list args)
{
    kn_str_append(out, "; ");
    kn_str_vprintf(out, format, args);
}

void kn_store_add_refusal(kn_str *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_refusal(out, format, args);
    va_end(args);
}

void kn_search_add_refusal(kn_code_search *search, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_refusal(&search->refusals, format, args);
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

static bool may_compile(const kn_code_search *search)
{
    return !(search->request->flags & (KN_BUILD_NO_COMPILE | KN_BUILD_FIND)) && !kn_build_is_forbidden();
}

/* A refusal that was meant for the thread that made the value, not for this one. */
static bool is_others_limit(const kn_code_search *search, kiln_status status)
{
    return (status == KILN_ERROR_FORBIDDEN && may_compile(search)) ||
           (status == KILN_ERROR_CAPTURE && !(search->request->flags & KN_BUILD_CAPTURING));
}

kiln_status kn_search_begin_flight(kn_code_search *search, kn_flight_table *table, const void *key,
                                   size_t key_size, void **value, kn_flight **flight, kn_code_of *code_of)
{
    kiln_status status;
    bool is_stale;
    do {
        status =
            kn_flight_begin(table, key, key_size, !(search->request->flags & KN_BUILD_FIND), value, flight);
        is_stale = *value && code_of && !kn_code_is_current(code_of(*value), search->job);
        if (is_stale)
            kn_flight_forget(table, key, key_size, *value);
    } while (is_stale || (status != KILN_OK && is_others_limit(search, status)));
    return status;
}
