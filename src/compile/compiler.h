/* compile/compiler.h - the interface of each compiler, and functions that they share. Internal to this
 * folder. */
#ifndef KN_COMPILE_COMPILER_H
#define KN_COMPILE_COMPILER_H

#include "compile/compile_request.h"

enum { KN_COMPILER_PATH_SIZE = 4096 };

/* The place of a compiler: filled once per process, static afterwards. */
typedef struct kn_compiler_place {
    bool is_found;
    bool is_unknown; /* the search met a shortage (base/shortage.h), and is not this place's last */
    char path[KN_COMPILER_PATH_SIZE];     /* the real file where found */
    char identity[256];                   /* "" where not found; of bounded parts alone, so never cut */
    char location[KN_COMPILER_PATH_SIZE]; /* path, or why there is none */
} kn_compiler_place;

typedef struct kn_compiler {
    const kn_compiler_place *(*place)(void);
    kiln_status (*compile)(kn_compile_result *out, const kn_compile_request *request);
    kiln_status (*version)(kn_str *out);
    /* Appends the files that the request reads besides the source and headers in memory, but for the
     * compiler's and the system's own, a line each: as far as the compiler says, which may be to none. */
    void (*list_headers)(kn_str *out, const kn_compile_request *request);
} kn_compiler;

/* The place that a search has which met a shortage. */
#define KN_COMPILER_PLACE_UNKNOWN                                                                            \
    {                                                                                                        \
        .is_unknown = true, .location = "a compiler could not be looked for: memory, or descriptors of "     \
                                        "files, ran out; the next call looks again"                          \
    }
/* The error of a compiler that is not found: KILN_ERROR_NOT_FOUND, or KILN_ERROR_MEMORY where that is
 * unknown. */
kiln_status kn_compiler_missing(const kn_compiler_place *place);

extern const kn_compiler kn_compiler_nvrtc;
extern const kn_compiler kn_compiler_host;

/* Fills place->path with the real file of NVRTC, else place->location with the folders that were searched.
 * Loads nothing. */
void kn_nvrtc_search(kn_compiler_place *place);
/* Appends "-IFOLDER" options for the toolkit headers that belong to the library at path, each ended by a NUL;
 * their number is returned. */
int kn_nvrtc_include_options(kn_str *out, const char *library_path);

/* KILN_ERROR_COMPILE with the first error of log, as "file:line: error: text", the line and a caret, and the
 * log; fallback where the log names no error. */
kiln_status kn_compile_failed(const kn_compile_request *request, const kn_str *log, const char *fallback);

/* Lines "name:line: warning: text" of the log that are about the user's own lines, each once. */
void kn_compile_take_warnings(kn_str *out, const kn_compile_request *request, const kn_str *log);
/* The name that generated text has in messages ("kiln_my_kernel.cpp"), or the kernel's where all of the
 * source is the user's. */
void kn_compile_source_name(kn_str *out, const kn_compile_request *request);

/* True if the request can make its compiler read files: then dependencies are recorded, and the fast ways to
 * compile are not used. In doubt it is true. */
bool kn_compile_reaches(const kn_compile_request *request);
bool kn_compile_option_reaches(const char *option);

/* The headers that the request reads, by its compiler's list_headers. */
kiln_status kn_compile_list_headers(kn_str *out, const kn_compile_request *request);

/* Variables that steer how a host compiler finds files (for dependencies), and all else that it does (for its
 * identity): their names and values are hashed. */
typedef enum kn_environment_part { KN_ENVIRONMENT_OF_FILES, KN_ENVIRONMENT_OF_CODE } kn_environment_part;
void kn_compile_environment_hash(char hex[33], kn_environment_part part);
/* "identity" and the hash of all that decides the code besides the compiler's build: `text` and this folder's
 * own sources, options included. */
void kn_compile_make_identity(kn_compiler_place *place, const char *name, const char *build,
                              const kn_str *text);

#endif
