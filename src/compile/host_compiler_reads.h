/* compile/host_compiler_reads.h - which files the host's compiler reads. */
#ifndef KN_COMPILE_HOST_COMPILER_READS_H
#define KN_COMPILE_HOST_COMPILER_READS_H

#include <time.h>

#include "compile/host_compiler_line.h"

/* The trace that a request needs: none if it uses no file; more than headers if options bring in libraries,
 * objects or linker scripts. */
kn_host_trace kn_host_trace_of(const kn_compile_request *request);
/* After a compile that was asked so and began then. */
kiln_status kn_host_take_reads(kn_compile_reads *reads, const char *folder, const kn_compile_request *request,
                               kn_host_trace trace, const struct timespec *began);
/* Appends the headers that the source in the folder reads, the system's left out. */
void kn_host_list_headers(kn_str *out, const char *folder, const kn_compile_request *request);

#endif
