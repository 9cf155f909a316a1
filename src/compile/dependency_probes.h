/* compile/dependency_probes.h - names that __has_include asks for. */
#ifndef KN_COMPILE_DEPENDENCY_PROBES_H
#define KN_COMPILE_DEPENDENCY_PROBES_H

#include "compile/compile_request.h"

/* A dependency file that is being written. */
typedef struct kn_dependency_writer {
    kn_str *out;
    bool is_unknown; /* the compiler read something whose dependencies cannot be known */
} kn_dependency_writer;

/* Appends the name behind every word that ends in has_include, so that macros that pass a name on are seen
 * where they are used. */
void kn_dependency_find_probes(kn_dependency_writer *w, const char *text, size_t size, bool is_users);
/* The same in all texts of a request. */
void kn_dependency_find_probes_of(kn_dependency_writer *w, const kn_compile_request *request);

#endif
