// SPDX-License-Identifier: Apache-2.0
// driver.h: the part of NVIDIA's driver API that the device needs, declared by hand and found in
// libcuda.so.1 when it is first asked for: neither the build nor a machine without a GPU needs
// anything of NVIDIA's. Names and numbers are those of the API's documentation.
#ifndef INGOT_CUDA_DRIVER_H
#define INGOT_CUDA_DRIVER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUkernelNode { // CUDA_KERNEL_NODE_PARAMS, its first version
    CUfunction function;
    unsigned grid[3], block[3], shared_bytes;
    void **parameters, **extra;
} CUkernelNode;
typedef struct CUlinkState_st *CUlinkState;
typedef struct CUmemPoolHandle_st *CUmemoryPool;
typedef struct CUmemPoolProps {
    int allocation, handles; // 1: pinned to the device; 0: not for other processes
    int location, device;    // 1: a device, and which
    void *security;
    size_t max_bytes; // 0: no limit
    unsigned char reserved[56];
} CUmemPoolProps;

typedef struct CUmemcpy2D {
    size_t from_x, from_y;
    int from_kind; // CU_MEMORYTYPE_...
    const void *from_host;
    CUdeviceptr from_device;
    void *from_array;
    size_t from_pitch;
    size_t to_x, to_y;
    int to_kind;
    void *to_host;
    CUdeviceptr to_device;
    void *to_array;
    size_t to_pitch;
    size_t width, height; // bytes of a row, rows
} CUmemcpy2D;

enum { // CUresult
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_ILLEGAL_ADDRESS = 700,
    CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
    CUDA_ERROR_LAUNCH_TIMEOUT = 702,
    CUDA_ERROR_HARDWARE_STACK_ERROR = 714,
    CUDA_ERROR_ILLEGAL_INSTRUCTION = 715,
    CUDA_ERROR_MISALIGNED_ADDRESS = 716,
    CUDA_ERROR_INVALID_ADDRESS_SPACE = 717,
    CUDA_ERROR_INVALID_PC = 718,
    CUDA_ERROR_LAUNCH_FAILED = 719,
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900, // and those behind it, for other reasons
    CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD = 908,
    CUDA_ERROR_UNKNOWN = 999,
};
enum { // CUdevice_attribute
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_DEVICE_ATTRIBUTE_PCI_BUS_ID = 33,
    CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING = 41,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
    CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED = 115,
};
// The stream of those who name none.
#define CU_STREAM_LEGACY ((CUstream)(uintptr_t)1)
enum { // flags and other enumerations
    CU_MEMORYTYPE_UNIFIED = 4,
    CU_STREAM_NON_BLOCKING = 1,
    CU_EVENT_DISABLE_TIMING = 2,
    CU_MEMHOSTALLOC_PORTABLE = 1,
    CU_MEMHOSTALLOC_DEVICEMAP = 2,
    CU_MEMHOSTREGISTER_PORTABLE = 1,
    CU_MEMHOSTREGISTER_DEVICEMAP = 2,
    CU_CTX_SCHED_SPIN = 1,
    CU_CTX_MAP_HOST = 8,
    CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
    CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
    CU_FUNC_ATTRIBUTE_NUM_REGS = 4,
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
    CU_JIT_OPTIMIZATION_LEVEL = 7,
    CU_JIT_ERROR_LOG_BUFFER = 5,
    CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
    CU_JIT_INPUT_CUBIN = 0,
    CU_JIT_INPUT_PTX = 1,
    CU_MEMPOOL_ATTR_RELEASE_THRESHOLD = 4,
    CU_STREAM_CAPTURE_MODE_RELAXED = 2,
};

