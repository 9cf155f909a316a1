/* compile/compile.h - source + target -> code. NVRTC and the host's C++ compiler behind one interface.
 * Thread-safe. */
#ifndef KN_COMPILE_COMPILE_H
#define KN_COMPILE_COMPILE_H

#include "base/blob.h"
#include "base/str.h"
#include "base/target.h"

enum {
    KN_COMPILE_FAST_MATH = 1,
    KN_COMPILE_NO_FMA = 2,
    KN_COMPILE_TO_PTX = 4, /* PTX rather than a cubin (CUDA alone) */
    /* a whole module: full flags and the toolkit's include path rather than the lean ones */
    KN_COMPILE_USER_MODULE = 8
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
} kn_compile_request;

/* The files that the compiler says it has read besides the source. Lists are lines. */
typedef struct kn_compile_reads {
    bool is_traced; /* false: the request reaches for no file, there is nothing to know */
    /* the compiler did not say, or a file changed meanwhile: the code is good for now alone */
    bool is_unknown;
    bool uses_environment;          /* CPATH and the like */
    kn_str files;                   /* paths as the compiler writes them */
    kn_str folders, system_folders; /* where it looks besides the folders of the request's options */
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

/* KILN_ERROR_COMPILE with the first "name:line: error: ..." as message and the whole text in
 * kiln_error_log(); KILN_ERROR_NOT_FOUND where there is no compiler, saying where it was looked for. */
kiln_status kn_compile(kn_compile_result *out, const kn_compile_request *request);
void kn_compile_result_free(kn_compile_result *result);

/* ---- notes: what has to be known beside the code, kept in the cache's row with it ---- */

/* Appends the notes of a compile that succeeded: lowered names; the files that the compiler said it read,
 * with the hash of each, and the folders in which it looks, with a hash over which of the names are there in
 * which folder (so that a file which comes to be in front of another is seen). Files below the request's -I
 * folders are named relative to these. Nothing for requests that reach for no file: there is nothing to store
 * and nothing to check. */
kiln_status kn_compile_notes(kn_str *out, const kn_compile_request *request, const kn_compile_result *result);
/* Whether a compile with these options would read what the notes say; true for empty notes. Runs no compiler.
 * False: treat the row as a miss and put the new one in its place. Where none of the folders is there in
 * which the files lay, the row was made elsewhere and is taken at its word. */
bool kn_compile_notes_hold(const char *notes, size_t size, const char *const *options, int n_options);
/* Whether a user's text can make a compiler read files; yes too often rather than too seldom. */
bool kn_compile_text_reaches(const char *text);
/* The lowered name of the nth name expression, with its length; NULL where the notes have no such. */
const char *kn_compile_notes_lowered(const char *notes, size_t size, int n, size_t *length);

/* The identity of the compiler that kn_compile would use for this back end ("nvrtc 65be0d... 91c0...", "g++
 * 1f3a... 52b7..."): its build, and a hash of all else that its code depends on (the words of KILN_CXX, what
 * kiln adds to them, the environment that steers it). Found without loading or running it; remembered. ""
 * where there is none. Static lifetime. */
const char *kn_compile_identity(kn_backend_kind backend);

/* Where the compiler is, for people: "/usr/local/cuda/lib64/libnvrtc.so.13", or why there is none. Static
 * lifetime. */
const char *kn_compile_location(kn_backend_kind backend);
/* "13.0" of NVRTC (loads it), or the host compiler's first line of --version (runs it). */
kiln_status kn_compile_version(kn_backend_kind backend, kn_str *out);

#endif
