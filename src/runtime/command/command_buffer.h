// SPDX-License-Identifier: Apache-2.0
// command_buffer.h: MTLCommandQueue, MTLCommandBuffer and the command stream.
//
// Life of a command buffer: recorded by one thread (fields without another remark are the recording
// thread's); at commit it goes to its queue, which holds a reference until it is done, and belongs
// to the thread that runs the queue.
//
// Locks, in the order they are taken: the device's hazard locks (hazard.c), then a queue's lock.
#ifndef INGOT_RUNTIME_COMMAND_BUFFER_H
#define INGOT_RUNTIME_COMMAND_BUFFER_H
#include "devices/table/device.h"
#include "runtime/memory/resource.h"
#include "runtime/object/device.h"
#include "runtime/command/encoder.h"
#include "runtime/object/error.h"
#include "runtime/object/object.h"
#include "runtime/command/inspector.h"
#include "runtime/object/trace.h"
#include "runtime/command/residency_use.h"
#include "os/pool.h"

// ---- The command stream: operations in an arena, linked in order ----

typedef struct RtOp RtOp;
typedef struct RtExecution RtExecution; // execute.h

typedef enum RtOpResult {
    RT_OP_DONE,
    RT_OP_FAILED, // the execution's error or the run's fault says why
    // Not now: buffer->blocked was set before, and rt_queue_unblock will be called (or was): then
    // run is called once more. Only for operations between encoders.
    RT_OP_BLOCKED,
} RtOpResult;

typedef struct RtOpClass {
    const char *name; // "dispatch", for traces
    // Does it, on the thread that runs the queue. Dispatches collected so far have run already
    // unless `joins` is set.
    RtOpResult (*run)(RtOp *op, RtExecution *x);
    bool joins;   // a dispatch: may run together with those before it
    bool ends;    // the last operation of its encoder
    bool between; // stands between encoders
    bool by_host; // changes memory without the device's functions: captures look at it before and
                  // after
    // The command buffer fails before it: one that was blocked is not run again. NULL: nothing to
    // do.
    void (*leave)(RtOp *op);
    // For traces: writes JSON members ("\"grid\":[1,2,3]"), no braces, no trailing comma. NULL:
    // none.
    void (*describe)(const RtOp *op, char *text, size_t n_bytes);
    const char *(*title)(const RtOp *op); // for traces, better than name: the kernel's. NULL: none
} RtOpClass;

struct RtOp {
    RtOp *next;
    const RtOpClass *cls;
};
extern const RtOpClass rt_op_end_encoder, rt_op_barrier, rt_op_dispatch;

#define RT_ARENA_BLOCK_BYTES 8192u // of most blocks
// Memory of commands, bumped off blocks. The operations themselves are the host's alone; constants
// lie where the device's code reads them, and may write them, so nothing of the host's is among
// them.
typedef struct RtArenaBlock {
    struct RtArenaBlock *next;
    size_t used, capacity;
    DevMemory memory; // of the device, that the data lie in; address NULL: they are behind this
    char *data;       // 64-byte aligned
} RtArenaBlock;
typedef struct RtArena {
    RtArenaBlock *first; // being filled
    RtArenaBlock *spare; // empty ones, to be used again
    bool is_shown;       // to the device's code
} RtArena;

// Zeroed, 64-byte aligned; NULL: no memory. A new block has at least block_bytes; what it takes is
// added to *taken, which may be NULL.
void *rt_arena_alloc(const MTLDevice *device, RtArena *arena, size_t n_bytes, size_t block_bytes,
                     _Atomic uint64_t *taken);
void rt_arena_reset(RtArena *arena); // all blocks are spare
void rt_arena_free(const MTLDevice *device, RtArena *arena);

// ---- What a command buffer uses ----

struct RtUse { // one resource in one command buffer; under the resource's lock once committed
    MTLResource *resource;
    MTLCommandBuffer *user;
    bool write;
    RtUse *next;            // in the command buffer
    RtUse *after, **before; // in the resource's list of committed users
};

typedef struct RtWait { // a command buffer that waits for another
    struct RtWait *next;
    MTLCommandBuffer *who;
} RtWait;

// Memory that the device is told of though nothing holds or orders it: of commands that retain
// nothing, and of residency sets. Only for devices that want to know.
typedef struct RtTold {
    struct RtTold *next;
    const MTLResource *resource; // whose it is: the program keeps it, or a residency set does
    DevMemory memory;
    bool write;
} RtTold;
bool rt_cb_tell(MTLCommandBuffer *buffer, const MTLResource *resource, bool write);

