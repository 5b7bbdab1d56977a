// SPDX-License-Identifier: Apache-2.0
// indirect.c: MTLIndirectCommandBuffer and MTLIndirectComputeCommand: commands as records in memory
// (abi/indirect.h), which kernels write too. What they say is checked when they run
// (indirect_execute.c); calls here check what they can.
#include "runtime/program/indirect.h"
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "runtime/memory/buffer.h"
#include "runtime/object/device.h"
#include "runtime/object/validation.h"

enum { MAX_COMMANDS = 1 << 20 };
#define COMPUTE_TYPES                                                                              \
    (MTLIndirectCommandTypeConcurrentDispatch | MTLIndirectCommandTypeConcurrentDispatchThreads)
#define DRAW_TYPES                                                                                 \
    (MTLIndirectCommandTypeDraw | MTLIndirectCommandTypeDrawIndexed |                              \
     MTLIndirectCommandTypeDrawPatches | MTLIndirectCommandTypeDrawIndexedPatches |                \
     MTLIndirectCommandTypeDrawMeshThreadgroups | MTLIndirectCommandTypeDrawMeshThreads)

// Dispatches or draws, not both.
static bool types_valid(MTLIndirectCommandType types) {
    return types != 0 && (!(types & ~(uint32_t)COMPUTE_TYPES) || !(types & ~(uint32_t)DRAW_TYPES));
}

static void indirect_destroy(void *self) {
    MTLIndirectCommandBuffer *icb = self;
    rt_span_remove(&icb->span);
    if (icb->mapped)
        munmap(icb->memory, icb->resource.allocated_bytes);
    else
        rt_free(icb->memory);
    rt_free(icb->commands);
    rt_free(icb->render_commands);
    pthread_mutex_destroy(&icb->lock);
    rt_resource_clear(&icb->resource);
    rt_free(icb);
}

RT_CLASS rt_indirect_class = {.name = "MTLIndirectCommandBuffer",
                              .destroy = indirect_destroy,
                              .label_at = offsetof(MTLIndirectCommandBuffer, resource.label)};

static void *command_owner(const void *self) {
    return ((const MTLIndirectComputeCommand *)self)->buffer;
}
static RT_CLASS command_class = {.name = "MTLIndirectComputeCommand", .owner = command_owner};

// ---- Creation ----

static bool descriptor_valid(MTLDevice *device, const MTLIndirectCommandBufferDescriptor *d,
                             size_t count, MTLResourceOptions options, const char *call) {
    if (!device || !d) {
        rt_misuse(device, device ? RT_RULE_null_argument : RT_RULE_null_object, call, "%s",
                  device ? "descriptor" : "device");
    } else if (!rt_device_needs(device, DEV_INDIRECT_COMMANDS, call)) {
        return false;
    } else if (!types_valid(d->command_types)) {
        rt_misuse(device, RT_RULE_indirect_command_types, call, "command_types 0x%x",
                  d->command_types);
    } else if (count == 0 || count > MAX_COMMANDS) {
        rt_misuse(device, RT_RULE_indirect_command_count, call, "%zu", count);
    } else if (d->max_kernel_buffer_bind_count > RT_MAX_BUFFERS ||
               d->max_kernel_threadgroup_memory_bind_count > RT_MAX_BUFFERS ||
               d->max_vertex_buffer_bind_count > RT_MAX_BUFFERS ||
               d->max_fragment_buffer_bind_count > RT_MAX_BUFFERS) {
        rt_misuse(device, RT_RULE_indirect_bind_count, call,
                  "kernel %zu and %zu, vertex %zu, fragment %zu", d->max_kernel_buffer_bind_count,
                  d->max_kernel_threadgroup_memory_bind_count, d->max_vertex_buffer_bind_count,
                  d->max_fragment_buffer_bind_count);
    } else if (rt_valid_options(device, call, options)) {
        if ((options >> 4 & 15) <= MTLStorageModePrivate) return true;
        rt_misuse(device, RT_RULE_buffer_memoryless, call, NULL);
    }
    return false;
}

