/* store/record.h - lines about the kernels that a program used, for a bake:
 *
 *   record/1 0f34a6c28b1d5e79 targets="cuda:sm_80 cuda:sm_90" kiln/3 kind="program" name="add" ...
 *
 * The number is XXH3-64 of the rest of the line, so that an incomplete line of a process that died is
 * detected. Then the targets on which a call needs this specialisation, and the specialisation without
 * generator and target. */
#ifndef KN_STORE_RECORD_H
#define KN_STORE_RECORD_H

#include "base/str.h"

/* Appends a line, with its newline; targets with blanks between. */
void kn_record_format(kn_str *out, const char *targets, const char *portable);

/* One line, cut in place: the strings are parts of it. */
typedef struct kn_record {
    char *targets, *portable;
} kn_record;
/* KILN_ERROR_FORMAT where it is none, or not whole. */
kiln_status kn_record_parse(kn_record *out, char *line);
/* True if the targets of a record have this one, whatever its suffix. */
bool kn_record_names(const char *targets, const char *architecture);

/* KILN_RECORD: the file for the record of calls; NULL: none. */
const char *kn_record_file(void);
/* Appends the lines (each with its newline) that this process has not yet written there, behind those of
 * other processes. Failures are logged once. */
void kn_record_write(const char *file, const char *lines);
/* Forgets the lines that were written, at the end of the store layer. */
void kn_record_forget(void);

#endif
