// SPDX-License-Identifier: Apache-2.0
// run.h: functions as code, dispatches, and the run of a command buffer that they belong to.
#ifndef INGOT_DEVICE_RUN_H
#define INGOT_DEVICE_RUN_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "abi/kernel.h"
#include "abi/reflect.h"
#include "abi/stage.h"

// ---- Code ----

// Where a device keeps what it makes of code, from process to process. Any thread may call.
typedef struct DevCache {
    // What was stored with the key, malloc'ed; NULL: nothing.
    void *(*find)(const unsigned char key[32], size_t *n_bytes);
    void (*store)(const unsigned char key[32], const void *bytes, size_t n_bytes);
    bool only_while_loading; // nobody answers when code_load has returned
} DevCache;

typedef struct DevCodeSource {
    const void *bytes; // what the compiler made; NULL without a DevFacts.target
    size_t n_bytes;
    const RfFunction *function;
    const DevCache *cache; // NULL: there is none
    // With DevTable.wants_requests: what the compiler was asked (msg_put_kernel, libraries by their
    // hashes), and the libraries, the function's own first.
    const void *request;
    size_t request_bytes;
    struct Metallib *const *libraries;
    size_t n_libraries;
} DevCodeSource;

// The first member of what a device makes of it.
typedef struct DevCode {
    uint32_t n_slots;           // of its arguments
    uint32_t threadgroup_bytes; // static threadgroup memory
    uint64_t stack_bytes;       // private memory of one SIMD-group, roughly; the device's to use
    size_t n_bytes;             // of what it was made of; the runtime's to write
    const AbiStageInfo *stage;  // of a vertex or fragment function, which cannot be dispatched
    // Time its threadgroups took, on all threads together. The device may add to it, for the
    // runtime to see when optimised code is worth compiling.
    _Atomic uint64_t spent_ns;
} DevCode;

// ---- A run ----

typedef enum DevFault {
    DEV_FAULT_NONE = 0,
    DEV_FAULT_TIMEOUT,
    DEV_FAULT_MEMORY,  // an address where there is nothing
    DEV_FAULT_ILLEGAL, // a trap in the code
    DEV_FAULT_STACK,
    DEV_FAULT_NO_MEMORY,
    DEV_FAULT_LOST, // the device is gone, or does not answer
    DEV_FAULT_SIZE, // an indirect dispatch whose sizes do not fit
} DevFault;

// When a run is ended, in milliseconds; 0: never.
typedef struct DevLimits {
    uint32_t run_ms; // it has run for so long
    // A threadgroup of it, or a step of a draw, has computed for so long. How long the whole takes
    // does not matter.
    uint32_t step_ms;
} DevLimits;

// {0} plus the context and the receivers is a valid start.
typedef struct DevRun {
    void *context;              // of the device
    uint64_t begun_ns;          // os_now_ns; 0: not looked at
    atomic_int fault;           // DevFault; once set, nothing more of the run starts
    atomic_bool described;      // the first fault's details are being, or are, written
    uintptr_t address;          // of a memory fault
    const char *_Atomic kernel; // name of the kernel that runs, for messages; the runtime's
    const char *faulting; // the kernel at the time of the fault; read, like address, at the end
    // What kernels log, and what those that are checked did wrong. Called on any thread, with no
    // lock of the device's held. `dispatch` is the context of the dispatch. NULL: it is dropped.
    void (*log)(void *context, uint32_t type, const char *subsystem_category, const char *format,
                const uint64_t *args, uint32_t n_args);
    void *log_context;
    void (*report)(void *context, void *dispatch, const AbiReport *report);
    void *report_context;
    bool is_outside;                     // of no command buffer: DEV_OUTSIDE
    _Alignas(16) unsigned char part[64]; // the device's own; zero at the start
} DevRun;

// For copies outside of any run: only its context is of interest.
#define DEV_OUTSIDE(device_context) (&(DevRun){.context = (device_context), .is_outside = true})
static inline bool dev_is_outside(const DevRun *run) { return !run || run->is_outside; }

// Marks the run; the first fault stays, and is described. Any thread.
static inline void dev_run_fail(DevRun *run, DevFault fault, uintptr_t address) {
    if (!atomic_exchange(&run->described, true)) {
        run->address = address;
        run->faulting = atomic_load_explicit(&run->kernel, memory_order_relaxed);
    }
    int none = DEV_FAULT_NONE;
    atomic_compare_exchange_strong(&run->fault, &none, (int)fault);
}

// The imageblock of a kernel: memory of each threadgroup, `at` bytes into its threadgroup memory,
// whose address its slot of the arguments gets (abi/imageblock.h).
typedef struct DevImageblock {
    uint32_t slot, at;
    uint32_t width, height, pixel_bytes; // pixel_bytes 0: the kernel has none
} DevImageblock;

typedef struct DevDispatch {
    DevCode *code;
    // Not NULL: where faster code of the same kernel may appear while this runs. The device may go
    // on with it between threadgroups.
    DevCode *_Atomic const *optimised;
    // With that, and not NULL: for the device to call, from any thread, as often as it likes, when
    // it sees that what is left of the dispatch will take more than want_ns in `code`.
    void (*want_optimised)(void *context, const uint32_t group_size[3]);
    void *want_context;
    uint64_t want_ns;
    // [n_args] buffers: address incl. offset. Threadgroup parameters: byte offset into the
    // threadgroup memory (the static part comes first), as an integer. Textures, samplers, tensors:
    // the handle. Constants may lie in memory of the command buffer (DEV_ARGUMENTS).
    void *const *args;
    uint32_t n_args;       // code->n_slots
    uint32_t static_bytes; // code->threadgroup_bytes
    uint32_t threads_per_grid[3], groups_per_grid[3], group_size[3];
    uint32_t grid_origin[3], grid_size[3]; // the region of stage inputs; or 0 and threads_per_grid
    uint32_t threadgroup_bytes;            // static, dynamic and imageblock together
    DevImageblock imageblock;
    // Not NULL (only with DEV_INDIRECT_SIZES): the address where the sizes are when it runs, as
    // 32-bit numbers: three of threadgroups; or, if it has `indirect_group`, three of threads and
    // three of a threadgroup's, where group_size is what they must be (zeros: anything) and
    // max_threads the most. The grid above is not set, nor a region. A 0 is a grid of nothing; what
    // does not fit, or makes more than 2^32 - 1 threads in a dimension, is a DEV_FAULT_SIZE.
    const char *indirect;
    bool indirect_group;
    uint32_t max_threads;
    // Not 0: threadgroups run one after the other, in an order that this number gives, and so do
    // the SIMD-groups of each.
    uint64_t schedule;
    // For code that checks its accesses, else NULL.
    // [n_args] bytes from args[i] to the end of the buffer; threadgroup parameters: the
    // length set; 0 for the rest.
    const uint64_t *lengths;
    const AbiLive *live;
    void *context; // of reports
} DevDispatch;
#endif
