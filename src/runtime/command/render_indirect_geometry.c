// SPDX-License-Identifier: Apache-2.0
// render_indirect_geometry.c: draws of patches and meshes in indirect command buffers: written into
// records by calls, and taken from records, which kernels may have written, when they run.
#include <stdio.h>
#include "runtime/command/checked.h"
#include "runtime/command/grid.h"
#include "runtime/command/render.h"
#include "runtime/command/render_indirect_int.h"
#include "runtime/memory/buffer.h"
#include "runtime/object/validation.h"

static const AbiIndirectHead *head_of(const MTLIndirectRenderCommand *command) {
    return &command->base.buffer->head;
}

// ---- Patches: encoding ----

typedef struct Place { // in a buffer; NULL: there may be none
    MTLBuffer *buffer;
    size_t offset;
} Place;

static bool valid_place(MTLIndirectRenderCommand *command, Place at, bool required, RtRule rule,
                        const char *what, const char *call) {
    char text[128];
    if (!at.buffer && !required) return true;
    if (!at.buffer || !rt_is(at.buffer, &rt_buffer_class)) {
        rt_indirect_misuse(&command->base, at.buffer ? RT_RULE_wrong_class : RT_RULE_null_argument,
                           call, what);
        return false;
    }
    if (at.offset % 2 == 0 && at.offset < at.buffer->length) return true;
    snprintf(text, sizeof text, "%s: offset %zu of %zu bytes", what, at.offset, at.buffer->length);
    rt_indirect_misuse(&command->base, rule, call, text);
    return false;
}

typedef struct Patches {
    size_t n_points, start, n, n_instances, base_instance, factors_stride;
    Place patch_indices, control_indices, factors;
    bool indexed;
} Patches;

static void encode_patches(MTLIndirectRenderCommand *command, const Patches *p, const char *call) {
    AbiIndirectCommand *r = rt_indirect_render_record(command, call);
    if (!r || !rt_indirect_valid_draw(command,
                                      p->indexed ? MTLIndirectCommandTypeDrawIndexedPatches
                                                 : MTLIndirectCommandTypeDrawPatches,
                                      MTLPrimitiveTypeTriangle, p->start, p->n, p->n_instances,
                                      p->base_instance, call))
        return;
    if (p->n_points > ABI_MAX_CONTROL_POINTS || p->factors_stride > UINT32_MAX) {
        rt_indirect_misuse(&command->base,
                           p->n_points > ABI_MAX_CONTROL_POINTS ? RT_RULE_patch_control_points
                                                                : RT_RULE_patch_factors,
                           call, "too large");
        return;
    }
    if (!valid_place(command, p->patch_indices, false, RT_RULE_patch_indices, "patch_index_buffer",
                     call) ||
        !valid_place(command, p->control_indices, p->indexed, RT_RULE_patch_indices,
                     "control_point_index_buffer", call) ||
        !valid_place(command, p->factors, true, RT_RULE_patch_factors, "tessellation_factor_buffer",
                     call))
        return;
    r->kind = p->indexed ? ABI_INDIRECT_PATCHES_INDEXED : ABI_INDIRECT_PATCHES;
    const size_t numbers[6] = {p->n_points,      p->n, p->start, p->n_instances, p->base_instance,
                               p->factors_stride};
    for (int i = 0; i < 3; i++) {
        r->grid[i] = (uint32_t)numbers[i];
        r->group[i] = (uint32_t)numbers[3 + i];
    }
    uint32_t at = abi_indirect_indices(head_of(command));
    r->addresses[at] = rt_indirect_address(p->control_indices.buffer, p->control_indices.offset);
    r->addresses[at + 1] = rt_indirect_address(p->patch_indices.buffer, p->patch_indices.offset);
    r->addresses[at + 2] = rt_indirect_address(p->factors.buffer, p->factors.offset);
}

void mtl_indirect_render_command_draw_patches(
    MTLIndirectRenderCommand *command, size_t number_of_patch_control_points, size_t patch_start,
    size_t patch_count, MTLBuffer *patch_index_buffer, size_t patch_index_buffer_offset,
    size_t instance_count, size_t base_instance, MTLBuffer *tessellation_factor_buffer,
    size_t tessellation_factor_buffer_offset, size_t tessellation_factor_buffer_instance_stride) {
    encode_patches(
        command,
        &(Patches){.n_points = number_of_patch_control_points,
                   .start = patch_start,
                   .n = patch_count,
                   .n_instances = instance_count,
                   .base_instance = base_instance,
                   .patch_indices = {patch_index_buffer, patch_index_buffer_offset},
                   .factors = {tessellation_factor_buffer, tessellation_factor_buffer_offset},
                   .factors_stride = tessellation_factor_buffer_instance_stride},
        __func__);
}

