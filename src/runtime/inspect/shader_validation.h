// SPDX-License-Identifier: Apache-2.0
// shader_validation.h: MTL_SHADER_VALIDATION on the runtime's side: which pipelines are checked,
// what their code needs to know about live memory, and what becomes of its reports.
#ifndef INGOT_RUNTIME_SHADER_VALIDATION_H
#define INGOT_RUNTIME_SHADER_VALIDATION_H
#include "runtime/command/command_buffer.h"
#include "runtime/command/execute.h"

// Whether pipelines of this label and with this wish are checked.
bool rt_wants_validation(const MTLDevice *device, const char *label, MTLShaderValidation wish);

// What reports say about one dispatch. Lives as long as the dispatch.
typedef struct RtValidated {
    MTLFunction *function; // borrowed
    const MTLCommandEncoder *encoder;
    MTLBuffer **buffers; // per slot, NULL where there is none; may itself be NULL
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

// DevRun.report of a command buffer's run; the context is the command buffer, `dispatch` the
// RtValidated.
void rt_report_from_kernel(void *context, void *dispatch, const AbiReport *report);
// After the last command: reports become logs, and are told to whoever listens.
void rt_deliver_reports(MTLCommandBuffer *buffer);
void rt_free_reports(MTLCommandBuffer *buffer);
#endif