// What Metal 4 does in its own way: there nothing is retained or tracked, and operations lie in the
// memory of an allocator.
typedef struct RtRecorder {
    // As rt_cb_alloc, or rt_cb_alloc_shown.
    void *(*alloc)(struct MTL4CommandAllocator *allocator, size_t n_bytes, bool is_shown);
    // A resource that a command uses. False: no memory.
    bool (*use)(MTLCommandBuffer *buffer, MTLResource *resource);
    // The same for what an argument points to now; the name is that of the argument.
    bool (*use_through)(MTLCommandBuffer *buffer, MTLResource *resource, const char *argument);
} RtRecorder;

typedef struct RtHandler {
    struct RtHandler *next;
    MTLCommandBufferHandler call;
    void *context;
} RtHandler;

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

    RtArena arena, shown;
    const RtRecorder *recorder; // NULL: the command buffer is none of Metal 4
    // Not NULL: between begin and end, its operations lie in the allocator's memory; encoders and
    // what comes later lie in `arena`.
    struct MTL4CommandAllocator *allocator;
    RtOp *first_op, **last_op;
    RtUse *uses;
    RtTold *told;
    void **retained; // other objects held until completion
    size_t n_retained, retained_capacity;
    RtHandler *scheduled_handlers, **last_scheduled;
    RtHandler *completed_handlers, **last_completed;
    MTLCommandEncoder *encoders, **last_encoder, *open_encoder;
    MTLCommandBuffer *whole;   // not NULL: it only records a part of this one (render_parallel.c)
    MTLCommandBuffer *records; // such parts, linked by next
    unsigned debug_depth;
    bool has_residency;     // used residency sets of its own
    bool notes_resources;   // of Metal 4, for the debug layer
    bool suspends;          // of Metal 4: it has a part of a render pass (metal4/suspend.c)
    struct RtTrace *trace;  // NULL: not recorded (inspector.h); set at commit
    MTLError *encode_error; // the first misuse; becomes `error`
    // What its kernels did wrong (inspect/reports.c); under the queue's lock while they run.
    MTLFunctionLog *logs;
    size_t n_logs;

    atomic_uint status;               // MTLCommandBufferStatus
    atomic_uint scheduled, completed; // 1: and its handlers have returned; futex words
    atomic_uint waiters;              // threads asleep on one of them
    pthread_t handler_thread;         // valid while in_handler
    atomic_bool in_handler;
    MTLError *_Atomic error; // set before status becomes Error
    _Atomic uint64_t kernel_start_ns, kernel_end_ns, gpu_start_ns, gpu_end_ns;

    // Where it stopped (RT_OP_BLOCKED) and goes on; of the thread that runs the queue.
    RtOp *resume_op;
    MTLCommandEncoder *resume_encoder;
    uint64_t ran_ns;     // before it stopped last
    atomic_bool blocked; // it has stopped and must not go on yet

    bool enqueued;           // under the queue's lock
    MTLCommandBuffer *next;  // in the queue, under its lock
    unsigned hazard_locks;   // of the resources it uses whose hazards are tracked; set at commit
    bool running;            // started, not stopped, not done; under these locks
    atomic_uint n_waits_for; // command buffers of other queues
    RtWait *_Atomic waits_behind; // of those that wait for this one
};

struct MTLCommandQueue {
    RtObject object;
    MTLDevice *device; // retained
    RtLabel label;
    size_t max_buffers;
    MTLLogState *log_state; // retained
    uint32_t timeout_ms;
    OsTask task; // runs the queue on a worker; first of the scheduling fields
    pthread_mutex_t lock;
    pthread_cond_t room;
    atomic_ullong track;       // number in traces; 0: none yet
    RtResidencySets residency; // under lock
    atomic_bool has_residency;
    MTLCommandBuffer *first, **last; // in order; under lock
    bool stalled; // its first command buffer is blocked: nothing waits for it; all hazard locks
    size_t n_alive, n_committed;        // not completed; under lock
    MTLCommandBuffer *spares;           // memory of dead ones, for new ones (recycle.c); under lock
    MTLCommandBuffer *_Atomic returned; // the same, not yet among them: pushed by any thread
    atomic_uint n_spares;               // in both lists, and a few on the way there
    size_t n_room_waiters;              // threads in rt_queue_take_place, the first since
    uint64_t room_since_ns;             // this moment; under lock
    // IDLE: nobody will run the queue. SCHEDULED: the pool has the task. RUNNING: a thread is at
    // it. The last two hold a reference to the queue. Under lock.
    enum { RT_QUEUE_IDLE, RT_QUEUE_SCHEDULED, RT_QUEUE_RUNNING } state;
};

