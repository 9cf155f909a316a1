// Our declarations of the driver interface against the real cuda.h: constants, layouts, parameters; and the
// symbols against the toolkit's stub.
#include <cuda.h>
#include <dlfcn.h>

#include <cstddef>
#include <cstdio>
#include <type_traits>

#include "device/cuda_driver.h"

#define X(ours, theirs, value) static_assert((int)(value) == (int)(theirs), #theirs);
KN_CU_CONSTANTS(X)
#undef X

#define SAME_PLACE(ours, our_field, theirs, their_field)                                                     \
    static_assert(offsetof(ours, our_field) == offsetof(theirs, their_field), #their_field)
static_assert(sizeof(kn_cu_launch_config) == sizeof(CUlaunchConfig), "launch configuration");
SAME_PLACE(kn_cu_launch_config, grid_x, CUlaunchConfig, gridDimX);
SAME_PLACE(kn_cu_launch_config, grid_z, CUlaunchConfig, gridDimZ);
SAME_PLACE(kn_cu_launch_config, block_x, CUlaunchConfig, blockDimX);
SAME_PLACE(kn_cu_launch_config, block_z, CUlaunchConfig, blockDimZ);
SAME_PLACE(kn_cu_launch_config, shared_bytes, CUlaunchConfig, sharedMemBytes);
SAME_PLACE(kn_cu_launch_config, stream, CUlaunchConfig, hStream);
SAME_PLACE(kn_cu_launch_config, attributes, CUlaunchConfig, attrs);
SAME_PLACE(kn_cu_launch_config, attribute_count, CUlaunchConfig, numAttrs);
static_assert(sizeof(kn_cu_attribute) == sizeof(CUlaunchAttribute), "launch attribute");
SAME_PLACE(kn_cu_attribute, id, CUlaunchAttribute, id);
SAME_PLACE(kn_cu_attribute, value, CUlaunchAttribute, value);
SAME_PLACE(kn_cu_attribute_value, flag, CUlaunchAttributeValue, cooperative);
SAME_PLACE(kn_cu_attribute_value, flag, CUlaunchAttributeValue, programmaticStreamSerializationAllowed);
SAME_PLACE(kn_cu_attribute_value, cluster, CUlaunchAttributeValue, clusterDim);

static_assert(sizeof(kn_cu_memory_traits) == sizeof(CUmemAllocationProp), "traits of memory");
SAME_PLACE(kn_cu_memory_traits, kind, CUmemAllocationProp, type);
SAME_PLACE(kn_cu_memory_traits, place, CUmemAllocationProp, location);
SAME_PLACE(kn_cu_memory_traits, is_rdma_capable, CUmemAllocationProp, allocFlags.gpuDirectRDMACapable);
static_assert(sizeof(kn_cu_memory_access) == sizeof(CUmemAccessDesc), "access to memory");
SAME_PLACE(kn_cu_memory_access, place, CUmemAccessDesc, location);
SAME_PLACE(kn_cu_memory_access, flags, CUmemAccessDesc, flags);
SAME_PLACE(kn_cu_memory_place, device, CUmemLocation, id);

// Two parameters agree where they travel alike: both pointers, or both integers of a size; pointees that are
// no handles agree in size, too.
template <class T> constexpr bool is_integer = std::is_integral<T>::value || std::is_enum<T>::value;
template <class T> struct size_or_one : std::integral_constant<size_t, 1> {
};
template <class T> struct size_or_one<T *> : size_or_one<T> {
};
template <> struct size_or_one<int> : std::integral_constant<size_t, 4> {
};
template <> struct size_or_one<unsigned> : std::integral_constant<size_t, 4> {
};
template <> struct size_or_one<size_t> : std::integral_constant<size_t, 8> {
};
template <> struct size_or_one<unsigned long long> : std::integral_constant<size_t, 8> {
};

template <class A, class B> constexpr bool agree()
{
    if (std::is_pointer<A>::value && std::is_pointer<B>::value) {
        using P = std::remove_pointer_t<A>;
        using Q = std::remove_pointer_t<B>;
        if (is_integer<P> && is_integer<Q>)
            return size_or_one<P>::value == size_or_one<Q>::value || std::is_enum<Q>::value;
        return std::is_pointer<P>::value == std::is_pointer<Q>::value;
    }
    return is_integer<A> && is_integer<B> && sizeof(A) == sizeof(B);
}

template <class F, class G> struct same_call : std::false_type {
};
template <class R, class... P, class S, class... Q> struct same_call<R (*)(P...), S (*)(Q...)> {
    template <bool Count, class = void> struct check : std::false_type {
    };
    template <class V> struct check<true, V> : std::integral_constant<bool, (agree<P, Q>() && ... && true)> {
    };
    static constexpr bool value = check<sizeof...(P) == sizeof...(Q)>::value;
};

// Every function but cuStreamGetCaptureInfo_v2, which the header keeps for old programs alone.
#define SAME_CALL(ours, theirs)                                                                              \
    static_assert(same_call<decltype(kn_cu_driver::ours), decltype(&theirs)>::value, #theirs)
SAME_CALL(Init, cuInit);
SAME_CALL(DriverGetVersion, cuDriverGetVersion);
SAME_CALL(GetErrorName, cuGetErrorName);
SAME_CALL(GetErrorString, cuGetErrorString);
SAME_CALL(DeviceGet, cuDeviceGet);
SAME_CALL(DeviceGetCount, cuDeviceGetCount);
SAME_CALL(DeviceGetName, cuDeviceGetName);
SAME_CALL(DeviceTotalMem, cuDeviceTotalMem_v2);
SAME_CALL(DeviceGetAttribute, cuDeviceGetAttribute);
SAME_CALL(DeviceCanAccessPeer, cuDeviceCanAccessPeer);
SAME_CALL(DevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain);
SAME_CALL(CtxGetCurrent, cuCtxGetCurrent);
SAME_CALL(CtxPushCurrent, cuCtxPushCurrent_v2);
SAME_CALL(CtxPopCurrent, cuCtxPopCurrent_v2);
SAME_CALL(CtxSynchronize, cuCtxSynchronize);
SAME_CALL(CtxEnablePeerAccess, cuCtxEnablePeerAccess);
SAME_CALL(MemAlloc, cuMemAlloc_v2);
SAME_CALL(MemFree, cuMemFree_v2);
SAME_CALL(MemGetInfo, cuMemGetInfo_v2);
SAME_CALL(MemHostAlloc, cuMemHostAlloc);
SAME_CALL(MemFreeHost, cuMemFreeHost);
SAME_CALL(MemcpyHtoDAsync, cuMemcpyHtoDAsync_v2);
SAME_CALL(MemcpyDtoHAsync, cuMemcpyDtoHAsync_v2);
SAME_CALL(MemcpyDtoDAsync, cuMemcpyDtoDAsync_v2);
SAME_CALL(MemcpyPeerAsync, cuMemcpyPeerAsync);
SAME_CALL(MemsetD8Async, cuMemsetD8Async);
SAME_CALL(MemsetD16Async, cuMemsetD16Async);
SAME_CALL(MemsetD32Async, cuMemsetD32Async);
SAME_CALL(StreamCreate, cuStreamCreate);
SAME_CALL(StreamDestroy, cuStreamDestroy_v2);
SAME_CALL(StreamSynchronize, cuStreamSynchronize);
SAME_CALL(StreamQuery, cuStreamQuery);
SAME_CALL(StreamWaitEvent, cuStreamWaitEvent);
SAME_CALL(StreamGetCtx, cuStreamGetCtx);
SAME_CALL(StreamIsCapturing, cuStreamIsCapturing);
SAME_CALL(StreamBeginCapture, cuStreamBeginCapture_v2);
SAME_CALL(StreamEndCapture, cuStreamEndCapture);
SAME_CALL(ThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode);
SAME_CALL(EventCreate, cuEventCreate);
SAME_CALL(EventDestroy, cuEventDestroy_v2);
SAME_CALL(EventRecord, cuEventRecord);
SAME_CALL(EventSynchronize, cuEventSynchronize);
SAME_CALL(EventQuery, cuEventQuery);
SAME_CALL(EventElapsedTime, cuEventElapsedTime);
SAME_CALL(ModuleLoadDataEx, cuModuleLoadDataEx);
SAME_CALL(ModuleUnload, cuModuleUnload);
SAME_CALL(ModuleGetFunction, cuModuleGetFunction);
SAME_CALL(ModuleGetGlobal, cuModuleGetGlobal_v2);
SAME_CALL(FuncGetAttribute, cuFuncGetAttribute);
SAME_CALL(FuncSetAttribute, cuFuncSetAttribute);
SAME_CALL(OccupancyMaxActiveBlocks, cuOccupancyMaxActiveBlocksPerMultiprocessor);
SAME_CALL(LaunchKernel, cuLaunchKernel);
SAME_CALL(GraphLaunch, cuGraphLaunch);
SAME_CALL(GraphExecDestroy, cuGraphExecDestroy);
SAME_CALL(GraphDestroy, cuGraphDestroy);
SAME_CALL(GraphGetNodes, cuGraphGetNodes);
SAME_CALL(UserObjectCreate, cuUserObjectCreate);
SAME_CALL(UserObjectRelease, cuUserObjectRelease);
SAME_CALL(GraphRetainUserObject, cuGraphRetainUserObject);
#if CUDA_VERSION >= 12000
SAME_CALL(GraphInstantiate, cuGraphInstantiate); // a macro for cuGraphInstantiateWithFlags
SAME_CALL(LaunchKernelEx, cuLaunchKernelEx);
#endif
#if CUDA_VERSION >= 12040
SAME_CALL(FuncLoad, cuFuncLoad);
SAME_CALL(MemAllocManaged, cuMemAllocManaged);
SAME_CALL(MemGetAllocationGranularity, cuMemGetAllocationGranularity);
SAME_CALL(MemAddressReserve, cuMemAddressReserve);
SAME_CALL(MemAddressFree, cuMemAddressFree);
SAME_CALL(MemCreate, cuMemCreate);
SAME_CALL(MemRelease, cuMemRelease);
SAME_CALL(MemMap, cuMemMap);
SAME_CALL(MemUnmap, cuMemUnmap);
SAME_CALL(MemSetAccess, cuMemSetAccess);
#endif

int main()
{
    int missing = 0;
#ifdef CUDA_STUB
    void *stub = dlopen(CUDA_STUB, RTLD_LAZY | RTLD_LOCAL);
    if (!stub) {
        std::printf("the stub does not load: %s\n", dlerror());
        return 1;
    }
#define X(name, symbol, parameters)                                                                          \
    if (!dlsym(stub, #symbol)) {                                                                             \
        std::printf("%s exports no " #symbol "\n", CUDA_STUB);                                               \
        missing++;                                                                                           \
    }
    KN_CU_REQUIRED(X)
    KN_CU_OPTIONAL(X)
#undef X
    dlclose(stub);
#endif
    return missing > 0;
}
