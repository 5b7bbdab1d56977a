// SPDX-License-Identifier: Apache-2.0
// metal_io.h: files into buffers, textures and memory, on queues of their own.
// Part of metal.h, which says how names, lifetimes, errors and threads work; include that.
//
//     MTLIOCommandQueue *io = mtl_device_new_io_command_queue(device, NULL, NULL);
//     MTLIOFileHandle *file = mtl_device_new_io_file_handle(device, "weights.bin", &error);
//     MTLIOCommandBuffer *loads = mtl_io_command_queue_command_buffer(io);
//     mtl_io_command_buffer_load_buffer(loads, buffer, 0, n_bytes, file, 0);
//     mtl_io_command_buffer_signal_event(loads, event, 1); // a MTLCommandBuffer waits for it
//     mtl_io_command_buffer_commit(loads);
//
// A file is read as it is, or was written by a compression context and is read by places in what
// went in. Such files are Ingot's own (Apple's format is not published): chunks, each compressed
// alone, and a table of where they lie. zlib, LZ4 and LZMA use the system's libraries (libz,
// liblz4, liblzma, loaded when they are needed); LZFSE and LZBitmap are refused by name.
//
// Loads know nothing of the commands of a MTLCommandQueue: events order the two.
#ifndef INGOT_METAL_H
#include "ingot/metal.h" // which includes this one
#elif !defined INGOT_METAL_IO_H
#define INGOT_METAL_IO_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MTLIOCommandQueue MTLIOCommandQueue;
typedef struct MTLIOCommandBuffer MTLIOCommandBuffer;
typedef struct MTLIOFileHandle MTLIOFileHandle;

typedef enum MTLIOPriority {
    MTLIOPriorityHigh = 0,
    MTLIOPriorityNormal = 1,
    MTLIOPriorityLow = 2,
} MTLIOPriority;

typedef enum MTLIOCommandQueueType {
    MTLIOCommandQueueTypeConcurrent = 0, // command buffers run side by side, up to a barrier
    MTLIOCommandQueueTypeSerial = 1,     // one after the other, in the order of enqueue or commit
} MTLIOCommandQueueType;

typedef enum MTLIOStatus {
    MTLIOStatusPending = 0,
    MTLIOStatusCancelled = 1,
    MTLIOStatusError = 2,
    MTLIOStatusComplete = 3,
} MTLIOStatus;

#define MTLIOErrorDomain "MTLIOErrorDomain"
typedef enum MTLIOError { // domain MTLIOErrorDomain
    MTLIOErrorURLInvalid = 1,
    MTLIOErrorInternal = 2,
} MTLIOError;

typedef enum MTLIOCompressionMethod {
    MTLIOCompressionMethodZlib = 0,
    MTLIOCompressionMethodLZFSE = 1, // refused
    MTLIOCompressionMethodLZ4 = 2,
    MTLIOCompressionMethodLZMA = 3,
    MTLIOCompressionMethodLZBitmap = 4, // refused
} MTLIOCompressionMethod;

typedef enum MTLIOCompressionStatus {
    MTLIOCompressionStatusComplete = 0,
    MTLIOCompressionStatusError = 1,
} MTLIOCompressionStatus;

// Memory for chunks while they are decompressed: a shared buffer of at least so many bytes; NULL:
// none, and the load fails. It is given back with what the allocator left in *owner when the load
// is done. Both are called on threads of the queue's, several at once.
typedef MTLBuffer *(*MTLIOScratchAllocator)(size_t minimum_size, void **owner, void *context);
typedef void (*MTLIOScratchDeallocator)(MTLBuffer *buffer, void *owner, void *context);

typedef struct MTLIOCommandQueueDescriptor { // {0}: Apple's defaults
    size_t max_command_buffer_count;         // not completed at a time; 0: 64
    bool priority_is_set;                    // false: normal
    MTLIOPriority priority;
    MTLIOCommandQueueType type;
    size_t max_commands_in_flight;               // loads at a time; 0: as many as are useful
    MTLIOScratchAllocator scratch_allocator;     // NULL: the library's own memory
    MTLIOScratchDeallocator scratch_deallocator; // NULL: the buffer is released
    void *scratch_context;                       // lives as long as the queue
} MTLIOCommandQueueDescriptor;

// ---- MTLDevice ----

// NULL descriptor: defaults.
MTL_API MTLIOCommandQueue *mtl_device_new_io_command_queue(
    MTLDevice *device, const MTLIOCommandQueueDescriptor *descriptor, MTLError **error);
// A file as it is; NULL and MTLIOErrorURLInvalid if it cannot be opened.
MTL_API MTLIOFileHandle *mtl_device_new_io_file_handle(MTLDevice *device, const char *path,
                                                       MTLError **error);
// A file that a compression context of this method wrote.
MTL_API MTLIOFileHandle *mtl_device_new_io_file_handle_with_compression_method(
    MTLDevice *device, const char *path, MTLIOCompressionMethod method, MTLError **error);
MTL_API const char *mtl_io_file_handle_label(const MTLIOFileHandle *handle);
MTL_API void mtl_io_file_handle_set_label(MTLIOFileHandle *handle, const char *label);

