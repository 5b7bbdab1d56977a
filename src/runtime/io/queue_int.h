// SPDX-License-Identifier: Apache-2.0
// queue_int.h: MTLIOCommandQueue, MTLIOCommandBuffer and the commands of one.
//
// Life of a command buffer: recorded by one thread; at commit its queue takes a reference and its
// threads work it off, up to its end or to an event that is not there yet, which gives the thread
// back. Locks: a queue's own, nothing else is taken while it is held.
#ifndef INGOT_RUNTIME_IO_QUEUE_H
#define INGOT_RUNTIME_IO_QUEUE_H
#include "runtime/command/event.h"
#include "runtime/io/file_int.h"
#include "runtime/memory/texture.h"
#include "runtime/object/error.h"

typedef enum RtIoKind {
    RT_IO_LOAD_BYTES,
    RT_IO_LOAD_BUFFER,
    RT_IO_LOAD_TEXTURE,
    RT_IO_COPY_STATUS,
    RT_IO_BARRIER, // commands run in order here: nothing to do
    RT_IO_WAIT,
    RT_IO_SIGNAL,
} RtIoKind;

typedef struct RtIoCommand {
    RtIoKind kind;
    void *object;          // the buffer, texture or event; retained
    MTLIOFileHandle *file; // retained
    uint64_t file_offset;
    void *pointer;          // of load_bytes
    size_t offset, n_bytes; // texture: n_bytes of the file
    uint64_t value;         // of events
    struct {
        size_t slice, level, bytes_per_row, bytes_per_image;
        MTLRegion region;
    } texture;
} RtIoCommand;

typedef struct RtIoHandler {
    MTLIOCommandBufferHandler call;
    void *context;
} RtIoHandler;

typedef enum RtIoState {
    RT_IO_RECORDING, // or enqueued
    RT_IO_READY,
    RT_IO_RUNNING,
    RT_IO_BLOCKED, // at an event
    RT_IO_DONE,
} RtIoState;

struct MTLIOCommandBuffer {
    RtObject object;
    MTLIOCommandQueue *queue; // retained
    RtLabel label;
    RtIoCommand *commands;
    size_t n_commands, commands_capacity, next_command;
    RtIoHandler *handlers;
    size_t n_handlers, handlers_capacity;
    unsigned debug_depth;
    RtEventWaiter waiter; // of the command before next_command
    atomic_bool cancelled;
    atomic_uint status;      // MTLIOStatus
    MTLError *_Atomic error; // set before the status
    atomic_uint completed;   // 1: and its handlers have returned; futex word
    // Under the queue's lock:
    RtIoState state;
    bool enqueued, committed, after_barrier;
    MTLIOCommandBuffer *next;
};

struct MTLIOCommandQueue {
    RtObject object;
    MTLDevice *device; // retained
    RtLabel label;
    MTLIOCommandQueueDescriptor how;
    size_t max_threads;
    pthread_mutex_t lock;
    pthread_cond_t room;
    // In order; those that are committed with a reference. Under lock, as all below.
    MTLIOCommandBuffer *first;
    bool barrier; // before the next one that is enqueued
    size_t n_alive, n_committed, n_threads;
};
extern RtClass rt_io_queue_class, rt_io_buffer_class;

void rt_io_enqueue(MTLIOCommandBuffer *buffer); // unless it has its place
void rt_io_commit(MTLIOCommandBuffer *buffer);
void rt_io_forget(MTLIOCommandBuffer *buffer); // dropped without commit
void rt_io_cancel(MTLIOCommandBuffer *buffer);

// run.c: commands up to the end, or to an event that is not there yet: false, and the buffer is
// another's. Called without the lock.
bool rt_io_run(MTLIOCommandBuffer *buffer);
void rt_io_unblock(MTLIOCommandBuffer *buffer);
#endif
