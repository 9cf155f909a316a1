/* compile/host_compiler_ahead.h - a compiler that was started before there is a source for it. */
#ifndef KN_COMPILE_HOST_COMPILER_AHEAD_H
#define KN_COMPILE_HOST_COMPILER_AHEAD_H

#include "compile/compile_request.h"

/* Compiles by the compiler that waits. False: none waits that has such options, or it failed; the usual way
 * says why. */
bool kn_host_ahead_compile(kn_compile_result *out, const kn_compile_request *request);
/* Starts one for the next request like this one, if KILN_COMPILER_WAITS asks for it. */
void kn_host_ahead_start(const kn_compile_request *request);
/* Stops the one that waits; no other is started. */
void kn_host_ahead_end(void);

#endif
