// SPDX-License-Identifier: Apache-2.0
// metal4.h: Metal 4: command queues, allocators, reusable command buffers, argument tables and the
// unified compute encoder. Part of metal.h, which says how names, lifetimes, errors and threads
// work; include that. The compiler and its descriptors are in metal4_compiler.h.
//
//     MTL4CommandQueue *queue = mtl_device_new_mtl4_command_queue(device);
//     MTL4CommandAllocator *allocator = mtl_device_new_command_allocator(device);
//     MTL4CommandBuffer *commands = mtl_device_new_command_buffer(device);
//     MTL4ArgumentTable *table = mtl_device_new_argument_table(device,
//         &(MTL4ArgumentTableDescriptor){.max_buffer_bind_count = 2}, NULL);
//     mtl4_command_queue_add_residency_set(queue, set);     // holds the buffers
//
//     mtl4_command_buffer_begin_command_buffer(commands, allocator);
//     MTL4ComputeCommandEncoder *e = mtl4_command_buffer_compute_command_encoder(commands);
//     mtl4_compute_command_encoder_set_compute_pipeline_state(e, pipeline);
//     mtl4_compute_command_encoder_set_argument_table(e, table);
//     mtl4_argument_table_set_address(table, mtl_buffer_gpu_address(x), 0);
//     mtl4_compute_command_encoder_dispatch_threads(e, grid, group);
//     mtl4_compute_command_encoder_end_encoding(e);
//     mtl4_command_buffer_end_command_buffer(commands);
//     mtl4_command_queue_commit(queue, &commands, 1);
//     mtl4_command_queue_signal_event(queue, (MTLEvent *)event, 1);
//     mtl_shared_event_wait_until_signaled_value(event, 1, UINT64_MAX);
//
// What is different from the command buffers of metal.h:
// - A command buffer belongs to the device and is used again and again: begin, encode, end, commit,
//   and begin anew at once, while the commands of before still run. Its commands lie in the memory
//   of the allocator it was begun with. An allocator serves one command buffer at a time (between
//   begin and end) and keeps all memory until mtl4_command_allocator_reset, which is allowed when
//   none of its command buffers is being encoded or executed. Frames in flight take an allocator
//   each.
// - Nothing is tracked: dispatches and copies of an encoder may run side by side, and only barriers
//   (or fences) order them. Here encoders and command buffers of one queue do run in the order of
//   their commits, which a program must not count on.
// - Nothing is kept alive for the program: residency sets hold resources, and so does the program.
//   Under MTL_DEBUG_LAYER=1 what a dispatch or copy reaches and no residency set of the queue or
//   the command buffer holds is an error that names it.
// - Kernels get their arguments from an argument table: plain addresses. Each dispatch takes the
//   bindings as they are then.
// - Misuse while encoding, and faults of kernels, arrive in the commit's feedback.
// examples/metal4_compute.c and examples/metal4_frames.c are programs; docs/guide/metal4.md says
// more.
#ifndef INGOT_METAL_H
#include "ingot/metal.h" // which includes this one
#elif !defined INGOT_METAL4_H
#define INGOT_METAL4_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MTL4CommandQueue MTL4CommandQueue;
typedef struct MTL4CommandAllocator MTL4CommandAllocator;
typedef struct MTL4CommandBuffer MTL4CommandBuffer;
typedef struct MTL4ComputeCommandEncoder MTL4ComputeCommandEncoder;
typedef struct MTL4ArgumentTable MTL4ArgumentTable;
typedef struct MTL4CommitOptions MTL4CommitOptions;
typedef struct MTL4CommitFeedback MTL4CommitFeedback;
typedef struct MTL4CounterHeap MTL4CounterHeap;

typedef uint64_t MTLGPUAddress;

// Parts of the device's work, for barriers and fences.
typedef uint64_t MTLStages;
#define MTLStageVertex ((MTLStages)1 << 0)
#define MTLStageFragment ((MTLStages)1 << 1)
#define MTLStageTile ((MTLStages)1 << 2)
#define MTLStageObject ((MTLStages)1 << 3)
#define MTLStageMesh ((MTLStages)1 << 4)
#define MTLStageResourceState ((MTLStages)1 << 26)
#define MTLStageDispatch ((MTLStages)1 << 27)
#define MTLStageBlit ((MTLStages)1 << 28)
#define MTLStageAccelerationStructure ((MTLStages)1 << 29)
#define MTLStageMachineLearning ((MTLStages)1 << 30)
#define MTLStageAll ((MTLStages)INT64_MAX)

