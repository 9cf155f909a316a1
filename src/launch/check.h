/* launch/check.h - kernels that check the indices of their raw operands, and their reports of indices
 * outside. */
#ifndef KN_LAUNCH_CHECK_H
#define KN_LAUNCH_CHECK_H

#include <stdatomic.h>

#include "launch/input.h"

typedef struct kn_check {
    const kn_program *program;
    void *report;         /* on the device; NULL: the code does not check */
    size_t size;          /* of the report; that of earlier generators had no flag */
    atomic_bool has_flag; /* the report has the address of the device's flag */
} kn_check;

/* Finds the report object of the function's code. */
kiln_status kn_check_find(kn_check *out, const kn_launch_input *input);

/* Waits for the queued work of the stream; the report is copied only if some kernel of the device has ever
 * reported. KILN_ERROR_INVALID, naming kernel, operand, index and bound, if
 * an index was outside; the report is cleared then. Does not wait for a stream that is captured. */
kiln_status kn_check_report(kn_check *check, kn_device *device, void *stream);

#endif
