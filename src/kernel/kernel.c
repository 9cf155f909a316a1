/* Kernels: made from a program, retained and freed. */
#include "kernel/kernel.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/setting.h"
#include "program/program.h"

#include <string.h>
#include <strings.h>

/* A kernel that may include headers keeps the code that it has called. */
static bool may_include(const kn_program *p)
{
    bool reaches = p->n_options > 0 || p->n_headers > 0;
    for (int t = 0; t < kn_program_texts(p); ++t)
        reaches = reaches || kn_compile_text_reaches(p->text[t]);
    return reaches;
}

/* Without raw operands, and texts that look at indices of their own, there is nothing to check. */
static kiln_status settle_check(kn_program *p)
{
    const char *wish;
    bool looks = false;
    kiln_status status = kn_setting_read(&wish, "KILN_CHECK");
    if (status != KILN_OK)
        return status;
    if (wish && *wish == '1')
        p->flags |= KILN_KERNEL_CHECK;
    for (int k = 0; k < p->n_in + p->n_out; ++k)
        looks = looks || p->param[k].is_raw;
    for (int t = 0; t < kn_program_texts(p); ++t)
        looks = looks || (p->text[t] && strstr(p->text[t], "kn_checked_index"));
    if (!looks)
        p->flags &= ~(unsigned)KILN_KERNEL_CHECK;
    return KILN_OK;
}

kiln_status kn_kernel_settle_rounding(unsigned *flags)
{
    const char *wish;
    kiln_status status = kn_setting_read(&wish, "KILN_ROUND");
    if (wish && status == KILN_OK && strcasecmp(wish, "each") == 0)
        *flags |= KILN_KERNEL_ROUND_EACH;
    return status;
}

/* An operation is rounded as a whole, whatever is wished. */
static kiln_status settle_flags(kn_program *program)
{
    kiln_status status = program->casts ? KILN_OK : kn_kernel_settle_rounding(&program->flags);
    return status == KILN_OK ? settle_check(program) : status;
}

kiln_status kn_kernel_create(kiln_kernel **out, kn_program *program)
{
    kiln_status status = settle_flags(program);
    if (status != KILN_OK) {
        kn_program_free(program);
        return status;
    }
    kiln_kernel *kernel = kn_calloc(1, sizeof *kernel);
    if (!kernel) {
        kn_program_free(program);
        return kn_error_memory("a kernel");
    }
    atomic_init(&kernel->references, 1);
    kernel->program = program;
    kernel->memo = kn_call_memo_create();
    bool is_made = kernel->memo != NULL;
    if (is_made && may_include(program)) {
        kernel->own_functions = kn_flight_table_create();
        is_made = kernel->own_functions != NULL;
    }
    if (!is_made) {
        kiln_kernel_free(kernel);
        return kn_error_memory("a kernel");
    }
    *out = kernel;
    return KILN_OK;
}

kiln_status kn_kernel_create_text(kiln_kernel **out, const kn_program_text *text)
{
    kn_program *program = NULL;
    kiln_status status = kn_program_create(&program, text);
    if (status != KILN_OK)
        return status;
    program->left_outputs = 0;
    return kn_kernel_create(out, program);
}

kiln_status kiln_elementwise_create(kiln_kernel **out, const char *in_params, const char *out_params,
                                    const char *body, const char *name, const kiln_kernel_options *options)
{
    kn_program *program = NULL;
    if (!out)
        return kn_error(KILN_ERROR_INVALID, "out is NULL; the address of a kiln_kernel * was expected");
    kiln_status status = kn_program_elementwise(&program, in_params, out_params, body, name, options);
    return status == KILN_OK ? kn_kernel_create(out, program) : status;
}

kiln_status kiln_reduction_create(kiln_kernel **out, const char *in_params, const char *out_params,
                                  const char *map, const char *reduce, const char *post, const char *identity,
                                  const char *name, const kiln_kernel_options *options)
{
    kn_program *program = NULL;
    if (!out)
        return kn_error(KILN_ERROR_INVALID, "out is NULL; the address of a kiln_kernel * was expected");
    kiln_status status =
        kn_program_reduction(&program, in_params, out_params, map, reduce, post, identity, name, options);
    return status == KILN_OK ? kn_kernel_create(out, program) : status;
}

kiln_status kiln_scan_create(kiln_kernel **out, const char *in_params, const char *out_params,
                             const char *map, const char *scan, const char *post, const char *identity,
                             const char *name, const kiln_kernel_options *options)
{
    kn_program *program = NULL;
    if (!out)
        return kn_error(KILN_ERROR_INVALID, "out is NULL; the address of a kiln_kernel * was expected");
    kiln_status status =
        kn_program_scan(&program, in_params, out_params, map, scan, post, identity, name, options);
    return status == KILN_OK ? kn_kernel_create(out, program) : status;
}

kiln_kernel *kiln_kernel_retain(kiln_kernel *kernel)
{
    if (kernel)
        atomic_fetch_add_explicit(&kernel->references, 1, memory_order_relaxed);
    return kernel;
}

void kiln_kernel_free(kiln_kernel *kernel)
{
    if (!kernel || atomic_fetch_sub_explicit(&kernel->references, 1, memory_order_acq_rel) != 1)
        return;
    kn_call_memo_free(kernel->memo);
    kn_flight_table_free(kernel->own_functions, NULL);
    kn_program_free(kernel->program);
    if (kernel->algorithm && kernel->algorithm->free)
        kernel->algorithm->free(kernel->context);
    kn_free(kernel);
}

const char *kiln_kernel_name(const kiln_kernel *kernel)
{
    return kernel ? kernel->program->name : "";
}

int kiln_kernel_n_in(const kiln_kernel *kernel)
{
    return kernel ? kernel->program->n_in : 0;
}

int kiln_kernel_n_out(const kiln_kernel *kernel)
{
    return kernel ? kernel->program->n_out : 0;
}

const char *kiln_kernel_in_name(const kiln_kernel *kernel, int k)
{
    return k >= 0 && k < kiln_kernel_n_in(kernel) ? kernel->program->param[k].name : "";
}

const char *kiln_kernel_out_name(const kiln_kernel *kernel, int k)
{
    bool is_there = k >= 0 && k < kiln_kernel_n_out(kernel);
    return is_there ? kernel->program->param[kernel->program->n_in + k].name : "";
}
