// SPDX-License-Identifier: Apache-2.0
// commands.c: MTLIOCommandBuffer while it is recorded, and what a program asks of it later. What a
// load goes to is checked here; what it comes from when it runs, since a file may change.
#include "os/futex.h"
#include "runtime/io/queue_int.h"
#include "runtime/object/validation.h"

static void buffer_destroy(void *self) {
    MTLIOCommandBuffer *buffer = self;
    if (!buffer->committed) rt_io_forget(buffer);
    for (size_t i = 0; i < buffer->n_commands; i++) {
        mtl_release(buffer->commands[i].object);
        mtl_release(buffer->commands[i].file);
    }
    rt_free(buffer->commands);
    rt_free(buffer->handlers);
    mtl_release(atomic_load(&buffer->error));
    rt_label_free(&buffer->label);
    mtl_release(buffer->queue);
    rt_free(buffer);
}

RT_CLASS rt_io_buffer_class = {.name = "MTLIOCommandBuffer",
                               .destroy = buffer_destroy,
                               .label_at = offsetof(MTLIOCommandBuffer, label)};

// ---- Checks ----

static bool present(const MTLIOCommandBuffer *buffer, const char *call) {
    if (rt_is(buffer, &rt_io_buffer_class)) return true;
    rt_misuse(NULL, buffer ? RT_RULE_wrong_class : RT_RULE_null_object, call, "%s",
              mtl_class_name(buffer));
    return false;
}

static bool recording(MTLIOCommandBuffer *buffer, const char *call) {
    if (!present(buffer, call)) return false;
    if (!buffer->committed) return true;
    rt_misuse(buffer->queue->device, RT_RULE_command_buffer_committed, call, "'%s'",
              rt_label(&buffer->label));
    return false;
}

// A message was sent: the command buffer will end in error, the first one counts.
static void spoil(MTLIOCommandBuffer *buffer, RtRule rule, const char *call, const char *what) {
    rt_misuse(buffer->queue->device, rule, call, "%s", what);
    if (atomic_load(&buffer->error)) return;
    MTLError *error = rt_error_new(MTLIOErrorDomain, MTLIOErrorInternal, "%s: %s.", call, what);
    atomic_store(&buffer->error, error ? error : rt_error_no_memory());
}

static bool of_class(MTLIOCommandBuffer *buffer, const void *object, const RtClass *cls,
                     const char *call) {
    if (rt_is(object, cls)) return true;
    spoil(buffer, object ? RT_RULE_wrong_class : RT_RULE_null_argument, call,
          object ? mtl_class_name(object) : cls->name);
    return false;
}

static void append(MTLIOCommandBuffer *buffer, RtIoCommand command) {
    if (!rt_grow(&buffer->commands, &buffer->commands_capacity, buffer->n_commands + 1,
                 sizeof *buffer->commands)) {
        if (!atomic_load(&buffer->error)) atomic_store(&buffer->error, rt_error_no_memory());
        return;
    }
    mtl_retain(command.object);
    mtl_retain(command.file);
    buffer->commands[buffer->n_commands++] = command;
}

// ---- Loads ----

void mtl_io_command_buffer_load_bytes(MTLIOCommandBuffer *buffer, void *pointer, size_t size,
                                      MTLIOFileHandle *source_handle, size_t source_handle_offset) {
    if (!recording(buffer, __func__) ||
        !of_class(buffer, source_handle, &rt_io_file_class, __func__))
        return;
    if (!pointer)
        spoil(buffer, RT_RULE_null_argument, __func__, "pointer");
    else
        append(buffer, (RtIoCommand){.kind = RT_IO_LOAD_BYTES,
                                     .pointer = pointer,
                                     .n_bytes = size,
                                     .file = source_handle,
                                     .file_offset = source_handle_offset});
}

static bool in_buffer(MTLIOCommandBuffer *buffer, const MTLBuffer *destination, size_t offset,
                      size_t size, const char *call) {
    if (!of_class(buffer, destination, &rt_buffer_class, call)) return false;
    if (offset <= destination->length && size <= destination->length - offset) return true;
    spoil(buffer, RT_RULE_io_load_range, call, "the range ends behind the buffer");
    return false;
}

void mtl_io_command_buffer_load_buffer(MTLIOCommandBuffer *buffer, MTLBuffer *destination,
                                       size_t offset, size_t size, MTLIOFileHandle *source_handle,
                                       size_t source_handle_offset) {
    if (recording(buffer, __func__) &&
        of_class(buffer, source_handle, &rt_io_file_class, __func__) &&
        in_buffer(buffer, destination, offset, size, __func__))
        append(buffer, (RtIoCommand){.kind = RT_IO_LOAD_BUFFER,
                                     .object = destination,
                                     .offset = offset,
                                     .n_bytes = size,
                                     .file = source_handle,
                                     .file_offset = source_handle_offset});
}

