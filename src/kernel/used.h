/* kernel/used.h - the specialisations that a call uses on each target, as lines of a record (store/record.h).
 */
#ifndef KN_KERNEL_USED_H
#define KN_KERNEL_USED_H

#include "kernel/inspected.h"

/* Appends the lines. device: whose own limits count for its architecture; NULL: no device is asked.
 * Targets that have no kernel for such a call are left out; KILN_ERROR_* of the call where none has. */
kiln_status kn_used_by_call(kn_str *lines, const kiln_kernel *kernel, kiln_array *const *outs, int n_out,
                            const kiln_arg *in, int n_in, const kiln_call_options *options,
                            const kn_device *device, bool is_text);

/* Writes them to KILN_RECORD, where that is set. Leaves the thread's last error; nothing fails because of
 * it. */
void kn_used_write(const kiln_kernel *kernel, kiln_array *const *outs, int n_out, const kiln_arg *in,
                   int n_in, const kiln_call_options *options, const kn_device *device);
/* The same of a module. */
void kn_used_write_module(const kn_compile_job *job);

#endif
