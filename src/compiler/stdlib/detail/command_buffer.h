// SPDX-License-Identifier: Apache-2.0
// command_buffer.h: <metal_command_buffer>: indirect command buffers filled by kernels. A
// command_buffer is the address of an AbiIndirectHead (abi/indirect.h) and a compute_command the
// address of one of its commands, so that the functions are plain stores. A command that does not
// exist is written nowhere; what was written is checked when it is executed.
#pragma once

struct MTLTriangleTessellationFactorsHalf; // mesh.h
struct MTLQuadTessellationFactorsHalf;

struct __ingot_icb {
    uint count, stride, n_buffers, n_threadgroup, n_vertex, n_fragment, state_at;
    uint n_patch, n_object, n_mesh, n_object_memory;
};
struct __ingot_icb_state {
    uint cull, winding, fill, clip;
    float bias, slope, clamp;
    uint reserved;
    ulong depth_stencil;
};
struct __ingot_icb_command {
    uint kind, barrier;
    ulong pipeline;
    uint grid[3], group[3];
    uint origin[3], size[3];
    uint imageblock[2];
};

namespace metal {
struct command_buffer {
    command_buffer() = default;
    METAL_FUNC constexpr command_buffer(nullptr_t) : __icb(nullptr) {}
    METAL_FUNC size_t size() const { return __icb ? __icb->count : 0; }
    device __ingot_icb *__icb;
};
METAL_FUNC bool is_null_command_buffer(command_buffer b) { return b.__icb == nullptr; }

struct compute_pipeline_state {
    compute_pipeline_state() = default;
    METAL_FUNC constexpr compute_pipeline_state(nullptr_t) : __handle(0) {}
    ulong __handle;
};
METAL_FUNC bool is_null_compute_pipeline_state(compute_pipeline_state s) { return s.__handle == 0; }

struct compute_command {
    METAL_FUNC explicit compute_command(command_buffer icb, uint index) : __icb(icb.__icb) {
        // Widened: a large index must not come round to a small offset.
        __command = __icb && index < __icb->count
                        ? (device __ingot_icb_command *)((device uchar *)__icb + 64 +
                                                         (ulong)index * __icb->stride)
                        : nullptr;
    }
    METAL_FUNC void set_compute_pipeline_state(compute_pipeline_state state) const {
        if (__command) __command->pipeline = state.__handle;
    }
    template <class T> METAL_FUNC void set_kernel_buffer(device T *buffer, uint index) const {
        __set_buffer((ulong)buffer, index);
    }
    template <class T> METAL_FUNC void set_kernel_buffer(constant T *buffer, uint index) const {
        __set_buffer((ulong)buffer, index);
    }
    // The stride of stage inputs is that of their layout: indirect commands have no place for it.
    template <class T>
    METAL_FUNC void set_kernel_buffer(device T *buffer, size_t stride, uint index) const {
        (void)stride;
        __set_buffer((ulong)buffer, index);
    }
    template <class T>
    METAL_FUNC void set_kernel_buffer(constant T *buffer, size_t stride, uint index) const {
        (void)stride;
        __set_buffer((ulong)buffer, index);
    }
    METAL_FUNC void set_threadgroup_memory_length(uint length, uint index) const {
        if (__command && index < __icb->n_threadgroup)
            ((device uint *)(__addresses() + __icb->n_buffers))[index] = length;
    }
    METAL_FUNC void set_imageblock_size(ushort2 size) const {
        if (!__command) return;
        __command->imageblock[0] = size.x;
        __command->imageblock[1] = size.y;
    }
    METAL_FUNC void set_barrier() const {
        if (__command) __command->barrier = 1;
    }
    METAL_FUNC void clear_barrier() const {
        if (__command) __command->barrier = 0;
    }
    METAL_FUNC void concurrent_dispatch_threadgroups(uint3 threadgroups_per_grid,
                                                     uint3 threads_per_threadgroup) const {
        __dispatch(1, threadgroups_per_grid, threads_per_threadgroup);
    }
    METAL_FUNC void concurrent_dispatch_threads(uint3 threads_per_grid,
                                                uint3 threads_per_threadgroup) const {
        __dispatch(2, threads_per_grid, threads_per_threadgroup);
    }
    METAL_FUNC void reset() const {
        if (!__command) return;
        device ulong *word = (device ulong *)__command;
        for (uint i = 0; i < __icb->stride / 8; i++) word[i] = 0;
    }
    METAL_FUNC void copy_command(compute_command source) const {
        if (!__command || !source.__command || source.__icb->stride != __icb->stride ||
            source.__icb->n_buffers != __icb->n_buffers)
            return;
        device ulong *to = (device ulong *)__command;
        const device ulong *from = (const device ulong *)source.__command;
        for (uint i = 0; i < __icb->stride / 8; i++) to[i] = from[i];
    }

