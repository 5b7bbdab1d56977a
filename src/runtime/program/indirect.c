// SPDX-License-Identifier: Apache-2.0
// indirect.c: MTLIndirectCommandBuffer: commands as records in memory (abi/indirect.h), which
// kernels write too; and what commands of both classes do (indirect_compute.c, render_indirect.c).
// What records say is checked when they run (indirect_execute.c); calls check what they can.
#include "runtime/program/indirect.h"
#include "runtime/memory/own_memory.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "runtime/memory/buffer.h"
#include "runtime/object/device.h"
#include "runtime/object/validation.h"

enum { MAX_COMMANDS = 1 << 20 };
#define COMPUTE_TYPES                                                                              \
    (MTLIndirectCommandTypeConcurrentDispatch | MTLIndirectCommandTypeConcurrentDispatchThreads)
#define PATCH_TYPES (MTLIndirectCommandTypeDrawPatches | MTLIndirectCommandTypeDrawIndexedPatches)
#define MESH_TYPES                                                                                 \
    (MTLIndirectCommandTypeDrawMeshThreadgroups | MTLIndirectCommandTypeDrawMeshThreads)
#define DRAW_TYPES                                                                                 \
    (MTLIndirectCommandTypeDraw | MTLIndirectCommandTypeDrawIndexed | PATCH_TYPES | MESH_TYPES)

// Dispatches or draws, not both.
static bool types_valid(MTLIndirectCommandType types) {
    return types != 0 && (!(types & ~(uint32_t)COMPUTE_TYPES) || !(types & ~(uint32_t)DRAW_TYPES));
}

static void indirect_destroy(void *self) {
    MTLIndirectCommandBuffer *icb = self;
    rt_span_remove(&icb->span);
    rt_free_own_memory(&icb->resource);
    rt_free(icb->commands);
    pthread_mutex_destroy(&icb->lock);
    rt_resource_clear(&icb->resource);
    rt_free(icb);
}

RT_CLASS rt_indirect_class = {.name = "MTLIndirectCommandBuffer",
                              .destroy = indirect_destroy,
                              .label_at = offsetof(MTLIndirectCommandBuffer, resource.label)};

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
               d->max_fragment_buffer_bind_count > RT_MAX_BUFFERS ||
               d->max_object_buffer_bind_count > RT_MAX_BUFFERS ||
               d->max_mesh_buffer_bind_count > RT_MAX_BUFFERS ||
               d->max_object_threadgroup_memory_bind_count > RT_MAX_BUFFERS) {
        rt_misuse(device, RT_RULE_indirect_bind_count, call,
                  "kernel %zu and %zu, vertex %zu, fragment %zu, object %zu and %zu, mesh %zu",
                  d->max_kernel_buffer_bind_count, d->max_kernel_threadgroup_memory_bind_count,
                  d->max_vertex_buffer_bind_count, d->max_fragment_buffer_bind_count,
                  d->max_object_buffer_bind_count, d->max_object_threadgroup_memory_bind_count,
                  d->max_mesh_buffer_bind_count);
    } else if (rt_valid_options(device, call, options)) {
        if ((options >> 4 & 15) <= MTLStorageModePrivate) return true;
        rt_misuse(device, RT_RULE_buffer_memoryless, call, NULL);
    }
    return false;
}

static uint32_t limit(const MTLIndirectCommandBufferDescriptor *d, size_t n) {
    return d->inherit_buffers ? 0 : (uint32_t)(n ? n : RT_MAX_BUFFERS);
}

static unsigned own_of(const MTLIndirectCommandBufferDescriptor *d) {
    return (d->own_cull_mode ? RT_OWN_CULL : 0u) |
           (d->own_front_facing_winding ? RT_OWN_WINDING : 0u) |
           (d->own_triangle_fill_mode ? RT_OWN_FILL : 0u) |
           (d->own_depth_clip_mode ? RT_OWN_CLIP : 0u) | (d->own_depth_bias ? RT_OWN_BIAS : 0u) |
           (d->own_depth_stencil_state ? RT_OWN_DEPTH_STENCIL : 0u);
}