// ---- MTLIOCommandQueue ----

MTL_API const char *mtl_io_command_queue_label(const MTLIOCommandQueue *queue);
MTL_API void mtl_io_command_queue_set_label(MTLIOCommandQueue *queue, const char *label);
// One reference for the caller, as of every command buffer. Waits while the queue has its maximum.
MTL_API MTLIOCommandBuffer *mtl_io_command_queue_command_buffer(MTLIOCommandQueue *queue);
// The program keeps alive what the commands use.
MTL_API MTLIOCommandBuffer *mtl_io_command_queue_command_buffer_with_unretained_references(
    MTLIOCommandQueue *queue);
// What is enqueued or committed later starts when everything before it is done.
MTL_API void mtl_io_command_queue_enqueue_barrier(MTLIOCommandQueue *queue);

// ---- MTLIOCommandBuffer ----
// Loads between two barriers, waits or signals may run in any order. A load that fails ends the
// command buffer in MTLIOStatusError; events that it would have signalled are signalled all the
// same, so that nobody waits for ever.

typedef void (*MTLIOCommandBufferHandler)(MTLIOCommandBuffer *buffer, void *context);
MTL_API void mtl_io_command_buffer_add_completed_handler(MTLIOCommandBuffer *buffer,
                                                         MTLIOCommandBufferHandler handler,
                                                         void *context);
// `pointer` stays the program's and must live until the command buffer is done.
MTL_API void mtl_io_command_buffer_load_bytes(MTLIOCommandBuffer *buffer, void *pointer,
                                              size_t size, MTLIOFileHandle *source_handle,
                                              size_t source_handle_offset);
MTL_API void mtl_io_command_buffer_load_buffer(MTLIOCommandBuffer *buffer, MTLBuffer *destination,
                                               size_t offset, size_t size,
                                               MTLIOFileHandle *source_handle,
                                               size_t source_handle_offset);
MTL_API void mtl_io_command_buffer_load_texture(
    MTLIOCommandBuffer *buffer, MTLTexture *texture, size_t slice, size_t level, MTLSize size,
    size_t source_bytes_per_row, size_t source_bytes_per_image, MTLOrigin destination_origin,
    MTLIOFileHandle *source_handle, size_t source_handle_offset);
// The status that the command buffer ends with, as 8 bytes (MTLIOStatus is a NSInteger).
MTL_API void mtl_io_command_buffer_copy_status_to_buffer(MTLIOCommandBuffer *buffer,
                                                         MTLBuffer *destination, size_t offset);
// Commands behind it start when those before it are done.
MTL_API void mtl_io_command_buffer_add_barrier(MTLIOCommandBuffer *buffer);
MTL_API void mtl_io_command_buffer_wait_for_event(MTLIOCommandBuffer *buffer, MTLSharedEvent *event,
                                                  uint64_t value);
MTL_API void mtl_io_command_buffer_signal_event(MTLIOCommandBuffer *buffer, MTLSharedEvent *event,
                                                uint64_t value);
MTL_API void mtl_io_command_buffer_enqueue(MTLIOCommandBuffer *buffer);
MTL_API void mtl_io_command_buffer_commit(MTLIOCommandBuffer *buffer);
MTL_API void mtl_io_command_buffer_wait_until_completed(MTLIOCommandBuffer *buffer);
// What has not started yet will not; the status is then MTLIOStatusCancelled.
MTL_API void mtl_io_command_buffer_try_cancel(MTLIOCommandBuffer *buffer);
MTL_API MTLIOStatus mtl_io_command_buffer_status(const MTLIOCommandBuffer *buffer);
MTL_API MTLError *mtl_io_command_buffer_error(const MTLIOCommandBuffer *buffer); // borrowed
MTL_API const char *mtl_io_command_buffer_label(const MTLIOCommandBuffer *buffer);
MTL_API void mtl_io_command_buffer_set_label(MTLIOCommandBuffer *buffer, const char *label);
MTL_API void mtl_io_command_buffer_push_debug_group(MTLIOCommandBuffer *buffer, const char *name);
MTL_API void mtl_io_command_buffer_pop_debug_group(MTLIOCommandBuffer *buffer);

// ---- Writing compressed files ----

typedef struct MTLIOCompressionContextState *MTLIOCompressionContext;
MTL_API size_t mtl_io_compression_context_default_chunk_size(void);
// NULL: the file cannot be made, or there is no such method here; the message of
// mtl_io_compression_context_failure says which. chunk_size 0: the default.
MTL_API MTLIOCompressionContext mtl_io_create_compression_context(const char *path,
                                                                  MTLIOCompressionMethod method,
                                                                  size_t chunk_size);
// Why the last context of this thread could not be made or written; "" if nothing went wrong.
MTL_API const char *mtl_io_compression_context_failure(void);
MTL_API void mtl_io_compression_context_append_data(MTLIOCompressionContext context,
                                                    const void *data, size_t size);
// The file is there, or is not, afterwards; the context is gone.
MTL_API MTLIOCompressionStatus
mtl_io_flush_and_destroy_compression_context(MTLIOCompressionContext context);

#ifdef __cplusplus
}
#endif
#endif