    METAL_FUNC device ulong *__addresses() const { return (device ulong *)(__command + 1); }
    METAL_FUNC void __set_buffer(ulong address, uint index) const {
        if (__command && index < __icb->n_buffers) __addresses()[index] = address;
    }
    METAL_FUNC void __dispatch(uint kind, uint3 grid, uint3 group) const {
        if (!__command) return;
        __command->kind = kind;
        for (uint i = 0; i < 3; i++) __command->grid[i] = grid[i], __command->group[i] = group[i];
    }
    device __ingot_icb *__icb;
    device __ingot_icb_command *__command;
};

struct render_pipeline_state {
    render_pipeline_state() = default;
    METAL_FUNC constexpr render_pipeline_state(nullptr_t) : __handle(0) {}
    ulong __handle;
};
METAL_FUNC bool is_null_render_pipeline_state(render_pipeline_state s) { return s.__handle == 0; }

struct depth_stencil_state {
    depth_stencil_state() = default;
    METAL_FUNC constexpr depth_stencil_state(nullptr_t) : __handle(0) {}
    ulong __handle;
};
METAL_FUNC bool is_null_depth_stencil_state(depth_stencil_state s) { return s.__handle == 0; }
enum class cull_mode { none = 0, front = 1, back = 2 };
enum class winding { clockwise = 0, counterclockwise = 1 };
enum class triangle_fill_mode { fill = 0, lines = 1 };
enum class depth_clip_mode { clip = 0, clamp = 1 };

enum class primitive_type { point = 0, line = 1, line_strip = 2, triangle = 3, triangle_strip = 4 };

struct render_command {
    METAL_FUNC explicit render_command(command_buffer icb, uint index) : __c(icb, index) {}
    METAL_FUNC void set_render_pipeline_state(render_pipeline_state state) const {
        if (__c.__command) __c.__command->pipeline = state.__handle;
    }
    template <class T> METAL_FUNC void set_vertex_buffer(device T *buffer, uint index) const {
        __set_vertex((ulong)buffer, 0, index);
    }
    template <class T> METAL_FUNC void set_vertex_buffer(constant T *buffer, uint index) const {
        __set_vertex((ulong)buffer, 0, index);
    }
    template <class T>
    METAL_FUNC void set_vertex_buffer(device T *buffer, size_t stride, uint index) const {
        __set_vertex((ulong)buffer, (uint)stride + 1, index);
    }
    template <class T>
    METAL_FUNC void set_vertex_buffer(constant T *buffer, size_t stride, uint index) const {
        __set_vertex((ulong)buffer, (uint)stride + 1, index);
    }
    template <class T> METAL_FUNC void set_fragment_buffer(device T *buffer, uint index) const {
        __set_fragment((ulong)buffer, index);
    }
    template <class T> METAL_FUNC void set_fragment_buffer(constant T *buffer, uint index) const {
        __set_fragment((ulong)buffer, index);
    }
    METAL_FUNC void draw_primitives(primitive_type type, uint vertex_start, uint vertex_count,
                                    uint instance_count, uint base_instance) const {
        __c.__dispatch(3, uint3((uint)type, vertex_count, vertex_start),
                       uint3(instance_count, base_instance, 0));
    }
    METAL_FUNC void draw_indexed_primitives(primitive_type type, uint index_count,
                                            const device ushort *index_buffer, uint instance_count,
                                            uint base_vertex, uint base_instance) const {
        __draw(type, index_count, (ulong)index_buffer, 2, instance_count, base_vertex,
               base_instance);
    }
    METAL_FUNC void draw_indexed_primitives(primitive_type type, uint index_count,
                                            const device uint *index_buffer, uint instance_count,
                                            uint base_vertex, uint base_instance) const {
        __draw(type, index_count, (ulong)index_buffer, 4, instance_count, base_vertex,
               base_instance);
    }
    METAL_FUNC void draw_indexed_primitives(primitive_type type, uint index_count,
                                            constant ushort *index_buffer, uint instance_count,
                                            uint base_vertex, uint base_instance) const {
        __draw(type, index_count, (ulong)index_buffer, 2, instance_count, base_vertex,
               base_instance);
    }
    METAL_FUNC void draw_indexed_primitives(primitive_type type, uint index_count,
                                            constant uint *index_buffer, uint instance_count,
                                            uint base_vertex, uint base_instance) const {
        __draw(type, index_count, (ulong)index_buffer, 4, instance_count, base_vertex,
               base_instance);
    }
    // Factors of either kind of patches; a null pointer of patch indices: there are none.
#define __INGOT_DRAW_PATCHES(SPACE, FACTORS)                                                       \
    METAL_FUNC void draw_patches(uint number_of_patch_control_points, uint patch_start,            \
                                 uint patch_count, const SPACE uint *patch_index_buffer,           \
                                 uint instance_count, uint base_instance,                          \
                                 const SPACE FACTORS *tessellation_factor_buffer,                  \
                                 uint instance_stride = 0) const {                                 \
        __patches(5, number_of_patch_control_points, patch_start, patch_count,                     \
                  (ulong)patch_index_buffer, 0, instance_count, base_instance,                     \
                  (ulong)tessellation_factor_buffer, instance_stride);                             \
    }                                                                                              \
    METAL_FUNC void draw_indexed_patches(                                                          \
        uint number_of_patch_control_points, uint patch_start, uint patch_count,                   \
        const SPACE uint *patch_index_buffer, const SPACE void *control_point_index_buffer,        \
        uint instance_count, uint base_instance, const SPACE FACTORS *tessellation_factor_buffer,  \
        uint instance_stride = 0) const {                                                          \
        __patches(6, number_of_patch_control_points, patch_start, patch_count,                     \
                  (ulong)patch_index_buffer, (ulong)control_point_index_buffer, instance_count,    \
                  base_instance, (ulong)tessellation_factor_buffer, instance_stride);              \
    }
    __INGOT_DRAW_PATCHES(device, MTLTriangleTessellationFactorsHalf)
    __INGOT_DRAW_PATCHES(device, MTLQuadTessellationFactorsHalf)
    __INGOT_DRAW_PATCHES(constant, MTLTriangleTessellationFactorsHalf)
    __INGOT_DRAW_PATCHES(constant, MTLQuadTessellationFactorsHalf)
#undef __INGOT_DRAW_PATCHES
    template <class T> METAL_FUNC void set_object_buffer(device T *buffer, uint index) const {
        __set_object((ulong)buffer, index);
    }
    template <class T> METAL_FUNC void set_object_buffer(constant T *buffer, uint index) const {
        __set_object((ulong)buffer, index);
    }
    template <class T> METAL_FUNC void set_mesh_buffer(device T *buffer, uint index) const {
        __set_mesh((ulong)buffer, index);
    }
    template <class T> METAL_FUNC void set_mesh_buffer(constant T *buffer, uint index) const {
        __set_mesh((ulong)buffer, index);
    }
    METAL_FUNC void set_object_threadgroup_memory_length(uint length, uint index) const {
        if (__c.__command && index < __c.__icb->n_object_memory)
            ((device uint *)(__c.__addresses() +
                             __c.__icb->n_buffers))[__c.__icb->n_vertex + index] =
                (length + 15) / 16 * 16;
    }
    METAL_FUNC void draw_mesh_threadgroups(uint3 threadgroups_per_grid,
                                           uint3 threads_per_object_threadgroup,
                                           uint3 threads_per_mesh_threadgroup) const {
        __meshes(7, threadgroups_per_grid, threads_per_object_threadgroup,
                 threads_per_mesh_threadgroup);
    }
    METAL_FUNC void draw_mesh_threads(uint3 threads_per_grid, uint3 threads_per_object_threadgroup,
                                      uint3 threads_per_mesh_threadgroup) const {
        __meshes(8, threads_per_grid, threads_per_object_threadgroup, threads_per_mesh_threadgroup);
    }
    METAL_FUNC void set_cull_mode(cull_mode mode) const {
        if (auto s = __state()) s->cull = (uint)mode;
    }
    METAL_FUNC void set_front_facing_winding(winding w) const {
        if (auto s = __state()) s->winding = (uint)w;
    }
    METAL_FUNC void set_triangle_fill_mode(triangle_fill_mode mode) const {
        if (auto s = __state()) s->fill = (uint)mode;
    }
    METAL_FUNC void set_depth_clip_mode(depth_clip_mode mode) const {
        if (auto s = __state()) s->clip = (uint)mode;
    }
    METAL_FUNC void set_depth_bias(float bias, float slope_scale, float clamp) const {
        if (auto s = __state()) s->bias = bias, s->slope = slope_scale, s->clamp = clamp;
    }
    METAL_FUNC void set_depth_stencil_state(depth_stencil_state state) const {
        if (auto s = __state()) s->depth_stencil = state.__handle;
    }
    METAL_FUNC device __ingot_icb_state *__state() const {
        return __c.__command && __c.__icb->state_at
                   ? (device __ingot_icb_state *)((device uchar *)__c.__command +
                                                  __c.__icb->state_at)
                   : nullptr;
    }
    METAL_FUNC void set_barrier() const { __c.set_barrier(); }
    METAL_FUNC void clear_barrier() const { __c.clear_barrier(); }
    METAL_FUNC void reset() const { __c.reset(); }
    METAL_FUNC void copy_command(render_command source) const { __c.copy_command(source.__c); }

