/* The compile job of a program's specialisation. */
#include "store/compile_job.h"

#include "codegen/codegen.h"
#include "schedule/contraction.h"
#include "schedules/choose.h"
#include "schedules/spec_text.h"

static void put_names(kn_str *out, const void *program)
{
    kn_codegen_names(out, program);
}

static kiln_status write(kn_str *source, kn_compile_request *compile, const kn_compile_job *job)
{
    const kn_spec *spec = job->spec;
    const kn_program *p = spec->program;
    kiln_status status = kn_compile_job_check_generator(job->name, spec->generator);
    compile->flags |=
        (p->flags & KILN_KERNEL_FAST_MATH ? KN_COMPILE_FAST_MATH : 0u) |
        (kn_contraction_is_off(spec) ? KN_COMPILE_NO_FMA : 0u) |
        (kn_schedule_is_baseline(&spec->schedule, spec->target.backend) ? KN_COMPILE_BASELINE : 0u) |
        (kn_codegen_truncates_nothing(spec) ? KN_COMPILE_NO_TRAPS : 0u);
    compile->options = job->options;
    compile->n_options = job->n_options;
    compile->header_names = (const char *const *)p->header_name;
    compile->header_texts = (const char *const *)p->header_text;
    compile->n_headers = p->n_headers;
    compile->is_generated = true;
    compile->user_texts = p->text;
    compile->n_user_texts = kn_program_texts(p);
    compile->put_names = put_names;
    compile->about = p;
    const kn_failed_try failed = {compile->failed_source, compile->complaints, compile->header_words};
    return status == KILN_OK ? kn_codegen_source(source, spec, failed.source ? &failed : NULL) : status;
}

kiln_status kn_compile_job_of_program(kn_compile_job *out, const kn_spec *spec)
{
    *out = (kn_compile_job){.name = spec->program->name,
                            .target = spec->target,
                            .options = (const char *const *)spec->program->option,
                            .n_options = spec->program->n_options,
                            .write = write,
                            .spec = spec};
    kn_codegen_entry(out->entry, sizeof out->entry, spec->program);
    kn_spec_format(&out->what, spec);
    return kn_str_status(&out->what, "a specialisation");
}
