/* compile/compile.h - source + target -> code. NVRTC and the host's C++ compiler behind one interface.
 * Thread-safe. */
#ifndef KN_COMPILE_COMPILE_H
#define KN_COMPILE_COMPILE_H

#include "compile/compile_request.h"

/* KILN_ERROR_COMPILE with the first "name:line: error: ...", its line and a caret as message (compile/hints.h
 * has better words for frequent mistakes) and the compiler's whole text in kiln_error_log();
 * KILN_ERROR_NOT_FOUND where there is no compiler, naming the folders that were searched. */
kiln_status kn_compile(kn_compile_result *out, const kn_compile_request *request);
void kn_compile_result_free(kn_compile_result *result);
/* Appends the names that user's texts may use (put_names) of which the headers have one as a word: those in
 * memory, and those that the compiler says it reads. For a request that failed: the compiler runs again. */
kiln_status kn_compile_header_words(kn_str *out, const kn_compile_request *request);
/* The code of the request does not load, for the reason in kiln_error_log(): where a symbol is defined
 * nowhere the error becomes one of the user's line, KILN_ERROR_COMPILE. Returns the error's status. */
kiln_status kn_compile_not_loaded(const kn_compile_request *request, kiln_status status);

/* ---- dependency files, stored in the cache's entry beside the code ---- */

/* Appends the dependency file of a compile that succeeded: lowered names; the files that the compiler said it
 * read, with the hash of each, and its search folders, with a hash over which of the names exist in which
 * folder (so that a file which comes to be in front of another is seen). Files below the request's -I folders
 * are named relative to these. Nothing for requests that reach for no file: there is nothing to store and
 * nothing to check. */
kiln_status kn_compile_dependencies(kn_str *out, const kn_compile_request *request,
                                    const kn_compile_result *result);
/* True if a compile with these options would read the same files with the same contents; true for an empty
 * text. Runs no compiler. False: treat the entry as a miss and put the new one in its place. Where none of
 * the folders of the files exists here, the entry was made elsewhere and is taken at its word. */
bool kn_compile_dependencies_hold(const char *text, size_t size, const char *const *options, int n_options);
/* True if a user's text can make a compiler read files; yes too often rather than too seldom. */
bool kn_compile_text_reaches(const char *text);
/* The lowered name of the nth name expression, with its length; NULL where the text has no such. */
const char *kn_compile_dependencies_lowered(const char *text, size_t size, int n, size_t *length);

/* The identity of the compiler that kn_compile would use for this back end ("nvrtc 65be0d... 91c0...", "g++
 * 1f3a... 52b7..."): its build, and a hash of all else that its code depends on (the words of KILN_CXX,
 * kiln's own options, the environment that steers it). Found without loading or running it; remembered. ""
 * where there is none. Static lifetime. */
const char *kn_compile_identity(kn_backend_kind backend);

/* KILN_ERROR_MEMORY where the search for the compiler met a shortage (base/shortage.h): there may be one, and
 * its identity is "" for now. Once this is KILN_OK, identity and place are what they will be. */
kiln_status kn_compile_look(kn_backend_kind backend);

/* The place of the compiler, for people: "/usr/local/cuda/lib64/libnvrtc.so.13", or the reason why there is
 * none. Static lifetime. */
const char *kn_compile_location(kn_backend_kind backend);
/* "13.0" of NVRTC (loads it), or the host compiler's first line of --version (runs it). */
kiln_status kn_compile_version(kn_backend_kind backend, kn_str *out);

#endif
