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
    // Of draws: the buffers of vertex and fragment functions, then the indices, of patches those of
    // control points; then, n_patch of them, indices of patches and tessellation factors; then the
    // buffers of object and mesh functions. Lengths are the strides of vertex buffers, plus 1 (0:
    // none was given), then n_object_memory of the threadgroup memory of object functions.
    uint32_t n_vertex, n_fragment;
    uint32_t state_at; // of draws: bytes from a command to its AbiIndirectState; 0: it has none
    uint32_t n_patch;  // 0, or 2: there may be draws of patches
    uint32_t n_object, n_mesh, n_object_memory;
    uint32_t reserved[5];
    // then n_commands times: an AbiIndirectCommand, uint64_t addresses[n_buffers],
    // uint32_t lengths[n_threadgroup]
} AbiIndirectHead;

typedef enum AbiIndirectKind {
    ABI_INDIRECT_NOTHING = 0,  // also after a reset
    ABI_INDIRECT_THREADGROUPS, // grid in threadgroups
    ABI_INDIRECT_THREADS,      // grid in threads
    ABI_INDIRECT_DRAW,         // grid: primitive, vertices, first; group: instances, first
    ABI_INDIRECT_DRAW_INDEXED, // the same with indices, base vertex, and group[2]: bytes of each
    ABI_INDIRECT_PATCHES, // grid: points, patches, first; group: instances, first, factors' stride
    ABI_INDIRECT_PATCHES_INDEXED,   // the same with indices of control points
    ABI_INDIRECT_MESH_THREADGROUPS, // grid; group: threads of objects, origin: of meshes
    ABI_INDIRECT_MESH_THREADS,
} AbiIndirectKind;

typedef struct AbiIndirectCommand {
    uint32_t kind;    // AbiIndirectKind
    uint32_t barrier; // not 0: what comes before it must have ended
    uint64_t pipeline;
    uint32_t grid[3], group[3];
    uint32_t origin[3], size[3]; // of kernels: the region of stage inputs; of size 0: the grid
    uint32_t imageblock[2];      // of kernels: width and height; 0: as many as the threadgroup has
    uint64_t addresses[];
} AbiIndirectCommand;

_Static_assert(sizeof(AbiIndirectHead) == 64 && offsetof(AbiIndirectCommand, pipeline) == 8 &&
                   offsetof(AbiIndirectCommand, grid) == 16 &&
                   offsetof(AbiIndirectCommand, group) == 28 &&
                   offsetof(AbiIndirectCommand, addresses) == 72,
               "stdlib/detail/command_buffer.h knows this layout");

// State that a draw does not inherit. Metal's values; zeros are its defaults.
typedef struct AbiIndirectState {
    uint32_t cull, winding, fill, clip;
    float bias, slope, clamp;
    uint32_t reserved;
    uint64_t depth_stencil; // a handle; 0: no tests
} AbiIndirectState;
_Static_assert(sizeof(AbiIndirectState) == 40, "stdlib/detail/command_buffer.h knows this layout");

// Where in a record's addresses they begin.
static inline uint32_t abi_indirect_indices(const AbiIndirectHead *head) {
    return head->n_vertex + head->n_fragment;
}
static inline uint32_t abi_indirect_objects(const AbiIndirectHead *head) {
    return abi_indirect_indices(head) + 1 + head->n_patch;
}

static inline uint32_t *abi_indirect_lengths(AbiIndirectCommand *command, uint32_t n_buffers) {
    return (uint32_t *)(command->addresses + n_buffers);
}
#endif
