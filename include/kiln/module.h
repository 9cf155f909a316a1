/*
 * kiln/module.h - whole CUDA sources, cubins and PTX: functions, globals, and launches as CUDA
 * itself has them.
 *
 *     const char *source = "extern \"C\" __global__ void twice(float *x, int n)"
 *                          "{ int i = blockIdx.x * blockDim.x + threadIdx.x; "
 *                          "  if (i < n) x[i] *= 2; }";
 *     kiln_module *m = NULL;
 *     kiln_function *f = NULL;
 *     kiln_arg args[] = {kiln_arg_array(x), kiln_arg_int32(1000)};
 *     kiln_module_create(&m, source, 0, NULL);
 *     kiln_module_function(&f, m, "twice");
 *     kiln_function_launch(f, kiln_dims(4, 1, 1), kiln_dims(256, 1, 1), args, 2, NULL);
 *     kiln_module_free(m);
 *
 * For what does not fit the form of an elementwise kernel or a reduction. Modules are for CUDA
 * devices alone. A source is compiled once and then found in the cache, as any kernel. One that
 * includes <kiln/types.h> has the types that other kernels have: int8 to float64, float16,
 * bfloat16, complex<float>, complex<double>, and their functions, wherever they are named: in the
 * source, name expressions, options or headers. Modules may be created while a stream is captured
 * (<kiln/graph.h>). All functions here are thread-safe.
 */
#ifndef KILN_MODULE_H
#define KILN_MODULE_H

#include <kiln/arg.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A loaded source or binary, and a function of one. */
typedef struct kiln_module kiln_module;
typedef struct kiln_function kiln_function;

/* The kinds of code that kiln_module_create takes. */
typedef enum kiln_code_kind {
    KILN_CODE_DETECT = 0, /* by its first bytes */
    KILN_CODE_SOURCE = 1, /* CUDA C++ */
    KILN_CODE_PTX = 2,    /* text, compiled by the driver */
    KILN_CODE_CUBIN = 3   /* also a fat binary */
} kiln_code_kind;

enum {
    KILN_MODULE_FAST_MATH = 1, /* as KILN_KERNEL_FAST_MATH */
    KILN_MODULE_NO_FMA = 2,    /* as KILN_KERNEL_NO_FMA */
    KILN_MODULE_NO_COMPILE = 4 /* fail with KILN_ERROR_FORBIDDEN rather than compile */
};

/* All that concerns compiling is for sources alone. */
typedef struct kiln_module_options {
    size_t struct_size;
    unsigned flags;      /* KILN_MODULE_* */
    kiln_code_kind kind; /* what the code is */
    const char *name;    /* in messages; NULL: "module" */
    const char
        *target; /* NULL: the current device; "cuda:1"; or an architecture to compile for without a
                           device: "sm_90" */
    /* For NVRTC, as they are: "-DWIDTH=3". Under "-dc" (kernels that launch kernels) the code is
     * relocatable: it is linked when it is loaded, with libcudadevrt.a of the CUDA toolkit where
     * there is one. */
    const char *const *compile_options;
    int n_compile_options;
    const char *const
        *include_folders;  /* where #include looks; the folders' names do not matter to the
                                           cache, what is in the headers does */
    int n_include_folders; /* how many */
    const char *const *header_names; /* headers that #include finds in memory, before any folder */
    const char *const *header_texts; /* what each of them holds */
    int n_headers;                   /* how many */
    const char *const
        *name_expressions;  /* template instantiations to be made: "twice<float>"; globals in
                                            namespaces: "&space::table"; blanks do not matter */
    int n_name_expressions; /* how many */
} kiln_module_options;
#define KILN_MODULE_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(kiln_module_options), 0, KILN_CODE_DETECT, NULL, NULL, NULL, 0, NULL, 0, NULL,      \
            NULL, 0, NULL, 0                                                                       \
    }

/* Compiles (or finds) and loads. size: bytes of code; 0: code is text up to its NUL. code and the
 * options are read during the call alone. KILN_ERROR_COMPILE with the compiler's text in
 * kiln_error_log(); KILN_ERROR_FORMAT for code that is none of the kinds; KILN_ERROR_UNSUPPORTED
 * for a cubin of another architecture, and where the device is the host; KILN_ERROR_NOT_FOUND
 * without NVRTC. */
KILN_NODISCARD KILN_API kiln_status kiln_module_create(kiln_module **out, const void *code,
                                                       size_t size,
                                                       const kiln_module_options *options);
/* Gives the module back with its functions, once the device has finished with them; NULL is taken.
 * Arrays over globals keep it alive, and so do graphs that were captured while it was launched. */
KILN_API void kiln_module_free(kiln_module *module);

/* A __global__ function by its name (extern "C", or as mangled) or by one of the name expressions,
 * however that is spaced. Lives as long as the module; asking again gives the same handle.
 * KILN_ERROR_NOT_FOUND. */
KILN_NODISCARD KILN_API kiln_status kiln_module_function(kiln_function **out, kiln_module *module,
                                                         const char *name);
