/* codegen/divisor.h - divisors that are broadcast over a thread's elements: their reciprocal is computed once
 * (src/codegen/prelude/cuda_divisor.cu). */
#ifndef KN_CODEGEN_DIVISOR_H
#define KN_CODEGEN_DIVISOR_H

#include "codegen/writer.h"

/* True if parameter k is one: a broadcast float32 that the body uses only as "/ k", in a kernel that IEEE's
 * division would slow down. Its type in the source is `auto`: a kn_divisor, or the number itself. */
bool kn_is_divisor(const kn_writer *w, int k);
bool kn_has_divisors(const kn_writer *w);

#endif
