/* compile/compiler.h - what each compiler provides to compile.c, and what they share. Internal to this
 * folder. */
#ifndef KN_COMPILE_COMPILER_H
#define KN_COMPILE_COMPILER_H

#include "compile/compile.h"

enum { KN_COMPILER_PATH_SIZE = 4096 };

/* Where a compiler was found: filled once a process, static afterwards. */
typedef struct kn_compiler_place {
    bool is_searched;
    bool is_found;
    char path[KN_COMPILER_PATH_SIZE];     /* the real file where found */
    char identity[160];                   /* "" where not found */
    char location[KN_COMPILER_PATH_SIZE]; /* path, or why there is none */
} kn_compiler_place;

typedef struct kn_compiler {
    const kn_compiler_place *(*place)(void);
    kiln_status (*compile)(kn_compile_result *out, const kn_compile_request *request);
    kiln_status (*version)(kn_str *out);
} kn_compiler;

extern const kn_compiler kn_compiler_nvrtc;
extern const kn_compiler kn_compiler_host;

/* Fills place->path with the real file of NVRTC, else place->location with where it was looked for. Loads
 * nothing. */
void kn_nvrtc_search(kn_compiler_place *place);
/* Appends "-IFOLDER" options for the toolkit headers that belong to the library at path, each ended by a NUL;
 * their number is returned. */
int kn_nvrtc_include_options(kn_str *out, const char *library_path);

/* KILN_ERROR_COMPILE with the first error of log, as "file:line: error: text", and the log; fallback where
 * the log names no error. */
kiln_status kn_compile_failed(const char *name, const kn_str *log, const char *fallback);

/* Whether the source (or the user's options) reaches for headers: then the lean ways of compiling do not
 * hold. */
bool kn_compile_has_includes(const kn_compile_request *request);

#endif
