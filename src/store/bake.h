/* store/bake.h - one kernel for a bundle, from its text alone: neither kernel, arrays nor a device. */
#ifndef KN_STORE_BAKE_H
#define KN_STORE_BAKE_H

#include "base/target.h"
#include "store/compile_job.h"
#include "cache/bundle.h"

typedef struct kn_bake_target {
    kn_target target;
    kn_code_format format;
} kn_bake_target;

/* "sm_90a", "x86-64-v3", and "compute_90" for PTX. KILN_ERROR_INVALID. */
kiln_status kn_bake_target_parse(kn_bake_target *out, const char *text);
/* The same the other way round. size 48 is enough. */
void kn_bake_target_format(const kn_bake_target *target, char *out, size_t size);

/* The row of a specialisation without generator and target (kn_spec_make_portable), compiled for a target
 * now. Of a module's headers, those in folders are looked for there. */
kiln_status kn_bake(kn_bundle_row *out, const char *portable, const kn_bake_target *target,
                    const char *const *folders, int n_folders);

/* The row of code that some store has, or that was made just now: a program's, for the compile job's own
 * target. Copies. */
kiln_status kn_bake_pack(kn_bundle_row *out, const kn_compile_job *job, const char *generator,
                         const kn_blob *code, const kn_str *dependencies);

#endif