/* A __device__ or __constant__ variable by its name or name expression (with or without its "&"),
 * as an array over its memory: no copy. shape NULL, with ndim 1: as many elements as it holds.
 * KILN_ERROR_NOT_FOUND; KILN_ERROR_SHAPE where it is smaller than the array. */
KILN_NODISCARD KILN_API kiln_status kiln_module_global(kiln_array **out, kiln_module *module,
                                                       const char *name, kiln_dtype dtype, int ndim,
                                                       const int64_t *shape);
/* The cubin or PTX; under "-dc" as it was before it is linked. It lives as long as the module. */
KILN_NODISCARD KILN_API kiln_status kiln_module_code(const void **out, size_t *size,
                                                     const kiln_module *module);
/* The CUmodule, of the device's primary context; NULL where the module was only compiled. It stays
 * kiln's, and is unloaded with the module: what is launched through it is not waited for, nor held
 * by graphs, so that the caller keeps the module until then. */
KILN_API void *kiln_module_cuda_handle(kiln_module *module);

/* Extents of a grid, a block or a cluster. */
typedef struct kiln_dim3 {
    unsigned x, y, z; /* x varies fastest */
} kiln_dim3;
/* A kiln_dim3 of its members. */
static inline kiln_dim3 kiln_dims(unsigned x, unsigned y, unsigned z)
{
    kiln_dim3 d;
    d.x = x;
    d.y = y;
    d.z = z;
    return d;
}

enum { KILN_LAUNCH_COOPERATIVE = 1 /* all blocks run at once: grid.sync() may be used */ };

/* Options of a launch; the default is all zero. */
typedef struct kiln_launch_options {
    size_t struct_size;
    unsigned flags;      /* KILN_LAUNCH_* */
    size_t shared_bytes; /* dynamic shared memory; more than 48 KiB is asked for by itself */
    kiln_dim3 cluster;   /* blocks of a cluster (compute capability 9.0); x 0: none */
    kiln_stream *stream; /* NULL: the current stream */
} kiln_launch_options;
#define KILN_LAUNCH_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(kiln_launch_options), 0, 0, {0, 0, 0}, NULL                                         \
    }

/* Queues grid blocks of block threads. y and z of 0 count as 1; a grid of x 0 launches nothing. An
 * array is passed as the address of its first element (NULL: a null pointer), a weak int as long
 * long, a weak float as double, a weak bool as bool, a weak complex as two doubles, a typed scalar
 * as its dtype, a struct by value. Where the driver tells (CUDA 12.4), number and sizes of the
 * arguments are checked, and a weak int fits an integer parameter of any size that holds its value
 * (a parameter of type float wants kiln_arg_float32: the driver tells sizes, no types). Nothing
 * keeps the arrays apart: overlaps and races are the kernel's business. KILN_ERROR_INVALID,
 * KILN_ERROR_DEVICE. */
KILN_NODISCARD KILN_API kiln_status kiln_function_launch(kiln_function *function, kiln_dim3 grid,
                                                         kiln_dim3 block, const kiln_arg *args,
                                                         int n_args,
                                                         const kiln_launch_options *options);

/* The resources that a function needs. */
typedef struct kiln_function_attributes {
    size_t struct_size;
    int registers;                   /* a thread */
    int max_threads_per_block;       /* the most with which it can be launched */
    size_t shared_bytes;             /* static, a block */
    size_t local_bytes;              /* a thread: spilled registers and local arrays */
    size_t constant_bytes;           /* constants of its own */
    size_t max_dynamic_shared_bytes; /* the most that a launch may ask for now */
    int binary_version, ptx_version; /* 90 for sm_90 */
    int n_params;                    /* -1 where the driver does not tell */
} kiln_function_attributes;
#define KILN_FUNCTION_ATTRIBUTES_INIT                                                              \
    {                                                                                              \
        sizeof(kiln_function_attributes), 0, 0, 0, 0, 0, 0, 0, 0, 0                                \
    }

/* Fills *out; out->struct_size must be set. */
KILN_NODISCARD KILN_API kiln_status kiln_function_get_attributes(kiln_function *function,
                                                                 kiln_function_attributes *out);
/* Allows launches with up to bytes of dynamic shared memory. A launch that needs more does so by
 * itself. */
KILN_NODISCARD KILN_API kiln_status kiln_function_set_max_dynamic_shared(kiln_function *function,
                                                                         size_t bytes);
/* *blocks: how many blocks of that many threads and bytes of dynamic shared memory fit on one
 * multiprocessor at once. */
KILN_NODISCARD KILN_API kiln_status kiln_function_occupancy(kiln_function *function, int *blocks,
                                                            int block_threads, size_t shared_bytes);
/* The CUfunction. It stays kiln's, and lives as long as the module, as above. */
KILN_API void *kiln_function_cuda_handle(kiln_function *function);
/* Its name, as compiled. Lives as long as the module. */
KILN_API const char *kiln_function_name(const kiln_function *function);

#ifdef __cplusplus
}
#endif
#endif
