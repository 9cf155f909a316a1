/* device/cuda_driver.h - the part of the CUDA driver interface that kiln uses, declared by ourselves so that
 * one build serves machines with and without a toolkit or a driver. tests/driver/declarations.cpp compares it
 * with the real cuda.h where there is one. */
#ifndef KN_DEVICE_CUDA_DRIVER_H
#define KN_DEVICE_CUDA_DRIVER_H

#include <kiln/base.h>

#include "base/cancel.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int kn_cu_result;
typedef int kn_cu_device;
typedef unsigned long long kn_cu_address;
typedef unsigned long long kn_cu_handle;
typedef struct kn_cu_context_object *kn_cu_context;
typedef struct kn_cu_stream_object *kn_cu_stream;
typedef struct kn_cu_event_object *kn_cu_event;
typedef struct kn_cu_module_object *kn_cu_module;
typedef struct kn_cu_function_object *kn_cu_function;
typedef struct kn_cu_graph_object *kn_cu_graph;
typedef struct kn_cu_graph_exec_object *kn_cu_graph_exec;
typedef struct kn_cu_graph_node_object *kn_cu_graph_node;
typedef struct kn_cu_user_object_object *kn_cu_user_object;
typedef struct kn_cu_link_object *kn_cu_link;

/* Values of the driver's enumerations: X(our name, the driver's name, value). */
#define KN_CU_CONSTANTS(X)                                                                                   \
    X(KN_CU_SUCCESS, CUDA_SUCCESS, 0)                                                                        \
    X(KN_CU_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY, 2)                                                      \
    X(KN_CU_DEINITIALIZED, CUDA_ERROR_DEINITIALIZED, 4)                                                      \
    X(KN_CU_NO_DEVICE, CUDA_ERROR_NO_DEVICE, 100)                                                            \
    X(KN_CU_INVALID_IMAGE, CUDA_ERROR_INVALID_IMAGE, 200)                                                    \
    X(KN_CU_NO_BINARY_FOR_GPU, CUDA_ERROR_NO_BINARY_FOR_GPU, 209)                                            \
    X(KN_CU_ECC_UNCORRECTABLE, CUDA_ERROR_ECC_UNCORRECTABLE, 214)                                            \
    X(KN_CU_INVALID_PTX, CUDA_ERROR_INVALID_PTX, 218)                                                        \
    X(KN_CU_UNSUPPORTED_PTX_VERSION, CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222)                                \
    X(KN_CU_CONTAINED, CUDA_ERROR_CONTAINED, 226)                                                            \
    X(KN_CU_NOT_FOUND, CUDA_ERROR_NOT_FOUND, 500)                                                            \
    X(KN_CU_NOT_READY, CUDA_ERROR_NOT_READY, 600)                                                            \
    X(KN_CU_ILLEGAL_ADDRESS, CUDA_ERROR_ILLEGAL_ADDRESS, 700)                                                \
    X(KN_CU_LAUNCH_TIMEOUT, CUDA_ERROR_LAUNCH_TIMEOUT, 702)                                                  \
    X(KN_CU_PEER_ACCESS_ALREADY_ENABLED, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, 704)                        \
    X(KN_CU_ASSERT, CUDA_ERROR_ASSERT, 710)                                                                  \
    X(KN_CU_HARDWARE_STACK_ERROR, CUDA_ERROR_HARDWARE_STACK_ERROR, 714)                                      \
    X(KN_CU_LAUNCH_FAILED, CUDA_ERROR_LAUNCH_FAILED, 719)                                                    \
    X(KN_CU_NOT_SUPPORTED, CUDA_ERROR_NOT_SUPPORTED, 801)                                                    \
    X(KN_CU_STREAM_CAPTURE_UNSUPPORTED, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, 900)                          \
    X(KN_CU_STREAM_CAPTURE_IMPLICIT, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, 906)                                \
    X(KN_CU_STREAM_CAPTURE_WRONG_THREAD, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, 908)                        \
    X(KN_CU_STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING, 1)                                                  \
    X(KN_CU_EVENT_BLOCKING_SYNC, CU_EVENT_BLOCKING_SYNC, 1)                                                  \
    X(KN_CU_EVENT_DISABLE_TIMING, CU_EVENT_DISABLE_TIMING, 2)                                                \
    X(KN_CU_MEMHOSTALLOC_PORTABLE, CU_MEMHOSTALLOC_PORTABLE, 1)                                              \
    X(KN_CU_CAPTURE_NONE, CU_STREAM_CAPTURE_STATUS_NONE, 0)                                                  \
    X(KN_CU_CAPTURE_ACTIVE, CU_STREAM_CAPTURE_STATUS_ACTIVE, 1)                                              \
    X(KN_CU_CAPTURE_INVALIDATED, CU_STREAM_CAPTURE_STATUS_INVALIDATED, 2)                                    \
    X(KN_CU_CAPTURE_MODE_THREAD_LOCAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, 1)                               \
    X(KN_CU_CAPTURE_MODE_RELAXED, CU_STREAM_CAPTURE_MODE_RELAXED, 2)                                         \
    X(KN_CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER, 5)                                                \
    X(KN_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 6)                          \
    X(KN_CU_JIT_INPUT_CUBIN, CU_JIT_INPUT_CUBIN, 0)                                                          \
    X(KN_CU_JIT_INPUT_PTX, CU_JIT_INPUT_PTX, 1)                                                              \
    X(KN_CU_JIT_INPUT_LIBRARY, CU_JIT_INPUT_LIBRARY, 4)                                                      \
    X(KN_CU_LAUNCH_CLUSTER_DIMENSION, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, 4)                              \
    X(KN_CU_LAUNCH_COOPERATIVE, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, 2)                                          \
    X(KN_CU_LAUNCH_PROGRAMMATIC, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, 6)                   \
    X(KN_CU_USER_OBJECT_NO_DESTRUCTOR_SYNC, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC, 1)                            \
    X(KN_CU_GRAPH_USER_OBJECT_MOVE, CU_GRAPH_USER_OBJECT_MOVE, 1)                                            \
    X(KN_CU_FUNC_MAX_THREADS_PER_BLOCK, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0)                          \
    X(KN_CU_FUNC_SHARED_SIZE_BYTES, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1)                                  \
    X(KN_CU_FUNC_CONST_SIZE_BYTES, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, 2)                                    \
    X(KN_CU_FUNC_LOCAL_SIZE_BYTES, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 3)                                    \
    X(KN_CU_FUNC_NUM_REGS, CU_FUNC_ATTRIBUTE_NUM_REGS, 4)                                                    \
    X(KN_CU_FUNC_PTX_VERSION, CU_FUNC_ATTRIBUTE_PTX_VERSION, 5)                                              \
    X(KN_CU_FUNC_BINARY_VERSION, CU_FUNC_ATTRIBUTE_BINARY_VERSION, 6)                                        \
    X(KN_CU_FUNC_MAX_DYNAMIC_SHARED, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 8)                     \
    X(KN_CU_FUNC_SHARED_CARVEOUT, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 9)                     \
    X(KN_CU_FUNC_NON_PORTABLE_CLUSTER, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 14)              \
    X(KN_CU_MAX_THREADS_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1)                             \
    X(KN_CU_MAX_GRID_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 5)                                           \
    X(KN_CU_MAX_SHARED_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 8)                        \
    X(KN_CU_WARP_SIZE, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 10)                                                    \
    X(KN_CU_CLOCK_RATE, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 13)                                                  \
    X(KN_CU_MULTIPROCESSOR_COUNT, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16)                              \
    X(KN_CU_INTEGRATED, CU_DEVICE_ATTRIBUTE_INTEGRATED, 18)                                                  \
    X(KN_CU_PCI_BUS_ID, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 33)                                                  \
    X(KN_CU_PCI_DEVICE_ID, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, 34)                                            \
    X(KN_CU_MEMORY_CLOCK_RATE, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 36)                                    \
    X(KN_CU_MEMORY_BUS_WIDTH, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 37)                               \
    X(KN_CU_L2_CACHE_SIZE, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 38)                                            \
    X(KN_CU_MAX_THREADS_PER_MULTIPROCESSOR, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 39)          \
    X(KN_CU_UNIFIED_ADDRESSING, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 41)                                  \
    X(KN_CU_PCI_DOMAIN_ID, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, 50)                                            \
    X(KN_CU_COMPUTE_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75)                                 \
    X(KN_CU_COMPUTE_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)                                 \
    X(KN_CU_MAX_SHARED_PER_MULTIPROCESSOR, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 81)     \
    X(KN_CU_MAX_REGISTERS_PER_MULTIPROCESSOR, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 82)      \
    X(KN_CU_VIRTUAL_MEMORY, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 102)                    \
    X(KN_CU_RDMA_WITH_VIRTUAL_MEMORY, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED, 110)      \
    X(KN_CU_MANAGED_MEMORY, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 83)                                          \
    X(KN_CU_MEM_ATTACH_GLOBAL, CU_MEM_ATTACH_GLOBAL, 1)                                                      \
    X(KN_CU_MEM_PINNED, CU_MEM_ALLOCATION_TYPE_PINNED, 1)                                                    \
    X(KN_CU_MEM_ON_DEVICE, CU_MEM_LOCATION_TYPE_DEVICE, 1)                                                   \
    X(KN_CU_MEM_READ_WRITE, CU_MEM_ACCESS_FLAGS_PROT_READWRITE, 3)                                           \
    X(KN_CU_MEM_GRANULARITY_MINIMUM, CU_MEM_ALLOC_GRANULARITY_MINIMUM, 0)                                    \
    X(KN_CU_COOPERATIVE_LAUNCH, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 95)                                  \
    X(KN_CU_MAX_SHARED_PER_BLOCK_OPTIN, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 97)           \
    X(KN_CU_RESERVED_SHARED_PER_BLOCK, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 111)

