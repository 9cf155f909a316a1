/*
 * kiln/toolchain.h - the compilers that kiln uses when a kernel is not in the cache.
 *
 *     kiln_toolchain_info info = KILN_TOOLCHAIN_INFO_INIT;
 *     if (kiln_toolchain_get_info("cuda", &info) == KILN_OK)
 *         printf("%s, version %s\n", info.location, info.version);
 *     else
 *         printf("no NVRTC: %s\n", kiln_error_message());
 *
 * Nobody needs to call this: a call that has to compile finds its compiler by itself. Thread-safe.
 */
#ifndef KILN_TOOLCHAIN_H
#define KILN_TOOLCHAIN_H

#include <kiln/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A compiler. */
typedef struct kiln_toolchain_info {
    size_t struct_size;
    char location[1024]; /* the library's or the program's path */
    char version[256];   /* "13.0", or the first line of the host compiler's --version */
    /* changes with every build of the compiler and with all that it is told; part of the cache's
     * key */
    char identity[256];
} kiln_toolchain_info;
#define KILN_TOOLCHAIN_INFO_INIT                                                                   \
    {                                                                                              \
        sizeof(kiln_toolchain_info), {0}, {0},                                                     \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }

/* backend: "cuda" (NVRTC, which is loaded to ask its version) or "host" (the C++ compiler, which is
 * run). Text that does not fit is cut. KILN_ERROR_NOT_FOUND, saying where it was looked for, where
 * there is no such compiler; KILN_ERROR_INVALID for another backend; KILN_ERROR_MEMORY where memory
 * or descriptors ran out when it was looked for: the next call looks again. */
KILN_NODISCARD KILN_API kiln_status kiln_toolchain_get_info(const char *backend,
                                                            kiln_toolchain_info *out);

#ifdef __cplusplus
}
#endif
#endif