typedef uint32_t MTL4VisibilityOptions;
enum {
    MTL4VisibilityOptionNone = 0, // order of execution only
    MTL4VisibilityOptionDevice = 1,
    MTL4VisibilityOptionResourceAlias = 2,
};

#define MTL4CommandQueueErrorDomain "MTL4CommandQueueErrorDomain"
typedef enum MTL4CommandQueueError { // domain MTL4CommandQueueErrorDomain
    MTL4CommandQueueErrorNone = 0,
    MTL4CommandQueueErrorTimeout = 1,
    MTL4CommandQueueErrorNotPermitted = 2,
    MTL4CommandQueueErrorOutOfMemory = 3,
    MTL4CommandQueueErrorDeviceRemoved = 4,
    MTL4CommandQueueErrorAccessRevoked = 5,
    MTL4CommandQueueErrorInternal = 6, // a fault of a kernel, or misuse (mtl_error_rule)
} MTL4CommandQueueError;

typedef struct MTL4BufferRange {
    MTLGPUAddress buffer_address;
    uint64_t length; // UINT64_MAX: up to the end of the buffer
} MTL4BufferRange;

static inline MTL4BufferRange mtl4_buffer_range_make(MTLGPUAddress buffer_address,
                                                     uint64_t length) {
    MTL4BufferRange range = {buffer_address, length};
    return range;
}

// What dispatch_threads_indirect reads.
typedef struct MTLDispatchThreadsIndirectArguments {
    uint32_t threads_per_grid[3];
    uint32_t threads_per_threadgroup[3];
} MTLDispatchThreadsIndirectArguments;

// ---- MTL4CommandAllocator ----

typedef struct MTL4CommandAllocatorDescriptor {
    const char *label; // NULL: none
} MTL4CommandAllocatorDescriptor;

// NULL: no memory.
MTL_API MTL4CommandAllocator *mtl_device_new_command_allocator(MTLDevice *device);
MTL_API MTL4CommandAllocator *mtl_device_new_command_allocator_with_descriptor(
    MTLDevice *device, const MTL4CommandAllocatorDescriptor *descriptor, MTLError **error);
MTL_API MTLDevice *mtl4_command_allocator_device(const MTL4CommandAllocator *allocator);
MTL_API const char *mtl4_command_allocator_label(const MTL4CommandAllocator *allocator);
// Bytes of memory it has for commands; a reset keeps them for reuse.
MTL_API uint64_t mtl4_command_allocator_allocated_size(const MTL4CommandAllocator *allocator);
// Gives the memory of all its commands free. Refused, with a message that names both, while one of
// its command buffers is between begin and end, or committed and not completed.
MTL_API void mtl4_command_allocator_reset(MTL4CommandAllocator *allocator);

// ---- MTL4ArgumentTable ----

typedef struct MTL4ArgumentTableDescriptor {
    const char *label;                   // NULL: none
    size_t max_buffer_bind_count;        // 0 .. 31
    size_t max_texture_bind_count;       // 0 .. 128
    size_t max_sampler_state_bind_count; // 0 .. 16
    bool initialize_bindings;            // all bindings begin as none; they always do here
    bool support_attribute_strides;      // set_address_with_attribute_stride may be used
} MTL4ArgumentTableDescriptor;

// NULL and an error if a count is over its limit.
MTL_API MTL4ArgumentTable *mtl_device_new_argument_table(
    MTLDevice *device, const MTL4ArgumentTableDescriptor *descriptor, MTLError **error);
MTL_API MTLDevice *mtl4_argument_table_device(const MTL4ArgumentTable *table);
MTL_API const char *mtl4_argument_table_label(const MTL4ArgumentTable *table);
// A GPU address (of a buffer, plus an offset) for buffer index `index`. 0 unbinds.
MTL_API void mtl4_argument_table_set_address(MTL4ArgumentTable *table, MTLGPUAddress gpu_address,
                                             size_t index);
// With the distance of vertex attributes.
MTL_API void mtl4_argument_table_set_address_with_attribute_stride(MTL4ArgumentTable *table,
                                                                   MTLGPUAddress gpu_address,
                                                                   size_t stride, size_t index);
