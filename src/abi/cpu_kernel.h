// SPDX-License-Identifier: Apache-2.0
// cpu_kernel.h: the contract between compiled kernels (code objects: ELF shared objects that mslc
// writes) and the CPU device that runs them. codegen/wrap.c builds these structs' accesses in LLVM
// IR; _Static_asserts there and here keep the two in step. Change anything: raise ABI_VERSION.
#ifndef INGOT_ABI_CPU_KERNEL_H
#define INGOT_ABI_CPU_KERNEL_H
#include <stddef.h>
#include <stdint.h>
#include "abi/cpu_count.h"
#include "abi/cpu_rays.h"
#include "abi/cpu_tensor.h"
#include "abi/cpu_texture.h"
#include "abi/cpu_watch.h"
#include "abi/kernel.h"

#define CPU_KERNEL_SYMBOL "ingot_kernel"           // a CpuKernelFn
#define CPU_KERNEL_INFO_SYMBOL "ingot_kernel_info" // a const CpuKernelInfo

typedef struct CpuLaunch CpuLaunch;
// Logging from a kernel (os_log): called once per active thread, on the worker's thread.
// `args`: n records of {uint64_t tag; uint64_t value}, tags as in stdlib/metal_logging.
typedef void CpuLogFn(const CpuLaunch *launch, uint32_t type, const char *subsystem_category,
                      const char *format, const uint64_t *args, uint32_t n_args);

typedef void CpuReportFn(const CpuLaunch *launch, const AbiReport *report);

struct CpuLaunch {
    // [n_slots] buffers: address incl. offset. threadgroup parameters: byte offset into the
    // threadgroup memory (the static part of n bytes comes first), as an integer. Textures and
    // samplers: the handle (abi/texture.h).
    void *const *args;
    uint32_t threads_per_grid[3];
    uint32_t groups_per_grid[3];
    uint32_t group_size[3]; // as dispatched; groups at the edge are cut to threads_per_grid
    uint32_t grid_origin[3];
    CpuLogFn *log;
    void *log_context;
    const CpuTextureOps *textures; // never NULL
    // [n_slots] bytes from args[i] to the end of the buffer; threadgroup parameters: the length
    // set; 0 for the rest. Read by code compiled with `validate` only; NULL otherwise.
    const uint64_t *lengths;
    CpuReportFn *report; // never NULL in a launch of such code
    // For such code: what pointers and handles that are read from memory may stand for.
    const AbiLive *live;
    const CpuTensorOps *tensors; // never NULL
    uint32_t grid_size[3];       // with grid_origin the region of stage inputs, or threads_per_grid
    const CpuRayOps *rays;       // never NULL
    uint32_t view, n_views;      // object and mesh functions: of vertex amplification
    const CpuWatch *watch;       // never NULL in a launch of code that is watched
    // Not 0: the SIMD-groups of a threadgroup run in an order that this number gives. Read by code
    // compiled with MSL_WATCH_ORDER only.
    uint64_t schedule;
    CpuCountFn *count; // never NULL; called by code compiled with MSL_WATCH_COUNTS
};
_Static_assert(offsetof(CpuLaunch, log) == 56 && offsetof(CpuLaunch, textures) == 72 &&
                   offsetof(CpuLaunch, lengths) == 80 && offsetof(CpuLaunch, report) == 88 &&
                   offsetof(CpuLaunch, live) == 96 && offsetof(CpuLaunch, tensors) == 104 &&
                   offsetof(CpuLaunch, grid_size) == 112 && offsetof(CpuLaunch, rays) == 128 &&
                   offsetof(CpuLaunch, view) == 136 && offsetof(CpuLaunch, watch) == 144 &&
                   offsetof(CpuLaunch, schedule) == 152 && offsetof(CpuLaunch, count) == 160,
               "codegen knows this layout");

#define CPU_THREADGROUP_MARGIN 128u

// Runs threadgroups first .. end-1 (x fastest, then y, then z) one after the other.
//   threadgroup_memory  static bytes + dynamic lengths, 128-byte aligned; contents undefined.
//                       CPU_THREADGROUP_MARGIN bytes before and behind it are the caller's too:
//                       code reads them, and writes what it read
//   frames              frame_stride bytes for each SIMD-group of a threadgroup, 128-byte aligned;
//                       NULL if frame_stride is 0
typedef void CpuKernelFn(const CpuLaunch *launch, uint64_t first, uint64_t end,
                         void *threadgroup_memory, void *frames);

enum {                        // CpuKernelInfo.flags
    CPU_KERNEL_BARRIER = 1,   // has threadgroup barriers
    CPU_KERNEL_SIMD = 2,      // uses SIMD-group or quad-group functions
    CPU_KERNEL_LANES = 4,     // reference code: one lane at a time
    CPU_KERNEL_LOG = 8,       // may log
    CPU_KERNEL_VALIDATE = 16, // checks its accesses
    CPU_KERNEL_WATCHED = 32,  // and tells of them: it has CPU_SITES_SYMBOL
};
typedef struct CpuKernelInfo {
    uint32_t abi;
    uint32_t flags;
    uint32_t width; // lanes of one machine vector step: 32, 16, 8; 1 for reference code
    uint32_t n_slots;
    uint32_t shape[3];          // the threadgroup size this code is for; 0,0,0: any
    uint32_t threadgroup_bytes; // static threadgroup memory
    uint64_t frame_stride;      // bytes of a suspended SIMD-group; 0: it never suspends
    uint64_t stack_bytes;       // private memory of one SIMD-group, roughly
} CpuKernelInfo;
#endif