#define X(ours, theirs, value) ours = value,
enum kn_cu_constants { KN_CU_CONSTANTS(X) };
#undef X

typedef union kn_cu_attribute_value {
    char pad[64];
    int flag;
    struct {
        unsigned x, y, z;
    } cluster;
} kn_cu_attribute_value;

typedef struct kn_cu_attribute {
    int id;
    char pad[4];
    kn_cu_attribute_value value;
} kn_cu_attribute;

typedef struct kn_cu_launch_config {
    unsigned grid_x, grid_y, grid_z;
    unsigned block_x, block_y, block_z;
    unsigned shared_bytes;
    kn_cu_stream stream;
    kn_cu_attribute *attributes;
    unsigned attribute_count;
} kn_cu_launch_config;

typedef struct kn_cu_memory_place {
    int kind, device;
} kn_cu_memory_place;

typedef struct kn_cu_memory_traits {
    int kind, handle_kinds;
    kn_cu_memory_place place;
    void *windows;
    unsigned char compression, is_rdma_capable;
    unsigned short usage;
    unsigned char reserved[4];
} kn_cu_memory_traits;

typedef struct kn_cu_memory_access {
    kn_cu_memory_place place;
    int flags;
} kn_cu_memory_access;

/* The functions: X(name, symbol that libcuda exports, parameters). Those under OPTIONAL came with later
 * drivers (11.8, 12.4) or serve rare needs: NULL where the driver has none. */
