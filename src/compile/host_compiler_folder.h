/* compile/host_compiler_folder.h - the private folder in which the host's compiler works. */
#ifndef KN_COMPILE_HOST_COMPILER_FOLDER_H
#define KN_COMPILE_HOST_COMPILER_FOLDER_H

#include "compile/compile_request.h"

/* The files there: sources and results, and the lists of files that compiler and linker read. */
#define KN_HOST_SOURCE_FILE "kernel.cpp"
#define KN_HOST_CODE_FILE "kernel.so"
#define KN_HOST_OBJECT_FILE "kernel.o"
#define KN_HOST_RULE_FILE "kernel.d"
#define KN_HOST_LINK_RULE_FILE "link.d"
enum { KN_HOST_FILE_MAX_BYTES = 1 << 30 };

/* Writes the source and the headers that were given. */
kiln_status kn_host_fill_folder(const char *folder, const kn_compile_request *request);

/* Reads what a compiler made there: KN_HOST_CODE_FILE, KN_HOST_OBJECT_FILE. */
kiln_status kn_host_read_code(kn_blob *out, const char *folder, const char *file, const char *name);

#endif
