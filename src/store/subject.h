/* store/subject.h - what code is made of: a specialisation, seen through the little that build asks of it.
 * Each form of specialisation has a file of its own, build/subject_NAME.c.
 *
 * The source is written when a compiler is reached, and not before. Neither kernel, arrays nor a device are
 * needed: a specialisation that was read from its text is as good as one that a call led to. */
#ifndef KN_STORE_SUBJECT_H
#define KN_STORE_SUBJECT_H

#include "base/str.h"
#include "compile/compile.h"
#include "schedule/spec.h"

typedef struct kn_subject kn_subject;
struct kn_subject {
    const char *name; /* for messages and the compiler: "squared_diff" */
    kn_target target;
    kn_str what;                 /* the serialised form, which is the key material */
    char entry[KN_NAME_MAX + 8]; /* the function in the code; "": they are asked for by name, later */
    /* the user's compiler options: where headers are looked for, those that the notes of code name too */
    const char *const *options;
    int n_options;
    /* Appends the source, and says of the request what is the specialisation's own: options, headers, flags
     * (target and name are set). They live as long as the subject. */
    kiln_status (*write)(kn_str *source, kn_compile_request *compile, const kn_subject *subject);
    const void *spec; /* what write writes; the caller's, as are the texts in it */
    void *own;        /* memory of this subject's, and how it is freed */
    void (*free_own)(void *own);
};

/* The specialisation of a program. On failure, too, the subject is to be freed. */
kiln_status kn_subject_of_program(kn_subject *out, const kn_spec *spec);

/* That of a raw module, and the folders in which its headers are looked for. */
kiln_status kn_subject_of_module(kn_subject *out, const kn_module_spec *spec, const char *const *folders,
                                 int n_folders);
/* Whether anything of a module may include <kiln/types.h>, so that its code depends on the generator too. */
bool kn_module_wants_types(const kn_module_spec *spec);

void kn_subject_free(kn_subject *subject);

/* KILN_ERROR_UNSUPPORTED where it was written down by a library whose generator writes other source: code of
 * ours must not be found under its name. */
kiln_status kn_subject_check_generator(const char *name, const char *generator);

#endif