// F(function, its arguments): each returns a CUresult.
#define CUDA_FUNCTIONS(F)                                                                          \
    F(cuInit, (unsigned flags))                                                                    \
    F(cuDriverGetVersion, (int *version))                                                          \
    F(cuGetErrorName, (CUresult error, const char **name))                                         \
    F(cuDeviceGetCount, (int *count))                                                              \
    F(cuDeviceGet, (CUdevice * device, int ordinal))                                               \
    F(cuDeviceGetName, (char *name, int n_bytes, CUdevice device))                                 \
    F(cuDeviceTotalMem_v2, (size_t *n_bytes, CUdevice device))                                     \
    F(cuDeviceGetAttribute, (int *value, int attribute, CUdevice device))                          \
    F(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))                            \
    F(cuDevicePrimaryCtxRelease_v2, (CUdevice device))                                             \
    F(cuDevicePrimaryCtxReset_v2, (CUdevice device))                                               \
    F(cuCtxCreate_v2, (CUcontext * context, unsigned flags, CUdevice device))                      \
    F(cuCtxDestroy_v2, (CUcontext context))                                                        \
    F(cuCtxPushCurrent_v2, (CUcontext context))                                                    \
    F(cuCtxPopCurrent_v2, (CUcontext * context))                                                   \
    F(cuMemGetInfo_v2, (size_t *free, size_t *total))                                              \
    F(cuMemAlloc_v2, (CUdeviceptr * address, size_t n_bytes))                                      \
    F(cuMemFree_v2, (CUdeviceptr address))                                                         \
    F(cuMemHostAlloc, (void **address, size_t n_bytes, unsigned flags))                            \
    F(cuMemFreeHost, (void *address))                                                              \
    F(cuMemHostRegister_v2, (void *address, size_t n_bytes, unsigned flags))                       \
    F(cuMemHostUnregister, (void *address))                                                        \
    F(cuMemHostGetDevicePointer_v2, (CUdeviceptr * address, void *host, unsigned flags))           \
    F(cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, size_t n_bytes, CUstream stream))          \
    F(cuMemcpy2DAsync_v2, (const CUmemcpy2D *copy, CUstream stream))                               \
    F(cuMemsetD8Async, (CUdeviceptr to, unsigned char value, size_t n_bytes, CUstream stream))     \
    F(cuMemsetD32Async, (CUdeviceptr to, unsigned value, size_t n, CUstream stream))               \
    F(cuLinkCreate_v2, (unsigned n, int *options, void **values, CUlinkState *state))              \
    F(cuLinkAddData_v2, (CUlinkState state, int type, void *data, size_t n_bytes,                  \
                         const char *name, unsigned n, int *options, void **values))               \
    F(cuLinkComplete, (CUlinkState state, void **cubin, size_t *n_bytes))                          \
    F(cuLinkDestroy, (CUlinkState state))                                                          \
    F(cuModuleLoadData, (CUmodule * module, const void *image))                                    \
    F(cuModuleUnload, (CUmodule module))                                                           \
    F(cuModuleGetFunction, (CUfunction * function, CUmodule module, const char *name))             \
    F(cuFuncGetAttribute, (int *value, int attribute, CUfunction function))                        \
    F(cuFuncSetAttribute, (CUfunction function, int attribute, int value))                         \
    F(cuLaunchKernel, (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,     \
                       unsigned block_x, unsigned block_y, unsigned block_z,                       \
                       unsigned shared_bytes, CUstream stream, void **parameters, void **extra))   \
    F(cuStreamCreate, (CUstream * stream, unsigned flags))                                         \
    F(cuStreamDestroy_v2, (CUstream stream))                                                       \
    F(cuStreamQuery, (CUstream stream))                                                            \
    F(cuStreamSynchronize, (CUstream stream))                                                      \
    F(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags))                         \
    F(cuEventCreate, (CUevent * event, unsigned flags))                                            \
    F(cuEventRecord, (CUevent event, CUstream stream))                                             \
    F(cuEventQuery, (CUevent event))                                                               \
    F(cuEventDestroy_v2, (CUevent event))                                                          \
    F(cuStreamBeginCapture_v2, (CUstream stream, int mode))                                        \
    F(cuStreamEndCapture, (CUstream stream, CUgraph * graph))                                      \
    F(cuGraphInstantiateWithFlags, (CUgraphExec * exec, CUgraph graph, unsigned long long flags))  \
    F(cuGraphDestroy, (CUgraph graph))                                                             \
    F(cuGraphGetRootNodes, (CUgraph graph, CUgraphNode * nodes, size_t *n))                        \
    F(cuGraphNodeGetDependentNodes, (CUgraphNode node, CUgraphNode * nodes, size_t *n))            \
    F(cuGraphExecKernelNodeSetParams,                                                              \
      (CUgraphExec exec, CUgraphNode node, const CUkernelNode *parameters))                        \
    F(cuGraphExecDestroy, (CUgraphExec exec))                                                      \
    F(cuGraphLaunch, (CUgraphExec exec, CUstream stream))

// Those a driver may lack: NULL then.
#define CUDA_OPTIONAL_FUNCTIONS(F)                                                                 \
    F(cuMemPoolCreate, (CUmemoryPool * pool, const CUmemPoolProps *properties))                    \
    F(cuMemPoolDestroy, (CUmemoryPool pool))                                                       \
    F(cuMemAllocFromPoolAsync,                                                                     \
      (CUdeviceptr * address, size_t n_bytes, CUmemoryPool pool, CUstream stream))                 \
    F(cuMemFreeAsync, (CUdeviceptr address, CUstream stream))                                      \
    F(cuMemPoolSetAttribute, (CUmemoryPool pool, int attribute, void *value))                      \
    F(cuMemPoolTrimTo, (CUmemoryPool pool, size_t n_bytes))                                        \
    F(cuGraphAddDependencies,                                                                      \
      (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t n))                   \
    F(cuGraphRemoveDependencies,                                                                   \
      (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t n))

typedef struct CudaDriver {
#define CUDA_MEMBER(name, arguments) CUresult(*name) arguments;
    CUDA_FUNCTIONS(CUDA_MEMBER)
    CUDA_OPTIONAL_FUNCTIONS(CUDA_MEMBER)
#undef CUDA_MEMBER
    int version; // 12040: CUDA 12.4
    int n_devices;
} CudaDriver;

// The driver, made ready at the first call; NULL: there is none, or it does not start, and
// cuda_driver_why says why. INGOT_CUDA_LIBRARY names another file than libcuda.so.1 (for tests).
const CudaDriver *cuda_driver(void);
const char *cuda_driver_why(void);
// "CUDA_ERROR_...", never NULL.
const char *cuda_error_name(CUresult error);
#endif
