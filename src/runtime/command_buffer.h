// SPDX-License-Identifier: Apache-2.0
// command_buffer.h: MTLCommandQueue, MTLCommandBuffer and the command stream.
//
// Life of a command buffer: recorded by one thread (fields without another remark are the recording
// thread's); at commit it goes to its queue, which holds a reference until it is done, and belongs
// to the thread that runs the queue.
//
// Locks, in the order they are taken: hazard lock (hazard.c), then a queue's lock.
#ifndef INGOT_RUNTIME_COMMAND_BUFFER_H
#define INGOT_RUNTIME_COMMAND_BUFFER_H
#include "cpu/cpu.h"
#include "runtime/buffer.h"
#include "runtime/device.h"
#include "runtime/encoder.h"
#include "runtime/error.h"
#include "runtime/object.h"
#include "runtime/pipeline.h"

// ---- The command stream: operations in an arena, linked in order ----

typedef struct RtOp RtOp;
typedef struct RtExecution RtExecution; // execute.h

typedef enum RtOpResult {
    RT_OP_DONE,
    RT_OP_FAILED, // the execution's error or the run's fault says why
} RtOpResult;

typedef struct RtOpClass {
    const char *name; // "dispatch", for traces
    // Does it, on the thread that runs the queue. Dispatches collected so far have run already
    // unless `joins` is set.
    RtOpResult (*run)(RtOp *op, RtExecution *x);
    bool joins;       // a dispatch: may run together with those before it
    bool ends;        // the last operation of its encoder
    // For traces: writes JSON members ("\"grid\":[1,2,3]"), no braces, no trailing comma. NULL: none.
    void (*describe)(const RtOp *op, char *text, size_t n_bytes);
} RtOpClass;

struct RtOp {
    RtOp *next;
    const RtOpClass *cls;
};
extern const RtOpClass rt_op_end_encoder, rt_op_barrier, rt_op_dispatch;

typedef struct RtArenaBlock {
    struct RtArenaBlock *next;
    size_t used, capacity;
    _Alignas(64) char data[];
} RtArenaBlock;

// ---- What a command buffer uses ----

struct RtUse { // one resource in one command buffer; under the hazard lock once committed
    MTLResource *resource;
    MTLCommandBuffer *user;
    bool write;
    RtUse *next;            // in the command buffer
    RtUse *after, **before; // in the resource's list of committed users
};

typedef struct RtHandler {
    struct RtHandler *next;
    MTLCommandBufferHandler call;
    void *context;
} RtHandler;

typedef struct RtWaiter {
    MTLCommandBuffer *buffer;
    MTLCommandQueue *queue; // retained, to be kicked; only at completion
} RtWaiter;

struct MTLCommandBuffer {
    RtObject object;
    MTLDevice *device;      // retained by the queue
    MTLCommandQueue *queue; // retained
    RtLabel label;
    bool unretained;
    MTLCommandBufferErrorOption error_options;
    MTLLogState *log_state; // retained
    uint32_t timeout_ms;
    uint64_t serial; // marks resources already noted in `uses`

    RtArenaBlock *arena;
    RtOp *first_op, **last_op;
    RtUse *uses;
    void **retained; // other objects held until completion
    size_t n_retained, retained_capacity;
    RtHandler *scheduled_handlers, **last_scheduled;
    RtHandler *completed_handlers, **last_completed;
    MTLCommandEncoder *encoders, **last_encoder, *open_encoder;
    unsigned debug_depth;
    MTLError *encode_error; // the first misuse; becomes `error`

    atomic_uint status;               // MTLCommandBufferStatus
    atomic_uint scheduled, completed; // 1: and its handlers have returned; futex words
    atomic_uint waiters;              // threads asleep on one of them
    pthread_t handler_thread;         // valid while in_handler
    atomic_bool in_handler;
    MTLError *_Atomic error; // set before status becomes Error
    _Atomic uint64_t kernel_start_ns, kernel_end_ns, gpu_start_ns, gpu_end_ns;

    bool enqueued;            // under the queue's lock
    MTLCommandBuffer *next;   // in the queue, under its lock
    atomic_uint n_waits_for;  // command buffers of other queues; changed under the hazard lock
    RtWaiter *waiters_behind; // command buffers that wait for this one; under the hazard lock
    size_t n_waiters_behind, waiters_capacity;
};

struct MTLCommandQueue {
    RtObject object;
    MTLDevice *device; // retained
    RtLabel label;
    size_t max_buffers;
    MTLLogState *log_state; // retained
    uint32_t timeout_ms;
    CpuTask task; // runs the queue on a worker; first of the scheduling fields
    pthread_mutex_t lock;
    pthread_cond_t room;
    MTLCommandBuffer *first, **last; // in order; under lock
    size_t n_alive, n_committed;     // not completed; under lock
    // IDLE: nobody will run the queue. SCHEDULED: the pool has the task. RUNNING: a thread is at
    // it. The last two hold a reference to the queue. Under lock.
    enum { RT_QUEUE_IDLE, RT_QUEUE_SCHEDULED, RT_QUEUE_RUNNING } state;
};

// command_buffer.c
void *rt_cb_alloc(MTLCommandBuffer *buffer,
                  size_t n_bytes); // zeroed, 64-byte aligned; NULL: no memory
void rt_cb_append(MTLCommandBuffer *buffer, RtOp *op, const RtOpClass *cls);
void rt_cb_append_marker(MTLCommandBuffer *buffer, const RtOpClass *cls); // an operation of no data
bool rt_cb_retain(MTLCommandBuffer *buffer, void *object);                 // until completion
bool rt_cb_use(MTLCommandBuffer *buffer, MTLResource *resource, bool write); // and with hazards
void rt_cb_no_memory(MTLCommandBuffer *buffer);                            // it will end in error
void rt_cb_release_resources(MTLCommandBuffer *buffer);

// queue.c
void rt_queue_enqueue(MTLCommandBuffer *buffer); // with the queue's lock held
void rt_queue_kick(MTLCommandQueue *queue);      // something may have become ready
void rt_queue_forget(MTLCommandBuffer *buffer);  // dropped without commit
void rt_queue_finished(MTLCommandBuffer *buffer);
// Runs the queue on this thread if nobody else does, until `until` is done.
void rt_queue_help(MTLCommandQueue *queue, MTLCommandBuffer *until);

// hazard.c
void rt_hazard_commit(MTLCommandBuffer *buffer); // takes its place after earlier users; status too
void rt_hazard_complete(MTLCommandBuffer *buffer);

// execute.c
void rt_execute(MTLCommandBuffer *buffer);
#endif
