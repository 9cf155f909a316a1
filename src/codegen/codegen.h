/* codegen/codegen.h - specialisation -> source text. Text in, text out. */
#ifndef KN_CODEGEN_CODEGEN_H
#define KN_CODEGEN_CODEGEN_H

#include "base/str.h"
#include "codegen/prelude.h"
#include "schedule/layout.h"

/* Appends the whole source for the specialisation's target. It includes no header unless the user's texts do.
 * failed NULL: this is the first try. */
kiln_status kn_codegen_source(kn_str *out, const kn_spec *spec, const kn_failed_try *failed);

/* True if no text converts a number to an integer and back, by its words: then compilers may ignore
 * floating-point exceptions. (trapping.c) */
bool kn_codegen_truncates_nothing(const kn_spec *spec);

/* The name of the entry point in that source: "kiln_" and the kernel's name. size KN_NAME_MAX + 8 is enough.
 */
void kn_codegen_entry(char *out, size_t size, const kn_program *program);

/* Appends the names that the texts of a program may use, with blanks between: those of its values, dtypes,
 * functions and constants. */
void kn_codegen_names(kn_str *out, const kn_program *program);

/* Identity of the generator: changes with its version and with every template. Static lifetime. Where the
 * templates of KILN_TEMPLATE_DIR could not be read for a shortage (base/shortage.h), it is one that no source
 * may be written for, and kn_codegen_knows_generator is false for it. */
const char *kn_codegen_generator(void);
bool kn_codegen_knows_generator(const char *text);

#endif