void mtl_indirect_render_command_draw_indexed_patches(
    MTLIndirectRenderCommand *command, size_t number_of_patch_control_points, size_t patch_start,
    size_t patch_count, MTLBuffer *patch_index_buffer, size_t patch_index_buffer_offset,
    MTLBuffer *control_point_index_buffer, size_t control_point_index_buffer_offset,
    size_t instance_count, size_t base_instance, MTLBuffer *tessellation_factor_buffer,
    size_t tessellation_factor_buffer_offset, size_t tessellation_factor_buffer_instance_stride) {
    encode_patches(
        command,
        &(Patches){
            .n_points = number_of_patch_control_points,
            .start = patch_start,
            .n = patch_count,
            .n_instances = instance_count,
            .base_instance = base_instance,
            .patch_indices = {patch_index_buffer, patch_index_buffer_offset},
            .control_indices = {control_point_index_buffer, control_point_index_buffer_offset},
            .indexed = true,
            .factors = {tessellation_factor_buffer, tessellation_factor_buffer_offset},
            .factors_stride = tessellation_factor_buffer_instance_stride},
        __func__);
}

// ---- Meshes: encoding ----

static void set_buffer(MTLIndirectRenderCommand *command, MTLBuffer *buffer, size_t offset,
                       size_t index, bool mesh, const char *call) {
    AbiIndirectCommand *r = rt_indirect_render_record(command, call);
    if (!r) return;
    const AbiIndirectHead *head = head_of(command);
    if (rt_indirect_valid_buffer(&command->base, buffer, offset, index,
                                 mesh ? head->n_mesh : head->n_object, call))
        r->addresses[abi_indirect_objects(head) + (mesh ? head->n_object : 0) + index] =
            rt_indirect_address(buffer, offset);
}

void mtl_indirect_render_command_set_object_buffer(MTLIndirectRenderCommand *command,
                                                   MTLBuffer *buffer, size_t offset, size_t index) {
    set_buffer(command, buffer, offset, index, false, __func__);
}

void mtl_indirect_render_command_set_mesh_buffer(MTLIndirectRenderCommand *command,
                                                 MTLBuffer *buffer, size_t offset, size_t index) {
    set_buffer(command, buffer, offset, index, true, __func__);
}

void mtl_indirect_render_command_set_object_threadgroup_memory_length(
    MTLIndirectRenderCommand *command, size_t length, size_t index) {
    AbiIndirectCommand *r = rt_indirect_render_record(command, __func__);
    char text[64];
    if (!r) return;
    const AbiIndirectHead *head = head_of(command);
    snprintf(text, sizeof text, "length %zu, index %zu", length, index);
    if (index >= head->n_object_memory)
        rt_indirect_misuse(&command->base, RT_RULE_threadgroup_memory_index, __func__, text);
    else if (length > RT_MAX_THREADGROUP_MEMORY)
        rt_indirect_misuse(&command->base, RT_RULE_threadgroup_memory_limit, __func__, text);
    else
        abi_indirect_lengths(r, head->n_buffers)[head->n_vertex + index] =
            (uint32_t)rt_threadgroup_length(length);
}

static bool put_size(MTLIndirectRenderCommand *command, uint32_t to[3], MTLSize size, RtRule rule,
                     const char *what, const char *call) {
    char text[128];
    const size_t n[3] = {size.width, size.height, size.depth};
    for (int i = 0; i < 3; i++) to[i] = (uint32_t)n[i];
    bool fits = n[0] <= UINT32_MAX && n[1] <= UINT32_MAX && n[2] <= UINT32_MAX;
    if (rule == RT_RULE_mesh_threadgroup_size)
        fits = n[0] <= 1024 && n[1] <= 1024 && n[2] <= 1024 && n[0] * n[1] * n[2] <= 1024;
    if (fits) return true;
    snprintf(text, sizeof text, "%s: %zu x %zu x %zu", what, n[0], n[1], n[2]);
    rt_indirect_misuse(&command->base, rule, call, text);
    return false;
}