static uint32_t limit(const MTLIndirectCommandBufferDescriptor *d, size_t n) {
    return d->inherit_buffers ? 0 : (uint32_t)(n ? n : RT_MAX_BUFFERS);
}

// Of draws: buffers of both stages and the indices; a stride for each vertex buffer.
static AbiIndirectHead draw_head(const MTLIndirectCommandBufferDescriptor *d, size_t count) {
    AbiIndirectHead head = {.n_commands = (uint32_t)count,
                            .n_vertex = limit(d, d->max_vertex_buffer_bind_count),
                            .n_fragment = limit(d, d->max_fragment_buffer_bind_count)};
    head.n_buffers = head.n_vertex + head.n_fragment + 1;
    head.n_threadgroup = head.n_vertex;
    size_t stride = sizeof(AbiIndirectCommand) + 8 * head.n_buffers + 4 * head.n_threadgroup;
    head.stride = (uint32_t)(stride + 7) & ~7u;
    return head;
}

static AbiIndirectHead head_of(const MTLIndirectCommandBufferDescriptor *d, size_t count) {
    if (d->command_types & DRAW_TYPES) return draw_head(d, count);
    size_t buffers = d->max_kernel_buffer_bind_count,
           lengths = d->max_kernel_threadgroup_memory_bind_count;
    AbiIndirectHead head = {
        .n_commands = (uint32_t)count,
        .n_buffers = d->inherit_buffers ? 0 : (uint32_t)(buffers ? buffers : RT_MAX_BUFFERS),
        .n_threadgroup = (uint32_t)(lengths ? lengths : RT_MAX_BUFFERS)};
    size_t stride = sizeof(AbiIndirectCommand) + 8 * head.n_buffers + 4 * head.n_threadgroup;
    head.stride = (uint32_t)(stride + 7) & ~7u;
    return head;
}

// A mapping of its own: a kernel that writes to one that is gone faults instead of damaging others.
static bool allocate(MTLIndirectCommandBuffer *icb, size_t n_bytes) {
    icb->mapped = rt_allocator_is_default();
    if (!icb->mapped) {
        icb->memory = rt_alloc(n_bytes);
        return icb->memory != NULL;
    }
    void *p = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    icb->mapped = p != MAP_FAILED;
    icb->memory = icb->mapped ? p : NULL;
    return icb->mapped;
}

MTLIndirectCommandBuffer *mtl_device_new_indirect_command_buffer(
    MTLDevice *device, const MTLIndirectCommandBufferDescriptor *descriptor,
    size_t max_command_count, MTLResourceOptions options) {
    if (!descriptor_valid(device, descriptor, max_command_count, options, __func__)) return NULL;
    AbiIndirectHead head = head_of(descriptor, max_command_count);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t n_bytes = sizeof head + max_command_count * head.stride;
    n_bytes = (n_bytes + page - 1) & ~(page - 1);
    MTLIndirectCommandBuffer *icb = rt_new(&rt_indirect_class, sizeof *icb);
    if (!icb) return NULL;
    pthread_mutex_init(&icb->lock, NULL);
    rt_resource_init(&icb->resource, device, options, n_bytes);
    icb->head = head;
    icb->types = descriptor->command_types;
    icb->inherit_buffers = descriptor->inherit_buffers;
    icb->inherit_pipeline = descriptor->inherit_pipeline_state;
    icb->attribute_stride = descriptor->support_dynamic_attribute_stride;
    if (!allocate(icb, n_bytes)) {
        mtl_release(icb);
        return NULL;
    }
    memcpy(icb->memory, &head, sizeof head);
    rt_span_add(&icb->span, &icb->resource, icb->memory,
                sizeof head + max_command_count * head.stride);
    return icb;
}

// ---- The buffer ----

static bool present(const MTLIndirectCommandBuffer *icb, const char *call) {
    if (rt_is(icb, &rt_indirect_class)) return true;
    rt_misuse(NULL, icb ? RT_RULE_wrong_class : RT_RULE_null_object, call, "%s",
              mtl_class_name(icb));
    return false;
}