void mtl_io_command_buffer_load_texture(MTLIOCommandBuffer *buffer, MTLTexture *texture,
                                        size_t slice, size_t level, MTLSize size,
                                        size_t source_bytes_per_row, size_t source_bytes_per_image,
                                        MTLOrigin destination_origin,
                                        MTLIOFileHandle *source_handle,
                                        size_t source_handle_offset) {
    RtIoCommand c = {.kind = RT_IO_LOAD_TEXTURE,
                     .object = texture,
                     .file = source_handle,
                     .file_offset = source_handle_offset,
                     .texture = {slice,
                                 level,
                                 source_bytes_per_row,
                                 source_bytes_per_image,
                                 {destination_origin, size}}};
    if (!recording(buffer, __func__) ||
        !of_class(buffer, source_handle, &rt_io_file_class, __func__) ||
        !of_class(buffer, texture, &rt_texture_class, __func__))
        return;
    const RtSite site = {buffer->queue->device, NULL, __func__};
    if (texture->record.n_samples > 1 ||
        rt_storage_mode(&texture->resource) == MTLStorageModeMemoryless)
        spoil(buffer, RT_RULE_texture_cpu_access, __func__, "the texture has samples or no memory");
    else if (!rt_valid_region(&site, texture, level, slice, c.texture.region) ||
             !rt_valid_strides(&site, texture, size, texture->record.format->block_bytes,
                               rt_texture_twiddled(texture), &c.texture.bytes_per_row,
                               &c.texture.bytes_per_image, &c.n_bytes))
        spoil(buffer, RT_RULE_io_load_range, __func__, "the region is not one of the texture's");
    else
        append(buffer, c);
}

void mtl_io_command_buffer_copy_status_to_buffer(MTLIOCommandBuffer *buffer, MTLBuffer *destination,
                                                 size_t offset) {
    if (recording(buffer, __func__) &&
        in_buffer(buffer, destination, offset, sizeof(int64_t), __func__))
        append(buffer,
               (RtIoCommand){.kind = RT_IO_COPY_STATUS, .object = destination, .offset = offset});
}

// ---- Order ----

void mtl_io_command_buffer_add_barrier(MTLIOCommandBuffer *buffer) {
    if (recording(buffer, __func__)) append(buffer, (RtIoCommand){.kind = RT_IO_BARRIER});
}

static void event(MTLIOCommandBuffer *buffer, RtIoKind kind, MTLSharedEvent *shared, uint64_t value,
                  const char *call) {
    if (!recording(buffer, call)) return;
    if (rt_is_shared_event(shared))
        append(buffer, (RtIoCommand){.kind = kind, .object = shared, .value = value});
    else
        spoil(buffer, shared ? RT_RULE_wrong_class : RT_RULE_null_argument, call, "event");
}

void mtl_io_command_buffer_wait_for_event(MTLIOCommandBuffer *buffer, MTLSharedEvent *shared,
                                          uint64_t value) {
    event(buffer, RT_IO_WAIT, shared, value, __func__);
}

void mtl_io_command_buffer_signal_event(MTLIOCommandBuffer *buffer, MTLSharedEvent *shared,
                                        uint64_t value) {
    event(buffer, RT_IO_SIGNAL, shared, value, __func__);
}

void mtl_io_command_buffer_add_completed_handler(MTLIOCommandBuffer *buffer,
                                                 MTLIOCommandBufferHandler handler, void *context) {
    if (!recording(buffer, __func__) || !handler) return;
    if (rt_grow(&buffer->handlers, &buffer->handlers_capacity, buffer->n_handlers + 1,
                sizeof *buffer->handlers))
        buffer->handlers[buffer->n_handlers++] = (RtIoHandler){handler, context};
    else if (!atomic_load(&buffer->error))
        atomic_store(&buffer->error, rt_error_no_memory());
}

void mtl_io_command_buffer_enqueue(MTLIOCommandBuffer *buffer) {
    if (!recording(buffer, __func__)) return;
    if (buffer->enqueued)
        rt_misuse(buffer->queue->device, RT_RULE_command_buffer_already_enqueued, __func__, "'%s'",
                  rt_label(&buffer->label));
    else
        rt_io_enqueue(buffer);
}

void mtl_io_command_buffer_commit(MTLIOCommandBuffer *buffer) {
    if (recording(buffer, __func__)) rt_io_commit(buffer);
}

void mtl_io_command_buffer_wait_until_completed(MTLIOCommandBuffer *buffer) {
    if (!present(buffer, __func__)) return;
    if (!buffer->committed) {
        rt_misuse(buffer->queue->device, RT_RULE_command_buffer_not_committed, __func__, "'%s'",
                  rt_label(&buffer->label));
        return;
    }
    while (!atomic_load(&buffer->completed)) os_futex_wait(&buffer->completed, 0);
}

void mtl_io_command_buffer_try_cancel(MTLIOCommandBuffer *buffer) {
    if (present(buffer, __func__)) rt_io_cancel(buffer);
}

// ---- Properties ----

MTLError *mtl_io_command_buffer_error(const MTLIOCommandBuffer *buffer) {
    bool failed = mtl_io_command_buffer_status(buffer) == MTLIOStatusError;
    return failed ? atomic_load(&buffer->error) : NULL;
}

void mtl_io_command_buffer_push_debug_group(MTLIOCommandBuffer *buffer, const char *name) {
    (void)name;
    if (recording(buffer, __func__)) buffer->debug_depth++;
}

void mtl_io_command_buffer_pop_debug_group(MTLIOCommandBuffer *buffer) {
    if (!recording(buffer, __func__)) return;
    if (buffer->debug_depth)
        buffer->debug_depth--;
    else
        rt_misuse(buffer->queue->device, RT_RULE_debug_group_underflow, __func__, NULL);
}

#include "accessors/io/commands.inc" // plain accessors, from the table