// A tensor or a visible function table (by its gpu_resource_id) at a buffer index. {0} unbinds.
MTL_API void mtl4_argument_table_set_resource(MTL4ArgumentTable *table, MTLResourceID resource_id,
                                              size_t buffer_index);
// A texture, or an entry of a MTLTextureViewPool; a sampler made with support_argument_buffers.
MTL_API void mtl4_argument_table_set_texture(MTL4ArgumentTable *table, MTLResourceID resource_id,
                                             size_t index);
MTL_API void mtl4_argument_table_set_sampler_state(MTL4ArgumentTable *table,
                                                   MTLResourceID resource_id, size_t index);

// ---- MTL4CommitOptions, MTL4CommitFeedback ----

// Called once for each commit with the options, when all its command buffers are done, on a thread
// of the library. The feedback is borrowed; retain it to keep it.
typedef void (*MTL4CommitFeedbackHandler)(MTL4CommitFeedback *feedback, void *context);

MTL_API MTL4CommitOptions *mtl4_commit_options_new(void);
MTL_API void mtl4_commit_options_add_feedback_handler(MTL4CommitOptions *options,
                                                      MTL4CommitFeedbackHandler handler,
                                                      void *context);
// The first error of the commit's command buffers, borrowed; NULL: none.
MTL_API MTLError *mtl4_commit_feedback_error(const MTL4CommitFeedback *feedback);
// Seconds of the host's monotonic clock: when the first command buffer began, when the last ended.
MTL_API double mtl4_commit_feedback_gpu_start_time(const MTL4CommitFeedback *feedback);
MTL_API double mtl4_commit_feedback_gpu_end_time(const MTL4CommitFeedback *feedback);

// ---- MTL4CommandQueue ----

// Runs work(item) soon, exactly once, on a thread of the program's choice (Apple's dispatch queue).
typedef void (*MTL4FeedbackDispatch)(void (*work)(void *item), void *item, void *context);

typedef struct MTL4CommandQueueDescriptor {
    const char *label; // NULL: none
    MTL4FeedbackDispatch
        feedback_queue; // where feedback handlers run; NULL: on the library's threads
    void *feedback_queue_context;
    uint32_t timeout_ms; // not Apple's: time limit of a command buffer; 0: the device's
} MTL4CommandQueueDescriptor;

// NULL: no memory.
MTL_API MTL4CommandQueue *mtl_device_new_mtl4_command_queue(MTLDevice *device);
MTL_API MTL4CommandQueue *mtl_device_new_mtl4_command_queue_with_descriptor(
    MTLDevice *device, const MTL4CommandQueueDescriptor *descriptor, MTLError **error);
MTL_API MTLDevice *mtl4_command_queue_device(const MTL4CommandQueue *queue);
MTL_API const char *mtl4_command_queue_label(const MTL4CommandQueue *queue);
// Hands over the commands of ended command buffers, in this order. Each may be begun again at once.
// If one is not ended, was committed already or stands there twice, a message, and nothing of the
// group is committed.
MTL_API void mtl4_command_queue_commit(MTL4CommandQueue *queue,
                                       MTL4CommandBuffer *const *command_buffers, size_t count);
MTL_API void mtl4_command_queue_commit_with_options(MTL4CommandQueue *queue,
                                                    MTL4CommandBuffer *const *command_buffers,
                                                    size_t count, MTL4CommitOptions *options);
// Raises the event when everything committed before is done; what is committed after a wait runs
// once the event's value is reached. A shared event is a MTLEvent: cast it.
MTL_API void mtl4_command_queue_signal_event(MTL4CommandQueue *queue, MTLEvent *event,
                                             uint64_t value);
MTL_API void mtl4_command_queue_wait_for_event(MTL4CommandQueue *queue, MTLEvent *event,
                                               uint64_t value);
// A drawable is ready to be drawn into as soon as there is one: waiting for it is done at once.
// After signal_drawable, presenting it waits for the work committed before.
MTL_API void mtl4_command_queue_signal_drawable(MTL4CommandQueue *queue, MTLDrawable *drawable);
MTL_API void mtl4_command_queue_wait_for_drawable(MTL4CommandQueue *queue, MTLDrawable *drawable);
// Sets that count for all command buffers committed from now on; up to 32.
MTL_API void mtl4_command_queue_add_residency_set(MTL4CommandQueue *queue, MTLResidencySet *set);
MTL_API void mtl4_command_queue_add_residency_sets(MTL4CommandQueue *queue,
                                                   MTLResidencySet *const *sets, size_t count);