MTLDevice *mtl_indirect_command_buffer_device(const MTLIndirectCommandBuffer *buffer) {
    return buffer ? buffer->resource.device : NULL;
}

const char *mtl_indirect_command_buffer_label(const MTLIndirectCommandBuffer *buffer) {
    return buffer ? rt_label(&buffer->resource.label) : "";
}

void mtl_indirect_command_buffer_set_label(MTLIndirectCommandBuffer *buffer, const char *label) {
    if (present(buffer, __func__)) rt_label_set(&buffer->resource.label, label);
}

size_t mtl_indirect_command_buffer_size(const MTLIndirectCommandBuffer *buffer) {
    return buffer ? buffer->head.n_commands : 0;
}

MTLResourceID mtl_indirect_command_buffer_gpu_resource_id(const MTLIndirectCommandBuffer *buffer) {
    return (MTLResourceID){buffer ? (uint64_t)(uintptr_t)buffer->memory : 0};
}

bool rt_indirect_valid_range(const MTLIndirectCommandBuffer *icb, MTLCommandBuffer *commands,
                             const char *call, MTLRange range) {
    size_t n = icb->head.n_commands;
    if (range.location <= n && range.length <= n - range.location) return true;
    static const char format[] = "%zu from %zu on, '%s' has %zu";
    const char *label = rt_label(&icb->resource.label);
    if (commands)
        rt_misuse_encoding(commands, RT_RULE_indirect_range, call, format, range.length,
                           range.location, label, n);
    else
        rt_misuse(icb->resource.device, RT_RULE_indirect_range, call, format, range.length,
                  range.location, label, n);
    return false;
}

void rt_indirect_reset(MTLIndirectCommandBuffer *icb, MTLRange range) {
    memset(rt_indirect_command(icb, range.location), 0, range.length * icb->head.stride);
}

void mtl_indirect_command_buffer_reset_with_range(MTLIndirectCommandBuffer *buffer,
                                                  MTLRange range) {
    if (present(buffer, __func__) && rt_indirect_valid_range(buffer, NULL, __func__, range))
        rt_indirect_reset(buffer, range);
}

MTLIndirectComputeCommand *mtl_indirect_command_buffer_indirect_compute_command_at_index(
    MTLIndirectCommandBuffer *buffer, size_t index) {
    if (!present(buffer, __func__)) return NULL;
    size_t n = buffer->head.n_commands;
    const char *label = rt_label(&buffer->resource.label);
    if (index >= n) {
        rt_misuse(buffer->resource.device, RT_RULE_indirect_command_index, __func__,
                  "index %zu, '%s' has %zu", index, label, n);
        return NULL;
    }
    if (!(buffer->types & COMPUTE_TYPES)) {
        rt_misuse(buffer->resource.device, RT_RULE_indirect_dispatch_type, __func__,
                  "'%s' has command_types 0x%x", label, buffer->types);
        return NULL;
    }
    if (rt_storage_mode(&buffer->resource) == MTLStorageModePrivate) {
        rt_misuse(buffer->resource.device, RT_RULE_indirect_private, __func__, "'%s'", label);
        return NULL;
    }
    pthread_mutex_lock(&buffer->lock);
    if (!buffer->commands && (buffer->commands = rt_alloc(n * sizeof *buffer->commands)))
        for (size_t i = 0; i < n; i++)
            buffer->commands[i] = (MTLIndirectComputeCommand){{&command_class, 1}, buffer, i};
    MTLIndirectComputeCommand *commands = buffer->commands;
    pthread_mutex_unlock(&buffer->lock);
    return commands ? &commands[index] : NULL;
}

// ---- Commands ----

// The record of a command, or NULL after a message.
static AbiIndirectCommand *record(const MTLIndirectComputeCommand *command, const char *call) {
    if (rt_is(command, &command_class)) return rt_indirect_command(command->buffer, command->index);
    rt_misuse(NULL, command ? RT_RULE_wrong_class : RT_RULE_null_object, call, "%s",
              mtl_class_name(command));
    return NULL;
}

