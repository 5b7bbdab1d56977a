// SPDX-License-Identifier: Apache-2.0
// cuda_kernel.h: the contract between kernels that mslc compiles for NVIDIA's GPUs and the CUDA
// device that runs them. The code of a kernel is a CudaKernelInfo and then PTX, as text with a zero
// behind it. Change anything: raise ABI_VERSION.
#ifndef INGOT_ABI_CUDA_KERNEL_H
#define INGOT_ABI_CUDA_KERNEL_H
#include <stdint.h>
#include "abi/cpu_kernel.h"

#define CUDA_KERNEL_SYMBOL "ingot_kernel"
#define CUDA_KERNEL_MAGIC "ingotpt3"
#define CUDA_LEAST_TARGET 80 // sm_80: what the device library is written for

enum { // CudaKernelInfo.flags
    // Its threads lie in one line, whatever the shape of the threadgroup: a block of so many x 1 x
    // 1 threads. Kernels that look at who shares a SIMD-group need it: in a threadgroup that the
    // grid's edge cuts, SIMD-groups consist of the threads that are left, one after the other.
    CUDA_KERNEL_LINE = 1,
    // It logs, or checks its accesses: behind the words of the grid it has one more parameter of 64
    // bits, the address of a CudaSurroundings.
    CUDA_KERNEL_SURROUNDINGS = 2,
    // Of memory that others see it reaches what slots_read and slots_written say, and nothing else.
    CUDA_KERNEL_KNOWN = 4,
};
enum { CUDA_MAX_CONSTANTS = 32, CUDA_CONSTANT_SLOTS = 32, CUDA_CONSTANT_BYTES = 256 };
typedef struct CudaKernelInfo {
    char magic[8];
    uint32_t abi, flags;
    uint32_t n_slots;
    uint32_t threadgroup_bytes; // static threadgroup memory
    uint32_t shape[3];          // the threadgroup size this code is for; 0,0,0: any
    // Shared memory that the device library uses, before the threadgroup memory: a launch needs
    // both and what the threadgroup arguments take.
    uint32_t library_bytes;
    // Words of constants that are parameters, behind the words of the grid: of which slot (the
    // upper eight bits), and which (of 4 bytes).
    uint32_t n_constants;
    uint16_t constants[CUDA_MAX_CONSTANTS];
    uint32_t only_constants;            // a bit for each slot of which nothing else is read
    uint64_t slots_read, slots_written; // with CUDA_KERNEL_KNOWN: a bit for each
    // Two more texts, each with a zero behind it, if the kernel reads textures: PTX that decodes
    // compressed blocks, and PTX that stands in its place while a device has no such textures. The
    // kernel is linked with one of them. 0: none.
    uint32_t blocks_bytes, no_blocks_bytes;
} CudaKernelInfo;

// Behind the slots (64 bits each: an address, an offset into the threadgroup memory, a handle) the
// last parameters of a kernel. A grid may be launched in pieces: `first` is the threadgroup of the
// piece's first block.
enum {
    CUDA_GRID_THREADS = 0,
    CUDA_GRID_GROUPS = 3,
    CUDA_GRID_FIRST = 6,
    CUDA_GRID_SIZE = 9,
    CUDA_GRID_ORIGIN = 12,
    CUDA_GRID_REGION = 15,
    CUDA_GRID_WHOLE = 18,
    CUDA_GRID_GIVEN = 19,
    CUDA_GRID_VIEWS = 20,
    CUDA_GRID_WORDS = 22
};
typedef struct CudaGrid {
    uint32_t threads[3], groups[3], first[3]; // as dispatched
    uint32_t size[3];                         // of a threadgroup that nothing cuts
    uint32_t origin[3], region[3];            // of stage inputs
    uint32_t whole;                           // 1: the grid's edge cuts no threadgroup
    uint32_t given; // a bit for each slot: its words of constants are the parameters
    // Where the table of pools of texture views is: by the number of a view the address of its
    // AbiTexture, or 0. 64 bits, 0: there are none.
    uint32_t views[2];
} CudaGrid;

// What kernels log and report, for the host to read when they are done: notes one behind the other,
// each a multiple of 8 bytes. What does not find room is only counted.
typedef struct CudaNotes {
    uint64_t n_bytes;  // that were asked for: raised by kernels
    uint64_t capacity; // of `data`
    unsigned char data[];
} CudaNotes;
enum { CUDA_NOTE_REPORT = 1, CUDA_NOTE_LOG };
enum { CUDA_LOG_ARGS = 128, CUDA_LOG_TEXT = 512 }; // the most; bytes of a text
enum { CUDA_LOG_IS_TEXT = 5 };                     // in a tag: stdlib/detail/logging.h
typedef struct CudaNote {
    uint32_t n_bytes, kind;
    uint64_t dispatch; // CudaSurroundings.dispatch
    union {
        AbiReport report;
        // Behind it pairs of tag and value, then texts, each with a zero: subsystem, category,
        // format, and those of arguments, whose values are the bytes from the note's start to them
        // (0: none).
        struct {
            uint32_t type, n_args;
        } log;
    };
} CudaNote;

// As a launch on the CPU says it; addresses are the GPU's. Of it kernels read args, lengths, live;
// log_context is a CudaNotes.
typedef struct CudaSurroundings {
    CpuLaunch launch;
    uint64_t dispatch; // the host's name for it
} CudaSurroundings;
_Static_assert(sizeof(CudaGrid) == CUDA_GRID_WORDS * 4, "words in this order");
#endif
