// SPDX-License-Identifier: Apache-2.0
// indirect_take_int.h: what dispatches and draws of indirect command buffers have in common: which
// commands are executed, and a command's arguments on their way into the slots of a stage. Commands
// may have been written by a kernel, so nothing in them is trusted.
#ifndef INGOT_RUNTIME_INDIRECT_TAKE_INT_H
#define INGOT_RUNTIME_INDIRECT_TAKE_INT_H
#include "runtime/command/bindings.h"
#include "runtime/command/execute.h"
#include "runtime/program/indirect.h"

// ---- Commands ----

typedef struct RtCommands {
    MTLIndirectCommandBuffer *icb; // held by the command buffer that executes them
    MTLRange range;
    const char *range_at; // not NULL: the range is there when they run, in a buffer that is held
} RtCommands;

// While encoding: a range of `icb`, or the one at range_at, which is valid. False after a message.
bool rt_commands_set(RtCommands *to, const RtSite *site, MTLIndirectCommandBuffer *icb,
                     MTLRange range, const void *range_at);
// Where a buffer holds a range for execute_commands_in_buffer_indirect. NULL after a message.
const char *rt_commands_range_at(const RtSite *site, MTLBuffer *buffer, size_t offset);
// While running: calls `visit` for each, until it returns false. False: one did, or they cannot be
// read; the execution knows why.
typedef bool RtVisitCommand(void *context, size_t index, AbiIndirectCommand *command);
bool rt_commands_visit(RtExecution *x, const RtCommands *commands, RtVisitCommand *visit,
                       void *context);
// Command `index` `what`. Returns false; the execution knows.
bool rt_commands_fail(RtExecution *x, const RtCommands *commands, size_t index, const char *what);
// What is wrong with the pipeline that a command names; NULL: nothing.
static inline const char *rt_commands_misfit(uint64_t handle, const void *pipeline, bool indirect) {
    return !handle     ? "has no pipeline"
           : !pipeline ? "has a pipeline that does not exist (any more)"
           : !indirect ? "has a pipeline made without support_indirect_command_buffers"
                       : NULL;
}

// ---- Arguments ----

typedef struct RtIndirectBuffer { // what lies at a buffer index
    char *address;                // NULL: nothing
    size_t n_bytes, stride;       // stride: of vertex attributes; SIZE_MAX: not given
} RtIndirectBuffer;

typedef struct RtIndirectTake { // the arguments of one stage of one command
    RtExecution *x;
    const RtStage *stage;
    void **args;       // [stage->entry->n_slots], zeros
    uint64_t *lengths; // likewise; NULL: nobody asks how far arguments reach
    // Of threadgroup memory: in, the function's own; out, with that of arguments, each of which
    // begins at a multiple of memory_align. Of them at most memory_left bytes.
    size_t threadgroup_bytes, memory_align, memory_left;
    RtRule missing_buffer;
    // What the command says at an index.
    const void *command;
    RtIndirectBuffer (*buffer)(const void *command, size_t index);
    uint32_t (*memory)(const void *command, size_t index); // NULL: the stage has none
    // Memory that lives as long as the arguments; NULL: constants that are too short stay so.
    void *(*alloc)(const void *command, size_t n_bytes);
} RtIndirectTake;

// NULL, or what is wrong with the command ("": no memory, or a fault that the execution knows).
const char *rt_indirect_take(RtIndirectTake *t);
#endif
