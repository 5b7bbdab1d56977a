// SPDX-License-Identifier: Apache-2.0
// recording_int.h: what a MTL4CommandBuffer holds between begin and the end of its execution. To
// the rest of the runtime it is a command buffer (unretained: nothing is tracked) that gets its
// queue at commit; a MTL4CommandBuffer makes one at each begin, so it can be begun anew while the
// one before still runs.
//
// Who holds whom: the allocator all recordings since its last reset; the MTL4CommandBuffer its last
// one until commit; the queue those it runs. A recording holds its allocator from begin until it is
// done or dropped.
#ifndef INGOT_RUNTIME_METAL4_RECORDING_INT_H
#define INGOT_RUNTIME_METAL4_RECORDING_INT_H
#include "ingot/metal4.h"
#include "runtime/command/argument_table.h"
#include "runtime/command/command_buffer.h"
#include "runtime/command/compute.h"
#include "runtime/command/render.h"
#include "runtime/metal4/allocator_int.h"

typedef enum RtRecordingState {
    RT_RECORDING_OPEN,
    RT_RECORDING_ENDED,
    RT_RECORDING_COMMITTED,
    RT_RECORDING_DONE,
    RT_RECORDING_DROPPED, // its memory was reset, or it was replaced before it was committed
} RtRecordingState;

typedef struct RtReached { // a resource that commands reach, for the debug layer
    MTLResource *resource; // retained
    const char *by;        // the kernel's name, or "" for a copy; of a pipeline that is held
    const char *through;   // the argument that pointed there; NULL: it was bound
} RtReached;

struct RtRecording {
    MTLCommandBuffer commands;
    RtRecording *next;          // in the allocator
    MTL4CommandAllocator *home; // retained; NULL: for events only
    atomic_int state;           // RtRecordingState; changes under the allocator's lock
    RtHandler done;
    MTL4CommitFeedback *feedback; // retained; NULL: nobody asked
    MTLResidencySet **sets;       // of use_residency_set; retained
    size_t n_sets, sets_capacity;
    RtReached *reached;
    size_t n_reached, reached_capacity;
};

struct MTL4CommandBuffer {
    RtObject object;
    MTLDevice *device; // retained
    RtLabel label;
    RtRecording *recording; // retained; NULL: not begun since the last commit
};

struct MTL4CommandQueue {
    MTLCommandQueue queue;       // and its object
    pthread_mutex_t commit_lock; // the command buffers of a commit stay together
    MTL4FeedbackDispatch dispatch;
    void *dispatch_context;
};

struct MTL4ComputeCommandEncoder {
    MTLComputeCommandEncoder compute;
    MTL4CommandBuffer *owner; // borrowed
    MTLStages stages;
};

struct MTL4RenderCommandEncoder {
    MTLRenderCommandEncoder render;
    MTL4CommandBuffer *owner;   // borrowed
    RtOp *stamps, **last_stamp; // time stamps: they follow the pass
};

extern RtClass rt_mtl4_command_buffer_class, rt_mtl4_compute_encoder_class;

// queue.c
bool rt_mtl4_queue_present(const MTL4CommandQueue *queue, const char *call); // says so if not
// Hands over a recording that was made for the queue's own commands.
void rt_mtl4_queue_submit(MTL4CommandQueue *queue, RtRecording *recording);

// command_buffer.c
// A recording; for events if home is NULL. NULL: no memory.
RtRecording *rt_recording_new(MTLDevice *device, MTL4CommandAllocator *home);
// Gives the allocator back; no lock held.
void rt_recording_leave(RtRecording *recording, RtRecordingState state);
// The command buffer's recording, which it has no more; its reference goes to the caller.
RtRecording *rt_recording_take(MTL4CommandBuffer *buffer);
// Is it a command buffer between begin and end? Says so if not; else its commands.
MTLCommandBuffer *rt_mtl4_recording(MTL4CommandBuffer *buffer, const char *call);

// residency_check.c
extern const RtRecorder rt_metal4_recorder;
// Reports what no set of the command buffer or of the queue holds.
void rt_check_reached(RtRecording *recording, const MTLCommandQueue *queue);
void rt_forget_reached(RtRecording *recording);

// suspend.c: puts the parts of render passes together, at commit. All are there and ended.
void rt_link_suspended(MTL4CommandBuffer *const *buffers, size_t count);

// compute.c: n_bytes of a buffer at an address that the host will read or write; the command buffer
// holds the buffer. NULL: the address is the buffer's no more, or there is none, or too little.
typedef struct RtPlace {
    const char *address;
    MTLResource *resource; // held by the command buffer, if it was found
    size_t n_bytes;        // from the address on
} RtPlace;
bool rt_place_find(MTLCommandBuffer *commands, MTLGPUAddress address, size_t n_bytes,
                   RtPlace *place);

// feedback.c
MTL4CommitFeedback *rt_feedback_new(MTL4CommitOptions *options, size_t n_buffers,
                                    MTL4CommandQueue *queue);
void rt_feedback_done(MTL4CommitFeedback *feedback, MTLCommandBuffer *buffer);
bool rt_is_commit_options(const void *object);
#endif