#define KN_CU_REQUIRED(X)                                                                                    \
    X(Init, cuInit, (unsigned flags))                                                                        \
    X(DriverGetVersion, cuDriverGetVersion, (int *version))                                                  \
    X(GetErrorName, cuGetErrorName, (kn_cu_result result, const char **text))                                \
    X(GetErrorString, cuGetErrorString, (kn_cu_result result, const char **text))                            \
    X(DeviceGet, cuDeviceGet, (kn_cu_device * device, int ordinal))                                          \
    X(DeviceGetCount, cuDeviceGetCount, (int *count))                                                        \
    X(DeviceGetName, cuDeviceGetName, (char *name, int size, kn_cu_device device))                           \
    X(DeviceTotalMem, cuDeviceTotalMem_v2, (size_t * bytes, kn_cu_device device))                            \
    X(DeviceGetAttribute, cuDeviceGetAttribute, (int *value, int attribute, kn_cu_device device))            \
    X(DeviceCanAccessPeer, cuDeviceCanAccessPeer, (int *can, kn_cu_device device, kn_cu_device peer))        \
    X(DevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (kn_cu_context * context, kn_cu_device device))      \
    X(CtxGetCurrent, cuCtxGetCurrent, (kn_cu_context * context))                                             \
    X(CtxPushCurrent, cuCtxPushCurrent_v2, (kn_cu_context context))                                          \
    X(CtxPopCurrent, cuCtxPopCurrent_v2, (kn_cu_context * context))                                          \
    X(CtxSynchronize, cuCtxSynchronize, (void))                                                              \
    X(CtxEnablePeerAccess, cuCtxEnablePeerAccess, (kn_cu_context peer, unsigned flags))                      \
    X(MemAlloc, cuMemAlloc_v2, (kn_cu_address * address, size_t size))                                       \
    X(MemFree, cuMemFree_v2, (kn_cu_address address))                                                        \
    X(MemGetInfo, cuMemGetInfo_v2, (size_t * free_bytes, size_t * total))                                    \
    X(MemHostAlloc, cuMemHostAlloc, (void **pointer, size_t size, unsigned flags))                           \
    X(MemFreeHost, cuMemFreeHost, (void *pointer))                                                           \
    X(MemcpyHtoDAsync, cuMemcpyHtoDAsync_v2,                                                                 \
      (kn_cu_address to, const void *from, size_t size, kn_cu_stream stream))                                \
    X(MemcpyDtoHAsync, cuMemcpyDtoHAsync_v2,                                                                 \
      (void *to, kn_cu_address from, size_t size, kn_cu_stream stream))                                      \
    X(MemcpyDtoDAsync, cuMemcpyDtoDAsync_v2,                                                                 \
      (kn_cu_address to, kn_cu_address from, size_t size, kn_cu_stream stream))                              \
    X(MemcpyPeerAsync, cuMemcpyPeerAsync,                                                                    \
      (kn_cu_address to, kn_cu_context to_context, kn_cu_address from, kn_cu_context from_context,           \
       size_t size, kn_cu_stream stream))                                                                    \
    X(MemsetD8Async, cuMemsetD8Async,                                                                        \
      (kn_cu_address to, unsigned char value, size_t count, kn_cu_stream stream))                            \
    X(MemsetD16Async, cuMemsetD16Async,                                                                      \
      (kn_cu_address to, unsigned short value, size_t count, kn_cu_stream stream))                           \
    X(MemsetD32Async, cuMemsetD32Async,                                                                      \
      (kn_cu_address to, unsigned value, size_t count, kn_cu_stream stream))                                 \
    X(StreamCreate, cuStreamCreate, (kn_cu_stream * stream, unsigned flags))                                 \
    X(StreamDestroy, cuStreamDestroy_v2, (kn_cu_stream stream))                                              \
    X(StreamSynchronize, cuStreamSynchronize, (kn_cu_stream stream))                                         \
    X(StreamQuery, cuStreamQuery, (kn_cu_stream stream))                                                     \
    X(StreamWaitEvent, cuStreamWaitEvent, (kn_cu_stream stream, kn_cu_event event, unsigned flags))          \
    X(StreamGetCtx, cuStreamGetCtx, (kn_cu_stream stream, kn_cu_context * context))                          \
    X(StreamIsCapturing, cuStreamIsCapturing, (kn_cu_stream stream, int *status))                            \
    X(StreamGetCaptureInfo, cuStreamGetCaptureInfo_v2,                                                       \
      (kn_cu_stream stream, int *status, unsigned long long *id, kn_cu_graph *graph,                         \
       const kn_cu_graph_node **dependencies, size_t *dependency_count))                                     \
    X(StreamBeginCapture, cuStreamBeginCapture_v2, (kn_cu_stream stream, int mode))                          \
    X(StreamEndCapture, cuStreamEndCapture, (kn_cu_stream stream, kn_cu_graph * graph))                      \
    X(ThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode, (int *mode))                       \
    X(EventCreate, cuEventCreate, (kn_cu_event * event, unsigned flags))                                     \
    X(EventDestroy, cuEventDestroy_v2, (kn_cu_event event))                                                  \
    X(EventRecord, cuEventRecord, (kn_cu_event event, kn_cu_stream stream))                                  \
    X(EventSynchronize, cuEventSynchronize, (kn_cu_event event))                                             \
    X(EventQuery, cuEventQuery, (kn_cu_event event))                                                         \
    X(EventElapsedTime, cuEventElapsedTime, (float *milliseconds, kn_cu_event start, kn_cu_event end))       \
    X(ModuleLoadDataEx, cuModuleLoadDataEx,                                                                  \
      (kn_cu_module * module, const void *image, unsigned option_count, int *options, void **values))        \
    X(ModuleUnload, cuModuleUnload, (kn_cu_module module))                                                   \
    X(ModuleGetFunction, cuModuleGetFunction,                                                                \
      (kn_cu_function * function, kn_cu_module module, const char *name))                                    \
    X(ModuleGetGlobal, cuModuleGetGlobal_v2,                                                                 \
      (kn_cu_address * address, size_t * size, kn_cu_module module, const char *name))                       \
    X(FuncGetAttribute, cuFuncGetAttribute, (int *value, int attribute, kn_cu_function function))            \
    X(FuncSetAttribute, cuFuncSetAttribute, (kn_cu_function function, int attribute, int value))             \
    X(OccupancyMaxActiveBlocks, cuOccupancyMaxActiveBlocksPerMultiprocessor,                                 \
      (int *blocks, kn_cu_function function, int block_size, size_t shared_bytes))                           \
    X(LaunchKernel, cuLaunchKernel,                                                                          \
      (kn_cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,         \
       unsigned block_y, unsigned block_z, unsigned shared_bytes, kn_cu_stream stream, void **params,        \
       void **extra))                                                                                        \
    X(GraphInstantiate, cuGraphInstantiateWithFlags,                                                         \
      (kn_cu_graph_exec * exec, kn_cu_graph graph, unsigned long long flags))                                \
    X(GraphLaunch, cuGraphLaunch, (kn_cu_graph_exec exec, kn_cu_stream stream))                              \
    X(GraphExecDestroy, cuGraphExecDestroy, (kn_cu_graph_exec exec))                                         \
    X(GraphDestroy, cuGraphDestroy, (kn_cu_graph graph))                                                     \
    X(GraphGetNodes, cuGraphGetNodes, (kn_cu_graph graph, kn_cu_graph_node * nodes, size_t * count))         \
    X(UserObjectCreate, cuUserObjectCreate,                                                                  \
      (kn_cu_user_object * object, void *pointer, void (*destroy)(void *), unsigned references,              \
       unsigned flags))                                                                                      \
    X(UserObjectRelease, cuUserObjectRelease, (kn_cu_user_object object, unsigned count))                    \
    X(GraphRetainUserObject, cuGraphRetainUserObject,                                                        \
      (kn_cu_graph graph, kn_cu_user_object object, unsigned count, unsigned flags))

