/* compile/compile_request.h - the request to a compiler, and its result. */
#ifndef KN_COMPILE_COMPILE_REQUEST_H
#define KN_COMPILE_COMPILE_REQUEST_H

#include "base/blob.h"
#include "base/str.h"
#include "base/target.h"

enum {
    KN_COMPILE_FAST_MATH = 1,
    KN_COMPILE_NO_FMA = 2,
    KN_COMPILE_TO_PTX = 4, /* PTX rather than a cubin (CUDA alone) */
    /* a whole module: full flags and the toolkit's include path rather than the lean ones */
    KN_COMPILE_USER_MODULE = 8,
    KN_COMPILE_BASELINE = 16,  /* the code that compiles soonest, with the same bits (host) */
    KN_COMPILE_NO_TRAPS = 32,  /* no floating-point exceptions are looked at (host) */
    KN_COMPILE_LIBRARIES = 64, /* it calls functions of libraries, for all that its source says (host) */
    KN_COMPILE_OBJECT = 128    /* a relocatable object, which is not linked (host) */
};

typedef struct kn_compile_request {
    kn_target target;
    const char *source;
    const char *name;           /* of the source, in messages: "squared_diff" */
    unsigned flags;             /* KN_COMPILE_* */
    const char *const *options; /* the user's */
    int n_options;
    const char *const *header_names; /* in memory */
    const char *const *header_texts;
    int n_headers;
    const char *const *name_expressions; /* C++ instantiations whose lowered names are wanted (CUDA) */
    int n_name_expressions;
    bool is_generated; /* then some of the source is the user's: */
    const char *const *user_texts;
    int n_user_texts;
    /* Appends the names that these texts may use, with blanks between, when one of them is unknown. NULL: no
     * such list. */
    void (*put_names)(kn_str *out, const void *about);
    const void *about;
    /* If an earlier try failed, for the writer of the source: the source of that try, the names in headers
     * that it read, and the compiler's complaints. NULL: no earlier try. */
    const char *failed_source, *header_words, *complaints;
} kn_compile_request;

/* The files that the compiler says it has read besides the source. Lists are lines. */
typedef struct kn_compile_reads {
    bool is_traced; /* false: the request reaches for no file, there is nothing to know */
    /* the compiler did not say, or a file changed meanwhile: the code is good for now alone */
    bool is_unknown;
    bool uses_environment;          /* CPATH and the like */
    kn_str files;                   /* paths as the compiler writes them */
    kn_str folders, system_folders; /* search folders besides those of the request's options */
} kn_compile_reads;

typedef struct kn_compile_result {
    kn_blob code;    /* a cubin, PTX, or a shared object */
    kn_str log;      /* the compiler's text, also on success */
    kn_str warnings; /* on success: lines "name:line: warning: text" about the user's own lines */
    kn_compile_reads reads;
    char **lowered_names; /* n_name_expressions strings */
    int n_lowered_names;
} kn_compile_result;
#define KN_COMPILE_READS_INIT                                                                                \
    {                                                                                                        \
        false, false, false, KN_STR_INIT, KN_STR_INIT, KN_STR_INIT                                           \
    }
#define KN_COMPILE_RESULT_INIT                                                                               \
    {                                                                                                        \
        KN_BLOB_INIT, KN_STR_INIT, KN_STR_INIT, KN_COMPILE_READS_INIT, NULL, 0                               \
    }

#endif