// Of draws: buffers of the stages and indices; a stride for each vertex buffer.
static AbiIndirectHead draw_head(const MTLIndirectCommandBufferDescriptor *d, size_t count) {
    AbiIndirectHead head = {.n_commands = (uint32_t)count,
                            .n_vertex = limit(d, d->max_vertex_buffer_bind_count),
                            .n_fragment = limit(d, d->max_fragment_buffer_bind_count)};
    if (d->command_types & PATCH_TYPES) head.n_patch = 2;
    if (d->command_types & MESH_TYPES) {
        size_t memory = d->max_object_threadgroup_memory_bind_count;
        head.n_object = limit(d, d->max_object_buffer_bind_count);
        head.n_mesh = limit(d, d->max_mesh_buffer_bind_count);
        head.n_object_memory = (uint32_t)(memory ? memory : RT_MAX_BUFFERS);
    }
    head.n_buffers = abi_indirect_objects(&head) + head.n_object + head.n_mesh;
    head.n_threadgroup = head.n_vertex + head.n_object_memory;
    size_t stride = sizeof(AbiIndirectCommand) + 8 * head.n_buffers + 4 * head.n_threadgroup;
    head.stride = (uint32_t)(stride + 7) & ~7u;
    if (own_of(d)) {
        head.state_at = head.stride;
        head.stride += (uint32_t)sizeof(AbiIndirectState);
    }
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

// Pages of its own: a kernel that writes to one that is gone faults instead of damaging others.
static bool allocate(MTLIndirectCommandBuffer *icb, size_t n_bytes) {
    if (!rt_own_shared_memory(&icb->resource, n_bytes)) return false;
    icb->memory = icb->resource.own.address;
    icb->host = icb->resource.own.host;
    rt_show_memory(&icb->resource); // encoding writes there
    return true;
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
    icb->own = head.state_at ? own_of(descriptor) : 0;
    icb->attribute_stride = descriptor->support_dynamic_attribute_stride;
    if (!allocate(icb, n_bytes)) {
        mtl_release(icb);
        return NULL;
    }
    memcpy(icb->host, &head, sizeof head);
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

// ---- Its commands ----

void *rt_indirect_command_owner(const void *command) {
    return ((const RtIndirectCommand *)command)->buffer;
}

void *rt_indirect_command_at(MTLIndirectCommandBuffer *buffer, size_t index, RtClass *cls,
                             MTLIndirectCommandType types, RtRule other, const char *call) {
    if (!present(buffer, call)) return NULL;
    size_t n = buffer->head.n_commands;
    RtRule rule = index >= n                 ? RT_RULE_indirect_command_index
                  : !(buffer->types & types) ? other
                  : rt_storage_mode(&buffer->resource) == MTLStorageModePrivate
                      ? RT_RULE_indirect_private
                      : RT_N_RULES;
    if (rule != RT_N_RULES) {
        rt_misuse(buffer->resource.device, rule, call,
                  "index %zu, '%s' has %zu, command_types 0x%x", index,
                  rt_label(&buffer->resource.label), n, buffer->types);
        return NULL;
    }
    pthread_mutex_lock(&buffer->lock);
    if (!buffer->commands && (buffer->commands = rt_alloc(n * sizeof *buffer->commands)))
        for (size_t i = 0; i < n; i++)
            buffer->commands[i] = (RtIndirectCommand){{cls, 1}, buffer, i};
    RtIndirectCommand *commands = buffer->commands;
    pthread_mutex_unlock(&buffer->lock);
    return commands ? &commands[index] : NULL;
}

AbiIndirectCommand *rt_indirect_record(const void *command, const RtClass *cls, const char *call) {
    const RtIndirectCommand *c = command;
    if (rt_is(command, cls)) return rt_indirect_command(c->buffer, c->index);
    rt_misuse(NULL, command ? RT_RULE_wrong_class : RT_RULE_null_object, call, "%s",
              mtl_class_name(command));
    return NULL;
}

void rt_indirect_misuse(const RtIndirectCommand *command, RtRule rule, const char *call,
                        const char *what) {
    const MTLResource *r = &command->buffer->resource;
    rt_misuse(r->device, rule, call, "%s, command %zu of '%s'", what, command->index,
              rt_label(&r->label));
}

bool rt_indirect_valid_pipeline(const RtIndirectCommand *command, const void *pipeline,
                                const RtClass *cls, const char *call) {
    if (!pipeline)
        rt_indirect_misuse(command, RT_RULE_null_argument, call, "pipeline");
    else if (!rt_is(pipeline, cls))
        rt_indirect_misuse(command, RT_RULE_wrong_class, call, mtl_class_name(pipeline));
    else if (command->buffer->inherit_pipeline)
        rt_indirect_misuse(command, RT_RULE_indirect_inherited, call, "inherit_pipeline_state");
    else
        return true;
    return false;
}

bool rt_indirect_valid_buffer(const RtIndirectCommand *command, const MTLBuffer *buffer,
                              size_t offset, size_t index, uint32_t n, const char *call) {
    char text[96];
    if (command->buffer->inherit_buffers) {
        rt_indirect_misuse(command, RT_RULE_indirect_inherited, call, "inherit_buffers");
    } else if (index >= n) {
        snprintf(text, sizeof text, "index %zu of %u", index, n);
        rt_indirect_misuse(command, RT_RULE_indirect_buffer_index, call, text);
    } else if (buffer && !rt_is(buffer, &rt_buffer_class)) {
        rt_indirect_misuse(command, RT_RULE_wrong_class, call, mtl_class_name(buffer));
    } else if (buffer && offset >= buffer->length) {
        snprintf(text, sizeof text, "offset %zu, length %zu", offset, buffer->length);
        rt_indirect_misuse(command, RT_RULE_buffer_offset, call, text);
    } else {
        return true;
    }
    return false;
}

uint64_t rt_indirect_address(const MTLBuffer *buffer, size_t offset) {
    return buffer ? (uint64_t)(uintptr_t)(buffer->memory + offset) : 0;
}

#include "accessors/program/indirect.inc" // plain accessors, from the table
