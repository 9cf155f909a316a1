/* program/program.h - programs from texts. */
#ifndef KN_PROGRAM_PROGRAM_H
#define KN_PROGRAM_PROGRAM_H

#include "base/str.h"
#include "program/stages.h"

/* The texts from which a program is made; they may be NULL for none. */
typedef struct kn_stage_text {
    kn_stage_kind kind;
    kn_over over;
    const char *label, *body, *identity;
    const char *reads, *gives; /* "x, t": names of values. NULL: all inputs, all outputs */
} kn_stage_text;
typedef struct kn_program_text {
    const char *name;              /* NULL: "kernel" */
    const char *in, *out, *values; /* signatures */
    const kn_stage_text *stage;
    int n_stages;
    int reduced;
    bool casts, is_reversed, is_selection;
    bool
        is_sound; /* written by kiln: its brackets close, outputs are assigned, and no raw array is indexed */
    const kiln_kernel_options *options; /* NULL: all defaults */
} kn_program_text;

/* Settled options: struct_size is checked. */
kiln_status kn_program_read_options(kiln_kernel_options *out, const kiln_kernel_options *given);
/* The same for a kernel of texts, which calls no others: options.kernels is refused. */
kiln_status kn_program_read_own_options(kiln_kernel_options *out, const kiln_kernel_options *given);

/* KILN_ERROR_INVALID, _SYNTAX, _TYPE with the place. Values are given before they are read, outputs by one
 * stage each, and each output either for each element or for each result. */
kiln_status kn_program_create(kn_program **out, const kn_program_text *text);
kiln_status kn_program_elementwise(kn_program **out, const char *in_params, const char *out_params,
                                   const char *body, const char *name, const kiln_kernel_options *options);
/* The same of texts that were written for it, and are freed. */
kiln_status kn_program_written(kn_program **out, kn_str *in_params, kn_str *out_params, kn_str *body,
                               const char *name, const kiln_kernel_options *options);
/* map: an expression of the inputs; reduce: one of `a` and `b`; post: statements that assign the outputs from
 * `a`; identity: an expression, or NULL. */
kiln_status kn_program_reduction(kn_program **out, const char *in_params, const char *out_params,
                                 const char *map, const char *reduce, const char *post, const char *identity,
                                 const char *name, const kiln_kernel_options *options);
/* The same of a scan; post reads those inputs that it names, too. */
kiln_status kn_program_scan(kn_program **out, const char *in_params, const char *out_params, const char *map,
                            const char *scan, const char *post, const char *identity, const char *name,
                            const kiln_kernel_options *options);
void kn_program_free(kn_program *program);

#endif
