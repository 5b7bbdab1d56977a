// SPDX-License-Identifier: Apache-2.0
// kernel.h: what every device and the runtime know of compiled kernels, whoever runs them: the
// version of the contracts, the width of a SIMD-group, and what code compiled with checks reports.
#ifndef INGOT_ABI_KERNEL_H
#define INGOT_ABI_KERNEL_H
#include <stdint.h>

#define ABI_VERSION 21u // code objects carry it; raised when anything compiled code knows changes
#define ABI_SIMD_WIDTH 32u    // threads of a SIMD-group, always
#define ABI_MAX_THREADS 1024u // of a threadgroup

// What shader validation found (code compiled with `validate`): reported once per active thread
// that made the access, which was then left out (a load gave zero).
typedef enum AbiBadAccess {
    ABI_BAD_LOAD = 0,
    ABI_BAD_STORE,
    ABI_BAD_ATOMIC,
    ABI_BAD_CALL, // of a null function (offset 0), or one that is too deep
    // From here on: what code compiled with MSL_WATCH_RACES finds (abi/cpu_watch.h).
    ABI_RACE,          // with the access of another thread: `other`
    ABI_UNWRITTEN,     // a load of memory that nobody wrote
    ABI_BARRIER_LEFT,  // a barrier that not all threads reached; `other`: one that did not
    ABI_BARRIER_MIXED, // threads wait at different barriers; `other`: the second one
    ABI_DIVISION,      // of an integer by zero, or one whose result there is not
    ABI_SHIFT,         // by as many bits as there are, or more
    ABI_NAN,           // made of numbers
    ABI_NOT_UNIFORM,   // an argument that must be the same for the SIMD-group; offset, length: two
    ABI_INACTIVE,      // a value of a thread (offset) that does not take part
    ABI_PARTIAL,       // a function that all threads of the SIMD-group must call
    ABI_TEXEL,         // outside the texture; offset: x and y, length: z and the level
    ABI_UNWATCHED,     // there was no memory to watch more
    ABI_N_BAD
} AbiBadAccess;
typedef enum AbiSpace {    // what the address was made from
    ABI_SPACE_BUFFER = 0,  // the buffer argument `slot`
    ABI_SPACE_THREADGROUP, // threadgroup memory: argument `slot`, or a variable of the kernel
    ABI_SPACE_THREAD,      // a variable of the thread
    ABI_SPACE_CONSTANT,    // a constant of the program
    ABI_SPACE_POINTER,     // a pointer read from memory
    ABI_SPACE_HANDLE,      // a handle: 0, or that of no live object
} AbiSpace;
typedef struct AbiReport {
    uint32_t access;  // AbiBadAccess
    uint32_t space;   // AbiSpace
    uint32_t slot;    // of the argument the address was made from; UINT32_MAX: not one
    uint32_t n_bytes; // of the access
    // Bytes from the start of it, and how many there are. ABI_SPACE_POINTER: the address itself.
    // ABI_SPACE_HANDLE: the handle, and the AbiLiveKind it should be of.
    int64_t offset;
    uint64_t length;
    uint32_t thread[3];    // thread_position_in_grid
    uint32_t line, column; // in the source; 0: not known
    uint64_t count;        // how often it happened; 0: once
    struct {               // ABI_RACE, ABI_BARRIER_*
        uint32_t access;   // AbiBadAccess
        uint32_t n_bytes;
        uint32_t thread[3];
        uint32_t line, column;
    } other;
    char name[32]; // of a variable of the kernel in threadgroup memory, or of a function; "": none
} AbiReport;

// Memory of a live resource of the device.
typedef struct AbiSpan {
    uint64_t start, end;
} AbiSpan;

// What a handle may stand for. Handles are 64 bits that kernels keep in memory like any other: code
// that is checked looks each up before it is used.
typedef enum AbiLiveKind {
    ABI_LIVE_MEMORY = 0, // none: a span
    ABI_LIVE_TEXTURE,
    ABI_LIVE_SAMPLER,
    ABI_LIVE_TENSOR,
    ABI_LIVE_FUNCTIONS, // a table of visible or of intersection functions
    ABI_LIVE_ACCELERATION,
} AbiLiveKind;
typedef struct AbiLiveHandle {
    uint64_t value; // 0: nothing here
    uint64_t kind;  // AbiLiveKind
} AbiLiveHandle;

// The live objects of a device when a command buffer ran. What handles stand for is no memory of
// the program's: no span has it, so that no kernel that is checked can write it.
typedef struct AbiLive {
    const AbiSpan *spans; // sorted, no overlaps
    uint64_t n_spans;
    // A hash table [mask + 1], never full: a handle is at abi_live_place, or behind it before the
    // next place that is empty.
    const AbiLiveHandle *handles;
    uint64_t mask;
} AbiLive;

static inline uint64_t abi_live_place(uint64_t handle) {
    return (handle * 0x9e3779b97f4a7c15u) >> 32;
}
#endif
