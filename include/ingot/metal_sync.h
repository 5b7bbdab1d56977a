// SPDX-License-Identifier: Apache-2.0
// metal_sync.h: fences, events and shared events.
// Part of metal.h, which says how names, lifetimes, errors and threads work; include that.
//
// Work of one queue runs in order; work of two queues that use the same tracked resource runs in
// the order of its commits. Everything else is ordered by these:
//   MTLFence        between encoders, for resources that are not tracked
//   MTLEvent        between queues: a number that grows. One command buffer raises it, another
//   stops
//                   at its wait until the number is there, and its queue with it; others run on.
//   MTLSharedEvent  the same, and the CPU raises, reads and awaits the number too, and so do other
//                   processes.
//
//     MTLEvent *event = mtl_device_new_event(device);
//     mtl_command_buffer_encode_signal_event(producer, event, 1);    // after its encoders so far
//     mtl_command_buffer_encode_wait_for_event(consumer, event, 1);  // before its next encoders
//
// examples/shared_event.c waits for one on the CPU, in a listener and in another process.
//
// A wait may last for ever, as on a Mac. In a command buffer with a time limit (timeout_ms of its
// descriptor, of the queue's or the device's) the limit holds for each wait too, apart from the
// time its kernels take; after it the command buffer ends in MTLCommandBufferErrorTimeout. A
// command buffer that fails still does its signals, so that nobody waits for it in vain.
#ifndef INGOT_METAL_H
#include "ingot/metal.h" // which includes this one
#elif !defined INGOT_METAL_SYNC_H
#define INGOT_METAL_SYNC_H

#ifdef __cplusplus
extern "C" {
#endif

// ---- MTLFence ----

// NULL: no memory.
MTL_API MTLFence *mtl_device_new_fence(MTLDevice *device);
MTL_API MTLDevice *mtl_fence_device(const MTLFence *fence);
MTL_API const char *mtl_fence_label(const MTLFence *fence);
MTL_API void mtl_fence_set_label(MTLFence *fence, const char *label);
// The fence stands behind what the encoder has encoded so far.
MTL_API void mtl_compute_command_encoder_update_fence(MTLComputeCommandEncoder *encoder,
                                                      MTLFence *fence);
// What the encoder encodes from here on runs after the last update of the fence that was committed
// (or encoded in this command buffer) before. Never after an update in the same encoder.
MTL_API void mtl_compute_command_encoder_wait_for_fence(MTLComputeCommandEncoder *encoder,
                                                        MTLFence *fence);

// ---- MTLEvent ----

// An event of value 0. NULL: no memory.
MTL_API MTLEvent *mtl_device_new_event(MTLDevice *device);
MTL_API MTLDevice *mtl_event_device(const MTLEvent *event);
MTL_API const char *mtl_event_label(const MTLEvent *event);
MTL_API void mtl_event_set_label(MTLEvent *event, const char *label);
// Between encoders only. A wait holds up what the command buffer encodes after it, and later
// command buffers of its queue, until the event's value is `value` or more. A signal raises the
// value once everything encoded before it is done; a value that is not larger changes nothing.
MTL_API void mtl_command_buffer_encode_wait_for_event(MTLCommandBuffer *buffer, MTLEvent *event,
                                                      uint64_t value);
MTL_API void mtl_command_buffer_encode_signal_event(MTLCommandBuffer *buffer, MTLEvent *event,
                                                    uint64_t value);

// ---- MTLSharedEvent: a MTLEvent, cast it for the functions above ----

typedef void (*MTLSharedEventNotificationHandler)(MTLSharedEvent *event, uint64_t value,
                                                  void *context);
// Has work(item) called soon, exactly once, on a thread of the program's choice.
typedef void (*MTLSharedEventDispatch)(void (*work)(void *item), void *item, void *context);

MTL_API MTLSharedEvent *mtl_device_new_shared_event(MTLDevice *device);
MTL_API MTLDevice *mtl_shared_event_device(const MTLSharedEvent *event);
MTL_API const char *mtl_shared_event_label(const MTLSharedEvent *event);
MTL_API void mtl_shared_event_set_label(MTLSharedEvent *event, const char *label);
MTL_API uint64_t mtl_shared_event_signaled_value(const MTLSharedEvent *event);
// Raises the value, and with it what waits for it. A value that is not larger changes nothing.
MTL_API void mtl_shared_event_set_signaled_value(MTLSharedEvent *event, uint64_t value);
// Blocks until the value is reached. False: it was not, within the time. 0 ms: just asks;
// UINT64_MAX: no limit.
MTL_API bool mtl_shared_event_wait_until_signaled_value(MTLSharedEvent *event, uint64_t value,
                                                        uint64_t timeout_ms);
// Calls the handler once, on the listener's thread, when the value is reached: with the value the
// event has then. Notifications still pending when the event goes are dropped.
MTL_API void mtl_shared_event_notify_listener(MTLSharedEvent *event,
                                              MTLSharedEventListener *listener, uint64_t value,
                                              MTLSharedEventNotificationHandler handler,
                                              void *context);

// A listener with a thread of its own, which calls handlers one after the other in the order in
// which their values were reached. NULL: no memory.
MTL_API MTLSharedEventListener *mtl_shared_event_listener_new(void);
// The same, but the handlers run where `dispatch` has them called (Apple's dispatch queue).
MTL_API MTLSharedEventListener *mtl_shared_event_listener_new_with_dispatch(
    MTLSharedEventDispatch dispatch, void *context);
// One for the whole process, borrowed.
MTL_API MTLSharedEventListener *mtl_shared_event_listener_shared_listener(void);

// ---- MTLSharedEventHandle: a shared event for another process ----
// On a Mac a handle travels by XPC. Here it is a file descriptor (inherited over fork and exec, or
// sent over a socket) or a string (written to a pipe, given as an argument). The event lives as
// long as a process has it: the death of one leaves the others with their event and its last value.

MTL_API MTLSharedEventHandle *mtl_shared_event_new_shared_event_handle(MTLSharedEvent *event);
// The event behind a handle. NULL: an error, or no memory.
MTL_API MTLSharedEvent *mtl_device_new_shared_event_with_handle(MTLDevice *device,
                                                                MTLSharedEventHandle *handle);
MTL_API const char *mtl_shared_event_handle_label(const MTLSharedEventHandle *handle);
// A descriptor of the handle (not Apple's), the caller's to close; exec'd programs inherit it. -1:
// none left.
MTL_API int mtl_shared_event_handle_new_file_descriptor(const MTLSharedEventHandle *handle);
// A name (not Apple's) by which processes of the same user open the event, while this handle and
// this process live. Borrowed from the handle.
MTL_API const char *mtl_shared_event_handle_name(const MTLSharedEventHandle *handle);
// The handle behind a descriptor (which stays the caller's) or a name. NULL and MTLDeviceError
// InvalidInput if it is none: damaged, no shared event's, its process gone.
MTL_API MTLSharedEventHandle *mtl_shared_event_handle_new_with_file_descriptor(int descriptor,
                                                                               MTLError **error);
MTL_API MTLSharedEventHandle *mtl_shared_event_handle_new_with_name(const char *name,
                                                                    MTLError **error);

#ifdef __cplusplus
}
#endif
#endif
