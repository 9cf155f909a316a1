/* compile/reads.h - collects the files that a compiler says it read. Internal to this folder. */
#ifndef KN_COMPILE_READS_H
#define KN_COMPILE_READS_H

#include "compile/compile_request.h"

#include <time.h>

/* Takes one file that was read, as the compiler writes its path. Those that are in memory are left out by the
 * caller. */
void kn_reads_add_file(kn_compile_reads *reads, const char *path, size_t length);
/* A folder that the compiler looks into besides those of the request's options: the toolchain's own, or the
 * user's. */
void kn_reads_add_folder(kn_compile_reads *reads, const char *path, size_t length, bool is_system);

/* Parses the output of -MD, a rule for make. Files below `private_folder` are left out. */
void kn_reads_take_rule(kn_compile_reads *reads, const char *text, size_t size, const char *private_folder);
/* Parses the search list that gcc and clang print with -v; `installation` is the folder of the compiler
 * itself: folders below it are the system's. False where there is no such list. */
bool kn_reads_take_search_list(kn_compile_reads *reads, const char *text, const char *installation);
/* Parses the raw listing of NVRTC's front end. */
void kn_reads_take_listing(kn_compile_reads *reads, const char *text, size_t size,
                           const kn_compile_request *request);
/* True if one of the files has changed since the compile began, as far as their times tell. */
bool kn_reads_are_newer(const kn_compile_reads *reads, const struct timespec *since);

#endif