#define KN_CU_OPTIONAL(X)                                                                                    \
    X(LaunchKernelEx, cuLaunchKernelEx,                                                                      \
      (const kn_cu_launch_config *config, kn_cu_function function, void **params, void **extra))             \
    X(FuncGetParamInfo, cuFuncGetParamInfo,                                                                  \
      (kn_cu_function function, size_t index, size_t * offset, size_t * size))                               \
    X(FuncLoad, cuFuncLoad, (kn_cu_function function))                                                       \
    X(LinkCreate, cuLinkCreate_v2, (unsigned option_count, int *options, void **values, kn_cu_link *link))   \
    X(LinkAddData, cuLinkAddData_v2,                                                                         \
      (kn_cu_link link, int kind, void *data, size_t size, const char *name, unsigned option_count,          \
       int *options, void **values))                                                                         \
    X(LinkAddFile, cuLinkAddFile_v2,                                                                         \
      (kn_cu_link link, int kind, const char *path, unsigned option_count, int *options, void **values))     \
    X(LinkComplete, cuLinkComplete, (kn_cu_link link, void **image, size_t *size))                           \
    X(MemAllocManaged, cuMemAllocManaged, (kn_cu_address * address, size_t size, unsigned flags))            \
    X(LinkDestroy, cuLinkDestroy, (kn_cu_link link))                                                         \
    X(MemGetAllocationGranularity, cuMemGetAllocationGranularity,                                            \
      (size_t * bytes, const kn_cu_memory_traits *traits, int option))                                       \
    X(MemAddressReserve, cuMemAddressReserve,                                                                \
      (kn_cu_address * address, size_t size, size_t alignment, kn_cu_address wish,                           \
       unsigned long long flags))                                                                            \
    X(MemAddressFree, cuMemAddressFree, (kn_cu_address address, size_t size))                                \
    X(MemCreate, cuMemCreate,                                                                                \
      (kn_cu_handle * handle, size_t size, const kn_cu_memory_traits *traits, unsigned long long flags))     \
    X(MemRelease, cuMemRelease, (kn_cu_handle handle))                                                       \
    X(MemMap, cuMemMap,                                                                                      \
      (kn_cu_address address, size_t size, size_t offset, kn_cu_handle handle, unsigned long long flags))    \
    X(MemUnmap, cuMemUnmap, (kn_cu_address address, size_t size))                                            \
    X(MemSetAccess, cuMemSetAccess,                                                                          \
      (kn_cu_address address, size_t size, const kn_cu_memory_access *access, size_t count))