    METAL_FUNC void __set_vertex(ulong address, uint stride, uint index) const {
        if (!__c.__command || index >= __c.__icb->n_vertex) return;
        __c.__set_buffer(address, index);
        ((device uint *)(__c.__addresses() + __c.__icb->n_buffers))[index] = stride;
    }
    METAL_FUNC void __set_fragment(ulong address, uint index) const {
        if (__c.__command && index < __c.__icb->n_fragment)
            __c.__set_buffer(address, __c.__icb->n_vertex + index);
    }
    METAL_FUNC uint __first_object() const {
        return __c.__icb->n_vertex + __c.__icb->n_fragment + 1 + __c.__icb->n_patch;
    }
    METAL_FUNC void __set_object(ulong address, uint index) const {
        if (__c.__command && index < __c.__icb->n_object)
            __c.__set_buffer(address, __first_object() + index);
    }
    METAL_FUNC void __set_mesh(ulong address, uint index) const {
        if (__c.__command && index < __c.__icb->n_mesh)
            __c.__set_buffer(address, __first_object() + __c.__icb->n_object + index);
    }
    METAL_FUNC void __patches(uint kind, uint points, uint start, uint count, ulong patch_indices,
                              ulong control_indices, uint instances, uint base_instance,
                              ulong factors, uint stride) const {
        if (!__c.__command || !__c.__icb->n_patch) return;
        uint at = __c.__icb->n_vertex + __c.__icb->n_fragment;
        __c.__set_buffer(control_indices, at);
        __c.__set_buffer(patch_indices, at + 1);
        __c.__set_buffer(factors, at + 2);
        __c.__dispatch(kind, uint3(points, count, start), uint3(instances, base_instance, stride));
    }
    METAL_FUNC void __meshes(uint kind, uint3 grid, uint3 object, uint3 mesh) const {
        if (!__c.__command) return;
        __c.__dispatch(kind, grid, object);
        for (uint i = 0; i < 3; i++) __c.__command->origin[i] = mesh[i];
    }
    METAL_FUNC void __draw(primitive_type type, uint count, ulong indices, uint size,
                           uint instances, uint base_vertex, uint base_instance) const {
        if (!__c.__command) return;
        __c.__set_buffer(indices, __c.__icb->n_vertex + __c.__icb->n_fragment);
        __c.__dispatch(4, uint3((uint)type, count, base_vertex),
                       uint3(instances, base_instance, size));
    }
    compute_command __c; // the same record
};
} // namespace metal
