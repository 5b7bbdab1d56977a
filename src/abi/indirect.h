// SPDX-License-Identifier: Apache-2.0
// indirect.h: an indirect command buffer in memory, as the runtime (runtime/indirect*.c) and
// kernels (stdlib/detail/command_buffer.h) write it. MSL's command_buffer is the address of the
// head; MSL's compute_pipeline_state is a handle that the runtime gives out. Kernels write whatever
// they like: the runtime keeps its own copy of the head and checks each command before it runs.
#ifndef INGOT_ABI_INDIRECT_H
#define INGOT_ABI_INDIRECT_H
#include <stddef.h>
#include <stdint.h>

typedef struct AbiIndirectHead {
    uint32_t n_commands;
    uint32_t stride;        // bytes from one command to the next
    uint32_t n_buffers;     // of each command
    uint32_t n_threadgroup; // lengths of threadgroup memory of each command
    // Of draws: n_buffers is n_vertex + n_fragment + 1 (buffers of both stages, then the indices),
    // and lengths are the strides of vertex buffers, plus 1; 0: none was given.
    uint32_t n_vertex, n_fragment;
    uint32_t state_at; // of draws: bytes from a command to its AbiIndirectState; 0: it has none
    uint32_t reserved[9];
    // then n_commands times: an AbiIndirectCommand, uint64_t addresses[n_buffers],
    // uint32_t lengths[n_threadgroup]
} AbiIndirectHead;

typedef enum AbiIndirectKind {
    ABI_INDIRECT_NOTHING = 0,  // also after a reset
    ABI_INDIRECT_THREADGROUPS, // grid in threadgroups
    ABI_INDIRECT_THREADS,      // grid in threads
    ABI_INDIRECT_DRAW,         // grid: primitive, vertices, first; group: instances, first
    ABI_INDIRECT_DRAW_INDEXED, // the same with indices, base vertex, and group[2]: bytes of each
} AbiIndirectKind;

typedef struct AbiIndirectCommand {
    uint32_t kind;    // AbiIndirectKind
    uint32_t barrier; // not 0: what comes before it must have ended
    uint64_t pipeline;
    uint32_t grid[3], group[3];
    uint32_t origin[3], size[3]; // the region of stage inputs; of size 0: the grid
    uint64_t addresses[];
} AbiIndirectCommand;

_Static_assert(sizeof(AbiIndirectHead) == 64 && offsetof(AbiIndirectCommand, pipeline) == 8 &&
                   offsetof(AbiIndirectCommand, grid) == 16 &&
                   offsetof(AbiIndirectCommand, group) == 28 &&
                   offsetof(AbiIndirectCommand, addresses) == 64,
               "stdlib/detail/command_buffer.h knows this layout");

// State that a draw does not inherit. Metal's values; zeros are its defaults.
typedef struct AbiIndirectState {
    uint32_t cull, winding, fill, clip;
    float bias, slope, clamp;
    uint32_t reserved;
    uint64_t depth_stencil; // a handle; 0: no tests
} AbiIndirectState;
_Static_assert(sizeof(AbiIndirectState) == 40, "stdlib/detail/command_buffer.h knows this layout");

static inline uint32_t *abi_indirect_lengths(AbiIndirectCommand *command, uint32_t n_buffers) {
    return (uint32_t *)(command->addresses + n_buffers);
}
#endif