static void misuse(const MTLIndirectComputeCommand *command, RtRule rule, const char *call,
                   const char *what) {
    const MTLResource *r = &command->buffer->resource;
    rt_misuse(r->device, rule, call, "%s, command %zu of '%s'", what, command->index,
              rt_label(&r->label));
}

void mtl_indirect_compute_command_set_compute_pipeline_state(MTLIndirectComputeCommand *command,
                                                             MTLComputePipelineState *pipeline) {
    AbiIndirectCommand *r = record(command, __func__);
    if (!r) return;
    if (!pipeline)
        misuse(command, RT_RULE_null_argument, __func__, "pipeline");
    else if (!rt_is(pipeline, &rt_pipeline_class))
        misuse(command, RT_RULE_wrong_class, __func__, mtl_class_name(pipeline));
    else if (command->buffer->inherit_pipeline)
        misuse(command, RT_RULE_indirect_inherited, __func__, "inherit_pipeline_state");
    else if (!pipeline->indirect)
        misuse(command, RT_RULE_indirect_pipeline, __func__, rt_pipeline_function(pipeline)->name);
    else
        r->pipeline = mtl_compute_pipeline_state_gpu_resource_id(pipeline).impl;
}

static void set_buffer(MTLIndirectComputeCommand *command, MTLBuffer *buffer, size_t offset,
                       size_t index, const char *call) {
    AbiIndirectCommand *r = record(command, call);
    char text[96];
    if (!r) return;
    if (command->buffer->inherit_buffers) {
        misuse(command, RT_RULE_indirect_inherited, call, "inherit_buffers");
    } else if (index >= command->buffer->head.n_buffers) {
        snprintf(text, sizeof text, "index %zu of %u", index, command->buffer->head.n_buffers);
        misuse(command, RT_RULE_indirect_buffer_index, call, text);
    } else if (buffer && !rt_is(buffer, &rt_buffer_class)) {
        misuse(command, RT_RULE_wrong_class, call, mtl_class_name(buffer));
    } else if (buffer && offset >= buffer->length) {
        snprintf(text, sizeof text, "offset %zu, length %zu", offset, buffer->length);
        misuse(command, RT_RULE_buffer_offset, call, text);
    } else {
        r->addresses[index] = buffer ? (uint64_t)(uintptr_t)(buffer->memory + offset) : 0;
    }
}

void mtl_indirect_compute_command_set_kernel_buffer(MTLIndirectComputeCommand *command,
                                                    MTLBuffer *buffer, size_t offset,
                                                    size_t index) {
    set_buffer(command, buffer, offset, index, __func__);
}

void mtl_indirect_compute_command_set_kernel_buffer_with_stride(MTLIndirectComputeCommand *command,
                                                                MTLBuffer *buffer, size_t offset,
                                                                size_t stride, size_t index) {
    (void)stride;
    if (record(command, __func__) && !command->buffer->attribute_stride)
        misuse(command, RT_RULE_indirect_attribute_stride, __func__, "");
    else if (command)
        set_buffer(command, buffer, offset, index, __func__);
}

void mtl_indirect_compute_command_set_threadgroup_memory_length(MTLIndirectComputeCommand *command,
                                                                size_t length, size_t index) {
    AbiIndirectCommand *r = record(command, __func__);
    char text[96];
    if (!r) return;
    snprintf(text, sizeof text, "length %zu at index %zu", length, index);
    if (index >= command->buffer->head.n_threadgroup)
        misuse(command, RT_RULE_indirect_buffer_index, __func__, text);
    else if (length % 16 != 0 &&
             !rt_tolerates(command->buffer->resource.device, RT_RULE_threadgroup_memory_multiple))
        misuse(command, RT_RULE_threadgroup_memory_multiple, __func__, text);
    else if (length > RT_MAX_THREADGROUP_MEMORY)
        misuse(command, RT_RULE_threadgroup_memory_limit, __func__, text);
    else
        abi_indirect_lengths(r, command->buffer->head.n_buffers)[index] =
            rt_threadgroup_length(length);
}