MTL_API void mtl4_command_queue_remove_residency_set(MTL4CommandQueue *queue, MTLResidencySet *set);
MTL_API void mtl4_command_queue_remove_residency_sets(MTL4CommandQueue *queue,
                                                      MTLResidencySet *const *sets, size_t count);

// A capture of the queue's work (metal_capture.h). A descriptor's capture_object may be the queue
// too.
MTL_API MTLCaptureScope *mtl_capture_manager_new_capture_scope_with_mtl4_command_queue(
    MTLCaptureManager *manager, MTL4CommandQueue *queue);
MTL_API MTL4CommandQueue *mtl_capture_scope_mtl4_command_queue(
    const MTLCaptureScope *scope); // or NULL

// ---- MTL4CommandBuffer: one thread at a time ----

typedef struct MTL4CommandBufferOptions {
    MTLLogState *log_state; // NULL: MTL_LOG_LEVEL in the environment says
} MTL4CommandBufferOptions;

// NULL: no memory.
MTL_API MTL4CommandBuffer *mtl_device_new_command_buffer(MTLDevice *device);
MTL_API MTLDevice *mtl4_command_buffer_device(const MTL4CommandBuffer *buffer);
MTL_API const char *mtl4_command_buffer_label(const MTL4CommandBuffer *buffer);
MTL_API void mtl4_command_buffer_set_label(MTL4CommandBuffer *buffer, const char *label);
// Starts a new sequence of commands in the allocator's memory. The allocator must not be in use by
// another command buffer that was begun and not ended. Commands ended and not committed are
// dropped.
MTL_API void mtl4_command_buffer_begin_command_buffer(MTL4CommandBuffer *buffer,
                                                      MTL4CommandAllocator *allocator);
MTL_API void mtl4_command_buffer_begin_command_buffer_with_options(
    MTL4CommandBuffer *buffer, MTL4CommandAllocator *allocator,
    const MTL4CommandBufferOptions *options);
// With no encoder open. Then it may be committed, once.
MTL_API void mtl4_command_buffer_end_command_buffer(MTL4CommandBuffer *buffer);
// Opens an encoder, borrowed: valid until its allocator is reset. One at a time. NULL otherwise.
MTL_API MTL4ComputeCommandEncoder *mtl4_command_buffer_compute_command_encoder(
    MTL4CommandBuffer *buffer);
// Between begin and end, before or after the encoders that need it.
MTL_API void mtl4_command_buffer_use_residency_set(MTL4CommandBuffer *buffer, MTLResidencySet *set);
MTL_API void mtl4_command_buffer_use_residency_sets(MTL4CommandBuffer *buffer,
                                                    MTLResidencySet *const *sets, size_t count);
MTL_API void mtl4_command_buffer_push_debug_group(MTL4CommandBuffer *buffer, const char *name);
MTL_API void mtl4_command_buffer_pop_debug_group(MTL4CommandBuffer *buffer);
// Between encoders: writes the time; copies entries to memory (8 bytes each, at a multiple of 8)
// after fence_to_wait, before fence_to_update (both may be NULL).
MTL_API void mtl4_command_buffer_write_timestamp_into_heap(MTL4CommandBuffer *buffer,
                                                           MTL4CounterHeap *heap, size_t index);
MTL_API void mtl4_command_buffer_resolve_counter_heap(MTL4CommandBuffer *buffer,
                                                      MTL4CounterHeap *heap, MTLRange range,
                                                      MTL4BufferRange destination,
                                                      MTLFence *fence_to_wait,
                                                      MTLFence *fence_to_update);

// ---- MTL4CounterHeap ----

typedef enum MTL4CounterHeapType {
    MTL4CounterHeapTypeInvalid = 0,
    MTL4CounterHeapTypeTimestamp = 1,
} MTL4CounterHeapType;

typedef enum MTL4TimestampGranularity {
    MTL4TimestampGranularityRelaxed = 0, // may be as coarse as the encoder
    MTL4TimestampGranularityPrecise = 1, // when the commands before it are done
} MTL4TimestampGranularity;

typedef struct MTL4TimestampHeapEntry {
    uint64_t timestamp; // nanoseconds, as mtl_device_sample_timestamps; 0: not written
} MTL4TimestampHeapEntry;

typedef struct MTL4CounterHeapDescriptor {
    MTL4CounterHeapType type; // required
    size_t count;             // entries, 1 .. 1048576
} MTL4CounterHeapDescriptor;

