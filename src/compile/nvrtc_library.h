/* compile/nvrtc_library.h - NVRTC, found, loaded, and the part of its interface that kiln uses. */
#ifndef KN_COMPILE_NVRTC_LIBRARY_H
#define KN_COMPILE_NVRTC_LIBRARY_H

#include "compile/compiler.h"

/* NVRTC's C interface, as much of it as we call; stable since CUDA 8 (the cubin functions since 11.1). */
typedef struct nvrtc_program *kn_nvrtc_program;
enum { KN_NVRTC_OK = 0, KN_NVRTC_OUT_OF_MEMORY = 1, KN_NVRTC_INVALID_OPTION = 5 };
enum { KN_NVRTC_ARCHITECTURES_MAX = 64 };

typedef struct kn_nvrtc_api {
    int (*version)(int *major, int *minor);
    const char *(*error_string)(int result);
    int (*create)(kn_nvrtc_program *, const char *source, const char *name, int n_headers,
                  const char *const *texts, const char *const *names);
    int (*destroy)(kn_nvrtc_program *);
    int (*compile)(kn_nvrtc_program, int n_options, const char *const *options);
    int (*log_size)(kn_nvrtc_program, size_t *);
    int (*log)(kn_nvrtc_program, char *);
    int (*ptx_size)(kn_nvrtc_program, size_t *);
    int (*ptx)(kn_nvrtc_program, char *);
    int (*cubin_size)(kn_nvrtc_program, size_t *);
    int (*cubin)(kn_nvrtc_program, char *);
    int (*add_name)(kn_nvrtc_program, const char *expression);
    int (*lowered_name)(kn_nvrtc_program, const char *expression, const char **name);
    int (*n_architectures)(int *);
    int (*architectures)(int *);
} kn_nvrtc_api;

typedef struct kn_nvrtc_library {
    kn_compiler_place place;
    kn_nvrtc_api api; /* once it is loaded, as are the next */
    int version;      /* 13000 for 13.0 */
    int known[KN_NVRTC_ARCHITECTURES_MAX], n_known;
} kn_nvrtc_library;
extern kn_nvrtc_library kn_nvrtc;

/* The place of the library; does not load it. */
const kn_compiler_place *kn_nvrtc_place(void);
/* Loads it, once and for good: NVRTC is not made to be unloaded. */
kiln_status kn_nvrtc_load(void);

#endif