static void dispatch(MTLIndirectComputeCommand *command, AbiIndirectKind kind, MTLSize grid,
                     MTLSize group, const char *call) {
    AbiIndirectCommand *r = record(command, call);
    char text[160];
    if (!r) return;
    const size_t g[3] = {grid.width, grid.height, grid.depth};
    const size_t s[3] = {group.width, group.height, group.depth};
    bool empty = !g[0] || !g[1] || !g[2], empty_group = !s[0] || !s[1] || !s[2];
    MTLIndirectCommandType type = kind == ABI_INDIRECT_THREADS
                                      ? MTLIndirectCommandTypeConcurrentDispatchThreads
                                      : MTLIndirectCommandTypeConcurrentDispatch;
    snprintf(text, sizeof text, "grid %zu x %zu x %zu, threadgroup %zu x %zu x %zu", g[0], g[1],
             g[2], s[0], s[1], s[2]);
    if (!(command->buffer->types & type)) {
        misuse(command, RT_RULE_indirect_dispatch_type, call, text);
    } else if (empty || empty_group) {
        RtRule rule = empty ? RT_RULE_dispatch_empty_grid : RT_RULE_dispatch_empty_threadgroup;
        misuse(command, rule, call, text);
        if (rt_tolerates(command->buffer->resource.device, rule)) r->kind = ABI_INDIRECT_NOTHING;
    } else if ((g[0] | g[1] | g[2]) > UINT32_MAX) {
        misuse(command, RT_RULE_dispatch_grid_limit, call, text);
    } else if (s[0] > RT_MAX_THREADS || s[1] > RT_MAX_THREADS || s[2] > RT_MAX_THREADS ||
               s[0] * s[1] * s[2] > RT_MAX_THREADS) {
        misuse(command, RT_RULE_dispatch_threadgroup_limit, call, text);
    } else {
        r->kind = kind;
        for (int i = 0; i < 3; i++) {
            r->grid[i] = (uint32_t)g[i];
            r->group[i] = (uint32_t)s[i];
        }
        // Code for the shape is made while there is time. Inherited pipelines are not known yet.
        MTLComputePipelineState *pipeline = rt_pipeline_from_handle(r->pipeline);
        if (!pipeline) return;
        rt_pipeline_prepare(pipeline, r->group, 0);
        mtl_release(pipeline);
    }
}

void mtl_indirect_compute_command_concurrent_dispatch_threadgroups(
    MTLIndirectComputeCommand *command, MTLSize threadgroups_per_grid,
    MTLSize threads_per_threadgroup) {
    dispatch(command, ABI_INDIRECT_THREADGROUPS, threadgroups_per_grid, threads_per_threadgroup,
             __func__);
}

void mtl_indirect_compute_command_concurrent_dispatch_threads(MTLIndirectComputeCommand *command,
                                                              MTLSize threads_per_grid,
                                                              MTLSize threads_per_threadgroup) {
    dispatch(command, ABI_INDIRECT_THREADS, threads_per_grid, threads_per_threadgroup, __func__);
}

void mtl_indirect_compute_command_set_barrier(MTLIndirectComputeCommand *command) {
    AbiIndirectCommand *r = record(command, __func__);
    if (r) r->barrier = 1;
}

void mtl_indirect_compute_command_clear_barrier(MTLIndirectComputeCommand *command) {
    AbiIndirectCommand *r = record(command, __func__);
    if (r) r->barrier = 0;
}

void mtl_indirect_compute_command_set_imageblock_width(MTLIndirectComputeCommand *command,
                                                       size_t width, size_t height) {
    (void)width, (void)height;
    if (record(command, __func__))
        misuse(command, RT_RULE_indirect_unsupported, __func__, "imageblock");
}

void mtl_indirect_compute_command_set_stage_in_region(MTLIndirectComputeCommand *command,
                                                      MTLRegion region) {
    (void)region;
    if (record(command, __func__))
        misuse(command, RT_RULE_indirect_unsupported, __func__, "stage-in");
}

void mtl_indirect_compute_command_reset(MTLIndirectComputeCommand *command) {
    if (record(command, __func__))
        rt_indirect_reset(command->buffer, mtl_range_make(command->index, 1));
}
