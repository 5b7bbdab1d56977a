// SPDX-License-Identifier: Apache-2.0
// kernel.h: what every device and the runtime know of compiled kernels, whoever runs them: the
// version of the contracts, the width of a SIMD-group, and what code compiled with checks reports.
#ifndef INGOT_ABI_KERNEL_H
#define INGOT_ABI_KERNEL_H
#include <stdint.h>

#define ABI_VERSION 13u // code objects carry it; raised when anything compiled code knows changes
#define ABI_SIMD_WIDTH 32u    // threads of a SIMD-group, always
#define ABI_MAX_THREADS 1024u // of a threadgroup

// What shader validation found (code compiled with `validate`): reported once per active thread
// that made the access, which was then left out (a load gave zero).
typedef enum AbiBadAccess {
    ABI_BAD_LOAD = 0,
    ABI_BAD_STORE,
    ABI_BAD_ATOMIC,
    ABI_BAD_CALL, // of a null function (offset 0), or one that is too deep
} AbiBadAccess;
typedef enum AbiSpace {    // what the address was made from
    ABI_SPACE_BUFFER = 0,  // the buffer argument `slot`
    ABI_SPACE_THREADGROUP, // threadgroup memory: argument `slot`, or a variable of the kernel
    ABI_SPACE_THREAD,      // a variable of the thread
    ABI_SPACE_CONSTANT,    // a constant of the program
    ABI_SPACE_POINTER,     // a pointer read from memory
    ABI_SPACE_TEXTURE,     // a texture handle that is 0
} AbiSpace;
typedef struct AbiReport {
    uint32_t access;       // AbiBadAccess
    uint32_t space;        // AbiSpace
    uint32_t slot;         // of the argument the address was made from; UINT32_MAX: not one
    uint32_t n_bytes;      // of the access
    int64_t offset;        // bytes from the start of it; ABI_SPACE_POINTER: the address itself
    uint64_t length;       // bytes there are
    uint32_t thread[3];    // thread_position_in_grid
    uint32_t line, column; // in the source; 0: not known
} AbiReport;

// Memory of a live resource of the device.
typedef struct AbiSpan {
    uint64_t start, end;
} AbiSpan;
#endif