MTL_API MTL4CounterHeap *mtl_device_new_counter_heap(MTLDevice *device,
                                                     const MTL4CounterHeapDescriptor *descriptor,
                                                     MTLError **error);
// Bytes of an entry as mtl4_counter_heap_resolve_counter_range gives it; 0: no such type.
MTL_API size_t mtl_device_size_of_counter_heap_entry(const MTLDevice *device,
                                                     MTL4CounterHeapType type);
MTL_API uint64_t mtl_device_query_timestamp_frequency(const MTLDevice *device); // ticks a second
MTL_API const char *mtl4_counter_heap_label(const MTL4CounterHeap *heap);
MTL_API void mtl4_counter_heap_set_label(MTL4CounterHeap *heap, const char *label);
MTL_API MTL4CounterHeapType mtl4_counter_heap_type(const MTL4CounterHeap *heap);
MTL_API size_t mtl4_counter_heap_count(const MTL4CounterHeap *heap);
// Copies the entries of the range to `entries`, as they are now; the work that writes them should
// be done. False and a message if the range is not the heap's.
MTL_API bool mtl4_counter_heap_resolve_counter_range(const MTL4CounterHeap *heap, MTLRange range,
                                                     MTL4TimestampHeapEntry *entries);
MTL_API void mtl4_counter_heap_invalidate_counter_range(MTL4CounterHeap *heap, MTLRange range);

// ---- MTL4ComputeCommandEncoder: dispatches, copies, fills ----

MTL_API MTL4CommandBuffer *mtl4_compute_command_encoder_command_buffer(
    const MTL4ComputeCommandEncoder *encoder);
MTL_API const char *mtl4_compute_command_encoder_label(const MTL4ComputeCommandEncoder *encoder);
MTL_API void mtl4_compute_command_encoder_set_label(MTL4ComputeCommandEncoder *encoder,
                                                    const char *label);
// The stages of the commands encoded so far: MTLStageDispatch, MTLStageBlit.
MTL_API MTLStages mtl4_compute_command_encoder_stages(const MTL4ComputeCommandEncoder *encoder);
MTL_API void mtl4_compute_command_encoder_set_compute_pipeline_state(
    MTL4ComputeCommandEncoder *encoder, MTLComputePipelineState *state);
// The table may be changed afterwards: a dispatch takes what is in it then. NULL: none.
MTL_API void mtl4_compute_command_encoder_set_argument_table(MTL4ComputeCommandEncoder *encoder,
                                                             MTL4ArgumentTable *table);
MTL_API void mtl4_compute_command_encoder_set_threadgroup_memory_length(
    MTL4ComputeCommandEncoder *encoder, size_t length, size_t index);
MTL_API void mtl4_compute_command_encoder_set_imageblock_width(MTL4ComputeCommandEncoder *encoder,
                                                               size_t width, size_t height);
MTL_API void mtl4_compute_command_encoder_dispatch_threads(MTL4ComputeCommandEncoder *encoder,
                                                           MTLSize threads_per_grid,
                                                           MTLSize threads_per_threadgroup);
MTL_API void mtl4_compute_command_encoder_dispatch_threadgroups(MTL4ComputeCommandEncoder *encoder,
                                                                MTLSize threadgroups_per_grid,
                                                                MTLSize threads_per_threadgroup);
// With a MTLDispatchThreadgroupsIndirectArguments at the address (a multiple of 4), read when the
// commands run.
MTL_API void mtl4_compute_command_encoder_dispatch_threadgroups_indirect(
    MTL4ComputeCommandEncoder *encoder, MTLGPUAddress indirect_buffer,
    MTLSize threads_per_threadgroup);
// With a MTLDispatchThreadsIndirectArguments there.
MTL_API void mtl4_compute_command_encoder_dispatch_threads_indirect(
    MTL4ComputeCommandEncoder *encoder, MTLGPUAddress indirect_buffer);
MTL_API void mtl4_compute_command_encoder_execute_commands_in_buffer(
    MTL4ComputeCommandEncoder *encoder, MTLIndirectCommandBuffer *buffer, MTLRange range);
// The range is a MTLIndirectCommandBufferExecutionRange at the address.
MTL_API void mtl4_compute_command_encoder_execute_commands_in_buffer_indirect(
    MTL4ComputeCommandEncoder *encoder, MTLIndirectCommandBuffer *buffer,
    MTLGPUAddress indirect_range_buffer);

