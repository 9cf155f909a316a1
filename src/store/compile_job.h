/* store/compile_job.h - a compile job: a specialisation with its text, target and how its source is written.
 * Each sort of specialisation has a file of its own, store/compile_job_NAME.c.
 *
 * The source is written when a compiler is reached, and not before. Neither kernel, arrays nor a device are
 * needed: a specialisation that was read from its text is as good as one that a call led to. */
#ifndef KN_STORE_COMPILE_JOB_H
#define KN_STORE_COMPILE_JOB_H

#include "base/str.h"
#include "compile/compile.h"
#include "schedule/spec.h"

typedef struct kn_compile_job kn_compile_job;
struct kn_compile_job {
    const char *name; /* for messages and the compiler: "squared_diff" */
    kn_target target;
    kn_str what;                 /* the specialisation's text, which is the key material */
    char entry[KN_NAME_MAX + 8]; /* the function in the code; "": they are asked for by name, later */
    /* the user's compiler options: the folders of headers, those of the code's dependencies included */
    const char *const *options;
    int n_options;
    /* Appends the source, and sets in the request the specialisation's own options, headers and flags (target
     * and name are set). They live as long as the job. */
    kiln_status (*write)(kn_str *source, kn_compile_request *compile, const kn_compile_job *job);
    const void *spec; /* the argument of write; the caller's, as are its texts */
    void *own;        /* memory of this job's, and how it is freed */
    void (*free_own)(void *own);
};

/* The specialisation of a program. On failure, too, the job is to be freed. */
kiln_status kn_compile_job_of_program(kn_compile_job *out, const kn_spec *spec);

/* The compile job of a raw module, and the folders in which its headers are searched. */
kiln_status kn_compile_job_of_module(kn_compile_job *out, const kn_module_spec *spec,
                                     const char *const *folders, int n_folders);
/* True if anything of a module may include <kiln/types.h>, so that its code depends on the generator too. */
bool kn_module_wants_types(const kn_module_spec *spec);

void kn_compile_job_free(kn_compile_job *job);

/* KILN_ERROR_UNSUPPORTED where it was written down by a library whose generator writes other source: code of
 * ours must not be found under its name. */
kiln_status kn_compile_job_check_generator(const char *name, const char *generator);

#endif
