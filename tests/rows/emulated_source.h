/* emulated_source.h - a kernel's CUDA source as a library of the processor. */
#ifndef ROWS_EMULATED_SOURCE_H
#define ROWS_EMULATED_SOURCE_H

#include <stdbool.h>

/* Writes folder/kernel.cpp, and compiles it to folder/kernel.so, whose function `emulated_launch` runs the
 * kernel `entry` of one struct kn_args; what the compiler says stands in folder/log. False: it failed. */
bool emulated_source_compile(const char *folder, const char *source, const char *entry, const char *flags);

#endif
