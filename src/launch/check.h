/* launch/check.h - kernels that check the indices of their raw operands: what their code found outside. */
#ifndef KN_LAUNCH_CHECK_H
#define KN_LAUNCH_CHECK_H

#include "launch/input.h"

typedef struct kn_check {
    const kn_program *program;
    void *report; /* on the device; NULL: the code does not check */
} kn_check;

/* Where the function's code reports. */
kiln_status kn_check_find(kn_check *out, const kn_launch_input *input);

/* Waits for what is queued on the stream. KILN_ERROR_INVALID, naming kernel, operand, index and bound,
 * where an index was outside; that one is forgotten then. A stream that is captured is not waited for. */
kiln_status kn_check_report(const kn_check *check, kn_device *device, void *stream);

#endif