// Order. Stages name what is before and what is after; here a barrier orders all of both.
// Between commands of this encoder:
MTL_API void mtl4_compute_command_encoder_barrier_after_encoder_stages(
    MTL4ComputeCommandEncoder *encoder, MTLStages after_encoder_stages,
    MTLStages before_encoder_stages, MTL4VisibilityOptions visibility_options);
// What this encoder encodes from here on, after all earlier work of the queue:
MTL_API void mtl4_compute_command_encoder_barrier_after_queue_stages(
    MTL4ComputeCommandEncoder *encoder, MTLStages after_queue_stages, MTLStages before_stages,
    MTL4VisibilityOptions visibility_options);
// All later work of the queue, after what this encoder has encoded so far:
MTL_API void mtl4_compute_command_encoder_barrier_after_stages(
    MTL4ComputeCommandEncoder *encoder, MTLStages after_stages, MTLStages before_queue_stages,
    MTL4VisibilityOptions visibility_options);
// A wait never stands after an update of the same fence in the same encoder.
MTL_API void mtl4_compute_command_encoder_update_fence(MTL4ComputeCommandEncoder *encoder,
                                                       MTLFence *fence,
                                                       MTLStages after_encoder_stages);
MTL_API void mtl4_compute_command_encoder_wait_for_fence(MTL4ComputeCommandEncoder *encoder,
                                                         MTLFence *fence,
                                                         MTLStages before_encoder_stages);

// Copies, fills, mipmaps: as those of the blit encoder (metal_blit.h, metal_indirect.h).
MTL_API void mtl4_compute_command_encoder_copy_from_buffer(MTL4ComputeCommandEncoder *encoder,
                                                           MTLBuffer *source, size_t source_offset,
                                                           MTLBuffer *destination,
                                                           size_t destination_offset, size_t size);
MTL_API void mtl4_compute_command_encoder_copy_from_buffer_to_texture(
    MTL4ComputeCommandEncoder *encoder, MTLBuffer *source, size_t source_offset,
    size_t source_bytes_per_row, size_t source_bytes_per_image, MTLSize source_size,
    MTLTexture *destination, size_t destination_slice, size_t destination_level,
    MTLOrigin destination_origin, MTLBlitOption options);
MTL_API void mtl4_compute_command_encoder_copy_from_texture_to_buffer(
    MTL4ComputeCommandEncoder *encoder, MTLTexture *source, size_t source_slice,
    size_t source_level, MTLOrigin source_origin, MTLSize source_size, MTLBuffer *destination,
    size_t destination_offset, size_t destination_bytes_per_row, size_t destination_bytes_per_image,
    MTLBlitOption options);
MTL_API void mtl4_compute_command_encoder_copy_from_texture(
    MTL4ComputeCommandEncoder *encoder, MTLTexture *source, size_t source_slice,
    size_t source_level, MTLOrigin source_origin, MTLSize source_size, MTLTexture *destination,
    size_t destination_slice, size_t destination_level, MTLOrigin destination_origin);
MTL_API void mtl4_compute_command_encoder_copy_from_texture_slices(
    MTL4ComputeCommandEncoder *encoder, MTLTexture *source, size_t source_slice,
    size_t source_level, MTLTexture *destination, size_t destination_slice,
    size_t destination_level, size_t slice_count, size_t level_count);
MTL_API void mtl4_compute_command_encoder_copy_from_texture_to_texture(
    MTL4ComputeCommandEncoder *encoder, MTLTexture *source, MTLTexture *destination);
// A slice of one tensor to a slice of another: the same dimensions, the same data type.
MTL_API void mtl4_compute_command_encoder_copy_from_tensor(
    MTL4ComputeCommandEncoder *encoder, MTLTensor *source, const MTLTensorExtents *source_origin,
    const MTLTensorExtents *source_dimensions, MTLTensor *destination,
    const MTLTensorExtents *destination_origin, const MTLTensorExtents *destination_dimensions);
MTL_API void mtl4_compute_command_encoder_fill_buffer(MTL4ComputeCommandEncoder *encoder,
                                                      MTLBuffer *buffer, MTLRange range,
                                                      uint8_t value);
MTL_API void mtl4_compute_command_encoder_generate_mipmaps(MTL4ComputeCommandEncoder *encoder,
                                                           MTLTexture *texture);
