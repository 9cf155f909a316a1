/* plan/spec_text.h - the one serialised form of a specialisation: a single line of key="value" pairs with C
 * escapes in the values. The line is at once the key material of the cache, the line of a record, the input
 * of a bake and what `explain` shows; kn_spec_parse(kn_spec_format(s)) is s. */
#ifndef KN_PLAN_SPEC_TEXT_H
#define KN_PLAN_SPEC_TEXT_H

#include "base/str.h"
#include "plan/spec.h"

/* Appends the line, without a newline. */
void kn_spec_format(kn_str *out, const kn_spec *spec);

/* What kn_spec_parse made: the program and the generator's name are its own. */
typedef struct kn_parsed_spec {
    kn_spec spec;
    kn_program *program;
    char *generator;
} kn_parsed_spec;
/* KILN_ERROR_FORMAT with the key at fault. */
kiln_status kn_spec_parse(kn_parsed_spec *out, const char *line);
void kn_parsed_spec_free(kn_parsed_spec *parsed);

#endif
