/* schedules/spec_text.h - the one serialised form of a specialisation: a single line of key="value" pairs
 * with C escapes in the values. The same line is the key material of the cache, the line of a record, the
 * input of a bake and the output of `explain`; kn_spec_parse(kn_spec_format(s)) is s. */
#ifndef KN_SCHEDULES_SPEC_TEXT_H
#define KN_SCHEDULES_SPEC_TEXT_H

#include "base/str.h"
#include "schedule/spec.h"

#define KN_SPEC_FORMAT "kiln/3"

/* Append the line, without a newline. */
void kn_spec_format(kn_str *out, const kn_spec *spec);
void kn_module_spec_format(kn_str *out, const kn_module_spec *spec);

/* Appends the line without generator and target: the key of bundles and the line of records. An error of
 * format if the line does not begin as those of kn_spec_format do. */
kiln_status kn_spec_make_portable(kn_str *out, const char *line);
/* The line again, for a target; generator NULL: a module's that needs none. */
kiln_status kn_spec_make_line(kn_str *out, const char *portable, const kn_target *target,
                              const char *generator);

/* The value of a line's key, with its escapes, and its length; NULL if it has none. */
const char *kn_spec_field(const char *line, const char *key, size_t *length);

/* The sort of a specialisation: the value of "kind". */
typedef enum kn_spec_kind { KN_SPEC_PROGRAM, KN_SPEC_MODULE } kn_spec_kind;

/* The result of kn_spec_parse; it owns one of spec and module, by kind. */
typedef struct kn_parsed_spec {
    kn_spec_kind kind;
    kn_spec spec;
    kn_module_spec module;
    kn_program *program; /* the spec's */
    void *fields, *lists;
} kn_parsed_spec;
/* KILN_ERROR_FORMAT with the key at fault. */
kiln_status kn_spec_parse(kn_parsed_spec *out, const char *line);
void kn_parsed_spec_free(kn_parsed_spec *parsed);

#endif