MTL_API void mtl4_compute_command_encoder_optimize_contents_for_gpu_access(
    MTL4ComputeCommandEncoder *encoder, MTLTexture *texture);
MTL_API void mtl4_compute_command_encoder_optimize_contents_for_gpu_access_slice(
    MTL4ComputeCommandEncoder *encoder, MTLTexture *texture, size_t slice, size_t level);
MTL_API void mtl4_compute_command_encoder_optimize_contents_for_cpu_access(
    MTL4ComputeCommandEncoder *encoder, MTLTexture *texture);
MTL_API void mtl4_compute_command_encoder_optimize_contents_for_cpu_access_slice(
    MTL4ComputeCommandEncoder *encoder, MTLTexture *texture, size_t slice, size_t level);
MTL_API void mtl4_compute_command_encoder_reset_commands_in_buffer(
    MTL4ComputeCommandEncoder *encoder, MTLIndirectCommandBuffer *buffer, MTLRange range);
MTL_API void mtl4_compute_command_encoder_copy_indirect_command_buffer(
    MTL4ComputeCommandEncoder *encoder, MTLIndirectCommandBuffer *source, MTLRange source_range,
    MTLIndirectCommandBuffer *destination, size_t destination_index);
MTL_API void mtl4_compute_command_encoder_optimize_indirect_command_buffer(
    MTL4ComputeCommandEncoder *encoder, MTLIndirectCommandBuffer *buffer, MTLRange range);

// The time when the commands before it are done (precise), or thereabouts.
MTL_API void mtl4_compute_command_encoder_write_timestamp(MTL4ComputeCommandEncoder *encoder,
                                                          MTL4TimestampGranularity granularity,
                                                          MTL4CounterHeap *heap, size_t index);
MTL_API void mtl4_compute_command_encoder_insert_debug_signpost(MTL4ComputeCommandEncoder *encoder,
                                                                const char *name);
MTL_API void mtl4_compute_command_encoder_push_debug_group(MTL4ComputeCommandEncoder *encoder,
                                                           const char *name);
MTL_API void mtl4_compute_command_encoder_pop_debug_group(MTL4ComputeCommandEncoder *encoder);
MTL_API void mtl4_compute_command_encoder_end_encoding(MTL4ComputeCommandEncoder *encoder);

// ---- Encoders of Metal 3 ----

typedef struct MTLResourceStateCommandEncoder MTLResourceStateCommandEncoder;
typedef struct MTLAccelerationStructureCommandEncoder MTLAccelerationStructureCommandEncoder;

// What the encoder encodes from here on, after all earlier work of the queue that ran in those
// stages. Encoders of a queue run in the order of their commands: nothing is left to wait for.
MTL_API void mtl_compute_command_encoder_barrier_after_queue_stages(
    MTLComputeCommandEncoder *encoder, MTLStages after_queue_stages, MTLStages before_stages);
MTL_API void mtl_blit_command_encoder_barrier_after_queue_stages(MTLBlitCommandEncoder *encoder,
                                                                 MTLStages after_queue_stages,
                                                                 MTLStages before_stages);
MTL_API void mtl_render_command_encoder_barrier_after_queue_stages(MTLRenderCommandEncoder *encoder,
                                                                   MTLStages after_queue_stages,
                                                                   MTLStages before_stages);
MTL_API void mtl_parallel_render_command_encoder_barrier_after_queue_stages(
    MTLParallelRenderCommandEncoder *encoder, MTLStages after_queue_stages,
    MTLStages before_stages);
MTL_API void mtl_resource_state_command_encoder_barrier_after_queue_stages(
    MTLResourceStateCommandEncoder *encoder, MTLStages after_queue_stages, MTLStages before_stages);
MTL_API void mtl_acceleration_structure_command_encoder_barrier_after_queue_stages(
    MTLAccelerationStructureCommandEncoder *encoder, MTLStages after_queue_stages,
    MTLStages before_stages);

// Slices of tensors of one type, of the same size; those of one tensor do not overlap.
MTL_API void mtl_blit_command_encoder_copy_from_tensor(
    MTLBlitCommandEncoder *encoder, MTLTensor *source, const MTLTensorExtents *source_origin,
    const MTLTensorExtents *source_dimensions, MTLTensor *destination,
    const MTLTensorExtents *destination_origin, const MTLTensorExtents *destination_dimensions);

#ifdef __cplusplus
}
#endif
#endif
