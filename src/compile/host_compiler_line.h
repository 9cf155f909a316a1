/* compile/host_compiler_line.h - the command line of the host's compiler, and running it. */
#ifndef KN_COMPILE_HOST_COMPILER_LINE_H
#define KN_COMPILE_HOST_COMPILER_LINE_H

#include "compile/compile_request.h"

/* Words, each ended by a NUL, and pointers to them once all are there. */
typedef struct kn_host_line {
    kn_str text;
    int n;
    const char **items;
} kn_host_line;

/* The amount of output about files that are read. */
typedef enum kn_host_trace { KN_HOST_TRACE_NOTHING, KN_HOST_TRACE_HEADERS, KN_HOST_TRACE_ALL } kn_host_trace;

/* Makes a command line that compiles. It is to be freed, after a failure too. */
kiln_status kn_host_line_make(kn_host_line *line, const char *folder, const kn_compile_request *request,
                              kn_host_trace trace);
/* The same compiler, asked for its search folders. */
kiln_status kn_host_line_ask(kn_host_line *line, const char *folder, const kn_compile_request *request);
/* The same, asked for the headers that the source reads, as a rule for make. */
kiln_status kn_host_line_list(kn_host_line *line, const char *folder, const kn_compile_request *request);
kiln_status kn_host_line_run(const kn_host_line *line, const char *folder, kn_str *output, int *exit_code);
void kn_host_line_free(kn_host_line *line);
/* True if the source of a baseline tier calls no function of a library, as far as it says. */
bool kn_host_calls_no_library(const kn_compile_request *request);

#endif
