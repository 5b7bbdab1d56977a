// SPDX-License-Identifier: Apache-2.0
// checked.h: what kernels that check their accesses (MTL_SHADER_VALIDATION), and indirect commands,
// need to know about live memory.
#ifndef INGOT_RUNTIME_CHECKED_H
#define INGOT_RUNTIME_CHECKED_H
#include "runtime/command/command_buffer.h"
#include "runtime/command/execute.h"
#include "runtime/program/pipeline.h"
#include "runtime/memory/buffer.h"

// What reports say about one dispatch. Lives as long as the dispatch.
typedef struct RtValidated {
    MTLFunction *function; // borrowed
    const MTLCommandEncoder *encoder;
    MTLBuffer **buffers; // per slot, NULL where there is none; may itself be NULL
    uint32_t n_buffers;  // of them
    uint64_t *lengths;   // per slot
} RtValidated;

// Fills in what checked code needs. False: no memory.
bool rt_validate_dispatch(RtExecution *x, DevDispatch *d, RtValidated *what);
struct DevArguments;
bool rt_validate_stage(RtExecution *x, struct DevArguments *a); // its context is a RtValidated
// Makes the next one find what it asks for. False: no memory, and the execution knows.
bool rt_find_spans(RtExecution *x);
// The bytes from an address to the end of the live buffer that holds it; 0: none does.
uint64_t rt_bytes_behind(RtExecution *x, const void *address);
#endif
