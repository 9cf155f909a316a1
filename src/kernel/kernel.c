#include "kernel/kernel.h"

#include "base/alloc.h"
#include "base/error.h"

/* A kernel that may include headers keeps the code that it has called. */
static bool may_include(const kn_program *p)
{
    return p->n_options > 0 || p->n_headers > 0 || kn_compile_text_reaches(p->preamble) ||
           kn_compile_text_reaches(p->body) || kn_compile_text_reaches(p->loop_prep) ||
           kn_compile_text_reaches(p->after_loop);
}

kiln_status kiln_elementwise_create(kiln_kernel **out, const char *in_params, const char *out_params,
                                    const char *body, const char *name, const kiln_kernel_options *options)
{
    if (!out)
        return kn_error(KILN_ERROR_INVALID, "out is NULL; the address of a kiln_kernel * was expected");
    kiln_kernel *kernel = kn_calloc(1, sizeof *kernel);
    if (!kernel)
        return kn_error_memory(sizeof *kernel, "a kernel");
    atomic_init(&kernel->references, 1);
    kernel->memo = kn_call_memo_create();
    kiln_status status = kernel->memo ? KILN_OK : kn_error_memory(64, "a kernel");
    if (status == KILN_OK)
        status = kn_program_elementwise(&kernel->program, in_params, out_params, body, name, options);
    if (status == KILN_OK && may_include(kernel->program) && !(kernel->kept = kn_once_table_create()))
        status = kn_error_memory(64, "a kernel");
    if (status != KILN_OK) {
        kiln_kernel_free(kernel);
        return status;
    }
    *out = kernel;
    return KILN_OK;
}

void kiln_kernel_free(kiln_kernel *kernel)
{
    if (!kernel || atomic_fetch_sub_explicit(&kernel->references, 1, memory_order_acq_rel) != 1)
        return;
    kn_call_memo_free(kernel->memo);
    kn_once_table_free(kernel->kept, NULL);
    kn_program_free(kernel->program);
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
