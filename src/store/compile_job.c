/* Compile jobs of any specialisation: the check of the generator, and their end. */
#include "store/compile_job.h"

#include <string.h>

#include "base/error.h"
#include "codegen/codegen.h"

kiln_status kn_compile_job_check_generator(const char *name, const char *generator)
{
    if (!kn_codegen_knows_generator(generator))
        return kn_error(KILN_ERROR_MEMORY,
                        "%s: out of memory, or of descriptors, when the templates of KILN_TEMPLATE_DIR were "
                        "read",
                        name);
    if (strcmp(generator, kn_codegen_generator()) == 0)
        return KILN_OK;
    return kn_error(KILN_ERROR_UNSUPPORTED,
                    "%s was specialised for the code generator %s, and this library has %s: such code can be "
                    "found, but not made",
                    name, generator, kn_codegen_generator());
}

void kn_compile_job_free(kn_compile_job *job)
{
    kn_str_free(&job->what);
    if (job->own)
        job->free_own(job->own);
    job->own = NULL;
}