static void encode_meshes(MTLIndirectRenderCommand *command, MTLSize grid, MTLSize object,
                          MTLSize mesh, bool threads, const char *call) {
    AbiIndirectCommand *r = rt_indirect_render_record(command, call);
    AbiIndirectCommand sizes;
    if (!r ||
        !rt_indirect_valid_draw(command,
                                threads ? MTLIndirectCommandTypeDrawMeshThreads
                                        : MTLIndirectCommandTypeDrawMeshThreadgroups,
                                MTLPrimitiveTypeTriangle, 0, 1, 1, 0, call) ||
        !put_size(command, sizes.grid, grid, RT_RULE_mesh_grid, "grid", call) ||
        !put_size(command, sizes.group, object, RT_RULE_mesh_threadgroup_size, "object threadgroup",
                  call) ||
        !put_size(command, sizes.origin, mesh, RT_RULE_mesh_threadgroup_size, "mesh threadgroup",
                  call))
        return;
    for (int i = 0; i < 3; i++) {
        r->grid[i] = sizes.grid[i];
        r->group[i] = sizes.group[i];
        r->origin[i] = sizes.origin[i];
    }
    r->kind = threads ? ABI_INDIRECT_MESH_THREADS : ABI_INDIRECT_MESH_THREADGROUPS;
}

void mtl_indirect_render_command_draw_mesh_threadgroups(MTLIndirectRenderCommand *command,
                                                        MTLSize threadgroups_per_grid,
                                                        MTLSize threads_per_object_threadgroup,
                                                        MTLSize threads_per_mesh_threadgroup) {
    encode_meshes(command, threadgroups_per_grid, threads_per_object_threadgroup,
                  threads_per_mesh_threadgroup, false, __func__);
}

void mtl_indirect_render_command_draw_mesh_threads(MTLIndirectRenderCommand *command,
                                                   MTLSize threads_per_grid,
                                                   MTLSize threads_per_object_threadgroup,
                                                   MTLSize threads_per_mesh_threadgroup) {
    encode_meshes(command, threads_per_grid, threads_per_object_threadgroup,
                  threads_per_mesh_threadgroup, true, __func__);
}

// ---- When they run ----

const char *rt_indirect_take_patches(RtExecution *x, const AbiIndirectHead *head,
                                     const AbiIndirectCommand *record, DevPatches *to, DevDraw *d) {
    uint32_t at = abi_indirect_indices(head), size = to->control_index_bytes;
    uint32_t declared = to->n_control_points, n = record->grid[0];
    bool indexed = record->kind == ABI_INDIRECT_PATCHES_INDEXED;
    const uint64_t *a = record->addresses + at;
    if (n > ABI_MAX_CONTROL_POINTS || (declared && declared != n))
        return "has another number of control points than its pipeline";
    if (indexed != (size != 0))
        return "has indices of control points where its pipeline has none, or none";
    if (a[1] % 4 != 0 || (indexed && a[0] % size != 0) || a[2] % 4 != 0)
        return "has indices or factors at no multiple of their size";
    if (!a[2] || (indexed && !a[0])) return "has no tessellation factors, or no control points";
    to->n_control_points = n;
    to->factors = (const void *)(uintptr_t)a[2];
    to->factors_bytes = rt_bytes_behind(x, to->factors);
    to->instance_stride = record->group[2];
    to->patch_indices = (const void *)(uintptr_t)a[1];
    if (a[1]) to->patch_indices_bytes = rt_bytes_behind(x, to->patch_indices);
    if (indexed) {
        to->control_indices = (const void *)(uintptr_t)a[0];
        to->control_indices_bytes = rt_bytes_behind(x, to->control_indices);
    }
    d->n_vertices = record->grid[1];
    d->first_vertex = record->grid[2];
    d->n_instances = record->group[0];
    d->base_instance = record->group[1];
    d->patches = to;
    return NULL;
}

const char *rt_indirect_take_grid(const AbiIndirectCommand *record, const MTLRenderPipelineState *p,
                                  DevDraw *d) {
    if (!rt_mesh_set_sizes(p, rt_size_of(record->group), rt_size_of(record->origin), &d->grid))
        return "has threadgroups of a size that its pipeline does not allow";
    bool some = rt_mesh_set_grid(p, rt_size_of(record->grid),
                                 record->kind == ABI_INDIRECT_MESH_THREADS, &d->grid);
    d->n_instances = 1;
    d->n_vertices = some ? 1 : 0;
    return NULL;
}