typedef struct kn_cu_driver {
#define X(name, symbol, parameters) kn_cu_result(*name) parameters;
    KN_CU_REQUIRED(X)
    KN_CU_OPTIONAL(X)
#undef X
} kn_cu_driver;

/* Filled by kn_cuda_load; constant afterwards. */
extern kn_cu_driver kn_cuda;

/* Loads the driver and starts it, once; later calls give the same answer. KILN_LIBCUDA names another library
 * than libcuda.so.1. */
kiln_status kn_cuda_load(int *device_count);
/* Why there is no device; "" where there is one. Static. */
const char *kn_cuda_why_not(void);
/* The CUDA version that the driver supports, 13000 for 13.0. */
int kn_cuda_version(void);
/* The result of all driver calls in a child that was forked after CUDA had been started (kn_cuda_lost). */
enum { KN_CU_LOST = -1 };

/* Sets the last error for a failed driver call; late errors of the device name the kernel that was launched
 * last. */
kiln_status kn_cuda_error(kn_cu_result result, const char *call);

static inline kiln_status kn_cuda_check(kn_cu_result result, const char *call)
{
    return result == KN_CU_SUCCESS ? KILN_OK : kn_cuda_error(result, call);
}

/* The answer of a query, for which "not ready" is no error. */
static inline kiln_status kn_cuda_answer(kn_cu_result result, const char *call, bool *done)
{
    *done = result == KN_CU_SUCCESS;
    return result == KN_CU_NOT_READY ? KILN_OK : kn_cuda_check(result, call);
}

static inline kn_cu_result kn_cuda_called(kn_cu_result result)
{
    kn_cancel_release(NULL);
    return result;
}

/* KN_CU_CALL(MemAlloc, &address, size): calls the driver. It locks, waits and reads files, so no thread is
 * cancelled inside; tools/check_layers refuses calls that go past this. */
#define KN_CU_CALL(name, ...) kn_cuda_called((kn_cancel_hold(), kn_cuda.name(__VA_ARGS__)))
/* The same where the thread is not cancelled anyway (KN_UNCANCELLED): for what every launch asks. */
#define KN_CU_HELD(name, ...) (kn_cuda.name(__VA_ARGS__))
/* KN_CU_CALL gives a status. */
#define KN_CU(name, ...) kn_cuda_check(KN_CU_CALL(name, __VA_ARGS__), "cu" #name)

#ifdef __cplusplus
}
#endif
#endif
