/* codegen/divisor.h - inputs that a kernel divides by, and that stand still over a thread's elements: their
 * reciprocal is taken once (src/codegen/prelude/cuda_divisor.cu). */
#ifndef KN_CODEGEN_DIVISOR_H
#define KN_CODEGEN_DIVISOR_H

#include "codegen/writer.h"

/* Whether parameter k is one: float32 that stands still, of which the body knows nothing but "/ k", in
 * kernels that IEEE's division would hold up. Its type in the source is `auto`: a kn_divisor, or the
 * number itself. */
bool kn_is_divisor(const kn_writer *w, int k);
bool kn_has_divisors(const kn_writer *w);

#endif
