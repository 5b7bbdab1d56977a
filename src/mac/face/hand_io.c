// SPDX-License-Identifier: Apache-2.0
// hand_io.c: queues for files: scratch memory from objects of the program's, and the functions that
// write compressed files.
#include <objc/message.h>
#include "face_objects.h"

#define FACE_API __attribute__((visibility("default")))

// ---- Scratch memory ----

static const char allocator_key[] = "MTLIOScratchBufferAllocator";

static MTLBuffer *scratch_take(size_t minimum_size, void **owner, void *allocator) {
    id (*make)(id, SEL, unsigned long) = (id (*)(id, SEL, unsigned long))objc_msgSend;
    id (*buffer_of)(id, SEL) = (id (*)(id, SEL))objc_msgSend;
    void *pool = objc_autoreleasePoolPush();
    id scratch =
        make(allocator, sel_registerName("newScratchBufferWithMinimumSize:"), minimum_size);
    MTLBuffer *buffer =
        scratch ? mtl_retain((void *)buffer_of(scratch, sel_registerName("buffer"))) : NULL;
    objc_autoreleasePoolPop(pool);
    *owner = scratch;
    return buffer;
}

static void scratch_give(MTLBuffer *buffer, void *owner, void *allocator) {
    (void)allocator;
    mtl_release(buffer);
    objc_release(owner);
}

void face_after_MTLIOCommandQueueDescriptor(const O_MTLIOCommandQueueDescriptor *from,
                                            MTLIOCommandQueueDescriptor *to, FaceArena *arena) {
    (void)arena;
    if (!from->scratchBufferAllocator) return;
    to->scratch_allocator = scratch_take;
    to->scratch_deallocator = scratch_give;
    to->scratch_context = from->scratchBufferAllocator;
}

id face_MTLDevice_newIOCommandQueueWithDescriptor_error_(id self, SEL _cmd, id descriptor,
                                                         id *error) {
    (void)_cmd;
    FaceArena arena = {0};
    MTLIOCommandQueueDescriptor filled;
    id queue = (id)mtl_device_new_io_command_queue(
        (void *)self, face_fill_MTLIOCommandQueueDescriptor(&filled, descriptor, &arena),
        (MTLError **)face_error_begin(error));
    face_error_end(error);
    face_arena_free(&arena);
    // The queue holds the allocator as long as it lives.
    if (queue && descriptor)
        objc_setAssociatedObject(
            queue, allocator_key,
            ((O_MTLIOCommandQueueDescriptor *)descriptor)->scratchBufferAllocator,
            OBJC_ASSOCIATION_RETAIN);
    return queue;
}

// ---- Compressed files ----

FACE_API size_t MTLIOCompressionContextDefaultChunkSize(void);
FACE_API void *MTLIOCreateCompressionContext(const char *path, long type, size_t chunkSize);
FACE_API void MTLIOCompressionContextAppendData(void *context, const void *data, size_t size);
FACE_API long MTLIOFlushAndDestroyCompressionContext(void *context);

size_t MTLIOCompressionContextDefaultChunkSize(void) {
    return mtl_io_compression_context_default_chunk_size();
}

void *MTLIOCreateCompressionContext(const char *path, long type, size_t chunkSize) {
    void *context =
        mtl_io_create_compression_context(path, (MTLIOCompressionMethod)type, chunkSize);
    if (!context)
        face_refuse("MTLIOCreateCompressionContext", mtl_io_compression_context_failure());
    return context;
}

void MTLIOCompressionContextAppendData(void *context, const void *data, size_t size) {
    mtl_io_compression_context_append_data(context, data, size);
}

long MTLIOFlushAndDestroyCompressionContext(void *context) {
    return mtl_io_flush_and_destroy_compression_context(context);
}