// command_buffer.c
// A command buffer that has no queue yet, in the memory of a new object: Metal 4's.
void rt_cb_init(MTLCommandBuffer *buffer, MTLDevice *device);
void rt_cb_destroy(void *buffer); // RtClass.destroy
// Hands the commands to the buffer's queue. It has its place there, and no encoder open.
void rt_cb_commit(MTLCommandBuffer *buffer);
void *rt_cb_alloc(MTLCommandBuffer *buffer,
                  size_t n_bytes); // zeroed, 64-byte aligned; NULL: no memory
void *rt_cb_alloc_own(MTLCommandBuffer *buffer, size_t n_bytes); // never from an allocator
// The same where the device's code sees it: for constants, and for nothing else.
void *rt_cb_alloc_shown(MTLCommandBuffer *buffer, size_t n_bytes);
void rt_cb_append(MTLCommandBuffer *buffer, RtOp *op, const RtOpClass *cls);
void rt_cb_append_marker(MTLCommandBuffer *buffer, const RtOpClass *cls); // an operation of no data
typedef bool RtKeep(MTLCommandBuffer *buffer, void *object);
RtKeep rt_cb_retain;   // until completion, unless unretained
RtKeep rt_cb_hold;     // in any case
RtKeep rt_cb_try_hold; // the same, and where there is no memory the commands are none the worse
// Is it there, being recorded (and no encoder open)? Says so if not.
bool rt_cb_recording(MTLCommandBuffer *buffer, const char *call);
bool rt_cb_between_encoders(MTLCommandBuffer *buffer, const char *call);
bool rt_cb_use(MTLCommandBuffer *buffer, MTLResource *resource, bool write); // and with hazards
void rt_cb_no_memory(MTLCommandBuffer *buffer);                              // it will end in error
void rt_cb_release_resources(MTLCommandBuffer *buffer);

// recycle.c
// Keeps the memory of a dead one, and a block that it leaves, for a new one of its queue. False:
// the caller frees both.
bool rt_cb_recycle(MTLCommandBuffer *buffer, RtArenaBlock *block);
MTLCommandBuffer *rt_cb_spare(MTLCommandQueue *queue); // NULL: none; queue's lock held
void rt_cb_free_spares(MTLCommandQueue *queue);        // the queue dies

// queue.c
void rt_queue_init(MTLCommandQueue *queue, MTLDevice *device,
                   const MTLCommandQueueDescriptor *descriptor);
void rt_queue_destroy(void *queue);              // RtClass.destroy
void rt_queue_enqueue(MTLCommandBuffer *buffer); // with the queue's lock held
// A place among the command buffers that the queue allows; waits for it, and helps meanwhile.
// Returns memory of an earlier command buffer for a new one, or NULL.
MTLCommandBuffer *rt_queue_take_place(MTLCommandQueue *queue, const char *call);
void rt_queue_give_place(MTLCommandQueue *queue);
void rt_queue_kick(MTLCommandQueue *queue);     // something may have become ready
void rt_queue_forget(MTLCommandBuffer *buffer); // dropped without commit
void rt_queue_finished(MTLCommandBuffer *buffer);
// A blocked command buffer may go on: any thread, no lock held. It may be gone after this.
void rt_queue_unblock(MTLCommandBuffer *buffer);
// Runs the queue on this thread if nobody else does, until `until` is done.
void rt_queue_help(MTLCommandQueue *queue, MTLCommandBuffer *until);
// The queue is the caller's until rt_queue_leave: nothing is in it, and nothing of it runs. False:
// it is not to be had.
bool rt_queue_enter(MTLCommandQueue *queue);
void rt_queue_leave(MTLCommandQueue *queue);

// hazard.c
void rt_hazard_commit(MTLCommandBuffer *buffer); // takes its place after earlier users; status too
// About to run, or to go on: false if others that run now must be done first (they kick the queue).
bool rt_hazard_start(MTLCommandBuffer *buffer);
// It is blocked: neither it nor those behind it hold up anybody until it goes on.
void rt_hazard_stall(MTLCommandBuffer *buffer);
void rt_hazard_complete(MTLCommandBuffer *buffer);
// The committed command buffers that use a resource now, retained, in memory the caller frees with
// rt_free. NULL: none, or no memory.
MTLCommandBuffer **rt_hazard_users(MTLResource *resource, size_t *n);

// execute.c
// To its end, or until it is blocked, and those behind it that the device can begin meanwhile, as
// long as more than `keep` of the queue are alive.
void rt_execute(MTLCommandBuffer *buffer, size_t keep);
// The one behind it, if it may begin now and more than `keep` are alive; NULL: none.
MTLCommandBuffer *rt_queue_behind(MTLCommandBuffer *buffer, size_t keep);

// event_ops.c
void rt_cb_append_event(MTLCommandBuffer *buffer, MTLEvent *event, uint64_t value, bool wait);
void rt_signal_events(RtOp *first); // the signals from there on, after a failure
#endif
